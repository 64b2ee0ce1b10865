//! Measuring what a report needs: tasks read off the registry, each saved in a file of its own as soon as it is done, so
//! that an interrupted report goes on where it stopped.

use std::fs;
use std::hint::{black_box, spin_loop};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::cores::OPERATIONS;
use crate::games::{GAMES, Game, Question, SolveError, Solver};
use crate::kernel::{InputError, Run, Stop, Tier, Workload};
use crate::lab::ceilings::CEILINGS;
use crate::lab::clock::Clock;
use crate::lab::duel::{
    Duel, DuelError, FEWEST_ROUNDS, Skipped, TURN, Terms, fight, in_turns, obstacle, quantile, ratios,
};
use crate::lab::environment::{BUILD, Environment};
use crate::lab::known;
use crate::lab::saved::{Measured, Saved, SavedError};
use crate::machine::Machine;
use crate::selection::{SelectError, Selection, span};
use crate::session::{AnyOperation, KernelInfo, Session};

use super::data::{
    Built, Ceilings, Choice, Choices, ClockRow, Clocks, Far, GameDuel, GameRow, Setup, Start, Starts, Stated,
    Statement, Trial, Trials, files,
};
use super::estimates;

/// A measurement that was not made.
#[derive(Debug, thiserror::Error)]
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
    /// A game was not solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A game has another answer than it should.
    #[error("{0}")]
    Answer(String),
    /// The run was stopped.
    #[error(transparent)]
    Stop(#[from] Stop),
    /// Another program failed.
    #[error("{what} failed: {why}")]
    Child {
        /// Its command line.
        what: String,
        /// Its last line on stderr.
        why: String,
    },
}

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
    /// with those that everybody knows: the best scalar kernel and the best public ones.
    invitation: Duration,
    /// Budget of any other duel.
    other: Duration,
    /// How long a kernel runs in a process of its own.
    start: Duration,
}

impl Pace {
    /// All of it.
    pub const FULL: Pace = Pace {
        draft: false,
        total: Duration::from_secs(760),
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
enum Task {
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
struct Input {
    operation: &'static dyn AnyOperation,
    workload: &'static Workload,
    size: u64,
    predicted: Vec<Predicted>,
}

/// What a kernel is predicted to take for a run on one thread.
#[derive(Clone)]
struct Predicted {
    kernel: &'static str,
    run: Duration,
    /// Whether it takes part however long it needs.
    is_invited: bool,
}

impl Input {
    fn new(
        operation: &'static dyn AnyOperation,
        workload: &'static Workload,
        size: u64,
        machine: &Machine,
    ) -> Result<Self, InputError> {
        let session = operation.session(machine, workload.name, size)?;
        let costs = session.kernels().into_iter().enumerate().map(|(index, kernel)| (kernel, session.cost(index, 1)));
        let able = costs.filter(|(_, cost)| cost.is_possible() && cost.bytes <= machine.memory() as f64);
        let predicted = able.map(|(kernel, cost)| {
            let run = Duration::from_secs_f64(cost.ns.min(1e18) / 1e9);
            Predicted { kernel, run, is_invited: false }
        });
        let mut input = Input { operation, workload, size, predicted: predicted.collect() };
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

    fn invited(&self) -> impl Iterator<Item = &Predicted> {
        self.predicted.iter().filter(|predicted| predicted.is_invited)
    }

    /// The shortest run; nothing if there is none.
    fn least(&self) -> Duration {
        self.predicted.iter().map(|predicted| predicted.run).min().unwrap_or_default()
    }

    fn session(&self, machine: &Machine) -> Result<Box<dyn Session>, InputError> {
        self.operation.session(machine, self.workload.name, self.size)
    }

    fn bearable(&self, patience: Duration) -> impl Iterator<Item = Duration> {
        let bearable = self.predicted.iter().filter(move |own| own.is_invited || own.run <= patience);
        bearable.map(|predicted| predicted.run)
    }

    /// Patience that lets everybody in who is invited, or bearable anyway.
    fn patience(&self, patience: Duration) -> Duration {
        let longest = self.invited().map(|predicted| predicted.run).max().unwrap_or_default();
        patience.max(longest + Duration::from_micros(1)) // predictions are rounded to nanoseconds
    }

    /// What a duel over it takes: the runs that compare outputs, then at least the fewest rounds.
    fn duel(&self, patience: Duration, budget: Duration) -> Duration {
        let first: Duration = self.bearable(patience).sum();
        let round: Duration = self.bearable(patience).map(|run| run.max(TURN)).sum();
        first + budget.max(round * FEWEST_ROUNDS as u32) + round / 2
    }

    fn name(&self) -> String {
        format!("{}-{}-{}", self.operation.name(), self.workload.name, self.size)
    }

    fn subject(&self) -> (&'static str, &'static str, &str, u64) {
        (self.operation.name(), self.operation.unit(), self.workload.name, self.size)
    }
}

impl Task {
    /// The file that keeps it, without suffix.
    fn name(&self) -> String {
        match self {
            Task::Choices => "choices".to_owned(),
            Task::Trials { .. } => "trials".to_owned(),
            Task::Needs => "needs".to_owned(),
            Task::Ceilings => "ceilings".to_owned(),
            Task::Clocks => "clocks".to_owned(),
            Task::Estimates { build, .. } => format!("estimates-{build}"),
            Task::Duel { input, threads: 1, .. } => format!("duel-{BUILD}-{}", input.name()),
            Task::Duel { input, threads, .. } => format!("duel-{BUILD}-{}-threads-{threads}", input.name()),
            Task::Native { input, .. } => format!("duel-native-{}", input.name()),
            Task::Starts { input, .. } => format!("starts-{}", input.name()),
            Task::Game { game, limit, .. } => format!("game-{}-{limit}", game.name),
            Task::Far { game, limit } => format!("far-{}-{limit}", game.name),
            Task::Build { native } => format!("built-{}", if *native { "native" } else { "default" }),
        }
    }

    /// About how long it takes.
    fn predicted(&self, patience: Duration) -> Duration {
        match self {
            Task::Choices | Task::Needs | Task::Estimates { .. } => Duration::from_secs(1),
            Task::Trials { inputs } => TRIAL * 3 / 2 * inputs.len() as u32,
            Task::Ceilings => CEILING_TIME * CEILINGS.len() as u32,
            Task::Clocks => CLOCK_BUDGET * 6,
            Task::Duel { input, budget, .. } | Task::Native { input, budget } => input.duel(patience, *budget),
            Task::Starts { input, each } => {
                input.bearable(patience).map(|run| (run * 2).max(*each) + Duration::from_millis(60)).sum()
            }
            Task::Game { limit, budget, .. } => *budget + if *limit > SMALL { patience * 2 } else { Duration::ZERO },
            Task::Far { .. } => FAR_TIME,
            Task::Build { .. } => BUILD_TIME,
        }
    }
}

/// About how long a ceiling takes, its buffer included.
const CEILING_TIME: Duration = Duration::from_millis(200);

/// About how long a build from nothing takes on two cores.
const BUILD_TIME: Duration = Duration::from_secs(110);

/// About how long a far answer takes, between a tenth of a second and less than a minute.
const FAR_TIME: Duration = Duration::from_secs(5);

/// The tasks for one machine, and where their results go.
pub struct Plan<'a> {
    machine: Machine,
    folder: &'a Path,
    pace: Pace,
    patience: Duration,
    tasks: Vec<Task>,
}

/// Where a native build is looked for, or made.
const NATIVE: [&str; 2] = ["target/report/native/release/nimlanes", "target/native/release/nimlanes"];

impl<'a> Plan<'a> {
    /// Everything that the registry holds, at a pace.
    ///
    /// # Errors
    /// A workload is listed with a size that it does not have.
    pub fn new(machine: Machine, folder: &'a Path, pace: Pace) -> Result<Self, MeasureError> {
        let mut tasks = Vec::new();
        if !pace.draft {
            tasks.extend([false, true].map(|native| Task::Build { native }));
        }
        tasks.extend([Task::Choices, Task::Needs, Task::Ceilings, Task::Clocks]);
        tasks.extend(estimates::FOLDERS.map(|(build, from)| Task::Estimates { build, from }));
        for operation in OPERATIONS.iter().copied() {
            for workload in operation.workloads() {
                tasks.extend(duels(operation, workload, &pace, &machine)?);
            }
        }
        tasks.push(Task::Trials { inputs: trials(&pace, &machine)? });
        for game in GAMES {
            for limit in [10, SMALL, game.published] {
                tasks.push(Task::Game { game, limit, budget: pace.other });
            }
            if !pace.draft {
                tasks.extend(game.far.iter().map(|limit| Task::Far { game, limit: *limit }));
            }
        }
        let total = |patience| tasks.iter().map(|task| task.predicted(patience)).sum::<Duration>();
        let patience = PATIENCE_MS.map(Duration::from_millis);
        let patience = patience.into_iter().find(|patience| total(*patience) <= pace.total);
        let patience = patience.unwrap_or(Duration::from_millis(PATIENCE_MS[PATIENCE_MS.len() - 1]));
        Ok(Plan { machine, folder, pace, patience, tasks })
    }

    /// What is to be done, in a line.
    pub fn summary(&self) -> String {
        let time: Duration = self.missing().map(|task| task.predicted(self.patience)).sum();
        let (count, folder, patience) =
            (self.missing().count(), self.folder.display(), self.patience.as_nanos() as f64);
        let minutes = time.as_secs_f64() / 60.0;
        format!("{count} measurements into {folder}, about {minutes:.0} min, runs of up to {}", span(patience))
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
            self.measure(task, run)?;
            self.save("setup", self.setup(before + start.elapsed().as_secs_f64()))?;
        }
        Ok(())
    }

    fn setup(&self, took_seconds: f64) -> Setup {
        Setup { draft: self.pace.draft, patience_seconds: self.patience.as_secs_f64(), took_seconds }
    }

    fn save<T: Measured>(&self, name: &str, content: T) -> Result<(), MeasureError> {
        let environment = Environment::detect(&self.machine);
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
                let rows = CEILINGS.iter().map(|ceiling| ceiling.measure(&self.machine)).collect();
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
        let session = input.session(&self.machine)?;
        let names = session.kernels();
        let mut invited: Vec<String> = input.invited().map(|predicted| predicted.kernel.to_owned()).collect();
        let mut kernels = Vec::new();
        if threads > 1 {
            // The clock is the wall for all; those that are invited are enough to compare with.
            let parallel = (0..names.len()).filter(|kernel| session.is_parallel(*kernel));
            invited.extend(parallel.map(|kernel| names[kernel].to_owned()));
            kernels = invited.clone();
        }
        let terms = Terms { kernels, baseline: None, threads, budget, patience: self.patience, invited };
        Ok(fight(input.subject(), session.as_ref(), &self.machine, &terms, run, &mut |_| {})?)
    }

    fn choices(&self) -> Result<Choices, MeasureError> {
        let mut rows = Vec::new();
        for operation in OPERATIONS {
            for workload in operation.workloads() {
                for size in sizes(*operation, workload, &self.pace, &self.machine)? {
                    for tier in Tier::ALL.iter().filter(|tier| **tier <= self.machine.tier()) {
                        let machine = self.machine.capped(*tier);
                        let session = operation.session(&machine, workload.name, size)?;
                        let selection = Selection::new(machine).with_threads(1)?;
                        rows.push(Choice {
                            operation: operation.name().to_owned(),
                            workload: workload.name.to_owned(),
                            size,
                            tier: tier.name().to_owned(),
                            kernel: session.kernels()[selection.kernel_of(session.as_ref())?].to_owned(),
                        });
                    }
                }
            }
        }
        Ok(Choices { rows })
    }

    fn trial(&self, input: &Input, run: &Run) -> Result<Trial, MeasureError> {
        let session = input.session(&self.machine)?;
        let selection = Selection::new(self.machine).with_threads(1)?;
        let names = session.kernels();
        let selected = names[selection.kernel_of(session.as_ref())?];
        let near = input.least() * TRIED;
        let baseline = Some(selected.to_owned());
        let (kernels, invited) = (Vec::new(), Vec::new());
        let terms = Terms { kernels, baseline, threads: 1, budget: TRIAL, patience: near, invited };
        let duel = fight(input.subject(), session.as_ref(), &self.machine, &terms, run, &mut |_| {})?;
        let quickest = duel.rows.first().ok_or(Stop::Cancelled)?;
        Ok(Trial {
            operation: input.operation.name().to_owned(),
            workload: input.workload.name.to_owned(),
            size: input.size,
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
            let session = operation.session(&self.machine, workload.name, workload.published)?;
            for (kernel, name) in session.kernels().into_iter().enumerate() {
                let (operation, kernel_name) = (operation.name().to_owned(), name.to_owned());
                rows.extend(session.needs(kernel).map(|needs| Statement { operation, kernel: kernel_name, needs }));
            }
        }
        Ok(Stated { rows })
    }

    /// Times the quickest scalar kernel of the first operation beside neighbours, by both clocks.
    fn clocks(&self, run: &Run) -> Result<Clocks, MeasureError> {
        let operation = OPERATIONS[0];
        let workload = operation.workloads()[0];
        let session = operation.session(&self.machine, workload.name, workload.published)?;
        let listed = operation.kernels(&self.machine);
        let names = session.kernels();
        let is_scalar = |kernel: &usize| listed.iter().any(|k| k.name == names[*kernel] && k.is_scalar());
        let scalar = (0..names.len()).filter(is_scalar);
        let cost = |kernel: &usize| session.cost(*kernel, 1).ns;
        let Some(kernel) = scalar.min_by(|a, b| cost(a).total_cmp(&cost(b))) else {
            return Err(Stop::Cancelled.into());
        };
        let once = Duration::from_secs_f64((cost(&kernel) / 1e9).clamp(1e-9, 10.0));
        let mut rows = Vec::new();
        for neighbours in Neighbours::ALL {
            for clock in [Clock::Thread, Clock::Wall] {
                let times = neighbours.beside(self.machine.threads(), || {
                    in_turns(&[once], clock, CLOCK_BUDGET, &mut |_| session.spin(kernel, run), &mut |_| {})
                })?;
                let [low_seconds, median_seconds, high_seconds] =
                    [0.1, 0.5, 0.9].map(|q| quantile(&mut times[0].clone(), q));
                let (clock, neighbours) = (clock.name().to_owned(), neighbours.name().to_owned());
                rows.push(ClockRow { clock, neighbours, median_seconds, low_seconds, high_seconds });
            }
        }
        let subject = format!("{}/{}/{}/{}", operation.name(), workload.name, names[kernel], workload.published);
        Ok(Clocks { subject, rows })
    }

    fn native(&self, input: &Input, budget: Duration, path: &Path) -> Result<(), MeasureError> {
        let Some(program) = NATIVE.iter().map(Path::new).find(|program| program.is_file()) else { return Ok(()) };
        let mut command = Command::new(program);
        command.args(["compare", input.operation.name(), "--workload", input.workload.name]);
        command.args(["--size", &input.size.to_string(), "--seconds", &budget.as_secs_f64().to_string()]);
        let patience = input.patience(self.patience).as_secs_f64();
        command.args(["--patience", &patience.to_string(), "--save"]).arg(path);
        output_of(&mut command).map(drop)
    }

    fn starts(&self, input: &Input, each: Duration) -> Result<Starts, MeasureError> {
        let session = input.session(&self.machine)?;
        let (mut rows, mut skipped) = (Vec::new(), Vec::new());
        let program = this_program()?;
        let patience = input.patience(self.patience);
        for (kernel, name) in session.kernels().into_iter().enumerate() {
            let obstacle = |threads| obstacle(session.as_ref(), kernel, threads, &self.machine, patience);
            let Some(threads) = [1, self.machine.threads()].into_iter().find(|threads| obstacle(*threads).is_none())
            else {
                skipped.push(Skipped { kernel: name.to_owned(), reason: obstacle(1).unwrap_or_default() });
                continue;
            };
            // Long enough for a second run.
            let seconds = each.as_secs_f64().max(1.5 * session.cost(kernel, threads).ns / 1e9);
            let mut command = Command::new(&program);
            command.args([
                "run",
                "--json",
                input.operation.name(),
                "--workload",
                input.workload.name,
                "--kernel",
                name,
            ]);
            command.args(["--size", &input.size.to_string(), "--threads", &threads.to_string()]);
            rows.push(json_of::<Start>(command.args(["--seconds", &seconds.to_string()]))?);
        }
        let (operation, workload, size) =
            (input.operation.name().to_owned(), input.workload.name.to_owned(), input.size);
        Ok(Starts { operation, workload, size, rows, skipped })
    }

    fn game(
        &self,
        game: &Game,
        limit: u64,
        budget: Duration,
        run: &dyn Fn(usize) -> Arc<Run>,
    ) -> Result<GameDuel, MeasureError> {
        let casts = casts(game, limit, &self.machine, self.patience)?;
        let (clock, question) = (Clock::Wall, Question::new(limit));
        let runs: Vec<Arc<Run>> = casts.iter().map(|cast| run(cast.selection.threads())).collect();
        let solve = |cast: usize| {
            let solver = Solver { selection: &casts[cast].selection, run: &runs[cast], watcher: &|_, _, _, _| {} };
            game.solve(&question, &solver)
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
        let mut spin = |cast: usize| match solve(cast) {
            Ok(solution) => {
                black_box(solution);
                Ok(())
            }
            Err(SolveError::Stop(stop)) => Err(stop),
            Err(error) => {
                failed = Some(error);
                Err(Stop::Cancelled)
            }
        };
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

/// Whether a workload is the one that an operation is known by.
fn is_first(operation: &dyn AnyOperation, workload: &Workload) -> bool {
    operation.workloads()[0].name == workload.name
}

/// The sizes at which a workload is measured, ascending.
fn sizes(
    operation: &'static dyn AnyOperation,
    workload: &'static Workload,
    pace: &Pace,
    machine: &Machine,
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
            sizes.extend((Input::new(operation, workload, size, machine)?.least() <= FURTHER).then_some(size));
        }
    }
    Ok(sizes)
}

/// Budget of a trial of the selected kernel.
const TRIAL: Duration = Duration::from_millis(300);

/// Who is predicted to take so many times as long as the quickest takes part in a trial.
const TRIED: u32 = 6;

/// Inputs longer than this for the quickest kernel are no trials.
const SHORT: Duration = Duration::from_millis(40);

/// The inputs of trials: all workloads at a hundredth, a tenth and three times the published size, where no duel is.
fn trials(pace: &Pace, machine: &Machine) -> Result<Vec<Input>, InputError> {
    let mut inputs = Vec::new();
    for operation in OPERATIONS.iter().copied() {
        for workload in operation.workloads() {
            let dueled = sizes(operation, workload, pace, machine)?;
            let published = workload.published;
            for size in [published / 100, published / 10, published * 3] {
                if size > SMALL && !dueled.contains(&size) {
                    let input = Input::new(operation, workload, size, machine)?;
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
    machine: &Machine,
) -> Result<Vec<Task>, InputError> {
    let mut tasks = Vec::new();
    let threads = machine.threads();
    let kernels = operation.kernels(machine);
    let is_parallel = |kernel: &KernelInfo| kernel.features.contains(&"parallel") && kernel.unavailable.is_none();
    let has_parallel = threads > 1 && kernels.iter().any(is_parallel);
    let is_scalar = |name| kernels.iter().any(|kernel| kernel.name == name && kernel.is_scalar());
    let is_first = is_first(operation, workload);
    let sizes = sizes(operation, workload, pace, machine)?;
    let largest = sizes.last().copied();
    for size in sizes {
        let mut input = Input::new(operation, workload, size, machine)?;
        if input.predicted.len() < 2 {
            continue; // nobody to compare with
        }
        if is_first && size > SMALL {
            let scalar = input.quickest(is_scalar);
            input.invite(|kernel| Some(kernel) == scalar || operation.public().contains(&kernel), pace.invitation);
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

/// One choice of kernels for a game.
struct Cast {
    name: &'static str,
    kernels: Vec<String>,
    selection: Selection,
}

/// The source's way (the first kernels that patience allows), the quickest scalar kernels, and those that are selected.
fn casts(game: &Game, limit: u64, machine: &Machine, patience: Duration) -> Result<Vec<Cast>, MeasureError> {
    let mut casts = ["baseline", "best_scalar", "best"].map(|name| (name, Vec::new()));
    for name in game.operations {
        let operation = crate::cores::operation(name).map_err(SelectError::from)?;
        let session = operation.session(machine, operation.workloads()[0].name, limit)?;
        let selected = session.kernels()[Selection::new(*machine).kernel_of(session.as_ref())?];
        let listed = operation.kernels(machine);
        let names = session.kernels();
        let ns = |kernel: &usize| session.cost(*kernel, 1).ns;
        let fit = |kernel: &usize| ns(kernel) <= patience.as_nanos() as f64;
        let is_scalar = |kernel: &usize| listed.iter().any(|k| k.name == names[*kernel] && k.is_scalar());
        let first = (0..names.len()).find(fit).map_or(selected, |kernel| names[kernel]);
        let scalar = (0..names.len()).filter(|kernel| is_scalar(kernel) && ns(kernel).is_finite());
        let scalar = scalar.min_by(|a, b| ns(a).total_cmp(&ns(b))).map_or(selected, |kernel| names[kernel]);
        for ((_, kernels), kernel) in casts.iter_mut().zip([first, scalar, selected]) {
            kernels.push(format!("{name}={kernel}"));
        }
    }
    let cast = |(name, kernels): (&'static str, Vec<String>)| {
        let selection =
            kernels.iter().try_fold(Selection::new(*machine), |selection, pair| selection.with_kernel(pair))?;
        Ok(Cast { name, kernels, selection })
    };
    casts.into_iter().map(cast).collect()
}

/// How long one clock is tried in one neighbourhood.
const CLOCK_BUDGET: Duration = Duration::from_millis(1200);

/// What runs beside a measurement.
#[derive(Clone, Copy)]
enum Neighbours {
    None,
    BusyLoops,
    MemoryStream,
}

impl Neighbours {
    const ALL: [Neighbours; 3] = [Neighbours::None, Neighbours::BusyLoops, Neighbours::MemoryStream];

    fn name(self) -> &'static str {
        match self {
            Neighbours::None => "nothing",
            Neighbours::BusyLoops => "a busy loop for each CPU",
            Neighbours::MemoryStream => "a program that streams memory",
        }
    }

    /// Does something while the neighbours run.
    fn beside<T>(self, threads: usize, work: impl FnOnce() -> T) -> T {
        let ended = AtomicBool::new(false);
        let goes_on = || !ended.load(Relaxed);
        thread::scope(|scope| {
            match self {
                Neighbours::None => {}
                Neighbours::BusyLoops => (0..threads).for_each(|_| {
                    scope.spawn(|| {
                        while goes_on() {
                            spin_loop()
                        }
                    });
                }),
                Neighbours::MemoryStream => {
                    scope.spawn(|| {
                        let mut memory = vec![0u64; STREAM_BYTES / 8];
                        while goes_on() {
                            for page in black_box(&mut memory).chunks_mut(1 << 16) {
                                page.iter_mut().for_each(|word| *word += 1);
                                if !goes_on() {
                                    break;
                                }
                            }
                        }
                    });
                }
            }
            let result = work();
            ended.store(true, Relaxed);
            result
        })
    }
}

/// More than caches hold.
const STREAM_BYTES: usize = 256 << 20;

/// Builds the program from nothing into a folder of its own, dependencies included.
fn build(native: bool) -> Result<Built, MeasureError> {
    let name = if native { "native" } else { "default" };
    let target = Path::new("target/report").join(name);
    if let Err(source) = fs::remove_dir_all(&target)
        && source.kind() != std::io::ErrorKind::NotFound
    {
        return Err(SavedError::Write { path: target, source }.into());
    }
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["build", "--release", "--locked", "--bin", "nimlanes", "--target-dir"]).arg(&target);
    if native {
        command.args(["--config", "build.rustflags=['-Ctarget-cpu=native']"]);
    }
    let start = Instant::now();
    output_of(&mut command)?;
    let seconds = start.elapsed().as_secs_f64();
    let program = target.join("release/nimlanes");
    let bytes = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    let stripped = target.join("stripped");
    let strip =
        Command::new("strip").arg("-o").arg(&stripped).arg(&program).status().is_ok_and(|status| status.success());
    Ok(Built {
        build: name.to_owned(),
        seconds,
        jobs: thread::available_parallelism().map_or(1, usize::from),
        program_bytes: bytes(&program),
        stripped_bytes: strip.then(|| bytes(&stripped)),
    })
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

fn this_program() -> Result<PathBuf, SavedError> {
    std::env::current_exe().map_err(|source| SavedError::Read { path: "this program".into(), source })
}

/// What a program printed as JSON.
fn json_of<T: DeserializeOwned>(command: &mut Command) -> Result<T, MeasureError> {
    let output = output_of(command)?;
    let unreadable = |error: serde_json::Error| MeasureError::Child { what: words(command), why: error.to_string() };
    serde_json::from_slice(&output).map_err(unreadable)
}

/// The command line.
fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// What a program printed.
fn output_of(command: &mut Command) -> Result<Vec<u8>, MeasureError> {
    let what = words(command);
    let failed = |why: String| MeasureError::Child { what: what.clone(), why };
    let output = command.stdin(Stdio::null()).output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(failed(text.lines().last().map_or(output.status.to_string(), str::to_owned)))
}
