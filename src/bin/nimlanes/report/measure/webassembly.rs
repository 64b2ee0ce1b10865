//! Measures kernels in an engine of WebAssembly beside those of this program.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::AnyOperation;
use nimlanes::kernel::{Claim, Run, Tier};
use nimlanes::machine::Machine;

use super::tasks::Input;
use super::{MeasureError, quickest_plain};
use crate::files::saved::SavedError;
use crate::measuring::duel::{Duel, DuelOptions, Match, PROCESSES};
use crate::measuring::engine;
use crate::report::data::apart::WebAssembly;

/// Kernels predicted to take up to this many times as long as the fastest take part.
const FACTOR: u32 = 6;
/// So do the best in plain Rust and the best public ones, if predicted to take at most this. Some take many times as long without
/// vectors.
const LONGEST: Duration = Duration::from_millis(200);
/// Budget of the duel of an operation.
const BUDGET: Duration = Duration::from_secs(6);

/// Measures each operation at its published size: this program beside `programs`, in turns. Operations in `earlier` are not measured
/// again if that was in the same engine. `save` receives all that is measured after each operation, `announce` a line for each.
///
/// # Errors
/// There is no engine, a program cannot duel, outputs differ, or the run was stopped; or those of `save`.
pub fn measure(
    machine: &Machine,
    programs: &[PathBuf],
    earlier: Option<WebAssembly>,
    run: &Run,
    save: &mut dyn FnMut(&WebAssembly) -> Result<(), SavedError>,
    announce: &mut dyn FnMut(&str),
) -> Result<(), MeasureError> {
    let engine = engine::name(run)?;
    let programs: Vec<&Path> = programs.iter().map(PathBuf::as_path).collect();
    let earlier = earlier.filter(|earlier| earlier.engine == engine);
    let mut measured = earlier.unwrap_or(WebAssembly { engine, operations: Vec::new() });
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
) -> Result<Vec<Duel>, MeasureError> {
    let workload = &operation.workloads()[0];
    let selection = Selection::new(*machine).with_threads(1)?;
    let mut input = Input::new(operation, workload, workload.published, &selection)?;
    let session = input.session(&selection)?;
    let plain = quickest_plain(session.as_ref()).map(|kernel| session.kernels()[kernel].name);
    input.include(|kernel| Some(kernel) == plain || operation.public().contains(&kernel), LONGEST);
    let limit = input.shortest_run() * FACTOR;
    let wanted = input.predicted.iter().filter(|kernel| kernel.claim == Claim::Exact);
    let wanted = wanted.filter(|kernel| kernel.run <= limit || kernel.always_included);
    // The baseline is what is selected up to AVX2, whose vectors are as wide as two of WebAssembly.
    let weaker = machine.tiers().find(|tier| tier.name() == "avx2").unwrap_or(Tier::Portable);
    let weaker = Selection::new(machine.capped(weaker)).with_threads(1)?;
    let baseline = weaker.kernel_of(input.session(&weaker)?.as_ref())?;
    let options = DuelOptions {
        kernels: wanted.map(|kernel| kernel.kernel.to_owned()).collect(),
        baseline: Some(session.kernels()[baseline].name.to_owned()),
        threads: 1,
        budget: BUDGET,
        time_limit: Duration::MAX,
        always_included: Vec::new(),
    };
    let open = || Ok::<_, MeasureError>(session);
    Ok(Match::new(open, &options, PROCESSES, machine, run)?.play_beside(programs)?)
}
