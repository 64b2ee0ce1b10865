//! What a report measures, how much of it and how patiently: tasks, read off the registry.

use std::time::Duration;

use crate::case::Case;
use crate::cores::OPERATIONS;
use crate::games::{GAMES, Game};
use crate::lab::ceilings::CEILINGS;
use crate::lab::duel::{FEWEST_ROUNDS, TURN};
use crate::lab::environment::BUILD;
use crate::selection::Selection;
use crate::session::{AnyOperation, KernelInfo, Session};
use crate::workload::{InputError, Workload};

use super::estimates;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// A draft: small and published sizes, short duels, no clean builds.
    pub draft: bool,
    /// What the predicted times of all tasks may add up to.
    total: Duration,
    /// Budget of a duel at the published size of an operation's first workload.
    headline: Duration,
    /// Patience with a kernel there, whatever the total: the sources' algorithms shall take part. At larger sizes, patience
    /// with those that everybody knows: the best kernel in plain Rust and the best public ones.
    pub invitation: Duration,
    /// Budget of any other duel.
    other: Duration,
    /// How long a kernel runs in a process of its own.
    start: Duration,
}

impl Pace {
    /// All of it.
    pub const FULL: Pace = Pace {
        draft: false,
        total: Duration::from_secs(960),
        headline: Duration::from_secs(8),
        invitation: Duration::from_secs(6),
        other: Duration::from_millis(1500),
        start: Duration::from_millis(300),
    };

    /// In under two minutes.
    pub const DRAFT: Pace = Pace {
        draft: true,
        total: Duration::from_secs(80),
        headline: Duration::from_secs(2),
        invitation: Duration::from_millis(600),
        other: Duration::from_millis(400),
        start: Duration::from_millis(50),
    };
}

/// Sizes up to here are small: their times show what a call costs besides its loops.
pub const SMALL: u64 = 100;

/// A size past those of the benches is measured if the quickest kernel needs no longer for a run.
const FURTHER: Duration = Duration::from_millis(1000);

/// Patience with a run, from the longest that would be waited for to the shortest; the longest with which all fits is taken.
const PATIENCE_MS: [u64; 9] = [8000, 5000, 3000, 2000, 1000, 500, 200, 100, 50];

/// One thing to measure.
pub(super) enum Task {
    Choices,
    Trials { inputs: Vec<Input> },
    Needs,
    Ceilings,
    Clocks,
    Estimates { build: &'static str, from: &'static str },
    Duel { input: Input, threads: usize, budget: Duration },
    Native { input: Input, budget: Duration },
    Starts { input: Input, each: Duration },
    Game { game: &'static Game, limit: u64, budget: Duration },
    Far { game: &'static Game, limit: u64 },
    Build { native: bool },
}

/// An input of an operation, and what each kernel is predicted to take for it.
#[derive(Clone)]
pub(super) struct Input {
    pub(super) operation: &'static dyn AnyOperation,
    pub(super) case: Case,
    pub(super) predicted: Vec<Predicted>,
}

/// What a kernel is predicted to take for a run on one thread.
#[derive(Clone)]
pub(super) struct Predicted {
    pub(super) kernel: &'static str,
    pub(super) run: Duration,
    /// Whether it takes part however long it needs.
    pub(super) is_invited: bool,
}

impl Input {
    fn new(
        operation: &'static dyn AnyOperation,
        workload: &'static Workload,
        size: u64,
        selection: &Selection,
    ) -> Result<Self, InputError> {
        let session = operation.session(selection, workload.name, size)?;
        let candidates = session.candidates(1, Duration::MAX);
        let able = candidates.iter().filter(|candidate| candidate.is_able());
        let predicted =
            able.map(|candidate| Predicted { kernel: candidate.name, run: candidate.predicted(), is_invited: false });
        let mut input = Input { operation, case: session.case().clone(), predicted: predicted.collect() };
        let quickest = input.quickest(|_| true);
        input.invite(|kernel| Some(kernel) == quickest, Duration::MAX); // a duel needs somebody
        Ok(input)
    }

    /// The quickest kernel of some.
    fn quickest(&self, among: impl Fn(&'static str) -> bool) -> Option<&'static str> {
        let among = self.predicted.iter().filter(|predicted| among(predicted.kernel));
        among.min_by_key(|predicted| predicted.run).map(|predicted| predicted.kernel)
    }

    /// Invites kernels that need no longer than `patience`.
    fn invite(&mut self, whom: impl Fn(&'static str) -> bool, patience: Duration) {
        for predicted in self.predicted.iter_mut().filter(|predicted| predicted.run <= patience) {
            predicted.is_invited |= whom(predicted.kernel);
        }
    }

    pub(super) fn invited(&self) -> impl Iterator<Item = &Predicted> {
        self.predicted.iter().filter(|predicted| predicted.is_invited)
    }

    /// The shortest run; nothing if there is none.
    pub(super) fn least(&self) -> Duration {
        self.predicted.iter().map(|predicted| predicted.run).min().unwrap_or_default()
    }

    pub(super) fn session(&self, selection: &Selection) -> Result<Box<dyn Session>, InputError> {
        self.operation.session(selection, &self.case.workload, self.case.size)
    }

    fn bearable(&self, patience: Duration) -> impl Iterator<Item = Duration> {
        let bearable = self.predicted.iter().filter(move |own| own.is_invited || own.run <= patience);
        bearable.map(|predicted| predicted.run)
    }

    /// Patience that lets everybody in who is invited, or bearable anyway.
    pub(super) fn patience(&self, patience: Duration) -> Duration {
        let longest = self.invited().map(|predicted| predicted.run).max().unwrap_or_default();
        patience.max(longest + Duration::from_micros(1)) // predictions are rounded to nanoseconds
    }

    /// What a duel over it takes: the runs that compare outputs, then at least the fewest rounds.
    fn duel(&self, patience: Duration, budget: Duration) -> Duration {
        let first: Duration = self.bearable(patience).sum();
        let round: Duration = self.bearable(patience).map(|run| run.max(TURN)).sum();
        first + budget.max(round * FEWEST_ROUNDS as u32) + round / 2
    }
}

impl Task {
    /// The file that keeps it, without suffix.
    pub(super) fn name(&self) -> String {
        match self {
            Task::Choices => "choices".to_owned(),
            Task::Trials { .. } => "trials".to_owned(),
            Task::Needs => "needs".to_owned(),
            Task::Ceilings => "ceilings".to_owned(),
            Task::Clocks => "clocks".to_owned(),
            Task::Estimates { build, .. } => format!("estimates-{build}"),
            Task::Duel { input, threads: 1, .. } => format!("duel-{BUILD}-{}", input.case.stem()),
            Task::Duel { input, threads, .. } => format!("duel-{BUILD}-{}-threads-{threads}", input.case.stem()),
            Task::Native { input, .. } => format!("duel-native-{}", input.case.stem()),
            Task::Starts { input, .. } => format!("starts-{}", input.case.stem()),
            Task::Game { game, limit, .. } => format!("game-{}-{limit}", game.name),
            Task::Far { game, limit } => format!("far-{}-{limit}", game.name),
            Task::Build { native } => format!("built-{}", if *native { "native" } else { "default" }),
        }
    }

    /// About how long it takes.
    pub(super) fn predicted(&self, patience: Duration) -> Duration {
        match self {
            Task::Choices | Task::Needs | Task::Estimates { .. } => Duration::from_secs(1),
            Task::Trials { inputs } => TRIAL * 3 / 2 * inputs.len() as u32,
            Task::Ceilings => CEILING_TIME * CEILINGS.len() as u32,
            Task::Clocks => CLOCK_BUDGET * 6,
            Task::Duel { input, budget, .. } | Task::Native { input, budget } => input.duel(patience, *budget),
            Task::Starts { input, each } => {
                input.bearable(patience).map(|run| (run * 2).max(*each) + Duration::from_millis(60)).sum()
            }
            Task::Game { limit, budget, .. } => {
                if *limit > SMALL {
                    GAME_TIME
                } else {
                    *budget
                }
            }
            Task::Far { .. } => FAR_TIME,
            Task::Build { .. } => BUILD_TIME,
        }
    }
}

/// About how long a ceiling takes, its buffer included.
const CEILING_TIME: Duration = Duration::from_millis(200);

/// About how long a build from nothing takes on two cores.
const BUILD_TIME: Duration = Duration::from_secs(110);

/// About how long a duel over a game at its published limit takes, with a source's way that needs seconds.
const GAME_TIME: Duration = Duration::from_secs(8);

/// About how long a far answer takes, between a tenth of a second and less than a minute.
const FAR_TIME: Duration = Duration::from_secs(5);

/// Budget of a trial of the selected kernel.
pub(super) const TRIAL: Duration = Duration::from_millis(300);

/// Inputs longer than this for the quickest kernel are no trials.
const SHORT: Duration = Duration::from_millis(40);

/// How long one clock is tried in one neighbourhood.
pub(super) const CLOCK_BUDGET: Duration = Duration::from_millis(1200);

/// Everything that the registry holds, at a pace.
///
/// # Errors
/// A workload is listed with a size that it does not have.
pub(super) fn all(pace: &Pace, selection: &Selection) -> Result<Vec<Task>, InputError> {
    let mut tasks = Vec::new();
    if !pace.draft {
        tasks.extend([false, true].map(|native| Task::Build { native }));
    }
    tasks.extend([Task::Choices, Task::Needs, Task::Ceilings, Task::Clocks]);
    tasks.extend(estimates::FOLDERS.map(|(build, from)| Task::Estimates { build, from }));
    for operation in OPERATIONS.iter().copied() {
        for workload in operation.workloads() {
            tasks.extend(duels(operation, workload, pace, selection)?);
        }
    }
    tasks.push(Task::Trials { inputs: trials(pace, selection)? });
    for game in GAMES {
        for limit in [10, SMALL, game.published] {
            tasks.push(Task::Game { game, limit, budget: pace.other });
        }
        if !pace.draft {
            tasks.extend(game.far.iter().map(|limit| Task::Far { game, limit: *limit }));
        }
    }
    Ok(tasks)
}

/// The longest patience with which all tasks fit into the pace.
pub(super) fn patience(pace: &Pace, tasks: &[Task]) -> Duration {
    let total = |patience| tasks.iter().map(|task| task.predicted(patience)).sum::<Duration>();
    let mut patience = PATIENCE_MS.map(Duration::from_millis).into_iter();
    let shortest = Duration::from_millis(PATIENCE_MS[PATIENCE_MS.len() - 1]);
    patience.find(|patience| total(*patience) <= pace.total).unwrap_or(shortest)
}

/// Whether a workload is the one that an operation is known by.
fn is_first(operation: &dyn AnyOperation, workload: &Workload) -> bool {
    operation.workloads()[0].name == workload.name
}

/// The sizes at which a workload is measured, ascending.
pub(super) fn sizes(
    operation: &'static dyn AnyOperation,
    workload: &'static Workload,
    pace: &Pace,
    selection: &Selection,
) -> Result<Vec<u64>, InputError> {
    let is_first = is_first(operation, workload);
    let mut sizes = workload.sizes.to_vec();
    sizes.push(workload.published);
    sizes.sort_unstable();
    sizes.dedup();
    if pace.draft {
        sizes.retain(|size| *size <= SMALL || is_first && *size == workload.published);
    } else if is_first {
        for size in further(sizes[sizes.len() - 1]) {
            sizes.extend((Input::new(operation, workload, size, selection)?.least() <= FURTHER).then_some(size));
        }
    }
    Ok(sizes)
}

/// The inputs of trials: all workloads at a hundredth, a tenth and three times the published size, where no duel is.
fn trials(pace: &Pace, selection: &Selection) -> Result<Vec<Input>, InputError> {
    let mut inputs = Vec::new();
    for operation in OPERATIONS.iter().copied() {
        for workload in operation.workloads() {
            let dueled = sizes(operation, workload, pace, selection)?;
            let published = workload.published;
            for size in [published / 100, published / 10, published * 3] {
                if size > SMALL && !dueled.contains(&size) {
                    let input = Input::new(operation, workload, size, selection)?;
                    inputs.extend((input.least() <= SHORT).then_some(input));
                }
            }
        }
    }
    Ok(inputs)
}

/// What is timed of one workload: at each size a duel; at the published size of the first workload also the native build and
/// each kernel by itself; there and at the largest size also the parallel kernels, where there are some.
fn duels(
    operation: &'static dyn AnyOperation,
    workload: &'static Workload,
    pace: &Pace,
    selection: &Selection,
) -> Result<Vec<Task>, InputError> {
    let mut tasks = Vec::new();
    let threads = selection.machine().threads();
    let kernels = operation.kernels(selection.machine());
    let is_parallel = |kernel: &KernelInfo| kernel.is_parallel() && kernel.obstacle.is_none();
    let has_parallel = threads > 1 && kernels.iter().any(is_parallel);
    let is_plain = |name| kernels.iter().any(|kernel| kernel.name == name && kernel.is_plain());
    let is_first = is_first(operation, workload);
    let sizes = sizes(operation, workload, pace, selection)?;
    let largest = sizes.last().copied();
    for size in sizes {
        let mut input = Input::new(operation, workload, size, selection)?;
        if input.predicted.len() < 2 {
            continue; // nobody to compare with
        }
        if is_first && size > SMALL {
            let plain = input.quickest(is_plain);
            input.invite(|kernel| Some(kernel) == plain || operation.public().contains(&kernel), pace.invitation);
        }
        let is_headline = is_first && size == workload.published;
        let budget = if is_headline { pace.headline } else { pace.other };
        if has_parallel && is_first && (is_headline || Some(size) == largest) {
            tasks.push(Task::Duel { input: input.clone(), threads, budget: budget / 2 });
        }
        if is_headline {
            input.invite(|_| true, pace.invitation);
            tasks.push(Task::Native { input: input.clone(), budget: budget / 2 });
            tasks.push(Task::Starts { input: input.clone(), each: pace.start });
        }
        tasks.push(Task::Duel { input, threads: 1, budget });
    }
    Ok(tasks)
}

/// The next two sizes past the benches' that are five or ten times a power of ten: larger than a bench has time for, and
/// where growth shows.
fn further(largest: u64) -> impl Iterator<Item = u64> {
    let decade = 10u64.pow(largest.checked_ilog10().unwrap_or(0));
    let sizes = [5, 10, 50, 100].into_iter().map(move |factor| factor * decade);
    sizes.filter(move |size| *size > largest).take(2)
}
