//! `mex_subtraction`: Grundy values of a subtraction set.
//!
//! A heap of `n` allows the moves `n -> n - m` for `m` in a set `S`; `g(n) = mex { g(n - m) : m in S, m <= n }`, the smallest
//! value that no move reaches (Sprague 1935, Grundy 1939). `g(n)` is at most the number of moves that `n` allows.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use std::sync::Arc;

use super::oracle;
use crate::kernel::{Absent, Core, Digest, KernelDef, Operation, RunError, kernels};
use crate::machine::Machine;
use crate::moves::MoveSet;
use crate::selection::Selection;
use crate::workload::{InputError, Workload, Workloads};

#[cfg(feature = "bitvec")]
mod bit_array;
pub(super) mod byte_lanes;
#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub(super) mod byte_lanes_avx2;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub(super) mod byte_lanes_avx512;
#[cfg(all(target_arch = "x86_64", feature = "avx512", feature = "parallel"))]
mod byte_lanes_pair_avx512;
#[cfg(feature = "wide")]
pub(super) mod byte_lanes_wide;
mod flags;
mod flags_u128;
pub(super) mod lanes;
mod periodic;
mod pull_words;
mod push_bits;
mod shifted_sets;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod shifted_sets_avx512;
#[cfg(feature = "wide")]
mod shifted_sets_wide;
mod stamp;

pub use periodic::{Period, period};

/// Grundy values of the heaps `0..=limit` of a subtraction set; the output holds one value a heap.
#[derive(Debug)]
pub struct MexSubtraction;

/// A subtraction set and how far to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtraction {
    /// The moves up to `limit`, positive and strictly ascending; shared, as there may be as many as heaps.
    moves: Arc<Vec<u64>>,
    /// What some first heaps are like, and more of them; costs depend on it.
    probed: [Probed; 2],
    limit: u64,
}

/// The largest heap: its table of values alone is 4 GiB.
pub const MAX_LIMIT: u64 = 1 << 31;

impl Subtraction {
    /// The heaps `0..=limit` of `set`.
    ///
    /// # Errors
    /// The limit is above [`MAX_LIMIT`], or the moves up to it do not fit in the memory of `machine`.
    pub fn new(set: &MoveSet, limit: u64, machine: &Machine) -> Result<Self, InputError> {
        Subtraction::of::<MexSubtraction>(set, limit, machine)
    }

    /// The same for another operation, which is what an error is about.
    ///
    /// # Errors
    /// As [`Subtraction::new`].
    pub fn of<O: Operation>(set: &MoveSet, limit: u64, machine: &Machine) -> Result<Self, InputError> {
        if limit > MAX_LIMIT {
            return Err(InputError::TooLarge { operation: O::NAME, size: limit, most: MAX_LIMIT });
        }
        let (needs, free) = (set.bytes_up_to(limit) as u64, machine.memory(1));
        if needs > free {
            return Err(InputError::MovesMemory { operation: O::NAME, needs, free });
        }
        let moves = set.up_to(limit);
        Ok(Subtraction { probed: probe(&moves, limit), moves: Arc::new(moves), limit })
    }

    /// Bytes of the moves, and of a kernel's own copy of them.
    pub(in crate::cores::mex) fn copied_moves(&self) -> f64 {
        size_of::<usize>() as f64 * self.moves.len() as f64
    }

    /// The moves up to the limit, ascending.
    pub fn moves(&self) -> &[u64] {
        &self.moves
    }

    /// The largest heap.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Heaps in the table.
    pub fn heaps(&self) -> usize {
        self.limit as usize + 1
    }

    /// The number of different values that heaps up to the limit take, roughly: what the first heaps have, continued by the
    /// power law that their mean follows. (It is smoother than the largest.)
    pub fn values(&self) -> f64 {
        let [few, many] = self.probed;
        many.continued(few, self.heaps(), many.values, |probed| probed.mean()).min(self.moves.len() as f64 + 1.0)
    }

    /// The number of different values for which memory is foreseen: such estimates were seen to fall short by a fifth.
    pub fn most_values(&self) -> f64 {
        (1.25 * self.values()).min(self.moves.len() as f64 + 1.0)
    }

    /// The number of heaps up to the limit that have the value 0, roughly, in the same way.
    pub fn zeros(&self) -> f64 {
        let [few, many] = self.probed;
        many.continued(few, self.heaps(), many.zeros, |probed| probed.zeros as f64).min(self.heaps() as f64)
    }

    /// Pairs of a heap of value 0 and a move that leads to it, roughly: what a sieve marks.
    pub fn hits(&self) -> f64 {
        self.zeros() * self.pairs() / self.heaps() as f64
    }

    /// Pairs of a heap and a move it allows: what a kernel that looks at each of them does.
    pub fn pairs(&self) -> f64 {
        pairs(&self.moves, self.limit)
    }
}

fn pairs(moves: &[u64], limit: u64) -> f64 {
    moves.iter().map(|m| (limit - m + 1) as f64).sum()
}

/// Counts over some of the first heaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probed {
    heaps: usize,
    /// Different values.
    values: usize,
    /// Heaps of value 0.
    zeros: usize,
    /// All values added.
    sum: usize,
}

impl Probed {
    fn mean(&self) -> f64 {
        self.sum as f64 / self.heaps as f64
    }

    /// A count over these heaps, carried on to `heaps` by the power law that a measure follows from fewer heaps to these.
    fn continued(&self, fewer: Probed, heaps: usize, count: usize, measure: impl Fn(&Probed) -> f64) -> f64 {
        if self.heaps == heaps || measure(&fewer) == 0.0 {
            return count as f64;
        }
        let exponent = (measure(self) / measure(&fewer)).ln() / (self.heaps as f64 / fewer.heaps as f64).ln();
        count as f64 * (heaps as f64 / self.heaps as f64).powf(exponent)
    }
}

/// So many of the first heaps are always looked at, and no more than so many.
const PROBED: [usize; 2] = [256, 4096];
/// Looking at a pair takes as long as a quick kernel takes for twenty; all looks together are to take a hundredth of its time.
const PROBED_PAIRS: f64 = 1.0 / 2000.0;

/// Looks at first heaps, to foresee how values grow: as many as cost little beside the heaps up to the limit, and a quarter of
/// them.
fn probe(moves: &[u64], limit: u64) -> [Probed; 2] {
    let mut left = pairs(moves, limit) * PROBED_PAIRS;
    let [least, most] = PROBED.map(|heaps| heaps.min(limit as usize + 1));
    let mut reaches = vec![usize::MAX; most + 1];
    let mut g: Vec<usize> = Vec::with_capacity(most);
    let mut allowed = 0;
    while g.len() < least || (g.len() < most && left > 0.0) {
        let n = g.len();
        allowed += moves[allowed..].iter().take_while(|m| **m <= n as u64).count();
        for m in &moves[..allowed] {
            reaches[g[n - *m as usize]] = n;
        }
        g.push(reaches.iter().position(|heap| *heap != n).unwrap_or(n));
        left -= allowed as f64;
    }
    [g.len().div_ceil(4), g.len()].map(|heaps| {
        let g = &g[..heaps];
        let values = g.iter().max().map_or(0, |largest| largest + 1);
        Probed { heaps, values, zeros: g.iter().filter(|v| **v == 0).count(), sum: g.iter().sum() }
    })
}

/// A value as the output holds it.
fn narrow(value: usize) -> Result<u16, RunError> {
    u16::try_from(value).map_err(|_| RunError::LargeValue)
}

/// Heaps between two looks at the progress counter, for kernels that go heap by heap.
const BLOCK: usize = 4096;

/// The driver of the kernels that go heap by heap: `value(n, g)` is the Grundy value of `n`, given those of `0..n`.
#[inline(always)]
fn heap_by_heap(
    input: &Subtraction,
    run: &crate::kernel::Run,
    mut value: impl FnMut(usize, &[u16]) -> usize,
) -> Result<Vec<u16>, RunError> {
    let mut g = vec![0; input.heaps()];
    for start in (0..g.len()).step_by(BLOCK) {
        let end = g.len().min(start + BLOCK);
        for n in start..end {
            let v = value(n, &g[..n]);
            g[n] = narrow(v)?;
        }
        run.advance((end - start) as u64)?;
    }
    Ok(g)
}

impl Operation for MexSubtraction {
    type Input = Subtraction;
    type Output = Vec<u16>;
    type Start = ();

    const NAME: &'static str = "mex_subtraction";
    const CORE: Core = Core::Mex;
    const UNIT: &'static str = "heap";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { MexSubtraction, [];
        flags = flags, Portable, [], "the source's way: one packed flag set and tested at a time", needs;
        bit_array = bit_array like flags, Portable, ["bitvec"], "the same with bitvec: set and first_zero";
        flags_u128 = flags_u128, Portable, [], "flags in one register, the mex by trailing ones";
        stamp = stamp, Portable, [], "best public: store n at stamp[g], so that nothing is cleared";
        stamp_avx512 = stamp like stamp, Avx512, ["avx512"], "the same source at this tier: nothing in it becomes a vector";
        push_bits = push_bits, Portable, [], "a row of reaching heaps for each value, one bit for each pair";
        pull_words = pull_words, Portable, [], "a row of heaps for each value, 64 heaps by shifted words";
        pull_words_avx512 = pull_words like pull_words, Avx512, ["avx512"], "the same source at this tier";
        periodic = periodic, Portable, [], "finite sets: a prefix, until its end has occurred before; the rest is copied";
        shifted_sets = shifted_sets, Portable, [], "each heap forbids its value to the move set, shifted, 4096 heaps at once";
        shifted_sets_wide = shifted_sets_wide like shifted_sets, Portable, ["wide"], "the same with wide's vectors";
        shifted_sets_avx2 = shifted_sets like shifted_sets, Avx2, ["avx2"], "the same source at this tier";
        shifted_sets_avx512 = shifted_sets_avx512 like shifted_sets, Avx512, ["avx512"], "the same with vectors of 512 bits, which split every line";
        byte_lanes = byte_lanes, Portable, [], "64 heaps are byte lanes; one-hot planes by arithmetic, autovectorised", needs;
        byte_lanes_wide = byte_lanes_wide like byte_lanes, Portable, ["wide"], "the planes by wide's byte shuffle";
        byte_lanes_avx2 = byte_lanes_avx2 like byte_lanes, Avx2, ["avx2"], "the planes by lookups of four bits";
        byte_lanes_avx512 = byte_lanes_avx512 like byte_lanes, Avx512, ["avx512"], "the planes by byte permutes and shifts, one OR for two moves", needs;
        byte_lanes_pair_avx512 = byte_lanes_pair_avx512 like byte_lanes_avx512, Avx512, ["avx512", "parallel"], "the same on two threads that exchange messages";
    };
    const ABSENT: &'static [Absent] = &[];
    const PUBLIC: &'static [&'static str] = &["stamp"];
    const NOTES: &'static str = include_str!("NOTES.md");

    fn input_bytes(input: &Subtraction) -> f64 {
        input.copied_moves()
    }

    fn oracle(input: &Subtraction) -> Vec<u16> {
        let moves: Vec<usize> = input.moves.iter().map(|m| *m as usize).collect();
        oracle::values(&moves, input.heaps()).into_iter().map(|v| v as u16).collect()
    }

    fn steps(input: &Subtraction) -> u64 {
        input.heaps() as u64
    }

    fn work(input: &Subtraction, _: &Vec<u16>) -> u64 {
        input.heaps() as u64
    }

    fn digest(values: &Vec<u16>) -> Digest {
        let (mut max, mut zeros, mut sum) = (0, 0, 0);
        for block in values.chunks(BLOCK) {
            // Counters as narrow as a block allows: more lanes in a vector.
            max = block.iter().fold(max, |max: u16, v| max.max(*v));
            zeros += u64::from(block.iter().map(|v| u16::from(*v == 0)).sum::<u16>());
            sum += u64::from(block.iter().map(|v| u32::from(*v)).sum::<u32>());
        }
        vec![("max", max.into()), ("zeros", zeros.into()), ("sum", sum.into())]
    }
}

impl Workloads for MexSubtraction {
    const WORKLOADS: &'static [Workload] = &[
        Workload {
            name: "squares",
            summary: "take a square number; size = the largest heap",
            published: 100_000,
            sizes: &[10, 100, 10_000, 100_000],
        },
        Workload {
            name: "cubes",
            summary: "take a cube; size = the largest heap",
            published: 100_000,
            sizes: &[100_000],
        },
        Workload {
            name: "triangular",
            summary: "take a triangular number; size = the largest heap",
            published: 100_000,
            sizes: &[100_000],
        },
        Workload {
            name: "primes",
            summary: "take a prime; size = the largest heap",
            published: 100_000,
            sizes: &[100_000],
        },
        Workload {
            name: "factorials",
            summary: "take a factorial; size = the largest heap",
            published: 100_000,
            sizes: &[100_000],
        },
        Workload {
            name: "fibonacci",
            summary: "take a Fibonacci number; size = the largest heap",
            published: 100_000,
            sizes: &[100_000],
        },
        Workload {
            name: "random-sparse",
            summary: "random moves, as dense as the squares; size = the largest heap",
            published: 100_000,
            sizes: &[100_000],
        },
        Workload {
            name: "random-dense",
            summary: "every number is a move with probability 1/2; size = the largest heap",
            published: 100_000,
            sizes: &[100_000],
        },
        Workload {
            name: "1..100",
            summary: "take up to 100; size = the largest heap",
            published: 100_000,
            sizes: &[100_000],
        },
        Workload {
            name: "2,7,19,50",
            summary: "take 2, 7, 19 or 50; size = the largest heap",
            published: 100_000,
            sizes: &[100_000],
        },
    ];

    fn input(workload: &str, size: u64, selection: &Selection) -> Result<Subtraction, InputError> {
        Subtraction::new(&workload.parse()?, size, selection.machine())
    }
}
