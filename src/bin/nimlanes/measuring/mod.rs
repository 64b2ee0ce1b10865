//! How kernels are measured: duels of times, counters of the CPU, profiles, and the processes and builds that this takes.
//!
//! What a report measures, and what it makes of that, is decided there.

pub mod builds;
pub mod counters;
pub mod duel;
pub mod engine;
pub mod fit;
pub mod profile;
pub mod programs;
pub mod revisions;
pub mod toolchains;
