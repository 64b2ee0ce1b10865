//! Which segments run when, and how they are joined.

use super::run::Segment;
use crate::cores::growing;
use crate::cores::occupancy::automaton::AttemptError;
use crate::cores::occupancy::automaton::bit_queue::{BitQueue, NewMarks};
use crate::cores::occupancy::automaton::engine::SPAN;
use crate::cores::occupancy::automaton::queues::{MARGIN, Queues, Slices, expected};
use crate::cores::occupancy::automaton::totals::Joint;
use crate::cores::occupancy::{HEAPS_PER_BATCH, Positions, ProportionateNim};
use crate::kernel::Run;

/// Positions for each smaller heap in the published game: four of seven heaps have one, observed.
const PER_HEAP: f64 = 4.0 / 7.0;

/// How many segments may be under way for each that can run: more than one, so that no thread waits for another.
const AHEAD: u64 = 2;

/// How a run is cut into segments.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Heaps between a guess and the first heap that counts. After `t` heaps about one run in `exp(t / 350)` is still in
    /// another state (observed).
    pub warm_up: u64,
    /// Segments that run together, in lanes.
    pub lanes: u64,
    /// Heaps of the shortest and the longest segment: long compared with the warm-up, but the marks of all that run
    /// together stay in L2.
    pub lengths: [u64; 2],
    pub threads: u64,
    /// Segments that may be under way.
    pub most: u64,
}

impl Schedule {
    /// `lanes` segments at a time on each of `threads` threads. Positions of a segment wait to be joined, if they are
    /// kept; then segments are shorter.
    pub fn new(input: &ProportionateNim, lanes: usize, threads: usize) -> Self {
        Self::with(lanes as u64, threads as u64, input.is_counted())
    }

    pub fn with(lanes: u64, threads: u64, is_counted: bool) -> Self {
        let (warm_up, lengths) = match (lanes, is_counted) {
            (1, true) => (6 * SPAN as u64, [12 * SPAN as u64, 1 << 18]),
            (1, false) => (6 * SPAN as u64, [12 * SPAN as u64, HEAPS_PER_BATCH]),
            (_, true) => (4 * SPAN as u64, [4 * SPAN as u64, 1 << 15]),
            (_, false) => (4 * SPAN as u64, [4 * SPAN as u64, 1 << 11]),
        };
        let ahead = if threads > 1 { AHEAD } else { 1 };
        Schedule { warm_up, lanes, lengths, threads, most: ahead * threads * lanes }
    }

    /// The first heap at which segments pay off.
    pub fn first(&self) -> u64 {
        self.lengths[0] * self.most * 20 / 9
    }

    /// Heaps of a segment when the queues reach heap `n`, if segments pay off there.
    fn length(&self, n: u64) -> Option<u64> {
        // So that all that are under way fit between `n` and `1.45 n`.
        let share = n * 9 / 20 / self.most;
        let [shortest, longest] = self.lengths;
        Some(share.min(longest) / SPAN as u64 * SPAN as u64).filter(|length| *length >= shortest)
    }
}

/// How many joints were compared, and how many segments differed there and ran again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Joints {
    /// Segments that began from a guess.
    pub compared: u64,
    /// Those that differed.
    pub differed: u64,
}

/// Bytes of the segments under way on several threads: their marks, and their positions if those are kept.
pub fn under_way(input: &ProportionateNim, threads: usize) -> f64 {
    if threads < 2 {
        return 0.0;
    }
    let schedule = Schedule::new(input, 1, threads);
    let Some(heaps) = schedule.length(input.limit() * 2 / 5) else { return 0.0 };
    let positions = if input.is_counted() { 0.0 } else { growing::bytes::<[u64; 2]>(PER_HEAP * heaps as f64) };
    // A slice may keep a chunk that its queue has copied since.
    schedule.most as f64 * (NewMarks::bytes(heaps + schedule.warm_up) + positions + BitQueue::CHUNK_BYTES as f64)
}

/// Bytes of `lanes` segments on one thread: their marks, and the positions that they find, if those are kept. Whether
/// they are is not known here, so they are counted; they take little.
pub fn together(input: &ProportionateNim, lanes: usize) -> f64 {
    let schedules = [true, false].map(|is_counted| Schedule::with(lanes as u64, 1, is_counted));
    let [counted, kept] = schedules.map(|schedule| schedule.length(input.limit() * 2 / 5).unwrap_or(0));
    lanes as f64
        * (NewMarks::bytes(counted + schedules[0].warm_up) + growing::bytes::<[u64; 2]>(PER_HEAP * kept as f64))
}

/// Segments to run.
pub struct Task {
    /// The state at the first heap of the only segment, or `None` for guesses.
    pub joint: Option<Joint>,
    pub begin: u64,
    /// Heaps of each.
    pub heaps: u64,
    /// A joint near them.
    pub near: Joint,
    pub slices: Slices,
    /// Empty lists.
    pub marks: Vec<NewMarks>,
    pub sink: Positions,
}

/// A segment that has ended and is not joined yet.
pub struct Pending {
    /// Its first heap.
    pub begin: u64,
    /// The heap after the last.
    pub end: u64,
    /// `None` if its guess was invalid.
    pub segment: Option<Segment>,
}

/// How far a run has come.
pub struct JoinState {
    /// What comes before the joint is on the queues and in the sink.
    pub joint: Joint,
    pub queues: Queues,
    pub sink: Positions,
    /// Heaps that were reported to the run.
    pub reported: u64,
    /// The first heap that is in no segment yet.
    pub next: u64,
    /// Segments under way: begun, and not joined.
    pub open: u64,
    /// In no order.
    pub pending: Vec<Pending>,
    /// Lists that were used, so that their memory is used again.
    pub spare: Vec<NewMarks>,
    pub joints: Joints,
    pub ended: Option<Result<(), AttemptError>>,
}

impl JoinState {
    /// Joins the segments whose turn it is, up to one that differs.
    pub fn join(&mut self, run: &Run, limit: u64, schedule: &Schedule) {
        while self.ended.is_none()
            && let Some(at) = self.next_pending()
            && let Some(segment) = &self.pending[at].segment
            && segment.begin == self.joint
            && let Pending { end, segment: Some(segment), .. } = self.pending.swap_remove(at)
        {
            let Segment { end: joint, mut marks, sink, .. } = segment;
            self.joint = joint;
            self.queues.append(&mut marks);
            self.spare.push(marks);
            self.queues.release(joint.n.saturating_sub(schedule.warm_up), joint.d);
            self.sink.merge(sink);
            self.open -= 1;
            if 2 * joint.n + joint.d > limit {
                self.ended = Some(Ok(()));
            } else if joint.n < end {
                // Its queues ended before it did. Where other segments follow, that must not happen.
                if self.open == 0 { self.next = joint.n } else { self.ended = Some(Err(AttemptError::Dropped)) }
            } else if joint.n - self.reported >= HEAPS_PER_BATCH {
                if let Err(stop) = self.sink.advance(run, joint.n - self.reported) {
                    self.ended = Some(Err(stop.into()));
                }
                self.reported = joint.n;
            }
        }
    }

    /// The index of the segment whose turn it is, if it waits.
    fn next_pending(&self) -> Option<usize> {
        self.pending.iter().position(|pending| pending.begin == self.joint.n)
    }

    /// What can run now.
    pub fn task(&mut self, limit: u64, schedule: &Schedule) -> Option<Task> {
        let joint = self.joint;
        if let Some(at) = self.next_pending() {
            // It differed.
            self.joints.differed += 1;
            let heaps = self.pending.swap_remove(at).end - joint.n;
            return Some(self.exact(heaps));
        }
        if let Some(heaps) = self.guessed(limit, schedule) {
            let begin = self.next;
            self.next += schedule.lanes * heaps;
            self.open += schedule.lanes;
            self.joints.compared += schedule.lanes;
            let slices = self.queues.slices(begin - schedule.warm_up..self.next, &joint);
            let marks = self.marks(schedule.lanes);
            return Some(Task { joint: None, begin, heaps, near: joint, slices, marks, sink: self.sink.fork() });
        }
        if self.open > 0 {
            return None;
        }
        // If the queues do not reach that far, the segment ends where they do.
        let heaps = schedule.length(joint.n).unwrap_or((joint.n / 4).next_multiple_of(SPAN as u64));
        self.open = 1;
        self.next = joint.n + heaps;
        Some(self.exact(heaps))
    }

    /// Heaps of each of the next segments that can begin from guesses now.
    fn guessed(&self, limit: u64, schedule: &Schedule) -> Option<u64> {
        let (joint, begin) = (&self.joint, self.next);
        // On one thread that runs one segment at a time, the next one always begins at the joint.
        if self.open + schedule.lanes > schedule.most || self.open == 0 && schedule.lanes == 1 {
            return None;
        }
        let mut heaps = schedule.length(joint.n)?;
        if schedule.lanes > 1 {
            // Lanes end within the limit.
            let left = limit.checked_sub(2 * begin + expected(joint, begin) + 4 * MARGIN)? * 2 / 5;
            heaps = heaps.min(left / schedule.lanes / SPAN as u64 * SPAN as u64);
            if heaps < schedule.warm_up {
                return None;
            }
        }
        // Marks of upper positions reach to lines that heap `1.52 n` reads.
        let reach = (64 * self.queues.used.end() as u64).min(joint.n * 3 / 2) - MARGIN;
        let is_within_limit = 2 * begin + expected(joint, begin) <= limit;
        (begin + schedule.lanes * heaps <= reach && is_within_limit).then_some(heaps)
    }

    /// Lists for a number of segments, if there are any.
    fn marks(&mut self, segments: u64) -> Vec<NewMarks> {
        self.spare.split_off(self.spare.len().saturating_sub(segments as usize))
    }

    /// The segment of a number of heaps from the joint.
    fn exact(&mut self, heaps: u64) -> Task {
        let (near, begin) = (self.joint, self.joint.n);
        let slices = self.queues.slices(begin..begin + heaps, &near);
        let marks = self.marks(1);
        Task { joint: Some(near), begin, heaps, near, slices, marks, sink: self.sink.fork() }
    }
}
