//! [`super::walsh_tree`] with characters as lanes: the series of 16 characters are interleaved, and a part is added in some lanes
//! and subtracted in others. Nothing is shifted, so short series have no partial vectors and no stalls. But they take 16 times the
//! memory, and outgrow L1 at `n` = 500.
//!
//! Cost: two loads, four operations and a store for 16 additions in one vector; each tier tells its own.
//! Bound: the loads and the store; from `n` = 500 on, L2.

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;
#[cfg(feature = "c")]
pub mod c;
#[cfg(all(feature = "std_simd", nightly_compiler))]
pub mod std_simd;
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128;
#[cfg(feature = "wide")]
pub mod wide;

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Partitions;
use super::tree::{self, Passes, drive, passes};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
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
    use crate::cores::xor_count::partitions::tree::{PAD, descend};

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
