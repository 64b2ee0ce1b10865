//! The blocks in assembly, and spans prepared and finished in 512-bit vectors. A masked copy opens the candidates of eight
//! heaps at a time; picks are found and bits counted eight words at a time. Rows of the upper beam grow by 128 flags at
//! a time: looked up by fours, joined by shifts that differ from lane to lane, and compressed to bytes without gaps.
//! That takes half the time of eight pieces one after another.
//!
//! Cost: that of `asm`, with fewer instructions outside the blocks.
//! Bound: the blocks, five and a quarter cycles a step. Of the two cycles that remain around them, one goes into
//! finishing, which first waits for the last picks.

use std::arch::x86_64::*;

use super::asm::{blocks, interleave};
use super::block::{BLOCK, Block, PAD, SpanRow};
use super::engine::{Blocks, WORDS};
use super::plain::{DIGITS, Loops, loops};
use super::upper_beam::{RowEnd, Substitution};
use crate::machine::isa::tier;
use crate::simd::avx512::{load, store};
use crate::simd::{array_of, mapped};

/// `plain::open`.
#[inline]
#[tier(Avx512)]
fn open(used: u64, blocks: &mut Blocks) {
    const FLOORS: [u64; BLOCK] = {
        let mut floors = [0; BLOCK];
        let mut j = 0;
        while j < BLOCK {
            floors[j] = u64::MAX << (PAD + j);
            j += 1;
        }
        floors
    };
    let (floors, _) = FLOORS.as_chunks::<8>();
    for (i, block) in blocks.iter_mut().enumerate() {
        let (halves, _) = block.open.as_chunks_mut::<8>();
        for (j, half) in halves.iter_mut().enumerate() {
            let unused = !(used >> (BLOCK * i + 8 * j)) as u8;
            store(half, _mm512_maskz_mov_epi64(unused, load(&floors[j])));
        }
    }
}

/// `plain::lower`.
#[inline]
#[tier(Avx512)]
fn lower(blocks: &Blocks) -> u64 {
    let picked = |block: &Block| {
        let (halves, _) = block.picks.as_chunks::<8>();
        let [low, high] = mapped([load(&halves[0]), load(&halves[1])], |picks| _mm512_test_epi64_mask(picks, picks));
        _mm512_kunpackb(high.into(), low.into())
    };
    let [a, b, c, d] = array_of(|i| picked(&blocks[i]));
    let [low, high] = [_mm512_kunpackw(b.into(), a.into()), _mm512_kunpackw(d.into(), c.into())];
    _mm512_kunpackd(high.into(), low.into())
}

/// `plain::sum_of_bits`.
#[inline]
#[tier(Avx512)]
fn sum_of_bits(words: &[u64; WORDS]) -> [u64; 2] {
    let words = load(words);
    let count = _mm512_popcnt_epi64(words);
    // Within the words by Horner's rule, then the words themselves.
    let digits =
        mapped(DIGITS, |numbers| _mm512_popcnt_epi64(_mm512_and_si512(words, _mm512_set1_epi64(numbers as i64))));
    let mut within = digits[DIGITS.len() - 1];
    let mut i = DIGITS.len() - 1;
    while i > 0 {
        i -= 1;
        within = _mm512_add_epi64(_mm512_add_epi64(within, within), digits[i]);
    }
    let sum = _mm512_add_epi64(within, _mm512_mul_epu32(count, load(&const { lanes(0, 64, 8) })));
    // One sum for both: there are at most 512 bits, and their numbers add up to less than `2^32`.
    let both = _mm512_reduce_add_epi64(_mm512_add_epi64(_mm512_slli_epi64::<32>(count), sum)) as u64;
    [both >> 32, both & u64::from(u32::MAX)]
}

/// Flags of a lane in [`append`].
const FLAGS: u64 = 16;
/// The lanes of the second word of flags.
const SECOND: u8 = 0xf0;
/// The lanes that leave the rest of their last byte to the next one.
const ALL_BUT_LAST: u8 = 0x7f;
/// The bit at which each of the four nibbles of a lane begins in its word of flags, in both bytes of a quarter of the lane.
const NIBBLES: [u64; 8] = lanes(0x0c0c_0808_0404_0000, FLAGS * 0x0101_0101_0101_0101, 4);
/// How far a word of flags is shifted up, so that only those before the lane remain.
const BEFORE: [u64; 8] = lanes(u64::BITS as u64, FLAGS.wrapping_neg(), 4);
/// For each byte the place of the lowest byte of its lane, within two lanes.
const LOWEST_BYTE: [u64; 8] = lanes(0, 0x0808_0808_0808_0808, 2);
/// For each byte of a lane the bits up to its end: it is whole if the lane has as many.
const WHOLE: i64 = 0x4038_3028_2018_1008;

/// As `append_plain`, sixteen flags a lane.
///
/// Tables map four flags to their image. Shifts join the pieces two by two until a lane holds the image of its flags.
/// The lane moves up to where it begins in a byte of the row, the rest of its last byte goes to the next lane, and the
/// whole bytes of all lanes are compressed into one string.
#[inline]
#[tier(Avx512)]
pub fn append(row: &mut SpanRow, end: RowEnd, [first, second]: [u64; 2], substitution: &Substitution) {
    let first = _mm512_set1_epi64(first as i64);
    let words = _mm512_mask_set1_epi64(first, SECOND, second as i64);
    let nibbles = {
        let nibbles = _mm512_multishift_epi64_epi8(load(&NIBBLES), words);
        _mm512_and_si512(nibbles, _mm512_set1_epi16(0xf))
    };

    // The length of each piece, and where in the row each lane begins.
    let zeros = substitution.zeros as i32;
    let fours = _mm512_add_epi16(_mm512_popcnt_epi16(nibbles), _mm512_set1_epi16(zeros as i16 / 4));
    let eights = _mm512_add_epi32(_mm512_popcnt_epi32(nibbles), _mm512_set1_epi32(zeros / 2));
    let length = _mm512_add_epi64(_mm512_popcnt_epi64(nibbles), _mm512_set1_epi64(zeros.into()));
    let begin = {
        let before = _mm512_sllv_epi64(words, load(&BEFORE));
        let ones = _mm512_add_epi64(_mm512_popcnt_epi64(before), _mm512_maskz_popcnt_epi64(SECOND, first));
        let zeros = _mm512_mul_epu32(load(&const { lanes(0, 1, 8) }), _mm512_set1_epi64(zeros.into()));
        _mm512_add_epi64(_mm512_add_epi64(ones, zeros), _mm512_set1_epi64(end.fill.into()))
    };
    let fill = _mm512_and_si512(begin, _mm512_set1_epi64(7));
    let length = _mm512_add_epi64(length, fill);

    let low = |piece, mask| _mm512_and_si512(piece, mask);
    let images = _mm512_cvtepi32_epi16(load(substitution.images.first_chunk::<16>().expect("256 images")));
    let images = _mm512_permutexvar_epi16(nibbles, _mm512_broadcast_i64x4(images));
    let mask = _mm512_set1_epi32(0xffff);
    let high = _mm512_sllv_epi32(_mm512_srli_epi32::<16>(images), low(fours, mask));
    let images = _mm512_or_si512(low(images, mask), high);
    let mask = _mm512_set1_epi64(0xffff_ffff);
    let high = _mm512_sllv_epi64(_mm512_srli_epi64::<32>(images), low(eights, mask));
    let images = _mm512_or_si512(low(images, mask), high);

    // The rest of each last byte goes before the next lane, and the last byte of the row before the first.
    let images = _mm512_sllv_epi64(images, fill);
    let rest = _mm512_srlv_epi64(images, _mm512_andnot_si512(_mm512_set1_epi64(7), length));
    let images = _mm512_or_si512(images, _mm512_alignr_epi64::<7>(rest, _mm512_set1_epi64(end.last(row) as i64)));
    // Whole bytes; the last lane also has its last byte.
    let length = _mm512_shuffle_epi8(length, load(&LOWEST_BYTE));
    let whole = _mm512_cmple_epu8_mask(_mm512_maskz_set1_epi64(ALL_BUT_LAST, WHOLE), length);
    store(row.bytes_mut(end.length), _mm512_maskz_compress_epi8(whole, images));
}

/// `first`, and `step` more for each lane; starts again after `period` lanes.
const fn lanes(first: u64, step: u64, period: u64) -> [u64; 8] {
    let (mut lanes, mut i) = ([0; 8], 0);
    while i < 8 {
        lanes[i as usize] = first.wrapping_add(step.wrapping_mul(i % period));
        i += 1;
    }
    lanes
}

#[tier(Avx512)]
pub fn parts() -> Loops {
    loops!(append, interleave, open, blocks, lower, sum_of_bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::avx512::model::multishift;

    /// The constants of [`append`], with plain operations in place of its instructions.
    #[test]
    fn every_lane_has_its_flags() {
        let flags: [u64; 2] = [0x0123_4567_89ab_cdef, 0x1e2d_3c4b_5a69_7887];
        for lane in 0..8 {
            let word = flags[usize::from(SECOND >> lane & 1)];
            let shift = FLAGS as usize * (lane % 4);
            assert_eq!(word, flags[lane / 4]);
            for (quarter, at) in NIBBLES[lane].to_le_bytes().as_chunks::<2>().0.iter().enumerate() {
                let nibble = (word >> (shift + 4 * quarter) & 0xf) as u8;
                assert_eq!(at.map(|at| multishift(word, at) & 0xf), [nibble; 2], "lane {lane}, nibble {quarter}");
            }
            // A shift by 64 gives zero.
            let before = word.checked_shl(BEFORE[lane] as u32).unwrap_or_default();
            assert_eq!(before.count_ones(), (word & !(u64::MAX << shift)).count_ones(), "lane {lane}");
            assert_eq!(LOWEST_BYTE[lane].to_le_bytes(), [8 * (lane as u8 % 2); 8]);
            assert_eq!(ALL_BUT_LAST >> lane & 1 == 1, lane < 7);
        }
        let ends = WHOLE.to_le_bytes();
        assert!(ends.iter().zip(1..).all(|(end, bytes)| *end == 8 * bytes));
    }
}
