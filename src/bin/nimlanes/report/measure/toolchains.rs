//! Measures what several compilers make of the kernels.

use std::time::Duration;

use nimlanes::kernel::Claim;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::AnyOperation;
use nimlanes::lab::environment::Build;
use nimlanes::machine::Machine;

use super::MeasureError;
use super::apart::{Means, OfOperations, on_one_thread};
use super::tasks::{Effort, Input};
use crate::measuring::duel::{Compiler, Match, PROCESSES, identity};
use crate::report::data::apart::Toolchains;

/// Kernels predicted to take up to this take part, and the first of the list that keeps to the limit of reports: the baseline.
const LONGEST: Duration = Duration::from_millis(100);
/// Budget of the duel of an operation.
const BUDGET: Duration = Duration::from_secs(12);

/// This program takes turns with those by the other compilers.
impl OfOperations for Toolchains {
    fn begin(earlier: Option<Self>, means: &Means<'_>) -> Result<Self, MeasureError> {
        let mut compilers = vec![Compiler::of(&Build::of_this())];
        for program in means.programs() {
            compilers.push(Compiler::of(&identity(program, means.run)?.build));
        }
        compilers.sort_by_key(Compiler::age);
        let is_same = |earlier: &Toolchains| earlier.operations.iter().all(|duel| duel.compilers == compilers);
        Ok(earlier.filter(is_same).unwrap_or(Toolchains { operations: Vec::new() }))
    }

    fn has(&self, operation: &'static dyn AnyOperation, _: &Machine) -> bool {
        self.operations.iter().any(|duel| duel.case.operation == operation.name())
    }

    fn add(&mut self, operation: &'static dyn AnyOperation, means: &Means<'_>) -> Result<(), MeasureError> {
        let workload = &operation.workloads()[0];
        let selection = Selection::new(*means.machine).with_threads(1)?;
        let input = Input::new(operation, workload, workload.published, &selection)?;
        let session = input.session(&selection)?;
        let within = |limit| input.predicted.iter().filter(move |one| one.claim == Claim::Exact && one.run <= limit);
        let baseline = within(Effort::FULL.headline_time_limit).next();
        let kernels = within(LONGEST).map(|one| one.kernel.to_owned()).collect();
        let options = on_one_thread(kernels, baseline.map(|one| one.kernel.to_owned()), BUDGET);
        let open = || Ok::<_, MeasureError>(session);
        let duel = Match::new(open, &options, PROCESSES, means.machine, means.run)?;
        self.operations.push(duel.play_compilers(&means.programs(), &mut |_| {})?);
        Ok(())
    }
}
