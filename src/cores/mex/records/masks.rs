//! Heap by heap over a history: the codes that a heap reaches are bits of one word, and the mex is its number of
//! leading ones.
//!
//! Cost per heap and move: a load, a shift and an OR.
//! Bound: these operations. A history as long as the largest move streams through the caches once per move.

use super::history::History;
use super::layout::Layout;
use super::ring::{self, Block, Blocks};
use super::{Output, Records, Start};
use crate::cores::mex::lanes::{LANES, below};
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
        // Bit 63 - v, the code, for a heap of value v; bit 0 for no heap.
        let mut reached = [1u64; LANES];
        for (k, m) in self.moves.iter().enumerate().skip(self.near) {
            let source = match k < self.short {
                true => &history.ring[history.behind(place, *m)..],
                false if *m < n + LANES => &history.prefix[LANES + n - m..],
                false => break,
            };
            for (reached, code) in reached.iter_mut().zip(&source[..LANES]) {
                *reached |= 1 << (code % 64);
            }
        }
        for i in 0..LANES {
            let mut reached = reached[i];
            for m in &self.moves[..self.near] {
                reached |= 1 << (recent[LANES + i - m] % 64);
            }
            recent[LANES + i] = (!reached).ilog2() as u8;
        }
        codes.copy_from_slice(&recent[LANES..]);
    }
}

#[inline(always)]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    let layout = Layout::new(input);
    let short = layout.short;
    let near = below(&input.moves()[..short], LANES);
    ring::drive(input, layout, run, start, &mut Masks { moves: input.moves(), near, short })
}
