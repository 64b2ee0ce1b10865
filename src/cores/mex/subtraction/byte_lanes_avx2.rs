//! Byte lanes decoded by `vpshufb`, 32 heaps at a time.
//!
//! `vpshufb` looks up four bits and gives zero where bit 7 is set. For each group of 16 values (two planes), a subtraction
//! and a saturating addition move the codes of the group to 0x70..=0x7f and all others past 0x7f. Two lookups follow.
//!
//! Cost per 32 heaps, move and plane: one addition or subtraction, one lookup, one OR.
//! Bound (Zen 4): four vector ports, 0.75 cycles for 32 heaps.

use std::arch::x86_64::*;

use super::Subtraction;
use super::lanes::{self, LANES, Planes, Sources, WINDOW, by_planes, one_hot};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx2::{load, store};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    lanes::cost(input, 0.5, 1.2, 2.0)
}

/// Codes of one group of 16 values.
const GROUP: usize = 16;

/// The one-hot bits of a plane, by the low four bits of the code. The table is the same for every group and both 128-bit halves.
const fn table(plane: usize) -> [u8; 32] {
    let mut table = [0; 32];
    let mut i = 0;
    while i < 32 {
        table[i] = one_hot((WINDOW + 1 - GROUP + i % GROUP) as u8, plane);
        i += 1;
    }
    table
}

#[target_feature(enable = "avx2")]
pub fn accumulate<const P: usize>(from: Sources, moves: &[usize], hits: &mut [Planes]) {
    let tables = [load(&table(0)), load(&table(1))];
    let past = _mm256_set1_epi8(0x70);
    for (from, hits) in from.blocks(hits) {
        for half in 0..2 {
            let mut sum: [__m256i; P] =
                std::array::from_fn(|p| load::<u8, 32>(hits[p].as_chunks().0[half..].first().expect("two halves")));
            for m in moves {
                let codes = load::<u8, 32>(&from.behind(*m).as_chunks().0[half]);
                let mut low = past;
                for (p, sum) in sum.iter_mut().enumerate() {
                    if p % 2 == 0 {
                        let group = _mm256_set1_epi8((LANES - GROUP * (p / 2 + 1)) as i8);
                        low = _mm256_adds_epu8(_mm256_sub_epi8(codes, group), past);
                    }
                    *sum = _mm256_or_si256(*sum, _mm256_shuffle_epi8(tables[p % 2], low));
                }
            }
            for (plane, sum) in hits.iter_mut().zip(sum) {
                store::<u8, 32>(&mut plane.as_chunks_mut().0[half], sum);
            }
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    lanes::drive(
        input,
        run,
        |from, moves, planes, hits| by_planes!(planes, accumulate(from, moves, hits)),
        lanes::free_words,
    )
}
