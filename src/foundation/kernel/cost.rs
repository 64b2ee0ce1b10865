//! The predicted time and memory of a run, and the least that a kernel needs.

use crate::machine::STACK;
use crate::machine::isa::Tier;

/// What the cost of a run depends on besides the input.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct CostContext {
    /// The tier at which the kernel is listed.
    pub tier: Tier,
    /// Threads that the run may use.
    pub threads: usize,
    /// Whether the kernel can use several.
    pub is_parallel: bool,
}

/// Predicted time and memory of one run. The formula of each kernel contains constants measured on one machine, or
/// estimated if the tier says so ([`Tier::are_costs_measured`]). Predictions guide the choice of kernels, refusals and
/// progress; they never affect results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Nanoseconds, of which some are for pages that are touched for the first time; infinite if the kernel cannot handle the
    /// input.
    pub ns: f64,
    /// Peak bytes, including the input and the output. The stacks of threads count, whether or not they are touched.
    pub bytes: f64,
}

impl Cost {
    /// The cost of an input outside a kernel's domain.
    pub const IMPOSSIBLE: Cost = Cost { ns: f64::INFINITY, bytes: 0.0 };

    /// The same cost with the time for the pages that the process touches for the first time: all that a run needs but the
    /// stacks of `threads` threads, and what the allocator keeps from run to run, which is part of the measured constants.
    ///
    /// The price of a page is a constant. The system takes 0.1 to 0.5 microseconds for one where it has the memory, and 3 to
    /// 30 on a virtual machine whose host must find it first. `cargo bench -- ceilings` measures it. A measurement before each
    /// run would pay what it is there to avoid, would find pages of an earlier process cheap, and would let the choice of a
    /// kernel vary from run to run. Where pages cost more than this, kernels that touch few of them win by more.
    pub(crate) fn with_fresh_pages(self, threads: usize) -> Self {
        const PAGE: f64 = 4096.0;
        const NS: f64 = 500.0;
        /// From so many bytes on, the allocator of glibc returns memory to the system in any case.
        const KEPT: f64 = (32 << 20) as f64;
        let touched = (self.bytes - (threads - 1) as f64 * STACK - KEPT).max(0.0);
        Cost { ns: self.ns + NS * touched / PAGE, ..self }
    }

    /// The same cost for an input that the kernel can handle.
    #[must_use]
    pub fn only_if(self, is_possible: bool) -> Self {
        if is_possible { self } else { Cost::IMPOSSIBLE }
    }

    /// Whether the kernel can handle the input at all.
    pub fn is_possible(&self) -> bool {
        self.ns.is_finite()
    }
}

/// The least that a kernel does for a unit of work ([`Operation::work`](super::Operation::work)), averaged over an
/// input: counts of the basic operations whose ceilings the lab measures (`cargo bench -- ceilings`). A count that depends on
/// the data is a lower bound. So the kernel cannot be faster than a loop that does only the most expensive of these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Needs {
    /// Aligned loads of 64 bytes.
    pub loads: f64,
    /// Loads of 64 bytes that touch two cache lines.
    pub split_loads: f64,
    /// Logical operations or additions on registers of 64 bytes.
    pub logic: f64,
    /// Permutations of the bytes of such a register.
    pub permutes: f64,
    /// Bits or bytes set at scattered places: load, change, store.
    pub bits: f64,
    /// Stores of a word or less, each to a different cache line than the previous one.
    pub stores: f64,
    /// Cycles of dependent operations, each of which waits for the previous one.
    pub cycles: f64,
    /// Bytes that the loads and bits range over, which determine the level of cache that holds them.
    pub bytes: f64,
}
