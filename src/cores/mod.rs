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

use crate::kernel::session::AnyOperation;
use crate::text::names::hint;

/// All operations with their types erased, in the order of the cores. Their functions are those that the crates of the cores
/// compiled.
pub static OPERATIONS: &[&AnyOperation] = &[
    #[cfg(feature = "table_scan")]
    &nimlanes_table_scan::TABLE_SCAN,
    #[cfg(feature = "occupancy")]
    &nimlanes_occupancy::OCCUPANCY,
    #[cfg(feature = "mex")]
    &nimlanes_mex::SUBTRACTION,
    #[cfg(feature = "mex")]
    &nimlanes_mex::ZEROS,
    #[cfg(feature = "mex")]
    &nimlanes_mex_records::RECORDS,
    #[cfg(feature = "mex")]
    &nimlanes_mex::SPLIT,
    #[cfg(feature = "octal")]
    &nimlanes_octal::OCTAL,
    #[cfg(feature = "octal")]
    &nimlanes_octal::PERIOD,
    #[cfg(feature = "mex")]
    &nimlanes_mex::FAMILY,
    #[cfg(feature = "xor_count")]
    &nimlanes_xor_count::TRIPLES,
    #[cfg(feature = "xor_count")]
    &nimlanes_xor_count::PARTITIONS,
];

/// No operation has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown operation `{0}`{hint}", hint = hint(.0, &names()))]
pub struct UnknownOperation(pub String);

fn names() -> Vec<&'static str> {
    OPERATIONS.iter().map(|operation| operation.name()).collect()
}

/// Looks an operation up by name.
///
/// # Errors
/// No operation has this name.
pub fn operation(name: &str) -> Result<&'static AnyOperation, UnknownOperation> {
    let found = OPERATIONS.iter().find(|operation| operation.name() == name);
    found.copied().ok_or_else(|| UnknownOperation(name.to_owned()))
}
