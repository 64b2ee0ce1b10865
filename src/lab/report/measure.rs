//! Measuring what a report needs, task by task, each saved in a file of its own as soon as it is done, so that an interrupted
//! report goes on where it stopped.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::candidate::{Candidate, quickest};
use crate::case::Case;
use crate::cores::OPERATIONS;
use crate::cores::named::NameError;
use crate::games::{Game, SolveError, Solver};
use crate::kernel::{Run, RunError};
use crate::lab::ceilings;
use crate::lab::clock::Clock;
use crate::lab::duel::{Duel, DuelError, Skipped, Terms, fight, in_turns, quantile, ratios};
use crate::lab::environment::Environment;
use crate::lab::known;
use crate::lab::saved::{Measured, Saved, SavedError};
use crate::machine::Machine;
use crate::selection::{SelectError, Selection};
use crate::session::{KernelInfo, Session};
use crate::units::span;
use crate::workload::InputError;

use super::data::{
    Ceilings, Choice, Choices, ClockRow, Clocks, Far, GameDuel, GameRow, Setup, Start, Starts, Stated, Statement,
    Trial, Trials, files,
};
use super::estimates;
use super::neighbours::Neighbours;
use super::programs::{NATIVE, ProgramError, build, json_of, output_of, this_program};
use super::tasks::{self, CLOCK_BUDGET, Input, Pace, TRIAL, Task};

/// A measurement that was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// Kernels differ, or the run was stopped.
    #[error(transparent)]
    Duel(#[from] DuelError),
    /// A file.
    #[error(transparent)]
    Saved(#[from] SavedError),
    /// The registry names an input that does not exist.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No kernel can do an input.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// A name that is not listed.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A game was not solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A game has another answer than it should.
    #[error("{0}")]
    Answer(String),
    /// The run was stopped.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Another program.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// The tasks for one machine, and where their results go.
pub struct Plan<'a> {
    selection: Selection,
    folder: &'a Path,
    pace: Pace,
    patience: Duration,
    tasks: Vec<Task>,
}

/// Who is predicted to take so many times as long as the quickest takes part in a trial.
const TRIED: u32 = 6;

impl std::fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan").field("folder", &self.folder).field("pace", &self.pace).finish_non_exhaustive()
    }
}

impl<'a> Plan<'a> {
    /// Everything that the registry holds, at a pace.
    ///
    /// # Errors
    /// A workload is listed with a size that it does not have.
    pub fn new(machine: Machine, folder: &'a Path, pace: Pace) -> Result<Self, MeasureError> {
        let selection = Selection::new(machine);
        let tasks = tasks::all(&pace, &selection)?;
        let patience = tasks::patience(&pace, &tasks);
        Ok(Plan { selection, folder, pace, patience, tasks })
    }

    /// What is to be done, in a line.
    pub fn summary(&self) -> String {
        let time: Duration = self.missing().map(|task| task.predicted(self.patience)).sum();
        let (count, folder, patience) =
            (self.missing().count(), self.folder.display(), self.patience.as_nanos() as f64);
        let minutes = time.as_secs_f64() / 60.0;
        format!("{count} measurements into {folder}, about {minutes:.0} min, runs of up to {}", span(patience))
    }

    fn machine(&self) -> &Machine {
        self.selection.machine()
    }

    fn path(&self, task: &Task) -> PathBuf {
        self.folder.join(task.name() + ".json")
    }

    fn missing(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !self.path(task).is_file())
    }

    /// Forgets what was measured before.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn forget(&self) -> Result<(), SavedError> {
        if !self.folder.is_dir() {
            return Ok(());
        }
        files(self.folder)?.into_iter().try_for_each(|path| {
            fs::remove_file(&path).map_err(|source| SavedError::Write { path: path.clone(), source })
        })
    }

    /// Measures what is missing. `run` makes runs that can be stopped, `tell` is told what begins.
    ///
    /// # Errors
    /// Kernels that differ, a file that cannot be written, a build that fails, or a run that was stopped.
    pub fn carry_out(&self, run: &dyn Fn(usize) -> Arc<Run>, tell: &mut dyn FnMut(&str)) -> Result<(), MeasureError> {
        let start = Instant::now();
        // A report that goes on where another stopped took the time of both.
        let before =
            Saved::<Setup>::read(&self.folder.join("setup.json")).map_or(0.0, |setup| setup.content.took_seconds);
        let missing: Vec<&Task> = self.missing().collect();
        for (done, task) in missing.iter().enumerate() {
            let predicted = span(task.predicted(self.patience).as_nanos() as f64);
            tell(&format!("{}/{} {} (about {predicted})", done + 1, missing.len(), task.name()));
            // Not every task has a run of its own.
            run(1).advance(0)?;
            self.measure(task, run)?;
            self.save("setup", self.setup(before + start.elapsed().as_secs_f64()))?;
        }
        Ok(())
    }

    fn setup(&self, took_seconds: f64) -> Setup {
        Setup { draft: self.pace.draft, patience_seconds: self.patience.as_secs_f64(), took_seconds }
    }

    fn save<T: Measured>(&self, name: &str, content: T) -> Result<(), MeasureError> {
        let environment = Environment::detect(self.machine());
        Ok(Saved::now(environment, content).write(&self.folder.join(format!("{name}.json")))?)
    }

    fn measure(&self, task: &Task, run: &dyn Fn(usize) -> Arc<Run>) -> Result<(), MeasureError> {
        let name = task.name();
        match task {
            Task::Choices => self.save(&name, self.choices()?),
            Task::Trials { inputs } => {
                let rows = inputs.iter().map(|input| self.trial(input, &run(1))).collect::<Result<_, _>>()?;
                self.save(&name, Trials { rows })
            }
            Task::Needs => self.save(&name, self.stated()?),
            Task::Ceilings => {
                let mut rows = Vec::new();
                for group in ceilings::groups() {
                    run(1).advance(0)?;
                    rows.extend(group.measure(self.machine()));
                }
                self.save(&name, Ceilings { rows })
            }
            Task::Clocks => self.save(&name, self.clocks(&run(1))?),
            Task::Estimates { build, from } => {
                self.save(&name, estimates::read(build, Path::new(from), estimates::newest_source()?)?)
            }
            Task::Duel { input, threads, budget } => {
                self.save(&name, self.duel(input, *threads, *budget, &run(*threads))?)
            }
            Task::Native { input, budget } => self.native(input, *budget, &self.path(task)),
            Task::Starts { input, each } => self.save(&name, self.starts(input, *each)?),
            Task::Game { game, limit, budget } => self.save(&name, self.game(game, *limit, *budget, run)?),
            Task::Far { game, limit } => self.save(&name, far(game, *limit)?),
            Task::Build { native } => self.save(&name, build(*native)?),
        }
    }

    fn duel(&self, input: &Input, threads: usize, budget: Duration, run: &Run) -> Result<Duel, MeasureError> {
        let session = input.session(&self.selection)?;
        let mut invited: Vec<String> = input.invited().map(|predicted| predicted.kernel.to_owned()).collect();
        let mut kernels = Vec::new();
        if threads > 1 {
            // The clock is the wall for all; those that are invited are enough to compare with.
            let parallel = session.kernels().iter().filter(|kernel| kernel.is_parallel() && kernel.obstacle.is_none());
            invited.extend(parallel.map(|kernel| kernel.name.to_owned()));
            kernels = invited.clone();
        }
        let terms = Terms { kernels, baseline: None, threads, budget, patience: self.patience, invited };
        Ok(fight(session.as_ref(), &terms, run, &mut |_| {})?)
    }

    fn choices(&self) -> Result<Choices, MeasureError> {
        let mut rows = Vec::new();
        for operation in OPERATIONS {
            for workload in operation.workloads() {
                for size in tasks::sizes(*operation, workload, &self.pace, &self.selection)? {
                    for tier in self.machine().tiers() {
                        let selection = Selection::new(self.machine().capped(tier)).with_threads(1)?;
                        let session = operation.session(&selection, workload.name, size)?;
                        rows.push(Choice {
                            case: session.case().clone(),
                            tier: tier.name().to_owned(),
                            kernel: session.kernels()[selection.kernel_of(session.as_ref())?].name.to_owned(),
                        });
                    }
                }
            }
        }
        Ok(Choices { rows })
    }

    fn trial(&self, input: &Input, run: &Run) -> Result<Trial, MeasureError> {
        let session = input.session(&self.selection)?;
        let selection = self.selection.clone().with_threads(1)?;
        let selected = session.kernels()[selection.kernel_of(session.as_ref())?].name;
        let near = input.least() * TRIED;
        let baseline = Some(selected.to_owned());
        let (kernels, invited) = (Vec::new(), Vec::new());
        let terms = Terms { kernels, baseline, threads: 1, budget: TRIAL, patience: near, invited };
        let duel = fight(session.as_ref(), &terms, run, &mut |_| {})?;
        let quickest = duel.rows.first().ok_or(RunError::Cancelled)?;
        Ok(Trial {
            case: input.case.clone(),
            selected: selected.to_owned(),
            quickest: quickest.kernel.clone(),
            kernels: duel.rows.len(),
            loss: quickest.ratio,
            loss_low: quickest.ratio_low,
            loss_high: quickest.ratio_high,
        })
    }

    fn stated(&self) -> Result<Stated, MeasureError> {
        let mut rows = Vec::new();
        for operation in OPERATIONS {
            let workload = operation.workloads()[0];
            let session = operation.session(&self.selection, workload.name, workload.published)?;
            for (index, kernel) in session.kernels().iter().enumerate() {
                let (operation, kernel) = (operation.name().to_owned(), kernel.name.to_owned());
                rows.extend(session.needs(index).map(|needs| Statement { operation, kernel, needs }));
            }
        }
        Ok(Stated { rows })
    }

    /// Times the quickest kernel in plain Rust of the first operation beside neighbours, by both clocks.
    fn clocks(&self, run: &Run) -> Result<Clocks, MeasureError> {
        let operation = OPERATIONS[0];
        let workload = operation.workloads()[0];
        let session = operation.session(&self.selection, workload.name, workload.published)?;
        let Some(kernel) = quickest_plain(session.as_ref()) else { return Err(RunError::OutsideDomain.into()) };
        let once = Duration::from_secs_f64((session.cost(kernel, 1).ns / 1e9).clamp(1e-9, 10.0));
        let mut rows = Vec::new();
        for neighbours in Neighbours::ALL {
            for clock in [Clock::Thread, Clock::Wall] {
                let times = neighbours.beside(self.machine().threads(), || {
                    in_turns(
                        &[once],
                        clock,
                        CLOCK_BUDGET,
                        &mut |_, times| session.spin(kernel, run, times),
                        &mut |_| {},
                    )
                })??;
                let [low_seconds, median_seconds, high_seconds] =
                    [0.1, 0.5, 0.9].map(|q| quantile(&mut times[0].clone(), q));
                let (clock, neighbours) = (clock.name().to_owned(), neighbours.name().to_owned());
                rows.push(ClockRow { clock, neighbours, median_seconds, low_seconds, high_seconds });
            }
        }
        let subject = session.case().with_kernel(session.kernels()[kernel].name);
        Ok(Clocks { subject, rows })
    }

    fn native(&self, input: &Input, budget: Duration, path: &Path) -> Result<(), MeasureError> {
        let Some(program) = NATIVE.iter().map(Path::new).find(|program| program.is_file()) else { return Ok(()) };
        let mut command = Command::new(program);
        command.args(["compare", input.operation.name(), "--workload", &input.case.workload]);
        command.args(["--size", &input.case.size.to_string(), "--seconds", &budget.as_secs_f64().to_string()]);
        let patience = input.patience(self.patience).as_secs_f64();
        command.args(["--patience", &patience.to_string(), "--save"]).arg(path);
        Ok(output_of(&mut command).map(drop)?)
    }

    fn starts(&self, input: &Input, each: Duration) -> Result<Starts, MeasureError> {
        let session = input.session(&self.selection)?;
        let (mut rows, mut skipped) = (Vec::new(), Vec::new());
        let program = this_program()?;
        let patience = input.patience(self.patience);
        let numbers = [1, self.machine().threads()];
        let candidates = numbers.map(|threads| session.candidates(threads, patience));
        for (index, KernelInfo { name, .. }) in
            session.kernels().iter().enumerate().filter(|(_, k)| k.obstacle.is_none())
        {
            if let (Some(obstacle), Some(_)) = (&candidates[0][index].obstacle, &candidates[1][index].obstacle) {
                skipped.push(Skipped::new(name, obstacle));
                continue;
            }
            let first = usize::from(!candidates[0][index].is_able());
            let (threads, predicted) = (numbers[first], candidates[first][index].predicted());
            // Long enough for a second run.
            let seconds = each.as_secs_f64().max(1.5 * predicted.as_secs_f64());
            let mut command = Command::new(&program);
            let Case { operation, workload, size } = &input.case;
            command.args(["run", "--json", operation, "--workload", workload, "--size", &size.to_string()]);
            command.args(["--kernel", name, "--threads", &threads.to_string()]);
            rows.push(json_of::<Start>(command.args(["--seconds", &seconds.to_string()]))?);
        }
        Ok(Starts { case: input.case.clone(), rows, skipped })
    }

    fn game(
        &self,
        game: &'static Game,
        limit: u64,
        budget: Duration,
        run: &dyn Fn(usize) -> Arc<Run>,
    ) -> Result<GameDuel, MeasureError> {
        let casts = casts(game, limit, &self.selection, self.patience.max(self.pace.invitation))?;
        let (clock, question) = (Clock::Wall, game.question(limit));
        let runs: Vec<Arc<Run>> = casts.iter().map(|cast| run(cast.selection.threads())).collect();
        let solve = |cast: usize| {
            let solver = Solver::new(&casts[cast].selection, &runs[cast]);
            question.solve(&solver)
        };
        let mut once = Vec::new();
        let mut first = None;
        for (index, cast) in casts.iter().enumerate() {
            let start = clock.now();
            let solution = solve(index)?;
            once.push(clock.now() - start);
            if let Some(known) = known::of_game(game, limit) {
                known.check(&solution.digest()).map_err(MeasureError::Answer)?;
            }
            let answer = solution.answer;
            if *first.get_or_insert_with(|| answer.clone()) != answer {
                return Err(MeasureError::Answer(format!("{} {limit}: {} gives {answer}", game.name, cast.name)));
            }
        }
        let mut failed = None;
        let mut once_more = |cast: usize| match solve(cast) {
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
        let mut spin = |cast, times| (0..times).try_for_each(|_| once_more(cast));
        let times = in_turns(&once, clock, budget, &mut spin, &mut |_| {});
        if let Some(error) = failed {
            return Err(error.into());
        }
        let times = times?;
        let row = |(cast, own): (&Cast, &Vec<f64>)| {
            let [ratio_low, ratio, ratio_high] = ratios(&times[0], own);
            let (cast, kernels) = (cast.name.to_owned(), cast.kernels.clone());
            let median_seconds = quantile(&mut own.clone(), 0.5);
            GameRow { cast, kernels, rounds: own.len(), median_seconds, ratio, ratio_low, ratio_high }
        };
        let rows = casts.iter().zip(&times).map(row).collect();
        Ok(GameDuel { game: game.name.to_owned(), limit, clock: clock.name().to_owned(), rows })
    }
}

/// One choice of kernels for a game.
struct Cast {
    name: &'static str,
    kernels: Vec<String>,
    selection: Selection,
}

/// The kernel of a session that is predicted to be the quickest in plain Rust.
fn quickest_plain(session: &dyn Session) -> Option<usize> {
    let candidates = session.candidates(1, Duration::MAX);
    let is_plain = |candidate: &&Candidate| session.kernels()[candidate.index].is_plain();
    quickest(candidates.iter().filter(is_plain)).map(|candidate| candidate.index)
}

/// The source's way (the first kernels that patience allows), the quickest in plain Rust, and those that are selected.
fn casts(game: &Game, limit: u64, selection: &Selection, patience: Duration) -> Result<Vec<Cast>, MeasureError> {
    type Pair = (&'static str, &'static str);
    let mut casts = ["baseline", "best_plain", "best"].map(|name| (name, Vec::<Pair>::new()));
    for name in game.operations {
        let operation = crate::cores::operation(name).map_err(NameError::from)?;
        let session = operation.session(selection, operation.workloads()[0].name, limit)?;
        let listed = session.kernels();
        let selected = listed[selection.kernel_of(session.as_ref())?].name;
        let candidates = session.candidates(1, patience);
        let first = candidates.iter().find(|candidate| candidate.is_able()).map_or(selected, |able| able.name);
        let plain = quickest_plain(session.as_ref()).map_or(selected, |kernel| listed[kernel].name);
        for ((_, kernels), kernel) in casts.iter_mut().zip([first, plain, selected]) {
            kernels.push((*name, kernel));
        }
    }
    let cast = |(name, pairs): (&'static str, Vec<Pair>)| {
        let with = |selection: Selection, (operation, kernel): &Pair| selection.with_kernel(operation, kernel);
        let selection = pairs.iter().try_fold(selection.clone(), with)?;
        let kernels = pairs.iter().map(|(operation, kernel)| format!("{operation}={kernel}")).collect();
        Ok(Cast { name, kernels, selection })
    };
    casts.into_iter().map(cast).collect()
}

/// Solves a game in a process of its own, and holds its answer against the known one.
fn far(game: &Game, limit: u64) -> Result<Far, MeasureError> {
    let mut command = Command::new(this_program()?);
    let far: Far = json_of(command.args(["solve", game.name, "--json", "--limit", &limit.to_string()]))?;
    match known::of_game(game, limit).and_then(|known| known.figure("answer")) {
        Some(known) if known.to_string() != far.answer => {
            Err(MeasureError::Answer(format!("{} {limit}: the answer is {}, known is {known}", game.name, far.answer)))
        }
        _ => Ok(far),
    }
}
