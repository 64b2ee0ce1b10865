//! Lists of positions with two or three heaps.

use crate::cores::sink;

/// Positions with two or three heaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Positions {
    /// `n <= m`
    Two(Vec<[u64; 2]>),
    /// `x <= y <= z`
    Three(Vec<[u32; 3]>),
}

/// Those that were not handed on.
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
