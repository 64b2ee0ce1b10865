//! A table of which only a window is kept, in chunks: it grows at the end, and what is no longer needed goes at the front.

use std::ops::Index;

/// Entries by index, in chunks of `1 << BITS`.
pub struct Tape<T, const BITS: u32> {
    /// Those at the front that were given up are empty.
    chunks: Vec<Box<[T]>>,
    /// How many these are.
    given_up: usize,
    /// Chunks to use again: fresh pages are slow.
    spare: Vec<Box<[T]>>,
}

impl<T: Copy + Default, const BITS: u32> Tape<T, BITS> {
    /// An empty tape that begins with the chunk of `index`.
    pub fn from(index: usize) -> Self {
        let given_up = index >> BITS;
        Tape { chunks: vec![Box::default(); given_up], given_up, spare: Vec::new() }
    }

    /// The first index that is kept.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.given_up << BITS
    }

    /// The entry at an index, unless it was given up or there is none yet.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index >> BITS)?.get(index & ((1 << BITS) - 1))
    }

    /// The entry at an index up to the end; a new one, if it is the first past the end.
    #[inline(always)]
    pub fn reach(&mut self, index: usize) -> &mut T {
        while index >> BITS >= self.chunks.len() {
            self.grow();
        }
        &mut self.chunks[index >> BITS][index & ((1 << BITS) - 1)]
    }

    #[inline(never)]
    fn grow(&mut self) {
        let chunk = match self.spare.pop() {
            Some(mut chunk) => {
                chunk.fill(T::default());
                chunk
            }
            None => vec![T::default(); 1 << BITS].into_boxed_slice(),
        };
        self.chunks.push(chunk);
    }

    /// The entries of the first chunk that is kept.
    pub fn front(&self) -> &[T] {
        &self.chunks[self.given_up]
    }

    /// Gives up the first chunk.
    pub fn drop_front(&mut self) {
        self.spare.push(std::mem::take(&mut self.chunks[self.given_up]));
        self.given_up += 1;
    }

    /// Gives up chunks that end at `index` or before.
    pub fn drop_below(&mut self, index: usize) {
        while self.given_up < self.chunks.len() && self.start() + (1 << BITS) <= index {
            self.drop_front();
        }
    }
}

/// An entry that is kept.
impl<T: Copy + Default, const BITS: u32> Index<usize> for Tape<T, BITS> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        &self.chunks[index >> BITS][index & ((1 << BITS) - 1)]
    }
}
