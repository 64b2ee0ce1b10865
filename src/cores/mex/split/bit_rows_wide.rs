//! [`super::bit_rows`] with the butterfly on the eight words of a line at once. `wide` cannot exchange lanes, so words are
//! reordered within their line when they are stored.
//!
//! Cost and bound: as in `bit_rows`, with a sixth of the instructions in an AVX-512 build. A default build has 128-bit vectors.

use wide::u64x8;

use super::Split;
use super::bit_rows::{FIELDS, LINE, drive, translations};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::WORD;

pub fn cost(input: &Split, _: CostContext) -> Cost {
    translations(input, 6.0, 0.5)
}

pub fn run(input: &Split, run: &Run) -> Result<Vec<u32>, RunError> {
    drive(input, run, |union, row, value| {
        let (line, lane) = (value / WORD / LINE, value / WORD % LINE);
        for (i, words) in row.iter().enumerate() {
            let mut v = u64x8::new(*words);
            for (level, mask) in FIELDS.into_iter().enumerate() {
                if value >> level & 1 == 1 {
                    let mask = u64x8::splat(mask);
                    v = ((v & mask) << (1 << level)) | ((v >> (1 << level)) & mask);
                }
            }
            let to = &mut union[i ^ line];
            v.to_array().into_iter().enumerate().for_each(|(w, word)| to[w ^ lane] |= word);
        }
    })
}
