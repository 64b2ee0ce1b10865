//! `mex_subtraction`: Grundy values of a subtraction set.
//!
//! A heap of `n` allows the moves `n -> n - m` for `m` in a set `S`; `g(n) = mex { g(n - m) : m in S, m <= n }`, the smallest
//! value that no move reaches (Sprague 1935, Grundy 1939). `g(n)` is at most the number of moves that `n` allows.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use std::sync::Arc;

use super::lanes::below;
use super::{lanes, oracle, residues};
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads, workload};
use crate::kernel::{Core, Digest, KernelDef, Operation, RunError, kernels};
use crate::machine::Machine;
use crate::moves::MoveSet;
use crate::text::numbers::indexable;

mod byte_lanes;
#[cfg(feature = "fearless_simd")]
mod byte_lanes_fearless;
#[cfg(all(target_arch = "x86_64", feature = "avx512", feature = "parallel"))]
mod byte_lanes_pair;
mod heap_by_heap;
mod periodic;
mod value_by_value;

pub use periodic::{Period, period, prove};

/// Grundy values of the heaps `0..=limit` of a subtraction set. The output holds one value per heap.
#[derive(Debug)]
pub struct MexSubtraction;

/// A subtraction set and a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subtraction {
    /// The moves up to `limit`, positive and strictly ascending. Shared, because there may be as many moves as heaps.
    moves: Arc<Vec<u64>>,
    /// Counts over a few first heaps, and over more of them, to predict costs.
    probed: [Probed; 2],
    limit: u64,
}

/// A list of moves of up to this many bytes is made however little memory is free; the cost of a kernel, which includes
/// it, decides.
const SMALL_LIST: u64 = 1 << 20;

/// The largest limit. Its table of values alone takes 4 GiB.
pub const MAX_LIMIT: u64 = indexable(1 << 31);

impl Subtraction {
    /// The heaps `0..=limit` of `set`.
    ///
    /// # Errors
    /// The limit is above [`MAX_LIMIT`], or the moves up to it do not fit in the memory of `machine`.
    pub fn new(set: &MoveSet, limit: u64, machine: &Machine) -> Result<Self, InputError> {
        Subtraction::up_to::<MexSubtraction>(set, limit, MAX_LIMIT, machine)
    }

    /// The same input for an operation that takes limits up to `most`. Errors name it.
    pub(in crate::cores::mex) fn up_to<O: Operation>(
        set: &MoveSet,
        limit: u64,
        most: u64,
        machine: &Machine,
    ) -> Result<Self, InputError> {
        if limit > most {
            return Err(InputError::TooLarge { operation: O::NAME, size: limit, most });
        }
        let (needs, free) = (set.bytes_up_to(limit) as u64, machine.memory(1));
        if needs > SMALL_LIST && needs > free {
            return Err(InputError::MovesMemory { operation: O::NAME, needs, free });
        }
        Ok(Subtraction::of_moves(set.up_to(limit), limit))
    }

    /// A set of moves in ascending order, up to the limit.
    pub(in crate::cores::mex) fn of_moves(moves: Vec<u64>, limit: u64) -> Self {
        Subtraction { probed: probe(&moves, limit), moves: Arc::new(moves), limit }
    }

    /// The same set up to a smaller limit.
    pub(in crate::cores::mex) fn first(&self, limit: u64) -> Self {
        Subtraction::of_moves(self.moves[..below(&self.moves, limit + 1)].to_vec(), limit)
    }

    /// A kernel's own copy of the moves.
    pub(in crate::cores::mex) fn own_moves(&self) -> Vec<usize> {
        self.moves.iter().map(|m| *m as usize).collect()
    }

    /// Bytes of the moves, and of a kernel's own copy, which has the same size.
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

    /// The number of heaps, `limit + 1`.
    pub fn heaps(&self) -> usize {
        self.limit as usize + 1
    }

    /// Estimates the number of different values up to the limit: the number among the first heaps, extrapolated by the power law
    /// that their mean follows. (The mean is smoother than the largest value.)
    #[doc(hidden)]
    pub fn values(&self) -> f64 {
        let [few, many] = self.probed;
        many.extrapolated(few, self.heaps(), many.values, |probed| probed.mean()).min(self.moves.len() as f64 + 1.0)
    }

    /// The number of different values to reserve memory for: the bound of the moves where they are few, else an estimate.
    /// Estimates were seen to be too low by a fifth, and by half for the ten moves of the factorials.
    pub(in crate::cores::mex) fn most_values(&self) -> f64 {
        let bound = self.moves.len() as f64 + 1.0;
        if bound <= 64.0 { bound } else { bound.min(1.25 * self.values()) }
    }

    /// Estimates, in the same way, the number of heaps of value 0 up to the limit.
    pub(in crate::cores::mex) fn zeros(&self) -> f64 {
        let [few, many] = self.probed;
        many.extrapolated(few, self.heaps(), many.zeros, |probed| probed.zeros as f64).min(self.heaps() as f64)
    }

    /// Estimates the number of pairs of a heap of value 0 and a move that leads to it: the marks that a sieve sets.
    pub(in crate::cores::mex) fn hits(&self) -> f64 {
        self.zeros() * self.pairs() / self.heaps() as f64
    }

    /// The number of pairs of a heap and a legal move: the work of a kernel that handles each pair.
    pub(in crate::cores::mex) fn pairs(&self) -> f64 {
        pairs(&self.moves, self.limit)
    }
}

fn pairs(moves: &[u64], limit: u64) -> f64 {
    moves.iter().map(|m| (limit - m + 1) as f64).sum()
}

/// Counts over some first heaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probed {
    heaps: usize,
    /// The number of different values.
    values: usize,
    /// The number of heaps of value 0.
    zeros: usize,
    /// The sum of all values.
    sum: usize,
}

impl Probed {
    /// Counts over heaps with these values.
    fn of(g: &[usize]) -> Self {
        Probed {
            heaps: g.len(),
            values: g.iter().max().map_or(0, |most| most + 1),
            zeros: g.iter().filter(|v| **v == 0).count(),
            sum: g.iter().sum(),
        }
    }

    fn mean(&self) -> f64 {
        self.sum as f64 / self.heaps as f64
    }

    /// Extrapolates a count over these heaps to `heaps`, by the power law that `measure` follows from `fewer` heaps to these.
    fn extrapolated(&self, fewer: Probed, heaps: usize, count: usize, measure: fn(&Probed) -> f64) -> f64 {
        if self.heaps == heaps || measure(&fewer) == 0.0 {
            return count as f64;
        }
        let exponent = (measure(self) / measure(&fewer)).ln() / (self.heaps as f64 / fewer.heaps as f64).ln();
        count as f64 * (heaps as f64 / self.heaps as f64).powf(exponent)
    }
}

/// The least and the largest number of first heaps to probe.
const PROBED: [usize; 2] = [256, 4096];
/// The share of all pairs to probe. A probed pair takes as long as twenty in a fast kernel, and probing should take a hundredth
/// of that kernel's time.
const PROBED_PAIRS: f64 = 1.0 / 2000.0;
/// The least number of pairs to probe. With fewer, the estimated number of values was 0.6 to 2 times the right one for
/// squares, cubes and primes up to 2^20; now it is 0.8 to 1.6 times.
const LEAST_PAIRS: f64 = 30_000.0;

/// Probes first heaps, to predict how values grow. Returns counts over all probed heaps, which are few enough to cost little
/// compared with the heaps up to the limit, and over the first quarter of them.
fn probe(moves: &[u64], limit: u64) -> [Probed; 2] {
    let mut left = f64::max(pairs(moves, limit) * PROBED_PAIRS, LEAST_PAIRS);
    let heaps = limit as usize + 1;
    let (least, most) = (PROBED[0].min(heaps), PROBED[1].min(heaps));
    let mut reaches = vec![usize::MAX; most + 1];
    let mut g: Vec<usize> = Vec::with_capacity(most);
    let mut allowed = 0;
    while g.len() < least || (g.len() < most && left > 0.0) {
        let n = g.len();
        while allowed < moves.len() && moves[allowed] <= n as u64 {
            allowed += 1;
        }
        for m in &moves[..allowed] {
            reaches[g[n - *m as usize]] = n;
        }
        g.push(reaches.iter().position(|heap| *heap != n).unwrap_or(n));
        left -= allowed as f64;
    }
    [Probed::of(&g[..g.len().div_ceil(4)]), Probed::of(&g)]
}

/// Narrows a value to the type of the output.
fn narrow(value: usize) -> Result<u16, RunError> {
    u16::try_from(value).map_err(|_| RunError::LargeValue)
}

impl Operation for MexSubtraction {
    type Input = Subtraction;
    type Output = Vec<u16>;
    type Start = ();

    const NAME: &'static str = "mex_subtraction";
    const CORE: Core = Core::Mex;
    const UNIT: &'static str = "heap";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { MexSubtraction;
        flags = flags in heap_by_heap, Portable, [], "the baseline: packed flags, set and tested one at a time", needs;
        bit_array = bit_array in heap_by_heap like flags, Portable, ["bitvec"] if target_pointer_width = "64",
            "the same with bitvec: set and first_zero";
        flags_u128 = flags_u128 in heap_by_heap, Portable, [], "flags in one register; the mex is the number of trailing ones";
        stamp = stamp in heap_by_heap, Portable, [], "the best known elsewhere: store n in stamp[g], so nothing needs clearing";
        pull_words = pull_words in value_by_value, Portable, [], "for each value, a bit row of its heaps, read 64 heaps at a time as shifted words";
        periodic = periodic, Portable, [], "finite sets: compute a prefix until its values repeat, then copy the rest";
        residue_classes = residue_classes in value_by_value with residues::plain, Portable, [], "many moves, few of them even, such as the primes: nearly all heaps of a value are in one residue class";
        residue_classes_avx2 = residue_classes in value_by_value with residues::avx2 like residue_classes, Avx2, ["avx2"], "the same source at this tier";
        shifted_sets = shifted_sets in value_by_value, Portable, [], "each heap rules out its value for the move set shifted by it, 4096 heaps at a time";
        shifted_sets_avx2 = shifted_sets in value_by_value like shifted_sets, Avx2, ["avx2"], "the same source at this tier";
        byte_lanes = byte_lanes with lanes::plain, Portable, [], "64 heaps as byte lanes; one-hot planes by autovectorised arithmetic", needs;
        byte_lanes_wide = byte_lanes with lanes::wide like byte_lanes, Portable, ["wide"], "planes by wide's byte shuffle";
        byte_lanes_avx2 = byte_lanes with lanes::avx2 like byte_lanes, Avx2, ["avx2"], "planes by four-bit lookups";
        byte_lanes_neon = byte_lanes with lanes::v128 like byte_lanes, Neon, ["neon"], "planes by lookups of sixteen codes";
        byte_lanes_simd128 = byte_lanes with lanes::v128 like byte_lanes, Simd128, ["simd128"], "planes by lookups of sixteen codes";
        byte_lanes_avx512 = byte_lanes with lanes::avx512 like byte_lanes, Avx512, ["avx512"], "planes by byte permutes and shifts, one OR for two moves", needs_avx512;
        byte_lanes_fearless = byte_lanes_fearless(Tier) like byte_lanes, Portable, ["fearless_simd"], "planes by permutes or comparisons of fearless_simd";
        byte_lanes_fearless_avx2 = byte_lanes_fearless(Tier) like byte_lanes_fearless, Avx2, ["avx2", "fearless_simd"], "the same source at this tier's level";
        byte_lanes_fearless_avx512 = byte_lanes_fearless(Tier) like byte_lanes_fearless, Avx512, ["avx512", "fearless_simd"], "the same source at this tier's level";
        byte_lanes_std = byte_lanes with lanes::std_simd::portable like byte_lanes, Portable, ["std_simd"] if nightly_compiler,
            "planes by comparisons of std::simd";
        byte_lanes_std_avx2 = byte_lanes with lanes::std_simd::avx2 like byte_lanes, Avx2, ["avx2", "std_simd"] if nightly_compiler,
            "planes by comparisons of std::simd";
        byte_lanes_std_avx512 = byte_lanes with lanes::std_simd::avx512 like byte_lanes, Avx512, ["avx512", "std_simd"] if nightly_compiler,
            "planes by comparisons of std::simd";
        byte_lanes_c = byte_lanes with lanes::c::loops like byte_lanes, Portable, ["c"],
            "planes by comparisons in loops in C";
        byte_lanes_c_vectors = byte_lanes with lanes::c::vectors like byte_lanes, Portable, ["c"] if not(target_env = "msvc"),
            "planes by comparisons in vector extensions of C";
        byte_lanes_c_avx2 = byte_lanes with lanes::c::loops_avx2 like byte_lanes, Avx2, ["avx2", "c"],
            "planes by comparisons in loops in C, compiled for AVX2";
        byte_lanes_c_vectors_avx2 = byte_lanes with lanes::c::vectors_avx2 like byte_lanes, Avx2, ["avx2", "c"] if not(target_env = "msvc"),
            "planes by comparisons in vector extensions of C, compiled for AVX2";
        byte_lanes_pair_avx512 = byte_lanes_pair with lanes::avx512 like byte_lanes_avx512, Avx512, ["avx512", "parallel"], "the same on two threads that exchange messages";
    };
    const PUBLIC: &'static [&'static str] = &["stamp"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("../rates.tsv");

    fn input_bytes(input: &Subtraction) -> f64 {
        input.copied_moves()
    }

    fn oracle(input: &Subtraction) -> Vec<u16> {
        oracle::values(&input.own_moves(), input.heaps()).into_iter().map(|v| v as u16).collect()
    }

    fn steps(input: &Subtraction) -> u64 {
        input.heaps() as u64
    }

    fn digest(values: &Vec<u16>) -> Digest {
        let max = values.iter().copied().max().unwrap_or(0);
        let zeros = values.iter().filter(|v| **v == 0).count() as u128;
        let sum = values.iter().map(|v| u128::from(*v)).sum();
        vec![("max", max.into()), ("zeros", zeros), ("sum", sum)]
    }
}

/// A set that is timed at the published size alone.
const fn set(name: &'static str, summary: &'static str) -> Workload {
    workload(name, summary, 100_000, &[100_000])
}

impl Workloads for MexSubtraction {
    const WORKLOADS: &'static [Workload] = &[
        workload("squares", "take a square number; size = the largest heap", 100_000, &[10, 100, 10_000, 100_000]),
        set("cubes", "take a cube; size = the largest heap"),
        set("triangular", "take a triangular number; size = the largest heap"),
        set("primes", "take a prime; size = the largest heap"),
        set("factorials", "take a factorial; size = the largest heap"),
        set("fibonacci", "take a Fibonacci number; size = the largest heap"),
        set("random-sparse", "take a random move, moves as dense as the squares; size = the largest heap"),
        set("random-dense", "take a random move, each number a move with probability 1/2; size = the largest heap"),
        set("1..100", "take up to 100; size = the largest heap"),
        set("2,7,19,50", "take 2, 7, 19 or 50; size = the largest heap"),
    ];

    fn canonical(workload: &str) -> Result<String, InputError> {
        Ok(workload.parse::<MoveSet>()?.canonical().to_string())
    }

    fn input(workload: &str, size: u64, selection: &Selection) -> Result<Subtraction, InputError> {
        Subtraction::new(&workload.parse()?, size, selection.machine())
    }
}
