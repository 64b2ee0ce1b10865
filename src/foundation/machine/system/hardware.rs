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
    let os = [System::name(), System::kernel_version()];
    Names {
        cpu: system.cpus().first().map_or("", Cpu::brand).to_owned(),
        memory: memory().0,
        system: os.into_iter().flatten().collect::<Vec<_>>().join(" "),
    }
}
