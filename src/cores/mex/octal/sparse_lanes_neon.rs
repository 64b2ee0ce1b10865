//! Sparse byte lanes decoded by `tbl`, 16 heaps at a time. An XOR moves the codes of a group of 16 to 0..=15 and all others past
//! 15, where `tbl` gives zero: so two lookups are the one-hot bytes of the two planes of the group, without a comparison.
//!
//! Cost per 16 heaps, move and two planes: an XOR, two lookups, two ORs.
//! Bound (llvm-mca, Neoverse V2): the four vector ports, 22 cycles for 64 heaps and eight planes.

use std::arch::aarch64::*;
use std::array::from_fn;

use super::codes::{LANES, Move};
use super::drive::{self, Alone};
use super::inner::{ASKED, Inner, Parts, Planes};
use super::sparse_lanes::search;
use super::{Octal, Start};
use crate::cores::mex::lanes::neon::free_words;
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};
use crate::simd::neon::{load, store};

/// Nanoseconds for a move and a block.
pub const NS: f64 = 32.0;

pub fn cost(input: &Octal, _: CostContext) -> Cost {
    drive::cost(input, NS)
}

/// Codes of one group.
const GROUP: usize = 16;

/// The one-hot bits of the first or second plane of a group, by the low four bits of the code.
const fn table(plane: usize) -> [u8; GROUP] {
    let mut table = [0; GROUP];
    let mut i = 0;
    while i < 8 {
        table[8 * plane + i] = 1 << i;
        i += 1;
    }
    table
}

/// The codes that a move reads from the block at `n`, as vectors.
#[inline(always)]
fn source<'a>(codes: &'a [u8], n: usize, m: &Move) -> &'a [[u8; 16]; LANES / 16] {
    codes[n - m.shift..].as_chunks().0.first_chunk().expect("codes are padded by a block")
}

#[inline]
#[target_feature(enable = "neon")]
fn decode(codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes) {
    let tables = [load(&table(0)), load(&table(1))];
    // Eight planes of 32 heaps at a time stay in registers.
    for (first, planes) in (0..planes).step_by(8).zip(hits.chunks_exact_mut(8)) {
        for half in [0, 2] {
            let mut sums: [[uint8x16_t; 2]; 8] =
                from_fn(|p| from_fn(|q| load(&planes[p].as_chunks::<16>().0[half + q])));
            for m in moves {
                let source = source(codes, n, m);
                let code = [half, half + 1].map(|q| veorq_u8(load(&source[q]), vdupq_n_u8(m.code as u8)));
                for (group, sums) in sums.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                    let group = vdupq_n_u8((GROUP * (first / 2 + group)) as u8);
                    let low = code.map(|code| veorq_u8(code, group));
                    for (sums, table) in sums.iter_mut().zip(tables) {
                        for (sum, low) in sums.iter_mut().zip(low) {
                            *sum = vorrq_u8(*sum, vqtbl1q_u8(table, low));
                        }
                    }
                }
            }
            for (plane, sums) in planes.iter_mut().zip(sums) {
                for (q, sum) in sums.into_iter().enumerate() {
                    store(&mut plane.as_chunks_mut::<16>().0[half + q], sum);
                }
            }
        }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn tests(codes: &[u8], n: usize, moves: &[Move], asked: &[[u8; LANES]; ASKED]) -> [u64; ASKED] {
    let asked = asked.each_ref().map(|asked| -> [uint8x16_t; 4] { from_fn(|q| load(&asked.as_chunks::<16>().0[q])) });
    let mut hits = [[vdupq_n_u8(0); 4]; ASKED];
    for m in moves {
        let source = source(codes, n, m);
        let code: [_; 4] = from_fn(|q| veorq_u8(load(&source[q]), vdupq_n_u8(m.code as u8)));
        for (hits, asked) in hits.iter_mut().zip(&asked) {
            for q in 0..4 {
                hits[q] = vorrq_u8(hits[q], vceqq_u8(code[q], asked[q]));
            }
        }
    }
    // Each lane keeps its bit of a byte; pairs of lanes are added until a byte has eight.
    let bit = load(&[1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128u8]);
    hits.map(|hits| {
        let [a, b, c, d] = hits.map(|hits| vandq_u8(hits, bit));
        let sum = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
    })
}

/// The inner parts.
#[inline]
#[target_feature(enable = "neon")]
pub fn parts(worth: Option<[f64; 2]>) -> impl Inner {
    Parts {
        ns: NS,
        tier: Tier::Neon,
        worth,
        planes: |least: usize| least.next_multiple_of(8),
        decode: |codes: &_, n, moves: &_, planes, hits: &mut _| decode(codes, n, moves, planes, hits),
        words: |hits: &_, free: &mut _| free_words(hits, free),
        tests: |codes: &_, n, moves: &_, asked: &_| tests(codes, n, moves, asked),
        search: |a: &_, b: &_, open: &mut _| search(a, b, open),
    }
}

#[target_feature(enable = "neon")]
pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Vec<u16>, RunError> {
    drive::drive(input, run, start, &parts(None), &mut Alone)
}
