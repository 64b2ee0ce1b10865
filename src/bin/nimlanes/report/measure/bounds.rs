//! Measures what bounds the selected kernels.

use std::time::Duration;

use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::AnyOperation;
use nimlanes::machine::Machine;

use super::MeasureError;
use super::apart::{Means, OfOperations};
use crate::measuring::counters::{StepError, bound};
use crate::report::data::apart::Bounds;

/// A run is predicted to take at most this long: some hundred thousand instructions.
const LONGEST: Duration = Duration::from_micros(100);

/// Each kernel in a run that is short enough for single steps. It takes `llvm-mca`.
impl OfOperations for Bounds {
    fn begin(earlier: Option<Self>, _: &Means<'_>) -> Result<Self, MeasureError> {
        Ok(earlier.unwrap_or(Bounds { operations: Vec::new() }))
    }

    fn has(&self, operation: &'static dyn AnyOperation, _: &Machine) -> bool {
        self.operations.iter().any(|counted| counted.case.operation == operation.name())
    }

    fn add(&mut self, operation: &'static dyn AnyOperation, means: &Means<'_>) -> Result<(), MeasureError> {
        let selection = Selection::new(*means.machine).with_threads(1)?;
        let workload = &operation.workloads()[0];
        let session = operation.session(&selection, workload.name, workload.published)?;
        let kernel = selection.kernel_of(session.as_ref())?;
        match bound(session.as_ref(), kernel, LONGEST, means.run) {
            Ok(counted) if counted.counters.bounds().next().is_some() => self.operations.push(counted),
            Ok(counted) => (means.announce)(&format!("left out: {}", counted.bound().trim_end())),
            Err(error @ StepError::TooLong) => (means.announce)(&format!("left out: {error}")),
            Err(StepError::Run(error)) => return Err(error.into()),
            Err(error) => return Err(MeasureError::Steps(operation.name(), error)),
        }
        Ok(())
    }
}
