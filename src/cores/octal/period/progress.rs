//! The progress of a run: the last codes, counts, marked heaps, and windows to compare with and to start again from.

use std::hash::Hasher as _;

use twox_hash::XxHash3_64;

use super::Tally;
use crate::cores::octal::sparse::codes::LANES;
use crate::cores::octal::sparse::window::{CHUNK, CODES, CodeWindow};
use crate::simd::{array_of, mapped};

/// Values of heaps whose codes have a bit in a word.
pub(super) const VALUES: usize = 2 * CODES;
/// Milestones at most, and their distance at first.
const MOST_MILESTONES: usize = 256;
const FIRST_DISTANCE: u64 = CHUNK as u64;

/// The codes before a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) heap: u64,
    pub(super) codes: Vec<u8>,
}

/// A window to compare with and to start again from, and how often each value occurs before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Milestone {
    pub(super) window: Snapshot,
    pub(super) counts: [u64; VALUES],
}

/// How many codes a run keeps, an even number, so that even heaps stay at even indices: as far back as anything can read, from the
/// first heap after a window that repeats.
fn kept(window: &CodeWindow, table: usize) -> usize {
    let most = window.longest() + window.depth + CHUNK;
    most.next_multiple_of(2 * LANES).max(super::LAST).min(table & !1)
}

/// The progress of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Heaps whose values are in a table.
    pub(super) table: usize,
    pub(super) done: u64,
    /// The last codes, then room for more.
    pub(super) codes: Vec<u8>,
    /// The index of the next code.
    pub(super) at: usize,
    /// How many codes stay when there is no more room.
    pub(super) kept: usize,
    /// The first heap that has each value, and how many have it.
    pub(super) tallies: [(u64, u64); VALUES],
    /// How far back the verification has read.
    pub(super) verified_by: usize,
    pub(super) marks: Marks,
    pub(super) milestones: Vec<Milestone>,
    pub(super) distance: u64,
}

impl Progress {
    /// After a table with these codes.
    pub(super) fn new(window: &CodeWindow, codes: &[u8], counted: &[Tally]) -> Self {
        let (table, heap) = (codes.len(), codes.len() as u64);
        let kept = kept(window, table);
        let mut codes = codes[table - kept..].to_vec();
        let marks = Marks::new(&codes, heap);
        codes.resize(Progress::room(kept), 0);
        let mut tallies = [(0, 0); VALUES];
        for Tally { value, first, heaps } in counted {
            tallies[usize::from(*value)] = (*first, *heaps);
        }
        let (milestones, distance) = (Vec::new(), FIRST_DISTANCE);
        Progress { table, done: heap, codes, at: kept, kept, tallies, verified_by: 0, marks, milestones, distance }
    }

    /// Whether it keeps as many codes as a run with this window reads.
    pub(super) fn fits(&self, window: &CodeWindow) -> bool {
        let depth = window.depth.max(LANES);
        self.kept >= kept(window, self.table)
            && self.milestones.iter().all(|milestone| milestone.window.codes.len() == depth)
    }

    /// The length of the buffer of codes.
    pub(super) fn room(kept: usize) -> usize {
        4 * kept + 16 * CHUNK + LANES
    }

    /// Heaps done.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Marks some of the next `count` heaps, whose codes are computed, until a window of `depth` codes repeats. If the position counts,
    /// only even distances are repetitions.
    #[inline(always)]
    pub(crate) fn mark(&mut self, count: usize, depth: usize, by_position: bool) -> Option<Repetition> {
        let Progress { codes, marks, at, done, .. } = self;
        if marks.are_stale(*done) {
            *marks = Marks::new(&codes[..*at], *done);
        }
        marks.extend(codes, *at, *done, count, depth, by_position)
    }

    /// Counts the next `count` heaps, whose codes are computed, where `values` are those of even and of odd heaps by code.
    #[inline(always)]
    pub(crate) fn count(&mut self, count: usize, values: &[[u16; CODES]; 2]) {
        let codes = &self.codes[self.at..self.at + count];
        let (blocks, rest) = codes.as_chunks::<LANES>();
        let most = usize::from(codes.iter().fold(0, |most, code| most.max(*code)));
        let odd = (self.done % 2) as usize;
        let mut counts = [[0u64; 2]; CODES];
        for (code, counts) in (0..=most.min(CODES - 1) as u8).zip(&mut counts) {
            // A chunk has fewer blocks than a byte has values.
            let mut lanes = [0u8; LANES];
            for block in blocks {
                for (lane, found) in lanes.iter_mut().zip(block) {
                    *lane += u8::from(*found == code);
                }
            }
            for (lane, count) in lanes.into_iter().enumerate() {
                counts[(lane + odd) % 2] += u64::from(count);
            }
        }
        for (lane, code) in rest.iter().enumerate() {
            counts[usize::from(*code)][(lane + odd) % 2] += 1;
        }
        for (code, counts) in counts.iter().enumerate() {
            for (of_parity, count) in values.iter().zip(counts).filter(|(_, count)| **count > 0) {
                let value = of_parity[code];
                let (first, heaps) = &mut self.tallies[usize::from(value)];
                if *heaps == 0 {
                    let has_it = |lane: &usize| values[(lane + odd) % 2][usize::from(codes[*lane])] == value;
                    *first = self.done + (0..codes.len()).find(has_it).expect("it was counted") as u64;
                }
                *heaps += count;
            }
        }
        self.at += count;
        self.done += count as u64;
    }

    /// The codes before the next heap.
    pub(super) fn window(&self, width: usize) -> &[u8] {
        &self.codes[self.at - width..self.at]
    }

    /// Keeps a milestone, if it is time to: at multiples of a distance that doubles.
    pub(super) fn keep_milestone(&mut self, depth: usize) {
        if !(self.done - self.table as u64).is_multiple_of(self.distance) {
            return;
        }
        let window = Snapshot { heap: self.done, codes: self.window(depth).to_vec() };
        self.milestones.push(Milestone { window, counts: mapped(self.tallies, |(_, heaps)| heaps) });
        if self.milestones.len() == MOST_MILESTONES {
            self.distance *= 2;
            let (table, distance) = (self.table as u64, self.distance);
            self.milestones.retain(|milestone| (milestone.window.heap - table).is_multiple_of(distance));
        }
    }
}

/// Makes room for a chunk after the code at `at`, where only the last `kept` codes are needed.
pub(super) fn slide(codes: &mut [u8], at: &mut usize, kept: usize) {
    if *at + CHUNK + LANES > codes.len() {
        codes.copy_within(*at - kept..*at, 0);
        *at = kept;
    }
}

/// The most marks.
const MOST: usize = 512;
/// Codes that decide the class of a heap, and codes that decide whether it is marked.
const TAIL: usize = 16;
const SAMPLE: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) heap: u64,
    /// The hash of the window before it.
    pub(super) window: u64,
    /// The zeros at the end of the hash that marks it.
    pub(super) zeros: u64,
}

/// A period, and a heap before which the window repeats after it, by hashes.
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
    /// The zeros that a mark needs.
    pub(super) zeros: u64,
    pub(super) marks: Vec<Mark>,
}

impl Marks {
    /// For codes like these, before a heap.
    pub(super) fn new(codes: &[u8], heap: u64) -> Self {
        let mut heaps = [0usize; 256];
        let class = |tail: &[u8]| tail.iter().fold(0, |class, code| next_class(class, *code));
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

    /// Marks a heap of the class if its hash has the zeros, or returns the distance to the marked heap with the same window.
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
