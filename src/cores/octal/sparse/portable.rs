//! The parts in plain Rust.
//!
//! *Blocks.* Arithmetic on arrays of 64 bytes gives the one-hot bits of each plane: a comparison, an AND and an OR for each.
//!
//! *Windows.* A bit for each code, set by a shift. The compiler does several heaps at once where lanes shift separately.
//!
//! Bound: these operations, as the compiler vectorises them.

use super::chain::SHORT;
use super::codes::{LANES, Move, codes_at};
use super::window::{CODES, CodeBlock, Moves, WindowOps};
use super::{Backend, BlockOps, Chunk, Planes, TESTED, compiled};
use crate::cores::mex::lanes::plain::free_words;

#[inline(always)]
fn decode(codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes) {
    for m in moves {
        let source = codes_at::<LANES>(codes, n - m.shift);
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
pub fn search(a: &Chunk, b: &Chunk, unresolved: &mut [u8]) -> usize {
    let mut kept = 0;
    for i in 0..unresolved.len() {
        let mut hits = 0;
        for (a, b) in a.iter().zip(b) {
            hits |= u8::from(a ^ b == unresolved[i]);
        }
        unresolved[kept] = unresolved[i];
        kept += usize::from(hits == 0);
    }
    kept
}

#[inline(always)]
pub fn tests(codes: &[u8], n: usize, moves: &[Move], tested: &[[u8; LANES]; TESTED]) -> [u64; TESTED] {
    let mut hits = [[false; LANES]; TESTED];
    for m in moves {
        let source = codes_at::<LANES>(codes, n - m.shift);
        for (hits, tested) in hits.iter_mut().zip(tested) {
            for lane in 0..LANES {
                hits[lane] |= source[lane] ^ m.code as u8 == tested[lane];
            }
        }
    }
    hits.map(|hits| (0..LANES).fold(0, |word, lane| word | u64::from(hits[lane]) << lane))
}

pub fn parts() -> Backend {
    compiled!("greedy", "candidates", block_ops(), window_ops())
}

#[inline(always)]
fn block_ops() -> BlockOps {
    BlockOps { planes: |least| least, decode, words: free_words, tests, search }
}

/// Operations in plain Rust.
#[inline(always)]
pub fn window_ops() -> WindowOps {
    WindowOps { size: LANES, has_planes: false, worth: 0.06, block, short, is_split }
}

/// ORs what one move reaches into the words.
#[inline(always)]
fn reach<const HEAPS: usize>(codes: &[u8], n: usize, shift: usize, code: u8, words: &mut [u64; HEAPS]) {
    let from = codes_at::<HEAPS>(codes, n - shift);
    for (word, from) in words.iter_mut().zip(from) {
        *word |= 1 << ((from ^ code) % CODES as u8);
    }
}

#[inline(always)]
fn block(codes: &[u8], n: usize, moves: &Moves, _: usize, words: &mut [u64]) {
    let words: &mut [u64; LANES] = words.try_into().expect("a block");
    *words = [0; LANES];
    for (code, shifts) in moves.groups() {
        for shift in shifts {
            reach(codes, n, *shift, code, words);
        }
    }
}

#[inline(always)]
fn short(codes: &[u8], n: usize, moves: &[Move], _: usize, words: &mut [u64; SHORT]) {
    for m in moves {
        reach(codes, n, m.shift, m.code as u8, words);
    }
}

#[inline(always)]
pub fn is_split(a: &CodeBlock, b: &CodeBlock, code: u8) -> bool {
    a.iter().zip(b).fold(false, |any, (a, b)| any | (a ^ b == code))
}
