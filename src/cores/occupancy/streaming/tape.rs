//! Tapes: bit strings that are written at one end and read, much later, near the other. Chunks that all readers have
//! passed return to a pool that the tapes share, so memory holds only what lies between the heads.

use std::collections::VecDeque;

/// Words in a chunk.
const CHUNK: usize = 1 << 12;

type Chunk = Box<[u64; CHUNK]>;

/// Chunks that no tape uses.
#[derive(Default)]
pub struct Pool(Vec<Chunk>);

/// A bit string in words.
pub struct Tape {
    chunks: VecDeque<Chunk>,
    /// The number of the first kept word.
    first: usize,
    /// Words written.
    end: usize,
    /// Words from here on are counted but not kept, because they will not be read.
    horizon: usize,
}

impl Tape {
    /// An empty tape that keeps its first `horizon` words.
    pub fn new(horizon: usize) -> Self {
        Tape { chunks: VecDeque::new(), first: 0, end: 0, horizon }
    }

    /// Appends a word.
    #[inline(always)]
    pub fn push(&mut self, word: u64, pool: &mut Pool) {
        let at = self.end;
        self.end += 1;
        if at >= self.horizon {
            return;
        }
        if at.is_multiple_of(CHUNK) {
            self.chunks.push_back(pool.0.pop().unwrap_or_else(|| Box::new([0; CHUNK])));
        }
        if let Some(chunk) = self.chunks.back_mut() {
            chunk[at % CHUNK] = word;
        }
    }

    /// Appends the first `count` of the words.
    #[inline(always)]
    pub fn extend<const N: usize>(&mut self, words: &[u64; N], count: usize, pool: &mut Pool) {
        let at = self.end % CHUNK;
        match self.chunks.back_mut() {
            // Copies all of them, because a fixed number is quicker; the next call overwrites the excess.
            Some(chunk) if at != 0 && at + N <= CHUNK && self.end + N <= self.horizon => {
                chunk[at..at + N].copy_from_slice(words);
                self.end += count;
            }
            _ => words[..count].iter().for_each(|word| self.push(*word, pool)),
        }
    }

    /// Words written so far.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Word `at`, unless it is not written yet, lies past the horizon, or was released.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Option<u64> {
        let at = at.checked_sub(self.first)?;
        let written = self.end.min(self.horizon) - self.first;
        (at < written).then(|| self.chunks[at / CHUNK][at % CHUNK])
    }

    /// The `N` words from `at` on, where `at` is a multiple of `N`; `None` in the cases of [`Tape::get`].
    #[inline(always)]
    pub fn words<const N: usize>(&self, at: usize) -> Option<&[u64; N]> {
        const { assert!(CHUNK.is_multiple_of(N)) };
        let at = at.checked_sub(self.first)?;
        let written = self.end.min(self.horizon) - self.first;
        if at + N > written {
            return None;
        }
        self.chunks[at / CHUNK][at % CHUNK..].first_chunk()
    }

    /// 32 bits from bit `at` on.
    pub fn bits(&self, at: u64) -> Option<u32> {
        let (word, shift) = ((at / 64) as usize, at % 64);
        let low = self.get(word)? >> shift;
        let high = if shift > 32 { self.get(word + 1)? << (64 - shift) } else { 0 };
        Some((low | high) as u32)
    }

    /// Releases the words before `at`.
    pub fn release(&mut self, at: usize, pool: &mut Pool) {
        while self.first + CHUNK <= at {
            let Some(chunk) = self.chunks.pop_front() else { break };
            pool.0.push(chunk);
            self.first += CHUNK;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_keeps_what_lies_between_the_heads() {
        let mut pool = Pool::default();
        let mut tape = Tape::new(10 * CHUNK + 3);
        for word in 0..11 * CHUNK {
            tape.push(word as u64, &mut pool);
            assert_eq!(tape.get(word), (word < 10 * CHUNK + 3).then_some(word as u64));
            assert_eq!(tape.get(word + 1), None);
            // A reader that follows one and a half chunks behind.
            let reader = word.saturating_sub(CHUNK + CHUNK / 2);
            tape.release(reader, &mut pool);
            assert!(reader >= 10 * CHUNK + 3 || tape.get(reader) == Some(reader as u64));
            assert!(tape.chunks.len() + pool.0.len() <= 3);
        }
        assert_eq!(tape.get(0), None);
        assert_eq!(tape.end(), 11 * CHUNK);
    }

    #[test]
    fn words_together_are_words_one_by_one() {
        let mut pool = Pool::default();
        let horizon = 2 * CHUNK + 21;
        let [mut one, mut many] = [Tape::new(horizon), Tape::new(horizon)];
        // Every count, across the ends of chunks and past the horizon.
        for round in 0..CHUNK {
            let words: [u64; 8] = std::array::from_fn(|i| (8 * round + i) as u64);
            let count = (round * round + round / 3) % 9;
            words[..count].iter().for_each(|word| one.push(*word, &mut pool));
            many.extend(&words, count, &mut pool);
        }
        assert!(one.end() > horizon && one.end() == many.end());
        for at in 0..one.end() {
            assert_eq!(one.get(at), many.get(at), "word {at}");
        }
        for at in (0..one.end()).step_by(8) {
            let words: Option<Vec<u64>> = (at..at + 8).map(|at| one.get(at)).collect();
            assert_eq!(many.words::<8>(at).map(|words| words.to_vec()), words, "words from {at} on");
        }
    }
}
