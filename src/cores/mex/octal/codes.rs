//! Codes of values, one byte each: the value without the lowest bit of the mask.
//!
//! A rare and a common value share a code. Codes XOR as values do, and those of common values are in the order of the values. A byte
//! holds values of nine bits.

/// Heaps in a block.
pub const LANES: usize = 64;
/// Codes in a byte.
pub const CODES: usize = 256;

/// The codes of values for a mask.
#[derive(Clone, Copy)]
pub struct Coder {
    mask: u16,
    /// The bits below the lowest of the mask.
    low: u16,
}

impl Coder {
    pub fn new(mask: u16) -> Self {
        Coder { mask, low: (mask & mask.wrapping_neg()) - 1 }
    }

    /// The code of a value, which may be too large for a byte.
    #[inline(always)]
    pub fn code(self, value: u16) -> u16 {
        value >> 1 & !self.low | value & self.low
    }

    /// The rare value with this code.
    #[inline(always)]
    pub fn rare(self, code: u8) -> u16 {
        let value = (u16::from(code) & !self.low) << 1 | u16::from(code) & self.low;
        let is_common = (value & self.mask).count_ones() % 2 == 1;
        value | if is_common { self.low + 1 } else { 0 }
    }

    /// The common value with this code.
    #[inline(always)]
    pub fn common(self, code: u8) -> u16 {
        self.rare(code) ^ (self.low + 1)
    }

    /// The codes below this are those of the rare values below the common value of `code`: rare and common values with the same
    /// bits above the mask's lowest differ in that bit, which all of them have or lack alike.
    #[inline(always)]
    pub fn rare_below(self, code: u8) -> u16 {
        (u16::from(code) & !self.low) + (self.common(code) & (self.low + 1))
    }
}

/// A heap that is left beside the one whose value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The other heap is so much smaller than the one that is split.
    pub shift: usize,
    /// The code of this heap, in every byte.
    pub code: u64,
    /// This heap.
    pub heap: usize,
}

/// A byte in all bytes.
pub fn spread(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_values_are_two_to_one_and_linear() {
        for mask in 1..512u16 {
            let coder = Coder::new(mask);
            let is_rare = |value: u16| (value & mask).count_ones().is_multiple_of(2);
            for value in 0..512 {
                let code = coder.code(value) as u8;
                assert_eq!(if is_rare(value) { coder.rare(code) } else { coder.common(code) }, value, "{mask:#x}");
                assert_eq!(coder.code(value ^ 0x155), coder.code(value) ^ coder.code(0x155), "{mask:#x}");
            }
            assert!((1..=255).all(|code| coder.common(code - 1) < coder.common(code)), "{mask:#x}");
        }
    }

    #[test]
    fn the_rare_values_below_a_common_one_are_those_of_the_first_codes() {
        for mask in 1..512u16 {
            let coder = Coder::new(mask);
            for code in 0..=255 {
                let below = (0..=255).filter(|other| coder.rare(*other) < coder.common(code)).map(u16::from);
                assert!(below.eq(0..coder.rare_below(code)), "{mask:#x}, {code}");
            }
        }
    }
}
