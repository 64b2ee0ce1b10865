//! Shifted rows with `wide`'s vectors.
//!
//! Cost per move and line of 512 heaps: a load and an OR for each vector of the build (four in a default build).
//! Bound: these loads, most of which touch two cache lines.

use wide::u8x64;

use super::Zeros;
use super::checkpoint::Start;
use super::rows::{self, LINE};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Zeros, _: CostContext) -> Cost {
    rows::cost(input, if cfg!(target_feature = "avx512bw") { 0.75 } else { 1.05 })
}

#[inline(always)]
pub fn carry(row: &[u8], at: usize, back: &[usize], hits: &mut [u8]) {
    for (l, line) in hits.as_chunks_mut::<LINE>().0.iter_mut().enumerate() {
        let at = at + l * LINE;
        let mut sum = u8x64::new(*line);
        for back in back {
            sum |= u8x64::new(*row[at - back..].first_chunk().expect("the row has one more line"));
        }
        *line = sum.to_array();
    }
}

#[inline(always)]
pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
    start.at_zero()?;
    rows::drive(input, run, carry)
}
