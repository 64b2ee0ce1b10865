//! A row of marks in four vectors.
//!
//! A shifted row is two or three shifts of each word by a register; the word after it comes from the next vector.
//!
//! Cost: six lines per search, each of them four loads; `1.3` searches per P-position.
//! Bound: the vector ports; two of four can shift on Neoverse V2.

use super::{LineVisit, Parts, Search, SearchEnd};
use crate::simd::array_of;
use crate::simd::v128::{Vector, full_words, load, load_bytes, next_lanes, store};

/// The parts of these tiers.
#[inline(always)]
pub fn parts() -> Parts<impl Search, impl Search> {
    Parts { wide: search::<4>, narrow: search::<2> }
}

/// Words of a row, in vectors of four.
type Row<const V: usize> = [Vector<u32>; V];

/// The 32 bits from bit `by` of each word on.
#[inline(always)]
fn shifted<const V: usize>(row: Row<V>, by: usize) -> Row<V> {
    // What the last word takes from the other end of the row does not matter.
    array_of(|v| row[v].funnel(next_lanes(row[v], row[(v + 1) % V]), by))
}

/// The search in rows of `V` vectors.
#[inline(always)]
fn search<const V: usize>(LineVisit { x, d, y, k, base }: LineVisit<'_>) -> SearchEnd {
    let line = |words: &[u32; 16], v: usize| load(&words.as_chunks::<4>().0[v]);
    let gap_y: &[[u8; 4]; 16] = y.gap(base / 8);
    let by_z: Row<V> = array_of(|v| line(x.by_z(0), v) | line(d.by_z(0), v));
    let gap_y: Row<V> = array_of(|v| load_bytes(&gap_y.as_flattened().as_chunks().0[v]));
    let (by_z, gap_y) = (shifted(by_z, k), shifted(gap_y, base % 8));
    let forbidden: Row<V> =
        array_of(|v| by_z[v] | gap_y[v] | line(y.one(), v) | (line(x.by_gap(), v) | line(d.by_gap(), v)));
    let word = full_words(forbidden);
    let mut words = [0_u32; 16];
    for (words, forbidden) in words.as_chunks_mut::<4>().0.iter_mut().zip(forbidden) {
        store(words, forbidden);
    }
    SearchEnd { word: word as u32, bit: words[word % (4 * V)].trailing_ones() }
}
