//! Plain words, searched one by one, from the lowest on; the first that has a free candidate ends the search.
//!
//! Cost: for a word nine loads and three shifts.
//! Bound: the mispredicted end of a search, then its instructions.

use super::{BAND, Found, Loops, Step, Visit, loops};
use crate::simd::bits::{WORD, funnel};
use crate::simd::line::{Line, WORDS};

/// The parts of plain Rust.
pub fn parts() -> Loops {
    loops!(search, full_words)
}

/// Searches the pairs of a step; returns those that found something.
#[inline(always)]
fn search(step: &Step<'_>, pairs: u64, found: &mut Found) -> u64 {
    let (mut left, mut hits) = (pairs, 0);
    while left != 0 {
        let k = left.trailing_zeros() as usize % BAND;
        left &= left - 1;
        let Visit { by_z: [one_x, one_y, two], gap, all, layer } = step.visit(k);
        let of_two = |lines: [&Line; 2], word: usize| lines[word / WORDS % 2].word(word);
        for i in 0..WORDS {
            let by_z = one_x.word(i) | one_y.word(i) | two.word(i);
            let of_both = |word: usize| of_two(gap, word) | of_two(all, word);
            let (before, by_gap) = (of_both(step.word + i), of_both(step.word + i + 1));
            // The last `k` bits of the word before come first.
            let by_gap = by_gap << k | before >> 1 >> (WORD - 1 - k);
            let word = step.place / WORD + i;
            let layer = funnel(of_two(layer, word), of_two(layer, word + 1), step.place % WORD);
            let free = !(by_z | by_gap | layer);
            if free != 0 {
                found.free[k].0[i] = free;
                found.words[k] = 1 << i;
                hits |= 1 << k;
                break;
            }
        }
    }
    hits
}

/// A bit for each word of a line that has no free place.
#[inline(always)]
fn full_words(line: &Line) -> u8 {
    let mut full = 0;
    for word in 0..WORDS {
        full |= u8::from(line.word(word) == u64::MAX) << word;
    }
    full
}
