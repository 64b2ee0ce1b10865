//! `nimlanes kernels`

use nimlanes::cores::{OPERATIONS, operation};
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::{AnyOperation, KernelInfo};
use nimlanes::kernel::workload::Workload;
use nimlanes::machine::isa::Tier;
use nimlanes::units::bytes;
use serde::Serialize;

use super::arguments::Threads;
use crate::terminal::failure::Failure;
use crate::terminal::output::{Document, print, print_json_array, table};

/// List the kernels and workloads of every operation, or of one
///
/// Shows the tier and Cargo features that each kernel needs, whether it is compiled in and can run here, and which kernel is
/// selected for the first workload at its published size.
#[derive(clap::Args)]
#[command(before_help = "Examples:\n  nimlanes kernels mex_subtraction\n  NIMLANES_ISA_MAX=portable nimlanes kernels")]
pub struct Args {
    /// The operation [default: all]
    operation: Option<String>,
    #[command(flatten)]
    threads: Threads,
    /// Print JSON: an array with one object per kernel
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
pub struct ListedKernel {
    /// The core that the operation belongs to.
    core: &'static str,
    /// The operation.
    operation: &'static str,
    /// The kernel.
    kernel: &'static str,
    /// The kernel's tier.
    tier: &'static str,
    /// `exact` or `observed`: whether its answers are proved.
    claim: &'static str,
    /// `measured` or `estimated`: what the constants of its cost rest on.
    costs: &'static str,
    /// The Cargo features that it needs.
    feature: String,
    /// Whether this build has it.
    compiled: bool,
    /// Whether it can run here.
    available: bool,
    /// Whether it is selected for the first workload at the size of `selected_at`.
    selected: bool,
    /// The published size.
    selected_at: u64,
    /// Its summary, in a line.
    summary: &'static str,
    /// Workloads of the operation; the kernel is selected for the first one.
    workloads: Vec<&'static str>,
}

impl Document for ListedKernel {
    const SCHEMA: &'static str = "nimlanes-kernel-1";
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let selection = args.threads.selection(None)?;
    let operations = match &args.operation {
        None => OPERATIONS.to_vec(),
        Some(name) => vec![operation(name)?],
    };
    let lists = operations.iter().map(|operation| rows(operation, &selection)).collect::<Result<Vec<_>, _>>()?;
    if args.json {
        return print_json_array(lists.iter().flatten());
    }
    for (operation, rows) in operations.iter().zip(&lists) {
        print(&listing(operation, rows))?;
    }
    let machine = selection.machine();
    let (tier, threads) = (machine.strongest_tier().name(), selection.threads());
    let memory = machine.memory(threads);
    let free = if memory == u64::MAX { "unknown memory".to_owned() } else { bytes(memory as f64) };
    print(&format!("tier {tier}, {threads} thread(s), {free} free\n"))
}

/// One operation: its kernels, its workloads, and the technologies without a kernel.
fn listing(operation: &AnyOperation, rows: &[ListedKernel]) -> String {
    let workloads = operation.workloads();
    let Workload { name, published, .. } = workloads[0];
    let title = format!("{}: {} kernels, * selected for {name} at {published}", operation.name(), rows.len());
    let absent = operation.absent().iter().map(|(feature, reason)| format!("   no {feature}: {reason}\n"));
    let is_listed = |tier: &&Tier| rows.iter().any(|row| row.tier == tier.name());
    let estimated = Tier::ALL.iter().filter(is_listed).filter_map(|tier| {
        Some(format!("   {}: costs estimated {}\n", tier.name(), tier.extension()?.costs_estimated?))
    });
    let notes = absent.chain(estimated).collect::<String>();
    let inputs = workloads.iter().map(|Workload { name, summary, published, .. }| {
        [format!("   --workload {name}"), format!("--size {published}"), (*summary).to_owned()]
    });
    format!("{title}\n{}{}{}\n", table(rows.iter().map(ListedKernel::cells)), notes, table(inputs))
}

impl ListedKernel {
    fn cells(&self) -> [&str; 7] {
        let mark = if self.selected { " *" } else { "  " };
        let state = match (self.compiled, self.available) {
            (false, _) => "not compiled",
            (true, false) => "not on this cpu",
            (true, true) => "available",
        };
        [mark, self.kernel, self.tier, self.claim, &self.feature, state, self.summary]
    }
}

fn rows(operation: &AnyOperation, selection: &Selection) -> Result<Vec<ListedKernel>, Failure> {
    let workload = operation.workloads()[0];
    let session = operation.session(selection, workload.name, workload.published)?;
    let selected = session.kernels()[selection.kernel_of(session.as_ref())?].name;
    let row = |kernel: &KernelInfo| ListedKernel {
        core: operation.core().name(),
        operation: operation.name(),
        kernel: kernel.name,
        tier: kernel.tier.name(),
        claim: kernel.claim.name(),
        costs: if kernel.tier.are_costs_measured() { "measured" } else { "estimated" },
        feature: kernel.features.join(","),
        compiled: kernel.compiled,
        available: kernel.obstacle.is_none(),
        selected: kernel.name == selected,
        selected_at: workload.published,
        summary: kernel.summary,
        workloads: operation.workloads().iter().map(|workload| workload.name).collect(),
    };
    Ok(session.kernels().iter().map(row).collect())
}
