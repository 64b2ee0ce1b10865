//! [`super::pair_loop`] for 64 pairs at once. The table of counts is in registers, in three planes of bytes for counts below
//! 2^24. A plane has 128 values in two registers, looked up by `vpermi2b`; `vpsadbw` adds up the bytes.
//!
//! Cost: `N^2 / 2` pairs; one load, one XOR and three lookups and sums for 64 of them.
//! Bound: the permutations, one per cycle and port.

use std::arch::x86_64::*;

use super::{PROGRESS_STEP, Values};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx512::load;
use crate::simd::mapped;

/// Values that the table holds.
const VALUES: usize = 128;
/// Bytes of a count.
const PLANES: usize = 3;

/// Rates: ns of a run, of a heap, and of a pair of heaps.
pub fn cost(input: &Values, _: CostContext, [start, heap, pair]: [f64; 3]) -> Cost {
    let n = input.heaps as f64;
    if input.span() > VALUES || !input.are_below(8 * PLANES as u32) {
        return Cost::IMPOSSIBLE;
    }
    Cost { ns: start + heap * n + pair * n * n / 2.0, bytes: n + 1024.0 }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
    // Padded to whole vectors; lookups beyond the last heap are masked.
    let mut values = vec![0; input.values.len().next_multiple_of(64)];
    values.iter_mut().zip(&input.values).for_each(|(narrow, value)| *narrow = *value as u8);
    let mut later = [0u32; VALUES];
    input.values.iter().for_each(|value| later[usize::from(*value)] += 1);
    let mut planes = [[0u8; VALUES]; PLANES];
    let split = |planes: &mut [[u8; VALUES]; PLANES], value: usize, count: u32| {
        planes.iter_mut().zip(count.to_le_bytes()).for_each(|(plane, byte)| plane[value] = byte);
    };
    (0..VALUES).for_each(|value| split(&mut planes, value, later[value]));
    let mut triples = 0;
    for start in (0..input.values.len()).step_by(PROGRESS_STEP) {
        let end = input.values.len().min(start + PROGRESS_STEP);
        for b in start..end {
            let value = values[b];
            let table = planes.each_ref().map(|plane| {
                let (low, high) = plane.split_at(64);
                mapped([low, high], |half| load::<u8, 64>(half.try_into().expect("half of 128")))
            });
            let mut sums = [_mm512_setzero_si512(); PLANES];
            let mut add = |earlier: &[u8; 64], lanes: u64| {
                let partner = _mm512_xor_si512(load(earlier), _mm512_set1_epi8(value as i8));
                for (sum, [low, high]) in sums.iter_mut().zip(&table) {
                    let found = _mm512_maskz_permutex2var_epi8(lanes, *low, partner, *high);
                    *sum = _mm512_add_epi64(*sum, _mm512_sad_epu8(found, _mm512_setzero_si512()));
                }
            };
            let (full, rest) = values[..(b + 1).next_multiple_of(64)].as_chunks::<64>().0.split_at((b + 1) / 64);
            full.iter().for_each(|earlier| add(earlier, u64::MAX));
            rest.iter().for_each(|earlier| add(earlier, (1 << ((b + 1) % 64)) - 1));
            let sums = mapped(sums, |sum| _mm512_reduce_add_epi64(sum) as u128);
            triples += sums.iter().enumerate().map(|(plane, sum)| sum << (8 * plane)).sum::<u128>();
            later[usize::from(value)] -= 1;
            split(&mut planes, usize::from(value), later[usize::from(value)]);
        }
        run.advance((end - start) as u64)?;
    }
    Ok(triples)
}
