//! The library as a module of Python. A function reads its arguments, has the library answer, and moves what it found into a NumPy
//! array. The package around it, in `nimlanes`, has the classes of results and exceptions.

mod answer;
mod arguments;
mod errors;

use std::collections::BTreeMap;

use nimlanes::cores::OPERATIONS;
use nimlanes::cores::mex::family::{Family, MexFamily, Repeating};
use nimlanes::games::{BigUint, Figure, Positions};
use nimlanes::machine::Machine;
use nimlanes::numbers::within;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyTuple};

use answer::answer;
use arguments::{Common, Limit, Moves, OneHeap, Options, whole};
use errors::refused;

#[pymodule]
mod _nimlanes {
    #[pymodule_export]
    use super::{family, first_heaps, grundy_values, kernels, period, positions, solve, zeros};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// The Grundy values of the heaps 0..=limit of a game.
///
/// The game is a subtraction set or the code of an octal or hexadecimal game. A set is the list of its moves in ascending order, a
/// name ("squares", "primes", "powers-of-2"), a range ("1..5") or all moves but some ("all-but:4,9"). A code is a text with a point
/// ("0.77", "0.[3]") or a name ("kayles", "grundy"). The message for an unknown name lists them all.
///
/// Returns an array of shape (limit + 1,) and type uint16: at place n, the value of a heap of n.
///
/// Raises `UsageError`, `OutOfMemoryError` or `RunError`: see the package.
#[pyfunction]
#[pyo3(
    signature = (game, limit, **options),
    text_signature = "(game, limit, *, threads=None, kernel=None, force=False, progress=None)"
)]
fn grundy_values<'py>(
    py: Python<'py>,
    game: OneHeap,
    limit: Limit,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyArray1<u16>>> {
    let values = answer(py, Options::read(options)?, |solver| solver.grundy_values(&game.0, limit.0))?;
    Ok(values.into_pyarray(py))
}

/// The heaps up to a limit that are P-positions, those of Grundy value 0, where a move takes a number of a set.
///
/// The set is given as to `grundy_values`, and no other values are computed.
///
/// Returns an array of shape (number of heaps,) and type uint64, ascending.
///
/// Raises `UsageError`, `OutOfMemoryError` or `RunError`: see the package.
#[pyfunction]
#[pyo3(
    signature = (moves, limit, **options),
    text_signature = "(moves, limit, *, threads=None, kernel=None, force=False, progress=None)"
)]
fn zeros<'py>(
    py: Python<'py>,
    moves: Moves,
    limit: Limit,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    Ok(answer(py, Options::read(options)?, |solver| solver.zeros(&moves.0, limit.0))?.into_pyarray(py))
}

/// The first heap of each Grundy value up to a limit, where a move takes a number of a set.
///
/// The set is given as to `grundy_values`. With at most 63 moves up to the limit, the values are not kept, and the limit may be as large
/// as 2^41.
///
/// Returns an array of shape (largest value + 1,) and type uint64: at place v, the first heap of value v.
///
/// Raises `UsageError`, `OutOfMemoryError` or `RunError`: see the package.
#[pyfunction]
#[pyo3(
    signature = (moves, limit, **options),
    text_signature = "(moves, limit, *, threads=None, kernel=None, force=False, progress=None)"
)]
fn first_heaps<'py>(
    py: Python<'py>,
    moves: Moves,
    limit: Limit,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    Ok(answer(py, Options::read(options)?, |solver| solver.first_heaps(&moves.0, limit.0))?.into_pyarray(py))
}

/// The period of the Grundy values of a game, if those of the heaps 0..=limit prove one.
///
/// The game is given as to `grundy_values`. Values of finite sets of moves, and of codes whose digits end, have a proof.
/// Where few heaps of a code are rare, no values are kept, and the limit may be as large as 2^48.
///
/// Returns a `Period`, or None if these heaps prove none.
///
/// Raises `UsageError`, `OutOfMemoryError` or `RunError`: see the package.
#[pyfunction]
#[pyo3(
    signature = (game, limit, **options),
    text_signature = "(game, limit, *, threads=None, kernel=None, force=False, progress=None)"
)]
fn period<'py>(
    py: Python<'py>,
    game: OneHeap,
    limit: Limit,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let proved = answer(py, Options::read(options)?, |solver| solver.period(&game.0, limit.0))?;
    proved.map(|proved| named(py, "Period", (proved.period, proved.preperiod, proved.heaps))).transpose()
}

/// The periods of all subtraction sets with the same largest move, which is at most 63.
///
/// with_moves: smaller moves that all of these sets have. symmetric=True: only the sets that have the move M - s if they have the move s
/// below the largest move M. The lists of sets with the longest periods and preperiods have up to `top` sets, which is at most 1000.
///
/// The work doubles with each move that a set may have or not. All periods are proved.
///
/// Returns a `Family`. Periods and preperiods are numbers of heaps.
///
/// Raises `UsageError`, `OutOfMemoryError` or `RunError`: see the package.
#[pyfunction]
#[pyo3(
    signature = (largest_move, *, with_moves=Common::default(), symmetric=false, top=None, **options),
    text_signature = "(largest_move, *, with_moves=(), symmetric=False, top=1, threads=None, kernel=None, force=False, \
        progress=None)"
)]
fn family<'py>(
    py: Python<'py>,
    largest_move: &Bound<'py, PyAny>,
    with_moves: Common,
    symmetric: bool,
    top: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let largest = whole("largest_move", largest_move)?;
    let top = top.map_or(Ok(1), |top| whole("top", top))?;
    within(1..=1000)(&top.to_string()).map_err(|sentence| refused(format!("top `{top}` is {sentence}")))?;
    if symmetric && !with_moves.0.is_empty() {
        return Err(refused("symmetric sets have no with_moves; give one of the two".into()));
    }
    let family = if symmetric { Family::symmetric(largest) } else { Family::with_moves(largest, &with_moves.0) };
    let family = family.map_err(|error| refused(error.to_string()))?.listing(top as usize);
    let (found, _) = answer(py, Options::read(options)?, |solver| solver.apply_to::<MexFamily>(&family))?;
    let list = |list: &[Repeating]| {
        let repeating = |set: &Repeating| {
            named(py, "Repeating", (PyTuple::new(py, family.moves(set.set))?, set.period, set.preperiod))
        };
        list.iter().map(repeating).collect::<PyResult<Vec<_>>>()
    };
    let fields = (
        found.sets(),
        found.longest_period(),
        found.longest_preperiod(),
        found.sum_of_periods(),
        found.pure,
        found.largest,
        list(&found.longest_periods)?,
        list(&found.longest_preperiods)?,
        found.periods.into_iter().collect::<BTreeMap<u64, u64>>(),
    );
    named(py, "Family", fields)
}

/// All P-positions of two games up to a limit.
///
/// "stone-game": three heaps up to the limit, of which a move takes the same number from one, two or all three; with
/// rule="one-or-two" from one or two.
///
/// "proportionate-nim": two heaps whose sum is at most the limit. A move takes any number t from one heap, or, by moves="1:1,1:2",
/// t from both, or t from one and 2 t from the other; moves="1:1" is Wythoff's game.
///
/// Returns an array of shape (number of positions, heaps) in lexicographic order, each row ascending: two heaps of type uint64, or three
/// of type uint32.
///
/// Raises `UsageError`, `OutOfMemoryError` or `RunError`: see the package.
#[pyfunction]
#[pyo3(
    signature = (game, limit, **options),
    text_signature = "(game, limit, *, threads=None, kernel=None, force=False, progress=None, **settings)"
)]
fn positions<'py>(
    py: Python<'py>,
    game: &str,
    limit: Limit,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut options = Options::read(options)?;
    let question = options.question(game, limit.0)?;
    Ok(match answer(py, options, |solver| question.positions(solver))?.positions {
        Positions::Two(list) => rows(py, list)?.into_any(),
        Positions::Three(list) => rows(py, list)?.into_any(),
    })
}

/// Solves a problem of Project Euler, or one like it, up to a limit.
///
/// "stone-game" (260) and "proportionate-nim" (665): the sum of all heaps of their P-positions, with the settings of `positions`.
///
/// "nim-square" (310): the number of P-positions of heaps up to the limit, in any order, where a move takes a number of a set from one
/// heap. Settings: moves, a set as for `zeros`, and heaps, their number.
///
/// "scatterstone-nim" (629): the number of partitions of the limit that the player to move wins, where a move splits a heap into 2 to k,
/// summed over k from 2 up to the limit, modulo 1_000_000_007. Settings: modulus, an odd number below 2^31, or exact=True.
///
/// Returns a `Solution`.
///
/// Raises `UsageError`, `OutOfMemoryError` or `RunError`: see the package.
#[pyfunction]
#[pyo3(
    signature = (game, limit, **options),
    text_signature = "(game, limit, *, threads=None, kernel=None, force=False, progress=None, **settings)"
)]
fn solve<'py>(
    py: Python<'py>,
    game: &str,
    limit: Limit,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut options = Options::read(options)?;
    let question = options.question(game, limit.0)?;
    let solution = answer(py, options, |solver| question.solve(solver))?;
    let (details, kernels) = (PyDict::new(py), PyDict::new(py));
    for (name, figure) in &solution.details {
        match figure {
            Figure::Count(count) => details.set_item(name, int(py, count)?)?,
            Figure::Ratio(ratio) => details.set_item(name, ratio)?,
        }
    }
    for used in &solution.kernels {
        kernels.set_item(used.operation, used.kernel)?;
    }
    named(py, "Solution", (int(py, &solution.answer)?, details, kernels))
}

/// The kernels of an operation, or of all operations.
///
/// Returns a list of `Kernel`, with the baseline of each operation first.
#[pyfunction]
#[pyo3(signature = (operation=None))]
fn kernels<'py>(py: Python<'py>, operation: Option<&str>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let machine = Machine::from_env().map_err(|error| refused(error.to_string()))?;
    let operations = match operation {
        None => OPERATIONS.to_vec(),
        Some(name) => vec![nimlanes::cores::operation(name).map_err(|error| refused(error.to_string()))?],
    };
    let listed = operations.into_iter().flat_map(|operation| {
        operation.kernels(&machine).into_iter().map(move |kernel| {
            let obstacle = kernel.obstacle.as_ref().map(ToString::to_string);
            let (tier, claim) = (kernel.tier.name(), kernel.claim.name());
            named(py, "Kernel", (operation.name(), kernel.name, tier, claim, kernel.summary, obstacle))
        })
    });
    listed.collect()
}

/// An instance of a class of the package.
fn named<'py>(py: Python<'py>, class: &str, fields: impl PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
    py.import("nimlanes")?.getattr(class)?.call1(fields)
}

/// An int of any size. By bytes: Python reads no text of over 4300 digits.
fn int<'py>(py: Python<'py>, number: &BigUint) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<PyInt>().call_method1("from_bytes", (PyBytes::new(py, &number.to_bytes_le()), "little"))
}

/// A matrix with a row for each position.
fn rows<'py, T: numpy::Element, const HEAPS: usize>(
    py: Python<'py>,
    list: Vec<[T; HEAPS]>,
) -> PyResult<Bound<'py, numpy::PyArray2<T>>> {
    let shape = [list.len(), HEAPS];
    list.into_flattened().into_pyarray(py).reshape(shape)
}
