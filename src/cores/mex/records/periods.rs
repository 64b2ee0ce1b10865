//! The periods that a history has: what guesses rest on, and what compresses it.

use super::Records;
use super::compressed::{LONGEST, is_small};
use super::history::{CHUNK, Packed};
use crate::cores::mex::lanes::{LANES, PLANES, WINDOW, below};

/// The blocks that a period is judged by.
pub const JUDGED: usize = 16;

/// The bytes of chunks that are foreseen for an input, by how its first heaps repeat: those of the factorials take 0.024 a heap
/// up to 13!, and 0.032 past it. It is an estimate, since later heaps of some sets repeat less often.
pub fn room(input: &Records, packed: Packed) -> f64 {
    let codes = first_codes(input.moves(), JUDGED * LANES + LONGEST);
    let each = match best_period(&codes) {
        Some(_) => 0.08,
        None if codes.iter().copied().all(is_small) => 0.55,
        None => 1.01,
    };
    ((packed.prefix + packed.last + 1) * CHUNK) as f64 * each
}

/// The codes of the first heaps.
pub fn first_codes(moves: &[usize], heaps: usize) -> Vec<u8> {
    let mut codes = Vec::with_capacity(heaps);
    for n in 0..heaps {
        let mut reached = 1u64;
        for m in &moves[..below(moves, n + 1)] {
            reached |= 1_u64 << codes[n - m];
        }
        codes.push((!reached).ilog2() as u8);
    }
    codes
}

/// The period that would have guessed most of the last blocks of `codes` right, and their share, if it is at least half.
pub fn best_period(codes: &[u8]) -> Option<(usize, f64)> {
    let blocks = codes.len().saturating_sub(LONGEST) / LANES;
    let (mut best, mut most) = (0, 0);
    for period in 1..LONGEST + 1 {
        let starts = (codes.len() - blocks * LANES..codes.len()).step_by(LANES);
        let right = starts.filter(|start| is_guessed(codes, *start, period)).count();
        // The shortest of the best: a wrong block misleads fewer blocks after it.
        if right > most {
            (best, most) = (period, right);
        }
    }
    (most > 0 && 2 * most >= blocks).then(|| (best, most as f64 / blocks as f64))
}

/// Whether the block of `codes` at `start` is what `period` would have guessed, and small values.
fn is_guessed(codes: &[u8], start: usize, period: usize) -> bool {
    let lag = |i: usize| if period < LANES { period * (i / period + 1) } else { period };
    (0..LANES).all(|i| codes[start + i] == codes[start + i - lag(i)] && codes[start + i] > (WINDOW - PLANES) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_period_is_found_short_or_long() {
        for period in [1, 2, 25, 63, 64, 65, 127, 128] {
            let of = |n: usize| if n.is_multiple_of(period) { 62 } else { 63 };
            let codes: Vec<u8> = (0..JUDGED * LANES + LONGEST).map(of).collect();
            assert_eq!(best_period(&codes), Some((period, 1.0)));
        }
    }

    #[test]
    fn no_period_is_found_where_none_is_or_values_are_large() {
        let mut state = 1u32;
        let mut random = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            60 + (state >> 30) as u8
        };
        let codes: Vec<u8> = (0..JUDGED * LANES + LONGEST).map(|_| random()).collect();
        assert_eq!(best_period(&codes), None);
        assert_eq!(best_period(&[54; JUDGED * LANES + LONGEST]), None, "value 9");
        assert_eq!(best_period(&[63; LONGEST]), None, "no blocks to judge by");
    }
}
