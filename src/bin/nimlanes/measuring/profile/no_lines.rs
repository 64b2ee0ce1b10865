//! For systems without perf events, and CPUs whose stacks cannot be unwound here.

use super::Sampled;

/// As on other systems.
pub const FREQUENCY: u32 = 0;

/// There is none.
pub enum Lines {}

impl Lines {
    /// Why there is none.
    pub fn start() -> Result<Self, String> {
        Err("nimlanes has perf events only for Linux on aarch64 and x86-64".to_owned())
    }

    /// As on other systems.
    pub fn finish(self) -> Sampled {
        match self {}
    }
}
