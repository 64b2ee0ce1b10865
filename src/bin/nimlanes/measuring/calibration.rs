//! How far a duel can be trusted on a machine: what duels of a build with itself show, where nothing differs, and where one side is
//! made slower by a known share.

use std::path::Path;

use nimlanes::kernel::case::Case;
use nimlanes::lab::environment::Environment;
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

/// With fewer duels of a length and a delay, nothing is concluded.
const FEWEST: usize = 20;

/// The share of the duels with a delay that must find it.
const POWER: f64 = 0.95;

/// What the columns of the table are.
pub const COLUMNS: &str = "\
kernels: ratios of median times, as between kernels of a build; builds: ratios of turns, as between two builds
over 5 %, 99 of 100 within: how far these ratios are from 1 without a delay; what 99 of 100 keep to is not told apart
interval wrong: duels without a delay whose interval does not hold 1
false alarms, finds: duels that show a difference between builds, by ratio and interval, without and with a delay
95 of 100 find: the least delay that so many find, of at least 20 duels";

/// Duels of a build with itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Time of the side without the delay / time of the other, as for two builds: from pairs of turns.
    pub ratio: f64,
    /// The interval of this ratio.
    pub interval: [f64; 2],
    /// The same ratio as for two kernels of a build: of median times, each over the turns of one side that are not left out.
    pub ratio_of_medians: f64,
}

/// What a ratio shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Slower,
    Faster,
    Tie,
}

impl Shown {
    /// What the time is that the ratio has above.
    pub fn word(self) -> &'static str {
        match self {
            Shown::Slower => "slower",
            Shown::Faster => "faster",
            Shown::Tie => "tie",
        }
    }
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

    /// What a ratio with this interval shows: a difference, if it is larger than those that are not told apart, and the interval does
    /// not hold 1.
    pub fn judge(self, ratio: f64, [low, high]: [f64; 2]) -> Shown {
        match ratio {
            _ if low > 1.0 && ratio > 1.0 + self.up_to => Shown::Slower,
            _ if high < 1.0 && ratio * (1.0 + self.up_to) < 1.0 => Shown::Faster,
            _ => Shown::Tie,
        }
    }
}

/// What a ratio is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Two kernels of a build.
    Kernels,
    /// A kernel in two builds.
    Builds,
}

impl Trial {
    /// How far the ratio is from 1, either way.
    fn off(&self, of: Of) -> f64 {
        let ratio = match of {
            Of::Kernels => self.ratio_of_medians,
            Of::Builds => self.ratio,
        };
        ratio.max(1.0 / ratio) - 1.0
    }

    fn length(&self) -> usize {
        length(self.run_seconds)
    }
}

fn length(run_seconds: f64) -> usize {
    LENGTHS.iter().position(|(_, end)| run_seconds < *end).unwrap_or(LENGTHS.len() - 1)
}

fn percent(known: Option<f64>) -> String {
    known.map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
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
    pub fn tie(&self, of: Of, run_seconds: impl IntoIterator<Item = f64>) -> Tie {
        let known = run_seconds.into_iter().map(|seconds| self.tie_of(of, length(seconds)));
        let widest = known.reduce(|one, other| Some(one?.max(other?))).flatten();
        widest.map_or(Tie::STATED, |up_to| Tie { up_to, is_calibrated: true })
    }

    /// The difference that only one in a hundred duels without a delay exceeded; of a few duels, none did.
    fn tie_of(&self, of: Of, length: usize) -> Option<f64> {
        let mut off: Vec<f64> = self.of(length, 0.0).map(|trial| trial.off(of)).collect();
        (off.len() >= FEWEST).then(|| quantile(&mut off, CONFIDENCE))
    }

    fn of(&self, length: usize, delay: f64) -> impl Iterator<Item = &Trial> {
        self.trials.iter().filter(move |trial| trial.length() == length && trial.delay == delay)
    }

    /// The rows of a table, the first of them its heading: one for each length of a run that has duels.
    pub fn lines(&self) -> Vec<Vec<String>> {
        let share = |trials: &[&Trial], holds: &dyn Fn(&Trial) -> bool| match trials.len() {
            0 => "–".to_owned(),
            all => format!("{} of {all}", trials.iter().filter(|trial| holds(trial)).count()),
        };
        let heads = [
            "a run takes",
            "kernels: over 5 %",
            "99 of 100 within",
            "builds: over 5 %",
            "interval wrong",
            "99 of 100 within",
            "false alarms",
        ];
        let found = self.delays().into_iter().map(|delay| format!("finds {:.0} %", 100.0 * delay));
        let heads = heads.map(str::to_owned).into_iter().chain(found).chain(["95 of 100 find".to_owned()]);
        let mut lines = vec![heads.collect()];
        for (length, (name, _)) in LENGTHS.iter().enumerate() {
            let equal: Vec<&Trial> = self.of(length, 0.0).collect();
            if equal.is_empty() {
                continue;
            }
            let [of_kernels, of_builds] = [Of::Kernels, Of::Builds].map(|of| percent(self.tie_of(of, length)));
            let mut row = vec![
                (*name).to_owned(),
                share(&equal, &|trial| trial.off(Of::Kernels) > TIE),
                of_kernels,
                share(&equal, &|trial| trial.off(Of::Builds) > TIE),
                share(&equal, &|trial| !(trial.interval[0]..=trial.interval[1]).contains(&1.0)),
                of_builds,
                share(&equal, &|trial| self.judge(trial) != Shown::Tie),
            ];
            let slowed = |delay: f64| self.of(length, delay).collect::<Vec<_>>();
            row.extend(self.delays().into_iter().map(|delay| share(&slowed(delay), &|trial| self.finds(trial))));
            row.push(percent(self.found(length)));
            lines.push(row);
        }
        lines
    }

    /// What a duel shows between builds, by what is not told apart here.
    fn judge(&self, trial: &Trial) -> Shown {
        self.tie(Of::Builds, [trial.run_seconds]).judge(trial.ratio, trial.interval)
    }

    fn finds(&self, trial: &Trial) -> bool {
        self.judge(trial) == Shown::Faster
    }

    /// The least delay that enough of the duels find.
    fn found(&self, length: usize) -> Option<f64> {
        self.delays().into_iter().find(|delay| {
            let trials: Vec<&Trial> = self.of(length, *delay).collect();
            let count = trials.iter().filter(|trial| self.finds(trial)).count();
            trials.len() >= FEWEST && count as f64 >= POWER * trials.len() as f64
        })
    }

    /// What follows for each length of a run, in words.
    pub fn says(&self) -> Vec<String> {
        let of_length = |(length, (name, _)): (usize, &(&str, f64))| {
            let within = self.tie_of(Of::Builds, length)?;
            let found = match self.found(length) {
                Some(delay) => format!("a delay of {} is found", percent(Some(delay))),
                None => "no delay that was tried is found in 95 of 100".to_owned(),
            };
            Some(format!("{name} a run: equal builds differ by less than {}, {found}", percent(Some(within))))
        };
        LENGTHS.iter().enumerate().filter_map(of_length).collect()
    }

    /// What was played, the table, and what its columns are.
    pub fn text(&self) -> String {
        let lines = self.lines();
        format!("{}\n\n{}\n{}\n", self.played(), headed(lines[0].clone(), lines[1..].iter().cloned()), COLUMNS)
    }

    /// The number of duels, and what they were.
    pub fn played(&self) -> String {
        let Calibration { seconds, processes, trials } = self;
        format!("{} duels of this build with itself, {seconds} s each, in {processes} processes", trials.len())
    }

    /// The delays, from the smallest, without none.
    fn delays(&self) -> Vec<f64> {
        DELAYS.into_iter().filter(|delay| *delay > 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Duels of runs of this length, with these ratios of either kind.
    fn trials(run_seconds: f64, delay: f64, ratios: impl Iterator<Item = f64>) -> Vec<Trial> {
        let trial = |ratio: f64| Trial {
            case: Case::new("mex_subtraction", "squares", 100),
            kernel: "flags".to_owned(),
            delay,
            run_seconds,
            rounds: 20,
            ratio,
            interval: [ratio / 1.01, ratio * 1.01],
            ratio_of_medians: ratio.powi(3),
        };
        ratios.map(trial).collect()
    }

    #[test]
    fn what_is_not_told_apart_is_what_duels_without_a_difference_show() {
        let near = |n: u32| 1.0 + 0.001 * f64::from(n % 11);
        let equal = trials(5e-5, 0.0, (0..55).map(|n| if n % 2 == 0 { near(n) } else { 1.0 / near(n) }));
        let slowed = trials(5e-5, 0.05, (0..20).map(|_| 1.0 / 1.05));
        let few = trials(1.0, 0.0, (0..19).map(|_| 1.5));
        let calibration = Calibration { seconds: 1.0, processes: 5, trials: [equal, slowed, few].concat() };
        let [kernels, builds] = [Of::Kernels, Of::Builds].map(|of| calibration.tie(of, [5e-5, 2e-5]));
        assert!(builds.is_calibrated && (builds.up_to - 0.01).abs() < 1e-9, "{builds:?}");
        assert!((kernels.up_to - 0.0303).abs() < 1e-4, "{kernels:?}");
        assert_eq!(builds.says(), "differences under 1.0 % are not told apart here");
        assert_eq!(calibration.tie(Of::Builds, [5e-5, 1.0]), Tie::STATED, "19 duels are too few");
        let text = calibration.text();
        let row = |name: &str| text.lines().find(|line| line.starts_with(name)).expect("a row").to_owned();
        let cells: Vec<String> = row("under 0.1 ms").split("  ").map(|cell| cell.trim().to_owned()).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
        let want = [
            "under 0.1 ms",
            "0 of 55",
            "3.0 %",
            "0 of 55",
            "0 of 55",
            "1.0 %",
            "0 of 55",
            "–",
            "–",
            "20 of 20",
            "5.0 %",
        ];
        assert_eq!(cells, want);
        assert!(row("over 2 ms").contains("19 of 19"), "{text}");
    }

    #[test]
    fn a_difference_is_beyond_the_tie_and_its_interval() {
        let tie = Tie { up_to: 0.02, is_calibrated: true };
        for (ratio, interval, shown) in [
            (1.03, [1.01, 1.05], Shown::Slower),
            (0.97, [0.95, 0.99], Shown::Faster),
            (1.03, [0.99, 1.05], Shown::Tie),
            (0.97, [0.95, 1.01], Shown::Tie),
            (1.015, [1.01, 1.02], Shown::Tie),
            (0.985, [0.98, 0.99], Shown::Tie),
        ] {
            assert_eq!(tie.judge(ratio, interval), shown, "{ratio}");
        }
    }
}
