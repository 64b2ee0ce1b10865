//! [`super::greedy`] on two threads: one computes common values, the other follows and verifies them. See
//! [`drive::Pair`].
//!
//! Cost: as on one thread, plus a copy of each code.
//! Bound: the thread with more to do, which is the one that computes.

use super::{Octal, Start, greedy};
use crate::cores::octal::sparse::Compiled;
use crate::cores::octal::sparse::drive::{self, drive};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;

/// Rates: that of [`greedy`], and the ns of a thread and its page faults.
pub fn cost(input: &Octal, context: CostContext, [step, thread]: [f64; 2]) -> Cost {
    if context.threads < 2 {
        return Cost::IMPOSSIBLE;
    }
    let Cost { ns, bytes } = greedy::cost(input, context, [step]);
    Cost { ns: 0.65 * ns + thread, bytes: bytes + drive::task_bytes(input) + STACK }
}

pub fn run(input: &Octal, run: &Run, start: Start, parts: Compiled) -> Result<Vec<u16>, RunError> {
    drive::with_producer(parts, |pair| drive(input, run, start, parts, pair))
}
