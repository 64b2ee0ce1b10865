//! 96 candidates at once in plain bytes: six runs of 96 bytes are ORed in a loop that the compiler turns into vectors. The
//! same source is listed at each tier, so its rows differ by the instruction set alone. This is what lanes are worth before
//! bits are.
//!
//! A mark is `0xFF`, so that the OR of a candidate's number and its marks is the number if it is free, and more than any number
//! if not: the least of them all is the first free candidate. A minimum is vectorised too; a search for the first zero is not,
//! and took as long as all else.
//!
//! Cost: `0.09 N / 96 + 1` steps for each of `0.18 N^2` visits; 576 bytes loaded in each.
//! Bound: no one thing: loads from tables eight times as large as those of bits, the minimum, which each step waits for, and
//! the mispredicted end of the search. 96 was the best of 32, 64, 80, 96, 112, 128 and 160.

use super::layers::{Marks, Search, Visit, bytes, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, On, Run, Stop};

const LANES: usize = 96;
const MARK: u8 = u8::MAX;

struct Bytes {
    bytes: Vec<u8>,
    stride: usize,
}

impl Bytes {
    /// A row, as far as a search may read from any place.
    #[inline(always)]
    fn row(&self, row: usize) -> &[u8] {
        &self.bytes[row * self.stride..][..self.stride + LANES]
    }
}

impl Marks for Bytes {
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

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.004 * n * n * n + 3.8 * n * n, bytes: bytes(input, 8.0) }
}

#[inline(always)]
fn lanes(row: &[u8], place: usize) -> &[u8; LANES] {
    row[place..].first_chunk().expect("padding follows the places")
}

/// The search as a type, not a closure: a closure cannot be marked to be inlined, and out of line it would be compiled for
/// the build's target whatever the tier.
struct FirstFree;

impl Search<Bytes> for FirstFree {
    #[inline(always)]
    fn first_free(&self, marks: &Bytes, visit: &Visit) -> usize {
        let at_z = visit.at_z.map(|row| marks.row(row));
        let less_x = visit.less_x.map(|row| marks.row(row));
        let less_y = marks.row(visit.less_y);
        let mut z = visit.from;
        while z < visit.heaps {
            let [a, b, c] = at_z.map(|row| lanes(row, z));
            let [d, e] = less_x.map(|row| lanes(row, z - visit.x));
            let f = lanes(less_y, z - visit.y);
            let mut least = MARK;
            for i in 0..LANES {
                least = least.min(i as u8 | a[i] | b[i] | c[i] | d[i] | e[i] | f[i]);
            }
            if least != MARK {
                return z + usize::from(least);
            }
            z += LANES;
        }
        z
    }
}

#[inline(always)] // so that each tier compiles it for itself
pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    scan(input, run, FirstFree)
}
