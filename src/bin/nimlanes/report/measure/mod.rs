//! Measures what a report needs, task by task. All of it is one file, which is written anew as soon as a task is done, so an interrupted
//! report resumes where it stopped. Older measurements stay until all is measured.

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
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::{Claim, Run};
use nimlanes::lab::ceilings;
use nimlanes::lab::clock::Clock;
use nimlanes::lab::environment::Environment;
use nimlanes::lab::known;
use nimlanes::machine::Machine;
use nimlanes::units::span;

use self::tasks::{Effort, Planned, TIME_LIMIT, Task};
use super::data::sources::{Sources, revision};
use super::data::{Data, FILE, FarSolution, KernelNeeds};
use crate::files::saved::{SavedError, write_json};
use crate::measuring::duel::{
    Checked, Contender, Duel, DuelError, DuelOptions, Lineup, Match, PROCESSES, Player, play,
};
use crate::measuring::programs::{complete, program, this_program};
use crate::terminal::failure::Failure;
use nimlanes::lab::clock::utc_now;

/// The tasks for one machine, and what is measured of them.
pub struct Plan {
    selection: Selection,
    folder: PathBuf,
    data: Data,
    effort: Effort,
    tasks: Vec<Task>,
}

/// The file of the measurements in a folder until all are made.
const PART: &str = "measurements.part";

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
    ) -> Result<Self, Failure> {
        let environment = Environment::detect(&machine);
        let selection = Selection::new(machine);
        let tasks = tasks::all(&effort, &selection)?;
        let earlier = [PART, FILE].map(|name| folder.join(name)).into_iter().find(|path| !again && path.is_file());
        let mut data = match earlier {
            None => Data::new(environment),
            Some(path) => {
                let data = Data::of_file(&path)?;
                match data.environment.other_machine(&environment) {
                    None => data,
                    Some(how) => {
                        let path = path.display();
                        let other =
                            format!("{path}: measured on another machine: {how}; --again measures everything here");
                        return Err(Failure::Failed(other));
                    }
                }
            }
        };
        data.draft = effort.draft;
        data.given_name = given_name.map(str::to_owned).or(data.given_name);
        Ok(Plan { selection, folder: folder.to_owned(), data, effort, tasks })
    }

    /// The remaining work, in one line.
    pub fn summary(&self) -> String {
        let (count, limit) = (self.missing().count(), span(TIME_LIMIT.as_nanos() as f64));
        format!("{count} measurements into {}, runs of up to {limit}", self.folder.display())
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
    pub fn execute(mut self, run: &dyn Fn(usize) -> Arc<Run>, announce: &mut dyn FnMut(&str)) -> Result<(), Failure> {
        let (part, missing) = (self.folder.join(PART), self.missing().cloned().collect::<Vec<_>>());
        for (done, task) in missing.iter().enumerate() {
            announce(&format!("{}/{} {}", done + 1, missing.len(), task.name()));
            // Checks for cancellation, since not every task has its own run.
            run(1).advance(0)?;
            self.measure(task, run)?;
            self.data.done.insert(task.name());
            write_json(&part, &self.data)?;
        }
        let file = self.folder.join(FILE);
        match part.is_file() {
            true => fs::rename(&part, &file).map_err(|source| SavedError::Write(file, source))?,
            false => write_json(&file, &self.data)?,
        }
        Ok(())
    }

    fn measure(&mut self, task: &Task, run: &dyn Fn(usize) -> Arc<Run>) -> Result<(), Failure> {
        match task {
            Task::Sources => self.data.sources = Some(Sources::here(revision(&run(1))?)?),
            Task::Needs => self.data.needs = self.needs()?,
            Task::Ceilings => {
                let mut readings = Vec::new();
                for group in ceilings::groups() {
                    run(1).advance(0)?;
                    readings.extend(group.measure(self.machine()));
                }
                self.data.ceilings = readings;
            }
            Task::Duel(planned) => {
                let duel = self.duel(planned, &run(planned.threads))?;
                let [first, last] = &mut self.data.dates;
                *last = utc_now();
                if self.data.duels.is_empty() {
                    first.clone_from(last);
                }
                self.data.duels.push(duel);
            }
            Task::Game { game, limit, budget } => {
                let game = self.game(game, *limit, *budget, run)?;
                self.data.games.push(game);
            }
            Task::Far { game, limit } => self.data.far.push(far(game, *limit, &run(1))?),
        }
        Ok(())
    }

    fn duel(&self, planned: &Planned, run: &Run) -> Result<Duel, Failure> {
        let Planned { operation, case, included, threads, budget } = planned;
        let always_included: Vec<String> = included.iter().map(|kernel| (*kernel).to_owned()).collect();
        // All kernels use the wall clock on several threads, so that others need not be compared there.
        let kernels = if *threads > 1 { always_included.clone() } else { Vec::new() };
        let (threads, budget) = (*threads, *budget);
        let options = DuelOptions { kernels, baseline: None, threads, budget, time_limit: TIME_LIMIT, always_included };
        let open = || Ok(operation.session(&self.selection, &case.workload, case.size)?);
        Ok(Match::new(open, &options, PROCESSES, self.machine(), run)?.play(&[], None, &mut |_| {})?.duel)
    }

    fn needs(&self) -> Result<Vec<KernelNeeds>, Failure> {
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

    fn game(
        &self,
        game: &'static Game,
        limit: u64,
        budget: Duration,
        run: &dyn Fn(usize) -> Arc<Run>,
    ) -> Result<Duel, Failure> {
        let sets = self.selections(game, limit)?;
        let contender = |(index, (name, selection)): (usize, &(&str, Selection))| Contender {
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
        let runs: Vec<Arc<Run>> = sets.iter().map(|(_, selection)| run(selection.threads())).collect();
        let mut open = |_| Ok(Solvers { game, limit, question: &question, sets: &sets, runs: &runs });
        let (names, mut enough) = (lineup.names(), |_: &_| false);
        let played = play(&lineup.case, &names, 1, budget, &mut open, &mut enough, &mut |_| {})?;
        Ok(lineup.duel(&played, |number| number))
    }

    /// The baselines of a game (the first kernels within the time limit), the fastest in plain Rust, and the selected kernels.
    fn selections(&self, game: &Game, limit: u64) -> Result<[(&'static str, Selection); 3], Failure> {
        let [mut baseline, mut plain] = [(); 2].map(|()| self.selection.clone());
        for name in game.operations {
            let operation = nimlanes::cores::operation(name).map_err(NameError::from)?;
            let session = operation.session(&self.selection, operation.workloads()[0].name, limit)?;
            let candidates = session.candidates(1, self.effort.headline_time_limit);
            if let Some(first) = candidates.iter().find(|candidate| candidate.is_able()) {
                baseline = baseline.with_kernel(name, first.name)?;
            }
            let candidates = session.candidates(1, Duration::MAX);
            let is_plain = |candidate: &&Candidate| session.kernels()[candidate.index].is_plain();
            if let Some(best) = quickest(candidates.iter().filter(is_plain)) {
                plain = plain.with_kernel(name, best.name)?;
            }
        }
        Ok([("baseline", baseline), ("best_plain", plain), ("best", self.selection.clone())])
    }
}

/// Plays the duel of a game, in this process.
struct Solvers<'a> {
    game: &'static Game,
    limit: u64,
    question: &'a Question,
    sets: &'a [(&'static str, Selection)],
    runs: &'a [Arc<Run>],
}

impl Solvers<'_> {
    fn solve(&self, set: usize) -> Result<Solution, DuelError> {
        let solver = Solver::new(&self.sets[set].1, &self.runs[set]);
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

/// Solves a game in its own process and checks the answer against the known one.
fn far(game: &Game, limit: u64, run: &Run) -> Result<FarSolution, Failure> {
    let mut command = program(this_program()?);
    let output = complete(command.args(["solve", game.name, "--json", "--limit", &limit.to_string()]), "", run)?;
    let not_json = |error| Failure::Failed(format!("solve {} failed: {error}", game.name));
    let far: FarSolution = serde_json::from_str(&output).map_err(not_json)?;
    match known::find_game(game, limit).and_then(|known| known.figure("answer")) {
        Some(known) if known.to_string() != far.answer => Err(Failure::Failed(format!(
            "{} {limit}: the answer is {}, but the known answer is {known}",
            game.name, far.answer
        ))),
        _ => Ok(far),
    }
}
