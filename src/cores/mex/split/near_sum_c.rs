//! [`super::near_sum`] with cells of 32 bits in C: its three parts, each a whole loop over cells.
//!
//! A shift by 32 bits or more is undefined in C, so a comparison leaves out the bits outside of a window.
//!
//! Cost: as of [`super::near_sum_avx2`], two operations more for each register of pairs or lookups, and three calls for a size.
//! Bound: the vector ports. SSE2 has no shift by lanes, so gcc leaves these loops scalar there.

use super::Split;
use super::near_sum::{drive, start};
use super::near_sum_compiled::Compiled;
use crate::kernel::Run;
use crate::simd::c::{CELLS, by_forms};

by_forms!(Compiled, |form| move |input: &Split, run: &Run| {
    drive::<u32, CELLS>(
        input,
        run,
        |small, large, start| form.near_window(small, large, start as u32),
        |values, windows, g, first| {
            let up = (first + 1) % 2;
            form.near_hits(values, windows, g as u32, start::<u32>(first) as u32, up as u32)
        },
        |small, large, h| form.near_meets(small, large, h as u32),
    )
});
