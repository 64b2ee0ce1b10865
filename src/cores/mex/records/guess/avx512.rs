//! Guesses verified with byte permutes, in registers.
//!
//! Cost of a right block: for each move, a load, a permute and half an OR.

use std::arch::x86_64::*;

use super::{Backend, Evidence, Pattern, ROUNDS};
use crate::cores::mex::lanes::avx512::{self, TABLES};
use crate::cores::mex::lanes::{LANES, WINDOW};
use crate::machine::isa::tier;
use crate::simd::avx512::{load, store};

/// Resolves a block in registers. Only the guess waits for the block before, for one permute.
#[tier(Avx512)]
fn resolve(pattern: &Pattern, evidence: &Evidence, codes: &mut [u8; LANES]) -> bool {
    let lookup = load(&TABLES.lookup[0]);
    let one = _mm512_set1_epi8(1);
    let guess = _mm512_permutexvar_epi8(load(&pattern.repeat), load(evidence.repeated));
    store(codes, guess);
    let second = _mm512_permutexvar_epi8(load(evidence.before[1]), lookup);
    let last = _mm512_permutexvar_epi8(load(evidence.before[0]), lookup);
    let mut own = _mm512_permutexvar_epi8(guess, lookup);
    // In memory, these would be read across two stores, which no processor forwards.
    let mut far = load(evidence.far);
    for indices in &pattern.reached_before {
        far = _mm512_or_si512(far, _mm512_permutex2var_epi8(second, load(indices), last));
    }
    for round in 0..ROUNDS {
        let mut reached = far;
        for indices in &pattern.reached {
            reached = _mm512_or_si512(reached, _mm512_permutex2var_epi8(last, load(indices), own));
        }
        let mex = _mm512_andnot_si512(reached, _mm512_add_epi8(reached, one));
        if _mm512_cmpneq_epi8_mask(mex, own) == 0 {
            if round > 0 {
                let values = _mm512_popcnt_epi8(_mm512_sub_epi8(own, one));
                store(codes, _mm512_sub_epi8(_mm512_set1_epi8(WINDOW as i8), values));
            }
            return _mm512_testn_epi8_mask(own, own) == 0;
        }
        own = mex;
    }
    false
}

#[inline]
#[tier(Avx512)]
pub fn parts() -> Backend {
    Backend { decoder: avx512::parts(), held: 2, resolve }
}
