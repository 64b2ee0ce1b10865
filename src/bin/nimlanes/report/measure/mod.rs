//! Measures what a report needs, task by task. All of it is one file, which is written anew as soon as a task is done, so an interrupted
//! report resumes where it stopped. What was measured before stays until all is measured.

pub mod tasks;

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nimlanes::cores::OPERATIONS;
use nimlanes::cores::named::{ByName, NameError};
use nimlanes::games::{Game, Question, Solution, SolveError, Solver};
use nimlanes::kernel::candidate::{Candidate, quickest};
use nimlanes::kernel::case::Case;
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::session::Session;
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Claim, Run, RunError};
use nimlanes::lab::ceilings;
use nimlanes::lab::clock::Clock;
use nimlanes::lab::environment::Environment;
use nimlanes::lab::known;
use nimlanes::machine::Machine;
use nimlanes::units::span;

use self::tasks::{Effort, Input, TRIAL_BUDGET, Task};
use super::data::sources::{Sources, revision};
use super::data::{Data, FILE, FarSolution, GameDuel, KernelNeeds, Setup, Trial};
use crate::files::saved::{Saved, SavedError, utc_now};
use crate::measuring::builds::Order;
use crate::measuring::duel::{
    Checked, Contender, Duel, DuelError, DuelOptions, Lineup, Match, PROCESSES, Player, play, run_duel,
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
    /// A game has a wrong answer.
    #[error("{0}")]
    Answer(String),
    /// What is to be resumed was measured on another machine.
    #[error("{}: measured on another machine: {how}; --again measures everything here", path.display())]
    Machine {
        /// The file.
        path: PathBuf,
        /// The difference between the machines.
        how: String,
    },
    /// The run was stopped.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A child process failed.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// The tasks for one machine, and what is measured of them.
pub struct Plan {
    selection: Selection,
    folder: PathBuf,
    data: Data,
    effort: Effort,
    time_limit: Duration,
    tasks: Vec<Task>,
}

/// The file of the measurements in a folder until all are made.
const PART: &str = "measurements.part";

/// A trial includes kernels predicted to take up to this many times as long as the fastest.
const TRIAL_FACTOR: u32 = 6;

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("folder", &self.folder).field("effort", &self.effort).finish_non_exhaustive()
    }
}

impl Plan {
    /// Plans measurements of everything in the registry, with this effort, unless they were made before and not all are to be made
    /// `again`. The machine may have a name that was given by hand.
    ///
    /// # Errors
    /// A workload is listed with an invalid size, or earlier measurements cannot be used.
    pub fn new(
        machine: Machine,
        folder: &Path,
        effort: Effort,
        again: bool,
        given_name: Option<&str>,
    ) -> Result<Self, MeasureError> {
        let environment = Environment::detect(&machine);
        let selection = Selection::new(machine);
        let tasks = tasks::all(&effort, &selection)?;
        let time_limit = tasks::time_limit(&effort, &tasks);
        let earlier = [PART, FILE].map(|name| folder.join(name)).into_iter().find(|path| !again && path.is_file());
        let mut data = match earlier {
            None => Data::new(environment),
            Some(path) => {
                let data = Data::of_file(&path)?;
                match data.environment.other_machine(&environment) {
                    None => data,
                    Some(how) => return Err(MeasureError::Machine { path, how }),
                }
            }
        };
        data.given_name = given_name.map(str::to_owned).or(data.given_name);
        Ok(Plan { selection, folder: folder.to_owned(), data, effort, time_limit, tasks })
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

    fn missing(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !self.data.done.contains(&task.name()))
    }

    /// Measures what is missing. `run` creates runs that can be stopped; `announce` receives a line when a task starts.
    ///
    /// # Errors
    /// Outputs differ, a file cannot be written, a build fails, or a run was stopped.
    pub fn execute(
        mut self,
        run: &dyn Fn(usize) -> Arc<Run>,
        announce: &mut dyn FnMut(&str),
    ) -> Result<(), MeasureError> {
        let start = Instant::now();
        // A resumed report adds to the time of the interrupted one.
        let before = self.data.setup.as_ref().map_or(0.0, |setup| setup.took_seconds);
        let (part, missing) = (self.folder.join(PART), self.missing().cloned().collect::<Vec<_>>());
        for (done, task) in missing.iter().enumerate() {
            let predicted = span(task.predicted(self.time_limit).as_nanos() as f64);
            announce(&format!("{}/{} {} (about {predicted})", done + 1, missing.len(), task.name()));
            // Checks for cancellation, since not every task has its own run.
            run(1).advance(0)?;
            self.measure(task, run)?;
            self.data.done.insert(task.name());
            let took_seconds = before + start.elapsed().as_secs_f64();
            let (draft, time_limit_seconds) = (self.effort.draft, self.time_limit.as_secs_f64());
            self.data.setup = Some(Setup { draft, time_limit_seconds, took_seconds });
            self.data.write(&part)?;
        }
        let file = self.folder.join(FILE);
        match part.is_file() {
            true => fs::rename(&part, &file).map_err(|source| SavedError::Write { path: file, source }.into()),
            false => Ok(self.data.write(&file)?),
        }
    }

    fn measure(&mut self, task: &Task, run: &dyn Fn(usize) -> Arc<Run>) -> Result<(), MeasureError> {
        match task {
            Task::Sources => self.data.sources = Some(Sources::here(revision(&run(1))?)?),
            Task::Trials { inputs } => {
                self.data.trials = inputs.iter().map(|input| self.trial(input, &run(1))).collect::<Result<_, _>>()?;
            }
            Task::Needs => self.data.needs = self.needs()?,
            Task::Ceilings => {
                let mut readings = Vec::new();
                for group in ceilings::groups() {
                    run(1).advance(0)?;
                    readings.extend(group.measure(self.machine()));
                }
                self.data.ceilings = readings;
            }
            Task::Duel { input, threads, budget } => {
                let duel = self.duel(input, *threads, *budget, &run(*threads))?;
                self.keep(duel);
            }
            Task::Native { input, budget } => {
                let duel = self.native(input, *budget, &run(1))?;
                self.keep(duel);
            }
            Task::Game { game, limit, budget } => {
                let game = self.game(game, *limit, *budget, run)?;
                self.data.games.push(game);
            }
            Task::Far { game, limit } => self.data.far.push(far(game, *limit, &run(1))?),
            Task::Again(task) => self.measure(task, run)?,
        }
        Ok(())
    }

    fn keep(&mut self, duel: Duel) {
        let [first, last] = &mut self.data.dates;
        *last = utc_now();
        if self.data.duels.is_empty() {
            first.clone_from(last);
        }
        self.data.duels.push(duel);
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
        let times = duel.rows.into_iter().map(|row| (row.kernel, row.median_seconds)).collect();
        Ok(Trial { case: input.case.clone(), times })
    }

    fn needs(&self) -> Result<Vec<KernelNeeds>, MeasureError> {
        let mut rows = Vec::new();
        for operation in OPERATIONS {
            let workload = operation.workloads()[0];
            let session = operation.session(&self.selection, workload.name, workload.published)?;
            for (index, kernel) in session.kernels().iter().enumerate() {
                let (operation, kernel) = (operation.name().to_owned(), kernel.name.to_owned());
                rows.extend(session.needs(index).map(|needs| KernelNeeds { operation, kernel, needs }));
            }
        }
        Ok(rows)
    }

    fn native(&self, input: &Input, budget: Duration, run: &Run) -> Result<Duel, MeasureError> {
        let file = self.folder.join("native.part");
        let mut command = program(Order::native(Path::new(".")).program(run)?.path);
        command.args(["compare", input.operation.name(), "--workload", &input.case.workload]);
        command.args(["--size", &input.case.size.to_string(), "--seconds", &budget.as_secs_f64().to_string()]);
        let time_limit = input.time_limit(self.time_limit).as_secs_f64();
        command.args(["--time-limit", &time_limit.to_string(), "--save"]).arg(&file);
        output_of(&mut command, run)?;
        let saved = Saved::read(&file)?;
        fs::remove_file(&file).map_err(|source| SavedError::Write { path: file, source })?;
        Ok(saved.content)
    }

    fn game(
        &self,
        game: &'static Game,
        limit: u64,
        budget: Duration,
        run: &dyn Fn(usize) -> Arc<Run>,
    ) -> Result<GameDuel, MeasureError> {
        let time_limit = self.time_limit.max(self.effort.headline_time_limit);
        let sets = kernel_sets(game, limit, &self.selection, time_limit)?;
        let contender = |(index, KernelSet { name, selection, .. }): (usize, &KernelSet)| Contender {
            kernel: (*name).to_owned(),
            index,
            tier: self.machine().strongest_tier().name().to_owned(),
            claim: Claim::Exact,
            threads: selection.threads(),
        };
        let lineup = Lineup {
            case: Case::new(game.name, "-", limit),
            unit: "game",
            clock: Clock::Wall,
            contenders: sets.iter().enumerate().map(contender).collect(),
            skipped: Vec::new(),
        };
        let question = game.question(limit);
        let runs: Vec<Arc<Run>> = sets.iter().map(|set| run(set.selection.threads())).collect();
        let mut open = |_| Ok(Solvers { game, limit, question: &question, sets: &sets, runs: &runs });
        let (names, mut enough) = (lineup.names(), |_: &_| false);
        let played = play(&lineup.case, &names, 1, budget, &mut open, &mut enough, &mut |_| {})?;
        let duel = lineup.duel(&played, |number| number);
        Ok(GameDuel { duel, sets: sets.into_iter().map(|set| (set.name.to_owned(), set.kernels)).collect() })
    }
}

/// Plays the duel of a game, in this process.
struct Solvers<'a> {
    game: &'static Game,
    limit: u64,
    question: &'a Question,
    sets: &'a [KernelSet],
    runs: &'a [Arc<Run>],
}

impl Solvers<'_> {
    fn solve(&self, set: usize) -> Result<Solution, DuelError> {
        let solver = Solver::new(&self.sets[set].selection, &self.runs[set]);
        self.question.solve(&solver).map_err(|error| match error {
            SolveError::Run(stop) => stop.into(),
            error => DuelError::Player(error.to_string()),
        })
    }
}

impl Player for Solvers<'_> {
    fn check(&mut self, set: usize) -> Result<Checked, DuelError> {
        let start = Instant::now();
        let digest = self.solve(set)?.digest();
        let once = start.elapsed();
        if let Some(known) = known::find_game(self.game, self.limit) {
            known.check(&digest).map_err(DuelError::WrongAnswer)?;
        }
        let digest = digest.into_iter().map(|(name, number)| (name.to_owned(), number)).collect();
        Ok(Checked { digest, work: 1, once })
    }

    fn turn(&mut self, set: usize, times: u64) -> Result<Duration, DuelError> {
        Clock::Wall.time(|| (0..times).try_for_each(|_| self.solve(set).map(|solution| drop(black_box(solution)))))
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
