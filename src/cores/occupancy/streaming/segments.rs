//! Segments of one run on several threads, each begun from a guess.
//!
//! A span reads marks of positions whose smaller heap is at most 0.68 of its own. So when the tapes reach heap `n`, the
//! heaps up to `1.47 n` can run, in *segments* that do not wait for one another. A segment begins a warm-up before its
//! first heap, in a guessed state ([`charge`]), and by its first heap nearly always is in the true one.
//!
//! Nothing rests on that. Segments are joined in order, and one counts only if its state at its first heap equals the
//! state in which the one before ended, bit for bit. Otherwise it is run again from there. So the result is exact,
//! whatever the guesses were.
//!
//! [`charge`]: crate::cores::occupancy::charge

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::automaton::{Automaton, Joint};
use super::engine::Sources;
use super::inner::Loops;
use super::span::{SPAN, Span};
use super::start::{START, start};
use super::tape::{NewMarks, Tape};
use super::tapes::{MARGIN, Slices, Tapes, expected};
use super::{AttemptError, Progress, SHARES, attempt, cost as automaton_cost};
use crate::cores::growing;
use crate::cores::occupancy::{HEAPS_PER_BATCH, Positions, ProportionateNim, Wanted, share, window_certificate};
use crate::kernel::{Cost, Run, RunError};
use crate::machine::STACK;

/// How many segments may be under way for each that can run: more than one, so that no thread waits for another.
const AHEAD: u64 = 2;

/// How a run is cut into segments.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Heaps between a guess and the first heap that counts. After `t` heaps about one run in `exp(t / 350)` is still in
    /// another state (observed).
    warm_up: u64,
    /// Segments that run together, in lanes.
    lanes: u64,
    /// Heaps of the shortest and the longest segment: long compared with the warm-up, but the marks of all that run
    /// together stay in L2.
    lengths: [u64; 2],
    threads: u64,
    /// Segments that may be under way.
    most: u64,
}

impl Schedule {
    /// `lanes` segments at a time on each of `threads` threads. Positions of a segment wait to be joined, if they are
    /// kept; then segments are shorter.
    pub fn new(input: &ProportionateNim, lanes: usize, threads: usize) -> Self {
        Self::with(lanes as u64, threads as u64, input.is_counted())
    }

    fn with(lanes: u64, threads: u64, is_counted: bool) -> Self {
        let (warm_up, lengths) = match (lanes, is_counted) {
            (1, true) => (6 * SPAN as u64, [12 * SPAN as u64, 1 << 18]),
            (1, false) => (6 * SPAN as u64, [12 * SPAN as u64, HEAPS_PER_BATCH]),
            (_, true) => (4 * SPAN as u64, [4 * SPAN as u64, 1 << 15]),
            (_, false) => (4 * SPAN as u64, [4 * SPAN as u64, 1 << 11]),
        };
        let ahead = if threads > 1 { AHEAD } else { 1 };
        Schedule { warm_up, lanes, lengths, threads, most: ahead * threads * lanes }
    }

    /// The first heap at which segments pay off.
    fn first(&self) -> u64 {
        self.lengths[0] * self.most * 20 / 9
    }

    /// Heaps of a segment when the tapes reach heap `n`, if segments pay off there.
    fn length(&self, n: u64) -> Option<u64> {
        // So that all that are under way fit between `n` and `1.45 n`.
        let share = n * 9 / 20 / self.most;
        let [shortest, longest] = self.lengths;
        Some(share.min(longest) / SPAN as u64 * SPAN as u64).filter(|length| *length >= shortest)
    }
}

/// How many joints were compared, and how many segments differed there and ran again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Joints {
    /// Segments that began from a guess.
    pub compared: u64,
    /// Those that differed.
    pub differed: u64,
}

/// Bytes of the segments under way on several threads: their marks, and their positions if those are kept.
pub fn under_way(input: &ProportionateNim, threads: usize) -> f64 {
    if threads < 2 {
        return 0.0;
    }
    let schedule = Schedule::new(input, 1, threads);
    let Some(heaps) = schedule.length(input.limit() * 2 / 5) else { return 0.0 };
    let positions = if input.is_counted() { 0.0 } else { growing::bytes::<[u64; 2]>(PER_HEAP * heaps as f64) };
    // A slice may keep a chunk that its tape has copied since.
    schedule.most as f64 * (NewMarks::bytes(heaps + schedule.warm_up) + positions + Tape::CHUNK_BYTES as f64)
}

/// Bytes of `lanes` segments on one thread: their marks, and the positions that they find, if those are kept. Whether
/// they are is not known here, so they are counted; they take little.
pub fn together(input: &ProportionateNim, lanes: usize) -> f64 {
    let schedules = [true, false].map(|is_counted| Schedule::with(lanes as u64, 1, is_counted));
    let [counted, kept] = schedules.map(|schedule| schedule.length(input.limit() * 2 / 5).unwrap_or(0));
    lanes as f64
        * (NewMarks::bytes(counted + schedules[0].warm_up) + growing::bytes::<[u64; 2]>(PER_HEAP * kept as f64))
}

/// Segments to run.
struct Task {
    /// The state at the first heap of the only segment, or `None` for guesses.
    joint: Option<Joint>,
    begin: u64,
    /// Heaps of each.
    heaps: u64,
    /// A joint near them.
    near: Joint,
    slices: Slices,
    /// Empty lists.
    marks: Vec<NewMarks>,
    sink: Positions,
}

/// What a segment found.
pub struct Segment {
    pub begin: Joint,
    pub end: Joint,
    pub marks: NewMarks,
    pub sink: Positions,
}

/// A segment that waits to be joined.
struct Waiting {
    /// Its first heap.
    begin: u64,
    /// The heap after the last.
    end: u64,
    /// `None` if its guess was invalid.
    segment: Option<Segment>,
}

/// How far segments go, and what they read.
#[derive(Clone, Copy)]
pub struct Stretch<'a> {
    /// The limit of the game.
    pub limit: u64,
    /// Heaps that come first and do not count.
    pub warm_up: u64,
    /// Heaps that count.
    pub heaps: u64,
    pub tapes: Sources<'a, Tape>,
}

/// What other segments used, so that its memory is used again.
#[derive(Default)]
pub struct Spare {
    pub spans: Vec<Box<Span>>,
    /// Empty lists.
    pub marks: Vec<NewMarks>,
}

impl Spare {
    /// The rows of a span.
    pub fn span(&mut self) -> Box<Span> {
        self.spans.pop().unwrap_or_else(Span::new)
    }
}

/// How a kernel runs segments.
pub trait Runner: Sync {
    /// Segments that run together.
    fn lanes(&self) -> usize;

    /// The loops of an automaton that runs alone.
    fn loops(&self) -> &Loops;

    /// Runs segments from guesses, one for each lane, as [`run_segment`] runs one. `None` for invalid ones.
    fn together(&self, from: &[Joint], on: Stretch<'_>, spare: &mut Spare, sink: Positions) -> Vec<Option<Segment>>;
}

/// One automaton at a time.
impl Runner for Loops {
    fn lanes(&self) -> usize {
        1
    }

    fn loops(&self) -> &Loops {
        self
    }

    fn together(&self, from: &[Joint], on: Stretch<'_>, spare: &mut Spare, sink: Positions) -> Vec<Option<Segment>> {
        // If a window becomes too wide after a guess, the segment is invalid.
        vec![run_segment(&from[0], on, spare, sink, self).unwrap_or(None)]
    }
}

/// Runs heaps from a joint on, the first `warm_up` of which do not count. `None` if the tapes do not have all marks that
/// it reads, or the limit comes before the warm-up ends.
fn run_segment(
    from: &Joint,
    Stretch { limit, warm_up, heaps, tapes }: Stretch<'_>,
    spare: &mut Spare,
    mut sink: Positions,
    loops: &Loops,
) -> Result<Option<Segment>, RunError> {
    let Some(mut automaton) = Automaton::at(limit, from, tapes, spare.span()) else { return Ok(None) };
    automaton.new = spare.marks.pop().unwrap_or_default();
    let (begin, end) = (from.n + warm_up, from.n + warm_up + heaps);
    automaton.new.reserve(warm_up + heaps);
    let mut idle = Positions::new(&Wanted::Totals);
    let mut first = None;
    loop {
        if automaton.engine.n == begin {
            first = Some(if warm_up == 0 { *from } else { automaton.joint() });
            automaton.new.clear();
        }
        let is_complete = automaton.engine.n >= end || automaton.is_past_limit();
        if is_complete || (loops.prepare)(&mut automaton.engine, tapes).is_none() {
            // A segment from a joint may end where its tapes do.
            first = first.filter(|_| is_complete || warm_up == 0 && automaton.engine.n > begin);
            break;
        }
        (loops.blocks)(&mut automaton.engine)?;
        automaton.settle(if first.is_some() { &mut sink } else { &mut idle }, loops);
    }
    let end = automaton.joint();
    spare.spans.push(automaton.engine.span);
    Ok(first.map(|begin| Segment { begin, end, marks: automaton.new, sink }))
}

/// Gives the state at a heap, given the old marks around it and a joint near it.
pub type Guess<'a> = &'a (dyn Fn(&Slices, u64, &Joint) -> Option<Joint> + Sync);

/// The guess with the right charge.
pub fn charge(slices: &Slices, n: u64, near: &Joint) -> Option<Joint> {
    slices.guess(n, expected(near, n))
}

/// The cost of `lanes` segments at a time on each of `threads` threads. One automaton takes `alone` nanoseconds per unit
/// of the limit, as long as segments would be too short; then those of a thread take `together`.
pub fn cost(input: &ProportionateNim, [lanes, threads]: [usize; 2], [alone, together]: [f64; 2]) -> Cost {
    let schedule = Schedule::with(lanes as u64, threads as u64, true);
    let (Cost { ns, bytes }, limit) = (automaton_cost(input, alone), input.limit() as f64);
    // The limit at which segments begin to pay off: with heaps up to two fifths of it.
    let first = (2.5 * schedule.first() as f64).min(limit);
    let (started, threads) = (threads as f64 - 1.0, threads as f64);
    Cost {
        // Threads disturb each other's caches a little.
        ns: ns - alone * (limit - first) + (together / threads * (limit - first) + 3e4) * (1.0 + 0.05 * started),
        bytes: bytes + started * (STACK + SPARE),
    }
}

/// Bytes of the rows and lists that a thread keeps for its next segment.
const SPARE: f64 = 70_000.0;

/// Positions for each smaller heap in the published game: four of seven heaps have one, observed.
const PER_HEAP: f64 = 4.0 / 7.0;

/// A run, shared by its threads.
pub struct Shared<'a> {
    limit: u64,
    run: &'a Run,
    guess: Guess<'a>,
    runner: &'a dyn Runner,
    schedule: Schedule,
    state: Mutex<State>,
    changed: Condvar,
}

/// How far a run has come.
struct State {
    /// What comes before the joint is on the tapes and in the sink.
    joint: Joint,
    tapes: Tapes,
    sink: Positions,
    /// Heaps that were reported to the run.
    reported: u64,
    /// The first heap that is in no segment yet.
    next: u64,
    /// Segments under way: begun, and not joined.
    open: u64,
    /// In no order.
    waiting: Vec<Waiting>,
    /// Lists that were used, so that their memory is used again.
    spare: Vec<NewMarks>,
    joints: Joints,
    ended: Option<Result<(), AttemptError>>,
}

impl State {
    /// Joins the segments whose turn it is, up to one that differs.
    fn join(&mut self, run: &Run, limit: u64, schedule: &Schedule) {
        while self.ended.is_none()
            && let Some(at) = self.next_waiting()
            && let Some(segment) = &self.waiting[at].segment
            && segment.begin == self.joint
            && let Waiting { end, segment: Some(segment), .. } = self.waiting.swap_remove(at)
        {
            let Segment { end: joint, mut marks, sink, .. } = segment;
            self.joint = joint;
            self.tapes.append(&mut marks);
            self.spare.push(marks);
            self.tapes.release(joint.n.saturating_sub(schedule.warm_up), joint.d);
            self.sink.merge(sink);
            self.open -= 1;
            if 2 * joint.n + joint.d > limit {
                self.ended = Some(Ok(()));
            } else if joint.n < end {
                // Its tapes ended before it did. Where other segments follow, that must not happen.
                if self.open == 0 { self.next = joint.n } else { self.ended = Some(Err(AttemptError::Dropped)) }
            } else if joint.n - self.reported >= HEAPS_PER_BATCH {
                if let Err(stop) = self.sink.advance(run, joint.n - self.reported) {
                    self.ended = Some(Err(stop.into()));
                }
                self.reported = joint.n;
            }
        }
    }

    /// The index of the segment whose turn it is, if it waits.
    fn next_waiting(&self) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.begin == self.joint.n)
    }

    /// What can run now.
    fn task(&mut self, limit: u64, schedule: &Schedule) -> Option<Task> {
        let joint = self.joint;
        if let Some(at) = self.next_waiting() {
            // It differed.
            self.joints.differed += 1;
            let heaps = self.waiting.swap_remove(at).end - joint.n;
            return Some(self.exact(heaps));
        }
        if let Some(heaps) = self.guessed(limit, schedule) {
            let begin = self.next;
            self.next += schedule.lanes * heaps;
            self.open += schedule.lanes;
            self.joints.compared += schedule.lanes;
            let slices = self.tapes.slices(begin - schedule.warm_up..self.next, &joint);
            let marks = self.marks(schedule.lanes);
            return Some(Task { joint: None, begin, heaps, near: joint, slices, marks, sink: self.sink.fork() });
        }
        if self.open > 0 {
            return None;
        }
        // If the tapes do not reach that far, the segment ends where they do.
        let heaps = schedule.length(joint.n).unwrap_or((joint.n / 4).next_multiple_of(SPAN as u64));
        self.open = 1;
        self.next = joint.n + heaps;
        Some(self.exact(heaps))
    }

    /// Heaps of each of the next segments that can begin from guesses now.
    fn guessed(&self, limit: u64, schedule: &Schedule) -> Option<u64> {
        let (joint, begin) = (&self.joint, self.next);
        // On one thread that runs one segment at a time, the next one always begins at the joint.
        if self.open + schedule.lanes > schedule.most || self.open == 0 && schedule.lanes == 1 {
            return None;
        }
        let mut heaps = schedule.length(joint.n)?;
        if schedule.lanes > 1 {
            // Lanes end within the limit.
            let left = limit.checked_sub(2 * begin + expected(joint, begin) + 4 * MARGIN)? * 2 / 5;
            heaps = heaps.min(left / schedule.lanes / SPAN as u64 * SPAN as u64);
            if heaps < schedule.warm_up {
                return None;
            }
        }
        // Marks of upper positions reach to lines that heap `1.52 n` reads.
        let reach = (64 * self.tapes.used.end() as u64).min(joint.n * 3 / 2) - MARGIN;
        let is_within_limit = 2 * begin + expected(joint, begin) <= limit;
        (begin + schedule.lanes * heaps <= reach && is_within_limit).then_some(heaps)
    }

    /// Lists for a number of segments, if there are any.
    fn marks(&mut self, segments: u64) -> Vec<NewMarks> {
        self.spare.split_off(self.spare.len().saturating_sub(segments as usize))
    }

    /// The segment of a number of heaps from the joint.
    fn exact(&mut self, heaps: u64) -> Task {
        let (near, begin) = (self.joint, self.joint.n);
        let slices = self.tapes.slices(begin..begin + heaps, &near);
        let marks = self.marks(1);
        Task { joint: Some(near), begin, heaps, near, slices, marks, sink: self.sink.fork() }
    }
}

impl Shared<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next segment, as soon as there is one; `None` at the end.
    fn task(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            if state.ended.is_some() {
                return None;
            }
            if let Some(task) = state.task(self.limit, &self.schedule) {
                return Some(task);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes what segments of that many heaps found, from heap `begin` on.
    fn finish(&self, begin: u64, heaps: u64, segments: Vec<Option<Segment>>) {
        let mut state = self.state();
        let mut begin = begin;
        for segment in segments {
            state.waiting.push(Waiting { begin, end: begin + heaps, segment });
            begin += heaps;
        }
        state.join(self.run, self.limit, &self.schedule);
        self.changed.notify_all();
    }

    fn end(&self, why: AttemptError) {
        self.state().ended = Some(Err(why));
        self.changed.notify_all();
    }

    /// The states from which segments begin, given the first heap and the distance to the next; `None` if one cannot be guessed.
    fn guesses(&self, [first, heaps]: [u64; 2], slices: &Slices, near: &Joint) -> Option<Vec<Joint>> {
        let mut guesses = Vec::new();
        for lane in 0..self.schedule.lanes {
            guesses.push((self.guess)(slices, first + lane * heaps, near)?);
        }
        Some(guesses)
    }

    /// Runs segments until the end: the share of each thread.
    fn work(&self) -> Result<(), RunError> {
        let _others = EndOnPanic(self);
        let mut spare = Spare::default();
        while let Some(Task { joint, begin, heaps, near, slices, marks, sink }) = self.task() {
            spare.marks = marks;
            let warm_up = if joint.is_some() { 0 } else { self.schedule.warm_up };
            let on = Stretch { limit: self.limit, warm_up, heaps, tapes: slices.sources() };
            if let Some(joint) = joint {
                match run_segment(&joint, on, &mut spare, sink, self.runner.loops()) {
                    Ok(Some(segment)) => self.finish(begin, heaps, vec![Some(segment)]),
                    Ok(None) => self.end(AttemptError::Dropped),
                    Err(stop) => self.end(stop.into()),
                }
                continue;
            }
            let segments = match self.guesses([begin - warm_up, heaps], &slices, &near) {
                Some(from) => self.runner.together(&from, on, &mut spare, sink),
                None => none(self.runner.lanes()),
            };
            self.finish(begin, heaps, segments);
        }
        Ok(())
    }
}

/// Invalid segments.
pub fn none(lanes: usize) -> Vec<Option<Segment>> {
    let mut segments = Vec::new();
    segments.resize_with(lanes, || None);
    segments
}

/// Ends the other threads when one panics: they may be waiting for it.
struct EndOnPanic<'a, 'b>(&'a Shared<'b>);

impl Drop for EndOnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end(AttemptError::Dropped);
        }
    }
}

/// Runs segments on some threads.
pub fn drive(input: &ProportionateNim, run: &Run, threads: usize, runner: &dyn Runner) -> Result<Positions, RunError> {
    let schedule = Schedule::new(input, runner.lanes(), threads);
    Ok(drive_with(input, run, SHARES[0], schedule, &charge, runner)?.0)
}

/// [`drive`] with tapes that keep `shares` of the limit in the first attempt, and with `guess` where segments begin.
fn drive_with(
    input: &ProportionateNim,
    run: &Run,
    shares: [f64; 3],
    schedule: Schedule,
    guess: Guess<'_>,
    runner: &dyn Runner,
) -> Result<(Positions, Joints), RunError> {
    let limit = input.limit();
    let threads = schedule.threads as usize;
    if limit <= 4 * START {
        // A run that cannot have its threads says so at any limit.
        share(threads, &|| Ok(()))?;
        return Ok((window_certificate::run(input, run)?, Joints::default()));
    }
    let mut sink = input.sink();
    let (tapes, joint) = start(input, shares, &mut sink)?;
    let (next, joints) = (joint.n, Joints::default());
    let state = State {
        joint,
        tapes,
        sink,
        reported: 0,
        next,
        open: 0,
        waiting: Vec::new(),
        spare: Vec::new(),
        joints,
        ended: None,
    };
    let shared = Shared { limit, run, guess, runner, schedule, state: Mutex::new(state), changed: Condvar::new() };
    share(threads, &|| shared.work())?;

    let State { joint, sink, reported, joints, ended, .. } =
        shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut progress = Progress { sink, found: joint.n, reported };
    if let Some(Err(mut stop)) = ended {
        if matches!(stop, AttemptError::Dropped) {
            match attempt(input, SHARES[1], run, &mut progress, runner.loops()) {
                Ok(()) => return Ok((progress.finish(input, run)?, joints)),
                Err(again) => stop = again,
            }
        }
        return Err(match stop {
            AttemptError::Run(stop) => stop,
            AttemptError::Dropped => RunError::Overflow,
        });
    }
    Ok((progress.finish(input, run)?, joints))
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::super::window::Registers;
    use super::*;

    fn input(limit: u64) -> ProportionateNim {
        ProportionateNim::new(limit).expect("small")
    }

    /// An input whose positions are kept.
    fn kept(limit: u64) -> ProportionateNim {
        input(limit).finding(Wanted::Positions)
    }

    fn known(limit: u64) -> Positions {
        window_certificate::run(&kept(limit), &Run::new(1)).expect("runs to its end")
    }

    /// [`drive`] with these guesses.
    fn guessed(
        input: &ProportionateNim,
        run: &Run,
        guess: Guess<'_>,
        runner: &dyn Runner,
    ) -> Result<(Positions, Joints), RunError> {
        let schedule = Schedule::new(input, runner.lanes(), run.threads());
        drive_with(input, run, SHARES[0], schedule, guess, runner)
    }

    /// Runs in plain Rust.
    fn in_segments(input: &ProportionateNim, threads: usize, guess: Guess<'_>) -> (Positions, Joints) {
        let run = Run::new(threads);
        let found = guessed(input, &run, guess, &plain::parts()).expect("runs to its end");
        assert_eq!(run.done(), input.smaller_heaps());
        found
    }

    #[test]
    fn any_number_of_threads_finds_every_position() {
        let limit = 3_000_000;
        let known = known(limit);
        for threads in 1..=17 {
            let (found, joints) = in_segments(&kept(limit), threads, &charge);
            assert_eq!(found, known, "{threads} threads");
            assert_eq!(in_segments(&input(limit), threads, &charge).0.totals(), known.totals(), "{threads} threads");
            // One thread has no need to guess.
            assert!(threads > 1 || joints.compared == 0, "{joints:?}");
        }
    }

    /// Three segments together, as lanes run them.
    struct Three(Loops);

    impl Runner for Three {
        fn lanes(&self) -> usize {
            3
        }

        fn loops(&self) -> &Loops {
            &self.0
        }

        fn together(
            &self,
            from: &[Joint],
            on: Stretch<'_>,
            spare: &mut Spare,
            sink: Positions,
        ) -> Vec<Option<Segment>> {
            let one = |from| self.0.together(std::slice::from_ref(from), on, spare, sink.fork());
            from.iter().flat_map(one).collect()
        }
    }

    fn three_together(input: &ProportionateNim, threads: usize, guess: Guess<'_>) -> (Positions, Joints) {
        guessed(input, &Run::new(threads), guess, &Three(plain::parts())).expect("runs to its end")
    }

    #[test]
    fn segments_may_run_together() {
        let limit = 1_000_000;
        let known = known(limit);
        let wrongs = [Wrong::Missing, Wrong::Charge, Wrong::Uppers, Wrong::Sometimes, Wrong::Marks];
        for threads in 1..4 {
            let (found, right) = three_together(&kept(limit), threads, &charge);
            assert_eq!(found, known, "{threads} threads");
            // On one thread all segments but the first few begin from guesses.
            assert!(threads > 1 || right.compared > 30 && right.differed <= 3, "{right:?}");
            for how in wrongs {
                let (found, joints) = three_together(&kept(limit), threads, &wrong(how));
                assert_eq!(found, known, "{how:?}, {threads} threads");
                let Joints { compared, differed } = joints;
                let is_as_wrong = match how {
                    Wrong::Missing | Wrong::Charge | Wrong::Uppers => differed == compared,
                    Wrong::Sometimes => compared / 6 < differed && differed < compared,
                    // These are forgotten, as all but the charge is.
                    Wrong::Marks => differed <= 3,
                };
                assert!(threads > 1 || compared > 30 && is_as_wrong, "{how:?}: {joints:?}");
            }
            assert_eq!(three_together(&input(limit), threads, &charge).0.totals(), known.totals(), "{threads} threads");
        }
    }

    #[test]
    fn segments_end_at_any_limit() {
        for limit in (4 * START - 3..4 * START + 3).chain((400_000..402_000).step_by(37)) {
            assert_eq!(in_segments(&kept(limit), 2, &charge).0, known(limit), "limit {limit}");
        }
    }

    /// What a guess may get wrong.
    #[derive(Clone, Copy, Debug)]
    enum Wrong {
        /// No guess at all.
        Missing,
        /// One more difference is taken, so the charge is wrong.
        Charge,
        /// One upper position too many.
        Uppers,
        /// The wrong charge, in some segments.
        Sometimes,
        /// Marks that nothing made.
        Marks,
    }

    fn wrong(how: Wrong) -> impl Fn(&Slices, u64, &Joint) -> Option<Joint> + Sync {
        move |slices: &Slices, n: u64, near: &Joint| {
            let mut joint = charge(slices, n, near)?;
            let registers = &mut joint.registers;
            match how {
                Wrong::Missing => return None,
                Wrong::Sometimes if !(n / 512).is_multiple_of(3) => {}
                Wrong::Charge | Wrong::Sometimes => {
                    if let Registers::Narrow(window) = registers {
                        window.difference |= window.difference << 1;
                    }
                }
                Wrong::Uppers => joint.uppers += 1,
                Wrong::Marks => {
                    if let Registers::Narrow(window) = registers {
                        window.used |= 0x5555_0000;
                        window.sum[0] |= 0x0f0f_0000;
                    }
                }
            }
            Some(joint)
        }
    }

    #[test]
    fn whatever_is_guessed_the_answer_is_the_same() {
        let limit = 2_000_000;
        let known = known(limit);
        for threads in [2, 3, 5] {
            for how in [Wrong::Missing, Wrong::Charge, Wrong::Uppers, Wrong::Sometimes, Wrong::Marks] {
                let (found, joints) = in_segments(&kept(limit), threads, &wrong(how));
                assert_eq!(found, known, "{how:?}, {threads} threads");
                // How many segments begin from guesses depends on when threads run.
                if matches!(how, Wrong::Missing | Wrong::Charge | Wrong::Uppers) {
                    assert_eq!(joints.differed, joints.compared, "{how:?}, {threads} threads");
                }
                let (found, _) = in_segments(&input(limit), threads, &wrong(how));
                assert_eq!(found.totals(), known.totals(), "{how:?}, {threads} threads");
            }
        }
    }

    #[test]
    fn a_cancelled_run_ends() {
        let (input, run) = (input(3_000_000), Run::new(3));
        run.cancel();
        let ended = drive(&input, &run, 3, &plain::parts());
        assert_eq!(ended.err(), Some(RunError::Cancelled));
        assert!(run.done() < input.smaller_heaps());
    }

    #[test]
    fn positions_are_handed_on_in_order() {
        use std::sync::{Arc, Mutex};

        let all = Arc::new(Mutex::new(Vec::new()));
        let outlet = {
            let all = Arc::clone(&all);
            Arc::new(move |batch: Vec<[u64; 2]>| {
                all.lock().expect("no panic").extend(batch);
                Ok(())
            })
        };
        let input = input(1_500_000).finding(Wanted::InOrder(outlet));
        let last = drive(&input, &Run::new(4), 4, &plain::parts()).expect("runs to its end");
        let mut all = all.lock().expect("no panic").clone();
        all.extend(last.list());
        assert_eq!(all, known(1_500_000).list());
    }

    #[test]
    fn tapes_that_drop_what_is_read_end_in_another_attempt() {
        let (input, run) = (kept(1_000_000), Run::new(2));
        let schedule = Schedule::new(&input, 1, 2);
        let found = drive_with(&input, &run, [0.1, 0.03, 0.07], schedule, &charge, &plain::parts());
        assert_eq!(found.expect("runs to its end").0, known(1_000_000));
        assert_eq!(run.done(), input.smaller_heaps());
    }

    #[test]
    #[should_panic(expected = "on purpose")]
    fn a_panic_ends_all_threads() {
        let input = input(3_000_000);
        let guess = |_: &Slices, n: u64, _: &Joint| -> Option<Joint> {
            assert!(n < 300_000, "on purpose");
            None
        };
        // Threads that a busy machine runs one after another need no guess.
        for _ in 0..100 {
            guessed(&input, &Run::new(3), &guess, &plain::parts()).expect("ends");
        }
    }
}
