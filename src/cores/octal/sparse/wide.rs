//! Codes decoded by `wide`'s shuffle, which the groups of 64 codes share, and masks by comparison.
//!
//! On x86 without SSSE3, as in a default build, `wide` shuffles byte by byte through memory.
//!
//! Cost per block, move and plane: one AND and one OR, and eight shuffles for all planes.
//! Bound: in a default build, the shuffles; in a native build for Zen 4, the vector ports.

use wide::u8x64;

use super::codes::{LANES, Move};
use super::plain::{search, tests};
use super::window::words;
use super::{Compiled, Inner, PLANES, Pace, Parts, Planes, compiled};
use crate::cores::mex::lanes::plain::free_words;
use crate::cores::mex::lanes::wide::plane_ns;

/// As measured on Zen 4.
pub const PACE: Pace = Pace { step: plane_ns(8.0, 55.0, 500.0), search: 0.2 };

/// For each plane of a group, the one-hot bit of a code.
const TABLES: [[u8; LANES]; 8] = {
    let mut tables = [[0; LANES]; 8];
    let mut code = 0;
    while code < LANES {
        tables[code / 8][code] = 1 << (code % 8);
        code += 1;
    }
    tables
};

#[inline(always)]
fn decode(codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes) {
    let tables = TABLES.map(u8x64::new);
    let mut sums: [u8x64; PLANES] = hits.map(u8x64::new);
    for m in moves {
        let source: &[u8; LANES] = codes[n - m.shift..].first_chunk().expect("codes are padded by a block");
        let code = u8x64::new(*source) ^ u8x64::splat(m.code as u8);
        let hot = tables.map(|table| table.shuffle_wrapping(code & u8x64::splat(63)));
        for (group, sums) in sums[..planes].chunks_mut(8).enumerate() {
            let is_here = (code & u8x64::splat(0xc0)).simd_eq(u8x64::splat(64 * group as u8));
            for (sum, hot) in sums.iter_mut().zip(hot) {
                *sum |= hot & is_here;
            }
        }
    }
    *hits = sums.map(u8x64::to_array);
}

/// The parts in the vectors of the build.
pub fn parts() -> Compiled {
    compiled!(inner(), PACE, words::portable())
}

#[inline(always)]
fn inner() -> impl Inner {
    Parts { planes: |least| least, decode, words: free_words, tests, search }
}
