//! Measures kernels in an engine of WebAssembly beside those of this program.

use std::time::Duration;

use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::AnyOperation;
use nimlanes::kernel::{Claim, Tier};
use nimlanes::machine::Machine;

use super::apart::{Means, OfOperations, on_one_thread};
use super::tasks::Input;
use super::{MeasureError, quickest_plain};
use crate::measuring::duel::{Match, PROCESSES};
use crate::measuring::engine;
use crate::report::data::apart::WebAssembly;

/// Kernels predicted to take up to this many times as long as the fastest take part.
const FACTOR: u32 = 6;
/// So do the best in plain Rust and the best public ones, if predicted to take at most this. Some take many times as long without
/// vectors.
const LONGEST: Duration = Duration::from_millis(200);
/// Budget of the duel of an operation.
const BUDGET: Duration = Duration::from_secs(6);

/// This program takes turns with those for WebAssembly.
impl OfOperations for WebAssembly {
    fn begin(earlier: Option<Self>, means: &Means<'_>) -> Result<Self, MeasureError> {
        let engine = engine::name(means.run)?;
        let earlier = earlier.filter(|earlier| earlier.engine == engine);
        Ok(earlier.unwrap_or(WebAssembly { engine, operations: Vec::new() }))
    }

    fn has(&self, operation: &'static dyn AnyOperation, _: &Machine) -> bool {
        self.operations.iter().flatten().any(|duel| duel.case.operation == operation.name())
    }

    fn add(&mut self, operation: &'static dyn AnyOperation, means: &Means<'_>) -> Result<(), MeasureError> {
        let machine = means.machine;
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
        let kernels = wanted.map(|kernel| kernel.kernel.to_owned()).collect();
        let options = on_one_thread(kernels, Some(session.kernels()[baseline].name.to_owned()), BUDGET);
        let open = || Ok::<_, MeasureError>(session);
        let duel = Match::new(open, &options, PROCESSES, machine, means.run)?;
        self.operations.push(duel.play_beside(&means.programs())?);
        Ok(())
    }
}
