//! Four vectors of 4 lanes.
//!
//! Cost: eight loads, twelve to twenty operations and four stores for 16 additions.
//! Bound (llvm-mca, Neoverse V2): loads and stores, 2.7 cycles; the portable source takes 5.

use std::ops::Range;

use super::{LANES, Passes};
use crate::cores::xor_count::partitions::tree::{PAD, descend, passes};
use crate::simd::array_of;
use crate::simd::v128::{add_signed, load, signs as signs_of, store};

/// The parts of these tiers.
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
