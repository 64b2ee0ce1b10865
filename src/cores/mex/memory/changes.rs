//! What exceptions change in the holders of values at one heap, in a small hash table.

use super::holders::Holders;
use crate::kernel::RunError;

/// Slots. Near values have slots side by side.
const SLOTS: usize = 512;
/// The most values of a heap; at 10^8 heaps some 50 are the most.
pub const MOST: usize = SLOTS / 2;

/// Changes by value.
pub struct Changes {
    slots: Box<[Slot; SLOTS]>,
    /// The slots in use.
    used: Box<[u16; MOST]>,
    count: usize,
    /// Slots with another stamp are empty.
    stamp: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    stamp: u32,
    value: u32,
    change: Holders,
}

impl Changes {
    /// An empty table.
    pub fn new() -> Self {
        Changes { slots: Box::new([Slot::default(); SLOTS]), used: Box::new([0; MOST]), count: 0, stamp: 0 }
    }

    /// Empties the table for the next heap.
    pub fn clear(&mut self) {
        self.count = 0;
        self.stamp += 1;
    }

    /// The slot of a value, or the empty one where it belongs.
    #[inline(always)]
    fn slot(&self, value: u32) -> usize {
        let mut slot = value as usize % SLOTS;
        while self.slots[slot].stamp == self.stamp && self.slots[slot].value != value {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }

    /// What changes in the holders of a value.
    ///
    /// # Errors
    /// There are too many values.
    #[inline(always)]
    pub fn of(&mut self, value: u32) -> Result<&mut Holders, RunError> {
        let slot = self.slot(value);
        if self.slots[slot].stamp != self.stamp {
            *self.used.get_mut(self.count).ok_or(RunError::Overflow)? = slot as u16;
            self.count += 1;
            self.slots[slot] = Slot { stamp: self.stamp, value, change: Holders::default() };
        }
        Ok(&mut self.slots[slot].change)
    }

    /// What changes in the holders of a value, if it was changed.
    #[inline(always)]
    pub fn get(&self, value: u32) -> Option<Holders> {
        let slot = &self.slots[self.slot(value)];
        (slot.stamp == self.stamp).then_some(slot.change)
    }

    /// The least value that no option has now, and all that one option alone has now, with it. `holders` are those of a value
    /// without the changes.
    #[inline(always)]
    pub fn free_and_single<'a>(
        &self,
        holders: impl Fn(u32) -> Holders,
        single: &'a mut [(u32, Holders); MOST],
    ) -> (u32, &'a [(u32, Holders)]) {
        let (mut free, mut count) = (u32::MAX, 0);
        for slot in &self.used[..self.count] {
            let Slot { value, change, .. } = self.slots[*slot as usize % SLOTS];
            let holders = holders(value).with(change);
            free = free.min(if holders.is_empty() { value } else { u32::MAX });
            // Whether a value is single is hard to predict: each is written, and the next one overwrites those that are not.
            single[count % MOST] = (value, holders);
            count += usize::from(holders.is_single());
        }
        (free, &single[..count])
    }
}
