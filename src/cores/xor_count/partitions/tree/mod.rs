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
pub fn cost<const LANES: usize>(input: &Partitions, [addition, pass]: [f64; 2]) -> Cost {
    let n = input.total() as f64;
    let additions = input.additions() / 16.0;
    let passes = additions / (0.6 * n + 1.0);
    let one = addition * additions + pass * passes;
    Cost { ns: 1000.0 + 30.0 * n + one, bytes: bytes::<LANES>(input, 1) }
}

/// Bytes of the plan and of the series of `threads` threads, for the ruleset that takes the most.
pub fn bytes<const LANES: usize>(input: &Partitions, threads: usize) -> f64 {
    let total = input.total();
    let rulesets = input.values().iter().map(|table| ruleset_bytes::<LANES>(table, total, threads));
    rulesets.fold(0.0, f64::max) + parts_bytes(total)
}

/// The time on the threads of a kernel that takes `one` on one thread: each has its share, and one more in twenty for the nodes above it.
/// The constant is the start of a thread.
pub fn on_threads(one: f64, context: CostContext) -> f64 {
    if context.is_parallel { 100_000.0 + 1.05 * one / context.threads as f64 } else { one }
}

/// The driver, for series of `LANES` lanes; `threads` threads share the leaves.
pub fn drive<const LANES: usize>(
    input: &Partitions,
    run: &Run,
    threads: usize,
    passes: &dyn Passes<LANES>,
) -> Result<Vec<u32>, RunError> {
    by_rulesets::<LANES>(input, &|mut plan| {
        plan.pair_up::<LANES>();
        share(threads, plan.leaves::<LANES>(), &|part| leaves(&plan, run, part, passes))
    })
}

/// The answers, given for each ruleset the sum over all leaves.
pub fn by_rulesets<const LANES: usize>(
    input: &Partitions,
    sum: &dyn Fn(Plan) -> Result<u64, RunError>,
) -> Result<Vec<u32>, RunError> {
    let modulus = u64::from(input.modulus());
    let half = modulus.div_ceil(2); // the inverse of 2
    let mut counts = Vec::new();
    for table in input.values() {
        let plan = Plan::new::<LANES>(table, input.total(), input.modulus());
        let bits = plan.bits;
        counts.push((0..bits).fold(sum(plan)? % modulus, |sum, _| sum * half % modulus) as u32);
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
    Ok(threads::share(threads, worker)?.into_iter().sum())
}
