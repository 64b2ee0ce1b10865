//! Heap by heap, and by residue classes: kernels that compute values one by one, or keep all of them.

use super::history::History;
use super::layout::HistoryLayout;
use super::ring::{self, Blocks, Position};
use super::{Output, Records, Start, codes_of};
use crate::cores::mex::lanes::{LANES, below};
use crate::cores::mex::residues::{self, Drive, OddMoves, row_words};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::moves::MoveSet;

pub mod table {
    //! A table of all values, heap by heap: the values that a heap reaches are bits of one word, and the mex is its number of trailing
    //! ones. It shares nothing with the kernels over a history.
    //!
    //! Cost per heap and move: a load, a shift and an OR. Memory: one byte per heap.
    //! Bound: these operations; memory, once the table exceeds the caches.

    use super::*;

    /// What a run over a history takes beyond its heaps: there is none to save.
    const NS_PER_HISTORY: f64 = 100.0;

    /// Rates: the ns of a heap, and of a heap and move.
    pub fn cost(input: &Records, context: CostContext, rates: [f64; 2]) -> Cost {
        let Cost { ns, .. } = ring::cost(input, context, rates);
        Cost { ns: ns - NS_PER_HISTORY, bytes: input.heaps() as f64 }.only_if(!input.is_resumable)
    }

    /// A load for each heap and move.
    pub fn needs(input: &Records) -> Needs {
        Needs { loads: ring::pairs(input) / input.heaps() as f64, ..Needs::default() }
    }

    #[inline(always)]
    pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
        start.at_zero()?; // there is no history to resume from or to save
        let heaps = input.heaps();
        let mut output = Output::default();
        let mut g = vec![0u8; heaps];
        let mut allowed = 0;
        for start in (0..heaps).step_by(LANES) {
            let end = heaps.min(start + LANES);
            for n in start..end {
                while input.moves().get(allowed).is_some_and(|m| *m <= n) {
                    allowed += 1;
                }
                let mut reached = 0u64;
                for m in &input.moves()[..allowed] {
                    reached |= 1 << g[n - m];
                }
                g[n] = reached.trailing_ones() as u8;
            }
            output.add(start, &codes_of(&g[start..end]));
            run.advance((end - start) as u64)?;
        }
        Ok(output)
    }
}

pub mod masks {
    //! Heap by heap over a history: the codes that a heap reaches are bits of one word, and the mex is its number of
    //! leading ones.
    //!
    //! Cost per heap and move: a load, a shift and an OR.
    //! Bound: these operations. A history as long as the largest move streams through the caches once per move.

    pub use super::ring::cost;
    use super::*;

    struct Masks<'a> {
        moves: &'a [usize],
        /// The number of moves shorter than a block, whose sources are in the current block, and of moves that read the ring.
        near: usize,
        short: usize,
    }

    impl Blocks for Masks<'_> {
        #[inline(always)]
        fn block(&mut self, history: &History, Position { n, index, .. }: Position, codes: &mut [u8; LANES]) {
            let mut recent = [0; 2 * LANES];
            recent[..LANES].copy_from_slice(&history.ring[history.behind(index, LANES)..][..LANES]);
            // Bit 63 - v, the code, for a heap of value v; bit 0 for no heap.
            let mut reached = [1u64; LANES];
            for (k, m) in self.moves.iter().enumerate().skip(self.near) {
                let source = match k < self.short {
                    true => &history.ring[history.behind(index, *m)..],
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
        let layout = HistoryLayout::new(input);
        let short = layout.short;
        let near = below(&input.moves()[..short], LANES);
        ring::drive(input, layout, run, start, &mut Masks { moves: input.moves(), near, short })
    }
}

pub mod residue_classes {
    //! Values by the residue classes of their heaps. See [`residues`].
    //!
    //! Cost and bound: see there; then counting.

    use super::*;

    /// Rates: the ns to compute the value of a heap, and to count it.
    pub fn cost(input: &Records, _: CostContext, [heap, count]: [f64; 2]) -> Cost {
        let Cost { ns, bytes } = residues::cost(input.heaps(), heap);
        let is_possible = !input.is_resumable && takes(&input.set, input.limit);
        Cost { ns: ns + count * input.heaps() as f64, bytes }.only_if(is_possible)
    }

    /// Whether the kernel takes the moves up to the limit: the primes, or a finite set that suits [`residues`].
    pub fn takes(set: &MoveSet, limit: u64) -> bool {
        const PROBE: u64 = 10_000;
        residues::suit(&set.up_to(limit.min(PROBE)), limit)
            && match set.largest() {
                Some(_) => set.even_up_to(limit).len() <= residues::MOST_MULTIPLES,
                None => *set == MoveSet::Primes,
            }
    }

    #[inline(always)]
    pub fn run(input: &Records, run: &Run, start: Start, drive: Drive) -> Result<Output, RunError> {
        start.at_zero()?;
        let mut output = Output::default();
        let Records { set, limit, .. } = input;
        let moves = OddMoves::new(set.odd_up_to(*limit, row_words(*limit)), set.even_up_to(*limit), *limit)?;
        drive(&moves, input.heaps(), run, &mut |first, values| {
            for (b, values) in values.chunks(LANES).enumerate() {
                output.add(first + b * LANES, &codes_of(values));
            }
        })?;
        Ok(output)
    }
}
