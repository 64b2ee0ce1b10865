//! The baseline: the source's algorithm. Three byte tables hold the used keys, and every triple is tested against them
//! with seven short-circuit tests, the pair `(x,y)` first.
//!
//! Cost: `N^3 / 6` triples; the first test or two reject most of them.
//! Bound: mispredicted branches, and loads from tables of `N^2` bytes.
//! Source: the Project Euler 260 solution with seven keys; it neither skips a used pair nor stops at the first `z`.

use super::{DENSITY, Positions, Rule, StoneGame};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: ns of the cube and of the square of the heaps.
pub fn cost(input: &StoneGame, _: CostContext, [cube, square]: [f64; 2]) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: cube * n * n * n + square * n * n, bytes: 3.0 * n * n }
}

/// One step of the loop per triple.
pub fn needs(input: &StoneGame) -> Needs {
    Needs { cycles: input.heaps() as f64 / 6.0 / DENSITY, ..Needs::default() }
}

pub fn run(input: &StoneGame, run: &Run) -> Result<Positions, RunError> {
    let mut sink = input.sink();
    let heaps = input.heaps();
    let three_heap_move = input.rule == Rule::AllMoves;
    let mut one = vec![false; heaps * heaps]; // [smaller heap][larger heap]
    let mut two = vec![false; heaps * heaps]; // [heap][difference of the others]
    let mut all = vec![false; heaps * heaps]; // [y - x][z - y]
    // Those of a layer, which has at most one for each `y`.
    let mut found = vec![[0; 3]; heaps];
    for x in 0..heaps {
        let mut positions = 0;
        for y in x..heaps {
            for z in y..heaps {
                let keys = [x * heaps + y, y * heaps + z, x * heaps + z];
                let differences = [x * heaps + z - y, y * heaps + z - x, z * heaps + y - x];
                let both = (y - x) * heaps + z - y;
                if one[keys[0]]
                    || one[keys[1]]
                    || one[keys[2]]
                    || two[differences[0]]
                    || two[differences[1]]
                    || two[differences[2]]
                    || (three_heap_move && all[both])
                {
                    continue;
                }
                found[positions] = [x as u32, y as u32, z as u32];
                positions += 1;
                keys.iter().for_each(|key| one[*key] = true);
                differences.iter().for_each(|key| two[*key] = true);
                all[both] = true;
            }
        }
        sink.extend(&found[..positions]);
        sink.advance(run, 1)?;
    }
    Ok(sink)
}

pub mod byte_table_pruned {
    //! `byte_table` with the two cuts that the source omits: a pair `(x,y)` with a used key is skipped, and the scan of a
    //! pair stops at its first P-position, because it has only one. The scan starts at the hint and tests one candidate at
    //! a time.
    //!
    //! Cost: a quarter of the baseline's triples, up to six tests each.
    //! Bound: mispredicted branches.

    use super::*;
    use crate::cores::table_scan::layers::{MarkTable, Visit, bytes, scan};

    struct Flags {
        flags: Vec<bool>,
        stride: usize,
    }

    impl Flags {
        #[inline(always)]
        fn is_marked(&self, row: usize, place: usize) -> bool {
            self.flags[row * self.stride + place]
        }
    }

    impl MarkTable for Flags {
        fn new(rows: usize, heaps: usize) -> Self {
            let stride = heaps + 1;
            Flags { flags: vec![false; rows * stride], stride }
        }

        #[inline(always)]
        fn mark(&mut self, row: usize, place: usize) {
            self.flags[row * self.stride + place] = true;
        }

        #[inline(always)]
        fn next_free(&self, row: usize, mut place: usize) -> usize {
            while self.is_marked(row, place) {
                place += 1;
            }
            place
        }
    }

    /// Rates: ns of the cube and of the square of the heaps.
    pub fn cost(input: &StoneGame, _: CostContext, [cube, square]: [f64; 2]) -> Cost {
        let n = input.heaps() as f64;
        Cost { ns: cube * n * n * n + square * n * n, bytes: bytes(input, input.heaps() + 1) }
    }

    pub fn run(input: &StoneGame, run: &Run) -> Result<Positions, RunError> {
        scan(input, run, |marks: &Flags, &Visit { heaps, x, y, from, at_z, less_x, less_y }: &Visit| {
            let is_free = |z: &usize| {
                // The row that forbids the most comes first.
                let [gap_y, all] = less_x;
                !marks.is_marked(all, z - x)
                    && !at_z.iter().any(|row| marks.is_marked(*row, *z))
                    && !marks.is_marked(less_y, z - y)
                    && !marks.is_marked(gap_y, z - x)
            };
            (from..heaps).find(is_free).unwrap_or(heaps)
        })
    }
}
