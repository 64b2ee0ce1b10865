//! The parts of x86-64, by tier.

use std::arch::x86_64::*;

use super::chain::SHORT;
use super::codes::{LANES, Move, codes_at, one_hot};
use super::window::{CODES, CodeBlock, Moves, WindowOps};
use super::{Backend, Planes, compiled};
use crate::machine::isa::tier;
use crate::simd::array_of;

/// Lookups of four bits.
///
/// *Blocks.* Two lookups by the low four bits of a code give the one-hot bytes of the two planes of every group of 16 codes, for 32 heaps; a
/// comparison of the high four bits selects the group.
///
/// *Windows.* An XOR with the code of the heap that is left, and with the number of a group of 16, leaves the codes of this group below 16. An
/// addition with saturation then sets bit 7 in all others, for which `vpshufb` gives zero.
///
/// Cost for 32 heaps, a move and two planes: blocks a comparison, two ANDs, two ORs; windows an XOR, an addition, two lookups, two ORs.
/// Bound: the four vector ports; 4.5 cycles for a move of a window with six planes (Zen 3).
#[cfg(feature = "avx2")]
pub mod avx2 {
    use super::super::BlockOps;
    use super::super::portable::{is_split, search, tests};
    use super::*;
    use crate::cores::mex::lanes::avx2::{free_words, transpose};
    use crate::simd::avx2::{load, store};
    use crate::simd::mapped;

    #[inline]
    #[tier(Avx2)]
    fn decode(codes: &[u8], n: usize, moves: &[Move], planes: usize, hits: &mut Planes) {
        let tables = [load(&one_hot::<32>(0)), load(&one_hot::<32>(1))];
        let nibble = _mm256_set1_epi8(0x0f);
        // Eight planes at a time stay in registers, with what they need.
        for (first, planes) in (0..planes).step_by(8).zip(hits.chunks_exact_mut(8)) {
            for half in 0..2 {
                let mut sum: [__m256i; 8] =
                    array_of(|p| load::<u8, 32>(planes[p].as_chunks().0[half..].first().expect("two halves")));
                for m in moves {
                    let source = codes_at::<LANES>(codes, n - m.shift);
                    let code = load::<u8, 32>(&source.as_chunks().0[half]);
                    let code = _mm256_xor_si256(code, _mm256_set1_epi64x(m.code as i64));
                    let hot = mapped(tables, |table| _mm256_shuffle_epi8(table, _mm256_and_si256(code, nibble)));
                    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(code), nibble);
                    for (group, sum) in sum.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                        let is_here = _mm256_cmpeq_epi8(high, _mm256_set1_epi8((first / 2 + group) as i8));
                        for (sum, hot) in sum.iter_mut().zip(hot) {
                            *sum = _mm256_or_si256(*sum, _mm256_and_si256(hot, is_here));
                        }
                    }
                }
                for (plane, sum) in planes.iter_mut().zip(sum) {
                    store::<u8, 32>(&mut plane.as_chunks_mut().0[half], sum);
                }
            }
        }
    }

    #[tier(Avx2)]
    pub fn parts() -> Backend {
        compiled!("greedy_avx2", "candidates", block_ops(), window_ops())
    }

    #[inline]
    #[tier(Avx2)]
    fn block_ops() -> BlockOps {
        BlockOps {
            planes: |least: usize| least.next_multiple_of(8),
            decode: |codes: &_, n, moves: &_, planes, hits: &mut _| decode(codes, n, moves, planes, hits),
            words: |hits: &_, free: &mut _| free_words(hits, free),
            tests: |codes: &_, n, moves: &_, tested: &_| tests(codes, n, moves, tested),
            search: |a: &_, b: &_, unresolved: &mut _| search(a, b, unresolved),
        }
    }

    /// Heaps of a block.
    const HEAPS: usize = 32;

    /// Codes of one group.
    const GROUP: usize = 16;

    #[inline]
    #[tier(Avx2)]
    fn block<const G: usize>(codes: &[u8], n: usize, moves: &Moves, words: &mut [u64]) {
        let tables = [load(&one_hot::<32>(0)), load(&one_hot::<32>(1))];
        let others = _mm256_set1_epi8(0x80_u8.wrapping_sub(GROUP as u8) as i8);
        let mut sums = [[_mm256_setzero_si256(); 2]; 4];
        for (code, shifts) in moves.groups() {
            let groups: [__m256i; G] = array_of(|g| _mm256_set1_epi8((code ^ (GROUP * g) as u8) as i8));
            for shift in shifts {
                let from = load::<u8, HEAPS>(codes_at(codes, n - shift));
                for (sums, group) in sums.iter_mut().zip(&groups) {
                    let low = _mm256_adds_epu8(_mm256_xor_si256(from, *group), others);
                    for (sum, table) in sums.iter_mut().zip(&tables) {
                        *sum = _mm256_or_si256(*sum, _mm256_shuffle_epi8(*table, low));
                    }
                }
            }
        }
        transpose(array_of(|p| sums[p / 2][p % 2]), words.try_into().expect("a block"), |words| words);
    }

    /// Words of 16 heaps: four are shifted at once.
    #[inline]
    #[tier(Avx2)]
    fn short(codes: &[u8], n: usize, moves: &[Move], words: &mut [u64; SHORT]) {
        let one = _mm256_set1_epi64x(1);
        let mut sums: [__m256i; 4] = array_of(|i| load::<u64, 4>(&words.as_chunks().0[i]));
        for m in moves {
            let from = codes_at::<SHORT>(codes, n - m.shift);
            for (sum, from) in sums.iter_mut().zip(from.as_chunks::<4>().0) {
                let four = _mm_cvtsi32_si128(i32::from_le_bytes(*from) ^ m.code as i32);
                *sum = _mm256_or_si256(*sum, _mm256_sllv_epi64(one, _mm256_cvtepu8_epi64(four)));
            }
        }
        for (words, sum) in words.as_chunks_mut().0.iter_mut().zip(sums) {
            store::<u64, 4>(words, sum);
        }
    }

    #[inline]
    #[tier(Avx2)]
    fn window_ops() -> WindowOps {
        WindowOps {
            size: HEAPS,
            has_planes: true,
            worth: 0.006,
            block: |codes, n, moves, planes, words| match planes.div_ceil(2) {
                0 | 1 => block::<1>(codes, n, moves, words),
                2 => block::<2>(codes, n, moves, words),
                3 => block::<3>(codes, n, moves, words),
                _ => block::<4>(codes, n, moves, words),
            },
            short: |codes, n, moves, _, words| short(codes, n, moves, words),
            is_split: |a, b, code| is_split(a, b, code),
        }
    }
}

/// Permutes of 64 bytes.
///
/// *Blocks.* `vpermb` looks at the low six bits of a code, so one permute of a table gives the one-hot byte of eight codes in each of the
/// four groups of 64. Two affine maps spread bits 7 and 6 to byte masks, which select the group. One `vpternlogq` ORs the byte into the plane
/// where the mask is set.
///
/// *Windows.* A permute of a table that a group of moves shares gives the one-hot byte of a plane, eight codes of 64 heaps. The code of the
/// group is built into its table, so no move needs an XOR, and `vpternlogq` ORs what two moves reach.
///
/// Cost for a move and 64 heaps, with `P` planes: blocks a load, an XOR, two maps, four masks, eight permutes and `P` ternary operations;
/// windows a load, `P` permutes and `P / 2` ternary operations.
/// Bound: the vector ports, `P + 15` operations of two halves at four halves per cycle in blocks (Zen 4), 16 cycles for `P = 17`; in windows
/// the permutes, two a cycle on Zen 5, one on Intel.
#[cfg(feature = "avx512")]
pub mod avx512 {
    use super::super::{BlockOps, Chunk, PLANES, TESTED};
    use super::*;
    use crate::cores::mex::lanes::avx512::{free_words, hit_words};
    use crate::cores::mex::lanes::by_planes;
    use crate::simd::avx512::{load, store};
    use crate::simd::mapped;

    /// Calls `f::<planes>(..)` for the numbers of planes that [`planes`] gives: compiled for each, the planes stay in registers.
    macro_rules! by_block_planes {
        ($planes:expr, $f:ident($($argument:expr),*)) => {
            match $planes {
                1..=2 => $f::<2>($($argument),*),
                3..=4 => $f::<4>($($argument),*),
                5..=6 => $f::<6>($($argument),*),
                7..=8 => $f::<8>($($argument),*),
                9..=10 => $f::<10>($($argument),*),
                11..=12 => $f::<12>($($argument),*),
                13..=14 => $f::<14>($($argument),*),
                15 => $f::<15>($($argument),*),
                16 => $f::<16>($($argument),*),
                17 => $f::<17>($($argument),*),
                18 => $f::<18>($($argument),*),
                19..=20 => $f::<20>($($argument),*),
                21..=24 => $f::<24>($($argument),*),
                _ => $f::<32>($($argument),*),
            }
        };
    }

    const fn itself<const P: usize>() -> usize {
        P
    }

    /// The number of planes that are decoded for at least this many.
    const fn planes(least: usize) -> usize {
        by_block_planes!(least, itself())
    }

    // As many are decoded as are asked for.
    const _: () = {
        let mut least = 1;
        while least <= PLANES {
            assert!(least <= planes(least) && planes(least) <= PLANES && planes(planes(least)) == planes(least));
            least += 1;
        }
    };

    /// For each plane of a group, the one-hot bit of a code, as registers.
    #[inline]
    #[tier(Avx512)]
    fn tables() -> [__m512i; 8] {
        let tables = std::hint::black_box(&WINDOW_TABLES[0]);
        array_of(|j| load(&tables[j]))
    }

    #[inline]
    #[tier(Avx512)]
    fn decode<const P: usize>(codes: &[u8], n: usize, moves: &[Move], hits: &mut Planes) {
        let table = tables();
        let mut sum = [_mm512_setzero_si512(); P];
        for (sum, plane) in sum.iter_mut().zip(hits.iter()) {
            *sum = load(plane);
        }
        for m in moves {
            let (code, group) = reached(codes, n, m);
            for (j, table) in table.iter().enumerate().take(P) {
                let hot = _mm512_permutexvar_epi8(code, *table);
                let mut p = j;
                while p < P {
                    sum[p] = _mm512_ternarylogic_epi64::<0xf8>(sum[p], hot, group[p / 8]);
                    p += 8;
                }
            }
        }
        for (plane, sum) in hits.iter_mut().zip(&sum) {
            store(plane, *sum);
        }
    }

    /// The codes that a move reaches from the block at `n`, and for each group of 64 codes the mask of those in it.
    #[inline]
    #[tier(Avx512)]
    fn reached(codes: &[u8], n: usize, m: &Move) -> (__m512i, [__m512i; 4]) {
        let source = codes_at::<LANES>(codes, n - m.shift);
        let code = _mm512_xor_si512(load(source), _mm512_set1_epi64(m.code as i64));
        // Every bit of a result byte is bit 7, or bit 6, of the source byte.
        let high = _mm512_gf2p8affine_epi64_epi8::<0>(code, _mm512_set1_epi64(0x8080_8080_8080_8080_u64 as i64));
        let low = _mm512_gf2p8affine_epi64_epi8::<0>(code, _mm512_set1_epi64(0x4040_4040_4040_4040));
        let groups = [
            _mm512_ternarylogic_epi64::<0x03>(high, low, low),
            _mm512_andnot_si512(high, low),
            _mm512_andnot_si512(low, high),
            _mm512_and_si512(high, low),
        ];
        (code, groups)
    }

    /// The least of the XORs of all moves with the tested code is 0 if one of them reaches it.
    #[inline]
    #[tier(Avx512)]
    fn tests(codes: &[u8], n: usize, moves: &[Move], tested: &[[u8; LANES]; TESTED]) -> [u64; TESTED] {
        let tested: [__m512i; TESTED] = array_of(|i| load(&tested[i]));
        let mut least = [_mm512_set1_epi8(-1); TESTED];
        for m in moves {
            let source = codes_at::<LANES>(codes, n - m.shift);
            let (source, code) = (load(source), _mm512_set1_epi64(m.code as i64));
            for (least, tested) in least.iter_mut().zip(tested) {
                *least = _mm512_min_epu8(*least, _mm512_ternarylogic_epi64::<0x96>(source, code, tested));
            }
        }
        mapped(least, |least| _mm512_testn_epi8_mask(least, least))
    }

    #[inline]
    #[tier(Avx512)]
    fn search(a: &Chunk, b: &Chunk, unresolved: &mut [u8]) -> usize {
        let (a, b) = (a.as_chunks::<64>().0, b.as_chunks::<64>().0);
        let sums: [__m512i; 4] = array_of(|i| _mm512_xor_si512(load(&a[i]), load(&b[i])));
        let mut kept = 0;
        for i in 0..unresolved.len() {
            let code = _mm512_set1_epi8(unresolved[i] as i8);
            let hits = sums.iter().fold(0, |hits, sum| hits | _mm512_cmpeq_epi8_mask(*sum, code));
            unresolved[kept] = unresolved[i];
            kept += usize::from(hits == 0);
        }
        kept
    }

    #[tier(Avx512)]
    pub fn parts() -> Backend {
        compiled!("greedy_avx512", "candidates_avx512", block_ops(), window_ops())
    }

    #[inline]
    #[tier(Avx512)]
    fn block_ops() -> BlockOps {
        BlockOps {
            planes,
            decode: |codes: &_, n, moves: &_, planes, hits: &mut _| {
                by_block_planes!(planes, decode(codes, n, moves, hits))
            },
            words: |hits: &_, free: &mut _| free_words(hits, free),
            tests: |codes: &_, n, moves: &_, tested: &_| tests(codes, n, moves, tested),
            search: |a: &_, b: &_, unresolved: &mut _| search(a, b, unresolved),
        }
    }

    /// For each code of a group and each plane, the one-hot bits of the XOR with each code.
    static WINDOW_TABLES: [[CodeBlock; CODES / 8]; CODES] = {
        let mut tables = [[[0; LANES]; CODES / 8]; CODES];
        let mut code = 0;
        while code < CODES {
            let mut other = 0;
            while other < CODES {
                let reached = code ^ other;
                tables[code][reached / 8][other] = 1 << (reached % 8);
                other += 1;
            }
            code += 1;
        }
        tables
    };

    /// The codes that moves reach from the block at `n`, as planes.
    #[inline]
    #[tier(Avx512)]
    fn accumulate<const P: usize>(codes: &[u8], n: usize, moves: &Moves) -> [__m512i; P] {
        let mut sums = [_mm512_setzero_si512(); P];
        for (code, shifts) in moves.groups() {
            let tables: [__m512i; P] = array_of(|p| load(&WINDOW_TABLES[usize::from(code) % CODES][p]));
            let (pairs, last) = shifts.as_chunks();
            for [a, b] in pairs {
                let (a, b) = (load::<u8, LANES>(codes_at(codes, n - a)), load::<u8, LANES>(codes_at(codes, n - b)));
                for (sum, table) in sums.iter_mut().zip(&tables) {
                    let (a, b) = (_mm512_permutexvar_epi8(a, *table), _mm512_permutexvar_epi8(b, *table));
                    *sum = _mm512_ternarylogic_epi64::<0xfe>(*sum, a, b);
                }
            }
            if let [shift] = last {
                let a = load::<u8, LANES>(codes_at(codes, n - shift));
                for (sum, table) in sums.iter_mut().zip(&tables) {
                    *sum = _mm512_or_si512(*sum, _mm512_permutexvar_epi8(a, *table));
                }
            }
        }
        sums
    }

    #[inline]
    #[tier(Avx512)]
    fn block<const P: usize>(codes: &[u8], n: usize, moves: &Moves, words: &mut [u64]) {
        let mut bytes = [[0; LANES]; 8];
        for (bytes, plane) in bytes.iter_mut().zip(&accumulate::<P>(codes, n, moves)) {
            store(bytes, *plane);
        }
        to_words(&bytes, P, words.try_into().expect("a block"));
    }

    /// The words of planes: interleaved bytes, pairs and fours within quarters, then the quarters in order.
    #[inline]
    #[tier(Avx512)]
    fn to_words(bytes: &[[u8; LANES]; 8], planes: usize, words: &mut [u64; LANES]) {
        if planes <= 2 {
            // Two vectors of 32 words of 16 bits, eight words widened at once.
            let low = _mm512_unpacklo_epi8(load(&bytes[0]), load(&bytes[1]));
            let high = _mm512_unpackhi_epi8(load(&bytes[0]), load(&bytes[1]));
            for (i, words) in words.as_chunks_mut::<16>().0.iter_mut().enumerate() {
                let (first, last) = words.split_at_mut(8);
                store::<u64, 8>(first.try_into().expect("eight"), _mm512_cvtepu16_epi64(quarter(low, i)));
                store::<u64, 8>(last.try_into().expect("eight"), _mm512_cvtepu16_epi64(quarter(high, i)));
            }
            return;
        }
        hit_words(bytes, words);
    }

    #[inline]
    #[tier(Avx512)]
    fn quarter(all: __m512i, i: usize) -> __m128i {
        match i {
            0 => _mm512_extracti32x4_epi32::<0>(all),
            1 => _mm512_extracti32x4_epi32::<1>(all),
            2 => _mm512_extracti32x4_epi32::<2>(all),
            _ => _mm512_extracti32x4_epi32::<3>(all),
        }
    }

    /// 16 heaps, a word of 32 or of 64 bits each.
    #[inline]
    #[tier(Avx512)]
    fn short(codes: &[u8], n: usize, moves: &[Move], planes: usize, words: &mut [u64; SHORT]) {
        let (low, high) = words.split_at_mut(SHORT / 2);
        let (low, high): (&mut [u64; 8], &mut [u64; 8]) =
            (low.try_into().expect("half"), high.try_into().expect("half"));
        let at = |m: &Move| {
            let from = codes_at::<SHORT>(codes, n - m.shift);
            _mm_xor_si128(load_16(from), _mm_set1_epi8(m.code as i8))
        };
        if planes <= 4 {
            let (one, mut sum) = (_mm512_set1_epi32(1), _mm512_setzero_si512());
            for m in moves {
                sum = _mm512_or_si512(sum, _mm512_sllv_epi32(one, _mm512_cvtepu8_epi32(at(m))));
            }
            let halves = mapped([_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum)], |half| {
                _mm512_cvtepu32_epi64(half)
            });
            store(low, _mm512_or_si512(load(low), halves[0]));
            store(high, _mm512_or_si512(load(high), halves[1]));
        } else {
            let one = _mm512_set1_epi64(1);
            let mut sums = [load(low), load(high)];
            for m in moves {
                let codes = at(m);
                let halves = [codes, _mm_unpackhi_epi64(codes, codes)];
                for (sum, half) in sums.iter_mut().zip(halves) {
                    *sum = _mm512_or_si512(*sum, _mm512_sllv_epi64(one, _mm512_cvtepu8_epi64(half)));
                }
            }
            store(low, sums[0]);
            store(high, sums[1]);
        }
    }

    #[inline]
    #[tier(Avx512)]
    fn load_16(from: &[u8; SHORT]) -> __m128i {
        let (low, high) = from.split_at(8);
        let word = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        _mm_set_epi64x(word(high), word(low))
    }

    #[inline]
    #[tier(Avx512)]
    fn is_split(a: &CodeBlock, b: &CodeBlock, code: u8) -> bool {
        _mm512_cmpeq_epi8_mask(_mm512_xor_si512(load(a), load(b)), _mm512_set1_epi8(code as i8)) != 0
    }

    #[inline]
    #[tier(Avx512)]
    fn window_ops() -> WindowOps {
        WindowOps {
            size: LANES,
            has_planes: true,
            worth: 0.002,
            block: |codes, n, moves, planes, words| by_planes!(planes, block(codes, n, moves, words)),
            short: |codes, n, moves, planes, words| short(codes, n, moves, planes, words),
            is_split: |a, b, code| is_split(a, b, code),
        }
    }
}
