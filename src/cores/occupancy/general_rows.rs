//! Any list of diagonals: a bit row for each family of lines, 64 candidates `m` at once, and full stretches of a row passed
//! over by its summary.
//!
//! Idea: along a move in the direction `(p,q)` a position `(x,y)` slides to `(x - p t, y - q t)`. Slid back as far as `x`
//! goes it is at `x mod p`, with `y - q (x div p)` in the other heap, and two positions are some moves in this direction apart
//! exactly when they end at the same place. So the first number chooses a row and the second a bit in it. Common factors of
//! `p` and `q` need no care, and for one `n` consecutive `m` are consecutive bits. Taking from one heap is the direction
//! `(1,0)`.
//!
//! A marked line that a candidate is on always attacks it: a P-position has a heap smaller than `n`, so it is not the later one.
//!
//! Cost: for each P-position two marks in each direction, and a few rounds of one window and one step in the tree of each.
//! Bound: mispredicted branches and loads that wait for each other, as in `hierarchical`, which it generalises: that a row is
//! full from the start is what a certificate says without looking, but here nothing is known of the rules.

use super::tree::Tree;
use super::{ProportionateNim, Sink};
use crate::bits::{WORD, first_zero};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Lines in the direction of one move.
struct Direction {
    p: usize,
    q: usize,
    /// The place of bit 0 of the line numbers, which may be negative.
    low: isize,
    rows: Vec<Tree>,
}

/// Line numbers below zero that candidates with heaps of at most `limit` together can have: `m - q (n div p)` with `n <= m`.
fn below(limit: f64, [p, q]: [usize; 2]) -> f64 {
    (limit / 2.0 * (q as f64 / p as f64 - 1.0)).max(0.0)
}

/// The directions that a move within the limit can have.
fn directions(input: &ProportionateNim) -> impl Iterator<Item = [usize; 2]> {
    let fits = |[p, q]: &[usize; 2]| (p + q) as u64 <= input.limit();
    [[1, 0]].into_iter().chain(input.diagonals().directions().filter(fits))
}

impl Direction {
    fn new(limit: usize, [p, q]: [usize; 2]) -> Self {
        let low = below(limit as f64, [p, q]).ceil() as usize + 1;
        // A window may start at the last candidate.
        let rows = (0..p).map(|_| Tree::new(low + limit + 1 + 2 * WORD)).collect();
        Direction { p, q, low: low as isize, rows }
    }

    /// The row of a heap `x`, and the place in it of `y = 0`.
    #[inline(always)]
    fn line(&self, x: usize) -> (usize, isize) {
        (x % self.p, self.low - (self.q * (x / self.p)) as isize)
    }

    fn mark(&mut self, [x, y]: [usize; 2]) {
        let (row, start) = self.line(x);
        // Lines further below are never looked at.
        if let Ok(place) = usize::try_from(start + y as isize) {
            self.rows[row].insert(place);
        }
    }
}

/// The first free `m` from `n` to `last`. `at` holds, for each direction, the row of `n` and the place of `m = 0` in it.
#[inline(always)]
fn partner(lines: &[Direction], at: &[(usize, isize)], n: usize, last: usize) -> Option<usize> {
    let rows = || lines.iter().zip(at).map(|(direction, (row, start))| (&direction.rows[*row], *start));
    let mut m = n;
    loop {
        for (row, start) in rows() {
            m = (row.first_free((start + m as isize) as usize) as isize - start) as usize;
        }
        if m > last {
            return None;
        }
        let blocked = first_zero(rows().fold(0, |word, (row, start)| word | row.window((start + m as isize) as usize)));
        m += blocked;
        if blocked < WORD {
            return (m <= last).then_some(m);
        }
    }
}

pub fn cost(input: &ProportionateNim, _: CostContext) -> Cost {
    let limit = input.limit() as f64;
    let bits: f64 = directions(input).map(|[p, q]| p as f64 * (limit + below(limit, [p, q]) + 512.0)).sum();
    Cost { ns: 800.0 + 0.02 * bits + 5.5 * limit * directions(input).count() as f64, bytes: bits / 7.8 }
}

pub fn run<S: Sink>(input: &ProportionateNim, run: &Run, mut sink: S) -> Result<S, RunError> {
    /// Heaps between two looks at the progress counter.
    const BLOCK: usize = 4096;
    let limit = input.limit() as usize;
    let heaps = input.smaller_heaps() as usize;
    let mut lines: Vec<Direction> = directions(input).map(|direction| Direction::new(limit, direction)).collect();
    let mut at = Vec::with_capacity(lines.len());
    for block in (0..heaps).step_by(BLOCK) {
        let end = heaps.min(block + BLOCK);
        for n in block..end {
            at.clear();
            at.extend(lines.iter().map(|direction| direction.line(n)));
            // A move in one heap only leaves the other as it is: lines of the first direction are heaps.
            let (row, start) = at[0];
            if lines[0].rows[row].contains(start as usize + n) {
                continue;
            }
            if let Some(m) = partner(&lines, &at, n, limit - n) {
                sink.push([n as u64, m as u64]);
                for direction in &mut lines {
                    direction.mark([n, m]);
                    direction.mark([m, n]);
                }
            }
        }
        sink.advance(run, (end - block) as u64)?;
    }
    Ok(sink)
}
