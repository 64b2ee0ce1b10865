//! `bit_rows` on the crate `bitvec`: marks are set and searched through it. In the fair form, [`raw_words`], windows are read from its
//! raw words. In the tempting one, [`operators`], kept as a lesson, windows are slices that begin at the hint itself, combined with
//! `|=` and searched with `first_zero`. It is several times as expensive: the operator splits both slices at word edges and handles
//! the partial words one by one.
//!
//! Cost: the windows of `bit_rows`, of 64 candidates each.
//! Bound: as in `bit_rows`, where only setting a bit and finding a zero differ; of the operators, the instructions of that
//! bookkeeping, at every size.

use bitvec::prelude::{BitArray, BitSlice, BitVec, Lsb0};

use super::bit_rows::Shape;
pub use super::bit_rows::cost;
use super::layers::{MarkTable, Search, Visit, scan};
use super::{Positions, StoneGame};
use crate::kernel::{Run, RunError};
use crate::simd::bits::WORD;
use crate::simd::vectors::plain;

pub struct Bits {
    shape: Shape,
    bits: BitVec<u64, Lsb0>,
}

impl MarkTable for Bits {
    fn new(rows: usize, heaps: usize) -> Self {
        let shape = Shape::new(rows, heaps);
        Bits { shape, bits: BitVec::from_vec(shape.words()) }
    }

    #[inline(always)]
    fn mark(&mut self, row: usize, place: usize) {
        self.bits.set(self.shape.bit(row, place), true);
    }

    #[inline(always)]
    fn next_free(&self, row: usize, place: usize) -> usize {
        let rest = &self.bits[self.shape.bit(row, place)..];
        place + rest.first_zero().expect("a row has a place without a mark")
    }
}

pub fn run(input: &StoneGame, run: &Run, search: impl Search<Bits>) -> Result<Positions, RunError> {
    scan(input, run, search)
}

/// Windows as raw words.
pub mod raw_words {
    use super::*;

    struct FirstFree;

    impl Search<Bits> for FirstFree {
        #[inline(always)]
        fn first_free(&self, marks: &Bits, visit: &Visit) -> usize {
            marks.shape.first_free(marks.bits.as_raw_slice(), visit, plain::parts())
        }
    }

    pub fn parts() -> impl Search<Bits> {
        FirstFree
    }
}

/// Windows as slices.
pub mod operators {
    use super::*;

    /// The only call of the operator, so that it is compiled for windows of this length: called in a loop that the compiler unrolls, it
    /// takes twice as long.
    #[inline(never)]
    fn add(forbidden: &mut BitArray<u64>, bits: &BitSlice<u64>, start: usize) {
        *forbidden.as_mut_bitslice() |= &bits[start..][..WORD];
    }

    struct FirstFree;

    impl Search<Bits> for FirstFree {
        #[inline(always)]
        fn first_free(&self, marks: &Bits, visit: &Visit) -> usize {
            let &Visit { heaps, x, y, from, at_z, less_x, less_y } = visit;
            let [one_x, one_y, two] = at_z;
            let [gap_y, all] = less_x;
            let mut z = from;
            while z < heaps {
                let mut forbidden = BitArray::<u64, Lsb0>::ZERO;
                for (row, place) in [(one_x, z), (one_y, z), (two, z), (gap_y, z - x), (all, z - x), (less_y, z - y)] {
                    add(&mut forbidden, &marks.bits, marks.shape.bit(row, place));
                }
                match forbidden.first_zero() {
                    Some(found) => return z + found,
                    None => z += WORD,
                }
            }
            z
        }
    }

    pub fn parts() -> impl Search<Bits> {
        FirstFree
    }
}
