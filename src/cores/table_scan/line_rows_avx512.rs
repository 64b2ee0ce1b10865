//! Up to 1023 heaps a row of marks is one cache line, and a visit is six loads, no search for a window and no chain.
//!
//! # Frames
//! Pairs are visited with `y` outermost: any order does in which a move leads back. A *band* takes `K = 32` layers `y0 + k`.
//! Candidates stay below `y0 + 512` here, so of each row only 512 places matter, and they are held in one of three frames:
//!
//! | row | place | shift in a visit |
//! |---|---|---|
//! | `one[x]`, `two[d]` | `z - y0`; moved on by 32 bits after a band | both together, by `k` |
//! | `one[y]`, `gap[x]`, `all[d]` | `z - y` | none |
//! | `gap[y]` | `z - x - 2k`, in a row of its own for the layer | by the same for all layers of a step |
//!
//! What falls due at the start of a band are the 32 lowest bits of rows in the first frame: in `one[x]` they say which pairs of
//! the band are used, in `two[d]` they are the marks of `gap[y]`, transposed. So a mark in `gap[z]` is never made, unless `z` is
//! in the band itself. Bands near the first and the last heap need 256 places only, and half the work.
//!
//! # Steps
//! A step `t` takes the pairs of `x = t - k`, one of each layer: none depends on another, for `x` falls where `y` grows. So a
//! step is a word of unused pairs. The band's words are its used pairs, skewed by the bits of `k` one after the other; what a
//! P-position of the band itself uses is cleared as it is found. All pairs of a step are searched before any is marked.
//!
//! A pair is *hopeless* if `gap[x]` or `all[d]` has no place left up to the last heap. Whole rows become so in the last half of the
//! bands, and their pairs are left out before the band begins.
//!
//! # Addresses
//! The rows of a step are at the same distances in every step: those of `x` upwards with the layer, as they are stored downwards,
//! those of `d` two apart. So a step takes three arrays of 32 rows, checked once, and a layer's number, which is taken from the
//! word of pairs as it is needed, leads to all its rows: no list of places is made, and no place is checked in a visit.
//!
//! Cost: `1.3` visits a P-position, `N^2 / 64` steps, and `N^2 / 32` lines moved on.
//! Bound: loads. A search is 32 instructions, which could pass in six cycles (llvm-mca); its six lines, one of them across two, take
//! eight at one load of 64 bytes a cycle, and it takes about ten where all is at hand. Marking is six stores, in nine cycles.
//! Searches are about half of the time, marks three tenths, moving the rows on a tenth.
//! What made the most: no pair of a step shares a row that is marked with another (steps of four places `x` in each of 16 layers
//! had 6 pairs in 100 searched again); results stored at places that are known beforehand, and marks made from plain numbers as
//! they are read back; and frames in which a step's rows need neither list nor check (before, a search was 63 instructions). What
//! is shifted in is no constant: all ones were made anew in each search, by a `vpternlog` that waits for what its register held,
//! and a search took half as long again. Searching and marking in one loop does, too, as loads then wait for the places of stores. Sixteen
//! marks prepared at a time in vectors took fewer instructions, but waited for all 16 searches.

use std::arch::x86_64::*;

use super::{Rule, Sink, StoneGame};
use crate::kernel::{Cost, Needs, On, Run, Stop};
use crate::simd::{avx2, avx512};

/// Layers of a band.
const K: usize = 32;
/// The candidates of a row.
const PLACES: usize = 512;
/// The most heaps: at more some `z - y0` does not fit the frame. Checked at this limit, and what is found at a smaller one is part
/// of that.
const MOST: usize = 1024;
/// The candidates of a narrow row: half a line, less what its shift spoils of `gap[y]`.
const NARROW: usize = 256 - 7;
/// The last of the first bands that need no more. Checked in the same way.
const LAST_NARROW: usize = 160;
/// Words of 32 bits in a vector.
const WORDS: usize = 16;

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps();
    if n > MOST {
        return Cost::IMPOSSIBLE;
    }
    let n = n as f64;
    Cost { ns: 0.98 * n * n + 40.0 * n + 1300.0, bytes: 260.0 * n + 50_000.0 }
}

/// Six marks a P-position, and for each of its visits, four for three: six lines, of which two are moved by a word, as is the one
/// word that is looked at.
pub fn needs(input: &StoneGame) -> Needs {
    let bytes = 256.0 * input.heaps() as f64;
    Needs { bits: 6.0, loads: 1.3 * 6.0, permutes: 1.3 * 3.0, logic: 1.3 * 3.0, bytes, ..Needs::default() }
}

#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub fn run<S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
    let heaps = input.heaps();
    let mut board = Board::new(heaps, input.rule);
    let mut sink = S::default();
    for y0 in (0..heaps).step_by(K) {
        let layers = K.min(heaps - y0);
        let narrow = y0 <= LAST_NARROW || heaps - y0 <= NARROW;
        board.enter(y0, layers);
        for t in 0..y0 + 2 * layers - 1 {
            if t >= y0 && (t - y0).is_multiple_of(2) {
                board.leave(y0, (t - y0) / 2);
            }
            let mut step = board.step(y0, t);
            let missed = if narrow { step.search_narrow() } else { step.search() };
            step.mark(missed, &mut sink);
        }
        run.advance(layers as u64)?;
    }
    sink.finish();
    Ok(sink)
}

/// The marks of a heap or of a difference: the line of `one` or `two`, then that of `gap` or `all`.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row([u64; 16]);

impl Row {
    const EMPTY: Row = Row([0; 16]);

    fn by_z(&self) -> &[u64; 8] {
        self.0.first_chunk().expect("half a row")
    }

    fn by_z_mut(&mut self) -> &mut [u64; 8] {
        self.0.first_chunk_mut().expect("half a row")
    }

    fn by_gap(&self) -> &[u64; 8] {
        self.0.last_chunk().expect("half a row")
    }
}

/// The marks of a layer's own heap `y`.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Layer {
    /// `one[y]` at `z - y`.
    one: [u64; 8],
    /// `gap[y]`.
    gap: [u8; 448],
}

struct Board {
    heaps: usize,
    /// What `all[d]` takes of a mark: nothing if no move takes from three heaps.
    all: u64,
    /// The rows of `x`, downwards, then those of `d` from `-2 K` on.
    rows: Vec<Row>,
    layers: Box<[Layer; K]>,
    /// `unused[K + t]`: bit `k` says that the pair of layer `k` in step `t` is unused, and not hopeless.
    unused: Vec<u32>,
    /// What a step found in its layers: `z - y`.
    found: [u32; K],
}

/// A step of a band, and the rows of its pairs: those of layer `k` are at `k`.
struct Step<'a> {
    y0: usize,
    t: usize,
    all: u64,
    pairs: u32,
    xs: &'a mut [Row; K],
    /// Every other row is between those of the pairs.
    ds: &'a mut [[Row; 2]; K],
    layers: &'a mut [Layer; K],
    unused: &'a mut [u32],
    found: &'a mut [u32; K],
}

/// The search of a step at one width.
macro_rules! search {
    ($search:ident, $vector:ty, $words:literal, $load:path, $set1:ident, $or:ident, $or3:ident, $shrdv:ident, $alignr:ident, $test:ident,
        $compress:ident, $low:expr) => {
        /// Searches all pairs; returns for which of them there is nothing.
        #[inline]
        #[target_feature(
            enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
        )]
        fn $search(&mut self) -> u32 {
            let load = |line: &[u64; 8]| -> $vector { $load(line.first_chunk::<$words>().expect("part of a line")) };
            let base = self.base();
            let shift = $set1((base % 8) as i64);
            let mut missed = 0;
            let mut left = self.pairs;
            while left != 0 {
                let k = left.trailing_zeros() as usize % K;
                left &= left - 1;
                let (x, [d, _], y) = (&self.xs[k], &self.ds[k], &self.layers[k]);
                let by_z = $or(load(x.by_z()), load(d.by_z()));
                // What is shifted in is of the row's other end: past the last heap, or above all that is found.
                let by_z = $shrdv(by_z, $alignr::<1>(by_z, by_z), $set1(SHIFTS[k]));
                let gap_y = $load(y.gap[base / 8..].first_chunk::<{ 8 * $words }>().expect("a window"));
                let gap_y = $shrdv(gap_y, $alignr::<1>(gap_y, gap_y), shift);
                let free = $or3::<0x01>($or3::<0xFE>(by_z, gap_y, load(&y.one)), load(x.by_gap()), load(d.by_gap()));
                let words = $test(free, free);
                let bit = (_mm_cvtsi128_si64($low($compress(words, free))) as u64).trailing_zeros();
                self.found[k] = 64 * u32::from(words).trailing_zeros() + bit;
                missed |= bit / 64 << k;
            }
            missed
        }
    };
}

/// The layers by number, to be loaded as shifts.
static SHIFTS: [i64; K] = {
    let mut shifts = [0; K];
    let mut k = 0;
    while k < K {
        shifts[k] = k as i64;
        k += 1;
    }
    shifts
};

impl Board {
    fn new(heaps: usize, rule: Rule) -> Self {
        Board {
            heaps,
            all: if rule == Rule::AllMoves { u64::MAX } else { 0 },
            rows: vec![Row::EMPTY; (heaps + 2 * K) + (heaps + 4 * K)],
            layers: Box::new([Layer { one: [0; 8], gap: [0; 448] }; K]),
            unused: vec![0; heaps + 3 * K + WORDS],
            found: [0; K],
        }
    }

    /// The rows of `x`, of which that of 0 is at `heaps + K` and the others before it, and those of `d`, of which that of 0 is at
    /// `2 K`: the last steps of a band take arrays that reach below 0. One allocation, as halves are given back to the system.
    fn rows(rows: &mut [Row], heaps: usize) -> [&mut [Row]; 2] {
        rows.split_at_mut(heaps + 2 * K).into()
    }

    /// Moves the frames on to the band from `y0` on and takes out what falls due.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn enter(&mut self, y0: usize, layers: usize) {
        let places = self.heaps - y0;
        let in_band = u32::MAX >> (K - layers);
        let beyond = past(places);
        // Sooner, hardly a row is full.
        let late = 2 * (y0 + K) > self.heaps;
        // Moves a row on; returns what falls due, and all ones if a place up to the last heap is open.
        let move_on = |row: &mut Row| -> (u32, u32) {
            let moved = _mm512_alignr_epi32::<1>(_mm512_setzero_si512(), avx512::load(row.by_z()));
            avx512::store(row.by_z_mut(), moved);
            let full = || {
                let gaps = _mm512_or_si512(avx512::load(row.by_gap()), avx512::load(&beyond));
                _mm512_cmpneq_epi64_mask(gaps, _mm512_set1_epi64(-1)) == 0
            };
            (row.0[0] as u32, if late && full() { 0 } else { u32::MAX })
        };
        let [xs, ds] = Self::rows(&mut self.rows, self.heaps);
        let mut due = [0; MOST + 4 * K + WORDS];
        self.unused.fill(u32::MAX);
        for (d, row) in ds[2 * K..][..y0].iter_mut().enumerate() {
            (due[2 * K + d], self.unused[K + y0 - d]) = move_on(row);
        }
        if late {
            skew(&mut self.unused, y0 + K);
        }
        for (row, unused) in xs[..=self.heaps + K].iter_mut().rev().zip(&mut self.unused[K..]).take(y0) {
            let (due, open) = move_on(row);
            *unused &= !due & open & in_band;
        }
        for layer in 0..layers {
            self.unused[K + y0 + layer] = in_band & u32::MAX << layer;
        }
        self.unused[..K].fill(0);
        self.unused[K + y0 + layers..].fill(0);
        for (k, layer) in self.layers.iter_mut().enumerate().take(layers) {
            layer.one = past(places - k);
            let bit = _mm512_set1_epi32(1 << k);
            layer.gap.fill(0);
            for (b, to) in layer.gap.as_chunks_mut::<2>().0.iter_mut().enumerate().take((y0 + 2 * K).div_ceil(WORDS)) {
                let due = due[2 * k + WORDS * b..].first_chunk::<WORDS>().expect("a vector");
                *to = _mm512_test_epi32_mask(avx512::load(due), bit).to_le_bytes();
            }
        }
        skew(&mut self.unused, y0 + K + layers);
    }

    /// Makes a finished layer the row of its heap.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn leave(&mut self, y0: usize, k: usize) {
        let [xs, _] = Self::rows(&mut self.rows, self.heaps);
        let (row, layer) = (&mut xs[self.heaps + K - (y0 + k)], &self.layers[k]);
        let one = avx512::load(&layer.one);
        let one =
            _mm512_shldv_epi64(one, _mm512_alignr_epi64::<7>(one, _mm512_setzero_si512()), _mm512_set1_epi64(k as i64));
        avx512::store(row.by_z_mut(), one);
        let first = 2 * (K - k);
        let gap = avx512::load(layer.gap[first / 8..].first_chunk::<64>().expect("a window"));
        let gap = _mm512_shrdv_epi64(
            gap,
            _mm512_alignr_epi64::<1>(_mm512_setzero_si512(), gap),
            _mm512_set1_epi64((first % 8) as i64),
        );
        avx512::store::<u64, 8>(row.0.last_chunk_mut().expect("half a row"), gap);
    }

    /// The step `t` of the band from `y0` on.
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

/// The places from `places` on.
fn past(places: usize) -> [u64; 8] {
    std::array::from_fn(|w| match places.saturating_sub(64 * w) {
        free @ 0..64 => u64::MAX << free,
        _ => 0,
    })
}

/// Turns words of heaps `x` into words of steps: bit `k` goes `k` words on.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
fn skew(words: &mut [u32], steps: usize) {
    for (level, bits) in [0xAAAA_AAAA_u32, 0xCCCC_CCCC, 0xF0F0_F0F0, 0xFF00_FF00, 0xFFFF_0000].into_iter().enumerate() {
        let bits = _mm512_set1_epi32(bits as i32);
        for at in (0..steps).step_by(WORDS).rev() {
            let load = |at: usize| avx512::load::<u32, WORDS>(words[at..].first_chunk().expect("a vector"));
            let (here, before) = (load(K + at), load(K + at - (1 << level)));
            let mixed = _mm512_ternarylogic_epi32::<0xCA>(bits, before, here);
            avx512::store::<u32, WORDS>(words[K + at..].first_chunk_mut().expect("a vector"), mixed);
        }
    }
}

impl Step<'_> {
    search! {
        search, __m512i, 8, avx512::load, _mm512_set1_epi64, _mm512_or_si512, _mm512_ternarylogic_epi64, _mm512_shrdv_epi64,
        _mm512_alignr_epi64, _mm512_test_epi64_mask, _mm512_maskz_compress_epi64, _mm512_castsi512_si128
    }
    search! {
        search_narrow, __m256i, 4, avx2::load, _mm256_set1_epi64x, _mm256_or_si256, _mm256_ternarylogic_epi64, _mm256_shrdv_epi64,
        _mm256_alignr_epi64, _mm256_test_epi64_mask, _mm256_maskz_compress_epi64, _mm256_castsi256_si128
    }

    /// The place of `z = y` in the layers' rows of gaps.
    fn base(&self) -> usize {
        (self.y0 + 2 * K - self.t) % 2048
    }

    /// Marks what was found.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn mark<S: Sink>(&mut self, missed: u32, sink: &mut S) {
        let hits = self.pairs & !missed;
        // Usually there is something for all: predicted so, the first mark need not wait for the last search.
        let sum = if missed == 0 { self.mark_all(self.pairs, sink) } else { self.mark_all(hits, sink) };
        if let Some(tally) = sink.tally_mut() {
            let count = hits.count_ones() as usize;
            tally.add((sum + count * (2 * self.y0 + self.t)) as u128, count as u64);
        }
    }

    #[inline(always)]
    fn mark_all<S: Sink>(&mut self, mut hits: u32, sink: &mut S) -> usize {
        let mut sum = 0;
        while hits != 0 {
            let k = hits.trailing_zeros() as usize % K;
            hits &= hits - 1;
            sum += self.mark_one(k, sink);
        }
        sum
    }

    /// Marks the P-position of the pair of a layer, and hands it to a sink that keeps positions; returns `z - y0`.
    #[inline(always)]
    fn mark_one<S: Sink>(&mut self, k: usize, sink: &mut S) -> usize {
        let e = self.found[k] as usize % PLACES;
        let (z, g) = (e + k, e + self.base());
        let (x, [d, _], y) = (&mut self.xs[k], &mut self.ds[k], &mut self.layers[k]);
        let bit = |place: usize| 1 << (place % 64);
        x.0[z / 64] |= bit(z);
        d.0[z / 64] |= bit(z);
        x.0[8 + e / 64] |= bit(e);
        d.0[8 + e / 64] |= bit(e) & self.all;
        y.one[e / 64] |= bit(e);
        y.gap[g / 8] |= (1_u32 << (g % 8)) as u8;
        if z < K {
            self.mark_near(k, z);
        }
        if sink.tally_mut().is_none() {
            sink.push([self.t - k, self.y0 + k, self.y0 + z].map(|heap| heap as u32));
        }
        z
    }

    /// The marks of a P-position whose `z` is a layer of the band: two used pairs, and the place in its gaps.
    #[inline]
    fn mark_near(&mut self, k: usize, z: usize) {
        let g = self.base() + 2 * k - 2 * z;
        self.layers[z].gap[g / 8] |= 1 << (g % 8);
        for x in [self.t - k, self.y0 + k] {
            self.unused[x + z] &= !(1 << z);
        }
    }
}
