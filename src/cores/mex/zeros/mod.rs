//! `mex_zeros`: the P-positions of a subtraction set, without its other Grundy values.
//!
//! A heap of `n` is a P-position (its Grundy value is 0) if no move leads to a P-position. So other values are not needed. Go
//! through the heaps in order: a heap that no P-position has hit is a P-position, and hits the heaps a move above it. This is a
//! sieve.
//!
//! Eppstein ("Faster Evaluation of Subtraction Games", FUN 2018) computed the squares up to 2^30. That there are about `N^0.7`
//! P-positions is observed, not proved. A run of hours can save its progress to a file and resume: see [`Progress::write`].
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use std::ops::Deref;
use std::sync::OnceLock;

use super::subtraction::Subtraction;
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads, workload};
use crate::kernel::{Core, Digest, KernelDef, Operation, Run, kernels};
use crate::machine::Machine;
use crate::moves::MoveSet;
use crate::text::numbers::indexable;

mod checkpoint;
mod modulus;
mod or_rows;
mod residue_rows;
mod shifted_rows;
mod sieves;

pub use checkpoint::{Journal, Progress, Start};
use modulus::Plan;
use shifted_rows::BLOCK;

/// The largest limit. A row of 2^40 heaps takes 128 GiB.
pub const MAX_LIMIT: u64 = indexable(1 << 40);

/// A subtraction set and a limit, for P-positions alone. Counts and estimates are those of [`Subtraction`].
#[derive(Clone, Debug)]
pub struct Zeros {
    game: Subtraction,
    is_resumable: bool,
    /// Found when a kernel first asks for it.
    plan: OnceLock<Plan>,
}

impl Deref for Zeros {
    type Target = Subtraction;

    fn deref(&self) -> &Subtraction {
        &self.game
    }
}

impl Zeros {
    /// The heaps `0..=limit` of `set`.
    ///
    /// # Errors
    /// The limit is above [`MAX_LIMIT`], or the moves up to it do not fit in the memory of `machine`.
    pub fn new(set: &MoveSet, limit: u64, machine: &Machine) -> Result<Self, InputError> {
        Subtraction::up_to::<MexZeros>(set, limit, MAX_LIMIT, machine).map(Zeros::from)
    }

    /// The same input for a run that can be resumed, which requires a kernel that starts from earlier P-positions.
    #[must_use]
    pub fn resumable(self) -> Self {
        Zeros { is_resumable: true, ..self }
    }

    /// The same input with a given modulus.
    #[cfg(test)]
    fn split_by(self, modulus: usize) -> Self {
        Zeros { plan: OnceLock::from(Plan { modulus, share: 1.0 }), ..self }
    }

    /// How to split the heaps into classes.
    fn plan(&self) -> Plan {
        *self.plan.get_or_init(|| {
            let first = modulus::first_heaps(self.heaps()).map(|heaps| Zeros::from(self.game.first(heaps)));
            let find = |first| shifted_rows::run(first, &Run::new(1), Start::default(), or_rows::plain::parts()).ok();
            let zeros = first.as_ref().and_then(find);
            let (Some(first), Some(zeros)) = (first, zeros) else { return Plan::ONE };
            let density = (BLOCK as f64 * self.zeros()) / self.heaps() as f64;
            let allowed = self.pairs() / self.heaps() as f64;
            modulus::plan(&zeros, first.moves(), density, allowed)
        })
    }
}

impl From<Subtraction> for Zeros {
    fn from(game: Subtraction) -> Self {
        Zeros { game, is_resumable: false, plan: OnceLock::new() }
    }
}

/// The P-positions among the heaps `0..=limit` of a subtraction set, ascending.
#[derive(Debug)]
pub struct MexZeros;

/// A workload is any subtraction set, named as for [`MexSubtraction`](super::subtraction::MexSubtraction).
impl Operation for MexZeros {
    type Input = Zeros;
    type Output = Vec<u64>;
    type Start = Start;

    const NAME: &'static str = "mex_zeros";
    const CORE: Core = Core::Mex;
    const UNIT: &'static str = "heap";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { MexZeros, start;
        byte_sieve = byte_sieve in sieves, Portable, [], "the baseline: one byte per heap; each P-position hits the heaps above it", needs;
        bit_sieve = bit_sieve in sieves like byte_sieve, Portable, [], "the same with one bit per heap";
        shifted_rows = shifted_rows with or_rows::plain, Portable, [], "each move ORs the shifted row of P-positions into a block of heaps", needs;
        shifted_rows_avx2 = shifted_rows with or_rows::plain like shifted_rows, Avx2, ["avx2"], "the same source at this tier", needs;
        shifted_rows_avx512 = shifted_rows with or_rows::avx512 like shifted_rows, Avx512, ["avx512"], "the same, 8192 heaps in sixteen registers", needs_avx512;
        shifted_rows_neon = shifted_rows with or_rows::v128 like shifted_rows, Neon, ["neon"], "the same, 2048 heaps in sixteen registers";
        shifted_rows_simd128 = shifted_rows with or_rows::v128 like shifted_rows, Simd128, ["simd128"], "the same, 1024 heaps in eight registers";
        residue_rows = residue_rows with or_rows::plain like shifted_rows, Portable, [], "the same by residue classes, for a modulus found from the first P-positions";
        residue_rows_avx2 = residue_rows with or_rows::plain like residue_rows, Avx2, ["avx2"], "the same source at this tier";
        residue_rows_avx512 = residue_rows with or_rows::avx512 like residue_rows, Avx512, ["avx512"], "the same with rows as in shifted_rows_avx512";
    };
    const PUBLIC: &'static [&'static str] = &["byte_sieve"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("../rates.tsv");

    fn input_bytes(input: &Zeros) -> f64 {
        input.copied_moves()
    }

    fn oracle(input: &Zeros) -> Vec<u64> {
        let mut is_zero = Vec::new();
        for n in 0..=input.limit() {
            is_zero.push(!input.moves().iter().take_while(|m| **m <= n).any(|m| is_zero[(n - m) as usize]));
        }
        (0..=input.limit()).filter(|n| is_zero[*n as usize]).collect()
    }

    fn steps(input: &Zeros) -> u64 {
        input.heaps() as u64
    }

    fn digest(zeros: &Vec<u64>) -> Digest {
        let sum = zeros.iter().map(|n| u128::from(*n)).sum();
        vec![("zeros", zeros.len() as u128), ("last", zeros.last().copied().unwrap_or(0).into()), ("sum", sum)]
    }
}

impl Workloads for MexZeros {
    const WORKLOADS: &'static [Workload] = &[
        workload("squares", "take a square number; size = the largest heap", 1 << 20, &[10, 100, 1 << 16, 1 << 20]),
        workload("triangular", "take a triangular number; size = the largest heap", 1 << 20, &[1 << 20]),
        workload("primes", "take a prime; size = the largest heap", 1 << 16, &[1 << 16]),
    ];

    fn canonical(workload: &str) -> Result<String, InputError> {
        Ok(workload.parse::<MoveSet>()?.canonical().to_string())
    }

    fn input(workload: &str, size: u64, selection: &Selection) -> Result<Zeros, InputError> {
        Zeros::new(&workload.parse()?, size, selection.machine())
    }
}
