//! The tasks of a report, from the registry: what it measures and for how long.

use std::time::Duration;

use nimlanes::cores::OPERATIONS;
use nimlanes::games::{GAMES, Game};
use nimlanes::kernel::Claim;
use nimlanes::kernel::case::Case;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::{AnyOperation, KernelInfo, Session};
use nimlanes::kernel::workload::{InputError, Workload};
use nimlanes::lab::ceilings::CEILINGS;
use nimlanes::lab::clock::MIN_TURN;
use nimlanes::lab::environment::BUILD;

use crate::measuring::duel::MIN_ROUNDS;

/// How much a report measures.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// A draft: only small and published sizes, short duels, no native build.
    pub draft: bool,
    /// Limit on the total predicted time of all tasks.
    total: Duration,
    /// Budget of a headline duel: at the published size of an operation's first workload.
    headline: Duration,
    /// Time limit of a run in headline duels, whatever the total, so that the baselines are included. At other
    /// sizes of that workload that are not small, it applies to the best kernel in plain Rust and the best public ones.
    pub headline_time_limit: Duration,
    /// Budget of any other duel.
    other: Duration,
}

impl Effort {
    /// The full report.
    pub const FULL: Effort = Effort {
        draft: false,
        total: Duration::from_secs(1140),
        headline: Duration::from_secs(8),
        headline_time_limit: Duration::from_secs(6),
        other: Duration::from_millis(1500),
    };

    /// A draft, in under two minutes.
    pub const DRAFT: Effort = Effort {
        draft: true,
        total: Duration::from_secs(80),
        headline: Duration::from_secs(2),
        headline_time_limit: Duration::from_millis(600),
        other: Duration::from_millis(400),
    };
}

/// Sizes up to this are small: the fixed cost of a call dominates their times.
pub const SMALL: u64 = 100;

/// Sizes larger than those of the benches are measured if the fastest kernel needs at most this long for a run.
const LARGER_SIZE_LIMIT: Duration = Duration::from_millis(1000);

/// Possible time limits of a run, descending. The first one that keeps all tasks within the total is used.
const TIME_LIMITS_MS: [u64; 9] = [8000, 5000, 3000, 2000, 1000, 500, 200, 100, 50];

/// A duel of fewer rounds at the published size is measured again at the end: a busy neighbour can slow all rounds of a baseline
/// that takes seconds.
const FEW_ROUNDS: u32 = 10;

/// One thing to measure; [`Task::Again`] measures it a second time, after all others.
#[derive(Clone)]
pub(super) enum Task {
    Sources,
    Trials { inputs: Vec<Input> },
    Needs,
    Ceilings,
    Duel { input: Input, threads: usize, budget: Duration },
    Native { input: Input, budget: Duration },
    Game { game: &'static Game, limit: u64, budget: Duration },
    Far { game: &'static Game, limit: u64 },
    Again(Box<Task>),
}

/// An input of an operation, with the predicted time of each kernel.
#[derive(Clone)]
pub(super) struct Input {
    pub(super) operation: &'static AnyOperation,
    pub(super) case: Case,
    pub(super) predicted: Vec<Predicted>,
}

/// The predicted time of a run of a kernel on one thread.
#[derive(Clone)]
pub(super) struct Predicted {
    pub(super) kernel: &'static str,
    pub(super) claim: Claim,
    pub(super) run: Duration,
    /// Whether it takes part whatever the time limit.
    pub(super) always_included: bool,
}

impl Input {
    pub(super) fn new(
        operation: &'static AnyOperation,
        workload: &'static Workload,
        size: u64,
        selection: &Selection,
    ) -> Result<Self, InputError> {
        let session = operation.session(selection, workload.name, size)?;
        let candidates = session.candidates(1, Duration::MAX);
        let able = candidates.iter().filter(|candidate| candidate.is_able());
        let predicted = able.map(|candidate| Predicted {
            kernel: candidate.name,
            claim: candidate.claim,
            run: candidate.predicted(),
            always_included: false,
        });
        let mut input = Input { operation, case: session.case().clone(), predicted: predicted.collect() };
        let quickest = input.quickest(|_| true);
        input.include(|kernel| Some(kernel) == quickest, Duration::MAX); // a duel needs a kernel
        Ok(input)
    }

    /// The fastest exact kernel that satisfies a condition.
    fn quickest(&self, among: impl Fn(&'static str) -> bool) -> Option<&'static str> {
        let among =
            self.predicted.iter().filter(|predicted| predicted.claim == Claim::Exact && among(predicted.kernel));
        among.min_by_key(|predicted| predicted.run).map(|predicted| predicted.kernel)
    }

    /// Always includes the kernels that satisfy a condition and need at most `time_limit`.
    pub(super) fn include(&mut self, which: impl Fn(&'static str) -> bool, time_limit: Duration) {
        for predicted in self.predicted.iter_mut().filter(|predicted| predicted.run <= time_limit) {
            predicted.always_included |= which(predicted.kernel);
        }
    }

    pub(super) fn always_included(&self) -> impl Iterator<Item = &Predicted> {
        self.predicted.iter().filter(|predicted| predicted.always_included)
    }

    /// The time of the fastest exact kernel; zero if there is none.
    pub(super) fn shortest_run(&self) -> Duration {
        let exact = self.predicted.iter().filter(|predicted| predicted.claim == Claim::Exact);
        exact.map(|predicted| predicted.run).min().unwrap_or_default()
    }

    pub(super) fn session(&self, selection: &Selection) -> Result<Box<dyn Session>, InputError> {
        self.operation.session(selection, &self.case.workload, self.case.size)
    }

    fn runs_within(&self, time_limit: Duration) -> impl Iterator<Item = Duration> {
        let runs_within = self.predicted.iter().filter(move |own| own.always_included || own.run <= time_limit);
        runs_within.map(|predicted| predicted.run)
    }

    /// The time limit, raised if necessary to admit the kernels that are always included.
    pub(super) fn time_limit(&self, time_limit: Duration) -> Duration {
        let longest = self.always_included().map(|predicted| predicted.run).max().unwrap_or_default();
        time_limit.max(longest + Duration::from_micros(1)) // predictions are rounded to nanoseconds
    }

    /// Predicted time of a duel: the runs that compare outputs, then at least [`MIN_ROUNDS`] rounds.
    fn duel(&self, time_limit: Duration, budget: Duration) -> Duration {
        let first: Duration = self.runs_within(time_limit).sum();
        let round = self.round(time_limit);
        first + budget.max(round * MIN_ROUNDS as u32) + round / 2
    }

    /// Predicted time of a turn of each kernel.
    fn round(&self, time_limit: Duration) -> Duration {
        self.runs_within(time_limit).map(|run| run.max(MIN_TURN)).sum()
    }
}

impl Task {
    /// The name of the result file, without suffix.
    pub(super) fn name(&self) -> String {
        match self {
            Task::Sources => "sources".to_owned(),
            Task::Trials { .. } => "trials".to_owned(),
            Task::Needs => "needs".to_owned(),
            Task::Ceilings => "ceilings".to_owned(),
            Task::Duel { input, threads: 1, .. } => format!("duel-{BUILD}-{}", input.case.stem()),
            Task::Duel { input, threads, .. } => format!("duel-{BUILD}-{}-threads-{threads}", input.case.stem()),
            Task::Native { input, .. } => format!("duel-native-{}", input.case.stem()),
            Task::Game { game, limit, .. } => format!("game-{}-{limit}", game.name),
            Task::Far { game, limit } => format!("far-{}-{limit}", game.name),
            Task::Again(task) => format!("{}-again", task.name()),
        }
    }

    /// Approximate duration.
    pub(super) fn predicted(&self, time_limit: Duration) -> Duration {
        match self {
            Task::Sources | Task::Needs => Duration::from_secs(1),
            Task::Trials { inputs } => TRIAL_BUDGET * 3 / 2 * inputs.len() as u32,
            Task::Ceilings => CEILING_TIME * CEILINGS.len() as u32,
            Task::Duel { input, budget, .. } | Task::Native { input, budget } => input.duel(time_limit, *budget),
            Task::Game { .. } => GAME_TIME,
            Task::Far { .. } => FAR_TIME,
            Task::Again(task) => task.predicted(time_limit),
        }
    }
}

/// Approximate duration of a ceiling, including its buffer.
const CEILING_TIME: Duration = Duration::from_millis(200);

/// Approximate duration of a duel of a game at its published limit, where the baselines need seconds.
const GAME_TIME: Duration = Duration::from_secs(8);

/// Approximate duration of a far solution; they take from a tenth of a second to almost a minute.
const FAR_TIME: Duration = Duration::from_secs(5);

/// Budget of a trial of the selected kernel.
pub(super) const TRIAL_BUDGET: Duration = Duration::from_millis(300);

/// Inputs for which the fastest kernel takes longer than this have no trial.
const TRIAL_MAX_RUN: Duration = Duration::from_millis(40);

/// Tasks for everything in the registry, with this effort.
///
/// # Errors
/// A workload is listed with an invalid size.
pub(super) fn all(effort: &Effort, selection: &Selection) -> Result<Vec<Task>, InputError> {
    let mut tasks = vec![Task::Sources, Task::Needs, Task::Ceilings];
    for operation in OPERATIONS.iter().copied() {
        for workload in operation.workloads() {
            tasks.extend(duels(operation, workload, effort, selection)?);
        }
    }
    tasks.push(Task::Trials { inputs: trials(effort, selection)? });
    for game in GAMES {
        let duel = Task::Game { game, limit: game.published, budget: effort.other };
        if !effort.draft {
            tasks.push(Task::Again(Box::new(duel.clone())));
            tasks.extend(game.far.iter().max().map(|limit| Task::Far { game, limit: *limit }));
        }
        tasks.push(duel);
    }
    tasks.sort_by_key(|task| matches!(task, Task::Again(_)));
    Ok(tasks)
}

/// The longest time limit of a run that keeps all tasks within the total.
pub(super) fn time_limit(effort: &Effort, tasks: &[Task]) -> Duration {
    let total = |time_limit| tasks.iter().map(|task| task.predicted(time_limit)).sum::<Duration>();
    let mut time_limit = TIME_LIMITS_MS.map(Duration::from_millis).into_iter();
    let shortest = Duration::from_millis(TIME_LIMITS_MS[TIME_LIMITS_MS.len() - 1]);
    time_limit.find(|time_limit| total(*time_limit) <= effort.total).unwrap_or(shortest)
}

/// Whether a workload is the first, main one of its operation.
fn is_first(operation: &AnyOperation, workload: &Workload) -> bool {
    operation.workloads()[0].name == workload.name
}

/// The sizes at which a workload is measured, ascending.
pub(super) fn sizes(
    operation: &'static AnyOperation,
    workload: &'static Workload,
    effort: &Effort,
    selection: &Selection,
) -> Result<Vec<u64>, InputError> {
    let is_first = is_first(operation, workload);
    let mut sizes = workload.sizes.to_vec();
    sizes.push(workload.published);
    sizes.sort_unstable();
    sizes.dedup();
    if effort.draft {
        sizes.retain(|size| *size <= SMALL || is_first && *size == workload.published);
    } else if is_first {
        for size in larger_sizes(sizes[sizes.len() - 1]) {
            let input = input_within(LARGER_SIZE_LIMIT, operation, workload, size, selection)?;
            sizes.extend(input.map(|_| size));
        }
    }
    Ok(sizes)
}

/// An input on which the quickest kernel takes at most this long, unless the workload ends below its size.
fn input_within(
    most: Duration,
    operation: &'static AnyOperation,
    workload: &'static Workload,
    size: u64,
    selection: &Selection,
) -> Result<Option<Input>, InputError> {
    match Input::new(operation, workload, size, selection) {
        Err(InputError::TooLarge { .. }) => Ok(None),
        input => input.map(|input| (input.shortest_run() <= most).then_some(input)),
    }
}

/// The inputs of trials: all workloads at a hundredth, a tenth and three times the published size, if there is no duel.
fn trials(effort: &Effort, selection: &Selection) -> Result<Vec<Input>, InputError> {
    let mut inputs = Vec::new();
    for operation in OPERATIONS.iter().copied() {
        for workload in operation.workloads() {
            let dueled = sizes(operation, workload, effort, selection)?;
            let published = workload.published;
            for size in [published / 100, published / 10, published * 3] {
                if size > SMALL && !dueled.contains(&size) {
                    inputs.extend(input_within(TRIAL_MAX_RUN, operation, workload, size, selection)?);
                }
            }
        }
    }
    Ok(inputs)
}

/// The tasks of one workload: a duel at each size. At the published size of the first workload, also the native build,
/// and duels of few rounds once more. There and at the largest size, also a duel of
/// the parallel kernels, if there are any.
fn duels(
    operation: &'static AnyOperation,
    workload: &'static Workload,
    effort: &Effort,
    selection: &Selection,
) -> Result<Vec<Task>, InputError> {
    let mut tasks = Vec::new();
    let threads = selection.machine().threads();
    let kernels = operation.kernels(selection.machine());
    let is_parallel = |kernel: &KernelInfo| kernel.is_parallel() && kernel.obstacle.is_none();
    let has_parallel = threads > 1 && kernels.iter().any(is_parallel);
    let is_plain = |name| kernels.iter().any(|kernel| kernel.name == name && kernel.is_plain());
    let is_first = is_first(operation, workload);
    let sizes = sizes(operation, workload, effort, selection)?;
    let largest = sizes.last().copied();
    for size in sizes {
        let mut input = Input::new(operation, workload, size, selection)?;
        if input.predicted.len() < 2 {
            continue; // nothing to compare
        }
        if is_first && size > SMALL {
            let plain = input.quickest(is_plain);
            input.include(
                |kernel| Some(kernel) == plain || operation.public().contains(&kernel),
                effort.headline_time_limit,
            );
        }
        let is_headline = is_first && size == workload.published;
        let budget = if is_headline { effort.headline } else { effort.other };
        if has_parallel && is_first && (is_headline || Some(size) == largest) {
            tasks.push(Task::Duel { input: input.clone(), threads, budget: budget / 2 });
        }
        if is_headline {
            input.include(|_| true, effort.headline_time_limit);
            let mut duels = vec![Task::Duel { input: input.clone(), threads: 1, budget }];
            if !effort.draft {
                duels.insert(0, Task::Native { input: input.clone(), budget: budget / 2 });
                if input.round(Duration::ZERO) * FEW_ROUNDS > budget {
                    tasks.extend(duels.iter().map(|duel| Task::Again(Box::new(duel.clone()))));
                }
            }
            tasks.extend(duels);
        } else {
            tasks.push(Task::Duel { input, threads: 1, budget });
        }
    }
    Ok(tasks)
}

/// The next two sizes beyond those of the benches that are five or ten times a power of ten. They are too slow for a bench,
/// but show the growth.
fn larger_sizes(largest: u64) -> impl Iterator<Item = u64> {
    let decade = 10u64.pow(largest.checked_ilog10().unwrap_or(0));
    let sizes = [5, 10, 50, 100].into_iter().map(move |factor| factor * decade);
    sizes.filter(move |size| *size > largest).take(2)
}
