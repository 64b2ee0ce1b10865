//! [`super::open_values`] with one `BitVec` per row, through the crate's own indexing.
//!
//! Cost and bound: as in `open_values`; `bitvec` also decodes its bit pointers at every access.

use bitvec::prelude::{BitVec, Lsb0, bitvec};

use super::Split;
use super::open_values::{self, PairSets, drive, row_bits};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: as in [`open_values`].
pub fn cost(input: &Split, context: CostContext, rates: [f64; 2]) -> Cost {
    let Cost { ns, bytes } = open_values::cost(input, context, rates);
    // Each row is a separate list, with a header of three words instead of one word of padding.
    Cost { ns, bytes: bytes + 16.0 * (input.limit() as f64 + 1.0) }
}

impl PairSets for Vec<BitVec<u64, Lsb0>> {
    fn insert(&mut self, sum: usize, nim_sum: usize) {
        self[sum].set(nim_sum, true);
    }

    fn contains(&self, sum: usize, nim_sum: usize) -> bool {
        self[sum][nim_sum]
    }
}

pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    drive(input, run, vec![bitvec![u64, Lsb0; 0; row_bits(input)]; input.limit() + 1])
}
