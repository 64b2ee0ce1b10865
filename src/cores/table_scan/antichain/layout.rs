//! Where the rows of marks are.
//!
//! They are the rows of [`super::super::layers`], without the parts that are never read. `one[y]`, `two[d]` and
//! `all[d]` start at their diagonal, because places below it are never read: half a square each. `gap` takes a whole
//! square, so there are `2.5 N^2` bits in all.

use crate::simd::bits::WORD;

/// Where each row begins, in words.
pub struct Layout {
    pub heaps: usize,
    /// Words in the longest row of a triangle.
    pub longest: usize,
    pub two: usize,
    pub all: usize,
    pub gap: usize,
    /// Words from one row of `gap` to the next.
    pub stride: usize,
    pub words: usize,
}

impl Layout {
    pub fn new(heaps: usize) -> Self {
        // The place past the last heap takes the marks of searches without a result.
        let longest = heaps / WORD + 1;
        let reach = Self::reach(heaps).div_ceil(8);
        let stride = longest + 1;
        let triangle = Self::start(heaps, longest).wrapping_add(heaps / WORD);
        let one = 1;
        let (two, all) = (one + triangle, one + 2 * triangle);
        let gap = one + 3 * triangle + 1;
        Layout { heaps, longest, two, all, gap, stride, words: gap + heaps * stride + reach }
    }

    /// Bytes from the place where a search starts to the end of its last window.
    pub const fn reach(heaps: usize) -> usize {
        heaps / 8 + 128
    }

    /// The word that place 0 of row `r` of a triangle would have: the row begins at its word `r / 64`.
    pub const fn start(r: usize, longest: usize) -> usize {
        let q = r / WORD;
        (r * longest).wrapping_sub(q.wrapping_mul(r.wrapping_sub(32 * q).wrapping_sub(31)))
    }

    pub fn one(&self, heap: usize) -> usize {
        Self::start(heap, self.longest) + 1
    }

    pub fn two(&self, d: usize) -> usize {
        Self::start(d, self.longest) + self.two
    }

    pub fn all(&self, d: usize) -> usize {
        Self::start(d, self.longest) + self.all
    }

    pub fn gap(&self, heap: usize) -> usize {
        self.gap + heap * self.stride
    }
}
