//! Unlike [`super::bit_rows`], this keeps a row of marks in one cache line, for heaps of up to 1023: a visit reads six lines, with no
//! search for a window and no dependency chain. A *band* is 32 layers `y0 + k`, whose candidates stay below `y0 + 512`.
//!
//! | row | index | shift in a visit |
//! |---|---|---|
//! | `one[x]`, `two[d]` | `z - y0`; moved on by 32 bits after a band | both together, by `k` |
//! | `one[y]`, `gap[x]`, `all[d]` | `z - y` | none |
//! | `gap[y]` | `z - x - 2k`, in a row of its own for the layer | by the same for all layers of a step |
//!
//! A step `t` takes the pairs of `x = t - k`, one from each layer. None depends on another, since `x` falls where `y` grows: all are
//! searched, then marked. Their rows are at the same distances in every step, so three arrays of 32 rows are checked once. When a band
//! begins, the lowest bits of `one[x]` are its used pairs, and those of `two[d]` the marks of `gap[y]`, transposed. Pairs whose `gap[x]`
//! or `all[d]` is full are left out. A tier provides the [search](Search), at two widths: bands near the ends need 256 places.
//!
//! Cost: `1.3` visits per P-position, `N^2 / 64` steps, and `N^2 / 32` lines moved on.
//! Bound: the instructions of the searches.

#[cfg(any(
    feature = "wide",
    all(target_arch = "aarch64", feature = "neon"),
    all(target_feature = "simd128", feature = "simd128")
))]
pub mod portable;
#[cfg(all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")))]
pub mod x86;

use super::{Positions, Rule, StoneGame};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::{array_of, mapped};

/// Layers in a band.
pub const K: usize = 32;
/// Bits in a word: as many as a band has layers, so that a row moves on by one word.
const WORD: usize = K;
/// Candidates in a row.
const PLACES: usize = 512;
/// Words in a line.
const LINE: usize = PLACES / WORD;
/// The most heaps: with more, some `z - y0` does not fit the frame. Checked at this limit; the positions of a smaller
/// limit are among those of this one.
const MAX_HEAPS: usize = 1024;
/// Candidates in a narrow row: half a line, less what a shift may spoil of `gap[y]`.
const NARROW_PLACES: usize = PLACES / 2 - 7;
/// The last `y0` of the first bands that need no more than a narrow row. Checked in the same way.
const LAST_NARROW: usize = 160;
/// Words that are skewed or transposed at a time.
const CHUNK: usize = 8;
/// Words of a layer's marks that fall due, rounded up beyond the last one that is read.
const DUE: usize = (MAX_HEAPS + 4 * K).div_ceil(WORD).next_multiple_of(CHUNK);

/// Nanoseconds for a heap, whose rows move on, and for a run.
const NS_PER_HEAP: f64 = 40.0;
const NS_PER_RUN: f64 = 1300.0;

/// Rate: ns of the square of the heaps, nearly all for searches.
pub fn cost(input: &StoneGame, _: CostContext, [square]: [f64; 1]) -> Cost {
    let n = input.heaps() as f64;
    let rows = (2.0 * n + 6.0 * K as f64) * size_of::<LineRow>() as f64;
    let of_band = (size_of::<[[u32; DUE]; K]>() + size_of::<[Layer; K]>()) as f64;
    let bytes = rows + size_of::<u32>() as f64 * n + of_band;
    Cost { ns: square * n * n + NS_PER_HEAP * n + NS_PER_RUN, bytes }.only_if(input.heaps() <= MAX_HEAPS)
}

/// With a row in one register: six marks per P-position. Per visit, of which there are four for three positions: six lines, and
/// three permutes, two that move a line by a word and one for the word that is read.
pub fn needs(input: &StoneGame) -> Needs {
    let bytes = 256.0 * input.heaps() as f64;
    Needs { bits: 6.0, loads: 1.3 * 6.0, permutes: 1.3 * 3.0, logic: 1.3 * 3.0, bytes, ..Needs::default() }
}

/// A pair to search for its `z`, and its rows.
pub struct LineVisit<'a> {
    /// `one[x]` and `gap[x]`.
    pub x: &'a LineRow,
    /// `two[d]` and `all[d]`.
    pub d: &'a LineRow,
    /// `one[y]` and `gap[y]`.
    pub y: &'a Layer,
    /// The layer, which is the place of `z = y` in rows by `z`.
    pub k: usize,
    /// The place of `z = y` in `gap[y]`.
    pub base: usize,
}

/// The result of a search.
pub struct SearchEnd {
    /// The first word with a free place.
    pub word: u32,
    /// Its first free bit; 32 if there is none.
    pub bit: u32,
}

/// The search of a visit.
pub trait Search: Fn(LineVisit<'_>) -> SearchEnd {}

impl<F: Fn(LineVisit<'_>) -> SearchEnd> Search for F {}

/// The parts of a tier: the search of a visit in 512 places, and in the first 256. What it reads past the lines of `one[x]` and
/// `two[d]`, and for its last 7 places of `gap[y]`, does not matter: these are past the last heap, or above every result.
pub struct Parts<W, N> {
    wide: W,
    narrow: N,
}

#[inline(always)]
pub fn run(input: &StoneGame, run: &Run, parts: Parts<impl Search, impl Search>) -> Result<Positions, RunError> {
    let mut sink = input.sink();
    let heaps = input.heaps();
    let mut table = LineTable::new(heaps, input.rule);
    for y0 in (0..heaps).step_by(K) {
        let layers = K.min(heaps - y0);
        let narrow = y0 <= LAST_NARROW || heaps - y0 <= NARROW_PLACES;
        table.enter(y0, layers);
        for t in 0..y0 + 2 * layers - 1 {
            if t >= y0 && (t - y0).is_multiple_of(2) {
                table.leave(y0, (t - y0) / 2);
            }
            let mut step = table.step(y0, t);
            let missed = if narrow { step.search(&parts.narrow) } else { step.search(&parts.wide) };
            step.mark(missed, &mut sink);
        }
        run.advance(layers as u64)?;
    }
    sink.finish();
    Ok(sink)
}

/// The marks of a heap or a difference: the line of `one` or `two`, then that of `gap` or `all`.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct LineRow([u32; 2 * LINE]);

impl LineRow {
    const EMPTY: LineRow = LineRow([0; 2 * LINE]);

    /// Words of the line by `z - y0`, from the given one on. Past its end come those of the other line.
    #[inline(always)]
    pub fn by_z<const W: usize>(&self, word: usize) -> &[u32; W] {
        self.0[word..].first_chunk().expect("part of a row")
    }

    /// The first words of the line by `z - y`.
    #[inline(always)]
    pub fn by_gap<const W: usize>(&self) -> &[u32; W] {
        self.0[LINE..].first_chunk().expect("part of a line")
    }

    /// Moves the first line on by a word; returns the word that falls due.
    #[inline(always)]
    fn move_on(&mut self) -> u32 {
        self.0.copy_within(1..LINE, 0);
        self.0[LINE - 1] = 0;
        self.0[0]
    }

    /// Whether the second line has no open place, apart from those beyond the last heap.
    #[inline(always)]
    fn is_full(&self, beyond: &[u32; LINE]) -> bool {
        // All words are read: no branch, and vectors.
        let (gaps, mut all) = (self.by_gap::<LINE>(), u32::MAX);
        for w in 0..LINE {
            all &= gaps[w] | beyond[w];
        }
        all == u32::MAX
    }
}

/// The marks of a layer's own heap `y`.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Layer {
    /// `one[y]` at `z - y`.
    one: [u32; LINE],
    /// `gap[y]`.
    gap: [u8; 448],
}

impl Layer {
    /// The first words of `one[y]`.
    #[inline(always)]
    pub fn one<const W: usize>(&self) -> &[u32; W] {
        self.one.first_chunk().expect("part of a line")
    }

    /// Little-endian words of `gap[y]`, from the given byte on.
    #[inline(always)]
    pub fn gap<const W: usize>(&self, byte: usize) -> &[[u8; 4]; W] {
        self.gap[byte..].as_chunks().0.first_chunk().expect("a window")
    }
}

/// All rows, and the state of a band.
struct LineTable {
    heaps: usize,
    /// The mask of marks in `all[d]`: zero if no move takes from three heaps.
    all: u32,
    /// The rows of `x` in descending order, then those of `d` from `-2 K` on.
    rows: Vec<LineRow>,
    layers: Box<[Layer; K]>,
    /// `unused[K + t]`: bit `k` says that the pair of layer `k` in step `t` is unused and not hopeless.
    unused: Vec<u32>,
    /// The result `z - y` of each layer in a step.
    found: [u32; K],
}

/// A step of a band, and the rows of its pairs: those of layer `k` are at `k`.
struct Step<'a> {
    y0: usize,
    t: usize,
    all: u32,
    pairs: u32,
    xs: &'a mut [LineRow; K],
    /// The second row of each is not used: the rows of the pairs are two apart.
    ds: &'a mut [[LineRow; 2]; K],
    layers: &'a mut [Layer; K],
    unused: &'a mut [u32],
    found: &'a mut [u32; K],
}

impl LineTable {
    fn new(heaps: usize, rule: Rule) -> Self {
        LineTable {
            heaps,
            all: if rule == Rule::AllMoves { u32::MAX } else { 0 },
            rows: vec![LineRow::EMPTY; (heaps + 2 * K) + (heaps + 4 * K)],
            layers: Box::new([Layer { one: [0; LINE], gap: [0; 448] }; K]),
            unused: vec![0; heaps + 3 * K + CHUNK],
            found: [0; K],
        }
    }

    /// The rows of `x`, where that of 0 is at `heaps + K` and the others come before it, and those of `d`, where that
    /// of 0 is at `2 K`: the last steps of a band take arrays that reach below 0. One allocation, because halves would
    /// be given back to the system.
    #[inline(always)]
    fn rows(rows: &mut [LineRow], heaps: usize) -> [&mut [LineRow]; 2] {
        rows.split_at_mut(heaps + 2 * K).into()
    }

    /// Moves the frames on to the band from `y0` on and takes out the words that fall due.
    #[inline(always)]
    fn enter(&mut self, y0: usize, layers: usize) {
        let places = self.heaps - y0;
        let in_band = u32::MAX >> (K - layers);
        let beyond = past(places);
        // Earlier, hardly any row is full.
        let late = 2 * (y0 + K) > self.heaps;
        let [xs, ds] = Self::rows(&mut self.rows, self.heaps);
        let mut due = [[0; DUE]; K];
        self.unused.fill(u32::MAX);
        for (d, row) in ds[2 * K..][..y0].iter_mut().enumerate() {
            let place = 2 * K + d;
            due[place % WORD][place / WORD] = row.move_on();
            if late && row.is_full(&beyond) {
                self.unused[K + y0 - d] = 0;
            }
        }
        if late {
            skew(&mut self.unused, y0 + K);
        }
        let xs = &mut xs[self.heaps + K + 1 - y0..][..y0];
        for (x, unused) in self.unused[K..][..y0].iter_mut().enumerate() {
            let row = &mut xs[y0 - 1 - x];
            let due = row.move_on();
            *unused = if late && row.is_full(&beyond) { 0 } else { *unused & in_band & !due };
        }
        for layer in 0..layers {
            self.unused[K + y0 + layer] = in_band & u32::MAX << layer;
        }
        self.unused[..K].fill(0);
        self.unused[K + y0 + layers..].fill(0);
        skew(&mut self.unused, y0 + K + layers);
        let words = (2 * K + y0) / WORD;
        transpose(&mut due, words.div_ceil(CHUNK));
        for (k, layer) in self.layers[..layers].iter_mut().enumerate() {
            layer.one = past(places - k);
            layer.gap.fill(0);
            let due = &due[k][2 * k / WORD..][..=words];
            for (i, to) in layer.gap.as_chunks_mut().0[..words].iter_mut().enumerate() {
                *to = funnel(due[i], due[i + 1], 2 * k % WORD).to_le_bytes();
            }
        }
    }

    /// Turns a finished layer into the row of its heap.
    #[inline(always)]
    fn leave(&mut self, y0: usize, k: usize) {
        let [xs, _] = Self::rows(&mut self.rows, self.heaps);
        let (row, layer) = (&mut xs[self.heaps + K - (y0 + k)], &self.layers[k]);
        let (by_z, by_gap) = row.0.split_at_mut(LINE);
        let mut below = 0;
        for (to, one) in by_z.iter_mut().zip(layer.one) {
            *to = one << k | below >> 1 >> (WORD - 1 - k);
            below = one;
        }
        let first = 2 * (K - k);
        let gap = mapped(*layer.gap::<{ LINE + 1 }>(first / 8), u32::from_le_bytes);
        for (to, gap) in by_gap.iter_mut().zip(gap.windows(2)) {
            *to = funnel(gap[0], gap[1], first % 8);
        }
    }

    /// The step `t` of the band from `y0` on.
    #[inline(always)]
    fn step(&mut self, y0: usize, t: usize) -> Step<'_> {
        let pairs = self.unused[K + t];
        let [xs, ds] = Self::rows(&mut self.rows, self.heaps);
        let xs = xs[self.heaps + K - t..].first_chunk_mut().expect("rows of x");
        let ds = ds[2 * K + y0 - t..].as_chunks_mut().0.first_chunk_mut().expect("rows of d");
        Step {
            y0,
            t,
            all: self.all,
            pairs,
            xs,
            ds,
            layers: &mut self.layers,
            unused: &mut self.unused[K..],
            found: &mut self.found,
        }
    }
}

/// A bit for each place from `places` on.
#[inline(always)]
fn past(places: usize) -> [u32; LINE] {
    array_of(|w| match places.saturating_sub(WORD * w) {
        free @ 0..WORD => u32::MAX << free,
        _ => 0,
    })
}

/// The 32 bits from bit `shift` of `low` on, with `high` above it.
#[inline(always)]
fn funnel(low: u32, high: u32, shift: usize) -> u32 {
    low >> shift | high << 1 << (WORD - 1 - shift) // a shift by 32 is not defined
}

/// Transposes squares of 32 by 32 bits, one at each place of the rows: bit `j` of row `i` becomes bit `i` of row `j`.
/// Swaps blocks of half the size, five times.
#[inline(always)]
fn transpose(rows: &mut [[u32; DUE]; WORD], chunks: usize) {
    for (size, low) in [(16, 0x0000_FFFF), (8, 0x00FF_00FF), (4, 0x0F0F_0F0F), (2, 0x3333_3333), (1, 0x5555_5555_u32)] {
        let mut row = 0;
        while row < WORD {
            for at in 0..chunks {
                let mut upper = rows[row].as_chunks::<CHUNK>().0[at];
                let mut lower = rows[row + size].as_chunks::<CHUNK>().0[at];
                for i in 0..CHUNK {
                    let swap = (upper[i] >> size ^ lower[i]) & low;
                    upper[i] ^= swap << size;
                    lower[i] ^= swap;
                }
                rows[row].as_chunks_mut::<CHUNK>().0[at] = upper;
                rows[row + size].as_chunks_mut::<CHUNK>().0[at] = lower;
            }
            // The next row that is in an upper half.
            row = (row + size + 1) & !size;
        }
    }
}

/// Turns words by heap `x` into words by step: bit `k` moves `k` words on.
#[inline(always)]
fn skew(words: &mut [u32], steps: usize) {
    for (level, bits) in [0xAAAA_AAAA_u32, 0xCCCC_CCCC, 0xF0F0_F0F0, 0xFF00_FF00, 0xFFFF_0000].into_iter().enumerate() {
        for at in (K..K + steps).step_by(CHUNK).rev() {
            let before: [u32; CHUNK] = *words[at - (1 << level)..].first_chunk().expect("a chunk");
            for (word, before) in words[at..][..CHUNK].iter_mut().zip(before) {
                *word = before & bits | *word & !bits;
            }
        }
    }
}

impl Step<'_> {
    /// The place of `z = y` in the layers' rows of gaps.
    #[inline(always)]
    fn base(&self) -> usize {
        (self.y0 + 2 * K - self.t) % 2048
    }

    /// Searches all pairs; returns those without a result. The closure is borrowed here, not by the caller: through a
    /// borrow of another type, it would be called by a function without the features of the tier, and not inlined.
    #[inline(always)]
    fn search(&mut self, search: &impl Search) -> u32 {
        let base = self.base();
        let mut missed = 0;
        let mut left = self.pairs;
        while left != 0 {
            let k = left.trailing_zeros() as usize % K;
            left &= left - 1;
            let (x, [d, _], y) = (&self.xs[k], &self.ds[k], &self.layers[k]);
            let SearchEnd { word, bit } = search(LineVisit { x, d, y, k, base });
            self.found[k] = u32::BITS * word + bit;
            missed |= (bit / u32::BITS) << k;
        }
        missed
    }

    /// Marks the results.
    #[inline(always)]
    fn mark(&mut self, missed: u32, sink: &mut Positions) {
        let hits = self.pairs & !missed;
        // Usually every pair has a result. If that is predicted, the first mark need not wait for the last search.
        let sum = if missed == 0 { self.mark_all(self.pairs) } else { self.mark_all(hits) };
        match sink.totals_alone() {
            Some(tally) => {
                let count = hits.count_ones() as usize;
                tally.sum += (sum + count * (2 * self.y0 + self.t)) as u128;
                tally.positions += count as u64;
            }
            None => self.keep(hits, sink),
        }
    }

    #[inline(always)]
    fn mark_all(&mut self, mut hits: u32) -> usize {
        let mut sum = 0;
        while hits != 0 {
            let k = hits.trailing_zeros() as usize % K;
            hits &= hits - 1;
            sum += self.mark_one(k);
        }
        sum
    }

    /// Hands the results to a sink that keeps positions.
    #[inline(never)]
    fn keep(&self, mut hits: u32, sink: &mut Positions) {
        while hits != 0 {
            let k = hits.trailing_zeros() as usize % K;
            hits &= hits - 1;
            let z = self.y0 + k + self.found[k] as usize % PLACES;
            sink.push([(self.t - k) as u32, (self.y0 + k) as u32, z as u32]);
        }
    }

    /// Marks the P-position of a layer's pair; returns `z - y0`.
    #[inline(always)]
    fn mark_one(&mut self, k: usize) -> usize {
        let e = self.found[k] as usize % PLACES;
        let (z, g) = (e + k, e + self.base());
        let (x, [d, _], y) = (&mut self.xs[k], &mut self.ds[k], &mut self.layers[k]);
        let bit = |place: usize| 1 << (place % WORD);
        x.0[z / WORD] |= bit(z);
        d.0[z / WORD] |= bit(z);
        x.0[LINE + e / WORD] |= bit(e);
        d.0[LINE + e / WORD] |= bit(e) & self.all;
        y.one[e / WORD] |= bit(e);
        y.gap[g / 8] |= (1_u32 << (g % 8)) as u8;
        if z < K {
            self.mark_near(k, z);
        }
        z
    }

    /// Makes the marks of a P-position whose `z` is a layer of the band: two used pairs, and the place in its gaps.
    #[inline]
    fn mark_near(&mut self, k: usize, z: usize) {
        let g = self.base() + 2 * k - 2 * z;
        self.layers[z].gap[g / 8] |= 1 << (g % 8);
        for x in [self.t - k, self.y0 + k] {
            self.unused[x + z] &= !(1 << z);
        }
    }
}
