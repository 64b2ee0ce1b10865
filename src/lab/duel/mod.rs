//! A duel times several kernels in turns on one input.
//!
//! Each round times every kernel once, alternately in list order and in reverse (A B C, C B A, ...), so that machine
//! drift affects all of them equally. Other work on the same core makes some turns slower, for some kernels more than
//! for others; nothing makes a turn faster. So turns that take over 10 % longer than the best turn of their kernel are
//! left out. The results are the median time, the ratio of the baseline's median time to it, and the range of the
//! middle 80 % of the ratios *in the same round*.
//!
//! One process is one layout: the addresses of its stack, tables and code may make a kernel faster or slower than in
//! the next process, and no number of rounds shows that. So the rounds of a duel can be spread over several processes
//! ([`play`]). A kernel that is slow in all turns of a process, and not by chance, has two modes; both are reported,
//! and ratios refer to the faster one. The range of the ratio over processes is reported beside the range over rounds.
//! A [`Player`] runs the kernels, in this process ([`Local`]) or in another.

use std::time::Duration;

use crate::cores::named::{NameError, available};
use crate::kernel::candidate::{Candidate, Obstacle};
use crate::kernel::case::Case;
use crate::kernel::session::Session;
use crate::kernel::{Claim, Run, RunError};
use crate::lab::clock::{Clock, shortest_turn};
use crate::lab::environment::BUILD;
use crate::units::span;

mod player;
mod rounds;

pub use player::{Checked, Local, Player};
pub use rounds::{MIN_ROUNDS, Played, play, repeats};

/// Default [`DuelOptions::time_limit`].
pub const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Which kernels take part in a duel, and for how long.
#[derive(Clone, Debug)]
pub struct DuelOptions {
    /// Names of the kernels; all kernels if empty.
    pub kernels: Vec<String>,
    /// The kernel that ratios refer to. If `None`, the first exact kernel within the time limit, or the first one if
    /// none is exact.
    pub baseline: Option<String>,
    /// Threads that a kernel may use.
    pub threads: usize,
    /// How long to measure.
    pub budget: Duration,
    /// Kernels predicted to take longer than this for one run are skipped, unless one is the named baseline or in
    /// [`Self::always_included`].
    pub time_limit: Duration,
    /// Names of kernels to which the time limit does not apply. They must still be able to process the input.
    pub always_included: Vec<String>,
}

/// Why a duel could not start, or ended without times.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DuelError {
    /// No available kernel has this name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The baseline cannot process the input.
    #[error("the baseline {name} cannot process this input: {obstacle}")]
    Baseline {
        /// The kernel.
        name: String,
        /// The cause.
        obstacle: Obstacle,
    },
    /// No kernel can serve as the baseline.
    #[error("no kernel can process this input within {} and the free memory; name a --baseline to wait for it", span(.0.as_nanos() as f64))]
    NoBaseline(Duration),
    /// Two kernels computed different outputs.
    #[error("outputs differ: {kernel} has {got}, {baseline} has {want}")]
    OutputsDiffer {
        /// The kernel.
        kernel: String,
        /// The kernel it was compared with.
        baseline: String,
        /// Digest of the kernel's output.
        got: String,
        /// Digest of the baseline's output.
        want: String,
    },
    /// The output differs from the known answer.
    #[error("{0}")]
    WrongAnswer(String),
    /// A player failed, such as another process.
    #[error("{0}")]
    Player(String),
    /// The run was stopped.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl DuelError {
    /// The error if the digests of the outputs of two kernels differ.
    fn outputs_differ([kernel, baseline]: [&str; 2], digests: [&[(String, u128)]; 2]) -> Self {
        let (got, want) = (format!("{:?}", digests[0]), format!("{:?}", digests[1]));
        DuelError::OutputsDiffer { kernel: kernel.to_owned(), baseline: baseline.to_owned(), got, want }
    }
}

/// The result of a duel, as printed and saved.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Duel {
    /// The input.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub case: Case,
    /// The target: `default` or `native`, or for WebAssembly `wasm32` or `simd128`.
    pub build: String,
    /// The kernel that ratios refer to.
    pub baseline: String,
    /// Number of processes that the rounds are spread over: 1 means that the times are of one layout in memory.
    #[cfg_attr(feature = "serde", serde(default = "one"))]
    pub processes: usize,
    /// Share of the turns that took over 10 % longer than the best of their kernel, and are left out: from 0 to 1.
    #[cfg_attr(feature = "serde", serde(default))]
    pub disturbed: f64,
    /// The kernels that took part, fastest first.
    pub rows: Vec<Row>,
    /// The kernels that did not take part.
    pub skipped: Vec<Skipped>,
}

impl Duel {
    /// Says, in words, how many layouts in memory the times cover.
    pub fn layouts(&self) -> String {
        match self.processes {
            1 => "one process, so one layout".to_owned(),
            processes => format!("{processes} processes"),
        }
    }
}

/// Files written before duels had several processes do not state a number of processes.
#[cfg(feature = "serde")]
fn one() -> usize {
    1
}

/// Files written before there were observed kernels do not state a claim.
#[cfg(feature = "serde")]
fn exact() -> String {
    Claim::Exact.name().to_owned()
}

/// One kernel's times. If the kernel has two modes, the times are those of the faster one.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Row {
    /// The kernel.
    pub kernel: String,
    /// The kernel's tier.
    pub tier: String,
    /// `exact` or `observed`: whether its answers are proved.
    #[cfg_attr(feature = "serde", serde(default = "exact"))]
    pub claim: String,
    /// `thread` or `wall`: one clock for all rows.
    pub clock: String,
    /// Threads it was allowed to use.
    pub threads: usize,
    /// Number of rounds.
    pub rounds: usize,
    /// Median time of a run.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::lab::numbers::positive"))]
    pub median_seconds: f64,
    /// The baseline's median time divided by this kernel's.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::lab::numbers::positive"))]
    pub ratio: f64,
    /// 10th percentile of the ratio over the rounds.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::lab::numbers::positive"))]
    pub ratio_low: f64,
    /// 90th percentile of the ratio over the rounds.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::lab::numbers::positive"))]
    pub ratio_high: f64,
    /// The smallest and the largest ratio in a process, of best times, if there are several processes.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub ratio_processes: Option<[f64; 2]>,
    /// The slower mode of a kernel that is fast in some processes and slow in others.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub slow_mode: Option<Mode>,
    /// Units of work per second.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::lab::numbers::positive_or_zero"))]
    pub throughput: f64,
    /// The unit of work.
    pub unit: String,
}

impl Row {
    /// Whether the kernel's answers are proved.
    pub fn is_exact(&self) -> bool {
        self.claim == Claim::Exact.name()
    }

    /// The bounds of the ratio: the middle 80 % of the rounds, and all processes.
    pub fn bounds(&self) -> [f64; 2] {
        let [low, high] = self.ratio_processes.unwrap_or([self.ratio; 2]);
        [self.ratio_low.min(low), self.ratio_high.max(high)]
    }

    /// How many times as fast the kernel is as another of its duel, between the bounds of this.
    pub fn ratio_to(&self, other: &Row) -> [f64; 3] {
        if self.kernel == other.kernel {
            return [1.0; 3];
        }
        let ([low, high], [least, most]) = (self.bounds(), other.bounds());
        [low / most, self.ratio / other.ratio, high / least]
    }

    /// Half the range of the ratio over the rounds, in percent of it.
    pub fn spread(&self) -> f64 {
        50.0 * (self.ratio_high - self.ratio_low) / self.ratio
    }
}

/// Whether a ratio that was measured within these bounds is a tie.
pub fn is_tie([low, high]: [f64; 2]) -> bool {
    low <= 1.0 && 1.0 <= high
}

/// A speed of a kernel that is fast in some processes and slow in others.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mode {
    /// Median time of a run.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "crate::lab::numbers::positive"))]
    pub median_seconds: f64,
    /// Number of processes in this mode.
    pub processes: usize,
}

/// A kernel that did not take part, and why.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Skipped {
    /// The kernel.
    pub kernel: String,
    /// The reason.
    pub reason: String,
    /// The predicted time of a run, if that is the reason.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub predicted_seconds: Option<f64>,
}

impl Skipped {
    /// A kernel that `obstacle` keeps from running.
    pub fn new(kernel: &str, obstacle: &Obstacle) -> Self {
        let predicted_seconds = match obstacle {
            Obstacle::TooSlow { ns } => Some(ns / 1e9),
            _ => None,
        };
        Skipped { kernel: kernel.to_owned(), reason: obstacle.to_string(), predicted_seconds }
    }
}

/// A kernel that takes part in a duel.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// The kernel.
    pub kernel: String,
    /// The kernel's index in the operation's list.
    pub index: usize,
    /// The kernel's tier.
    pub tier: String,
    /// Whether the kernel's answers are proved.
    pub claim: Claim,
    /// Threads that the kernel may use.
    pub threads: usize,
}

/// The kernels that take part in a duel.
#[derive(Clone, Debug, PartialEq)]
pub struct Lineup {
    /// The input.
    pub case: Case,
    /// The unit of work.
    pub unit: &'static str,
    /// The clock for all kernels.
    pub clock: Clock,
    /// The kernels that take part, baseline first.
    pub contenders: Vec<Contender>,
    /// The kernels that do not take part.
    pub skipped: Vec<Skipped>,
}

impl Lineup {
    /// Determines who takes part in a duel on the input of a session.
    ///
    /// # Errors
    /// A kernel name is unknown, or the baseline cannot run.
    pub fn new(session: &dyn Session, options: &DuelOptions) -> Result<Self, DuelError> {
        let listed = session.kernels();
        let unbounded = session.candidates(options.threads, Duration::MAX);
        let mut candidates = session.candidates(options.threads, options.time_limit);
        for (kernel, candidate) in candidates.iter_mut().enumerate() {
            if options.always_included.iter().any(|name| name == candidate.name) {
                *candidate = unbounded[kernel].clone();
            }
        }
        let mut here = Vec::new();
        for (kernel, listed) in listed.iter().enumerate() {
            if listed.obstacle.is_none() {
                here.push(kernel);
            }
        }
        let index = |name: &String| available(session.operation(), listed, name);
        let mut wanted = Vec::new();
        for name in &options.kernels {
            wanted.push(index(name)?);
        }
        if wanted.is_empty() {
            wanted.clone_from(&here);
        }
        let baseline = match &options.baseline {
            Some(name) => index(name)?,
            None => first_able(&candidates, &wanted).ok_or(DuelError::NoBaseline(options.time_limit))?,
        };
        if let Some(obstacle) = unbounded[baseline].obstacle.clone() {
            return Err(DuelError::Baseline { name: listed[baseline].name.to_owned(), obstacle });
        }
        let mut fit = vec![baseline];
        let mut skipped = Vec::new();
        for kernel in wanted {
            match &candidates[kernel].obstacle {
                _ if fit.contains(&kernel) => {}
                None => fit.push(kernel),
                Some(obstacle) => skipped.push(Skipped::new(listed[kernel].name, obstacle)),
            }
        }
        let mut contenders = Vec::new();
        let mut are_parallel = false;
        for index in fit {
            let kernel = &listed[index];
            let is_parallel = options.threads > 1 && kernel.is_parallel();
            are_parallel |= is_parallel;
            contenders.push(Contender {
                kernel: kernel.name.to_owned(),
                index,
                tier: kernel.tier.name().to_owned(),
                claim: kernel.claim,
                threads: if is_parallel { options.threads } else { 1 },
            });
        }
        let clock = Clock::for_runs(are_parallel);
        Ok(Lineup { case: session.case().clone(), unit: session.unit(), clock, contenders, skipped })
    }

    /// The names of the kernels that take part.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for contender in &self.contenders {
            names.push(contender.kernel.clone());
        }
        names
    }

    /// The result of the duel, where `place` maps the number of each kernel that takes part to its place in `played`.
    pub fn duel(&self, played: &Played, place: impl Fn(usize) -> usize) -> Duel {
        let mut rows = Vec::new();
        for (number, contender) in self.contenders.iter().enumerate() {
            insert(&mut rows, self.row(contender, played, place(0), place(number)));
        }
        Duel {
            case: self.case.clone(),
            build: BUILD.to_owned(),
            baseline: self.contenders[0].kernel.clone(),
            processes: played.processes,
            disturbed: played.disturbed(),
            rows,
            skipped: self.skipped.clone(),
        }
    }

    /// The rows of `contenders`, fastest first. Each comes with its place in `played`, and `baseline` is the place of
    /// the baseline.
    pub fn rows<'c>(
        &self,
        contenders: impl Iterator<Item = (usize, &'c Contender)>,
        played: &Played,
        baseline: usize,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        for (place, contender) in contenders {
            insert(&mut rows, self.row(contender, played, baseline, place));
        }
        rows
    }

    /// The row of a kernel from the times at `place`, with ratios to the times at `baseline`.
    pub fn row(&self, contender: &Contender, played: &Played, baseline: usize, place: usize) -> Row {
        let median_seconds = played.median_seconds(place);
        let [ratio_low, ratio, ratio_high] = played.ratios(baseline, place);
        Row {
            kernel: contender.kernel.clone(),
            tier: contender.tier.clone(),
            claim: contender.claim.name().to_owned(),
            clock: self.clock.name().to_owned(),
            threads: contender.threads,
            rounds: played.rounds(),
            median_seconds,
            ratio,
            ratio_low,
            ratio_high,
            ratio_processes: played.ratios_of_processes(baseline, place),
            slow_mode: played.slow_mode(place),
            throughput: played.work as f64 / median_seconds,
            unit: self.unit.to_owned(),
        }
    }
}

/// The first of the `wanted` kernels that is able: an exact one, unless only observed ones are.
fn first_able(candidates: &[Candidate], wanted: &[usize]) -> Option<usize> {
    let mut first = None;
    for kernel in wanted {
        if candidates[*kernel].is_able() {
            if candidates[*kernel].is_exact() {
                return Some(*kernel);
            }
            first = first.or(Some(*kernel));
        }
    }
    first
}

/// Adds a row after those that are as fast.
fn insert(rows: &mut Vec<Row>, row: Row) {
    let place = rows.partition_point(|other| other.median_seconds.total_cmp(&row.median_seconds).is_le());
    rows.insert(place, row);
}

/// Runs a duel in this process: checks that all outputs agree, then times the kernels in turns until the budget is spent.
///
/// `watch` receives the progress, from 0 to 1.
///
/// # Errors
/// A kernel name is unknown, the baseline cannot run, outputs differ or are wrong, or a run was stopped.
pub fn run_duel(
    session: &dyn Session,
    options: &DuelOptions,
    run: &Run,
    watch: &mut dyn FnMut(f64),
) -> Result<Duel, DuelError> {
    let lineup = Lineup::new(session, options)?;
    let mut kernels = Vec::new();
    for contender in &lineup.contenders {
        kernels.push(contender.index);
    }
    let shortest = shortest_turn(options.budget, kernels.len());
    let mut open = |_| Ok(Local::new(session, kernels.clone(), lineup.clock, shortest, run));
    let played = play(&lineup.case, &lineup.names(), 1, options.budget, &mut open, &mut |_| false, watch)?;
    Ok(lineup.duel(&played, |number| number))
}

/// The name of a kernel without that of its tier, which kernels of the same technique share.
pub fn family<'k>(kernel: &'k str, tier: &str) -> &'k str {
    kernel.strip_suffix(tier).and_then(|name| name.strip_suffix('_')).unwrap_or(kernel)
}

/// The 10th, 50th and 90th percentile of the ratios of the baseline's times to a kernel's, round by round.
pub fn ratios(baseline: &[f64], times: &[f64]) -> [f64; 3] {
    let mut ratios = Vec::new();
    for (baseline, time) in baseline.iter().zip(times) {
        ratios.push(baseline / time);
    }
    [quantile(&mut ratios, 0.1), quantile(&mut ratios, 0.5), quantile(&mut ratios, 0.9)]
}

/// Sorts `values` and returns their `q`-quantile, with `q` from 0 to 1, interpolated linearly; NaN if there are no
/// values.
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    values.sort_unstable_by(f64::total_cmp);
    let at = q.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (values[at.floor() as usize], values[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let mut values = [3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!([0.0, 0.5, 1.0].map(|q| quantile(&mut values, q)), [1.0, 3.0, 5.0]);
        assert!((quantile(&mut values, 0.1) - 1.4).abs() < 1e-12);
        assert_eq!(quantile(&mut [7.0], 0.9), 7.0);
        assert!(quantile(&mut [], 0.5).is_nan());
    }
}
