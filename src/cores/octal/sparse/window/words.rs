//! Words: a bit for each code, set by a shift. The compiler does several heaps at once where lanes shift separately.

use super::super::codes::{LANES, Move};
use super::{Block, CODES, Lanes, Loops, Moves, SHORT, loops};

/// Compiled for the build's target.
pub fn portable() -> Loops {
    loops!(Plain)
}

/// Lanes in plain Rust.
pub struct Plain;

/// ORs what one move reaches into the words.
#[inline(always)]
fn reach<const HEAPS: usize>(codes: &[u8], n: usize, shift: usize, code: u8, words: &mut [u64; HEAPS]) {
    let from: &[u8; HEAPS] = codes[n - shift..].first_chunk().expect("codes are padded by a block");
    for (word, from) in words.iter_mut().zip(from) {
        *word |= 1 << ((from ^ code) % CODES as u8);
    }
}

impl Lanes for Plain {
    const BLOCK: usize = LANES;
    const HAS_PLANES: bool = false;

    #[inline(always)]
    fn block(&self, codes: &[u8], n: usize, moves: &Moves, _: usize, words: &mut [u64]) {
        let words: &mut [u64; LANES] = words.try_into().expect("a block");
        *words = [0; LANES];
        for (code, shifts) in moves.groups() {
            for shift in shifts {
                reach(codes, n, *shift, code, words);
            }
        }
    }

    #[inline(always)]
    fn short(&self, codes: &[u8], n: usize, moves: &[Move], _: usize, words: &mut [u64; SHORT]) {
        for m in moves {
            reach(codes, n, m.shift, m.code as u8, words);
        }
    }

    #[inline(always)]
    fn is_split(&self, a: &Block, b: &Block, code: u8) -> bool {
        a.iter().zip(b).fold(false, |any, (a, b)| any | (a ^ b == code))
    }

    #[inline(always)]
    fn worth(&self) -> f64 {
        0.06
    }
}
