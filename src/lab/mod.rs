//! Measuring instruments: clocks, duels, ceilings, known answers and the check of kernels against them, and the environment.
//! With the `cli` feature also profiles, plots, file output, saved measurements and the report.

pub mod ceilings;
pub mod clock;
pub mod duel;
pub mod environment;
#[cfg(feature = "cli")]
pub mod files;
pub mod known;
#[cfg(feature = "cli")]
mod numbers;
#[cfg(feature = "cli")]
mod picture;
#[cfg(feature = "cli")]
pub mod plot;
#[cfg(feature = "cli")]
pub mod profile;
#[cfg(feature = "cli")]
pub mod report;
#[cfg(feature = "cli")]
pub mod saved;
pub mod verify;
