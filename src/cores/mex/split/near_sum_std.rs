//! [`super::near_sum`] with cells of 32 bits in vectors of `std::simd`, as many as a register has.
//!
//! A shift takes its count modulo 32, so a comparison and a select leave out the bits outside of a window.
//!
//! Cost: `n^2 / 2` splits; six instructions and two loads for a register of pairs, seven instructions and two loads for one of lookups.
//! Bound: the vector ports. SSE2 has no shift by lanes.

use std::simd::cmp::{SimdPartialEq, SimdPartialOrd};
use std::simd::num::SimdUint;
use std::simd::{Select, Simd};

use super::Split;
use super::near_sum::{drive, start};
use super::near_sum_compiled::Compiled;
use crate::kernel::Run;
use crate::simd::std_simd::by_tiers;

/// Registers between two checks for a hit.
const BURST: usize = 16;

by_tiers!(Compiled, |input: &Split, run: &Run| {
    const LANES: usize = REGISTER / 4;
    type Cells = Simd<u32, LANES>;
    let load = |cells: &[u32; LANES]| Cells::from_array(*cells);
    let within = |at: Cells| at.simd_lt(Cells::splat(u32::BITS));
    let (zero, one) = (Cells::splat(0), Cells::splat(1));
    drive::<u32, LANES>(
        input,
        run,
        |small, large, start| {
            let start = Cells::splat(start as u32);
            let mut window = zero;
            for (a, b) in small.as_chunks::<LANES>().0.iter().zip(large.as_chunks::<LANES>().0) {
                let at = (load(a) ^ load(b)) - start;
                window |= within(at).select(one << at, zero);
            }
            window.reduce_or()
        },
        |values, windows, g, first| {
            let g = Cells::splat(g as u32);
            // The window of sum first - i starts half of i before that of first, rounded according to the parity of first.
            let halves = Cells::from_array(std::array::from_fn(|lane| (lane + (first + 1) % 2) as u32 / 2));
            let mut starts = Cells::splat(start::<u32>(first) as u32) - halves;
            let step = Cells::splat(LANES as u32 / 2);
            let (values, windows) = (values.as_chunks::<LANES>().0, windows.as_chunks::<LANES>().0);
            values.chunks(BURST).zip(windows.chunks(BURST)).any(|(values, windows)| {
                let mut found = zero;
                for (value, window) in values.iter().zip(windows) {
                    let at = (g ^ load(value)) - starts;
                    found |= within(at).select(load(window) >> at, zero);
                    starts -= step;
                }
                (found & one).simd_ne(zero).any()
            })
        },
        |small, large, h| {
            let h = Cells::splat(h as u32);
            let (small, large) = (small.as_chunks::<LANES>().0, large.as_chunks::<LANES>().0);
            small.iter().zip(large).any(|(a, b)| (load(a) ^ load(b)).simd_eq(h).any())
        },
    )
});
