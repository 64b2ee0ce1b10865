//! Benches of the table_scan core.

mod support;

fn main() {
    support::registry::core(nimlanes::kernel::Core::TableScan);
}
