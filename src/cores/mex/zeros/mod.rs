//! `mex_zeros`: the P-positions of a subtraction set, without its other Grundy values.
//!
//! A heap of `n` is a P-position (its Grundy value is 0) if no move leads to a P-position. So other values are not needed. Go
//! through the heaps in order: a heap that no P-position has hit is a P-position, and hits the heaps a move above it. This is a
//! sieve.
//!
//! Eppstein ("Faster Evaluation of Subtraction Games", FUN 2018) computed the squares up to 2^30. That there are about `N^0.7`
//! P-positions is observed, not proved.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use super::subtraction::Subtraction;
use crate::kernel::{Absent, Core, Digest, KernelDef, Operation, kernels};
use crate::selection::Selection;
use crate::workload::{InputError, Workload, Workloads};

mod bit_sieve;
#[cfg(feature = "bitvec")]
mod bitvec_sieve;
mod byte_sieve;
mod rows;
mod segmented_sieve;
mod shifted_rows;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod shifted_rows_avx512;
#[cfg(feature = "wide")]
mod shifted_rows_wide;
mod sieve;

/// The P-positions among the heaps `0..=limit` of a subtraction set, ascending.
#[derive(Debug)]
pub struct MexZeros;

/// A workload is any subtraction set, named as for [`MexSubtraction`](super::subtraction::MexSubtraction).
impl Operation for MexZeros {
    type Input = Subtraction;
    type Output = Vec<u64>;
    type Start = ();

    const NAME: &'static str = "mex_zeros";
    const CORE: Core = Core::Mex;
    const UNIT: &'static str = "heap";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { MexZeros, [];
        byte_sieve = byte_sieve, Portable, [], "the baseline: one byte per heap; each P-position hits the heaps above it", needs;
        bit_sieve = bit_sieve like byte_sieve, Portable, [], "the same with one bit per heap";
        bitvec_sieve = bitvec_sieve like byte_sieve, Portable, ["bitvec"], "the same with bitvec";
        segmented_sieve = segmented_sieve, Portable, [], "one bit per heap, in segments that stay in L2";
        shifted_rows = shifted_rows, Portable, [], "each move ORs the shifted row of P-positions into a block of heaps", needs;
        shifted_rows_wide = shifted_rows_wide like shifted_rows, Portable, ["wide"], "the same with wide's vectors";
        shifted_rows_avx2 = shifted_rows like shifted_rows, Avx2, ["avx2"], "the same source at this tier", needs;
        shifted_rows_avx512 = shifted_rows_avx512 like shifted_rows, Avx512, ["avx512"], "the same, 8192 heaps in sixteen registers", needs;
    };
    const ABSENT: &'static [Absent] = &[];
    const PUBLIC: &'static [&'static str] = &["byte_sieve"];
    const NOTES: &'static str = include_str!("NOTES.md");

    fn input_bytes(input: &Subtraction) -> f64 {
        input.copied_moves()
    }

    fn oracle(input: &Subtraction) -> Vec<u64> {
        let mut is_zero = Vec::new();
        for n in 0..=input.limit() {
            let reached = input.moves().iter().take_while(|m| **m <= n).any(|m| is_zero[(n - m) as usize]);
            is_zero.push(!reached);
        }
        (0..).zip(is_zero).filter(|(_, is_zero)| *is_zero).map(|(n, _)| n).collect()
    }

    fn steps(input: &Subtraction) -> u64 {
        input.heaps() as u64
    }

    fn work(input: &Subtraction, _: &Vec<u64>) -> u64 {
        input.heaps() as u64
    }

    fn digest(zeros: &Vec<u64>) -> Digest {
        let sum = zeros.iter().map(|n| u128::from(*n)).sum();
        vec![("zeros", zeros.len() as u128), ("last", zeros.last().copied().unwrap_or(0).into()), ("sum", sum)]
    }
}

impl Workloads for MexZeros {
    const WORKLOADS: &'static [Workload] = &[
        Workload {
            name: "squares",
            summary: "take a square number; size = the largest heap",
            published: 1 << 20,
            sizes: &[10, 100, 1 << 16, 1 << 20],
        },
        Workload {
            name: "triangular",
            summary: "take a triangular number; size = the largest heap",
            published: 1 << 20,
            sizes: &[1 << 20],
        },
        Workload {
            name: "primes",
            summary: "take a prime; size = the largest heap",
            published: 1 << 16,
            sizes: &[1 << 16],
        },
    ];

    fn input(workload: &str, size: u64, selection: &Selection) -> Result<Subtraction, InputError> {
        Subtraction::for_operation::<Self>(&workload.parse()?, size, selection.machine())
    }
}
