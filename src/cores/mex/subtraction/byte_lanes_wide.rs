//! Byte lanes decoded by `wide`'s shuffle of 64 bytes.
//!
//! In a native build on a CPU with AVX-512 VBMI, the shuffle is `vpermb`, and the kernel is a portable twin of
//! `byte_lanes_avx512`; on ARM, it is `tbl` with a table of 64 bytes. On x86 without SSSE3, as in a default build, `wide` shuffles
//! byte by byte through memory.
//!
//! Cost per block, move and plane: one shuffle and one OR.
//! Bound (native build, Zen 4): the two shuffle ports, one 512-bit shuffle per cycle.

use wide::u8x64;

use super::Subtraction;
use super::lanes::{self, ONE_HOT, Planes, Sources, by_planes};
use crate::kernel::{Cost, CostContext, Run, RunError};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    lanes::cost(input, plane_ns(0.32, 2.2, 300.0), 0.75, 2.0)
}

/// By what the shuffle of this build is: an instruction of AVX-512, lookups of ARM (estimated by llvm-mca), or a loop.
pub const fn plane_ns(avx512: f64, arm: f64, others: f64) -> f64 {
    match () {
        () if cfg!(target_feature = "avx512vbmi") => avx512,
        () if cfg!(target_arch = "aarch64") => arm,
        () => others,
    }
}

pub static TABLES: Planes = ONE_HOT;

#[inline(always)]
pub fn accumulate<const P: usize>(tables: &Planes, from: Sources, moves: &[usize], hits: &mut [Planes]) {
    let table: [u8x64; P] = std::array::from_fn(|p| u8x64::new(tables[p]));
    for (from, hits) in from.blocks(hits) {
        let mut sum: [u8x64; P] = std::array::from_fn(|p| u8x64::new(hits[p]));
        for m in moves {
            let codes = u8x64::new(*from.behind(*m));
            for (sum, table) in sum.iter_mut().zip(table) {
                *sum |= table.shuffle_wrapping(codes);
            }
        }
        for (plane, sum) in hits.iter_mut().zip(sum) {
            *plane = sum.to_array();
        }
    }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    let tables = std::hint::black_box(&TABLES);
    lanes::drive(
        input,
        run,
        |from, moves, planes, hits| by_planes!(planes, accumulate(tables, from, moves, hits)),
        lanes::free_words,
    )
}
