//! Any list of diagonals: a bit row for each family of lines, 64 candidates `m` at once. A summary of each row skips
//! its full stretches.
//!
//! Idea: a move in the direction `(p,q)` takes a position `(x,y)` to `(x - p t, y - q t)`. Moved back as far as `x`
//! allows, it is at `x mod p`, with `y - q (x div p)` in the other heap. Two positions are some moves in this direction
//! apart exactly when they end at the same place. The first number selects a row and the second a bit in it. Common
//! factors of `p` and `q` need no special care, and for one `n` consecutive `m` are consecutive bits. Taking from one
//! heap is the direction `(1,0)`. A marked line always attacks a candidate on it: the P-position that marked it has a
//! heap smaller than `n`, so it is not the later one.
//!
//! Cost: for each P-position two marks in each direction, and a few rounds of one window and one tree step in each.
//! Bound: mispredicted branches and dependent loads, as in `hierarchical`, which this kernel generalises. A certificate
//! would tell without a read that a row is full from its start, but here nothing is known about the rules.

use std::iter;

use super::attack_lines::{Heaps, Set};
use super::next_free::tree::Tree;
use super::{MAX_VISITED, Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::{WORD, first_zero};

/// The lines in one direction.
struct Direction {
    p: usize,
    q: usize,
    /// The bit of line 0. Lines may be negative.
    low: isize,
    rows: Vec<Tree>,
}

/// How far below zero the lines of candidates go: `m - q (n div p)` for `n <= m` and `n + m <= limit`.
fn below(limit: f64, [p, q]: [usize; 2]) -> f64 {
    (limit / 2.0 * (q as f64 / p as f64 - 1.0)).max(0.0)
}

/// The directions of the moves that fit the limit.
fn directions(input: &ProportionateNim) -> Vec<[usize; 2]> {
    let fits = |[p, q]: &[usize; 2]| (p + q) as u64 <= input.limit();
    iter::once([1, 0]).chain(input.diagonals().directions().filter(fits)).collect()
}

impl Direction {
    fn new(limit: usize, [p, q]: [usize; 2]) -> Self {
        let low = below(limit as f64, [p, q]).ceil() as usize + 1;
        // A window may start at the last candidate.
        let rows = (0..p).map(|_| Tree::new(low + limit + 1 + 2 * WORD)).collect();
        Direction { p, q, low: low as isize, rows }
    }

    /// The row of a heap `x`, and the bit in it of `y = 0`.
    #[inline(always)]
    fn line(&self, x: usize) -> (usize, isize) {
        (x % self.p, self.low - (self.q * (x / self.p)) as isize)
    }

    fn mark(&mut self, [x, y]: [usize; 2]) {
        let (row, start) = self.line(x);
        // Lines further down are never read.
        if let Ok(place) = usize::try_from(start + y as isize) {
            self.rows[row].insert(place);
        }
    }
}

/// The first free `m` from `n` to `last`. `at` holds, for each direction, the row of `n` and the bit of `m = 0` in it.
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

/// Bits of the rows in a byte, less the ends of the rows.
const BITS_PER_BYTE: f64 = 7.8;

/// Rates: ns of a run, of a bit of the rows, and of a unit of the limit for each direction.
pub fn cost(input: &ProportionateNim, _: CostContext, [start, bit, unit]: [f64; 3]) -> Cost {
    let limit = input.limit() as f64;
    let directions = directions(input);
    let bits: f64 = directions.iter().map(|pq| pq[0] as f64 * (limit + below(limit, *pq) + 512.0)).sum();
    let ns = start + bit * bits + unit * limit * directions.len() as f64;
    Cost { ns, bytes: bits / BITS_PER_BYTE }.only_if(input.limit() <= MAX_VISITED)
}

pub fn run(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
    let mut heaps = Heaps::new(input, run);
    let limit = input.limit() as usize;
    let mut lines: Vec<_> = directions(input).into_iter().map(|pq| Direction::new(limit, pq)).collect();
    let mut at = vec![(0, 0); lines.len()];
    while let Some(block) = heaps.next()? {
        for n in block {
            for (at, direction) in at.iter_mut().zip(&lines) {
                *at = direction.line(n);
            }
            // A move in one heap leaves the other as it is: the lines of the first direction are heaps.
            let (row, zero) = at[0];
            if lines[0].rows[row].contains(zero as usize + n) {
                continue;
            }
            if let Some(m) = partner(&lines, &at, n, limit - n) {
                heaps.sink.push([n as u64, m as u64]);
                for direction in &mut lines {
                    direction.mark([n, m]);
                    direction.mark([m, n]);
                }
            }
        }
    }
    Ok(heaps.sink)
}
