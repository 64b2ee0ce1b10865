//! The four cores and their operations.

pub mod named;

#[doc(inline)]
pub use nimlanes_foundation::sink;
#[cfg(feature = "occupancy")]
#[doc(inline)]
pub use nimlanes_occupancy::cores::occupancy;
#[cfg(feature = "table_scan")]
#[doc(inline)]
pub use nimlanes_table_scan::cores::table_scan;
#[cfg(feature = "xor_count")]
#[doc(inline)]
pub use nimlanes_xor_count::cores::xor_count;

/// **SIMD mex**: Grundy values, each the minimum excludant (mex) of the values that a move reaches.
#[cfg(any(feature = "mex", feature = "octal"))]
pub mod mex {
    #[cfg(feature = "mex")]
    #[doc(inline)]
    pub use nimlanes_mex::cores::mex::{family, split, subtraction, zeros};
    #[doc(inline)]
    pub use nimlanes_mex_base::cores::mex::checkpoint;
    #[cfg(feature = "mex")]
    #[doc(inline)]
    pub use nimlanes_mex_records::cores::mex::records;
    #[cfg(feature = "octal")]
    #[doc(inline)]
    pub use nimlanes_octal::cores::mex::{octal, period};
}

use crate::kernel::Yields;
use crate::kernel::session::{AnyOperation, Erased};
use crate::text::names::hint;

/// All operations, in the order of the cores, with the sinks of those whose kernels are generic over one.
macro_rules! operations {
    ($of_table_scan:ident, $of_occupancy:ident) => {
        &[
            #[cfg(feature = "table_scan")]
            &Erased::<table_scan::TableScan<table_scan::$of_table_scan>>::new(),
            #[cfg(feature = "occupancy")]
            &Erased::<occupancy::Occupancy<occupancy::$of_occupancy>>::new(),
            #[cfg(feature = "mex")]
            &Erased::<mex::subtraction::MexSubtraction>::new(),
            #[cfg(feature = "mex")]
            &Erased::<mex::zeros::MexZeros>::new(),
            #[cfg(feature = "mex")]
            &Erased::<mex::records::MexRecords>::new(),
            #[cfg(feature = "mex")]
            &Erased::<mex::split::MexSplit>::new(),
            #[cfg(feature = "octal")]
            &Erased::<mex::octal::MexOctal>::new(),
            #[cfg(feature = "octal")]
            &Erased::<mex::period::MexPeriod>::new(),
            #[cfg(feature = "mex")]
            &Erased::<mex::family::MexFamily>::new(),
            #[cfg(feature = "xor_count")]
            &Erased::<xor_count::triples::XorTriples>::new(),
            #[cfg(feature = "xor_count")]
            &Erased::<xor_count::partitions::XorPartitions>::new(),
        ]
    };
}

nimlanes_foundation::listed! {
    /// All operations with their types erased, in the order of the cores.
    OPERATIONS: &[&dyn AnyOperation] = operations!(Tally, Beams);

    /// The same operations with the most detailed output, for conformance tests: a sink keeps every position.
    COMPLETE: &[&dyn AnyOperation] = operations!(Positions, Positions);
}

/// The operations with the most detailed output that a kernel finds: [`COMPLETE`], or [`OPERATIONS`] if it finds only counts and
/// sums.
pub fn most_complete(yields: Yields) -> &'static [&'static dyn AnyOperation] {
    if yields == Yields::Tally { OPERATIONS } else { COMPLETE }
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
