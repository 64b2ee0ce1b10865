//! Plain sets of lines: the baseline of hash sets, and bytes.

use super::attack_lines::{Certified, Lines, Partner, drive};
use super::{DENSITY, Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

pub mod hash_sets {
    //! The baseline: the source's algorithm with its three faults repaired. One standard hash set (SipHash) per family of
    //! lines; every `m > n` is tried in turn, or only those that the certificate leaves: linear instead of quadratic.
    //!
    //! Cost: about `0.3 M` candidates for each of `0.24 M` positions; the first look-up or two reject nearly all of them. With the
    //! certificate a few look-ups and six insertions for each position.
    //! Bound: hashing, then with the certificate cache misses once the sets outgrow the cache.
    //! Source: a published solution of Project Euler 665. As printed it stops with an index error; see
    //! `nimlanes::games::proportionate_nim`.

    use super::*;
    use std::collections::HashSet;

    /// One hash set per family of lines.
    #[derive(Default)]
    pub struct HashSets {
        used: HashSet<usize>,
        difference: HashSet<usize>,
        /// Modulo a power of two: a set of another type would be compiled as well.
        twice: HashSet<usize>,
        sum: HashSet<usize>,
    }

    impl HashSets {
        #[inline(always)]
        fn is_attacked(&self, n: usize, m: usize) -> bool {
            self.difference.contains(&(m - n))
                || self.twice.contains(&twice(n, m))
                || self.used.contains(&m)
                || self.sum.contains(&(2 * m - n))
        }
    }

    impl Lines for HashSets {
        fn mark(&mut self, n: usize, m: usize) {
            self.used.extend([n, m]);
            self.difference.insert(m - n);
            self.twice.extend([twice(n, m), twice(m, n)]);
            self.sum.insert(2 * m - n);
        }

        fn is_used(&self, n: usize) -> bool {
            self.used.contains(&n)
        }

        #[inline(always)]
        fn find(&mut self, n: usize, first: usize, last: usize) -> Option<usize> {
            (first..=last).find(|m| !self.is_attacked(n, *m))
        }
    }

    impl Certified for HashSets {
        fn has_difference(&self, difference: usize) -> bool {
            self.difference.contains(&difference)
        }

        fn has_below(&self, below: usize) -> bool {
            self.twice.contains(&below.wrapping_neg())
        }
    }

    /// `m - 2n`.
    fn twice(n: usize, m: usize) -> usize {
        m.wrapping_sub(2 * n)
    }

    /// Bytes of the sets. The buckets of a set are a power of two, a word and a byte each, and seven in eight can be
    /// filled. Two of the sets have twice as many members, so all four grow at the same time, one after the other. While
    /// the largest grows, half a set exists in addition.
    fn bytes(input: &ProportionateNim) -> f64 {
        let members = DENSITY * input.limit() as f64 + 1.0;
        let buckets = (8.0 / 7.0 * members).log2().ceil().exp2();
        let set = 9.0 * buckets;
        (1.0 + 1.0 + 2.0 + 2.0 + 0.5) * set
    }

    /// Rates: ns of a run, of a unit of the limit, and of the square of the limit.
    pub fn cost(input: &ProportionateNim, _: CostContext, [start, unit, square]: [f64; 3]) -> Cost {
        let limit = input.limit() as f64;
        input.published(start + unit * limit + square * limit * limit, bytes(input))
    }

    /// With the certificate: six marks per P-position, each a store.
    pub fn needs(_: &ProportionateNim) -> Needs {
        Needs { cycles: 6.0, ..Needs::default() }
    }

    #[inline(always)]
    pub fn run(input: &ProportionateNim, run: &Run, partner: impl Partner<HashSets>) -> Result<Positions, RunError> {
        drive(input, run, HashSets::default(), partner)
    }
}

pub mod byte_table {
    //! One byte per line, every `m > n` tried in turn, or only those that the certificate leaves: the plain program to beat.
    //!
    //! Cost: the candidates of `hash_sets`, one or two loads each. With the certificate about four candidates and six scattered byte
    //! stores for each P-position.
    //! Bound: the loop of one test after another. LLVM does not vectorise a loop with an early exit. With the certificate mispredicted
    //! branches; beyond the cache, the seven streams of cache lines that the stores touch.

    pub use super::hash_sets::needs;
    use super::*;

    /// One byte per line.
    pub struct ByteTable {
        used: Vec<bool>,
        difference: Vec<bool>,
        /// At `m - 2n + half`.
        twice: Vec<bool>,
        sum: Vec<bool>,
        half: usize,
    }

    impl ByteTable {
        fn new(limit: usize) -> Self {
            let half = limit / 2;
            ByteTable {
                used: vec![false; limit + 1],
                difference: vec![false; limit + 1],
                twice: vec![false; half + limit + 1],
                sum: vec![false; 2 * limit + 1],
                half,
            }
        }

        #[inline(always)]
        fn is_attacked(&self, n: usize, m: usize) -> bool {
            self.difference[m - n] || self.twice[self.half + m - 2 * n] || self.used[m] || self.sum[2 * m - n]
        }
    }

    impl Lines for ByteTable {
        #[inline(always)]
        fn mark(&mut self, n: usize, m: usize) {
            self.used[n] = true;
            self.used[m] = true;
            self.difference[m - n] = true;
            self.twice[self.half + m - 2 * n] = true;
            if 2 * m - n <= self.half {
                self.twice[self.half - (2 * m - n)] = true;
            }
            self.sum[2 * m - n] = true;
        }

        #[inline(always)]
        fn is_used(&self, n: usize) -> bool {
            self.used[n]
        }

        #[inline(always)]
        fn find(&mut self, n: usize, first: usize, last: usize) -> Option<usize> {
            (first..=last).find(|m| !self.is_attacked(n, *m))
        }
    }

    impl Certified for ByteTable {
        #[inline(always)]
        fn has_difference(&self, difference: usize) -> bool {
            self.difference[difference]
        }

        #[inline(always)]
        fn has_below(&self, below: usize) -> bool {
            self.twice[self.half - below]
        }
    }

    /// Rates: ns of a run, of a unit of the limit if the tables stay in the caches and if they do not, and of the square of the limit.
    pub fn cost(input: &ProportionateNim, _: CostContext, [start, small, large, square]: [f64; 4]) -> Cost {
        let limit = input.limit() as f64;
        let unit = if limit < 1e5 { small } else { large };
        input.published(start + unit * limit + square * limit * limit, 5.5 * limit)
    }

    #[inline(always)]
    pub fn run(input: &ProportionateNim, run: &Run, partner: impl Partner<ByteTable>) -> Result<Positions, RunError> {
        drive(input, run, ByteTable::new(input.limit() as usize), partner)
    }
}
