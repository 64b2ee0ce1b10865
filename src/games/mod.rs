//! Whole games: a problem, solved by operations with kernels that a [`Selection`] picks.

pub mod nim_square;
mod parameter;
mod positions;
pub mod proportionate_nim;
pub mod scatterstone_nim;
pub mod stone_game;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

pub use num_bigint::BigUint;

use crate::cores::sink::{Outlet, WAITING};
use crate::kernel::{Digest, Kernel, Operation, Run, RunError};
use crate::names::hint;
use crate::selection::{SelectError, Selection};
use crate::threads;
use crate::workload::InputError;

pub use parameter::{Setting, ValueError};
pub use positions::Positions;

use parameter::{AnyParameter, Parameter, Setter, Takes, Value};

/// Answers a question about a game.
type Answering<T> = fn(&Question, &Solver) -> Result<T, SolveError>;

/// One game of the lab.
#[derive(Debug)]
pub struct Game {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in headings.
    pub title: &'static str,
    /// What is asked, in a line that is true of all its variants.
    pub question: &'static str,
    /// What the limit of a question limits.
    pub limit: &'static str,
    /// The limit it was published with.
    pub published: u64,
    /// Limits far past it that still take less than a minute, ascending.
    pub far: &'static [u64],
    /// The operations that solve it.
    pub operations: &'static [&'static str],
    /// What a question may vary.
    parameters: &'static [&'static dyn AnyParameter],
    /// Answers a question.
    solve: Answering<Solution>,
    /// How its P-positions are listed, in a game of which they are what is summed up.
    listing: Option<Listing>,
}

/// The two ways to list the P-positions of a game, and what to say of them.
#[derive(Debug)]
struct Listing {
    /// What is played, in a few words, for the title of a picture.
    caption: fn(&Question) -> String,
    /// Keeps them all.
    whole: Answering<FoundPositions>,
    /// Sends them in batches, and keeps what is left.
    stream: fn(&Question, &Solver, SyncSender<Positions>) -> Result<FoundPositions, SolveError>,
}

/// P-positions in lexicographic order, heaps ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPositions {
    /// The positions.
    pub positions: Positions,
    /// The kernel that found them.
    pub used: ChosenKernel,
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

/// What is asked of a game: its limit, and the values of its parameters. [`Game::question`] makes one.
#[derive(Clone, Debug)]
pub struct Question {
    game: &'static Game,
    /// The size of the question, see [`Game::limit`].
    pub limit: u64,
    /// In the order of the game's parameters.
    values: Vec<Arc<dyn Value>>,
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
    /// A setting that the game does not have.
    #[error("{game} has no setting `{name}`{}", hint(.name, .known.iter().copied()))]
    NoSetting {
        /// The game.
        game: &'static str,
        /// What was to be set.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// A value that a setting does not take.
    #[error("{}", .reason.line(.setting, .value))]
    Value {
        /// The setting.
        setting: String,
        /// What it was to be set to.
        value: String,
        /// Why it is not.
        reason: ValueError,
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
    Run(#[from] RunError),
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
    pub kernels: Vec<ChosenKernel>,
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
pub struct ChosenKernel {
    /// The operation.
    pub operation: &'static str,
    /// The kernel.
    pub kernel: &'static str,
}

/// One operation of a solution, about to run.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// What runs.
    pub used: ChosenKernel,
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

    /// How kernels are chosen.
    pub fn selection(&self) -> &'a Selection {
        self.selection
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
    ) -> Result<(O::Output, ChosenKernel), SolveError> {
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
    ) -> Result<(O::Output, ChosenKernel), SolveError> {
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
    pub fn apply_to<O: Operation>(&self, input: &O::Input) -> Result<(O::Output, ChosenKernel), SolveError> {
        self.perform(self.selection.kernel::<O>(input)?, O::Start::default(), input)
    }

    fn perform<O: Operation>(
        &self,
        kernel: Kernel<O>,
        start: O::Start,
        input: &O::Input,
    ) -> Result<(O::Output, ChosenKernel), SolveError> {
        let used = ChosenKernel { operation: O::NAME, kernel: kernel.def().name };
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

    /// The question at `limit` in the published form of the game.
    ///
    /// ```
    /// use nimlanes::games::{SolveError, game};
    /// let question = game("nim-square")?.question(1000).with("moves", "cubes")?.with("heaps", 5)?;
    /// assert!(question.parameters().any(|(name, value)| name == "heaps" && value == "5"));
    /// let error = game("stone-game")?.question(1000).with("heaps", 5).unwrap_err();
    /// assert_eq!(error.to_string(), "stone-game has no setting `heaps`; allowed: rule");
    /// # Ok::<(), SolveError>(())
    /// ```
    pub fn question(&'static self, limit: u64) -> Question {
        Question { game: self, limit, values: self.parameters.iter().map(|parameter| parameter.published()).collect() }
    }

    /// What may be set of a question.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        self.parameters.iter().flat_map(|parameter| parameter.settings())
    }

    /// Whether its P-positions can be listed.
    pub fn lists_positions(&self) -> bool {
        self.listing.is_some()
    }
}

impl Question {
    /// The same question with a parameter set, see [`Game::settings`]. If it is set again, the later value holds.
    ///
    /// # Errors
    /// The game has no setting of that name, or the setting does not take that value.
    pub fn with(mut self, setting: &str, value: impl ToString) -> Result<Self, SolveError> {
        let value = value.to_string();
        for (parameter, held) in self.game.parameters.iter().zip(&mut self.values) {
            if let Some(read) = parameter.read(setting, &value) {
                *held = read.map_err(|reason| SolveError::Value { setting: setting.to_owned(), value, reason })?;
                return Ok(self);
            }
        }
        let known = self.game.settings().map(|setting| setting.name).collect();
        Err(SolveError::NoSetting { game: self.game.name, name: setting.to_owned(), known })
    }

    /// The game.
    pub fn game(&self) -> &'static Game {
        self.game
    }

    /// The parameters of the game with their values, published or set.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.game.parameters.iter().zip(&self.values).map(|(parameter, value)| (parameter.name(), value.to_string()))
    }

    /// The value of a parameter of the game.
    fn get<T: 'static>(&self, parameter: &Parameter<T>) -> &T {
        let place = self.game.parameters.iter().position(|own| own.name() == parameter.name);
        let value: &dyn Any = &*self.values[place.expect("a game asks for its own parameters")];
        value.downcast_ref().expect("a parameter holds values of its type")
    }

    /// Answers it. Kernels that the selection names for other operations do not matter.
    ///
    /// # Errors
    /// There is no such input, no kernel can do an operation, or the run was stopped.
    pub fn solve(&self, solver: &Solver) -> Result<Solution, SolveError> {
        (self.game.solve)(self, solver)
    }

    /// What is played, in a few words, for the title of a picture of the P-positions.
    ///
    /// # Errors
    /// The game has no list of them.
    pub fn caption(&self) -> Result<String, SolveError> {
        Ok((self.listing()?.caption)(self))
    }

    /// Finds the P-positions that it is about.
    ///
    /// # Errors
    /// As [`Question::solve`], or the game has no list of them.
    pub fn positions(&self, solver: &Solver) -> Result<FoundPositions, SolveError> {
        (self.listing()?.whole)(self, solver)
    }

    /// Finds the same positions in a thread of its own, while this one hands them to `take`: in order, in batches, and a batch
    /// as soon as no earlier ones can come. Memory is bounded by a few batches, of at most 16384 heaps of Proportionate Nim or 64
    /// layers of the Stone Game, besides what the kernel works with; a search that is ahead waits. An error of `take` ends it.
    ///
    /// # Errors
    /// That of `take`; within it, what [`Question::positions`] may return.
    pub fn stream<E>(
        &self,
        solver: &Solver,
        mut take: impl FnMut(Positions) -> Result<(), E>,
    ) -> Result<Result<ChosenKernel, SolveError>, E> {
        let stream = match self.listing() {
            Ok(listing) => listing.stream,
            Err(error) => return Ok(Err(error)),
        };
        let (outlet, batches) = sync_channel(WAITING);
        let found = std::thread::scope(|scope| {
            let search = match threads::start(scope, move || stream(self, solver, outlet)) {
                Ok(search) => search,
                Err(stop) => return Ok(Err(stop.into())),
            };
            // The iterator goes, and with it the outlet's other end, when a batch is not taken.
            batches.into_iter().try_for_each(&mut take)?;
            Ok(threads::join(search))
        })?;
        match found {
            Ok(FoundPositions { positions, used }) => take(positions).map(|()| Ok(used)),
            Err(error) => Ok(Err(error)),
        }
    }

    fn listing(&self) -> Result<&'static Listing, SolveError> {
        self.game.listing.as_ref().ok_or(SolveError::NoPositions { game: self.game.name })
    }
}

/// An outlet that sends batches; the run ends when nobody takes them any more.
fn sending<P>(batches: SyncSender<Positions>) -> Outlet<P>
where
    Positions: From<Vec<P>>,
{
    Arc::new(move |batch: Vec<P>| batches.send(batch.into()).map_err(|_| RunError::Cancelled))
}

/// The digest of an operation as details of a solution, less the entry that is the answer.
fn details(digest: Digest, answer: &str) -> Vec<(&'static str, Figure)> {
    digest.into_iter().filter(|(name, _)| *name != answer).map(|(name, n)| (name, Figure::Count(n.into()))).collect()
}
