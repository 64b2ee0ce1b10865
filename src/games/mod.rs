//! Whole games: each solves a problem by running operations, with kernels chosen by a [`Selection`].

#[cfg(feature = "xor_count")]
pub mod nim_square;
mod one_heap;
mod parameter;
mod positions;
#[cfg(feature = "occupancy")]
pub mod proportionate_nim;
#[cfg(feature = "xor_count")]
pub mod scatterstone_nim;
#[cfg(feature = "table_scan")]
pub mod stone_game;

use std::any::Any;
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

pub use num_bigint::BigUint;

use crate::cores::sink::{WAITING, Wanted};
use crate::kernel::selection::{SelectError, Selection};
use crate::kernel::threads;
use crate::kernel::workload::InputError;
use crate::kernel::{Claim, Digest, Kernel, KernelMeta, Operation, Run, RunError};
use crate::machine::Machine;
use crate::text::names::hint;

pub use parameter::{Setting, ValueError};
pub use positions::Positions;

use parameter::{Held, Parameter, Setter, Takes, held};

/// A function that answers a question about a game.
type Answer<T> = fn(&Question, &Solver) -> Result<T, SolveError>;

/// One game of the lab.
#[derive(Debug)]
pub struct Game {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in headings.
    pub title: &'static str,
    /// The question, in one line that holds for all variants.
    pub question: &'static str,
    /// The quantity that the limit bounds.
    pub limit: &'static str,
    /// The limit in the published problem.
    pub published: u64,
    /// Much larger limits that still take less than a minute, ascending.
    pub far: &'static [u64],
    /// The operations that solve it.
    pub operations: &'static [&'static str],
    /// The parameters that a question may set.
    parameters: &'static [&'static Parameter],
    /// Answers a question.
    solve: Answer<Solution>,
    /// How to list the P-positions, if the game's answer is a sum over them.
    listing: Option<Listing>,
}

/// The two ways to list the P-positions of a game, and a caption.
#[derive(Debug)]
struct Listing {
    /// The game in a few words, as the title of a picture.
    caption: fn(&Question) -> String,
    /// Returns all positions.
    whole: Answer<FoundPositions>,
    /// Hands positions on in batches, and returns the rest.
    stream: fn(&Question, &Solver, Receiver) -> Result<FoundPositions, SolveError>,
}

/// P-positions in lexicographic order, each with its heaps in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundPositions {
    /// The positions.
    pub positions: Positions,
    /// The kernel that found them.
    pub used: ChosenKernel,
}

/// Receives positions in batches, perhaps on another thread. An error ends the search.
pub type Receiver = Arc<dyn Fn(Positions) -> Result<(), RunError> + Send + Sync>;

nimlanes_foundation::listed! {
    /// All games, in the order of the cores.
    GAMES: &[Game] = &[
        #[cfg(feature = "table_scan")]
        stone_game::GAME,
        #[cfg(feature = "occupancy")]
        proportionate_nim::GAME,
        #[cfg(feature = "xor_count")]
        nim_square::GAME,
        #[cfg(feature = "xor_count")]
        scatterstone_nim::GAME,
    ];
}

/// Looks up a game by name.
///
/// # Errors
/// No game has this name.
pub fn game(name: &str) -> Result<&'static Game, SolveError> {
    let mut known = Vec::new();
    for game in GAMES {
        if game.name == name {
            return Ok(game);
        }
        known.push(game.name);
    }
    Err(SolveError::UnknownGame { name: name.to_owned(), known })
}

/// A game with a limit and values for its parameters. Made by [`Game::question`].
#[derive(Clone, Debug)]
pub struct Question {
    game: &'static Game,
    /// The size of the problem, see [`Game::limit`].
    pub limit: u64,
    /// The values of the game's parameters, in their order.
    values: Vec<Held>,
}

/// Why a question was not answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SolveError {
    /// No game has this name.
    #[error("unknown game `{name}`{}", hint(.name, .known))]
    UnknownGame {
        /// The name given.
        name: String,
        /// The names of all games.
        known: Vec<&'static str>,
    },
    /// The game has no setting of this name.
    #[error("{game} has no setting `{name}`{}", hint(.name, .known))]
    NoSetting {
        /// The game.
        game: &'static str,
        /// The name given.
        name: String,
        /// The settings of the game.
        known: Vec<&'static str>,
    },
    /// The setting does not accept the value.
    #[error("{}", .reason.line(.setting, .value))]
    Value {
        /// The setting.
        setting: String,
        /// The value given.
        value: String,
        /// Why it was rejected.
        reason: ValueError,
    },
    /// The game has too many P-positions to list.
    #[error("{game} is solved by counting; its P-positions are not listed")]
    NoPositions {
        /// The game.
        game: &'static str,
    },
    /// There are too many heaps to count their positions.
    #[error("{heaps} heaps are too many; at most {most}")]
    TooManyHeaps {
        /// The number given.
        heaps: u32,
        /// The largest number allowed.
        most: u32,
    },
    /// The game does not use the operation.
    #[error("{game} does not use {operation}; allowed: {uses}")]
    NotUsed {
        /// The game.
        game: &'static str,
        /// The operation.
        operation: String,
        /// The operations that it uses.
        uses: String,
    },
    /// The input is invalid.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No kernel can be chosen.
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
#[non_exhaustive]
pub struct Solution {
    /// The answer to the question.
    pub answer: BigUint,
    /// Further numbers, by name.
    pub details: Vec<(&'static str, Figure)>,
    /// The kernel used for each operation.
    pub kernels: Vec<ChosenKernel>,
}

impl Solution {
    /// The exact numbers by name, the answer first. Numbers above 128 bits are left out.
    pub fn digest(&self) -> Digest {
        let mut digest = Vec::new();
        let mut add = |name, count| {
            if let Ok(count) = u128::try_from(count) {
                digest.push((name, count));
            }
        };
        add("answer", &self.answer);
        for (name, figure) in &self.details {
            if let Figure::Count(count) = figure {
                add(name, count);
            }
        }
        digest
    }
}

/// An operation and the kernel chosen for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChosenKernel {
    /// The operation.
    pub operation: &'static str,
    /// The kernel.
    pub kernel: &'static str,
    /// Whether the kernel's answers are proved.
    pub claim: Claim,
}

/// An operation of a solution that is about to run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Stage {
    /// The operation and its kernel.
    pub used: ChosenKernel,
    /// The progress count at the end of the stage ([`Operation::steps`]).
    pub steps: u64,
    /// The predicted time in nanoseconds.
    pub ns: f64,
}

/// A callback for each stage that is about to run.
pub type Watcher<'a> = dyn Fn(&Stage) + Sync + 'a;

/// The surroundings of a solution: the choice of kernels, the run and an optional watcher.
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
    /// A solver whose kernels `selection` chooses, for the number of threads of `run`. [`Selection::run`] makes a run with
    /// the threads of the selection. `run` also holds the progress and the cancellation flag.
    pub fn new(selection: &'a Selection, run: &'a Run) -> Self {
        Solver { selection, run, watcher: None }
    }

    /// How kernels are chosen, apart from the number of threads.
    pub fn selection(&self) -> &'a Selection {
        self.selection
    }

    /// The machine that kernels are chosen for.
    fn machine(&self) -> &'a Machine {
        self.selection.machine()
    }

    /// How kernels are chosen for the threads of the run.
    fn kernels(&self) -> Selection {
        self.selection.for_run(self.run)
    }

    /// The same solver, which calls `watcher` before each operation.
    #[must_use]
    pub fn watched_by(self, watcher: &'a Watcher<'a>) -> Self {
        Solver { watcher: Some(watcher), ..self }
    }

    /// Chooses a kernel for one operation and runs it on the input that `input` makes for `limit`.
    ///
    /// ```
    /// use nimlanes::cores::mex::records::{MexRecords, Records};
    /// use nimlanes::games::Solver;
    /// # use nimlanes::{kernel::selection::Selection, machine::Machine};
    /// let selection = Selection::new(Machine::detect());
    /// let (squares, run) = ("squares".parse()?, selection.run());
    /// let (found, _) = Solver::new(&selection, &run).apply::<MexRecords>(100, |limit| Records::new(&squares, limit))?;
    /// assert_eq!(found.first, [0, 1, 4, 25, 28, 29, 75]); // the first heap of each Grundy value
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The input is invalid, no kernel can handle it, or the run was stopped.
    pub fn apply<O: Operation>(
        &self,
        limit: u64,
        input: impl Fn(u64) -> Result<O::Input, InputError>,
    ) -> Result<(O::Output, ChosenKernel), SolveError> {
        self.apply_from::<O>(O::Start::default(), limit, input)
    }

    /// [`Solver::apply`] with a start other than the default.
    ///
    /// # Errors
    /// See [`Solver::apply`].
    pub fn apply_from<O: Operation>(
        &self,
        start: O::Start,
        limit: u64,
        input: impl Fn(u64) -> Result<O::Input, InputError>,
    ) -> Result<(O::Output, ChosenKernel), SolveError> {
        let (kernel, input) = self.choose::<O>(limit, &input)?;
        self.perform(kernel, start, &input)
    }

    /// Chooses a kernel for one operation on the input that `input` makes for `limit`. A call without a run checks in
    /// advance that a later operation is possible.
    fn choose<O: Operation>(
        &self,
        limit: u64,
        input: &dyn Fn(u64) -> Result<O::Input, InputError>,
    ) -> Result<(Kernel<O>, O::Input), SolveError> {
        let chosen = input(limit)?;
        Ok((self.kernels().kernel_for::<O, _>(&chosen, limit, input)?, chosen))
    }

    /// Chooses a kernel for one operation and runs it on an input computed by an earlier operation.
    ///
    /// # Errors
    /// No kernel can handle the input, or the run was stopped.
    pub fn apply_to<O: Operation>(&self, input: &O::Input) -> Result<(O::Output, ChosenKernel), SolveError> {
        self.perform(self.kernels().kernel::<O>(input)?, O::Start::default(), input)
    }

    fn perform<O: Operation>(
        &self,
        kernel: Kernel<O>,
        start: O::Start,
        input: &O::Input,
    ) -> Result<(O::Output, ChosenKernel), SolveError> {
        let used = self.announced(O::NAME, kernel.def(), &|threads| (O::steps(input), kernel.cost(input, threads).ns));
        Ok((kernel.run_from(start, input, self.run)?, used))
    }

    /// A kernel of an operation, reported to the watcher with its steps and nanoseconds.
    fn announced(
        &self,
        operation: &'static str,
        kernel: &KernelMeta,
        predicted: &dyn Fn(usize) -> (u64, f64),
    ) -> ChosenKernel {
        let used = ChosenKernel { operation, kernel: kernel.name, claim: kernel.claim };
        if let Some(watcher) = self.watcher {
            let (steps, ns) = predicted(self.run.threads());
            watcher(&Stage { used, steps, ns });
        }
        used
    }
}

impl Game {
    /// Checks that the game uses an operation.
    ///
    /// # Errors
    /// [`SolveError::NotUsed`] if the game does not use the operation.
    pub fn uses(&self, operation: &str) -> Result<(), SolveError> {
        if self.operations.contains(&operation) {
            return Ok(());
        }
        let (operation, uses) = (operation.to_owned(), self.operations.join(", "));
        Err(SolveError::NotUsed { game: self.name, operation, uses })
    }

    /// A question about the game up to `limit`, with the parameters of the published game.
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
        let mut values = Vec::new();
        for parameter in self.parameters {
            values.push((parameter.published)());
        }
        Question { game: self, limit, values }
    }

    /// The settings that a question accepts.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        let mut settings = Vec::new();
        for parameter in self.parameters {
            settings.append(&mut parameter.settings());
        }
        settings.into_iter()
    }

    /// Whether the P-positions can be listed.
    pub fn lists_positions(&self) -> bool {
        self.listing.is_some()
    }
}

impl Question {
    /// Sets a parameter by one of the [`Game::settings`]. A later value replaces an earlier one.
    ///
    /// # Errors
    /// The game has no setting of this name, or the setting does not accept the value.
    pub fn with(mut self, setting: &str, value: impl ToString) -> Result<Self, SolveError> {
        self.set(setting, value.to_string())?;
        Ok(self)
    }

    fn set(&mut self, setting: &str, value: String) -> Result<(), SolveError> {
        let mut known = Vec::new();
        for (place, parameter) in self.game.parameters.iter().enumerate() {
            for setter in parameter.setters {
                if setter.name == setting {
                    let read = setter.takes.read(&value);
                    let setting = setting.to_owned();
                    self.values[place] = read.map_err(|reason| SolveError::Value { setting, value, reason })?;
                    return Ok(());
                }
                known.push(setter.name);
            }
        }
        Err(SolveError::NoSetting { game: self.game.name, name: setting.to_owned(), known })
    }

    /// The game that the question is about.
    pub fn game(&self) -> &'static Game {
        self.game
    }

    /// The parameters of the game with their current values.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.game.parameters.iter().zip(&self.values).map(|(parameter, value)| (parameter.name, value.to_string()))
    }

    /// The value of a parameter of the game, whose values have this type.
    fn get<T: 'static>(&self, parameter: &Parameter) -> &T {
        self.value(parameter).downcast_ref().expect("a parameter holds values of its type")
    }

    fn value(&self, parameter: &Parameter) -> &dyn Any {
        let mut place = 0;
        while self.game.parameters[place].name != parameter.name {
            place += 1;
        }
        &*self.values[place]
    }

    /// Answers the question. Kernels that the selection names for operations of other games are ignored.
    ///
    /// # Errors
    /// The input is invalid, no kernel can handle it, or the run was stopped.
    #[inline(never)]
    pub fn solve(&self, solver: &Solver) -> Result<Solution, SolveError> {
        // Not a tail call: profiles recognize the beginning of a game by this frame.
        black_box((self.game.solve)(self, solver))
    }

    /// The game in a few words, as the title of a picture of its P-positions.
    ///
    /// # Errors
    /// The P-positions of the game cannot be listed.
    pub fn caption(&self) -> Result<String, SolveError> {
        Ok((self.listing()?.caption)(self))
    }

    /// Finds all P-positions up to the limit.
    ///
    /// # Errors
    /// The P-positions of the game cannot be listed; otherwise see [`Question::solve`].
    pub fn positions(&self, solver: &Solver) -> Result<FoundPositions, SolveError> {
        (self.listing()?.whole)(self, solver)
    }

    /// Finds the P-positions of [`Question::positions`] on a second thread, while this thread passes them to `take` in
    /// batches. Batches come in order, each as soon as no earlier position can follow. Besides the kernel's own memory,
    /// only a few batches are held, each of at most 16384 heaps of Proportionate Nim or 64 layers of the Stone Game; a
    /// search that runs ahead waits. The kernels `blocks` of the Stone Game know the first position only when they have found all. An error from `take` ends the search.
    ///
    /// # Errors
    /// The outer result holds an error of `take`. The inner one holds an error of the search, as in
    /// [`Question::positions`], or the error that a second thread cannot be started.
    pub fn stream<E>(
        &self,
        solver: &Solver,
        mut take: impl FnMut(Positions) -> Result<(), E>,
    ) -> Result<Result<ChosenKernel, SolveError>, E> {
        let stream = match self.listing() {
            Ok(listing) => listing.stream,
            Err(error) => return Ok(Err(error)),
        };
        if !solver.selection().machine().has_threads() {
            return Ok(Err(SelectError::SingleThread(2).into()));
        }
        let (outlet, batches) = sync_channel(WAITING);
        let found = std::thread::scope(|scope| {
            let send: Receiver = Arc::new(move |batch| outlet.send(batch).map_err(|_| RunError::Cancelled));
            let search = match threads::start(scope, move || stream(self, solver, send)) {
                Ok(search) => search,
                Err(stop) => return Ok(Err(stop.into())),
            };
            // If a batch is refused, the receiving end of the outlet is dropped.
            for batch in batches {
                take(batch)?;
            }
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

/// Positions in order, which a receiver takes.
fn handed_to<P>(receiver: Receiver) -> Wanted<P>
where
    Positions: From<Vec<P>>,
{
    Wanted::InOrder(Arc::new(move |batch: Vec<P>| receiver(batch.into())))
}

/// The digest of an operation as details of a solution, without the entry named `answer`.
fn details(digest: Digest, answer: &str) -> Vec<(&'static str, Figure)> {
    let mut details = Vec::new();
    for (name, number) in digest {
        if name != answer {
            details.push((name, Figure::Count(number.into())));
        }
    }
    details
}
