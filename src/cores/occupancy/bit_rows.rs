//! 64 candidates `m` at once in plain words, 256 or 512 in [`vectors`](crate::simd::vectors): a word of each of the four bit rows is
//! ORed, and the first zero is the partner. Words are aligned to the row `used`; the other three rows are shifted against it, each by
//! a distance that is fixed for one `n`: two loads, one word apart, and a funnel shift.
//!
//! Cost: `0.3 M / W` vectors of `W` candidates of four rows, for each of `0.24 M` positions.
//! Bound: in plain words the four integer units, where a shifted word takes five operations and a word of candidates eighteen; with
//! AVX2 and in `wide` shifts, then loads.

use super::attack_lines::{Certified, Lines, certificate, drive, every};
use super::{Positions, ProportionateNim};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::bits::{WORD, first_zero, window};
use crate::simd::mapped;
use crate::simd::vectors::{WordVectors, plain};

/// A row of bits.
pub trait BitRow {
    /// `bits` zeros.
    fn zeros(bits: usize) -> Self;
    /// Sets one bit.
    fn set(&mut self, bit: usize);
    /// Whether a bit is set.
    fn get(&self, bit: usize) -> bool;
    /// The words: bit `i` is bit `i % 64` of word `i / 64`.
    fn words(&self) -> &[u64];
}

impl BitRow for Vec<u64> {
    fn zeros(bits: usize) -> Self {
        vec![0; bits.div_ceil(WORD)]
    }

    #[inline(always)]
    fn set(&mut self, bit: usize) {
        self[bit / WORD] |= 1 << (bit % WORD);
    }

    #[inline(always)]
    fn get(&self, bit: usize) -> bool {
        self[bit / WORD] >> (bit % WORD) & 1 == 1
    }

    #[inline(always)]
    fn words(&self) -> &[u64] {
        self
    }
}

/// One bit per line. The row `sum` is split by parity: for one `n` all values `2m - n` have the parity of `n`, so
/// consecutive `m` are consecutive bits in all four rows.
pub struct Rows<R = Vec<u64>> {
    used: R,
    difference: R,
    /// At `m - 2n + half`.
    twice: R,
    sum: [R; 2],
    half: usize,
}

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
    /// No lines; room for all positions of at most `limit` in all.
    pub fn new(limit: usize) -> Self {
        let half = limit / 2;
        let row = |bits: usize| R::zeros(bits + WORD * (WIDEST + 2));
        Rows {
            used: row(limit + 1),
            difference: row(limit + 1),
            twice: row(half + limit + 1),
            sum: [row(limit + 1), row(limit + 1)],
            half,
        }
    }

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
impl<R: BitRow> Lines for Rows<R> {
    #[inline(always)]
    fn mark(&mut self, n: usize, m: usize) {
        let sum = 2 * m - n;
        self.used.set(n);
        self.used.set(m);
        self.difference.set(m - n);
        self.twice.set(self.half + m - 2 * n);
        if sum <= self.half {
            self.twice.set(self.half - sum);
        }
        self.sum[sum % 2].set(sum / 2);
    }

    #[inline(always)]
    fn is_used(&self, n: usize) -> bool {
        self.used.get(n)
    }

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

/// Rows in which vectors of whole words are searched.
pub struct Scanned<R, V> {
    pub rows: Rows<R>,
    pub vectors: V,
}

impl<R: BitRow, V: WordVectors> Lines for Scanned<R, V> {
    #[inline(always)]
    fn mark(&mut self, n: usize, m: usize) {
        self.rows.mark(n, m);
    }

    #[inline(always)]
    fn is_used(&self, n: usize) -> bool {
        self.rows.is_used(n)
    }

    #[inline(always)]
    fn find(&mut self, n: usize, _: usize, last: usize) -> Option<usize> {
        self.rows.scan(n, last, self.vectors)
    }
}

impl<R: BitRow> Certified for Rows<R> {
    #[inline(always)]
    fn has_difference(&self, difference: usize) -> bool {
        self.difference.get(difference)
    }

    #[inline(always)]
    fn has_below(&self, below: usize) -> bool {
        self.twice.get(self.half - below)
    }
}

/// Bytes of the rows for a limit.
pub fn bytes(limit: u64) -> f64 {
    let padding = WORD * (WIDEST + 2);
    (5.5 * limit as f64 + 5.0 * padding as f64) / 8.0
}

/// Rates: ns of a run, of a unit of the limit, and of the square of the limit.
pub fn cost(input: &ProportionateNim, _: CostContext, [start, unit, square]: [f64; 3]) -> Cost {
    let limit = input.limit() as f64;
    input.published(start + unit * limit + square * limit * limit, bytes(input.limit()))
}

#[inline(always)]
pub fn run(input: &ProportionateNim, run: &Run, vectors: impl WordVectors) -> Result<Positions, RunError> {
    let rows: Rows = Rows::new(input.limit() as usize);
    drive(input, run, Scanned { rows, vectors }, every::parts())
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
        let rows: Rows = Rows::new(input.limit() as usize);
        drive(input, run, rows, certificate::parts())
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

    impl BitRow for Bits {
        fn zeros(bits: usize) -> Self {
            BitVec::repeat(false, bits)
        }

        #[inline(always)]
        fn set(&mut self, bit: usize) {
            self.as_mut_bitslice().set(bit, true);
        }

        #[inline(always)]
        fn get(&self, bit: usize) -> bool {
            self[bit]
        }

        #[inline(always)]
        fn words(&self) -> &[u64] {
            self.as_raw_slice()
        }
    }

    pub fn run(input: &ProportionateNim, run: &Run) -> Result<Positions, RunError> {
        let rows: Rows<Bits> = Rows::new(input.limit() as usize);
        drive(input, run, Scanned { rows, vectors: plain::parts() }, every::parts())
    }
}
