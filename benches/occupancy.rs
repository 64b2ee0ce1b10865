//! Benches of the occupancy core.

mod support;

fn main() {
    support::core(nimlanes::kernel::Core::Occupancy);
}
