//! 64 candidates `m` at once in plain words, 256 or 512 in [`vectors`](crate::simd::vectors): a word of each of the four bit rows is
//! ORed, and the first zero is the partner. Words are aligned to the row `used`; the other three rows are shifted against it, each by
//! a distance that is fixed for one `n`: two loads, one word apart, and a funnel shift.
//!
//! Cost: `0.3 M / W` vectors of `W` candidates of four rows, for each of `0.24 M` positions.
//! Bound: in plain words the four integer units, where a shifted word takes five operations and a word of candidates eighteen; with
//! AVX2 and in `wide` shifts, then loads.

use super::attack_lines::{Lines, Partner, Search, Set, certificate, drive};
use super::{Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::bits::{WORD, first_zero, window};
use crate::simd::mapped;
use crate::simd::vectors::{WordVectors, plain};

/// A row of bits, with [`PADDING`].
pub trait BitRow: Set {
    /// The words: bit `i` is bit `i % 64` of word `i / 64`.
    fn words(&self) -> &[u64];
}

/// Bits after the last line of a row, so that vectors can be read there.
const PADDING: usize = WORD * (WIDEST + 2);

impl Set for Vec<u64> {
    fn new(size: usize) -> Self {
        vec![0; (size + PADDING).div_ceil(WORD)]
    }

    #[inline(always)]
    fn insert(&mut self, i: usize) {
        self[i / WORD] |= 1 << (i % WORD);
    }

    #[inline(always)]
    fn contains(&self, i: usize) -> bool {
        self[i / WORD] >> (i % WORD) & 1 == 1
    }
}

impl BitRow for Vec<u64> {
    #[inline(always)]
    fn words(&self) -> &[u64] {
        self
    }
}

/// One bit per line.
type Rows<R> = Lines<R, [R; 2]>;

/// The most words that are read together.
const WIDEST: usize = 8;

/// A row that begins inside a word of memory.
#[derive(Clone, Copy)]
struct Shifted<'a> {
    /// The words in memory: one more than there are words of candidates.
    words: &'a [u64],
    /// The bit of the first word where the row begins.
    shift: usize,
}

impl Shifted<'_> {
    /// The candidates from `64 at` on.
    #[inline(always)]
    fn load<V: WordVectors>(self, at: usize, vectors: V) -> V::Vector {
        let (low, high) = (&self.words[at..at + V::WORDS], &self.words[at + 1..at + 1 + V::WORDS]);
        vectors.funnel(vectors.load(low), vectors.load(high), self.shift)
    }
}

/// The four rows that forbid candidates of one `n`, each with the index of its bit for `m = 0`, which may be negative.
type OffsetRows<'a> = [(&'a [u64], isize); 4];

/// The bit of candidate `m`.
#[inline(always)]
fn place(start: isize, m: usize) -> usize {
    (start + m as isize) as usize
}

/// The number of blocked candidates from `m` on, at most 64.
#[inline(always)]
fn blocked(rows: &OffsetRows<'_>, m: usize) -> usize {
    let word = |(row, start): (&[u64], isize)| window(row, place(start, m));
    let [a, b, c, d] = *rows;
    first_zero(word(a) | word(b) | word(c) | word(d))
}

/// A candidate, if it is at most `last`.
#[inline(always)]
fn found(m: usize, last: usize) -> Option<usize> {
    if m <= last { Some(m) } else { None }
}

impl<R: BitRow> Rows<R> {
    /// The rows at the offsets for `n`.
    #[inline(always)]
    fn offset_rows(&self, n: usize) -> OffsetRows<'_> {
        let (n, half) = (n as isize, self.half as isize);
        [
            (self.difference.words(), -n),
            (self.twice.words(), half - 2 * n),
            (self.used.words(), 0),
            (self.sum[n as usize % 2].words(), -((n + 1) / 2)),
        ]
    }

    /// The first free `m` in `n + 1..=last`. One window covers the candidates before the next whole word of `used`;
    /// vectors of whole words follow.
    #[inline(always)]
    fn scan<V: WordVectors>(&self, n: usize, last: usize, vectors: V) -> Option<usize> {
        const { assert!(V::WORDS <= WIDEST) };
        let rows = self.offset_rows(n);
        let blocked = blocked(&rows, n + 1);
        if blocked < WORD {
            return found(n + 1 + blocked, last);
        }
        let start = (n + 1) / WORD + 1;
        let words = (last / WORD + 1).saturating_sub(start).next_multiple_of(V::WORDS);
        let [difference, twice, (used, _), sum] = rows;
        // Cut to one length, so that one bounds check serves all of them. The first row is aligned to words, the others are not.
        let used = &used[start..][..words];
        let [difference, twice, sum] = mapped([difference, twice, sum], |(row, zero)| {
            let at = place(zero, WORD * start);
            Shifted { words: &row[at / WORD..][..words + 1], shift: at % WORD }
        });
        let mut at = 0;
        while at + V::WORDS <= words {
            let low = vectors.or(vectors.load(&used[at..at + V::WORDS]), difference.load(at, vectors));
            let high = vectors.or(twice.load(at, vectors), sum.load(at, vectors));
            let blocked = vectors.first_zero(vectors.or(low, high));
            if blocked < V::WORDS * WORD {
                return found(WORD * (start + at) + blocked, last);
            }
            at += V::WORDS;
        }
        None
    }
}

/// Searches in windows of 64 candidates that begin at the first one.
impl<R: BitRow> Search for Rows<R> {
    #[inline(always)]
    fn find(&mut self, n: usize, first: usize, last: usize) -> Option<usize> {
        let rows = self.offset_rows(n);
        let mut m = first;
        while m <= last {
            let blocked = blocked(&rows, m);
            if blocked < WORD {
                return found(m + blocked, last);
            }
            m += WORD;
        }
        None
    }
}

/// The search among all `m > n` in vectors of whole words.
struct Scan<V>(V);

impl<R: BitRow, V: WordVectors> Partner<Rows<R>> for Scan<V> {
    #[inline(always)]
    fn partner(&mut self, lines: &mut Rows<R>, n: usize, last: usize) -> Option<usize> {
        lines.scan(n, last, self.0)
    }
}

/// Bytes of the rows for a limit.
pub fn bytes(limit: u64) -> f64 {
    (5.5 * limit as f64 + 5.0 * PADDING as f64) / 8.0
}

/// Rates: ns of a run, of a unit of the limit, and of the square of the limit.
pub fn cost(input: &ProportionateNim, _: CostContext, [start, unit, square]: [f64; 3]) -> Cost {
    let limit = input.limit() as f64;
    input.published(start + unit * limit + square * limit * limit, bytes(input.limit()))
}

#[inline(always)]
pub fn run(input: &ProportionateNim, run: &Run, vectors: impl WordVectors) -> Result<Positions, RunError> {
    drive(input, run, Rows::<Vec<u64>>::new(input.limit() as usize), Scan(vectors))
}

pub mod window_certificate {
    //! The window of `bit_rows`, opened only where the certificate leaves candidates: nearly always once per P-position.
    //!
    //! Cost: four unaligned windows, a first zero and six single-bit read-modify-writes for each P-position.
    //! Bound: the serial chain from the marks of one position through memory to the windows of the next.

    use super::*;
    /// Rates: ns of a run, and of a unit of the limit.
    pub fn cost(input: &ProportionateNim, _: CostContext, [start, unit]: [f64; 2]) -> Cost {
        input.published(start + unit * input.limit() as f64, bytes(input.limit()))
    }

    /// Six marks per P-position, most of them next to the previous one of their row.
    pub fn needs(_: &ProportionateNim) -> Needs {
        Needs { bits: 6.0, ..Needs::default() }
    }

    pub fn run(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
        drive(input, run, Rows::<Vec<u64>>::new(input.limit() as usize), certificate::parts())
    }
}

#[cfg(all(feature = "bitvec", target_pointer_width = "64"))]
pub mod bitvec_rows {
    //! `bit_rows` on the crate `bitvec`, reading the raw words of its rows. This is the fair form: a slice at a bit offset
    //! can be searched (`first_zero`), but the OR of two such slices proceeds bit by bit.
    //!
    //! Cost: `0.3 M / 64` words of four rows for each of `0.24 M` positions.
    //! Bound: as in `bit_rows`; only setting and testing a bit differ.

    use bitvec::prelude::{BitVec, Lsb0};

    pub use super::cost;
    use super::*;

    type Bits = BitVec<u64, Lsb0>;

    impl Set for Bits {
        fn new(size: usize) -> Self {
            BitVec::repeat(false, size + PADDING)
        }

        #[inline(always)]
        fn insert(&mut self, i: usize) {
            self.as_mut_bitslice().set(i, true);
        }

        #[inline(always)]
        fn contains(&self, i: usize) -> bool {
            self[i]
        }
    }

    impl BitRow for Bits {
        #[inline(always)]
        fn words(&self) -> &[u64] {
            self.as_raw_slice()
        }
    }

    pub fn run(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
        drive(input, run, Rows::<Bits>::new(input.limit() as usize), Scan(plain::parts()))
    }
}
