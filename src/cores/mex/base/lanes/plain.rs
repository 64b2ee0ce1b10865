//! The decoders in plain Rust: arithmetic on arrays of 64 bytes gives the one-hot bits of each plane.
//!
//! Cost per block, move and plane: a comparison, an AND and an OR on 64 lanes. The number of instructions depends on how the
//! compiler vectorises the loops.

use super::decoder::{Backend, Decoder, LANES, PLANES, Planes, Sources, WINDOW, resolve};
use crate::simd::array_of;

/// ORs the first `planes` planes of the values that `moves` reach into `hits`, for consecutive blocks. The first block reads
/// `from`.
#[inline(always)]
pub fn accumulate(from: &Sources, moves: &[usize], planes: usize, hits: &mut [Planes]) {
    for (from, hits) in from.blocks(hits) {
        for m in moves {
            let codes = from.behind(*m);
            // The bit within the plane, and the plane. Code 0 becomes value 63, which the driver ignores.
            let mut bit = [0u8; LANES];
            let mut plane = [0u8; LANES];
            for i in 0..LANES {
                let value = WINDOW as u8 - codes[i];
                (bit[i], plane[i]) = (1 << (value % 8), value / 8);
            }
            for (p, hits) in hits[..planes].iter_mut().enumerate() {
                for i in 0..LANES {
                    hits[i] |= if plane[i] == p as u8 { bit[i] } else { 0 };
                }
            }
        }
    }
}

/// The first plane of the values of a block.
#[inline(always)]
pub fn first_plane(codes: &[u8; LANES]) -> [u8; LANES] {
    let mut hits: [Planes; 1] = [[[0; LANES]; PLANES]];
    accumulate(&Sources::new(codes, 0), &[0], 1, &mut hits);
    hits[0][0]
}

/// The transposition in words of eight heaps, eight planes at a time.
#[inline(always)]
pub fn free_words(hits: &Planes, free: &mut [u64; LANES]) {
    for (group, words) in free.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *words = array_of(|p| u64::from_le_bytes(*hits[p][8 * group..].first_chunk().expect("eight heaps")));
        // Transposes an 8x8 matrix of bytes: exchanges the off-diagonal quarters at distances of 4, 2 and 1 bytes.
        for (distance, mask) in [(4, 0x0000_0000_ffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)] {
            for i in (0..8).filter(|i| i & distance == 0) {
                let swap = (words[i] >> (8 * distance) ^ words[i + distance]) & mask;
                words[i + distance] ^= swap;
                words[i] ^= swap << (8 * distance);
            }
        }
        words.iter_mut().for_each(|word| *word = !*word & u64::MAX >> 1);
    }
}

#[inline(never)] // compiled here, not where it is used
pub fn parts() -> &'static dyn Decoder {
    &Backend { add: accumulate, free_words, resolve }
}
