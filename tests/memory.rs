//! Foreseen memory against what is used, of every kernel: the most that it ever holds, as its allocator counts.
//!
//! The list is checked as a whole, without the harness of tests, whose threads allocate as well: `cargo test --test memory` prints it.

use std::alloc::System;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use nimlanes::cores::{COMPLETE, OPERATIONS};
use nimlanes::games::{SolveError, Solver, game};
use nimlanes::kernel::{Core, Run};
use nimlanes::machine::Machine;
use nimlanes::selection::{SelectError, Selection};
use nimlanes::session::{AnyOperation, Session};
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static MEMORY: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Sizes are as large as a kernel is predicted to do in this time and in this memory.
const MOST: (Duration, f64) = (Duration::from_millis(60), 64e6);
/// What is foreseen may be more than what is used by this part of it.
const MORE: f64 = 0.15;
/// The same where memory is for each of the values that heaps take. Their number is estimated, and rather too high than too low; the
/// formula itself is checked with sets of which it is known.
const ESTIMATED: f64 = 3.0;
/// And it may be more or less by so many bytes, which matter to nobody.
const SLACK: f64 = 131_072.0;
/// The stack of a thread, which no allocator counts.
const STACK: f64 = (2 << 20) as f64;

/// The most bytes that are held at once during `work`, more than before.
fn peak<T>(work: impl FnOnce() -> T) -> f64 {
    MEMORY.reset_peak_memory();
    let result = work();
    let peak = MEMORY.get_peak_memory();
    drop(result);
    peak as f64
}

/// Whether what was foreseen is right, with no more than the part `more` of what was used beyond that, told in a line.
fn told(what: &str, foreseen: f64, used: f64, more: f64) -> bool {
    let is_right = used <= foreseen + SLACK && foreseen <= (1.0 + more) * used + SLACK;
    let verdict = if is_right { "" } else { "  <-- wrong" };
    let mb = |bytes: f64| bytes / 1e6;
    println!("{what:<96} {:9.3} {:9.3} {:+7.1} %{verdict}", mb(foreseen), mb(used), 100.0 * (foreseen / used - 1.0));
    is_right
}

/// How much more may be foreseen than is used.
fn more(of: &str, operation: &str, workload: &str, kernel: &str) -> f64 {
    let of_each_value = ["push_bits", "pull_words", "byte_lanes"].iter().any(|name| kernel.starts_with(name));
    let is_estimated =
        operation == "mex_subtraction" && of_each_value && !workload.contains(|c: char| c.is_ascii_digit());
    // As many positions as there can be: with these moves half of the heaps have none.
    let is_bound = of == "positions" && ["wythoff", "common-factors"].contains(&workload);
    if is_estimated || is_bound { ESTIMATED } else { MORE }
}

/// The inputs of a workload, of sizes that double.
fn inputs<'a>(
    operation: &'a dyn AnyOperation,
    workload: &'a str,
    selection: &'a Selection,
) -> impl Iterator<Item = (u64, Box<dyn Session>)> + 'a {
    // Values that another operation computes first take longer than their counting.
    let largest = if operation.core() == Core::XorCount { 18 } else { 34 };
    (6..largest).map_while(move |e| Some((1 << e, operation.session(selection, workload, 1 << e).ok()?)))
}

/// Checks a kernel at the largest size, and between that and the one before, where lists that double are at another stage.
fn check_kernel(
    operation: &dyn AnyOperation,
    workload: &str,
    selection: &Selection,
    [of, kernel]: [&str; 2],
    sizes: &mut [(u64, Box<dyn Session>)],
) -> bool {
    let index = |session: &dyn Session| session.index(kernel).expect("it is listed");
    let bearable = |session: &dyn Session, threads: usize| {
        let cost = session.cost(index(session), threads);
        cost.ns <= MOST.0.as_nanos() as f64 && cost.bytes <= MOST.1
    };
    let mut is_right = true;
    let first = sizes[0].1.as_ref();
    let all_threads: &[usize] = if first.kernels()[index(first)].is_parallel() { &[2, 3] } else { &[1] };
    for threads in all_threads {
        let Some(last) = sizes.iter().rposition(|(_, session)| bearable(session.as_ref(), *threads)) else { continue };
        let size = sizes[last].0;
        let between = operation.session(selection, workload, size * 7 / 10).expect("smaller than one that exists");
        // The other workloads differ less.
        let is_first = workload == operation.workloads()[0].name;
        let between = is_first.then_some((size * 7 / 10, &between));
        for (size, session) in between.into_iter().chain([(size, &sizes[last].1)]) {
            let index = index(session.as_ref());
            let run = Arc::new(Run::new(*threads));
            let used = peak(|| session.run(index, &run).map(drop));
            // Of the threads of a run one is there before; a pair takes no more than two.
            let started = if kernel.contains("pair") { 1 } else { threads - 1 };
            let stacks = started as f64 * STACK;
            let what = format!("{of} {workload} {size} {kernel}, {threads} thread(s)");
            let used = used + stacks + session.input_bytes();
            is_right &=
                told(&what, session.cost(index, *threads).bytes, used, more(of, operation.name(), workload, kernel));
        }
    }
    is_right
}

/// Positions that are handed on. How much waits depends on who is quicker, so that less may be used than is foreseen.
fn check_stream(name: &str, limit: u64, threads: usize) -> bool {
    let (question, run) = (game(name).expect("a game").question(limit), Run::new(threads));
    let selection = Selection::new(Machine::detect()).with_threads(threads).expect("threads");
    let mut batches = 0;
    let mut used = None;
    let peak = peak(|| {
        let take = |batch| {
            // Time for the search to be as far ahead as it can.
            batches += 1;
            std::thread::sleep(Duration::from_millis(if batches < 20 { 20 } else { 0 }));
            drop(batch);
            Ok::<(), ()>(())
        };
        used = question.stream(&Solver::new(&selection, &run), take).expect("all is taken").ok();
    });
    let used = used.expect("it ends");
    let small = Selection::new(selection.machine().with_memory(0)).with_threads(threads).expect("threads");
    let small = small.with_kernel(used.operation, used.kernel).expect("it just ran");
    let foreseen = match question.stream(&Solver::new(&small, &run), |_| Err(())) {
        Ok(Err(SolveError::Select(SelectError::Memory { needs, .. }))) => needs,
        other => panic!("no memory, and yet {other:?}"),
    };
    let what = format!("handed on: {name} {limit} {}, {threads} thread(s)", used.kernel);
    let stacks = if threads > 1 && used.kernel.contains("threads") { (threads - 1) as f64 * STACK } else { 0.0 };
    told(&what, foreseen, peak + stacks, 1.0)
}

fn main() -> ExitCode {
    // What tests are asked with a name or to be listed is not for this one.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let selection = Selection::new(Machine::detect());
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut is_right = true;
    println!("{:<96} {:>9} {:>9}", "", "foreseen", "used, MB");
    for (of, operations) in [("counts", OPERATIONS), ("positions", COMPLETE)] {
        // Only what is generic over a sink differs.
        let all = |operation: &&&dyn AnyOperation| {
            of == "counts"
                || operation.workloads()[0].name != operation.name()
                    && matches!(operation.name(), "table_scan" | "occupancy")
        };
        for operation in operations.iter().filter(all).filter(|operation| operation.name().contains(&only)) {
            for workload in operation.workloads() {
                let mut sizes: Vec<_> = inputs(*operation, workload.name, &selection)
                    .take_while(|(_, session)| {
                        (0..session.kernels().len()).any(|kernel| {
                            (1..=2).any(|threads| {
                                let cost = session.cost(kernel, threads);
                                cost.ns <= MOST.0.as_nanos() as f64 && cost.bytes <= MOST.1
                            })
                        })
                    })
                    .collect();
                for kernel in operation.kernels(selection.machine()).iter().filter(|kernel| kernel.obstacle.is_none()) {
                    is_right &= check_kernel(*operation, workload.name, &selection, [of, kernel.name], &mut sizes);
                }
            }
        }
    }
    for (name, limit) in [("stone-game", 3000), ("proportionate-nim", 50_000_000)] {
        is_right &= check_stream(name, limit, 1);
        is_right &= !cfg!(feature = "parallel") || check_stream(name, limit, 2);
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
