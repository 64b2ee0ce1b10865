//! Rows moved in C: a line at a time, by its compiler's vectors.
//!
//! Cost per move and line of 512 heaps: a load and an OR for each register, and a check of the move.
//! Bound: these loads, most of which touch two cache lines.

use super::Carry;
use crate::simd::c::by_forms;

by_forms!(Carry, |form| move |row: &[u8], at: usize, back: &[usize], hits: &mut [u8]| form.carry(row, at, back, hits));
