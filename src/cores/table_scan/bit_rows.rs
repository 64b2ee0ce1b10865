//! 64 candidates at once in plain words: a window of each of the six bit rows is ORed, and the first zero is the
//! P-position. The loop is also compiled at the AVX2 tier, where BMI shortens the shifts.
//!
//! A window is whole words of `z`, from the word of the hint on. So the three rows read at `z` need no shift, and of
//! the other three, the two read at the same place are ORed before they are shifted. The window also holds candidates
//! below the hint, but they are forbidden: their differences are used in the layer, and each row has a word of ones in
//! front for differences below 0.
//!
//! Cost: `0.09 N / 64` windows for each of `0.18 N^2` visits, `N^3 / 64` in all at large `N`.
//! Bound: nine loads and as many ORs per window; at small `N` the bookkeeping of a visit and the mispredicted end of
//! the search.

use super::layers::{self, Marks, Search, Visit, scan};
use super::{Sink, StoneGame};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError, Tier};
use crate::simd::bits::{WORD, first_zero};

/// Words of ones in front of a row.
const FRONT: usize = 1;
/// Readable words without meaning after the last row: the reach of the widest window and the word after it.
const PADDING: usize = 9;

/// The layout of a table of bit rows, in words.
#[derive(Clone, Copy)]
pub struct Shape {
    rows: usize,
    stride: usize,
}

impl Shape {
    pub fn new(rows: usize, heaps: usize) -> Self {
        Shape { rows, stride: FRONT + heaps / WORD + 1 }
    }

    /// The words of an empty table.
    pub fn words(self) -> Vec<u64> {
        let mut words = vec![0; self.rows * self.stride + PADDING];
        words.chunks_exact_mut(self.stride).take(self.rows).for_each(|row| row[..FRONT].fill(u64::MAX));
        words
    }

    /// The word of a row that holds place 0.
    #[inline(always)]
    fn start(self, row: usize) -> usize {
        row * self.stride + FRONT
    }

    /// The bit of a place.
    #[inline(always)]
    pub fn bit(self, row: usize, place: usize) -> usize {
        self.start(row) * WORD + place
    }

    /// [`Marks::next_free`].
    #[inline(always)]
    pub fn next_free(self, words: &[u64], row: usize, mut place: usize) -> usize {
        let start = self.start(row);
        loop {
            let left = WORD - place % WORD;
            let marked = first_zero(words[start + place / WORD] >> (place % WORD));
            place += marked;
            if marked < left {
                return place;
            }
        }
    }

    /// [`Search::first_free`] by windows of `W` words: `load` makes a vector of them, `or` joins two vectors, and
    /// `funnel` takes 64 bits, from the given one on, of each word and its successor.
    #[inline(always)]
    pub fn first_free<const W: usize, V: Copy>(
        self,
        words: &[u64],
        visit: &Visit,
        load: impl Fn(&[u64; W]) -> V,
        or: impl Fn(V, V) -> V,
        funnel: impl Fn(V, V, usize) -> V,
        first_zero: impl Fn(V) -> usize,
    ) -> usize {
        let at = |place: usize| load(words[place..].first_chunk().expect("padding follows the rows"));
        let pair = |place: usize| {
            let both = &words[place..][..W + 1];
            (load(both.first_chunk().expect("W words")), load(both.last_chunk().expect("W words")))
        };
        let [one_x, one_y, two] = visit.at_z.map(|row| self.start(row));
        let [gap_y, all] = visit.less_x.map(|row| self.start(row) - visit.x.div_ceil(WORD));
        let gap_x = self.start(visit.less_y) - visit.y.div_ceil(WORD);
        let (by_x, by_y) = (visit.x.wrapping_neg() % WORD, visit.y.wrapping_neg() % WORD);
        let mut word = visit.from / WORD;
        while word * WORD < visit.heaps {
            let at_z = or(or(at(one_x + word), at(one_y + word)), at(two + word));
            let ((gap_y, next_gap_y), (all, next_all)) = (pair(gap_y + word), pair(all + word));
            let (gap_x, next_gap_x) = pair(gap_x + word);
            let less_x = funnel(or(gap_y, all), or(next_gap_y, next_all), by_x);
            let found = first_zero(or(or(at_z, less_x), funnel(gap_x, next_gap_x, by_y)));
            if found < W * WORD {
                return word * WORD + found;
            }
            word += W;
        }
        visit.heaps
    }
}

/// Bytes of a table.
pub fn bytes(input: &StoneGame) -> f64 {
    layers::bytes(input, 8 * Shape::new(0, input.heaps()).stride)
}

/// Marks as bits of words.
pub struct Words {
    pub shape: Shape,
    pub words: Vec<u64>,
}

impl Marks for Words {
    fn new(rows: usize, heaps: usize) -> Self {
        let shape = Shape::new(rows, heaps);
        Words { shape, words: shape.words() }
    }

    #[inline(always)]
    fn mark(&mut self, row: usize, place: usize) {
        let bit = self.shape.bit(row, place);
        self.words[bit / WORD] |= 1 << (bit % WORD);
    }

    #[inline(always)]
    fn next_free(&self, row: usize, place: usize) -> usize {
        self.shape.next_free(&self.words, row, place)
    }
}

/// The search by single words, whatever holds them.
#[inline(always)]
pub fn first_free(shape: Shape, words: &[u64], visit: &Visit) -> usize {
    let funnel = |low: u64, high: u64, by: usize| low >> by | high << 1 << (WORD - 1 - by); // a shift by 64 is not defined
    shape.first_free(words, visit, |[word]| *word, |a, b| a | b, funnel, first_zero)
}

pub fn cost(input: &StoneGame, context: CostContext) -> Cost {
    let n = input.heaps() as f64;
    let square = if context.tier == Tier::Portable { 3.75 } else { 3.6 };
    Cost { ns: 0.0018 * n * n * n + square * n * n, bytes: bytes(input) }
}

/// Seven marks per P-position. Per visit, of which there are three for two positions, the words of a search: nine loads,
/// eight ORs and four shifts each, at four of these 21 operations a cycle.
pub fn needs(input: &StoneGame) -> Needs {
    let words = (0.09 * input.heaps() as f64 / WORD as f64).max(1.0);
    Needs { bits: 7.0, cycles: 1.5 * words * 21.0 / 4.0, bytes: bytes(input), ..Needs::default() }
}

/// A type, not a closure, so that each tier compiles it anew.
struct FirstFree;

impl Search<Words> for FirstFree {
    #[inline(always)]
    fn first_free(&self, marks: &Words, visit: &Visit) -> usize {
        first_free(marks.shape, &marks.words, visit)
    }
}

#[inline(always)] // so that each tier compiles it anew
pub fn run<S: Sink>(input: &StoneGame, run: &Run, sink: S) -> Result<S, RunError> {
    scan(input, run, sink, FirstFree)
}
