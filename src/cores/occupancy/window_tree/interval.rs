//! The marks that an interval of heaps leaves, with the totals of all that come before.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cores::occupancy::automaton::bit_queue::{BitString, find, first_from};
use crate::cores::occupancy::automaton::engine::{Engine, Span, WORDS};
use crate::cores::occupancy::automaton::plain;
use crate::cores::occupancy::automaton::queues::{Queues, start};
use crate::cores::occupancy::automaton::totals::Automaton;
use crate::cores::occupancy::{Positions, ProportionateNim, Wanted};
use crate::kernel::RunError;
use crate::simd::bits::WORD;
use crate::simd::mapped;

/// The count of some numbers, and their sum. Both are modulo a power of two: differences may pass zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    pub count: u64,
    pub sum: u128,
}

impl Total {
    /// The numbers of a range.
    pub fn range(range: Range<u64>) -> Total {
        let Range { start, end } = range;
        let triangle = |end: u64| u128::from(end) * u128::from(end.saturating_sub(1)) / 2;
        Total { count: end - start, sum: triangle(end) - triangle(start) }
    }

    /// The numbers of the set bits of a word, whose bit 0 is number `first`.
    pub fn of_bits(mut bits: u128, first: u64) -> Total {
        let mut total = Total::default();
        while bits != 0 {
            total = total.plus(Total { count: 1, sum: u128::from(first) + u128::from(bits.trailing_zeros()) });
            bits &= bits - 1;
        }
        total
    }

    /// These numbers, each larger by `by`.
    fn moved(self, by: usize) -> Total {
        Total { sum: self.sum.wrapping_add(u128::from(self.count) * by as u128), ..self }
    }

    /// Both together.
    pub fn plus(self, other: Total) -> Total {
        Total { count: self.count.wrapping_add(other.count), sum: self.sum.wrapping_add(other.sum) }
    }

    /// These without others.
    pub fn minus(self, other: Total) -> Total {
        Total { count: self.count.wrapping_sub(other.count), sum: self.sum.wrapping_sub(other.sum) }
    }

    /// `factor x - less` for each number `x`.
    pub fn scaled(self, factor: u64, less: u64) -> Total {
        let sum = self.sum.wrapping_mul(factor.into()).wrapping_sub(u128::from(self.count) * u128::from(less));
        Total { sum, ..self }
    }

    /// `p x + q i` for each number `x`, the `i`-th of them, counted from one.
    pub fn lines(self, p: u64, q: u64) -> Total {
        self.scaled(p, 0).plus(Total { count: 0, sum: Total::range(1..self.count + 1).sum * u128::from(q) })
    }
}

impl From<[u64; 2]> for Total {
    fn from([count, sum]: [u64; 2]) -> Self {
        Total { count, sum: sum.into() }
    }
}

/// Words of a page. Memory comes in pages of one size, so a page that one row drops fits the next, whenever that begins.
const PAGE: usize = 128;
/// Words between two totals.
const GROUP: usize = 32;

struct Page {
    words: [u64; PAGE],
    /// The number of set bits before the page, and the sum of their indices from the first page on, as the bytes of a `u128`,
    /// which need not be aligned.
    count: u64,
    sum: [u8; 16],
    /// The same from the beginning of the page to that of each group, with indices in the page.
    groups: [[u32; 2]; PAGE / GROUP],
}

impl Page {
    fn before(&self) -> Total {
        Total { count: self.count, sum: u128::from_ne_bytes(self.sum) }
    }
}

/// Each page is allocated alone: a list of unboxed pages would be a block of any size.
type Pages = Vec<Box<Page>>;

/// Pages that were dropped, for the next rows of any thread: the allocator would merge and split them.
#[derive(Default)]
pub struct Pool(Mutex<Pages>);

impl Pool {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page whose first `zeros` words are zero, and whose others are to be written before they are read.
    fn take(&self, zeros: usize, before: Total) -> Box<Page> {
        let Total { count, sum } = before;
        let sum = sum.to_ne_bytes();
        let page = self.pages().pop();
        match page {
            None => Box::new(Page { words: [0; PAGE], count, sum, groups: [[0; 2]; PAGE / GROUP] }),
            Some(mut page) => {
                page.words[..zeros].fill(0);
                (page.count, page.sum, page.groups) = (count, sum, [[0; 2]; PAGE / GROUP]);
                page
            }
        }
    }
}

/// The number of set bits, and the sum of their indices.
type SumOfBits = fn(&[u64; WORDS]) -> [u64; 2];

/// A part of a bit string, with totals of its bits.
pub struct Marks {
    /// The numbers of the first word and of the one after the last.
    first: usize,
    end: usize,
    /// Page `i` begins with word `base + PAGE i`.
    pages: Pages,
    /// Where they come from and go to.
    pool: Arc<Pool>,
}

impl Drop for Marks {
    fn drop(&mut self) {
        if !self.pages.is_empty() {
            self.pool.pages().append(&mut self.pages);
        }
    }
}

impl Marks {
    /// An empty part that begins with word `first`.
    fn new(first: usize, pool: &Arc<Pool>) -> Self {
        Marks { first, end: first, pages: Vec::new(), pool: Arc::clone(pool) }
    }

    /// The number of the first bit.
    pub fn first_bit(&self) -> u64 {
        (WORD * self.first) as u64
    }

    /// The number of the bit after the last.
    pub fn end_bit(&self) -> u64 {
        (WORD * self.end) as u64
    }

    /// The number of the first word of the first page. Words and groups are counted from it.
    fn base(&self) -> usize {
        self.first / PAGE * PAGE
    }

    /// Words from the base on.
    fn len(&self) -> usize {
        self.end - self.base()
    }

    fn word(&self, at: usize) -> u64 {
        self.pages[at / PAGE].words[at % PAGE]
    }

    /// The total before a group, with indices from the first page on.
    fn total(&self, group: usize) -> Total {
        let number = GROUP * group / PAGE;
        let page = &self.pages[number];
        let inside = Total::from(mapped(page.groups[group % (PAGE / GROUP)], u64::from));
        page.before().plus(inside.moved(WORD * PAGE * number))
    }

    fn extend(&mut self, words: &[u64], sum_of_bits: SumOfBits) {
        let mut left = words;
        while !left.is_empty() {
            let at = self.len();
            if at.is_multiple_of(GROUP) || self.pages.is_empty() {
                self.open_group(at, sum_of_bits);
            }
            let (now, later) = left.split_at(left.len().min(GROUP - at % GROUP));
            self.pages[at / PAGE].words[at % PAGE..][..now.len()].copy_from_slice(now);
            self.end += now.len();
            left = later;
        }
    }

    /// Appends what is now complete of a row of an engine: see [`Engine::complete`].
    fn complete(&mut self, engine: &Engine, row: usize, sum_of_bits: SumOfBits) {
        engine.complete(row, self.end, &mut |_, marks, count| self.extend(&marks[..count], sum_of_bits));
    }

    /// Makes room for the group that begins at a word, or for the first words.
    fn open_group(&mut self, at: usize, sum_of_bits: SumOfBits) {
        // The total of the words before, in the page of the last of them.
        let mut total = [0; 2];
        if let Some(page) = self.pages.last() {
            let last = (at - GROUP) % PAGE;
            total = page.groups[last / GROUP];
            let (eights, _) = page.words[last..][..GROUP].as_chunks::<WORDS>();
            for (i, words) in eights.iter().enumerate() {
                let [count, sum] = sum_of_bits(words);
                let sum = sum + count * (WORD * (last + WORDS * i)) as u64;
                total = [total[0] + count as u32, total[1] + sum as u32];
            }
        }
        if self.pages.len() == at / PAGE {
            let before = self.pages.last().map_or(Total::default(), |page| page.before());
            let inside = Total::from(mapped(total, u64::from));
            let before = before.plus(inside.moved(WORD * PAGE * self.pages.len().saturating_sub(1)));
            self.pages.push(self.pool.take(at % PAGE, before));
        } else {
            self.pages[at / PAGE].groups[at % PAGE / GROUP] = total;
        }
    }

    /// The word that holds `bit`, and the bits below it there.
    fn place(&self, bit: u64) -> Option<(usize, u64)> {
        let at = ((bit / WORD as u64) as usize, !(u64::MAX << (bit % WORD as u64)));
        let (word, below) = (at.0.checked_sub(self.base())?, at.1);
        let is_here = at.0 >= self.first && (word < self.len() || word == self.len() && below == 0);
        is_here.then_some((word, below))
    }

    /// The last group that begins before a word, or at the word if that is here, and the words of the group before it.
    #[inline(always)]
    fn group(&self, word: usize) -> Option<(usize, &[u64])> {
        let group = word.min(self.len().checked_sub(1)?) / GROUP;
        let start = GROUP * group;
        Some((group, &self.pages.get(start / PAGE)?.words[start % PAGE..][..word - start]))
    }

    /// The set bits below `bit`.
    pub fn below(&self, bit: u64) -> Option<Total> {
        let (word, below) = self.place(bit)?;
        let Some((group, whole)) = self.group(word) else { return Some(Total::default()) };
        // The total of the words from the group's beginning on, with indices from there.
        let (start, mut rest) = (GROUP * group, [0; 2]);
        for i in 0..=whole.len() {
            let word = match whole.get(i) {
                Some(word) => *word,
                None if below == 0 => break,
                None => self.word(word) & below,
            };
            let [count, sum] = plain::sum_of_word(word);
            rest = [rest[0] + count, rest[1] + sum + count * (WORD * i) as u64];
        }
        Some(self.total(group).plus(Total::from(rest).moved(WORD * start)).moved(WORD * self.base()))
    }

    /// The number of set bits below `bit`.
    pub fn count(&self, bit: u64) -> Option<u64> {
        let (word, below) = self.place(bit)?;
        let Some((group, whole)) = self.group(word) else { return Some(0) };
        let part = if below != 0 { self.word(word) & below } else { 0 };
        let mut count = self.total(group).count + u64::from(part.count_ones());
        for word in whole {
            count += u64::from(word.count_ones());
        }
        Some(count)
    }
}

impl BitString for Marks {
    #[inline(always)]
    fn get(&self, at: usize) -> Option<u64> {
        (self.first..self.end).contains(&at).then(|| self.word(at - self.base()))
    }

    #[inline(always)]
    fn words<const N: usize>(&self, at: usize) -> Option<&[u64; N]> {
        const { assert!(PAGE.is_multiple_of(N)) };
        if at < self.first || at + N > self.end {
            return None;
        }
        let at = at - self.base();
        self.pages[at / PAGE].words[at % PAGE..].first_chunk()
    }
}

/// What an interval of heaps leaves for others to read, except the lines `2m - n`.
pub struct Interval {
    pub flags: Flags,
    pub used: Used,
}

/// The upper heaps of an interval.
pub struct Flags {
    /// The first heap of the interval, a multiple of the span.
    pub from: u64,
    pub marks: Marks,
    /// The total of those before the first word.
    pub before: Total,
}

/// The used heaps that an interval knows.
pub struct Used {
    pub marks: Marks,
    /// The total of those before the first word.
    pub before: Total,
}

impl Interval {
    /// An empty interval from heap `from` on, whose row of used heaps begins with this word, given the totals of upper and used
    /// heaps before.
    pub fn new(from: u64, word: usize, flags: Total, used: Total, pool: &Arc<Pool>) -> Self {
        Interval {
            flags: Flags { from, marks: Marks::new(from as usize / WORD, pool), before: flags },
            used: Used { marks: Marks::new(word, pool), before: used },
        }
    }

    /// An interval of nothing.
    pub fn none(pool: &Arc<Pool>) -> Self {
        Interval::new(0, 0, Total::default(), Total::default(), pool)
    }

    /// What the heaps before the automaton starts leave, and the automaton's engine there. The base ends at heap `to`.
    pub fn base(input: &ProportionateNim, to: u64, pool: &Arc<Pool>) -> Result<(Engine, Interval, Sums), RunError> {
        let small = ProportionateNim { limit: input.limit().min(1 << 20), ..input.clone() };
        let (queues, joint) = start(&small, [1.0; 3], &mut Positions::new(&Wanted::Totals))?;
        let automaton =
            Automaton::at(small.limit(), &joint, queues.sources(), Span::new()).ok_or(RunError::Overflow)?;
        let Queues { used, sum, flags } = queues;
        let mut interval = Interval::none(pool);
        let mut sums = Sums::new(to, 0, Total::default(), pool);
        let [even, odd] = &mut sums.rows;
        let Interval { flags: Flags { marks: of_flags, .. }, used: Used { marks: of_used, .. } } = &mut interval;
        for (marks, queue) in [(of_flags, &flags), (of_used, &used), (even, &sum[0]), (odd, &sum[1])] {
            while let Some(word) = queue.get(marks.end) {
                marks.extend(&[word], plain::sum_of_bits);
            }
        }
        Ok((automaton.engine, interval, sums))
    }

    /// Appends the last span of an engine, in which these heaps are upper ones.
    pub fn extend(&mut self, engine: &Engine, upper: &[u64; WORDS], sum_of_bits: SumOfBits) {
        self.flags.marks.extend(upper, sum_of_bits);
        self.used.marks.complete(engine, 0, sum_of_bits);
    }
}

impl Used {
    /// The used heaps below `heap`.
    pub fn below(&self, heap: u64) -> Option<Total> {
        Some(self.before.plus(self.marks.below(heap)?))
    }
}

impl Flags {
    /// The lines `p a + q k` of the upper heaps `a`, where `a` is the `k`-th of them: from the first that may be here to one past
    /// the last.
    pub fn lines(&self, p: u64, q: u64) -> Range<u64> {
        let end = self.marks.end_bit();
        let all = self.marks.count(end).unwrap_or(0);
        self.first_line(p, q)..p * end + q * (self.before.count + all)
    }

    /// Where [`Flags::lines`] begins, without a count.
    pub fn first_line(&self, p: u64, q: u64) -> u64 {
        p * self.from + q * self.before.count
    }

    /// The last even word of flags such that all upper heaps `a` before it have lines `p a + q k` of at most `line`,
    /// where `a` is the `k`-th of them; and their number.
    pub fn seek(&self, p: u64, q: u64, line: u64) -> Option<(usize, u64)> {
        let (flags, first) = (&self.marks, self.marks.first);
        if flags.pages.is_empty() {
            return None;
        }
        let group = |group: usize| {
            let word = first.max(flags.base() + GROUP * group);
            (word, self.before.count + flags.total(group).count)
        };
        find(flags, (first - flags.base()) / GROUP..flags.len().div_ceil(GROUP), group, [WORD as u64 * p, q], line)
    }

    /// The heap from which on upper heaps `a` have lines `p a + q k` of at least `line`, where `a` is the `k`-th of
    /// them, and the number of those before.
    pub fn first_from(&self, p: u64, q: u64, line: u64) -> Option<(u64, u64)> {
        first_from(&self.marks, self.seek(p, q, line)?, [p, q], line)
    }

    /// The upper heaps `a` whose line `p a + q k` is below `line`, where `a` is the `k`-th of them.
    pub fn uppers_below(&self, p: u64, q: u64, line: u64) -> Option<Total> {
        let (heap, _) = self.first_from(p, q, line)?;
        Some(self.before.plus(self.marks.below(heap)?))
    }
}

/// The lines `2m - n` that some heaps leave for others to read.
pub struct Sums {
    /// One past the last heap, a multiple of the span.
    pub to: u64,
    /// By parity; odd ones at `(2m - n + 1) / 2`.
    pub rows: [Marks; 2],
    /// The total before the first words.
    pub before: Total,
}

impl Sums {
    /// None yet of heaps up to `to`, in rows that begin with this word.
    pub fn new(to: u64, word: usize, before: Total, pool: &Arc<Pool>) -> Self {
        Sums { to, rows: [(); 2].map(|()| Marks::new(word, pool)), before }
    }

    /// Appends the last span of an engine, unless it is past the end.
    pub fn extend(&mut self, engine: &Engine, sum_of_bits: SumOfBits) {
        if engine.n > self.to {
            return;
        }
        for (parity, row) in self.rows.iter_mut().enumerate() {
            row.complete(engine, 1 + parity, sum_of_bits);
        }
    }

    /// The bits of the two rows of sums that come after `line`.
    fn after(line: u64) -> [u64; 2] {
        [line / 2 + 1, line.div_ceil(2) + 1]
    }

    /// The lines `2m - n` up to `line`.
    pub fn up_to(&self, line: u64) -> Option<Total> {
        let [even, odd] = Self::after(line);
        let [even, odd] = [self.rows[0].below(even)?.scaled(2, 0), self.rows[1].below(odd)?.scaled(2, 1)];
        Some(self.before.plus(even).plus(odd))
    }

    /// The number of lines `2m - n` up to `line`.
    pub fn count(&self, line: u64) -> Option<u64> {
        let [even, odd] = Self::after(line);
        Some(self.before.count + self.rows[0].count(even)? + self.rows[1].count(odd)?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows of some billions of heaps have such sums.
    #[test]
    fn totals_pass_64_bits() {
        let mut marks = Marks::new(0, &Arc::default());
        let words = [u64::MAX; PAGE];
        marks.extend(&words, plain::sum_of_bits);
        let before = marks.below(marks.end_bit()).expect("here");
        marks.pages[0].sum = u128::from(u64::MAX).to_ne_bytes();
        marks.extend(&words, plain::sum_of_bits);
        let more = Total { count: 0, sum: u64::MAX.into() };
        assert_eq!(marks.below((WORD * PAGE) as u64), Some(before.plus(more)));
        assert_eq!(marks.below(marks.end_bit()), Some(Total::range(0..marks.end_bit()).plus(more)));
    }

    proptest! {
        #[test]
        fn totals_are_sums(words in prop::collection::vec(any::<u64>(), 1..200), first in 0_usize..50, at in any::<prop::sample::Index>()) {
            // Pages from the pool are not empty.
            let pool = Arc::<Pool>::default();
            for _ in 0..4 {
                let groups = [[1; 2]; PAGE / GROUP];
                pool.pages().push(Box::new(Page { words: [!0; PAGE], count: 1, sum: [1; 16], groups }));
            }
            let mut marks = Marks::new(first, &pool);
            words.chunks(7).for_each(|words| marks.extend(words, plain::sum_of_bits));
            let end = WORD * words.len();
            let bit = at.index(end + 1);
            let set = (0..bit).filter(|i| words[i / WORD] >> (i % WORD) & 1 == 1);
            let want = set.fold(Total::default(), |total, i| total.plus(Total { count: 1, sum: (WORD * first + i) as u128 }));
            let bit = (WORD * first + bit) as u64;
            prop_assert_eq!(marks.below(bit), Some(want));
            prop_assert_eq!(marks.count(bit), Some(want.count));
            prop_assert_eq!(marks.below((WORD * (first + words.len())) as u64 + 1), None);
            prop_assert!(first == 0 || marks.below((WORD * first - 1) as u64).is_none());
        }
    }
}
