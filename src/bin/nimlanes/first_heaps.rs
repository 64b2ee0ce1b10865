//! Saved first heaps: the first heap of each Grundy value of a subtraction set, as a run found them.

use serde::{Deserialize, Serialize};

use crate::saved::Measured;

/// What a run found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstHeaps {
    /// The moves, as `--moves` takes them.
    pub moves: String,
    /// The largest heap.
    pub limit: u64,
    /// The operation.
    pub operation: String,
    /// The kernel.
    pub kernel: String,
    /// Whether it resumed an earlier run.
    pub resumed: bool,
    /// Milliseconds.
    pub milliseconds: u64,
    /// The first heap of each value.
    pub first: Vec<u64>,
    /// The number of heaps of each value.
    pub counts: Vec<u64>,
}

impl Measured for FirstHeaps {
    const KIND: &'static str = "first-heaps";
}

impl FirstHeaps {
    /// Whether another run over the same heaps found the same.
    pub fn agrees(&self, other: &FirstHeaps) -> bool {
        (&self.moves, self.limit) == (&other.moves, other.limit)
            && (&self.first, &self.counts) == (&other.first, &other.counts)
    }
}
