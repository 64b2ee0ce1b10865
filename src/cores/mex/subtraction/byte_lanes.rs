//! Byte lanes in plain Rust: arithmetic on arrays of 64 bytes gives the one-hot bits of each plane.
//!
//! Cost per block, move and plane: a handful of byte operations on 64 lanes. The number of instructions depends on how the
//! compiler vectorises the loops.
//! Bound: these operations.

use super::Subtraction;
use super::lanes::{self, LANES, Planes, Sources, WINDOW};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    lanes::cost(input, 2.6, 2.6, 2.5)
}

/// A comparison, an AND and an OR for each move and plane of 64 heaps.
pub fn needs(input: &Subtraction) -> Needs {
    Needs { logic: 3.0 * lanes::planes(input), ..Needs::default() }
}

#[inline(always)]
pub fn accumulate(from: Sources, moves: &[usize], planes: usize, hits: &mut [Planes]) {
    for (from, hits) in from.blocks(hits) {
        for m in moves {
            let codes = from.behind(*m);
            // The bit within the plane, and the plane. Code 0 becomes value 63, which the driver ignores.
            let mut bit = [0u8; LANES];
            let mut plane = [0u8; LANES];
            for i in 0..LANES {
                let value = WINDOW as u8 - codes[i];
                (bit[i], plane[i]) = (1 << (value % 8), value / 8);
            }
            for (p, hits) in hits[..planes].iter_mut().enumerate() {
                for i in 0..LANES {
                    hits[i] |= if plane[i] == p as u8 { bit[i] } else { 0 };
                }
            }
        }
    }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    lanes::drive(input, run, accumulate, lanes::free_words)
}
