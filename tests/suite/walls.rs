//! The machine code of every kernel is in the crate of its core, and nowhere else.

use nimlanes::cores::{OPERATIONS, occupancy::Occupancy, table_scan::TableScan};
use nimlanes::kernel::session::AnyOperation;

/// The lists of the cores, with the kernels that these compiled.
static CORES: [&&[&AnyOperation]; 6] = [
    &nimlanes_table_scan::OPERATIONS,
    &nimlanes_occupancy::OPERATIONS,
    &nimlanes_mex::OPERATIONS,
    &nimlanes_mex_records::OPERATIONS,
    &nimlanes_octal::OPERATIONS,
    &nimlanes_xor_count::OPERATIONS,
];

/// Nor are functions on operations: each is in one place, and the library has its address.
#[test]
fn the_operations_of_the_library_are_those_of_its_cores() {
    let of_cores: Vec<&AnyOperation> = CORES.iter().flat_map(|core| core.iter()).copied().collect();
    assert_eq!(of_cores.len(), OPERATIONS.len());
    for operation in OPERATIONS {
        assert!(of_cores.iter().any(|own| std::ptr::eq(*own, *operation)), "{}", operation.name());
    }
}

/// A crate that uses an operation by its type does not compile its kernels, which could not be if they were inlined.
#[test]
fn kernels_are_not_compiled_where_they_are_used() {
    let used = [AnyOperation::of::<TableScan>(), AnyOperation::of::<Occupancy>()];
    for (operation, core) in used.iter().zip(&CORES) {
        assert!(operation.entries().iter().any(Option::is_some));
        assert_eq!(operation.entries(), core[0].entries(), "{}", operation.name());
    }
}
