//! [`super::slices`] in the vectors of the crate `fearless_simd`, whose `u64x8` is one register or several.
//!
//! Cost and bound: as of `slices` in registers of the same width; operations with three operands are left to the compiler.

use fearless_simd::{Simd, SimdBase, SimdMask, dispatch, u64x8};

use super::slices::{self, Parts, WORDS};
use super::{Family, Findings};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};
use crate::simd::fearless::{lacks, level};

/// Rates: those of [`slices`].
pub fn cost(input: &Family, context: CostContext, rates: [f64; 2]) -> Cost {
    if lacks(context.tier) {
        return Cost::IMPOSSIBLE;
    }
    slices::cost(input, context, rates)
}

#[inline(always)]
pub fn run(input: &Family, run: &Run, tier: Tier) -> Result<Findings, RunError> {
    dispatch!(level(tier).ok_or(RunError::OutsideDomain)?, simd => run_at(simd, input, run))
}

#[inline(always)]
fn run_at<L: Simd>(simd: L, input: &Family, run: &Run) -> Result<Findings, RunError> {
    let parts = Parts(
        #[inline(always)]
        |words: &[u64; WORDS]| u64x8::load_array_ref(simd, words),
        #[inline(always)]
        |slice: u64x8<L>, words: &mut [u64; WORDS]| slice.store_array(words),
        #[inline(always)]
        |a: u64x8<L>, b: u64x8<L>| a | b,
        #[inline(always)]
        |sum: u64x8<L>, a: u64x8<L>, b: u64x8<L>| sum | (a & b),
        #[inline(always)]
        |a: u64x8<L>, b: u64x8<L>| a & !b,
        #[inline(always)]
        |a: u64x8<L>, b: u64x8<L>| a ^ b,
        #[inline(always)]
        |of: u64x8<L>, a: u64x8<L>, b: u64x8<L>| of & !(a ^ b),
        #[inline(always)]
        |slice: u64x8<L>| !slice.simd_eq(0).all_true(),
    );
    slices::run(
        input,
        run,
        1,
        #[inline(always)]
        |shared: &_| slices::work(shared, parts),
    )
}
