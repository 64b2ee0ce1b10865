//! Value by value: a block of heaps takes the values 0, 1, .. in turn, as rows of bits.

use super::{Subtraction, narrow};
use crate::cores::growing;
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::{WORD, window};

pub mod pull_words {
    //! Value by value on words of 64 heaps: heap `n` has the value `v` if it has no smaller value and no move to a heap of value `v`.
    //!
    //! `holders[v]` is the bit row of the heaps of value `v`. For a block of heaps and `v = 0, 1, ...`, the OR over the moves `m` of
    //! the row's 64 bits at `n - m` gives the heaps that earlier blocks rule out. Inside the block, the lowest remaining heap takes
    //! `v` and rules it out for the heaps that reach it by a small move. The block is done when each heap has a value.
    //!
    //! Cost: two shifts and two loads for each value, move and block of 64 heaps.
    //! Bound: these instructions. They handle the same bits as the byte lanes, at an eighth of their width.

    use super::*;

    /// Rates: for a value and 64 heaps, the ns of a move and of the words themselves; the ns of a heap, and of a run.
    pub fn cost(input: &Subtraction, _: CostContext, [each, word, heap, run]: [f64; 4]) -> Cost {
        let (heaps, values) = (input.heaps() as f64, input.values());
        Cost {
            ns: values * (each * input.pairs() + word * heaps) / 64.0 + heap * heaps + run,
            bytes: heaps * 2.0 + input.most_values() * (heaps / 8.0 + 40.0),
        }
    }

    #[inline(always)]
    pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
        let heaps = input.heaps();
        let moves = input.moves();
        let near = moves.iter().take_while(|m| **m < WORD as u64).fold(0u64, |near, m| near | 1 << m);
        let words = heaps.div_ceil(WORD);
        // One word of padding before and after each row, so every window of 64 bits lies inside.
        let row = || vec![0u64; words + 2];
        let mut holders = Vec::new();
        let mut g = vec![0; heaps];
        let mut reaching = 0;
        for (w, block) in g.chunks_mut(WORD).enumerate() {
            let n = w * WORD;
            while reaching < moves.len() && moves[reaching] < (n + WORD) as u64 {
                reaching += 1;
            }
            let mut open = u64::MAX >> (WORD - block.len());
            for v in 0.. {
                if open == 0 {
                    break;
                }
                if v == holders.len() {
                    narrow(v)?;
                    holders.push(row());
                }
                let holder = &mut holders[v];
                let mut far = 0;
                for m in &moves[..reaching] {
                    far |= window(holder, WORD + n - *m as usize);
                }
                let mut can = open & !far;
                while can != 0 {
                    let i = can.trailing_zeros();
                    block[i as usize] = v as u16;
                    holder[w + 1] |= 1 << i;
                    open &= !(1 << i);
                    can &= !(1 << i | near << i);
                }
            }
            run.advance(block.len() as u64)?;
        }
        Ok(g)
    }
}

pub mod shifted_sets {
    //! Value by value, whole sets at a time: each heap rules out its value for the move set shifted by the heap.
    //!
    //! A tile of 4096 heaps is done value by value. The OR of the move set, shifted by each earlier heap of the value, gives the
    //! heaps that cannot take it. Then the tile's open heaps take the value in order, and each rules it out for later heaps. Eight
    //! copies of the move set, shifted by 0 to 7 bits, turn every shift into a byte offset.
    //!
    //! Cost: `N^2 / 8192` shifted sets of 4096 bits in total, whatever the number of moves, plus one visit to every word of the tile
    //! for every value. Heaps too far back for the largest move are skipped.
    //! Bound: the loads of the shifted sets, which split cache lines.

    use super::*;

    /// Heaps in a tile.
    const TILE_HEAPS: usize = 4096;
    /// One bit for each heap of a tile.
    type TileBits = [u8; TILE_HEAPS / 8];

    const NS_PER_HEAP: f64 = 6.0;
    const NS_PER_TILE_AND_VALUE: f64 = 30.0;
    const NS_PER_RUN: f64 = 4000.0;

    /// Rate: the ns to add a shifted set to a tile.
    pub fn cost(input: &Subtraction, _: CostContext, [set]: [f64; 1]) -> Cost {
        let heaps = input.heaps() as f64;
        let tiles = (heaps / TILE_HEAPS as f64).ceil();
        // A tile adds the sets of the earlier heaps that its first heap can reach, and those of its own heaps.
        let reach = heaps.min(input.moves().last().map_or(0.0, |m| *m as f64));
        let sets = heaps + tiles * (reach - reach * reach / (2.0 * heaps));
        // One list per value; its spare capacity may be half of its first allocation.
        let lists = growing::bytes::<usize>(heaps) + 80.0 * input.most_values();
        Cost {
            ns: sets * set + NS_PER_HEAP * heaps + NS_PER_TILE_AND_VALUE * tiles * input.values() + NS_PER_RUN,
            bytes: 8.0 * ShiftedSets::stride(input.heaps()) as f64 + 2.0 * heaps + lists,
        }
    }

    /// The move set in eight copies: copy `r` holds the move `m` at bit `TILE_HEAPS + m + r`.
    struct ShiftedSets {
        copies: Vec<u8>,
        stride: usize,
    }

    impl ShiftedSets {
        fn new(moves: &[u64], heaps: usize) -> Self {
            let stride = Self::stride(heaps);
            let mut copies = vec![0; 8 * stride];
            for (r, copy) in copies.chunks_mut(stride).enumerate() {
                for m in moves {
                    let bit = TILE_HEAPS + *m as usize + r;
                    copy[bit / 8] |= 1 << (bit % 8);
                }
            }
            ShiftedSets { copies, stride }
        }

        /// Bytes of a copy.
        fn stride(heaps: usize) -> usize {
            (2 * TILE_HEAPS + heaps).div_ceil(8) + 1
        }

        /// The heaps of the tile from `start`, a multiple of 8, that reach `heap`, which lies before the tile or in it.
        #[inline(always)]
        fn reaching(&self, heap: usize, start: usize) -> &TileBits {
            let at = heap % 8 * self.stride + (TILE_HEAPS + start) / 8 - heap / 8;
            self.copies[at..].first_chunk().expect("copies extend a tile beyond the last heap")
        }
    }

    /// Aligned to a cache line, so that stores and later loads split no line.
    #[repr(align(64))]
    struct AlignedBits(TileBits);

    /// The heaps of one value.
    #[derive(Default)]
    struct Holders {
        heaps: Vec<usize>,
        /// How many of the first heaps no later tile can reach.
        out_of_reach: usize,
    }

    /// Adds to `reached` the heaps of the tile at `start` that reach one of `heaps`. The tile is loaded and stored once per set.
    #[inline(always)]
    fn rule_out(sets: &ShiftedSets, heaps: &[usize], start: usize, reached: &mut TileBits) {
        for heap in heaps {
            for (reached, reaching) in reached.iter_mut().zip(sets.reaching(*heap, start)) {
                *reached |= reaching;
            }
        }
    }

    #[inline(always)]
    pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
        let heaps = input.heaps();
        let sets = ShiftedSets::new(input.moves(), heaps);
        let farthest = input.moves().last().map_or(0, |m| *m as usize);
        let mut values: Vec<Holders> = Vec::new();
        let mut g = vec![0; heaps];
        for (t, tile) in g.chunks_mut(TILE_HEAPS).enumerate() {
            let start = t * TILE_HEAPS;
            let mut open = [0u64; TILE_HEAPS / WORD];
            for (k, word) in tile.chunks(WORD).enumerate() {
                open[k] = u64::MAX >> (WORD - word.len());
            }
            for v in 0.. {
                if open == [0; TILE_HEAPS / WORD] {
                    break;
                }
                if v == values.len() {
                    narrow(v)?;
                    values.push(Holders::default());
                }
                let Holders { heaps, out_of_reach } = &mut values[v];
                while heaps.get(*out_of_reach).is_some_and(|heap| heap + farthest < start) {
                    *out_of_reach += 1;
                }
                let mut reached = AlignedBits([0; TILE_HEAPS / 8]);
                let reached = &mut reached.0;
                rule_out(&sets, &heaps[*out_of_reach..], start, reached);
                for (k, open) in open.iter_mut().enumerate() {
                    loop {
                        let can = *open & !u64::from_le_bytes(reached.as_chunks().0[k]);
                        if can == 0 {
                            break;
                        }
                        let i = can.trailing_zeros() as usize;
                        *open &= !(1 << i);
                        tile[k * WORD + i] = v as u16;
                        growing::push(heaps, start + k * WORD + i);
                        rule_out(&sets, &[start + k * WORD + i], start, reached);
                    }
                }
            }
            run.advance(tile.len() as u64)?;
        }
        Ok(g)
    }
}

pub mod residue_classes {
    //! Values by the residue classes of their heaps. See [`residues`]. If a value passes 62, [`byte_lanes`] computes them
    //! all.
    //!
    //! Cost and bound: see there.

    use super::*;
    use crate::cores::mex::lanes::plain;
    use crate::cores::mex::residues::{self, Drive, OddMoves, row_words};
    use crate::cores::mex::subtraction::byte_lanes;
    use crate::moves::{even, odd_row};

    /// Predicted values, at most: fewer than fit, because a prediction may be too low.
    const MOST_VALUES: f64 = 40.0;

    /// Rates: the ns of a heap and of a move.
    pub fn cost(input: &Subtraction, _: CostContext, [heap, each]: [f64; 2]) -> Cost {
        let Cost { ns, bytes } = residues::cost(input.heaps(), heap);
        let is_possible = residues::suit(input.moves(), input.limit()) && input.values() <= MOST_VALUES;
        let (ns, bytes) = (ns + each * input.moves().len() as f64, bytes + 2.0 * input.heaps() as f64);
        Cost { ns, bytes }.only_if(is_possible)
    }

    pub fn run(input: &Subtraction, run: &Run, drive: Drive) -> Result<Vec<u16>, RunError> {
        let (moves, limit) = (input.moves(), input.limit());
        let moves = OddMoves::new(odd_row(moves, row_words(limit)), even(moves).collect(), limit)?;
        let mut values = Vec::with_capacity(input.heaps());
        let computed =
            drive(&moves, input.heaps(), run, &mut |_, block| block.iter().for_each(|v| values.push(u16::from(*v))));
        if computed != Err(RunError::Overflow) {
            return computed.map(|()| values);
        }
        let done = values.len();
        drop(values);
        let values = byte_lanes::run(input, &run.counted_apart(), plain::parts())?;
        run.advance((input.heaps() - done) as u64)?;
        Ok(values)
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::cores::mex::subtraction::MexSubtraction;
        use crate::kernel::Operation;
        use crate::moves::fraction;

        /// One odd number of ten, at random, and three even ones.
        #[test]
        fn more_values_than_fit() {
            let is_move = |m: &u64| matches!(m, 4 | 6 | 10) || m % 2 == 1 && fraction(*m) < 0.1;
            let input = Subtraction::of_moves((1..10_000).filter(is_move).collect(), 9_999);
            let want = MexSubtraction::oracle(&input);
            assert!(want.iter().any(|v| *v > 62), "all values fit");
            let counted = Run::new(1);
            assert!(run(&input, &counted, residues::plain::parts()).expect("it runs to its end") == want);
            assert_eq!(counted.done(), MexSubtraction::steps(&input));
        }
    }
}
