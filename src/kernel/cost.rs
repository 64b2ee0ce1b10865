//! What a run is predicted to take, and what a kernel needs at least.

use crate::machine::isa::Tier;

/// What the cost of a run depends on besides the input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CostContext {
    /// The tier the kernel is listed at.
    pub tier: Tier,
    /// Threads it may use.
    pub threads: usize,
}

/// Predicted time and memory of one run. The formula of each kernel holds constants measured on one machine, or estimated
/// where the tier says so ([`Tier::are_costs_measured`]); they serve choices between kernels, refusals and progress, never
/// results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Nanoseconds; infinite where the kernel cannot do the input.
    pub ns: f64,
    /// Peak bytes, the input and the output among them. Stacks of threads count, whether they are touched or not.
    pub bytes: f64,
}

impl Cost {
    /// The cost of an input outside a kernel's domain.
    pub const IMPOSSIBLE: Cost = Cost { ns: f64::INFINITY, bytes: 0.0 };

    /// Whether the kernel can do the input at all.
    pub fn is_possible(&self) -> bool {
        self.ns.is_finite()
    }
}

/// The least that a kernel does for a unit of work ([`Operation::work`](super::Operation::work)), averaged over an input: counts of the things whose
/// ceilings the lab measures (`nimlanes ceilings`). A count that depends on the data is a lower bound, so a loop of nothing but
/// the most expensive of them is at least as quick as the kernel could be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Needs {
    /// Aligned loads of 64 bytes.
    pub loads: f64,
    /// Loads of 64 bytes that touch two lines.
    pub split_loads: f64,
    /// Logical operations or additions on registers of 64 bytes.
    pub logic: f64,
    /// Permutations of the bytes of such a register.
    pub permutes: f64,
    /// Bits or bytes set at places that are not in order: load, change, store.
    pub bits: f64,
    /// Stores of a word or less, each to another line than the one before.
    pub stores: f64,
    /// Cycles of operations that wait for each other.
    pub cycles: f64,
    /// Bytes that loads and bits range over; they say which cache they come from.
    pub bytes: f64,
}
