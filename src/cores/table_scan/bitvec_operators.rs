//! The tempting form of `bitvec_rows`, kept as a lesson: windows are slices, combined with `|=` and searched with
//! `first_zero`.
//!
//! Cost: windows of 64 candidates as in `bit_rows`, but starting at the hint itself, and several times as expensive:
//! the operator splits both slices at word edges and handles the partial words one by one.
//! Bound: the instructions of that bookkeeping, at every size.

use bitvec::array::BitArray;
use bitvec::order::Lsb0;

use super::bit_rows::bytes;
use super::bitvec_rows::Bits;
use super::layers::{Visit, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::WORD;

fn first_free(marks: &Bits, &Visit { heaps, x, y, from, at_z, less_x, less_y }: &Visit) -> usize {
    let [one_x, one_y, two] = at_z;
    let [gap_y, all] = less_x;
    let mut z = from;
    while z < heaps {
        let mut forbidden = BitArray::<u64, Lsb0>::ZERO;
        for (row, place) in [(one_x, z), (one_y, z), (two, z), (gap_y, z - x), (all, z - x), (less_y, z - y)] {
            let start = marks.shape.bit(row, place);
            *forbidden.as_mut_bitslice() |= &marks.bits[start..][..WORD];
        }
        match forbidden.first_zero() {
            Some(found) => return z + found,
            None => z += WORD,
        }
    }
    z
}

pub fn cost(input: &StoneGame, _: CostContext) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.0134 * n * n * n + 12.5 * n * n, bytes: bytes(input) }
}

pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, first_free)
}
