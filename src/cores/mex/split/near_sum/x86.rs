//! [`super`] in vectors of x86-64.

use std::arch::x86_64::*;

use super::{Split, cost_of, drive, needs_of, start};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::machine::isa::tier;

#[cfg(feature = "avx2")]
pub mod avx2 {
    //! [`near_sum`](super::super) with eight cells at once. AVX2 has variable shifts only for lanes of 32 bits or more, so cells and windows
    //! have 32 bits.
    //!
    //! Cost: `n^2 / 2` splits; four instructions and two loads for 8 pairs, five instructions and two loads for 8 lookups.
    //! Bound: the vector ports.

    use super::*;
    use crate::simd::avx2::{load, store};

    /// Rates: as in [`near_sum`](super::super::cost).
    pub fn cost(input: &Split, _: CostContext, rates: [f64; 2]) -> Cost {
        cost_of::<u32, LANES>(input, rates)
    }

    /// As in [`needs_of`].
    pub fn needs(input: &Split) -> Needs {
        needs_of::<u32>(input)
    }

    const LANES: usize = 8;
    /// Vectors between two checks for a hit.
    const BURST: usize = 16;

    #[tier(Avx2)]
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
}

#[cfg(feature = "avx512")]
pub mod avx512 {
    //! [`near_sum`](super::super) with 32 cells of 16 bits at once. A window of 16 nim-sums is wide enough. `vpsllvw` and `vpsrlvw` give 0
    //! for bits outside the window, so no comparison is needed. Values above 16 bits are outside the domain.
    //!
    //! Cost: `n^2 / 2` splits; four instructions and two loads for 32 pairs, five instructions and two loads for 32 lookups.
    //! Bound: the vector ports; up to `n` = 1000, most of the time goes to the ends of the loops.

    use super::*;
    use crate::simd::avx512::load;

    /// Rates: as in [`near_sum`](super::super::cost).
    pub fn cost(input: &Split, _: CostContext, rates: [f64; 2]) -> Cost {
        cost_of::<u16, LANES>(input, rates)
    }

    /// As in [`needs_of`].
    pub fn needs(input: &Split) -> Needs {
        needs_of::<u16>(input)
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

    #[tier(Avx512)]
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
                small
                    .iter()
                    .zip(large)
                    .any(|(a, b)| _mm512_cmpeq_epi16_mask(_mm512_xor_si512(load(a), load(b)), h) != 0)
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
}
