//! [`super::byte_lanes`] on two threads that share no table. While the leading thread settles a [`Stretch`], the helper applies
//! moves of at least two stretches to the next one, whose sources are all known: window by window, the longest moves first. When
//! the leading thread comes to that stretch, the helper stops and hands over its hits, and the leading thread applies the
//! remaining moves. Neither waits for the other. They exchange new codes and hits by messages.
//!
//! Cost: as on one thread, plus a copy of each code and of the helper's planes.
//! Bound: the vector ports of two cores. At a hundred thousand heaps, the exchange costs as much as it saves.

#[cfg(all(test, loom))]
mod model;

use super::byte_lanes::{
    self, Codes, Done, MOVES_AT_ONCE, STRETCH, Stretch, Window, bytes, far_part, recycled, run_helped, stretch,
};
use super::{Subtraction, pairs};
use crate::cores::mex::lanes::{Decoder, LANES, PLANES, below};
use crate::kernel::{Cost, CostContext, Run, RunError, threads};
use crate::machine::STACK;
use crate::machine::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::machine::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use crate::machine::sync::yield_now;

/// Rates: those of [`byte_lanes`], the ns of copying codes and hits for a heap, and of a thread and its page faults.
pub fn cost(input: &Subtraction, context: CostContext, [plane, step, settle, copy, thread]: [f64; 5]) -> Cost {
    if context.threads < 2 {
        return Cost::IMPOSSIBLE;
    }
    let Cost { ns, .. } = byte_lanes::cost(input, context, [plane, step, settle]);
    // Distant moves need fewer planes.
    let saved = f64::min(0.57 * shareable(input), 0.48);
    let bytes = bytes(input, 2, pair_stretch(input.heaps()), true) + STACK;
    Cost { ns: ns * (1.0 - saved) + copy * input.heaps() as f64 + thread, bytes }
}

/// The fraction of the pairs of heap and move that the threads can share.
fn shareable(input: &Subtraction) -> f64 {
    let least = shared_from(pair_stretch(input.heaps())) as u64;
    let unshared = super::below(input.moves(), least);
    pairs(&input.moves()[unshared..], input.limit()) / f64::max(input.pairs(), 1.0)
}

/// [`STRETCH`] for two threads, while caches hold the codes. Threads can share only the moves that leave a stretch.
const PAIR_STRETCH: f64 = 6.0;
/// From this number of heaps on, caches do not hold the codes.
const PAST_CACHES: usize = 5_000_000;

/// Heaps in a stretch.
fn pair_stretch(heaps: usize) -> usize {
    stretch(if heaps < PAST_CACHES { PAIR_STRETCH } else { STRETCH }, heaps)
}

/// The least move that the threads share. From the next stretch, a smaller move may reach heaps that are not
/// settled yet.
fn shared_from(stretch: usize) -> usize {
    2 * stretch
}

/// A job for the helper, which sends it back: far moves of the stretch at `start`.
struct Job {
    start: usize,
    /// The first heap of the new codes.
    at: usize,
    /// For each window, the new codes and the first heaps of its planes.
    updates: Vec<(Vec<u8>, Vec<usize>)>,
    /// What the helper has done; before, memory for the values that the moves reach.
    done: Done,
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run, decoder: &dyn Decoder) -> Result<Vec<u16>, RunError> {
    let stretch = &Stretch::new(input, pair_stretch(input.heaps()));
    let reached = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (jobs, todo) = channel();
        let (done, results) = channel();
        threads::start(scope, move || assist(stretch, reached, todo, done, decoder))?;
        Lead { stretch, reached, jobs, results }.run(input, run, decoder)
    })
}

/// The leading thread, which settles values.
struct Lead<'a> {
    stretch: &'a Stretch,
    /// The start of the stretch that it has come to. This only decides which thread applies a move; messages order everything else.
    reached: &'a AtomicUsize,
    jobs: Sender<Job>,
    results: Receiver<Job>,
}

impl Lead<'_> {
    #[inline(always)]
    fn run(self, input: &Subtraction, run: &Run, decoder: &dyn Decoder) -> Result<Vec<u16>, RunError> {
        let stretch = self.stretch;
        let mut ordered = false;
        run_helped(input, run, decoder, &mut |start, windows, share| {
            if !start.is_multiple_of(stretch.length) {
                return;
            }
            self.reached.store(start, Relaxed);
            let was_ordered = ordered;
            let next = start + stretch.length;
            ordered = start > 0 && next < stretch.heaps;
            if ordered {
                let at = start - stretch.length;
                let mut updates = Vec::new();
                for Window { known, .. } in &mut *windows {
                    updates.push((known.from(at)[..start - at].to_vec(), known.first.clone()));
                }
                let done = Done { hits: recycled(share), from: Vec::new() };
                let is_sent = self.jobs.send(Job { start: next, at, updates, done }).is_ok();
                assert!(is_sent, "the helper outlives its jobs");
            }
            let done = if was_ordered { receive(&self.results) } else { None };
            *share = stretch.share(start, windows, done.map_or_else(Done::default, |job| job.done), decoder);
        })
    }
}

/// The next message; `None` if the other thread has ended. Yields instead of sleeping, because the message comes sooner than a
/// sleeping thread would wake.
fn receive(messages: &Receiver<Job>) -> Option<Job> {
    loop {
        match messages.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => yield_now(),
        }
    }
}

/// The helper's loop.
fn assist(stretch: &Stretch, reached: &AtomicUsize, jobs: Receiver<Job>, results: Sender<Job>, decoder: &dyn Decoder) {
    let shared = below(&stretch.moves, shared_from(stretch.length));
    let mut windows: Vec<Codes> = Vec::new();
    while let Some(mut job) = receive(&jobs) {
        let Job { start, at, updates, done } = &mut job;
        let start = *start;
        while windows.len() < updates.len() {
            windows.push(Codes::new(stretch.heaps));
        }
        for (window, (codes, first)) in windows.iter_mut().zip(updates) {
            window.from(*at)[..codes.len()].copy_from_slice(codes);
            window.first = std::mem::take(first);
        }
        done.hits.resize(windows.len(), Vec::new());
        for (window, hits) in windows.iter_mut().zip(&mut done.hits) {
            if reached.load(Relaxed) >= start {
                break;
            }
            hits.resize(stretch.blocks(start), [[0; LANES]; PLANES]);
            let mut from = below(&stretch.moves, start + stretch.length);
            while from > shared && reached.load(Relaxed) < start {
                let to = from;
                from = shared.max(to.saturating_sub(MOVES_AT_ONCE));
                far_part(window, &stretch.moves, from..to, start, hits, decoder);
            }
            done.from.push(from);
        }
        // The other thread may have been stopped.
        if results.send(job).is_err() {
            break;
        }
    }
}
