//! What happens to P-positions as a kernel finds them. Kernels are generic over their sink, and compiled once for each:
//! timing uses [`Tally`]; conformance, pictures and export use [`Positions`].

use std::fmt::{self, Debug};
use std::mem::take;
use std::sync::Arc;

use crate::growing;
use crate::kernel::{Digest, Run, RunError};

/// A position: heaps in ascending order.
pub trait Position: Copy + Ord + Debug + Send + Sync + 'static {
    /// The sum of its heaps.
    fn total(self) -> u128;
}

impl<T: Copy + Ord + Debug + Send + Sync + Into<u128> + 'static, const HEAPS: usize> Position for [T; HEAPS] {
    #[inline(always)]
    fn total(self) -> u128 {
        self.into_iter().map(Into::into).sum()
    }
}

/// Receives P-positions.
pub trait Sink<P: Position>: Default + Send + Sync + PartialEq + Debug + 'static {
    /// Bytes that the sinks of `threads` threads take for `positions` positions. If positions are handed on, at most
    /// `batch` of them come between two calls of [`Sink::advance`].
    fn bytes(_positions: f64, _batch: Option<f64>, _threads: usize) -> f64 {
        0.0
    }
    /// Takes a position.
    fn push(&mut self, position: P);
    /// Counts steps as done, as [`Run::advance`] does. Positions that are pushed from now on, here or by another
    /// thread, come after all that were pushed before.
    ///
    /// # Errors
    /// As [`Run::advance`], or the receiver of the positions is gone.
    #[inline]
    fn advance(&mut self, run: &Run, steps: u64) -> Result<(), RunError> {
        run.advance(steps)
    }
    /// An empty sink for another thread, with the same destination.
    #[must_use]
    fn fork(&self) -> Self {
        Self::default()
    }
    /// Takes the positions of another thread.
    fn merge(&mut self, other: Self);
    /// Puts the positions in order.
    fn finish(&mut self) {}
    /// The number and sum of the positions.
    fn tally(&self) -> Tally;
    /// The tally, if the sink keeps nothing else: a kernel may then add many positions at once.
    fn tally_mut(&mut self) -> Option<&mut Tally> {
        None
    }
}

/// Counts positions and sums their heaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sum of all heaps of all positions.
    pub sum: u128,
    /// Number of positions.
    pub positions: u64,
}

impl Tally {
    /// Adds `positions` positions whose heaps add up to `sum`.
    pub fn add(&mut self, sum: u128, positions: u64) {
        self.sum += sum;
        self.positions += positions;
    }

    /// The two numbers by name.
    pub fn digest(&self) -> Digest {
        vec![("sum", self.sum), ("positions", self.positions.into())]
    }
}

impl<P: Position> Sink<P> for Tally {
    #[inline(always)]
    fn push(&mut self, position: P) {
        self.add(position.total(), 1);
    }

    fn merge(&mut self, other: Self) {
        self.add(other.sum, other.positions);
    }

    fn tally(&self) -> Tally {
        *self
    }

    fn tally_mut(&mut self) -> Option<&mut Tally> {
        Some(self)
    }
}

/// Batches that may wait in the outlet of [`Positions`], if it is a channel.
#[doc(hidden)]
pub const WAITING: usize = 2;

/// Receives the batches of [`Positions`]. It may block, and an error ends the run.
pub type Outlet<P> = Arc<dyn Fn(Vec<P>) -> Result<(), RunError> + Send + Sync>;

/// Keeps every position, in lexicographic order once finished. With an outlet it hands them on in that order, a batch
/// whenever the kernel says that no earlier ones will come, and keeps only those left at the end.
#[derive(Clone)]
pub struct Positions<P> {
    /// The positions that were not handed on.
    pub list: Vec<P>,
    handed_on: Tally,
    outlet: Option<Outlet<P>>,
}

impl<P> Positions<P> {
    /// None yet, and an outlet for those to come.
    pub fn into(outlet: Outlet<P>) -> Self {
        Positions { outlet: Some(outlet), ..Positions::default() }
    }
}

impl<P> Default for Positions<P> {
    fn default() -> Self {
        Positions { list: Vec::new(), handed_on: Tally::default(), outlet: None }
    }
}

impl<P: Position> PartialEq for Positions<P> {
    fn eq(&self, other: &Self) -> bool {
        (&self.list, self.handed_on) == (&other.list, other.handed_on)
    }
}

impl<P: Position> Debug for Positions<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Positions")
            .field("list", &self.list)
            .field("handed_on", &self.handed_on)
            .finish_non_exhaustive()
    }
}

impl<P: Position> Sink<P> for Positions<P> {
    fn bytes(positions: f64, batch: Option<f64>, threads: usize) -> f64 {
        let held = match batch {
            // Each thread collects a batch while others wait and one is written.
            Some(batch) => (threads + WAITING + 1) as f64 * batch.min(positions),
            // The positions of another thread exist twice while they are merged.
            None if threads > 1 => positions + positions / threads as f64,
            None => positions,
        };
        growing::bytes::<P>(held)
    }

    fn push(&mut self, position: P) {
        growing::push(&mut self.list, position);
    }

    fn advance(&mut self, run: &Run, steps: u64) -> Result<(), RunError> {
        if let Some(outlet) = self.outlet.clone() {
            self.finish();
            self.handed_on = self.tally();
            outlet(take(&mut self.list))?;
        }
        run.advance(steps)
    }

    fn fork(&self) -> Self {
        Positions { outlet: self.outlet.clone(), ..Positions::default() }
    }

    fn merge(&mut self, other: Self) {
        growing::append(&mut self.list, other.list);
        Sink::<P>::merge(&mut self.handed_on, other.handed_on);
    }

    fn finish(&mut self) {
        self.list.sort_unstable();
    }

    fn tally(&self) -> Tally {
        let mut tally = self.handed_on;
        self.list.iter().for_each(|position| tally.push(*position));
        tally
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    type Pair = [u32; 2];

    const SORTED: [Pair; 4] = [[0, 0], [1, 1], [1, 2], [3, 4]];
    const TALLY: Tally = Tally { sum: 12, positions: 4 };

    /// What two threads find, merged.
    fn found<S: Sink<Pair>>(mut sink: S) -> S {
        let mut other = sink.fork();
        [[3, 4], [1, 2]].into_iter().for_each(|position| sink.push(position));
        [[1, 1], [0, 0]].into_iter().for_each(|position| other.push(position));
        sink.merge(other);
        sink.finish();
        sink
    }

    #[test]
    fn sinks_agree() {
        let (tally, positions) = (found::<Tally>(Tally::default()), found::<Positions<Pair>>(Positions::default()));
        assert_eq!((tally, &positions.list[..]), (TALLY, &SORTED[..]));
        assert_eq!([Sink::<Pair>::tally(&tally), positions.tally()], [TALLY; 2]);
        assert_eq!(tally.digest(), [("sum", 12), ("positions", 4)]);
    }

    #[test]
    fn steps_are_counted_until_the_run_is_stopped() {
        let (run, mut tally) = (Run::new(1), TALLY);
        assert_eq!(Sink::<Pair>::advance(&mut tally, &run, 3), Ok(()));
        assert_eq!(run.done(), 3);
        run.cancel();
        assert_eq!(Sink::<Pair>::advance(&mut tally, &run, 3), Err(RunError::Cancelled));
    }

    #[test]
    fn only_a_tally_may_be_added_to() {
        let mut tally = TALLY;
        Sink::<Pair>::tally_mut(&mut tally).expect("a tally").add(10, 2);
        assert_eq!(tally, Tally { sum: 22, positions: 6 });
        assert!(Positions::<Pair>::default().tally_mut().is_none());
    }

    #[test]
    fn an_outlet_gets_sorted_batches_and_they_are_counted() {
        let run = Run::new(1);
        let batches = Arc::new(Mutex::new(Vec::new()));
        let kept = batches.clone();
        let mut first = Positions::into(Arc::new(move |batch: Vec<Pair>| {
            let mut kept = kept.lock().expect("no panic");
            kept.push(batch);
            if kept.len() < 4 { Ok(()) } else { Err(RunError::Cancelled) }
        }));
        let mut other = first.fork();
        for sink in [&mut first, &mut other] {
            sink.push([5, 6]);
            sink.push([1, 2]);
            assert_eq!(sink.advance(&run, 1), Ok(()));
        }
        other.push([7, 7]);
        first.push([0, 8]);
        first.merge(other);
        assert_eq!(first.tally(), Tally { sum: 50, positions: 6 });
        assert_ne!(first, Positions { list: first.list.clone(), ..Positions::default() });
        assert_eq!(
            first,
            Positions { handed_on: Tally { sum: 28, positions: 4 }, list: vec![[0, 8], [7, 7]], outlet: None }
        );
        assert_eq!([first.advance(&run, 1), first.advance(&run, 1)], [Ok(()), Err(RunError::Cancelled)]);
        assert_eq!(run.done(), 3);
        let pairs = vec![[1, 2], [5, 6]];
        assert_eq!(*batches.lock().expect("no panic"), [pairs.clone(), pairs, vec![[0, 8], [7, 7]], Vec::new()]);
    }

    #[test]
    fn memory_is_that_of_what_is_kept() {
        let pairs = growing::bytes::<Pair>;
        assert_eq!([1, 2].map(|threads| Positions::<Pair>::bytes(800.0, None, threads)), [pairs(800.0), pairs(1200.0)]);
        assert_eq!(Positions::<Pair>::bytes(800.0, Some(100.0), 2), pairs(500.0));
        assert_eq!(Positions::<Pair>::bytes(50.0, Some(100.0), 1), pairs(200.0));
        assert_eq!(<Tally as Sink<Pair>>::bytes(800.0, Some(100.0), 2), 0.0);
    }
}
