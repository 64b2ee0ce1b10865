//! Passes over series in C. The signs are masks, and so is the choice of a remainder: the vector extensions have no minimum.
//!
//! Cost: two loads, seven operations and a store for each register of 16 additions.
//! Bound: the vector ports.

use std::ops::Range;

use super::{LANES, Passes};
use crate::cores::xor_count::partitions::tree::{PAD, passes};
use crate::simd::c::by_forms;

by_forms!(Passes, |form| {
    passes!(LANES, |series: &mut [u32], size, signs, terms: Range<usize>, modulus| {
        form.add(&mut series[PAD..], size, terms, signs, modulus);
    })
});
