//! Codes decoded by byte shuffles of x86-64.

use std::arch::x86_64::*;

use super::decoder::{Decoder, GROUP, LANES, ONE_HOT, PLANES, Planes, Sources, backend, by_planes, group_table};
use crate::machine::isa::tier;
use crate::simd::array_of;

#[cfg(feature = "avx2")]
pub mod avx2 {
    //! Codes decoded by `vpshufb`, 32 heaps at a time.
    //!
    //! `vpshufb` looks up four bits and gives zero where bit 7 is set. There are four groups of 16 codes (two planes each), and bit 7 is
    //! to be set in the codes of the three others. For the highest group and for the lowest one an addition does that: it takes the
    //! codes of the highest one past 0xff, or those of the others past 0x7f. Codes with bit 4 inverted have the two middle groups at
    //! the ends. Two lookups follow.
    //!
    //! Cost per 32 heaps and move: an exclusive OR; for two planes an addition, two lookups, two ORs.
    //! Bound (Zen 4): four vector ports, 1.3 cycles for 64 heaps and a plane.

    use super::*;
    use crate::simd::avx2::{load, store};

    #[tier(Avx2)]
    fn accumulate<const P: usize>(from: &Sources, moves: &[usize], hits: &mut [Planes]) {
        let tables = [load(&group_table::<32>(0)), load(&group_table::<32>(1))];
        // After these additions, bit 7 is set in codes below the highest group, or in codes above the lowest one.
        let (highest, lowest) = (_mm256_set1_epi8(0xd0_u8 as i8), _mm256_set1_epi8(0x70));
        let swap = _mm256_set1_epi8(GROUP as i8);
        for (from, hits) in from.blocks(hits) {
            for half in 0..2 {
                let mut sum = [swap; P];
                for p in 0..P {
                    sum[p] = load(half_of(&hits[p], half));
                }
                for m in moves {
                    let codes = load(half_of(from.behind(*m), half));
                    let swapped = _mm256_xor_si256(codes, swap);
                    let mut low = codes;
                    for (p, sum) in sum.iter_mut().enumerate() {
                        low = match p {
                            0 => _mm256_add_epi8(codes, highest),
                            2 => _mm256_add_epi8(swapped, highest),
                            4 => _mm256_add_epi8(swapped, lowest),
                            6 => _mm256_add_epi8(codes, lowest),
                            _ => low,
                        };
                        *sum = _mm256_or_si256(*sum, _mm256_shuffle_epi8(tables[p % 2], low));
                    }
                }
                for p in 0..P {
                    store::<u8, 32>(&mut hits[p].as_chunks_mut().0[half], sum[p]);
                }
            }
        }
    }

    /// The first or the last bytes of a block.
    #[inline(always)]
    fn half_of(block: &[u8; LANES], half: usize) -> &[u8; LANES / 2] {
        &block.as_chunks().0[half]
    }

    /// The first plane of the values of a block.
    #[inline]
    #[tier(Avx2)]
    pub fn first_plane(codes: &[u8; LANES]) -> [u8; LANES] {
        let (table, highest) = (load(&group_table::<32>(0)), _mm256_set1_epi8(0xd0_u8 as i8));
        let mut plane = [0; LANES];
        for (half, plane) in plane.as_chunks_mut::<{ LANES / 2 }>().0.iter_mut().enumerate() {
            store(plane, _mm256_shuffle_epi8(table, _mm256_add_epi8(load(half_of(codes, half)), highest)));
        }
        plane
    }

    /// The values that are not hit, a word for each heap; bit 63 is clear.
    #[tier(Avx2)]
    pub fn free_words(hits: &Planes, free: &mut [u64; LANES]) {
        let none = _mm256_set1_epi64x(i64::MAX);
        for (half, free) in free.as_chunks_mut::<{ LANES / 2 }>().0.iter_mut().enumerate() {
            let rows = array_of(|p| load(half_of(&hits[p], half)));
            transpose(rows, free, |words| _mm256_andnot_si256(words, none));
        }
    }

    /// Transposes 8 planes of 32 bytes to 32 words: three rounds of interleaving within 128 bits, then an exchange of halves. `finish` is
    /// done to four words at a time.
    #[inline]
    #[tier(Avx2)]
    pub fn transpose(rows: [__m256i; PLANES], words: &mut [u64; 32], finish: impl Fn(__m256i) -> __m256i) {
        let bytes: [__m256i; 8] = array_of(|i| match (rows[i & !1], rows[i | 1]) {
            (x, y) if i % 2 == 0 => _mm256_unpacklo_epi8(x, y),
            (x, y) => _mm256_unpackhi_epi8(x, y),
        });
        let pairs: [__m256i; 8] =
            array_of(|i| match (bytes[i / 4 * 4 + i / 2 % 2], bytes[i / 4 * 4 + i / 2 % 2 + 2]) {
                (x, y) if i % 2 == 0 => _mm256_unpacklo_epi16(x, y),
                (x, y) => _mm256_unpackhi_epi16(x, y),
            });
        // Half h of fours[i] holds the heaps 16 h + 2 i and 16 h + 2 i + 1.
        let fours: [__m256i; 8] = array_of(|i| match (pairs[i / 2], pairs[i / 2 + 4]) {
            (x, y) if i % 2 == 0 => _mm256_unpacklo_epi32(x, y),
            (x, y) => _mm256_unpackhi_epi32(x, y),
        });
        let (low, high) = words.split_at_mut(16);
        for (i, [a, b]) in fours.as_chunks().0.iter().enumerate() {
            for (words, four) in [
                (&mut *low, _mm256_permute2x128_si256::<0x20>(*a, *b)),
                (&mut *high, _mm256_permute2x128_si256::<0x31>(*a, *b)),
            ] {
                store(words[4 * i..].first_chunk_mut::<4>().expect("four heaps"), finish(four));
            }
        }
    }

    #[inline(never)] // compiled here, not where it is used
    #[tier(Avx2)]
    pub fn parts() -> &'static dyn Decoder {
        &backend!(|from, moves, planes, hits| by_planes!(planes, accumulate(from, moves, hits)), free_words)
    }
}

#[cfg(feature = "avx512")]
pub mod avx512 {
    //! Codes decoded by byte permutes: one instruction turns 64 codes into one plane of one-hot bits.
    //!
    //! Two instructions can do this, on different ports: `vpermb` looks the code up in the plane's table of 64 bytes, and
    //! `vpmultishiftqb` shifts the plane's constant, a single bit, by the code. Decoding three of eight planes with the second
    //! loads the vector ports evenly. One `vpternlogq` (OR of three) adds the results of two moves to the accumulator.
    //!
    //! Cost per block, move and plane: one decode and half an OR; one load for all planes.
    //! Bound (Zen 4): the vector ports, with 3 half-width slots at 4 per cycle, so 0.75 cycles; measured 0.81. A load that splits
    //! a line takes 1.8 cycles, so below three planes loads are the bound.

    use super::*;
    use crate::simd::avx512::{load, prefetch, store};

    /// The constants of the decode. They are read through a reference that is opaque to the optimiser, which would otherwise load
    /// them again for each use.
    pub struct Tables {
        pub lookup: Planes,
        shifted: [[u64; 8]; PLANES],
    }

    pub static TABLES: Tables = {
        let mut tables = Tables { lookup: ONE_HOT, shifted: [[0; 8]; PLANES] };
        let mut p = 0;
        while p < PLANES {
            // Rotated by code c, bit 63 - 8 p of the constant ends up at position 63 - 8 p - c.
            tables.shifted[p] = [1 << (63 - 8 * p); 8];
            p += 1;
        }
        tables
    };

    /// Prefetch distance in bytes. Each move reads its lines in order, but the moves take turns, and they are too many for the hardware
    /// prefetcher to follow.
    const PREFETCH_AHEAD: usize = 4 * LANES;

    /// A bit mask of the planes decoded by shifts.
    pub const BY_SHIFT: usize = 0b1001_0010;

    #[tier(Avx512)]
    fn accumulate<const P: usize>(tables: &Tables, from: &Sources, moves: &[usize], hits: &mut [Planes]) {
        let zero = _mm512_setzero_si512();
        let (mut lookup, mut shifted, mut sum) = ([zero; P], [zero; P], [zero; P]);
        for p in 0..P {
            lookup[p] = load(&tables.lookup[p]);
            shifted[p] = load(&tables.shifted[p]);
        }
        let decode = |codes, p: usize| match BY_SHIFT >> p & 1 {
            0 => _mm512_permutexvar_epi8(codes, lookup[p]),
            _ => _mm512_multishift_epi64_epi8(codes, shifted[p]),
        };
        let (pairs, single) = moves.as_chunks::<2>();
        for (from, hits) in from.blocks(hits) {
            for p in 0..P {
                sum[p] = load(&hits[p]);
            }
            for [a, b] in pairs {
                let (a, b) = (from.behind(*a), from.behind(*b));
                prefetch(a, PREFETCH_AHEAD);
                prefetch(b, PREFETCH_AHEAD);
                let (a, b) = (load(a), load(b));
                for (p, sum) in sum.iter_mut().enumerate() {
                    *sum = _mm512_ternarylogic_epi64::<0xfe>(*sum, decode(a, p), decode(b, p));
                }
            }
            for m in single {
                let codes = load(from.behind(*m));
                for (p, sum) in sum.iter_mut().enumerate() {
                    *sum = _mm512_or_si512(*sum, decode(codes, p));
                }
            }
            for p in 0..P {
                store(&mut hits[p], sum[p]);
            }
        }
    }

    /// The values that are not hit, a word for each heap.
    #[tier(Avx512)]
    pub fn free_words(hits: &Planes, free: &mut [u64; LANES]) {
        let none = _mm512_set1_epi64(i64::MAX);
        transpose(hits, free, |words| _mm512_andnot_si512(words, none));
    }

    /// The values that are hit, a word for each heap.
    #[inline]
    #[tier(Avx512)]
    pub fn hit_words(hits: &Planes, words: &mut [u64; LANES]) {
        transpose(hits, words, |words| words);
    }

    /// Transposes 8 planes of 64 bytes to 64 words: three rounds of interleaving within 128-bit quarters, then a transposition of
    /// the quarters. `finish` is done to eight words at a time.
    #[inline]
    #[tier(Avx512)]
    fn transpose(hits: &Planes, words: &mut [u64; LANES], finish: impl Fn(__m512i) -> __m512i) {
        let rows: [__m512i; 8] = array_of(|p| load(&hits[p]));
        let bytes: [__m512i; 8] = array_of(|i| match (rows[i & !1], rows[i | 1]) {
            (x, y) if i % 2 == 0 => _mm512_unpacklo_epi8(x, y),
            (x, y) => _mm512_unpackhi_epi8(x, y),
        });
        let pairs: [__m512i; 8] =
            array_of(|i| match (bytes[i / 4 * 4 + i / 2 % 2], bytes[i / 4 * 4 + i / 2 % 2 + 2]) {
                (x, y) if i % 2 == 0 => _mm512_unpacklo_epi16(x, y),
                (x, y) => _mm512_unpackhi_epi16(x, y),
            });
        // Quarter q of fours[i] holds the heaps 16 q + 2 i and 16 q + 2 i + 1.
        let fours: [__m512i; 8] = array_of(|i| match (pairs[i / 2], pairs[i / 2 + 4]) {
            (x, y) if i % 2 == 0 => _mm512_unpacklo_epi32(x, y),
            (x, y) => _mm512_unpackhi_epi32(x, y),
        });
        for half in 0..2 {
            let [a, b, c, d] = *fours[4 * half..].first_chunk().expect("two halves");
            let (ab, cd) = (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0x44>(c, d));
            let (ab_high, cd_high) = (_mm512_shuffle_i64x2::<0xee>(a, b), _mm512_shuffle_i64x2::<0xee>(c, d));
            let quarters = [
                _mm512_shuffle_i64x2::<0x88>(ab, cd),
                _mm512_shuffle_i64x2::<0xdd>(ab, cd),
                _mm512_shuffle_i64x2::<0x88>(ab_high, cd_high),
                _mm512_shuffle_i64x2::<0xdd>(ab_high, cd_high),
            ];
            for (q, quarter) in quarters.into_iter().enumerate() {
                let at: &mut [u64; 8] = words[16 * q + 8 * half..].first_chunk_mut().expect("inside the block");
                store(at, finish(quarter));
            }
        }
    }

    #[inline(never)] // compiled here, not where it is used
    #[tier(Avx512)]
    pub fn parts() -> &'static dyn Decoder {
        &backend!(
            |from, moves, planes, hits| {
                let tables = std::hint::black_box(&TABLES);
                by_planes!(planes, accumulate(tables, from, moves, hits));
            },
            free_words
        )
    }

    #[cfg(test)]
    mod tests {
        use super::super::super::decoder::WINDOW;
        use super::*;
        use crate::simd::avx512::model::multishift;

        /// But for code 0, which is no value: the shift sets bit 63, which no word of free values has.
        #[test]
        fn a_code_is_shifted_to_what_is_looked_up() {
            for (lookup, shifted) in TABLES.lookup.iter().zip(TABLES.shifted) {
                for code in 1..=WINDOW {
                    assert_eq!(multishift(shifted[code % 8], code as u8), lookup[code], "code {code}");
                }
            }
        }
    }
}
