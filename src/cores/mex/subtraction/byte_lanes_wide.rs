//! Byte lanes decoded by `wide`'s shuffle of 64 bytes.
//!
//! In a native build on a CPU with AVX-512 VBMI, the shuffle is `vpermb`, and the kernel is a portable twin of
//! `byte_lanes_avx512`; on ARM, it is `tbl` with a table of 64 bytes. On x86 without SSSE3, as in a default build, `wide` shuffles
//! byte by byte through memory.
//!
//! Cost per block, move and plane: one shuffle and one OR.
//! Bound (native build, Zen 4): the two shuffle ports, one 512-bit shuffle per cycle.

use super::Subtraction;
use super::drive;
use crate::cores::mex::lanes::plain;
use crate::cores::mex::lanes::wide::{decode, plane_ns};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    drive::cost(input, plane_ns(0.32, 2.2, 300.0), 0.75, 2.0)
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, decode, plain::free_words)
}
