//! Codes decoded by lookups in 16 bytes, 16 heaps at a time. An XOR moves the codes of a group of 16 to 0..=15 and all
//! others past 15, for which the lookup gives zero: so two lookups are the one-hot bytes of the two planes of the group, without a
//! comparison.
//!
//! Cost per 16 heaps, move and two planes: an XOR, two lookups, two ORs.
//! Bound (llvm-mca, Neoverse V2): the four vector ports, 22 cycles for 64 heaps and eight planes.

use super::codes::{LANES, Move, one_hot};
use super::portable::{search, window_ops};
use super::{Backend, BlockOps, Planes, TESTED, compiled};
use crate::cores::mex::lanes::v128::free_words;
use crate::simd::v128::{SUMS, Vector, bits, load, lookup, store};
use crate::simd::{array_of, mapped};

/// Codes of one group.
const GROUP: usize = 16;
/// Vectors of a block.
const VECTORS: usize = LANES / 16;
/// Planes that are decoded together, and vectors of heaps for which they stay in registers.
const TOGETHER: usize = 8;
const HELD: usize = SUMS / TOGETHER;

/// The codes that a move reaches from the block at `n`: those that it reads, XORed with its own.
#[inline(always)]
fn reached<const V: usize>(codes: &[u8], n: usize, m: &Move, first: usize) -> [Vector<u8>; V] {
    let source: &[[u8; 16]; VECTORS] =
        codes[n - m.shift..].as_chunks().0.first_chunk().expect("codes are padded by a block");
    array_of(|v| load(&source[first + v]) ^ Vector::splat(m.code as u8))
}

fn decode(codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes) {
    let tables = [load(&one_hot::<GROUP>(0)), load(&one_hot::<GROUP>(1))];
    for (first, planes) in (0..planes).step_by(TOGETHER).zip(hits.chunks_exact_mut(TOGETHER)) {
        for part in (0..VECTORS).step_by(HELD) {
            let mut sums: [[Vector<u8>; HELD]; TOGETHER] =
                array_of(|p| array_of(|q| load(&planes[p].as_chunks::<16>().0[part + q])));
            for m in moves {
                let codes: [_; HELD] = reached(codes, n, m, part);
                for (group, sums) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                    let group = Vector::splat((GROUP * (first / 2 + group)) as u8);
                    let low = mapped(codes, |code| code ^ group);
                    for (sums, table) in sums.iter_mut().zip(tables) {
                        for (sum, low) in sums.iter_mut().zip(low) {
                            *sum |= lookup(table, low);
                        }
                    }
                }
            }
            for (plane, sums) in planes.iter_mut().zip(sums) {
                for (q, sum) in sums.into_iter().enumerate() {
                    store(&mut plane.as_chunks_mut::<16>().0[part + q], sum);
                }
            }
        }
    }
}

fn tests(codes: &[u8], n: usize, moves: &[Move], tested: &[[u8; LANES]; TESTED]) -> [u64; TESTED] {
    let tested = tested.each_ref().map(|tested| -> [_; VECTORS] { array_of(|q| load(&tested.as_chunks::<16>().0[q])) });
    let mut hits = [[Vector::splat(0); VECTORS]; TESTED];
    for m in moves {
        let codes: [_; VECTORS] = reached(codes, n, m, 0);
        for (hits, tested) in hits.iter_mut().zip(&tested) {
            for (hits, (code, tested)) in hits.iter_mut().zip(codes.iter().zip(tested)) {
                *hits |= code.equal(*tested);
            }
        }
    }
    hits.map(bits)
}

pub fn parts() -> Backend {
    compiled!("greedy_neon", "candidates", block_ops(), window_ops())
}

#[inline(always)]
fn block_ops() -> BlockOps {
    BlockOps {
        planes: |least: usize| least.next_multiple_of(TOGETHER),
        decode,
        words: free_words,
        tests,
        search: |a: &_, b: &_, unresolved: &mut _| search(a, b, unresolved),
    }
}
