//! What runs of `grundy` found, as `--save` keeps it.

use std::hash::Hasher as _;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::files::saved::Measured;

/// The run that found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
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
    /// Milliseconds, without those of the run that it resumed.
    pub milliseconds: u64,
}

/// The first heap of each Grundy value of a subtraction set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstHeaps {
    /// The run.
    #[serde(flatten)]
    pub origin: Origin,
    /// The first heap of each value.
    pub first: Vec<u64>,
    /// The number of heaps of each value.
    pub counts: Vec<u64>,
}

impl Measured for FirstHeaps {
    const KIND: &'static str = "first-heaps";
}

/// How the P-positions of a subtraction set grow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growth {
    /// The run.
    #[serde(flatten)]
    pub origin: Origin,
    /// The last P-position.
    pub last: u64,
    /// The P-positions up to 1, 2, 4, ...
    pub octaves: Vec<Octave>,
}

/// The P-positions up to a power of two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Octave {
    /// The number of P-positions.
    pub zeros: u64,
    /// The XXH3-64 of all of them, as little-endian 64-bit numbers.
    pub hash: String,
}

impl Measured for Growth {
    const KIND: &'static str = "growth";
}

impl Growth {
    /// What a run found, given the P-positions.
    pub fn new(origin: Origin, zeros: &[u64]) -> Self {
        let mut hash = XxHash3_64::new();
        let mut hashed = 0;
        let octave = |(_, count): (u64, usize)| {
            zeros[hashed..count].iter().for_each(|n| hash.write(&n.to_le_bytes()));
            hashed = count;
            Octave { zeros: count as u64, hash: format!("{:016x}", hash.finish()) }
        };
        let octaves = by_octaves(origin.limit, zeros).map(octave).collect();
        Growth { last: zeros.last().copied().unwrap_or(0), octaves, origin }
    }
}

/// What is known of the values of an octal game to a limit, without a table of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Periodic {
    /// The code of the game.
    pub code: String,
    /// The largest heap.
    pub limit: u64,
    /// The kernel.
    pub kernel: String,
    /// Whether it resumed an earlier run.
    pub resumed: bool,
    /// Milliseconds, without those of the run that it resumed.
    pub milliseconds: u64,
    /// The number of rare heaps, and the last of them.
    pub rare: Option<(usize, usize)>,
    /// The values that occur, with the first heap and the number of heaps of each.
    pub values: Vec<(u16, u64, u64)>,
    /// The period, if it is proved.
    pub period: Option<ProvedPeriod>,
}

/// A period and its proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvedPeriod {
    /// Its length.
    pub length: u64,
    /// The heap from which the repetition holds.
    pub preperiod: u64,
    /// The number of heaps that the proof needed.
    pub heaps: u64,
    /// The width of the window that repeats; none for the theorem of Guy and Smith.
    pub width: Option<usize>,
}

impl Measured for Periodic {
    const KIND: &'static str = "octal-period";
}

/// The powers of two up to a limit, each with how many numbers of an ascending list are at most that large.
pub fn by_octaves(limit: u64, ascending: &[u64]) -> impl Iterator<Item = (u64, usize)> {
    let powers = (0..=limit.checked_ilog2().unwrap_or(0)).map(|k| 1 << k);
    powers.map(|power| (power, ascending.partition_point(|n| *n <= power)))
}
