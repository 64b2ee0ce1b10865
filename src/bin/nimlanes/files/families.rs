//! The known periods of a family of subtraction sets: a file for each family.

use std::fmt;

use nimlanes::cores::mex::family::{Family, Findings, Repeating};
use serde::{Deserialize, Serialize};

use crate::files::saved::Measured;
use crate::files::surveyed::RunWork;

/// A family, as the options of the command name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamilyName {
    /// The largest move of each set.
    pub largest_move: u64,
    /// Other moves that every set has, ascending.
    pub with: Vec<u64>,
    /// Whether these are only the symmetric sets.
    pub symmetric: bool,
    /// The number of moves of each set, where only sets of so many are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number_of_moves: Option<u64>,
}

/// As files are named.
impl fmt::Display for FamilyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FamilyName { largest_move, with, symmetric, number_of_moves } = self;
        f.write_str(if *symmetric { "symmetric-" } else { "" })?;
        number_of_moves.map_or(Ok(()), |count| write!(f, "{count}-moves-"))?;
        write!(f, "largest-{largest_move}")?;
        with.iter().try_for_each(|m| write!(f, "-with-{m}"))
    }
}

/// The periods of the sets of a family, in figures. All are proved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Periods {
    /// The family.
    #[serde(flatten)]
    pub family: FamilyName,
    /// The number of sets.
    pub sets: u64,
    /// The longest period.
    pub longest_period: u64,
    /// The number of sets that have it.
    pub sets_with_longest_period: u64,
    /// The sum of the periods of all sets.
    pub sum_of_periods: u64,
    /// The number of different periods.
    pub distinct_periods: u64,
    /// The number of sets whose values are periodic from heap 0 on.
    pub purely_periodic: u64,
    /// The longest preperiod.
    pub longest_preperiod: u64,
    /// The largest Grundy value.
    pub largest_value: u64,
    /// Sets with the longest periods, longest first.
    pub longest_periods: Vec<RankedSet>,
    /// Sets with the longest preperiods, longest first.
    pub longest_preperiods: Vec<RankedSet>,
}

/// A set, and the repetition of its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankedSet {
    /// The number of the set in its family.
    pub set: u64,
    /// Its moves.
    pub moves: Vec<u64>,
    /// The length of the repetition.
    pub period: u64,
    /// The first heap from which it holds.
    pub preperiod: u64,
}

impl Periods {
    /// Of a family.
    pub fn of(named: &FamilyName, family: &Family, findings: &Findings) -> Self {
        let list = |found: &[Repeating]| {
            let named = |found: &Repeating| RankedSet {
                set: found.set,
                moves: family.moves(found.set),
                period: found.period,
                preperiod: found.preperiod,
            };
            found.iter().map(named).collect()
        };
        let longest_period = findings.longest_period();
        Periods {
            family: named.clone(),
            sets: findings.sets(),
            longest_period,
            sets_with_longest_period: findings.periods.last().map_or(0, |(_, sets)| *sets),
            // No run that ends comes near 2^53.
            sum_of_periods: u64::try_from(findings.sum_of_periods()).unwrap_or(u64::MAX),
            distinct_periods: findings.periods.len() as u64,
            purely_periodic: findings.pure,
            longest_preperiod: findings.longest_preperiod(),
            largest_value: findings.largest,
            longest_periods: list(&findings.longest_periods),
            longest_preperiods: list(&findings.longest_preperiods),
        }
    }
}

/// The known facts about a family: the content of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProvedFamily {
    /// The work that found it.
    #[serde(flatten)]
    pub effort: RunWork,
    /// How many sets its lists may have.
    pub top: usize,
    /// The findings.
    #[serde(flatten)]
    pub periods: Periods,
}

impl Measured for ProvedFamily {
    const KIND: &'static str = "set-family";
}
