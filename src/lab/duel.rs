//! The duel: kernels timed in turns on one input, in one process.
//!
//! Each round times every kernel once, in list order or reversed (A B C, C B A, ...), so that a drift of the machine falls
//! on all alike. A ratio is the baseline's time over the kernel's *in the same round*; what is reported is the median over
//! the rounds and the range that holds the middle 80 % of them. Differences under 5 % are ties.

use std::time::{Duration, Instant};

use crate::candidate::{Candidate, Obstacle};
use crate::case::Case;
use crate::kernel::{Run, RunError};
use crate::lab::clock::Clock;
use crate::lab::known;
use crate::names::hint;
use crate::session::{Answer, Session};
use crate::units::span;

/// The usual [`Terms::patience`].
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Rounds that are made whatever they cost.
pub const FEWEST_ROUNDS: usize = 3;

/// Rounds after which more would say nothing new.
const MOST_ROUNDS: usize = 200;

/// A kernel's turn lasts at least so long: shorter runs are repeated within it.
pub const TURN: Duration = Duration::from_millis(5);

/// What a duel is fought over and by whom.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Kernels by name; all if empty.
    pub kernels: Vec<String>,
    /// The kernel that ratios refer to.
    pub baseline: Option<String>,
    /// Threads that a kernel may use.
    pub threads: usize,
    /// How long to go on.
    pub budget: Duration,
    /// A kernel that needs longer for one run takes no part, unless it is the named baseline or invited.
    pub patience: Duration,
    /// Kernels by name that take part however long they need; they must be able to do the input.
    pub invited: Vec<String>,
}

/// A duel that cannot be fought, or that ended otherwise than with times.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DuelError {
    /// A name that is not among the kernels that can run.
    #[error("unknown kernel `{name}` of {operation}, or not available here{}", hint(.name, .available.iter().copied()))]
    UnknownKernel {
        /// The operation.
        operation: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        available: Vec<&'static str>,
    },
    /// The baseline cannot do the input.
    #[error("the baseline {name} cannot do this input: {obstacle}")]
    Baseline {
        /// The kernel.
        name: String,
        /// Why not.
        obstacle: Obstacle,
    },
    /// No kernel that could serve as a baseline.
    #[error("no kernel can do this input within {} and the memory that is free; name a --baseline to wait for it", span(.0.as_nanos() as f64))]
    NoBaseline(Duration),
    /// Two kernels computed different outputs.
    #[error("{kernel} and {baseline} differ: {got} against {want}")]
    Differ {
        /// The one kernel.
        kernel: &'static str,
        /// The other.
        baseline: &'static str,
        /// Digest of the one output.
        got: String,
        /// Digest of the other.
        want: String,
    },
    /// The outputs agree and are wrong.
    #[error("{0}")]
    NotKnown(String),
    /// The run was stopped.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The outcome, as it is printed and saved.
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
    /// Kernels, quickest first.
    pub rows: Vec<Row>,
    /// Kernels that took no part.
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
    /// Threads it could use.
    pub threads: usize,
    /// Rounds.
    pub rounds: usize,
    /// Median time of a run.
    #[cfg_attr(feature = "cli", serde(deserialize_with = "super::numbers::positive"))]
    pub median_seconds: f64,
    /// Baseline's time over this kernel's, median over the rounds.
    #[cfg_attr(feature = "cli", serde(deserialize_with = "super::numbers::positive"))]
    pub ratio: f64,
    /// A tenth of the rounds gave a lower ratio.
    #[cfg_attr(feature = "cli", serde(deserialize_with = "super::numbers::positive"))]
    pub ratio_low: f64,
    /// A tenth of the rounds gave a higher ratio.
    #[cfg_attr(feature = "cli", serde(deserialize_with = "super::numbers::positive"))]
    pub ratio_high: f64,
    /// Units of work a second.
    #[cfg_attr(feature = "cli", serde(deserialize_with = "super::numbers::positive_or_zero"))]
    pub throughput: f64,
    /// What throughput counts.
    pub unit: String,
}

/// One kernel that took no part, and why.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "cli", derive(serde::Serialize, serde::Deserialize))]
pub struct Skipped {
    /// The kernel.
    pub kernel: String,
    /// Why.
    pub reason: String,
    /// What a run was predicted to take, if that was why.
    #[cfg_attr(feature = "cli", serde(default, skip_serializing_if = "Option::is_none"))]
    pub predicted_seconds: Option<f64>,
}

impl Skipped {
    /// A kernel, and what stands in its way.
    pub fn new(kernel: &str, obstacle: &Obstacle) -> Self {
        let predicted_seconds = match obstacle {
            Obstacle::TooSlow { ns } => Some(ns / 1e9),
            _ => None,
        };
        Skipped { kernel: kernel.to_owned(), reason: obstacle.to_string(), predicted_seconds }
    }
}

/// The kernels that take part, baseline first, and those that do not.
fn contenders(session: &dyn Session, terms: &Terms) -> Result<(Vec<usize>, Vec<Skipped>), DuelError> {
    let listed = session.kernels();
    let unbounded = session.candidates(terms.threads, Duration::MAX);
    let candidates: Vec<Candidate> = session
        .candidates(terms.threads, terms.patience)
        .into_iter()
        .zip(&unbounded)
        .map(|(bounded, unbounded)| {
            let is_invited = terms.invited.iter().any(|name| name == bounded.name);
            if is_invited { unbounded.clone() } else { bounded }
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
    let mut wanted = terms.kernels.iter().map(index).collect::<Result<Vec<_>, _>>()?;
    if wanted.is_empty() {
        wanted = here().collect();
    }
    let baseline = match &terms.baseline {
        Some(name) => index(name)?,
        None => *wanted.iter().find(|k| candidates[**k].is_able()).ok_or(DuelError::NoBaseline(terms.patience))?,
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

/// Fights the duel: every output is compared first, then kernels are timed in turns until the budget is spent.
///
/// `watch` is told the share of the work that is done, from 0 to 1.
///
/// # Errors
/// Names that do not fit, outputs that differ, or a run that was stopped.
pub fn fight(session: &dyn Session, terms: &Terms, run: &Run, watch: &mut dyn FnMut(f64)) -> Result<Duel, DuelError> {
    let (kernels, skipped) = contenders(session, terms)?;
    let listed = session.kernels();
    let is_parallel = |kernel: usize| terms.threads > 1 && listed[kernel].is_parallel();
    let clock = if kernels.iter().any(|kernel| is_parallel(*kernel)) { Clock::Wall } else { Clock::Thread };

    // The first runs prove that the outputs are equal, and tell how often a run must be repeated.
    let mut expected: Option<Box<dyn Answer>> = None;
    let mut once = Vec::new();
    for (done, kernel) in kernels.iter().enumerate() {
        let start = clock.now();
        let answer = session.run(*kernel, run)?;
        once.push(clock.now() - start);
        match &expected {
            Some(expected) if !answer.agrees(expected.as_ref()) => {
                let [got, want] = [&answer, expected].map(|answer| format!("{:?}", answer.digest()));
                return Err(DuelError::Differ {
                    kernel: listed[*kernel].name,
                    baseline: listed[kernels[0]].name,
                    got,
                    want,
                });
            }
            Some(_) => {}
            None => {
                if let Some(known) = known::of(session.case()) {
                    known.check(&answer.digest()).map_err(DuelError::NotKnown)?;
                }
                expected = Some(answer);
            }
        }
        watch(0.1 * (done + 1) as f64 / kernels.len() as f64);
    }
    let work = expected.map_or(0, |answer| session.work(answer.as_ref())) as f64;
    let mut spin = |turn: usize, times| session.spin(kernels[turn], run, times);
    let times = in_turns(&once, clock, terms.budget, &mut spin, &mut |share| watch(0.1 + 0.9 * share))?;

    let row = |(kernel, own): (&usize, &Vec<f64>)| {
        let median_seconds = quantile(&mut own.clone(), 0.5);
        let [ratio_low, ratio, ratio_high] = ratios(&times[0], own);
        Row {
            kernel: listed[*kernel].name.to_owned(),
            tier: listed[*kernel].tier.name().to_owned(),
            clock: clock.name().to_owned(),
            threads: if is_parallel(*kernel) { terms.threads } else { 1 },
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

/// Times contenders in turns, in list order and reversed, until the budget is spent: seconds of a run, by contender and
/// round. `once` is about how long a run of each takes, `spin` makes some, `watch` is told the share that is done.
///
/// # Errors
/// A run was stopped.
pub fn in_turns(
    once: &[Duration],
    clock: Clock,
    budget: Duration,
    spin: &mut dyn FnMut(usize, u64) -> Result<(), RunError>,
    watch: &mut dyn FnMut(f64),
) -> Result<Vec<Vec<f64>>, RunError> {
    let repeats: Vec<u64> = once.iter().map(|once| repeats(*once)).collect();
    let mut times = vec![Vec::new(); once.len()];
    let start = Instant::now();
    for round in 0..MOST_ROUNDS {
        if round >= FEWEST_ROUNDS && start.elapsed() >= budget {
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
        watch(spent.max((round + 1) as f64 / MOST_ROUNDS as f64).min(1.0));
    }
    Ok(times)
}

/// Runs that make a turn, where one takes about as long as this.
pub fn repeats(once: Duration) -> u64 {
    (TURN.as_secs_f64() / once.as_secs_f64().max(1e-9)).ceil().clamp(1.0, 1e7) as u64
}

/// The ratios of a baseline's times to a kernel's, round by round: a tenth of them lies below the first number, half below
/// the second, nine tenths below the third.
pub fn ratios(baseline: &[f64], times: &[f64]) -> [f64; 3] {
    let mut ratios: Vec<f64> = baseline.iter().zip(times).map(|(baseline, time)| baseline / time).collect();
    [0.1, 0.5, 0.9].map(|q| quantile(&mut ratios, q))
}

/// The value below which a share `q` of the values lies, from 0 to 1, linear between neighbours; not a number if there are none.
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
    fn who_is_invited_takes_part_however_long_it_needs() {
        let selection = Selection::new(Machine::detect());
        let session = crate::cores::operation("table_scan").unwrap().session(&selection, "all-moves", 50).unwrap();
        let invited = vec!["byte_table_pruned".to_owned(), "bit_rows".to_owned()];
        let (patience, budget) = (Duration::ZERO, Duration::ZERO);
        let terms = Terms { kernels: Vec::new(), baseline: None, threads: 1, budget, patience, invited };
        let (fit, skipped) = contenders(session.as_ref(), &terms).unwrap();
        let listed = session.kernels();
        assert_eq!(fit.iter().map(|kernel| listed[*kernel].name).collect::<Vec<_>>(), terms.invited);
        assert_eq!(skipped.len(), listed.iter().filter(|kernel| kernel.obstacle.is_none()).count() - 2);
        let nobody = contenders(session.as_ref(), &Terms { invited: Vec::new(), ..terms });
        assert_eq!(nobody, Err(DuelError::NoBaseline(Duration::ZERO)));
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
