//! Measuring instruments: clocks, duels, ceilings, known answers and the check of kernels against them, and the environment.
//! With the `cli` feature also profiles, file output and saved measurements.

pub mod ceilings;
pub mod clock;
pub mod environment;
#[cfg(feature = "cli")]
pub mod files;
pub mod known;
#[cfg(feature = "cli")]
pub mod numbers;
#[cfg(feature = "cli")]
pub mod profile;
pub mod verify;
