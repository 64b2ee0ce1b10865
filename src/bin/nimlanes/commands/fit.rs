//! `nimlanes compare --fit`

use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::AnyOperation;
use nimlanes::kernel::workload::Workload;
use nimlanes::lab::environment::Environment;
use serde::Serialize;

use crate::measuring::duel::{DuelError, DuelOptions, run_duel};
use crate::measuring::fit::{Fitted, Rates, fit};
use crate::terminal::failure::Failure;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::{Document, table};

/// Rates that fit the times of this machine.
#[derive(Serialize)]
pub struct Fit {
    operation: &'static str,
    threads: usize,
    environment: Environment,
    kernels: Vec<Fitted>,
}

impl Document for Fit {
    const SCHEMA: &'static str = "nimlanes-fit-1";
}

impl Fit {
    /// Times the kernels of an operation on all inputs that the benches have. The time is shared evenly among them.
    pub fn new(
        operation: &'static dyn AnyOperation,
        selection: &Selection,
        environment: Environment,
        options: DuelOptions,
        run: &Run,
    ) -> Result<Self, Failure> {
        /// A kernel is left out on an input where a run takes more than this share of the time for it.
        const LONGEST_RUN: f64 = 0.1;
        let sizes = |workload: &'static Workload| workload.sizes.iter().map(|size| (workload.name, *size));
        let inputs: Vec<(&str, u64)> = operation.workloads().iter().flat_map(sizes).collect();
        let budget = options.budget / inputs.len() as u32;
        let options =
            DuelOptions { budget, time_limit: options.time_limit.min(budget.mul_f64(LONGEST_RUN)), ..options };
        let (bar, mut watch) = Monitor::of_share(operation.name().to_owned());
        let mut duels = Vec::new();
        for (i, (workload, size)) in inputs.iter().enumerate() {
            let session = operation.session(selection, workload, *size)?;
            let mut watch = |share: f64| watch((i as f64 + share) / inputs.len() as f64);
            match run_duel(session.as_ref(), &options, run, &mut watch) {
                Ok(duel) => duels.push((session, duel)),
                // All of them take too long on this input.
                Err(DuelError::NoBaseline(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        drop(bar);
        let kernels = fit(&duels, options.threads);
        if kernels.is_empty() {
            let why = "none of the kernels has rates and ends a run in a tenth of the time for an input; allow more --seconds";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(Fit { operation: operation.name(), threads: options.threads, environment, kernels })
    }

    /// A line for each kernel, with its rates as they stand in the source.
    pub fn text(&self) -> String {
        let mut rows =
            vec![["kernel", "listed", "off by", "fitted", "off by", "on", "inputs"].map(str::to_owned).to_vec()];
        rows.extend(self.kernels.iter().map(|Fitted { kernel, inputs, listed, fitted }| {
            let at = |rates: &Rates| [format!("at {:?}", rates.rates), format!("{:.2}", rates.off_by)];
            let [listed, listed_off] = at(listed);
            let worst = fitted.worst.to_string();
            let [fitted, fitted_off] = at(fitted);
            vec![kernel.clone(), listed, listed_off, fitted, fitted_off, worst, inputs.to_string()]
        }));
        table(&rows)
    }
}
