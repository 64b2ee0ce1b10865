//! [`super::walsh_lanes`] in a `u32x16` of the crate `fearless_simd`, with the signs in a mask, which is a mask register with
//! AVX-512 and a vector below.
//!
//! Nothing is missing: additions, minimum, masks and the choice of vectors at run time are those of the kernels with intrinsics.
//!
//! Cost and bound: as in `walsh_lanes_avx2` and `walsh_lanes_avx512`. SSE2 has no unsigned minimum; the crate compares instead.

use std::ops::Range;

use fearless_simd::{Select, Simd, SimdBase, SimdMask, mask32x16, u32x16};

use super::tree::{PAD, descend, drive, passes};
use super::walsh_lanes::LANES;
pub use super::walsh_lanes::needs;
use super::{Partitions, walsh_lanes};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};
use crate::simd::fearless::{by_level, lacks, level};

/// Rates: those of [`walsh_lanes`].
pub fn cost(input: &Partitions, context: CostContext, rates: [f64; 3]) -> Cost {
    if lacks(context.tier) {
        return Cost::IMPOSSIBLE;
    }
    walsh_lanes::cost(input, context, rates)
}

#[inline(always)]
pub fn run(input: &Partitions, run: &Run, tier: Tier) -> Result<Vec<u32>, RunError> {
    by_level!(level(tier).ok_or(RunError::OutsideDomain)?, simd => by(simd, input, run))
}

/// The driver calls what passes do, and passes are called in several places. Where such a call is not inlined, the level is silently
/// lost and each operation becomes a call: thirty times the time. So each begins a context anew.
#[inline(always)]
fn by<S: Simd>(simd: S, input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    let passes = passes!(
        LANES,
        in simd,
        #[inline(always)]
        |series: &mut [u32], size, signs, terms: Range<usize>, modulus| {
            simd.vectorize(
                #[inline(always)]
                || pass(simd, series, size, signs, terms, modulus),
            )
        }
    );
    drive(input, run, 1, &passes)
}

#[inline(always)]
fn pass<S: Simd>(simd: S, series: &mut [u32], size: usize, signs: u32, terms: Range<usize>, modulus: u32) {
    let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
    let modulus = u32x16::splat(simd, modulus);
    let negative = mask32x16::from_bitmask(simd, signs.into());
    descend(
        vectors,
        size,
        terms,
        #[inline(always)]
        |to, from| {
            let from = u32x16::load_array_ref(simd, from);
            let sum = u32x16::load_array_ref(simd, to) + negative.select(modulus - from, from);
            sum.min(sum - modulus).store_array(to);
        },
    );
}
