//! The sieve of bits, a segment of heaps after the other: marks stay in L2 while all earlier P-positions hit the segment.
//!
//! Each P-position remembers its next move. One whose moves are used up is dropped; finite sets need that.
//!
//! Cost: as [`super::bit_sieve`], and a look at every P-position for each segment.
//! Bound: load, OR and store of a bit; past some hundred million heaps there are few bits for each look.

use crate::bits::WORD;
use crate::cores::mex::subtraction::Subtraction;
use crate::growing;
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Heaps in a segment.
const SEGMENT: usize = 1 << 20;

pub fn cost(input: &Subtraction, _: CostContext) -> Cost {
    let (heaps, zeros) = (input.heaps() as f64, input.zeros());
    let looks = zeros * heaps / SEGMENT as f64 / 2.0;
    let lists = growing::bytes::<u64>(zeros) + growing::bytes::<(usize, usize)>(zeros);
    let bytes = lists + input.copied_moves() + (SEGMENT / 8) as f64;
    Cost { ns: 0.95 * input.hits() + 4.0 * looks + 0.8 * heaps + 2500.0, bytes }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u64>, RunError> {
    let heaps = input.heaps();
    let moves: Vec<usize> = input.moves().iter().map(|m| *m as usize).collect();
    let mut zeros = Vec::new();
    // P-positions with moves left, and the index of the next of them.
    let mut live: Vec<(usize, usize)> = Vec::new();
    let mut marks = vec![0u64; SEGMENT / WORD];
    for start in (0..heaps).step_by(SEGMENT) {
        let end = heaps.min(start + SEGMENT);
        marks.fill(0);
        live.retain_mut(|(zero, next)| {
            *next = hit(&mut marks, *zero, &moves, *next, start, end);
            *next < moves.len()
        });
        for n in start..end {
            if marks[(n - start) / WORD] >> ((n - start) % WORD) & 1 == 0 {
                growing::push(&mut zeros, n as u64);
                let next = hit(&mut marks, n, &moves, 0, start, end);
                if next < moves.len() {
                    growing::push(&mut live, (n, next));
                }
            }
        }
        run.advance((end - start) as u64)?;
    }
    Ok(zeros)
}

/// Marks what a P-position hits in the segment, from a move on; the index of the first move that leads past it.
#[inline(always)]
fn hit(marks: &mut [u64], zero: usize, moves: &[usize], next: usize, start: usize, end: usize) -> usize {
    let mut done = next;
    for m in moves[next..].iter().take_while(|m| zero + **m < end) {
        let at = zero + m - start;
        marks[at / WORD] |= 1 << (at % WORD);
        done += 1;
    }
    done
}
