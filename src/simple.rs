//! Questions answered in one call, with the kernels that are selected on this machine, on all its threads.

use crate::cores::named::NameError;
use crate::games::{Positions, Question, Solution, SolveError, Solver, game};
use crate::kernel::selection::Selection;
use crate::kernel::workload::InputError;
use crate::kernel::{Kernel, Operation, available};
use crate::machine::Machine;

/// Solves a game in its published form, up to a limit. The module of each game in [`games`](crate::games) documents what its
/// answer is.
///
/// ```
/// assert_eq!(nimlanes::solve("stone-game", 100)?.answer, 173_895u32.into());
/// # Ok::<(), nimlanes::games::SolveError>(())
/// ```
///
/// # Errors
/// There is no such game, the limit is too large for this machine, or the run would take more than a day.
pub fn solve(name: &str, limit: u64) -> Result<Solution, SolveError> {
    with_solver(|solver| game(name)?.question(limit).solve(solver))
}

/// The P-positions of a question in lexicographic order, each with its heaps in ascending order.
///
/// ```
/// use nimlanes::games::{Positions, game};
/// let wythoff = game("proportionate-nim")?.question(20).with("moves", "1:1")?;
/// assert_eq!(nimlanes::positions(&wythoff)?, Positions::Two(vec![[0, 0], [1, 2], [3, 5], [4, 7], [6, 10]]));
/// # Ok::<(), nimlanes::games::SolveError>(())
/// ```
///
/// # Errors
/// The P-positions of the game cannot be listed; otherwise see [`solve`].
pub fn positions(question: &Question) -> Result<Positions, SolveError> {
    with_solver(|solver| Ok(question.positions(solver)?.positions))
}

/// The Grundy values of the heaps `0..=limit`, where a move takes a number of the set `moves`: `squares`, `cubes`,
/// `1,4,9`, `1..5`, or any other text that [`MoveSet`](crate::moves::MoveSet) reads.
///
/// ```
/// assert_eq!(nimlanes::grundy_values("squares", 10)?, [0, 1, 0, 1, 2, 0, 1, 0, 1, 2, 0]);
/// # Ok::<(), nimlanes::games::SolveError>(())
/// ```
///
/// # Errors
/// The text is not a subtraction set; otherwise see [`solve`].
#[cfg(feature = "mex")]
pub fn grundy_values(moves: &str, limit: u64) -> Result<Vec<u16>, SolveError> {
    let moves = moves.parse().map_err(InputError::Moves)?;
    with_solver(|solver| solver.values_of_set(&moves, limit))
}

/// The heaps up to `limit` that are P-positions (Grundy value 0), by a sieve that computes no other values.
///
/// ```
/// assert_eq!(nimlanes::zeros("squares", 20)?, [0, 2, 5, 7, 10, 12, 15, 17, 20]);
/// # Ok::<(), nimlanes::games::SolveError>(())
/// ```
///
/// # Errors
/// See [`grundy_values`].
#[cfg(feature = "mex")]
pub fn zeros(moves: &str, limit: u64) -> Result<Vec<u64>, SolveError> {
    let moves = moves.parse().map_err(InputError::Moves)?;
    with_solver(|solver| solver.zeros(&moves, limit))
}

/// The Grundy values of the heaps `0..=limit` of an octal or hexadecimal game, given by its [`Code`](crate::moves::Code): `0.77`, or
/// `kayles`, is Kayles.
///
/// ```
/// assert_eq!(nimlanes::octal_values("0.77", 9)?, [0, 1, 2, 3, 1, 4, 3, 2, 1, 4]);
/// # Ok::<(), nimlanes::games::SolveError>(())
/// ```
///
/// # Errors
/// The text is not the code of a game; otherwise see [`solve`].
#[cfg(feature = "octal")]
pub fn octal_values(code: &str, limit: u64) -> Result<Vec<u16>, SolveError> {
    let code = code.parse().map_err(InputError::Code)?;
    with_solver(|solver| solver.values_of_code(&code, limit))
}

/// Looks up a kernel of an operation by name, if it can run on this machine.
///
/// ```
/// # use nimlanes::cores::mex::subtraction::MexSubtraction;
/// let error = nimlanes::kernel_named::<MexSubtraction>("stam").unwrap_err().to_string();
/// assert!(error.starts_with("unknown kernel `stam` of mex_subtraction; did you mean `stamp`?"));
/// ```
///
/// # Errors
/// There is no such kernel, or it cannot run here.
pub fn kernel_named<O: Operation>(name: &str) -> Result<Kernel<O>, NameError> {
    let machine = Machine::detect();
    let available = || available::<O>(&machine).map(|kernel| kernel.def().name).collect();
    let Some(def) = O::KERNELS.iter().find(|def| def.name == name) else {
        return Err(NameError::UnknownKernel { operation: O::NAME, name: name.to_owned(), available: available() });
    };
    def.on(&machine).map_err(|obstacle| NameError::Unavailable {
        operation: O::NAME,
        name: def.name,
        obstacle,
        available: available(),
    })
}

fn with_solver<T>(ask: impl FnOnce(&Solver) -> Result<T, SolveError>) -> Result<T, SolveError> {
    let selection = Selection::new(Machine::detect());
    let run = selection.run();
    ask(&Solver::new(&selection, &run))
}
