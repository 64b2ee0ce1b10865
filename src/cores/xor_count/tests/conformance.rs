//! The kernels of this crate against the oracle and the known answers.

use nimlanes_xor_count::OPERATIONS;

fn main() {
    nimlanes_trials::run(OPERATIONS, [])
}
