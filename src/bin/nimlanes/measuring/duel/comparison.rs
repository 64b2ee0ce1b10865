//! What a duel shows: the kernels of this build, and those of the same names in others.

use serde::{Deserialize, Serialize};

use super::interval::interval;
use super::{Duel, Played, Row, Verdict};
use crate::files::saved::Measured;
use crate::measuring::builds::protocol::{Identity, Listed};

/// Kernels in one build or in several, timed in turns on one input. Where no other build took part, it is written as its [`Duel`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The kernels of this build.
    #[serde(flatten)]
    pub duel: Duel,
    /// Other builds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<ComparedBuild>,
}

impl Measured for Comparison {
    const KIND: &'static str = Duel::KIND;
}

/// Another build and what it did in a duel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedBuild {
    /// A short name.
    pub name: String,
    /// The program.
    pub path: String,
    /// What it states that it is.
    #[serde(flatten)]
    pub identity: Identity,
    /// Its kernels, in the order of the turns.
    pub rows: Vec<ComparedKernel>,
    /// Kernels that took part only in this build, with what keeps them from running in the other.
    pub only_here: Vec<Listed>,
    /// Kernels that only the other build has.
    pub only_there: Vec<String>,
}

/// A kernel in another build. The ratio of its row refers to the baseline of this build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedKernel {
    #[serde(flatten)]
    pub row: Row,
    pub this_over_other: Quotient,
}

/// The time of a kernel in this build divided by its time in another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quotient {
    /// The ratio, from pairs of turns in the same round.
    pub ratio: f64,
    /// What the rounds and processes tell of it: its 99 % interval.
    pub interval: [f64; 2],
    /// 10th percentile over the rounds.
    pub low: f64,
    /// 90th percentile over the rounds.
    pub high: f64,
    /// The smallest and the largest ratio of the best times in a process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<[f64; 2]>,
}

impl Quotient {
    /// Of the contenders at these places.
    pub fn new(played: &Played, this: usize, other: usize) -> Self {
        let [least, ratio, most] = interval(&played.ratios_by_process(this, other));
        let [low, _, high] = played.ratios(this, other);
        let (low, high) = (low.min(ratio), high.max(ratio));
        Quotient { ratio, interval: [least, most], low, high, processes: played.ratios_of_processes(this, other) }
    }

    /// Whether this build is slower or faster.
    pub fn verdict(&self) -> Verdict {
        Verdict::on(self.ratio, self.interval)
    }
}
