//! Three parts. Of each set of pairs, only the nim-sums next to the sum are kept.
//!
//! Values stay near half the size. Call `2 sg(x) - x` the *excess* of `x`, and let `e` be the largest so far (it stays at 5). A
//! nim-sum is at most the sum, so for parts `a + b + c = s` with nim-sum `g`, `h = sg(a) ^ sg(b)` and `t = a + b`:
//!
//! * `2h <= 2sg(a) + 2sg(b) <= t + 2e`;
//! * `2h >= 2g - 2sg(c) >= 2g - c - e = t - (s - 2g) - e`, because `g = h ^ sg(c) <= h + sg(c)`.
//!
//! So only nim-sums `h` of pairs in a window a bit or two wider than `(s - 2g + 3e) / 2` can block an open value `g` near half
//! of `s`. Each sum `t` needs one machine word instead of a bit row. Its position depends only on `t`, so for ascending `c` words
//! are read in order. No result relies on a small excess: [`drive`] tests all triples of values too low for the window.
//!
//! Cost: `n^2 / 4` steps for the windows and about `n^2 / 5` for the candidates, each a handful of instructions per vector.
//! Bound: the vector ports; for `n` in the hundreds, the ends of the loops and the [`Waiting`] values.

use super::open_values::OpenValues;
use super::{Split, size_by_size};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: the ns of a size, and of a split.
pub fn cost(input: &Split, _: CostContext, rates: [f64; 2]) -> Cost {
    cost_of::<u32, 1>(input, rates)
}

/// [`cost`] with vectors of `LANES` cells.
pub fn cost_of<C: Cell, const LANES: usize>(input: &Split, [each, pair]: [f64; 2]) -> Cost {
    if input.parts() != 3 || input.limit() / 2 + MARGIN > C::MAX {
        return Cost::IMPOSSIBLE;
    }
    let n = input.limit() as f64;
    let head = n.min(4.0 * LANES as f64); // done without vectors, about 1 ns per split
    let cells = 3.0 * size_of::<C>() as f64 * n;
    // Values are near half the size.
    let occurrences = 8.0 * (n / 2.0 + MARGIN as f64);
    Cost { ns: 150.0 + each * n + (pair * n * n + head * head) / 2.0, bytes: 4.0 * n + cells + occurrences }
}

/// The largest excess for which windows are wide enough.
const MAX_EXCESS: i64 = 6;

/// A cell must hold half of the largest size plus this margin: enough for values and ends of windows while the excess is small.
const MARGIN: usize = 64;

/// A cell holds a value, or a window with one bit per nim-sum.
pub trait Cell: Copy + Default + PartialEq {
    /// Bits of a window.
    const BITS: u32;
    /// The largest value.
    const MAX: usize;
    /// The low bits of `value`.
    fn new(value: usize) -> Self;
    /// The window with only bit `at` set; empty if it has no such bit.
    fn bit(at: usize) -> Self {
        Self::new(if at < Self::BITS as usize { 1 << at } else { 0 })
    }
    /// The bits as a number.
    fn get(self) -> usize;
}

macro_rules! cells {
    ($($t:ty)*) => { $(
        impl Cell for $t {
            const BITS: u32 = <$t>::BITS;
            const MAX: usize = <$t>::MAX as usize;
            fn new(value: usize) -> Self { value as $t }
            fn get(self) -> usize { self as usize }
        }
    )* };
}
cells! { u16 u32 }

/// Twice the distance from the start of a window to half of its sum. Bit `i` of the window of sum `t` is nim-sum `start(t) + i`.
const fn depth(bits: u32) -> i64 {
    2 * (bits as i64 - 1 - MAX_EXCESS)
}

/// The start of the window of a sum; negative for the smallest sums.
pub fn start<C: Cell>(sum: usize) -> isize {
    (sum as isize - depth(C::BITS) as isize) >> 1
}

/// The window from `start` on, with the nim-sums `small[i] ^ large[i]` that lie in it.
pub fn window<C: Cell>(small: &[C], large: &[C], start: isize) -> C {
    let bits = small.iter().zip(large).map(|(a, b)| C::bit((a.get() ^ b.get()).wrapping_sub(start as usize)).get());
    C::new(bits.fold(0, |window, bit| window | bit))
}

/// Whether for some `i` the window of sum `first - i` holds `g ^ values[i]`.
pub fn hits<C: Cell>(values: &[C], windows: &[C], g: usize, first: usize) -> bool {
    let mut sums = (0..=first).rev();
    values.iter().zip(windows).any(|(v, window)| {
        let at = (g ^ v.get()).wrapping_sub(start::<C>(sums.next().unwrap_or(0)) as usize);
        window.get() & C::bit(at).get() != 0
    })
}

/// Whether for some `i` the nim-sum `small[i] ^ large[i]` is `h`.
pub fn meets<C: Cell>(small: &[C], large: &[C], h: usize) -> bool {
    small.iter().zip(large).any(|(a, b)| a.get() ^ b.get() == h)
}

/// The sizes at which each value occurs: at most two.
struct Occurrences(Vec<[u32; 2]>);

impl Occurrences {
    fn new(limit: usize) -> Self {
        Occurrences(Vec::with_capacity(limit / 2 + MARGIN))
    }

    fn push(&mut self, value: usize, size: usize) {
        if value >= self.0.len() {
            self.0.resize(value + 1, [0; 2]);
        }
        let [first, second] = &mut self.0[value];
        *(if *first == 0 { first } else { second }) = size as u32;
    }

    /// The sizes of a value; 0 in place of those that it lacks.
    fn of(&self, value: usize) -> [u32; 2] {
        self.0.get(value).copied().unwrap_or_default()
    }
}

/// An open value too low for the windows, and the sizes known to be blocked for it. There is one at a time, which waits for its late
/// second occurrence.
struct Waiting {
    g: usize,
    /// Parts `c` for which every size blocked by a split with `c` is marked.
    parts: Vec<usize>,
    blocked: Vec<bool>,
}

impl Waiting {
    /// The entry of `g`, made if it does not exist.
    #[inline(never)]
    fn of(all: &mut Vec<Waiting>, g: usize, limit: usize) -> &mut Waiting {
        let i = all.iter().position(|waiting| waiting.g == g).unwrap_or_else(|| {
            all.push(Waiting { g, parts: Vec::new(), blocked: vec![false; limit + 1] });
            all.len() - 1
        });
        &mut all[i]
    }

    /// Marks the sizes `c + a + b` whose split has nim-sum `g`, for a part `a` and a learned part `c`.
    fn mark_with(&mut self, c: usize, a: usize, known: &[u32], occurrences: &Occurrences) {
        for b in &occurrences.of(self.g ^ (known[c] ^ known[a]) as usize) {
            if let Some(blocked) = self.blocked.get_mut(c + a + *b as usize).filter(|_| *b > 0) {
                *blocked = true;
            }
        }
    }

    /// Whether a part blocks size `known.len()`, which `meets` tests. The part is learned.
    #[inline(never)]
    fn is_blocked(&mut self, known: &[u32], occurrences: &Occurrences, meets: &dyn Fn(usize) -> bool) -> bool {
        let s = known.len();
        for c in (0..s / 3 + 1).rev() {
            if meets(c) {
                self.parts.push(c);
                // For a later size, the larger of the other two parts is at least half of what `c` leaves.
                for a in (s - c) / 2..s {
                    self.mark_with(c, a, known, occurrences);
                }
                return true;
            }
        }
        false
    }

    /// Marks the sizes that the last known size blocks.
    fn mark(&mut self, known: &[u32], occurrences: &Occurrences) {
        for i in 0..self.parts.len() {
            self.mark_with(self.parts[i], known.len() - 1, known, occurrences);
        }
    }
}

/// The driver. `vector_window`, `vector_hits` and `vector_meets` do the same as [`window`], [`hits`] and [`meets`], for slices of
/// whole vectors of `LANES` cells.
///
/// If the excess is above [`MAX_EXCESS`], or an open value is too low for its window, all its triples are tested in
/// order until one blocks it. The part `c` of that triple is learned: the same few `c` block most later sizes, and for
/// these parts all blocked sizes are marked at once, through the sizes at which each value occurs. Only the width of
/// cells assumes a small excess.
///
/// # Errors
/// [`RunError::Overflow`] if a value does not fit in a cell.
#[inline(always)]
pub fn drive<C: Cell, const LANES: usize>(
    input: &Split,
    run: &Run,
    vector_window: impl Fn(&[C], &[C], isize) -> C,
    vector_hits: impl Fn(&[C], &[C], usize, usize) -> bool,
    vector_meets: impl Fn(&[C], &[C], usize) -> bool,
) -> Result<Vec<u32>, RunError> {
    let limit = input.limit();
    let mut known = vec![C::default(); limit + 1];
    let mut mirror = known.clone(); // mirror[limit - x] = known[x]
    let mut windows = known.clone(); // windows[limit - t] for sum t
    let mut open = OpenValues::by_parity();
    let mut occurrences = Occurrences::new(limit);
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut excess = 0;
    let mut fits = true;
    let values = size_by_size(input, run, |s, values| {
        for waiting in &mut waiting {
            waiting.mark(values, &occurrences);
        }
        // From this size on, the last vector may be filled up with splits that were already seen: all of them are valid.
        let in_vectors = s >= 4 * LANES;
        let whole = |len: usize| if in_vectors { len.next_multiple_of(LANES) } else { len };
        let pairs = whole(s / 2);
        let (small, large) = (&known[1..1 + pairs], &mirror[limit + 1 - s..][..pairs]);
        windows[limit - s] =
            if in_vectors { vector_window(small, large, start::<C>(s)) } else { window(small, large, start::<C>(s)) };
        let value = open[s % 2].take(|g| {
            let near = excess <= MAX_EXCESS && s as i64 - 2 * g as i64 + excess <= depth(C::BITS);
            if near {
                // The split into two parts, then the splits with c >= 1.
                let thirds = whole(s / 3);
                let (values, sets) = (&known[1..1 + thirds], &windows[limit + 1 - s..][..thirds]);
                return hits(&known[..1], &windows[limit - s..], g, s)
                    || if in_vectors { vector_hits(values, sets, g, s - 1) } else { hits(values, sets, g, s - 1) };
            }
            let waiting = Waiting::of(&mut waiting, g, limit);
            waiting.blocked[s]
                || waiting.is_blocked(values, &occurrences, &|c| {
                    let t = s - c;
                    let pairs = whole(t / 2);
                    let (small, large) = (&known[1..1 + pairs], &mirror[limit + 1 - t..][..pairs]);
                    let h = g ^ known[c].get();
                    if in_vectors { vector_meets(small, large, h) } else { meets(small, large, h) }
                })
        });
        occurrences.push(value, s);
        waiting.retain(|waiting| waiting.g != value);
        known[s] = C::new(value);
        mirror[limit - s] = C::new(value);
        excess = excess.max(2 * value as i64 - s as i64);
        fits &= value <= C::MAX;
        value
    })?;
    if fits { Ok(values) } else { Err(RunError::Overflow) }
}

pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    drive::<u32, 1>(input, run, window, hits, meets)
}
