//! The drivers of the sparse byte-lane kernels.
//!
//! A run begins with [`Candidates`], which make no use of rare heaps. From the first block on, and each time the number
//! of heaps has doubled, it chooses the quicker of these and of [`Sparse`] blocks, by their cost with the rare heaps so
//! far.

use std::mem::take;
use std::sync::{Condvar, Mutex, MutexGuard};

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

/// Heaps that are computed before they are verified, at most and at least; and heaps that are handed on at once.
const TASK: usize = 1 << 22;
const LEAST_TASK: usize = if cfg!(test) { 4 * LANES } else { 1 << 15 };
const MESSAGE: usize = 64 * LANES;

/// Bytes of what is computed ahead, besides what one thread needs.
pub fn task_bytes(input: &Octal) -> f64 {
    2.0 * input.heaps().min(TASK) as f64
}

/// With a thread that computes common values, while this one follows and verifies them. A rare heap ends what is
/// computed ahead.
pub struct Pair;

impl<'a> Steps<'a> for Pair {
    fn step(&mut self, sparse: &mut Sparse<'a>, values: &mut Values, watch: &Watch, compiled: Compiled) -> Step {
        let n = values.known.len();
        let count = sparse.ahead(n).min(watch.ahead(n)).min(values.heaps - n).min(TASK) / LANES * LANES;
        if count < LEAST_TASK {
            return sparse.step(values, compiled);
        }
        let (mut producer, mut at) = sparse.producer(n, count);
        let (end, ahead) = (at + count, &Ahead::default());
        let compute = move || {
            let _end = End(ahead);
            while at < end {
                let from = at;
                while at < end.min(from + MESSAGE) {
                    if (compiled.common)(&mut producer, at).is_err() {
                        return;
                    }
                    at += LANES;
                }
                if !ahead.put(&producer.codes[from..at]) {
                    return;
                }
            }
        };
        let outcome = std::thread::scope(|scope| {
            let producer = threads::start(scope, compute)?;
            let outcome = follow(sparse, values, compiled, ahead);
            drop(End(ahead));
            threads::join(producer);
            outcome
        })?;
        // The producer may have stopped before the first block, and the next step says why.
        if values.known.len() == n && outcome.is_ok() { sparse.step(values, compiled) } else { Ok(outcome) }
    }
}

/// Verifies the codes that are computed ahead, up to a rare heap or another mask.
fn follow(sparse: &mut Sparse, values: &mut Values, compiled: Compiled, ahead: &Ahead) -> Step {
    loop {
        let codes = ahead.take();
        if codes.is_empty() {
            return Ok(Ok(()));
        }
        for block in codes.chunks_exact(LANES) {
            let n = values.known.len();
            sparse.codes[n..n + LANES].copy_from_slice(block);
            if let Err(error) = (compiled.verify)(sparse, &mut values.known) {
                return Ok(Err(error));
            }
            values.advance()?;
            if values.known.len() < n + LANES || sparse.is_choice_due() {
                return Ok(Ok(()));
            }
        }
    }
}

/// Codes that one thread computes and another takes.
#[derive(Default)]
struct Ahead {
    /// Those that are not taken yet, and whether one of the threads has ended.
    codes: Mutex<(Vec<u8>, bool)>,
    changed: Condvar,
}

impl Ahead {
    fn codes(&self) -> MutexGuard<'_, (Vec<u8>, bool)> {
        self.codes.lock().expect("nothing panics while it is locked")
    }

    /// Hands codes on. False if nobody takes them any more.
    fn put(&self, codes: &[u8]) -> bool {
        let mut ahead = self.codes();
        ahead.0.extend_from_slice(codes);
        self.changed.notify_one();
        !ahead.1
    }

    /// Takes all codes, as soon as there are some; none after the last.
    fn take(&self) -> Vec<u8> {
        let mut ahead = self.codes();
        while ahead.0.is_empty() && !ahead.1 {
            ahead = self.changed.wait(ahead).expect("nothing panics while it is locked");
        }
        take(&mut ahead.0)
    }
}

/// Tells the other thread of the end, when dropped.
struct End<'a>(&'a Ahead);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.codes().1 = true;
        self.0.changed.notify_one();
    }
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
            let paired = drive(&input, &Run::new(2), Start::default(), parts, &mut Pair);
            let alone = drive(&input, &Run::new(1), Start::default(), parts, &mut Alone);
            assert!(paired == alone && paired.is_ok(), "{code}");
        }
    }
}
