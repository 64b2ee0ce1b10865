//! Sparse space: the code that the kernels of octal games and of their periods share. The theorems are in [`octal`](super::octal).
//!
//! A [`Mask`](space::Mask) makes few heaps *rare*. [`Sparse`] computes 64 heaps at a time from the rare ones and verifies them; [`drive`]
//! chooses when. Where few heaps are rare, a [`CodeWindow`] of the last codes is enough. A tier has SIMD operations ([`BlockOps`],
//! [`WindowOps`]), for which its file compiles the loops of both ([`Backend`]). All else is compiled once.

pub mod blocks;
mod chain;
pub mod codes;
mod cover;
pub mod drive;
pub mod portable;
pub mod space;
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128;
pub mod window;
#[cfg(target_arch = "x86_64")]
pub mod x86;

use blocks::{Sparse, TooLarge};
use codes::{LANES, Move};
use window::{CodeWindow, Count, End, Mark, Verify, WindowOps};

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
/// Codes of each heap that are tested at once.
pub const TESTED: usize = 4;
/// These codes, a list for each heap of a block.
pub type TestedCodes = [[u8; LANES]; TESTED];

/// Codes that are searched at once.
pub const CHUNK: usize = 256;
/// A chunk of codes.
pub type Chunk = [u8; CHUNK];

/// The only rate of a kernel.
const fn rate(kernel: &str) -> f64 {
    let [rate] = rates::find(include_str!("../rates.tsv"), "mex_octal", kernel);
    rate
}

/// The loops through blocks and windows, compiled for the tier of the function that [`compiled!`] is in. That function is not inlined: all
/// drivers share its code.
#[derive(Clone, Copy)]
pub struct Backend {
    /// Nanoseconds of a move and a block, and of a split that is searched: a run chooses by them how values are computed.
    pub step: f64,
    pub search: f64,
    /// [`Candidates::value`].
    pub candidate_value: fn(&mut Candidates, &Octal, &[u16]) -> Option<u16>,
    /// [`Sparse::common_block`].
    pub common_block: fn(&mut Sparse, usize) -> Result<(), TooLarge>,
    /// [`Sparse::verify_block`].
    pub verify_block: fn(&mut Sparse, &mut Vec<u16>) -> Result<(), TooLarge>,
    /// [`CodeWindow::compute`].
    pub compute: fn(&mut CodeWindow, codes: &mut [u8], n: usize) -> Result<(), End>,
    /// [`CodeWindow::verify`].
    pub verify: Verify,
    /// [`Progress::mark`](super::period::Progress).
    pub mark: Mark,
    /// [`Progress::count`](super::period::Progress).
    pub count: Count,
    /// The operations that the loops of a window are compiled for.
    pub window: WindowOps,
}

/// [`Backend`] of the operations of a tier, with the rates of two of its kernels.
macro_rules! compiled {
    ($greedy:literal, $candidates:literal, $block_ops:expr, $window_ops:expr) => {
        $crate::cores::octal::sparse::Backend {
            step: const { $crate::cores::octal::sparse::rate($greedy) },
            search: const { $crate::cores::octal::sparse::rate($candidates) },
            candidate_value: |candidates, input, known| candidates.value(input, known),
            common_block: |sparse, n| sparse.common_block(n, &$block_ops),
            verify_block: |sparse, values| sparse.verify_block(values, &$block_ops),
            compute: |window, codes, n| window.compute(codes, n, &$window_ops),
            verify: |window, codes, n, odd, is_reached| window.verify(codes, n, odd, &$window_ops, is_reached),
            mark: |progress, count, depth, by_position| progress.mark(count, depth, by_position),
            count: |progress, count, values| progress.count(count, values),
            window: $window_ops,
        }
    };
}
use compiled;

/// The operations of a tier on blocks, as closures that have the CPU features of the function that makes them. Where this is known and the
/// work on blocks is inlined, so are they.
#[derive(Clone, Copy)]
pub struct BlockOps {
    /// The number of planes to decode for at least this many.
    pub planes: fn(usize) -> usize,
    /// ORs what the moves reach from the block at `n` into the first `planes` planes.
    pub decode: fn(codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes),
    /// The codes that are not hit, a word for each heap; bit 63 is unspecified.
    pub words: fn(hits: &Group, free: &mut [u64; LANES]),
    /// For each list of codes, one for each heap of the block at `n`, the heaps that reach theirs.
    pub tests: fn(codes: &[u8], n: usize, moves: &[Move], tested: &TestedCodes) -> [u64; TESTED],
    /// Keeps the codes that are not the XOR of two codes at the same index, in their order, and returns their number.
    pub search: fn(a: &Chunk, b: &Chunk, unresolved: &mut [u8]) -> usize,
}
