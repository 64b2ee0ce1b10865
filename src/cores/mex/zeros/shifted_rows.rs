//! Shifted rows in plain Rust: loops over the bytes of the rows, vectorised by the compiler.
//!
//! Cost per move and line of 512 heaps: a load, an OR and a store for each vector of the tier.
//! Bound: these loads and stores, most of which touch two cache lines.

use super::Zeros;
use super::checkpoint::Start;
use super::rows::{self, LINE};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError, Tier};

pub fn cost(input: &Zeros, context: CostContext) -> Cost {
    rows::cost(input, if context.tier == Tier::Portable { 1.05 } else { 0.75 })
}

/// A load and an OR for each move and line of 512 heaps.
pub fn needs(input: &Zeros) -> Needs {
    let lines = rows::lines(input);
    Needs { split_loads: lines, logic: lines, bytes: input.heaps() as f64 / 8.0, ..Needs::default() }
}

#[inline(always)]
pub fn carry(row: &[u8], at: usize, back: &[usize], hits: &mut [u8]) {
    for (l, line) in hits.as_chunks_mut::<LINE>().0.iter_mut().enumerate() {
        let at = at + l * LINE;
        // Stays in registers, if there are enough.
        let mut sum = *line;
        for back in back {
            let source: &[u8; LINE] = row[at - back..].first_chunk().expect("the row has one more line");
            for (sum, source) in sum.iter_mut().zip(source) {
                *sum |= source;
            }
        }
        *line = sum;
    }
}

#[inline(always)]
pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
    start.at_zero()?;
    rows::drive(input, run, carry)
}
