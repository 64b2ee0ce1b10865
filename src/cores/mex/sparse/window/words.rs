//! Words: a bit for each code, set by a shift. The compiler does several heaps at once where lanes shift separately.

use super::super::codes::{LANES, Move};
use super::{Block, CODES, Loops, Moves, SHORT, Window, Words};

/// Compiled for the tier of the function that this is in, as closures are.
macro_rules! loops {
    () => {{
        use $crate::cores::mex::sparse::window::{Loops, words};
        Loops {
            compute: |window, codes, n| window.compute(codes, n, words::block, words::short),
            verify: |window, codes, n, odd, is_reached| {
                window.verify(codes, n, odd, words::open, words::is_split, is_reached)
            },
            worth: 0.003,
        }
    }};
}
pub(in super::super) use loops;

/// Compiled for the build's target.
pub fn portable() -> Loops {
    loops!()
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
pub fn block(codes: &[u8], n: usize, moves: &Moves, _: usize, words: &mut Words) {
    for (code, shifts) in moves.groups() {
        for shift in shifts {
            reach(codes, n, *shift, code, words);
        }
    }
}

#[inline(always)]
pub fn short(codes: &[u8], n: usize, moves: &[Move], _: usize, words: &mut [u64; SHORT]) {
    for m in moves {
        reach(codes, n, m.shift, m.code as u8, words);
    }
}

#[inline(always)]
pub fn open(codes: &[u8], n: usize, odd: usize, window: &Window, words: &mut Words) -> u64 {
    block(codes, n, &window.heads, window.planes, words);
    let block: &Block = codes[n..].first_chunk().expect("codes are padded by a block");
    let mut open = 0;
    for lane in 0..LANES {
        words[lane] = window.needed[(odd + lane) % 2][usize::from(block[lane]) % CODES] & !words[lane];
        open |= u64::from(words[lane] != 0) << lane;
    }
    open
}

#[inline(always)]
pub fn is_split(a: &Block, b: &Block, code: u8) -> bool {
    a.iter().zip(b).fold(false, |any, (a, b)| any | (a ^ b == code))
}
