//! A short row of bits in the first-level cache, addressed by the bit.

/// Bytes in a row: a span's advance twice over, and what is kept before and after it.
const BYTES: usize = 256;

/// A row of bits.
pub struct Row {
    /// Eight more bytes, so that eight can be read and written at each of the first `BYTES`.
    bytes: [u8; BYTES + 8],
}

impl Row {
    /// Zeros.
    pub const fn new() -> Self {
        Row { bytes: [0; BYTES + 8] }
    }

    /// Bits that fit.
    pub const BITS: usize = 8 * BYTES;

    /// The 64 bits at byte `at`, which is taken modulo the length: a mask costs less than a check.
    #[inline(always)]
    fn eight(&self, at: usize) -> u64 {
        let at = at % BYTES;
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"))
    }

    /// At least 57 bits from bit `at` on, zeros above.
    #[inline(always)]
    pub fn load(&self, at: usize) -> u64 {
        self.eight(at / 8) >> (at % 8)
    }

    /// The 64 bits at byte `at`.
    #[inline(always)]
    pub fn store(&mut self, at: usize, bits: u64) {
        let at = at % BYTES;
        self.bytes[at..at + 8].copy_from_slice(&bits.to_le_bytes());
    }

    /// Word `at`.
    #[inline(always)]
    pub fn word(&self, at: usize) -> u64 {
        self.eight(8 * at)
    }

    /// Moves word `from` and all after it to the beginning.
    pub fn drop_words(&mut self, from: usize) {
        self.bytes.copy_within(8 * from.min(BYTES / 8)..BYTES, 0);
    }

    /// Moves all words up by `by`; the last ones are lost.
    pub fn raise_words(&mut self, by: usize) {
        let by = 8 * by.min(BYTES / 8);
        self.bytes.copy_within(0..BYTES - by, by);
    }
}
