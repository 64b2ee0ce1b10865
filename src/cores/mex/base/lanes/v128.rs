//! Codes decoded by lookups in 16 bytes, 16 heaps at a time.
//!
//! `tbl` of NEON and `i8x16.swizzle` of WebAssembly give zero for an index past 15. So for each group of 16 values (two planes), one
//! subtraction moves the codes of the group to 0..=15 and all others past 15. Two lookups follow. A lookup of NEON in 64 bytes needs
//! no subtraction, but `byte_lanes_wide`, which does so, takes more than twice as long (llvm-mca, Neoverse V2).
//!
//! Cost per 16 heaps, move and two planes: a subtraction, two lookups, two ORs.
//! Bound (llvm-mca, Neoverse V2): the four vector ports, 2.4 cycles for 64 heaps and a plane.

use super::decoder::{Decoder, GROUP, LANES, Planes, Sources, backend, by_planes, group_table};
use crate::simd::array_of;
use crate::simd::v128::{SUMS, Vector, load, lookup, store, transposed};

fn accumulate<const P: usize>(from: &Sources, moves: &[usize], hits: &mut [Planes]) {
    let tables = [load(&group_table::<GROUP>(0)), load(&group_table::<GROUP>(1))];
    decode::<P>(from, moves, hits, |p, low, codes| {
        if p % 2 == 0 {
            *low = codes - Vector::splat((LANES - GROUP * (p / 2 + 1)) as u8);
        }
        lookup(tables[p % 2], *low)
    });
}

/// The first plane of the values of a block.
pub fn first_plane(codes: &[u8; LANES]) -> [u8; LANES] {
    let table = load(&group_table::<GROUP>(0));
    let mut plane = [0; LANES];
    for (plane, codes) in plane.as_chunks_mut::<GROUP>().0.iter_mut().zip(codes.as_chunks::<GROUP>().0) {
        store(plane, lookup(table, load(codes) - Vector::splat((LANES - GROUP) as u8)));
    }
    plane
}

/// ORs the one-hot bytes of each plane. `one_hot(p, last, codes)` makes those of plane `p`; `last` is what it left there for the
/// plane before.
#[inline(always)]
fn decode<const P: usize>(
    from: &Sources,
    moves: &[usize],
    hits: &mut [Planes],
    one_hot: impl Fn(usize, &mut Vector<u8>, Vector<u8>) -> Vector<u8>,
) {
    for (from, hits) in from.blocks(hits) {
        // As many heaps at a time as there are registers for.
        if 4 * P <= SUMS {
            decode_block::<P, 4>(&from, moves, hits, &one_hot);
        } else if 2 * P <= SUMS {
            decode_block::<P, 2>(&from, moves, hits, &one_hot);
        } else {
            decode_block::<P, 1>(&from, moves, hits, &one_hot);
        }
    }
}

/// [`decode`] for a block, `Q` vectors of heaps at a time.
#[inline(always)]
fn decode_block<const P: usize, const Q: usize>(
    from: &Sources,
    moves: &[usize],
    hits: &mut Planes,
    one_hot: &impl Fn(usize, &mut Vector<u8>, Vector<u8>) -> Vector<u8>,
) {
    for part in 0..LANES / GROUP / Q {
        let vectors = part * Q..(part + 1) * Q;
        let mut sums: [[Vector<u8>; P]; Q] =
            array_of(|q| array_of(|p| load(&hits[p].as_chunks::<GROUP>().0[vectors.start + q])));
        for m in moves {
            let source = &from.behind(*m).as_chunks::<GROUP>().0[vectors.clone()];
            for (source, sums) in source.iter().zip(&mut sums) {
                let codes = load(source);
                let mut last = codes;
                for (p, sum) in sums.iter_mut().enumerate() {
                    *sum |= one_hot(p, &mut last, codes);
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

/// The transposition: a word has a byte of each plane.
pub fn free_words(hits: &Planes, free: &mut [u64; LANES]) {
    let values = Vector::splat(u64::MAX >> 1);
    for (part, free) in free.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let reached = transposed(array_of(|p| load(&hits[p].as_chunks::<GROUP>().0[part])));
        for (free, reached) in free.as_chunks_mut::<2>().0.iter_mut().zip(&reached) {
            store(free, values.without(*reached));
        }
    }
}

#[inline(never)] // compiled here, not where it is used
pub fn parts() -> &'static dyn Decoder {
    &backend!(|from, moves, planes, hits| by_planes!(planes, accumulate(from, moves, hits)), free_words)
}
