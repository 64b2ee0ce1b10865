//! The driver of the kernels without a table.
//!
//! A table of the first heaps, from a kernel of `mex_octal`, makes a [`Window`]. From there on chunks of heaps are computed,
//! verified and counted, and only the last codes are kept. If a heap cannot be verified by them, or is rare, the table is made
//! longer and the run goes on from its end.
//!
//! A period is found as Brent finds a cycle: windows are compared with one kept before, the *tortoise*, which moves up each time
//! that the heaps have doubled. The first heap of the period is between two of some hundred windows kept on the way; it is found
//! by starting from these again, once with each of two heaps a period apart.

use super::super::octal::codes::LANES;
use super::super::octal::inner::Inner;
use super::super::octal::lanes::Sparse;
use super::super::octal::window::steps::Windowed;
use super::super::octal::window::{CHUNK, CODES, End, Lanes, Window};
use super::super::octal::{self, Octal, drive};
use super::state::{Found, Snapshot, State, Tallies, Tortoise, VALUES};
use super::{Census, LAST, Proved, Start, Tally, hashed};
use crate::kernel::{Cost, Run, RunError};

/// Heaps in a table, at first and at most.
const TABLE: usize = 1 << 17;
const LARGEST_TABLE: usize = 1 << 22;

/// What makes a run give up.
const NO_WINDOW: RunError = RunError::GaveUp(
    "the values of this game do not depend on a window of values, as far as 4194304 heaps show; mex_octal keeps all of them",
);

/// The cost at `ns` nanoseconds for a heap.
pub fn cost(input: &Octal, ns: f64) -> Cost {
    let heaps = input.heaps() as f64;
    let table = drive::cost(input, 5.0);
    if !table.is_possible() {
        return Cost::IMPOSSIBLE;
    }
    let (first, far) = (heaps.min(TABLE as f64), (heaps - TABLE as f64).max(0.0));
    // A table, and what `Census::of` counts; or the buffer of codes, and two windows.
    let window = if far > 0.0 { 800_000.0 } else { 1_048_576.0 };
    Cost { ns: 2e6 + 300.0 * first + ns * far, bytes: 3.0 * first + 500_000.0 + window }
}

/// What a stream comes to.
enum Outcome {
    Complete(Census),
    /// The table should be longer than this.
    NoWindow(u64),
}

/// Counts the values of all heaps.
#[inline(always)]
pub fn stream<L: Lanes>(
    input: &Octal,
    run: &Run,
    start: Start,
    inner: &impl Inner,
    lanes: &L,
) -> Result<Census, RunError> {
    let heaps = input.heaps();
    let mut table = start.from.as_ref().map_or(TABLE, |state| state.table).min(heaps);
    let mut progress = Progress { run, counted: 0 };
    let (mut from, journal) = (start.from, start.journal);
    let mut values = Vec::new();
    loop {
        let first = Octal::new(input.code(), table as u64 - 1).expect("a smaller limit");
        let begin = octal::Start::from_values(values);
        values = drive::drive(&first, &run.counted_apart(), begin, inner, &mut Windowed::new(lanes))?;
        let found = octal::period(input.code(), &values, run)?;
        progress.reach(table as u64)?;
        if table == heaps {
            return Ok(Census::of(&values, found));
        }
        if let Some(found) = found.filter(|found| found.is_proved) {
            progress.reach(heaps as u64)?;
            return Ok(Census::repeated(&values, found, heaps as u64));
        }
        let mut least = 2 * table as u64;
        if let Ok(sparse) = Sparse::new(&first, &values)
            && let Some(window) = Window::new(sparse.window_parts(table), lanes)
        {
            let codes = &sparse.codes[..table];
            let mut stream = Stream::new(heaps as u64, window, lanes, &values, codes, from.take());
            let outcome = stream.go(&mut progress, journal.as_deref().map(|journal| (journal, input)))?;
            match outcome {
                Outcome::Complete(census) => return Ok(census),
                Outcome::NoWindow(heap) => least = least.max(heap),
            }
        }
        if table >= LARGEST_TABLE {
            return Err(NO_WINDOW);
        }
        from = None;
        table = (2 * least as usize).min(LARGEST_TABLE).min(heaps);
    }
}

/// Counts no heap twice as progress where a run begins again.
struct Progress<'a> {
    run: &'a Run,
    counted: u64,
}

impl Progress<'_> {
    fn reach(&mut self, heaps: u64) -> Result<(), RunError> {
        let more = heaps.saturating_sub(self.counted);
        self.counted += more;
        self.run.advance(more)
    }
}

/// Codes from a window on.
struct Replay<'a, L> {
    window: Window,
    lanes: &'a L,
    codes: Vec<u8>,
    at: usize,
    /// The next heap.
    heap: u64,
}

impl<'a, L: Lanes> Replay<'a, L> {
    fn new(window: &Window, lanes: &'a L, from: &Snapshot) -> Self {
        let mut codes = from.codes.clone();
        let at = codes.len();
        codes.resize(State::room(at.max(LANES)), 0);
        Replay { window: window.clone(), lanes, codes, at, heap: from.heap }
    }

    /// The codes of the next chunk.
    #[inline(always)]
    fn next(&mut self) -> &[u8] {
        if self.at + CHUNK + LANES > self.codes.len() {
            let kept = self.window.depth().max(LANES);
            self.codes.copy_within(self.at - kept..self.at, 0);
            self.at = kept;
        }
        let computed = self.window.compute(&mut self.codes, self.at, self.lanes);
        debug_assert!(computed.is_ok(), "these heaps were computed before");
        self.at += CHUNK;
        self.heap += CHUNK as u64;
        &self.codes[self.at - CHUNK..self.at]
    }

    /// The window before a heap.
    #[inline(always)]
    fn before(mut self, heap: u64, run: &Run) -> Result<Snapshot, RunError> {
        while self.heap < heap {
            run.advance(0)?;
            self.next();
        }
        let end = self.at - (self.heap - heap) as usize;
        let depth = self.window.depth().max(LANES);
        Ok(Snapshot { heap, codes: self.codes[end - depth..end].to_vec() })
    }
}

/// A run without a table.
struct Stream<'a, L> {
    heaps: u64,
    window: Window,
    lanes: &'a L,
    /// The values in the table.
    table: &'a [u16],
    /// The value of each code, for heaps of even and of odd number.
    values: [[u16; CODES]; 2],
    state: State,
    /// The heads were chosen at this heap.
    chosen_at: u64,
}

impl<'a, L: Lanes> Stream<'a, L> {
    fn new(heaps: u64, window: Window, lanes: &'a L, table: &'a [u16], codes: &[u8], from: Option<State>) -> Self {
        let coder = window.coder();
        let values = [0, 1].map(|odd| std::array::from_fn(|code| coder.common(odd, code as u8)));
        let mut tallies: Tallies = [(0, 0); VALUES];
        for (n, value) in (0..).zip(table) {
            let (first, count) = &mut tallies[usize::from(*value)];
            if *count == 0 {
                *first = n;
            }
            *count += 1;
        }
        let state = from.unwrap_or_else(|| State::new(&window, codes, tallies));
        let mut stream = Stream { heaps, window, lanes, table, values, chosen_at: state.done, state };
        let verified_by = stream.state.verified_by;
        stream.choose();
        stream.window.set_verified_by(verified_by);
        stream
    }

    /// Chooses the heads by the last heaps, from an even one on.
    fn choose(&mut self) {
        let odd = (self.state.done % 2) as usize ^ self.state.at % 2;
        self.window.choose(&self.state.codes[odd..self.state.at], self.lanes);
        self.chosen_at = self.state.done;
    }

    /// Counts heaps up to the last.
    #[inline(always)]
    fn go(
        &mut self,
        progress: &mut Progress,
        journal: Option<(&dyn super::Journal, &Octal)>,
    ) -> Result<Outcome, RunError> {
        while self.state.done < self.heaps {
            let State { done, at, .. } = self.state;
            if done >= 4 * self.chosen_at {
                self.choose();
            }
            if self.state.found.is_none() && done >= 2 * self.state.tortoise.window.heap {
                let window = Snapshot { heap: done, codes: self.state.window(self.state.kept).to_vec() };
                self.state.tortoise = Tortoise { window, tallies: self.state.tallies };
                self.window.set_verified_by(0);
            }
            self.state.snap(self.window.depth().max(LANES));
            self.state.slide();
            let at = if self.state.at == at { at } else { self.state.at };
            if self.window.compute(&mut self.state.codes, at, self.lanes).is_err() {
                return Ok(Outcome::NoWindow(done));
            }
            // What is proved need not be verified.
            if self.state.found.is_none() {
                let odd = (done % 2) as usize;
                let end = self.window.verify(&self.state.codes, at, odd, self.lanes, |_, _| false);
                self.state.verified_by = self.window.verified_by();
                if let Err(End::Open(index, _)) = end {
                    return Ok(Outcome::NoWindow(done + (index - at) as u64));
                }
            }
            let count = (self.heaps - done).min(CHUNK as u64) as usize;
            match self.repetition(count) {
                Some(count) => {
                    self.state.count(count, &self.values);
                    self.found(progress.run)?;
                }
                None => self.state.count(count, &self.values),
            }
            let is_known = progress.reach(self.state.done);
            if let Some((journal, input)) = journal {
                journal.keep(&self.state, input, is_known.is_err());
            }
            is_known?;
        }
        Ok(Outcome::Complete(self.census()))
    }

    /// After how many of the next heaps the window is that of the tortoise.
    #[inline(always)]
    fn repetition(&self, count: usize) -> Option<usize> {
        const TAIL: usize = 4;
        let State { tortoise: Tortoise { window, .. }, at, codes, done, found, .. } = &self.state;
        if found.is_some() {
            return None;
        }
        let tail: &[u8; TAIL] = window.codes.last_chunk().expect("a window is longer");
        let width = self.window.width();
        let is_even = self.window.coder().by_position();
        for from in (0..count).step_by(LANES) {
            // After lane `i`, the last code is that of lane `i`.
            let ends: [&[u8; LANES]; TAIL] = std::array::from_fn(|i| {
                codes[at + from + 1 + i - TAIL..].first_chunk().expect("codes are padded by a block")
            });
            let mut any = 0;
            for lane in 0..LANES {
                let is_tail = (0..TAIL).fold(0, |differs, i| differs | ends[i][lane] ^ tail[i]) == 0;
                any |= u8::from(is_tail);
            }
            if any == 0 {
                continue;
            }
            let is_window = |after: &usize| {
                let period = done + *after as u64 - window.heap;
                let end = at + after;
                (!is_even || period.is_multiple_of(2))
                    && codes[end - width..end] == window.codes[window.codes.len() - width..]
            };
            if let Some(after) = (from + 1..=(from + LANES).min(count)).find(is_window) {
                return Some(after);
            }
        }
        None
    }

    /// Takes over the period that ends at the next heap, and counts as many rounds of it as there are.
    fn found(&mut self, run: &Run) -> Result<(), RunError> {
        let (done, width) = (self.state.done, self.window.width());
        let period = done - self.state.tortoise.window.heap;
        let preperiod = self.preperiod(period, run)?;
        self.state.found = Some(Found { period, preperiod, width, heaps: done });
        let rounds = (self.heaps - done) / period;
        for (tally, before) in self.state.tallies.iter_mut().zip(&self.state.tortoise.tallies) {
            tally.1 += rounds * (tally.1 - before.1);
        }
        self.state.done += rounds * period;
        Ok(())
    }

    /// Codes from the last window before a heap that is kept.
    fn replay(&self, heap: u64) -> Replay<'a, L> {
        let snapshots = &self.state.snapshots;
        let last = snapshots.partition_point(|snapshot| snapshot.heap <= heap).max(1) - 1;
        Replay::new(&self.window, self.lanes, &snapshots[last])
    }

    /// The first heap of a period that holds from the tortoise on.
    #[inline(always)]
    fn preperiod(&self, period: u64, run: &Run) -> Result<u64, RunError> {
        let State { snapshots, tortoise, .. } = &self.state;
        let end = tortoise.window.heap;
        let snapshots = &snapshots[..snapshots.partition_point(|snapshot| snapshot.heap <= end)];
        // Once a window repeats, all later ones do.
        let repeats = |snapshot: &Snapshot| -> Result<bool, RunError> {
            let later = self.replay(snapshot.heap + period).before(snapshot.heap + period, run)?;
            Ok(later.codes == snapshot.codes)
        };
        let (mut low, mut high) = (0, snapshots.len());
        while low < high {
            let middle = low.midpoint(high);
            if repeats(&snapshots[middle])? { high = middle } else { low = middle + 1 }
        }
        let Some(from) = low.checked_sub(1).map(|last| &snapshots[last]) else {
            return self.preperiod_in_table(period, run);
        };
        let until = snapshots.get(low).map_or(end, |snapshot| snapshot.heap);
        let later = self.replay(from.heap + period).before(from.heap + period, run)?;
        let last = |a: &[u8], b: &[u8]| a.iter().zip(b).rposition(|(a, b)| a != b).map(|at| at as u64 + 1);
        let start = from.heap - from.codes.len() as u64;
        let mut preperiod = last(&from.codes, &later.codes).map_or(start, |at| start + at);
        let (mut first, mut second) =
            (Replay::new(&self.window, self.lanes, from), Replay::new(&self.window, self.lanes, &later));
        while first.heap < until {
            run.advance(0)?;
            let heap = first.heap;
            if let Some(at) = last(first.next(), second.next()) {
                preperiod = heap + at;
            }
        }
        Ok(preperiod)
    }

    /// The first heap of a period that holds from the end of the table on.
    fn preperiod_in_table(&self, period: u64, run: &Run) -> Result<u64, RunError> {
        let size = self.table.len();
        // The values of as many heaps a period later.
        let mut later: Vec<u16> = self.table[(period as usize).min(size)..].to_vec();
        let from = period.max(size as u64);
        let window = self.replay(from).before(from, run)?;
        let mut replay = Replay::new(&self.window, self.lanes, &window);
        while later.len() < size {
            let heap = replay.heap as usize;
            let of = |(n, code): (usize, &u8)| self.values[n % 2][usize::from(*code)];
            later.extend((heap..).zip(replay.next()).map(of));
        }
        let differs = self.table.iter().zip(&later).rposition(|(a, b)| a != b);
        Ok(differs.map_or(0, |n| n as u64 + 1))
    }

    fn census(&self) -> Census {
        let State { tallies, done, at, found, .. } = &self.state;
        let tallies = (0..).zip(tallies).filter(|(_, (_, heaps))| *heaps > 0);
        let count = LAST.min(*done as usize);
        let first = *done as usize - count;
        let last = (first..).zip(self.state.window(count)).map(|(n, code)| self.values[n % 2][usize::from(*code)]);
        debug_assert!(*at >= count);
        Census {
            tallies: tallies.map(|(value, (first, heaps))| Tally { value, first: *first, heaps: *heaps }).collect(),
            last: hashed(last),
            period: found.map(|found| Proved {
                period: found.period,
                preperiod: found.preperiod,
                theorem: found.theorem(),
                heaps: found.heaps,
            }),
            rare: Some(self.window.rare()),
        }
    }
}
