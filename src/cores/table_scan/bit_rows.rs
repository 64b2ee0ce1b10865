//! 64 candidates at once in plain words, 256 or 512 in [`vectors`](crate::simd::vectors): a window of each of the six bit rows is
//! ORed, and the first zero is the P-position.
//!
//! A window is whole words of `z`, from the word of the hint on. So the three rows read at `z` need no shift, and of
//! the other three, the two read at the same place are ORed before they are shifted. The window also holds candidates
//! below the hint, but they are forbidden: their differences are used in the layer, and each row has a word of ones in
//! front for differences below 0.
//!
//! Cost: `0.09 N / W` windows of `W` candidates for each of `0.18 N^2` visits, and with vectors one more.
//! Bound: nine loads and as many ORs per window, and with AVX-512 nearly all loads straddle a cache line. At small `N` the
//! bookkeeping of a visit, and the mispredicted end of the search or, with vectors, each search reading what the one before it has
//! just stored. Vectors of 512 bits took longer in `wide` than those of 256, 4.57 ms against 4.12 ms at `N = 1000`.

use super::layers::{self, MarkTable, Search, Visit, scan};
use super::{Positions, StoneGame};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::bits::{WORD, first_zero};
use crate::simd::mapped;
use crate::simd::vectors::WordVectors;

/// Words of ones in front of a row.
const FRONT: usize = 1;
/// The words of the widest vector.
const WIDEST: usize = 8;
/// Readable words without meaning after the last row: a window begins at the last word at most, and reads the word after it.
const PADDING: usize = WIDEST + 1;
/// Candidates that a search tests, divided by the number of heaps: observed.
const SEARCHED: f64 = 0.09;

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
        for row in 0..self.rows {
            words[row * self.stride..][..FRONT].fill(u64::MAX);
        }
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

    /// [`MarkTable::next_free`].
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

    /// [`Search::first_free`] by windows of a vector. The first window comes before the loop: most searches end there, and would pay for
    /// the addresses that a loop keeps.
    #[inline(always)]
    pub fn first_free<V: WordVectors>(self, words: &[u64], visit: &Visit, vectors: V) -> usize {
        let rows = Windows {
            words,
            at_z: mapped(visit.at_z, |row| self.start(row)),
            less_x: mapped(visit.less_x, |row| self.start(row) - visit.x.div_ceil(WORD)),
            less_y: self.start(visit.less_y) - visit.y.div_ceil(WORD),
            by_x: visit.x.wrapping_neg() % WORD,
            by_y: visit.y.wrapping_neg() % WORD,
        };
        let mut word = visit.from / WORD;
        let mut found = rows.first_free(word, vectors);
        while found >= V::WORDS * WORD {
            word += V::WORDS;
            if word * WORD >= visit.heaps {
                return visit.heaps;
            }
            found = rows.first_free(word, vectors);
        }
        word * WORD + found
    }
}

/// The six rows of a visit, by the words of their windows at word 0.
struct Windows<'a> {
    words: &'a [u64],
    at_z: [usize; 3],
    less_x: [usize; 2],
    less_y: usize,
    /// The bit at which the window begins in the words of the other rows.
    by_x: usize,
    by_y: usize,
}

impl Windows<'_> {
    /// The first free place of the window from a word on; as many as it has if there is none.
    #[inline(always)]
    fn first_free<V: WordVectors>(&self, word: usize, vectors: V) -> usize {
        let at = |row: usize| vectors.load(&self.words[row + word..]);
        let pair = |row: usize| {
            let both = &self.words[row + word..][..V::WORDS + 1];
            (vectors.load(both), vectors.load(&both[1..]))
        };
        let [one_x, one_y, two] = self.at_z;
        let at_z = vectors.or(vectors.or(at(one_x), at(one_y)), at(two));
        let [gap_y, all] = self.less_x;
        let ((gap_y, next_gap_y), (all, next_all)) = (pair(gap_y), pair(all));
        let (gap_x, next_gap_x) = pair(self.less_y);
        let less_x = vectors.funnel(vectors.or(gap_y, all), vectors.or(next_gap_y, next_all), self.by_x);
        let less_y = vectors.funnel(gap_x, next_gap_x, self.by_y);
        vectors.first_zero(vectors.or(vectors.or(at_z, less_x), less_y))
    }
}

/// Bytes of a table.
pub fn bytes(input: &StoneGame) -> f64 {
    layers::bytes(input, 8 * Shape::new(0, input.heaps()).stride)
}

/// Marks as bits of words.
pub struct BitMarks {
    shape: Shape,
    words: Vec<u64>,
}

impl MarkTable for BitMarks {
    fn new(rows: usize, heaps: usize) -> Self {
        let shape = Shape::new(rows, heaps);
        BitMarks { shape, words: shape.words() }
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

/// Rates: ns of the cube and of the square of the heaps.
pub fn cost(input: &StoneGame, _: CostContext, [cube, square]: [f64; 2]) -> Cost {
    let n = input.heaps() as f64;
    Cost { ns: cube * n * n * n + square * n * n, bytes: bytes(input) }
}

/// In single words: seven marks per P-position. Per visit, of which there are three for two positions, the words of a search: nine
/// loads, eight ORs and four shifts each, at four of these 21 operations a cycle.
pub fn needs(input: &StoneGame) -> Needs {
    let words = (SEARCHED * input.heaps() as f64 / WORD as f64).max(1.0);
    Needs { bits: 7.0, cycles: 1.5 * words * 21.0 / 4.0, bytes: bytes(input), ..Needs::default() }
}

/// A type, not a closure, so that each tier compiles it anew.
struct FirstFree<V>(V);

impl<V: WordVectors> Search<BitMarks> for FirstFree<V> {
    #[inline(always)]
    fn first_free(&self, marks: &BitMarks, visit: &Visit) -> usize {
        const { assert!(V::WORDS <= WIDEST) };
        marks.shape.first_free(&marks.words, visit, self.0)
    }
}

#[inline(always)]
pub fn run(input: &StoneGame, run: &Run, vectors: impl WordVectors) -> Result<Positions, RunError> {
    scan(input, run, FirstFree(vectors))
}

#[cfg(all(feature = "bitvec", target_pointer_width = "64"))]
pub mod bitvec_rows {
    //! `bit_rows` on the crate `bitvec`: marks are set and searched through it. In the fair form, [`raw_words`], windows are read from its
    //! raw words. In the tempting one, [`operators`], kept as a lesson, windows are slices that begin at the hint itself, combined with
    //! `|=` and searched with `first_zero`. It is several times as expensive: the operator splits both slices at word edges and handles
    //! the partial words one by one.
    //!
    //! Cost: the windows of `bit_rows`, of 64 candidates each.
    //! Bound: as in `bit_rows`, where only setting a bit and finding a zero differ; of the operators, the instructions of that
    //! bookkeeping, at every size.

    use bitvec::prelude::{BitArray, BitSlice, BitVec, Lsb0};

    pub use super::cost;
    use super::*;
    use crate::simd::vectors::plain;

    pub struct Bits {
        shape: Shape,
        bits: BitVec<u64, Lsb0>,
    }

    impl MarkTable for Bits {
        fn new(rows: usize, heaps: usize) -> Self {
            let shape = Shape::new(rows, heaps);
            Bits { shape, bits: BitVec::from_vec(shape.words()) }
        }

        #[inline(always)]
        fn mark(&mut self, row: usize, place: usize) {
            self.bits.set(self.shape.bit(row, place), true);
        }

        #[inline(always)]
        fn next_free(&self, row: usize, place: usize) -> usize {
            let rest = &self.bits[self.shape.bit(row, place)..];
            place + rest.first_zero().expect("a row has a place without a mark")
        }
    }

    pub fn run(input: &StoneGame, run: &Run, search: impl Search<Bits>) -> Result<Positions, RunError> {
        scan(input, run, search)
    }

    /// Windows as raw words.
    pub mod raw_words {
        use super::*;

        struct FirstFree;

        impl Search<Bits> for FirstFree {
            #[inline(always)]
            fn first_free(&self, marks: &Bits, visit: &Visit) -> usize {
                marks.shape.first_free(marks.bits.as_raw_slice(), visit, plain::parts())
            }
        }

        pub fn parts() -> impl Search<Bits> {
            FirstFree
        }
    }

    /// Windows as slices.
    pub mod operators {
        use super::*;

        /// The only call of the operator, so that it is compiled for windows of this length: called in a loop that the compiler unrolls, it
        /// takes twice as long.
        #[inline(never)]
        fn add(forbidden: &mut BitArray<u64>, bits: &BitSlice<u64>, start: usize) {
            *forbidden.as_mut_bitslice() |= &bits[start..][..WORD];
        }

        struct FirstFree;

        impl Search<Bits> for FirstFree {
            #[inline(always)]
            fn first_free(&self, marks: &Bits, visit: &Visit) -> usize {
                let &Visit { heaps, x, y, from, at_z, less_x, less_y } = visit;
                let [one_x, one_y, two] = at_z;
                let [gap_y, all] = less_x;
                let mut z = from;
                while z < heaps {
                    let mut forbidden = BitArray::<u64, Lsb0>::ZERO;
                    for (row, place) in
                        [(one_x, z), (one_y, z), (two, z), (gap_y, z - x), (all, z - x), (less_y, z - y)]
                    {
                        add(&mut forbidden, &marks.bits, marks.shape.bit(row, place));
                    }
                    match forbidden.first_zero() {
                        Some(found) => return z + found,
                        None => z += WORD,
                    }
                }
                z
            }
        }

        pub fn parts() -> impl Search<Bits> {
            FirstFree
        }
    }
}

#[cfg(feature = "fearless_simd")]
pub mod bit_rows_fearless {
    //! `bit_rows` in the vectors of the crate `fearless_simd`: 512 candidates at once where a register holds as many, else 256,
    //! which SSE2 keeps in two.
    //!
    //! The crate has no funnel shift, and leaves a shift by all 64 bits undefined, so a funnel shift is three shifts and an OR. The
    //! word in which a search ends is read from memory, because a lane cannot be extracted by a variable index.
    //!
    //! Cost: as of `bit_rows` at the same width, with one or three instructions more per funnel shift.
    //! Bound: at small `N` the bookkeeping of a visit, and each search reading what the one before it has just stored.

    use fearless_simd::{Simd, SimdBase, SimdInt, SimdMask, u64x4, u64x8};

    use super::*;
    use crate::cores::table_scan::bit_rows;
    use crate::kernel::Tier;
    use crate::simd::fearless::{by_level, lacks, level};
    use crate::simd::vectors::Parts;

    /// Rates: those of [`bit_rows`].
    pub fn cost(input: &StoneGame, context: CostContext, rates: [f64; 2]) -> Cost {
        bit_rows::cost(input, context, rates).only_if(!lacks(context.tier))
    }

    #[inline(always)]
    pub fn run(input: &StoneGame, run: &Run, tier: Tier) -> Result<Positions, RunError> {
        by_level!(level(tier).ok_or(RunError::OutsideDomain)?, simd => by_width(simd, input, run))
    }

    #[inline(always)]
    fn by_width<L: Simd>(simd: L, input: &StoneGame, run: &Run) -> Result<Positions, RunError> {
        match L::u64s::LEN {
            8 => scan_by::<8, L, u64x8<L>>(simd, input, run),
            _ => scan_by::<4, L, u64x4<L>>(simd, input, run),
        }
    }

    #[inline(always)]
    fn scan_by<const WORDS: usize, L: Simd, V: SimdInt<L, Element = u64, Array = [u64; WORDS]>>(
        simd: L,
        input: &StoneGame,
        run: &Run,
    ) -> Result<Positions, RunError> {
        let vectors = Parts(
            #[inline(always)]
            |words: &[u64; WORDS]| V::load_array_ref(simd, words),
            #[inline(always)]
            |a: V, b: V| a | b,
            #[inline(always)]
            |low: V, high: V, by: usize| low >> by as u32 | high << 1_u32 << (WORD - 1 - by) as u32,
            #[inline(always)]
            |vector: V| {
                let word = first_zero(vector.simd_eq(u64::MAX).to_bitmask());
                if word >= WORDS { WORDS * WORD } else { word * WORD + first_zero(vector[word]) }
            },
        );
        bit_rows::run(input, run, vectors)
    }
}
