//! Codes of values, one byte each: the value without the lowest bit of the mask.
//!
//! A rare and a common value share a code. Codes XOR as values do, and those of common values are in the order of the values. A byte
//! holds values of nine bits. Where the position counts, which of the two values is rare depends on the heap.

use super::space::Mask;
use crate::simd::mapped;

/// Heaps in a block.
pub const LANES: usize = 64;
/// Codes in a byte.
pub const CODES: usize = 256;

/// The codes of values for a mask.
#[derive(Clone, Copy, Debug)]
pub struct Coder {
    pub mask: Mask,
    /// The bits below the lowest of the mask.
    low: u16,
}

impl Coder {
    pub fn new(mask: Mask) -> Self {
        Coder { mask, low: (mask.values & mask.values.wrapping_neg()) - 1 }
    }

    /// The bits below the lowest of the mask.
    pub fn low(self) -> u8 {
        self.low as u8
    }

    /// The code of a value, which may be too large for a byte.
    #[inline(always)]
    pub fn code(self, value: u16) -> u16 {
        value >> 1 & !self.low | value & self.low
    }

    /// The rare value of a heap of `n` with this code.
    #[inline(always)]
    pub fn rare(self, n: usize, code: u8) -> u16 {
        let value = (u16::from(code) & !self.low) << 1 | u16::from(code) & self.low;
        value | if self.mask.is_rare(n, value) { 0 } else { self.low + 1 }
    }

    /// The common value of a heap of `n` with this code.
    #[inline(always)]
    pub fn common(self, n: usize, code: u8) -> u16 {
        self.rare(n, code) ^ (self.low + 1)
    }

    /// The rare values below the common value of `code` for a heap of `n` are those with codes below this. Of the
    /// values with the same bits above the lowest of the mask, the common ones all have that bit and the rare ones all
    /// lack it, or the reverse.
    #[inline(always)]
    pub fn rare_below(self, n: usize, code: u8) -> u16 {
        (u16::from(code) & !self.low) + (self.common(n, code) & (self.low + 1))
    }

    /// [`Coder::rare_below`] of a block of heaps, the first of which has the parity `odd`, for codes below 64. Bounds above 64 may
    /// differ from it.
    #[inline(always)]
    pub fn all_rare_below(self, odd: usize, codes: &[u8; LANES]) -> [u8; LANES] {
        // The bit that is added is the parity of some bits of the code, or its opposite.
        let (low, mask) = (self.low(), self.code(self.mask.values) as u8);
        let bit = low.saturating_add(1);
        let zero = mapped([odd, odd + 1], |n| if self.rare_below(n, 0) > 0 { bit } else { 0 });
        // Loops over arrays, which are done in vectors, unlike a closure for each lane.
        let mut bounds = [0; LANES];
        bounds.as_chunks_mut().0.iter_mut().for_each(|pair| *pair = zero);
        for (bound, code) in bounds.iter_mut().zip(codes) {
            let four = (code & mask) ^ (code & mask) >> 4;
            let two = four ^ four >> 2;
            let parity = (two ^ two >> 1) & 1;
            *bound = (code & !low) + (0u8.wrapping_sub(parity) & bit ^ *bound);
        }
        bounds
    }
}

/// A heap that is left beside the one whose value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// How much smaller the other heap is than the one that is split.
    pub shift: usize,
    /// The code of this heap, in every byte.
    pub code: u64,
    /// This heap.
    pub heap: usize,
}

impl Move {
    /// The move that leaves a heap of this code, and another that is smaller by `shift` than the one that is split.
    pub fn new(shift: usize, code: u8, heap: usize) -> Self {
        Move { shift, code: u64::from_ne_bytes([code; 8]), heap }
    }
}

/// Sorts moves by a number, and those where it is equal by their shifts. The sort is compiled once for all numbers.
pub fn sort(moves: &mut [Move], first: fn(&Move) -> u8) {
    moves.sort_unstable_by_key(|m| (first(m), m.shift));
}

/// Sorts moves by their shifts.
pub fn sort_by_shift(moves: &mut [Move]) {
    sort(moves, |_| 0);
}

/// The codes of the heaps from `n` on.
#[inline(always)]
pub fn codes_at<const HEAPS: usize>(codes: &[u8], n: usize) -> &[u8; HEAPS] {
    codes[n..].first_chunk().expect("codes are padded by a block")
}

/// The one-hot bits of the first or second plane of 16 codes, by the low four bits of the code.
pub const fn one_hot<const BYTES: usize>(plane: usize) -> [u8; BYTES] {
    let mut table = [0; BYTES];
    let mut i = 0;
    while i < BYTES {
        table[i] = if i % 16 / 8 == plane { 1 << (i % 8) } else { 0 };
        i += 1;
    }
    table
}

/// The moves for which it is so, and the others.
pub fn parted(moves: Vec<Move>, is_so: &dyn Fn(&Move) -> bool) -> (Vec<Move>, Vec<Move>) {
    moves.into_iter().partition(is_so)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With all masks of nine bits, by value and by position, and a heap of either bit.
    #[test]
    fn a_block_has_the_bounds_of_its_heaps() {
        let masks = (1..512).flat_map(|values| [None, Some(0), Some(1)].map(|position| Mask { values, position }));
        for (mask, n) in masks.flat_map(|mask| [(mask, 6), (mask, 7)]) {
            let coder = Coder::new(mask);
            let codes = std::array::from_fn(|lane| lane as u8);
            let bounds = coder.all_rare_below(n % 2, &codes);
            for ((n, code), bound) in (n..).zip(codes).zip(bounds) {
                let want = coder.rare_below(n, code);
                assert_eq!(u16::from(bound).min(64), want.min(64), "{mask:?}, code {code}");
            }
        }
    }
}
