//! The driver of the sieves that keep marks for all heaps at once.

use crate::cores::mex::subtraction::Subtraction;
use crate::growing;
use crate::kernel::{Run, RunError};

/// Heaps that a P-position has hit.
pub trait Marks {
    /// Whether the heap was hit.
    fn is_hit(&self, n: usize) -> bool;
    /// Hits a heap.
    fn hit(&mut self, n: usize);
}

/// Heaps between two looks at the progress counter.
const BLOCK: usize = 4096;

/// Bytes of the P-positions and of the moves.
pub fn bytes(input: &Subtraction) -> f64 {
    growing::bytes::<u64>(input.zeros()) + input.copied_moves()
}

/// The P-positions, with `marks` for the heaps up to the limit, none of them hit.
#[inline(always)]
pub fn sieve(input: &Subtraction, run: &Run, mut marks: impl Marks) -> Result<Vec<u64>, RunError> {
    let heaps = input.heaps();
    let moves: Vec<usize> = input.moves().iter().map(|m| *m as usize).collect();
    let mut zeros = Vec::new();
    for start in (0..heaps).step_by(BLOCK) {
        let end = heaps.min(start + BLOCK);
        for n in start..end {
            if !marks.is_hit(n) {
                growing::push(&mut zeros, n as u64);
                for m in moves.iter().take_while(|m| n + **m < heaps) {
                    marks.hit(n + m);
                }
            }
        }
        run.advance((end - start) as u64)?;
    }
    Ok(zeros)
}
