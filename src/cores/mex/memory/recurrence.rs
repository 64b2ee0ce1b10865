//! Input and output of the operation.

use super::MexMemory;
use crate::kernel::Operation;
use crate::kernel::workload::InputError;
use crate::text::numbers::indexable;

/// The largest limit: a heap is a number of 32 bits.
pub const MAX_LIMIT: u64 = indexable((1 << 32) - 2);

/// The heaps `0..=limit` of Mem0.
#[derive(Clone, Copy, Debug)]
pub struct Mem0 {
    limit: u64,
}

impl Mem0 {
    /// The heaps `0..=limit`.
    ///
    /// # Errors
    /// The limit is above [`MAX_LIMIT`].
    pub fn new(limit: u64) -> Result<Self, InputError> {
        if limit > MAX_LIMIT {
            return Err(InputError::TooLarge { operation: MexMemory::NAME, size: limit, most: MAX_LIMIT });
        }
        Ok(Mem0 { limit })
    }

    /// The largest heap.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The number of heaps, `limit + 1`.
    pub fn heaps(&self) -> usize {
        self.limit as usize + 1
    }

    /// About how many exceptions they have: 16 for each of a million heaps, one more each time the heaps double, as observed.
    pub(super) fn exceptions(&self) -> f64 {
        let heaps = self.heaps() as f64;
        heaps * (0.95 * heaps.log2() - 2.6).max(1.0)
    }
}

/// A value that one heap alone has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Single {
    /// The value.
    pub value: u64,
    /// The heap.
    pub heap: u64,
}

/// The values that recur for ever, and what tells runs apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The values that the heaps prove to recur: those that one heap `m` alone has among the heaps up to `2 m`, which is at most the
    /// limit. In the order of these heaps.
    pub recurring: Vec<Single>,
    /// The values that one heap alone has, but among fewer heaps: each recurs or not.
    pub open: Vec<Single>,
    /// The number of exceptions: pairs of a heap and a last move that change the value of the heap.
    pub exceptions: u64,
    /// A hash of the values of all heaps in order, a step of FxHash for each.
    pub fingerprint: u64,
}

/// What a run adds up.
#[derive(Default)]
pub(super) struct Tally {
    pub exceptions: u64,
    fingerprint: u64,
}

impl Tally {
    /// Adds the value of the next heap.
    #[inline(always)]
    pub fn add(&mut self, value: u32) {
        self.fingerprint = (self.fingerprint.rotate_left(5) ^ u64::from(value)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    /// The output, given the values that one heap alone has, and that heap.
    pub fn output(self, input: &Mem0, singles: impl IntoIterator<Item = (u32, u32)>) -> Output {
        let single = |(value, heap): (u32, u32)| Single { value: value.into(), heap: heap.into() };
        let mut singles: Vec<Single> = singles.into_iter().map(single).collect();
        singles.sort_unstable_by_key(|single| single.heap);
        let (recurring, open) = singles.into_iter().partition(|single| 2 * single.heap <= input.limit);
        Output { recurring, open, exceptions: self.exceptions, fingerprint: self.fingerprint }
    }
}
