//! The transform without counting values. `H(w)`, the Walsh-Hadamard transform of the counts, is the number of heaps minus twice
//! the number of heaps whose value shares an odd number of bits with `w`. The latter is the population count of the XOR of the bit
//! planes in `w`.
//!
//! Values become bit planes 512 at a time: pack to bytes, transpose each 8x8 bit matrix (`vgf2p8affineqb`), gather the bytes of a
//! plane (`vpermb`), then transpose 8x8 words. Sixteen such blocks stay in registers while the characters `w` are visited in Gray
//! code: one XOR with one plane gives the next character. The order of the bits in a plane does not matter.
//!
//! Few heaps have the largest values, and each plane doubles the number of characters. So only planes with frequent values are
//! used; the other values are counted as 0 and corrected one by one.
//!
//! Cost: for `p` planes, `2^p` times an XOR, a population count and an addition for 512 heaps; 0.3 cycles per heap for `p` = 6.
//! Bound: the vector ports.

use std::arch::x86_64::*;

use super::{HEAPS_BITS, PROGRESS_STEP, Values, by_transform, walsh_hadamard};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::machine::isa::tier;
use crate::simd::avx512::{load, store};
use crate::simd::mapped;

/// Bit planes of a byte.
const PLANES: usize = 8;
/// Heaps in a vector of bits.
const BITS: usize = 512;
/// Vectors of each plane that share one pass over the characters.
const DEPTH: usize = 16;
/// A plane is used if at least one heap in this many has a value in it.
const RARE: usize = 24;

/// Rates: ns of a run, of a heap, of a heap and a character, and of a value.
pub fn cost(input: &Values, _: CostContext, [start, heap, character, value]: [f64; 4]) -> Cost {
    let ns = |n: f64, span: f64| start + n * (heap + character * (span / 2.0).min(128.0)) + value * span;
    input.cost(HEAPS_BITS, |n, span| (ns(n, span), 16.0 * span + 16_384.0)).only_if(input.span <= 512)
}

/// An XOR, a population count and an addition for 512 heaps, for each of 64 characters.
pub fn needs(_: &Values) -> Needs {
    Needs { logic: 64.0 * 3.0 / 512.0, ..Needs::default() }
}

#[tier(Avx512)]
pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
    let values = &input.values;
    let span = input.span;
    let mut planes = (span.ilog2() as usize).min(PLANES);
    while planes > 1 && count_from(values, 1 << (planes - 1)) * RARE < values.len() {
        planes -= 1;
    }
    let limit = _mm512_set1_epi16((1 << planes) - 1);
    let mut rare = vec![0u64; span];
    let mut odd = vec![[0u64; 8]; 1 << planes]; // partial counts of heaps that share an odd number of bits with the character
    for block in values.chunks(PROGRESS_STEP) {
        for part in block.chunks(BITS * DEPTH) {
            let mut bits = [[[0u64; 8]; DEPTH]; PLANES];
            for (i, values) in part.chunks(BITS).enumerate() {
                let mut padded = [0u16; BITS];
                let values: &[u16; BITS] = match values.try_into() {
                    Ok(values) => values,
                    Err(_) => {
                        padded[..values.len()].copy_from_slice(values);
                        &padded
                    }
                };
                let mut rows = [_mm512_setzero_si512(); 8];
                for (row, heaps) in rows.iter_mut().zip(values.as_chunks::<64>().0) {
                    let (halves, _) = heaps.as_chunks::<32>();
                    let mut frequent = |half: &[u16; 32]| {
                        let v = load(half);
                        let small = _mm512_cmple_epu16_mask(v, limit);
                        let mut large = !small;
                        while large != 0 {
                            rare[usize::from(half[large.trailing_zeros() as usize])] += 1;
                            large &= large - 1;
                        }
                        _mm512_maskz_mov_epi16(small, v)
                    };
                    *row = planes_of_bytes(_mm512_packus_epi16(frequent(&halves[0]), frequent(&halves[1])));
                }
                let columns = transpose(rows);
                for plane in 0..planes {
                    store(&mut bits[plane][i], columns[plane]);
                }
            }
            let mut character = 0;
            let mut x = [_mm512_setzero_si512(); DEPTH];
            for step in 1..1usize << planes {
                let plane = step.trailing_zeros() as usize;
                character ^= 1 << plane;
                let mut count = load(&odd[character]);
                for (x, bits) in x.iter_mut().zip(&bits[plane]) {
                    *x = _mm512_xor_si512(*x, load(bits));
                    count = _mm512_add_epi64(count, _mm512_popcnt_epi64(*x));
                }
                store(&mut odd[character], count);
            }
        }
        run.advance(block.len() as u64)?;
    }
    // Transforming twice gives the counts times the number of characters.
    let heaps = values.len() as i64;
    let mut transform: Vec<i64> = odd.iter().map(|odd| heaps - 2 * odd.iter().sum::<u64>() as i64).collect();
    walsh_hadamard(&mut transform);
    let mut counts = vec![0; span.max(1 << planes)];
    for (count, n) in counts.iter_mut().zip(&transform) {
        *count = *n as u64 >> planes;
    }
    for (value, rare) in rare.iter().enumerate() {
        counts[0] -= rare;
        counts[value] += rare;
    }
    Ok(by_transform(&counts))
}

/// The number of values that are at least `least`.
#[tier(Avx512)]
fn count_from(values: &[u16], least: u16) -> usize {
    let (vectors, rest) = values.as_chunks::<32>();
    let least_of_all = _mm512_set1_epi16(least as i16);
    let mut count = 0;
    for vector in vectors {
        count += _mm512_cmpge_epu16_mask(load(vector), least_of_all).count_ones() as usize;
    }
    for value in rest {
        count += usize::from(*value >= least);
    }
    count
}

/// Byte `i` is the unit vector `1 << i`.
const UNITS: u64 = 0x8040_2010_0804_0201;

/// The index of each byte of a plane: byte `i` of word `j` becomes byte `j` of word `i`.
const GATHER: [u8; 64] = {
    let mut index = [0; 64];
    let mut i = 0;
    while i < 64 {
        index[i] = (i % 8 * 8 + i / 8) as u8;
        i += 1;
    }
    index
};

/// Transposes bytes to bit planes: word `i` of the result holds bit `i` of all bytes.
#[tier(Avx512)]
fn planes_of_bytes(bytes: __m512i) -> __m512i {
    // Applying a word of `bytes`, as a matrix, to a unit vector gives a column.
    let columns = _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(UNITS as i64), bytes);
    _mm512_permutexvar_epi8(load(&GATHER), columns)
}

/// Transposes an 8x8 matrix of words.
#[tier(Avx512)]
fn transpose(rows: [__m512i; 8]) -> [__m512i; 8] {
    let [a, b, c, d, e, f, g, h] = rows;
    // Interleaves words of neighbouring rows, then pairs of words, then halves: 0x88 takes even quarters, 0xdd odd ones.
    let even = mapped([(a, b), (c, d), (e, f), (g, h)], |(x, y)| _mm512_unpacklo_epi64(x, y));
    let odd = mapped([(a, b), (c, d), (e, f), (g, h)], |(x, y)| _mm512_unpackhi_epi64(x, y));
    let quarter = |[p, q, r, s]: [__m512i; 4]| {
        let (pq0, pq1) = (_mm512_shuffle_i64x2::<0x88>(p, q), _mm512_shuffle_i64x2::<0xdd>(p, q));
        let (rs0, rs1) = (_mm512_shuffle_i64x2::<0x88>(r, s), _mm512_shuffle_i64x2::<0xdd>(r, s));
        [
            _mm512_shuffle_i64x2::<0x88>(pq0, rs0),
            _mm512_shuffle_i64x2::<0x88>(pq1, rs1),
            _mm512_shuffle_i64x2::<0xdd>(pq0, rs0),
            _mm512_shuffle_i64x2::<0xdd>(pq1, rs1),
        ]
    };
    let ([c0, c2, c4, c6], [c1, c3, c5, c7]) = (quarter(even), quarter(odd));
    [c0, c1, c2, c3, c4, c5, c6, c7]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::avx512::model::affine;

    /// [`planes_of_bytes`], a byte at a time.
    fn planes(bytes: [u8; 64]) -> [u64; PLANES] {
        let columns = |word: &[u8; 8]| UNITS.to_le_bytes().map(|unit| affine(u64::from_le_bytes(*word), unit));
        let columns = bytes.as_chunks().0.iter().flat_map(columns).collect::<Vec<u8>>();
        let gathered = GATHER.map(|index| columns[usize::from(index)]);
        std::array::from_fn(|plane| u64::from_le_bytes(gathered.as_chunks().0[plane]))
    }

    /// Each byte has a bit of its own, the same in all planes.
    #[test]
    fn a_plane_has_a_bit_of_every_byte() {
        let mut all = 0;
        for place in 0..64 {
            let of = |value| {
                let mut bytes = [0; 64];
                bytes[place] = value;
                planes(bytes)
            };
            let [bit, ..] = of(1);
            assert!(bit.is_power_of_two() && all & bit == 0, "byte {place}");
            all |= bit;
            for value in 0..=u8::MAX {
                assert_eq!(of(value), std::array::from_fn(|plane| bit * u64::from(value >> plane & 1)), "{value}");
            }
        }
    }
}
