//! Operations: typed jobs of the four cores.

use std::fmt::Debug;

use super::definition::KernelDef;

/// The four families of bit operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Core {
    /// Invariant keys of P-positions in boolean tables.
    TableScan,
    /// Attack lines of P-positions in bitsets.
    Occupancy,
    /// Minimum excludants, many heaps or values at once.
    Mex,
    /// Counting multisets of Grundy values by their nim-sum.
    XorCount,
}

impl Core {
    /// The core's name, as paths and listings spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Core::TableScan => "table_scan",
            Core::Occupancy => "occupancy",
            Core::Mex => "mex",
            Core::XorCount => "xor_count",
        }
    }
}

/// What a kernel finds of an output that has parts: each finds what those before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Yields {
    /// Counts and sums alone.
    Tally,
    /// All of it, but in no order: no part can be handed on before the end.
    Unordered,
    /// All of it, in order.
    Everything,
}

impl Yields {
    /// All of them, the richest first.
    pub const ALL: &[Yields] = &[Yields::Everything, Yields::Unordered, Yields::Tally];
}

/// Named numbers that sum up an output, for checks against known answers and for people.
pub type Digest = Vec<(&'static str, u128)>;

/// A technology with no natural form in an operation, and why.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Absent {
    /// The Cargo feature.
    pub feature: &'static str,
    /// Why no kernel is listed for it.
    pub reason: &'static str,
}

/// One typed job of a core, with the list of kernels that do it.
///
/// Operations are this crate's own: kernels come from a list in it, and nothing outside makes a [`KernelDef`].
pub trait Operation: Sized + 'static {
    /// What a kernel is given.
    type Input: Send + Sync + 'static;
    /// What every kernel must compute.
    type Output: PartialEq + Debug + Send + Sync + 'static;
    /// What a run starts from besides its input: `()` for most, else an empty sink that says where the output goes, or the
    /// progress of a run that was interrupted.
    type Start: Default;

    /// The operation's name everywhere.
    const NAME: &'static str;
    /// The core it belongs to.
    const CORE: Core;
    /// What [`Operation::work`] counts, in the singular.
    const UNIT: &'static str;
    /// All kernels, baseline first, whether compiled in or not.
    const KERNELS: &'static [KernelDef<Self>];
    /// Technologies that have no kernel here.
    const ABSENT: &'static [Absent];
    /// The kernels that are the best algorithms published elsewhere: results are compared with the quickest of them.
    const PUBLIC: &'static [&'static str];
    /// What the measurements showed and what was tried, in markdown: part of the documentation and of the report.
    const NOTES: &'static str;

    /// What the output holds. A kernel that finds less cannot do any input.
    const YIELDS: Yields = Yields::Tally;

    /// Bytes of the input, which stays in memory while a kernel runs.
    fn input_bytes(_input: &Self::Input) -> f64 {
        0.0
    }

    /// Bytes of the output of a run on `threads` threads, for operations whose output has a type that the cost of a kernel does
    /// not know. Added to the cost of every kernel.
    fn output_bytes(_input: &Self::Input, _threads: usize) -> f64 {
        0.0
    }

    /// The output from the rules of the game alone: slow, and free of every theorem that a kernel uses.
    fn oracle(input: &Self::Input) -> Self::Output;

    /// What the calls of [`Run::advance`](super::Run::advance) in one run add up to.
    fn steps(input: &Self::Input) -> u64;

    /// Units of work in one run, for throughput.
    fn work(input: &Self::Input, output: &Self::Output) -> u64;

    /// Named numbers that sum up an output.
    fn digest(output: &Self::Output) -> Digest;
}
