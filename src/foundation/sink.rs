//! What happens to P-positions as a kernel finds them. There is one type for all: it counts, and keeps or hands on what is [`Wanted`].

use std::fmt::{self, Debug};
use std::mem::take;
use std::sync::Arc;

use crate::growing;
use crate::kernel::{Digest, Run, RunError, Yields};

/// A position: heaps in ascending order.
pub trait Position: Copy + Ord + Debug + Send + Sync + 'static {
    /// The sum of its heaps.
    fn total(self) -> u128;
}

impl<T: Copy + Ord + Debug + Send + Sync + Into<u128> + 'static, const HEAPS: usize> Position for [T; HEAPS] {
    #[inline(always)]
    fn total(self) -> u128 {
        let mut total = 0;
        for heap in self {
            total += heap.into();
        }
        total
    }
}

/// Counts and sums of positions.
pub trait Totals<P>: Copy + Default + PartialEq + Debug + Send + Sync + 'static {
    /// Adds a position.
    fn count(&mut self, position: P);
    /// Adds the totals of other positions.
    fn add(&mut self, other: Self);
    /// The number and sum of all positions.
    fn tally(&self) -> Tally;
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
    /// The two numbers by name.
    pub fn digest(&self) -> Digest {
        vec![("sum", self.sum), ("positions", self.positions.into())]
    }
}

impl<P: Position> Totals<P> for Tally {
    #[inline(always)]
    fn count(&mut self, position: P) {
        self.sum += position.total();
        self.positions += 1;
    }

    fn add(&mut self, other: Self) {
        self.sum += other.sum;
        self.positions += other.positions;
    }

    fn tally(&self) -> Tally {
        *self
    }
}

/// Batches that may wait in an [`Outlet`], if it is a channel.
#[doc(hidden)]
pub const WAITING: usize = 2;

/// Receives positions in order, in batches. It may block, and an error ends the run.
pub type Outlet<P> = Arc<dyn Fn(Vec<P>) -> Result<(), RunError> + Send + Sync>;

/// What a kernel is to find, as part of its input.
#[derive(Clone, Default)]
pub enum Wanted<P> {
    /// Counts and sums alone.
    #[default]
    Totals,
    /// All positions, which are kept.
    Positions,
    /// All positions, handed on in order: a batch whenever the kernel says that no earlier ones will come. Only those left at the end
    /// are kept.
    InOrder(Outlet<P>),
}

impl<P> Debug for Wanted<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wanted::Totals => "Totals",
            Wanted::Positions => "Positions",
            Wanted::InOrder(_) => "InOrder(..)",
        })
    }
}

impl<P> Wanted<P> {
    /// What a kernel must find.
    pub fn yields(&self) -> Yields {
        match self {
            Wanted::Totals => Yields::Tally,
            Wanted::Positions | Wanted::InOrder(_) => Yields::Everything,
        }
    }

    /// Bytes that the sinks of `threads` threads take for `positions` positions. If these are handed on, at most `batch` of them come
    /// between two calls of [`Positions::advance`].
    #[doc(hidden)]
    pub fn bytes(&self, positions: f64, batch: f64, threads: usize) -> f64 {
        growing::bytes::<P>(match self {
            Wanted::Totals => 0.0,
            // The positions of another thread exist twice while they are merged.
            Wanted::Positions if threads > 1 => positions + positions / threads as f64,
            Wanted::Positions => positions,
            // Each thread collects a batch while others wait and one is written.
            Wanted::InOrder(_) => (threads + WAITING + 1) as f64 * batch.min(positions),
        })
    }
}

impl<P> From<Yields> for Wanted<P> {
    /// Without an outlet: all positions, unless totals are enough.
    fn from(yields: Yields) -> Self {
        if yields == Yields::Tally { Wanted::Totals } else { Wanted::Positions }
    }
}

/// The positions that a kernel finds: their totals, and the positions themselves as far as they are [`Wanted`], in lexicographic
/// order once finished.
#[derive(Clone)]
pub struct Positions<P, T = Tally> {
    totals: T,
    /// Those that were not handed on.
    kept: Option<Vec<P>>,
    outlet: Option<Outlet<P>>,
}

impl<P: Position, T: Totals<P>> Positions<P, T> {
    /// None yet, and a place for those that are wanted.
    pub fn new(wanted: &Wanted<P>) -> Self {
        let (kept, outlet) = match wanted {
            Wanted::Totals => (None, None),
            Wanted::Positions => (Some(Vec::new()), None),
            Wanted::InOrder(outlet) => (Some(Vec::new()), Some(outlet.clone())),
        };
        Positions { totals: T::default(), kept, outlet }
    }

    /// The counts and sums of all positions, those that were handed on included.
    pub fn totals(&self) -> &T {
        &self.totals
    }

    /// The positions that are kept: none if only totals are wanted, and those that were not handed on.
    pub fn list(&self) -> &[P] {
        self.kept.as_deref().unwrap_or_default()
    }

    /// [`Positions::list`], taken out.
    pub fn into_list(self) -> Vec<P> {
        self.kept.unwrap_or_default()
    }

    /// Takes a position.
    #[doc(hidden)]
    #[inline(always)]
    pub fn push(&mut self, position: P) {
        self.totals.count(position);
        if self.keeps() {
            self.keep(position);
        }
    }

    /// Out of line, because most runs keep nothing.
    #[cold]
    #[inline(never)]
    fn keep(&mut self, position: P) {
        if let Some(kept) = &mut self.kept {
            growing::push(kept, position);
        }
    }

    /// Takes positions. Out of line, for loops that have no sink in them: with one in its loop, the baseline of `table_scan` took 1.56 of
    /// the time.
    #[doc(hidden)]
    #[inline(never)]
    pub fn extend(&mut self, positions: &[P]) {
        for position in positions {
            self.push(*position);
        }
    }

    /// The totals, if nothing else is kept: a kernel may then add many positions at once.
    #[doc(hidden)]
    #[inline(always)]
    pub fn totals_alone(&mut self) -> Option<&mut T> {
        if self.kept.is_none() { Some(&mut self.totals) } else { None }
    }

    /// Whether positions are kept, not only counted.
    #[doc(hidden)]
    #[inline(always)]
    pub fn keeps(&self) -> bool {
        self.kept.is_some()
    }

    /// Counts steps as done, as [`Run::advance`] does. Positions that are pushed from now on, here or by another thread, come after
    /// all that were pushed before.
    ///
    /// # Errors
    /// As [`Run::advance`], or the receiver of the positions is gone.
    #[doc(hidden)]
    pub fn advance(&mut self, run: &Run, steps: u64) -> Result<(), RunError> {
        if let (Some(outlet), Some(kept)) = (&self.outlet, &mut self.kept) {
            kept.sort_unstable();
            outlet(take(kept))?;
        }
        run.advance(steps)
    }

    /// An empty sink for another thread, with the same destination.
    #[doc(hidden)]
    #[must_use]
    pub fn fork(&self) -> Self {
        let kept = if self.keeps() { Some(Vec::new()) } else { None };
        Positions { totals: T::default(), kept, outlet: self.outlet.clone() }
    }

    /// Takes the positions of another thread.
    #[doc(hidden)]
    pub fn merge(&mut self, other: Self) {
        self.totals.add(other.totals);
        if let (Some(kept), Some(others)) = (&mut self.kept, other.kept) {
            growing::append(kept, others);
        }
    }

    /// Puts the positions in order.
    #[doc(hidden)]
    pub fn finish(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.sort_unstable();
        }
    }

    /// The positions of several threads in order, from the sinks that were [forked](Positions::fork).
    #[doc(hidden)]
    pub fn merged(sinks: Vec<Self>) -> Self {
        let mut sinks = sinks.into_iter();
        let mut all = sinks.next().expect("a thread");
        for other in sinks {
            all.merge(other);
        }
        all.finish();
        all
    }
}

impl<P: Position, T: Totals<P>> PartialEq for Positions<P, T> {
    fn eq(&self, other: &Self) -> bool {
        (self.totals, &self.kept) == (other.totals, &other.kept)
    }
}

impl<P: Position, T: Totals<P>> Debug for Positions<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Positions").field("totals", &self.totals).field("kept", &self.kept).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    type Pair = [u32; 2];
    type Pairs = Positions<Pair>;

    const SORTED: [Pair; 4] = [[0, 0], [1, 1], [1, 2], [3, 4]];
    const TALLY: Tally = Tally { sum: 12, positions: 4 };

    /// What two threads find, merged.
    fn found(wanted: &Wanted<Pair>) -> Pairs {
        let mut sink = Pairs::new(wanted);
        let mut other = sink.fork();
        [[3, 4], [1, 2]].into_iter().for_each(|position| sink.push(position));
        [[1, 1], [0, 0]].into_iter().for_each(|position| other.push(position));
        Pairs::merged(vec![sink, other])
    }

    #[test]
    fn positions_are_kept_if_they_are_wanted_and_counted_always() {
        let [counted, kept] = [Wanted::Totals, Wanted::Positions].map(|wanted| found(&wanted));
        assert_eq!((counted.totals(), counted.list()), (&TALLY, &[][..]));
        assert_eq!((kept.totals(), kept.list()), (&TALLY, &SORTED[..]));
        assert_ne!(counted, kept);
        assert_eq!(TALLY.digest(), [("sum", 12), ("positions", 4)]);
    }

    #[test]
    fn steps_are_counted_until_the_run_is_stopped() {
        let (run, mut sink) = (Run::new(1), found(&Wanted::Totals));
        assert_eq!(sink.advance(&run, 3), Ok(()));
        assert_eq!(run.done(), 3);
        run.cancel();
        assert_eq!(sink.advance(&run, 3), Err(RunError::Cancelled));
    }

    #[test]
    fn totals_may_be_added_to_if_nothing_is_kept() {
        let mut counted = found(&Wanted::Totals);
        Totals::<Pair>::add(counted.totals_alone().expect("totals"), Tally { sum: 10, positions: 2 });
        assert_eq!(*counted.totals(), Tally { sum: 22, positions: 6 });
        assert!(found(&Wanted::Positions).totals_alone().is_none());
    }

    #[test]
    fn an_outlet_gets_sorted_batches_and_they_are_counted() {
        let run = Run::new(1);
        let batches = Arc::new(Mutex::new(Vec::new()));
        let kept = batches.clone();
        let mut first = Pairs::new(&Wanted::InOrder(Arc::new(move |batch: Vec<Pair>| {
            let mut kept = kept.lock().expect("no panic");
            kept.push(batch);
            if kept.len() < 4 { Ok(()) } else { Err(RunError::Cancelled) }
        })));
        let mut other = first.fork();
        for sink in [&mut first, &mut other] {
            sink.push([5, 6]);
            sink.push([1, 2]);
            assert_eq!(sink.advance(&run, 1), Ok(()));
        }
        other.push([7, 7]);
        first.push([0, 8]);
        first.merge(other);
        assert_eq!((*first.totals(), first.list()), (Tally { sum: 50, positions: 6 }, &[[0, 8], [7, 7]][..]));
        assert_eq!([first.advance(&run, 1), first.advance(&run, 1)], [Ok(()), Err(RunError::Cancelled)]);
        assert_eq!(run.done(), 3);
        let pairs = vec![[1, 2], [5, 6]];
        assert_eq!(*batches.lock().expect("no panic"), [pairs.clone(), pairs, vec![[0, 8], [7, 7]], Vec::new()]);
        assert_eq!(first.totals().positions, 6);
    }

    #[test]
    fn memory_is_that_of_what_is_kept() {
        let pairs = growing::bytes::<Pair>;
        let kept = [1, 2].map(|threads| Wanted::<Pair>::Positions.bytes(800.0, 100.0, threads));
        assert_eq!(kept, [pairs(800.0), pairs(1200.0)]);
        let in_order = Wanted::<Pair>::InOrder(Arc::new(|_| Ok(())));
        assert_eq!(in_order.bytes(800.0, 100.0, 2), pairs(500.0));
        assert_eq!(in_order.bytes(50.0, 100.0, 1), pairs(200.0));
        assert_eq!(Wanted::<Pair>::Totals.bytes(800.0, 100.0, 2), 0.0);
    }
}
