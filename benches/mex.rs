//! Benches of the mex core.

mod support;

fn main() {
    support::core(nimlanes::kernel::Core::Mex);
}
