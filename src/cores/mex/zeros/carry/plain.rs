//! Rows moved in plain Rust: loops over the bytes of a line, vectorised by the compiler.
//!
//! Cost per move and line of 512 heaps: a load, an OR and a store for each vector of the tier.
//! Bound: these loads and stores, most of which touch two cache lines.

use super::{Carry, LINE};

#[inline(always)]
fn carry(row: &[u8], at: usize, back: &[usize], hits: &mut [u8]) {
    for (l, line) in hits.as_chunks_mut::<LINE>().0.iter_mut().enumerate() {
        let at = at + l * LINE;
        // Stays in registers, if there are enough.
        let mut sum = *line;
        // Its length is known from `at`, which saves a register and a check.
        let row = &row[..at + LINE];
        for back in back {
            let source: &[u8; LINE] = row[at - back..].first_chunk().expect("the row has one more line");
            for (sum, source) in sum.iter_mut().zip(source) {
                *sum |= source;
            }
        }
        *line = sum;
    }
}

/// The part in plain Rust.
#[inline(always)]
pub fn parts() -> impl Carry {
    carry
}
