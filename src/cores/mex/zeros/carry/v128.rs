//! Rows moved in 128-bit vectors: heaps stay in registers while the moves are applied, 2048 of them for NEON, so that the
//! address of a move is computed and checked once for them.
//!
//! Cost per move and line of 512 heaps: four loads and four ORs.
//! Bound (llvm-mca, Neoverse V2): the loads, 1.6 cycles for a line; the portable source takes 2.2. In WebAssembly nothing is gained:
//! there the portable source, which holds one line, takes 12 % less time (Node 20, Zen 5).

use super::{Carry, LINE};
use crate::simd::v128::{SUMS, or_all};

/// Vectors of a line.
const SINGLE: usize = LINE / 16;

fn carry(row: &[u8], at: usize, back: &[usize], hits: &mut [u8]) {
    let (held, single) = hits.as_chunks_mut::<16>().0.as_chunks_mut::<SUMS>();
    let after = at + 16 * held.as_flattened().len();
    carry_all(row, at, back, held);
    carry_all(row, after, back, single.as_chunks_mut::<SINGLE>().0);
}

/// [`carry`], `V` vectors at a time.
#[inline(always)]
fn carry_all<const V: usize>(row: &[u8], at: usize, back: &[usize], hits: &mut [[[u8; 16]; V]]) {
    for (i, hits) in hits.iter_mut().enumerate() {
        let source = |back: &usize| row[at + 16 * V * i - back..].as_chunks().0.first_chunk();
        or_all(hits, back.iter().map(|back| source(back).expect("the row has one more line")));
    }
}

/// The part of this tier.
#[inline(always)]
pub fn parts() -> impl Carry {
    carry
}
