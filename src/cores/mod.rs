//! The four cores and their operations.

pub mod mex;
pub mod occupancy;
pub mod sink;
pub mod table_scan;

use crate::selection::SelectError;
use crate::session::{AnyOperation, Of};

/// Every operation, with its types erased, in the order of the cores.
pub static OPERATIONS: &[&dyn AnyOperation] = &[
    &Of::<table_scan::TableScan<table_scan::Tally>>::new(),
    &Of::<occupancy::Occupancy<occupancy::Tally>>::new(),
    &Of::<mex::subtraction::MexSubtraction>::new(),
    &Of::<mex::split::MexSplit>::new(),
];

/// Operations in the form that tells the most, for conformance: where kernels are generic over a sink, it keeps every
/// position.
pub static COMPLETE: &[&dyn AnyOperation] = &[
    &Of::<table_scan::TableScan<table_scan::Positions>>::new(),
    &Of::<occupancy::Occupancy<occupancy::Positions>>::new(),
    &Of::<mex::subtraction::MexSubtraction>::new(),
    &Of::<mex::split::MexSplit>::new(),
];

/// The operation of that name.
///
/// # Errors
/// There is none.
pub fn operation(name: &str) -> Result<&'static dyn AnyOperation, SelectError> {
    OPERATIONS.iter().copied().find(|operation| operation.name() == name).ok_or_else(|| SelectError::UnknownOperation {
        name: name.to_owned(),
        known: OPERATIONS.iter().map(|operation| operation.name()).collect::<Vec<_>>().join(", "),
    })
}
