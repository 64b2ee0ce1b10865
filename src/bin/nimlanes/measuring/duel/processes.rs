//! Duels over several processes, of this build alone or against another. Every kernel of either build runs in a child process, so
//! that both are timed in the same way; each child is a new layout in memory.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nimlanes::kernel::Run;
use nimlanes::kernel::case::Case;
use nimlanes::kernel::session::Session;
use nimlanes::lab::clock::Clock;
use nimlanes::lab::environment::Build;
use nimlanes::machine::Machine;
use serde::Serialize;

use super::child::{Child, Patience};
use super::interval::interval;
use super::protocol::{Identity, Input, Listed, Reply, Request};
use super::{Checked, Contender, Duel, DuelError, DuelOptions, Lineup, Played, Player, Row, play};
use crate::measuring::programs::this_program;
use crate::measuring::{cores, engine};

/// Default number of processes.
pub const PROCESSES: usize = 5;

/// Share of the free memory that the inputs of all processes may take.
const INPUTS: f64 = 0.1;

/// Rounds of each process before a duel may end early: fewer would agree by chance.
const FEWEST_LAPS: usize = 5;

/// A duel to be played.
pub struct Match<'a> {
    pub(super) lineup: Lineup,
    /// What makes the input in a child: see [`Session::workload`].
    workload: String,
    /// Predicted time of a run of each contender.
    predicted: Vec<Duration>,
    /// How long it took to make the input.
    opening: Duration,
    threads: usize,
    budget: Duration,
    processes: usize,
    until: Option<f64>,
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
    pub change: NewOverOld,
}

/// The time of this build divided by the time of the other.
#[derive(Clone, Copy, Serialize)]
pub struct NewOverOld {
    /// The ratio, from pairs of turns in the same round.
    pub new_over_old: f64,
    /// What the rounds and processes tell of it: its 99 % interval.
    pub new_over_old_interval: [f64; 2],
    /// 10th percentile over the rounds.
    pub new_over_old_low: f64,
    /// 90th percentile over the rounds.
    pub new_over_old_high: f64,
    /// The smallest and the largest ratio of the best times in a process.
    #[serde(skip_serializing_if = "Option::is_none")]
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
        Ok(Match { lineup, workload, predicted, opening, threads, budget, processes, until: None, run })
    }

    /// Ends the duel before its time when each ratio to the baseline, or to the same kernel of another build, is known to within this
    /// share of it: see [`interval`].
    pub fn until(self, until: Option<f64>) -> Self {
        Match { until, ..self }
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
        let (_, _, played) = self.rounds(&[], |_| self.own_seats().collect(), watch)?;
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
        let (sides, seats, played) = self.rounds(&[path], |sides| self.seats_everywhere(sides), watch)?;
        let place =
            |side, kernel: &str| seats.iter().position(|seat| seat.side == side && seat.contender.kernel == kernel);
        let own = &self.lineup.contenders;
        let duel = self.lineup.duel(&played, |number| place(0, &own[number].kernel).expect("all of this build play"));
        let row = |contender: &Contender| {
            let (new, old) = (place(0, &contender.kernel)?, place(1, &contender.kernel)?);
            let [low, new_over_old, high] = interval(&played.ratios_by_process(new, old));
            let [least, _, most] = played.ratios(new, old);
            let change = NewOverOld {
                new_over_old,
                new_over_old_interval: [low, high],
                new_over_old_low: least.min(new_over_old),
                new_over_old_high: most.max(new_over_old),
                new_over_old_processes: played.ratios_of_processes(new, old),
            };
            Some(OtherRow { row: self.lineup.row(contender, &played, 0, old), change })
        };
        let only_here = |contender: &Contender| {
            let obstacle = obstacle(&contender.kernel, &sides[1])?;
            Some(Listed { kernel: contender.kernel.clone(), obstacle: Some(obstacle) })
        };
        let is_new = |kernel: &&Listed| sides[0].kernels.iter().all(|own| own.kernel != kernel.kernel);
        let able = sides[1].kernels.iter().filter(|kernel| lists_new && kernel.obstacle.is_none());
        let other = Other {
            path: path.to_owned(),
            identity: sides[1].identity.clone(),
            rows: own.iter().filter_map(row).collect(),
            only_here: own.iter().filter_map(only_here).collect(),
            only_there: able.filter(is_new).map(|kernel| kernel.kernel.clone()).collect(),
        };
        Ok((duel, other))
    }

    /// The kernels of this build.
    fn own_seats(&self) -> impl Iterator<Item = Seat> {
        let contenders = self.lineup.contenders.iter().zip(&self.predicted);
        contenders.map(|(contender, once)| Seat { side: 0, contender: contender.clone(), once: *once })
    }

    /// The kernels of this build, each followed by those of the same name in other builds, which have their turns right after it.
    pub(super) fn seats_everywhere(&self, sides: &[Side]) -> Vec<Seat> {
        let everywhere = |own: Seat| {
            let is_able = |number: &usize| *number == 0 || obstacle(&own.contender.kernel, &sides[*number]).is_none();
            let able: Vec<usize> = (0..sides.len()).filter(is_able).collect();
            able.into_iter().map(move |side| Seat { side, ..own.clone() })
        };
        self.own_seats().flat_map(everywhere).collect()
    }

    /// Plays the rounds among the kernels that `choose` seats, given the sides: this build, then the others.
    pub(super) fn rounds(
        &self,
        others: &[&Path],
        choose: impl FnOnce(&[Side]) -> Vec<Seat>,
        watch: &mut dyn FnMut(f64),
    ) -> Result<(Vec<Side>, Vec<Seat>, Played), DuelError> {
        // The first children tell who can be compared.
        let (team, sides) = self.team(0, others)?;
        let seats = choose(&sides);
        let name = |Seat { side, contender, .. }: &Seat| match side {
            0 => contender.kernel.clone(),
            other => format!("{} of {}", contender.kernel, others[other - 1].display()),
        };
        let names: Vec<String> = seats.iter().map(name).collect();
        let mut first = Some(team);
        let mut open = |process| {
            let team = first.take().map_or_else(|| self.team(process, others).map(|(team, _)| team), Ok)?;
            Ok(Team { seats: seats.clone(), ..team })
        };
        let mut enough = self.enough(&seats);
        let played = play(&self.lineup.case, &names, self.processes, self.budget, &mut open, &mut enough, watch)?;
        drop(enough);
        Ok((sides, seats, played))
    }

    /// Tells whether the ratios between seats are known well enough. How large they are makes no difference: who stops when a ratio
    /// looks large finds differences where there are none.
    fn enough<'s>(&'s self, seats: &'s [Seat]) -> impl FnMut(&Played) -> bool + 's {
        let opponent = |seat: &Seat| {
            let is_it = |own: &&Seat| own.side == 0 && own.contender.kernel == seat.contender.kernel;
            if seat.side == 0 { Some(0) } else { seats.iter().position(|own| is_it(&own)) }
        };
        let has_others = seats.iter().any(|seat| seat.side > 0);
        let judged = move |(_, seat): &(usize, &Seat)| (seat.side > 0) == has_others;
        let pairs = seats.iter().enumerate().filter(judged).filter_map(|(place, seat)| Some((opponent(seat)?, place)));
        let pairs: Vec<(usize, usize)> = pairs.filter(|(one, other)| one != other).collect();
        let mut next = FEWEST_LAPS * self.processes;
        move |played| {
            let Some(until) = self.until.filter(|_| played.rounds() >= next) else { return false };
            next = played.rounds() * 5 / 4; // to ask takes time
            pairs.iter().all(|(one, other)| {
                let [low, _, high] = interval(&played.ratios_by_process(*one, *other));
                high <= low * (1.0 + until).powi(2)
            })
        }
    }

    /// Starts a child of this build, and one of each other, and has them make the input.
    fn team(&self, process: usize, others: &[&Path]) -> Result<(Team<'a>, Vec<Side>), DuelError> {
        cores::are_alike().map_err(DuelError::Player)?;
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
        let (mut children, mut sides) = (Vec::new(), Vec::new());
        for (program, name) in std::iter::once(this).chain(others) {
            let mut child = start(program, &name, layout.environment, self.run)?;
            let [this, there] = [&Build::of_this(), &child.identity().build].map(|build| build.profile.clone());
            if this != there {
                let unequal =
                    format!("{name} is a {there} build, and this program a {this} one; allowed: the same profile");
                return Err(DuelError::Player(unequal));
            }
            match child.ask(&Request::Open(input.clone()), self.opening)? {
                Reply::Opened { kernels } => sides.push(Side { identity: child.identity().clone(), kernels }),
                _ => return Err(child.confused()),
            }
            children.push(child);
        }
        Ok((Team { children, seats: Vec::new() }, sides))
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

/// A build that takes part, with all its kernels.
pub(super) struct Side {
    pub(super) identity: Identity,
    kernels: Vec<Listed>,
}

/// Why a build cannot run a kernel; `None` if it can.
fn obstacle(kernel: &str, side: &Side) -> Option<String> {
    match side.kernels.iter().find(|listed| listed.kernel == kernel) {
        Some(listed) => listed.obstacle.clone(),
        None => Some("no such kernel".to_owned()),
    }
}

/// A kernel that takes turns.
#[derive(Clone)]
pub(super) struct Seat {
    /// The number of its build.
    pub(super) side: usize,
    pub(super) contender: Contender,
    /// How long a run should take.
    once: Duration,
}

/// Children that play together: of this build, and of the others.
struct Team<'a> {
    children: Vec<Child<'a>>,
    seats: Vec<Seat>,
}

impl Player for Team<'_> {
    fn check(&mut self, contender: usize) -> Result<Checked, DuelError> {
        let Seat { side, contender: Contender { kernel, .. }, once: expected, .. } = &mut self.seats[contender];
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
        let Seat { side, contender: Contender { kernel, .. }, once } = &self.seats[contender];
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
