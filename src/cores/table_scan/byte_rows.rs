//! 96 candidates at once in plain bytes: six runs of 96 bytes are ORed in a loop that the compiler vectorises. The same
//! source is listed at each tier, so its kernels differ only by the instruction set. They show what lanes are worth
//! without bits.
//!
//! A mark is `0xFF`, so the OR of a candidate's number and its marks is the number if it is free, and more than any
//! number if not: the minimum is the first free candidate. Rows and marks are those of [`super::layers`]. Pairs with
//! the same `x + y` do not depend on one another, so a step searches all such pairs of 64 layers before it marks any. A
//! step goes in rounds of one window each: adding a comparison to a count lists a pair either as a P-position or for
//! the next round, so no branch depends on the result. A search starts where neither its layer's differences `z - y`
//! nor those of `d = y - x` are all used; that saves one visit in seven and three windows in ten.
//!
//! Cost: `0.22 N^2` windows of 96 candidates at `N = 1000`, with 576 bytes loaded in each, for `0.18 N^2` pairs.
//! Bound: a window is some 100 instructions and 18 loads of 32 bytes, most of which straddle a cache line: 5 ns if
//! everything is in L1, and 10 ns here.

use super::layers::{self, MarkTable, RowNumbers, Visit};
use super::{Positions, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::{BitRows, WORD};
use crate::simd::mapped;

const LANES: usize = 96;
const MARK: u8 = u8::MAX;

struct Bytes {
    bytes: Vec<u8>,
    stride: usize,
}

impl Bytes {
    /// A row, up to the last byte that a search may read from any place.
    #[inline(always)]
    fn row(&self, row: usize) -> &[u8] {
        &self.bytes[row * self.stride..][..self.stride + LANES]
    }

    /// The number, counted from `visit.from`, of the first candidate that no row forbids, or [`MARK`].
    #[inline(always)]
    fn window(&self, visit: &Visit) -> u8 {
        let z = visit.from;
        let lanes = |row, place| self.row(row)[place..].first_chunk::<LANES>().expect("padding follows the places");
        let [a, b, c] = mapped(visit.at_z, |row| lanes(row, z));
        let [d, e] = mapped(visit.less_x, |row| lanes(row, z - visit.x));
        let f = lanes(visit.less_y, z - visit.y);
        let mut least = MARK;
        for i in 0..LANES {
            least = least.min(i as u8 | a[i] | b[i] | c[i] | d[i] | e[i] | f[i]);
        }
        least
    }
}

impl MarkTable for Bytes {
    fn new(rows: usize, heaps: usize) -> Self {
        let stride = heaps + 1;
        Bytes { bytes: vec![0; rows * stride + LANES], stride }
    }

    #[inline(always)]
    fn mark(&mut self, row: usize, place: usize) {
        self.bytes[row * self.stride + place] = MARK;
    }

    #[inline(always)]
    fn next_free(&self, row: usize, mut place: usize) -> usize {
        let row = self.row(row);
        loop {
            let eight = u64::from_le_bytes(*row[place..].first_chunk().expect("padding follows the places"));
            place += (eight.trailing_ones() / u8::BITS) as usize;
            if eight != u64::MAX {
                return place;
            }
        }
    }
}

/// Rates: ns of the cube, of the square and of the number of the heaps.
pub fn cost(input: &StoneGame, _: CostContext, [cube, square, heap]: [f64; 3]) -> Cost {
    let n = input.heaps() as f64;
    let ns = cube * n * n * n + square * n * n + heap * n;
    let heaps = input.heaps();
    let hints = 16.0 * n;
    Cost { ns, bytes: layers::bytes(input, heaps + 1) + BitRows::bytes(2 * heaps, heaps) + hints }
}

#[inline(always)] // so that each tier compiles it anew
pub fn run(input: &StoneGame, run: &Run) -> Result<Positions, RunError> {
    let mut sink = input.sink();
    let heaps = input.heaps();
    let (count, rows) = RowNumbers::of(heaps);
    let mut marks = Bytes::new(count, heaps);
    // Bit `x` of row `x + y`: the pair is two heaps of a P-position, one of them the largest.
    let mut used = BitRows::new(2 * heaps, heaps);
    // The first place of `gap[x]` and of `all[d]` that has no mark.
    let mut gap_hints = vec![0; heaps];
    let mut all_hints = vec![0; heaps];
    // For each pair of a step: `x`, and the `z` where the search continues or has ended. Not cleared for each step,
    // because that took time.
    let (mut open, mut found) = ([[0; 2]; WORD], [[0; 2]; WORD]);
    for word in 0..heaps.div_ceil(WORD) {
        let layers = word * WORD..heaps.min((word + 1) * WORD);
        // The first unfinished layer.
        let mut first = layers.start;
        for sum in 2 * layers.start.. {
            first = first.max((sum + 1).saturating_sub(heaps));
            let last = (sum / 2).min(layers.end - 1);
            while first <= last && sum - first + gap_hints[first] >= heaps {
                first += 1;
            }
            if first == layers.end {
                break;
            }
            if first > last {
                continue;
            }

            let mut opened = 0;
            let mut unused = !used.row(sum)[word];
            unused &= u64::MAX << (first % WORD) & u64::MAX >> (WORD - 1 - last % WORD);
            while unused != 0 {
                let x = word * WORD + unused.trailing_zeros() as usize;
                unused &= unused - 1;
                let (y, d) = (sum - x, sum - 2 * x);
                gap_hints[x] = marks.next_free(rows.gap(x), gap_hints[x]);
                all_hints[d] = marks.next_free(rows.all(d), all_hints[d].max(d));
                let z = (y + gap_hints[x]).max(x + all_hints[d]);
                open[opened] = [x, z];
                opened += usize::from(z < heaps);
            }

            let mut hits = 0;
            while opened != 0 {
                let mut left = 0;
                for i in 0..opened {
                    let [x, z] = open[i];
                    let least = marks.window(&rows.visit(x, sum - x, z));
                    let (here, next) = (z + usize::from(least), z + LANES);
                    found[hits] = [x, here];
                    hits += usize::from(least != MARK && here < heaps);
                    open[left] = [x, next];
                    left += usize::from(least == MARK && next < heaps);
                }
                opened = left;
            }

            for &[x, z] in &found[..hits] {
                let y = sum - x;
                sink.push([x as u32, y as u32, z as u32]);
                rows.mark(&mut marks, input.rule, [x, y, z]);
                used.set(x + z, x);
                used.set(y + z, y);
            }
        }
        sink.advance(run, layers.len() as u64)?;
    }
    sink.finish();
    Ok(sink)
}
