//! Parameters of a game besides the limit. Each game declares its own as data, and only the game knows their types.

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
pub(super) struct Parameter<T: 'static> {
    /// Its name in answers.
    pub name: &'static str,
    /// The value in the published game.
    pub published: T,
    /// The ways to set it. A question uses at most one.
    pub setters: &'static [Setter<T>],
}

/// A way to set a parameter.
#[derive(Debug)]
pub(super) struct Setter<T: 'static> {
    /// Its name, unique within the game.
    pub name: &'static str,
    /// Its meaning: lower case, without a full stop.
    pub help: &'static str,
    /// The values that it accepts.
    pub takes: Takes<T>,
}

/// The values that a setter accepts. `value` is the placeholder shown in help.
#[derive(Debug)]
pub(super) enum Takes<T: 'static> {
    /// A flag: only `true`, which selects this value.
    Nothing(T),
    /// One of these, written as they are displayed.
    OneOf { value: &'static str, all: &'static [T] },
    /// A whole number in a range.
    Number { value: &'static str, range: RangeInclusive<u64>, read: fn(u64) -> Result<T, ValueError> },
    /// A text.
    Text { value: &'static str, read: fn(&str) -> Result<T, ValueError> },
}

/// The value of a parameter, whatever its type.
pub(super) trait Value: Any + Debug + Display + Send + Sync {}

impl<T: Any + Debug + Display + Send + Sync> Value for T {}

/// A parameter, whatever its type.
pub(super) trait AnyParameter: Debug + Sync {
    /// Its name in answers.
    fn name(&self) -> &'static str;
    /// Its value in the published game.
    fn published(&self) -> Arc<dyn Value>;
    /// The ways to set it.
    fn settings(&self) -> Vec<Setting>;
    /// Parses a text with the setter of this name; `None` if there is no such setter.
    fn read(&self, setter: &str, text: &str) -> Option<Result<Arc<dyn Value>, ValueError>>;
}

impl<T: Clone + Debug + Display + Send + Sync> AnyParameter for Parameter<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn published(&self) -> Arc<dyn Value> {
        Arc::new(self.published.clone())
    }

    fn settings(&self) -> Vec<Setting> {
        let setting = |setter: &Setter<T>| {
            let (value, choices) = match &setter.takes {
                Takes::Nothing(_) => (None, Vec::new()),
                Takes::OneOf { value, all } => (Some(*value), all.iter().map(T::to_string).collect()),
                Takes::Number { value, .. } | Takes::Text { value, .. } => (Some(*value), Vec::new()),
            };
            let (parameter, published) = (self.name, self.published.to_string());
            Setting { name: setter.name, parameter, published, help: setter.help, value, choices }
        };
        self.setters.iter().map(setting).collect()
    }

    fn read(&self, setter: &str, text: &str) -> Option<Result<Arc<dyn Value>, ValueError>> {
        let setter = self.setters.iter().find(|known| known.name == setter)?;
        Some(setter.takes.read(text).map(|value| Arc::new(value) as Arc<dyn Value>))
    }
}

impl<T: Clone + Display> Takes<T> {
    fn read(&self, text: &str) -> Result<T, ValueError> {
        match self {
            Takes::Nothing(value) if text == "true" => Ok(value.clone()),
            Takes::Nothing(_) => Err(ValueError::Unknown { known: vec!["true".to_owned()] }),
            Takes::OneOf { all, .. } => {
                let named = all.iter().find(|value| value.to_string() == text).cloned();
                named.ok_or_else(|| ValueError::Unknown { known: all.iter().map(T::to_string).collect() })
            }
            Takes::Number { range, read, .. } => read(within(range.clone())(text)?),
            Takes::Text { read, .. } => read(text),
        }
    }
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
    #[error("unknown; allowed: {}", .known.join(", "))]
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
                format!("unknown value `{value}` of {setting}{}", hint(value, known.iter().map(String::as_str)))
            }
            // These messages already name the value.
            ValueError::Moves(_) | ValueError::Diagonals(_) | ValueError::Input(_) => self.to_string(),
        }
    }
}
