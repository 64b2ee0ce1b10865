//! [`super::near_sum`] with eight cells of 16 bits at once. `ushl` shifts lanes of any width, but reads only the low byte of a
//! count, and as a signed number: a minimum makes all counts outside the window 16, which shifts the bit out.
//!
//! Cost: `n^2 / 2` splits; five instructions and two loads for 8 pairs, seven instructions and two loads for 8 lookups.
//! Bound (llvm-mca, Neoverse V2): the vector ports, 2.1 cycles for 8 pairs and 2.3 for 8 lookups.

use std::arch::aarch64::*;

use super::Split;
use super::near_sum::{drive, near_sum, start};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::neon::load;

pub fn cost(input: &Split, _: CostContext) -> Cost {
    near_sum::<u16>(input, 30.0, 0.15, LANES)
}

const LANES: usize = 8;
/// Vectors between two checks for a hit.
const BURST: usize = 16;

/// Half of the number of each lane, rounded down and rounded up.
const HALVES: [[u16; LANES]; 2] = [[0, 0, 1, 1, 2, 2, 3, 3], [0, 1, 1, 2, 2, 3, 3, 4]];

/// The window with only this bit set in each lane; empty if it has no such bit.
#[inline]
#[target_feature(enable = "neon")]
fn bit(at: uint16x8_t) -> uint16x8_t {
    vshlq_u16(vdupq_n_u16(1), vreinterpretq_s16_u16(vminq_u16(at, vdupq_n_u16(16))))
}

#[target_feature(enable = "neon")]
pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    let any = |lanes| vmaxvq_u16(lanes) != 0;
    drive::<u16, LANES>(
        input,
        run,
        |small, large, start| {
            let start = vdupq_n_u16(start as u16);
            let mut window = vdupq_n_u16(0);
            for (a, b) in small.as_chunks::<LANES>().0.iter().zip(large.as_chunks::<LANES>().0) {
                window = vorrq_u16(window, bit(vsubq_u16(veorq_u16(load(a), load(b)), start)));
            }
            let words = vreinterpretq_u64_u16(window);
            let folded = vgetq_lane_u64::<0>(words) | vgetq_lane_u64::<1>(words);
            let folded = folded | folded >> 32;
            (folded | folded >> 16) as u16
        },
        |values, windows, g, first| {
            let g = vdupq_n_u16(g as u16);
            // The window of sum first - i starts half of i before that of first, rounded according to the parity of first.
            let mut starts = vsubq_u16(vdupq_n_u16(start::<u16>(first) as u16), load(&HALVES[(first + 1) % 2]));
            let step = vdupq_n_u16((LANES / 2) as u16);
            let (values, windows) = (values.as_chunks::<LANES>().0, windows.as_chunks::<LANES>().0);
            values.chunks(BURST).zip(windows.chunks(BURST)).any(|(values, windows)| {
                let mut found = vdupq_n_u16(0);
                for (value, window) in values.iter().zip(windows) {
                    let at = vsubq_u16(veorq_u16(g, load(value)), starts);
                    found = vorrq_u16(found, vandq_u16(load(window), bit(at)));
                    starts = vsubq_u16(starts, step);
                }
                any(found)
            })
        },
        |small, large, h| {
            let h = vdupq_n_u16(h as u16);
            let (small, large) = (small.as_chunks::<LANES>().0, large.as_chunks::<LANES>().0);
            small.iter().zip(large).any(|(a, b)| any(vceqq_u16(veorq_u16(load(a), load(b)), h)))
        },
    )
}
