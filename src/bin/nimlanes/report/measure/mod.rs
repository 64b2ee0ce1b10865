//! Measures what a report needs, task by task. Each result is saved in its own file as soon as it is done, so an interrupted
//! report resumes where it stopped. At the end, one file has them all.

pub mod tasks;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nimlanes::cores::OPERATIONS;
use nimlanes::cores::named::{ByName, NameError};
use nimlanes::games::{Game, SolveError, Solver};
use nimlanes::kernel::candidate::{Candidate, quickest};
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::session::Session;
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Run, RunError};
use nimlanes::lab::ceilings;
use nimlanes::lab::clock::Clock;
use nimlanes::lab::environment::Environment;
use nimlanes::lab::known;
use nimlanes::machine::Machine;
use nimlanes::units::span;

use self::tasks::{Effort, Input, TRIAL_BUDGET, Task};
use super::data::sources::{Sources, revision};
use super::data::{AllNeeds, Ceilings, FarSolution, GameDuel, GameRow, KernelNeeds, Setup, Trial, Trials};
use crate::files::folder::{self, Measurement};
use crate::files::saved::{Measured, Saved, SavedError, parse};
use crate::measuring::builds::Order;
use crate::measuring::duel::{
    Duel, DuelError, DuelOptions, Match, PROCESSES, quantile, ratios, run_duel, time_in_turns,
};
use crate::measuring::programs::{ProgramError, json_of, output_of, program, this_program};

/// Why a measurement failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// A duel failed.
    #[error(transparent)]
    Duel(#[from] DuelError),
    /// A file cannot be read or written.
    #[error(transparent)]
    Saved(#[from] SavedError),
    /// The registry names an input that does not exist.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No kernel can process an input.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// A name is not in the registry.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A game could not be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A game has a wrong answer.
    #[error("{0}")]
    Answer(String),
    /// The run was stopped.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A child process failed.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// The tasks for one machine, and the folder for their results.
pub struct Plan<'a> {
    selection: Selection,
    folder: &'a Path,
    /// What was measured before.
    measured: BTreeMap<String, Measurement>,
    effort: Effort,
    time_limit: Duration,
    tasks: Vec<Task>,
}

/// The name of the measurement of kind [`Setup`].
const SETUP: &str = "setup";

/// The file of the measurement of this name.
fn file(name: &str) -> String {
    format!("{name}.json")
}

/// A trial includes kernels predicted to take up to this many times as long as the fastest.
const TRIAL_FACTOR: u32 = 6;

impl std::fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("folder", &self.folder).field("effort", &self.effort).finish_non_exhaustive()
    }
}

impl<'a> Plan<'a> {
    /// Plans measurements of everything in the registry, with this effort.
    ///
    /// # Errors
    /// A workload is listed with an invalid size, or earlier measurements cannot be read.
    pub fn new(machine: Machine, folder: &'a Path, effort: Effort) -> Result<Self, MeasureError> {
        let selection = Selection::new(machine);
        let tasks = tasks::all(&effort, &selection)?;
        let time_limit = tasks::time_limit(&effort, &tasks);
        Ok(Plan { selection, folder, measured: folder::read(folder)?, effort, time_limit, tasks })
    }

    /// The remaining work, in one line.
    pub fn summary(&self) -> String {
        let time: Duration = self.missing().map(|task| task.predicted(self.time_limit)).sum();
        let (count, folder, time_limit) =
            (self.missing().count(), self.folder.display(), self.time_limit.as_nanos() as f64);
        let minutes = time.as_secs_f64() / 60.0;
        format!("{count} measurements into {folder}, about {minutes:.0} min, runs of up to {}", span(time_limit))
    }

    fn machine(&self) -> &Machine {
        self.selection.machine()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(file(name))
    }

    fn missing(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !self.measured.contains_key(&file(&task.name())))
    }

    /// Measures what is missing. `run` creates runs that can be stopped; `announce` receives a line when a task starts.
    ///
    /// # Errors
    /// Outputs differ, a file cannot be written, a build fails, or a run was stopped.
    pub fn execute(&self, run: &dyn Fn(usize) -> Arc<Run>, announce: &mut dyn FnMut(&str)) -> Result<(), MeasureError> {
        let start = Instant::now();
        // A resumed report adds to the time of the interrupted one.
        let setup = |Measurement { path, text }: &Measurement| parse::<Saved<Setup>>(path, text).ok();
        let before = self.measured.get(&file(SETUP)).and_then(setup).map_or(0.0, |setup| setup.content.took_seconds);
        let missing: Vec<&Task> = self.missing().collect();
        for (done, task) in missing.iter().enumerate() {
            let predicted = span(task.predicted(self.time_limit).as_nanos() as f64);
            announce(&format!("{}/{} {} (about {predicted})", done + 1, missing.len(), task.name()));
            // Checks for cancellation, since not every task has its own run.
            run(1).advance(0)?;
            self.measure(task, &task.name(), run)?;
            self.save(SETUP, self.setup(before + start.elapsed().as_secs_f64()))?;
        }
        Ok(folder::join(self.folder)?)
    }

    fn setup(&self, took_seconds: f64) -> Setup {
        Setup { draft: self.effort.draft, time_limit_seconds: self.time_limit.as_secs_f64(), took_seconds }
    }

    fn save<T: Measured>(&self, name: &str, content: T) -> Result<(), MeasureError> {
        let environment = Environment::detect(self.machine());
        Ok(Saved::now(environment, content).write(&self.path(name))?)
    }

    fn measure(&self, task: &Task, name: &str, run: &dyn Fn(usize) -> Arc<Run>) -> Result<(), MeasureError> {
        match task {
            Task::Sources => self.save(name, Sources::here(revision(&run(1))?)?),
            Task::Trials { inputs } => {
                let rows = inputs.iter().map(|input| self.trial(input, &run(1))).collect::<Result<_, _>>()?;
                self.save(name, Trials { rows })
            }
            Task::Needs => self.save(name, self.needs()?),
            Task::Ceilings => {
                let mut rows = Vec::new();
                for group in ceilings::groups() {
                    run(1).advance(0)?;
                    rows.extend(group.measure(self.machine()));
                }
                self.save(name, Ceilings { rows })
            }
            Task::Duel { input, threads, budget } => {
                self.save(name, self.duel(input, *threads, *budget, &run(*threads))?)
            }
            Task::Native { input, budget } => self.native(input, *budget, &self.path(name), &run(1)),
            Task::Game { game, limit, budget } => self.save(name, self.game(game, *limit, *budget, run)?),
            Task::Far { game, limit } => self.save(name, far(game, *limit, &run(1))?),
            Task::Again(task) => self.measure(task, name, run),
        }
    }

    fn duel(&self, input: &Input, threads: usize, budget: Duration, run: &Run) -> Result<Duel, MeasureError> {
        let mut always_included: Vec<String> =
            input.always_included().map(|predicted| predicted.kernel.to_owned()).collect();
        let mut kernels = Vec::new();
        if threads > 1 {
            // All kernels use the wall clock here; those always included are enough for comparison.
            let parallel = input.operation.kernels(self.machine());
            let parallel = parallel.iter().filter(|kernel| kernel.is_parallel() && kernel.obstacle.is_none());
            always_included.extend(parallel.map(|kernel| kernel.name.to_owned()));
            kernels = always_included.clone();
        }
        let options =
            DuelOptions { kernels, baseline: None, threads, budget, time_limit: self.time_limit, always_included };
        let open = || Ok::<_, MeasureError>(input.session(&self.selection)?);
        Ok(Match::new(open, &options, PROCESSES, self.machine(), run)?.play(&[], &mut |_| {})?.duel)
    }

    /// In this process alone, so in one memory layout: it takes many trials to judge a selection.
    fn trial(&self, input: &Input, run: &Run) -> Result<Trial, MeasureError> {
        let session = input.session(&self.selection)?;
        let selection = self.selection.clone().with_threads(1)?;
        let selected = session.kernels()[selection.kernel_of(session.as_ref())?].name;
        let near = input.shortest_run() * TRIAL_FACTOR;
        let baseline = Some(selected.to_owned());
        let (kernels, always_included) = (Vec::new(), Vec::new());
        let options =
            DuelOptions { kernels, baseline, threads: 1, budget: TRIAL_BUDGET, time_limit: near, always_included };
        let duel = run_duel(session.as_ref(), &options, run, &mut |_| {})?;
        let quickest = duel.rows.iter().find(|row| row.is_exact()).ok_or(RunError::Cancelled)?;
        Ok(Trial {
            case: input.case.clone(),
            selected: selected.to_owned(),
            quickest: quickest.kernel.clone(),
            kernels: duel.rows.len(),
            loss: quickest.ratio,
            loss_low: quickest.ratio_low,
            loss_high: quickest.ratio_high,
            seconds: duel.rows.iter().map(|row| (row.kernel.clone(), row.median_seconds)).collect(),
        })
    }

    fn needs(&self) -> Result<AllNeeds, MeasureError> {
        let mut rows = Vec::new();
        for operation in OPERATIONS {
            let workload = operation.workloads()[0];
            let session = operation.session(&self.selection, workload.name, workload.published)?;
            for (index, kernel) in session.kernels().iter().enumerate() {
                let (operation, kernel) = (operation.name().to_owned(), kernel.name.to_owned());
                rows.extend(session.needs(index).map(|needs| KernelNeeds { operation, kernel, needs }));
            }
        }
        Ok(AllNeeds { rows })
    }

    fn native(&self, input: &Input, budget: Duration, path: &Path, run: &Run) -> Result<(), MeasureError> {
        let mut command = program(Order::native(Path::new(".")).program(run)?.path);
        command.args(["compare", input.operation.name(), "--workload", &input.case.workload]);
        command.args(["--size", &input.case.size.to_string(), "--seconds", &budget.as_secs_f64().to_string()]);
        let time_limit = input.time_limit(self.time_limit).as_secs_f64();
        command.args(["--time-limit", &time_limit.to_string(), "--save"]).arg(path);
        Ok(output_of(&mut command, run).map(drop)?)
    }

    fn game(
        &self,
        game: &'static Game,
        limit: u64,
        budget: Duration,
        run: &dyn Fn(usize) -> Arc<Run>,
    ) -> Result<GameDuel, MeasureError> {
        let kernel_sets =
            kernel_sets(game, limit, &self.selection, self.time_limit.max(self.effort.headline_time_limit))?;
        let (clock, question) = (Clock::Wall, game.question(limit));
        let runs: Vec<Arc<Run>> = kernel_sets.iter().map(|kernel_set| run(kernel_set.selection.threads())).collect();
        let solve = |kernel_set: usize| {
            let solver = Solver::new(&kernel_sets[kernel_set].selection, &runs[kernel_set]);
            question.solve(&solver)
        };
        let mut once = Vec::new();
        let mut first = None;
        for (index, kernel_set) in kernel_sets.iter().enumerate() {
            let start = clock.now();
            let solution = solve(index)?;
            once.push(clock.now() - start);
            if let Some(known) = known::find_game(game, limit) {
                known.check(&solution.digest()).map_err(MeasureError::Answer)?;
            }
            let answer = solution.answer;
            if *first.get_or_insert_with(|| answer.clone()) != answer {
                return Err(MeasureError::Answer(format!("{} {limit}: {} gives {answer}", game.name, kernel_set.name)));
            }
        }
        let mut failed = None;
        let mut once_more = |kernel_set: usize| match solve(kernel_set) {
            Ok(solution) => {
                black_box(solution);
                Ok(())
            }
            Err(SolveError::Run(stop)) => Err(stop),
            Err(error) => {
                failed = Some(error);
                Err(RunError::Cancelled)
            }
        };
        let mut turn = |kernel_set, times| clock.time(|| (0..times).try_for_each(|_: u64| once_more(kernel_set)));
        let times = time_in_turns(&once, budget, &mut turn, &mut |_| {});
        if let Some(error) = failed {
            return Err(error.into());
        }
        let times = times?;
        let row = |(kernel_set, own): (&KernelSet, &Vec<f64>)| {
            let [ratio_low, ratio, ratio_high] = ratios(&times[0], own);
            let (kernel_set, kernels) = (kernel_set.name.to_owned(), kernel_set.kernels.clone());
            let median_seconds = quantile(&mut own.clone(), 0.5);
            GameRow { kernel_set, kernels, rounds: own.len(), median_seconds, ratio, ratio_low, ratio_high }
        };
        let rows = kernel_sets.iter().zip(&times).map(row).collect();
        Ok(GameDuel { game: game.name.to_owned(), limit, clock: clock.name().to_owned(), rows })
    }
}

/// One kernel for each operation of a game.
struct KernelSet {
    name: &'static str,
    kernels: Vec<String>,
    selection: Selection,
}

/// The plain Rust kernel predicted to be the fastest.
fn quickest_plain(session: &dyn Session) -> Option<usize> {
    let candidates = session.candidates(1, Duration::MAX);
    let is_plain = |candidate: &&Candidate| session.kernels()[candidate.index].is_plain();
    quickest(candidates.iter().filter(is_plain)).map(|candidate| candidate.index)
}

/// The baselines (the first kernels within the time limit), the fastest in plain Rust, and the selected kernels.
fn kernel_sets(
    game: &Game,
    limit: u64,
    selection: &Selection,
    time_limit: Duration,
) -> Result<Vec<KernelSet>, MeasureError> {
    type Pair = (&'static str, &'static str);
    let mut kernel_sets = ["baseline", "best_plain", "best"].map(|name| (name, Vec::<Pair>::new()));
    for name in game.operations {
        let operation = nimlanes::cores::operation(name).map_err(NameError::from)?;
        let session = operation.session(selection, operation.workloads()[0].name, limit)?;
        let listed = session.kernels();
        let selected = listed[selection.kernel_of(session.as_ref())?].name;
        let candidates = session.candidates(1, time_limit);
        let first = candidates.iter().find(|candidate| candidate.is_able()).map_or(selected, |able| able.name);
        let plain = quickest_plain(session.as_ref()).map_or(selected, |kernel| listed[kernel].name);
        for ((_, kernels), kernel) in kernel_sets.iter_mut().zip([first, plain, selected]) {
            kernels.push((*name, kernel));
        }
    }
    let kernel_set = |(name, pairs): (&'static str, Vec<Pair>)| {
        let with = |selection: Selection, (operation, kernel): &Pair| selection.with_kernel(operation, kernel);
        let selection = pairs.iter().try_fold(selection.clone(), with)?;
        let kernels = pairs.iter().map(|(operation, kernel)| format!("{operation}={kernel}")).collect();
        Ok(KernelSet { name, kernels, selection })
    };
    kernel_sets.into_iter().map(kernel_set).collect()
}

/// Solves a game in its own process and checks the answer against the known one.
fn far(game: &Game, limit: u64, run: &Run) -> Result<FarSolution, MeasureError> {
    let mut command = program(this_program()?);
    let far: FarSolution = json_of(command.args(["solve", game.name, "--json", "--limit", &limit.to_string()]), run)?;
    match known::find_game(game, limit).and_then(|known| known.figure("answer")) {
        Some(known) if known.to_string() != far.answer => Err(MeasureError::Answer(format!(
            "{} {limit}: the answer is {}, but the known answer is {known}",
            game.name, far.answer
        ))),
        _ => Ok(far),
    }
}
