//! Duels of [`nimlanes::lab::duel`] over several processes, of this build or several.

mod comparison;
mod interval;
mod matches;
mod show;

pub use nimlanes::lab::duel::*;

pub use comparison::Comparison;
pub use interval::FEW_ROUNDS;
pub use matches::{Match, PROCESSES};
