//! A short row of bits in L1, addressed by the byte.

use crate::simd::array_of;

/// Bytes in a row: several spans' advance, so the kept part seldom moves to the beginning.
const BYTES: usize = 1024;

/// The most words that are read together.
const WORDS: usize = 8;

/// A row of bits. Assembly relies on the bits coming first.
#[repr(transparent)]
pub struct SpanRow {
    /// Longer than `BYTES`, so that `WORDS` words can be read at each of the first `BYTES`.
    bytes: [u8; BYTES + 8 * WORDS],
}

impl SpanRow {
    /// A row of zeros.
    pub const fn new() -> Self {
        SpanRow { bytes: [0; BYTES + 8 * WORDS] }
    }

    /// The number of bits that fit.
    pub const BITS: usize = 8 * BYTES;

    /// The 64 bits at byte `at`, taken modulo the length: a mask costs less than a check.
    #[inline(always)]
    pub fn load(&self, at: usize) -> u64 {
        let at = at % BYTES;
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes"))
    }

    /// Stores 64 bits at byte `at`.
    #[inline(always)]
    pub fn store(&mut self, at: usize, bits: u64) {
        let at = at % BYTES;
        self.bytes[at..at + 8].copy_from_slice(&bits.to_le_bytes());
    }

    /// Word `at`.
    #[inline(always)]
    pub fn word(&self, at: usize) -> u64 {
        self.load(8 * at)
    }

    /// The `N` words from `at` on, at most eight.
    #[inline(always)]
    pub fn words<const N: usize>(&self, at: usize) -> [u64; N] {
        const { assert!(N <= WORDS) };
        let at = 8 * at % BYTES;
        let (bytes, _) = self.bytes[at..at + 8 * N].as_chunks();
        array_of(|i| u64::from_le_bytes(bytes[i]))
    }

    /// `N` bytes from byte `at` on, which must lie in the row.
    #[inline(always)]
    pub fn bytes<const N: usize>(&self, at: usize) -> &[u8; N] {
        self.bytes[at..].first_chunk().expect("bytes of the row")
    }

    /// Replaces the bytes from `at` on.
    #[inline(always)]
    pub fn replace(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// The 64 bytes at byte `at`.
    #[inline(always)]
    pub fn bytes_mut(&mut self, at: usize) -> &mut [u8; 64] {
        let at = at % BYTES;
        self.bytes[at..].first_chunk_mut().expect("64 bytes after the last")
    }

    /// Moves word `from` and all words after it to the beginning.
    pub fn drop_words(&mut self, from: usize) {
        self.bytes.copy_within(8 * from.min(BYTES / 8)..BYTES, 0);
    }

    /// Moves all words up by `by`; the last ones are lost.
    pub fn raise_words(&mut self, by: usize) {
        let by = 8 * by.min(BYTES / 8);
        self.bytes.copy_within(0..BYTES - by, by);
    }
}
