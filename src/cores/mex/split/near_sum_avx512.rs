//! [`super::near_sum`] with 32 cells of 16 bits at once. A window of 16 nim-sums is wide enough. `vpsllvw` and `vpsrlvw` give 0
//! for bits outside the window, so no comparison is needed. Values above 16 bits are outside the domain.
//!
//! Cost: `n^2 / 2` splits; four instructions and two loads for 32 pairs, five instructions and two loads for 32 lookups.
//! Bound: the vector ports; up to `n` = 1000, most of the time goes to the ends of the loops.

use std::arch::x86_64::*;

use super::Split;
use super::near_sum::{cost_of, drive, start};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::avx512::load;

/// Rates: as in [`near_sum`](super::near_sum::cost).
pub fn cost(input: &Split, _: CostContext, rates: [f64; 2]) -> Cost {
    cost_of::<u16, LANES>(input, rates)
}

/// Four operations per vector of pairs, of which a size has `n / 4` on average, and five per vector of lookups.
pub fn needs(input: &Split) -> Needs {
    let vectors = |cells: f64| cells / LANES as f64;
    let n = input.limit() as f64;
    Needs { logic: 4.0 * vectors(n / 4.0) + 5.0 * vectors(n / 5.0), ..Needs::default() }
}

const LANES: usize = 32;
/// Vectors between two checks for a hit.
const BURST: usize = 8;

/// `i / 2` for each lane, rounded down and rounded up.
const HALVES: [[u16; LANES]; 2] = {
    let mut halves = [[0; LANES]; 2];
    let mut i = 0;
    while i < LANES {
        halves[0][i] = (i / 2) as u16;
        halves[1][i] = i.div_ceil(2) as u16;
        i += 1;
    }
    halves
};

#[target_feature(enable = "avx512f,avx512bw")]
pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    let one = _mm512_set1_epi16(1);
    drive::<u16, LANES>(
        input,
        run,
        |small, large, start| {
            let start = _mm512_set1_epi16(start as i16);
            let mut window = _mm512_setzero_si512();
            for (a, b) in small.as_chunks::<LANES>().0.iter().zip(large.as_chunks::<LANES>().0) {
                let at = _mm512_sub_epi16(_mm512_xor_si512(load(a), load(b)), start);
                window = _mm512_or_si512(window, _mm512_sllv_epi16(one, at));
            }
            let folded = _mm512_reduce_or_epi64(window) as u64;
            let folded = folded | folded >> 32;
            (folded | folded >> 16) as u16
        },
        |values, windows, g, first| {
            let g = _mm512_set1_epi16(g as i16);
            // The window of sum first - i starts half of i before that of first, rounded according to the parity of first.
            let halves = load(&HALVES[(first + 1) % 2]);
            let mut starts = _mm512_sub_epi16(_mm512_set1_epi16(start::<u16>(first) as i16), halves);
            let step = _mm512_set1_epi16((LANES / 2) as i16);
            let (values, windows) = (values.as_chunks::<LANES>().0, windows.as_chunks::<LANES>().0);
            values.chunks(BURST).zip(windows.chunks(BURST)).any(|(values, windows)| {
                let mut found = _mm512_setzero_si512();
                for (value, window) in values.iter().zip(windows) {
                    let at = _mm512_sub_epi16(_mm512_xor_si512(g, load(value)), starts);
                    found = _mm512_or_si512(found, _mm512_srlv_epi16(load(window), at));
                    starts = _mm512_sub_epi16(starts, step);
                }
                _mm512_test_epi16_mask(found, one) != 0
            })
        },
        |small, large, h| {
            let h = _mm512_set1_epi16(h as i16);
            let (small, large) = (small.as_chunks::<LANES>().0, large.as_chunks::<LANES>().0);
            small.iter().zip(large).any(|(a, b)| _mm512_cmpeq_epi16_mask(_mm512_xor_si512(load(a), load(b)), h) != 0)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_start_half_of_a_lane_before_that_of_the_first() {
        for first in LANES..LANES + 4 {
            for (lane, half) in HALVES[(first + 1) % 2].into_iter().enumerate() {
                assert_eq!(start::<u16>(first) - half as isize, start::<u16>(first - lane), "{first} - {lane}");
            }
        }
    }
}
