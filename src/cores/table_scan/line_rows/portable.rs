//! Rows of a cache line in the 128-bit vectors of NEON and WebAssembly, and in those of the crate `wide`.

use super::{LineVisit, Parts, Search, SearchEnd};

#[cfg(any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128")))]
pub mod v128 {
    //! A row of marks in four vectors.
    //!
    //! A shifted row is two or three shifts of each word by a register; the word after it comes from the next vector.
    //!
    //! Cost: six lines per search, each of them four loads; `1.3` searches per P-position.
    //! Bound: the vector ports; two of four can shift on Neoverse V2.

    use super::*;
    use crate::simd::array_of;
    use crate::simd::v128::{Vector, full_words, load, load_bytes, next_lanes, store};

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
}

#[cfg(feature = "wide")]
pub mod wide {
    //! A row of marks in one portable vector of the crate `wide`, which the build maps to one register of AVX-512, two of AVX2 or four
    //! of SSE2.
    //!
    //! `wide` has no funnel shift, so a shifted row is loaded twice, the second time from the next word on. Words have 32
    //! bits, because SSE2 cannot compare longer ones. The word in which a search ends is read from memory, because a lane
    //! cannot be extracted from a vector by a variable index.
    //!
    //! Cost: nine loads of a line per search, four of which straddle two lines; `1.3` searches per P-position.
    //! Bound: in a native build loads, as in `line_rows_avx512`; in a default one the operations of a search, each of them
    //! four times.

    use super::*;
    use ::wide::{u32x8, u32x16};

    #[inline(always)]
    pub fn parts() -> Parts<impl Search, impl Search> {
        Parts { wide: search, narrow: search_narrow }
    }

    macro_rules! search {
        ($search:ident, $words:literal, $vector:ident) => {
            #[inline(always)]
            fn $search(LineVisit { x, d, y, k, base }: LineVisit<'_>) -> SearchEnd {
                let load = |words: &[u32; $words]| $vector::new(*words);
                let by_z = |word| load(x.by_z(word)) | load(d.by_z(word));
                let gap_y = |byte| load(&y.gap(byte).map(u32::from_le_bytes));
                let funnel = |low: $vector, high: $vector, shift: usize| {
                    low >> shift as u32 | high << 1_u32 << (31 - shift) as u32
                };
                let forbidden: $vector = funnel(by_z(0), by_z(1), k)
                    | funnel(gap_y(base / 8), gap_y(base / 8 + 4), base % 8)
                    | load(y.one())
                    | load(x.by_gap())
                    | load(d.by_gap());
                let word = forbidden.simd_eq($vector::splat(u32::MAX)).to_bitmask().trailing_ones();
                SearchEnd { word, bit: forbidden.to_array()[word as usize % $words].trailing_ones() }
            }
        };
    }
    search!(search, 16, u32x16);
    search!(search_narrow, 8, u32x8);
}
