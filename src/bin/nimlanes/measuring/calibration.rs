//! How far a duel can be trusted on a machine: what duels of a build with itself show, where nothing differs, and where one side is
//! made slower by a known share.

use std::path::Path;

use nimlanes::kernel::case::Case;
use nimlanes::lab::environment::Environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::duel::interval::CONFIDENCE;
use super::duel::{TIE, quantile};
use crate::files::saved::{Measured, Saved, SavedError};
use crate::terminal::output::headed;

/// Where `calibrate` keeps what it finds, and `compare` looks for it.
pub const FILE: &str = "target/calibration.json";

/// By how much one side is made slower, one round of duels after the other. Most duels are without: false alarms should be rare,
/// so it takes many duels to count them.
pub const DELAYS: [f64; 6] = [0.0, 0.01, 0.0, 0.02, 0.0, 0.05];

/// Lengths of a run that are told apart, with the seconds at which each ends.
const LENGTHS: [(&str, f64); 3] = [("under 0.1 ms", 1e-4), ("0.1 to 2 ms", 2e-3), ("over 2 ms", f64::INFINITY)];

/// With fewer duels without a delay, nothing is said of false alarms.
const FEWEST: usize = 20;

/// The share of the duels with a delay that must find it.
const POWER: f64 = 0.95;

/// Duels of a build with itself.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Calibration {
    /// The time of a duel, in seconds.
    pub seconds: f64,
    /// The processes that a duel is spread over.
    pub processes: usize,
    /// The duels.
    pub trials: Vec<Trial>,
}

impl Measured for Calibration {
    const KIND: &'static str = "calibration";
}

/// A duel of a kernel with itself.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Trial {
    /// The input.
    #[serde(flatten)]
    pub case: Case,
    /// The kernel.
    pub kernel: String,
    /// By how much one side was made slower, as a share of its time.
    pub delay: f64,
    /// Median time of a run without the delay.
    pub run_seconds: f64,
    /// Number of rounds.
    pub rounds: usize,
    /// Time of the side without the delay / time of the other.
    pub ratio: f64,
    /// The interval of this ratio, as `compare` prints it.
    pub interval: [f64; 2],
}

/// What a ratio shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Slower,
    Faster,
    Tie,
}

/// Differences that are not told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie {
    /// The largest, as a share.
    pub up_to: f64,
    /// Whether that was observed on this machine.
    pub is_calibrated: bool,
}

impl Tie {
    /// Without a calibration.
    pub const STATED: Tie = Tie { up_to: TIE, is_calibrated: false };

    /// In words.
    pub fn says(self) -> String {
        let percent = 100.0 * self.up_to;
        if self.is_calibrated {
            format!("differences under {percent:.1} % are not told apart here")
        } else {
            format!("under {percent:.0} % is a tie")
        }
    }

    /// What a ratio with this interval shows: a difference, if it is larger than what is not told apart, and the interval does not hold 1.
    pub fn judge(self, ratio: f64, [low, high]: [f64; 2]) -> Shown {
        match ratio {
            _ if low > 1.0 && ratio > 1.0 + self.up_to => Shown::Slower,
            _ if high < 1.0 && ratio * (1.0 + self.up_to) < 1.0 => Shown::Faster,
            _ => Shown::Tie,
        }
    }
}

impl Trial {
    /// How far the ratio is from 1, either way.
    fn off(&self) -> f64 {
        self.ratio.max(1.0 / self.ratio) - 1.0
    }

    fn length(&self) -> usize {
        length(self.run_seconds)
    }
}

fn length(run_seconds: f64) -> usize {
    LENGTHS.iter().position(|(_, end)| run_seconds < *end).unwrap_or(LENGTHS.len() - 1)
}

impl Calibration {
    /// The calibration in [`FILE`], if it is of this machine and build.
    ///
    /// # Errors
    /// The file cannot be read, or is something else.
    pub fn here(environment: &Environment) -> Result<Option<Self>, SavedError> {
        let path = Path::new(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let saved = Saved::<Calibration>::read(path)?;
        Ok(saved.fits(environment).is_ok().then_some(saved.content))
    }

    /// What is not told apart in a duel of runs that take these times.
    pub fn tie(&self, run_seconds: impl IntoIterator<Item = f64>) -> Tie {
        let known = run_seconds.into_iter().map(|seconds| self.tie_of(length(seconds)));
        let widest = known.reduce(|one, other| Some(one?.max(other?))).flatten();
        widest.map_or(Tie::STATED, |up_to| Tie { up_to, is_calibrated: true })
    }

    /// The difference that only one in a hundred duels without a delay exceeded; of a few duels, none did.
    fn tie_of(&self, length: usize) -> Option<f64> {
        let mut off: Vec<f64> = self.of(length, 0.0).map(Trial::off).collect();
        (off.len() >= FEWEST).then(|| quantile(&mut off, CONFIDENCE))
    }

    fn of(&self, length: usize, delay: f64) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(move |trial| trial.length() == length && trial.delay == delay)
    }

    /// A row for each length of a run.
    pub fn text(&self) -> String {
        let share = |trials: &[&Trial], holds: &dyn Fn(&Trial) -> bool| match trials.len() {
            0 => "–".to_owned(),
            all => format!("{} of {all}", trials.iter().filter(|trial| holds(trial)).count()),
        };
        let delays = self.delays();
        let rows = LENGTHS.iter().enumerate().map(|(length, (name, _))| {
            let equal: Vec<&Trial> = self.of(length, 0.0).collect();
            let tie = self.tie_of(length);
            let judged = tie.map_or(Tie::STATED, |up_to| Tie { up_to, is_calibrated: true });
            let found = |trial: &Trial| judged.judge(trial.ratio, trial.interval) == Shown::Faster;
            let mut row = vec![
                (*name).to_owned(),
                share(&equal, &|trial| trial.off() > TIE),
                share(&equal, &|trial| !(trial.interval[0]..=trial.interval[1]).contains(&1.0)),
                tie.map_or("–".to_owned(), |tie| format!("{:.1} %", 100.0 * tie)),
                share(&equal, &|trial| judged.judge(trial.ratio, trial.interval) != Shown::Tie),
            ];
            let slowed: Vec<Vec<&Trial>> = delays.iter().map(|delay| self.of(length, *delay).collect()).collect();
            row.extend(slowed.iter().map(|trials| share(trials, &found)));
            let is_found = |trials: &[&Trial]| {
                let count = trials.iter().filter(|trial| found(trial)).count();
                trials.len() >= FEWEST && count as f64 >= POWER * trials.len() as f64
            };
            let least = delays.iter().zip(&slowed).find(|(_, trials)| is_found(trials));
            row.push(least.map_or("–".to_owned(), |(delay, _)| format!("{:.0} %", 100.0 * delay)));
            row
        });
        let heads = ["a run takes", "over 5 %", "interval wrong", "not told apart", "false alarms"].map(str::to_owned);
        let found = delays.iter().map(|delay| format!("finds {:.0} %", 100.0 * delay));
        let heads = heads.into_iter().chain(found).chain(["95 of 100".to_owned()]);
        format!(
            "{} duels of this build with itself, {} s each, in {} processes\n\n{}\n\
             over 5 %, interval wrong, false alarms: duels without a delay that show a difference, by the ratio alone, by its interval\n\
             alone, and by both with what is not told apart: the difference that one such duel in a hundred exceeds, by definition\n\
             finds: duels with this delay on one side that show it; 95 of 100: the least delay that at least {FEWEST} duels find so often\n",
            self.trials.len(),
            self.seconds,
            self.processes,
            headed(heads, rows),
        )
    }

    /// The delays, from the smallest, without none.
    fn delays(&self) -> Vec<f64> {
        DELAYS.into_iter().filter(|delay| *delay > 0.0).collect()
    }
}
