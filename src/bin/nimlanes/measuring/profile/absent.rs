//! A sampler that this system lacks.

use super::Sampled;

/// As on other systems.
pub const FREQUENCY: u32 = 0;

/// There is none.
pub enum Absent {}

impl Absent {
    /// Why there is none.
    pub fn start() -> Result<Self, String> {
        Err("profiles are sampled on Linux and macOS alone, and by line on Linux alone".to_owned())
    }

    /// As on other systems.
    pub fn finish(self) -> Result<Sampled, String> {
        match self {}
    }
}
