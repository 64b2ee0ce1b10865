//! A sieve with one bit per heap, segment by segment: marks stay in L2 while all earlier P-positions hit the segment.
//!
//! Each P-position keeps the index of its next move, and is dropped when its moves are used up, which matters for finite sets.
//!
//! Cost: as in [`super::bit_sieve`], plus one visit to every P-position per segment.
//! Bound: load, OR and store of a bit. Beyond some hundred million heaps, a visit sets few bits.

use super::Zeros;
use super::checkpoint::Start;
use crate::cores::growing;
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::WORD;

/// Heaps in a segment.
const SEGMENT: usize = 1 << 20;

/// Rates: the ns of a hit, of a visit, of a heap, and of a run.
pub fn cost(input: &Zeros, _: CostContext, [hit, visit, heap, run]: [f64; 4]) -> Cost {
    let (heaps, zeros) = (input.heaps() as f64, input.zeros());
    let visits = zeros * heaps / SEGMENT as f64 / 2.0;
    let lists = growing::bytes::<u64>(zeros) + growing::bytes::<(usize, usize)>(zeros);
    let bytes = lists + input.copied_moves() + (SEGMENT / 8) as f64;
    input.unless_resumable(Cost { ns: hit * input.hits() + visit * visits + heap * heaps + run, bytes })
}

#[inline(always)]
pub fn run(input: &Zeros, run: &Run, start: Start) -> Result<Vec<u64>, RunError> {
    start.at_zero()?;
    let heaps = input.heaps();
    let moves: Vec<usize> = input.moves().iter().map(|m| *m as usize).collect();
    let mut zeros = Vec::new();
    // P-positions that have moves left, each with the index of the next one.
    let mut active: Vec<(usize, usize)> = Vec::new();
    let mut marks = vec![0u64; SEGMENT / WORD];
    for start in (0..heaps).step_by(SEGMENT) {
        let end = heaps.min(start + SEGMENT);
        marks.fill(0);
        active.retain_mut(|(zero, next)| {
            *next = hit(&mut marks, *zero, &moves, *next, start, end);
            *next < moves.len()
        });
        for n in start..end {
            if marks[(n - start) / WORD] >> ((n - start) % WORD) & 1 == 0 {
                growing::push(&mut zeros, n as u64);
                let next = hit(&mut marks, n, &moves, 0, start, end);
                if next < moves.len() {
                    growing::push(&mut active, (n, next));
                }
            }
        }
        run.advance((end - start) as u64)?;
    }
    Ok(zeros)
}

/// Marks the heaps of a segment that a P-position hits with the moves from `next` on. Returns the index of the first move that
/// leads beyond the segment.
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
