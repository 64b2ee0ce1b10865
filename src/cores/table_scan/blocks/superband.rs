//! A superband: its layers, and the sweep of a band through a tile.

use std::ops::Range;

use super::full::{Full, FullRows, FullWords, Tile};
use super::tables::{Block, Segment, Xs};
use super::wave::Wave;
use super::{BAND, BANDS, Collected, Found, LayerRows, Loops, Rule, Step, TILE, Tables};
use crate::cores::sink::Tally;
use crate::kernel::RunError;
use crate::simd::bits::{WORD, transpose};
use crate::simd::line::{PLACES, WORDS};
use crate::simd::{array_of, mapped};

/// Steps of a band beyond those of its largest heap `x`.
const MORE_STEPS: usize = 2 * BAND;

/// The state of a superband; reused for the next one of the thread.
pub struct Superband<'a> {
    marks: &'a Tables,
    layers: LayerRows,
    /// For each band the words of its steps: bit `k` says that the pair of layer `k` is unused.
    unused: [Vec<u64>; BANDS],
    full: Box<(Full, FullRows)>,
    found: Box<Found>,
    /// What this one and those before it have found.
    pub tally: Tally,
}

impl<'a> Superband<'a> {
    pub fn new(marks: &'a Tables) -> Self {
        let mut unused = [const { Vec::new() }; BANDS];
        for words in &mut unused {
            *words = vec![0; marks.heaps + MORE_STEPS];
        }
        let full = Box::new((Full::new(), FullRows::new()));
        let layers = LayerRows::new(marks.heaps);
        Superband { marks, layers, unused, full, found: Box::default(), tally: Tally::default() }
    }

    /// Bytes of a superband.
    pub fn bytes(heaps: usize) -> f64 {
        let unused = (BANDS * size_of::<u64>()) as f64 * (heaps + MORE_STEPS) as f64;
        LayerRows::bytes(heaps) + unused + (size_of::<(Full, FullRows)>() + size_of::<Found>()) as f64
    }

    /// Finds the P-positions whose `y` is in a superband, given the layers in each.
    pub fn run(
        &mut self,
        index: usize,
        layers: usize,
        wave: &Wave,
        keep: &mut Option<Collected>,
        loops: &Loops,
    ) -> Result<(), RunError> {
        let heaps = self.marks.heaps;
        let y0 = index * layers;
        let layers = layers.min(heaps - y0);
        let end = |segment: usize| heaps.min(PLACES * (segment + 1));
        wave.wait(index, end((y0 + layers - 1) / PLACES))?;
        self.enter(y0, layers);
        for segment in y0 / PLACES..heaps.div_ceil(PLACES) {
            wave.wait(index, end(segment))?;
            let at = Segment { index: segment, z0: segment * PLACES, y0, layers };
            for x0 in (0..(y0 + layers).min(end(segment))).step_by(TILE) {
                let x1 = (x0 + TILE).min(y0 + layers).min(end(segment));
                let tile = Tile::new(self.marks, at, x0);
                (loops.look_up)(&mut self.full.0, &tile, x1);
                for y in (y0..(y0 + layers).min(end(segment))).step_by(BAND) {
                    let xs = x0..x1.min(y + BAND);
                    if !xs.is_empty() {
                        (loops.sweep)(self, &tile, y, xs, keep);
                    }
                }
            }
            wave.leave(index, end(segment));
        }
        Ok(())
    }

    /// Takes what earlier superbands marked for the layers from `y0` on: used pairs, and `gap[y]`.
    fn enter(&mut self, y0: usize, layers: usize) {
        self.layers.clear();
        for first in (y0..y0 + layers).step_by(BAND) {
            let (band, count) = ((first - y0) / BAND, BAND.min(y0 + layers - first));
            let (segment, word) = (first / PLACES, first / WORD % WORDS);
            let in_band = u64::MAX >> (BAND - count);
            let unused = &mut self.unused[band];
            unused.fill(0);
            let one = self.marks.one.block(segment);
            for (x, unused) in unused.iter_mut().enumerate().take(first) {
                *unused = in_band & !one.x(x).word(word);
            }
            for k in 0..count {
                unused[first + k] = in_band & u64::MAX << k;
            }
            skew(unused, first + 2 * BAND);
            let two = self.marks.two.block(segment);
            for d0 in (0..first).step_by(WORD) {
                let mut tile: [u64; WORD] = array_of(|i| two.d(d0 + i).word(word));
                if tile == [0; WORD] {
                    continue;
                }
                transpose(&mut tile);
                for (k, row) in tile.into_iter().enumerate().take(count) {
                    mark_gaps(self.marks, &self.layers, band, first + k, d0, row);
                }
            }
        }
    }

    /// The steps of the band from `y0` on through the heaps `xs` of a tile.
    #[inline(always)]
    pub fn sweep(
        &mut self,
        tile: &Tile<'_>,
        y0: usize,
        xs: Range<usize>,
        keep: &mut Option<Collected>,
        search: impl Fn(&Step<'_>, u64, &mut Found) -> u64,
        full_words: impl FullWords,
    ) {
        let Superband { marks, layers, unused, full, found, tally } = self;
        let at = tile.at;
        let band = (y0 - at.y0) / BAND;
        let steps = xs.start..xs.end + BAND - 1;
        if unused[band][steps.clone()].iter().fold(0, |all, unused| all | unused) == 0 {
            return;
        }
        let (full, full_rows) = &mut **full;
        full.band(tile, y0, full_rows);
        let rows = BandRows::new(marks, at, y0, &xs);
        let full_layers = rows.full_layers(full_words);
        for (t, full_pairs) in steps.zip(full_rows.steps(full_layers, xs.len())) {
            let pairs = unused[band][t] & !full_pairs;
            if pairs == 0 {
                continue;
            }
            let step = rows.step(t, layers.windows(band, at.z0, t));
            let hits = search(&step, pairs, found);
            let mut sum = 0;
            let mut left = hits;
            while left != 0 {
                let k = left.trailing_zeros() as usize % BAND;
                left &= left - 1;
                let e = found.place(k);
                let (x, y, z) = (t - k, y0 + k, at.z0 + e);
                sum += e;
                if rows.mark(&step, k, e, z - x) {
                    full.look_up_again(tile, x, y - x, full_words);
                }
                if z < at.y0 + at.layers {
                    mark_near(marks, layers, unused, at, [x, y, z]);
                }
            }
            unused[band][t] &= !hits;
            let count = hits.count_ones() as usize;
            tally.sum += (sum + count * (t + y0 + at.z0)) as u128;
            tally.positions += count as u64;
            if let Some(keep) = keep {
                keep.take(found, hits, [t, y0 - at.y0, at.z0]);
            }
        }
    }
}

/// The rows of a band in one segment.
struct BandRows<'a> {
    y0: usize,
    one: Block<'a>,
    two: Block<'a>,
    gap: [Block<'a>; 2],
    all: [Block<'a>; 2],
    /// The word of `gap` and `all` before that of the first candidate.
    word: usize,
    /// `one[y]`, in descending order.
    ys: &'a Xs,
    /// The mark of a P-position in `all`: none if no move takes from three heaps.
    all_bit: u64,
    /// The first block, and the lines of `gap` from it on, for the marks that the layers make in their own rows, in descending
    /// order; `None` if no later superband reads them.
    kept: Option<(usize, [&'a Xs; TILE / PLACES + 2])>,
}

impl<'a> BandRows<'a> {
    /// The rows of the band from `y0` on, for the heaps `xs`.
    #[inline(always)]
    fn new(marks: &'a Tables, at: Segment, y0: usize, xs: &Range<usize>) -> Self {
        let [one, two] = [marks.one.block(at.index), marks.two.block(at.index)];
        let (block, word) = (at.word(y0) / WORDS, at.word(y0) % WORDS);
        let [gap, all] = mapped([&marks.gap, &marks.all], |table| [table.block(block), table.block(block + 1)]);
        let block = |gap: usize| (PLACES + gap) / PLACES;
        let (first, last) = (block((at.z0 + 1).saturating_sub(xs.end)), block(at.z0 + PLACES - 1 - xs.start));
        let lines = |i: usize| marks.gap.block(last.min(first + i)).xs(y0 + BAND - 1);
        BandRows {
            y0,
            one,
            two,
            gap,
            all,
            word,
            ys: one.xs(y0 + BAND - 1),
            all_bit: if marks.rule == Rule::AllMoves { 1 } else { 0 },
            kept: (at.z0 <= xs.end + marks.heaps - y0).then(|| (first, array_of(lines))),
        }
    }

    /// A bit for each layer whose own row has no free place.
    #[inline(always)]
    fn full_layers(&self, full_words: impl FullWords) -> u64 {
        let mut full = 0;
        for k in 0..BAND {
            full |= u64::from(full_words(&self.ys[BAND - 1 - k]) == u8::MAX) << k;
        }
        full
    }

    /// Step `t`, given the rows of the layers and the place of the first candidate in them.
    #[inline(always)]
    fn step(&self, t: usize, (layers, place): ([&'a Xs; 2], usize)) -> Step<'a> {
        Step {
            one: self.one.xs(t),
            two: self.two.ds(self.y0, t),
            gap: mapped(self.gap, |gap| gap.xs(t)),
            all: mapped(self.all, |all| all.ds(self.y0, t)),
            ys: self.ys,
            layers,
            word: self.word,
            place,
        }
    }

    /// Marks candidate `e` of the pair of layer `k`, whose `z - x` is `gap`. Returns whether a word of a row of `x` or `d` is now full.
    #[inline(always)]
    fn mark(&self, step: &Step<'_>, k: usize, e: usize, gap: usize) -> bool {
        if let Some((first, lines)) = &self.kept {
            let place = PLACES + gap;
            lines[place / PLACES - first][BAND - 1 - k].mark(place);
        }
        step.mark(k, e, self.all_bit)
    }
}

/// Makes the marks of a P-position whose `z` is a layer of the superband: two used pairs, and the place in its gaps.
fn mark_near(marks: &Tables, layers: &LayerRows, unused: &mut [Vec<u64>], at: Segment, [x, y, z]: [usize; 3]) {
    let (band, k) = ((z - at.y0) / BAND, z % BAND);
    for x in [x, y] {
        unused[band][x + k] &= !(1 << k);
    }
    let d = y - x;
    mark_gaps(marks, layers, band, z, d / WORD * WORD, 1 << (d % WORD));
}

/// Marks differences from a multiple of 64 on in the row of the layer `y` of a band.
fn mark_gaps(marks: &Tables, layers: &LayerRows, band: usize, y: usize, gap: usize, bits: u64) {
    layers.set(band, y % BAND, gap, bits);
    let block = (PLACES + gap) / PLACES;
    if marks.gap.has(block, y) {
        marks.gap.block(block).x(y).set(gap / WORD, bits);
    }
}

/// Turns words by heap `x` into words by step: bit `k` moves `k` words on.
fn skew(words: &mut [u64], steps: usize) {
    for level in 0..BAND.ilog2() {
        let (by, mut bits) = (1 << level, 0_u64);
        for k in 0..BAND {
            bits |= (k as u64 >> level & 1) << k;
        }
        for t in (by..steps.min(words.len())).rev() {
            words[t] = words[t - by] & bits | words[t] & !bits;
        }
        for word in &mut words[..by] {
            *word &= !bits;
        }
    }
}
