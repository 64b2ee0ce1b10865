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
