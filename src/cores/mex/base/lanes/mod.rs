//! Byte lanes: 64 consecutive heaps are 64 bytes, for the operations whose moves reach the same distances from each heap.
//!
//! Values are split into windows of 63. A window keeps one byte per heap, the *code*: `63 - v` for a heap whose value is the
//! window's `v`, and 0 for all other heaps, for heaps not known yet and for padding. So one contiguous load at `n - m` holds what
//! the move `m` contributes to the heaps `n..n + 64`, without special cases.
//!
//! A tier decodes codes to one-hot bits, eight *planes* of eight values each, which it ORs over the moves, and transposes the
//! planes to one word of free values per heap: a [`Decoder`], which the file of each tier makes in `parts`. Here is what all of
//! them share. Each operation has its own code for what it does with the lanes.

pub mod chain;
mod crates;
pub mod plain;
#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128;
#[cfg(all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")))]
mod x86;

use chain::{Near, NearMoves};
pub use crates::*;
#[cfg(all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")))]
pub use x86::*;

/// Heaps in a block.
pub const LANES: usize = 64;
/// Values in a window; code 0 means none of them.
pub const WINDOW: usize = LANES - 1;
/// One-hot planes of a window: bit `b` of byte `i` of plane `p` means heap `i` and value `8 p + b`.
pub const PLANES: usize = 8;
/// The values reached by the heaps of a block. Bit 63 of a heap is unspecified.
pub type Planes = [[u8; LANES]; PLANES];

/// Moves of at least this distance can act on eight heaps at once inside a block: see [`act_apart`].
pub const APART: usize = 16;

/// How many of the moves, in ascending order, are below a bound.
#[inline]
pub fn below(moves: &[usize], bound: usize) -> usize {
    moves.partition_point(|m| *m < bound)
}

/// Calls `f::<planes>(..)`. A kernel that holds its planes in registers is compiled for each number of planes.
#[doc(hidden)]
#[macro_export]
macro_rules! by_planes {
    ($planes:expr, $f:ident($($argument:expr),*)) => {
        match $planes {
            0 => {}
            1 => $f::<1>($($argument),*),
            2 => $f::<2>($($argument),*),
            3 => $f::<3>($($argument),*),
            4 => $f::<4>($($argument),*),
            5 => $f::<5>($($argument),*),
            6 => $f::<6>($($argument),*),
            7 => $f::<7>($($argument),*),
            _ => $f::<8>($($argument),*),
        }
    };
}
pub use by_planes;

/// The parts of a tier. Drivers take `&dyn Decoder`: they and the decoders are compiled once, and a call is small beside the block
/// that it decodes.
pub trait Decoder: Sync {
    /// ORs the first planes of the values that the moves reach into the hits of consecutive blocks. The first block reads these
    /// sources.
    fn add(&self, from: Sources, moves: &[usize], planes: usize, hits: &mut [Planes]);

    /// The values that are not hit, a word for each heap.
    fn free_words(&self, hits: &Planes, free: &mut [u64; LANES]);

    /// [`chain::resolve`].
    fn resolve(&self, windows: &mut [Near], moves: &NearMoves) -> bool;
}

/// A decoder of closures, which have the CPU features of the function that makes them.
#[derive(Clone, Copy)]
pub struct Parts<A, F, S> {
    /// [`Decoder::add`].
    pub add: A,
    /// [`Decoder::free_words`].
    pub free_words: F,
    /// [`Decoder::resolve`].
    pub resolve: S,
}

impl<A, F, S> Decoder for Parts<A, F, S>
where
    A: Fn(Sources, &[usize], usize, &mut [Planes]) + Sync,
    F: Fn(&Planes, &mut [u64; LANES]) + Sync,
    S: Fn(&mut [Near], &NearMoves) -> bool + Sync,
{
    #[inline(always)]
    fn add(&self, from: Sources, moves: &[usize], planes: usize, hits: &mut [Planes]) {
        (self.add)(from, moves, planes, hits);
    }

    #[inline(always)]
    fn free_words(&self, hits: &Planes, free: &mut [u64; LANES]) {
        (self.free_words)(hits, free);
    }

    fn resolve(&self, windows: &mut [Near], moves: &NearMoves) -> bool {
        (self.resolve)(windows, moves)
    }
}

/// The table entry of a code in plane `p`: the one-hot bit of its value.
pub const fn one_hot(code: u8, plane: usize) -> u8 {
    match WINDOW.checked_sub(code as usize) {
        Some(value) if code > 0 && value / 8 == plane => 1 << (value % 8),
        _ => 0,
    }
}

/// The one-hot bits of every code, for lookups in 64 bytes.
pub const ONE_HOT: Planes = {
    let mut tables: Planes = [[0; LANES]; _];
    let mut p = 0;
    while p < tables.len() {
        let mut code = 0;
        while code < LANES {
            tables[p][code] = one_hot(code as u8, p);
            code += 1;
        }
        p += 1;
    }
    tables
};

/// The codes that a block of heaps reads.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    codes: &'a [u8],
    at: usize,
}

impl<'a> Sources<'a> {
    /// The sources of a block. `at` is the index in `codes` where the code of its first heap is, or would be.
    #[inline(always)]
    pub fn new(codes: &'a [u8], at: usize) -> Self {
        Sources { codes, at }
    }

    /// The sources of consecutive blocks, starting with this one, each with its hits.
    #[inline(always)]
    pub fn blocks<'h>(self, hits: &'h mut [Planes]) -> impl Iterator<Item = (Sources<'a>, &'h mut Planes)> {
        hits.iter_mut().enumerate().map(move |(b, hits)| (Sources { at: self.at + b * LANES, ..self }, hits))
    }

    /// The codes of the heaps that the move `m` reaches from the block.
    #[inline(always)]
    pub fn behind(self, m: usize) -> &'a [u8; LANES] {
        self.codes[self.at - m..].first_chunk().expect("codes are padded by a block")
    }
}

/// Removes what moves of at least [`APART`] reach from the free values of eight heaps, `free[..8]`. The one-hot values of these
/// heaps are at `own[at..]`.
#[inline(always)]
pub fn act_apart(moves: &[usize], own: &[u64], at: usize, free: &mut [u64]) {
    let free: &mut [u64; 8] = free.first_chunk_mut().expect("eight heaps");
    let mut reached = [0; 8];
    for m in moves {
        let source: &[u64; 8] = own[at - m..].first_chunk().expect("eight heaps");
        for i in 0..8 {
            reached[i] |= source[i];
        }
    }
    for i in 0..8 {
        free[i] &= !reached[i];
    }
}
