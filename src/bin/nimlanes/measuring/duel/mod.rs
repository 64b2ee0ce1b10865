//! Duels of [`nimlanes::lab::duel`] over several processes, of this build or another, kept and compared.

mod changes;
mod child;
mod processes;
pub mod protocol;
pub mod show;

pub use nimlanes::lab::duel::*;

pub use changes::{Change, TIE, Verdict};
pub use processes::{Match, Other, OtherRow, PROCESSES};

/// Made-up duels for tests.
#[cfg(test)]
pub mod example {
    use nimlanes::case::Case;
    use nimlanes::kernel::Claim;

    use super::{Duel, Row};

    /// The times of a kernel, with its ratio between a low and a high one.
    pub fn row(kernel: &str, median_seconds: f64, [ratio_low, ratio, ratio_high]: [f64; 3]) -> Row {
        Row {
            kernel: kernel.to_owned(),
            tier: "portable".to_owned(),
            claim: Claim::Exact.name().to_owned(),
            clock: "thread".to_owned(),
            threads: 1,
            rounds: 20,
            median_seconds,
            ratio,
            ratio_low,
            ratio_high,
            ratio_processes: None,
            slow_mode: None,
            throughput: 1e5 / median_seconds,
            unit: "heap".to_owned(),
        }
    }

    /// Times on some input.
    pub fn duel(rows: Vec<Row>) -> Duel {
        let (case, skipped) = (Case::new("mex_subtraction", "squares", 100), Vec::new());
        let (build, baseline) = ("default".to_owned(), "flags".to_owned());
        Duel { case, build, baseline, processes: 1, disturbed: 0.0, rows, skipped }
    }
}

/// A speed of a kernel that is fast in some processes and slow in others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Median time of a run.
    #[serde(deserialize_with = "nimlanes::lab::numbers::positive")]
    pub median_seconds: f64,
    /// Number of processes in this mode.
    pub processes: usize,
}

/// A kernel that did not take part, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skipped {
    /// The kernel.
    pub kernel: String,
    /// The reason.
    pub reason: String,
    /// The predicted time of a run, if that is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// Its index in the list of the operation.
    pub index: usize,
    /// Its tier.
    pub tier: String,
    /// Whether its answers are proved.
    pub claim: Claim,
    /// Threads it may use.
    pub threads: usize,
}

/// Who takes part in a duel.
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
    /// The kernels that do not.
    pub skipped: Vec<Skipped>,
}

impl Lineup {
    /// Who takes part in a duel on the input of a session.
    ///
    /// # Errors
    /// A kernel name is unknown, or the baseline cannot run.
    pub fn new(session: &dyn Session, options: &DuelOptions) -> Result<Self, DuelError> {
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
                NameError::UnknownKernel { operation: session.operation(), name: name.clone(), available }
            };
            here().find(|kernel| listed[*kernel].name == name).ok_or_else(unknown)
        };
        let mut wanted = options.kernels.iter().map(index).collect::<Result<Vec<_>, _>>()?;
        if wanted.is_empty() {
            wanted = here().collect();
        }
        let baseline = match &options.baseline {
            Some(name) => index(name)?,
            None => {
                // An exact one, unless no other is wanted.
                let able = |is_exact: bool| {
                    wanted.iter().find(|k| candidates[**k].is_able() && candidates[**k].is_exact() == is_exact)
                };
                *able(true).or(able(false)).ok_or(DuelError::NoBaseline(options.time_limit))?
            }
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
        let is_parallel = |kernel: usize| options.threads > 1 && listed[kernel].is_parallel();
        let clock = Clock::for_runs(fit.iter().any(|kernel| is_parallel(*kernel)));
        let contender = |kernel: &usize| Contender {
            kernel: listed[*kernel].name.to_owned(),
            index: *kernel,
            tier: listed[*kernel].tier.name().to_owned(),
            claim: listed[*kernel].claim,
            threads: if is_parallel(*kernel) { options.threads } else { 1 },
        };
        let contenders = fit.iter().map(contender).collect();
        Ok(Lineup { case: session.case().clone(), unit: session.unit(), clock, contenders, skipped })
    }

    /// The names of the kernels that take part.
    pub fn names(&self) -> Vec<String> {
        self.contenders.iter().map(|contender| contender.kernel.clone()).collect()
    }

    /// The result, where `place` gives the place in `played` of each kernel that takes part.
    pub fn duel(&self, played: &Played, place: impl Fn(usize) -> usize) -> Duel {
        let contenders = self.contenders.iter().enumerate();
        let rows = self.rows(contenders.map(|(number, contender)| (place(number), contender)), played, place(0));
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

    /// The rows of contenders, each with its place in `played`, fastest first, where `baseline` is the place of the baseline.
    pub fn rows<'c>(
        &self,
        contenders: impl Iterator<Item = (usize, &'c Contender)>,
        played: &Played,
        baseline: usize,
    ) -> Vec<Row> {
        let mut rows: Vec<Row> =
            contenders.map(|(place, contender)| self.row(contender, played, baseline, place)).collect();
        rows.sort_by(|a, b| a.median_seconds.total_cmp(&b.median_seconds));
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
    let kernels: Vec<usize> = lineup.contenders.iter().map(|contender| contender.index).collect();
    let mut open = |_| Ok(Local::new(session, kernels.clone(), lineup.clock, run));
    let played = play(&lineup.case, &lineup.names(), 1, options.budget, &mut open, watch)?;
    Ok(lineup.duel(&played, |number| number))
}

/// The name of a kernel without that of its tier: relatives share it.
pub fn family<'k>(kernel: &'k str, tier: &str) -> &'k str {
    kernel.strip_suffix(tier).and_then(|name| name.strip_suffix('_')).unwrap_or(kernel)
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
    use nimlanes::machine::Machine;
    use nimlanes::selection::Selection;

    #[test]
    fn the_time_limit_does_not_apply_to_kernels_that_are_always_included() {
        let selection = Selection::new(Machine::detect());
        let session = nimlanes::cores::operation("table_scan").unwrap().session(&selection, "all-moves", 50).unwrap();
        let always_included = vec!["byte_table_pruned".to_owned(), "bit_rows".to_owned()];
        let (time_limit, budget) = (Duration::ZERO, Duration::ZERO);
        let options =
            DuelOptions { kernels: Vec::new(), baseline: None, threads: 1, budget, time_limit, always_included };
        let lineup = Lineup::new(session.as_ref(), &options).unwrap();
        assert_eq!(lineup.names(), options.always_included);
        let here = session.kernels().iter().filter(|kernel| kernel.obstacle.is_none()).count();
        assert_eq!(lineup.skipped.len(), here - 2);
        let none = Lineup::new(session.as_ref(), &DuelOptions { always_included: Vec::new(), ..options });
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
