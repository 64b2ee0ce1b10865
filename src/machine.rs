//! What this process may use: instruction sets, threads, memory.

use std::array::from_fn;
use std::thread::available_parallelism;

use rustix::process::{Resource, getrlimit};

use crate::isa::{Tier, TierError};

/// The machine as kernels are selected for it. Tests build capped values; nobody sets variables in a running process.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Whether each of [`Tier::ALL`] may be used.
    tiers: [bool; Tier::ALL.len()],
    threads: usize,
    memory: u64,
}

/// A setting in the environment that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{ISA_MAX}: {0}")]
pub struct WrongCap(#[from] TierError);

/// The environment variable that caps the tiers, so that one machine walks every path.
pub const ISA_MAX: &str = "NIMLANES_ISA_MAX";

impl Machine {
    /// This machine: the tiers of its CPU, the threads the process may use, the memory that is free now.
    pub fn detect() -> Self {
        let memory = free_memory().unwrap_or(u64::MAX);
        let tiers = from_fn(|i| Tier::ALL[i].is_on_this_cpu());
        Machine { tiers, threads: available_parallelism().map_or(1, usize::from), memory }
    }

    /// [`Machine::detect`], capped by the environment variable [`ISA_MAX`] where it is set.
    ///
    /// # Errors
    /// The variable names no tier of this architecture.
    pub fn from_env() -> Result<Self, WrongCap> {
        let machine = Machine::detect();
        match std::env::var_os(ISA_MAX) {
            None => Ok(machine),
            Some(text) => Ok(machine.capped(text.to_string_lossy().parse()?)),
        }
    }

    /// The same machine with no tier but those that `cap` includes.
    pub fn capped(self, cap: Tier) -> Self {
        Machine { tiers: from_fn(|i| self.tiers[i] && cap.includes(Tier::ALL[i])), ..self }
    }

    /// The same machine with `bytes` of memory.
    pub fn with_memory(self, bytes: u64) -> Self {
        Machine { memory: bytes, ..self }
    }

    /// The tiers that may be used, in the order of [`Tier::ALL`].
    pub fn tiers(&self) -> impl Iterator<Item = Tier> {
        Tier::ALL.iter().copied().filter(|tier| self.offers(*tier))
    }

    /// Whether a tier may be used.
    pub fn offers(&self, tier: Tier) -> bool {
        self.tiers[tier as usize]
    }

    /// The last of [`Machine::tiers`], which names the machine in listings and in saved data.
    pub fn strongest_tier(&self) -> Tier {
        self.tiers().last().unwrap_or(Tier::Portable)
    }

    /// Threads that run at once.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Bytes a run may take.
    pub fn memory(&self) -> u64 {
        self.memory
    }
}

/// Bytes that are free now, or `None` where the system does not say.
fn free_memory() -> Option<u64> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    let free = system.available_memory();
    // A container may be allowed less than the host has, and a process less than either.
    let free = system.cgroup_limits().map_or(free, |limits| free.min(limits.free_memory));
    let allowed = getrlimit(Resource::As).current.map(|limit| limit.saturating_sub(status("VmSize").unwrap_or(0)));
    Some(allowed.map_or(free, |allowed| allowed.min(free)))
}

/// The most memory that this process has held so far, in bytes; 0 where the system does not say.
pub fn peak_memory() -> u64 {
    status("VmHWM").unwrap_or(0)
}

/// Bytes that the system tells of this process under a name.
fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(1024 * line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?)
}
