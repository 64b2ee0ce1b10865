//! Segments of one run, each begun from a guess, on several threads or in the lanes of a vector.
//!
//! Unlike `automaton`, whose chain cannot be made shorter, this runs several chains at once. A span reads marks of positions whose
//! smaller heap is at most 0.68 of its own. So when the queues reach heap `n`, the heaps up to `1.47 n` can run, in *segments* that do
//! not wait for one another ([`schedule`]). A segment begins a warm-up before its first heap, in a guessed state with the right
//! [slot balance](super::automaton::guess), and by its first heap nearly always is in the true one ([`run`]).
//!
//! Nothing rests on that. Segments are joined in order, and one counts only if its state at its first heap equals the state in which the
//! one before ended, bit for bit. Otherwise it is run again from there. So the result is exact, whatever the guesses were.

#[cfg(all(target_arch = "x86_64", feature = "avx2", feature = "avx512"))]
mod lanes_avx512;
mod run;
pub mod schedule;

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use self::run::{Extent, Runner, Segment, Spare, none, run_segment};
use self::schedule::{JoinState, Joints, Pending, Schedule, Task};
use super::automaton::plain::Loops;
use super::automaton::queues::{START, Slices, expected, start};
use super::automaton::totals::Joint;
use super::automaton::{self, AttemptError, Progress, SHARES, attempt};
use super::bit_rows::window_certificate;
use super::{Positions, ProportionateNim, share};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;
use crate::machine::isa::tier;

pub mod charged_threads {
    //! The automaton in segments, shared among the threads.
    //!
    //! Cost: that of the automaton, divided; each segment has a warm-up of 3072 heaps before up to 262144 that count.
    //! Bound: as `automaton` at the same tier, on each thread.

    use super::*;

    /// Rate: that of the automaton.
    pub fn cost(input: &ProportionateNim, context: CostContext, [unit]: [f64; 1]) -> Cost {
        match context.threads {
            1 => Cost::IMPOSSIBLE,
            threads => cost_of(input, [1, threads], [unit; 2]),
        }
    }

    pub fn run(input: &ProportionateNim, run: &Run, loops: Loops) -> Result<Positions, RunError> {
        drive(input, run, run.threads(), &loops)
    }
}

#[cfg(all(target_arch = "x86_64", feature = "avx2", feature = "avx512"))]
pub mod charged_lanes {
    //! Eight automata in the lanes of a vector, each in a segment of its own.
    //!
    //! Idea: one automaton waits for its chain, and eight together wait no longer. A step has twelve vector operations for
    //! eight heaps; registers are collected from eight rows and spread to eight rows once in sixteen steps. Each segment
    //! begins from a guess with the right balance, 2048 heaps before the first that counts. Spans are those of
    //! [`avx512`](super::super::automaton::avx512).
    //!
    //! Cost: less than half of the time of `automaton_asm` for the blocks, and about as much again for spans.
    //! Bound: vector operations, two a cycle; then the spans.

    use super::lanes_avx512::{self, InLanes, LANES, blocks};
    use super::schedule::together;
    use super::*;
    use crate::cores::occupancy::automaton::avx512::parts;

    /// Rates: ns of a unit of the limit, of one automaton while segments would be too short, and of eight.
    pub fn cost(input: &ProportionateNim, context: CostContext, rates: [f64; 2]) -> Cost {
        let Cost { ns, bytes } = cost_of(input, [LANES, context.threads], rates);
        let bytes = bytes + context.threads as f64 * lanes_avx512::bytes();
        match context.threads {
            1 if context.is_parallel => Cost::IMPOSSIBLE,
            // What segments find on several threads is counted with the output.
            1 => Cost { ns, bytes: bytes + together(input, LANES) },
            _ => Cost { ns, bytes },
        }
    }

    #[inline]
    #[tier(Avx512)]
    pub fn run(input: &ProportionateNim, run: &Run, threads: usize) -> Result<Positions, RunError> {
        let runner = InLanes {
            loops: parts(),
            blocks: |automata, found| match found.has_picks() {
                true => blocks::<true>(automata, found),
                false => blocks::<false>(automata, found),
            },
            lower: |found| found.lower(),
        };
        drive(input, run, threads, &runner)
    }
}

/// Gives the state at a heap, given the old marks around it and a joint near it.
pub type Guess<'a> = &'a (dyn Fn(&Slices, u64, &Joint) -> Option<Joint> + Sync);

/// The guess with the right balance.
pub fn balance(slices: &Slices, n: u64, near: &Joint) -> Option<Joint> {
    slices.guess(n, expected(near, n))
}

/// The cost of `lanes` segments at a time on each of `threads` threads. One automaton takes `alone` nanoseconds per unit
/// of the limit, as long as segments would be too short; then those of a thread take `together`.
fn cost_of(input: &ProportionateNim, [lanes, threads]: [usize; 2], [alone, together]: [f64; 2]) -> Cost {
    let schedule = Schedule::with(lanes as u64, threads as u64, true);
    let (Cost { ns, bytes }, limit) = (automaton::cost_of(input, alone), input.limit() as f64);
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

/// A run, shared by its threads.
pub struct SharedSegments<'a> {
    limit: u64,
    run: &'a Run,
    guess: Guess<'a>,
    runner: &'a dyn Runner,
    schedule: Schedule,
    state: Mutex<JoinState>,
    changed: Condvar,
}

impl SharedSegments<'_> {
    fn state(&self) -> MutexGuard<'_, JoinState> {
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
            state.pending.push(Pending { begin, end: begin + heaps, segment });
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
        (0..self.schedule.lanes).map(|lane| (self.guess)(slices, first + lane * heaps, near)).collect()
    }

    /// Runs segments until the end: the share of each thread.
    fn work(&self) -> Result<(), RunError> {
        let _others = EndOnPanic(self);
        let mut spare = Spare::default();
        while let Some(Task { joint, begin, heaps, near, slices, marks, sink }) = self.task() {
            spare.marks = marks;
            let warm_up = if joint.is_some() { 0 } else { self.schedule.warm_up };
            let on = Extent { limit: self.limit, warm_up, heaps, queues: slices.sources() };
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

/// Ends the other threads when one panics: they may be waiting for it.
struct EndOnPanic<'a, 'b>(&'a SharedSegments<'b>);

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
    Ok(drive_with(input, run, SHARES[0], schedule, &balance, runner)?.0)
}

/// [`drive`] with queues that keep `shares` of the limit in the first attempt, and with `guess` where segments begin.
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
    let (queues, joint) = start(input, shares, &mut sink)?;
    let (next, joints) = (joint.n, Joints::default());
    let state = JoinState {
        joint,
        queues,
        sink,
        reported: 0,
        next,
        open: 0,
        pending: Vec::new(),
        spare: Vec::new(),
        joints,
        ended: None,
    };
    let shared =
        SharedSegments { limit, run, guess, runner, schedule, state: Mutex::new(state), changed: Condvar::new() };
    share(threads, &|| shared.work())?;

    let JoinState { joint, sink, reported, joints, ended, .. } =
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
    use super::*;
    use crate::cores::occupancy::Wanted;
    use crate::cores::occupancy::automaton::block::Registers;
    use crate::cores::occupancy::automaton::plain;

    fn input(limit: u64) -> ProportionateNim {
        ProportionateNim::new(limit).expect("small")
    }

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

    /// Three segments together, as lanes run them.
    struct Three(Loops);

    impl Runner for Three {
        fn lanes(&self) -> usize {
            3
        }

        fn loops(&self) -> &Loops {
            &self.0
        }

        fn together(&self, from: &[Joint], on: Extent<'_>, spare: &mut Spare, sink: Positions) -> Vec<Option<Segment>> {
            let one = |from| self.0.together(std::slice::from_ref(from), on, spare, sink.fork());
            from.iter().flat_map(one).collect()
        }
    }

    /// One on one thread takes the next segment from where the last ended, three together begin most of theirs from guesses.
    #[test]
    fn whatever_is_guessed_the_answer_is_the_same() {
        let limit = 1_000_000;
        let known = known(limit);
        let wrongs = [Wrong::Nothing, Wrong::Missing, Wrong::Balance, Wrong::Uppers, Wrong::Sometimes, Wrong::Marks];
        let runners: [&dyn Runner; 2] = [&plain::parts(), &Three(plain::parts())];
        for (threads, runner, how) in (1..6)
            .flat_map(|threads| runners.map(|runner| (threads, runner)))
            .flat_map(|(t, r)| wrongs.map(|w| (t, r, w)))
        {
            let run = |input: &ProportionateNim| guessed(input, &Run::new(threads), &wrong(how), runner);
            let (found, Joints { compared, differed }) = run(&kept(limit)).expect("runs to its end");
            let name = format!("{how:?}, {threads} threads, {} together: {differed} of {compared}", runner.lanes());
            assert_eq!(found, known, "{name}");
            assert_eq!(run(&input(limit)).expect("runs to its end").0.totals(), known.totals(), "{name}");
            // How many segments begin from guesses depends on when threads run, but on one thread nearly all of three together do.
            let is_sure = threads == 1 && runner.lanes() == 3;
            assert!(compared > 30 || !is_sure, "{name}");
            assert!(
                match how {
                    Wrong::Missing | Wrong::Balance | Wrong::Uppers => differed == compared,
                    Wrong::Sometimes => !is_sure || compared / 6 < differed && differed < compared,
                    // Marks are forgotten, as all but the balance is.
                    Wrong::Nothing | Wrong::Marks => !is_sure || differed <= 3,
                },
                "{name}"
            );
        }
    }

    #[test]
    fn segments_end_at_any_limit() {
        for limit in (4 * START - 3..4 * START + 3).chain((400_000..402_000).step_by(37)) {
            let (input, run) = (kept(limit), Run::new(2));
            assert_eq!(drive(&input, &run, 2, &plain::parts()), Ok(known(limit)), "limit {limit}");
            assert_eq!(run.done(), input.smaller_heaps());
        }
    }

    /// What a guess may get wrong.
    #[derive(Clone, Copy, Debug)]
    enum Wrong {
        Nothing,
        Missing,
        /// One more difference is taken, so the balance is wrong.
        Balance,
        /// One upper position too many.
        Uppers,
        /// The wrong balance, in some segments.
        Sometimes,
        /// Marks that nothing made.
        Marks,
    }

    fn wrong(how: Wrong) -> impl Fn(&Slices, u64, &Joint) -> Option<Joint> + Sync {
        move |slices: &Slices, n: u64, near: &Joint| {
            let mut joint = balance(slices, n, near)?;
            let registers = &mut joint.registers;
            match how {
                Wrong::Nothing => {}
                Wrong::Missing => return None,
                Wrong::Sometimes if !(n / 512).is_multiple_of(3) => {}
                Wrong::Balance | Wrong::Sometimes => {
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
    fn queues_that_drop_what_is_read_end_in_another_attempt() {
        let (input, run) = (kept(1_000_000), Run::new(2));
        let schedule = Schedule::new(&input, 1, 2);
        let found = drive_with(&input, &run, [0.1, 0.03, 0.07], schedule, &balance, &plain::parts());
        assert_eq!(found.expect("runs to its end").0, known(1_000_000));
        assert_eq!(run.done(), input.smaller_heaps());
    }
}
