//! [`super::near_sum`] with eight cells of 16 bits at once.
//!
//! Cost: `n^2 / 2` splits; with NEON five instructions and two loads for 8 pairs, seven instructions and two loads for 8 lookups; two
//! more of each where a bit is looked up.
//! Bound (llvm-mca, Neoverse V2): the vector ports, 2.1 cycles for 8 pairs and 2.3 for 8 lookups.

use std::ops::BitOr;

use super::Split;
use super::near_sum::{cost_of, drive, start};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::v128::{Vector, any, load, one_bit, store};

/// Rates: as in [`near_sum`](super::near_sum::cost).
pub fn cost(input: &Split, _: CostContext, rates: [f64; 2]) -> Cost {
    cost_of::<u16, LANES>(input, rates)
}

const LANES: usize = 8;
/// Vectors between two checks for a hit.
const BURST: usize = 16;

/// Half of the number of each lane, rounded down and rounded up.
const HALVES: [[u16; LANES]; 2] = [[0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 1, 2, 2, 3, 3, 4]];

pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    drive::<u16, LANES>(
        input,
        run,
        |small, large, start| {
            let start = Vector::splat(start as u16);
            let mut window = Vector::splat(0);
            for (a, b) in small.as_chunks::<LANES>().0.iter().zip(large.as_chunks::<LANES>().0) {
                window |= one_bit((load(a) ^ load(b)) - start);
            }
            let mut lanes = [0; LANES];
            store(&mut lanes, window);
            lanes.into_iter().fold(0, BitOr::bitor)
        },
        |values, windows, g, first| {
            let g = Vector::splat(g as u16);
            // The window of sum first - i starts half of i before that of first, rounded according to the parity of first.
            let mut starts = Vector::splat(start::<u16>(first) as u16) - load(&HALVES[(first + 1) % 2]);
            let step = Vector::splat((LANES / 2) as u16);
            let (values, windows) = (values.as_chunks::<LANES>().0, windows.as_chunks::<LANES>().0);
            values.chunks(BURST).zip(windows.chunks(BURST)).any(|(values, windows)| {
                let mut found = Vector::splat(0);
                for (value, window) in values.iter().zip(windows) {
                    found |= load(window) & one_bit((g ^ load(value)) - starts);
                    starts = starts - step;
                }
                any(found)
            })
        },
        |small, large, h| {
            let h = Vector::splat(h as u16);
            let (small, large) = (small.as_chunks::<LANES>().0, large.as_chunks::<LANES>().0);
            small.iter().zip(large).any(|(a, b)| any((load(a) ^ load(b)).equal(h)))
        },
    )
}
