//! The inner parts of the sparse byte-lane kernels, in which they differ.

use super::codes::{LANES, Move};
use crate::kernel::Tier;

/// One-hot planes: bit `b` of byte `i` of plane `p` means heap `i` and code `8 p + b`.
pub const PLANES: usize = 32;
/// The codes reached by the heaps of a block.
pub type Planes = [[u8; LANES]; PLANES];
/// Eight planes, which make a word for each heap.
pub type Group = [[u8; LANES]; 8];
/// Groups of planes.
pub const GROUPS: usize = PLANES / 8;
/// Codes of each heap that are asked at once.
pub const ASKED: usize = 4;

/// The parts in which the kernels differ.
pub trait Inner {
    /// The number of planes to decode for at least this many.
    fn planes(&self, least: usize) -> usize;
    /// ORs what the moves reach from the block at `n` into the first `planes` planes.
    fn decode(&self, codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes);
    /// The codes that are not hit, a word for each heap; bit 63 is unspecified.
    fn words(&self, hits: &Group, free: &mut [u64; LANES]);
    /// For each list of codes, one for each heap of the block at `n`, the heaps that reach theirs.
    fn tests(&self, codes: &[u8], n: usize, moves: &[Move], asked: &[[u8; LANES]; ASKED]) -> [u64; ASKED];
    /// How many codes of a heap a move must reach to be decoded, for common and for rare values. `None` if moves are not chosen.
    fn worth(&self) -> Option<[f64; 2]>;
    /// The time of a move and a block, in nanoseconds.
    fn ns(&self) -> f64;
    /// The tier that the parts are compiled for.
    fn tier(&self) -> Tier;
    /// Keeps the codes that are not the XOR of two codes at the same index, in their order, and returns their number.
    fn search(&self, a: &Chunk, b: &Chunk, open: &mut [u8]) -> usize;
}

/// The parts as closures, which have the CPU features of the function that they are in.
pub struct Parts<D, W, T, F> {
    pub ns: f64,
    pub tier: Tier,
    pub worth: Option<[f64; 2]>,
    pub planes: fn(usize) -> usize,
    pub decode: D,
    pub words: W,
    pub tests: T,
    pub search: F,
}

/// Codes that are searched at once.
pub const CHUNK: usize = 256;
pub type Chunk = [u8; CHUNK];

impl<D, W, T, F> Inner for Parts<D, W, T, F>
where
    D: Fn(&[u8], usize, &[Move], usize, &mut Planes),
    W: Fn(&Group, &mut [u64; LANES]),
    T: Fn(&[u8], usize, &[Move], &[[u8; LANES]; ASKED]) -> [u64; ASKED],
    F: Fn(&Chunk, &Chunk, &mut [u8]) -> usize,
{
    #[inline(always)]
    fn planes(&self, least: usize) -> usize {
        (self.planes)(least)
    }

    #[inline(always)]
    fn decode(&self, codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes) {
        (self.decode)(codes, n, moves, planes, hits);
    }

    #[inline(always)]
    fn words(&self, hits: &Group, free: &mut [u64; LANES]) {
        (self.words)(hits, free);
    }

    #[inline(always)]
    fn tests(&self, codes: &[u8], n: usize, moves: &[Move], asked: &[[u8; LANES]; ASKED]) -> [u64; ASKED] {
        (self.tests)(codes, n, moves, asked)
    }

    #[inline(always)]
    fn worth(&self) -> Option<[f64; 2]> {
        self.worth
    }

    #[inline(always)]
    fn ns(&self) -> f64 {
        self.ns
    }

    #[inline(always)]
    fn tier(&self) -> Tier {
        self.tier
    }

    #[inline(always)]
    fn search(&self, a: &Chunk, b: &Chunk, open: &mut [u8]) -> usize {
        (self.search)(a, b, open)
    }
}
