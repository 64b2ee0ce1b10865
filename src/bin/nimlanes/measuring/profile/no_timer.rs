//! For systems without the signals that `pprof` samples by.

use super::Sampled;

/// As on other systems.
pub const FREQUENCY: u32 = 0;

/// Why there is no sampler.
#[derive(Debug, thiserror::Error)]
#[error("profiles are sampled on Linux and macOS alone")]
pub struct SamplerError;

/// There is none.
pub enum Timer {}

impl Timer {
    /// Why there is none.
    pub fn start() -> Result<Self, SamplerError> {
        Err(SamplerError)
    }

    /// As on other systems.
    pub fn finish(self) -> Result<Sampled, SamplerError> {
        match self {}
    }
}
