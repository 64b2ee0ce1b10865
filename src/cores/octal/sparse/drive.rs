//! The drivers of the sparse byte-lane kernels.
//!
//! A run begins with [`Candidates`], which make no use of rare heaps. From the first block on, and each time the number
//! of heaps has doubled, it chooses the quicker of these and of [`Sparse`] blocks, by their cost with the rare heaps so
//! far.

use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};

use super::Compiled;
use super::blocks::{Sparse, TooLarge};
use super::codes::LANES;
use crate::cores::octal::octal::candidates::{self, Candidates};
use crate::cores::octal::octal::input::Octal;
use crate::cores::octal::octal::period::Watch;
use crate::cores::octal::octal::values::{Start, Values};
use crate::kernel::threads;
use crate::kernel::{Cost, Run, RunError};

/// The cost at `ns` nanoseconds for a move and a block.
pub fn cost(input: &Octal, ns: f64) -> Cost {
    if !input.has_sparse_space() {
        return Cost::IMPOSSIBLE;
    }
    let heaps = input.heaps() as f64;
    let splits = input.places(4).count() as f64;
    let each = if splits > 0.0 { 80.0 + 2000.0 * ns / LANES as f64 } else { 20.0 };
    // In known games with many rare heaps, most of these are among the first heaps, where they cost as much as all
    // splits would, plus the search for a space. The factor of a twentieth stands for the games that have a space much
    // sooner.
    let first = heaps.min(25_000.0);
    let search = 12_000.0 + 90.0 * first;
    let ns = search + 0.05 * splits * first * first + 0.05 * each * first + (20.0 + each) * (heaps - first);
    Cost { ns, bytes: bytes(input) }
}

/// Peak bytes.
pub fn bytes(input: &Octal) -> f64 {
    3.0 * input.heaps() as f64 + 500_000.0
}

/// How the values of the next heaps are computed.
pub trait Steps<'a> {
    /// Computes the values of some heaps and counts them.
    fn step(&mut self, sparse: &mut Sparse<'a>, values: &mut Values, watch: &Watch, compiled: Compiled) -> Step;
}

/// An error of the run, or else of the space.
pub type Step = Result<Result<(), TooLarge>, RunError>;

/// On this thread.
pub struct Alone;

impl<'a> Steps<'a> for Alone {
    fn step(&mut self, sparse: &mut Sparse<'a>, values: &mut Values, _: &Watch, compiled: Compiled) -> Step {
        sparse.step(values, compiled)
    }
}

/// Common heaps that are computed before they are verified.
struct Task<'a> {
    producer: Sparse<'a>,
    /// The index in the producer of the first of them.
    place: usize,
    count: usize,
    sender: SyncSender<Vec<u8>>,
}

/// Heaps in a task, at most and at least; heaps in a message; messages that may wait.
const TASK: usize = 1 << 22;
const LEAST_TASK: usize = if cfg!(test) { 4 * LANES } else { 1 << 14 };
const MESSAGE: usize = 64 * LANES;
const WAITING: usize = 16;

/// Bytes of a task and of the messages that wait, besides what one thread needs.
pub fn task_bytes(input: &Octal) -> f64 {
    input.heaps().min(TASK + (WAITING + 2) * MESSAGE) as f64
}

/// With a thread that computes common values, while this one follows and verifies them. A rare heap ends what is
/// computed ahead.
pub struct Pair<'a>(Sender<Task<'a>>);

impl<'a> Steps<'a> for Pair<'a> {
    fn step(&mut self, sparse: &mut Sparse<'a>, values: &mut Values, watch: &Watch, compiled: Compiled) -> Step {
        let n = values.known.len();
        let count = sparse.ahead(n).min(watch.ahead(n)).min(values.heaps - n).min(TASK) / LANES * LANES;
        if count < LEAST_TASK {
            return sparse.step(values, compiled);
        }
        let (producer, place) = sparse.producer(n, count);
        let (sender, received) = sync_channel(WAITING);
        let sent = self.0.send(Task { producer, place, count, sender });
        assert!(sent.is_ok(), "the thread takes tasks until there are no more");
        for codes in received {
            for block in codes.chunks_exact(LANES) {
                let n = values.known.len();
                sparse.codes[n..n + LANES].copy_from_slice(block);
                if let Err(error) = (compiled.verify)(sparse, &mut values.known) {
                    return Ok(Err(error));
                }
                values.advance()?;
                // A rare heap, or another mask.
                if values.known.len() < n + LANES || sparse.is_choice_due() {
                    return Ok(Ok(()));
                }
            }
        }
        // The producer may have stopped early, and the next step says why.
        if values.known.len() < n + count { sparse.step(values, compiled) } else { Ok(Ok(())) }
    }
}

/// Starts a thread for the duration of `work`.
pub fn with_producer<'a>(
    compiled: Compiled,
    work: impl FnOnce(&mut Pair<'a>) -> Result<Vec<u16>, RunError>,
) -> Result<Vec<u16>, RunError> {
    let (sender, tasks) = channel::<Task<'a>>();
    let compute = move || {
        for Task { mut producer, place, count, sender } in tasks {
            for from in (place..place + count).step_by(MESSAGE) {
                let end = (place + count).min(from + MESSAGE);
                let is_done = (from..end).step_by(LANES).all(|n| (compiled.common)(&mut producer, n).is_ok());
                if !is_done || sender.send(producer.codes[from..end].to_vec()).is_err() {
                    break;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let producer = threads::start(scope, compute)?;
        let mut pair = Pair(sender);
        let outcome = work(&mut pair);
        drop(pair);
        threads::join(producer);
        outcome
    })
}

/// The driver.
pub fn drive<'a>(
    input: &'a Octal,
    run: &Run,
    start: Start,
    compiled: Compiled,
    steps: &mut dyn Steps<'a>,
) -> Result<Vec<u16>, RunError> {
    // Blocks gain nothing for the first heaps, and heads must be far below half of a heap.
    let first = LANES + 4 * input.code().last_place().unwrap_or(0);
    let mut values = Values::new(input, run, start);
    if values.known.is_empty() {
        values.known.push(0);
    }
    let mut watch = Watch::new();
    let mut sparse: Option<Sparse> = None;
    let mut candidates: Option<Candidates> = None;
    let mut decide_at = first;
    while !values.is_complete() {
        let n = values.known.len();
        // A run that is stopped during the search keeps its values, too.
        let found =
            watch.look(input.code(), &values.known, run).or_else(|stopped| values.advance().and(Err(stopped)))?;
        if let Some(period) = found {
            values.repeat(period.period)?;
            break;
        }
        if n >= decide_at {
            decide_at = 2 * n;
            let current = sparse.take().or_else(|| Sparse::new(input, &values.known).ok());
            let others = candidates::heap_ns(compiled.pace.search, 1.4 * n as f64, input.places(4).count() as f64);
            sparse = current.filter(|sparse| sparse.heap_ns(n, compiled.pace.step) < others);
            candidates = None;
        }
        match &mut sparse {
            Some(state) => {
                if steps.step(state, &mut values, &watch, compiled)?.is_err() {
                    (sparse, decide_at) = (None, 2 * values.known.len());
                }
            }
            None => {
                let candidates = candidates.get_or_insert_with(|| Candidates::new(input.heaps().min(decide_at)));
                let value = (compiled.value)(candidates, input, &values.known);
                values.push(value)?;
            }
        }
    }
    values.advance()?;
    Ok(values.known)
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;

    /// In tests, tasks are short, so that one of them meets the rare heap 13933 of 0.16, and one a new mask of 0.56.
    #[test]
    fn a_pair_computes_the_same_values() {
        for (code, limit) in [("0.16", 16_000), ("0.354", 5_000), ("0.56", 25_000)] {
            let input = Octal::new(&code.parse().expect("a game"), limit).expect("a small limit");
            let parts = plain::parts();
            let paired = with_producer(parts, |pair| drive(&input, &Run::new(2), Start::default(), parts, pair));
            let alone = drive(&input, &Run::new(1), Start::default(), parts, &mut Alone);
            assert!(paired == alone && paired.is_ok(), "{code}");
        }
    }
}
