//! The probes in 512-bit registers.

use std::arch::x86_64::{
    _mm512_add_epi64, _mm512_permutexvar_epi8, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_ternarylogic_epi64,
    _mm512_xor_si512,
};
use std::hint::black_box;

use super::{Probe, operations, order, sums};
use crate::machine::isa::tier;
use crate::simd::array_of;
use crate::simd::avx512::load;

#[tier(Avx512)]
pub fn run(probe: Probe) {
    // Twelve chains hide a latency of six at two operations a cycle.
    let start: [_; 12] = array_of(|i| _mm512_set1_epi64(i as i64));
    match probe {
        Probe::Loads(vectors, times) => {
            let zeros = [_mm512_setzero_si512(); 8];
            sums(vectors, times, zeros, |sum, vector| _mm512_xor_si512(sum, load(vector)));
        }
        // The addition keeps the compiler from finding `(a ^ b) ^ b`. Nor can the two become one instruction.
        Probe::Logic(count) => {
            let mask = load(&black_box([0x5a5a_5a5a_a5a5_a5a5u64; 8]));
            operations(count / 2, start, |a, _| _mm512_add_epi64(_mm512_xor_si512(a, mask), mask));
        }
        Probe::LogicOfThree(count) => {
            let mask = load(&black_box([0x5a5a_5a5a_a5a5_a5a5u64; 8]));
            operations(count, start, |a, b| _mm512_ternarylogic_epi64::<0xca>(a, mask, b));
        }
        Probe::Permute(count) => {
            let order = load(&order());
            operations(count, start, |a, _| _mm512_permutexvar_epi8(order, a));
        }
    }
}
