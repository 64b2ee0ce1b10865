//! What `sysinfo` knows about the machine, on all systems that it supports.

use sysinfo::{Cpu, CpuRefreshKind, System};

use super::Names;

/// Total and free memory, in bytes. A total of 0 means that the system does not say.
pub fn memory() -> (u64, u64) {
    let mut system = System::new();
    system.refresh_memory();
    (system.total_memory(), system.available_memory())
}

/// See [`Names`].
pub fn names() -> Names {
    let mut system = System::new();
    system.refresh_cpu_list(CpuRefreshKind::nothing());
    let mut os = System::name().unwrap_or_default();
    if let Some(version) = System::kernel_version() {
        os = format!("{os} {version}").trim().to_owned();
    }
    Names { cpu: system.cpus().first().map_or("", Cpu::brand).to_owned(), memory: memory().0, system: os }
}
