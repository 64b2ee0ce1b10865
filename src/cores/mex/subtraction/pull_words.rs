//! Value by value on words of 64 heaps: heap `n` has the value `v` if it has no smaller value and no move to a heap of value `v`.
//!
//! `holders[v]` is the bit row of the heaps of value `v`. For a block of heaps and `v = 0, 1, ...`, the OR over the moves `m` of
//! the row's 64 bits at `n - m` gives the heaps that earlier blocks rule out. Inside the block, the lowest remaining heap takes
//! `v` and rules it out for the heaps that reach it by a small move. The block is done when each heap has a value.
//!
//! Cost: two shifts and two loads for each value, move and block of 64 heaps.
//! Bound: these instructions. They handle the same bits as the byte lanes, at an eighth of their width.

use super::{Subtraction, narrow};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::{WORD, window};

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
    let mut near = 0u64;
    for m in moves {
        near |= if *m < WORD as u64 { 1 << m } else { 0 };
    }
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
