//! The driver of sieves that keep marks for all heaps at once.

use crate::cores::growing;
use crate::cores::mex::subtraction::Subtraction;
use crate::kernel::{Run, RunError};

/// The set of heaps that a P-position has hit.
pub trait Marks {
    /// Whether a heap was hit.
    fn is_hit(&self, n: usize) -> bool;
    /// Marks a heap as hit.
    fn hit(&mut self, n: usize);
}

/// Heaps between two progress updates.
const PROGRESS_STEP: usize = 4096;

/// Bytes of the P-positions and the moves.
pub fn bytes(input: &Subtraction) -> f64 {
    growing::bytes::<u64>(input.zeros()) + input.copied_moves()
}

/// Finds the P-positions. `marks` covers the heaps up to the limit, and none is hit yet.
#[inline(always)]
pub fn sieve(input: &Subtraction, run: &Run, mut marks: impl Marks) -> Result<Vec<u64>, RunError> {
    let heaps = input.heaps();
    let moves = input.own_moves();
    let mut zeros = Vec::new();
    for start in (0..heaps).step_by(PROGRESS_STEP) {
        let end = heaps.min(start + PROGRESS_STEP);
        for n in start..end {
            if !marks.is_hit(n) {
                growing::push(&mut zeros, n as u64);
                for m in &moves {
                    if n + m >= heaps {
                        break;
                    }
                    marks.hit(n + m);
                }
            }
        }
        run.advance((end - start) as u64)?;
    }
    Ok(zeros)
}
