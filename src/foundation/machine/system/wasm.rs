//! WebAssembly.

use std::arch::wasm32::memory_size;

/// Bytes that the module has requested from its engine. A module never returns any.
pub fn held() -> u64 {
    const PAGE: u64 = 65_536;
    PAGE * memory_size::<0>() as u64
}
