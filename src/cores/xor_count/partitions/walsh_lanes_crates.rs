//! [`walsh_lanes`] with the vectors of crates, of the standard library, and of C.

use std::ops::Range;

use super::Partitions;
use super::tree::{PAD, Passes, descend, drive, passes};
use super::walsh_lanes::{self, LANES};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};
use crate::simd::array_of;

/// Two `u32x8` of the `wide` crate, with the signs as masks.
///
/// Cost: four loads, ten operations and two stores for 16 additions, if the build has 256-bit vectors. A default build has 128-bit
/// vectors without an unsigned minimum.
/// Bound: the vector ports.
#[cfg(feature = "wide")]
pub mod wide {
    use ::wide::u32x8;

    use super::*;

    #[inline(always)]
    pub fn parts() -> impl Passes {
        passes!(LANES, |series: &mut [u32], size, signs: u32, terms: Range<usize>, modulus| {
            let modulus = u32x8::splat(modulus);
            let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
            let negative: [u32x8; 2] =
                array_of(|half| u32x8::new(array_of(|lane| (signs >> (8 * half + lane) & 1).wrapping_neg())));
            descend(vectors, size, terms, |to, from| {
                let (to, from) = (to.as_chunks_mut::<8>().0, from.as_chunks::<8>().0);
                for ((to, from), negative) in to.iter_mut().zip(from).zip(negative) {
                    let from = u32x8::new(*from);
                    // Adds the number or modulus - number, so sums are at most twice the modulus.
                    let sum = u32x8::new(*to) + ((modulus - from) & negative | from & !negative);
                    *to = sum.min(sum - modulus).to_array();
                }
            });
        })
    }
}

/// A `u32x16` of `std::simd`, with the signs in a mask, which is a mask register with AVX-512 and vectors below.
///
/// Cost and bound: those of the registers that the compiler splits the vector into. SSE2 has no unsigned minimum.
#[cfg(all(feature = "std_simd", nightly_compiler))]
pub mod std_simd {
    use std::simd::cmp::SimdOrd;
    use std::simd::{Mask, Select, u32x16};

    use super::*;
    use crate::simd::std_simd::by_tiers;

    by_tiers!(
        Passes,
        passes!(LANES, |series: &mut [u32], size, signs: u32, terms: Range<usize>, modulus| {
            let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
            let (modulus, negative) = (u32x16::splat(modulus), Mask::<i32, LANES>::from_bitmask(signs.into()));
            descend(vectors, size, terms, |to, from| {
                let from = u32x16::from_array(*from);
                let sum = u32x16::from_array(*to) + negative.select(modulus - from, from);
                *to = sum.simd_min(sum - modulus).to_array();
            });
        })
    );
}

/// Passes over series in C. The signs are masks, and so is the choice of a remainder: the vector extensions have no minimum.
///
/// Cost: two loads, seven operations and a store for each register of 16 additions.
/// Bound: the vector ports.
#[cfg(feature = "c")]
pub mod c {
    use super::*;
    use crate::simd::c::by_forms;

    by_forms!(Passes, |form| {
        passes!(LANES, |series: &mut [u32], size, signs, terms: Range<usize>, modulus| {
            form.add(&mut series[PAD..], size, terms, signs, modulus);
        })
    });
}

/// [`super::walsh_lanes`] in the vectors of the crate `pulp`, with the signs as masks, which are mask registers with AVX-512.
///
/// Cost and bound: as in `walsh_lanes_avx2` and `walsh_lanes_avx512`.
#[cfg(feature = "pulp")]
pub mod pulp {
    pub use walsh_lanes::needs;

    use ::pulp::{Simd, WithSimd};

    use super::*;
    use crate::simd::pulp::{lacks, vectorize};

    /// Rates: those of [`walsh_lanes`].
    pub fn cost(input: &Partitions, context: CostContext, rates: [f64; 3]) -> Cost {
        walsh_lanes::cost(input, context, rates).only_if(!lacks(context.tier))
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

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            drive(self.input, self.run, 1, &passes!(LANES, in simd, pass))
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
}

/// [`super::walsh_lanes`] in a `u32x16` of the crate `fearless_simd`, with the signs in a mask, which is a mask register with
/// AVX-512 and a vector below.
///
/// Nothing is missing: additions, minimum, masks and the choice of vectors at run time are those of the kernels with intrinsics.
///
/// Cost and bound: as in `walsh_lanes_avx2` and `walsh_lanes_avx512`. SSE2 has no unsigned minimum; the crate compares instead.
#[cfg(feature = "fearless_simd")]
pub mod fearless {
    use fearless_simd::{Select, Simd, SimdBase, SimdMask, mask32x16, u32x16};
    pub use walsh_lanes::needs;

    use super::*;
    use crate::simd::fearless::{by_level, lacks, level};

    /// Rates: those of [`walsh_lanes`].
    pub fn cost(input: &Partitions, context: CostContext, rates: [f64; 3]) -> Cost {
        walsh_lanes::cost(input, context, rates).only_if(!lacks(context.tier))
    }

    #[inline(always)]
    pub fn run(input: &Partitions, run: &Run, tier: Tier) -> Result<Vec<u32>, RunError> {
        by_level!(level(tier).ok_or(RunError::OutsideDomain)?, simd => drive(input, run, 1, &passes!(LANES, in simd, pass)))
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
}
