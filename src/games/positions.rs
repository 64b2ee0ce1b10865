//! Lists of positions with two or three heaps.

use crate::cores::sink;

/// Positions with two or three heaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Positions {
    /// Two heaps, `n <= m`.
    Two(Vec<[u64; 2]>),
    /// Three heaps, `x <= y <= z`.
    Three(Vec<[u32; 3]>),
}

/// The positions that the sink still holds: those that it has not handed on.
impl<P> From<sink::Positions<P>> for Positions
where
    Positions: From<Vec<P>>,
{
    fn from(found: sink::Positions<P>) -> Self {
        found.list.into()
    }
}

impl From<Vec<[u64; 2]>> for Positions {
    fn from(positions: Vec<[u64; 2]>) -> Self {
        Positions::Two(positions)
    }
}

impl From<Vec<[u32; 3]>> for Positions {
    fn from(positions: Vec<[u32; 3]>) -> Self {
        Positions::Three(positions)
    }
}
