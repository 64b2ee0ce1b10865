//! Duels over several processes, of this build alone or against others. Every kernel of a build runs in a child process, so that all are
//! timed in the same way; each child is a new layout in memory.

use std::time::{Duration, Instant};

use nimlanes::kernel::Run;
use nimlanes::kernel::case::Case;
use nimlanes::kernel::session::Session;
use nimlanes::lab::clock::Clock;
use nimlanes::lab::environment;
use nimlanes::machine::Machine;

use super::comparison::{ComparedBuild, ComparedKernel, Comparison, Quotient};
use super::interval::interval;
use super::{Checked, Contender, DuelError, DuelOptions, Lineup, Played, Player, play};
use crate::measuring::builds::Program;
use crate::measuring::builds::child::{Child, start};
use crate::measuring::builds::protocol::{Listed, Opening};
use crate::measuring::cores;
use crate::measuring::programs::this_program;
use crate::terminal::failure::Failure;

/// Default number of processes.
pub const PROCESSES: usize = 5;

/// Share of the free memory that the inputs of all processes may take.
const INPUTS: f64 = 0.1;

/// Rounds of each process before a duel may end early: fewer would agree by chance.
const FEWEST_LAPS: usize = 5;

/// A duel to be played.
pub struct Match<'a> {
    lineup: Lineup,
    /// Whether kernels that only another build has are listed: no kernels were named.
    lists_new: bool,
    /// The text that makes the input in a child: see [`Session::workload`].
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

impl<'a> Match<'a> {
    /// Plans a duel with rounds in up to `processes` processes, fewer where the inputs of all would take much of the memory. `open`
    /// makes the session, which lists the kernels; its input is not needed afterwards.
    ///
    /// # Errors
    /// Those of `open`; a kernel name is unknown, or the baseline cannot run.
    pub fn new(
        open: impl FnOnce() -> Result<Box<dyn Session>, Failure>,
        options: &DuelOptions,
        processes: usize,
        machine: &Machine,
        run: &'a Run,
    ) -> Result<Self, Failure> {
        let start = Instant::now();
        let session = open()?;
        let opening = start.elapsed();
        let lineup = Lineup::new(session.as_ref(), options)?;
        let room = machine.memory(options.threads) as f64 * INPUTS;
        let processes = processes.min((room / session.input_bytes().max(1.0)) as usize).max(1);
        let candidates = session.candidates(options.threads, Duration::MAX);
        let predicted = lineup.contenders.iter().map(|contender| candidates[contender.index].predicted()).collect();
        let DuelOptions { threads, budget, .. } = *options;
        let (lists_new, workload) = (options.kernels.is_empty(), session.workload().to_owned());
        Ok(Match { lineup, lists_new, workload, predicted, opening, threads, budget, processes, run })
    }

    /// The input.
    pub fn case(&self) -> &Case {
        &self.lineup.case
    }

    /// Plays the duel among the kernels of this build and those of the same names in others. It ends before its time when each ratio to
    /// the baseline, or to the same kernel of another build, is known to within the share `until` of it: see [`interval`].
    ///
    /// # Errors
    /// Outputs differ or are wrong, another program cannot duel, the run was stopped, or a child failed.
    pub fn play(
        &self,
        others: &[Program],
        until: Option<f64>,
        watch: &mut dyn FnMut(f64),
    ) -> Result<Comparison, DuelError> {
        // The first children show which kernels can be compared.
        let first = self.children(0, others)?;
        let seats = self.seats(&first);
        let builds = others.iter().zip(&first[1..]).map(|(other, child)| self.compared(other, child, &first[0]));
        let builds: Vec<ComparedBuild> = builds.collect();
        let name = |Seat { build, contender, .. }: &Seat| match build {
            0 => contender.kernel.clone(),
            other => format!("{} of {}", contender.kernel, others[other - 1].name),
        };
        let names: Vec<String> = seats.iter().map(name).collect();
        let mut first = Some(first);
        let mut open = |process| {
            let children = first.take().map_or_else(|| self.children(process, others), Ok)?;
            Ok(Players { children, seats: seats.clone() })
        };
        let mut enough = self.enough(&seats, until);
        let played = play(&self.lineup.case, &names, self.processes, self.budget, &mut open, &mut enough, watch)?;
        drop(enough);
        let of = |build: usize| seats.iter().enumerate().filter(move |(_, seat)| seat.build == build);
        let own: Vec<usize> = of(0).map(|(place, _)| place).collect();
        let duel = self.lineup.duel(&played, |number| own[number]);
        let kernel = |(place, seat): (usize, &Seat)| ComparedKernel {
            row: self.lineup.row(&seat.contender, &played, 0, place),
            this_over_other: Quotient::new(&played, seat.own, place),
        };
        let rows = |(number, build)| ComparedBuild { rows: of(number).map(kernel).collect(), ..build };
        Ok(Comparison { duel, builds: (1..).zip(builds).map(rows).collect() })
    }

    /// The kernels of this build, each followed by those of the same name in other builds, which have their turns right after it.
    fn seats(&self, children: &[Child]) -> Vec<Seat> {
        let mut seats = Vec::new();
        for (contender, once) in self.lineup.contenders.iter().zip(&self.predicted) {
            let own = seats.len();
            let is_able = |build: &usize| *build == 0 || children[*build].obstacle(&contender.kernel).is_none();
            let able = (0..children.len()).filter(is_able);
            seats.extend(able.map(|build| Seat { build, own, contender: contender.clone(), once: *once }));
        }
        seats
    }

    /// Another build, before any of its kernels was timed.
    fn compared(&self, program: &Program, child: &Child, own: &Child) -> ComparedBuild {
        let lacking = |contender: &Contender| {
            let obstacle = child.obstacle(&contender.kernel)?;
            Some(Listed { kernel: contender.kernel.clone(), obstacle: Some(obstacle) })
        };
        let is_own = |kernel: &Listed| own.kernels.iter().any(|own| own.kernel == kernel.kernel);
        let is_new = |kernel: &&Listed| self.lists_new && kernel.obstacle.is_none() && !is_own(kernel);
        let new = child.kernels.iter().filter(is_new).map(|kernel| kernel.kernel.clone());
        ComparedBuild {
            name: program.name.clone(),
            path: program.path.display().to_string(),
            identity: child.identity.clone(),
            rows: Vec::new(),
            only_here: self.lineup.contenders.iter().filter_map(lacking).collect(),
            only_there: new.collect(),
        }
    }

    /// Tells whether the ratios between seats are known well enough. How large they are makes no difference: who stops when a ratio
    /// looks large finds differences where there are none.
    fn enough<'s>(&'s self, seats: &'s [Seat], until: Option<f64>) -> impl FnMut(&Played) -> bool + 's {
        let has_others = seats.iter().any(|seat| seat.build > 0);
        let opponent = move |seat: &Seat| if has_others { seat.own } else { 0 };
        let pairs = seats.iter().enumerate().map(move |(place, seat)| (opponent(seat), place));
        let pairs: Vec<(usize, usize)> = pairs.filter(|(one, other)| one != other).collect();
        let mut next = FEWEST_LAPS * self.processes;
        move |played| {
            let Some(until) = until.filter(|_| played.rounds() >= next) else { return false };
            next = played.rounds() * 5 / 4; // to ask takes time
            pairs.iter().all(|(one, other)| {
                let [low, _, high] = interval(&played.ratios_by_process(*one, *other));
                high <= low * (1.0 + until).powi(2)
            })
        }
    }

    /// Starts a child of this build, and one of each other, and has them make the input.
    fn children(&self, process: usize, others: &[Program]) -> Result<Vec<Child<'a>>, DuelError> {
        cores::are_alike().map_err(DuelError::Player)?;
        let this = this_program().map_err(|error| DuelError::Player(error.to_string()))?;
        let programs = others.iter().map(|other| (other.path.as_path(), other.name.as_str()));
        let layout = Layout::of(process);
        let opening = Opening {
            case: Case { workload: self.workload.clone(), ..self.lineup.case.clone() },
            threads: self.threads,
            wall_clock: self.lineup.clock == Clock::Wall,
            heap: layout.heap,
        };
        let own = environment::Build::of_this().profile;
        let open = |(program, name)| {
            let mut child = start(program, name, layout.environment, self.run)?;
            let theirs = &child.identity.build.profile;
            if *theirs != own {
                let unequal =
                    format!("{name} is a {theirs} build, and this program a {own} one; allowed: the same profile");
                return Err(DuelError::Player(unequal));
            }
            child.open(opening.clone(), self.opening)?;
            Ok(child)
        };
        std::iter::once((this.as_path(), "this program")).chain(programs).map(open).collect()
    }
}

/// Where things are in memory in a process, as far as it can be chosen.
struct Layout {
    /// Bytes of environment, which move the stack.
    environment: usize,
    /// Bytes allocated first, which move tables: see [`Opening::heap`].
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

/// A kernel that takes turns.
#[derive(Clone)]
struct Seat {
    /// The number of its build: 0 is this one.
    build: usize,
    /// The place of the same kernel in this build.
    own: usize,
    contender: Contender,
    /// How long a run should take.
    once: Duration,
}

/// The kernels that take turns, and a process of each build.
struct Players<'a> {
    children: Vec<Child<'a>>,
    seats: Vec<Seat>,
}

impl Player for Players<'_> {
    fn check(&mut self, contender: usize) -> Result<Checked, DuelError> {
        let seat = &mut self.seats[contender];
        let checked = self.children[seat.build].check(&seat.contender.kernel, seat.once)?;
        seat.once = checked.once.max(seat.once);
        Ok(checked)
    }

    fn turn(&mut self, contender: usize, times: u64) -> Result<Duration, DuelError> {
        let seat = &self.seats[contender];
        let expected = Duration::try_from_secs_f64(seat.once.as_secs_f64() * times as f64).unwrap_or(Duration::MAX);
        self.children[seat.build].turn(&seat.contender.kernel, times, expected)
    }
}
