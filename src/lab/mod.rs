//! The instruments: clocks, known answers, duels.

pub mod ceilings;
pub mod clock;
pub mod duel;
pub mod environment;
pub mod known;
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
