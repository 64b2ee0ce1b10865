//! A duel times several kernels in turns on one input, in one process.
//!
//! Each round times every kernel once, alternately in list order and in reverse (A B C, C B A, ...), so that machine drift
//! affects all of them equally. A ratio is the baseline's time divided by the kernel's *in the same round*. Reported are the
//! median over the rounds and the range of the middle 80 % of them. Differences under 5 % are ties.

use std::time::{Duration, Instant};

use crate::candidate::{Candidate, Obstacle};
use crate::case::Case;
use crate::kernel::{Run, RunError};
use crate::lab::clock::Clock;
use crate::lab::known;
use crate::names::hint;
use crate::session::{Answer, Session};
use crate::units::span;

/// Default [`DuelOptions::time_limit`].
pub const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Minimum number of rounds, even if they exceed the budget.
pub const MIN_ROUNDS: usize = 3;

/// Maximum number of rounds: more would add no information.
const MAX_ROUNDS: usize = 200;

/// Minimum duration of a kernel's turn: shorter runs are repeated within it.
pub const MIN_TURN: Duration = Duration::from_millis(5);

/// Which kernels take part in a duel, and for how long.
#[derive(Clone, Debug)]
pub struct DuelOptions {
    /// Names of the kernels; all kernels if empty.
    pub kernels: Vec<String>,
    /// The kernel that ratios refer to; if `None`, the first one within the time limit.
    pub baseline: Option<String>,
    /// Threads that a kernel may use.
    pub threads: usize,
    /// How long to measure.
    pub budget: Duration,
    /// Kernels predicted to take longer than this for one run are skipped, unless one is the named baseline or in
    /// [`Self::always_included`].
    pub time_limit: Duration,
    /// Names of kernels that the time limit does not apply to. They must still be able to process the input.
    pub always_included: Vec<String>,
}

/// Why a duel could not start, or ended without times.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DuelError {
    /// No available kernel has this name.
    #[error("unknown kernel `{name}` of {operation}, or not available here{}", hint(.name, .available.iter().copied()))]
    UnknownKernel {
        /// The operation.
        operation: &'static str,
        /// The requested name.
        name: String,
        /// The kernels that can run here.
        available: Vec<&'static str>,
    },
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
        kernel: &'static str,
        /// The baseline.
        baseline: &'static str,
        /// Digest of the kernel's output.
        got: String,
        /// Digest of the baseline's output.
        want: String,
    },
    /// The output differs from the known answer.
    #[error("{0}")]
    WrongAnswer(String),
    /// The run was stopped.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The result of a duel, as printed and saved.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "cli", derive(serde::Serialize, serde::Deserialize))]
pub struct Duel {
    /// The input.
    #[cfg_attr(feature = "cli", serde(flatten))]
    pub case: Case,
    /// `default` or `native`.
    pub build: String,
    /// The kernel that ratios refer to.
    pub baseline: String,
    /// The kernels that took part, fastest first.
    pub rows: Vec<Row>,
    /// The kernels that did not take part.
    pub skipped: Vec<Skipped>,
}

/// One kernel's times.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "cli", derive(serde::Serialize, serde::Deserialize))]
pub struct Row {
    /// The kernel.
    pub kernel: String,
    /// Its tier.
    pub tier: String,
    /// `thread` or `wall`: one clock for all rows.
    pub clock: String,
    /// Threads it was allowed to use.
    pub threads: usize,
    /// Number of rounds.
    pub rounds: usize,
    /// Median time of a run.
    #[cfg_attr(feature = "cli", serde(deserialize_with = "super::numbers::positive"))]
    pub median_seconds: f64,
    /// The baseline's time divided by this kernel's, median over the rounds.
    #[cfg_attr(feature = "cli", serde(deserialize_with = "super::numbers::positive"))]
    pub ratio: f64,
    /// 10th percentile of the ratio over the rounds.
    #[cfg_attr(feature = "cli", serde(deserialize_with = "super::numbers::positive"))]
    pub ratio_low: f64,
    /// 90th percentile of the ratio over the rounds.
    #[cfg_attr(feature = "cli", serde(deserialize_with = "super::numbers::positive"))]
    pub ratio_high: f64,
    /// Units of work per second.
    #[cfg_attr(feature = "cli", serde(deserialize_with = "super::numbers::positive_or_zero"))]
    pub throughput: f64,
    /// The unit of work.
    pub unit: String,
}

/// A kernel that did not take part, and why.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "cli", derive(serde::Serialize, serde::Deserialize))]
pub struct Skipped {
    /// The kernel.
    pub kernel: String,
    /// The reason.
    pub reason: String,
    /// The predicted time of a run, if that is the reason.
    #[cfg_attr(feature = "cli", serde(default, skip_serializing_if = "Option::is_none"))]
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

/// Indices of the kernels that take part, baseline first, and the kernels that are skipped.
fn contenders(session: &dyn Session, options: &DuelOptions) -> Result<(Vec<usize>, Vec<Skipped>), DuelError> {
    let listed = session.kernels();
    let unbounded = session.candidates(options.threads, Duration::MAX);
    let candidates: Vec<Candidate> = session
        .candidates(options.threads, options.time_limit)
        .into_iter()
        .zip(&unbounded)
        .map(|(bounded, unbounded)| {
            let is_always_included = options.always_included.iter().any(|name| name == bounded.name);
            if is_always_included { unbounded.clone() } else { bounded }
        })
        .collect();
    let is_here = |kernel: &usize| listed[*kernel].obstacle.is_none();
    let here = || (0..listed.len()).filter(is_here);
    let index = |name: &String| {
        let unknown = || {
            let available = here().map(|kernel| listed[kernel].name).collect();
            DuelError::UnknownKernel { operation: session.operation(), name: name.clone(), available }
        };
        here().find(|kernel| listed[*kernel].name == name).ok_or_else(unknown)
    };
    let mut wanted = options.kernels.iter().map(index).collect::<Result<Vec<_>, _>>()?;
    if wanted.is_empty() {
        wanted = here().collect();
    }
    let baseline = match &options.baseline {
        Some(name) => index(name)?,
        None => *wanted.iter().find(|k| candidates[**k].is_able()).ok_or(DuelError::NoBaseline(options.time_limit))?,
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
    Ok((fit, skipped))
}

/// Runs a duel: checks that all outputs agree, then times the kernels in turns until the budget is spent.
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
    let (kernels, skipped) = contenders(session, options)?;
    let listed = session.kernels();
    let is_parallel = |kernel: usize| options.threads > 1 && listed[kernel].is_parallel();
    let clock = if kernels.iter().any(|kernel| is_parallel(*kernel)) { Clock::Wall } else { Clock::Thread };

    // The first runs check that all outputs agree, and determine the repetitions per turn.
    let mut expected: Option<Box<dyn Answer>> = None;
    let mut once = Vec::new();
    for (done, kernel) in kernels.iter().enumerate() {
        let start = clock.now();
        let answer = session.run(*kernel, run)?;
        once.push(clock.now() - start);
        match &expected {
            Some(expected) if !answer.agrees(expected.as_ref()) => {
                let [got, want] = [&answer, expected].map(|answer| format!("{:?}", answer.digest()));
                return Err(DuelError::OutputsDiffer {
                    kernel: listed[*kernel].name,
                    baseline: listed[kernels[0]].name,
                    got,
                    want,
                });
            }
            Some(_) => {}
            None => {
                if let Some(known) = known::find(session.case()) {
                    known.check(&answer.digest()).map_err(DuelError::WrongAnswer)?;
                }
                expected = Some(answer);
            }
        }
        watch(0.1 * (done + 1) as f64 / kernels.len() as f64);
    }
    let work = expected.map_or(0, |answer| session.work(answer.as_ref())) as f64;
    let mut spin = |turn: usize, times| session.spin(kernels[turn], run, times);
    let times = time_in_turns(&once, clock, options.budget, &mut spin, &mut |share| watch(0.1 + 0.9 * share))?;

    let row = |(kernel, own): (&usize, &Vec<f64>)| {
        let median_seconds = quantile(&mut own.clone(), 0.5);
        let [ratio_low, ratio, ratio_high] = ratios(&times[0], own);
        Row {
            kernel: listed[*kernel].name.to_owned(),
            tier: listed[*kernel].tier.name().to_owned(),
            clock: clock.name().to_owned(),
            threads: if is_parallel(*kernel) { options.threads } else { 1 },
            rounds: own.len(),
            median_seconds,
            ratio,
            ratio_low,
            ratio_high,
            throughput: work / median_seconds,
            unit: session.unit().to_owned(),
        }
    };
    let mut rows: Vec<Row> = kernels.iter().zip(&times).map(row).collect();
    rows.sort_by(|a, b| a.median_seconds.total_cmp(&b.median_seconds));
    Ok(Duel {
        case: session.case().clone(),
        build: super::environment::BUILD.to_owned(),
        baseline: listed[kernels[0]].name.to_owned(),
        rows,
        skipped,
    })
}

/// Times contenders in turns, alternately in list order and in reverse, until the budget is spent. Returns the seconds per
/// run, by contender and round. `once` is the approximate time of one run of each contender, `spin` runs a contender the
/// given number of times, and `watch` receives the progress, from 0 to 1.
///
/// # Errors
/// A run was stopped.
pub fn time_in_turns(
    once: &[Duration],
    clock: Clock,
    budget: Duration,
    spin: &mut dyn FnMut(usize, u64) -> Result<(), RunError>,
    watch: &mut dyn FnMut(f64),
) -> Result<Vec<Vec<f64>>, RunError> {
    let repeats: Vec<u64> = once.iter().map(|once| repeats(*once)).collect();
    let mut times = vec![Vec::new(); once.len()];
    let start = Instant::now();
    for round in 0..MAX_ROUNDS {
        if round >= MIN_ROUNDS && start.elapsed() >= budget {
            break;
        }
        let order: Vec<usize> = match round % 2 {
            0 => (0..once.len()).collect(),
            _ => (0..once.len()).rev().collect(),
        };
        for turn in order {
            let start = clock.now();
            spin(turn, repeats[turn])?;
            times[turn].push((clock.now() - start).as_secs_f64() / repeats[turn] as f64);
        }
        let spent = start.elapsed().as_secs_f64() / budget.as_secs_f64();
        watch(spent.max((round + 1) as f64 / MAX_ROUNDS as f64).min(1.0));
    }
    Ok(times)
}

/// Runs per turn, if one run takes about this long.
pub fn repeats(once: Duration) -> u64 {
    (MIN_TURN.as_secs_f64() / once.as_secs_f64().max(1e-9)).ceil().clamp(1.0, 1e7) as u64
}

/// Ratios of the baseline's times to a kernel's, round by round: their 10th, 50th and 90th percentile.
pub fn ratios(baseline: &[f64], times: &[f64]) -> [f64; 3] {
    let mut ratios: Vec<f64> = baseline.iter().zip(times).map(|(baseline, time)| baseline / time).collect();
    [0.1, 0.5, 0.9].map(|q| quantile(&mut ratios, q))
}

/// The `q`-quantile of the values, with `q` from 0 to 1, interpolated linearly; NaN if there are no values.
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
    use crate::machine::Machine;
    use crate::selection::Selection;

    #[test]
    fn the_time_limit_does_not_apply_to_kernels_that_are_always_included() {
        let selection = Selection::new(Machine::detect());
        let session = crate::cores::operation("table_scan").unwrap().session(&selection, "all-moves", 50).unwrap();
        let always_included = vec!["byte_table_pruned".to_owned(), "bit_rows".to_owned()];
        let (time_limit, budget) = (Duration::ZERO, Duration::ZERO);
        let options =
            DuelOptions { kernels: Vec::new(), baseline: None, threads: 1, budget, time_limit, always_included };
        let (fit, skipped) = contenders(session.as_ref(), &options).unwrap();
        let listed = session.kernels();
        assert_eq!(fit.iter().map(|kernel| listed[*kernel].name).collect::<Vec<_>>(), options.always_included);
        assert_eq!(skipped.len(), listed.iter().filter(|kernel| kernel.obstacle.is_none()).count() - 2);
        let none = contenders(session.as_ref(), &DuelOptions { always_included: Vec::new(), ..options });
        assert_eq!(none, Err(DuelError::NoBaseline(Duration::ZERO)));
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        let mut values = [3.0, 1.0, 2.0, 5.0, 4.0];
        assert_eq!([0.0, 0.5, 1.0].map(|q| quantile(&mut values, q)), [1.0, 3.0, 5.0]);
        assert!((quantile(&mut values, 0.1) - 1.4).abs() < 1e-12);
        assert_eq!(quantile(&mut [7.0], 0.9), 7.0);
        assert!(quantile(&mut [], 0.5).is_nan());
    }
}
