//! The tree of characters, which the `walsh` kernels share. The proof and the details are at [`Plan`]; [`leaves`] walks the tree,
//! which has a power series at each node.

mod nodes;
mod plan;
mod series;

pub(super) use self::nodes::passes;
pub use self::nodes::{Compiled, Passes, add_class, leaf, leaves, nodes};
pub use self::plan::{Classes, Part, Plan, least, parts_bytes, ruleset_bytes};
pub use self::series::{PAD, descend, series};

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::Partitions;
use crate::kernel::threads;
use crate::kernel::{Cost, CostContext, Run, RunError};

/// The cost on one thread, at ns per addition and per pass over a series.
pub fn cost(lanes: usize, input: &Partitions, [addition, pass]: [f64; 2]) -> Cost {
    let n = input.total() as f64;
    let additions = input.additions() / 16.0;
    let passes = additions / (0.6 * n + 1.0);
    let one = addition * additions + pass * passes;
    Cost { ns: 1000.0 + 30.0 * n + one, bytes: bytes(lanes, input, 1) }
}

/// Bytes of the plan and of the series of `threads` threads, for the ruleset that takes the most.
pub fn bytes(lanes: usize, input: &Partitions, threads: usize) -> f64 {
    let total = input.total();
    let mut most: f64 = 0.0;
    for table in input.values() {
        most = most.max(ruleset_bytes(lanes, table, total, threads));
    }
    most + parts_bytes(total)
}

/// The time on the threads of a kernel that takes `one` on one thread: each has its share, and one more in twenty for the nodes above it.
/// The constant is the start of a thread.
pub fn on_threads(one: f64, context: CostContext) -> f64 {
    if context.is_parallel { 100_000.0 + 1.05 * one / context.threads as f64 } else { one }
}

/// The driver; `threads` threads share the leaves.
pub fn drive(input: &Partitions, run: &Run, threads: usize, passes: &dyn Passes) -> Result<Vec<u32>, RunError> {
    by_rulesets(passes.lanes(), input, &|mut plan| {
        plan.pair_up();
        share(threads, plan.leaves(), &|part| leaves(&plan, run, part, passes))
    })
}

/// The answers, given for each ruleset the sum over all leaves, for series of some lanes.
pub fn by_rulesets(
    lanes: usize,
    input: &Partitions,
    sum: &dyn Fn(Plan) -> Result<u64, RunError>,
) -> Result<Vec<u32>, RunError> {
    let modulus = u64::from(input.modulus());
    let half = modulus.div_ceil(2); // the inverse of 2
    let mut counts = Vec::new();
    for table in input.values() {
        let plan = Plan::new(lanes, table, input.total(), input.modulus());
        let bits = plan.bits;
        let mut count = sum(plan)? % modulus;
        for _ in 0..bits {
            count = count * half % modulus;
        }
        counts.push(count as u32);
    }
    Ok(counts)
}

/// The sum of `work` over parts of a range, shared by `threads` threads.
pub fn share(
    threads: usize,
    all: Range<usize>,
    work: &(dyn Fn(Range<usize>) -> Result<u64, RunError> + Sync),
) -> Result<u64, RunError> {
    let threads = threads.min(all.len());
    if threads == 1 {
        return work(all);
    }
    // Parts are small enough for threads to end together, and large enough to share the nodes above them.
    let size = all.len().div_ceil(8 * threads);
    let next = AtomicUsize::new(0);
    let worker = |_| {
        let mut sum = 0;
        loop {
            // Relaxed, because the counter only hands out numbers and orders nothing.
            let start = next.fetch_add(size, Relaxed);
            if start >= all.end {
                return Ok(sum);
            }
            sum += work(start..all.end.min(start + size))?;
        }
    };
    let mut sum = 0;
    for share in threads::share(threads, worker)? {
        sum += share;
    }
    Ok(sum)
}
