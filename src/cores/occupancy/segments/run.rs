//! A segment: heaps that one automaton runs from a joint or a guess.

use crate::cores::occupancy::automaton::bit_queue::{BitQueue, NewMarks};
use crate::cores::occupancy::automaton::engine::{Sources, Span};
use crate::cores::occupancy::automaton::plain::Loops;
use crate::cores::occupancy::automaton::totals::{Automaton, Joint};
use crate::cores::occupancy::{Positions, Wanted};
use crate::kernel::RunError;

/// What a segment found.
pub struct Segment {
    pub begin: Joint,
    pub end: Joint,
    pub marks: NewMarks,
    pub sink: Positions,
}

/// How far segments go, and what they read.
#[derive(Clone, Copy)]
pub struct Extent<'a> {
    /// The limit of the game.
    pub limit: u64,
    /// Heaps that come first and do not count.
    pub warm_up: u64,
    /// Heaps that count.
    pub heaps: u64,
    pub queues: Sources<'a, BitQueue>,
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
    fn together(&self, from: &[Joint], on: Extent<'_>, spare: &mut Spare, sink: Positions) -> Vec<Option<Segment>>;
}

/// One automaton at a time.
impl Runner for Loops {
    fn lanes(&self) -> usize {
        1
    }

    fn loops(&self) -> &Loops {
        self
    }

    fn together(&self, from: &[Joint], on: Extent<'_>, spare: &mut Spare, sink: Positions) -> Vec<Option<Segment>> {
        // If a window becomes too wide after a guess, the segment is invalid.
        vec![run_segment(&from[0], on, spare, sink, self).unwrap_or(None)]
    }
}

/// Runs heaps from a joint on, the first `warm_up` of which do not count. `None` if the queues do not have all marks that
/// it reads, or the limit comes before the warm-up ends.
pub fn run_segment(
    from: &Joint,
    Extent { limit, warm_up, heaps, queues }: Extent<'_>,
    spare: &mut Spare,
    mut sink: Positions,
    loops: &Loops,
) -> Result<Option<Segment>, RunError> {
    let Some(mut automaton) = Automaton::at(limit, from, queues, spare.span()) else { return Ok(None) };
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
        if is_complete || (loops.prepare)(&mut automaton.engine, queues).is_none() {
            // A segment from a joint may end where its queues do.
            first = first.filter(|_| is_complete || warm_up == 0 && automaton.engine.n > begin);
            break;
        }
        (loops.blocks)(&mut automaton.engine)?;
        automaton.finish(if first.is_some() { &mut sink } else { &mut idle }, loops);
    }
    let end = automaton.joint();
    spare.spans.push(automaton.engine.span);
    Ok(first.map(|begin| Segment { begin, end, marks: automaton.new, sink }))
}

/// Invalid segments.
pub fn none(lanes: usize) -> Vec<Option<Segment>> {
    (0..lanes).map(|_| None).collect()
}
