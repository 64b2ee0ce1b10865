//! `nimlanes kernels`

use nimlanes::cores::OPERATIONS;
use nimlanes::selection::{Selection, bytes};
use nimlanes::session::AnyOperation;
use serde::Serialize;

use super::args::Threads;
use super::failure::Failure;
use super::output::{print, print_json, table};

/// List every kernel: what it needs, whether it is compiled in and runs here, and which one is selected
#[derive(clap::Args)]
#[command(after_help = "Example: NIMLANES_ISA_MAX=portable nimlanes kernels")]
pub struct Args {
    #[command(flatten)]
    threads: Threads,
    /// Print JSON: an array with an object a kernel
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    core: &'static str,
    operation: &'static str,
    kernel: &'static str,
    tier: &'static str,
    feature: String,
    compiled: bool,
    available: bool,
    selected: bool,
    selected_at: u64,
    summary: &'static str,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let selection = args.threads.selection(None)?;
    let lists = OPERATIONS.iter().map(|operation| rows(*operation, &selection)).collect::<Result<Vec<_>, _>>()?;
    if args.json {
        return print_json(&lists.iter().flatten().collect::<Vec<_>>());
    }
    for (operation, rows) in OPERATIONS.iter().zip(&lists) {
        let workload = operation.workloads()[0];
        let title = format!(
            "{}: {} kernels, * selected for {} at {}",
            operation.name(),
            rows.len(),
            workload.name,
            workload.published
        );
        let lines: Vec<_> = rows.iter().map(Row::cells).collect();
        let absent = operation.absent().iter().map(|absent| format!("   no {}: {}\n", absent.feature, absent.reason));
        print(&format!("{title}\n{}{}\n", table(&lines), absent.collect::<String>()))?;
    }
    let machine = selection.machine();
    let (tier, threads, memory) = (machine.tier().name(), selection.threads(), bytes(machine.memory() as f64));
    print(&format!("tier {tier}, {threads} thread(s), {memory} free\n"))
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let mark = if self.selected { " *" } else { "  " };
        let state = match (self.compiled, self.available) {
            (false, _) => "not compiled",
            (true, false) => "not on this cpu",
            (true, true) => "available",
        };
        [mark, self.kernel, self.tier, &self.feature, state, self.summary].map(str::to_owned).to_vec()
    }
}

fn rows(operation: &dyn AnyOperation, selection: &Selection) -> Result<Vec<Row>, Failure> {
    let workload = operation.workloads()[0];
    let session = operation.session(selection.machine(), workload.name, workload.published)?;
    let selected = session.kernels()[selection.kernel_of(session.as_ref())?];
    let row = |kernel: nimlanes::session::KernelInfo| Row {
        core: operation.core().name(),
        operation: operation.name(),
        kernel: kernel.name,
        tier: kernel.tier.name(),
        feature: kernel.features.join(","),
        compiled: kernel.compiled,
        available: kernel.unavailable.is_none(),
        selected: kernel.name == selected,
        selected_at: workload.published,
        summary: kernel.summary,
    };
    Ok(operation.kernels(selection.machine()).into_iter().map(row).collect())
}
