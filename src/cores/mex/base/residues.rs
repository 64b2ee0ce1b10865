//! Grundy values of subtraction sets with few multiples of 2, 3 or 5 and many other moves, such as the primes.
//!
//! *Idea.* A **home** is a residue class modulo 2, 3 or 5. No move leads from one heap of it to another, except for the
//! few moves that are multiples of the modulus. Each value gets a home that most of its heaps share; the others are
//! **outliers**. A heap of the home reaches the value only by those few moves or at an outlier. Any other heap nearly always
//! reaches it, and one move to one heap of the value proves that: the last heaps of the value are tried, for 512 heaps
//! at once, as rows of bits. Where no proof is found and the value might be taken, every heap of the value is tried. So
//! the values are exact, whatever the set; that proofs are found and outliers are few is observed.
//!
//! *Cost.* For each block of 512 heaps of one parity, a row for each heap that is tried, about twenty for a value, and
//! for each outlier. Then a chain: of the least values that are left, a heap takes the first that no even move reaches.

use std::ops::Range;

use crate::kernel::{Cost, Run, RunError};
use crate::simd::bits::{WORD, funnel};
use crate::simd::{array_of, mapped};

/// Words of a row.
const WORDS: usize = 8;
/// Heaps of one parity in a block.
const LANES: usize = WORDS * WORD;
/// Heaps in a block.
const BLOCK: usize = 2 * LANES;
/// One bit for each heap of one parity in a block.
type Row = [u64; WORDS];

/// The moduli of homes.
const MODULI: [usize; 3] = [2, 3, 5];
/// Multiples of a modulus among the moves, at most.
pub const MOST_MULTIPLES: usize = 3;
/// Values that a heap chooses from, at most.
const CANDIDATES: usize = MOST_MULTIPLES + 5;
/// The bit of a candidate that may be reached, which is checked only if the heap would take it.
const DOUBTFUL: u8 = 1 << 7;
/// Values, at most: `mex_records` holds no more.
const MOST_VALUES: usize = 63;
/// Heaps of a value that are tried at once, and in all.
const TRIED_AT_ONCE: usize = 8;
const TRIED: usize = 128;
/// Once a value is common, the heaps of one in this many blocks are added to it.
const ADDED_EVERY: usize = 4;
/// Heaps of a value that are kept, at most.
const KEPT: usize = 1 << 11;
/// Nanoseconds for the first heaps, which find few proofs.
const FIRST_NS: f64 = 5e6;
/// The same for the first heaps of a short run.
const FIRST_NS_PER_HEAP: f64 = 1000.0;

/// A set of moves that are odd but for a few.
#[derive(Debug)]
pub struct OddMoves {
    /// Bit `i` is set if `2 i + 1` is a move. Zeros follow, for rows that end past the limit.
    odd: Vec<u64>,
    /// For each modulus its multiples among the moves, if they are few.
    multiples: [Option<Vec<usize>>; MODULI.len()],
}

impl OddMoves {
    /// Takes the odd moves up to `limit` as a row of [`row_words`], in which bit `i` is set if `2 i + 1` is a move.
    ///
    /// # Errors
    /// More than [`MOST_MULTIPLES`] moves are even.
    pub fn new(odd: Vec<u64>, even: Vec<u64>, limit: u64) -> Result<Self, RunError> {
        if even.len() > MOST_MULTIPLES {
            return Err(RunError::OutsideDomain);
        }
        let mut moves = OddMoves { odd, multiples: Default::default() };
        moves.multiples = MODULI.map(|q| moves.few_multiples(q, &even, limit as usize));
        Ok(moves)
    }

    /// The multiples of `q` among the odd moves up to `limit` and the even ones, if they are few.
    fn few_multiples(&self, q: usize, even: &[u64], limit: usize) -> Option<Vec<usize>> {
        let odd = (q..=limit).step_by(2 * q).filter(|m| q % 2 == 1 && self.has(*m));
        let even = even.iter().map(|m| *m as usize).filter(|m| m.is_multiple_of(q));
        let few: Vec<usize> = odd.chain(even).take(MOST_MULTIPLES + 1).collect();
        (few.len() <= MOST_MULTIPLES).then_some(few)
    }

    /// The even moves.
    #[inline(always)]
    fn even(&self) -> &[usize] {
        self.multiples[0].as_deref().unwrap_or_default()
    }

    /// Whether an odd number is a move.
    #[inline(always)]
    fn has(&self, m: usize) -> bool {
        self.odd[m / 2 / WORD] >> (m / 2 % WORD) & 1 == 1
    }

    /// Whether the odd numbers from `first` on are moves.
    #[inline(always)]
    fn row(&self, first: usize) -> Row {
        let (word, shift) = (first / 2 / WORD, first / 2 % WORD);
        let words: &[u64; WORDS + 1] = self.odd[word..].first_chunk().expect("zeros follow");
        array_of(|i| funnel(words[i], words[i + 1], shift))
    }
}

/// Words of the row of odd moves, with zeros at the end for rows that begin near the limit.
pub fn row_words(limit: u64) -> usize {
    limit as usize / (2 * WORD) + BLOCK / WORD + 2
}

/// Whether the moves suit these kernels, given as a list up to `limit` or its first part: few of them are even, and the odd
/// ones are dense enough that most heaps find a proof.
pub fn suit(moves: &[u64], limit: u64) -> bool {
    /// One in this many numbers up to the bound is a move.
    const SPARSEST: u64 = 16;
    let bound = limit.min(4096);
    let even = moves.iter().filter(|m| **m % 2 == 0).take(MOST_MULTIPLES + 1).count();
    even <= MOST_MULTIPLES && moves.partition_point(|m| *m <= bound) as u64 >= bound / SPARSEST
}

/// Predicted time and memory at `heap` ns for a heap, without the time for what a kernel makes of the values.
pub fn cost(heaps: usize, heap: f64) -> Cost {
    // The primes have 12 values, of which nearly all come soon.
    let values = (heaps.ilog2() as usize + 2).min(12);
    let lists = values * (KEPT + BLOCK) * size_of::<usize>();
    let bytes = heaps.next_multiple_of(BLOCK) + 8 * row_words(heaps as u64) + lists;
    Cost { ns: FIRST_NS.min(FIRST_NS_PER_HEAP * heaps as f64) + heap * heaps as f64, bytes: bytes as f64 }
}

/// The heaps `n` with `n % MODULI[modulus] == residue`.
#[derive(Clone, Copy, PartialEq)]
struct Home {
    modulus: usize,
    residue: usize,
}

impl Home {
    #[inline(always)]
    fn has(self, heap: usize) -> bool {
        heap % MODULI[self.modulus] == self.residue
    }

    /// How many of these heaps are elsewhere.
    fn outliers_of(self, heaps: &[usize]) -> usize {
        heaps.iter().filter(|heap| !self.has(**heap)).count()
    }

    /// The lanes of its heaps, among every other heap from `first` on.
    #[inline(always)]
    fn lanes(self, first: usize) -> Row {
        /// Every third and every fifth bit.
        const EVERY: [u64; 3] = [0, 0x9249_2492_4924_9249, 0x1084_2108_4210_8421];
        let q = MODULI[self.modulus];
        if q == 2 {
            return [if self.has(first) { u64::MAX } else { 0 }; WORDS];
        }
        let lane = (0..q).find(|lane| self.has(first + 2 * lane)).unwrap_or(0);
        array_of(|word| EVERY[self.modulus] << ((lane + (q - WORD % q) * word) % q))
    }
}

/// The heaps of a value.
struct Class {
    home: Home,
    /// Those in its home, ascending: all, or the last of them.
    heaps: Vec<usize>,
    is_complete: bool,
    /// Those elsewhere, ascending.
    outliers: Vec<usize>,
}

impl Class {
    fn new(heap: usize) -> Self {
        let home = Home { modulus: 0, residue: heap % 2 };
        Class { home, heaps: Vec::with_capacity(KEPT + BLOCK), is_complete: true, outliers: Vec::new() }
    }

    /// Drops the first heaps if there are too many.
    fn limit(&mut self) {
        if self.heaps.len() > KEPT {
            self.heaps.drain(..KEPT / 2);
            self.is_complete = false;
        }
    }

    fn push(&mut self, heap: usize, moves: &OddMoves) {
        if self.home.has(heap) {
            self.heaps.push(heap);
            return self.limit();
        }
        self.outliers.push(heap);
        if self.is_complete && self.outliers.len().is_power_of_two() {
            self.choose_home(moves);
        }
    }

    /// Chooses the home anew, so that as few heaps as possible are outliers.
    fn choose_home(&mut self, moves: &OddMoves) {
        let homes = (0..MODULI.len()).filter(|modulus| moves.multiples[*modulus].is_some());
        let homes = homes.flat_map(|modulus| (0..MODULI[modulus]).map(move |residue| Home { modulus, residue }));
        let outliers = |home: &Home| home.outliers_of(&self.heaps) + home.outliers_of(&self.outliers);
        let best = homes.min_by_key(outliers).unwrap_or(self.home);
        if best != self.home {
            self.home = best;
            let mut heaps = [self.heaps.as_slice(), &self.outliers].concat();
            heaps.sort_unstable();
            self.heaps.clear();
            self.outliers.clear();
            for heap in heaps {
                if best.has(heap) { &mut self.heaps } else { &mut self.outliers }.push(heap);
            }
        }
    }
}

/// The values so far.
struct Values<'a> {
    moves: &'a OddMoves,
    g: Vec<u8>,
    classes: Vec<Class>,
}

/// The values that a heap of one parity chooses from, for each heap of a block.
type Candidates = [[u8; LANES]; CANDIDATES];

/// `drive`, compiled for a tier.
pub type Drive = fn(&OddMoves, usize, &Run, &mut dyn FnMut(usize, &[u8])) -> Result<(), RunError>;

/// What the target of the build has.
pub mod plain {
    #[inline(never)] // compiled here, not where it is used
    pub fn parts() -> super::Drive {
        super::drive
    }
}

/// AVX2.
#[cfg(all(target_arch = "x86_64", feature = "avx2"))]
pub mod avx2 {
    use crate::machine::isa::tier;
    #[inline(never)] // compiled here, not where it is used
    #[tier(Avx2)]
    pub fn parts() -> super::Drive {
        |moves, heaps, run, take| super::drive(moves, heaps, run, take)
    }
}

/// Computes the values of the heaps below `heaps` and hands them to `take`, a block at a time, with its first heap.
///
/// # Errors
/// The run was cancelled, or [`RunError::Overflow`]: a value passes 62.
#[inline(always)]
fn drive(moves: &OddMoves, heaps: usize, run: &Run, take: &mut dyn FnMut(usize, &[u8])) -> Result<(), RunError> {
    let mut values = Values { moves, g: vec![0; heaps.next_multiple_of(BLOCK)], classes: Vec::new() };
    let mut candidates = [[[0; LANES]; CANDIDATES]; 2];
    for first in (0..heaps).step_by(BLOCK) {
        let end = heaps.min(first + BLOCK);
        if !values.block(first, &mut candidates) {
            values.heap_by_heap(first..end)?;
        }
        take(first, &values.g[first..end]);
        run.advance((end - first) as u64)?;
    }
    Ok(())
}

impl Values<'_> {
    /// Computes a block. False if a heap has too many candidates, or would have a new value or be an outlier.
    #[inline(always)]
    fn block(&mut self, first: usize, candidates: &mut [Candidates; 2]) -> bool {
        for (parity, candidates) in candidates.iter_mut().enumerate() {
            if !self.choose(first + parity, candidates) {
                return false;
            }
        }
        if !self.resolve(first, candidates) {
            return false;
        }
        self.add_block(first);
        true
    }

    /// The candidates of every other heap from `first` on. False if a heap has too many.
    #[inline(always)]
    fn choose(&self, first: usize, rows: &mut Candidates) -> bool {
        rows.iter_mut().for_each(|row| row.fill(self.classes.len() as u8));
        // Row `i`: heaps with more than `i` candidates, and with more than `i` that are not doubtful.
        let [mut filled, mut sure] = [[[0; WORDS]; CANDIDATES]; 2];
        for (v, class) in self.classes.iter().enumerate() {
            let need = mapped(sure[self.moves.even().len()], |word: u64| !word);
            if need == [0; WORDS] {
                break;
            }
            let home = class.home.lanes(first);
            let mut others = subtract(&need, &home);
            let mut inside = subtract(&need, &others);
            for heaps in class.heaps[class.heaps.len().saturating_sub(TRIED)..].rchunks(TRIED_AT_ONCE) {
                if others == [0; WORDS] {
                    break;
                }
                others = self.without_reached(first, heaps, others);
            }
            if inside != [0; WORDS] {
                inside = self.without_reached(first, &class.outliers, inside);
            }
            if class.home.modulus == 0 {
                add(&mut sure, inside, |_, _| ());
            } else {
                // These may reach the value by a multiple of the modulus.
                others = array_of(|i| others[i] | inside[i]);
                inside = [0; WORDS];
            }
            for (lanes, v) in [(inside, v as u8), (others, v as u8 | DOUBTFUL)] {
                if !add(&mut filled, lanes, |row, new| put(&mut rows[row], &new, v)) {
                    return false;
                }
            }
        }
        true
    }

    /// Of the lanes in `left`, those whose heaps, every other one from `first` on, reach none of `heaps` by an odd
    /// move.
    #[inline(always)]
    fn without_reached(&self, first: usize, heaps: &[usize], mut left: Row) -> Row {
        for heap in heaps.iter().filter(|heap| (first - **heap) % 2 == 1) {
            left = subtract(&left, &self.moves.row(first - heap));
        }
        left
    }

    /// Whether an odd move leads from a heap to one of value `v`. Heaps from `first` on are not in their classes yet.
    #[cold]
    fn reaches(&self, heap: usize, v: usize, first: usize) -> bool {
        let class = &self.classes[v];
        let is_move = |to: &usize| (heap - to) % 2 == 1 && self.moves.has(heap - to);
        let is_target = |to: &usize| self.g[*to] == v as u8 && is_move(to);
        if class.outliers.iter().any(is_move) || (first..heap).any(|to| is_target(&to)) {
            return true;
        }
        if class.home.has(heap) {
            let mut multiples = self.moves.multiples[class.home.modulus].iter().flatten();
            return multiples.any(|m| *m <= heap && is_target(&(heap - m)));
        }
        class.heaps.iter().rev().any(is_move) || !class.is_complete && (0..first).rev().any(|to| is_target(&to))
    }

    /// Gives each heap its first candidate that it does not reach. False if that is a new value, or makes an outlier.
    #[inline(always)]
    fn resolve(&mut self, first: usize, candidates: &[Candidates; 2]) -> bool {
        let values = self.classes.len() as u8;
        if let ([2], Some(&last)) = (self.moves.even(), self.g[..first].last_chunk::<2>()) {
            let mut last = last;
            for lane in 0..LANES {
                for parity in 0..2 {
                    let (a, b) = (candidates[parity][0][lane], candidates[parity][1][lane]);
                    // A branch would be wrong half of the time.
                    let mut own = a ^ (a ^ b) & u8::from(a == last[parity]).wrapping_neg();
                    if own >= values {
                        let Some(resolved) = self.resolve_doubt(first, lane, &candidates[parity], parity) else {
                            return false;
                        };
                        own = resolved;
                    }
                    last[parity] = own;
                    self.g[first + 2 * lane + parity] = own;
                }
            }
            return true;
        }
        (0..BLOCK).all(|i| {
            let own = self.resolve_doubt(first, i / 2, &candidates[i % 2], i % 2);
            self.g[first + i] = own.unwrap_or(0);
            own.is_some()
        })
    }

    /// The first candidate that a heap does not reach, unless that is a new value or the heap becomes an outlier.
    #[inline(never)]
    fn resolve_doubt(&self, first: usize, lane: usize, candidates: &Candidates, parity: usize) -> Option<u8> {
        let heap = first + 2 * lane + parity;
        let is_reached = |v: u8| {
            self.moves.even().iter().any(|m| *m <= heap && self.g[heap - m] == v & !DOUBTFUL)
                || v & DOUBTFUL > 0 && self.reaches(heap, usize::from(v & !DOUBTFUL), first)
        };
        let own = candidates.iter().map(|row| row[lane]).find(|v| !is_reached(*v))? & !DOUBTFUL;
        self.classes.get(usize::from(own)).is_some_and(|class| class.home.has(heap)).then_some(own)
    }

    /// Adds the heaps of a block to their values: always those of a rare value, now and then those of a common one.
    #[inline(always)]
    fn add_block(&mut self, first: usize) {
        let is_due = (first / BLOCK).is_multiple_of(ADDED_EVERY);
        let is_listed = |class: &Class| u64::from(is_due || class.is_complete);
        let listed = self.classes.iter().rev().fold(0, |listed, class| listed << 1 | is_listed(class));
        for (heap, v) in (first..).zip(&self.g[first..][..BLOCK]) {
            if listed >> v & 1 == 1 {
                self.classes[usize::from(*v)].heaps.push(heap);
            }
        }
        self.classes.iter_mut().for_each(Class::limit);
    }

    #[cold]
    #[inline(never)]
    fn heap_by_heap(&mut self, heaps: Range<usize>) -> Result<(), RunError> {
        for heap in heaps {
            let even = |v| self.moves.even().iter().any(|m| *m <= heap && usize::from(self.g[heap - m]) == v);
            let own = (0..self.classes.len()).find(|v| !even(*v) && !self.reaches(heap, *v, heap));
            let own = own.unwrap_or(self.classes.len());
            if own == self.classes.len() {
                if own == MOST_VALUES {
                    return Err(RunError::Overflow);
                }
                self.classes.push(Class::new(heap));
            }
            self.g[heap] = own as u8;
            self.classes[own].push(heap, self.moves);
        }
        Ok(())
    }
}

/// Adds one to the numbers of some lanes, where `counts[i]` are those with more than `i`, and calls `new(i, lanes)` for those that
/// had `i` before. False if a number passes the last.
#[inline(always)]
fn add(counts: &mut [Row; CANDIDATES], mut lanes: Row, mut new: impl FnMut(usize, Row)) -> bool {
    for (i, count) in counts.iter_mut().enumerate() {
        if lanes == [0; WORDS] {
            return true;
        }
        let here = subtract(&lanes, count);
        new(i, here);
        lanes = subtract(&lanes, &here);
        *count = array_of(|word| count[word] | here[word]);
    }
    lanes == [0; WORDS]
}

#[inline(always)]
fn subtract(a: &Row, b: &Row) -> Row {
    array_of(|i| a[i] & !b[i])
}

/// Writes `v` into the lanes whose bits are set.
#[inline(always)]
fn put(values: &mut [u8; LANES], lanes: &Row, v: u8) {
    for (values, word) in values.as_chunks_mut::<WORD>().0.iter_mut().zip(lanes) {
        // Each byte of the word eight times; lane `i` looks at bit `i % 8` of its copy.
        let mut bytes = [0; WORD];
        for (eight, byte) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(word.to_le_bytes()) {
            *eight = [byte; 8];
        }
        for (i, (value, byte)) in values.iter_mut().zip(&bytes).enumerate() {
            *value = if byte & 1 << (i % 8) != 0 { v } else { *value };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cores::mex::oracle;
    use crate::moves::{self, odd_row};

    #[test]
    fn many_even_moves_are_refused() {
        assert!(!suit(&[2, 3, 4, 5, 6, 7, 8, 9], 20));
        assert!(!suit(&[1, 99, 333], 400));
        assert!(suit(&[2, 3, 5, 7, 11, 13, 17, 19], 20));
        assert!(OddMoves::new(odd_row(&[3], row_words(20)), vec![2, 4, 6, 8], 20).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn values_of_other_sets(
            seed in prop::collection::vec(0_u8..8, 1500),
            dense in 1_u8..8,
            avoided in prop::sample::select(vec![1_u64, 3, 5, 15]),
            even in prop::collection::btree_set(1_u64..200, 0..=MOST_MULTIPLES),
            heaps in 1_usize..6000,
        ) {
            let is_move = |m: u64| seed[m as usize % seed.len()] < dense && (avoided == 1 || m.is_multiple_of(avoided) == (m == avoided));
            let mut moves: Vec<u64> = (1..heaps as u64).step_by(2).filter(|m| is_move(*m)).collect();
            moves.extend(even.into_iter().map(|m| 2 * m).filter(|m| *m < heaps as u64));
            moves.sort_unstable();
            let want = oracle::values(&moves.iter().map(|m| *m as usize).collect::<Vec<_>>(), heaps);
            let limit = heaps as u64 - 1;
            let odd_moves = OddMoves::new(odd_row(&moves, row_words(limit)), moves::even(&moves).collect(), limit);
            let mut got = Vec::new();
            let ended = drive(&odd_moves.expect("few even moves"), heaps, &Run::new(1), &mut |first, block| {
                assert_eq!(first, got.len());
                got.extend(block.iter().map(|v| usize::from(*v)));
            });
            let fits = want.iter().all(|v| *v < MOST_VALUES);
            prop_assert_eq!(ended, if fits { Ok(()) } else { Err(RunError::Overflow) }, "{:?}", moves);
            prop_assert!(!fits || got == want, "{:?}", moves);
        }
    }
}
