//! Benches of the table_scan core.

mod support;

fn main() {
    support::core(nimlanes::kernel::Core::TableScan);
}
