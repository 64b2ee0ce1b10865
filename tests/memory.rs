//! Predicted and used memory of every kernel. Used memory is the peak that the allocator counts.
//!
//! This runs without the test harness, whose threads also allocate. `cargo test --test memory` prints the results; with
//! the name of an operation or `streams` as an argument, only those.

use std::alloc::System;
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nimlanes::cores::OPERATIONS;
use nimlanes::cores::mex::period::Rare;
use nimlanes::cores::named::ByName;
use nimlanes::games::{SolveError, Solver, game};
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::session::{AnyOperation, Session};
use nimlanes::kernel::{Core, Run, Yields};
use nimlanes::machine::Machine;
use peakmem_alloc::{INSTRUMENTED_SYSTEM, PeakMemAlloc, PeakMemAllocTrait};

#[global_allocator]
static MEMORY: &PeakMemAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Sizes are the largest that a kernel is predicted to process within this time and memory.
const MOST: (Duration, f64) = (Duration::from_millis(30), 64e6);
/// The prediction may exceed the used memory by this fraction of it.
const MORE: f64 = 0.15;
/// The same if memory depends on the number of distinct values. That number is an estimate, which errs on the high
/// side. The formula itself is checked with sets for which the number is known.
const ESTIMATED: f64 = 1.2;
/// Negligible difference in bytes, in either direction.
const SLACK: f64 = 131_072.0;
/// The argument that checks streamed positions instead of an operation.
const STREAMS: &str = "streams";
/// The stack of a thread, which the allocator does not count.
const STACK: f64 = (2 << 20) as f64;

/// Peak of allocated bytes during `work`, relative to the level before.
fn peak<T>(work: impl FnOnce() -> T) -> f64 {
    MEMORY.reset_peak_memory();
    let result = work();
    let peak = MEMORY.get_peak_memory();
    drop(result);
    peak as f64
}

/// Prints a comparison in one line. Returns whether the prediction is right: at most the fraction `more` above the used memory.
fn compare(what: &str, predicted: f64, used: f64, more: f64) -> bool {
    let is_right = used <= predicted + SLACK && predicted <= (1.0 + more) * used + SLACK;
    let verdict = if is_right { "" } else { "  <-- wrong" };
    let mb = |bytes: f64| bytes / 1e6;
    println!("{what:<96} {:9.3} {:9.3} {:+7.1} %{verdict}", mb(predicted), mb(used), 100.0 * (predicted / used - 1.0));
    is_right
}

/// The allowed excess of the prediction.
fn more(of: &str, operation: &str, workload: &str, kernel: &str) -> f64 {
    let begins = |names: &[&str]| names.iter().any(|name| kernel.starts_with(name));
    let is_estimated = match operation {
        "mex_subtraction" => {
            begins(&["pull_words", "byte_lanes", "periodic"]) && !workload.contains(|c: char| c.is_ascii_digit())
        }
        // The number of rare heaps is estimated.
        "mex_octal" => begins(&["sparse", "greedy", "window"]),
        // How far the values of a compressed history repeat is predicted from the first heaps.
        "mex_records" => begins(&["compressed"]),
        // Predicted for the largest possible number of positions, though with these moves half of the heaps have none; and for the most
        // segments that may wait to be joined, or windows to be read. How many do depends on which thread is faster.
        "occupancy" if of == "positions" => ["wythoff", "common-factors"].contains(&workload) || begins(&["charged"]),
        "occupancy" => begins(&["window_tree_threads"]),
        // A thread may have done all before another begins.
        "mex_family" => begins(&["slices_threads"]),
        _ => false,
    };
    if is_estimated { ESTIMATED } else { MORE }
}

/// Whether a kernel is predicted to process an input within [`MOST`].
fn is_feasible(session: &dyn Session, kernel: usize, threads: usize) -> bool {
    let cost = session.cost(kernel, threads);
    cost.ns <= MOST.0.as_nanos() as f64 && cost.bytes <= MOST.1
}

/// The inputs of a workload for which kernels find this much.
struct Inputs<'a> {
    operation: &'a AnyOperation,
    yields: Yields,
    workload: &'a str,
    selection: &'a Selection,
}

impl Inputs<'_> {
    fn at(&self, size: u64) -> Option<Box<dyn Session>> {
        self.operation.session_finding(self.yields, self.selection, self.workload, size).ok()
    }

    /// Those of doubling sizes that some kernel can process.
    fn doubling(&self) -> Vec<(u64, Box<dyn Session>)> {
        // Computing the values with another operation takes longer than counting them.
        let largest = if self.operation.core() == Core::XorCount { 18 } else { 34 };
        let inputs = (6..largest).map_while(|e| Some((1 << e, self.at(1 << e)?)));
        let is_feasible = |(_, session): &(u64, Box<dyn Session>)| {
            let mut kernels = 0..session.kernels().len();
            kernels.any(|kernel| [1, 2].iter().any(|threads| is_feasible(session.as_ref(), kernel, *threads)))
        };
        inputs.take_while(is_feasible).collect()
    }

    /// Checks a kernel at the largest size, and between this and the previous one, where lists that double have another fill level.
    fn check(&self, kernel: &str, sizes: &[(u64, Box<dyn Session>)]) -> bool {
        let of = if self.yields == Yields::Tally { "counts" } else { "positions" };
        let (operation, workload) = (self.operation.name(), self.workload);
        let index = |session: &dyn Session| session.index(kernel).expect("it is listed");
        let is_feasible = |session: &dyn Session, threads| is_feasible(session, index(session), threads);
        let mut is_right = true;
        let first = sizes[0].1.as_ref();
        let all_threads: &[usize] = if first.kernels()[index(first)].is_parallel() { &[2, 3] } else { &[1] };
        for threads in all_threads {
            let last = sizes.iter().rfind(|(_, session)| is_feasible(session.as_ref(), *threads));
            let Some((size, session)) = last else { continue };
            // Only for the first workload: the others differ less between sizes.
            let is_first = workload == self.operation.workloads()[0].name;
            let between = is_first.then(|| self.at(size * 7 / 10).expect("smaller than one that exists"));
            let between = between.as_ref().map(|session| (size * 7 / 10, session));
            for (size, session) in between.into_iter().chain([(*size, session)]) {
                let index = index(session.as_ref());
                let run = Arc::new(Run::new(*threads));
                let used = peak(|| session.run(index, &run).map(drop));
                // One thread of a run already exists, and a pair uses at most two.
                let started = if kernel.contains("_pair_") { 1 } else { threads - 1 };
                let used = used + started as f64 * STACK + session.input_bytes();
                let what = format!("{of} {workload} {size} {kernel}, {threads} thread(s)");
                let predicted = session.cost(index, *threads).bytes;
                is_right &= compare(&what, predicted, used, more(of, operation, workload, kernel));
            }
        }
        is_right
    }
}

/// Checks streamed positions. How many wait depends on whether the search or its consumer is faster, so less memory than
/// predicted may be used.
fn check_stream(name: &str, limit: u64, threads: usize) -> bool {
    let (question, run) = (game(name).expect("a game").question(limit), Run::new(threads));
    let selection = Selection::new(Machine::detect()).with_threads(threads).expect("threads");
    let mut batches = 0;
    let mut used = None;
    let peak = peak(|| {
        let take = |batch| {
            // Gives the search time to get as far ahead as possible.
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
    let predicted = match question.stream(&Solver::new(&small, &run), |_| Err(())) {
        Ok(Err(SolveError::Select(SelectError::Memory { needs, .. }))) => needs,
        other => panic!("no memory, and yet {other:?}"),
    };
    let what = format!("handed on: {name} {limit} {}, {threads} thread(s)", used.kernel);
    let stacks = if threads > 1 && used.kernel.contains("threads") { (threads - 1) as f64 * STACK } else { 0.0 };
    compare(&what, predicted, peak + stacks, 1.0)
}

/// Checks the kernels of the operations whose names contain `only`.
fn check_operations(only: &str) -> bool {
    let selection = Selection::new(Machine::detect());
    let mut is_right = true;
    for yields in [Yields::Tally, Yields::Everything] {
        // Only the outputs of these have parts.
        let all = |operation: &&&AnyOperation| {
            yields == Yields::Tally || matches!(operation.name(), "table_scan" | "occupancy")
        };
        for operation in OPERATIONS.iter().filter(all).filter(|operation| operation.name().contains(only)) {
            for workload in operation.workloads() {
                let inputs = Inputs { operation, yields, workload: workload.name, selection: &selection };
                let sizes = inputs.doubling();
                for kernel in operation.kernels(selection.machine()).iter().filter(|kernel| kernel.obstacle.is_none()) {
                    is_right &= inputs.check(kernel.name, &sizes);
                }
            }
        }
    }
    is_right
}

/// Checks that finding the rare heaps of a game takes no room for lists of heaps.
fn check_rare_heaps() -> bool {
    let code = "0.106".parse().expect("a game");
    let values = nimlanes::octal_values("0.106", 1 << 20).expect("a small limit");
    let mut rare = None;
    let used = peak(|| rare = Some(Rare::of(&code, &values)));
    assert_eq!(rare.map(|rare| (rare.heaps, rare.last)), Some((15, 1103)));
    compare("the rare heaps of 0.106 1048576", 0.0, used, MORE)
}

fn check_streams() -> bool {
    let mut is_right = true;
    for (name, limit) in [("stone-game", 3000), ("proportionate-nim", 50_000_000)] {
        is_right &= check_stream(name, limit, 1);
        is_right &= !cfg!(feature = "parallel") || check_stream(name, limit, 2);
    }
    is_right
}

/// Checks all operations, each in a process of its own, because the allocator counts per process.
fn check_all() -> bool {
    let program = std::env::current_exe().expect("this program");
    let parts: Mutex<Vec<&str>> =
        Mutex::new(OPERATIONS.iter().map(|operation| operation.name()).chain([STREAMS]).collect());
    let running = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
    std::thread::scope(|scope| {
        let check = || {
            let mut is_right = true;
            while let Some(part) = { parts.lock().expect("no panic").pop() } {
                let output = Command::new(&program).arg(part).output().expect("this program runs again");
                print!("{}", String::from_utf8_lossy(&output.stdout));
                eprint!("{}", String::from_utf8_lossy(&output.stderr));
                is_right &= output.status.success();
            }
            is_right
        };
        let checks: Vec<_> = (0..running).map(|_| scope.spawn(check)).collect();
        checks.into_iter().all(|check| check.join().expect("no panic"))
    })
}

fn main() -> ExitCode {
    // There are no named tests to list.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let is_right = match std::env::args().skip(1).find(|argument| !argument.starts_with('-')) {
        None => {
            println!("{:<96} {:>9} {:>9}", "", "predicted", "used, MB");
            check_all()
        }
        Some(part) if part == STREAMS => check_streams(),
        Some(part) => check_operations(&part) & (part != "mex_octal" || check_rare_heaps()),
    };
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
