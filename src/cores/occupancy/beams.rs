//! The totals of each beam.

use crate::cores::sink;
use crate::kernel::Yields;

/// The totals of one beam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beam {
    /// The number of positions.
    pub positions: u64,
    /// The sum of their smaller heaps.
    pub smaller: u128,
    /// The sum of their larger heaps.
    pub larger: u128,
}

impl Beam {
    /// Adds the totals of `other`.
    pub fn add(&mut self, other: Beam) {
        self.positions += other.positions;
        self.smaller += other.smaller;
        self.larger += other.larger;
    }

    /// The slope of the beam: the mean larger heap divided by the mean smaller one. NaN if the beam is empty.
    pub fn slope(&self) -> f64 {
        self.larger as f64 / self.smaller as f64
    }

    /// Positions per smaller heap, given that the beam holds all its positions with heaps of at most `limit` together.
    pub fn density(&self, limit: u64) -> f64 {
        self.positions as f64 * (1.0 + self.slope()) / limit as f64
    }
}

/// Counts and sums the positions of each beam.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beams {
    /// Positions with `m <= 2n`.
    pub lower: Beam,
    /// Positions with `m > 2n`.
    pub upper: Beam,
}

impl sink::Sink<[u64; 2]> for Beams {
    #[inline(always)]
    fn push(&mut self, [n, m]: [u64; 2]) {
        let beam = if m > 2 * n { &mut self.upper } else { &mut self.lower };
        beam.add(Beam { positions: 1, smaller: n.into(), larger: m.into() });
    }

    fn merge(&mut self, other: Self) {
        self.lower.add(other.lower);
        self.upper.add(other.upper);
    }

    fn tally(&self) -> sink::Tally {
        let Beams { lower, upper } = self;
        sink::Tally {
            sum: lower.smaller + lower.larger + upper.smaller + upper.larger,
            positions: lower.positions + upper.positions,
        }
    }
}

/// Receives the positions `n <= m`.
pub trait Sink: sink::Sink<[u64; 2]> {
    /// What it keeps.
    const YIELDS: Yields = Yields::Everything;
    /// The tally, if the sink keeps nothing else: a kernel may then add many positions at once.
    fn beams(&mut self) -> Option<&mut Beams> {
        None
    }
}

impl Sink for Beams {
    const YIELDS: Yields = Yields::Tally;

    fn beams(&mut self) -> Option<&mut Beams> {
        Some(self)
    }
}

impl Sink for super::Positions {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::sink::Sink as _;

    #[test]
    fn a_tally_knows_its_beams() {
        let mut tally = Beams::default();
        [[0, 0], [1, 3], [2, 6], [4, 5]].into_iter().for_each(|position| tally.push(position));
        assert_eq!(tally.upper, Beam { positions: 2, smaller: 3, larger: 9 });
        assert_eq!(tally.upper.slope(), 3.0);
        assert_eq!(tally.tally(), sink::Tally { sum: 21, positions: 4 });
    }
}
