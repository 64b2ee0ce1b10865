//! Benches of the mex core.

mod support;

fn main() {
    support::registry::core(nimlanes::kernel::Core::Mex);
}
