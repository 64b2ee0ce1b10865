//! 64 candidates `z` at once. For a pair `(x,y)` with `d = y - x` six bit rows forbid `z`; a window of each is ORed, and
//! the first zero is the P-position.
//!
//! The *hint*: within a layer `x` every difference `z - y` is used once, so the scan starts at `y + h` with `h` the smallest
//! unused one; it never falls as `y` grows.
//!
//! Cost: `N^3 / 64` windows of six rows without the hint, about a third of that with it.
//! Bound: two loads and three shifts for each row of each window.

use super::{Rule, Sink, StoneGame};
use crate::bits::{BitRows, WORD, first_zero, window};
use crate::kernel::{Cost, On, Run, Stop};

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.0018 * n * n * n + 20.0 * n * n, bytes: 4.0 * BitRows::bytes(n, n) }
}

pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    let heaps = input.heaps();
    let three_heap_move = input.rule == Rule::AllMoves;
    let mut sink = S::default();
    let mut one = BitRows::new(heaps, heaps); // [heap][heap]
    let mut two = BitRows::new(heaps, heaps); // [difference of two heaps][the third]
    let mut gap = BitRows::new(heaps, heaps); // [heap][difference of the others]: `two` transposed
    let mut all = BitRows::new(heaps, heaps); // [y - x][z - y]
    for x in 0..heaps {
        let mut hint = 0;
        for y in x..heaps {
            if one.get(x, y) {
                continue;
            }
            while hint < heaps && gap.get(x, hint) {
                hint += 1;
            }
            let d = y - x;
            let rows =
                [(one.row(x), 0), (one.row(y), 0), (two.row(d), 0), (gap.row(x), y), (gap.row(y), x), (all.row(d), y)];
            let forbidden = |z: usize| rows.iter().fold(0, |word, (row, start)| word | window(row, z - start));
            let first = (y + hint..heaps)
                .step_by(WORD)
                .map(|z| z + first_zero(forbidden(z)))
                .zip((y + hint + WORD..).step_by(WORD))
                .find_map(|(z, end)| (z < end).then_some(z));
            let Some(z) = first.filter(|z| *z < heaps) else { continue };
            sink.push([x as u32, y as u32, z as u32]);
            for (row, bit) in [(x, y), (y, x), (x, z), (z, x), (y, z), (z, y)] {
                one.set(row, bit);
            }
            for (heap, difference) in [(x, z - y), (y, z - x), (z, d)] {
                two.set(difference, heap);
                gap.set(heap, difference);
            }
            if three_heap_move {
                all.set(d, z - y);
            }
        }
        run.advance(1)?;
    }
    Ok(sink)
}
