//! Goes through the middle heap `b` in order. With counts `e` of the heaps up to `b` and `l` of the heaps from `b` on, the number
//! of triples is `sum over x of e(x) l(x ^ g(b))`.
//!
//! Cost: `N V` multiplications for `V` values.
//! Bound: two loads and a multiplication each; eight at once at the AVX-512 tier, where one permutation reorders the eight counts
//! of a group.

use super::{PROGRESS_STEP, Values};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Counts in a group. The low bits of a value permute the counts of a group, and the others select the group.
const LANES: usize = 8;

/// Rates: ns of a run, of a heap, and of a product.
pub fn cost(input: &Values, _: CostContext, [start, heap, product]: [f64; 3]) -> Cost {
    if !input.are_below(32) {
        return Cost::IMPOSSIBLE;
    }
    let n = input.heaps as f64;
    Cost { ns: start + n * (heap + product * input.span() as f64), bytes: 16.0 * input.span() as f64 }
}

#[inline(always)]
pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
    let groups = input.span().div_ceil(LANES);
    let mut earlier = vec![[0u64; LANES]; groups];
    let mut later = vec![[0u64; LANES]; groups];
    input.values.iter().for_each(|value| later.as_flattened_mut()[usize::from(*value)] += 1);
    let mut triples = 0;
    for chunk in input.values.chunks(PROGRESS_STEP) {
        for b in chunk.iter().map(|b| usize::from(*b)) {
            earlier.as_flattened_mut()[b] += 1;
            triples += u128::from(match b % LANES {
                0 => products::<0>(&earlier, &later, b / LANES),
                1 => products::<1>(&earlier, &later, b / LANES),
                2 => products::<2>(&earlier, &later, b / LANES),
                3 => products::<3>(&earlier, &later, b / LANES),
                4 => products::<4>(&earlier, &later, b / LANES),
                5 => products::<5>(&earlier, &later, b / LANES),
                6 => products::<6>(&earlier, &later, b / LANES),
                _ => products::<7>(&earlier, &later, b / LANES),
            });
            later.as_flattened_mut()[b] -= 1;
        }
        run.advance(chunk.len() as u64)?;
    }
    Ok(triples)
}

/// The sum of `e(x) l(x ^ b)`, where `b` has the low bits `LOW` and the other bits `group`. Each table counts fewer than 2^32 heaps,
/// and both together one more than all heaps, so 64 bits hold the sum.
#[inline(always)]
fn products<const LOW: usize>(earlier: &[[u64; LANES]], later: &[[u64; LANES]], group: usize) -> u64 {
    let mut sums = [0; LANES];
    for (x, counts) in earlier.iter().enumerate() {
        let others = &later[x ^ group];
        for lane in 0..LANES {
            // In this kernel's domain, counts are below 2^32, and a narrow product is faster.
            sums[lane] += u64::from(counts[lane] as u32) * u64::from(others[lane ^ LOW] as u32);
        }
    }
    sums.iter().sum()
}
