//! Where the rows of marks stand.
//!
//! They are those of [`super::super::layers`], less what nobody reads. `one[y]`, `two[d]` and `all[d]` start at their diagonal, for
//! places below it are never asked for: half a square each. `gap` takes a whole one, so there are `2.5 N^2` bits in all.

use crate::bits::WORD;

/// Where each row stands, in words.
pub struct Board {
    pub heaps: usize,
    /// Words of the longest row of a triangle.
    pub longest: usize,
    pub two: usize,
    pub all: usize,
    pub gap: usize,
    /// Words from one row of `gap` to the next.
    pub stride: usize,
    pub words: usize,
}

impl Board {
    pub fn new(heaps: usize) -> Self {
        // A place past the last heap takes the marks of searches that found nothing.
        let longest = heaps / WORD + 1;
        let reach = Self::reach(heaps).div_ceil(8);
        let stride = longest + 1;
        let triangle = Self::start(heaps, longest).wrapping_add(heaps / WORD);
        let one = 1;
        let (two, all) = (one + triangle, one + 2 * triangle);
        let gap = one + 3 * triangle + 1;
        Board { heaps, longest, two, all, gap, stride, words: gap + heaps * stride + reach }
    }

    /// Bytes from the place where a search starts to the end of its last window.
    pub const fn reach(heaps: usize) -> usize {
        heaps / 8 + 128
    }

    /// The word of place 0 of row `r` of a triangle, if it had one: its words start at `r / 64`.
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
