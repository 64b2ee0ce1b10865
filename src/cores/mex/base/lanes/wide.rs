//! The decoder by `wide`'s shuffle of 64 bytes.
//!
//! In a native build on a CPU with AVX-512 VBMI, the shuffle is `vpermb`; on ARM, it is `tbl` with a table of 64 bytes. On x86
//! without SSSE3, as in a default build, `wide` shuffles byte by byte through memory.
//!
//! Cost per block, move and plane: one shuffle and one OR.
//! Bound (native build, Zen 4): the two shuffle ports, one 512-bit shuffle per cycle.

use wide::u8x64;

use super::chain::settle;
use super::{Decoder, LANES, ONE_HOT, Parts, Planes, Sources, by_planes, plain};

static TABLES: Planes = ONE_HOT;

/// ORs what the moves reach into the first planes of blocks.
fn decode(from: Sources, moves: &[usize], planes: usize, hits: &mut [Planes]) {
    let tables = std::hint::black_box(&TABLES);
    by_planes!(planes, accumulate(tables, from, moves, hits));
}

#[inline(always)]
fn accumulate<const P: usize>(tables: &Planes, from: Sources, moves: &[usize], hits: &mut [Planes]) {
    let mut table = [u8x64::new([0; LANES]); P];
    for p in 0..P {
        table[p] = u8x64::new(tables[p]);
    }
    for (from, hits) in from.blocks(hits) {
        let mut sum = table;
        for p in 0..P {
            sum[p] = u8x64::new(hits[p]);
        }
        for m in moves {
            let codes = u8x64::new(*from.behind(*m));
            for p in 0..P {
                sum[p] |= shuffled(table[p], codes);
            }
        }
        for p in 0..P {
            hits[p] = sum[p].to_array();
        }
    }
}

/// A call costs nothing beside 64 lookups byte by byte, which compile slowly where they are repeated.
#[cfg_attr(all(target_arch = "x86_64", not(target_feature = "ssse3")), inline(never))]
#[cfg_attr(not(all(target_arch = "x86_64", not(target_feature = "ssse3"))), inline(always))]
fn shuffled(table: u8x64, codes: u8x64) -> u8x64 {
    table.shuffle_wrapping(codes)
}

/// The shuffle, and the transposition in plain Rust.
#[inline(never)] // compiled here, not where it is used
pub fn parts() -> &'static dyn Decoder {
    &Parts { add: decode, free_words: plain::free_words, settle }
}
