//! All pairs of heaps `a <= b`, in order of `b`. A table holds how many heaps `c >= b` have each value, and each pair looks up the count
//! for `g(a) ^ g(b)`.

use super::{PROGRESS_STEP, Values};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::machine::isa::tier;

/// The baseline, as published.
///
/// Cost: `N^2 / 2` lookups.
/// Bound: two loads per pair.
/// Source: the Project Euler 310 solution, but with 64-bit counts (the original's 32 bits overflow just above `N = 1e6`).
pub mod scalar {
    use super::*;

    /// Rates: ns of a run, of a heap, and of a pair of heaps.
    pub fn cost(input: &Values, _: CostContext, [start, heap, pair]: [f64; 3]) -> Cost {
        // The sum over a heap's pairs is below N^2 / 4 and must fit in 64 bits.
        input.cost(33, |n, span| (start + heap * n + pair * n * n / 2.0, 8.0 * span))
    }

    /// An addition to the count for each pair.
    pub fn needs(input: &Values) -> Needs {
        Needs { cycles: input.heaps as f64 / 2.0, ..Needs::default() }
    }

    pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
        let values = &input.values;
        let mut later = vec![0u64; input.span];
        for value in values {
            later[usize::from(*value)] += 1;
        }
        let mut triples = 0;
        for (block, chunk) in values.chunks(PROGRESS_STEP).enumerate() {
            for (i, b) in chunk.iter().enumerate() {
                let earlier = &values[..=block * PROGRESS_STEP + i];
                triples += u128::from(earlier.iter().map(|a| later[usize::from(a ^ b)]).sum::<u64>());
                later[usize::from(*b)] -= 1;
            }
            run.advance(chunk.len() as u64)?;
        }
        Ok(triples)
    }
}

/// Unlike [`scalar`], this looks up 64 pairs at once. The table of counts is in registers, in three planes of bytes for counts below 2^24. A
/// plane has 128 values in two registers, looked up by `vpermi2b`; `vpsadbw` adds up the bytes.
///
/// Cost: `N^2 / 2` pairs; one load, one XOR and three lookups and sums for 64 of them.
/// Bound: the permutations, one per cycle and port.
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512 {
    use std::arch::x86_64::*;

    use super::*;
    use crate::simd::array_of;
    use crate::simd::avx512::load;

    /// Values that the table holds.
    const VALUES: usize = 128;
    /// Bytes of a count.
    const PLANES: usize = 3;

    /// Rates: ns of a run, of a heap, and of a pair of heaps.
    pub fn cost(input: &Values, _: CostContext, [start, heap, pair]: [f64; 3]) -> Cost {
        let cost = |n, _| (start + heap * n + pair * n * n / 2.0, n + 1024.0);
        input.cost(8 * PLANES as u32, cost).only_if(input.span <= VALUES)
    }

    #[tier(Avx512)]
    pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
        // Padded to whole vectors; lookups beyond the last heap are masked.
        let mut values = vec![0; input.values.len().next_multiple_of(64)];
        let mut later = [0u32; VALUES];
        for (i, value) in input.values.iter().enumerate() {
            values[i] = *value as u8;
            later[usize::from(*value)] += 1;
        }
        let mut planes = [[0u8; VALUES]; PLANES];
        let split = |planes: &mut [[u8; VALUES]; PLANES], value: usize, count: u32| {
            for (plane, byte) in planes.iter_mut().zip(&count.to_le_bytes()) {
                plane[value] = *byte;
            }
        };
        for (value, count) in later.iter().enumerate() {
            split(&mut planes, value, *count);
        }
        let mut triples = 0;
        for start in (0..input.values.len()).step_by(PROGRESS_STEP) {
            let end = input.values.len().min(start + PROGRESS_STEP);
            for b in start..end {
                let value = values[b];
                let table: [[__m512i; 2]; PLANES] = array_of(|plane| {
                    let (halves, _) = planes[plane].as_chunks::<64>();
                    [load(&halves[0]), load(&halves[1])]
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
                for earlier in full {
                    add(earlier, u64::MAX);
                }
                for earlier in rest {
                    add(earlier, (1 << ((b + 1) % 64)) - 1);
                }
                for (plane, sum) in sums.iter().enumerate() {
                    triples += (_mm512_reduce_add_epi64(*sum) as u128) << (8 * plane);
                }
                later[usize::from(value)] -= 1;
                split(&mut planes, usize::from(value), later[usize::from(value)]);
            }
            run.advance((end - start) as u64)?;
        }
        Ok(triples)
    }
}
