//! Bit strings that may be readable only in part.

/// A bit string in words that may be readable only in part.
pub trait Words {
    /// Word `at`, if it can be read.
    fn get(&self, at: usize) -> Option<u64>;

    /// The `N` words from `at` on, where `at` is a multiple of `N`, if they can be read.
    fn words<const N: usize>(&self, at: usize) -> Option<&[u64; N]>;

    /// 32 bits from bit `at` on.
    #[inline(always)]
    fn bits(&self, at: u64) -> Option<u32> {
        let (word, shift) = ((at / 64) as usize, at % 64);
        let low = self.get(word)? >> shift;
        let high = if shift > 32 { self.get(word + 1)? << (64 - shift) } else { 0 };
        Some((low | high) as u32)
    }
}
