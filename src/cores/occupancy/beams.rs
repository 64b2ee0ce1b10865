//! The totals of each beam.

use crate::cores::sink::{Tally, Totals};

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

impl Totals<[u64; 2]> for Beams {
    #[inline(always)]
    fn count(&mut self, [n, m]: [u64; 2]) {
        let beam = if m > 2 * n { &mut self.upper } else { &mut self.lower };
        beam.add(Beam { positions: 1, smaller: n.into(), larger: m.into() });
    }

    fn add(&mut self, other: Self) {
        self.lower.add(other.lower);
        self.upper.add(other.upper);
    }

    fn tally(&self) -> Tally {
        let Beams { lower, upper } = self;
        Tally {
            sum: lower.smaller + lower.larger + upper.smaller + upper.larger,
            positions: lower.positions + upper.positions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_knows_its_beams() {
        let mut tally = Beams::default();
        [[0, 0], [1, 3], [2, 6], [4, 5]].into_iter().for_each(|position| tally.count(position));
        assert_eq!(tally.upper, Beam { positions: 2, smaller: 3, larger: 9 });
        assert_eq!(tally.upper.slope(), 3.0);
        assert_eq!(tally.tally(), Tally { sum: 21, positions: 4 });
    }
}
