//! The totals of the two beams.

use crate::cores::sink;

/// Positions of one beam, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beam {
    /// How many.
    pub positions: u64,
    /// The sum of their smaller heaps.
    pub smaller: u128,
    /// The sum of their larger heaps.
    pub larger: u128,
}

impl Beam {
    /// Takes `other` in.
    pub fn add(&mut self, other: Beam) {
        self.positions += other.positions;
        self.smaller += other.smaller;
        self.larger += other.larger;
    }

    /// How steep the beam is: the mean larger heap over the mean smaller one, NaN if there is none.
    pub fn slope(&self) -> f64 {
        self.larger as f64 / self.smaller as f64
    }

    /// Positions for each smaller heap, given that all positions of the beam with heaps of at most `limit` together are in it.
    pub fn density(&self, limit: u64) -> f64 {
        self.positions as f64 * (1.0 + self.slope()) / limit as f64
    }
}

/// Counts and adds, each beam for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Positions with `m <= 2n`.
    pub lower: Beam,
    /// Positions with `m > 2n`.
    pub upper: Beam,
}

impl sink::Sink<[u64; 2]> for Tally {
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
        let Tally { lower, upper } = self;
        sink::Tally {
            sum: lower.smaller + lower.larger + upper.smaller + upper.larger,
            positions: lower.positions + upper.positions,
        }
    }
}

/// What takes the positions `n <= m`.
pub trait Sink: sink::Sink<[u64; 2]> {
    /// The tally, if it is all that the sink keeps: a kernel may then add many positions at once.
    fn beams(&mut self) -> Option<&mut Tally> {
        None
    }
}

impl Sink for Tally {
    fn beams(&mut self) -> Option<&mut Tally> {
        Some(self)
    }
}

impl Sink for super::Positions {}

impl Sink for super::Stream {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::sink::Sink as _;

    #[test]
    fn a_tally_knows_its_beams() {
        let mut tally = Tally::default();
        [[0, 0], [1, 3], [2, 6], [4, 5]].into_iter().for_each(|position| tally.push(position));
        assert_eq!(tally.upper, Beam { positions: 2, smaller: 3, larger: 9 });
        assert_eq!(tally.upper.slope(), 3.0);
        assert_eq!(tally.tally(), sink::Tally { sum: 21, positions: 4 });
    }
}
