//! Families of lines that can find their next free line, over any set that supports it. In the search each family in
//! turn moves a candidate up to its next free line, until none blocks it.

use self::tree::Tree;
use super::attack_lines::{Lines, Search, Set, drive, every};
use super::{CACHED, Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// A set of numbers that can find its first gap from a number on.
pub trait NextFree: Set {
    /// The first number from `i` on that is not a member, at most `size`. A query may shorten the path of later ones.
    fn first_free(&mut self, i: usize) -> usize;
}

/// A set for each family of lines that the search skips along, and plain bits for the last family.
type FreeLines<F> = Lines<F, Vec<u64>>;

impl<F: NextFree> Search for FreeLines<F> {
    #[inline(always)]
    fn find(&mut self, n: usize, first: usize, last: usize) -> Option<usize> {
        let mut m = first;
        while m <= last {
            let next = self.push(n, m, last);
            if next == m {
                return Some(m);
            }
            m = next;
        }
        None
    }
}

impl<F: NextFree> FreeLines<F> {
    /// Moves `m` past the lines that block it, one family after another. Returns `m` itself if nothing blocks it, and a
    /// number past `last` if a family leads there.
    #[inline(always)]
    fn push(&mut self, n: usize, m: usize, last: usize) -> usize {
        let m = n + self.difference.first_free(m - n);
        let m = self.twice.first_free(self.half + m - 2 * n) + 2 * n - self.half;
        if m > last {
            return m;
        }
        let m = self.used.first_free(m);
        m + usize::from(m <= last && self.sum.contains(2 * m - n))
    }
}

/// Finds the partner of every `n` among all `m > n`.
#[inline(always)]
fn drive_by<F: NextFree>(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
    drive(input, run, FreeLines::<F>::new(input.limit() as usize), every::parts())
}

pub mod union_find {
    //! The best published algorithm: three arrays "next free line from here on" (used, difference, twice), shortened by
    //! path halving, and a row of bits (sum). Each array in turn moves a candidate up to its next free line, until none
    //! blocks it.
    //!
    //! Cost: a handful of jumps for each P-position. No certificate is needed.
    //! Bound: cache misses in arrays of four bytes per line.
    //! Source: the fastest published solutions of Project Euler 665.

    use super::*;
    /// For each number, one that is not smaller and not past its next free number; a free number links to itself.
    struct Links(Vec<u32>);

    impl Set for Links {
        fn new(size: usize) -> Self {
            Links((0..=size as u32).collect())
        }

        fn insert(&mut self, i: usize) {
            self.0[i] = i as u32 + 1;
        }

        fn contains(&self, i: usize) -> bool {
            self.0[i] as usize != i
        }
    }

    impl NextFree for Links {
        #[inline(always)]
        fn first_free(&mut self, mut i: usize) -> usize {
            while self.0[i] as usize != i {
                let next = self.0[i] as usize;
                self.0[i] = self.0[next];
                i = self.0[i] as usize;
            }
            i
        }
    }

    /// Bytes for a unit of the limit.
    const BYTES: f64 = 14.3;

    /// Rates: ns of a run, and of a unit of the limit if the tables stay in the caches and if they do not.
    pub fn cost(input: &ProportionateNim, _: CostContext, [start, small, large]: [f64; 3]) -> Cost {
        let limit = input.limit() as f64;
        let unit = if limit < CACHED { small } else { large };
        // Line numbers are u32.
        input.published(start + unit * limit, BYTES * limit).only_if(1.5 * limit < f64::from(u32::MAX) - 4.0)
    }

    pub fn run(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
        drive_by::<Links>(input, run)
    }
}

pub mod hierarchical {
    //! `Next free` in 64-ary trees of bits: one bit above each word of a row says whether the word is full, and so on up.
    //! Each row in turn moves a candidate up to its next free line, until none blocks it.
    //!
    //! Cost: a handful of jumps for each P-position, each a walk through two or three levels. No certificate is needed.
    //! Bound: dependent loads and mispredicted branches. One bit per line: a twentieth of the memory of `union_find`.

    use super::*;
    impl NextFree for Tree {
        #[inline(always)]
        fn first_free(&mut self, i: usize) -> usize {
            Tree::first_free(self, i)
        }
    }

    /// Bytes for a unit of the limit.
    const BYTES: f64 = 0.7;

    /// Rate: ns of a unit of the limit.
    pub fn cost(input: &ProportionateNim, _: CostContext, [unit]: [f64; 1]) -> Cost {
        let limit = input.limit() as f64;
        input.published(unit * limit, BYTES * limit)
    }

    pub fn run(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
        drive_by::<Tree>(input, run)
    }
}

pub mod tree {
    //! Bit rows with a summary, which find the next free number in a few steps.

    use crate::cores::occupancy::attack_lines::Set;
    use crate::simd::bits::{WORD, first_zero, window};

    /// A set of numbers that can find its first gap from a number on: a row of bits, a bit above each of its words that
    /// says whether the word is full, and so on up.
    pub struct Tree {
        /// Bits of the members, then bits of the full words, level by level up to a single word.
        levels: Vec<Vec<u64>>,
    }

    impl Set for Tree {
        /// The bits past the end of a level stay zero, so a search always ends.
        fn new(size: usize) -> Self {
            let mut levels = vec![vec![0; size / WORD + 1]];
            while let Some(top) = levels.last().filter(|level| level.len() > 1) {
                let words = top.len() / WORD + 1;
                levels.push(vec![0; words]);
            }
            Tree { levels }
        }

        fn insert(&mut self, mut i: usize) {
            for level in &mut self.levels {
                level[i / WORD] |= 1 << (i % WORD);
                if level[i / WORD] != u64::MAX {
                    break;
                }
                i /= WORD;
            }
        }

        fn contains(&self, i: usize) -> bool {
            self.levels[0][i / WORD] >> (i % WORD) & 1 == 1
        }
    }

    impl Tree {
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
}
