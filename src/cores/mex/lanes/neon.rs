//! Codes decoded by `tbl`, 16 heaps at a time.
//!
//! `tbl` looks up sixteen bytes and gives zero for any other index. So for each group of 16 values (two planes), one
//! subtraction moves the codes of the group to 0..=15 and all others past 15. Two lookups follow. A lookup in 64 bytes needs no
//! subtraction, but `byte_lanes_wide`, which does so, takes more than twice as long (llvm-mca, Neoverse V2).

use std::arch::aarch64::*;
use std::array::from_fn;

use super::{LANES, Planes, Sources, WINDOW, one_hot};
use crate::simd::neon::{load, store};

/// Codes of one group of 16 values.
const GROUP: usize = 16;

/// The one-hot bits of a plane, by the low four bits of the code; the same for every group.
const fn table(plane: usize) -> [u8; GROUP] {
    let mut table = [0; GROUP];
    let mut i = 0;
    while i < GROUP {
        table[i] = one_hot((WINDOW + 1 - GROUP + i) as u8, plane);
        i += 1;
    }
    table
}

#[target_feature(enable = "neon")]
pub fn accumulate<const P: usize>(from: Sources, moves: &[usize], hits: &mut [Planes]) {
    let tables = [load(&table(0)), load(&table(1))];
    decode::<P>(from, moves, hits, |p, low, codes| {
        if p % 2 == 0 {
            *low = vsubq_u8(codes, vdupq_n_u8((LANES - GROUP * (p / 2 + 1)) as u8));
        }
        vqtbl1q_u8(tables[p % 2], *low)
    });
}

/// ORs the one-hot bytes of each plane. `one_hot(p, last, codes)` makes those of plane `p`; `last` is what it left there for the
/// plane before.
#[inline]
#[target_feature(enable = "neon")]
pub fn decode<const P: usize>(
    from: Sources,
    moves: &[usize],
    hits: &mut [Planes],
    one_hot: impl Fn(usize, &mut uint8x16_t, uint8x16_t) -> uint8x16_t,
) {
    for (from, hits) in from.blocks(hits) {
        // As many heaps at a time as there are registers for.
        if P <= 4 {
            decode_block::<P, 4>(from, moves, hits, &one_hot);
        } else {
            decode_block::<P, 2>(from, moves, hits, &one_hot);
        }
    }
}

/// [`decode`] for a block, `Q` vectors of heaps at a time.
#[inline]
#[target_feature(enable = "neon")]
fn decode_block<const P: usize, const Q: usize>(
    from: Sources,
    moves: &[usize],
    hits: &mut Planes,
    one_hot: &impl Fn(usize, &mut uint8x16_t, uint8x16_t) -> uint8x16_t,
) {
    for part in 0..LANES / GROUP / Q {
        let vectors = part * Q..(part + 1) * Q;
        let mut sums: [[uint8x16_t; P]; Q] =
            from_fn(|q| from_fn(|p| load(&hits[p].as_chunks::<GROUP>().0[vectors.start + q])));
        for m in moves {
            let source = &from.behind(*m).as_chunks::<GROUP>().0[vectors.clone()];
            for (source, sums) in source.iter().zip(&mut sums) {
                let codes = load(source);
                let mut last = codes;
                for (p, sum) in sums.iter_mut().enumerate() {
                    *sum = vorrq_u8(*sum, one_hot(p, &mut last, codes));
                }
            }
        }
        for (q, sums) in vectors.zip(sums) {
            for (plane, sum) in hits.iter_mut().zip(sums) {
                store(&mut plane.as_chunks_mut::<GROUP>().0[q], sum);
            }
        }
    }
}

/// The transposition: a word has a byte of each plane, which three rounds of `zip` bring together.
#[target_feature(enable = "neon")]
pub fn free_words(hits: &Planes, free: &mut [u64; LANES]) {
    let values = vdupq_n_u64(u64::MAX >> 1);
    for (part, free) in free.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let plane = |p: usize| load::<u8, GROUP>(&hits[p].as_chunks::<GROUP>().0[part]);
        // Two planes of eight heaps each, four planes of four, then all planes of two.
        let pairs: [[uint16x8_t; 2]; 4] = from_fn(|p| {
            let (a, b) = (plane(2 * p), plane(2 * p + 1));
            [vreinterpretq_u16_u8(vzip1q_u8(a, b)), vreinterpretq_u16_u8(vzip2q_u8(a, b))]
        });
        let fours: [[uint32x4_t; 4]; 2] = from_fn(|p| {
            from_fn(|i| {
                let (a, b) = (pairs[2 * p][i / 2], pairs[2 * p + 1][i / 2]);
                vreinterpretq_u32_u16(if i % 2 == 0 { vzip1q_u16(a, b) } else { vzip2q_u16(a, b) })
            })
        });
        for (i, free) in free.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let (a, b) = (fours[0][i / 2], fours[1][i / 2]);
            let reached = vreinterpretq_u64_u32(if i % 2 == 0 { vzip1q_u32(a, b) } else { vzip2q_u32(a, b) });
            store(free, vbicq_u64(values, reached));
        }
    }
}
