//! What a run knows: the last codes, counts, marked heaps, and windows to compare with and to start again from.

use super::marks::{Marks, Repetition};
use crate::cores::octal::sparse::codes::LANES;
use crate::cores::octal::sparse::window::{CHUNK, CODES, Window};
use crate::simd::mapped;

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

/// How often each value occurs, and the first heap that has it.
pub(super) type Tallies = [(u64, u64); VALUES];

/// A window to compare with and to start again from, and how often each value occurs before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Milestone {
    pub(super) window: Snapshot,
    pub(super) counts: [u64; VALUES],
}

/// How many codes a run keeps, an even number, so that even heaps stay at even indices: as far back as anything can read, from the
/// first heap after a window that repeats.
fn kept(window: &Window, table: usize) -> usize {
    let most = window.longest() + window.depth + CHUNK;
    most.next_multiple_of(2 * LANES).max(super::LAST).min(table & !1)
}

/// The progress of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Heaps whose values are in a table.
    pub(super) table: usize,
    /// Heaps done.
    pub(super) done: u64,
    /// The last codes, then room for more.
    pub(super) codes: Vec<u8>,
    /// The index of the next code.
    pub(super) at: usize,
    /// How many codes stay when there is no more room.
    pub(super) kept: usize,
    pub(super) tallies: Tallies,
    /// How far back the verification has read.
    pub(super) verified_by: usize,
    pub(super) marks: Marks,
    pub(super) milestones: Vec<Milestone>,
    pub(super) distance: u64,
}

impl Progress {
    /// After a table with these codes.
    pub(super) fn new(window: &Window, codes: &[u8], tallies: Tallies) -> Self {
        let (table, heap) = (codes.len(), codes.len() as u64);
        let kept = kept(window, table);
        let mut buffer = codes[table - kept..].to_vec();
        let mut state = Progress {
            table,
            done: heap,
            codes: Vec::new(),
            at: kept,
            kept,
            tallies,
            verified_by: 0,
            marks: Marks::new(&buffer, heap),
            milestones: Vec::new(),
            distance: FIRST_DISTANCE,
        };
        buffer.resize(Progress::room(kept), 0);
        state.codes = buffer;
        state
    }

    /// Whether it keeps as many codes as a run with this window reads.
    pub(super) fn fits(&self, window: &Window) -> bool {
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

    /// Makes room for a chunk.
    pub(super) fn slide(&mut self) {
        if self.at + CHUNK + LANES > self.codes.len() {
            let from = self.at - self.kept;
            self.codes.copy_within(from..self.at, 0);
            self.at = self.kept;
        }
    }

    /// Marks some of the next `count` heaps, whose codes are computed, until a window of `depth` codes repeats. If the position counts,
    /// only even distances are repetitions.
    #[inline(always)]
    pub(in crate::cores::octal) fn mark(
        &mut self,
        count: usize,
        depth: usize,
        by_position: bool,
    ) -> Option<Repetition> {
        let Progress { codes, marks, at, done, .. } = self;
        if marks.are_stale(*done) {
            *marks = Marks::new(&codes[..*at], *done);
        }
        marks.extend(codes, *at, *done, count, depth, by_position)
    }

    /// Counts the next `count` heaps, whose codes are computed, where `values` are those of even and of odd heaps by code.
    #[inline(always)]
    pub(in crate::cores::octal) fn count(&mut self, count: usize, values: &[[u16; CODES]; 2]) {
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
