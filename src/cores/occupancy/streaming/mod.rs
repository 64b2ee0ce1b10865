//! The streaming register automaton: the driver of the `automaton` kernels.
//!
//! Heaps `n` are visited in order. The certificate leaves so few candidates `m` that one register holds them all, with the marks
//! of each row: *used*, *difference*, *twice* and two rows of *sum*, one for each parity of `n`. A step ORs four registers, takes
//! the lowest zero, and marks it in each; then the registers move against each other by fixed amounts. A block is sixteen
//! steps; its bit `PAD + i` is the candidate `n + d + i`, where `d` is at most the mex of the differences and grows from block to
//! block, by whole bytes: so registers lie at whole bytes of the rows, and reading old marks is one instruction. If no register
//! bit is zero the position is an upper one, and nothing else needs to be known about it.
//!
//! Older marks come in as streams, in the order of their lines:
//! - what the lower beam marked leaves the registers at the bottom, in order, onto *tapes*; `used` is read again as "is `n` used"
//!   and the sums, backwards, as the mirrored half of *twice*;
//! - what the upper beam marked is a function of one flag a heap, "`n` is upper", and made from a tape of those flags when it is
//!   needed ([`marks`]). So memory is three bit strings between their readers and writers: less than `0.05 M` bytes.
//!
//! From a [`start`] that another kernel finds, the driver prepares the rows of a [`span`] in the first-level cache, lets a kernel
//! run the blocks, and settles: totals by bit counts, flags and marks onto the tapes ([`automaton`]). Registers and steps are in
//! [`window`]; what a kernel may do in its own way is in [`inner`].
//!
//! # Wide windows
//! A block is exact in 64-bit registers if the highest free bit of *twice* is low enough at its start
//! ([`window::Word::REACH`]). The few that are not are done in 128-bit registers, until all marks fit again. Were even those too
//! narrow the run would end with [`RunError::Overflow`], never with a wrong answer: they hold 87 candidates from `n + d` on, and no
//! window wider than 49 was seen up to 1e10.

mod automaton;
mod inner;
mod marks;
mod row;
mod span;
mod start;
mod tape;
mod window;

use automaton::Automaton;
pub use inner::{Closures, DIGITS, Inner, Plain};
pub use marks::{End, Substitution, append};
pub use row::Row;
pub use span::{BLOCKS, Blocks, Span, Spill, WORDS};
use start::START;
pub use window::{BLOCK, Block, PAD, Window};

use super::window_certificate;
use super::{ProportionateNim, Sink};
use crate::kernel::{Cost, Run, RunError};

/// Cycles of the serial chain a P-position: four a step, and a step for each smaller heap, of which there are about seven
/// for four positions (observed).
pub const CHAIN: f64 = 4.0 * 1.75;

/// The cost of a kernel of this family that takes `ns` nanoseconds for each unit of the limit.
pub fn cost(input: &ProportionateNim, ns: f64) -> Cost {
    input.published(90_000.0 + ns * input.limit() as f64, 0.048 * input.limit() as f64 + 2e5)
}

/// Runs the automaton, with `inner` where kernels differ.
///
/// Small limits are left to the kernel with one window a position, which also finds the positions before the start.
#[inline(always)]
pub fn drive<S: Sink>(input: &ProportionateNim, run: &Run, sink: S, inner: impl Inner) -> Result<S, RunError> {
    if input.limit() <= 4 * START {
        return window_certificate::run(input, run, sink);
    }
    let mut progress = Progress { sink, found: 0, told: 0 };
    // The shares of the limit that are ever read, by the slopes of the beams; all, should they not suffice.
    for shares in [[0.408, 0.109, 0.269], [1.0; 3]] {
        match attempt(input, shares, run, &mut progress, inner) {
            Ok(()) => {
                let Progress { mut sink, told, .. } = progress;
                sink.advance(run, input.smaller_heaps() - told)?;
                return Ok(sink);
            }
            Err(Halt::Run(stop)) => return Err(stop),
            Err(Halt::Dropped) => {}
        }
    }
    Err(RunError::Overflow)
}

/// Why a run did not get to its end.
enum Halt {
    /// For a reason that the caller is told.
    Run(RunError),
    /// Something was read that had been dropped, because by the slopes of the beams nobody would.
    Dropped,
}

impl From<RunError> for Halt {
    fn from(stop: RunError) -> Self {
        Halt::Run(stop)
    }
}

/// What attempts have done.
struct Progress<S> {
    sink: S,
    /// Heaps whose positions are in the sink.
    found: u64,
    /// Heaps that the run was told of.
    told: u64,
}

/// One attempt with tapes that keep `shares` of the limit. What an attempt before it found is found again, and dropped.
#[inline(always)]
fn attempt<S: Sink>(
    input: &ProportionateNim,
    shares: [f64; 3],
    run: &Run,
    Progress { sink, found, told }: &mut Progress<S>,
    inner: impl Inner,
) -> Result<(), Halt> {
    let mut again = sink.fork();
    let mut automaton = Automaton::start(input, shares, if *found == 0 { &mut *sink } else { &mut again })?;
    loop {
        *found = automaton.n.max(*found);
        if *found - *told >= super::BLOCK {
            sink.advance(run, *found - *told)?;
            *told = *found;
        }
        if 2 * automaton.n + automaton.d > input.limit() {
            return Ok(());
        }
        automaton.prepare(inner).ok_or(Halt::Dropped)?;
        automaton.blocks(inner)?;
        automaton.settle(if automaton.n == *found { &mut *sink } else { &mut again }, inner);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    use crate::cores::occupancy::{Positions, Tally};
    use crate::cores::sink::Sink as _;

    /// Every block in 128-bit registers.
    #[derive(Clone, Copy)]
    struct Wide;

    impl Inner for Wide {
        fn blocks(self, _: &mut Span, _: &mut Window<u64>, block: usize) -> usize {
            block
        }
    }

    fn all_wide<S: Sink>(limit: u64) -> S {
        let input = ProportionateNim::new(limit).expect("small");
        drive(&input, &Run::new(1), S::default(), Wide).expect("runs to its end")
    }

    /// The driver's own choice of registers, but every third block must be a wide one; counts the blocks that are refused.
    #[derive(Clone, Copy)]
    struct Thirds;

    static REFUSED: AtomicUsize = AtomicUsize::new(0);

    impl Inner for Thirds {
        fn blocks(self, span: &mut Span, window: &mut Window<u64>, block: usize) -> usize {
            let end = match block % 3 {
                0 => block,
                _ => span.run(window, block, Plain, |_, _, _| true),
            };
            REFUSED.fetch_add(usize::from(end == block), Relaxed);
            end
        }
    }

    #[test]
    fn registers_widen_and_narrow_again_at_any_block() {
        for limit in [20_000, 123_456, 1_000_000] {
            let input = ProportionateNim::new(limit).expect("small");
            assert_eq!(drive(&input, &Run::new(1), Positions::default(), Thirds), Ok(known(limit)), "limit {limit}");
            // A run that ended one block further on, in narrow registers, is not refused: nearly every third block is.
            let blocks = (limit * 2 / 5 - START) as usize / BLOCK;
            assert!(REFUSED.swap(0, Relaxed) > blocks / 4, "limit {limit}");
        }
    }

    fn known(limit: u64) -> Positions {
        window_certificate::run(&ProportionateNim::new(limit).expect("small"), &Run::new(1), Positions::default())
            .expect("runs to its end")
    }

    #[test]
    fn wide_registers_alone_find_every_position() {
        for limit in [4 * START + 1, 20_000, 123_456] {
            assert_eq!(all_wide::<Positions>(limit), known(limit));
        }
        let mut tally = Tally::default();
        known(1_000_000).0.into_iter().for_each(|position| tally.push(position));
        assert_eq!(all_wide::<Tally>(1_000_000), tally);
    }

    #[test]
    fn a_second_attempt_goes_on_where_the_first_ended() {
        let (input, run) = (ProportionateNim::new(200_000).expect("small"), Run::new(1));
        let mut progress = Progress { sink: Positions::default(), found: 0, told: 0 };
        // Tapes that drop what is needed again.
        let first = attempt(&input, [0.1, 0.03, 0.07], &run, &mut progress, Plain);
        assert!(matches!(first, Err(Halt::Dropped)) && progress.found > START);
        assert!(attempt(&input, [1.0; 3], &run, &mut progress, Plain).is_ok());
        assert_eq!(progress.sink, known(200_000));
    }

    #[test]
    fn the_automaton_starts_and_ends_anywhere() {
        // Every limit for a while: round the limit that is left to another kernel, and every end within a span.
        for limit in (4 * START - 5..4 * START + 5).chain((30_000..34_000).step_by(7)) {
            let input = ProportionateNim::new(limit).expect("small");
            assert_eq!(drive(&input, &Run::new(1), Positions::default(), Plain), Ok(known(limit)), "limit {limit}");
        }
    }
}
