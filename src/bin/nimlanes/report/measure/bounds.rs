//! Measures what bounds the selected kernels.

use std::path::PathBuf;
use std::time::Duration;

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::machine::Machine;

use super::MeasureError;
use crate::files::saved::SavedError;
use crate::measuring::counters::{StepError, bound};
use crate::report::data::apart::Bounds;

/// A run is predicted to take at most this long: some hundred thousand instructions.
const LONGEST: Duration = Duration::from_micros(100);

/// Measures the kernels that are selected for the first workloads at the published sizes, each in a run that is short enough for single
/// steps. Operations in `earlier` are not measured again. `save` receives all that is measured after each operation, `announce` a line for
/// each.
///
/// # Errors
/// `llvm-mca` or single steps are not possible here, or the run was stopped; or those of `save`.
pub fn measure(
    machine: &Machine,
    _: &[PathBuf],
    earlier: Option<Bounds>,
    run: &Run,
    save: &mut dyn FnMut(&Bounds) -> Result<(), SavedError>,
    announce: &mut dyn FnMut(&str),
) -> Result<(), MeasureError> {
    let mut measured = earlier.unwrap_or(Bounds { operations: Vec::new() });
    let selection = Selection::new(*machine).with_threads(1)?;
    for operation in OPERATIONS {
        if measured.operations.iter().any(|counted| counted.case.operation == operation.name()) {
            continue;
        }
        announce(operation.name());
        let workload = &operation.workloads()[0];
        let session = operation.session(&selection, workload.name, workload.published)?;
        let kernel = selection.kernel_of(session.as_ref())?;
        match bound(session.as_ref(), kernel, LONGEST, run) {
            Ok(counted) if counted.counters.bounds().next().is_some() => measured.operations.push(counted),
            Ok(counted) => announce(&format!("left out: {}", counted.bound().trim_end())),
            Err(error @ StepError::TooLong) => announce(&format!("left out: {error}")),
            Err(StepError::Run(error)) => return Err(error.into()),
            Err(error) => return Err(MeasureError::Steps(operation.name(), error)),
        }
        save(&measured)?;
    }
    Ok(())
}
