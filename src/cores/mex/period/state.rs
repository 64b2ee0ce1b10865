//! What a run knows: the last codes, counts, and windows to compare with and to start again from.

use super::Theorem;
use crate::cores::mex::sparse::codes::LANES;
use crate::cores::mex::sparse::window::{CHUNK, CODES, Window};

/// Values of heaps whose codes have a bit in a word.
pub(super) const VALUES: usize = 2 * CODES;
/// Windows to start again from, at most, and their distance at first.
const MOST_SNAPSHOTS: usize = 256;
const FIRST_DISTANCE: u64 = 1 << 20;

/// The codes before a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub(super) heap: u64,
    pub(super) codes: Vec<u8>,
}

/// How often each value occurs, and the first heap that has it.
pub(super) type Tallies = [(u64, u64); VALUES];

/// A window that later ones are compared with, and what was counted before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tortoise {
    pub(super) window: Snapshot,
    pub(super) tallies: Tallies,
}

/// A period that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) period: u64,
    pub(super) preperiod: u64,
    pub(super) width: usize,
    pub(super) heaps: u64,
}

impl Found {
    pub(super) fn theorem(&self) -> Theorem {
        Theorem::Window(self.width)
    }
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
    pub(super) tortoise: Tortoise,
    /// How far back the verification has read since the tortoise.
    pub(super) verified_by: usize,
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) distance: u64,
    pub(super) found: Option<Found>,
}

impl Progress {
    /// After a table with these codes.
    pub(super) fn new(window: &Window, codes: &[u8], tallies: Tallies) -> Self {
        // An even number, so that even heaps stay at even indices.
        let kept = window.longest().next_multiple_of(2 * LANES).max(super::LAST).min(codes.len() & !1);
        let (table, heap) = (codes.len(), codes.len() as u64);
        let mut buffer = codes[table - kept..].to_vec();
        let window = Snapshot { heap, codes: buffer.clone() };
        let mut state = Progress {
            table,
            done: heap,
            codes: Vec::new(),
            at: kept,
            kept,
            tallies,
            tortoise: Tortoise { window, tallies },
            verified_by: 0,
            snapshots: Vec::new(),
            distance: FIRST_DISTANCE,
            found: None,
        };
        buffer.resize(Progress::room(kept), 0);
        state.codes = buffer;
        state
    }

    /// Whether it keeps as many codes as a run with this window reads.
    pub(super) fn fits(&self, window: &Window) -> bool {
        let depth = window.depth().max(LANES);
        self.kept >= window.longest().min(self.table & !1)
            && self.snapshots.iter().all(|snapshot| snapshot.codes.len() >= depth)
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

    /// Counts the next `count` heaps, whose codes are computed, where `values` are those of even and of odd heaps by code.
    #[inline(always)]
    pub(super) fn count(&mut self, count: usize, values: &[[u16; CODES]; 2]) {
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

    /// Keeps a window to start again from, if it is time to: at multiples of a distance that doubles.
    pub(super) fn snap(&mut self, depth: usize) {
        if !(self.done - self.table as u64).is_multiple_of(self.distance) {
            return;
        }
        self.snapshots.push(Snapshot { heap: self.done, codes: self.window(depth).to_vec() });
        if self.snapshots.len() == MOST_SNAPSHOTS {
            self.distance *= 2;
            let (table, distance) = (self.table as u64, self.distance);
            self.snapshots.retain(|snapshot| (snapshot.heap - table).is_multiple_of(distance));
        }
    }
}
