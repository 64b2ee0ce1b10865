//! Measures kernels that differ in where their vectors come from.

use std::time::Duration;

use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::{AnyOperation, Session};
use nimlanes::machine::Machine;

use super::MeasureError;
use super::apart::{Means, OfOperations, on_one_thread};
use super::tasks::Input;
use crate::measuring::counters::{self, Row, Source, shorter};
use crate::measuring::duel::{Match, PROCESSES};
use crate::report::data::apart::{Code, Crates};
use crate::report::tables::with_more;

/// Kernels predicted to take longer than this are left out.
const LONGEST: Duration = Duration::from_millis(50);
/// Budget of the duel of an operation.
const BUDGET: Duration = Duration::from_secs(12);
/// The code of kernels is counted by single steps, at a size at which none is predicted to take longer.
const LONGEST_STEPPED: Duration = Duration::from_micros(250);

/// The families of kernels in which a crate beyond the default features takes part.
impl OfOperations for Crates {
    fn begin(earlier: Option<Self>, _: &Means<'_>) -> Result<Self, MeasureError> {
        Ok(earlier.unwrap_or_default())
    }

    fn has(&self, operation: &'static dyn AnyOperation, machine: &Machine) -> bool {
        let is_measured = self.operations.iter().any(|duel| duel.case.operation == operation.name());
        is_measured || with_more(operation, machine).is_empty()
    }

    fn add(&mut self, operation: &'static dyn AnyOperation, means: &Means<'_>) -> Result<(), MeasureError> {
        let wanted = with_more(operation, means.machine);
        let selection = Selection::new(*means.machine).with_threads(1)?;
        let workload = &operation.workloads()[0];
        let input = Input::new(operation, workload, workload.published, &selection)?;
        let session = input.session(&selection)?;
        let able = input.predicted.iter().filter(|kernel| kernel.run <= LONGEST).map(|kernel| kernel.kernel);
        let kernels = able.filter(|kernel| wanted.contains(kernel)).map(str::to_owned).collect();
        let options = on_one_thread(kernels, None, BUDGET);
        let open = || Ok::<_, MeasureError>(session);
        let duel = Match::new(open, &options, PROCESSES, means.machine, means.run)?;
        self.operations.push(duel.play(&mut |_| {})?);
        self.code.extend(code(input.session(&selection)?.as_ref(), &options.kernels, means)?);
        Ok(())
    }
}

/// How much code these kernels are, at a size at which none takes long; `None` where there are no single steps.
fn code(session: &dyn Session, kernels: &[String], means: &Means<'_>) -> Result<Option<Code>, MeasureError> {
    let listed = session.kernels();
    let is_meant = |kernel: &usize| kernels.iter().any(|name| name == listed[*kernel].name);
    let indices: Vec<usize> = (0..listed.len()).filter(is_meant).collect();
    let impossible = |error| MeasureError::Steps(session.operation(), error);
    let session = shorter(session, &indices, LONGEST_STEPPED).map_err(impossible)?;
    let counted = counters::count(session.as_ref(), &indices, Some(Source::Steps), means.run, &mut { means.announce })?;
    let bytes = |rows: Vec<Row>| rows.into_iter().filter_map(|row| Some((row.kernel, row.code_bytes?))).collect();
    Ok(counted.map(|counted| Code { case: session.case().clone(), bytes: bytes(counted.rows) }))
}
