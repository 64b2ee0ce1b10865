//! Lists of positions with two or three heaps.

/// Positions with two or three heaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Positions {
    /// Two heaps, `n <= m`.
    Two(Vec<[u64; 2]>),
    /// Three heaps, `x <= y <= z`.
    Three(Vec<[u32; 3]>),
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
