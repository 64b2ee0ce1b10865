//! The arguments of the module's functions.

use nimlanes::cores::named::{ByName, pair};
use nimlanes::games::{self, Question};
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::workload::InputError;
use nimlanes::moves::{MoveSet, Rules};
use nimlanes::numbers::number;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString};

use crate::errors::{raised, refused};

/// The largest heap, or whatever else the game limits.
pub struct Limit(pub u64);

impl<'py> FromPyObject<'_, 'py> for Limit {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        whole("limit", &object).map(Limit)
    }
}

/// Moves that all sets of a family have.
#[derive(Default)]
pub struct Common(pub Vec<u64>);

impl<'py> FromPyObject<'_, 'py> for Common {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        object.try_iter()?.map(|item| whole("with_moves", &item?)).collect::<PyResult<_>>().map(Common)
    }
}

/// The value of an argument that is a whole number.
pub fn whole(name: &str, object: &Bound<PyAny>) -> PyResult<u64> {
    object.extract().or_else(|error: PyErr| {
        if !error.is_instance_of::<PyOverflowError>(object.py()) {
            return Err(error);
        }
        let text = text(&object.call_method0("__index__")?)?;
        number(&text).map_err(|sentence| refused(format!("{name} `{text}` is {sentence}")))
    })
}

/// An argument as the library reads it. Python writes no int of over 4300 digits: of a large one, the power of two below is enough.
fn text(object: &Bound<PyAny>) -> PyResult<String> {
    if let Ok(int) = object.cast::<PyInt>() {
        let bits: u64 = int.call_method0("bit_length")?.extract()?;
        if bits > 128 {
            return Ok(format!("{}2^{}", if int.lt(0)? { "-" } else { "" }, bits - 1));
        }
    }
    Ok(object.str()?.to_string())
}

/// A subtraction set: a text, or its moves.
pub struct Moves(pub MoveSet);

impl<'py> FromPyObject<'_, 'py> for Moves {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let text = if object.is_instance_of::<PyString>() { object.to_string() } else { listed(&object)? };
        text.parse().map(Moves).map_err(|error| raised(InputError::Moves(error).into()))
    }
}

/// The rules of a game on one heap: a text, or the moves of a subtraction set.
pub struct OneHeap(pub Rules);

impl<'py> FromPyObject<'_, 'py> for OneHeap {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            let rules = object.to_string().parse();
            return rules.map(OneHeap).map_err(|error| raised(InputError::Rules(error).into()));
        }
        Ok(OneHeap(Rules::Moves(object.extract::<Moves>()?.0)))
    }
}

/// The items of an iterable, as a text of the library.
fn listed(object: &Bound<PyAny>) -> PyResult<String> {
    let items = object.try_iter()?.map(|item| text(&item?));
    Ok(items.collect::<PyResult<Vec<_>>>()?.join(","))
}

/// The options that all functions take, and the settings of a game.
#[derive(Default)]
pub struct Options<'py> {
    threads: Option<u64>,
    kernel: Option<String>,
    force: bool,
    pub progress: Option<Bound<'py, PyAny>>,
    settings: Vec<(String, Bound<'py, PyAny>)>,
}

impl<'py> Options<'py> {
    /// Reads keyword arguments.
    pub fn read(keywords: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let mut options = Options::default();
        for (name, value) in keywords.into_iter().flatten() {
            let name = name.to_string();
            match name.as_str() {
                "threads" if value.is_none() => {}
                "threads" => options.threads = Some(whole(&name, &value)?),
                "kernel" => options.kernel = value.extract()?,
                "force" => options.force = value.extract()?,
                "progress" => options.progress = value.extract()?,
                _ => options.settings.push((name, value)),
            }
        }
        Ok(options)
    }

    /// The question about a game, with the settings, which are taken. A flag that is `False` is not set.
    pub fn question(&mut self, game: &str, limit: u64) -> PyResult<Question> {
        let game = games::game(game).map_err(raised)?;
        let is_flag = |name: &str| game.settings().any(|setting| setting.name == name && setting.value.is_none());
        let mut question = game.question(limit);
        for (name, value) in std::mem::take(&mut self.settings) {
            let is_list = !value.is_instance_of::<PyString>() && value.try_iter().is_ok();
            let text = match value.extract() {
                Ok(false) if is_flag(&name) => continue,
                Ok(true) if is_flag(&name) => "true".to_owned(),
                _ if is_list => listed(&value)?,
                _ => text(&value)?,
            };
            question = question.with(&name, text).map_err(raised)?;
        }
        Ok(question)
    }

    /// How kernels are chosen.
    ///
    /// # Errors
    /// A setting is left that no question has taken, or there is no such kernel or number of threads.
    pub fn selection(&self) -> PyResult<Selection> {
        if let Some((name, _)) = self.settings.first() {
            let known = "threads, kernel, force, progress";
            return Err(PyTypeError::new_err(format!("unexpected keyword argument `{name}`; allowed: {known}")));
        }
        let mut selection = Selection::from_env().map_err(|error| refused(error.to_string()))?;
        for text in self.kernel.iter().flat_map(|all| all.split(',')) {
            let named = pair(text.trim()).and_then(|(operation, kernel)| selection.with_kernel(operation, kernel));
            selection = named.map_err(|error| refused(error.to_string()))?;
        }
        if let Some(threads) = self.threads {
            let threads = usize::try_from(threads).unwrap_or(usize::MAX);
            selection = selection.with_threads(threads).map_err(|error| raised(error.into()))?;
        }
        Ok(if self.force { selection.allow_long() } else { selection })
    }
}
