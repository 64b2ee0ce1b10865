//! [`super::near_sum`] with cells of 32 bits in the vectors of the crate `pulp`.
//!
//! A shift takes its count modulo 32, so a comparison and a select leave out the bits outside of a window.
//!
//! Cost: `n^2 / 2` splits; six instructions and two loads for a register of pairs, seven instructions and two loads for one of lookups.
//! Bound: the vector ports.

use std::array::from_fn;

use pulp::bytemuck::cast_slice;
use pulp::{Simd, WithSimd};

use super::Split;
use super::near_sum::{cost_of, drive, start};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};
use crate::simd::pulp::{lacks, vectorize};

/// Rates: as in [`near_sum`](super::near_sum::cost).
pub fn cost(input: &Split, context: CostContext, rates: [f64; 2]) -> Cost {
    if lacks(context.tier) { Cost::IMPOSSIBLE } else { cost_of::<u32, LANES>(input, rates) }
}

/// Cells that are filled up to: the most that a register has.
const LANES: usize = 16;
/// Registers between two checks for a hit.
const BURST: usize = 16;

pub fn run(input: &Split, run: &Run, tier: Tier) -> Result<Vec<u32>, RunError> {
    vectorize(tier, Near { input, run }).ok_or(RunError::OutsideDomain)?
}

struct Near<'a> {
    input: &'a Split,
    run: &'a Run,
}

impl WithSimd for Near<'_> {
    type Output = Result<Vec<u32>, RunError>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        drive::<u32, LANES>(
            self.input,
            self.run,
            #[inline(always)]
            |small, large, start| {
                simd.vectorize(
                    #[inline(always)]
                    || window(simd, small, large, start),
                )
            },
            #[inline(always)]
            |values, windows, g, first| {
                simd.vectorize(
                    #[inline(always)]
                    || hits(simd, values, windows, g, first),
                )
            },
            #[inline(always)]
            |small, large, h| {
                simd.vectorize(
                    #[inline(always)]
                    || meets(simd, small, large, h),
                )
            },
        )
    }
}

#[inline(always)]
fn window<S: Simd>(simd: S, small: &[u32], large: &[u32], start: isize) -> u32 {
    let (start, zero, one) = (simd.splat_u32s(start as u32), simd.splat_u32s(0), simd.splat_u32s(1));
    let mut window = zero;
    for (a, b) in S::as_simd_u32s(small).0.iter().zip(S::as_simd_u32s(large).0) {
        let at = simd.sub_u32s(simd.xor_u32s(*a, *b), start);
        let within = simd.less_than_u32s(at, simd.splat_u32s(u32::BITS));
        window = simd.or_u32s(window, simd.select_u32s(within, simd.wrapping_dyn_shl_u32s(one, at), zero));
    }
    cast_slice::<_, u32>(&[window]).iter().fold(0, |window, lane| window | lane)
}

#[inline(always)]
fn hits<S: Simd>(simd: S, values: &[u32], windows: &[u32], g: usize, first: usize) -> bool {
    let (g, zero) = (simd.splat_u32s(g as u32), simd.splat_u32s(0));
    // The window of sum first - i starts half of i before that of first, rounded according to the parity of first.
    let lanes: [u32; LANES] =
        from_fn(|lane| (start::<u32>(first) as u32).wrapping_sub((lane + (first + 1) % 2) as u32 / 2));
    let mut starts = S::as_simd_u32s(&lanes).0[0];
    let step = simd.splat_u32s(S::U32_LANES as u32 / 2);
    let (values, windows) = (S::as_simd_u32s(values).0, S::as_simd_u32s(windows).0);
    values.chunks(BURST).zip(windows.chunks(BURST)).any(
        #[inline(always)]
        |(values, windows)| {
            let mut found = zero;
            for (value, window) in values.iter().zip(windows) {
                let at = simd.sub_u32s(simd.xor_u32s(g, *value), starts);
                let within = simd.less_than_u32s(at, simd.splat_u32s(u32::BITS));
                found = simd.or_u32s(found, simd.select_u32s(within, simd.wrapping_dyn_shr_u32s(*window, at), zero));
                starts = simd.sub_u32s(starts, step);
            }
            let one = simd.splat_u32s(1);
            simd.first_true_m32s(simd.equal_u32s(simd.and_u32s(found, one), one)) < S::U32_LANES
        },
    )
}

#[inline(always)]
fn meets<S: Simd>(simd: S, small: &[u32], large: &[u32], h: usize) -> bool {
    let h = simd.splat_u32s(h as u32);
    S::as_simd_u32s(small).0.iter().zip(S::as_simd_u32s(large).0).any(
        #[inline(always)]
        |(a, b)| simd.first_true_m32s(simd.equal_u32s(simd.xor_u32s(*a, *b), h)) < S::U32_LANES,
    )
}
