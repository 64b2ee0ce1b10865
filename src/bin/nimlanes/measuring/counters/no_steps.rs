//! Systems that do not trace processes by ptrace, and CPUs whose instructions are not decoded.

use std::time::Duration;

use nimlanes::kernel::Run;
use nimlanes::kernel::session::Session;

use super::{StepError, Stepped};

fn impossible<T>() -> Result<T, StepError> {
    Err(StepError::because("they need Linux on x86-64"))
}

/// # Errors
/// Always.
pub fn perform(_: &dyn Session, _: usize, _: &Run) -> Result<(), StepError> {
    impossible()
}

/// # Errors
/// Always.
pub fn count(
    _: &dyn Session,
    _: usize,
    _: Duration,
    _: &Run,
    _: &mut (dyn FnMut(f64) + Send),
) -> Result<Stepped, StepError> {
    impossible()
}
