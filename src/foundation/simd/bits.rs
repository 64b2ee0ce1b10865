//! Bit rows: tables of bits whose rows are whole 64-bit words. Bit `i` of a row is bit `i % 64` of word `i / 64`.

/// Bits in a word.
pub const WORD: usize = 64;

/// A table of bit rows of one length. Each row ends with padding of ones or zeros, so that a window that starts inside a
/// row may end past it.
#[derive(Clone, Debug)]
pub struct BitRows {
    words: Vec<u64>,
    stride: usize,
}

impl BitRows {
    /// `rows` rows of `bits` zeros each, followed by at least 64 bits of zero padding.
    pub fn new(rows: usize, bits: usize) -> Self {
        let stride = Self::stride(bits);
        BitRows { words: vec![0; rows * stride], stride }
    }

    /// Words in a row of `bits` bits, padding included.
    pub fn stride(bits: usize) -> usize {
        bits.div_ceil(WORD) + 1
    }

    /// Bytes of a table with `rows` rows of `bits` bits.
    pub fn bytes(rows: usize, bits: usize) -> f64 {
        8.0 * rows as f64 * Self::stride(bits) as f64
    }

    /// The words of a row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.stride..][..self.stride]
    }

    /// Sets one bit.
    #[inline(always)]
    pub fn set(&mut self, row: usize, bit: usize) {
        self.words[row * self.stride + bit / WORD] |= 1 << (bit % WORD);
    }

    /// Whether a bit is set.
    #[inline(always)]
    pub fn get(&self, row: usize, bit: usize) -> bool {
        self.words[row * self.stride + bit / WORD] >> (bit % WORD) & 1 == 1
    }
}

/// The 64 bits of `row` from bit `at` on. At least one word must follow the one that holds bit `at`.
#[inline(always)]
pub fn window(row: &[u64], at: usize) -> u64 {
    funnel(row[at / WORD], row[at / WORD + 1], at % WORD)
}

/// The 64 bits from bit `shift` of `low` on, where `high` follows `low`.
#[inline(always)]
pub fn funnel(low: u64, high: u64, shift: usize) -> u64 {
    // Two shifts, because a shift by 64 is not defined.
    low >> shift | high << 1 << (WORD - 1 - shift)
}

/// The index of the first zero; 64 if there is none.
#[inline(always)]
pub fn first_zero(word: u64) -> usize {
    word.trailing_ones() as usize
}

/// Transposes 64 by 64 bits: bit `j` of word `i` goes to bit `i` of word `j`. Swaps blocks of half the size, six times
/// (Hacker's Delight, 7-3).
#[inline(always)] // so that each tier compiles it for itself
pub fn transpose(tile: &mut [u64; WORD]) {
    let mut size = WORD / 2;
    let mut low = u64::MAX >> size;
    while size != 0 {
        let mut i = 0;
        while i < WORD {
            let swap = (tile[i] >> size ^ tile[i + size]) & low;
            tile[i] ^= swap << size;
            tile[i + size] ^= swap;
            i = (i + size + 1) & !size;
        }
        size /= 2;
        low ^= low << size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_the_bits_from_its_start() {
        let mut rows = BitRows::new(2, 130);
        for bit in [0, 1, 63, 64, 65, 127, 128, 129] {
            rows.set(1, bit);
        }
        for at in 0..130 {
            let want = (0..64).filter(|i| at + i < 130 && rows.get(1, at + i)).fold(0, |w, i| w | 1u64 << i);
            assert_eq!(window(rows.row(1), at), want, "at {at}");
        }
        assert!(rows.row(0).iter().all(|w| *w == 0));
    }

    #[test]
    fn the_first_zero_of_a_full_word_is_64() {
        assert_eq!(first_zero(u64::MAX), 64);
        assert_eq!(first_zero(0b1011), 2);
    }

    #[test]
    fn a_transposed_tile_has_its_bits_mirrored() {
        let mut tile: [u64; WORD] = std::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let before = tile;
        transpose(&mut tile);
        for (i, row) in before.iter().enumerate() {
            for (j, column) in tile.iter().enumerate() {
                assert_eq!(column >> i & 1, row >> j & 1, "bit {j} of word {i}");
            }
        }
    }
}
