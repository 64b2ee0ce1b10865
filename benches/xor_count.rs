//! Benches of the xor_count core.

mod support;

fn main() {
    support::registry::core(nimlanes::kernel::Core::XorCount);
}
