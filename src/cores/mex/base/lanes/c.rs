//! Codes decoded in C, by comparisons as in `std::simd`: gcc and clang agree on no lookup by a variable.
//!
//! Cost per block, move and plane: a comparison, an AND and an OR per register.
//! Bound: the vector ports.

use std::borrow::Borrow;

use super::chain::{Near, NearMoves, settle};
use super::{Decoder, LANES, Parts, Planes, Sources, plain};
use crate::simd::c::by_forms;

by_forms!(Borrow<dyn Decoder>, |form| {
    let parts = Parts {
        add: move |from: Sources, moves: &[usize], planes: usize, hits: &mut [Planes]| {
            form.decode(from.codes, from.at, moves, planes, hits);
        },
        free_words: |hits: &Planes, free: &mut [u64; LANES]| plain::free_words(hits, free),
        settle: |windows: &mut [Near], moves: &NearMoves| settle(windows, moves),
    };
    Box::new(parts) as Box<dyn Decoder>
});
