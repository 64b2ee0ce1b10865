//! [`super::walsh_lanes`] in the vectors of the crate `pulp`, with the signs as masks, which are mask registers with AVX-512.
//!
//! Cost and bound: as in `walsh_lanes_avx2` and `walsh_lanes_avx512`.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::tree::{PAD, descend, drive, passes};
use super::walsh_lanes::LANES;
pub use super::walsh_lanes::needs;
use super::{Partitions, walsh_lanes};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};
use crate::simd::array_of;
use crate::simd::pulp::{lacks, vectorize};

/// Rates: those of [`walsh_lanes`].
pub fn cost(input: &Partitions, context: CostContext, rates: [f64; 3]) -> Cost {
    if lacks(context.tier) { Cost::IMPOSSIBLE } else { walsh_lanes::cost(input, context, rates) }
}

pub fn run(input: &Partitions, run: &Run, tier: Tier) -> Result<Vec<u32>, RunError> {
    vectorize(tier, Walsh { input, run }).ok_or(RunError::OutsideDomain)?
}

struct Walsh<'a> {
    input: &'a Partitions,
    run: &'a Run,
}

impl WithSimd for Walsh<'_> {
    type Output = Result<Vec<u32>, RunError>;

    /// What passes do begins a context anew, as in [`walsh_lanes_fearless`](super::walsh_lanes_fearless).
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
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
        drive(self.input, self.run, 1, &passes)
    }
}

#[inline(always)]
fn pass<S: Simd>(simd: S, series: &mut [u32], size: usize, signs: u32, terms: Range<usize>, modulus: u32) {
    let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
    let modulus = simd.splat_u32s(modulus);
    // Four vectors at most.
    let bits: [u32; LANES] = array_of(|lane| signs >> lane & 1);
    let (bits, _) = S::as_simd_u32s(&bits);
    let negative: [S::m32s; 4] =
        array_of(|v| simd.equal_u32s(bits.get(v).copied().unwrap_or(modulus), simd.splat_u32s(1)));
    descend(
        vectors,
        size,
        terms,
        #[inline(always)]
        |to, from| {
            let (to, from) = (S::as_mut_simd_u32s(to).0, S::as_simd_u32s(from).0);
            for ((to, from), negative) in to.iter_mut().zip(from).zip(negative) {
                let addend = simd.select_u32s(negative, simd.sub_u32s(modulus, *from), *from);
                let sum = simd.add_u32s(*to, addend);
                *to = simd.min_u32s(sum, simd.sub_u32s(sum, modulus));
            }
        },
    );
}
