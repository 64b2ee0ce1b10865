//! Named inputs of operations.

use crate::kernel::selection::{SelectError, Selection};
use crate::kernel::{Operation, RunError};
use crate::text::names::hint;
use crate::text::units::bytes;

/// An operation with named inputs, for listings, tests, benches and the command line.
pub trait Workloads: Operation {
    /// Named inputs; the first is the default.
    const WORKLOADS: &'static [Workload];

    /// The input that `workload` names at `size`. Values of other operations that it is made of are computed by kernels that
    /// `selection` allows.
    ///
    /// # Errors
    /// A name or a size that does not exist, or an input that cannot be made here.
    fn input(workload: &str, size: u64, selection: &Selection) -> Result<Self::Input, InputError>;
}

/// A named input of an operation, sized by one number.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Workload {
    /// Its name; part of bench ids and paths.
    pub name: &'static str,
    /// One line: what it is and what `size` means.
    pub summary: &'static str,
    /// The size at which the problem was published; the default everywhere.
    pub published: u64,
    /// Sizes that the benches time.
    pub sizes: &'static [u64],
}

/// A request that names an input which does not exist.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// No workload of that name.
    #[error("unknown workload `{name}` of {operation}{}", hint(.name, .known.iter().copied()))]
    UnknownWorkload {
        /// The operation.
        operation: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// A size past the operation's bound.
    #[error("size {size} is too large for {operation}; at most {most}")]
    TooLarge {
        /// The operation.
        operation: &'static str,
        /// What was asked for.
        size: u64,
        /// The largest size.
        most: u64,
    },
    /// A set with more moves than the operation has room for.
    #[error(
        "{operation} takes sets with at most {most} moves up to the limit, or with at most three even ones and many odd ones"
    )]
    TooManyMoves {
        /// The operation.
        operation: &'static str,
        /// The most.
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
    /// Moves whose list alone does not fit in memory.
    #[error("the list of moves of {operation} needs {} here and {} are free", bytes(*.needs as f64), bytes(*.free as f64))]
    MovesMemory {
        /// The operation.
        operation: &'static str,
        /// Bytes of the list.
        needs: u64,
        /// Bytes of the machine.
        free: u64,
    },
    /// A modulus that counts cannot be reduced by.
    #[error("modulus {0} is not an odd number from 3 up to 2147483647")]
    Modulus(u64),
    /// A move set that cannot be read.
    #[error(transparent)]
    Moves(#[from] crate::moves::MoveSetError),
    /// A text that is not the code of an octal or hexadecimal game.
    #[error(transparent)]
    Code(#[from] crate::moves::CodeError),
    /// Moves from both heaps that make no rules.
    #[error(transparent)]
    Diagonals(#[from] crate::moves::DiagonalsError),
}

/// Grundy values that were not computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValuesError {
    /// They have no input of that size.
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
    pub(crate) fn unknown_workload<O: Workloads>(name: &str) -> Self {
        let known = O::WORKLOADS.iter().map(|workload| workload.name).collect();
        InputError::UnknownWorkload { operation: O::NAME, name: name.to_owned(), known }
    }
}
