//! Passes over series in C. The signs are masks, and so is the choice of a remainder: the vector extensions have no minimum.
//!
//! Cost: two loads, seven operations and a store for each register of 16 additions.
//! Bound: the vector ports.

use std::ops::Range;

use super::{LANES, Leaves};
use crate::cores::xor_count::partitions::tree::{PAD, Plan, leaves};
use crate::kernel::Run;
use crate::simd::c::by_forms;

by_forms!(Leaves, |form| move |plan: &Plan, run: &Run, part: Range<usize>| {
    leaves::<LANES>(plan, run, part, |series, size, signs, terms, modulus| {
        form.add(&mut series[PAD..], size, terms, signs, modulus);
    })
});
