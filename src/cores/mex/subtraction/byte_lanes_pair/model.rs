//! Loom models of the two threads, in every interleaving: the kernels' code on three or four stretches, with plain accumulation.

use std::rc::Rc;
use std::sync::atomic::AtomicUsize as Counter;

use loom::thread;

use super::*;
use crate::cores::mex::lanes::chain::settle;
use crate::cores::mex::lanes::plain::free_words;
use crate::cores::mex::lanes::{Parts, Planes, Sources, one_hot};
use crate::machine::Machine;
use crate::machine::sync::atomic::Ordering;
use crate::machine::sync::{explore, explore_without};
use crate::moves::MoveSet;

/// A kernel's accumulation, one heap at a time.
fn accumulate(sources: Sources, moves: &[usize], planes: usize, hits: &mut [Planes]) {
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
    let moves = [1, 3, 700].into_iter().chain(1030..1100).collect();
    Subtraction::new(&MoveSet::list(moves).expect("ascending"), limit, &Machine::detect()).expect("a small limit")
}

/// Three stretches: the helper gets one job.
const ONE_JOB: u64 = 1100;
/// Four stretches: the helper gets two jobs.
const TWO_JOBS: u64 = 1600;

/// Computes the values with two threads. `settled` is called with each block that the leading thread comes to.
fn pair(limit: u64, run: &Run, settled: impl Fn(usize) + Sync) -> Result<Vec<u16>, RunError> {
    let input = input(limit);
    let shared = Rc::new((Stretch::new(&input, pair_stretch(input.heaps())), AtomicUsize::new(0)));
    let (jobs, todo) = channel();
    let (done, results) = channel();
    let other = Rc::clone(&shared);
    let helper =
        thread::spawn(move || assist(&other.0, &other.1, todo, done, &Parts { add: accumulate, free_words, settle }));
    let block = Counter::new(0);
    let free = |hits: &Planes, words: &mut [u64; LANES]| {
        settled(block.fetch_add(1, Ordering::Relaxed));
        free_words(hits, words);
    };
    let decoder = Parts { add: accumulate, free_words: free, settle };
    let g = Lead { stretch: &shared.0, reached: &shared.1, jobs, results }.run(&input, run, &decoder);
    helper.join().expect("no panic");
    g
}

fn agrees(limit: u64, name: &str, preemptions: Option<usize>) {
    let decoder: &'static dyn Decoder = &Parts { add: accumulate, free_words, settle };
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
    explore("stopped in the second stretch", None, || {
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
