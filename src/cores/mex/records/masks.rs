//! Heap by heap over a history: the codes that a heap reaches are bits of one word, and the mex is its number of
//! leading ones.
//!
//! Cost per heap and move: a load, a shift and an OR.
//! Bound: these operations. A history as long as the largest move streams through the caches once per move.

use super::history::History;
use super::layout::Layout;
use super::ring::{self, Block, Blocks};
use super::{Output, Records, Start};
use crate::cores::mex::lanes::LANES;
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Rates: the ns of a heap, and of a heap and move.
pub fn cost(input: &Records, _: CostContext, [heap, step]: [f64; 2]) -> Cost {
    ring::cost(input, heap, step)
}

struct Masks<'a> {
    moves: &'a [usize],
    /// The number of moves shorter than a block, whose sources are in the current block, and of moves that read the ring.
    near: usize,
    short: usize,
}

impl Blocks for Masks<'_> {
    #[inline(always)]
    fn block(&mut self, history: &History, Block { n, place, .. }: Block, codes: &mut [u8; LANES]) {
        let mut recent = [0; 2 * LANES];
        recent[..LANES].copy_from_slice(&history.ring[history.behind(place, LANES)..][..LANES]);
        let ring = self.moves[self.near..self.short].iter().map(|m| &history.ring[history.behind(place, *m)..]);
        let prefix = self.moves[self.short..].iter().take_while(|m| **m < n + LANES);
        let prefix = prefix.map(|m| &history.prefix[LANES + n - m..]);
        // Bit 63 - v, the code, for a heap of value v; bit 0 for no heap.
        let mut reached = [1u64; LANES];
        for source in ring.chain(prefix) {
            for (reached, code) in reached.iter_mut().zip(&source[..LANES]) {
                *reached |= 1 << (code % 64);
            }
        }
        for (i, reached) in reached.into_iter().enumerate() {
            let reached = self.moves[..self.near].iter().fold(reached, |r, m| r | 1 << (recent[LANES + i - m] % 64));
            recent[LANES + i] = (!reached).ilog2() as u8;
        }
        codes.copy_from_slice(&recent[LANES..]);
    }
}

#[inline(always)]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    let layout = Layout::new(input);
    let short = layout.short;
    let near = input.moves()[..short].partition_point(|m| *m < LANES);
    ring::drive(input, layout, run, start, &mut Masks { moves: input.moves(), near, short })
}
