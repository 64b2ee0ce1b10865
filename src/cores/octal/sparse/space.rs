//! Which values are rare, and which heaps have them.

use crate::moves::Code;
use crate::simd::walsh::walsh_hadamard;

/// The rare heaps of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SparseSpace {
    /// Which values are rare.
    pub mask: Mask,
    /// The rare heaps in ascending order.
    pub rare: Vec<usize>,
}

/// The sparse space of these values: that of the mask with the fewest rare heaps. This is an observation about these heaps.
pub fn sparse_space(code: &Code, values: &[u16]) -> SparseSpace {
    let (mask, _) = Counts::of(common_parity(code), values).best();
    SparseSpace { mask, rare: (0..values.len()).filter(|heap| mask.is_rare(*heap, values[*heap])).collect() }
}

/// The parity of all places where the code allows a split into two; `None` if they differ, or there are none.
pub fn common_parity(code: &Code) -> Option<usize> {
    let mut places = (0..=code.last_place()?).filter(|place| code.digit(*place) & 4 > 0);
    let parity = places.next()? % 2;
    places.all(|place| place % 2 == parity).then_some(parity)
}

/// Which values of a heap are rare: those with an even number of bits in common with a mask, counting the position as one more bit
/// where it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Mask {
    /// The bits of a value that count. There is at least one.
    pub values: u16,
    /// If the position counts, the parity of the splitting places: the bit of a heap is set where its parity differs.
    pub position: Option<usize>,
}

impl Mask {
    /// The bit of a heap.
    #[inline(always)]
    fn bit(self, n: usize) -> u16 {
        self.position.map_or(0, |place| (n ^ place) as u16 & 1)
    }

    /// Whether this value is rare for a heap of `n`.
    #[inline(always)]
    pub fn is_rare(self, n: usize, value: u16) -> bool {
        ((value & self.values).count_ones() as u16 ^ self.bit(n)).is_multiple_of(2)
    }
}

/// The mask that splits the values, with the rare heaps.
#[derive(Clone, Debug)]
pub struct Space {
    pub mask: Mask,
    /// Rare heaps in ascending order, with their values.
    rare: Vec<(usize, u16)>,
    counts: Counts,
    /// The number of rare heaps when the mask was chosen.
    chosen_at: usize,
}

/// How many heaps have each value.
#[derive(Clone, Debug)]
pub struct Counts {
    /// The parity of the splitting places, if they agree, which lets the position count.
    parity: Option<usize>,
    /// Without the bit of the position and with it. Powers of two in length.
    heaps: [Vec<i64>; 2],
}

impl Counts {
    /// The counts of all values.
    pub fn of(parity: Option<usize>, values: &[u16]) -> Self {
        let mut counts = Counts { parity, heaps: [vec![0; 2], vec![0; 2]] };
        for (n, value) in values.iter().enumerate() {
            counts.add(n, *value, 1);
        }
        counts
    }

    /// Counts `heaps` heaps of the parity of `n` with a value; true if it has a bit that no value had before.
    #[inline(always)]
    pub fn add(&mut self, n: usize, value: u16, heaps: i64) -> bool {
        let index = usize::from(value);
        let is_new = index >= self.heaps[0].len();
        if is_new {
            for heaps in &mut self.heaps {
                heaps.resize((index + 1).next_power_of_two(), 0);
            }
        }
        let bit = Mask { values: 1, position: self.parity }.bit(n);
        self.heaps[usize::from(bit)][index] += heaps;
        is_new
    }

    /// The mask that makes the fewest heaps rare, and their number. The least coefficient of the Walsh-Hadamard transform is the
    /// number of rare heaps less that of common ones. The position is one more bit, above those of the values.
    pub fn best(&self) -> (Mask, usize) {
        let mut sums = self.heaps.concat();
        let by_position = sums.len() / 2;
        walsh_hadamard(&mut sums);
        let masks = if self.parity.is_some() { 0..sums.len() } else { 0..by_position };
        let masks = masks.filter(|mask| mask % by_position != 0);
        let best = masks.min_by_key(|mask| sums[*mask]).expect("values have at least a bit");
        let position = self.parity.filter(|_| best >= by_position);
        // The first sum is the number of heaps.
        (Mask { values: (best % by_position) as u16, position }, ((sums[0] + sums[best]) / 2) as usize)
    }
}

impl Space {
    /// The space of these values, with the mask that makes the fewest heaps rare.
    pub fn new(parity: Option<usize>, values: &[u16]) -> Self {
        let counts = Counts::of(parity, values);
        let (mask, chosen_at) = counts.best();
        let mut space = Space { mask, rare: Vec::new(), counts, chosen_at };
        space.split_by(mask, values);
        space
    }

    /// Rare heaps in ascending order, with their values, without the empty heap.
    pub fn rare(&self) -> &[(usize, u16)] {
        match self.rare.first() {
            Some((0, _)) => &self.rare[1..],
            _ => &self.rare,
        }
    }

    /// The number of rare heaps, the empty heap among them if it is rare.
    pub fn rare_count(&self) -> usize {
        self.rare.len()
    }

    /// Counts all values anew.
    pub fn recount(&mut self, values: &[u16]) {
        self.counts = Counts::of(self.counts.parity, values);
    }

    /// Takes the value of the next heap `n`; true if a mask should be chosen anew.
    #[inline(always)]
    pub fn push(&mut self, n: usize, value: u16) -> bool {
        let has_new_bit = self.counts.add(n, value, 1);
        if self.mask.is_rare(n, value) {
            self.rare.push((n, value));
        }
        has_new_bit || self.rare.len() > self.chosen_at + self.chosen_at / 32 + 8
    }

    /// Chooses the mask that makes the fewest of all heaps rare. True if it is another mask than before.
    pub fn choose(&mut self, values: &[u16]) -> bool {
        let (mask, _) = self.counts.best();
        let is_other = mask != self.mask;
        if is_other {
            self.split_by(mask, values);
        }
        self.chosen_at = self.rare.len();
        is_other
    }

    /// Splits the values by a mask.
    pub fn split_by(&mut self, mask: Mask, values: &[u16]) {
        self.mask = mask;
        let rare = || values.iter().copied().enumerate().filter(|(n, value)| mask.is_rare(*n, *value));
        // Half of the heaps may be rare: the old list is freed first, and the new one has no room to spare.
        self.rare = Vec::new();
        self.rare.reserve_exact(rare().count());
        self.rare.extend(rare());
    }
}
