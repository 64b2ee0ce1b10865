//! Blocks of `z`: a search reads one line of 512 candidates from each row, at a place that is known beforehand, whatever the limit.
//!
//! # Order
//! Any order is sound in which positions that are no larger in any place come first. Here it is, outermost first: a *superband*
//! of layers `y`, a *segment* of 512 candidates `z`, a *tile* of heaps `x`, a *band* of 64 layers, and the steps `t = x + k` of
//! an antichain, one pair of each layer `y0 + k`. A pair without a result in one segment is searched again in the next. So a row
//! is one line per segment, and no search walks along rows. Positions are found in another order than the lexicographic one.
//!
//! # Rows
//! Those of [`super::layers`], in [lines](tables): `one[x]`, `one[y]` and `two[d]` by `z`; `gap[x]` and `all[d]` by `z - y`, in a
//! frame that a layer moves by `k`; `gap[y]` by `z - x` in [rows of the layers](LayerRows), in a frame that a step moves.
//! A window in a moved frame lies in two lines.
//!
//! A mark in `gap[z]` is `two[d]` at `z`, transposed: it is made when the superband of `z` begins, unless `z` is in the superband
//! itself. What a layer marks in its own row goes into `gap` as well, because the layer is an `x` later. So no place beyond
//! `N - x` of `gap[x]` is kept: every table is half a square, `2 N^2` bits in all.
//!
//! # Full rows
//! Most pairs have a result after a few segments; those left would fail again and again where a row has no free place. Such
//! [rows are known](full), as bits that are shifted as `x` and `d` move on, so that a step leaves out their pairs by a mask.
//!
//! # Threads
//! Superbands go to the threads in turn. One may run a segment when the superband before it has run the same segment: all that a
//! search depends on is smaller, and what the other thread now marks is in lines by `z` of a later segment, or in words by
//! `z - y` beyond all that this one reads or marks. A superband begins when the one before it has run the segments that contain
//! the new one's layers, because it reads their columns.
//!
//! Cost: three searches per P-position at `N = 20000`, with nine lines each; seven marks per P-position.
//! Bound: the instructions of a search; on several threads the cache and memory that the cores share.

mod full;
mod in_order;
mod superband;
mod tables;
mod wave;
#[cfg(all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")))]
pub mod x86;

use std::ops::Range;

use self::full::{Full, Tile};
use self::in_order::{Collected, Sorted};
use self::superband::Superband;
use self::tables::{Ds, LayerRows, Shape, Table, Xs};
use self::wave::{StopOnDrop, Wave};
use super::{DENSITY, Positions, Rule, StoneGame, TableScan};
use crate::cores::sink::{Tally, Totals};
use crate::kernel::{Cost, CostContext, Operation, Run, RunError, Yields, threads};
use crate::machine::STACK;
use crate::simd::bits::WORD;
use crate::simd::line::{Line, PLACES, WORDS};

/// Layers in a band.
pub const BAND: usize = 64;
/// The most layers in a superband. Twice as many took 5 % longer on Zen 5.
const SUPERBAND: usize = 512;
/// Bands in a superband.
const BANDS: usize = SUPERBAND / BAND;
/// Heaps `x` in a tile.
const TILE: usize = 512;

/// By how much threads slow each other down, and the nanoseconds that starting one takes.
const SLOWDOWN: f64 = 1.1;
const NS_PER_START: f64 = 8e5;

/// Rates: ns of the cube, of the square and of the number of the heaps, and of a run.
pub fn cost(input: &StoneGame, context: CostContext, [cube, square, heap, start]: [f64; 4]) -> Cost {
    let (heaps, n) = (input.heaps(), input.heaps() as f64);
    let one = cube * n * n * n + square * n * n + heap * n + start;
    match context.threads {
        1 if context.is_parallel => Cost::IMPOSSIBLE,
        1 => Cost { ns: one, bytes: bytes(input, 1, 1) },
        threads => {
            let superbands = heaps.div_ceil(superband_layers(heaps, threads));
            Cost {
                // Superbands wait for one another where they begin and end.
                ns: one * (SLOWDOWN / threads as f64 + 1.0 / superbands as f64) + NS_PER_START,
                bytes: bytes(input, threads, threads.min(superbands)),
            }
        }
    }
}

/// Bytes beside the output, as if each of `threads` threads had one, of which so many work.
fn bytes(input: &StoneGame, threads: usize, working: usize) -> f64 {
    let heaps = input.heaps();
    let tables = 2.0 * Shape::ByHeap.bytes(heaps) + 2.0 * Shape::ByGap.bytes(heaps);
    let shared = tables + Wave::bytes(heaps.div_ceil(SUPERBAND)) + (working - 1) as f64 * STACK;
    if input.wanted.yields() == Yields::Tally {
        return shared + working as f64 * Superband::bytes(heaps);
    }
    let [sorted, collected] = in_order::bytes(heaps, superband_layers(heaps, threads), working, DENSITY);
    // Positions are handed on when all threads have ended.
    let searching = working as f64 * Superband::bytes(heaps) + collected;
    let handing_on = TableScan::output_bytes(input, 1);
    (shared + sorted + searching.max(handing_on) - TableScan::output_bytes(input, threads)).max(0.0)
}

/// The layers in a superband, in whole bands: fewer than the most if some thread would otherwise have no superband.
fn superband_layers(heaps: usize, threads: usize) -> usize {
    heaps.div_ceil(threads).next_multiple_of(BAND).min(SUPERBAND)
}

/// A step of a band in a segment: the rows of its pairs. Those of layer `k` are at `k`.
pub struct Step<'a> {
    /// `one[x]` and `two[d]`, by `z`.
    one: &'a Xs,
    two: &'a Ds,
    /// Two lines each of `gap[x]` and `all[d]`.
    gap: [&'a Xs; 2],
    all: [&'a Ds; 2],
    /// `one[y]`, in descending order.
    ys: &'a Xs,
    /// Two lines of `gap[y]`.
    layers: [&'a Xs; 2],
    /// The word of `gap` and `all` before that of the first candidate, of layer 0. Layer `k` is `k` places before it.
    pub word: usize,
    /// The place of the first candidate in the rows of the layers.
    pub place: usize,
}

/// A pair to search for its `z` in a segment, and its rows.
pub struct Visit<'a> {
    /// `one[x]`, `one[y]` and `two[d]`.
    pub by_z: [&'a Line; 3],
    /// Two lines of `gap[x]` and of `all[d]`.
    pub gap: [&'a Line; 2],
    pub all: [&'a Line; 2],
    /// Two lines of `gap[y]`.
    pub layer: [&'a Line; 2],
}

/// The results of a step: the candidates that no row forbids, and which words have some.
pub struct Found {
    pub free: [Aligned; BAND],
    pub words: [u8; BAND],
}

/// The words of a line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Aligned(pub [u64; WORDS]);

impl Default for Found {
    fn default() -> Self {
        Found { free: [Aligned([0; WORDS]); BAND], words: [0; BAND] }
    }
}

impl Found {
    /// The first candidate of the pair of layer `k`, which has one.
    #[inline(always)]
    fn place(&self, k: usize) -> usize {
        let word = self.words[k].trailing_zeros() as usize % WORDS;
        WORD * word + self.free[k].0[word].trailing_zeros() as usize % WORD
    }
}

impl<'a> Step<'a> {
    /// The pair of layer `k`.
    #[inline(always)]
    pub fn visit(&self, k: usize) -> Visit<'a> {
        Visit {
            by_z: [&self.one[k], &self.ys[BAND - 1 - k], &self.two[k][0]],
            gap: [&self.gap[0][k], &self.gap[1][k]],
            all: [&self.all[0][k][0], &self.all[1][k][0]],
            layer: [&self.layers[0][k], &self.layers[1][k]],
        }
    }

    /// Marks candidate `e` of the pair of layer `k`, in `all` with the bit that is given. Returns whether a word of a row of `x` or
    /// `d` is now full.
    #[inline(always)]
    fn mark(&self, k: usize, e: usize, all: u64) -> bool {
        self.ys[BAND - 1 - k].mark(e);
        let layer = self.place + e;
        self.layers[layer / PLACES % 2][k].mark(layer);
        let gap = (self.word + 1) * WORD + e - k;
        self.one[k].mark(e)
            | self.two[k][0].mark(e)
            | self.gap[gap / PLACES % 2][k].mark(gap)
            | self.all[gap / PLACES % 2][k][0].set(gap / WORD, all << (gap % WORD))
    }
}

/// The marks that all superbands share.
struct Tables {
    heaps: usize,
    rule: Rule,
    one: Table,
    two: Table,
    gap: Table,
    all: Table,
}

impl Tables {
    fn new(input: &StoneGame) -> Self {
        let heaps = input.heaps();
        let [by_heap, by_gap] = [Shape::ByHeap, Shape::ByGap];
        let marks = Tables {
            heaps,
            rule: input.rule,
            one: Table::new(by_heap, heaps),
            two: Table::new(by_heap, heaps),
            gap: Table::new(by_gap, heaps),
            all: Table::new(by_gap, heaps),
        };
        // No candidate is below `y` or past the last heap.
        for (table, block, from) in
            [(&marks.gap, 0, 0), (&marks.all, 0, 0), (&marks.one, (heaps - 1) / PLACES, (heaps - 1) % PLACES + 1)]
        {
            for line in table.block(block).lines() {
                line.mark_from(from);
            }
        }
        marks
    }
}

/// The superbands of one thread.
pub struct Share<'a> {
    marks: &'a Tables,
    wave: &'a Wave,
    run: &'a Run,
    /// The positions of a superband, if they are kept.
    keep: Option<Collected>,
    /// Layers in a superband.
    layers: usize,
    /// The first superband, and the distance to the next.
    first: usize,
    every: usize,
}

impl Share<'_> {
    /// Finds the P-positions of the share: their tally, and those of each superband if they are kept.
    fn work(mut self, loops: &Loops) -> Result<(Tally, Vec<Sorted>), RunError> {
        let Share { layers, marks: &Tables { heaps, .. }, .. } = self;
        let stop_on_drop = StopOnDrop(self.wave);
        let (mut superband, mut sorted) = (Superband::new(self.marks), Vec::new());
        for index in (self.first..heaps.div_ceil(layers)).step_by(self.every) {
            superband.run(index, layers, self.wave, &mut self.keep, loops)?;
            let (y0, layers) = (layers * index, layers.min(heaps - layers * index));
            if let Some(collected) = &mut self.keep {
                sorted.push(collected.sort(y0, layers));
            }
            self.run.advance(layers as u64)?;
        }
        std::mem::forget(stop_on_drop);
        Ok((superband.tally, sorted))
    }
}

/// The functions of a tier. All else is compiled once.
pub struct Loops {
    /// [`Full::look_up`].
    look_up: fn(&mut Full, &Tile<'_>, usize),
    /// [`Superband::sweep`].
    sweep: fn(&mut Superband<'_>, &Tile<'_>, usize, Range<usize>, &mut Option<Collected>),
}

/// [`Loops`] of two functions of a tier. `search` searches the pairs of a step in one segment and returns those that found
/// something; `full_words` has a bit for each word of a line that has no free place.
macro_rules! loops {
    ($search:ident, $full_words:ident) => {
        $crate::cores::table_scan::blocks::Loops {
            look_up: |full, tile, x1| full.look_up(tile, x1, |line| $full_words(line)),
            sweep: |superband, tile, y0, xs, keep| {
                superband.sweep(
                    tile,
                    y0,
                    xs,
                    keep,
                    |step, pairs, found| $search(step, pairs, found),
                    |line| $full_words(line),
                )
            },
        }
    };
}
use loops;

pub fn run(input: &StoneGame, run: &Run, threads: usize, loops: Loops) -> Result<Positions, RunError> {
    let marks = &Tables::new(input);
    let layers = superband_layers(marks.heaps, threads);
    let superbands = marks.heaps.div_ceil(layers);
    let wave = &Wave::new(superbands);
    let every = threads.min(superbands);
    let mut sink = input.sink();
    let keeps = sink.keeps();
    let shares = threads::share(every, |first| {
        let keep = keeps.then(Collected::default);
        Share { marks, wave, run, keep, layers, first, every }.work(&loops)
    })?;
    let mut all = Vec::new();
    for (tally, sorted) in shares {
        match sink.totals_alone() {
            Some(totals) => Totals::<[u32; 3]>::add(totals, tally),
            None => all.extend(sorted),
        }
    }
    all.sort_unstable_by_key(|sorted| sorted.y0);
    in_order::hand_on(marks.heaps, &all, run, &mut sink)?;
    Ok(sink)
}

pub mod plain {
    //! Plain words, searched one by one, from the lowest on; the first that has a free candidate ends the search.
    //!
    //! Cost: for a word nine loads and three shifts.
    //! Bound: the mispredicted end of a search, then its instructions.

    use super::*;
    use crate::simd::bits::{WORD, funnel};
    use crate::simd::line::{Line, WORDS};

    pub fn parts() -> Loops {
        loops!(search, full_words)
    }

    /// Searches the pairs of a step; returns those that found something.
    #[inline(always)]
    fn search(step: &Step<'_>, pairs: u64, found: &mut Found) -> u64 {
        let (mut left, mut hits) = (pairs, 0);
        while left != 0 {
            let k = left.trailing_zeros() as usize % BAND;
            left &= left - 1;
            let Visit { by_z: [one_x, one_y, two], gap, all, layer } = step.visit(k);
            let of_two = |lines: [&Line; 2], word: usize| lines[word / WORDS % 2].word(word);
            for i in 0..WORDS {
                let by_z = one_x.word(i) | one_y.word(i) | two.word(i);
                let of_both = |word: usize| of_two(gap, word) | of_two(all, word);
                let (before, by_gap) = (of_both(step.word + i), of_both(step.word + i + 1));
                // The last `k` bits of the word before come first.
                let by_gap = by_gap << k | before >> 1 >> (WORD - 1 - k);
                let word = step.place / WORD + i;
                let layer = funnel(of_two(layer, word), of_two(layer, word + 1), step.place % WORD);
                let free = !(by_z | by_gap | layer);
                if free != 0 {
                    found.free[k].0[i] = free;
                    found.words[k] = 1 << i;
                    hits |= 1 << k;
                    break;
                }
            }
        }
        hits
    }

    /// A bit for each word of a line that has no free place.
    #[inline(always)]
    fn full_words(line: &Line) -> u8 {
        let mut full = 0;
        for word in 0..WORDS {
            full |= u8::from(line.word(word) == u64::MAX) << word;
        }
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No other thread waits for superbands that will never be done.
    #[test]
    fn a_panic_in_one_thread_ends_the_others() {
        let ended = std::panic::catch_unwind(|| {
            let breaks = Loops { sweep: |_, _, y0, _, _| assert!(y0 < 1000, "it breaks"), ..plain::parts() };
            run(&StoneGame::new(2000, Rule::AllMoves).expect("a small limit"), &Run::new(2), 2, breaks)
        });
        assert!(ended.is_err());
    }
}
