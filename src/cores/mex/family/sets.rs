//! Which sets are in which batch, and what is found about them: all that does not depend on the slices.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::findings::{PERIOD, PREPERIOD, least, put};
use super::{Family, Findings, Repeating, bits_of, one_by_one};
use crate::kernel::{Run, RunError};
use crate::simd::array_of;
use crate::simd::bits::{WORD, transpose};

/// Words of the slices of all kernels but `words`.
pub const WORDS: usize = 8;
/// The heaps that the first level computes, in units of the largest move. Each level has twice as many as the one before.
const FIRST: usize = 4;
pub const LEVELS: usize = 7;
/// Heaps of the planes beyond those that a move reaches, before these are moved to the beginning. An odd number of lines, so that
/// the planes do not compete for the same lines of L1.
const ROOM: usize = 69;

/// What the threads of a run share.
pub struct SharedSets<'a> {
    pub input: &'a Family,
    pub run: &'a Run,
    pub next: AtomicU64,
}

impl SharedSets<'_> {
    /// The next sets, at most so many; none if all are taken.
    fn take(&self, most: usize) -> impl Iterator<Item = u64> {
        let most = most as u64;
        let end = self.input.indices().end;
        let first = self.next.fetch_add(most, Relaxed).min(end);
        self.input.numbers(first..end.min(first + most))
    }
}

/// The memory of a batch.
#[derive(Clone, Copy)]
pub struct BatchLayout {
    /// Heaps of a window: the largest move.
    pub window: usize,
    /// Values that a heap may have.
    pub values: usize,
    pub digits: usize,
}

impl BatchLayout {
    pub fn of(input: &Family) -> Self {
        let most = input.most_moves();
        BatchLayout { window: input.largest(), values: most + 1, digits: most.ilog2() as usize + 1 }
    }

    /// The heaps that a level computes.
    pub fn heaps(self, level: usize) -> usize {
        (FIRST * self.window) << level
    }

    /// Heaps in a plane.
    pub fn stride(self) -> usize {
        self.window + ROOM
    }

    /// The slices of planes, digits and masks.
    pub fn slices(self) -> usize {
        self.values * self.stride() + self.digits * self.heaps(LEVELS - 1) + self.window
    }
}

/// The sets of a thread, and what is found about them: all that does not depend on the slices.
pub struct Sets<'a> {
    shared: &'a SharedSets<'a>,
    /// The words of a slice.
    words: usize,
    pub layout: BatchLayout,
    /// For each level the sets that are pending for it, then those that are done alone.
    pending: [Vec<u64>; LEVELS + 1],
    /// The level of the batch, and how many sets were_pending for the next one before it.
    level: usize,
    were_pending: usize,
    /// The numbers of the sets of the batch, one in each lane.
    batch: Vec<u64>,
    /// The heaps that it computes.
    pub heaps: usize,
    /// For each move from the last that only some of the sets have down to the first such move, the sets that have it.
    pub masks: Vec<[u64; WORDS]>,
    /// The first of these moves.
    pub masked_from: usize,
    /// The moves outside these that all sets have.
    pub common: Vec<usize>,
    pub found: Findings,
    /// How many sets have each period.
    counts: Vec<u64>,
}

impl<'a> Sets<'a> {
    pub fn new(shared: &'a SharedSets<'a>, words: usize) -> Self {
        let layout = BatchLayout::of(shared.input);
        Sets {
            shared,
            words,
            layout,
            pending: Default::default(),
            level: 0,
            were_pending: 0,
            batch: Vec::with_capacity(WORD * words),
            heaps: 0,
            masks: Vec::with_capacity(layout.window),
            masked_from: 0,
            common: Vec::with_capacity(shared.input.most_moves()),
            found: Findings::default(),
            counts: vec![0; layout.heaps(LEVELS - 1) + 1],
        }
    }

    /// Takes the next batch, after what the last one left to be done alone. False if no set is left.
    #[inline(never)]
    pub fn take(&mut self) -> Result<bool, RunError> {
        let SharedSets { input, run, .. } = *self.shared;
        let unresolved = self.pending[self.level + 1].len() - self.were_pending;
        run.advance((self.batch.len() - unresolved) as u64)?;
        while let Some(set) = self.pending[LEVELS].pop() {
            one_by_one::add(input, set, run, &mut self.found, one_by_one::flags::resolve)?;
        }
        let lanes = WORD * self.words;
        let mut level = LEVELS - 1;
        while level > 0 && self.pending[level].len() < lanes {
            level -= 1;
        }
        if level == 0 {
            self.pending[0].extend(self.shared.take(lanes));
        }
        // At the end, what is pending goes on in smaller batches.
        while self.pending[level].is_empty() {
            level += 1;
            if level == LEVELS {
                return Ok(false);
            }
        }
        let left = self.pending[level].len().saturating_sub(lanes);
        self.batch.clear();
        self.batch.extend_from_slice(&self.pending[level][left..]);
        self.pending[level].truncate(left);
        (self.level, self.were_pending) = (level, self.pending[level + 1].len());
        self.heaps = self.layout.heaps(level);
        self.mask();
        Ok(true)
    }

    /// What was found.
    pub fn found(mut self) -> Findings {
        for (period, sets) in self.counts.iter().enumerate().filter(|(_, sets)| **sets > 0) {
            self.found.count(period as u64, *sets);
        }
        self.found
    }

    /// Which sets have which moves.
    fn mask(&mut self) {
        let input = self.shared.input;
        let mut columns = [[0; WORD]; WORDS];
        for (w, column) in columns[..self.words].iter_mut().enumerate() {
            // Lanes without a set have the last one once more.
            let last = self.batch.len() - 1;
            *column = array_of(|i| self.batch[last.min(WORD * w + i)]);
            transpose(column);
        }
        let is_all = |words: &[u64; WORDS], bits: u64| words[..self.words].iter().all(|word| *word == bits);
        // The moves that all sets have, then each free group that any has, with the sets that have it.
        let mut groups = vec![(input.always, [u64::MAX; WORDS])];
        groups.extend(input.free.iter().enumerate().map(|(k, group)| (*group, array_of(|w| columns[w][k]))));
        groups.retain(|(_, words)| !is_all(words, 0));
        let of_some = groups.iter().filter(|(_, words)| !is_all(words, u64::MAX));
        let masked = match of_some.fold(0, |masked, (group, _)| masked | group) {
            0 => 1..1,
            masked => masked.trailing_zeros() as usize..masked.ilog2() as usize + 1,
        };
        self.masked_from = masked.start;
        self.masks.clear();
        self.masks.resize(masked.len(), [0; WORDS]);
        self.common.clear();
        for (m, words) in groups.iter().flat_map(|(group, words)| bits_of(*group).map(move |m| (m, words))) {
            match masked.contains(&m) {
                true => self.masks[masked.end - 1 - m] = *words,
                false => self.common.push(m),
            }
        }
    }

    /// The lanes that have a set.
    pub fn valid(&self) -> [u64; WORDS] {
        array_of(|w| match self.batch.len().saturating_sub(WORD * w) {
            WORD.. => u64::MAX,
            left => (1 << left) - 1,
        })
    }

    /// The number of lanes that are set, of those that a slice has.
    fn lanes(&self, words: [u64; WORDS]) -> u64 {
        words[..self.words].iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Leaves sets without a period to the next level.
    pub fn leave(&mut self, words: [u64; WORDS]) {
        let pending = &mut self.pending[self.level + 1];
        for_each_lane(&words[..self.words], |lane| pending.push(self.batch[lane]));
    }

    /// Counts sets of a period. Returns the least preperiod that is kept for them.
    pub fn count(&mut self, words: [u64; WORDS], period: usize) -> usize {
        self.counts[period] += self.lanes(words);
        match self.is_long(period) {
            true => 1,
            false => least(&self.found.longest_preperiods, self.shared.input.kept, PREPERIOD).max(1) as usize,
        }
    }

    /// Whether a period may be one of the longest.
    fn is_long(&self, period: usize) -> bool {
        period as u64 >= least(&self.found.longest_periods, self.shared.input.kept, PERIOD)
    }

    /// Counts purely periodic sets.
    pub fn put_pure(&mut self, words: [u64; WORDS], period: usize) {
        self.found.pure += self.lanes(words);
        if self.is_long(period) {
            self.put(words, period, 0);
        }
    }

    /// Puts sets into the lists of the longest.
    pub fn put(&mut self, words: [u64; WORDS], period: usize, preperiod: usize) {
        let (is_long, kept) = (self.is_long(period), self.shared.input.kept);
        for_each_lane(&words[..self.words], |lane| {
            let found = Repeating { set: self.batch[lane], period: period as u64, preperiod: preperiod as u64 };
            if is_long {
                put(&mut self.found.longest_periods, kept, PERIOD, found);
            }
            if preperiod > 0 {
                put(&mut self.found.longest_preperiods, kept, PREPERIOD, found);
            }
        });
    }
}

/// Calls `take` with the lanes whose bits are set.
#[inline(always)]
fn for_each_lane(words: &[u64], mut take: impl FnMut(usize)) {
    for (w, word) in words.iter().enumerate() {
        for bit in bits_of(*word) {
            take(WORD * w + bit);
        }
    }
}
