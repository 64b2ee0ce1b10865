//! [`super::near_sum`] with eight cells at once. AVX2 has variable shifts only for lanes of 32 bits or more, so cells and windows
//! have 32 bits.
//!
//! Cost: `n^2 / 2` splits; four instructions and two loads for 8 pairs, five instructions and two loads for 8 lookups.
//! Bound: the vector ports.

use std::arch::x86_64::*;

use super::Split;
use super::near_sum::{cost_of, drive, start};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::avx2::{load, store};

/// Rates: as in [`near_sum`](super::near_sum::cost).
pub fn cost(input: &Split, _: CostContext, rates: [f64; 2]) -> Cost {
    cost_of::<u32, LANES>(input, rates)
}

/// Four operations per vector of pairs, of which a size has `n / 4` on average, and five per vector of lookups. Each vector is half a
/// register of 64 bytes.
pub fn needs(input: &Split) -> Needs {
    let vectors = |cells: f64| 0.5 * cells / LANES as f64;
    let n = input.limit() as f64;
    Needs { logic: 4.0 * vectors(n / 4.0) + 5.0 * vectors(n / 5.0), ..Needs::default() }
}

const LANES: usize = 8;
/// Vectors between two checks for a hit.
const BURST: usize = 16;

#[target_feature(enable = "avx2")]
pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    let one = _mm256_set1_epi32(1);
    let any = |bits| _mm256_testz_si256(bits, bits) == 0;
    drive::<u32, LANES>(
        input,
        run,
        |small, large, start| {
            let start = _mm256_set1_epi32(start as i32);
            let mut window = _mm256_setzero_si256();
            for (a, b) in small.as_chunks::<LANES>().0.iter().zip(large.as_chunks::<LANES>().0) {
                let at = _mm256_sub_epi32(_mm256_xor_si256(load(a), load(b)), start);
                window = _mm256_or_si256(window, _mm256_sllv_epi32(one, at));
            }
            let mut lanes = [0u32; LANES];
            store(&mut lanes, window);
            lanes.into_iter().fold(0, |window, lane| window | lane)
        },
        |values, windows, g, first| {
            let g = _mm256_set1_epi32(g as i32);
            // The window of sum first - i starts half of i before that of first, rounded according to the parity of first.
            let up = ((first + 1) % 2) as i32;
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let halves = _mm256_srli_epi32::<1>(_mm256_add_epi32(lanes, _mm256_set1_epi32(up)));
            let mut starts = _mm256_sub_epi32(_mm256_set1_epi32(start::<u32>(first) as i32), halves);
            let step = _mm256_set1_epi32((LANES / 2) as i32);
            let (values, windows) = (values.as_chunks::<LANES>().0, windows.as_chunks::<LANES>().0);
            values.chunks(BURST).zip(windows.chunks(BURST)).any(|(values, windows)| {
                let mut found = _mm256_setzero_si256();
                for (value, window) in values.iter().zip(windows) {
                    let at = _mm256_sub_epi32(_mm256_xor_si256(g, load(value)), starts);
                    found = _mm256_or_si256(found, _mm256_srlv_epi32(load(window), at));
                    starts = _mm256_sub_epi32(starts, step);
                }
                any(_mm256_and_si256(found, one))
            })
        },
        |small, large, h| {
            let h = _mm256_set1_epi32(h as i32);
            let (small, large) = (small.as_chunks::<LANES>().0, large.as_chunks::<LANES>().0);
            small.iter().zip(large).any(|(a, b)| any(_mm256_cmpeq_epi32(_mm256_xor_si256(load(a), load(b)), h)))
        },
    )
}
