//! What is done with P-positions as a kernel finds them. Kernels are generic over the sink: timing uses [`Tally`],
//! conformance and export use [`Positions`].

use std::fmt::Debug;

use crate::kernel::Digest;

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

/// Bytes of a sink that keeps `kept` bytes of each of `positions` positions, while the half that another thread found is merged.
pub(super) fn bytes(kept: usize, positions: f64) -> f64 {
    1.5 * kept as f64 * positions
}

/// What takes P-positions.
pub trait Sink<P: Position>: Default + Send + Sync + PartialEq + Debug + 'static {
    /// Bytes that are kept of a position.
    const KEPT: usize = 0;
    /// Takes a position.
    fn push(&mut self, position: P);
    /// Takes what another thread found.
    fn merge(&mut self, other: Self);
    /// Puts what was found in order.
    fn finish(&mut self) {}
    /// Number and sum of the positions.
    fn tally(&self) -> Tally;
    /// The tally, if it is all that the sink keeps: a kernel may then add many positions at once.
    fn tally_mut(&mut self) -> Option<&mut Tally> {
        None
    }
}

/// Counts and adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sum of all heaps of all positions.
    pub sum: u128,
    /// Number of positions.
    pub positions: u64,
}

impl Tally {
    /// Takes `positions` positions whose heaps add up to `sum`.
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

/// Keeps every position, in lexicographic order once finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positions<P>(pub Vec<P>);

impl<P> Default for Positions<P> {
    fn default() -> Self {
        Positions(Vec::new())
    }
}

impl<P: Position> Sink<P> for Positions<P> {
    const KEPT: usize = size_of::<P>();

    fn push(&mut self, position: P) {
        self.0.push(position);
    }

    fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn finish(&mut self) {
        self.0.sort_unstable();
    }

    fn tally(&self) -> Tally {
        Tally { sum: self.0.iter().map(|position| position.total()).sum(), positions: self.0.len() as u64 }
    }
}
