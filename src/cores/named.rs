//! Kernels chosen by name, on the command line and in the environment.

use super::{UnknownOperation, operation};
use crate::kernel::candidate::Obstacle;
use crate::kernel::selection::Selection;
use crate::kernel::session::KernelInfo;
use crate::machine::{Machine, WrongCap, variable};
use crate::text::names::hint;

/// The environment variable that names kernels: `operation=kernel,...`.
pub const KERNEL: &str = "NIMLANES_KERNEL";

/// Why a kernel cannot be chosen by name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Not of the form `operation=kernel`.
    #[error("`{0}` is not OPERATION=KERNEL, as in mex_subtraction=stamp")]
    NotAPair(String),
    /// No operation has this name.
    #[error(transparent)]
    UnknownOperation(#[from] UnknownOperation),
    /// The operation has no kernel of this name.
    #[error("unknown kernel `{name}` of {operation}{}", hint(.name, .available))]
    UnknownKernel {
        /// The operation.
        operation: &'static str,
        /// The name given.
        name: String,
        /// The kernels that can run here.
        available: Vec<&'static str>,
    },
    /// The kernel cannot run here.
    #[error("kernel {operation}={name} is not available: {obstacle}; allowed: {}", .available.join(", "))]
    Unavailable {
        /// The operation.
        operation: &'static str,
        /// The kernel.
        name: &'static str,
        /// Why it cannot run.
        obstacle: Obstacle,
        /// The kernels that can run here.
        available: Vec<&'static str>,
    },
    /// The environment variable for the tier is invalid.
    #[error(transparent)]
    Tier(#[from] WrongCap),
    /// The environment variable for kernels is invalid.
    #[error("{KERNEL}: {0}")]
    Variable(Box<NameError>),
}

/// Splits `operation=kernel` into its two names.
///
/// # Errors
/// The text contains no `=`.
pub fn pair(text: &str) -> Result<(&str, &str), NameError> {
    text.split_once('=').ok_or_else(|| NameError::NotAPair(text.to_owned()))
}

/// Selections of kernels that [`OPERATIONS`](super::OPERATIONS) lists, by their names.
pub trait ByName: Sized {
    /// [`Selection::new`] for this machine, with the tier cap ([`ISA_MAX`](crate::machine::ISA_MAX)) and the kernels
    /// ([`KERNEL`]) set in the environment.
    ///
    /// # Errors
    /// A variable names a tier or kernel that does not exist or cannot run here.
    fn from_env() -> Result<Self, NameError>;

    /// Adds a named kernel for one operation.
    ///
    /// # Errors
    /// The operation or kernel does not exist, or the kernel cannot run here.
    fn with_kernel(self, operation: &str, name: &str) -> Result<Self, NameError>;
}

impl ByName for Selection {
    fn from_env() -> Result<Self, NameError> {
        let selection = Selection::new(Machine::from_env()?);
        let Some(pairs) = variable(KERNEL) else { return Ok(selection) };
        let with = |selection: Self, text| {
            let (operation, kernel) = pair(text)?;
            selection.with_kernel(operation, kernel)
        };
        let all = pairs.to_string_lossy().split(',').map(str::trim).try_fold(selection, with);
        all.map_err(|error| NameError::Variable(Box::new(error)))
    }

    fn with_kernel(self, operation: &str, name: &str) -> Result<Self, NameError> {
        let found = self::operation(operation)?;
        let kernels = found.kernels(self.machine());
        let kernel = available(found.name(), &kernels, name)?;
        Ok(self.naming(found.name(), kernels[kernel].name))
    }
}

/// The number of a kernel of an operation, by its name.
///
/// # Errors
/// The kernel does not exist, or cannot run here.
pub fn available(operation: &'static str, kernels: &[KernelInfo], name: &str) -> Result<usize, NameError> {
    let available = kernels.iter().filter(|kernel| kernel.obstacle.is_none()).map(|kernel| kernel.name).collect();
    let Some(index) = kernels.iter().position(|kernel| kernel.name == name) else {
        return Err(NameError::UnknownKernel { operation, name: name.to_owned(), available });
    };
    match kernels[index].obstacle.clone() {
        Some(obstacle) => Err(NameError::Unavailable { operation, name: kernels[index].name, obstacle, available }),
        None => Ok(index),
    }
}
