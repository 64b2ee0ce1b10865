//! A table of cache lines: 64 bytes each, aligned, seen as vectors, as words to mark, or as bytes.
#![allow(unsafe_code, reason = "the same memory as lines, as half words and as bytes")]

/// A cache line of eight words.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Line(pub [u64; 8]);

/// A run of lines, all zero at first.
pub struct Lines(Vec<Line>);

impl Lines {
    /// `lines` lines of zeros.
    pub fn new(lines: usize) -> Self {
        Lines(vec![Line([0; 8]); lines])
    }

    /// One line.
    #[inline(always)]
    pub fn line(&self, at: usize) -> &[u64; 8] {
        &self.0[at].0
    }

    /// One line, to be written.
    #[inline(always)]
    pub fn line_mut(&mut self, at: usize) -> &mut [u64; 8] {
        &mut self.0[at].0
    }

    /// A line and the one after it.
    #[inline(always)]
    pub fn pair(&self, at: usize) -> [&[u64; 8]; 2] {
        let [first, second] = self.0[at..].first_chunk().expect("two lines");
        [&first.0, &second.0]
    }

    /// `N` bytes from any byte on.
    #[inline(always)]
    pub fn window<const N: usize>(&self, at: usize) -> &[u8; N] {
        // SAFETY: a `Line` is 64 initialised bytes without padding, and bytes need no alignment.
        let bytes = unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast::<u8>(), size_of_val(&*self.0)) };
        bytes[at..].first_chunk().expect("the bytes of a window")
    }

    /// `N` half words from the start of a line on, sixteen to a line. On x86 bit `i` of a line is bit `i % 32` of its half word
    /// `i / 32`.
    #[inline(always)]
    pub fn halves<const N: usize>(&mut self, at: usize) -> &mut [u32; N] {
        let lines = &mut self.0[at..][..N / 16];
        // SAFETY: a `Line` is sixteen `u32` without padding, aligned to more than they need; any bits are a `u32`, and the
        // borrow of `self` is exclusive.
        let halves = unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<u32>(), 16 * lines.len()) };
        halves.first_chunk_mut().expect("whole lines")
    }
}
