//! [`super::walsh_tree`] with characters as lanes: the series of 16 characters are interleaved, and a part is added in some lanes
//! and subtracted in others. Nothing is shifted, so short series have no partial vectors and no stalls. But they take 16 times the
//! memory, and outgrow L1 at `n` = 500.
//!
//! Cost: two loads, four operations and a store for 16 additions in one vector; each tier has its own.
//! Bound: the loads and the store; from `n` = 500 on, L2.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Partitions;
use super::tree::{self, PAD, Passes, descend, drive, passes};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::machine::isa::tier;
use crate::simd::array_of;

/// Characters in a vector.
pub const LANES: usize = 16;

/// Rates: ns of an addition while the series fit the caches, and beyond, and of a pass over a series.
pub fn cost(input: &Partitions, _: CostContext, [near, far, pass]: [f64; 3]) -> Cost {
    tree::cost(LANES, input, [if input.total() < 1500 { near } else { far }, pass])
}

/// Of passes over series of 16 characters, per term: two loads, an addition, a masked subtraction, another subtraction, a minimum and
/// a store. The terms are counted by a dry run of the passes.
pub fn needs(input: &Partitions) -> Needs {
    let terms = AtomicU64::new(0);
    let count = &|pass: Range<usize>| {
        terms.fetch_add(pass.len() as u64, Relaxed);
    };
    let dry = passes!(LANES, |_: &mut _, _, _, pass, _| count(pass));
    drive(input, &Run::new(1), 1, &dry).expect("the run is not cancelled");
    let terms = terms.into_inner() as f64 / (input.values().len() * input.total()) as f64;
    let bytes = 64.0 * input.total() as f64;
    Needs { loads: 2.0 * terms, logic: 4.0 * terms, cycles: terms, bytes, ..Needs::default() }
}

#[inline(always)]
pub fn run(input: &Partitions, run: &Run, passes: impl Passes) -> Result<Vec<u32>, RunError> {
    drive(input, run, 1, &passes)
}

/// Arrays of 16 lanes, which compilers vectorise.
pub mod plain {
    use super::*;

    pub fn parts() -> impl Passes {
        passes!(LANES, add_shifted)
    }

    #[inline(always)]
    fn add_shifted(series: &mut [u32], size: usize, signs: u32, terms: Range<usize>, modulus: u32) {
        let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
        let negative: [u32; LANES] = array_of(|lane| (signs >> lane & 1).wrapping_neg());
        descend(vectors, size, terms, |to, from| {
            for (lane, to) in to.iter_mut().enumerate() {
                // modulus - a is !a + modulus + 1.
                let addend = (from[lane] ^ negative[lane]).wrapping_add(negative[lane] & (modulus + 1));
                let sum = to.wrapping_add(addend);
                *to = sum.min(sum.wrapping_sub(modulus));
            }
        });
    }
}

/// Two vectors of 8 lanes, with the signs as masks in registers.
///
/// Cost: four loads, ten operations and two stores for 16 additions.
/// Bound: the vector ports.
#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod avx2 {
    use std::arch::x86_64::*;

    use super::*;
    use crate::simd::avx2::{load, store};
    use crate::simd::mapped;

    #[inline]
    #[tier(Avx2)]
    pub fn parts() -> impl Passes {
        passes!(LANES, |series: &mut [u32], size, signs: u32, terms: Range<usize>, modulus| {
            let modulus = _mm256_set1_epi32(modulus as i32);
            let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
            // All ones in the lanes that subtract.
            let negative = mapped([signs, signs >> 8], |signs| {
                _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(signs as i32), bits), bits)
            });
            descend(vectors, size, terms, |to, from| {
                let (to, from) = (to.as_chunks_mut::<8>().0, from.as_chunks::<8>().0);
                for ((to, from), negative) in to.iter_mut().zip(from).zip(negative) {
                    let from = load(from);
                    let from = _mm256_blendv_epi8(from, _mm256_sub_epi32(modulus, from), negative);
                    let sum = _mm256_add_epi32(load(to), from);
                    store(to, _mm256_min_epu32(sum, _mm256_sub_epi32(sum, modulus)));
                }
            });
        })
    }
}

/// One vector, with the signs in a mask register.
///
/// Cost: two loads, four operations and a store for 16 additions.
/// Bound: the loads and the store; from `n` = 500 on, L2.
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512 {
    use std::arch::x86_64::*;

    use super::*;
    use crate::simd::avx512::{load, store};

    #[inline]
    #[tier(Avx512)]
    pub fn parts() -> impl Passes {
        passes!(LANES, |series: &mut [u32], size, signs, terms: Range<usize>, modulus| {
            let modulus = _mm512_set1_epi32(modulus as i32);
            let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
            descend(vectors, size, terms, |to, from| {
                let from = load(from);
                let sum = _mm512_add_epi32(load(to), _mm512_mask_sub_epi32(from, signs as u16, modulus, from));
                store(to, _mm512_min_epu32(sum, _mm512_sub_epi32(sum, modulus)));
            });
        })
    }
}

/// Four vectors of 4 lanes.
///
/// Cost: eight loads, twelve to twenty operations and four stores for 16 additions.
/// Bound (llvm-mca, Neoverse V2): loads and stores, 2.7 cycles; the portable source takes 5.
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128 {
    use super::*;
    use crate::simd::v128::{add_signed, load, signs as signs_of, store};

    #[inline(always)]
    pub fn parts() -> impl Passes {
        passes!(LANES, |series: &mut [u32], size, signs: u32, terms: Range<usize>, modulus| {
            let vectors = series[PAD..].as_chunks_mut::<LANES>().0;
            let signs: [_; LANES / 4] = array_of(|v| signs_of(array_of(|i| signs >> (4 * v + i) & 1 == 1), modulus));
            descend(vectors, size, terms, |to, from| {
                let (to, from) = (to.as_chunks_mut::<4>().0, from.as_chunks::<4>().0);
                for ((to, from), signs) in to.iter_mut().zip(from).zip(&signs) {
                    store(to, add_signed(load(to), load(from), *signs));
                }
            });
        })
    }
}
