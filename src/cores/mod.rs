//! The four cores and their operations.

pub(crate) mod growing;
pub mod mex;
pub mod named;
pub mod occupancy;
pub mod sink;
pub mod table_scan;
pub mod xor_count;

use crate::kernel::Yields;
use crate::kernel::session::{AnyOperation, Erased};
use crate::text::names::hint;

/// All operations, in the order of the cores, with the sinks of those whose kernels are generic over one.
macro_rules! operations {
    ($of_table_scan:ident, $of_occupancy:ident) => {
        &[
            &Erased::<table_scan::TableScan<table_scan::$of_table_scan>>::new(),
            &Erased::<occupancy::Occupancy<occupancy::$of_occupancy>>::new(),
            &Erased::<mex::subtraction::MexSubtraction>::new(),
            &Erased::<mex::zeros::MexZeros>::new(),
            &Erased::<mex::records::MexRecords>::new(),
            &Erased::<mex::split::MexSplit>::new(),
            &Erased::<mex::octal::MexOctal>::new(),
            &Erased::<mex::period::MexPeriod>::new(),
            &Erased::<mex::family::MexFamily>::new(),
            &Erased::<mex::memory::MexMemory>::new(),
            &Erased::<xor_count::triples::XorTriples>::new(),
            &Erased::<xor_count::partitions::XorPartitions>::new(),
        ]
    };
}

listed! {
    /// All operations with their types erased, in the order of the cores.
    OPERATIONS: &[&dyn AnyOperation] = operations!(Tally, Beams);

    /// The same operations with the most detailed output, for conformance tests: a sink keeps every position.
    COMPLETE: &[&dyn AnyOperation] = operations!(Positions, Positions);
}

/// The operations with the most detailed output that a kernel finds: [`COMPLETE`], or [`OPERATIONS`] if it finds only counts and
/// sums.
pub fn most_complete(yields: Yields) -> &'static [&'static dyn AnyOperation] {
    match yields {
        Yields::Everything | Yields::Unordered => COMPLETE,
        Yields::Tally => OPERATIONS,
    }
}

/// No operation has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown operation `{0}`{hint}", hint = hint(.0, OPERATIONS.iter().map(|operation| operation.name())))]
pub struct UnknownOperation(pub String);

/// Looks an operation up by name.
///
/// # Errors
/// No operation has this name.
pub fn operation(name: &str) -> Result<&'static dyn AnyOperation, UnknownOperation> {
    let found = OPERATIONS.iter().copied().find(|operation| operation.name() == name);
    found.ok_or_else(|| UnknownOperation(name.to_owned()))
}
