//! Measures what several compilers make of the kernels.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::AnyOperation;
use nimlanes::kernel::{Claim, Run};
use nimlanes::lab::environment::Build;
use nimlanes::machine::Machine;

use super::MeasureError;
use super::tasks::{Effort, Input};
use crate::files::saved::SavedError;
use crate::measuring::duel::{Compiler, Compilers, DuelOptions, Match, PROCESSES, identity};
use crate::report::data::apart::Toolchains;

/// Kernels predicted to take up to this take part, and the first of the list that keeps to the limit of reports: the baseline.
const LONGEST: Duration = Duration::from_millis(100);
/// Budget of the duel of an operation.
const BUDGET: Duration = Duration::from_secs(12);

/// Measures each operation at its published size: this program beside `programs`, in turns. Operations in `earlier` are not measured
/// again if that was by the same compilers. `save` receives all that is measured after each operation, `announce` a line for each.
///
/// # Errors
/// A program cannot duel, outputs differ, or the run was stopped; or those of `save`.
pub fn measure(
    machine: &Machine,
    programs: &[PathBuf],
    earlier: Option<Toolchains>,
    run: &Run,
    save: &mut dyn FnMut(&Toolchains) -> Result<(), SavedError>,
    announce: &mut dyn FnMut(&str),
) -> Result<(), MeasureError> {
    let programs: Vec<&Path> = programs.iter().map(PathBuf::as_path).collect();
    let mut compilers = vec![Compiler::of(&Build::of_this())];
    for program in &programs {
        compilers.push(Compiler::of(&identity(program, run)?.build));
    }
    compilers.sort_by_key(Compiler::age);
    let is_same = |earlier: &Toolchains| earlier.operations.iter().all(|duel| duel.compilers == compilers);
    let mut measured = earlier.filter(is_same).unwrap_or(Toolchains { operations: Vec::new() });
    for operation in OPERATIONS.iter().skip(measured.operations.len()) {
        announce(&format!("{}/{} {}", measured.operations.len() + 1, OPERATIONS.len(), operation.name()));
        measured.operations.push(duel(*operation, machine, &programs, run)?);
        save(&measured)?;
    }
    Ok(())
}

fn duel(
    operation: &'static dyn AnyOperation,
    machine: &Machine,
    programs: &[&Path],
    run: &Run,
) -> Result<Compilers, MeasureError> {
    let workload = &operation.workloads()[0];
    let selection = Selection::new(*machine).with_threads(1)?;
    let input = Input::new(operation, workload, workload.published, &selection)?;
    let session = input.session(&selection)?;
    let within = |limit| input.predicted.iter().filter(move |one| one.claim == Claim::Exact && one.run <= limit);
    let baseline = within(Effort::FULL.headline_time_limit).next();
    let options = DuelOptions {
        kernels: within(LONGEST).map(|one| one.kernel.to_owned()).collect(),
        baseline: baseline.map(|one| one.kernel.to_owned()),
        threads: 1,
        budget: BUDGET,
        time_limit: Duration::MAX,
        always_included: Vec::new(),
    };
    let open = || Ok::<_, MeasureError>(session);
    Ok(Match::new(open, &options, PROCESSES, machine, run)?.play_compilers(programs, &mut |_| {})?)
}
