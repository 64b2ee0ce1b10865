//! Rows moved in `wide`'s vectors.
//!
//! Cost per move and line of 512 heaps: a load and an OR for each vector of the build (four in a default build).
//! Bound: these loads, most of which touch two cache lines.

use wide::u8x64;

use super::{Carry, LINE};

/// Chosen by the vectors of this build.
pub const fn line_ns(avx512: f64, others: f64) -> f64 {
    if cfg!(target_feature = "avx512bw") { avx512 } else { others }
}

#[inline(always)]
fn carry(row: &[u8], at: usize, back: &[usize], hits: &mut [u8]) {
    for (l, line) in hits.as_chunks_mut::<LINE>().0.iter_mut().enumerate() {
        let at = at + l * LINE;
        let mut sum = u8x64::new(*line);
        for back in back {
            sum |= u8x64::new(*row[at - back..].first_chunk().expect("the row has one more line"));
        }
        *line = sum.to_array();
    }
}

/// The part in the vectors of the build.
#[inline(always)]
pub fn parts() -> impl Carry {
    carry
}
