//! `mex_period`: how often each Grundy value of an octal game occurs, and the period of the values, without a table of them.
//!
//! Where few heaps are rare (see [`mex_octal`](super::octal)), a value depends on a window of the values before it. So memory does
//! not depend on the limit, and a period is proved as soon as a window repeats.
//!
//! # Theorem
//! Let a **window** of width `w` at heap `n` be the values of the `w` heaps before `n`. Let all heaps from `s` to `s + p` be common
//! and verified, where no move that was used (one that leaves a rare heap, or a split that shows that a rare value is reached)
//! reads farther back than `w`, all heaps from `s - w` on are common, and `p` is even if the position counts. If the windows at `s`
//! and `s + p` are equal, then `g(n + p) = g(n)` for all `n >= s - w`.
//!
//! The codes that decide the next ones, without their verification, are fewer. If they repeat, so does all that follows as far as it
//! is verified, and after `w` heaps the windows of the theorem do.
//!
//! The classical theorem of Guy and Smith needs no sparse space, but values to twice the preperiod and twice the period.
//! `profiles/papers/windows.md` in the source tree has the proof (Theorem 5), all lemmas, and the periods that were found.
//!
//! Runs are compared by first heaps, frequencies, rare heaps and a hash of the last values, which depend on all before. Kernels
//! may prove the same period at different heaps, so it is not compared; tests compare it with that of the classical theorem.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use std::hash::Hasher as _;
use std::ops::Range;

use twox_hash::XxHash3_64;

use super::octal::{self, Code, Mask, Octal};
use super::sparse;
use super::sparse::space::{Counts, common_parity};
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads};
use crate::kernel::{Core, Digest, KernelDef, Operation, Run, RunError, kernels};

mod certificate;
mod checkpoint;
mod progress;
mod stream;

pub use certificate::Certificate;
pub use checkpoint::{Journal, Start};
pub use progress::Progress;
pub(crate) use progress::Repetition;

/// First heaps and frequencies of the Grundy values of an octal game, and their period.
#[derive(Debug)]
pub struct MexPeriod;

/// How often a value occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// The value.
    pub value: u16,
    /// The first heap that has it.
    pub first: u64,
    /// The number of heaps that have it.
    pub heaps: u64,
}

/// How often each value occurs among the values of the first heaps, ascending by value.
pub fn tallies(values: &[u16]) -> Vec<Tally> {
    // Values need not appear in order.
    let mut counted = vec![(0, 0); 1 << 16];
    for (n, value) in (0..).zip(values) {
        let (first, heaps) = &mut counted[usize::from(*value)];
        if *heaps == 0 {
            *first = n;
        }
        *heaps += 1;
    }
    let largest = values.iter().max().copied().unwrap_or(0);
    occurring(&counted[..=usize::from(largest)])
}

/// The tallies of values that occur, from the first heap and the number of heaps of each.
fn occurring(counted: &[(u64, u64)]) -> Vec<Tally> {
    let tallies = (0..=u16::MAX).zip(counted).filter(|(_, (_, heaps))| *heaps > 0);
    tallies.map(|(value, (first, heaps))| Tally { value, first: *first, heaps: *heaps }).collect()
}

/// The theorem that proves a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Theorem {
    /// Guy and Smith (1956): values to twice the preperiod and the period.
    GuySmith,
    /// The window of this width repeats; of a finite subtraction set, that of its largest move.
    Window(usize),
}

/// A period of the values that is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proved {
    /// The length of the repetition.
    pub period: u64,
    /// The first heap from which it holds.
    pub preperiod: u64,
    /// The theorem that proves it.
    pub theorem: Theorem,
    /// The number of heaps that the proof needed.
    pub heaps: u64,
}

/// The rare heaps of a game: see [`mex_octal`](super::octal).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rare {
    /// The number of rare heaps.
    pub heaps: usize,
    /// The last rare heap.
    pub last: usize,
    /// The mask that makes a value rare.
    pub mask: Mask,
}

impl Rare {
    /// The rare heaps among these values, of a game that splits into two heaps.
    pub fn of(code: &Code, values: &[u16]) -> Self {
        let counts = Counts::of(common_parity(code), values);
        Rare::among(&counts, [0..0, 0..values.len() as u64], &|n| values[n as usize])
    }

    /// The number of rare heaps by counts of values, and the last one in these ranges that is rare.
    fn among(counts: &Counts, ranges: [Range<u64>; 2], value: &dyn Fn(u64) -> u16) -> Self {
        let (mask, heaps) = counts.best();
        let last = ranges.into_iter().flatten().rev().find(|n| mask.is_rare(*n as usize, value(*n))).unwrap_or(0);
        Rare { heaps, last: last as usize, mask }
    }
}

/// A summary of the values of the heaps up to a limit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Census {
    /// All values that occur, ascending.
    pub tallies: Vec<Tally>,
    /// The XXH3-64 of the last values, at most [`LAST`], as little-endian numbers of 16 bits.
    pub last: u64,
    /// The period, if these heaps prove one by the theorem that the kernel uses.
    pub period: Option<Proved>,
    /// The rare heaps.
    pub rare: Option<Rare>,
}

/// The most values in the hash of a [`Census`].
pub const LAST: usize = 4096;

/// Compares all but the period, which kernels may prove at different heaps.
impl PartialEq for Census {
    fn eq(&self, other: &Self) -> bool {
        (&self.tallies, self.last, self.rare) == (&other.tallies, other.last, other.rare)
    }
}

impl Proved {
    /// The period that the theorem of Guy and Smith proves, if it does.
    #[doc(hidden)]
    pub fn classical(found: octal::Period) -> Option<Self> {
        let [period, preperiod] = [found.period, found.preperiod].map(|heaps| heaps as u64);
        let heaps = found.certificate.unwrap_or(0) as u64 + 1;
        found.is_proved.then_some(Proved { period, preperiod, theorem: Theorem::GuySmith, heaps })
    }

    /// The period of a subtraction set by repeated values, which depend on `farthest` values before.
    #[doc(hidden)]
    pub fn by_last_values(period: usize, preperiod: usize, farthest: usize) -> Self {
        let [period, preperiod, heaps] = [period, preperiod, preperiod + period + farthest].map(|heaps| heaps as u64);
        Proved { period, preperiod, theorem: Theorem::Window(farthest), heaps }
    }
}

impl Census {
    /// The census of all values of a game that splits into two heaps, with the period that the theorem of Guy and Smith proves.
    ///
    /// # Errors
    /// [`RunError::Cancelled`].
    pub fn new(code: &Code, values: &[u16], run: &Run) -> Result<Self, RunError> {
        Ok(Census::of(code, values, octal::period(code, values, run)?))
    }

    /// The census of all values.
    fn of(code: &Code, values: &[u16], period: Option<octal::Period>) -> Self {
        Census {
            tallies: tallies(values),
            last: hashed(&values[values.len().saturating_sub(LAST)..]),
            period: period.and_then(Proved::classical),
            rare: Some(Rare::of(code, values)),
        }
    }

    /// The census of `heaps` heaps, from the first values and a proved period.
    fn repeated(code: &Code, values: &[u16], found: octal::Period, heaps: u64) -> Self {
        let value = |n: u64| found.value(values, n).expect("the period is proved");
        let (period, preperiod) = (found.period as u64, found.preperiod as u64);
        let first = &values[..found.preperiod + found.period];
        let mut census = Census::of(code, first, Some(found));
        let mut counts = Counts::of(common_parity(code), first);
        for n in preperiod..preperiod + period {
            // The value recurs in this many later rounds. If the period is odd, every other one begins at a heap of the other
            // parity.
            let more = (heaps - 1 - n) / period;
            let odd = if period.is_multiple_of(2) { 0 } else { more.div_ceil(2) };
            let tally = census.tallies.iter_mut().find(|tally| tally.value == value(n));
            tally.expect("it was counted").heaps += more;
            counts.add(n as usize, value(n), (more - odd) as i64);
            counts.add(n as usize + 1, value(n), odd as i64);
        }
        // After two rounds, rare heaps recur.
        let recent = heaps - heaps.min(2 * period);
        census.rare = Some(Rare::among(&counts, [0..recent.min(preperiod), recent..heaps], &value));
        let last: Vec<u16> = (heaps - heaps.min(LAST as u64)..heaps).map(value).collect();
        census.last = hashed(&last);
        census
    }

    /// The number of heaps.
    pub fn heaps(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.heaps).sum()
    }
}

/// The hash of the last values.
fn hashed(values: &[u16]) -> u64 {
    let mut hash = XxHash3_64::new();
    for value in values {
        hash.write(&value.to_le_bytes());
    }
    hash.finish()
}

impl Operation for MexPeriod {
    type Input = Octal;
    type Output = Census;
    type Start = Start;

    const NAME: &'static str = "mex_period";
    const CORE: Core = Core::Mex;
    const UNIT: &'static str = "heap";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { MexPeriod, start;
        table = table in stream, Portable, [], "the baseline: a table of all values, and the classical theorem";
        window_words = stream with sparse::portable like table, Portable, [], "a window of the last values; what they reach as bits of words";
        window_lanes_avx2 = stream with sparse::x86::avx2 like window_words, Avx2, ["avx2"], "a window of the last values; planes by lookups of four bits";
        window_lanes_avx512 = stream with sparse::x86::avx512 like window_words, Avx512, ["avx512"], "a window of the last values; planes by byte permutes";
    };
    const ABSENT: &'static [(&'static str, &'static str)] =
        &[("bitvec", "the values that a heap reaches fit in one word, and nothing else is a set of bits")];
    const PUBLIC: &'static [&'static str] = &["table"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("../rates.tsv");

    fn oracle(input: &Octal) -> Census {
        let values = octal::MexOctal::oracle(input);
        Census::new(input.code(), &values, &Run::new(1)).expect("the run is not cancelled")
    }

    fn steps(input: &Octal) -> u64 {
        input.heaps() as u64
    }

    fn digest(census: &Census) -> Digest {
        let zeros = census.tallies.iter().find(|tally| tally.value == 0).map_or(0, |tally| tally.heaps);
        let max = census.tallies.last().map_or(0, |tally| tally.value);
        let sum = census.tallies.iter().map(|tally| u128::from(tally.value) * u128::from(tally.heaps)).sum();
        vec![("max", max.into()), ("zeros", zeros.into()), ("sum", sum), ("last", census.last.into())]
    }
}

impl Workloads for MexPeriod {
    const WORKLOADS: &'static [Workload] = &[
        workload!("0.106", 10_000_000, [100, 10_000, 300_000, 10_000_000], "sparse by position, with 15 rare heaps"),
        workload!("0.054", 10_000_000, [10_000_000], "sparse by value, with 38 rare heaps"),
        workload!("0.104", 10_000_000, [300_000, 10_000_000], "sparse by position, with 20 rare heaps"),
        workload!("4.045", 10_000_000, [10_000_000], "sparse by value, with 34 rare heaps and three places that split"),
    ];

    fn canonical(workload: &str) -> Result<String, InputError> {
        Ok(workload.parse::<Code>()?.canonical().to_string())
    }

    fn input(workload: &str, size: u64, _: &Selection) -> Result<Octal, InputError> {
        Octal::new(&workload.parse()?, size)
    }
}
