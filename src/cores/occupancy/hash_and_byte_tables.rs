//! Plain sets of lines: the baseline of hash sets, and bytes.

use super::attack_lines::{Lines, Partner, Set, drive};
use super::{CACHED, DENSITY, Positions, ProportionateNim};
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

    impl Set for HashSet<usize> {
        fn new(_: usize) -> Self {
            HashSet::new()
        }

        #[inline(always)]
        fn insert(&mut self, i: usize) {
            HashSet::insert(self, i);
        }

        #[inline(always)]
        fn contains(&self, i: usize) -> bool {
            HashSet::contains(self, &i)
        }
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
    pub fn run(
        input: &ProportionateNim,
        run: &Run,
        partner: impl Partner<Lines<HashSet<usize>>>,
    ) -> Result<Positions, RunError> {
        let limit = input.limit() as usize;
        // Every value `m - 2n` is kept, so the sets grow as `bytes` says.
        drive(input, run, Lines::with(limit, 2 * limit), partner)
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

    impl Set for Vec<bool> {
        fn new(size: usize) -> Self {
            vec![false; size]
        }

        #[inline(always)]
        fn insert(&mut self, i: usize) {
            self[i] = true;
        }

        #[inline(always)]
        fn contains(&self, i: usize) -> bool {
            self[i]
        }
    }

    /// Bytes for a unit of the limit.
    const BYTES: f64 = 5.5;

    /// Rates: ns of a run, of a unit of the limit if the tables stay in the caches and if they do not, and of the square of the limit.
    pub fn cost(input: &ProportionateNim, _: CostContext, [start, small, large, square]: [f64; 4]) -> Cost {
        let limit = input.limit() as f64;
        let unit = if limit < CACHED { small } else { large };
        input.published(start + unit * limit + square * limit * limit, BYTES * limit)
    }

    #[inline(always)]
    pub fn run(
        input: &ProportionateNim,
        run: &Run,
        partner: impl Partner<Lines<Vec<bool>>>,
    ) -> Result<Positions, RunError> {
        drive(input, run, Lines::new(input.limit() as usize), partner)
    }
}
