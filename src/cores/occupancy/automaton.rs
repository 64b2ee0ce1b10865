//! The streaming register automaton: the kernels `automaton`, and the machinery of `charged_threads` and `window_tree`.
//!
//! Heaps `n` are visited in order. The certificate leaves so few candidates `m` that one register holds them all, with
//! the marks of one row: *used*, *difference*, *twice*, and two rows of *sum*, one for each parity of `n`. A step ORs
//! four registers, takes the lowest zero and marks it in each; then the registers move against each other by fixed
//! amounts. A block is sixteen steps. Its bit `PAD + i` is the candidate `n + d + i`, where `d` is at most the mex of
//! the differences. `d` grows from block to block by whole bytes, so registers lie at whole bytes of the rows and
//! reading old marks takes one instruction. If no register bit is zero, the position is an upper one, and nothing else
//! needs to be known about it.
//!
//! Older marks come in as streams, in the order of their lines:
//! - Marks of the lower beam leave the registers at the bottom, in order, and go onto *queues*. The queue `used` is read
//!   again to tell whether `n` is used, and the sums are read backwards as the mirrored half of *twice*.
//! - Marks of the upper beam are a function of one flag per heap, "`n` is upper". They are made from a queue of those
//!   flags when they are needed ([`upper_beam`]). So memory is three bit strings between their readers and writers: less
//!   than `0.05 M` bytes.
//!
//! The driver begins at a [start] that another kernel finds. It prepares the rows of a span in the first-level cache, lets a
//! kernel run the blocks, and finishes: totals by bit counts, flags and marks onto the queues. Segments begin further on, at guessed
//! joints.
//!
//! Cost: one step for each `n`, of about twenty instructions in plain Rust and fifteen in assembly; preparing and finishing spans
//! adds a quarter, and to assembly more than half.
//! Bound: one serial chain through the lowest zero of four registers, then the number of instructions.
//!
//! # Terms
//! A *mark* is a bit: this line is occupied. *Old* marks are those of positions found before the *span*, 512 heaps whose *rows* of marks are
//! prepared together in L1. A *register* holds the marks of one row at the candidates of the next heaps; a *window* is all registers of a
//! heap. The candidates of an unused heap are *open*; its *pick* is the one that it takes. A *joint* is all that a run from some heap on
//! depends on besides the queues.
//!
//! # Wide windows
//! A block is exact in 64-bit registers if the highest free bit of *twice* is low enough at its start
//! ([`block::Word::REACH`]). The few blocks that are not exact run in 128-bit registers, until all marks fit again. If
//! even those were too narrow, the run would end with [`RunError::Overflow`], never with a wrong answer: they hold 87
//! candidates from `n + d` on, and no window wider than 49 was seen up to 1e10.

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod asm;
#[cfg(all(target_arch = "x86_64", feature = "avx2", feature = "avx512"))]
pub mod avx512;
pub mod bit_queue;
pub mod block;
pub mod engine;
pub mod guess;
pub mod plain;
pub mod queues;
pub mod totals;
pub mod upper_beam;

use self::engine::Span;
use self::plain::Loops;
use self::queues::{START, start};
use self::totals::Automaton;
use super::bit_rows::window_certificate;
use super::{Positions, ProportionateNim, Wanted};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Cycles of the serial chain per P-position: four a step, and one step per smaller heap. There are about seven of
/// those for four positions (observed).
const CHAIN: f64 = 4.0 * 1.75;
/// Nanoseconds until the automaton starts.
const NS_TO_START: f64 = 90_000.0;
/// Bytes of the queues for a unit of the limit, and of the rows of a span.
const BYTES_PER_UNIT: f64 = 0.048;
const BYTES_OF_SPAN: f64 = 2e5;

/// The cost of a kernel of this family that takes `ns` nanoseconds per unit of the limit.
pub fn cost_of(input: &ProportionateNim, ns: f64) -> Cost {
    let limit = input.limit() as f64;
    input.published(NS_TO_START + ns * limit, BYTES_PER_UNIT * limit + BYTES_OF_SPAN)
}

/// Rate: ns of a unit of the limit.
pub fn cost(input: &ProportionateNim, _: CostContext, [unit]: [f64; 1]) -> Cost {
    cost_of(input, unit)
}

/// The chain of the steps.
pub fn needs(_: &ProportionateNim) -> Needs {
    Needs { cycles: CHAIN, ..Needs::default() }
}

pub fn run(input: &ProportionateNim, run: &Run, loops: Loops) -> Result<Positions, RunError> {
    drive(input, run, &loops)
}

/// Runs the automaton with the loops of a tier.
///
/// Small limits are left to the kernel with one window per position, which also finds the positions before the start.
pub fn drive(input: &ProportionateNim, run: &Run, loops: &Loops) -> Result<Positions, RunError> {
    if input.limit() <= 4 * START {
        return window_certificate::run(input, run);
    }
    let mut progress = Progress { sink: input.sink(), found: 0, reported: 0 };
    for shares in SHARES {
        match attempt(input, shares, run, &mut progress, loops) {
            Ok(()) => return progress.finish(input, run),
            Err(AttemptError::Run(stop)) => return Err(stop),
            Err(AttemptError::Dropped) => {}
        }
    }
    Err(RunError::Overflow)
}

/// The shares of the limit up to which the queues used, sum and flags are ever read, by the slopes of the beams; then
/// the whole limit, in case they do not suffice.
pub const SHARES: [[f64; 3]; 2] = [[0.408, 0.109, 0.269], [1.0; 3]];

/// Why an attempt ended early.
pub enum AttemptError {
    /// An error for the caller.
    Run(RunError),
    /// A queue no longer had what was read: the slopes of the beams had said that it would not be needed.
    Dropped,
}

impl From<RunError> for AttemptError {
    fn from(stop: RunError) -> Self {
        AttemptError::Run(stop)
    }
}

/// What the attempts have done so far.
pub struct Progress {
    pub sink: Positions,
    /// Heaps whose positions are in the sink.
    pub found: u64,
    /// Heaps that were reported to the run.
    pub reported: u64,
}

impl Progress {
    /// The sink, with all heaps reported.
    pub fn finish(self, input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
        let Progress { mut sink, reported, .. } = self;
        sink.advance(run, input.smaller_heaps() - reported)?;
        Ok(sink)
    }
}

/// One attempt with queues that keep `shares` of the limit. It finds the positions of an earlier attempt again, and
/// drops them.
pub fn attempt(
    input: &ProportionateNim,
    shares: [f64; 3],
    run: &Run,
    Progress { sink, found, reported }: &mut Progress,
    loops: &Loops,
) -> Result<(), AttemptError> {
    let mut again = Positions::new(&Wanted::Totals);
    let (mut queues, joint) = start(input, shares, if *found == 0 { &mut *sink } else { &mut again })?;
    let mut automaton =
        Automaton::at(input.limit(), &joint, queues.sources(), Span::new()).ok_or(AttemptError::Dropped)?;
    let mut on_queues = automaton.engine.n;
    loop {
        *found = automaton.engine.n.max(*found);
        if *found - *reported >= super::HEAPS_PER_BATCH {
            sink.advance(run, *found - *reported)?;
            *reported = *found;
        }
        if automaton.is_past_limit() {
            return Ok(());
        }
        // No span reads marks of the last eighth.
        if automaton.engine.n - on_queues >= (automaton.engine.n / 8).min(super::HEAPS_PER_BATCH) {
            queues.append(&mut automaton.new);
            queues.release(automaton.engine.n, automaton.engine.d);
            on_queues = automaton.engine.n;
        }
        (loops.prepare)(&mut automaton.engine, queues.sources()).ok_or(AttemptError::Dropped)?;
        (loops.blocks)(&mut automaton.engine)?;
        automaton.finish(if automaton.engine.n == *found { &mut *sink } else { &mut again }, loops);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::block::BLOCK;
    use super::engine::Engine;
    use super::*;
    use crate::cores::occupancy::Beams;
    use crate::cores::sink::Totals;

    /// The loops of plain Rust with other blocks in narrow registers.
    fn with(blocks: fn(&mut Engine) -> Result<(), RunError>) -> Loops {
        Loops { blocks, ..plain::parts() }
    }

    /// Every block in 128-bit registers.
    fn wide() -> Loops {
        with(|engine| engine.blocks(plain::open, |_, _, block| block))
    }

    fn input(limit: u64) -> ProportionateNim {
        ProportionateNim::new(limit).expect("small").finding(Wanted::Positions)
    }

    /// The driver's own choice of registers, except that every third block must be wide. Counts the blocks that are
    /// refused.
    fn thirds() -> Loops {
        with(|engine| {
            engine.blocks(plain::open, |span, window, block| {
                let end = match block % 3 {
                    0 => block,
                    _ => span.run(window, block, |_, _, _| true),
                };
                REFUSED.fetch_add(usize::from(end == block), Relaxed);
                end
            })
        })
    }

    static REFUSED: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn registers_widen_and_narrow_again_at_any_block() {
        for limit in [20_000, 123_456, 1_000_000] {
            assert_eq!(drive(&input(limit), &Run::new(1), &thirds()), Ok(known(limit)), "limit {limit}");
            // A run that ended one block further on, in narrow registers, is not refused; nearly every third block is.
            let blocks = (limit * 2 / 5 - START) as usize / BLOCK;
            assert!(REFUSED.swap(0, Relaxed) > blocks / 4, "limit {limit}");
        }
    }

    fn known(limit: u64) -> Positions {
        window_certificate::run(&input(limit), &Run::new(1)).expect("runs to its end")
    }

    #[test]
    fn wide_registers_alone_find_every_position() {
        for limit in [4 * START + 1, 20_000, 123_456] {
            assert_eq!(drive(&input(limit), &Run::new(1), &wide()), Ok(known(limit)));
        }
        let mut tally = Beams::default();
        known(1_000_000).list().iter().for_each(|position| tally.count(*position));
        let counted = drive(&input(1_000_000).finding(Wanted::Totals), &Run::new(1), &wide());
        assert_eq!(counted.map(|found| *found.totals()), Ok(tally));
    }

    #[test]
    fn a_second_attempt_continues_where_the_first_ended() {
        let (input, run) = (input(200_000), Run::new(1));
        let mut progress = Progress { sink: input.sink(), found: 0, reported: 0 };
        // Queues that drop what is still to be read.
        let first = attempt(&input, [0.1, 0.03, 0.07], &run, &mut progress, &plain::parts());
        assert!(matches!(first, Err(AttemptError::Dropped)) && progress.found > START);
        assert!(attempt(&input, [1.0; 3], &run, &mut progress, &plain::parts()).is_ok());
        assert_eq!(progress.sink, known(200_000));
    }

    #[test]
    fn the_automaton_starts_and_ends_anywhere() {
        // Every limit around the smallest that is not left to another kernel, then every end within a span.
        for limit in (4 * START - 5..4 * START + 5).chain((30_000..34_000).step_by(7)) {
            assert_eq!(drive(&input(limit), &Run::new(1), &plain::parts()), Ok(known(limit)), "limit {limit}");
        }
    }
}
