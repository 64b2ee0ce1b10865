//! The tempting form of `bitvec_rows`, kept as a lesson: windows are slices, combined with `|=` and searched with
//! `first_zero`.
//!
//! Cost: the windows of `bit_rows`, each several times as dear: the operator splits both slices at word edges and handles the
//! parts of words one by one.
//! Bound: instructions of that bookkeeping, at every size.

use bitvec::array::BitArray;
use bitvec::order::Lsb0;

use super::bitvec_rows::Bits;
use super::layers::{bytes, scan};
use super::{Sink, StoneGame};
use crate::bits::WORD;
use crate::kernel::{Cost, On, Run, Stop};

fn first_free(marks: &Bits, rows: [usize; 6]) -> usize {
    let mut forbidden = BitArray::<u64, Lsb0>::ZERO;
    for place in rows {
        *forbidden.as_mut_bitslice() |= &marks.0[place..][..WORD];
    }
    forbidden.first_zero().unwrap_or(WORD)
}

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.016 * n * n * n + 8.0 * n * n, bytes: bytes(input, 1.0) }
}

pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    scan::<WORD, _, S>(input, run, first_free)
}
