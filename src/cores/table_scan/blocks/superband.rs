//! A superband: its layers, and the sweep of a band through a tile.

use std::ops::Range;

use super::full::{Full, FullRows, Tile};
use super::tables::{Segment, Xs};
use super::{BAND, BANDS, Found, Keep, Layers, Marks, Rule, Step, TILE};
use crate::cores::table_scan::Tally;
use crate::cores::table_scan::wave::Wave;
use crate::kernel::RunError;
use crate::simd::bits::{WORD, transpose};
use crate::simd::line::{Line, PLACES, WORDS};

/// Steps of a band beyond those of its largest heap `x`.
const MORE_STEPS: usize = 2 * BAND;

/// The state of a superband; reused for the next one of the thread.
pub struct Superband<'a> {
    marks: &'a Marks,
    layers: Layers,
    /// For each band the words of its steps: bit `k` says that the pair of layer `k` is unused.
    unused: [Vec<u64>; BANDS],
    full: Box<(Full, FullRows)>,
    found: Box<Found>,
    /// What this one and those before it have found.
    pub tally: Tally,
}

impl<'a> Superband<'a> {
    pub fn new(marks: &'a Marks) -> Self {
        let unused = std::array::from_fn(|_| vec![0; marks.heaps + MORE_STEPS]);
        let full = Box::new((Full::new(), FullRows::new()));
        let layers = Layers::new(marks.heaps);
        Superband { marks, layers, unused, full, found: Box::default(), tally: Tally::default() }
    }

    /// Bytes of a superband.
    pub fn bytes(heaps: usize) -> f64 {
        let unused = (BANDS * size_of::<u64>()) as f64 * (heaps + MORE_STEPS) as f64;
        Layers::bytes(heaps) + unused + (size_of::<(Full, FullRows)>() + size_of::<Found>()) as f64
    }

    /// Finds the P-positions whose `y` is in a superband, given the layers in each.
    #[inline(always)]
    pub fn run(
        &mut self,
        index: usize,
        layers: usize,
        wave: &Wave,
        keep: &mut Keep<'_>,
        search: &impl Fn(&Step<'_>, u64, &mut Found) -> u64,
        full_words: &impl Fn(&Line) -> u8,
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
                let tile = Tile::new(self.marks, at, x0, full_words);
                self.full.0.look_up(&tile, x1);
                for y in (y0..(y0 + layers).min(end(segment))).step_by(BAND) {
                    let xs = x0..x1.min(y + BAND);
                    if !xs.is_empty() {
                        self.sweep(&tile, y, xs, keep, search);
                    }
                }
            }
            wave.leave(index, end(segment));
        }
        Ok(())
    }

    /// Takes what earlier superbands marked for the layers from `y0` on: used pairs, and `gap[y]`.
    #[inline(always)]
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
                let mut tile: [u64; WORD] = std::array::from_fn(|i| two.d(d0 + i).word(word));
                if tile.iter().all(|row| *row == 0) {
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
    fn sweep<F: Fn(&Line) -> u8>(
        &mut self,
        tile: &Tile<'_, F>,
        y0: usize,
        xs: Range<usize>,
        keep: &mut Keep<'_>,
        search: &impl Fn(&Step<'_>, u64, &mut Found) -> u64,
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
        let [one, two] = [marks.one.block(at.index), marks.two.block(at.index)];
        let (block, word) = (at.word(y0) / WORDS, at.word(y0) % WORDS);
        let [gap, all] = [&marks.gap, &marks.all].map(|table| [table.block(block), table.block(block + 1)]);
        let ys = one.xs(y0 + BAND - 1);
        let all_bits = if marks.rule == Rule::AllMoves { 1 } else { 0 };
        let kept = self::kept(marks, at, y0, &xs);
        let is_full = |k: usize| (tile.full_words)(&ys[BAND - 1 - k]) == u8::MAX;
        let full_layers = (0..BAND).fold(0, |all, k| all | u64::from(is_full(k)) << k);
        for (t, full_pairs) in steps.zip(full_rows.steps(full_layers, xs.len())) {
            let pairs = unused[band][t] & !full_pairs;
            if pairs == 0 {
                continue;
            }
            let (layer_rows, place) = layers.windows(band, at.z0, t);
            let step = Step {
                one: one.xs(t),
                two: two.ds(y0, t),
                gap: gap.map(|gap| gap.xs(t)),
                all: all.map(|all| all.ds(y0, t)),
                ys,
                layers: layer_rows,
                word,
                place,
            };
            let hits = search(&step, pairs, found);
            let mut sum = 0;
            let mut left = hits;
            while left != 0 {
                let k = left.trailing_zeros() as usize % BAND;
                left &= left - 1;
                let e = found.place(k);
                let (x, y, z) = (t - k, y0 + k, at.z0 + e);
                sum += e;
                if step.mark(k, e, all_bits) {
                    full.look_up_again(tile, x, y - x);
                }
                if let Some((first, lines)) = &kept {
                    let place = PLACES + z - x;
                    lines[place / PLACES - first][BAND - 1 - k].mark(place);
                }
                if z < at.y0 + at.layers {
                    mark_near(marks, layers, unused, at, [x, y, z]);
                }
            }
            unused[band][t] &= !hits;
            let count = hits.count_ones() as usize;
            tally.add((sum + count * (t + y0 + at.z0)) as u128, count as u64);
            if let Some(keep) = keep {
                hand_on(keep, found, hits, [t, y0, at.z0]);
            }
        }
    }
}

/// Hands on what a step has found, given its `t`, the first layer and the first candidate.
fn hand_on(keep: &mut dyn FnMut(&[[u32; 3]]), found: &Found, hits: u64, [t, y0, z0]: [usize; 3]) {
    let (mut positions, mut left) = ([[0; 3]; BAND], hits);
    let mut count = 0;
    while left != 0 {
        let k = left.trailing_zeros() as usize % BAND;
        left &= left - 1;
        positions[count] = [t - k, y0 + k, z0 + found.place(k)].map(|heap| heap as u32);
        count += 1;
    }
    keep(&positions[..count]);
}

/// The first block, and the lines of `gap` from it on, for the marks that the layers from `y0` on make in their own rows, in
/// descending order; `None` if no later superband reads them.
#[inline(always)]
fn kept<'a>(
    marks: &'a Marks,
    at: Segment,
    y0: usize,
    xs: &Range<usize>,
) -> Option<(usize, [&'a Xs; TILE / PLACES + 2])> {
    let block = |gap: usize| (PLACES + gap) / PLACES;
    let (first, last) = (block((at.z0 + 1).saturating_sub(xs.end)), block(at.z0 + PLACES - 1 - xs.start));
    let lines = |i: usize| marks.gap.block(last.min(first + i)).xs(y0 + BAND - 1);
    (at.z0 <= xs.end + marks.heaps - y0).then(|| (first, std::array::from_fn(lines)))
}

/// Makes the marks of a P-position whose `z` is a layer of the superband: two used pairs, and the place in its gaps.
fn mark_near(marks: &Marks, layers: &Layers, unused: &mut [Vec<u64>], at: Segment, [x, y, z]: [usize; 3]) {
    let (band, k) = ((z - at.y0) / BAND, z % BAND);
    for x in [x, y] {
        unused[band][x + k] &= !(1 << k);
    }
    let d = y - x;
    mark_gaps(marks, layers, band, z, d / WORD * WORD, 1 << (d % WORD));
}

/// Marks differences from a multiple of 64 on in the row of the layer `y` of a band.
fn mark_gaps(marks: &Marks, layers: &Layers, band: usize, y: usize, gap: usize, bits: u64) {
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
        words[..by].iter_mut().for_each(|word| *word &= !bits);
    }
}
