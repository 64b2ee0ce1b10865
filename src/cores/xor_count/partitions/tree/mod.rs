//! The tree of characters, which the `walsh` kernels share. The proof and the details are at [`Plan`]; [`leaves`] walks the tree,
//! which has a power series at each node.

mod plan;
mod series;

pub use self::plan::{Classes, Part, Plan, least, parts_bytes, ruleset_bytes};
pub use self::series::{PAD, descend, series};

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use self::plan::Step;
use self::series::{add_lanes, arena, dot, stride};
use super::Partitions;
use crate::kernel::threads;
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Nanoseconds of a run, of a term in the plan, and of the start of a thread.
const NS_PER_RUN: f64 = 1000.0;
const NS_PER_TERM: f64 = 30.0;
const NS_PER_THREAD: f64 = 100_000.0;
/// Of the additions of the table, those that the tree needs; and of the terms of a series, those that a pass changes.
const NEEDED: f64 = 1.0 / 16.0;
const CHANGED: f64 = 0.6;

/// The cost on one thread, at ns per addition and per pass over a series.
pub fn cost(lanes: usize, input: &Partitions, [addition, pass]: [f64; 2]) -> Cost {
    let n = input.total() as f64;
    let additions = NEEDED * input.additions();
    let passes = additions / (CHANGED * n + 1.0);
    let ns = NS_PER_RUN + NS_PER_TERM * n + addition * additions + pass * passes;
    Cost { ns, bytes: bytes(lanes, input, 1) }
}

/// Bytes of the plan and of the series of `threads` threads, for the ruleset that takes the most.
pub fn bytes(lanes: usize, input: &Partitions, threads: usize) -> f64 {
    let of_ruleset = |table: &Vec<u32>| ruleset_bytes(lanes, table, input.total(), threads);
    input.values().iter().map(of_ruleset).fold(0.0, f64::max) + parts_bytes(input.total())
}

/// The time on the threads of a kernel that takes `one` on one thread: each has its share, and one more in twenty for the nodes above it.
pub fn on_threads(one: f64, context: CostContext) -> f64 {
    if context.is_parallel { NS_PER_THREAD + 1.05 * one / context.threads as f64 } else { one }
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
        let sum = sum(plan)? % modulus;
        counts.push((0..bits).fold(sum, |count, _| count * half % modulus) as u32);
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

/// The work on series, compiled for the tier of the function that [`passes!`] is in. The walk is compiled once.
pub trait Passes: Sync {
    /// Lanes of a series.
    fn lanes(&self) -> usize;
    /// [`add_class`].
    fn add_class(&self, plan: &Plan, class: &[Step], character: usize, series: &mut [u32], top: &mut Top);
    /// [`leaf`].
    fn leaf(&self, plan: &Plan, character: usize, node: &[u32], other: &mut [u32]) -> u64;
}

/// The last term of the series of a node, which is kept apart, for as many lanes as there may be.
pub type Top = [u32; 16];

/// The lanes, and a closure for each.
impl<A, L> Passes for (usize, A, L)
where
    A: Fn(&Plan, &[Step], usize, &mut [u32], &mut Top) + Sync,
    L: Fn(&Plan, usize, &[u32], &mut [u32]) -> u64 + Sync,
{
    fn lanes(&self) -> usize {
        self.0
    }

    fn add_class(&self, plan: &Plan, class: &[Step], character: usize, series: &mut [u32], top: &mut Top) {
        (self.1)(plan, class, character, series, top);
    }

    fn leaf(&self, plan: &Plan, character: usize, node: &[u32], other: &mut [u32]) -> u64 {
        (self.2)(plan, character, node, other)
    }
}

/// [`Passes`] of a pass. `apply(series, size, signs, terms, modulus)` applies a part to a series of as many lanes as
/// stated: `series[t] += +-series[t - size]` for the terms `t`, descending. Lane `i` subtracts if bit `i` of `signs` is set. A series
/// has a word for each lane and term, from word [`PAD`] on, which starts a vector. Other terms in the same vectors may be processed
/// as well: earlier terms do not change, because terms before `terms.start - size` are 0, and later terms are not needed.
///
/// With `in simd`, each begins a context of that token or level, and so does each pass, which takes it before the others. Where a call
/// is not inlined, the level would silently be lost and each operation become a call: thirty times the time.
macro_rules! passes {
    ($lanes:expr, $apply:expr) => {{
        use $crate::cores::xor_count::partitions::tree;
        (
            $lanes,
            move |plan: &_, class: &[_], character, series: &mut [u32], top: &mut _| {
                tree::add_class::<{ $lanes }>(plan, class, character, series, top, $apply)
            },
            move |plan: &_, character, node: &[u32], other: &mut [u32]| {
                tree::leaf::<{ $lanes }>(plan, character, node, other, $apply)
            },
        )
    }};
    ($lanes:expr, in $simd:ident, $pass:ident) => {
        passes!(
            @ $lanes, $simd,
            #[inline(always)]
            |series: &mut [u32], size, signs, terms: Range<usize>, modulus| {
                $simd.vectorize(
                    #[inline(always)]
                    || $pass($simd, series, size, signs, terms, modulus),
                )
            }
        )
    };
    (@ $lanes:expr, $simd:ident, $($apply:tt)*) => {{
        use $crate::cores::xor_count::partitions::tree;
        (
            $lanes,
            move |plan: &_, class: &[_], character, series: &mut [u32], top: &mut _| {
                $simd.vectorize(
                    #[inline(always)]
                    || tree::add_class::<{ $lanes }>(plan, class, character, series, top, $($apply)*),
                )
            },
            move |plan: &_, character, node: &[u32], other: &mut [u32]| {
                $simd.vectorize(
                    #[inline(always)]
                    || tree::leaf::<{ $lanes }>(plan, character, node, other, $($apply)*),
                )
            },
        )
    }};
}
pub(super) use passes;

/// Adds the parts of a class to the series of a node, whose last term is kept apart.
#[inline(always)]
pub fn add_class<const LANES: usize>(
    plan: &Plan,
    class: &[Step],
    character: usize,
    series: &mut [u32],
    top: &mut Top,
    apply: impl Fn(&mut [u32], usize, u32, Range<usize>, u32),
) {
    let &Plan { total, modulus, ref signs, .. } = plan;
    for &Step { part: Part { size, value }, end } in class {
        let signs = signs.of(value, character);
        add_lanes(&mut top[..LANES], &series[PAD + (total - size) * LANES..][..LANES], signs, modulus);
        if end >= size {
            apply(series, size, signs, size..end + 1, modulus);
        }
    }
}

/// The sum, over both values of the last bit of a character and over the lanes, of what the last class and pairs add to the coefficient
/// of `x^n`. `other` has room for the leaf's other side.
#[inline(always)]
pub fn leaf<const LANES: usize>(
    plan: &Plan,
    character: usize,
    node: &[u32],
    other: &mut [u32],
    apply: impl Fn(&mut [u32], usize, u32, Range<usize>, u32),
) -> u64 {
    let &Plan { total, modulus, bits, ref signs, .. } = plan;
    let mut sum = 0;
    for last_bit in 0..2 {
        let character = character | last_bit << (bits - 1);
        // Without its constant term 1.
        other.fill(0);
        plan.pairs.copy_to::<LANES>(other, character);
        let mut least = plan.pairs.first;
        for Part { size, value } in &plan.last {
            let signs = signs.of(*value, character);
            if size + least <= total {
                apply(other, *size, signs, size + least..total + 1, modulus);
            }
            add_lanes(&mut other[PAD + size * LANES..][..LANES], &[1; LANES], signs, modulus);
            least = least.min(*size);
        }
        sum += dot::<LANES>(other, node, least..total + 1, total, modulus);
    }
    sum
}

/// The sum, over the characters of some leaves and the lanes of each, of the coefficient of `x^n`.
pub fn leaves(plan: &Plan, run: &Run, leaves: Range<usize>, passes: &dyn Passes) -> Result<u64, RunError> {
    let stride = stride(plan.lanes, plan.total);
    let (mut arena, aligned) = arena(stride);
    let other = &mut arena[aligned..][..stride];
    nodes(plan, run, leaves, passes, &mut |node, character| passes.leaf(plan, character, node, other))
}

/// Walks the nodes of the tree above some leaves. The result is the sum of `leaf(series, character)` over the leaves, plus the
/// coefficients of `x^n` in the series of all their characters. `character` is without its last bit: a leaf sums over both values
/// of that bit what the last class and pairs add to the series.
pub fn nodes(
    plan: &Plan,
    run: &Run,
    leaves: Range<usize>,
    passes: &dyn Passes,
    leaf: &mut dyn FnMut(&[u32], usize) -> u64,
) -> Result<u64, RunError> {
    let &Plan { lanes, total, modulus, bits, .. } = plan;
    let lane_bits = lanes.ilog2() as usize;
    let levels = bits - 1 - lane_bits;

    // Rows of the arena: the series of the root and of a node of each level.
    let stride = stride(lanes, total);
    let (mut arena, aligned) = arena((levels + 1) * stride);
    let nodes = &mut arena[aligned..][..(levels + 1) * stride];
    let mut tops: Vec<Top> = vec![[0; 16]; levels + 1];

    let (root, top) = (&mut nodes[..stride], &mut tops[0]);
    for (i, number) in plan.halves.iter().enumerate() {
        root[PAD + 2 * i * lanes..][..lanes].fill(*number);
    }
    top[..lanes].copy_from_slice(&root[PAD + total * lanes..][..lanes]);
    passes.add_class(plan, &plan.neutral, 0, root, top);
    for class in &plan.classes[..lane_bits] {
        passes.add_class(plan, class, 0, root, top);
    }

    let mut sum = 0;
    let count = 1 << levels;
    for number in leaves.clone() {
        // The first level is the highest bit of a leaf number, but in a character the lowest bit above those of the lanes.
        let bit = |level: usize| (number >> (levels - 1 - level) & 1) << (lane_bits + level);
        let character = (0..levels).map(bit).sum::<usize>();
        let from = if number == leaves.start { 0 } else { levels - 1 - number.trailing_zeros() as usize };
        for level in from..levels {
            let (above, below) = nodes.split_at_mut((level + 1) * stride);
            let node = &mut below[..stride];
            node.copy_from_slice(&above[level * stride..]);
            tops[level + 1] = tops[level];
            passes.add_class(plan, &plan.classes[lane_bits + level], character, node, &mut tops[level + 1]);
        }
        sum += leaf(&nodes[levels * stride..], character);
        sum += 2 * tops[levels].iter().map(|top| u64::from(*top)).sum::<u64>();
        run.advance((total * (number + 1) / count - total * number / count) as u64)?;
    }
    Ok(sum % u64::from(modulus))
}
