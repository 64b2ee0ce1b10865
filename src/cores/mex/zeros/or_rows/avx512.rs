//! Rows ORed in 512-bit vectors: the sixteen vectors of a chunk stay in registers while the moves are applied.
//!
//! A load that touches two cache lines counts as two. Since a chunk is contiguous, its source is loaded in whole lines, and a
//! permutation of the bytes of two neighbouring lines (`vpermt2b`) extracts the bytes that the move reads.
//!
//! Cost per move and line of 512 heaps: a load, a permutation and an OR.
//! Bound (Zen 4): the permutation, one per cycle. Loads of lines from L1 and L2 take as long again.

use std::arch::x86_64::*;

use super::{LINE, OrRows};
use crate::machine::isa::tier;
use crate::simd::array_of;
use crate::simd::avx512::{load, store};

/// Lines of a chunk.
const LINES: usize = 16;

/// For each offset in a line, the indices of the 64 bytes from there on, across this line and the next.
static FROM: [[u8; LINE]; LINE] = {
    let mut from = [[0; LINE]; LINE];
    let mut offset = 0;
    while offset < LINE {
        let mut byte = 0;
        while byte < LINE {
            from[offset][byte] = (offset + byte) as u8;
            byte += 1;
        }
        offset += 1;
    }
    from
};

#[tier(Avx512)]
fn or_rows(row: &[u8], at: usize, back: &[usize], hits: &mut [u8]) {
    let (chunks, single) = hits.as_chunks_mut::<LINE>().0.as_chunks_mut::<LINES>();
    let after = at + chunks.len() * LINES * LINE;
    for (c, chunk) in chunks.iter_mut().enumerate() {
        or_chunk(row, at + c * LINES * LINE, back, chunk);
    }
    for (l, line) in single.iter_mut().enumerate() {
        let mut sum = load(line);
        for back in back {
            let source: &[u8; LINE] = row[after + l * LINE - back..].first_chunk().expect("the row has one more line");
            sum = _mm512_or_si512(sum, load(source));
        }
        store(line, sum);
    }
}

#[tier(Avx512)]
fn or_chunk(row: &[u8], at: usize, back: &[usize], chunk: &mut [[u8; LINE]; LINES]) {
    // The offset of the row in its cache line, since its allocation is not aligned to lines.
    let begin = row.as_ptr() as usize % LINE;
    let mut sum: [__m512i; LINES] = array_of(|l| load(&chunk[l]));
    for back in back {
        let offset = (begin + at - back) % LINE;
        let whole = row[at - back - offset..].as_chunks().0;
        let whole: &[[u8; LINE]; LINES + 1] = whole.first_chunk().expect("the row has one more line");
        let from = load(&FROM[offset]);
        let mut line = load(&whole[0]);
        for (sum, next) in sum.iter_mut().zip(&whole[1..]) {
            let next = load(next);
            *sum = _mm512_or_si512(*sum, _mm512_permutex2var_epi8(line, from, next));
            line = next;
        }
    }
    for (line, sum) in chunk.iter_mut().zip(&sum) {
        store(line, *sum);
    }
}

#[inline]
#[tier(Avx512)]
pub fn parts() -> impl OrRows {
    |row: &[u8], at: usize, back: &[usize], hits: &mut [u8]| or_rows(row, at, back, hits)
}
