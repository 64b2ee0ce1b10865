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

/// How much a kernel finds of an output that has parts. Each variant includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Yields {
    /// Only counts and sums.
    Tally,
    /// The whole output, but in no order: no part can be handed on before the end.
    Unordered,
    /// The whole output, in order.
    Everything,
}

impl Yields {
    /// All variants, the richest first.
    pub const ALL: &[Yields] = &[Yields::Everything, Yields::Unordered, Yields::Tally];
}

/// Named numbers that summarize an output, for checks against known answers and for people.
pub type Digest = Vec<(&'static str, u128)>;

/// A technology that has no natural use in an operation, and why.
#[derive(Clone, Copy, Debug)]
pub struct Absent {
    /// The Cargo feature.
    pub feature: &'static str,
    /// Why no kernel is listed for it.
    pub reason: &'static str,
}

/// One typed job of a core, with the list of kernels that perform it.
///
/// Only the cores implement operations: the macro of their lists alone makes a [`KernelDef`].
pub trait Operation: Sized + 'static {
    /// What a kernel is given.
    type Input: Send + Sync + 'static;
    /// What every kernel must compute.
    type Output: PartialEq + Debug + Send + Sync + 'static;
    /// What a run starts from besides its input: `()` for most operations, else the progress of an interrupted run.
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
    /// The kernels that implement the best algorithms published elsewhere. Results are compared with the fastest of
    /// them.
    const PUBLIC: &'static [&'static str];
    /// What the measurements showed and what was tried, in Markdown: part of the documentation and of the report.
    const NOTES: &'static str;
    /// The table with the constants of the kernels' predicted times: see [`KernelDef::rates`].
    const RATES: &'static str;

    /// How much a kernel must find for an input. One that finds less cannot handle it.
    fn wanted(_input: &Self::Input) -> Yields {
        Yields::Tally
    }

    /// Bytes of the input, which stays in memory while a kernel runs.
    fn input_bytes(_input: &Self::Input) -> f64 {
        0.0
    }

    /// Bytes of the output of a run on `threads` threads, which are added to the cost of every kernel. For operations
    /// whose kernels do not know the type of the output.
    fn output_bytes(_input: &Self::Input, _threads: usize) -> f64 {
        0.0
    }

    /// Computes the output from the rules of the game alone: slowly, and without any theorem that a kernel uses.
    fn oracle(input: &Self::Input) -> Self::Output;

    /// What the calls of [`Run::advance`](super::Run::advance) in one run add up to.
    fn steps(input: &Self::Input) -> u64;

    /// Units of work in one run that gave `output`, for throughput.
    fn work(input: &Self::Input, output: &Self::Output) -> u64;

    /// Named numbers that summarize an output.
    fn digest(output: &Self::Output) -> Digest;
}
