//! Which values are rare, and which heaps have them.

use crate::cores::xor_count::triples::walsh_hadamard;

/// The rare heaps of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseSpace {
    /// Values with an even number of bits in common with it are rare.
    pub mask: u16,
    /// The rare heaps in ascending order.
    pub rare: Vec<usize>,
}

/// The sparse space of these values: that of the mask with the fewest rare heaps. This is an observation about these heaps.
pub fn sparse_space(values: &[u16]) -> SparseSpace {
    let Space { mask, rare, .. } = Space::new(values);
    SparseSpace { mask, rare: rare.into_iter().map(|(heap, _)| heap).collect() }
}

/// The mask that splits the values, with the rare heaps.
#[derive(Clone, Debug)]
pub struct Space {
    mask: u16,
    /// Rare heaps in ascending order, with their values. The empty heap is always the first.
    pub rare: Vec<(usize, u16)>,
    /// How many heaps have each value. A power of two in length.
    counts: Vec<i64>,
    /// The number of rare heaps when the mask was chosen.
    chosen_at: usize,
}

impl Space {
    /// The space of these values, with the mask that makes the fewest heaps rare.
    pub fn new(values: &[u16]) -> Self {
        let mut space = Space { mask: 1, rare: Vec::new(), counts: vec![0; 2], chosen_at: 0 };
        for value in values {
            space.count(*value);
        }
        space.choose(values);
        space
    }

    /// The values with an even number of bits in common with it are rare.
    pub fn mask(&self) -> u16 {
        self.mask
    }

    #[inline(always)]
    pub fn is_rare(&self, value: u16) -> bool {
        (value & self.mask).count_ones().is_multiple_of(2)
    }

    /// Counts a value; true if it has a bit that no value had before.
    #[inline(always)]
    fn count(&mut self, value: u16) -> bool {
        let is_new = usize::from(value) >= self.counts.len();
        if is_new {
            self.counts.resize((usize::from(value) + 1).next_power_of_two(), 0);
        }
        self.counts[usize::from(value)] += 1;
        is_new
    }

    /// Takes the value of the next heap `n`; true if a mask should be chosen anew.
    #[inline(always)]
    pub fn push(&mut self, n: usize, value: u16) -> bool {
        let has_new_bit = self.count(value);
        if self.is_rare(value) {
            self.rare.push((n, value));
        }
        has_new_bit || self.rare.len() > self.chosen_at + self.chosen_at / 32 + 8
    }

    /// Chooses the mask that makes the fewest of all heaps rare: the least coefficient of the Walsh-Hadamard transform of the counts
    /// is the number of rare heaps less that of common ones. True if it is another one than before.
    pub fn choose(&mut self, values: &[u16]) -> bool {
        let mut sums = self.counts.clone();
        walsh_hadamard(&mut sums);
        let mask = (1..sums.len()).min_by_key(|mask| sums[*mask]).unwrap_or(1) as u16;
        let is_other = mask != self.mask || self.rare.is_empty();
        if is_other {
            self.split_by(mask, values);
        }
        self.chosen_at = self.rare.len();
        is_other
    }

    /// Splits the values by a mask.
    pub fn split_by(&mut self, mask: u16, values: &[u16]) {
        self.mask = mask;
        self.rare = values.iter().copied().enumerate().filter(|(_, value)| self.is_rare(*value)).collect();
    }
}
