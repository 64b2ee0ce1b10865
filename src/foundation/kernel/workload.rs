//! Named inputs of operations.

use crate::kernel::selection::{SelectError, Selection};
use crate::kernel::{Operation, RunError, Yields};
use crate::text::names::hint;
use crate::text::units::bytes;

/// An operation with named inputs, for listings, tests, benches and the command line.
pub trait Workloads: Operation {
    /// Named inputs; the first is the default.
    const WORKLOADS: &'static [Workload];

    /// The text of a workload in its canonical form, the same for each way to write an input.
    ///
    /// # Errors
    /// The text is not that of an input.
    fn canonical(workload: &str) -> Result<String, InputError> {
        Ok(workload.to_owned())
    }

    /// The input that `workload` names at `size`. If it is made from values of another operation, kernels that
    /// `selection` allows compute these values.
    ///
    /// # Errors
    /// The workload or the size does not exist, or the input cannot be made here.
    fn input(workload: &str, size: u64, selection: &Selection) -> Result<Self::Input, InputError>;

    /// The same input, for which a kernel must find as much as `yields` names if outputs have such parts.
    fn finding(input: Self::Input, _yields: Yields) -> Self::Input {
        input
    }
}

/// A named input of an operation, sized by one number.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// The name, which is part of bench ids and paths.
    pub name: &'static str,
    /// What the input is and what `size` means, in one line.
    pub summary: &'static str,
    /// The size at which the problem was published; the default everywhere.
    pub published: u64,
    /// Sizes that the benches time.
    pub sizes: &'static [u64],
}

/// A [`Workload`].
#[doc(hidden)]
pub const fn workload(name: &'static str, summary: &'static str, published: u64, sizes: &'static [u64]) -> Workload {
    Workload { name, summary, published, sizes }
}

/// Why an input does not exist or cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The operation has no workload of this name.
    #[error("unknown workload `{name}` of {operation}{}", hint(.name, .known))]
    UnknownWorkload {
        /// The operation.
        operation: &'static str,
        /// The name given.
        name: String,
        /// The workloads of the operation.
        known: Vec<&'static str>,
    },
    /// The size is above the operation's bound.
    #[error("size {size} is too large for {operation}; at most {most}")]
    TooLarge {
        /// The operation.
        operation: &'static str,
        /// The size given.
        size: u64,
        /// The largest size.
        most: u64,
    },
    /// The set has more moves than the operation has room for.
    #[error(
        "{operation} takes sets with at most {most} moves up to the limit, or with at most three even ones and many odd ones"
    )]
    TooManyMoves {
        /// The operation.
        operation: &'static str,
        /// The largest number of moves.
        most: usize,
    },
    /// The Grundy values that the input is made of were not computed.
    #[error("the Grundy values that {operation} is given: {source}")]
    Values {
        /// The operation.
        operation: &'static str,
        /// Why not.
        source: Box<ValuesError>,
    },
    /// The list of moves alone does not fit in memory.
    #[error("the list of moves of {operation} needs {} here and {} are free", bytes(*.needs as f64), bytes(*.free as f64))]
    MovesMemory {
        /// The operation.
        operation: &'static str,
        /// Bytes that the list needs.
        needs: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The modulus is even, below 3 or above 2147483647.
    #[error("modulus {0} is not an odd number from 3 up to 2147483647")]
    Modulus(u64),
    /// The text is not a subtraction set.
    #[error(transparent)]
    Moves(#[from] crate::moves::MoveSetError),
    /// The text gives no rules of a game on one heap.
    #[error(transparent)]
    Rules(#[from] crate::moves::RulesError),
    /// The text is not the code of an octal or hexadecimal game.
    #[error(transparent)]
    Code(#[from] crate::moves::CodeError),
    /// The moves from both heaps are not a valid list of diagonals.
    #[error(transparent)]
    Diagonals(#[from] crate::moves::DiagonalsError),
}

/// Why Grundy values were not computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValuesError {
    /// There is no input of this size for them.
    #[error(transparent)]
    Input(#[from] InputError),
    /// No kernel can compute them.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// The kernel stopped.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl InputError {
    /// The error for a workload that `O` does not have.
    #[doc(hidden)]
    pub fn unknown_workload<O: Workloads>(name: &str) -> Self {
        Self::unknown(O::NAME, name, O::WORKLOADS)
    }

    /// [`InputError::unknown_workload`], compiled once.
    fn unknown(operation: &'static str, name: &str, workloads: &[Workload]) -> Self {
        let known = workloads.iter().map(|workload| workload.name).collect();
        InputError::UnknownWorkload { operation, name: name.to_owned(), known }
    }
}
