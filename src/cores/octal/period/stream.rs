//! A window of the last values, without a table of all of them.
//!
//! A table of the first heaps, from a kernel of `mex_octal`, makes a [`CodeWindow`]. From there on chunks of heaps are computed,
//! verified and counted, and only the last codes are kept. If a heap cannot be verified by them, or is rare, the table is made
//! longer and the run goes on from its end.
//!
//! A repetition is seen by [marked heaps](super::progress), by hashes, soon after it begins. What proves it are codes: the first of a few
//! hundred windows kept on the way that lies in it, the *milestones*, is compared with the window a period later. If they are equal,
//! so are all heaps from there on that are verified; when these are as many as the verification reads back, the theorem holds.
//! The first heap of the period lies between two milestones. It is found by starting from these again, once with each of two heaps a
//! period apart.
//!
//! Cost and bound: those of a [`CodeWindow`], for each heap after the table; see [`sparse::window`](crate::cores::octal::sparse::window).

use super::certificate::{Certificate, Windows};
use super::progress::{Milestone, Progress, Repetition, Snapshot, slide};
use super::{Census, Journal, LAST, Proved, Rare, Start, Theorem, hashed, occurring};
use crate::cores::mex::checkpoint;
use crate::cores::octal::octal::{self, Octal};
use crate::cores::octal::sparse::Backend;
use crate::cores::octal::sparse::blocks::Sparse;
use crate::cores::octal::sparse::codes::LANES;
use crate::cores::octal::sparse::window::{CHUNK, CodeWindow, End};
use crate::cores::octal::sparse::{drive, portable};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// Heaps in a table, at first and at most.
const TABLE: usize = if cfg!(test) { 1 << 13 } else { 1 << 17 };
pub(super) const LARGEST_TABLE: usize = 1 << 22;

/// The error of a run without a window.
const NO_WINDOW: RunError = RunError::GaveUp(
    "no window of values decides the next, as far as 4194304 heaps show: too many heaps are rare, or long splits alone reach a rare value; \
     name a kernel of mex_octal, which keeps all values",
);

/// The error of a run that cannot resume.
const MISFIT: RunError =
    RunError::GaveUp("the checkpoint keeps too few values to continue from; start this run again without it");

/// Nanoseconds to make a window.
const NS_PER_WINDOW: f64 = 6e6;

/// The cost where few heaps are rare. Rates: the ns of a heap of the table, and of one after it.
pub fn cost(input: &Octal, _: CostContext, [near, far]: [f64; 2]) -> Cost {
    let heaps = input.heaps() as f64;
    let first = heaps.min(TABLE as f64);
    let window = if heaps < TABLE as f64 { 0.0 } else { NS_PER_WINDOW };
    let ns = window + near * first + far * (heaps - first);
    Cost { ns, bytes: bytes(first, drive::bytes(first)) }.only_if(input.has_sparse_space())
}

/// Peak bytes for a table of heaps whose computation takes `computed`: during it, or while all values are counted.
pub fn bytes(heaps: f64, computed: f64) -> f64 {
    computed.max(2.0 * heaps + 16.0 * 65_536.0)
}

/// The baseline: all values in a table by the kernel `greedy`, then counted; a period is proved by the theorem of Guy and Smith.
///
/// Cost: that of `greedy` where few heaps are rare, some 140 ns a heap, and three bytes.
/// Source: Guy and Smith, "The G-values of various games", 1956.
pub mod table {
    use super::*;

    /// Rates: the ns of a heap among the first, of another, and to count it.
    pub fn cost(input: &Octal, context: CostContext, [near, far, count]: [f64; 3]) -> Cost {
        let heaps = input.heaps() as f64;
        let few_rare = super::cost(input, context, [near, far]);
        Cost { ns: few_rare.ns + count * heaps, bytes: super::bytes(heaps, drive::bytes(heaps)) }
    }

    pub fn run(input: &Octal, run: &Run, start: Start) -> Result<Census, RunError> {
        start.at_zero()?;
        let values = drive::single(input, run, octal::Start::default(), portable::parts())?;
        Census::new(input.code(), &values, run)
    }
}

/// The table should be longer than this.
struct NoWindow(u64);

/// Counts the values of all heaps.
pub fn run(input: &Octal, run: &Run, start: Start, backend: Backend) -> Result<Census, RunError> {
    let heaps = input.heaps();
    let Start { stream: checkpoint::Start { mut from, journal }, table: octal::Start { from: values, journal: kept } } =
        start;
    let mut values = values.unwrap_or_default();
    let mut table = from.as_ref().map_or(TABLE.max(values.len()), |state| state.table).min(heaps);
    let mut progress = Counted { run, counted: 0 };
    while table <= LARGEST_TABLE {
        let first = Octal::new(input.code(), table as u64 - 1).expect("a smaller limit");
        // The first values must not replace what was saved after them.
        let begin = octal::Start { from: Some(values), journal: kept.clone().filter(|_| from.is_none()) };
        values = drive::windowed(&first, &run.counted_apart(), begin, backend)?;
        let found = octal::period(input.code(), &values, run)?;
        progress.reach(table as u64)?;
        let counted = Census::of(input.code(), &values, found);
        if table == heaps {
            return Ok(counted);
        }
        if let Some(found) = found.filter(|found| found.is_proved) {
            progress.reach(heaps as u64)?;
            return Ok(Census::repeated(input.code(), &values, found, heaps as u64));
        }
        let mut least = 2 * table as u64;
        if let Ok(sparse) = Sparse::new(&first, &values)
            && let Some(window) = CodeWindow::new(&sparse, table, backend)
        {
            let codes = &sparse.codes[..table];
            if from.as_ref().is_some_and(|state| !state.fits(&window)) {
                return Err(MISFIT);
            }
            let mut stream = Stream::new(input, window, backend, &values, codes, &counted, from.take());
            match stream.go(&mut progress, journal.as_deref())? {
                Ok(census) => return Ok(census),
                Err(NoWindow(heap)) => least = least.max(heap),
            }
        }
        if table == LARGEST_TABLE {
            break;
        }
        from = None;
        table = (2 * least as usize).min(LARGEST_TABLE).min(heaps);
    }
    if let Some(kept) = kept {
        kept.keep(&values, true);
    }
    Err(NO_WINDOW)
}

/// Counts no heap twice as progress where a run begins again.
struct Counted<'a> {
    run: &'a Run,
    counted: u64,
}

impl Counted<'_> {
    fn reach(&mut self, heaps: u64) -> Result<(), RunError> {
        let more = heaps.saturating_sub(self.counted);
        self.counted += more;
        self.run.advance(more)
    }
}

/// Computes codes again, from a window on.
struct Replay {
    window: CodeWindow,
    backend: Backend,
    codes: Vec<u8>,
    at: usize,
    /// The next heap.
    heap: u64,
}

impl Replay {
    fn new(window: &CodeWindow, backend: Backend, from: &Snapshot) -> Self {
        let mut codes = from.codes.clone();
        let at = codes.len();
        codes.resize(Progress::room(at.max(LANES)), 0);
        Replay { window: window.clone(), backend, codes, at, heap: from.heap }
    }

    /// The codes of the next chunk.
    fn next(&mut self) -> &[u8] {
        slide(&mut self.codes, &mut self.at, self.window.depth.max(LANES));
        let computed = (self.backend.compute)(&mut self.window, &mut self.codes, self.at);
        debug_assert!(computed.is_ok(), "these heaps were computed before");
        self.at += CHUNK;
        self.heap += CHUNK as u64;
        &self.codes[self.at - CHUNK..self.at]
    }

    /// The window before a heap.
    fn before(mut self, heap: u64, run: &Run) -> Result<Snapshot, RunError> {
        while self.heap < heap {
            run.advance(0)?;
            self.next();
        }
        let end = self.at - (self.heap - heap) as usize;
        let depth = self.window.depth.max(LANES);
        Ok(Snapshot { heap, codes: self.codes[end - depth..end].to_vec() })
    }
}

/// A milestone whose window repeats a period later, and enough verified heaps past it.
struct Proof {
    period: u64,
    milestone: usize,
    /// How many of the next heaps are needed.
    after: usize,
    /// How many heaps there are after the repeated window.
    past: usize,
}

/// A run without a table.
struct Stream<'a> {
    input: &'a Octal,
    window: CodeWindow,
    backend: Backend,
    table: &'a [u16],
    state: Progress,
    /// A repetition that is not proved yet.
    repetition: Option<Repetition>,
    proved: Option<Proved>,
    /// The state before a period was proved, which a run that goes on later proves again.
    unproved: Option<Progress>,
    /// The cover was chosen at this heap.
    chosen_at: u64,
}

impl<'a> Stream<'a> {
    fn new(
        input: &'a Octal,
        window: CodeWindow,
        backend: Backend,
        table: &'a [u16],
        codes: &[u8],
        counted: &Census,
        from: Option<Progress>,
    ) -> Self {
        let is_resumed = from.is_some();
        let state = from.unwrap_or_else(|| Progress::new(&window, codes, &counted.tallies));
        let chosen_at = state.done;
        let (repetition, proved, unproved) = (None, None, None);
        let mut stream = Stream { input, window, backend, table, state, repetition, proved, unproved, chosen_at };
        let verified_by = stream.state.verified_by;
        // Else the window has just chosen, by the last heaps of the table.
        if is_resumed {
            stream.choose();
        }
        stream.window.set_verified_by(verified_by);
        stream
    }

    /// Chooses the cover by the last heaps, from an even one on.
    fn choose(&mut self) {
        let odd = (self.state.done + self.state.at as u64) as usize % 2;
        self.window.choose(&self.state.codes[odd..self.state.at], self.backend);
        self.chosen_at = self.state.done;
    }

    /// Counts heaps up to the last.
    fn go(
        &mut self,
        progress: &mut Counted,
        journal: Option<&dyn Journal>,
    ) -> Result<Result<Census, NoWindow>, RunError> {
        let heaps = self.input.heaps() as u64;
        while self.state.done < heaps {
            let done = self.state.done;
            if done >= 4 * self.chosen_at {
                self.choose();
            }
            let depth = self.depth();
            self.state.keep_milestone(depth);
            slide(&mut self.state.codes, &mut self.state.at, self.state.kept);
            let at = self.state.at;
            if (self.backend.compute)(&mut self.window, &mut self.state.codes, at).is_err() {
                return Ok(Err(NoWindow(done)));
            }
            let count = (heaps - done).min(CHUNK as u64) as usize;
            let mut proof = None;
            // After a proof nothing is left to verify.
            if self.proved.is_none() {
                let odd = (done % 2) as usize;
                let end = (self.backend.verify)(&mut self.window, &self.state.codes, at, odd, &mut |_, _| false);
                self.state.verified_by = self.window.verified_by;
                if let Err(End::Unresolved(index, _)) = end {
                    return Ok(Err(NoWindow(done + (index - at) as u64)));
                }
                if self.repetition.is_none() {
                    let by_position = self.window.coder.mask.position.is_some();
                    self.repetition = (self.backend.mark)(&mut self.state, count, depth, by_position);
                }
                proof = self.proof(count);
            }
            if proof.is_some() {
                self.unproved = Some(self.state.clone());
            }
            let counted = proof.as_ref().map_or(count, |proof| proof.after);
            (self.backend.count)(&mut self.state, counted, &self.window.values);
            if let Some(proof) = proof {
                let proved = self.prove(proof, progress.run)?;
                if let Some(journal) = journal {
                    journal.proved(&|| self.certificate(proved, progress.run))?;
                }
            }
            let is_known = progress.reach(self.state.done);
            if let Some(journal) = journal {
                journal.keep(self.unproved.as_ref().unwrap_or(&self.state), self.input, is_known.is_err());
                if is_known.is_err() {
                    journal.stopped(&self.census());
                }
            }
            is_known?;
        }
        Ok(Ok(self.census()))
    }

    /// How many codes a milestone has.
    fn depth(&self) -> usize {
        self.window.depth.max(LANES)
    }

    /// The proof of the repetition that was seen, if one of the next heaps completes it. If the windows differ, nothing was seen.
    fn proof(&mut self, count: usize) -> Option<Proof> {
        let Progress { milestones, done, at, codes, .. } = &self.state;
        let Repetition { from, period } = self.repetition?;
        let milestone = milestones.partition_point(|milestone| milestone.window.heap < from);
        let Milestone { window, .. } = milestones.get(milestone)?;
        let repeated = window.heap + period;
        let end = (repeated + self.window.width() as u64).max(done + 1);
        let after = (end - done) as usize;
        if after > count {
            return None;
        }
        let past = (end - repeated) as usize;
        let is_equal = codes[..at + after - past].ends_with(&window.codes);
        self.repetition = None;
        is_equal.then_some(Proof { period, milestone, after, past })
    }

    /// Records the period that is proved at the next heap, and counts as many whole rounds of it as fit before the last heaps.
    fn prove(&mut self, Proof { period, milestone, past, .. }: Proof, run: &Run) -> Result<Proved, RunError> {
        let done = self.state.done;
        let preperiod = self.preperiod(period, milestone, run)?;
        let proved = Proved { period, preperiod, theorem: Theorem::Window(self.window.width()), heaps: done };
        self.proved = Some(proved);
        // The last heaps are computed: the first of the codes kept so far may lie before the repetition.
        let rounds = (self.input.heaps() as u64 - done).saturating_sub(LAST as u64) / period;
        // Since the milestone there were a round and these heaps.
        let mut before = self.state.milestones[milestone].counts;
        for (n, code) in (done - past as u64..).zip(self.state.window(past)) {
            before[usize::from(self.window.values[(n % 2) as usize][usize::from(*code)])] += 1;
        }
        for ((_, heaps), before) in self.state.tallies.iter_mut().zip(before) {
            *heaps += rounds * (*heaps - before);
        }
        self.state.done += rounds * period;
        Ok(proved)
    }

    /// The milestones up to the repetition, and each with the one a period later: the window before the period, and the one at the first
    /// heaps of it, or after the table if the period begins there.
    fn certificate(&self, proved: Proved, run: &Run) -> Result<Certificate, RunError> {
        let Proved { period, preperiod, .. } = proved;
        let (table, depth) = (self.state.table as u64, self.depth() as u64);
        let first = (preperiod + depth).max(table);
        let kept = self.state.milestones.iter().map(|milestone| &milestone.window);
        let kept = kept.take_while(|window| window.heap < first + period);
        let mut values: Vec<_> = kept.map(|window| (window.heap, self.values(window.heap, &window.codes))).collect();
        // Before the end of the table there are no windows.
        let ends = if preperiod < table { [first, first] } else { [preperiod, first] };
        for heap in [ends[0], ends[0] + period, ends[1], ends[1] + period] {
            let at = values.partition_point(|(before, _)| *before < heap);
            if values.get(at).is_none_or(|(next, _)| *next > heap) {
                values.insert(at, (heap, self.values(heap, &self.before(heap, run)?.codes)));
            }
        }
        let (mask, last_rare) = (self.window.coder.mask, self.window.last_rare);
        let windows = Windows { mask, last_rare, from: first - depth, values };
        Ok(Certificate { code: self.input.code().clone(), proved, windows: Some(windows) })
    }

    /// The values of these codes before a heap.
    fn values(&self, heap: u64, codes: &[u8]) -> Vec<u16> {
        let value = |(n, code): (u64, &u8)| self.window.values[(n % 2) as usize][usize::from(*code)];
        (heap - codes.len() as u64..).zip(codes).map(value).collect()
    }

    /// The window before a heap, computed again from the last one kept that is not past it.
    fn before(&self, heap: u64, run: &Run) -> Result<Snapshot, RunError> {
        let milestones = &self.state.milestones;
        let last = milestones.partition_point(|milestone| milestone.window.heap <= heap).max(1) - 1;
        Replay::new(&self.window, self.backend, &milestones[last].window).before(heap, run)
    }

    /// The first heap of a period that holds from a milestone on.
    fn preperiod(&self, period: u64, last: usize, run: &Run) -> Result<u64, RunError> {
        let milestones = &self.state.milestones[..=last];
        // Once a window repeats, all later ones do.
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = low.midpoint(high);
            let window = &milestones[middle].window;
            let repeats = self.before(window.heap + period, run)?.codes == window.codes;
            if repeats { high = middle } else { low = middle + 1 }
        }
        let Some(from) = low.checked_sub(1).map(|last| &milestones[last].window) else {
            return self.preperiod_in_table(period, run);
        };
        let until = milestones[low].window.heap;
        let later = self.before(from.heap + period, run)?;
        let start = from.heap - from.codes.len() as u64;
        let mut preperiod = start + differing(&from.codes, &later.codes);
        let [mut first, mut second] = [from, &later].map(|from| Replay::new(&self.window, self.backend, from));
        while first.heap < until {
            run.advance(0)?;
            let heap = first.heap;
            match differing(first.next(), second.next()) {
                0 => {}
                count => preperiod = heap + count,
            }
        }
        Ok(preperiod)
    }

    /// The first heap of a period that holds from the end of the table on.
    fn preperiod_in_table(&self, period: u64, run: &Run) -> Result<u64, RunError> {
        let size = self.table.len();
        // The values a period later, for as many heaps.
        let mut later: Vec<u16> = self.table[(period as usize).min(size)..].to_vec();
        let from = period.max(size as u64);
        let mut replay = Replay::new(&self.window, self.backend, &self.before(from, run)?);
        while later.len() < size {
            let end = replay.heap + CHUNK as u64;
            later.append(&mut self.values(end, replay.next()));
        }
        Ok(differing(self.table, &later))
    }

    fn census(&self) -> Census {
        let Progress { tallies, done, at, .. } = &self.state;
        let count = LAST.min(*done as usize);
        debug_assert!(*at >= count);
        let CodeWindow { coder, last_rare, rare_count, .. } = &self.window;
        Census {
            tallies: occurring(tallies),
            last: hashed(&self.values(*done, self.state.window(count))),
            period: self.proved,
            rare: Some(Rare { heaps: *rare_count, last: *last_rare, mask: coder.mask }),
        }
    }
}

/// How many values there are up to the last that differs from the other of its place.
fn differing<T: PartialEq>(a: &[T], b: &[T]) -> u64 {
    a.iter().zip(b).rposition(|(a, b)| a != b).map_or(0, |last| last as u64 + 1)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::cores::mex::checkpoint::CheckpointError;

    fn input(code: &str, limit: u64) -> Octal {
        Octal::new(&code.parse().expect("a game"), limit).expect("a small limit")
    }

    fn run(input: &Octal, start: Start) -> Result<Census, RunError> {
        super::run(input, &Run::new(1), start, portable::parts())
    }

    /// Limits around the end of the table, of a chunk and of the first repetition.
    #[test]
    fn counts_are_those_of_a_table_at_every_limit() {
        let limits = [0, 1, 8190, 8191, 8192, 8193, 12_287, 12_288, 12_289, 20_000, 29_311, 33_333, 50_001];
        // Those with 4s and 7s split at several places, some with takes beside them.
        let codes = ["0.106", "0.054", "0.356", "0.6", "4.045", "0.7744", "4.4444", "4.0452", "4.36702"];
        let all = limits.into_iter().flat_map(|limit| codes.map(|code| (code.to_owned(), limit)));
        // A take of an odd number, by which a common heap reaches rare values, may be longer than all that a window keeps.
        let far = [2001, 6001].map(|place| (format!("0.106{}2", "0".repeat(place - 4)), 70_000));
        for (code, limit) in all.chain(far) {
            let input = input(&code, limit);
            let want = Census::new(input.code(), &classical_values(&input), &Run::new(1));
            assert_eq!(run(&input, Start::default()), want, "{code} to {limit}");
        }
    }

    /// Keeps the state after this many chunks, and then stops the run.
    struct Keep(AtomicUsize, Arc<Run>, Mutex<Option<Vec<u8>>>);

    impl Journal for Keep {
        fn keep(&self, state: &Progress, input: &Octal, _: bool) {
            let mut kept = self.2.lock().expect("no panic");
            if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
                let mut file = Vec::new();
                state.write(input, &mut file).expect("memory");
                (*kept, _) = (Some(file), self.1.cancel());
            }
        }
    }

    /// The file of a run that was stopped after this many chunks.
    fn stopped(input: &Octal, chunks: usize) -> Vec<u8> {
        let stop = Arc::new(Run::new(1));
        let keep = Arc::new(Keep(chunks.into(), Arc::clone(&stop), Mutex::default()));
        let start = Start::with_journal(Arc::clone(&keep) as Arc<dyn Journal>, None);
        let ended = super::run(input, &stop, start, portable::parts());
        assert_eq!(ended, Err(RunError::Cancelled));
        keep.2.lock().expect("no panic").take().expect("a file")
    }

    /// What a run ends with that starts from such a file.
    fn resumed(input: &Octal, file: &[u8]) -> Result<Result<Census, RunError>, CheckpointError> {
        let from = Some(Progress::read(input, &mut &file[..])?);
        Ok(run(input, Start { stream: checkpoint::Start { from, journal: None }, ..Start::default() }))
    }

    #[test]
    fn a_run_that_was_stopped_ends_as_another() {
        let input = input("0.356", 60_000);
        let want = run(&input, Start::default()).expect("it ends");
        // The fourth chunk proves the period.
        for chunks in [1, 3, 4, 5] {
            let file = stopped(&input, chunks);
            let found = resumed(&input, &file).expect("a checkpoint").expect("it ends");
            assert_eq!((&found, found.period.map(|p| p.preperiod)), (&want, want.period.map(|p| p.preperiod)));
            for at in [8, 40, 100, file.len() / 2, file.len() - 1] {
                let mut wrong = file.clone();
                wrong[at] ^= 1;
                assert!(Progress::read(&input, &mut &wrong[..]).is_err(), "byte {at}");
            }
            assert!(Progress::read(&self::input("0.354", 60_000), &mut &file[..]).is_err(), "another game");
            assert!(Progress::read(&self::input("0.356", 1000), &mut &file[..]).is_err(), "a smaller limit");
        }
    }

    /// Lengths that the codes in the file do not have.
    #[test]
    fn a_file_is_checked() {
        let input = input("0.106", 60_000);
        let file = stopped(&input, 3);
        let mut state = Progress::read(&input, &mut &file[..]).expect("a checkpoint");
        let resumed = |state: &Progress| {
            let mut file = Vec::new();
            state.write(&input, &mut file).expect("memory");
            resumed(&input, &file)
        };
        state.verified_by = 1 << 40;
        assert!(matches!(resumed(&state), Err(CheckpointError::Damaged)));
        state.verified_by = 0;
        state.milestones[0].window.codes.truncate(10);
        assert_eq!(resumed(&state).expect("a checkpoint"), Err(MISFIT));
    }

    /// A repetition is proved if the window at the milestone is that of a period later, once as many heaps past it are verified as
    /// the verification reads back.
    #[test]
    fn a_repetition_that_is_broken_on_purpose_is_not_believed() {
        let input = input("0.106", 60_000);
        let table = 2 * TABLE;
        let first = self::input("0.106", table as u64 - 1);
        let (values, backend) = (classical_values(&first), portable::parts());
        let sparse = Sparse::new(&first, &values).ok().expect("small values");
        let window = CodeWindow::new(&sparse, table, backend).expect("few rare heaps");
        let codes = &sparse.codes[..table];
        let counted = Census::of(input.code(), &values, None);
        let mut stream = Stream::new(&input, window, backend, &values, codes, &counted, None);
        let (depth, width, period) = (stream.depth(), stream.window.width(), 1000);
        stream.state.keep_milestone(depth);
        for _ in 0..(period + width) / CHUNK {
            slide(&mut stream.state.codes, &mut stream.state.at, stream.state.kept);
            let at = stream.state.at;
            assert_eq!((backend.compute)(&mut stream.window, &mut stream.state.codes, at), Ok(()));
            stream.state.count(CHUNK, &stream.window.values);
        }
        let at = stream.state.at;
        assert_eq!((backend.compute)(&mut stream.window, &mut stream.state.codes, at), Ok(()));
        // The window after 1000 heaps becomes that of the milestone.
        let after = (period + width) % CHUNK;
        let end = at + after - width;
        let repeated = stream.state.codes[end - depth..end].to_vec();
        let mut proof = |codes: &[u8], count| {
            stream.state.milestones[0].window.codes = codes.to_vec();
            stream.repetition = Some(Repetition { from: table as u64, period: period as u64 });
            let found = stream.proof(count).map(|proof| (proof.period, proof.after, proof.past));
            (found, stream.repetition.is_some())
        };
        assert_eq!(proof(&repeated, CHUNK), (Some((period as u64, after, width)), false));
        assert_eq!(proof(&repeated, after - 1), (None, true));
        for back in [1, 100, depth] {
            let mut codes = repeated.clone();
            codes[depth - back] ^= 1;
            assert_eq!(proof(&codes, CHUNK), (None, false), "{back} back");
        }
    }

    fn classical_values(input: &Octal) -> Vec<u16> {
        let start = octal::Start::default();
        drive::single(input, &Run::new(1), start, portable::parts()).expect("it ends")
    }
}
