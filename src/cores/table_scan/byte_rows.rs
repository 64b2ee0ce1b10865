//! 64 candidates at once in plain bytes: six runs of 64 bytes are ORed in a loop that the compiler turns into vectors. The
//! same source is listed at each tier, so its rows differ by the instruction set alone: hardly, for the tables and not the
//! vectors are the limit. This is what lanes are worth before bits are.
//!
//! Cost: `0.09 N / 64` steps for each of `0.18 N^2` visits; 384 bytes loaded in each.
//! Bound: loads from tables eight times as large as those of bits.

use super::layers::{Marks, PADDING, Places, Search, bytes, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, On, Run, Stop};

const LANES: usize = 64;

struct Bytes(Vec<u8>);

impl Marks for Bytes {
    fn new(places: usize) -> Self {
        Bytes(vec![0; places + PADDING])
    }

    #[inline(always)]
    fn mark(&mut self, place: usize) {
        self.0[place] = 1;
    }

    #[inline(always)]
    fn is_marked(&self, place: usize) -> bool {
        self.0[place] != 0
    }
}

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: 0.0085 * n * n * n + 3.1 * n * n, bytes: bytes(input, 8.0) }
}

/// The search as a type, not a closure: a closure cannot be marked to be inlined, and out of line it would be compiled for
/// the build's target whatever the tier.
struct FirstFree;

impl Search<Bytes> for FirstFree {
    #[inline(always)]
    fn first_free(&self, marks: &Bytes, rows: Places) -> usize {
        let [a, b, c, d, e, f] =
            rows.map(|place| marks.0[place..].first_chunk::<LANES>().expect("padding follows the places"));
        let mut forbidden = [0; LANES];
        for i in 0..LANES {
            forbidden[i] = a[i] | b[i] | c[i] | d[i] | e[i] | f[i];
        }
        // Most steps find none: one reduction first, then the search.
        if forbidden.iter().fold(1, |all, byte| all & byte) == 1 {
            return LANES;
        }
        forbidden.iter().position(|byte| *byte == 0).unwrap_or(LANES)
    }
}

#[inline(always)] // so that each tier compiles it for itself
pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    scan::<LANES, _, S>(input, run, FirstFree)
}
