//! The drivers of the sparse byte-lane kernels.
//!
//! A run begins with [`Candidates`], which make no use of rare heaps. From the first block on, and each time the number
//! of heaps has doubled, it chooses the quicker of these and of [`Sparse`] blocks, by their cost with the rare heaps so
//! far.

use std::sync::mpsc::{Sender, SyncSender, channel, sync_channel};

use super::Backend;
use super::blocks::{Sparse, TooLarge};
use super::codes::LANES;
use super::window::{CHUNK, CODES, CodeWindow, End};
use crate::cores::octal::octal::candidates::{self, Candidates};
use crate::cores::octal::octal::input::Octal;
use crate::cores::octal::octal::period::Watch;
use crate::cores::octal::octal::values::{Start, Values};
use crate::kernel::threads;
use crate::kernel::{Cost, Run, RunError};

/// The first heaps, among which most of the rare heaps of known games are.
const FIRST: f64 = 25_000.0;
/// Of the games, those whose first heaps cost as much as all of their splits would; others have a space much sooner.
const LATE: f64 = 0.05;
/// Nanoseconds of a search for a space, and of it and a heap among the first.
const NS_PER_SEARCH: f64 = 12_000.0;
const NS_PER_FIRST_HEAP: f64 = 90.0;
/// Nanoseconds of a heap, and of one in a block; and the moves of a block.
const NS_PER_HEAP: f64 = 20.0;
const NS_IN_BLOCK: f64 = 80.0;
const MOVES: f64 = 2000.0;

/// The cost at `step` nanoseconds for a move and a block.
pub fn cost(input: &Octal, step: f64) -> Cost {
    let heaps = input.heaps() as f64;
    let splits = input.places(4).count() as f64;
    let each = if splits > 0.0 { NS_IN_BLOCK + MOVES * step / LANES as f64 } else { NS_PER_HEAP };
    let first = heaps.min(FIRST);
    let search = NS_PER_SEARCH + NS_PER_FIRST_HEAP * first;
    let ns = search + LATE * first * (splits * first + each) + (NS_PER_HEAP + each) * (heaps - first);
    Cost { ns, bytes: bytes(heaps) }.only_if(input.has_sparse_space())
}

/// Peak bytes.
pub fn bytes(heaps: f64) -> f64 {
    3.0 * heaps + 500_000.0
}

/// Computes the values of some heaps and counts them. An error is one of the run, or else of the space.
type Step<'s, 'a> = dyn FnMut(&mut Sparse<'a>, &mut Values, &Watch) -> Result<Result<(), TooLarge>, RunError> + 's;

/// On this thread.
pub fn single(input: &Octal, run: &Run, start: Start, backend: Backend) -> Result<Vec<u16>, RunError> {
    drive(input, run, start, backend, &mut |sparse, values, _| sparse.step(values, backend))
}

/// By windows where few heaps are rare.
pub fn windowed(input: &Octal, run: &Run, start: Start, backend: Backend) -> Result<Vec<u16>, RunError> {
    let mut windowed = Windowed { window: None, from: 0 };
    drive(input, run, start, backend, &mut |sparse, values, _| {
        if windowed.chunk(sparse, values, backend) { values.advance().map(Ok) } else { sparse.step(values, backend) }
    })
}

/// Chunks of common heaps by a window while no heap is rare; else blocks on this thread.
struct Windowed {
    window: Option<CodeWindow>,
    /// From this heap on a window is tried, or made anew.
    from: usize,
}

impl Windowed {
    /// Computes and verifies a chunk. False if there is no window, or it ends: then other blocks continue from there.
    fn chunk(&mut self, sparse: &mut Sparse, values: &mut Values, backend: Backend) -> bool {
        let n = values.known.len();
        if n >= self.from {
            self.window = CodeWindow::new(sparse, n, backend);
            self.from = if self.window.is_some() { 4 * n } else { n + n / 8 };
        }
        let Some(window) = &mut self.window else { return false };
        if values.heaps < n + CHUNK {
            (self.window, self.from) = (None, usize::MAX);
            return false;
        }
        let mut end = (backend.compute)(window, &mut sparse.codes, n);
        if end.is_ok() {
            let (codes, known) = (&sparse.codes, &mut values.known);
            for (heap, code) in (n..).zip(&codes[n..n + CHUNK]) {
                known.push(window.values[heap % 2][usize::from(*code) % CODES]);
            }
            let coder = window.coder;
            let mut is_reached = |heap, code| sparse.is_reached(heap, known, coder.rare(heap, code));
            end = (backend.verify)(window, codes, n, n % 2, &mut is_reached);
        }
        let Err(end) = end else { return true };
        // The next heap is rare, or its code too large.
        if let End::Unresolved(heap, _) = end {
            values.known.truncate(heap);
        }
        sparse.space.recount(&values.known);
        (self.window, self.from) = (None, values.known.len() + values.known.len() / 8);
        false
    }
}

/// Common heaps that are computed before they are verified.
struct Task<'a> {
    producer: Sparse<'a>,
    /// The index in the producer of the first of them.
    start: usize,
    count: usize,
    sender: SyncSender<Vec<u8>>,
}

/// Heaps in a task, at most and at least; heaps in a message; messages that may be pending.
const TASK: usize = 1 << 22;
const LEAST_TASK: usize = if cfg!(test) { 4 * LANES } else { 1 << 14 };
const MESSAGE: usize = 64 * LANES;
const PENDING: usize = 16;

/// Bytes of a task and of pending messages, besides what one thread needs.
pub fn task_bytes(input: &Octal) -> f64 {
    input.heaps().min(TASK + (PENDING + 2) * MESSAGE) as f64
}

/// With a thread that computes common values, while this one follows and verifies them. A rare heap ends the work ahead.
pub fn paired(input: &Octal, run: &Run, start: Start, backend: Backend) -> Result<Vec<u16>, RunError> {
    let (sender, tasks) = channel::<Task>();
    let compute = move || {
        for Task { mut producer, start, count, sender } in tasks {
            for from in (start..start + count).step_by(MESSAGE) {
                let end = (start + count).min(from + MESSAGE);
                let is_done = (from..end).step_by(LANES).all(|n| (backend.common_block)(&mut producer, n).is_ok());
                if !is_done || sender.send(producer.codes[from..end].to_vec()).is_err() {
                    break;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let producer = threads::start(scope, compute)?;
        let outcome = drive(input, run, start, backend, &mut |sparse, values, watch| {
            let n = values.known.len();
            let count = sparse.ahead(n).min(watch.ahead(n)).min(values.heaps - n).min(TASK) / LANES * LANES;
            if count < LEAST_TASK {
                sparse.step(values, backend)
            } else {
                follow(&sender, count, sparse, values, backend)
            }
        });
        drop(sender);
        threads::join(producer);
        outcome
    })
}

/// Verifies the next `count` heaps as the thread of `tasks` computes them.
fn follow<'a>(
    tasks: &Sender<Task<'a>>,
    count: usize,
    sparse: &mut Sparse<'a>,
    values: &mut Values,
    backend: Backend,
) -> Result<Result<(), TooLarge>, RunError> {
    let end = values.known.len() + count;
    let (producer, start) = sparse.producer(values.known.len(), count);
    let (sender, received) = sync_channel(PENDING);
    let sent = tasks.send(Task { producer, start, count, sender });
    assert!(sent.is_ok(), "the thread takes tasks until there are no more");
    for codes in received {
        for block in codes.chunks_exact(LANES) {
            let n = values.known.len();
            sparse.codes[n..n + LANES].copy_from_slice(block);
            if let Err(error) = (backend.verify_block)(sparse, &mut values.known) {
                return Ok(Err(error));
            }
            values.advance()?;
            // A rare heap, or another mask.
            if values.known.len() < n + LANES || sparse.is_choice_due() {
                return Ok(Ok(()));
            }
        }
    }
    // The producer may have stopped early, and the next step returns why.
    if values.known.len() < end { sparse.step(values, backend) } else { Ok(Ok(())) }
}

fn drive<'a>(
    input: &'a Octal,
    run: &Run,
    start: Start,
    backend: Backend,
    step: &mut Step<'_, 'a>,
) -> Result<Vec<u16>, RunError> {
    // Blocks gain nothing for the first heaps, and the cover must be far below half of a heap.
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
            let others = candidates::heap_ns(backend.search, 1.4 * n as f64, input.places(4).count() as f64);
            sparse = current.filter(|sparse| sparse.heap_ns(n, backend.step) < others);
            candidates = None;
        }
        match &mut sparse {
            Some(state) => {
                if step(state, &mut values, &watch)?.is_err() {
                    (sparse, decide_at) = (None, 2 * values.known.len());
                }
            }
            None => {
                let candidates = candidates.get_or_insert_with(|| Candidates::new(input.heaps().min(decide_at)));
                let value = (backend.candidate_value)(candidates, input, &values.known);
                values.push(value)?;
            }
        }
    }
    values.advance()?;
    Ok(values.known)
}

#[cfg(test)]
mod tests {
    use super::super::portable;
    use super::*;

    /// In tests, tasks are short, so that one of them meets the rare heap 13933 of 0.16, and one a new mask of 0.56.
    #[test]
    fn a_pair_computes_the_same_values() {
        for (code, limit) in [("0.16", 16_000), ("0.354", 5_000), ("0.56", 25_000)] {
            let input = Octal::new(&code.parse().expect("a game"), limit).expect("a small limit");
            let paired = paired(&input, &Run::new(2), Start::default(), portable::parts());
            let single = single(&input, &Run::new(1), Start::default(), portable::parts());
            assert!(paired == single && paired.is_ok(), "{code}");
        }
    }
}
