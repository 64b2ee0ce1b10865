//! Output, progress, failures and signals: all between the program and its user.
//!
//! Nothing here depends on what is computed, measured or drawn.

pub mod failure;
pub mod interrupt;
pub mod monitor;
pub mod output;
