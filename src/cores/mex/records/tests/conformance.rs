//! The kernels of this crate against the oracle and the known answers.

use nimlanes_mex_records::OPERATIONS;

fn main() {
    nimlanes_trials::run(OPERATIONS, [])
}
