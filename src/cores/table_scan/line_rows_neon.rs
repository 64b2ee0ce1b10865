//! The driver of [`super::line_rows`] with a row of marks in four vectors.
//!
//! A shifted row is two shifts of each word by a register; the word after it comes from the next vector by `ext`.
//!
//! Cost: six lines per search, each of them four loads; `1.3` searches per P-position.
//! Bound: the vector ports, of which two of four can shift on Neoverse V2.

use std::arch::aarch64::*;
use std::array::from_fn;

use super::line_rows::{LineVisit, SearchEnd, bytes, fits, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::bits::first_zero;
use crate::simd::neon::{load, store};

pub fn cost(input: &StoneGame, _: CostContext) -> Cost {
    if !fits(input) {
        return Cost::IMPOSSIBLE;
    }
    let n = input.heaps() as f64;
    Cost { ns: 1.5 * n * n + 40.0 * n + 1300.0, bytes: bytes(input) }
}

#[target_feature(enable = "neon")]
pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, |visit| search::<4>(visit), |visit| search::<2>(visit))
}

/// Words of a row, in vectors of four.
type Row<const V: usize> = [uint32x4_t; V];

/// The 32 bits from bit `by` of each word on.
#[inline]
#[target_feature(enable = "neon")]
fn shifted<const V: usize>(row: Row<V>, by: usize) -> Row<V> {
    let (down, up) = (vdupq_n_s32(-(by as i32)), vdupq_n_s32(32 - by as i32));
    from_fn(|v| {
        // What the last word takes from the other end of the row does not matter.
        let next = vextq_u32::<1>(row[v], row[(v + 1) % V]);
        vorrq_u32(vshlq_u32(row[v], down), vshlq_u32(next, up))
    })
}

/// The search in rows of `V` vectors.
#[inline]
#[target_feature(enable = "neon")]
fn search<const V: usize>(LineVisit { x, d, y, k, base }: LineVisit<'_>) -> SearchEnd {
    let line = |words: &[u32; 16], v: usize| load(&words.as_chunks::<4>().0[v]);
    let gap_y: &[[u8; 4]; 16] = y.gap(base / 8);
    let by_z: Row<V> = from_fn(|v| vorrq_u32(line(x.by_z(0), v), line(d.by_z(0), v)));
    let gap_y: Row<V> = from_fn(|v| vreinterpretq_u32_u8(load(&gap_y.as_flattened().as_chunks::<16>().0[v])));
    let (by_z, gap_y) = (shifted(by_z, k), shifted(gap_y, base % 8));
    let forbidden: Row<V> = from_fn(|v| {
        let by_gap = vorrq_u32(line(x.by_gap(), v), line(d.by_gap(), v));
        vorrq_u32(vorrq_u32(vorrq_u32(by_z[v], gap_y[v]), line(y.one(), v)), by_gap)
    });
    // Four bits for each word, in a narrow search twice.
    let full = |v: usize| vreinterpretq_u16_u32(vceqq_u32(forbidden[v], vdupq_n_u32(u32::MAX)));
    let halves = |v: usize| vreinterpretq_u8_u16(vuzp1q_u16(full(v), full(v + 1)));
    let full = vreinterpretq_u16_u8(vuzp1q_u8(halves(0), halves(V - 2)));
    let full = vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(full)));
    let word = first_zero(full) / 4;
    let mut words = [0_u32; 16];
    for (words, forbidden) in words.as_chunks_mut::<4>().0.iter_mut().zip(forbidden) {
        store(words, forbidden);
    }
    SearchEnd { word: word as u32, bit: words[word % (4 * V)].trailing_ones() }
}
