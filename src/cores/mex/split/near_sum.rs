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
//! Bound: the vector ports; for `n` in the hundreds, the ends of the loops and the [`Pending`] values.

use super::by_splits::open_values::OpenValues;
use super::{Split, size_by_size};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

#[cfg(all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")))]
pub mod x86;

/// Rates: the ns of a size, and of a split.
pub fn cost(input: &Split, _: CostContext, rates: [f64; 2]) -> Cost {
    cost_of::<u32, 1>(input, rates)
}

const NS_PER_RUN: f64 = 150.0;

/// [`cost`] with vectors of `LANES` cells.
pub fn cost_of<C: Cell, const LANES: usize>(input: &Split, [each, pair]: [f64; 2]) -> Cost {
    let n = input.limit() as f64;
    let head = n.min(4.0 * LANES as f64); // done without vectors, about 1 ns per split
    let cells = 3.0 * size_of::<C>() as f64 * n;
    // Values are near half the size.
    let occurrences = 8.0 * (n / 2.0 + MARGIN as f64);
    let ns = NS_PER_RUN + each * n + (pair * n * n + head * head) / 2.0;
    let is_possible = input.parts() == 3 && input.limit() / 2 + MARGIN <= C::MAX;
    Cost { ns, bytes: 4.0 * n + cells + occurrences }.only_if(is_possible)
}

/// Four operations per vector of pairs, of which a size has `n / 4` on average, and five per vector of lookups.
pub fn needs_of<C: Cell>(input: &Split) -> Needs {
    let vectors = |cells: f64| cells * size_of::<C>() as f64 / 64.0;
    let n = input.limit() as f64;
    Needs { logic: 4.0 * vectors(n / 4.0) + 5.0 * vectors(n / 5.0), ..Needs::default() }
}

/// The largest excess for which windows are wide enough.
const MAX_EXCESS: i64 = 6;

/// A cell must hold half of the largest size plus this margin: enough for values and ends of windows while the excess is small.
const MARGIN: usize = 64;

/// A cell holds a value, or a window with one bit per nim-sum.
pub trait Cell: Copy + Default + PartialEq {
    /// Bits of a window.
    const BITS: u32;
    const MAX: usize;
    /// The low bits of `value`.
    fn new(value: usize) -> Self;
    /// The window with only bit `at` set; empty if it has no such bit.
    fn bit(at: usize) -> Self {
        Self::new(if at < Self::BITS as usize { 1 << at } else { 0 })
    }
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

/// Half of the number of each lane, rounded down and rounded up: how far the window of sum `first - lane` starts before that of
/// `first`, if `first` is odd or even.
#[cfg(any(
    all(target_arch = "x86_64", feature = "avx512"),
    all(target_arch = "aarch64", feature = "neon"),
    all(target_feature = "simd128", feature = "simd128")
))]
const fn halves<const LANES: usize>() -> [[u16; LANES]; 2] {
    let mut halves = [[0; LANES]; 2];
    let mut i = 0;
    while i < LANES {
        halves[0][i] = (i / 2) as u16;
        halves[1][i] = i.div_ceil(2) as u16;
        i += 1;
    }
    halves
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
struct Pending {
    g: usize,
    /// Parts `c` for which every size blocked by a split with `c` is marked.
    parts: Vec<usize>,
    blocked: Vec<bool>,
}

impl Pending {
    /// The entry of `g`, made if it does not exist.
    #[inline(never)]
    fn of(all: &mut Vec<Pending>, g: usize, limit: usize) -> &mut Pending {
        let i = all.iter().position(|pending| pending.g == g).unwrap_or_else(|| {
            all.push(Pending { g, parts: Vec::new(), blocked: vec![false; limit + 1] });
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
    let mut occurrences = Occurrences(Vec::with_capacity(limit / 2 + MARGIN));
    let mut pending: Vec<Pending> = Vec::new();
    let mut excess = 0;
    let mut fits = true;
    let values = size_by_size(input, run, |s, values| {
        for pending in &mut pending {
            pending.mark(values, &occurrences);
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
            let pending = Pending::of(&mut pending, g, limit);
            pending.blocked[s]
                || pending.is_blocked(values, &occurrences, &|c| {
                    let t = s - c;
                    let pairs = whole(t / 2);
                    let (small, large) = (&known[1..1 + pairs], &mirror[limit + 1 - t..][..pairs]);
                    let h = g ^ known[c].get();
                    if in_vectors { vector_meets(small, large, h) } else { meets(small, large, h) }
                })
        });
        occurrences.push(value, s);
        pending.retain(|pending| pending.g != value);
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

#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128 {
    //! [`near_sum`](super) with eight cells of 16 bits at once.
    //!
    //! Cost: `n^2 / 2` splits; with NEON five instructions and two loads for 8 pairs, seven instructions and two loads for 8 lookups; two
    //! more of each where a bit is looked up.
    //! Bound (llvm-mca, Neoverse V2): the vector ports, 2.1 cycles for 8 pairs and 2.3 for 8 lookups.

    use std::ops::BitOr;

    use super::*;
    use crate::simd::v128::{Vector, any, load, one_bit, store};

    /// Rates: as in [`near_sum`](super::cost).
    pub fn cost(input: &Split, _: CostContext, rates: [f64; 2]) -> Cost {
        cost_of::<u16, LANES>(input, rates)
    }

    const LANES: usize = 8;
    /// Vectors between two checks for a hit.
    const BURST: usize = 16;

    const HALVES: [[u16; LANES]; 2] = halves();

    pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
        drive::<u16, LANES>(
            input,
            run,
            |small, large, start| {
                let start = Vector::splat(start as u16);
                let mut window = Vector::splat(0);
                for (a, b) in small.as_chunks::<LANES>().0.iter().zip(large.as_chunks::<LANES>().0) {
                    window |= one_bit((load(a) ^ load(b)) - start);
                }
                let mut lanes = [0; LANES];
                store(&mut lanes, window);
                lanes.into_iter().fold(0, BitOr::bitor)
            },
            |values, windows, g, first| {
                let g = Vector::splat(g as u16);
                // The window of sum first - i starts half of i before that of first, rounded according to the parity of first.
                let mut starts = Vector::splat(start::<u16>(first) as u16) - load(&HALVES[(first + 1) % 2]);
                let step = Vector::splat((LANES / 2) as u16);
                let (values, windows) = (values.as_chunks::<LANES>().0, windows.as_chunks::<LANES>().0);
                values.chunks(BURST).zip(windows.chunks(BURST)).any(|(values, windows)| {
                    let mut found = Vector::splat(0);
                    for (value, window) in values.iter().zip(windows) {
                        found |= load(window) & one_bit((g ^ load(value)) - starts);
                        starts = starts - step;
                    }
                    any(found)
                })
            },
            |small, large, h| {
                let h = Vector::splat(h as u16);
                let (small, large) = (small.as_chunks::<LANES>().0, large.as_chunks::<LANES>().0);
                small.iter().zip(large).any(|(a, b)| any((load(a) ^ load(b)).equal(h)))
            },
        )
    }
}
