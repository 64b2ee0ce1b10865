//! Sparse space: what the kernels of octal games and of their periods share. The theorems are in [`octal`](super::octal).
//!
//! A [`Mask`](space::Mask) makes few heaps *rare*. [`Sparse`] computes 64 heaps at a time from the rare ones and
//! verifies them; [`drive`] says when. Where few heaps are rare, a [`Window`](window::Window) of the last codes is enough. A tier has
//! [`Inner`] parts, for which its file compiles the work on blocks ([`Compiled`]). All else is compiled once.

#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod avx2;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;
pub mod blocks;
pub mod codes;
pub mod drive;
mod heads;
pub mod plain;
pub mod space;
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128;
pub mod window;

use blocks::{Sparse, TooLarge};
use codes::{LANES, Move};
use window::Loops;

use super::octal::candidates::Candidates;
use super::octal::input::Octal;
use crate::kernel::rates;

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
/// These codes, a list for each heap of a block.
pub type Asked = [[u8; LANES]; ASKED];

/// Codes that are searched at once.
pub const CHUNK: usize = 256;
/// A chunk of codes.
pub type Chunk = [u8; CHUNK];

/// How long the parts of a tier take, in nanoseconds: a run chooses by it how values are computed.
#[derive(Clone, Copy)]
pub struct Pace {
    /// A move and a block.
    pub step: f64,
    /// A split that is searched.
    pub search: f64,
}

impl Pace {
    /// That of the tier with these kernels, whose only rates these are.
    const fn of(greedy: &str, candidates: &str) -> Self {
        let ([step], [search]) = (rate(greedy), rate(candidates));
        Pace { step, search }
    }
}

const fn rate(kernel: &str) -> [f64; 1] {
    rates::find(include_str!("../rates.tsv"), "mex_octal", kernel)
}

/// The work on blocks, compiled for the tier of the function that [`compiled!`] is in. That function is not inlined: all drivers share
/// its code.
#[derive(Clone, Copy)]
pub struct Compiled {
    /// [`Sparse::common_block`].
    pub common: fn(&mut Sparse, usize) -> Result<(), TooLarge>,
    /// [`Sparse::verify_block`].
    pub verify: fn(&mut Sparse, &mut Vec<u16>) -> Result<(), TooLarge>,
    /// [`Candidates::value`].
    pub value: fn(&mut Candidates, &Octal, &[u16]) -> Option<u16>,
    /// How long the parts take.
    pub pace: Pace,
    /// The loops of a [`Window`](window::Window).
    pub loops: Loops,
}

/// [`Compiled`] of [`Inner`] parts.
macro_rules! compiled {
    ($inner:expr, $pace:expr, $loops:expr) => {
        $crate::cores::octal::sparse::Compiled {
            common: |sparse, n| sparse.common_block(n, &$inner),
            verify: |sparse, values| sparse.verify_block(values, &$inner),
            value: |candidates, input, known| candidates.value(input, known),
            pace: $pace,
            loops: $loops,
        }
    };
}
use compiled;

/// The parts of a tier, as closures that have the CPU features of the function that makes them. Where this is known and the work on
/// blocks is inlined, so are they.
#[derive(Clone, Copy)]
pub struct Inner {
    /// The number of planes to decode for at least this many.
    pub planes: fn(usize) -> usize,
    /// ORs what the moves reach from the block at `n` into the first `planes` planes.
    pub decode: fn(codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes),
    /// The codes that are not hit, a word for each heap; bit 63 is unspecified.
    pub words: fn(hits: &Group, free: &mut [u64; LANES]),
    /// For each list of codes, one for each heap of the block at `n`, the heaps that reach theirs.
    pub tests: fn(codes: &[u8], n: usize, moves: &[Move], asked: &Asked) -> [u64; ASKED],
    /// Keeps the codes that are not the XOR of two codes at the same index, in their order, and returns their number.
    pub search: fn(a: &Chunk, b: &Chunk, open: &mut [u8]) -> usize,
}
