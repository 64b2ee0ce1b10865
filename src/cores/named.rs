//! Kernels asked for by name, on the command line and in the environment.

use super::{UnknownOperation, operation};
use crate::candidate::Obstacle;
use crate::machine::{Machine, WrongCap};
use crate::names::hint;
use crate::selection::Selection;

/// The environment variable that names kernels: `operation=kernel,...`.
pub const KERNEL: &str = "NIMLANES_KERNEL";

/// A name that stands for no kernel here.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Not of the form `operation=kernel`.
    #[error("`{0}` is not OPERATION=KERNEL, as in mex_subtraction=stamp")]
    NotAPair(String),
    /// No operation of that name.
    #[error(transparent)]
    UnknownOperation(#[from] UnknownOperation),
    /// No kernel of that name.
    #[error("unknown kernel `{name}` of {operation}{}", hint(.name, .available.iter().copied()))]
    UnknownKernel {
        /// The operation.
        operation: &'static str,
        /// What was asked for.
        name: String,
        /// What can be run here.
        available: Vec<&'static str>,
    },
    /// A kernel that cannot run here.
    #[error("kernel {operation}={name} is not available: {obstacle}; allowed: {}", .available.join(", "))]
    Unavailable {
        /// The operation.
        operation: &'static str,
        /// The kernel.
        name: &'static str,
        /// Why it cannot be run.
        obstacle: Obstacle,
        /// What can be run here.
        available: Vec<&'static str>,
    },
    /// A tier that the environment names wrongly.
    #[error(transparent)]
    Tier(#[from] WrongCap),
    /// A kernel that the environment names wrongly.
    #[error("{KERNEL}: {0}")]
    Variable(Box<NameError>),
}

/// An operation and a kernel, written `operation=kernel`.
///
/// # Errors
/// The text is no pair.
pub fn pair(text: &str) -> Result<(&str, &str), NameError> {
    text.split_once('=').ok_or_else(|| NameError::NotAPair(text.to_owned()))
}

impl Selection {
    /// [`Selection::new`] for this machine as the environment caps it ([`ISA_MAX`](crate::machine::ISA_MAX)), with the
    /// kernels that the environment names ([`KERNEL`]).
    ///
    /// # Errors
    /// A variable names something that does not exist or cannot run here.
    pub fn from_env() -> Result<Self, NameError> {
        let selection = Selection::new(Machine::from_env()?);
        let Some(pairs) = std::env::var_os(KERNEL) else { return Ok(selection) };
        let pairs = pairs.to_string_lossy().into_owned();
        let named = pairs.split(',').try_fold(selection, |selection, text| {
            let (operation, kernel) = pair(text.trim())?;
            selection.with_kernel(operation, kernel)
        });
        named.map_err(|error| NameError::Variable(Box::new(error)))
    }

    /// The same, with one operation's kernel named.
    ///
    /// # Errors
    /// There is no such operation or kernel, or it cannot run here.
    pub fn with_kernel(self, operation: &str, name: &str) -> Result<Self, NameError> {
        let found = self::operation(operation)?;
        let (operation, kernels) = (found.name(), found.kernels(self.machine()));
        let available = || kernels.iter().filter(|k| k.obstacle.is_none()).map(|k| k.name).collect();
        let Some(kernel) = kernels.iter().find(|k| k.name == name) else {
            return Err(NameError::UnknownKernel { operation, name: name.to_owned(), available: available() });
        };
        match kernel.obstacle.clone() {
            Some(obstacle) => {
                Err(NameError::Unavailable { operation, name: kernel.name, obstacle, available: available() })
            }
            None => Ok(self.naming(operation, kernel.name)),
        }
    }
}
