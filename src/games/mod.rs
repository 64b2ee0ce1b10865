//! Whole games: a problem, solved by operations with kernels that a [`Selection`] picks.

pub mod nim_square;
mod positions;
pub mod proportionate_nim;
pub mod scatterstone_nim;
pub mod stone_game;

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

pub use num_bigint::BigUint;

use crate::cores::sink::{Outlet, WAITING};
use crate::cores::xor_count::partitions::MODULUS;
use crate::kernel::{Digest, Kernel, Operation, Run, Stop};
use crate::moves::{Diagonals, MoveSet};
use crate::names::hint;
use crate::selection::{SelectError, Selection};
use crate::threads;
use crate::workload::InputError;

pub use crate::cores::table_scan::Rule;
pub use positions::Positions;

/// Answers a question about a game.
type Ask<T> = fn(&Question, &Solver) -> Result<T, SolveError>;

/// One game of the lab.
#[derive(Debug)]
pub struct Game {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is asked, in a line that is true of all its variants.
    pub question: &'static str,
    /// What a question may vary.
    pub parameters: &'static [Parameter],
    /// The limit it was published with.
    pub published: u64,
    /// Limits far past it that still take less than a minute, ascending.
    pub far: &'static [u64],
    /// The operations that solve it.
    pub operations: &'static [&'static str],
    /// Answers a question that varies nothing else.
    solve: Ask<Solution>,
    /// How its P-positions are listed, in a game of which they are what is summed up.
    listing: Option<Listing>,
}

/// The two ways to list the P-positions of a game.
#[derive(Debug)]
struct Listing {
    /// Keeps them all.
    whole: Ask<Found>,
    /// Sends them in batches, and keeps what is left.
    stream: fn(&Question, &Solver, SyncSender<Positions>) -> Result<Found, SolveError>,
}

/// P-positions in lexicographic order, heaps ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The positions.
    pub positions: Positions,
    /// The kernel that found them.
    pub used: Used,
}

/// All games, in the order of the cores.
pub static GAMES: &[Game] = &[stone_game::GAME, proportionate_nim::GAME, nim_square::GAME, scatterstone_nim::GAME];

/// The game of that name.
///
/// # Errors
/// There is none.
pub fn game(name: &str) -> Result<&'static Game, SolveError> {
    GAMES.iter().find(|game| game.name == name).ok_or_else(|| SolveError::UnknownGame {
        name: name.to_owned(),
        known: GAMES.iter().map(|game| game.name).collect(),
    })
}

/// What is asked of a game. What the game has no choice of ([`Game::parameters`]) stays as [`Question::new`] has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The size of the question; what it limits is said by the game.
    pub limit: u64,
    /// Which heaps a move may take from.
    pub rule: Rule,
    /// What a move may take from one heap.
    pub moves: MoveSet,
    /// What a move may take from both heaps.
    pub diagonals: Diagonals,
    /// The number of heaps.
    pub heaps: u32,
    /// How positions are counted.
    pub count: Count,
}

/// What a question may vary besides its limit: a field of [`Question`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// [`Question::rule`]
    Rule,
    /// [`Question::moves`]
    Moves,
    /// [`Question::diagonals`]
    Diagonals,
    /// [`Question::heaps`]
    Heaps,
    /// [`Question::count`]
    Count,
}

impl Parameter {
    /// All of them.
    pub const ALL: [Parameter; 5] =
        [Parameter::Rule, Parameter::Moves, Parameter::Diagonals, Parameter::Heaps, Parameter::Count];

    /// The name of the field.
    pub const fn name(self) -> &'static str {
        match self {
            Parameter::Rule => "rule",
            Parameter::Moves => "moves",
            Parameter::Diagonals => "diagonals",
            Parameter::Heaps => "heaps",
            Parameter::Count => "count",
        }
    }

    /// What the field holds, as text.
    pub fn of(self, question: &Question) -> String {
        match self {
            Parameter::Rule => question.rule.name().to_owned(),
            Parameter::Moves => question.moves.to_string(),
            Parameter::Diagonals => question.diagonals.to_string(),
            Parameter::Heaps => question.heaps.to_string(),
            Parameter::Count => question.count.to_string(),
        }
    }
}

/// How a count that grows without bound is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// The remainder by an odd modulus below 2^31.
    Modulo(u64),
    /// The number itself.
    Exact,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Modulo(modulus) => write!(f, "modulo {modulus}"),
            Count::Exact => f.write_str("exact"),
        }
    }
}

impl Question {
    /// The published form of any game at `limit`.
    pub fn new(limit: u64) -> Self {
        Question {
            limit,
            rule: Rule::AllMoves,
            moves: MoveSet::Squares,
            diagonals: Diagonals::PUBLISHED,
            heaps: 3,
            count: Count::Modulo(MODULUS.into()),
        }
    }
}

/// A question that was not answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// No game of that name.
    #[error("unknown game `{name}`{}", hint(.name, .known.iter().copied()))]
    UnknownGame {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// A parameter of another game.
    #[error("{game} has no choice of {}", parameter.name())]
    NoChoice {
        /// The game.
        game: &'static str,
        /// The parameter.
        parameter: Parameter,
    },
    /// A game whose P-positions are too many to be listed.
    #[error("{game} is solved by counting; its P-positions are not listed")]
    NoPositions {
        /// The game.
        game: &'static str,
    },
    /// More heaps than are counted.
    #[error("{heaps} heaps are too many; at most {most}")]
    TooManyHeaps {
        /// What was asked for.
        heaps: u32,
        /// The largest number.
        most: u32,
    },
    /// A kernel of an operation that the game does not use.
    #[error("{game} does not use {operation}; allowed: {uses}")]
    NotUsed {
        /// The game.
        game: &'static str,
        /// The operation.
        operation: String,
        /// What it uses.
        uses: String,
    },
    /// An input that does not exist.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A kernel that cannot be chosen.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The run was stopped.
    #[error(transparent)]
    Stop(#[from] Stop),
}

/// A number that a solution reports besides its answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// An exact count or sum.
    Count(BigUint),
    /// A measured ratio.
    Ratio(f64),
}

/// A solved game.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// What was asked for.
    pub answer: BigUint,
    /// Further numbers, by name.
    pub details: Vec<(&'static str, Figure)>,
    /// The kernel that did each operation.
    pub kernels: Vec<Used>,
}

impl Solution {
    /// Its exact numbers by name, the answer first; without those that pass 128 bits.
    pub fn digest(&self) -> Digest {
        let exact = self.details.iter().filter_map(|(name, figure)| match figure {
            Figure::Count(count) => Some((*name, count)),
            Figure::Ratio(_) => None,
        });
        let all = [("answer", &self.answer)].into_iter().chain(exact);
        all.filter_map(|(name, count)| Some((name, u128::try_from(count).ok()?))).collect()
    }
}

/// An operation, and the kernel that is chosen for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// The operation.
    pub operation: &'static str,
    /// The kernel.
    pub kernel: &'static str,
}

/// One operation of a solution, about to run.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// What runs.
    pub used: Used,
    /// What its progress ends at ([`Operation::steps`]).
    pub steps: u64,
    /// Predicted nanoseconds.
    pub ns: f64,
}

/// Someone who is told what is about to run.
pub type Watcher<'a> = dyn Fn(&Stage) + Sync + 'a;

/// What solving needs besides the question: the choice of kernels, the run, and perhaps someone who watches.
#[derive(Clone, Copy)]
pub struct Solver<'a> {
    selection: &'a Selection,
    run: &'a Run,
    watcher: Option<&'a Watcher<'a>>,
}

impl fmt::Debug for Solver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solver").field("selection", self.selection).field("run", self.run).finish_non_exhaustive()
    }
}

impl<'a> Solver<'a> {
    /// Kernels as `selection` chooses them; `run` has the threads, the progress and the cancellation.
    pub fn new(selection: &'a Selection, run: &'a Run) -> Self {
        Solver { selection, run, watcher: None }
    }

    /// The same, with `watcher` told before each operation.
    pub fn watched_by(self, watcher: &'a Watcher<'a>) -> Self {
        Solver { watcher: Some(watcher), ..self }
    }

    /// Selects the kernel for one operation and runs it, on the input that `input` makes of a limit.
    ///
    /// # Errors
    /// There is no such input, no kernel can do it, or the run was stopped.
    pub fn apply<O: Operation>(
        &self,
        limit: u64,
        input: impl Fn(u64) -> Result<O::Input, InputError>,
    ) -> Result<(O::Output, Used), SolveError> {
        self.apply_from::<O>(O::Start::default(), limit, input)
    }

    /// [`Solver::apply`] from a start other than the default.
    ///
    /// # Errors
    /// As [`Solver::apply`].
    pub fn apply_from<O: Operation>(
        &self,
        start: O::Start,
        limit: u64,
        input: impl Fn(u64) -> Result<O::Input, InputError>,
    ) -> Result<(O::Output, Used), SolveError> {
        let (kernel, input) = self.choose::<O>(limit, input)?;
        self.perform(kernel, start, &input)
    }

    /// Selects the kernel for one operation, on the input that `input` makes of a limit. Alone it answers for an operation that
    /// runs late, before the first one runs.
    fn choose<O: Operation>(
        &self,
        limit: u64,
        input: impl Fn(u64) -> Result<O::Input, InputError>,
    ) -> Result<(Kernel<O>, O::Input), SolveError> {
        let chosen = input(limit)?;
        Ok((self.selection.kernel_for::<O, _>(&chosen, limit, input)?, chosen))
    }

    /// Selects the kernel for one operation and runs it, on an input that an earlier operation computed.
    ///
    /// # Errors
    /// No kernel can do it, or the run was stopped.
    pub fn apply_to<O: Operation>(&self, input: &O::Input) -> Result<(O::Output, Used), SolveError> {
        self.perform(self.selection.kernel::<O>(input)?, O::Start::default(), input)
    }

    fn perform<O: Operation>(
        &self,
        kernel: Kernel<O>,
        start: O::Start,
        input: &O::Input,
    ) -> Result<(O::Output, Used), SolveError> {
        let used = Used { operation: O::NAME, kernel: kernel.def().name };
        if let Some(watcher) = self.watcher {
            watcher(&Stage { used, steps: O::steps(input), ns: kernel.cost(input, self.run.threads()).ns });
        }
        Ok((kernel.run_from(start, input, self.run)?, used))
    }
}

impl Game {
    /// Whether the game uses an operation.
    ///
    /// # Errors
    /// It does not.
    pub fn uses(&self, operation: &str) -> Result<(), SolveError> {
        if self.operations.contains(&operation) {
            return Ok(());
        }
        let (operation, uses) = (operation.to_owned(), self.operations.join(", "));
        Err(SolveError::NotUsed { game: self.name, operation, uses })
    }

    /// Whether a question may vary a parameter of the game.
    ///
    /// # Errors
    /// It may not.
    pub fn takes(&self, parameter: Parameter) -> Result<(), SolveError> {
        if self.parameters.contains(&parameter) {
            return Ok(());
        }
        Err(SolveError::NoChoice { game: self.name, parameter })
    }

    /// Answers a question. Kernels that the selection names for other operations do not matter.
    ///
    /// # Errors
    /// The question varies a parameter of another game, no kernel can do an operation, or the run was stopped.
    pub fn solve(&self, question: &Question, solver: &Solver) -> Result<Solution, SolveError> {
        self.takes_all(question)?;
        (self.solve)(question, solver)
    }

    /// Whether its P-positions can be listed.
    pub fn lists_positions(&self) -> bool {
        self.listing.is_some()
    }

    /// Finds the P-positions that a question is about.
    ///
    /// # Errors
    /// As [`Game::solve`], or the game has no list of them.
    pub fn positions(&self, question: &Question, solver: &Solver) -> Result<Found, SolveError> {
        (self.listing(question)?.whole)(question, solver)
    }

    /// Finds the same positions in a thread of its own, while this one hands them to `take`: in order, in batches, and a batch
    /// as soon as no earlier ones can come. Memory is bounded by a few batches, of at most 16384 heaps of Proportionate Nim or 64
    /// layers of the Stone Game, besides what the kernel works with; a search that is ahead waits. An error of `take` ends it.
    ///
    /// # Errors
    /// That of `take`; within it, what [`Game::positions`] may return.
    pub fn stream<E>(
        &self,
        question: &Question,
        solver: &Solver,
        mut take: impl FnMut(Positions) -> Result<(), E>,
    ) -> Result<Result<Used, SolveError>, E> {
        let stream = match self.listing(question) {
            Ok(listing) => listing.stream,
            Err(error) => return Ok(Err(error)),
        };
        let (outlet, batches) = sync_channel(WAITING);
        let found = std::thread::scope(|scope| {
            let search = match threads::start(scope, move || stream(question, solver, outlet)) {
                Ok(search) => search,
                Err(stop) => return Ok(Err(stop.into())),
            };
            // The iterator goes, and with it the outlet's other end, when a batch is not taken.
            batches.into_iter().try_for_each(&mut take)?;
            Ok(threads::join(search))
        })?;
        match found {
            Ok(Found { positions, used }) => take(positions).map(|()| Ok(used)),
            Err(error) => Ok(Err(error)),
        }
    }

    fn listing(&self, question: &Question) -> Result<&Listing, SolveError> {
        let listing = self.listing.as_ref().ok_or(SolveError::NoPositions { game: self.name })?;
        self.takes_all(question)?;
        Ok(listing)
    }

    /// Whether what the question varies are parameters of the game.
    fn takes_all(&self, question: &Question) -> Result<(), SolveError> {
        let published = Question::new(question.limit);
        let mut varied =
            Parameter::ALL.into_iter().filter(|parameter| parameter.of(question) != parameter.of(&published));
        varied.try_for_each(|parameter| self.takes(parameter))
    }
}

/// An outlet that sends batches; the run ends when nobody takes them any more.
fn sending<P>(batches: SyncSender<Positions>) -> Outlet<P>
where
    Positions: From<Vec<P>>,
{
    Arc::new(move |batch: Vec<P>| batches.send(batch.into()).map_err(|_| Stop::Cancelled))
}

/// The digest of an operation as details of a solution, less the entry that is the answer.
fn details(digest: Digest, answer: &str) -> Vec<(&'static str, Figure)> {
    digest.into_iter().filter(|(name, _)| *name != answer).map(|(name, n)| (name, Figure::Count(n.into()))).collect()
}
