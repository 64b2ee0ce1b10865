//! A table of all values, heap by heap: the values that a heap reaches are bits of one word, and the mex is its number of trailing
//! ones. It shares nothing with the kernels over a history.
//!
//! Cost per heap and move: a load, a shift and an OR. Memory: one byte per heap.
//! Bound: these operations; memory, once the table exceeds the caches.

use super::{Output, Records, Start, codes_of};
use crate::cores::mex::lanes::LANES;
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: the ns of a heap, and of a heap and move.
pub fn cost(input: &Records, _: CostContext, [heap, step]: [f64; 2]) -> Cost {
    if input.is_resumable {
        return Cost::IMPOSSIBLE; // there is no history to save
    }
    let Cost { ns, .. } = super::ring::cost(input, heap, step);
    Cost { ns: ns - 100.0, bytes: input.heaps() as f64 }
}

/// A load for each heap and move.
pub fn needs(input: &Records) -> Needs {
    Needs { loads: super::ring::pairs(input) / input.heaps() as f64, ..Needs::default() }
}

#[inline(always)]
pub fn run(input: &Records, run: &Run, start: Start) -> Result<Output, RunError> {
    if !start.is_default() {
        return Err(RunError::OutsideDomain); // there is no history to resume from or to save
    }
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
            let reached = input.moves()[..allowed].iter().fold(0u64, |reached, m| reached | 1 << g[n - m]);
            g[n] = reached.trailing_ones() as u8;
        }
        output.add(start, &codes_of(&g[start..end]));
        run.advance((end - start) as u64)?;
    }
    Ok(output)
}
