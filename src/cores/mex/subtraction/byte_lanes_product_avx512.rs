//! Byte lanes decoded as a product: one permute for two planes, and a mask that tells which of the two is meant.
//!
//! A plane holds eight values. The planes `p` and `p + 4` differ in bit 5 of the code alone, so one table decodes both, and a
//! fifth one turns bit 5 into a mask. `vpternlogq` adds what the mask leaves to one plane, and the rest to the other. So
//! eight planes take five permutes and eight ternary operations, where [`super::byte_lanes_avx512`] takes eight decodes and
//! four operations. For up to five planes, its own decode takes no more instructions.
//!
//! Cost per block and move: a load, five permutes, and an operation for each plane.
//! Bound (Zen 4): the vector ports, 6.5 cycles for eight planes against 6; measured 7.0 to 7.3 against 5.8 to 6.4. It loses: squares
//! take 1.14 times as long at 1e5, 1.19 times at 1e6. It is meant for CPUs that permute and shift bytes on one of the two ports
//! of other operations, as Intel's do: 6.5 cycles against 8 by that count. It was not measured there.

use std::arch::x86_64::*;

use super::Subtraction;
use super::drive;
use crate::cores::mex::lanes::avx512::{TABLES, Tables, accumulate, free_words};
use crate::cores::mex::lanes::{LANES, ONE_HOT, PLANES, Planes, Sources, WINDOW, by_planes};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::avx512::{load, prefetch, store};

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    drive::cost(input, 0.27, 0.75, 1.0)
}

/// Prefetch distance in bytes, as there.
const PREFETCH_AHEAD: usize = 4 * LANES;
/// Planes that are decoded, each for another one as well.
const LOW: usize = PLANES / 2;

/// The tables of the decode, kept from the optimiser as [`Tables`] are.
struct Factors {
    /// The one-hot bits of a value modulo 32.
    low: [[u8; LANES]; LOW],
    /// All ones for the codes of the first planes.
    is_low: [u8; LANES],
}

static FACTORS: Factors = {
    let mut factors = Factors { low: [[0; LANES]; LOW], is_low: [0; LANES] };
    let mut code = 0;
    while code < LANES {
        let mut p = 0;
        while p < LOW {
            factors.low[p][code] = ONE_HOT[p][code] | ONE_HOT[p + LOW][code];
            p += 1;
        }
        if WINDOW - code < 8 * LOW {
            factors.is_low[code] = u8::MAX;
        }
        code += 1;
    }
    factors
};

/// As [`accumulate`], for four planes and `HIGH` more.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn multiply<const HIGH: usize>(factors: &Factors, from: Sources, moves: &[usize], hits: &mut [Planes]) {
    let tables: [__m512i; LOW] = std::array::from_fn(|p| load(&factors.low[p]));
    let is_low = load(&factors.is_low);
    for (from, hits) in from.blocks(hits) {
        let (low, high) = hits.split_at_mut(LOW);
        let mut low_sums: [__m512i; LOW] = std::array::from_fn(|p| load(&low[p]));
        let mut high_sums: [__m512i; HIGH] = std::array::from_fn(|p| load(&high[p]));
        for m in moves {
            let codes = from.behind(*m);
            prefetch(codes, PREFETCH_AHEAD);
            let codes = load(codes);
            let mask = _mm512_permutexvar_epi8(codes, is_low);
            let bits = tables.map(|table| _mm512_permutexvar_epi8(codes, table));
            for (sum, bits) in low_sums.iter_mut().zip(bits) {
                *sum = _mm512_ternarylogic_epi64::<0xf8>(*sum, bits, mask); // sum | bits & mask
            }
            for (sum, bits) in high_sums.iter_mut().zip(bits) {
                *sum = _mm512_ternarylogic_epi64::<0xf4>(*sum, bits, mask); // sum | bits & !mask
            }
        }
        for (plane, sum) in low.iter_mut().zip(low_sums).chain(high.iter_mut().zip(high_sums)) {
            store(plane, sum);
        }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    let (tables, factors): (&Tables, &Factors) = (std::hint::black_box(&TABLES), std::hint::black_box(&FACTORS));
    drive::drive(
        input,
        run,
        |from, moves, planes, hits| match planes {
            6 => multiply::<2>(factors, from, moves, hits),
            7 => multiply::<3>(factors, from, moves, hits),
            8 => multiply::<4>(factors, from, moves, hits),
            _ => by_planes!(planes, accumulate(tables, from, moves, hits)),
        },
        |hits, free| free_words(hits, free),
    )
}
