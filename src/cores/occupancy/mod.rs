//! `occupancy`: P-positions of two heaps, by the lines along which a position attacks others.
//!
//! In Proportionate Nim (Project Euler 665) a player takes, for some `t > 0`, `t` from one heap, `t` from both, or `t`
//! from one and `2t` from the other. Two positions are one move apart exactly when they share a line of one of five
//! families: a common heap, a common difference, or a common `a - 2b` with the heaps in either order. So a candidate
//! `(n,m)`, `n < m`, with an unused `n` is attacked by an earlier P-position `(a,b)`, `a <= b`, exactly when one of
//! these lines is occupied:
//!
//! | line of the candidate | row | a P-position `(a,b)` occupies |
//! |---|---|---|
//! | heap `m` | used | `a` and `b` |
//! | `m - n` | difference | `b - a` |
//! | `m - 2n` | twice | `b - 2a`, and `a - 2b` for the mirrored position |
//! | `2m - n` | sum | `2b - a` |
//!
//! (The other mirrored line, `2a - b`, never attacks: `2m - n > n > a >= 2a - b` for every earlier `a`.) The P-position
//! of the smallest unused `n` has the smallest `m > n` that is on no occupied line.
//!
//! # What is known
//! Proved:
//! 1. *Certificate.* Let `x1` be the smallest free difference and `x2` the smallest `v` such that `-v` is free among
//!    the values `m - 2n`. The differences block every `m` below `n + x1`. The values `m - 2n` block every `m` above
//!    `2n - x2` and below `2n + k`, if this is the `k`-th position that gets there. So `m` is in `[n + x1, 2n - x2]`
//!    (the *lower beam*),
//! 2. or it is `2n + k`, without any search (the *upper beam*).
//! 3. `a - 2b = -(2b - a)`: the mirrored half of the row `twice` is the row `sum` read backwards.
//!
//! 4. *Slot balance.* Each lower position takes one difference and one `2n - m`, which no upper position and no row `sum` takes.
//!    So below `x1` and below `x2` there are as many such slots as lower positions, except for those taken above
//!    (`automaton::guess`).
//!
//! Observed, up to the sizes of the known answers: the window `[n + x1, 2n - x2]` stays narrow (4 wide on average,
//! never above 49 up to 1e10), a run that begins anywhere with the right balance soon reaches the true states, and
//! `m / n` tends to 1.477799775 in the lower beam and to 2.247725584 in the upper one.
//!
//! The proofs are written out in `profiles/papers/charge.md` in the source tree.
//!
//! # Other moves
//! [`Diagonals`] are the moves that take from both heaps. Other diagonals than the published ones have other lines, and
//! none of the above need hold. One kernel, `general_rows`, finds the lines of any diagonals.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

pub use crate::cores::sink::Wanted;
use crate::cores::sink::{self, Tally, Totals};
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads, workload};
use crate::kernel::{Core, Cost, Digest, KernelDef, Operation, RunError, Yields, kernels, threads};
use crate::moves::Diagonals;
use crate::simd::vectors;
use crate::text::numbers::indexable;

mod attack_lines;
mod automaton;
mod bit_rows;
mod general_rows;
mod hash_and_byte_tables;
mod next_free;
mod segments;
mod window_tree;

/// P-positions `n <= m` with `n + m <= limit`.
#[derive(Debug)]
pub struct Occupancy;

/// Two heaps of at most `limit` together, and the moves that take from both.
#[derive(Clone, Debug)]
pub struct ProportionateNim {
    limit: u64,
    diagonals: Diagonals,
    /// What is to be found of its P-positions.
    wanted: Wanted<[u64; 2]>,
}

/// The largest limit: every line number and every sum of two fits 64 bits.
pub const MAX_LIMIT: u64 = indexable(1 << 62);
/// The largest limit of the kernels that visit every heap: their tables take terabytes.
const MAX_VISITED: u64 = 1 << 46;

impl ProportionateNim {
    /// A game with at most `limit` in both heaps together, and the published moves, of whose P-positions the totals are wanted.
    ///
    /// # Errors
    /// The limit is above [`MAX_LIMIT`].
    pub fn new(limit: u64) -> Result<Self, InputError> {
        Self::with(limit, Diagonals::PUBLISHED)
    }

    /// A game with other moves that take from both heaps.
    ///
    /// # Errors
    /// The limit is above [`MAX_LIMIT`].
    pub fn with(limit: u64, diagonals: Diagonals) -> Result<Self, InputError> {
        if limit > MAX_LIMIT {
            return Err(InputError::TooLarge { operation: "occupancy", size: limit, most: MAX_LIMIT });
        }
        Ok(ProportionateNim { limit, diagonals, wanted: Wanted::Totals })
    }

    /// The same game, of whose P-positions this is wanted.
    #[must_use]
    pub fn finding(self, wanted: Wanted<[u64; 2]>) -> Self {
        ProportionateNim { wanted, ..self }
    }

    /// The largest sum of both heaps.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The moves that take from both heaps.
    pub fn diagonals(&self) -> &Diagonals {
        &self.diagonals
    }

    /// The cost of a kernel that handles only the published moves and visits every heap.
    fn published(&self, ns: f64, bytes: f64) -> Cost {
        if self.limit <= MAX_VISITED { self.published_any_limit(ns, bytes) } else { Cost::IMPOSSIBLE }
    }

    /// [`ProportionateNim::published`] for a kernel that handles all limits.
    fn published_any_limit(&self, ns: f64, bytes: f64) -> Cost {
        if self.diagonals == Diagonals::PUBLISHED { Cost { ns, bytes } } else { Cost::IMPOSSIBLE }
    }

    /// An empty place for what is wanted.
    fn sink(&self) -> Positions {
        Positions::new(&self.wanted)
    }

    /// Whether totals alone are wanted.
    fn is_counted(&self) -> bool {
        self.wanted.yields() == Yields::Tally
    }

    /// The number of possible smaller heaps: `0..=limit/2`.
    pub fn smaller_heaps(&self) -> u64 {
        self.limit / 2 + 1
    }
}

/// The totals of one beam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beam {
    /// The number of positions.
    pub positions: u64,
    /// The sum of their smaller heaps.
    pub smaller: u128,
    /// The sum of their larger heaps.
    pub larger: u128,
}

impl Beam {
    /// Adds the totals of `other`.
    pub fn add(&mut self, other: Beam) {
        self.positions += other.positions;
        self.smaller += other.smaller;
        self.larger += other.larger;
    }

    /// The slope of the beam: the mean larger heap divided by the mean smaller one. NaN if the beam is empty.
    pub fn slope(&self) -> f64 {
        self.larger as f64 / self.smaller as f64
    }

    /// Positions per smaller heap, given that the beam holds all its positions with heaps of at most `limit` together.
    pub fn density(&self, limit: u64) -> f64 {
        self.positions as f64 * (1.0 + self.slope()) / limit as f64
    }
}

/// Counts and sums the positions of each beam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beams {
    /// Positions with `m <= 2n`.
    pub lower: Beam,
    /// Positions with `m > 2n`.
    pub upper: Beam,
}

impl Totals<[u64; 2]> for Beams {
    #[inline(always)]
    fn count(&mut self, [n, m]: [u64; 2]) {
        let beam = if m > 2 * n { &mut self.upper } else { &mut self.lower };
        beam.add(Beam { positions: 1, smaller: n.into(), larger: m.into() });
    }

    fn add(&mut self, other: Self) {
        self.lower.add(other.lower);
        self.upper.add(other.upper);
    }

    fn tally(&self) -> Tally {
        let Beams { lower, upper } = self;
        Tally {
            sum: lower.smaller + lower.larger + upper.smaller + upper.larger,
            positions: lower.positions + upper.positions,
        }
    }
}

/// Positions `n <= m`, with the totals of each beam.
pub type Positions = sink::Positions<[u64; 2], Beams>;

/// P-positions of the published game divided by its limit, observed.
const DENSITY: f64 = 0.231;
/// Below this limit tables stay in the caches.
const CACHED: f64 = 1e5;

/// The most heaps that a kernel visits between two calls of [`sink::Positions::advance`].
const HEAPS_PER_BATCH: u64 = 1 << 14;

impl Operation for Occupancy {
    type Input = ProportionateNim;
    type Output = Positions;
    type Start = ();

    const NAME: &'static str = "occupancy";
    const CORE: Core = Core::Occupancy;
    const UNIT: &'static str = "P-position";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { Occupancy;
        hash_sets = hash_sets in hash_and_byte_tables with attack_lines::every, Portable, [], "the baseline, repaired: a hash set per family of lines, every m tried";
        hash_sets_certificate = hash_sets in hash_and_byte_tables with attack_lines::certificate, Portable, [],
            "a hash set per family of lines, only the m that the certificate leaves", needs;
        byte_table = byte_table in hash_and_byte_tables with attack_lines::every, Portable, [], "one byte per line, every m tried";
        byte_table_certificate = byte_table in hash_and_byte_tables with attack_lines::certificate, Portable, [],
            "one byte per line, only the m that the certificate leaves", needs;
        union_find = union_find in next_free, Portable, [], "the best published algorithm: `next free` in three rows, with path halving";
        hierarchical = hierarchical in next_free, Portable, [], "`next free` in 64-ary trees of bits";
        bit_rows = bit_rows with vectors::plain, Portable, [], "64 candidates at once: windows of four bit rows";
        bitvec_rows = bitvec_rows in bit_rows like bit_rows, Portable, ["bitvec"] if target_pointer_width = "64",
            "the same windows, read as raw words of BitVecs";
        wide_rows = bit_rows with vectors::wide::eight like bit_rows, Portable, ["wide"], "512 candidates at once, in portable vectors";
        bit_rows_avx2 = bit_rows with vectors::avx2 like bit_rows, Avx2, ["avx2"], "256 candidates at once";
        general_rows = general_rows, Portable, [], "any diagonals: 64 candidates at once, full stretches skipped by trees of bits";
        window_certificate = window_certificate in bit_rows, Portable, [], "one window of four bit rows per P-position, where the certificate points", needs;
        automaton = automaton with automaton::plain, Portable, [], "rows in registers that slide along each other, sixteen n per block", needs;
        automaton_avx2 = automaton with automaton::plain::avx2 like automaton, Avx2, ["avx2"],
            "the same source, compiled with the tier's bit-manipulation instructions", needs;
        automaton_asm = automaton with automaton::asm, Avx2, ["avx2"], "the sixteen steps in assembly, ordered to keep their chain short", needs;
        automaton_avx512 = automaton with automaton::avx512 like automaton_asm, Avx512, ["avx2", "avx512"],
            "the same steps, with spans prepared and finished in vectors", needs;
        charged_threads = charged_threads in segments with automaton::plain, Portable, ["parallel"],
            "the automaton in segments on all threads, each begun from a guess that is checked";
        charged_threads_asm = charged_threads in segments with automaton::asm like charged_threads, Avx2, ["avx2", "parallel"],
            "the same segments, with the steps in assembly";
        charged_threads_avx512 = charged_threads in segments with automaton::avx512 like charged_threads, Avx512, ["avx2", "avx512", "parallel"],
            "the same segments, with the steps in assembly and spans in vectors";
        charged_lanes_avx512 = charged_lanes in segments on one, Avx512, ["avx2", "avx512"], "eight segments in the lanes of a vector";
        charged_lanes_threads_avx512 = charged_lanes in segments on all like charged_lanes_avx512, Avx512, ["avx2", "avx512", "parallel"],
            "the same lanes on all threads";
        window_tree = window_tree with window_tree::window::plain on one, Portable, [], "the tally alone, from windows of heaps at scaled places" observed tally;
        window_tree_avx512 = window_tree with window_tree::window::avx512 on one like window_tree, Avx512, ["avx2", "avx512"],
            "the same windows, run as the automaton of this tier" observed tally;
        window_tree_threads_avx512 = window_tree with window_tree::window::avx512 on all like window_tree_avx512, Avx512, ["avx2", "avx512", "parallel"],
            "the same, with windows run at the same time" observed tally;
    };
    const PUBLIC: &'static [&'static str] = &["union_find", "hierarchical"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("rates.tsv");

    fn wanted(input: &ProportionateNim) -> Yields {
        input.wanted.yields()
    }

    /// All kernels but one handle only the published moves.
    fn output_bytes(input: &ProportionateNim, threads: usize) -> f64 {
        // No two positions share a smaller heap. In the published game only some of these heaps have a position.
        let published = *input.diagonals() == Diagonals::PUBLISHED;
        let [share, of_batch] = if published { [2.0 * DENSITY, 4.0 / 7.0] } else { [1.0; 2] };
        let (positions, batch) = (share * input.smaller_heaps() as f64, of_batch * HEAPS_PER_BATCH as f64);
        input.wanted.bytes(positions, batch, 1) + segments::schedule::under_way(input, threads)
    }

    fn oracle(input: &ProportionateNim) -> Positions {
        let mut sink = input.sink();
        oracle::positions(input, |position| sink.push(position));
        sink.finish();
        sink
    }

    fn steps(input: &ProportionateNim) -> u64 {
        input.smaller_heaps()
    }

    fn work(_: &ProportionateNim, output: &Positions) -> u64 {
        output.totals().tally().positions
    }

    fn digest(output: &Positions) -> Digest {
        output.totals().tally().digest()
    }
}

impl Workloads for Occupancy {
    const WORKLOADS: &'static [Workload] = &[
        workload(
            "proportionate",
            "take t, t and t, or t and 2t; size = the largest sum of both heaps",
            10_000_000,
            &[10, 100, 10_000, 1_000_000, 10_000_000],
        ),
        workload("wythoff", "take t, or t and t; size = the largest sum of both heaps", 1_000_000, &[]),
        workload(
            "common-factors",
            "take t, 3t and 3t, or 2t and 4t; size = the largest sum of both heaps",
            1_000_000,
            &[],
        ),
    ];

    fn canonical(workload: &str) -> Result<String, InputError> {
        let listed = diagonals::<Self>(workload)?;
        for Workload { name, .. } in Self::WORKLOADS {
            if diagonals::<Self>(name).is_ok_and(|named| named == listed) {
                return Ok((*name).to_owned());
            }
        }
        Ok(listed.to_string())
    }

    fn input(workload: &str, size: u64, _: &Selection) -> Result<ProportionateNim, InputError> {
        ProportionateNim::with(size, diagonals::<Self>(workload)?)
    }

    fn finding(input: ProportionateNim, yields: Yields) -> ProportionateNim {
        input.finding(yields.into())
    }
}

/// Does `work` on some threads at the same time: [`threads::share`], compiled once.
fn share(threads: usize, work: &(dyn Fn() -> Result<(), RunError> + Sync)) -> Result<(), RunError> {
    threads::share(threads, |_| work())?;
    Ok(())
}

/// The moves from both heaps that a workload names or lists.
fn diagonals<O: Workloads>(workload: &str) -> Result<Diagonals, InputError> {
    Ok(match workload {
        "proportionate" => Diagonals::PUBLISHED,
        "wythoff" => Diagonals::new(&[[1, 1]])?,
        "common-factors" => Diagonals::new(&[[3, 3], [2, 4]])?,
        list if list.contains(':') => list.parse()?,
        _ => return Err(InputError::unknown_workload::<O>(workload)),
    })
}

mod oracle {
    use super::ProportionateNim;

    /// Finds the P-positions `n <= m` with `n + m <= limit` in lexicographic order from the rules alone. A position that no
    /// earlier P-position marked is one, and it marks every position that can move to it.
    ///
    /// The order is sound because a move leads to a sorted position that is no larger in any place.
    pub fn positions(input: &ProportionateNim, mut found: impl FnMut([u64; 2])) {
        let limit = input.limit() as usize;
        let moves: Vec<[usize; 2]> = [[1, 0], [0, 1]].into_iter().chain(input.diagonals().directions()).collect();
        let mut winning = vec![false; (limit + 1) * (limit + 1)];
        let index = |[n, m]: [usize; 2]| n * (limit + 1) + m;
        for n in 0..=limit / 2 {
            for m in n..=limit - n {
                if winning[index([n, m])] {
                    continue;
                }
                found([n as u64, m as u64]);
                for [p, q] in &moves {
                    for t in 1.. {
                        let (a, b) = (n + p * t, m + q * t);
                        if a + b > limit {
                            break;
                        }
                        winning[index([a.min(b), a.max(b)])] = true;
                    }
                }
            }
        }
    }
}
