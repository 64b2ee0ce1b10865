//! The result of a duel: the kernels of this build, and those of the same names in others.

use serde::{Deserialize, Serialize};

use super::interval::interval;
use super::{Duel, Played, Row, is_tie};
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
    const KIND: &'static str = "duel";
}

/// Another build and what it did in a duel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedBuild {
    /// A short name.
    pub name: String,
    /// The program.
    pub path: String,
    /// Its stated identity.
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
    /// Its 99 % interval, from the rounds and processes.
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

    /// Whether this build is `slower` or `faster`, or a `tie`.
    pub fn verdict(&self) -> &'static str {
        match self.ratio {
            _ if is_tie(self.interval) => "tie",
            ratio if ratio > 1.0 => "slower",
            _ => "faster",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_beyond_its_interval() {
        for (ratio, interval, verdict) in [
            (1.07, [1.01, 1.09], "slower"),
            (0.93, [0.91, 0.99], "faster"),
            (1.07, [0.99, 1.09], "tie"),
            (0.93, [0.91, 1.01], "tie"),
            (1.04, [1.01, 1.07], "slower"),
            (0.96, [0.93, 0.99], "faster"),
        ] {
            let quotient = Quotient { ratio, interval, low: ratio, high: ratio, processes: None };
            assert_eq!(quotient.verdict(), verdict, "{ratio}");
        }
    }
}
