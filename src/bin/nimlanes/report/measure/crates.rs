//! Measures kernels that differ in where their vectors come from.

use std::path::PathBuf;
use std::time::Duration;

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::Session;
use nimlanes::machine::Machine;

use super::MeasureError;
use super::tasks::Input;
use crate::files::saved::SavedError;
use crate::measuring::counters::{self, Row, Source, shorter};
use crate::measuring::duel::{DuelOptions, Match, PROCESSES};
use crate::report::data::apart::{Code, Crates};
use crate::report::tables::with_more;

/// Kernels predicted to take longer than this are left out.
const LONGEST: Duration = Duration::from_millis(50);
/// Budget of the duel of an operation.
const BUDGET: Duration = Duration::from_secs(12);
/// The code of kernels is counted by single steps, at a size at which none is predicted to take longer.
const LONGEST_STEPPED: Duration = Duration::from_micros(250);

/// Measures the families of kernels in which a crate beyond the default features takes part, at the published sizes. Operations in `earlier` are not
/// measured again. `save` receives all that is measured after each operation, `announce` a line for each.
///
/// # Errors
/// Outputs differ, or the run was stopped; or those of `save`.
pub fn measure(
    machine: &Machine,
    _: &[PathBuf],
    earlier: Option<Crates>,
    run: &Run,
    save: &mut dyn FnMut(&Crates) -> Result<(), SavedError>,
    announce: &mut dyn FnMut(&str),
) -> Result<(), MeasureError> {
    let mut measured = earlier.unwrap_or_default();
    let selection = Selection::new(*machine).with_threads(1)?;
    for operation in OPERATIONS {
        let wanted = with_more(*operation, machine);
        if wanted.is_empty() || measured.operations.iter().any(|duel| duel.case.operation == operation.name()) {
            continue;
        }
        announce(operation.name());
        let workload = &operation.workloads()[0];
        let input = Input::new(*operation, workload, workload.published, &selection)?;
        let session = input.session(&selection)?;
        let able = input.predicted.iter().filter(|kernel| kernel.run <= LONGEST).map(|kernel| kernel.kernel);
        let options = DuelOptions {
            kernels: able.filter(|kernel| wanted.contains(kernel)).map(str::to_owned).collect(),
            baseline: None,
            threads: 1,
            budget: BUDGET,
            time_limit: Duration::MAX,
            always_included: Vec::new(),
        };
        let open = || Ok::<_, MeasureError>(session);
        measured.operations.push(Match::new(open, &options, PROCESSES, machine, run)?.play(&mut |_| {})?);
        measured.code.extend(code(input.session(&selection)?.as_ref(), &options.kernels, run, announce)?);
        save(&measured)?;
    }
    Ok(())
}

/// How much code these kernels are, at a size at which none takes long; `None` where there are no single steps.
fn code(
    session: &dyn Session,
    kernels: &[String],
    run: &Run,
    announce: &mut dyn FnMut(&str),
) -> Result<Option<Code>, MeasureError> {
    let listed = session.kernels();
    let is_meant = |kernel: &usize| kernels.iter().any(|name| name == listed[*kernel].name);
    let indices: Vec<usize> = (0..listed.len()).filter(is_meant).collect();
    let impossible = |error| MeasureError::Steps(session.operation(), error);
    let session = shorter(session, &indices, LONGEST_STEPPED).map_err(impossible)?;
    let counted = counters::count(session.as_ref(), &indices, Some(Source::Steps), run, announce)?;
    let bytes = |rows: Vec<Row>| rows.into_iter().filter_map(|row| Some((row.kernel, row.code_bytes?))).collect();
    Ok(counted.map(|counted| Code { case: session.case().clone(), bytes: bytes(counted.rows) }))
}
