//! `bit_rows` on the crate `bitvec`, reading the raw words of its rows. This is the fair form: a slice at a bit offset
//! can be searched (`first_zero`), but the OR of two such slices proceeds bit by bit.
//!
//! Cost: `0.3 M / 64` words of four rows for each of `0.24 M` positions.
//! Bound: as in `bit_rows`; only setting and testing a bit differ.

use bitvec::prelude::{BitVec, Lsb0};

pub use super::bit_rows::cost;
use super::lines::{drive, every};
use super::rows::{BitRow, Rows, Scanned};
use super::{Positions, ProportionateNim};
use crate::kernel::{Run, RunError};
use crate::simd::vectors::plain;

type Bits = BitVec<u64, Lsb0>;

impl BitRow for Bits {
    fn zeros(bits: usize) -> Self {
        BitVec::repeat(false, bits)
    }

    #[inline(always)]
    fn set(&mut self, bit: usize) {
        self.as_mut_bitslice().set(bit, true);
    }

    #[inline(always)]
    fn get(&self, bit: usize) -> bool {
        self[bit]
    }

    #[inline(always)]
    fn words(&self) -> &[u64] {
        self.as_raw_slice()
    }
}

pub fn run(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
    let rows: Rows<Bits> = Rows::new(input.limit() as usize);
    drive(input, run, Scanned { rows, vectors: plain::parts() }, every::parts())
}
