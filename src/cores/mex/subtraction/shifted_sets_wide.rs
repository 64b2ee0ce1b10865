//! [`super::shifted_sets`] with `wide`'s vectors: an OR of bytes is natural at every width.
//!
//! Cost per shifted set: 512 bytes of loads and ORs in the vectors of the build.
//! Bound: the loads, which split lines.

use wide::u8x64;

use super::Subtraction;
use super::shifted_sets::{Bits, Shifted, TILE, cost_of, drive};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    cost_of(input, 11.5)
}

#[inline(always)]
fn forbid(sets: &Shifted, heaps: &[usize], start: usize, reached: &mut Bits) {
    let vectors = |bits: &Bits| -> [u8x64; TILE / 512] { std::array::from_fn(|i| u8x64::new(bits.as_chunks().0[i])) };
    let mut sum = vectors(reached);
    for heap in heaps {
        let reaching = vectors(sets.reaching(*heap, start));
        sum = std::array::from_fn(|i| sum[i] | reaching[i]);
    }
    for (bytes, sum) in reached.as_chunks_mut().0.iter_mut().zip(sum) {
        *bytes = sum.to_array();
    }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    drive(input, run, forbid)
}
