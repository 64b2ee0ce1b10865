//! Bit slicing: a slice is a register with one bit for each of 512 sets, and all sets take the same step.
//!
//! A heap has a plane for each value: the sets in which it has that value. For the values in turn, a move `s` adds the plane of heap
//! `n - s`, masked by the sets that have the move; what is not reached and still open takes the value. Moves that all sets of a batch
//! have need no mask, and those that none has no step. So the free moves that differ within a batch are neighbours; large ones, as sets with
//! the same small moves have similar values. Counters in slices write the values in binary, for the search.
//!
//! A batch computes some heaps, then searches: first for the period with which the first `M` values recur (preperiod 0), then, back
//! from the end, for the last `M` values. A comparison ends where no set agrees, after about twelve heaps. Sets without a period
//! are pending for a batch of twice the heaps, so that no batch runs as long as its slowest set. After seven such levels a set is done alone.
//!
//! Cost: two loads and an operation for each masked move, value and heap; the search takes a fourth of the time.
//! Bound (Zen 3): loads, and the mispredicted end of the values of a heap.

use std::sync::atomic::AtomicU64;

use super::sets::{BatchLayout, LEVELS, Sets, SharedSets, WORDS};
use super::{Family, Findings};
use crate::kernel::{Cost, CostContext, Run, RunError, threads};
use crate::machine::STACK;
use crate::simd::bits::WORD;

#[cfg(all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")))]
pub mod x86;

/// Binary digits of values.
const DIGITS: usize = 6;

/// The heaps of a set, in units of the largest move, and the values of a heap, by the mean number of moves.
const HEAPS: f64 = 9.0;
const VALUES: [f64; 2] = [0.9, 0.5];

/// Rates: the ns of a move, value and heap of a set, and of a run.
pub fn cost(input: &Family, context: CostContext, rates: [f64; 2]) -> Cost {
    cost_of(WORDS, input, context, rates)
}

/// [`cost`] for slices of so many words.
pub fn cost_of(words: usize, input: &Family, context: CostContext, [step, run]: [f64; 2]) -> Cost {
    if context.is_parallel && context.threads == 1 {
        return Cost::IMPOSSIBLE;
    }
    let threads = context.threads as f64;
    let (largest, moves) = (input.largest() as f64, input.mean_moves());
    let (heaps, values) = (HEAPS * largest, VALUES[0] * moves + VALUES[1]);
    let steps = heaps * values * input.moves_of_batch((WORD * words).ilog2());
    let slices = BatchLayout::of(input).slices() * 8 * words;
    let lists = (LEVELS + 2) * 3 * WORD * words * 8 + 8 * (BatchLayout::of(input).heaps(LEVELS - 1) + 1);
    Cost {
        ns: run + step * steps * input.sets() as f64 / threads,
        bytes: threads * (slices + lists) as f64 + (threads - 1.0) * STACK,
    }
}

/// Makes [`Slices`] and [`Operations`] of a list of operations.
macro_rules! operations {
    ($($(#[$doc:meta])+ $name:ident: $F:ident($($x:ident: $T:ty),+) $(-> $R:ty)?;)+) => {
        /// The operations of a tier on slices `V`, which have a bit for each set.
        pub trait Slices<V>: Copy {
            $($(#[$doc])+ fn $name(&self, $($x: $T),+) $(-> $R)?;)+
        }

        /// Operations made of closures, which have the CPU features of the function that makes them.
        #[derive(Clone, Copy)]
        pub struct Operations<$($F),+> {
            $(pub $name: $F),+
        }

        impl<V, $($F: Fn($($T),+) $(-> $R)? + Copy),+> Slices<V> for Operations<$($F),+> {
            $(
                #[inline(always)]
                fn $name(&self, $($x: $T),+) $(-> $R)? {
                    (self.$name)($($x),+)
                }
            )+
        }
    };
}

operations! {
    /// The slice of the first words.
    load: Load(words: &[u64; WORDS]) -> V;
    /// The words of a slice, in the first of `words`.
    store: Store(slice: V, words: &mut [u64; WORDS]);
    /// `a | b`
    or: Or(a: V, b: V) -> V;
    /// `sum | (a & b)`
    or_both: OrBoth(sum: V, a: V, b: V) -> V;
    /// `a & !b`
    without: Without(a: V, b: V) -> V;
    /// `a ^ b`
    xor: Xor(a: V, b: V) -> V;
    /// The sets of `of` in which `a` and `b` agree.
    agree: Agree(of: V, a: V, b: V) -> V;
    /// Whether any bit is set.
    any: Any(slice: V) -> bool;
}

/// The part in which the tiers differ: [`work`] with the operations of the tier.
pub trait Work: Fn(&SharedSets<'_>) -> Result<Findings, RunError> + Sync {}

impl<F: Fn(&SharedSets<'_>) -> Result<Findings, RunError> + Sync> Work for F {}

#[inline(always)]
pub fn run(input: &Family, run: &Run, threads: usize, work: impl Work) -> Result<Findings, RunError> {
    let work: &dyn Work = &work;
    let shared = SharedSets { input, run, next: AtomicU64::new(input.first()) };
    if threads == 1 {
        return work(&shared);
    }
    let mut all = Findings::default();
    for found in threads::share(threads, |_| work(&shared))? {
        all.join(found, input.kept);
    }
    Ok(all)
}

/// Resolves sets until none is left, with slices of so many words.
#[inline(always)]
pub fn work<V: Copy>(words: usize, shared: &SharedSets<'_>, ops: impl Slices<V>) -> Result<Findings, RunError> {
    let mut sets = Sets::new(shared, words);
    let mut batch = Batch::new(sets.layout, ops);
    while sets.take()? {
        batch.compute(&mut sets);
        batch.resolve(&mut sets);
    }
    Ok(sets.found())
}

/// The values of the first heaps of a batch, in slices.
struct Batch<V, O> {
    ops: O,
    layout: BatchLayout,
    heaps: usize,
    /// [`Sets::masks`], in the first of these.
    masks: Vec<V>,
    /// For each value, the sets of recent heaps that have it.
    planes: Vec<V>,
    /// For each binary digit, the sets of all heaps whose value has it.
    digits: Vec<V>,
    /// The digits of the largest value.
    used_digits: usize,
}

impl<V: Copy, O: Slices<V>> Batch<V, O> {
    #[inline(always)]
    fn new(layout: BatchLayout, ops: O) -> Self {
        let zero = ops.load(&[0; WORDS]);
        Batch {
            ops,
            layout,
            heaps: 0,
            masks: vec![zero; layout.window],
            planes: vec![zero; layout.values * layout.stride()],
            digits: vec![zero; layout.digits * layout.heaps(LEVELS - 1)],
            used_digits: 0,
        }
    }

    /// Computes the values of the first heaps.
    #[inline(always)]
    fn compute(&mut self, sets: &mut Sets) {
        let (ops, heaps) = (self.ops, sets.heaps);
        self.heaps = heaps;
        for (mask, words) in self.masks.iter_mut().zip(&sets.masks) {
            *mask = ops.load(words);
        }
        let (window, stride) = (self.layout.window, self.layout.stride());
        let (zero, ones) = (ops.load(&[0; WORDS]), ops.load(&[u64::MAX; WORDS]));
        let (planes, masks, common) = (&mut self.planes[..], &self.masks[..sets.masks.len()], &sets.common[..]);
        // Where the heaps of masked moves begin in a window.
        let masked = window + 1 - sets.masked_from - masks.len();
        let digits = &mut self.digits[..self.layout.digits * heaps];
        // No heap before the first has a value.
        planes[..window].fill(zero);
        let (mut used, mut at) = (1, window);
        for n in 0..heaps {
            if at == stride {
                for v in 0..used {
                    planes[v * stride..][..stride].copy_within(stride - window.., 0);
                }
                at = window;
            }
            let (mut unresolved, mut count, mut v) = (ones, [zero; DIGITS], 0);
            loop {
                if v == used {
                    planes[v * stride + at - window..][..window].fill(zero);
                    used += 1;
                }
                let plane = &mut planes[v * stride + at - window..][..window + 1];
                let before = &plane[..window];
                let (a, mut b) = reached(ops, masks, &before[masked..][..masks.len()], zero);
                for m in common {
                    b = ops.or(b, before[window - m]);
                }
                let taken = ops.without(unresolved, ops.or(a, b));
                plane[window] = taken;
                unresolved = ops.without(unresolved, taken);
                if !ops.any(unresolved) {
                    break;
                }
                v += 1;
                // A counter: the sets that are unresolved have a value of at least `v`. A digit changes with each multiple of its weight.
                for (digit, count) in count.iter_mut().enumerate() {
                    if v & ((1 << digit) - 1) != 0 {
                        break;
                    }
                    *count = ops.xor(*count, unresolved);
                }
            }
            for v in v + 1..used {
                planes[v * stride + at] = zero;
            }
            for digit in 0..self.layout.digits {
                digits[digit * heaps + n] = count[digit];
            }
            at += 1;
        }
        sets.found.largest = sets.found.largest.max(used as u64 - 1);
        self.used_digits = used.next_power_of_two().ilog2() as usize;
    }

    /// The sets of `unresolved` in which the window from `heap` on has the same values as the one from `later` on.
    #[inline(always)]
    fn agree(&self, heap: usize, later: usize, mut unresolved: V) -> V {
        let window = self.layout.window;
        for digit in 0..self.used_digits {
            let row = self.row(digit);
            let (a, b) = (&row[heap..][..window], &row[later..][..window]);
            for from in (0..window).step_by(4) {
                for i in from..window.min(from + 4) {
                    unresolved = self.ops.agree(unresolved, a[i], b[i]);
                }
                if !self.ops.any(unresolved) {
                    return unresolved;
                }
            }
        }
        unresolved
    }

    /// A digit of all heaps.
    #[inline(always)]
    fn row(&self, digit: usize) -> &[V] {
        &self.digits[digit * self.heaps..][..self.heaps]
    }

    /// Searches for the periods, and leaves the sets without one to the next level.
    #[inline(always)]
    fn resolve(&self, sets: &mut Sets) {
        let ops = self.ops;
        let mut unresolved = ops.load(&sets.valid());
        let last = self.heaps - self.layout.window;
        // Back from the end in the second pass.
        for is_pure in [true, false] {
            for period in 1..last + 1 {
                let (heap, later) = if is_pure { (0, period) } else { (last - period, last) };
                let found = self.agree(heap, later, unresolved);
                if ops.any(found) {
                    self.add(sets, found, period, heap);
                    unresolved = ops.without(unresolved, found);
                    if !ops.any(unresolved) {
                        return;
                    }
                }
            }
        }
        sets.leave(self.words(unresolved));
    }

    #[inline(always)]
    fn words(&self, slice: V) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        self.ops.store(slice, &mut words);
        words
    }

    /// Adds sets with a period, which repeats from the heap `known` on.
    #[inline(always)]
    fn add(&self, sets: &mut Sets, found: V, period: usize, known: usize) {
        let ops = self.ops;
        let words = self.words(found);
        let least = sets.count(words, period);
        if known == 0 {
            sets.put_pure(words, period);
            return;
        }
        // Back to the first heap from which it repeats, as far as that could be one of the longest preperiods.
        let (mut same, mut heap) = (found, known);
        while heap >= least && ops.any(same) {
            let mut still = same;
            for digit in 0..self.used_digits {
                let row = self.row(digit);
                still = ops.agree(still, row[heap - 1], row[heap - 1 + period]);
            }
            let begun = ops.without(same, still);
            if ops.any(begun) {
                sets.put(self.words(begun), period, heap);
            }
            (same, heap) = (still, heap - 1);
        }
    }
}

/// The sets of which a masked move leads to a heap of a value, in two parts: `heaps` are the planes of that value that the moves
/// reach.
#[inline(always)]
fn reached<V: Copy>(ops: impl Slices<V>, masks: &[V], heaps: &[V], zero: V) -> (V, V) {
    let (mut a, mut b) = (zero, zero);
    let (masks_by_four, masks_left) = masks.as_chunks::<4>();
    let (heaps_by_four, heaps_left) = heaps.as_chunks::<4>();
    for i in 0..masks_by_four.len() {
        let (mask, heap) = (&masks_by_four[i], &heaps_by_four[i]);
        a = ops.or_both(a, mask[0], heap[0]);
        b = ops.or_both(b, mask[1], heap[1]);
        a = ops.or_both(a, mask[2], heap[2]);
        b = ops.or_both(b, mask[3], heap[3]);
    }
    for i in 0..masks_left.len() {
        a = ops.or_both(a, masks_left[i], heaps_left[i]);
    }
    (a, b)
}

pub mod words {
    //! Bit slicing in plain words: bit `i` of a word belongs to the `i`-th of 64 sets.
    //!
    //! Idea, levels of batches and the search for periods are those of [`slices`](super).
    //!
    //! Cost: as there, for an eighth of the sets.
    //! Bound: the loads of words, two for each move that only some of the sets have.

    use super::*;

    /// Rates: as of [`slices`](super).
    pub fn cost(input: &Family, context: CostContext, rates: [f64; 2]) -> Cost {
        cost_of(1, input, context, rates)
    }

    #[inline(always)]
    pub fn run(input: &Family, run: &Run) -> Result<Findings, RunError> {
        let operations = Operations {
            load: |words: &[u64; WORDS]| words[0],
            store: |word: u64, words: &mut [u64; WORDS]| words[0] = word,
            or: |a: u64, b: u64| a | b,
            or_both: |sum: u64, a: u64, b: u64| sum | a & b,
            without: |a: u64, b: u64| a & !b,
            xor: |a: u64, b: u64| a ^ b,
            agree: |of: u64, a: u64, b: u64| of & !(a ^ b),
            any: |word: u64| word != 0,
        };
        super::run(input, run, 1, |shared: &_| work(1, shared, operations))
    }
}

#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128 {
    //! A slice in four vectors of 128 bits.

    use super::*;
    use crate::simd::array_of;
    use crate::simd::v128::{Vector, load, store};

    type Slice = [Vector<u64>; 4];

    #[inline(always)]
    pub fn parts() -> impl Work {
        let operations = Operations {
            load: |words: &[u64; WORDS]| -> Slice { array_of(|i| load(&words.as_chunks::<2>().0[i])) },
            store: |slice: Slice, words: &mut [u64; WORDS]| {
                words.as_chunks_mut::<2>().0.iter_mut().zip(slice).for_each(|(words, vector)| store(words, vector));
            },
            or: |a: Slice, b: Slice| -> Slice { array_of(|i| a[i] | b[i]) },
            or_both: |sum: Slice, a: Slice, b: Slice| -> Slice { array_of(|i| sum[i] | (a[i] & b[i])) },
            without: |a: Slice, b: Slice| -> Slice { array_of(|i| a[i].without(b[i])) },
            xor: |a: Slice, b: Slice| -> Slice { array_of(|i| a[i] ^ b[i]) },
            agree: |of: Slice, a: Slice, b: Slice| -> Slice { array_of(|i| of[i].without(a[i] ^ b[i])) },
            any: |[a, b, c, d]: Slice| {
                let mut words = [0; 2];
                store(&mut words, a | b | (c | d));
                words != [0; 2]
            },
        };
        move |shared: &SharedSets<'_>| work(WORDS, shared, operations)
    }
}
