//! Bit rows with a summary, which find the next free number in a few steps.

use crate::simd::bits::{WORD, first_zero, window};

/// A set of numbers that can find its first gap from a number on: a row of bits, a bit above each of its words that
/// says whether the word is full, and so on up.
pub struct Tree {
    /// Bits of the members, then bits of the full words, level by level up to a single word.
    levels: Vec<Vec<u64>>,
}

impl Tree {
    /// No members; room for `0..size`. The bits past the end of a level stay zero, so a search always ends.
    pub fn new(size: usize) -> Self {
        let mut levels = vec![vec![0; size / WORD + 1]];
        while let Some(top) = levels.last().filter(|level| level.len() > 1) {
            let words = top.len() / WORD + 1;
            levels.push(vec![0; words]);
        }
        Tree { levels }
    }

    pub fn insert(&mut self, mut i: usize) {
        for level in &mut self.levels {
            level[i / WORD] |= 1 << (i % WORD);
            if level[i / WORD] != u64::MAX {
                break;
            }
            i /= WORD;
        }
    }

    pub fn contains(&self, i: usize) -> bool {
        self.levels[0][i / WORD] >> (i % WORD) & 1 == 1
    }

    /// Which of the 64 numbers from `i` on are members. There must be room for `i + 64`.
    #[inline(always)]
    pub fn window(&self, i: usize) -> u64 {
        window(&self.levels[0], i)
    }

    /// The first number from `i` on that is not a member.
    #[inline(always)]
    pub fn first_free(&self, mut i: usize) -> usize {
        let mut height = 0;
        // Go up, past the words that are full from here on,
        loop {
            let word = self.levels[height].get(i / WORD).map_or(0, |word| word >> (i % WORD));
            let full = first_zero(word);
            if full < WORD - i % WORD {
                i += full;
                break;
            }
            i = i / WORD + 1;
            height += 1;
        }
        // and down again into the first word that is not.
        while height > 0 {
            height -= 1;
            i = i * WORD + self.levels[height].get(i).map_or(0, |word| first_zero(*word));
        }
        i
    }
}
