//! Bit slicing: a slice is a register with one bit for each of 512 sets, and all sets take the same step.
//!
//! A heap has a plane for each value: the sets in which it has that value. For the values in turn, a move `s` adds the plane of heap
//! `n - s`, masked by the sets that have the move; what is not reached and still open takes the value. Moves that all sets of a batch
//! have need no mask, and those that none has no step. So the free moves that differ within a batch are neighbours; large ones, as sets with
//! the same small moves have similar values. Counters in slices write the values in binary, for the search.
//!
//! A batch computes some heaps, then searches: first for the period with which the first `M` values recur (preperiod 0), then, back
//! from the end, for the last `M` values. A comparison ends where no set agrees, after about twelve heaps. Sets without a period
//! wait for a batch of twice the heaps, so that no batch runs as long as its slowest set. After seven such levels a set is done alone.
//!
//! Cost: two loads and an operation for each masked move, value and heap; the search takes a fourth of the time.
//! Bound (Zen 3): loads, and the mispredicted end of the values of a heap.

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::found::Longest;
use super::{Family, Findings, Repeating, alone, bits_of};
use crate::kernel::{Cost, CostContext, Run, RunError, threads};
use crate::machine::STACK;
use crate::simd::array_of;
use crate::simd::bits::{WORD, transpose};

/// Words of the slices of all kernels but `words`.
pub const WORDS: usize = 8;
/// The heaps that the first level computes, in units of the largest move. Each level has twice as many as the one before.
const FIRST: usize = 4;
const LEVELS: usize = 7;
/// Heaps of the planes beyond those that a move reaches, before these are moved to the beginning. An odd number of lines, so that
/// the planes do not compete for the same lines of L1.
const ROOM: usize = 69;
/// Binary digits of values.
const DIGITS: usize = 6;

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
    let (heaps, values) = (9.0 * largest, 0.9 * moves + 0.5);
    let steps = heaps * values * input.moves_of_batch((WORD * words).ilog2());
    let slices = Layout::of(input).slices() * 8 * words;
    let lists = (LEVELS + 2) * 3 * WORD * words * 8 + 8 * (Layout::of(input).heaps(LEVELS - 1) + 1);
    Cost {
        ns: run + step * steps * input.sets() as f64 / threads,
        bytes: threads * (slices + lists) as f64 + (threads - 1.0) * STACK,
    }
}

/// The operations of a tier on slices.
pub trait Slices: Copy {
    /// The words of a slice.
    const WORDS: usize;
    /// A bit for each of `64 * WORDS` sets.
    type Slice: Copy;

    /// The slice of the first words.
    fn load(&self, words: &[u64]) -> Self::Slice;

    /// The words of a slice, in the first of `words`.
    fn store(&self, slice: Self::Slice, words: &mut [u64]);

    /// `a | b`
    fn or(&self, a: Self::Slice, b: Self::Slice) -> Self::Slice;

    /// `sum | (a & b)`
    fn or_both(&self, sum: Self::Slice, a: Self::Slice, b: Self::Slice) -> Self::Slice;

    /// `a & !b`
    fn without(&self, a: Self::Slice, b: Self::Slice) -> Self::Slice;

    /// `a ^ b`
    fn xor(&self, a: Self::Slice, b: Self::Slice) -> Self::Slice;

    /// The sets of `of` in which `a` and `b` agree.
    fn agree(&self, of: Self::Slice, a: Self::Slice, b: Self::Slice) -> Self::Slice;

    /// Whether any bit is set.
    fn any(&self, slice: Self::Slice) -> bool;
}

/// Operations made of closures, which have the CPU features of the function that makes them, in the order of [`Slices`], on slices of
/// `N` words.
#[derive(Clone, Copy)]
pub struct Parts<const N: usize, L, S, O, B, W, X, A, Y>(pub L, pub S, pub O, pub B, pub W, pub X, pub A, pub Y);

impl<const N: usize, V, L, S, O, B, W, X, A, Y> Slices for Parts<N, L, S, O, B, W, X, A, Y>
where
    V: Copy,
    L: Fn(&[u64; N]) -> V + Copy,
    S: Fn(V, &mut [u64; N]) + Copy,
    O: Fn(V, V) -> V + Copy,
    B: Fn(V, V, V) -> V + Copy,
    W: Fn(V, V) -> V + Copy,
    X: Fn(V, V) -> V + Copy,
    A: Fn(V, V, V) -> V + Copy,
    Y: Fn(V) -> bool + Copy,
{
    const WORDS: usize = N;
    type Slice = V;

    #[inline(always)]
    fn load(&self, words: &[u64]) -> V {
        self.0(words.first_chunk().expect("a whole slice"))
    }

    #[inline(always)]
    fn store(&self, slice: V, words: &mut [u64]) {
        self.1(slice, words.first_chunk_mut().expect("a whole slice"));
    }

    #[inline(always)]
    fn or(&self, a: V, b: V) -> V {
        self.2(a, b)
    }

    #[inline(always)]
    fn or_both(&self, sum: V, a: V, b: V) -> V {
        self.3(sum, a, b)
    }

    #[inline(always)]
    fn without(&self, a: V, b: V) -> V {
        self.4(a, b)
    }

    #[inline(always)]
    fn xor(&self, a: V, b: V) -> V {
        self.5(a, b)
    }

    #[inline(always)]
    fn agree(&self, of: V, a: V, b: V) -> V {
        self.6(of, a, b)
    }

    #[inline(always)]
    fn any(&self, slice: V) -> bool {
        self.7(slice)
    }
}

/// What the threads of a run share.
pub struct Shared<'a> {
    input: &'a Family,
    run: &'a Run,
    next: AtomicU64,
}

impl Shared<'_> {
    /// The next sets, at most so many; none if all are taken.
    fn take(&self, most: usize) -> impl Iterator<Item = u64> {
        let most = most as u64;
        let end = self.input.places().end;
        let first = self.next.fetch_add(most, Relaxed).min(end);
        self.input.numbers(first..end.min(first + most))
    }
}

/// The part in which the tiers differ: [`work`] with the operations of the tier.
pub trait Work: Fn(&Shared<'_>) -> Result<Findings, RunError> + Sync {}

impl<F: Fn(&Shared<'_>) -> Result<Findings, RunError> + Sync> Work for F {}

#[inline(always)]
pub fn run(input: &Family, run: &Run, threads: usize, work: impl Work) -> Result<Findings, RunError> {
    run_work(input, run, threads, &work)
}

/// [`run`], compiled once for all kernels.
fn run_work(input: &Family, run: &Run, threads: usize, work: &dyn Work) -> Result<Findings, RunError> {
    let shared = Shared { input, run, next: AtomicU64::new(input.first()) };
    if threads == 1 {
        return work(&shared);
    }
    let mut all = Findings::default();
    for found in threads::share(threads, |_| work(&shared))? {
        all.join(found, input.kept);
    }
    Ok(all)
}

/// The memory of a batch.
#[derive(Clone, Copy)]
struct Layout {
    /// Heaps of a window: the largest move.
    window: usize,
    /// Values that a heap may have.
    values: usize,
    digits: usize,
}

impl Layout {
    fn of(input: &Family) -> Self {
        let most = input.most_moves();
        Layout { window: input.largest(), values: most + 1, digits: most.ilog2() as usize + 1 }
    }

    /// The heaps that a level computes.
    fn heaps(self, level: usize) -> usize {
        (FIRST * self.window) << level
    }

    /// Heaps in a plane.
    fn stride(self) -> usize {
        self.window + ROOM
    }

    /// The slices of planes, digits and masks.
    fn slices(self) -> usize {
        self.values * self.stride() + self.digits * self.heaps(LEVELS - 1) + self.window
    }
}

/// Settles sets until none is left.
#[inline(always)]
pub fn work<P: Slices>(shared: &Shared<'_>, parts: P) -> Result<Findings, RunError> {
    let mut sets = Sets::new(shared, P::WORDS);
    let mut batch = Batch::new(sets.layout, parts);
    while sets.take()? {
        batch.compute(&mut sets);
        batch.settle(&mut sets);
    }
    Ok(sets.found())
}

/// The sets of a thread, and what is found about them: all that does not depend on the slices.
struct Sets<'a> {
    shared: &'a Shared<'a>,
    /// The words of a slice.
    words: usize,
    layout: Layout,
    /// For each level the sets that wait for it, then those that are done alone.
    waiting: [Vec<u64>; LEVELS + 1],
    /// The level of the batch, and how many sets waited for the next one before it.
    level: usize,
    waited: usize,
    /// The numbers of the sets of the batch, one in each lane.
    batch: Vec<u64>,
    /// The heaps that it computes.
    heaps: usize,
    /// For each move from the last that only some of the sets have down to the first such move, the sets that have it.
    masks: Vec<[u64; WORDS]>,
    /// The first of these moves.
    masked_from: usize,
    /// The moves outside these that all sets have.
    common: Vec<usize>,
    found: Findings,
    /// How many sets have each period.
    counts: Vec<u64>,
}

impl<'a> Sets<'a> {
    fn new(shared: &'a Shared<'a>, words: usize) -> Self {
        let layout = Layout::of(shared.input);
        Sets {
            shared,
            words,
            layout,
            waiting: Default::default(),
            level: 0,
            waited: 0,
            batch: Vec::with_capacity(WORD * words),
            heaps: 0,
            masks: Vec::with_capacity(layout.window),
            masked_from: 0,
            common: Vec::with_capacity(shared.input.most_moves()),
            found: Findings::default(),
            counts: vec![0; layout.heaps(LEVELS - 1) + 1],
        }
    }

    /// Takes the next batch, after what the last one left to be done alone. False if no set is left.
    #[inline(never)]
    fn take(&mut self) -> Result<bool, RunError> {
        let Shared { input, run, .. } = *self.shared;
        let open = self.waiting[self.level + 1].len() - self.waited;
        run.advance((self.batch.len() - open) as u64)?;
        while let Some(set) = self.waiting[LEVELS].pop() {
            alone::add(input, set, run, &mut self.found, alone::flags::settle)?;
        }
        let lanes = WORD * self.words;
        let mut level = LEVELS - 1;
        while level > 0 && self.waiting[level].len() < lanes {
            level -= 1;
        }
        if level == 0 {
            self.waiting[0].extend(self.shared.take(lanes));
        }
        // At the end, what waits goes on in smaller batches.
        while self.waiting[level].is_empty() {
            level += 1;
            if level == LEVELS {
                return Ok(false);
            }
        }
        let left = self.waiting[level].len().saturating_sub(lanes);
        self.batch.clear();
        self.batch.extend_from_slice(&self.waiting[level][left..]);
        self.waiting[level].truncate(left);
        (self.level, self.waited) = (level, self.waiting[level + 1].len());
        self.heaps = self.layout.heaps(level);
        self.mask();
        Ok(true)
    }

    /// What was found.
    fn found(mut self) -> Findings {
        for (period, sets) in self.counts.iter().enumerate() {
            if *sets > 0 {
                self.found.count(period as u64, *sets);
            }
        }
        self.found
    }

    /// Which sets have which moves.
    fn mask(&mut self) {
        let input = self.shared.input;
        let mut columns = [[0; WORD]; WORDS];
        for (w, column) in columns[..self.words].iter_mut().enumerate() {
            // Lanes without a set have the last one once more.
            let last = self.batch.len() - 1;
            *column = array_of(|i| self.batch[last.min(WORD * w + i)]);
            transpose(column);
        }
        // The moves that all sets have, then each free group, with the sets that have it.
        let groups = |k: usize| {
            let mut words = [u64::MAX; WORDS];
            let Some(k) = k.checked_sub(1) else { return (input.always, words) };
            for (w, column) in columns[..self.words].iter().enumerate() {
                words[w] = column[k];
            }
            (input.free[k], words)
        };
        let is_all = |words: &[u64; WORDS], bits: u64| words[..self.words].iter().all(|word| *word == bits);
        let mut masked = 0;
        for k in 1..=input.free.len() {
            let (group, words) = groups(k);
            if !is_all(&words, 0) && !is_all(&words, u64::MAX) {
                masked |= group;
            }
        }
        let masked = match masked {
            0 => 1..1,
            _ => masked.trailing_zeros() as usize..masked.ilog2() as usize + 1,
        };
        self.masked_from = masked.start;
        self.masks.clear();
        self.masks.resize(masked.len(), [0; WORDS]);
        self.common.clear();
        for k in 0..=input.free.len() {
            let (group, words) = groups(k);
            if is_all(&words, 0) {
                continue;
            }
            for m in bits_of(group) {
                match masked.contains(&m) {
                    true => self.masks[masked.end - 1 - m] = words,
                    false => self.common.push(m),
                }
            }
        }
    }

    /// The lanes that have a set.
    fn valid(&self) -> [u64; WORDS] {
        array_of(|w| match self.batch.len().saturating_sub(WORD * w) {
            WORD.. => u64::MAX,
            left => (1 << left) - 1,
        })
    }

    /// The number of lanes that are set, of those that a slice has.
    fn lanes(&self, words: [u64; WORDS]) -> u64 {
        let mut lanes = 0;
        for word in &words[..self.words] {
            lanes += u64::from(word.count_ones());
        }
        lanes
    }

    /// Leaves sets without a period to the next level.
    fn leave(&mut self, words: [u64; WORDS]) {
        let waiting = &mut self.waiting[self.level + 1];
        for_each_lane(&words[..self.words], |lane| waiting.push(self.batch[lane]));
    }

    /// Counts sets of a period. Returns the least preperiod that is kept for them.
    fn count(&mut self, words: [u64; WORDS], period: usize) -> usize {
        self.counts[period] += self.lanes(words);
        let preperiods = Longest::preperiods(self.shared.input.kept);
        match self.is_long(period) {
            true => 1,
            false => preperiods.least(&self.found.longest_preperiods).max(1) as usize,
        }
    }

    /// Whether a period may be one of the longest.
    fn is_long(&self, period: usize) -> bool {
        period as u64 >= Longest::periods(self.shared.input.kept).least(&self.found.longest_periods)
    }

    /// Counts purely periodic sets.
    fn put_pure(&mut self, words: [u64; WORDS], period: usize) {
        self.found.pure += self.lanes(words);
        if self.is_long(period) {
            self.put(words, period, 0);
        }
    }

    /// Puts sets into the lists of the longest.
    fn put(&mut self, words: [u64; WORDS], period: usize, preperiod: usize) {
        let (is_long, kept) = (self.is_long(period), self.shared.input.kept);
        for_each_lane(&words[..self.words], |lane| {
            let found = Repeating { set: self.batch[lane], period: period as u64, preperiod: preperiod as u64 };
            if is_long {
                Longest::periods(kept).put(&mut self.found.longest_periods, found);
            }
            if preperiod > 0 {
                Longest::preperiods(kept).put(&mut self.found.longest_preperiods, found);
            }
        });
    }
}

/// The values of the first heaps of a batch, in slices.
struct Batch<P: Slices> {
    parts: P,
    layout: Layout,
    heaps: usize,
    /// [`Sets::masks`], in the first of these.
    masks: Vec<P::Slice>,
    /// For each value, the sets of recent heaps that have it.
    planes: Vec<P::Slice>,
    /// For each binary digit, the sets of all heaps whose value has it.
    digits: Vec<P::Slice>,
    /// The digits of the largest value.
    used_digits: usize,
}

impl<P: Slices> Batch<P> {
    #[inline(always)]
    fn new(layout: Layout, parts: P) -> Self {
        let zero = parts.load(&[0; WORDS]);
        Batch {
            parts,
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
        let (parts, heaps) = (self.parts, sets.heaps);
        self.heaps = heaps;
        for (mask, words) in self.masks.iter_mut().zip(&sets.masks) {
            *mask = parts.load(words);
        }
        let (window, stride) = (self.layout.window, self.layout.stride());
        let (zero, ones) = (parts.load(&[0; WORDS]), parts.load(&[u64::MAX; WORDS]));
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
            let (mut open, mut count, mut v) = (ones, [zero; DIGITS], 0);
            loop {
                if v == used {
                    planes[v * stride + at - window..][..window].fill(zero);
                    used += 1;
                }
                let plane = &mut planes[v * stride + at - window..][..window + 1];
                let before = &plane[..window];
                let (mut a, mut b) = (zero, zero);
                let (masks_by_four, masks_left) = masks.as_chunks::<4>();
                let (heaps_by_four, heaps_left) = before[masked..][..masks.len()].as_chunks::<4>();
                for i in 0..masks_by_four.len() {
                    let (mask, heap) = (&masks_by_four[i], &heaps_by_four[i]);
                    a = parts.or_both(a, mask[0], heap[0]);
                    b = parts.or_both(b, mask[1], heap[1]);
                    a = parts.or_both(a, mask[2], heap[2]);
                    b = parts.or_both(b, mask[3], heap[3]);
                }
                for i in 0..masks_left.len() {
                    a = parts.or_both(a, masks_left[i], heaps_left[i]);
                }
                for m in common {
                    b = parts.or(b, before[window - m]);
                }
                let taken = parts.without(open, parts.or(a, b));
                plane[window] = taken;
                open = parts.without(open, taken);
                if !parts.any(open) {
                    break;
                }
                v += 1;
                // A counter: the sets that are open have a value of at least `v`. A digit changes with each multiple of its place.
                for (digit, count) in count.iter_mut().enumerate() {
                    if v & ((1 << digit) - 1) != 0 {
                        break;
                    }
                    *count = parts.xor(*count, open);
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

    /// The sets of `open` in which the window from `heap` on has the same values as the one from `later` on.
    #[inline(always)]
    fn agree(&self, heap: usize, later: usize, mut open: P::Slice) -> P::Slice {
        let window = self.layout.window;
        for digit in 0..self.used_digits {
            let row = self.row(digit);
            let (a, b) = (&row[heap..][..window], &row[later..][..window]);
            for from in (0..window).step_by(4) {
                for i in from..window.min(from + 4) {
                    open = self.parts.agree(open, a[i], b[i]);
                }
                if !self.parts.any(open) {
                    return open;
                }
            }
        }
        open
    }

    /// A digit of all heaps.
    #[inline(always)]
    fn row(&self, digit: usize) -> &[P::Slice] {
        &self.digits[digit * self.heaps..][..self.heaps]
    }

    /// Searches for the periods, and leaves the sets without one to the next level.
    #[inline(always)]
    fn settle(&self, sets: &mut Sets) {
        let parts = self.parts;
        let mut open = parts.load(&sets.valid());
        let last = self.heaps - self.layout.window;
        // Back from the end in the second pass.
        for is_pure in [true, false] {
            for period in 1..last + 1 {
                let (heap, later) = if is_pure { (0, period) } else { (last - period, last) };
                let found = self.agree(heap, later, open);
                if parts.any(found) {
                    self.add(sets, found, period, heap);
                    open = parts.without(open, found);
                    if !parts.any(open) {
                        return;
                    }
                }
            }
        }
        sets.leave(self.words(open));
    }

    #[inline(always)]
    fn words(&self, slice: P::Slice) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        self.parts.store(slice, &mut words);
        words
    }

    /// Adds sets with a period, which repeats from the heap `known` on.
    #[inline(always)]
    fn add(&self, sets: &mut Sets, found: P::Slice, period: usize, known: usize) {
        let parts = self.parts;
        let words = self.words(found);
        let least = sets.count(words, period);
        if known == 0 {
            sets.put_pure(words, period);
            return;
        }
        // Back to the first heap from which it repeats, as far as that could be one of the longest preperiods.
        let (mut same, mut heap) = (found, known);
        while heap >= least && parts.any(same) {
            let mut still = same;
            for digit in 0..self.used_digits {
                let row = self.row(digit);
                still = parts.agree(still, row[heap - 1], row[heap - 1 + period]);
            }
            let begun = parts.without(same, still);
            if parts.any(begun) {
                sets.put(self.words(begun), period, heap);
            }
            (same, heap) = (still, heap - 1);
        }
    }
}

/// Calls `take` with the lanes whose bits are set.
#[inline(always)]
fn for_each_lane(words: &[u64], mut take: impl FnMut(usize)) {
    for (w, word) in words.iter().enumerate() {
        for bit in bits_of(*word) {
            take(WORD * w + bit);
        }
    }
}
