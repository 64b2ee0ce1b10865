//! [`super`] in vectors of x86-64.

use std::arch::x86_64::*;

use super::{Split, cost_of, drive, needs_of, start};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::machine::isa::tier;

/// The kernel of a tier in its instructions, on cells in `LANES` lanes with `BURST` vectors between two checks for a hit.
macro_rules! in_vectors {
    (
        $tier:ident, $cell:ident as $lane:ident,
        $zero:ident $splat:ident $or:ident $xor:ident $sub:ident $left:ident $right:ident,
        any bit of: $any:expr, equal lanes: $equal:expr, all lanes: $all:expr, halves of lanes: $halves:expr
    ) => {
        /// Rates: as in [`near_sum`](super::super::cost).
        pub fn cost(input: &Split, _: CostContext, rates: [f64; 2]) -> Cost {
            cost_of::<$cell, LANES>(input, rates)
        }

        /// As in [`needs_of`].
        pub fn needs(input: &Split) -> Needs {
            needs_of::<$cell>(input)
        }

        #[tier($tier)]
        pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
            let one = $splat(1);
            let (any, equal, all, halves) = ($any, $equal, $all, $halves);
            drive::<$cell, LANES>(
                input,
                run,
                |small, large, start| {
                    let start = $splat(start as $lane);
                    let mut window = $zero();
                    for (a, b) in small.as_chunks::<LANES>().0.iter().zip(large.as_chunks::<LANES>().0) {
                        let at = $sub($xor(load(a), load(b)), start);
                        window = $or(window, $left(one, at));
                    }
                    all(window)
                },
                |values, windows, g, first| {
                    let g = $splat(g as $lane);
                    // The window of sum first - i starts half of i before that of first, rounded according to the parity of first.
                    let mut starts = $sub($splat(start::<$cell>(first) as $lane), halves((first + 1) % 2));
                    let step = $splat((LANES / 2) as $lane);
                    let (values, windows) = (values.as_chunks::<LANES>().0, windows.as_chunks::<LANES>().0);
                    values.chunks(BURST).zip(windows.chunks(BURST)).any(|(values, windows)| {
                        let mut found = $zero();
                        for (value, window) in values.iter().zip(windows) {
                            let at = $sub($xor(g, load(value)), starts);
                            found = $or(found, $right(load(window), at));
                            starts = $sub(starts, step);
                        }
                        any(found, one)
                    })
                },
                |small, large, h| {
                    let h = $splat(h as $lane);
                    let (small, large) = (small.as_chunks::<LANES>().0, large.as_chunks::<LANES>().0);
                    small.iter().zip(large).any(|(a, b)| equal($xor(load(a), load(b)), h))
                },
            )
        }
    };
}

#[cfg(feature = "avx2")]
pub mod avx2 {
    //! [`near_sum`](super::super) with eight cells at once. AVX2 has variable shifts only for lanes of 32 bits or more, so cells and windows
    //! have 32 bits.
    //!
    //! Cost: `n^2 / 2` splits; four instructions and two loads for 8 pairs, five instructions and two loads for 8 lookups.
    //! Bound: the vector ports.

    use super::*;
    use crate::simd::avx2::{load, store};

    const LANES: usize = 8;
    const BURST: usize = 16;

    in_vectors! {
        Avx2, u32 as i32,
        _mm256_setzero_si256 _mm256_set1_epi32 _mm256_or_si256 _mm256_xor_si256 _mm256_sub_epi32 _mm256_sllv_epi32 _mm256_srlv_epi32,
        any bit of: |found, bits| {
            let found = _mm256_and_si256(found, bits);
            _mm256_testz_si256(found, found) == 0
        },
        equal lanes: |a, b| {
            let equal = _mm256_cmpeq_epi32(a, b);
            _mm256_testz_si256(equal, equal) == 0
        },
        all lanes: |window| {
            let mut lanes = [0u32; LANES];
            store(&mut lanes, window);
            lanes.into_iter().fold(0, |window, lane| window | lane)
        },
        halves of lanes: |up: usize| {
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            _mm256_srli_epi32::<1>(_mm256_add_epi32(lanes, _mm256_set1_epi32(up as i32)))
        }
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
    use crate::cores::mex::split::near_sum::halves;
    use crate::simd::avx512::load;

    const LANES: usize = 32;
    const BURST: usize = 8;
    const HALVES: [[u16; LANES]; 2] = halves();

    in_vectors! {
        Avx512, u16 as i16,
        _mm512_setzero_si512 _mm512_set1_epi16 _mm512_or_si512 _mm512_xor_si512 _mm512_sub_epi16 _mm512_sllv_epi16 _mm512_srlv_epi16,
        any bit of: |found, bits| _mm512_test_epi16_mask(found, bits) != 0,
        equal lanes: |a, b| _mm512_cmpeq_epi16_mask(a, b) != 0,
        all lanes: |window| {
            let folded = _mm512_reduce_or_epi64(window) as u64;
            let folded = folded | folded >> 32;
            (folded | folded >> 16) as u16
        },
        halves of lanes: |up: usize| load(&HALVES[up])
    }
}
