//! What is found about the sets of a family.

use std::cmp::Reverse;

/// The proved repetition of the values of a set: `g(n + period) = g(n)` for all `n >= preperiod`, both as small as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeating {
    /// The number of the set in its family.
    pub set: u64,
    /// The length of the repetition.
    pub period: u64,
    /// The first heap from which it holds.
    pub preperiod: u64,
}

/// The periods of the sets of a family. Findings about parts of a family can be joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// How many sets have each period, ascending.
    pub periods: Vec<(u64, u64)>,
    /// The number of purely periodic sets, those with preperiod 0.
    pub pure: u64,
    /// The largest Grundy value.
    pub largest: u64,
    /// Sets with the longest periods, longest first, then by number. As many as the [`Family`](super::Family) asks for.
    pub longest_periods: Vec<Repeating>,
    /// The same for preperiods, of sets that are not purely periodic.
    pub longest_preperiods: Vec<Repeating>,
}

/// The length by which a list of sets is ordered.
pub(super) type Length = fn(&Repeating) -> u64;
pub(super) const PERIOD: Length = |found| found.period;
pub(super) const PREPERIOD: Length = |found| found.preperiod;

/// The least length that may enter a list of at most `most` sets, longest first.
pub(super) fn least(list: &[Repeating], most: usize, length: Length) -> u64 {
    if list.len() < most { 0 } else { list.last().map_or(u64::MAX, length) }
}

/// Puts a set into such a list, if it belongs there.
pub(super) fn put(list: &mut Vec<Repeating>, most: usize, length: Length, found: Repeating) {
    let rank = |found: &Repeating| (Reverse(length(found)), found.set);
    let index = list.partition_point(|other| rank(other) < rank(&found));
    if index < most {
        list.insert(index, found);
        list.truncate(most);
    }
}

impl Findings {
    /// The number of sets.
    pub fn sets(&self) -> u64 {
        self.periods.iter().map(|(_, sets)| sets).sum()
    }

    /// The sum of the periods of all sets.
    pub fn sum_of_periods(&self) -> u128 {
        self.periods.iter().map(|(period, sets)| u128::from(*period) * u128::from(*sets)).sum()
    }

    /// The longest period; 0 if there are no sets.
    pub fn longest_period(&self) -> u64 {
        self.periods.last().map_or(0, |(period, _)| *period)
    }

    /// The longest preperiod; 0 if all sets are purely periodic. Needs a list of at least one set.
    pub fn longest_preperiod(&self) -> u64 {
        self.longest_preperiods.first().map_or(0, |found| found.preperiod)
    }

    /// Adds a set and its largest value, where lists have up to `most` sets.
    pub(super) fn add(&mut self, found: Repeating, largest: u64, most: usize) {
        self.count(found.period, 1);
        self.largest = self.largest.max(largest);
        put(&mut self.longest_periods, most, PERIOD, found);
        if found.preperiod == 0 {
            self.pure += 1;
        } else {
            put(&mut self.longest_preperiods, most, PREPERIOD, found);
        }
    }

    /// Counts sets with a period.
    pub(super) fn count(&mut self, period: u64, sets: u64) {
        let index = self.periods.partition_point(|(other, _)| *other < period);
        match self.periods.get_mut(index) {
            Some((other, count)) if *other == period => *count += sets,
            _ => self.periods.insert(index, (period, sets)),
        }
    }

    /// Adds what was found about other sets of the same family, where lists have up to `most` sets.
    pub fn join(&mut self, other: Findings, most: usize) {
        other.periods.into_iter().for_each(|(period, sets)| self.count(period, sets));
        self.pure += other.pure;
        self.largest = self.largest.max(other.largest);
        for (list, others, length) in [
            (&mut self.longest_periods, other.longest_periods, PERIOD),
            (&mut self.longest_preperiods, other.longest_preperiods, PREPERIOD),
        ] {
            others.into_iter().for_each(|found| put(list, most, length, found));
        }
    }
}
