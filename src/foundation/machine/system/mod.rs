//! Queries to the operating system: clocks, memory, and the names of the system and the CPU. There is one file for each
//! kind of system, all with the same functions:
//!
//! - `free_memory`: bytes that are free now;
//! - `free_addresses`: bytes of address space that a limit on the process leaves to it;
//! - `peak_memory`: the most bytes that the process has held so far;
//! - `thread_time`: CPU time of the calling thread since a fixed moment;
//! - `names`: see [`Names`].
//!
//! They return `None` for what the system does not say.

#[cfg(any(unix, windows))]
mod hardware;
#[cfg(unix)]
mod unix;
#[cfg(target_arch = "wasm32")]
mod wasm;
#[cfg(windows)]
mod windows;
#[cfg(not(any(unix, windows)))]
mod without;

#[cfg(unix)]
use unix as here;
#[cfg(windows)]
use windows as here;
#[cfg(not(any(unix, windows)))]
use without as here;

use std::time::Duration;

pub use here::{free_addresses, free_memory, names, peak_memory, thread_time};

/// The names of a machine and its memory. Empty or 0 where the system does not say.
#[derive(Debug)]
pub struct Names {
    /// The brand of the CPU.
    pub cpu: String,
    /// All memory, in bytes.
    pub memory: u64,
    /// The operating system and its version.
    pub system: String,
}

/// Whether threads can be started at all. WebAssembly has none, unless it is compiled with atomics.
pub(crate) const HAS_THREADS: bool = !cfg!(target_family = "wasm") || cfg!(target_feature = "atomics");

/// The step of [`thread_time`].
pub const THREAD_TIME_STEP: Duration = here::THREAD_TIME_STEP;

/// Bytes of address space that a process with 32-bit pointers can count on: the most that one allocation can have. With
/// 64-bit pointers, there is no limit.
pub(crate) const ADDRESSES: Option<u64> =
    if cfg!(target_pointer_width = "64") { None } else { Some(isize::MAX as u64) };
