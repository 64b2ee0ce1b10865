//! [`super::bit_rows`] in the vectors of the crate `fearless_simd`: 512 candidates at once where a register holds as many, else 256,
//! which SSE2 keeps in two.
//!
//! The crate has no funnel shift, and leaves a shift by all 64 bits undefined, so a funnel shift is three shifts and an OR. The
//! word in which a search ends is read from memory, because a lane cannot be extracted by a variable index.
//!
//! Cost: as of `bit_rows` at the same width, with one or three instructions more per funnel shift.
//! Bound: at small `N` the bookkeeping of a visit, and each search reading what the one before it has just stored.

use fearless_simd::{Simd, SimdBase, SimdInt, SimdMask, u64x4, u64x8};

use super::{Positions, StoneGame, bit_rows};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};
use crate::simd::bits::{WORD, first_zero};
use crate::simd::fearless::{by_level, lacks, level};
use crate::simd::vectors::Parts;

/// Rates: those of [`bit_rows`].
pub fn cost(input: &StoneGame, context: CostContext, rates: [f64; 2]) -> Cost {
    if lacks(context.tier) {
        return Cost::IMPOSSIBLE;
    }
    bit_rows::cost(input, context, rates)
}

#[inline(always)]
pub fn run(input: &StoneGame, run: &Run, tier: Tier) -> Result<Positions, RunError> {
    by_level!(level(tier).ok_or(RunError::OutsideDomain)?, simd => by_width(simd, input, run))
}

#[inline(always)]
fn by_width<L: Simd>(simd: L, input: &StoneGame, run: &Run) -> Result<Positions, RunError> {
    match L::u64s::LEN {
        8 => scan_by::<8, L, u64x8<L>>(simd, input, run),
        _ => scan_by::<4, L, u64x4<L>>(simd, input, run),
    }
}

#[inline(always)]
fn scan_by<const WORDS: usize, L: Simd, V: SimdInt<L, Element = u64, Array = [u64; WORDS]>>(
    simd: L,
    input: &StoneGame,
    run: &Run,
) -> Result<Positions, RunError> {
    let vectors = Parts(
        #[inline(always)]
        |words: &[u64; WORDS]| V::load_array_ref(simd, words),
        #[inline(always)]
        |a: V, b: V| a | b,
        #[inline(always)]
        |low: V, high: V, by: usize| low >> by as u32 | high << 1_u32 << (WORD - 1 - by) as u32,
        #[inline(always)]
        |vector: V| {
            let word = first_zero(vector.simd_eq(u64::MAX).to_bitmask());
            if word >= WORDS { WORDS * WORD } else { word * WORD + first_zero(vector[word]) }
        },
    );
    bit_rows::run(input, run, vectors)
}
