//! Every kernel, on every workload, against the oracle and the known answers: one named test each, from the registry.
//!
//! A kernel that this CPU lacks is *ignored*, never passed. `NIMLANES_REQUIRE=avx512` turns ignored into failed for
//! that tier and all below it.

use std::sync::{Arc, LazyLock};

use libtest_mimic::{Arguments, Failed, Trial};
use nimlanes::cores::COMPLETE;
use nimlanes::kernel::{Run, Tier, Workload};
use nimlanes::lab::known;
use nimlanes::machine::Machine;
use nimlanes::session::{AnyOperation, Session};

/// Round every edge of a word, a vector and a pair of vectors.
const EDGES: [u64; 13] = [0, 1, 2, 3, 31, 63, 64, 65, 127, 128, 129, 200, 257];
/// Where the oracle is quick enough.
const FAR_EDGES: [u64; 3] = [511, 512, 513];
/// Known answers are checked by every kernel that needs no longer.
const PATIENCE_NS: f64 = 1.5e9;

type Sessions = LazyLock<Vec<(u64, Box<dyn Session>)>, Box<dyn Fn() -> Vec<(u64, Box<dyn Session>)> + Send>>;

fn main() {
    let machine = Machine::detect();
    let required: Option<Tier> = std::env::var("NIMLANES_REQUIRE").ok().map(|tier| tier.parse().expect("a tier"));
    let trials = COMPLETE.iter().flat_map(|operation| {
        operation.workloads().iter().flat_map(move |workload| trials(*operation, workload, machine, required))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

/// One trial for each kernel; they share the inputs and the oracle's answers.
fn trials(
    operation: &'static dyn AnyOperation,
    workload: &'static Workload,
    machine: Machine,
    required: Option<Tier>,
) -> impl Iterator<Item = Trial> {
    let sessions: Arc<Sessions> = Arc::new(LazyLock::new(Box::new(move || {
        let sizes = EDGES.iter().chain(&FAR_EDGES);
        let session =
            |size: &u64| (*size, operation.session(&machine, workload.name, *size).expect("a listed workload"));
        sizes.map(session).collect()
    })));
    operation.kernels(&machine).into_iter().filter(|kernel| kernel.compiled).map(move |kernel| {
        let sessions = Arc::clone(&sessions);
        let missing = kernel.unavailable.clone();
        let is_required = required.is_some_and(|tier| kernel.tier <= tier);
        let name = format!("{}/{}/{}", operation.name(), workload.name, kernel.name);
        Trial::test(name, move || match missing {
            Some(reason) => Err(Failed::from(format!("required, but: {reason}"))),
            None => conforms(operation, workload, &machine, &sessions, kernel.name),
        })
        .with_ignored_flag(kernel.unavailable.is_some() && !is_required)
    })
}

fn conforms(
    operation: &dyn AnyOperation,
    workload: &Workload,
    machine: &Machine,
    sessions: &Sessions,
    kernel: &str,
) -> Result<(), Failed> {
    for (size, session) in sessions.iter() {
        let index = session.kernels().iter().position(|name| *name == kernel).expect("an available kernel");
        for threads in [1, 2, 3] {
            if !session.cost(index, threads).is_possible() {
                continue;
            }
            let run = Run::new(threads);
            let answer = session.run(index, &run)?;
            if !answer.agrees(session.oracle()) {
                let (got, want) = (answer.digest(), session.oracle().digest());
                return Err(format!("size {size}, {threads} thread(s): {got:?}, the oracle has {want:?}").into());
            }
            if run.done() != session.steps() {
                return Err(format!("size {size}: progress ended at {}, not {}", run.done(), session.steps()).into());
            }
        }
    }
    for known in known::all().filter(|known| (known.subject, known.workload) == (operation.name(), workload.name)) {
        let session = operation.session(machine, workload.name, known.size)?;
        let index = session.kernels().iter().position(|name| *name == kernel).expect("an available kernel");
        let threads = [1, 2].into_iter().find(|threads| session.cost(index, *threads).is_possible());
        let Some(threads) = threads.filter(|threads| session.cost(index, *threads).ns < PATIENCE_NS) else { continue };
        known.check(&session.run(index, &Run::new(threads))?.digest())?;
    }
    Ok(())
}
