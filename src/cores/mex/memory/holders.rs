//! The holders of a value: the options of a heap that have it, as a count and a sum in one word.

/// Adding and removing a holder is one addition, and the holder of a value that has only one is the sum. The low bits are the
/// counts; the sum, above them, may wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holders(u64);

/// Bits of the number of heaps whose own value it is.
const COUNT: u32 = 12;
/// One more heap that has it as an exception.
const EXCEPTION: u64 = 1 << COUNT;
/// Set while the value is in a list of values to look at.
const LISTED: u64 = 1 << 23;
const SUM: u32 = 24;

/// The largest number of holders of one kind that fits.
pub const MOST_HOLDERS: usize = (1 << (COUNT - 1)) - 1;

impl Holders {
    /// More holders than exceptions can take away.
    pub const MANY: Self = Holders(MOST_HOLDERS as u64 / 2);

    /// A heap whose own value it is.
    #[inline(always)]
    pub fn own(heap: u32) -> Self {
        Holders(u64::from(heap) << SUM | 1)
    }

    /// A heap that has the value as an exception.
    #[inline(always)]
    pub fn exceptional(heap: u32) -> Self {
        Holders(u64::from(heap) << SUM | EXCEPTION)
    }

    #[inline(always)]
    pub fn add(&mut self, other: Holders) {
        self.0 = self.0.wrapping_add(other.0);
    }

    #[inline(always)]
    pub fn remove(&mut self, other: Holders) {
        self.0 = self.0.wrapping_sub(other.0);
    }

    /// With a change, what was added and removed.
    #[inline(always)]
    pub fn with(self, change: Holders) -> Self {
        Holders(self.0.wrapping_add(change.0))
    }

    #[inline(always)]
    fn counts(self) -> u64 {
        self.0 & (LISTED - 1)
    }

    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.counts() == 0
    }

    /// The number of heaps whose own value it is, while there are no exceptions.
    #[inline(always)]
    pub fn count(self) -> usize {
        self.counts() as usize
    }

    /// Whether there is one holder alone.
    #[inline(always)]
    pub fn is_single(self) -> bool {
        (self.counts() == 1) | (self.counts() == EXCEPTION)
    }

    /// The only holder.
    #[inline(always)]
    pub fn only(self) -> u32 {
        (self.0 >> SUM) as u32
    }

    /// Whether the value is the only holder's own.
    #[inline(always)]
    pub fn is_own(self) -> bool {
        self.counts() == 1
    }

    #[inline(always)]
    pub fn is_listed(self) -> bool {
        self.0 & LISTED != 0
    }

    #[inline(always)]
    pub fn list(&mut self) {
        self.0 |= LISTED;
    }

    #[inline(always)]
    pub fn unlist(&mut self) {
        self.0 &= !LISTED;
    }
}
