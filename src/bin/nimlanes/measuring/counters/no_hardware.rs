//! Systems without perf events.

use std::io;

use nimlanes::kernel::RunError;

use super::Counts;

/// There are no counters.
pub enum Hardware {}

impl Hardware {
    /// # Errors
    /// Always.
    pub fn open() -> io::Result<Self> {
        Err(io::Error::other("they need perf events, which Linux has"))
    }

    /// As on other systems.
    pub fn count(&mut self, _: &mut dyn FnMut() -> Result<(), RunError>) -> Result<Counts, RunError> {
        match *self {}
    }
}
