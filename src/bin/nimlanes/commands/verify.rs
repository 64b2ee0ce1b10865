//! `nimlanes verify`

use std::time::Duration;

use nimlanes::cores::{OPERATIONS, operation};
use nimlanes::kernel::Yields;
use nimlanes::kernel::selection::Selection;
use nimlanes::lab::verify::{Comparisons, Inputs, VerifyError};
use nimlanes::machine::Machine;

use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::output::print;

/// Check every available kernel against the oracle and known answers
#[derive(clap::Args)]
#[command(before_help = "Examples:
  nimlanes verify --full
  nimlanes verify mex_octal")]
pub struct Args {
    /// The operation [default: all]
    operation: Option<String>,
    /// Use larger sizes, and known answers that take up to a minute per kernel
    #[arg(long)]
    full: bool,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let (largest, seconds) = if args.full { (u64::MAX, 60.0) } else { (200, 0.5) };
    let time_limit = Duration::from_secs_f64(seconds);
    // The kernels share an input, so it may take longer to prepare.
    let selection = Selection::new(Machine::from_env()?).within(10 * time_limit);
    let only = args.operation.as_deref().map(operation).transpose()?.map(|operation| operation.name());
    let mut faults = 0;
    // Kernels that find counts and sums alone are checked against those of the oracle.
    let all = Yields::ALL.iter().copied().flat_map(|yields| {
        let operations = OPERATIONS.iter().filter(|operation| only.is_none_or(|name| operation.name() == name));
        let workloads =
            operations.flat_map(|operation| operation.workloads().iter().map(move |workload| (*operation, workload)));
        workloads.map(move |(operation, workload)| (operation, workload, yields))
    });
    for (operation, workload, yields) in all {
        let kernels = operation.kernels(selection.machine()).into_iter().filter(|kernel| kernel.yields == yields);
        let mut inputs = None;
        for kernel in kernels {
            let inputs =
                inputs.get_or_insert_with(|| Inputs::new(operation, workload, yields, &selection, largest, u64::MAX));
            let name = format!("{}/{}/{}", operation.name(), workload.name, kernel.name);
            let checked = match kernel.obstacle {
                Some(reason) => Err(("skipped", reason.to_string())),
                None => match inputs.check(kernel.name, &interrupt::run, time_limit) {
                    Ok(compared) => Ok(compared),
                    Err(VerifyError::Run(error)) => return Err(error.into()),
                    Err(fault) => {
                        faults += 1;
                        Err(("DIFFERS", fault.to_string()))
                    }
                },
            };
            if checked == Ok(Comparisons::default()) {
                continue; // the workload is outside the domain of the kernel
            }
            print(&match checked {
                Ok(compared) => format!("ok       {name}: {compared}\n"),
                Err((word, reason)) => format!("{word:<8} {name}: {reason}\n"),
            })?;
        }
    }
    match faults {
        0 => print("every available kernel agrees\n"),
        _ => Err(Failure::Failed(format!("{faults} of the checks above failed"))),
    }
}
