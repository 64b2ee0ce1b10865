//! The machine code of every kernel is in the crate of its core, and nowhere else.

use nimlanes::cores::{COMPLETE, OPERATIONS, occupancy, table_scan};
use nimlanes::kernel::session::AnyOperation;

/// The lists of the cores, with the kernels that these compiled.
static CORES: [[&&[&AnyOperation]; 2]; 6] = [
    [&nimlanes_table_scan::OPERATIONS, &nimlanes_table_scan::COMPLETE],
    [&nimlanes_occupancy::OPERATIONS, &nimlanes_occupancy::COMPLETE],
    [&nimlanes_mex::OPERATIONS; 2],
    [&nimlanes_mex_records::OPERATIONS; 2],
    [&nimlanes_octal::OPERATIONS; 2],
    [&nimlanes_xor_count::OPERATIONS; 2],
];

/// A kernel that is generic over its sink would be compiled in the library, too, if its core did not compile it for that sink, or if it
/// could be inlined.
#[test]
fn the_kernels_of_the_library_are_those_of_its_cores() {
    for (list, of_library) in [OPERATIONS, COMPLETE].into_iter().enumerate() {
        let of_cores: Vec<&AnyOperation> = CORES.iter().flat_map(|core| core[list].iter()).copied().collect();
        assert_eq!(of_cores.len(), of_library.len());
        for operation in of_library {
            let own = of_cores.iter().find(|own| own.name() == operation.name()).expect("it is of a core");
            assert_eq!(operation.entries(), own.entries(), "{}", operation.name());
        }
    }
}

/// Nor does a crate that uses an operation by its type compile its kernels.
#[test]
fn kernels_are_not_compiled_where_they_are_used() {
    let used = [
        AnyOperation::of::<table_scan::TableScan<table_scan::Tally>>(),
        AnyOperation::of::<occupancy::Occupancy<occupancy::Beams>>(),
    ];
    for (operation, core) in used.iter().zip(&CORES) {
        assert!(operation.entries().iter().any(Option::is_some));
        assert_eq!(operation.entries(), core[0][0].entries(), "{}", operation.name());
    }
}
