//! [`super::shifted_rows`] in the vectors of the crate `pulp`.
//!
//! Cost per move and line of 512 heaps: a load and an OR for each register.
//! Bound: these loads, most of which touch two cache lines.

use pulp::{Simd, WithSimd};

use super::carry::LINE;
use super::checkpoint::Start;
use super::{Zeros, shifted_rows};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};
use crate::simd::pulp::{lacks, vectorize};

/// Rates: those of [`shifted_rows`].
pub fn cost(input: &Zeros, context: CostContext, rates: [f64; 1]) -> Cost {
    if lacks(context.tier) { Cost::IMPOSSIBLE } else { shifted_rows::cost(input, context, rates) }
}

pub fn run(input: &Zeros, run: &Run, start: Start, tier: Tier) -> Result<Vec<u64>, RunError> {
    vectorize(tier, Rows { input, run, start }).ok_or(RunError::OutsideDomain)?
}

struct Rows<'a> {
    input: &'a Zeros,
    run: &'a Run,
    start: Start,
}

impl WithSimd for Rows<'_> {
    type Output = Result<Vec<u64>, RunError>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        // A context of its own, for the driver calls it in several places.
        shifted_rows::run(self.input, self.run, self.start, |row: &[u8], at: usize, back: &[usize], hits: &mut [u8]| {
            simd.vectorize(
                #[inline(always)]
                || carry(simd, row, at, back, hits),
            );
        })
    }
}

#[inline(always)]
fn carry<S: Simd>(simd: S, row: &[u8], at: usize, back: &[usize], hits: &mut [u8]) {
    for (l, line) in hits.as_chunks_mut::<LINE>().0.iter_mut().enumerate() {
        let at = at + l * LINE;
        let (parts, _) = S::as_mut_simd_u8s(line);
        // A line is four registers at most.
        let mut sum = [simd.splat_u8s(0); 4];
        sum.iter_mut().zip(&*parts).for_each(|(sum, part)| *sum = *part);
        for back in back {
            let source: &[u8; LINE] = row[at - back..].first_chunk().expect("the row has one more line");
            for (sum, source) in sum.iter_mut().zip(S::as_simd_u8s(source).0) {
                *sum = simd.or_u8s(*sum, *source);
            }
        }
        parts.iter_mut().zip(sum).for_each(|(part, sum)| *part = sum);
    }
}
