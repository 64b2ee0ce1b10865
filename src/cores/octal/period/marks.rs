//! Marked heaps, by which a repetition is seen soon after it begins.
//!
//! A heap is marked if a hash of the codes before it ends with enough zeros, as the distinguished points of van Oorschot and Wiener
//! (Parallel collision search, 1999). So in a repetition the same heaps are marked again, and a marked heap need be compared with
//! earlier ones alone. When there are too many, one zero more is asked for. Vectors sort out most heaps by a smaller hash, their class;
//! if no heap of the class comes any more, as where the period is short, another is chosen.

use std::hash::Hasher as _;

use twox_hash::XxHash3_64;

use crate::cores::octal::sparse::codes::LANES;
use crate::simd::array_of;

/// The most marks.
const MOST: usize = 512;
/// Codes that decide the class of a heap, and codes that decide whether it is marked.
const TAIL: usize = 16;
const SAMPLE: usize = 64;

/// A marked heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) heap: u64,
    /// The hash of the window before it.
    pub(super) window: u64,
    /// The zeros at the end of the hash that marks it.
    pub(super) zeros: u64,
}

/// A period, and a heap before which the window repeats after it, as hashes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    pub(super) from: u64,
    pub(super) period: u64,
}

/// The heaps that are marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// Only heaps of this class are marked, from this heap on.
    pub(super) class: u8,
    pub(super) since: u64,
    /// The zeros that are asked for.
    pub(super) zeros: u64,
    pub(super) marks: Vec<Mark>,
}

impl Marks {
    /// For codes like these, before a heap.
    pub(super) fn new(codes: &[u8], heap: u64) -> Self {
        let mut heaps = [0usize; 256];
        codes.windows(TAIL).for_each(|tail| heaps[usize::from(class(tail))] += 1);
        // One of 256 heaps need be looked at more closely, if there is such a class. Where the period is short, most classes do not occur.
        let occurring = (0..=255).filter(|class| heaps[usize::from(*class)] > 0);
        let class = occurring.min_by_key(|class| heaps[usize::from(*class)].abs_diff(codes.len() / 256));
        Marks { class: class.unwrap_or(0), since: heap, zeros: 0, marks: Vec::new() }
    }

    /// Whether the last eighth of all heaps has no mark, where some thirty are expected.
    pub(super) fn are_stale(&self, heap: u64) -> bool {
        let last = self.marks.last().map_or(self.since, |mark| mark.heap);
        heap - last > heap / 8
    }

    /// Marks heaps among the `count` after those whose codes end at `at`, the last of which is `done - 1`, until a window of `depth` codes
    /// repeats. If the position counts, only even distances are repetitions.
    #[inline(always)]
    pub(super) fn extend(
        &mut self,
        codes: &[u8],
        at: usize,
        done: u64,
        count: usize,
        depth: usize,
        by_position: bool,
    ) -> Option<Repetition> {
        for from in (0..count).step_by(LANES) {
            // After lane `i`, the last code is that of lane `i`.
            let tails: [&[u8; LANES]; TAIL] =
                array_of(|i| codes[at + from + 1 + i - TAIL..].first_chunk().expect("codes are padded by a block"));
            let mut classes = [0u8; LANES];
            // Lane by lane, so that a vector of classes stays in a register.
            for (lane, class) in classes.iter_mut().enumerate() {
                *class = tails.iter().fold(0, |class, codes| next_class(class, codes[lane]));
            }
            for (first, classes) in (from..).step_by(LANES / 4).zip(classes.as_chunks::<{ LANES / 4 }>().0) {
                // Unlike `any`, which may stop at each lane, this is done in vectors.
                if !classes.iter().fold(false, |any, class| any | (*class == self.class)) {
                    continue;
                }
                for (after, class) in (first + 1..=count).zip(classes) {
                    if *class != self.class {
                        continue;
                    }
                    let parity = if by_position { (done + after as u64) % 2 } else { 0 };
                    let repetition = self.add(&codes[..at + after], done + after as u64, depth, parity);
                    if repetition.is_some() {
                        return repetition;
                    }
                }
            }
        }
        None
    }

    /// Marks a heap of the class if its hash has the zeros, or tells which marked heap has the same window.
    fn add(&mut self, codes: &[u8], heap: u64, depth: usize, parity: u64) -> Option<Repetition> {
        let hash = |width: usize| {
            let mut hash = XxHash3_64::new();
            hash.write(&codes[codes.len() - width..]);
            hash.finish()
        };
        let zeros = u64::from(hash(SAMPLE).trailing_zeros());
        if zeros < self.zeros {
            return None;
        }
        let window = hash(depth) ^ parity;
        if let Some(earlier) = self.marks.iter().find(|mark| mark.window == window) {
            return Some(Repetition { from: earlier.heap, period: heap - earlier.heap });
        }
        self.marks.push(Mark { heap, window, zeros });
        while self.marks.len() > MOST {
            self.zeros += 1;
            self.marks.retain(|mark| mark.zeros >= self.zeros);
        }
        None
    }
}

/// A hash that vectors of bytes can compute: additions alone.
#[inline(always)]
fn next_class(class: u8, code: u8) -> u8 {
    class.wrapping_add(class).wrapping_add(class).wrapping_add(code)
}

fn class(tail: &[u8]) -> u8 {
    tail.iter().fold(0, |class, code| next_class(class, *code))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes of a generator, then codes that repeat after `period` heaps.
    fn codes(first: usize, period: usize, count: usize) -> Vec<u8> {
        let mut state = 1u64;
        let mut codes: Vec<u8> = Vec::new();
        for n in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            codes.push(if n < first + period { (state >> 59) as u8 } else { codes[n - period] });
        }
        codes
    }

    /// Most classes do not occur in it, and one that does is chosen.
    #[test]
    fn a_short_repetition_is_seen() {
        for period in [1, 2, 44, 142, 300] {
            let codes = codes(0, period, 30_000);
            let seen = Marks::new(&codes[..20_000], 20_000).extend(&codes, 20_000, 20_000, 2_000, 500, false);
            assert_eq!(seen.map(|seen| seen.period as usize), Some(period));
        }
    }

    #[test]
    fn a_repetition_is_seen_soon_and_none_where_there_is_none() {
        const DEPTH: usize = 500;
        let (first, period, count) = (100_000, 300_001, 600_000);
        for (by_position, rounds) in [(false, 1), (true, 2)] {
            let codes = codes(first, period, 2 * count);
            let mut marks = Marks::new(&codes[..50_000], 1000);
            let seen = marks.extend(&codes, 1000, 1000, 2 * count - 2000, DEPTH, by_position).expect("a repetition");
            assert_eq!(seen.period as usize, rounds * period);
            let (from, distance) = (first + DEPTH, (first + period) / 100);
            assert!((from - DEPTH..from + distance).contains(&(seen.from as usize)), "{seen:?}");
            assert!(marks.marks.len() <= MOST && marks.zeros > 0);
        }
        let codes = codes(count, 0, count);
        let mut marks = Marks::new(&codes[..50_000], 1000);
        assert_eq!(marks.extend(&codes, 1000, 1000, count - 2000, DEPTH, true), None);
    }
}
