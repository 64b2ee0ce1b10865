//! `mex_records`: the first heap of each Grundy value of a subtraction set with few moves, and how often each value occurs.
//!
//! The values themselves are not kept. `g(n)` depends on `g(n - m)`, so a **history** as long as the largest move is enough. A
//! move that is legal only near the limit reaches the first heaps, so a **prefix** is kept for it (`history`). So limits can be
//! far larger than a table of values could hold, and larger again where the history is compressed (`compressed`). A run of hours can
//! save its progress to a file and resume: see [`Journal`] and [`Progress::write`].
//!
//! With at most [`MOST_MOVES`] moves, every value is below 63, because `g(n)` is at most the number of moves. Sets with more moves,
//! of which at most three are even, are left to `residue_classes`, which keeps all values and ends if one passes 62.
//!
//! Runs are compared by first heaps, frequencies and an [`Output::fingerprint`] of all values.
//!
//! First heaps of the values are OEIS A355556 for the factorials, A019307 for the Fibonacci numbers and A355557 for the primes.
//! `profiles/discoveries` in the source tree has what is known past them; the notes below have the runs that found it.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use super::lanes::{self, LANES, WINDOW};
use super::{oracle, residues};
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads, workload};
use crate::kernel::{Core, Digest, KernelDef, Operation, kernels};
use crate::moves::MoveSet;
use crate::text::numbers::indexable;

mod by_heap;
mod checkpoint;
mod compressed;
mod guess;
mod history;
mod layout;
mod ring;

pub use checkpoint::{Journal, Start};
pub use history::Progress;

/// First heaps and frequencies of the values of a subtraction set with few moves.
#[derive(Debug)]
pub struct MexRecords;

/// The largest number of moves up to the limit.
pub const MOST_MOVES: usize = WINDOW - 1;

/// The largest limit. It is past 15!, the last factorial whose history fits in the memory of a small machine.
pub const MAX_LIMIT: u64 = indexable(1 << 41);

/// A subtraction set with few moves, and a limit.
#[derive(Clone, Debug)]
pub struct Records {
    set: MoveSet,
    /// The moves up to the limit, if they are few.
    moves: Option<Vec<usize>>,
    limit: u64,
    is_resumable: bool,
    /// Whether the history that a run continues is packed.
    continues_packed: Option<bool>,
}

impl Records {
    /// The heaps `0..=limit` of `set`.
    ///
    /// # Errors
    /// The limit is above [`MAX_LIMIT`], or there are more than [`MOST_MOVES`] moves up to it, not nearly all of them
    /// odd.
    pub fn new(set: &MoveSet, limit: u64) -> Result<Self, InputError> {
        const NAME: &str = MexRecords::NAME;
        if limit > MAX_LIMIT {
            return Err(InputError::TooLarge { operation: NAME, size: limit, most: MAX_LIMIT });
        }
        let moves = set.few_up_to(limit, MOST_MOVES);
        if moves.is_none() && !by_heap::residue_classes::takes(set, limit) {
            return Err(InputError::TooManyMoves { operation: NAME, most: MOST_MOVES });
        }
        let moves = moves.map(|moves| moves.iter().map(|m| *m as usize).collect());
        Ok(Records { set: set.clone(), moves, limit, is_resumable: false, continues_packed: None })
    }

    /// The same input for a run that can be resumed, which requires a kernel with a history.
    #[must_use]
    pub fn resumable(self) -> Self {
        Records { is_resumable: true, ..self }
    }

    /// The same input for a run that continues earlier progress, which requires a kernel with a history of the same form.
    #[must_use]
    pub fn continuing(self, progress: &Progress) -> Self {
        Records { continues_packed: Some(progress.is_packed()), ..self.resumable() }
    }

    /// The moves up to the limit, ascending, if there are at most [`MOST_MOVES`]; else none of them.
    pub fn moves(&self) -> &[usize] {
        self.moves.as_deref().unwrap_or_default()
    }

    /// The largest heap.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The number of heaps, `limit + 1`.
    pub fn heaps(&self) -> usize {
        self.limit as usize + 1
    }
}

/// First heaps, frequencies and a hash of the values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The first heap of each value. Values appear in order, because a heap of value `v` has a move to a heap of value `v - 1`.
    pub first: Vec<u64>,
    /// The number of heaps of each value.
    pub counts: Vec<u64>,
    /// A hash of all values in order: of the bytes `63 - g(n)`, eight heaps per word, with zeros beyond the limit and one step of
    /// FxHash per word.
    ///
    /// It distinguishes runs, but is not a checksum. Different fingerprints mean different values. Values that differ in only one
    /// word always have different fingerprints, and values that differ at random almost always do. But a difference at the last
    /// heap of a word can be cancelled by one at the next heap, so equal fingerprints do not prove that all values are equal.
    pub fingerprint: u64,
}

/// Adds a word to a hash: a step of FxHash, as rustc uses it.
#[inline(always)]
fn hashed(hash: u64, word: [u8; 8]) -> u64 {
    (hash.rotate_left(5) ^ u64::from_le_bytes(word)).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// The codes of a block, given the values of its first heaps; 0 for the heaps beyond them.
#[inline(always)]
fn codes_of(values: &[u8]) -> [u8; LANES] {
    let mut codes = [0; LANES];
    for (code, v) in codes.iter_mut().zip(values) {
        *code = WINDOW as u8 - v;
    }
    codes
}

impl Output {
    /// Adds the next 64 heaps, from `n` on, given as codes `63 - g`. The codes of heaps beyond the limit are 0.
    #[inline(always)]
    fn add(&mut self, n: usize, codes: &[u8; LANES]) {
        for eight in codes.as_chunks::<8>().0 {
            self.fingerprint = hashed(self.fingerprint, *eight);
        }
        // Most blocks hold only small values.
        let mut left = LANES as u8;
        for (v, count) in self.counts.iter_mut().enumerate() {
            if left == 0 {
                break;
            }
            let code = WINDOW as u8 - v as u8;
            let mut here = 0;
            for c in codes {
                here += u8::from(*c == code);
            }
            (*count, left) = (*count + u64::from(here), left - here);
        }
        let next = WINDOW as u8 - self.first.len() as u8;
        // Zeros are heaps beyond the limit, not values.
        // Without a stop at each heap, this is done in vectors.
        let mut is_new = false;
        for c in codes {
            is_new |= c.wrapping_sub(1) < next;
        }
        if is_new {
            self.add_first(n, codes);
        }
    }

    /// Records the values that occur for the first time.
    #[inline(never)]
    fn add_first(&mut self, n: usize, codes: &[u8; LANES]) {
        // After the last value that has a code, the next code would be that of the padding.
        while self.first.len() < WINDOW {
            let code = (WINDOW - self.first.len()) as u8;
            let Some(i) = codes.iter().position(|c| *c == code) else { return };
            self.first.push((n + i) as u64);
            self.counts.push(codes.iter().filter(|c| **c == code).count() as u64);
        }
    }
}

impl Operation for MexRecords {
    type Input = Records;
    type Output = Output;
    type Start = Start;

    const NAME: &'static str = "mex_records";
    const CORE: Core = Core::Mex;
    const UNIT: &'static str = "heap";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { MexRecords, start;
        table = table in by_heap, Portable, [], "a table of all values; for each heap, a mask of the values it reaches", needs;
        masks = masks in by_heap like table, Portable, [], "the same masks over a history as long as the largest move";
        masks_avx2 = masks in by_heap like masks, Avx2, ["avx2"], "the same source at this tier, with its shift and zero-count instructions";
        ring_lanes = ring_lanes in ring with lanes::plain, Portable, [], "64 heaps as byte lanes; one-hot planes by arithmetic, then a chain through the heaps", needs;
        ring_lanes_avx2 = ring_lanes in ring with lanes::avx2 like ring_lanes, Avx2, ["avx2"], "planes by four-bit lookups";
        ring_lanes_avx512 = ring_lanes in ring with lanes::avx512 like ring_lanes, Avx512, ["avx512"], "planes by byte permutes and shifts", needs;
        ring_lanes_neon = ring_lanes in ring with lanes::v128 like ring_lanes, Neon, ["neon"], "planes by lookups of sixteen codes";
        ring_lanes_simd128 = ring_lanes in ring with lanes::v128 like ring_lanes, Simd128, ["simd128"], "planes by lookups of sixteen codes";
        guess_lanes = guess_lanes in guess with guess::plain like ring_lanes, Portable, [], "blocks guessed by a period found on the way, verified in lanes, computed where wrong";
        guess_lanes_avx2 = guess_lanes in guess with guess::avx2 like guess_lanes, Avx2, ["avx2"], "planes by four-bit lookups";
        guess_lanes_avx512 = guess_lanes in guess with guess::avx512 like guess_lanes, Avx512, ["avx512"], "planes by byte permutes";
        guess_lanes_neon = guess_lanes in guess with guess::v128 like guess_lanes, Neon, ["neon"], "planes by lookups of sixteen codes";
        guess_lanes_simd128 = guess_lanes in guess with guess::v128 like guess_lanes, Simd128, ["simd128"], "planes by lookups of sixteen codes";
        compressed_lanes = compressed_lanes in guess with guess::plain like guess_lanes, Portable, [], "the same over a compressed history, with moves beyond its window unpacked as the run goes";
        compressed_lanes_avx2 = compressed_lanes in guess with guess::avx2 like compressed_lanes, Avx2, ["avx2"], "planes by four-bit lookups";
        compressed_lanes_avx512 = compressed_lanes in guess with guess::avx512 like compressed_lanes, Avx512, ["avx512"], "planes by byte permutes";
        compressed_lanes_neon = compressed_lanes in guess with guess::v128 like compressed_lanes, Neon, ["neon"], "planes by lookups of sixteen codes";
        compressed_lanes_simd128 = compressed_lanes in guess with guess::v128 like compressed_lanes, Simd128, ["simd128"], "planes by lookups of sixteen codes";
        residue_classes = residue_classes in by_heap with residues::plain, Portable, [], "many moves, few of them even, such as the primes: nearly all heaps of a value are in one residue class";
        residue_classes_avx2 = residue_classes in by_heap with residues::avx2 like residue_classes, Avx2, ["avx2"], "the same source at this tier";
    };
    const ABSENT: &'static [(&'static str, &'static str)] =
        &[("bitvec", "the values that a heap reaches fit in one word, and nothing else is a set of bits")];
    const PUBLIC: &'static [&'static str] = &["table"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("rates.tsv");

    fn oracle(input: &Records) -> Output {
        let moves: Vec<usize> = input.set.up_to(input.limit).iter().map(|m| *m as usize).collect();
        let mut output = Output::default();
        let mut codes = vec![0; input.heaps().next_multiple_of(LANES)];
        for (n, v) in oracle::values(&moves, input.heaps()).into_iter().enumerate() {
            if v == output.first.len() {
                output.first.push(n as u64);
                output.counts.push(0);
            }
            output.counts[v] += 1;
            codes[n] = (WINDOW - v) as u8;
        }
        for eight in codes.as_chunks().0 {
            output.fingerprint = hashed(output.fingerprint, *eight);
        }
        output
    }

    fn steps(input: &Records) -> u64 {
        input.heaps() as u64
    }

    fn digest(output: &Output) -> Digest {
        let last = output.first.last().copied().unwrap_or(0);
        let zeros = output.counts.first().copied().unwrap_or(0);
        vec![
            ("values", output.first.len() as u128),
            ("last", last.into()),
            ("zeros", zeros.into()),
            ("fingerprint", output.fingerprint.into()),
        ]
    }
}

/// A set that is timed at the published size alone.
const fn set(name: &'static str, summary: &'static str) -> Workload {
    workload(name, summary, 10_000_000, &[10_000_000])
}

impl Workloads for MexRecords {
    const WORKLOADS: &'static [Workload] = &[
        workload(
            "factorials",
            "take a factorial; size = the largest heap",
            10_000_000,
            &[10, 100, 100_000, 10_000_000],
        ),
        set("fibonacci", "take a Fibonacci number; size = the largest heap"),
        set("primes", "take a prime; size = the largest heap"),
        set("2,7,19,50", "take 2, 7, 19 or 50; size = the largest heap"),
    ];

    fn canonical(workload: &str) -> Result<String, InputError> {
        Ok(workload.parse::<MoveSet>()?.canonical().to_string())
    }

    fn input(workload: &str, size: u64, _: &Selection) -> Result<Records, InputError> {
        Records::new(&workload.parse()?, size)
    }
}
