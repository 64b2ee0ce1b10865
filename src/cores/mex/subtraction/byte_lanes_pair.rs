//! [`super::byte_lanes`] on two threads that share no table. While the leading thread computes an [`L2Tile`], the helper applies
//! moves of at least two such tiles to the next one, whose sources are all known: window by window, the longest moves first. When
//! the leading thread comes to that tile, the helper stops and hands over its hits, and the leading thread applies the
//! remaining moves. Neither waits for the other. They exchange new codes and hits by messages.
//!
//! Cost: as on one thread, plus a copy of each code and of the helper's planes.
//! Bound: the vector ports of two cores. At a hundred thousand heaps, the exchange costs as much as it saves.

use super::byte_lanes::{
    self, ByteLanes, Codes, L2_ROOTS, L2Tile, MOVES_AT_ONCE, TILE_HEAPS, Window, bytes, far_part, l2_tile,
};
use super::{Subtraction, pairs};
use crate::cores::mex::lanes::{Decoder, Planes, below};
use crate::kernel::{Cost, CostContext, Run, RunError, threads};
use crate::machine::STACK;
use crate::machine::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::machine::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use crate::machine::sync::yield_now;

/// The time that two threads save, for each pair of heap and move that they can share, and at most: distant moves need fewer planes.
const SAVED: [f64; 2] = [0.57, 0.48];

/// Rates: those of [`byte_lanes`], the ns of copying codes and hits for a heap, and of a thread and its page faults.
pub fn cost(input: &Subtraction, context: CostContext, [plane, step, near, copy, thread]: [f64; 5]) -> Cost {
    let Cost { ns, .. } = byte_lanes::cost(input, context, [plane, step, near]);
    let saved = f64::min(SAVED[0] * shareable(input), SAVED[1]);
    let bytes = bytes(input, 2, pair_tile(input.heaps()), true) + STACK;
    Cost { ns: ns * (1.0 - saved) + copy * input.heaps() as f64 + thread, bytes }.only_if(context.threads > 1)
}

/// The fraction of the pairs of heap and move that the threads can share.
fn shareable(input: &Subtraction) -> f64 {
    let least = shared_from(pair_tile(input.heaps())) as u64;
    let unshared = below(input.moves(), least);
    pairs(&input.moves()[unshared..], input.limit()) / f64::max(input.pairs(), 1.0)
}

/// [`L2_ROOTS`] for two threads, while caches hold the codes. Threads can share only the moves that leave an L2 tile.
const PAIR_ROOTS: f64 = 6.0;
/// From this number of heaps on, caches do not hold the codes.
const PAST_CACHES: usize = 5_000_000;

/// Heaps in an L2 tile.
fn pair_tile(heaps: usize) -> usize {
    l2_tile(if heaps < PAST_CACHES { PAIR_ROOTS } else { L2_ROOTS }, heaps)
}

/// The least move that the threads share. From the next L2 tile, a smaller move may reach heaps whose values are not known yet.
fn shared_from(length: usize) -> usize {
    2 * length
}

/// A job for the helper, which sends it back: far moves of the L2 tile at `start`.
struct Job {
    start: usize,
    /// The first heap of the new codes.
    at: usize,
    /// For each window, the new codes and the first heaps of its planes.
    updates: Vec<(Vec<u8>, Vec<usize>)>,
    /// For each window and block, the values that the applied moves reach; before, memory for them.
    hits: Vec<Vec<Planes>>,
    /// For each window, moves from this index on are applied. Windows without an entry still need all moves.
    applied: Vec<usize>,
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run, decoder: &dyn Decoder) -> Result<Vec<u16>, RunError> {
    let tile = &L2Tile::new(input, pair_tile(input.heaps()));
    let reached = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (jobs, todo) = channel();
        let (done, results) = channel();
        threads::start(scope, move || assist(tile, reached, todo, done, decoder))?;
        Lead { tile, reached, jobs, results }.run(input, run, decoder)
    })
}

/// The leading thread, which computes values.
struct Lead<'a> {
    tile: &'a L2Tile,
    /// The start of the L2 tile that it has come to. This only decides which thread applies a move; messages order everything else.
    reached: &'a AtomicUsize,
    jobs: Sender<Job>,
    results: Receiver<Job>,
}

impl Lead<'_> {
    #[inline(always)]
    fn run(self, input: &Subtraction, run: &Run, decoder: &dyn Decoder) -> Result<Vec<u16>, RunError> {
        let mut lanes = ByteLanes::new(input, decoder);
        let mut has_job = false;
        for start in (0..input.heaps()).step_by(TILE_HEAPS) {
            if start.is_multiple_of(self.tile.length) {
                self.begin_l2_tile(&mut lanes, start, &mut has_job);
            }
            lanes.tile(start, run)?;
        }
        Ok(lanes.finish())
    }

    /// Takes what the helper has done for the L2 tile at `start`, and orders the next one. `has_job` is whether one was ordered.
    fn begin_l2_tile(&self, lanes: &mut ByteLanes, start: usize, has_job: &mut bool) {
        self.reached.store(start, Relaxed);
        let hits = std::mem::take(&mut lanes.far);
        let (had_job, next) = (*has_job, start + self.tile.length);
        *has_job = start > 0 && next < self.tile.heaps;
        if *has_job {
            let at = start - self.tile.length;
            let mut updates = Vec::new();
            for Window { known, .. } in &mut lanes.windows {
                updates.push((known.from(at)[..start - at].to_vec(), known.first.clone()));
            }
            let is_sent = self.jobs.send(Job { start: next, at, updates, hits, applied: Vec::new() }).is_ok();
            assert!(is_sent, "the helper outlives its jobs");
        }
        let (hits, applied) = match had_job.then(|| receive(&self.results)).flatten() {
            Some(job) => (job.hits, job.applied),
            None => Default::default(),
        };
        lanes.begin_l2_tile(self.tile, start, hits, &applied);
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
fn assist(tile: &L2Tile, reached: &AtomicUsize, jobs: Receiver<Job>, results: Sender<Job>, decoder: &dyn Decoder) {
    let shared = below(&tile.moves, shared_from(tile.length));
    let mut windows: Vec<Codes> = Vec::new();
    while let Some(mut job) = receive(&jobs) {
        let Job { start, at, updates, hits, applied } = &mut job;
        let start = *start;
        windows.resize_with(windows.len().max(updates.len()), || Codes::new(tile.heaps));
        for (window, (codes, first)) in windows.iter_mut().zip(updates) {
            window.from(*at)[..codes.len()].copy_from_slice(codes);
            window.first = std::mem::take(first);
        }
        hits.resize(windows.len(), Vec::new());
        for (window, hits) in windows.iter_mut().zip(hits) {
            if reached.load(Relaxed) >= start {
                break;
            }
            tile.clear(hits, start);
            let mut from = below(&tile.moves, start + tile.length);
            while from > shared && reached.load(Relaxed) < start {
                let to = from;
                from = shared.max(to.saturating_sub(MOVES_AT_ONCE));
                far_part(window, &tile.moves, from..to, start, hits, decoder);
            }
            applied.push(from);
        }
        // The other thread may have been stopped.
        if results.send(job).is_err() {
            break;
        }
    }
}

/// Loom models of the two threads, in every interleaving: the kernels' code on three or four L2 tiles, with plain accumulation.
#[cfg(all(test, loom))]
mod model {
    use std::rc::Rc;
    use std::sync::atomic::AtomicUsize as Counter;

    use loom::thread;

    use super::*;
    use crate::cores::mex::lanes::plain::free_words;
    use crate::cores::mex::lanes::resolve;
    use crate::cores::mex::lanes::{Backend, LANES, Sources, one_hot};
    use crate::machine::sync::atomic::Ordering;
    use crate::machine::sync::{explore, explore_without};

    /// A kernel's accumulation, one heap at a time.
    fn accumulate(sources: &Sources, moves: &[usize], planes: usize, hits: &mut [Planes]) {
        for (sources, hits) in sources.blocks(hits) {
            for m in moves {
                let codes = sources.behind(*m);
                for (p, plane) in hits[..planes].iter_mut().enumerate() {
                    plane.iter_mut().zip(codes).for_each(|(hit, code)| *hit |= one_hot(*code, p));
                }
            }
        }
    }

    /// An input whose moves include two chunks for the helper, and some that only the leading thread applies.
    fn input(limit: u64) -> Subtraction {
        Subtraction::of_moves([1, 3, 700].into_iter().chain(1030..1100).collect(), limit)
    }

    /// Three L2 tiles: the helper gets one job.
    const ONE_JOB: u64 = 1100;
    /// Four L2 tiles: the helper gets two jobs.
    const TWO_JOBS: u64 = 1600;

    /// Computes the values with two threads. `resolved` is called with each block that the leading thread comes to.
    fn pair(limit: u64, run: &Run, resolved: impl Fn(usize) + Sync) -> Result<Vec<u16>, RunError> {
        let input = input(limit);
        let shared = Rc::new((L2Tile::new(&input, pair_tile(input.heaps())), AtomicUsize::new(0)));
        let (jobs, todo) = channel();
        let (done, results) = channel();
        let other = Rc::clone(&shared);
        let helper = thread::spawn(move || {
            assist(&other.0, &other.1, todo, done, &Backend { add: accumulate, free_words, resolve })
        });
        let block = Counter::new(0);
        let free = |hits: &Planes, words: &mut [u64; LANES]| {
            resolved(block.fetch_add(1, Ordering::Relaxed));
            free_words(hits, words);
        };
        let decoder = Backend { add: accumulate, free_words: free, resolve };
        let g = Lead { tile: &shared.0, reached: &shared.1, jobs, results }.run(&input, run, &decoder);
        helper.join().expect("no panic");
        g
    }

    fn agrees(limit: u64, name: &str, preemptions: Option<usize>) {
        let decoder: &'static dyn Decoder = &Backend { add: accumulate, free_words, resolve };
        let want = byte_lanes::run(&input(limit), &Run::new(1), decoder).expect("the run is not cancelled");
        explore(name, preemptions, move || assert_eq!(pair(limit, &Run::new(2), |_| ()).as_ref(), Ok(&want)));
    }

    #[test]
    fn the_values_do_not_depend_on_which_thread_applies_a_move() {
        agrees(ONE_JOB, "two threads, one job", None);
        agrees(TWO_JOBS, "two threads, two jobs", Some(2));
    }

    #[test]
    fn the_helper_ends_when_the_leading_thread_is_stopped() {
        explore("stopped in the second L2 tile", None, || {
            let run = Run::new(2);
            // By then the first job has been sent, and its result will not be received.
            let stop = |block| {
                if block * LANES >= 600 {
                    run.cancel();
                }
            };
            assert_eq!(pair(TWO_JOBS, &run, stop), Err(RunError::Cancelled));
        });
    }

    #[test]
    #[should_panic(expected = "the message has not been seen to be written")]
    fn a_message_sent_without_release_is_seen() {
        explore_without(Ordering::Release, "release dropped", || drop(pair(ONE_JOB, &Run::new(2), |_| ())));
    }

    #[test]
    #[should_panic(expected = "the message has not been seen to be written")]
    fn a_message_received_without_acquire_is_seen() {
        explore_without(Ordering::Acquire, "acquire dropped", || drop(pair(ONE_JOB, &Run::new(2), |_| ())));
    }
}
