//! What this process may use: instruction sets, threads, memory.
//!
//! This module queries the CPU and the operating system (`system`), and holds the means by which threads exchange data
//! (`sync`). It does not know what a kernel computes.

use std::ffi::OsString;
use std::thread::available_parallelism;

use isa::{Tier, TierError};

use crate::simd::array_of;

#[cfg(unix)]
mod cgroup;
pub mod isa;
#[doc(hidden)]
pub mod pages;
#[doc(hidden)]
pub mod sync;
#[doc(hidden)]
pub mod system;

/// The machine for which kernels are selected: the one that was detected, or another that was described.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Whether each of [`Tier::ALL`] may be used.
    tiers: [bool; Tier::ALL.len()],
    threads: usize,
    has_threads: bool,
    memory: u64,
    /// The bytes of address space that a limit on the process leaves, if there is a limit.
    addresses: Option<u64>,
}

/// The environment variable [`ISA_MAX`] names no tier of this architecture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{ISA_MAX}: {0}")]
pub struct WrongCap(#[from] TierError);

/// The environment variable that caps the tiers, so that one machine can run the kernels of every tier.
pub const ISA_MAX: &str = "NIMLANES_ISA_MAX";

/// The value of an environment variable. An empty one is an unset one: a shell script may be able to do no more.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

impl Machine {
    /// Detects this machine: the tiers of its CPU, the threads that the process may use, the memory that is free now.
    pub fn detect() -> Self {
        Machine {
            tiers: array_of(|i| Tier::ALL[i].is_on_this_cpu()),
            threads: available_parallelism().map_or(1, usize::from),
            has_threads: system::HAS_THREADS,
            memory: system::free_memory().unwrap_or(u64::MAX),
            addresses: system::free_addresses(),
        }
    }

    /// A machine with these threads and this memory, and with all tiers that `strongest` includes, whatever this machine has. Kernels
    /// are predicted, selected and refused as they would be there. Those whose tier this CPU lacks end with
    /// [`RunError::Tier`](crate::kernel::RunError::Tier) when they are run.
    ///
    /// ```
    /// # use nimlanes_foundation as nimlanes;
    /// # use nimlanes::machine::{Machine, isa::Tier};
    /// let machine = Machine::described(Tier::Avx512, 16, 1 << 40);
    /// assert_eq!((machine.strongest_tier(), machine.threads(), machine.memory(16)), (Tier::Avx512, 16, 1 << 40));
    /// ```
    pub fn described(strongest: Tier, threads: usize, memory: u64) -> Self {
        let tiers = array_of(|i| strongest.includes(Tier::ALL[i]));
        Machine { tiers, threads: threads.max(1), has_threads: true, memory, addresses: None }
    }

    /// [`Machine::detect`], capped by the environment variable [`ISA_MAX`] if it is set.
    ///
    /// # Errors
    /// The variable names no tier of this architecture.
    pub fn from_env() -> Result<Self, WrongCap> {
        let machine = Machine::detect();
        match variable(ISA_MAX) {
            None => Ok(machine),
            Some(text) => Ok(machine.capped(text.to_string_lossy().parse()?)),
        }
    }

    /// The same machine with only those of its tiers that `cap` includes.
    #[must_use]
    pub fn capped(self, cap: Tier) -> Self {
        Machine { tiers: array_of(|i| self.tiers[i] && cap.includes(Tier::ALL[i])), ..self }
    }

    /// The same machine with only those of its tiers that this CPU has.
    #[doc(hidden)]
    #[must_use]
    pub fn on_this_cpu(self) -> Self {
        Machine { tiers: array_of(|i| self.tiers[i] && Tier::ALL[i].is_on_this_cpu()), ..self }
    }

    /// The same machine with `bytes` of memory.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Self {
        Machine { memory: bytes, addresses: None, ..self }
    }

    /// The same machine, but without the ability to start threads, as in WebAssembly.
    #[must_use]
    pub fn without_threads(self) -> Self {
        Machine { threads: 1, has_threads: false, ..self }
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
        let mut strongest = Tier::Portable;
        for tier in Tier::ALL {
            if self.offers(*tier) {
                strongest = *tier;
            }
        }
        strongest
    }

    /// The number of threads that can run at once.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Whether a run can start threads, even if they do not run at once.
    pub fn has_threads(&self) -> bool {
        self.has_threads
    }

    /// Bytes that a run on `threads` threads may take; [`u64::MAX`] if the system does not say. With 32-bit pointers,
    /// this is at most 512 MiB, so that every bit of a table has an index.
    pub fn memory(&self, threads: usize) -> u64 {
        let most = if cfg!(target_pointer_width = "64") { u64::MAX } else { INDEXED };
        let usable = match self.addresses {
            Some(addresses) => usable(addresses, threads.min(ARENAS * self.threads) as u64),
            None => u64::MAX,
        };
        self.memory.min(most).min(usable)
    }
}

/// The most bytes such that every bit has an index of 32 bits.
const INDEXED: u64 = 1 << 29;

/// Bytes of memory that a started thread takes besides the allocations of its work: the stack that the standard library
/// requests, its guard page and its signal stack. Hardly any of it is ever touched, but a limit on the address space
/// counts all of it.
#[doc(hidden)]
pub const STACK: f64 = (2 << 20) as f64 + 65_536.0;

/// Threads that the program starts besides those of a kernel: for signals, for the progress bar, for handing on positions.
const OWN_THREADS: u64 = 3;
/// What the program takes besides: the stack of its main thread, buffers, text.
const PROGRAM: u64 = 6 << 20;
/// Addresses that the allocator of glibc may reserve for a thread.
const ARENA: u64 = 64 << 20;
/// The most arenas that this allocator makes per CPU.
const ARENAS: usize = 8;

/// What a run on `threads` threads can allocate of `addresses` bytes of address space. The stacks of its threads are
/// part of the run's cost, and are not subtracted here.
fn usable(addresses: u64, threads: u64) -> u64 {
    let others = OWN_THREADS + threads.saturating_sub(1);
    // Arenas come first: one that is reserved early fits while the rest is still unused.
    let mut left = addresses;
    for _ in 0..others {
        if left >= ARENA {
            left -= ARENA;
        }
    }
    left.saturating_sub(PROGRAM + OWN_THREADS * STACK as u64)
}

/// The most memory that this process has held so far, in bytes; 0 if the system does not say.
pub fn peak_memory() -> u64 {
    system::peak_memory().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_threads_reserve_are_not_promised_to_a_run() {
        const MB: u64 = 1 << 20;
        assert_eq!(usable(0, 64), 0);
        // An arena that does not fit is not made, and its thread does without.
        assert!((20..30).contains(&(usable(100 * MB, 1) / MB)) && usable(100 * MB, 1) == usable(100 * MB, 64));
        assert!((290..300).contains(&(usable(500 * MB, 1) / MB)));
        assert!((225..235).contains(&(usable(500 * MB, 2) / MB)));
        for (addresses, threads) in [(10, 1), (200, 1), (1000, 2), (9000, 64)] {
            assert!(usable(addresses * MB, threads) <= addresses * MB);
        }
    }

    #[test]
    fn a_capped_machine_offers_what_the_cap_includes() {
        let machine = Machine::described(Tier::Avx512, 2, 1 << 30);
        let tiers = |machine: Machine| machine.tiers().collect::<Vec<_>>();
        assert_eq!(tiers(machine), [Tier::Portable, Tier::Avx2, Tier::Avx512]);
        assert_eq!(tiers(machine.capped(Tier::Avx2)), [Tier::Portable, Tier::Avx2]);
        assert_eq!(tiers(machine.capped(Tier::Neon)), [Tier::Portable]);
        for tier in Tier::ALL {
            assert_eq!(Machine::detect().offers(*tier), tier.is_on_this_cpu());
            assert_eq!(machine.on_this_cpu().offers(*tier), machine.offers(*tier) && tier.is_on_this_cpu());
        }
    }

    #[test]
    fn a_machine_without_threads_has_the_one_of_the_program() {
        let machine = Machine::described(Tier::Portable, 16, 1 << 30);
        assert_eq!((machine.threads(), machine.has_threads()), (16, true));
        let machine = machine.without_threads();
        assert_eq!((machine.threads(), machine.has_threads()), (1, false));
    }

    #[test]
    fn a_limit_on_memory_is_one_whatever_the_addresses() {
        let machine = Machine { addresses: Some(1 << 20), ..Machine::described(Tier::Portable, 2, 1 << 40) };
        assert_eq!(machine.memory(1), 0);
        // The allocator makes no more arenas than this, however many threads there are.
        let machine = Machine { addresses: Some(1 << 40), memory: u64::MAX, ..machine };
        assert_eq!([machine.memory(1000), machine.memory(3)], [usable(1 << 40, 16), usable(1 << 40, 3)]);
        assert_eq!(machine.threads(), 2);
        assert_eq!(machine.with_memory(1 << 30).memory(64), 1 << 30);
    }
}
