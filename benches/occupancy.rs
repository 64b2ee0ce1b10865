//! Benches of the occupancy core.

mod support;

fn main() {
    support::registry::core(nimlanes::kernel::Core::Occupancy);
}
