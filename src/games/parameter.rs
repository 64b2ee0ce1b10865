//! Parameters of a game besides the limit. Each game declares its own as data; their types are private to the game.

use std::any::Any;
use std::fmt::{Debug, Display};
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::kernel::workload::InputError;
use crate::moves::{DiagonalsError, MoveSetError};
use crate::text::names::hint;
use crate::text::numbers::{NumberError, within};

/// A parameter of a game.
#[derive(Debug)]
pub(super) struct Parameter {
    /// Its name in answers, unique within the game.
    pub name: &'static str,
    /// The value in the published game.
    pub published: fn() -> Held,
    /// The ways to set it. A question uses at most one.
    pub setters: &'static [Setter],
}

/// A way to set a parameter.
#[derive(Debug)]
pub(super) struct Setter {
    /// Its name, unique within the game.
    pub name: &'static str,
    /// Its meaning: lower case, without a full stop.
    pub help: &'static str,
    /// The values that it accepts.
    pub takes: Takes,
}

/// The values that a setter accepts. `value` is the placeholder shown in help.
#[derive(Debug)]
pub(super) enum Takes {
    /// A flag: only `true`, which selects this value.
    Nothing(fn() -> Held),
    /// One of these, written as they are displayed.
    OneOf { value: &'static str, all: fn() -> Vec<Held> },
    /// A whole number in a range.
    Number { value: &'static str, range: RangeInclusive<u64>, read: fn(u64) -> Result<Held, ValueError> },
    /// A text.
    Text { value: &'static str, read: fn(&str) -> Result<Held, ValueError> },
}

/// The value of a parameter, whatever its type.
pub(super) trait Value: Any + Debug + Display + Send + Sync {}

impl<T: Any + Debug + Display + Send + Sync> Value for T {}

/// A value that a question holds, of a type of the game.
pub(super) type Held = Arc<dyn Value>;

/// Hides the type of a value.
pub(super) fn held<T: Value>(value: T) -> Held {
    Arc::new(value)
}

impl Parameter {
    /// Its setters, as settings of a question.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for Setter { name, help, takes } in self.setters {
            let value = match takes {
                Takes::Nothing(_) => None,
                Takes::OneOf { value, .. } | Takes::Number { value, .. } | Takes::Text { value, .. } => Some(*value),
            };
            let choices = if let Takes::OneOf { all, .. } = takes { written(&all()) } else { Vec::new() };
            let published = (self.published)().to_string();
            settings.push(Setting { name, parameter: self.name, published, help, value, choices });
        }
        settings
    }
}

impl Takes {
    /// The value that a text stands for.
    pub fn read(&self, text: &str) -> Result<Held, ValueError> {
        match self {
            Takes::Nothing(value) if text == "true" => Ok(value()),
            Takes::Nothing(_) => Err(ValueError::Unknown { known: vec!["true".to_owned()] }),
            Takes::OneOf { all, .. } => {
                let mut all = all();
                let known = written(&all);
                match known.iter().position(|name| name == text) {
                    Some(place) => Ok(all.swap_remove(place)),
                    None => Err(ValueError::Unknown { known }),
                }
            }
            Takes::Number { range, read, .. } => read(within(range.clone())(text)?),
            Takes::Text { read, .. } => read(text),
        }
    }
}

/// The texts of values.
fn written(values: &[Held]) -> Vec<String> {
    let mut texts = Vec::new();
    for value in values {
        texts.push(value.to_string());
    }
    texts
}

/// Texts as they are listed.
fn listed(texts: &[String]) -> Vec<&str> {
    let mut list: Vec<&str> = Vec::new();
    for text in texts {
        list.push(text);
    }
    list
}

/// A setting of a question, see [`Question::with`](super::Question::with). On the command line, each setting is an
/// option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// The name, unique within the game.
    pub name: &'static str,
    /// The parameter that the setting sets. Settings of the same parameter exclude each other.
    pub parameter: &'static str,
    /// The value of the parameter in the published game.
    pub published: String,
    /// The meaning: lower case, without a full stop.
    pub help: &'static str,
    /// The placeholder for the value in help; `None` if only `true` is accepted.
    pub value: Option<&'static str>,
    /// The accepted values, if they can be listed.
    pub choices: Vec<String>,
}

/// Why a setting does not accept a value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// Not a whole number, or out of bounds.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// Not one of the accepted values.
    #[error("unknown; allowed: {}", listed(.known).join(", "))]
    Unknown {
        /// The accepted values.
        known: Vec<String>,
    },
    /// Not a subtraction set.
    #[error(transparent)]
    Moves(#[from] MoveSetError),
    /// Not a list of diagonals.
    #[error(transparent)]
    Diagonals(#[from] DiagonalsError),
    /// Not a valid input of an operation.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl ValueError {
    /// The error message for `value`, where `setting` is the name of the setting as the user wrote it.
    pub fn line(&self, setting: &str, value: &str) -> String {
        match self {
            ValueError::Number(error) => format!("{setting} `{value}` is {error}"),
            ValueError::Unknown { known } => {
                format!("unknown value `{value}` of {setting}{}", hint(value, &listed(known)))
            }
            // These messages already name the value.
            ValueError::Moves(_) | ValueError::Diagonals(_) | ValueError::Input(_) => self.to_string(),
        }
    }
}
