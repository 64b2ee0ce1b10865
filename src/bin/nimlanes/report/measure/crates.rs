//! Measures kernels that differ in where their vectors come from.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::AnyOperation;
use nimlanes::machine::Machine;

use super::MeasureError;
use super::tasks::Input;
use crate::files::saved::SavedError;
use crate::measuring::counters::{self, Source};
use crate::measuring::duel::{DuelOptions, Match, PROCESSES};
use crate::report::data::apart::{Code, Crates};
use crate::report::tables::with_more;

/// Kernels predicted to take longer than this are left out.
const LONGEST: Duration = Duration::from_millis(50);
/// Budget of the duel of an operation.
const BUDGET: Duration = Duration::from_secs(12);
/// The code of a kernel is counted by single steps, at the largest half, quarter and so on of the size at which no kernel takes longer.
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
        measured.code.extend(code(*operation, &options.kernels, &selection, run, announce)?);
        save(&measured)?;
    }
    Ok(())
}

/// How much code these kernels are; `None` where there are no single steps.
fn code(
    operation: &'static dyn AnyOperation,
    kernels: &[String],
    selection: &Selection,
    run: &Run,
    announce: &mut dyn FnMut(&str),
) -> Result<Option<Code>, MeasureError> {
    let workload = &operation.workloads()[0];
    let mut size = workload.published;
    loop {
        let input = Input::new(operation, workload, size, selection)?;
        let meant = input.predicted.iter().filter(|kernel| kernels.iter().any(|name| name == kernel.kernel));
        if size > 1 && meant.map(|kernel| kernel.run).max() > Some(LONGEST_STEPPED) {
            size /= 2;
            continue;
        }
        let session = input.session(selection)?;
        let names = session.kernels().iter().map(|kernel| kernel.name);
        let indices: Vec<usize> =
            names.enumerate().filter(|(_, name)| kernels.iter().any(|meant| meant == name)).map(|(i, _)| i).collect();
        let counted = counters::count(session.as_ref(), &indices, Some(Source::Steps), run, announce)?;
        let bytes = |rows: Vec<counters::Row>| -> BTreeMap<String, u64> {
            rows.into_iter().filter_map(|row| Some((row.kernel, row.code_bytes?))).collect()
        };
        return Ok(counted.map(|counted| Code { case: session.case().clone(), bytes: bytes(counted.rows) }));
    }
}
