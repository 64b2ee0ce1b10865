//! `bit_rows` on the crate `bitvec`, reading the raw words of its rows. This is the fair form: a slice at a bit offset
//! can be searched (`first_zero`), but the OR of two such slices proceeds bit by bit.
//!
//! Cost: `0.3 M / 64` words of four rows for each of `0.24 M` positions.
//! Bound: as in `bit_rows`; only setting and testing a bit differ.

use bitvec::prelude::{BitVec, Lsb0};

use super::bit_rows::first_free;
use super::lines::scan;
use super::rows::{BitRow, Rows, bytes};
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, CostContext, Run, RunError};

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

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let limit = input.limit() as f64;
    input.published(120.0 + 4.0 * limit + 0.0015 * limit * limit, bytes(input.limit()))
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, |rows: &mut Rows<Bits>, n, candidates| rows.scan::<1>(n, *candidates.end(), first_free))
}
