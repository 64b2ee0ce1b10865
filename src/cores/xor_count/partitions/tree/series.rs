//! Power series, with as many lanes as characters: their layout, and what is done with all of their terms.

use std::ops::Range;

use crate::simd::mapped;

/// Words of padding before every series, its terms below 0, which vectors may read.
pub const PAD: usize = 16;

/// Words of the series of the nodes above a leaf.
pub fn series(lanes: usize, bits: usize, total: usize) -> usize {
    (bits - lanes.ilog2() as usize) * stride(lanes, total)
}

/// Words from one series in the arena to the next.
pub fn stride(lanes: usize, total: usize) -> usize {
    (PAD + (total + 1) * lanes).next_multiple_of(16) + 16
}

/// Calls `apply` with block `i` and block `i - back` for all `i` in `blocks`, descending.
#[inline(always)]
pub fn descend<const N: usize>(
    series: &mut [[u32; N]],
    back: usize,
    blocks: Range<usize>,
    mut apply: impl FnMut(&mut [u32; N], &[u32; N]),
) {
    // `back` blocks at a time do not overlap their sources: two slices, and no check in the loop.
    let mut end = blocks.end;
    while end > blocks.start {
        let start = blocks.start.max(end.saturating_sub(back));
        let (behind, here) = series.split_at_mut(start);
        let (to, to_fours) = here[..end - start].as_rchunks_mut::<4>();
        let (from, from_fours) = behind[start - back..end - back].as_rchunks::<4>();
        for (to, from) in to_fours.iter_mut().zip(from_fours).rev() {
            let [to0, to1, to2, to3] = to;
            apply(to3, &from[3]);
            apply(to2, &from[2]);
            apply(to1, &from[1]);
            apply(to0, &from[0]);
        }
        for (to, from) in to.iter_mut().zip(from).rev() {
            apply(to, from);
        }
        end = start;
    }
}

/// The number of products to add up in 64 bits before taking a remainder. Each is a residue below 2^31 times half a word, so below
/// 2^47. Twice as many would still fit, but four times as many would not.
const PRODUCTS: usize = 1 << 16;

/// The sum over `t` in `terms` of term `t` of `a` times term `total - t` of `b`, over all lanes.
#[inline(always)]
pub fn dot<const LANES: usize>(a: &[u32], b: &[u32], terms: Range<usize>, total: usize, modulus: u32) -> u64 {
    let [a, b] = mapped([a, b], |series| series[PAD..].as_chunks::<LANES>().0);
    let (a, b) = (&a[terms.clone()], &b[total + 1 - terms.end..total + 1 - terms.start]);
    let modulus = u64::from(modulus);
    let mut sum = 0;
    for (a, b) in a.chunks(PRODUCTS).zip(b.rchunks(PRODUCTS)) {
        let (mut low, mut high) = ([0u64; LANES], [0u64; LANES]);
        for (a, b) in a.iter().zip(b.iter().rev()) {
            for lane in 0..LANES {
                low[lane] += u64::from(a[lane]) * u64::from(b[lane] & 0xffff);
                high[lane] += u64::from(a[lane]) * u64::from(b[lane] >> 16);
            }
        }
        for (low, high) in low.into_iter().zip(high) {
            sum += (low + ((high % modulus) << 16)) % modulus;
        }
    }
    sum % modulus
}

/// The signs of lanes: bit `i` is set if lane `i` subtracts.
pub struct Signs([u32; 16]);

impl Signs {
    pub fn new(lanes: usize) -> Self {
        /// The lanes whose number has each bit.
        const BITS: [u32; 4] = [0xaaaa, 0xcccc, 0xf0f0, 0xff00];
        let mut signs = [0; 16];
        for value in 1..16_usize {
            let bit = BITS[value.trailing_zeros() as usize] & ((1 << lanes) - 1);
            signs[value] = signs[value & (value - 1)] ^ bit;
        }
        Signs(signs)
    }

    #[inline(always)]
    pub fn of(&self, value: usize, character: usize) -> u32 {
        self.0[value % 16] ^ if (value & character).count_ones() % 2 == 1 { u32::MAX } else { 0 }
    }
}

/// Adds or subtracts the terms of all lanes.
#[inline(always)]
pub fn add_lanes(to: &mut [u32], from: &[u32], signs: u32, modulus: u32) {
    for (lane, (to, from)) in to.iter_mut().zip(from).enumerate() {
        let sum = if signs >> lane & 1 == 1 { *to + modulus - *from } else { *to + *from };
        *to = sum.min(sum.wrapping_sub(modulus));
    }
}

/// Room for `words` words of series, and the index of the first aligned one.
pub fn arena(words: usize) -> (Vec<u32>, usize) {
    let arena = vec![0; words + 16];
    let aligned = arena.as_ptr().align_offset(64).min(16);
    (arena, aligned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums the largest possible products, at lengths around the chunk size and up to the largest total.
    #[test]
    fn a_dot_product_of_any_length_keeps_its_carries() {
        const MODULUS: u32 = (1 << 31) - 1;
        const LONGEST: usize = crate::cores::xor_count::partitions::MAX_TOTAL as usize + 1;
        // Residues whose low or high half is as large as possible.
        for [x, y] in
            [[MODULUS - 1, MODULUS - 1], [MODULUS - 1, 0x7ffe_ffff], [0x7ffe_ffff, MODULUS - 1], [MODULUS - 1, 0xffff]]
        {
            let (a, b) = (vec![x; PAD + LONGEST], vec![y; PAD + LONGEST]);
            let around = (16..=20).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1]);
            for length in [0, 1, 3 << 16].into_iter().chain(around) {
                let product = u128::from(x) * u128::from(y) * length as u128 % u128::from(MODULUS);
                assert_eq!(u128::from(dot::<1>(&a, &b, 0..length, LONGEST - 1, MODULUS)), product, "{x} {y} {length}");
            }
        }
    }
}
