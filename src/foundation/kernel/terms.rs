//! The terms in which an operation is described: its core, the parts of its output, its digest.

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
    /// The whole output.
    Everything,
}

impl Yields {
    /// All variants, the richest first.
    pub const ALL: &[Yields] = &[Yields::Everything, Yields::Tally];
}

/// Named numbers that summarize an output, for checks against known answers and for people.
pub type Digest = Vec<(&'static str, u128)>;
