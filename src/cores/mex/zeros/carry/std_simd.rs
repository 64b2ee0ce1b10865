//! Rows moved in vectors of `std::simd`: a line is one, in as many registers as it takes.
//!
//! Cost per move and line of 512 heaps: a load and an OR for each register.
//! Bound: these loads, most of which touch two cache lines.

use std::simd::u8x64;

use super::{Carry, LINE};
use crate::simd::std_simd::by_tiers;

#[inline(always)]
fn carry(row: &[u8], at: usize, back: &[usize], hits: &mut [u8]) {
    for (l, line) in hits.as_chunks_mut::<LINE>().0.iter_mut().enumerate() {
        let at = at + l * LINE;
        let mut sum = u8x64::from_array(*line);
        for back in back {
            sum |= u8x64::from_array(*row[at - back..].first_chunk().expect("the row has one more line"));
        }
        *line = sum.to_array();
    }
}

by_tiers!(Carry, |row: &[u8], at: usize, back: &[usize], hits: &mut [u8]| carry(row, at, back, hits));
