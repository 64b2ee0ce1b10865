//! Words: a bit for each code, set by a shift. The compiler does several heaps at once where lanes shift separately.

use super::super::codes::{LANES, Move};
use super::{Block, CODES, Lanes, Loops, Moves, SHORT, loops};

/// Compiled for the build's target.
pub fn portable() -> Loops {
    loops!(lanes())
}

/// The parts in plain Rust.
#[inline(always)]
pub fn lanes() -> Lanes {
    Lanes { size: LANES, has_planes: false, worth: 0.06, block, short, is_split }
}

/// ORs what one move reaches into the words.
#[inline(always)]
fn reach<const HEAPS: usize>(codes: &[u8], n: usize, shift: usize, code: u8, words: &mut [u64; HEAPS]) {
    let from: &[u8; HEAPS] = codes[n - shift..].first_chunk().expect("codes are padded by a block");
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
pub fn is_split(a: &Block, b: &Block, code: u8) -> bool {
    a.iter().zip(b).fold(false, |any, (a, b)| any | (a ^ b == code))
}
