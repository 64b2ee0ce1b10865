//! Duels over several processes, of this build alone or against another. Every kernel of either build runs in a child process, so
//! that both are timed in the same way; each child is a new layout in memory.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nimlanes::kernel::Run;
use nimlanes::kernel::case::Case;
use nimlanes::kernel::session::Session;
use nimlanes::lab::clock::Clock;
use nimlanes::machine::Machine;

use super::child::{Child, Patience};
use super::protocol::{Identity, Input, Listed, Reply, Request};
use super::{Checked, Contender, Duel, DuelError, DuelOptions, Lineup, Played, Player, Row, family, play};
use crate::measuring::engine;
use crate::measuring::programs::this_program;

/// Default number of processes.
pub const PROCESSES: usize = 5;

/// Share of the free memory that the inputs of all processes may take.
const INPUTS: f64 = 0.1;

/// A duel to be played.
pub struct Match<'a> {
    lineup: Lineup,
    /// What makes the input in a child: see [`Session::workload`].
    workload: String,
    /// Predicted time of a run of each contender.
    predicted: Vec<Duration>,
    /// How long it took to make the input.
    opening: Duration,
    threads: usize,
    budget: Duration,
    processes: usize,
    run: &'a Run,
}

/// Another build and what it did in a duel.
pub struct Other {
    /// The program.
    pub path: PathBuf,
    /// Who it says it is.
    pub identity: Identity,
    /// Its rows.
    pub rows: Vec<OtherRow>,
    /// Kernels that took part only in this build, with what keeps them from running in the other.
    pub only_here: Vec<Listed>,
    /// Kernels that only the other build has.
    pub only_there: Vec<String>,
}

/// A kernel in another build. The ratio of its row refers to the baseline of this build.
pub struct OtherRow {
    pub row: Row,
    /// The median time of this build divided by that of the other, between the ends of the middle 80 % of the rounds' ratios.
    pub new_over_old: [f64; 3],
    /// The smallest and the largest ratio of the best times in a process.
    pub new_over_old_processes: Option<[f64; 2]>,
}

impl<'a> Match<'a> {
    /// Plans a duel with rounds in up to `processes` processes, fewer where the inputs of all would take much of the memory. `open`
    /// makes the session, which lists the kernels; its input is not needed afterwards.
    ///
    /// # Errors
    /// Those of `open`; a kernel name is unknown, or the baseline cannot run.
    pub fn new<E: From<DuelError>>(
        open: impl FnOnce() -> Result<Box<dyn Session>, E>,
        options: &DuelOptions,
        processes: usize,
        machine: &Machine,
        run: &'a Run,
    ) -> Result<Self, E> {
        let start = Instant::now();
        let session = open()?;
        let opening = start.elapsed();
        let lineup = Lineup::new(session.as_ref(), options)?;
        let room = machine.memory(options.threads) as f64 * INPUTS;
        let processes = processes.min((room / session.input_bytes().max(1.0)) as usize).max(1);
        let candidates = session.candidates(options.threads, Duration::MAX);
        let predicted = lineup.contenders.iter().map(|contender| candidates[contender.index].predicted()).collect();
        let (threads, budget) = (options.threads, options.budget);
        let workload = session.workload().to_owned();
        Ok(Match { lineup, workload, predicted, opening, threads, budget, processes, run })
    }

    /// The input.
    pub fn case(&self) -> &Case {
        &self.lineup.case
    }

    /// Plays the duel among the kernels of this build.
    ///
    /// # Errors
    /// Outputs differ or are wrong, the run was stopped, or a child failed.
    pub fn play(&self, watch: &mut dyn FnMut(f64)) -> Result<Duel, DuelError> {
        let names = self.lineup.names();
        let contenders: Vec<(usize, usize)> = (0..names.len()).map(|number| (0, number)).collect();
        let mut open = |process| Ok(self.team(process, &[])?.0.with(self.entries(&contenders)));
        let played = play(&self.lineup.case, &names, self.processes, self.budget, &mut open, watch)?;
        Ok(self.lineup.duel(&played, |number| number))
    }

    /// Plays the duel among the kernels of this build and those of the same names in another. Kernels that only the other has
    /// are listed if `lists_new`.
    ///
    /// # Errors
    /// As [`Match::play`]; or the other program cannot duel.
    pub fn play_against(
        &self,
        path: &Path,
        lists_new: bool,
        watch: &mut dyn FnMut(f64),
    ) -> Result<(Duel, Other), DuelError> {
        let own = self.lineup.names();
        // The first children tell who can be compared.
        let (team, listed) = self.team(0, &[path])?;
        let identity = team.children[1].identity().clone();
        let mut first = Some(team);
        let obstacle = |kernel: &String| match listed[1].iter().find(|listed| listed.kernel == *kernel) {
            Some(listed) => listed.obstacle.clone(),
            None => Some("no such kernel".to_owned()),
        };
        let obstacles: Vec<Option<String>> = own.iter().map(obstacle).collect();
        let is_new = |kernel: &&Listed| listed[0].iter().all(|listed| listed.kernel != kernel.kernel);
        let only_there = listed[1].iter().filter(|kernel| lists_new && kernel.obstacle.is_none()).filter(is_new);
        // The two builds of a kernel have their turns one after the other.
        let mut contenders = Vec::new();
        for (number, obstacle) in obstacles.iter().enumerate() {
            contenders.push((0, number));
            contenders.extend(obstacle.is_none().then_some((1, number)));
        }
        let name = |(side, number): &(usize, usize)| match side {
            0 => own[*number].clone(),
            _ => format!("{} of {}", own[*number], path.display()),
        };
        let names: Vec<String> = contenders.iter().map(name).collect();
        let mut open = |process| {
            let team = first.take().map_or_else(|| self.team(process, &[path]).map(|(team, _)| team), Ok)?;
            Ok(team.with(self.entries(&contenders)))
        };
        let played = play(&self.lineup.case, &names, self.processes, self.budget, &mut open, watch)?;
        let place = |side, number| contenders.iter().position(|contender| *contender == (side, number));
        let duel = self.lineup.duel(&played, |number| place(0, number).expect("all kernels of this build play"));
        let rows = (0..own.len())
            .filter_map(|number| Some(self.other_row(&played, number, [place(0, number)?, place(1, number)?])));
        let only_here = own.iter().zip(&obstacles).filter(|(_, obstacle)| obstacle.is_some());
        let only_here =
            only_here.map(|(kernel, obstacle)| Listed { kernel: kernel.clone(), obstacle: obstacle.clone() });
        let other = Other {
            path: path.to_owned(),
            identity,
            rows: rows.collect(),
            only_here: only_here.collect(),
            only_there: only_there.map(|listed| listed.kernel.clone()).collect(),
        };
        Ok((duel, other))
    }

    /// Plays the duel among the kernels of this build and those of others, by the wall clock, the only one that all systems have.
    /// A kernel that this build leaves out is left out in all, and one that only another can run takes part if a relative does.
    /// Returns a duel for each build, with ratios to the baseline of this one.
    ///
    /// # Errors
    /// As [`Match::play`]; or another program cannot duel.
    pub fn play_beside(mut self, others: &[&Path]) -> Result<Vec<Duel>, DuelError> {
        self.lineup.clock = Clock::Wall;
        let (team, listed) = self.team(0, others)?;
        let builds: Vec<String> = team.children.iter().map(|child| child.identity().build.name.clone()).collect();
        let mut first = Some(team);
        let mut contenders: Vec<(usize, Contender)> =
            self.lineup.contenders.iter().map(|own| (0, own.clone())).collect();
        for (side, (kernels, build)) in listed.iter().zip(&builds).enumerate().skip(1) {
            let able = kernels.iter().filter(|kernel| kernel.obstacle.is_none());
            let play = able.filter_map(|kernel| self.contender_of(&kernel.kernel, build, &listed[0]));
            contenders.extend(play.map(|contender| (side, contender)));
        }
        let name = |(side, contender): &(usize, Contender)| format!("{} of {}", contender.kernel, builds[*side]);
        let names: Vec<String> = contenders.iter().map(name).collect();
        let entry = |(side, contender): &(usize, Contender)| {
            let own = self.lineup.contenders.iter().position(|own| own.kernel == contender.kernel);
            let once = own.map_or(Duration::ZERO, |own| self.predicted[own]);
            Entry { side: *side, kernel: contender.kernel.clone(), once }
        };
        let mut open = |process| {
            let team = first.take().map_or_else(|| self.team(process, others).map(|(team, _)| team), Ok)?;
            Ok(team.with(contenders.iter().map(entry).collect()))
        };
        let played = play(&self.lineup.case, &names, self.processes, self.budget, &mut open, &mut |_| {})?;
        let own = self.lineup.duel(&played, |number| number);
        let duel = |(side, build)| {
            let of_side = contenders.iter().enumerate().filter(|(_, (other, _))| *other == side);
            let rows = self.lineup.rows(of_side.map(|(place, (_, contender))| (place, contender)), &played, 0);
            Duel { build, rows, ..own.clone() }
        };
        Ok(builds.into_iter().enumerate().map(duel).collect())
    }

    /// A kernel of another build, unless this one can run it and leaves it out. One that only the other can run, and that has a
    /// relative here, gets the tier that the other build is named after.
    fn contender_of(&self, kernel: &str, build: &str, own: &[Listed]) -> Option<Contender> {
        let here = self.lineup.contenders.iter().find(|own| own.kernel == kernel);
        let is_new = own.iter().all(|own| own.kernel != kernel || own.obstacle.is_some());
        let is_relative = |own: &Contender| family(&own.kernel, &own.tier) == family(kernel, build);
        let is_new = is_new && self.lineup.contenders.iter().any(is_relative);
        here.cloned().or_else(|| {
            is_new.then(|| Contender {
                kernel: kernel.to_owned(),
                tier: build.to_owned(),
                ..self.lineup.contenders[0].clone()
            })
        })
    }

    fn other_row(&self, played: &Played, number: usize, [new, old]: [usize; 2]) -> OtherRow {
        OtherRow {
            row: self.lineup.row(&self.lineup.contenders[number], played, 0, old),
            new_over_old: played.ratios(new, old),
            new_over_old_processes: played.ratios_of_processes(new, old),
        }
    }

    /// The kernels of contenders, each given by its side and its number in the line-up.
    fn entries(&self, contenders: &[(usize, usize)]) -> Vec<Entry> {
        let entry = |&(side, number): &(usize, usize)| Entry {
            side,
            kernel: self.lineup.contenders[number].kernel.clone(),
            once: self.predicted[number],
        };
        contenders.iter().map(entry).collect()
    }

    /// Starts a child of this build, and one of each other, and has them make the input. Returns also the kernels of each.
    fn team(&self, process: usize, others: &[&Path]) -> Result<(Team<'a>, Vec<Vec<Listed>>), DuelError> {
        let this = this_program().map_err(|error| DuelError::Player(error.to_string()))?;
        let this = (this.as_path(), "this program".to_owned());
        let others = others.iter().map(|path| (*path, path.display().to_string()));
        let layout = Layout::of(process);
        let input = Input {
            case: Case { workload: self.workload.clone(), ..self.lineup.case.clone() },
            threads: self.threads,
            wall_clock: self.lineup.clock == Clock::Wall,
            heap: layout.heap,
        };
        let (mut children, mut kernels) = (Vec::new(), Vec::new());
        for (program, name) in std::iter::once(this).chain(others) {
            let mut child = start(program, &name, layout.environment, self.run)?;
            match child.ask(&Request::Open(input.clone()), self.opening)? {
                Reply::Opened { kernels: listed } => kernels.push(listed),
                _ => return Err(child.confused()),
            }
            children.push(child);
        }
        Ok((Team { children, entries: Vec::new() }, kernels))
    }
}

/// Starts a program as a child, with this many bytes of environment.
fn start<'a>(program: &Path, name: &str, padding: usize, run: &'a Run) -> Result<Child<'a>, DuelError> {
    let mut command = engine::command(program);
    Child::start(command.arg("answer").env("LAYOUT_PADDING", "x".repeat(padding)), name, Patience::DEFAULT, run)
}

/// Who a program says it is.
///
/// # Errors
/// It cannot duel, or the run was cancelled.
pub fn identity(program: &Path, run: &Run) -> Result<Identity, DuelError> {
    Ok(start(program, &program.display().to_string(), 0, run)?.identity().clone())
}

/// Where things are in memory in a process, as far as it can be chosen.
struct Layout {
    /// Bytes of environment, which move the stack.
    environment: usize,
    /// Bytes allocated first, which move tables: see [`Input::heap`].
    heap: [usize; 2],
}

impl Layout {
    /// The layout of the process with this number. Any few of them are spread over a page.
    fn of(process: usize) -> Self {
        const PAGE: f64 = 4096.0;
        /// The smallest step of an allocation.
        const GRAIN: usize = 16;
        // By multiples of the square roots of three primes, modulo a page, no two processes are close in all three.
        let step = |prime: f64| ((process + 1) as f64 * prime.sqrt()).fract() * PAGE;
        let [environment, before, after] = [2.0, 3.0, 5.0].map(|prime| step(prime) as usize / GRAIN * GRAIN);
        Layout { environment, heap: [before, after] }
    }
}

/// Children that play together: of this build, and of the others.
struct Team<'a> {
    children: Vec<Child<'a>>,
    /// By contender.
    entries: Vec<Entry>,
}

/// What a contender runs.
struct Entry {
    /// The child that runs the kernel.
    side: usize,
    kernel: String,
    /// How long a run should take.
    once: Duration,
}

impl<'a> Team<'a> {
    fn with(self, entries: Vec<Entry>) -> Self {
        Team { entries, ..self }
    }
}

impl Player for Team<'_> {
    fn check(&mut self, contender: usize) -> Result<Checked, DuelError> {
        let Entry { side, kernel, once: expected } = &mut self.entries[contender];
        let child = &mut self.children[*side];
        let Reply::Checked { digest, work, seconds } =
            child.ask(&Request::Check { kernel: kernel.clone() }, *expected)?
        else {
            return Err(child.confused());
        };
        let number = |(name, value): (String, String)| Some((name, value.parse().ok()?));
        let digest = digest.into_iter().map(number).collect::<Option<_>>();
        let (Some(digest), Some(once)) = (digest, time(seconds)) else { return Err(child.confused()) };
        *expected = once.max(*expected);
        Ok(Checked { digest, work, once })
    }

    fn turn(&mut self, contender: usize, times: u64) -> Result<Duration, DuelError> {
        let Entry { side, kernel, once } = &self.entries[contender];
        let child = &mut self.children[*side];
        let expected = Duration::try_from_secs_f64(once.as_secs_f64() * times as f64).unwrap_or(Duration::MAX);
        match child.ask(&Request::Turn { kernel: kernel.clone(), times }, expected)? {
            Reply::Turn { seconds } => time(seconds).ok_or_else(|| child.confused()),
            _ => Err(child.confused()),
        }
    }
}

/// A time that another process says it measured.
fn time(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}
