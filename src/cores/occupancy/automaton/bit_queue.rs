//! Bit strings that may be readable only in part. Among them are queues, which are written at one end and read, much later, near the
//! other.
//!
//! A queue is a queue of chunks, so memory holds only what lies between the heads. Chunks are shared: a [`BitQueue::slice`]
//! goes to another thread while this one appends. The set bits before each page are known, so a reader can begin
//! anywhere.

use std::ops::Range;
use std::sync::Arc;

use crate::simd::bits::WORD;
use crate::simd::mapped;

/// A bit string in words that may be readable only in part.
pub trait BitString {
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

/// The last word with an even number such that `p word + q rank`, with the set bits before it, is at most `line`; and these bits. Begins
/// at one of some blocks, given the first word of each and the set bits before that. `None` if that word or the next cannot be read.
pub fn find(
    bits: &impl BitString,
    blocks: Range<usize>,
    first: impl Fn(usize) -> (usize, u64),
    [p, q]: [u64; 2],
    line: u64,
) -> Option<(usize, u64)> {
    let is_before = |(word, rank): (usize, u64)| p * word as u64 + q * rank <= line;
    let Range { start: mut block, mut end } = blocks;
    if block >= end || !is_before(first(block)) {
        return None;
    }
    while end - block > 1 {
        let middle = block.midpoint(end);
        if is_before(first(middle)) { block = middle } else { end = middle }
    }
    let mut at = first(block);
    loop {
        let next = (at.0 + 2, at.1 + ones(bits.words::<2>(at.0)?));
        if !is_before(next) {
            return Some(at);
        }
        at = next;
    }
}

/// The first set bit `n` from a word on with `p n + q k` of at least `line`, where it is the `k`-th of all, and the set bits before it,
/// given those before the word. If none of this and the next word is, the bit after them.
pub fn first_from(
    bits: &impl BitString,
    (first, mut rank): (usize, u64),
    [p, q]: [u64; 2],
    line: u64,
) -> Option<(u64, u64)> {
    for word in first..first + 2 {
        let mut left = bits.get(word)?;
        while left != 0 {
            let n = (WORD * word) as u64 + u64::from(left.trailing_zeros());
            if p * n + q * (rank + 1) >= line {
                return Some((n, rank));
            }
            rank += 1;
            left &= left - 1;
        }
    }
    Some(((WORD * (first + 2)) as u64, rank))
}

/// Words in a chunk.
const CHUNK: usize = 1 << 12;
/// Words in a page.
const PAGE: usize = 64;

#[derive(Clone)]
struct Chunk {
    words: [u64; CHUNK],
    /// The set bits of the queue before each page.
    ranks: [u64; CHUNK / PAGE],
}

/// A bit string in words.
pub struct BitQueue {
    chunks: Vec<Arc<Chunk>>,
    /// The number of the first kept word.
    first: usize,
    /// Words written.
    end: usize,
    /// Words from here on are counted but not kept, because they will not be read.
    horizon: usize,
    /// Set bits of the words before the horizon.
    ones: u64,
}

#[inline(always)]
fn ones(words: &[u64]) -> u64 {
    let mut ones = 0;
    for word in words {
        ones += u64::from(word.count_ones());
    }
    ones
}

impl BitQueue {
    /// Bytes of a chunk.
    pub const CHUNK_BYTES: usize = size_of::<Chunk>();

    /// An empty queue that keeps its first `horizon` words.
    pub fn new(horizon: usize) -> Self {
        BitQueue { chunks: Vec::new(), first: 0, end: 0, horizon, ones: 0 }
    }

    /// Appends words.
    #[inline(always)]
    pub fn append(&mut self, words: &[u64]) {
        let mut at = self.end;
        self.end += words.len();
        let mut left = &words[..words.len().min(self.horizon.saturating_sub(at))];
        while !left.is_empty() {
            if at.is_multiple_of(CHUNK) {
                self.chunks.push(Arc::new(Chunk { words: [0; CHUNK], ranks: [0; CHUNK / PAGE] }));
            }
            let Some(chunk) = self.chunks.last_mut() else { break };
            // A slice may share the chunk; then this copies it.
            let chunk = Arc::make_mut(chunk);
            if at.is_multiple_of(PAGE) {
                chunk.ranks[at % CHUNK / PAGE] = self.ones;
            }
            let (now, later) = left.split_at(left.len().min(PAGE - at % PAGE));
            chunk.words[at % CHUNK..][..now.len()].copy_from_slice(now);
            self.ones += ones(now);
            at += now.len();
            left = later;
        }
    }

    /// Words written so far.
    pub fn end(&self) -> usize {
        self.end
    }

    /// One more than the last word that is kept.
    fn kept(&self) -> usize {
        self.end.min(self.horizon)
    }

    /// The set bits before a page that has at least one kept word.
    fn page_rank(&self, page: usize) -> u64 {
        let index = page * PAGE - self.first;
        self.chunks[index / CHUNK].ranks[index % CHUNK / PAGE]
    }

    /// The set bits before bit `at`; `None` if the word of `at` is not kept.
    pub fn rank(&self, at: u64) -> Option<u64> {
        let (word, bit) = ((at / 64) as usize, at % 64);
        let last = self.get(word)? & !(u64::MAX << bit);
        let index = word - self.first;
        let page = index % CHUNK / PAGE * PAGE;
        let before = &self.chunks[index / CHUNK].words[page..index % CHUNK];
        Some(self.page_rank(word / PAGE) + ones(before) + u64::from(last.count_ones()))
    }

    /// In a row where a word becomes `zeros` bits and one more for each of its set bits: the last word with an even
    /// number that begins at or before `bit`, and the set bits before that word. `None` if it is not kept, or `bit` is
    /// past the last word.
    pub fn find(&self, zeros: u64, bit: u64) -> Option<(usize, u64)> {
        let pages = self.first / PAGE..self.kept().div_ceil(PAGE);
        find(self, pages, |page| (page * PAGE, self.page_rank(page)), [zeros, 1], bit)
    }

    /// The words of `range` that are kept, and those around them, shared with this queue.
    pub fn slice(&self, range: Range<usize>) -> BitQueue {
        let chunk = |word: usize| (word.clamp(self.first, self.kept().max(self.first)) - self.first).div_ceil(CHUNK);
        let from = (range.start.max(self.first) - self.first) / CHUNK;
        let to = chunk(range.end).max(from.min(self.chunks.len()));
        let from = from.min(to);
        let first = self.first + CHUNK * from;
        let end = self.kept().min(self.first + CHUNK * to).max(first);
        BitQueue { chunks: self.chunks[from..to].to_vec(), first, end, horizon: end, ones: self.ones }
    }

    /// Releases the words before `at`.
    pub fn release(&mut self, at: usize) {
        while self.first + CHUNK <= at && !self.chunks.is_empty() {
            self.chunks.remove(0);
            self.first += CHUNK;
        }
    }
}

/// `None` where a word is not written yet, lies past the horizon, or was released.
impl BitString for BitQueue {
    #[inline(always)]
    fn get(&self, at: usize) -> Option<u64> {
        let index = at.checked_sub(self.first)?;
        (at < self.kept()).then(|| self.chunks[index / CHUNK].words[index % CHUNK])
    }

    #[inline(always)]
    fn words<const N: usize>(&self, at: usize) -> Option<&[u64; N]> {
        const { assert!(CHUNK.is_multiple_of(N)) };
        let index = at.checked_sub(self.first)?;
        if at + N > self.kept() {
            return None;
        }
        self.chunks[index / CHUNK].words[index % CHUNK..].first_chunk()
    }
}

/// Appends the first `count` of the words to a list.
#[inline(always)]
pub fn extend<const N: usize>(list: &mut Vec<u64>, words: &[u64; N], count: usize) {
    // Copies all of them, because a fixed number is quicker.
    let end = list.len() + count;
    list.extend_from_slice(words);
    list.truncate(end);
}

/// Marks in whole words, for the queues.
#[derive(Default)]
pub struct NewMarks {
    /// Used heaps.
    pub used: Vec<u64>,
    /// Occupied lines `2m - n` by parity, odd ones at `(2m - n + 1) / 2`.
    pub sum: [Vec<u64>; 2],
    /// Upper `n`.
    pub flags: Vec<u64>,
}

impl NewMarks {
    /// Words of `used` and of each other list that are enough for a number of heaps: `used`, `sum` and `flags` grow by
    /// 1.478, 0.978 and 1 bit a heap.
    fn words(heaps: u64) -> [usize; 2] {
        const MORE: usize = 24;
        mapped([heaps * 3 / 2, heaps], |bits| bits as usize / WORD + MORE)
    }

    /// Bytes of lists for a number of heaps.
    pub fn bytes(heaps: u64) -> f64 {
        let [used, other] = Self::words(heaps);
        8.0 * (used + 3 * other) as f64
    }

    /// Makes room for the marks of that many heaps.
    pub fn reserve(&mut self, heaps: u64) {
        let NewMarks { used, sum: [even, odd], flags } = self;
        let [of_used, of_others] = Self::words(heaps);
        used.reserve_exact(of_used);
        [even, odd, flags].into_iter().for_each(|list| list.reserve_exact(of_others));
    }

    /// Empties the lists.
    pub fn clear(&mut self) {
        let NewMarks { used, sum: [even, odd], flags } = self;
        [used, even, odd, flags].into_iter().for_each(Vec::clear);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pseudo-random words.
    fn words(count: usize) -> Vec<u64> {
        (0..count as u64)
            .map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) & i.wrapping_mul(0xd1b5_4a32_d192_ed03))
            .collect()
    }

    #[test]
    fn a_queue_keeps_what_lies_between_the_heads() {
        let horizon = 10 * CHUNK + 3;
        let mut queue = BitQueue::new(horizon);
        for word in 0..11 * CHUNK {
            queue.append(&[word as u64]);
            assert_eq!(queue.get(word), (word < horizon).then_some(word as u64));
            assert_eq!(queue.get(word + 1), None);
            // A reader that follows one and a half chunks behind.
            let reader = word.saturating_sub(CHUNK + CHUNK / 2);
            queue.release(reader);
            assert!(reader >= horizon || queue.get(reader) == Some(reader as u64));
            assert!(queue.chunks.len() <= 3);
        }
        assert_eq!(queue.get(0), None);
        assert_eq!(queue.end(), 11 * CHUNK);
    }

    proptest! {
        #[test]
        fn a_slice_reads_as_its_queue(
            length in 1_usize..3 * CHUNK,
            released in 0_usize..CHUNK * 2,
            start in 0_usize..3 * CHUNK,
            more in 0_usize..2 * CHUNK,
        ) {
            let words = words(length + CHUNK);
            let mut queue = BitQueue::new(usize::MAX);
            queue.append(&words[..length]);
            queue.release(released.min(length));
            let slice = queue.slice(start..start + more);
            queue.append(&words[length..]);
            for at in (queue.first..length).filter(|at| (start..start + more).contains(at)) {
                prop_assert_eq!(slice.get(at), Some(words[at]));
                let before: u64 = ones(&words[..at]);
                prop_assert_eq!(slice.rank(64 * at as u64), Some(before));
                prop_assert_eq!(queue.rank(64 * at as u64 + 5), Some(before + u64::from((words[at] & 31).count_ones())));
            }
            prop_assert_eq!(slice.get(length), None);
            prop_assert_eq!(slice.rank(64 * length as u64), None);
        }

        #[test]
        fn a_word_is_found_by_its_image(length in 1_usize..2 * CHUNK, zeros in 1_u64..200, share in 0.0..1.1_f64) {
            let words = words(length);
            let mut queue = BitQueue::new(usize::MAX);
            queue.append(&words);
            let begin = |word: usize| zeros * word as u64 + ones(&words[..word]);
            let bit = (begin(length) as f64 * share) as u64;
            // The next pair of words must be there as well, so the last one is never found.
            let want = (0..length / 2 * 2).step_by(2).rfind(|word| begin(*word) <= bit).map(|word| (word, ones(&words[..word])));
            let want = want.filter(|(word, _)| begin(word + 2) > bit);
            prop_assert_eq!(queue.find(zeros, bit), want);
        }
    }
}
