//! Systems that are neither Unix nor Windows, such as an engine of WebAssembly, and say next to nothing.

use std::env::consts::OS;
use std::time::Duration;

use super::{ADDRESSES, Names};

#[cfg(target_arch = "wasm32")]
use super::wasm::held;

/// Bytes that the process holds.
#[cfg(not(target_arch = "wasm32"))]
fn held() -> u64 {
    0
}

/// There is no such clock.
pub const THREAD_TIME_STEP: Duration = Duration::ZERO;

pub fn free_memory() -> Option<u64> {
    // Memory that is held may have been freed for reuse, so at least half of the address space is assumed to be free.
    ADDRESSES.map(|addresses| addresses - held().min(addresses / 2))
}

pub fn free_addresses() -> Option<u64> {
    None
}

pub fn peak_memory() -> Option<u64> {
    Some(held()).filter(|bytes| *bytes > 0)
}

pub fn thread_time() -> Option<Duration> {
    None
}

pub fn names() -> Names {
    Names { cpu: String::new(), memory: 0, system: OS.to_owned() }
}
