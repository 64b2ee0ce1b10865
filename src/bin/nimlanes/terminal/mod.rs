//! What the program says to its user, and hears from them: output, progress, failures and signals.
//!
//! Nothing here knows what is computed, measured or drawn.

pub mod failure;
pub mod interrupt;
pub mod monitor;
pub mod output;
