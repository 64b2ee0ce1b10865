//! How kernels are measured: duels of times, counters of the CPU, profiles, and the processes and builds that this takes.
//!
//! The report decides what it measures, and what becomes of that.

pub mod builds;
pub mod cores;
pub mod counters;
pub mod duel;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod loops;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod machine_code;
pub mod profile;
pub mod programs;
