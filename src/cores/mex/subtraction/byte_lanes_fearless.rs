//! Byte lanes in the vectors of the crate `fearless_simd`.
//!
//! With registers of 64 bytes, its `swizzle_dyn` is `vpermb`: one lookup per plane in the plane's table, as in
//! `byte_lanes_avx512`. The crate has no multishift, so all planes are decoded by permutes.
//!
//! In narrower registers a lookup in 64 bytes is many instructions, and one in 16 bytes (`vpshufb`) is defined by the crate for
//! indices below 16 only. So the bit within the plane is looked up once, and each plane takes it by comparison. SSE2 has no byte
//! shuffle, and the crate goes byte by byte through memory; there the bit is selected in three steps.
//!
//! Cost per block, move and plane: a permute and half an OR of three; or a comparison, an AND and an OR per vector.
//! Bound: with 64 bytes the ports for permutes, else the vector ports.

use fearless_simd::{Bytes, Select, Simd, SimdBase, u8x16, u8x64};

use super::{Subtraction, byte_lanes};
use crate::cores::mex::lanes::{
    Backend, Decoder, LANES, Near, NearMoves, ONE_HOT, Planes, Sources, by_planes, plain, resolve,
};
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};
use crate::simd::fearless::{by_level, lacks, level};

/// Rates: those of [`byte_lanes`].
pub fn cost(input: &Subtraction, context: CostContext, rates: [f64; 3]) -> Cost {
    byte_lanes::cost(input, context, rates).only_if(!lacks(context.tier))
}

#[inline(always)]
fn by_permutes<const P: usize, S: Simd>(
    simd: S,
    tables: &Planes,
    from: &Sources,
    moves: &[usize],
    hits: &mut [Planes],
) {
    let load = |block: &[u8; LANES]| u8x64::load_array_ref(simd, block);
    let (mut table, mut sum) = ([u8x64::splat(simd, 0); P], [u8x64::splat(simd, 0); P]);
    for p in 0..P {
        table[p] = load(&tables[p]);
    }
    let (pairs, single) = moves.as_chunks::<2>();
    for (from, hits) in from.blocks(hits) {
        for p in 0..P {
            sum[p] = load(&hits[p]);
        }
        for [a, b] in pairs {
            let (a, b) = (load(from.behind(*a)), load(from.behind(*b)));
            for p in 0..P {
                sum[p] |= table[p].swizzle_dyn(a) | table[p].swizzle_dyn(b);
            }
        }
        for m in single {
            let codes = load(from.behind(*m));
            for p in 0..P {
                sum[p] |= table[p].swizzle_dyn(codes);
            }
        }
        for p in 0..P {
            sum[p].store_array(&mut hits[p]);
        }
    }
}

/// A code is 63 - value. Its low three bits give the bit within the plane, the other three the plane.
#[inline(always)]
fn bit<S: Simd>(simd: S, codes: S::u8s) -> S::u8s {
    if S::u8s::LEN > 16 {
        let bits = S::u8s::block_splat(u8x16::from_fn(simd, |low| 0x80 >> (low % 8)));
        return bits.swizzle_dyn_within_blocks((codes & 7).to_bytes());
    }
    let has = |bit: u8| (codes & bit).simd_eq(bit);
    let bit = has(4).select(S::u8s::splat(simd, 0x08), S::u8s::splat(simd, 0x80));
    let bit = has(2).select(bit >> 2, bit);
    has(1).select(bit >> 1, bit)
}

#[inline(always)]
fn by_comparisons<const P: usize, S: Simd>(simd: S, from: &Sources, moves: &[usize], hits: &mut [Planes]) {
    let zero = S::u8s::splat(simd, 0);
    let mut sum = [zero; P];
    for (from, hits) in from.blocks(hits) {
        for at in (0..LANES).step_by(S::u8s::LEN) {
            let load = |block: &[u8; LANES]| S::u8s::from_slice(simd, &block[at..at + S::u8s::LEN]);
            for p in 0..P {
                sum[p] = load(&hits[p]);
            }
            for m in moves {
                let codes = load(from.behind(*m));
                let (bit, plane) = (bit(simd, codes), codes & 0x38);
                for (p, sum) in sum.iter_mut().enumerate() {
                    *sum |= plane.simd_eq(0x38 - 8 * p as u8).select(bit, zero);
                }
            }
            for p in 0..P {
                sum[p].store_slice(&mut hits[p][at..at + S::u8s::LEN]);
            }
        }
    }
}

#[inline(always)]
fn accumulate<const P: usize>(simd: impl Simd, tables: &Planes, from: &Sources, moves: &[usize], hits: &mut [Planes]) {
    fn width<S: Simd>(_: S) -> usize {
        S::u8s::LEN
    }
    match width(simd) {
        LANES => by_permutes::<P, _>(simd, tables, from, moves, hits),
        _ => by_comparisons::<P, _>(simd, from, moves, hits),
    }
}

/// The decoder of a level.
fn at_level<S: Simd>(simd: S) -> Box<dyn Decoder> {
    let tables: &'static Planes = std::hint::black_box(&TABLES);
    Box::new(Backend {
        add: move |from: &Sources, moves: &[usize], planes: usize, hits: &mut [Planes]| {
            simd.vectorize(
                #[inline(always)]
                || by_planes!(planes, accumulate(simd, tables, from, moves, hits)),
            );
        },
        free_words: move |hits: &Planes, free: &mut [u64; LANES]| {
            simd.vectorize(
                #[inline(always)]
                || plain::free_words(hits, free),
            );
        },
        resolve: move |windows: &mut [Near], moves: &NearMoves| {
            simd.vectorize(
                #[inline(always)]
                || resolve(windows, moves),
            )
        },
    })
}

/// The decoder of the level of a tier. Inlined, so that an entry has the code of its own level alone.
#[inline(always)]
fn decoder(tier: Tier) -> Option<Box<dyn Decoder>> {
    Some(by_level!(level(tier)?, simd => at_level(simd)))
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run, tier: Tier) -> Result<Vec<u16>, RunError> {
    byte_lanes::run(input, run, decoder(tier).ok_or(RunError::OutsideDomain)?)
}

static TABLES: Planes = ONE_HOT;
