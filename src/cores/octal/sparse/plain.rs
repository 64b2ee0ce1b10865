//! The parts in plain Rust: arithmetic on arrays of 64 bytes gives the one-hot bits of each plane.
//!
//! Cost per block, move and plane: a comparison, an AND and an OR on 64 lanes.
//! Bound: these operations, as the compiler vectorises them.

use super::codes::{LANES, Move};
use super::window::words;
use super::{ASKED, Chunk, Compiled, Inner, Pace, Planes, compiled};
use crate::cores::mex::lanes::plain::free_words;

/// As measured with the vectors of the default build.
pub const PACE: Pace = Pace::of("greedy", "candidates");

#[inline(always)]
fn decode(codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes) {
    for m in moves {
        let source: &[u8; LANES] = codes[n - m.shift..].first_chunk().expect("codes are padded by a block");
        let (mut bit, mut plane) = ([0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let code = source[lane] ^ m.code as u8;
            (bit[lane], plane[lane]) = (1 << (code % 8), code / 8);
        }
        for (p, hits) in hits[..planes].iter_mut().enumerate() {
            for lane in 0..LANES {
                hits[lane] |= if plane[lane] == p as u8 { bit[lane] } else { 0 };
            }
        }
    }
}

#[inline(always)]
pub fn search(a: &Chunk, b: &Chunk, open: &mut [u8]) -> usize {
    let mut kept = 0;
    for i in 0..open.len() {
        let mut hits = 0;
        for (a, b) in a.iter().zip(b) {
            hits |= u8::from(a ^ b == open[i]);
        }
        open[kept] = open[i];
        kept += usize::from(hits == 0);
    }
    kept
}

#[inline(always)]
pub fn tests(codes: &[u8], n: usize, moves: &[Move], asked: &[[u8; LANES]; ASKED]) -> [u64; ASKED] {
    let mut hits = [[false; LANES]; ASKED];
    for m in moves {
        let source: &[u8; LANES] = codes[n - m.shift..].first_chunk().expect("codes are padded by a block");
        for (hits, asked) in hits.iter_mut().zip(asked) {
            for lane in 0..LANES {
                hits[lane] |= source[lane] ^ m.code as u8 == asked[lane];
            }
        }
    }
    hits.map(|hits| (0..LANES).fold(0, |word, lane| word | u64::from(hits[lane]) << lane))
}

/// The parts in plain Rust.
pub fn parts() -> Compiled {
    compiled!(inner(), PACE, words::portable())
}

#[inline(always)]
fn inner() -> Inner {
    Inner { planes: |least| least, decode, words: free_words, tests, search }
}
