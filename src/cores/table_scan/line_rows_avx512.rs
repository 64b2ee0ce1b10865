//! Up to 1023 heaps a row of marks is one cache line, and a visit is six loads, no search for a window and no chain.
//!
//! # Frames
//! Pairs are visited with `y` outermost: any order does in which a move leads back. A *band* takes `K = 32` layers `y0 + k`.
//! Candidates stay below `y0 + 512` here, so of each row only 512 places matter, and they are held in one of two frames:
//!
//! | row | place | frame |
//! |---|---|---|
//! | `one[x]`, `two[d]`, `one[y]` | `z` | `z - y0`; shifted right by `k` together, moved on by 32 bits after a band |
//! | `gap[x]`, `all[d]` | `z - y` | itself, for all layers: no shift |
//! | `gap[y]` | `z - x` | itself; a row of the layer, three times as long, read from bit `d` on |
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
//! Cost: `1.5` visits a P-position, `N^2 / 64` steps, and `N^2 / 32` lines moved on.
//! Bound: the width of the front end. A search is 63 instructions and takes eleven cycles, nearly six operations in each
//! (llvm-mca); its seven loads of 64 bytes, one of them across lines, would need eight. Marking is six stores and what finds
//! their places. Searches and marks are about half of the time; part of the rest is likely lost between them, as each ends
//! after a number of pairs that was not known.
//! What made the most: no pair of a step shares a row that is marked with another (steps of four places `x` in each of 16 layers
//! had 6 pairs in 100 searched again), results stored at places that are known beforehand, and marks made from plain numbers as
//! they are read back. Preparing 16 marks at a time in vectors took fewer instructions, but waited for all 16 searches.

use std::arch::x86_64::*;

use super::{Rule, Sink, StoneGame};
use crate::kernel::{Cost, Needs, On, Run, Stop};
use crate::simd::lines::Lines;
use crate::simd::{avx2, avx512};

/// Layers of a band.
const K: usize = 32;
/// The candidates of a row.
const PLACES: u32 = 512;
/// The most heaps: at more some `z - y0` does not fit the frame. Checked at this limit, and what is found at a smaller one is part
/// of that.
const MOST: usize = 1024;
/// The candidates of a narrow row: half a line, less what its shift may take from `gap[y]`.
const NARROW: usize = 256 - 7;
/// The last of the first bands that need no more. Checked in the same way.
const LAST_NARROW: usize = 160;
/// Lines of a layer: `one[y]`, then its row of gaps.
const LONG: usize = 4;
/// Words of 32 bits in a vector.
const WORDS: usize = 16;

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps();
    if n > MOST {
        return Cost::IMPOSSIBLE;
    }
    let n = n as f64;
    Cost { ns: 1.45 * n * n + 60.0 * n + 1000.0, bytes: 260.0 * n + 20_000.0 }
}

/// Six marks a P-position, and for each of its visits, three for two: six lines, of which two are moved by a word, as is the one
/// word that is looked at.
pub fn needs(input: &StoneGame) -> Needs {
    let bytes = 256.0 * input.heaps() as f64;
    Needs { bits: 6.0, loads: 1.5 * 6.0, permutes: 1.5 * 3.0, logic: 1.5 * 3.0, bytes, ..Needs::default() }
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
            let pairs = board.list(y0, t);
            let hits = if narrow { board.search_narrow(pairs) } else { board.search(pairs) };
            board.mark(y0, pairs, hits, &mut sink);
        }
        run.advance(layers as u64)?;
    }
    sink.finish();
    Ok(sink)
}

/// The unused pairs of a step.
struct List {
    x: [u32; K],
    layer: [u32; K],
    d: [u32; K],
    /// `d` modulo 8.
    rest: [u32; K],
    /// What was found: `z - y`.
    found: [u32; K],
}

struct Board {
    heaps: usize,
    rule: Rule,
    /// The rows of `x`, those of `d`, those of the layers.
    lines: Lines,
    /// `unused[K + t]`: bit `k` says that the pair of layer `k` in step `t` is unused, and not hopeless.
    unused: Vec<u32>,
    list: List,
}

/// `first_free`, and the search of a step with it, at one width.
macro_rules! search {
    ($search:ident, $first_free:ident, $vector:ty, $words:literal, $load:path, $set1:ident, $set1_32:ident, $or3:ident, $shrdv:ident,
        $alignr:ident, $test:ident, $compress:ident, $low:expr) => {
        /// Searches the first `pairs` pairs of the list; returns for which of them there is something.
        #[inline]
        #[target_feature(
            enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
        )]
        fn $search(&mut self, pairs: usize) -> u32 {
            let mut hits = 0;
            for j in 0..pairs.min(K) {
                let e = self.$first_free(j);
                self.list.found[j] = e;
                hits |= u32::from(e < PLACES) << j;
            }
            hits
        }

        /// The first free `z - y` of a pair of the list, at least `PLACES` if there is none.
        #[inline]
        #[target_feature(
            enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
        )]
        fn $first_free(&self, j: usize) -> u32 {
            let (x, layer, d) = (self.list.x[j] as usize, self.list.layer[j] as usize, self.list.d[j] as usize);
            let load = |line: &[u64; 8]| -> $vector { $load(line.first_chunk::<$words>().expect("part of a line")) };
            let [one_x, gap_x] = self.lines.pair(self.of_x(x));
            let [two, all] = self.lines.pair(self.of_d(d));
            let one_y = self.lines.line(self.of_layer(layer));
            let gap_y = $load(self.lines.window::<{ 8 * $words }>(64 * (self.of_layer(layer) + 1) + d / 8));
            // What is shifted in is past the last heap, and no place of `gap[y]` that matters.
            let by_z = $or3::<0xFE>(load(one_x), load(two), load(one_y));
            let by_z = $shrdv(by_z, $alignr::<1>($set1(-1), by_z), $set1_32(layer as i32));
            let gap_y = $shrdv(gap_y, $alignr::<1>($set1(0), gap_y), $set1_32(self.list.rest[j] as i32));
            let free = $or3::<0x01>(by_z, gap_y, $or3::<0xFE>(load(gap_x), load(all), load(all)));
            let words = $test(free, free);
            let word = _mm_cvtsi128_si64($low($compress(words, free)));
            64 * u32::from(words).trailing_zeros() + word.trailing_zeros()
        }
    };
}

impl Board {
    fn new(heaps: usize, rule: Rule) -> Self {
        let lines = Lines::new(4 * heaps + LONG * K);
        let list = List { x: [0; K], layer: [0; K], d: [0; K], rest: [0; K], found: [0; K] };
        Board { heaps, rule, lines, unused: vec![0; heaps + 3 * K + WORDS], list }
    }

    /// The lines of `one[x]` and, after it, `gap[x]`.
    fn of_x(&self, x: usize) -> usize {
        2 * x
    }

    /// The lines of `two[d]` and, after it, `all[d]`.
    fn of_d(&self, d: usize) -> usize {
        2 * (self.heaps + d)
    }

    /// The lines of `one[y]` and, after it, `gap[y]` of a layer.
    fn of_layer(&self, layer: usize) -> usize {
        4 * self.heaps + LONG * layer
    }

    /// Moves the frames on to the band from `y0` on and takes out what falls due.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn enter(&mut self, y0: usize, layers: usize) {
        let places = self.heaps - y0;
        // Places past the last heap.
        let past = std::array::from_fn(|w| match places.saturating_sub(64 * w) {
            free @ 0..64 => u64::MAX << free,
            _ => 0,
        });
        let in_band = u32::MAX >> (K - layers);
        let move_on = |line: &mut [u64; 8]| -> u32 {
            let moved = _mm512_alignr_epi32::<1>(_mm512_setzero_si512(), avx512::load(line));
            avx512::store(line, moved);
            line[0] as u32
        };
        self.unused.fill(0);
        for x in 0..y0 {
            let due = move_on(self.lines.line_mut(self.of_x(x)));
            // All differences that would fit are used: so it is for all later layers.
            let gaps = _mm512_or_si512(avx512::load(self.lines.line(self.of_x(x) + 1)), avx512::load(&past));
            let open = _mm512_cmpneq_epi64_mask(gaps, _mm512_set1_epi64(-1)) != 0;
            self.unused[K + x] = if open { !due & in_band } else { 0 };
        }
        for layer in 0..layers {
            self.unused[K + y0 + layer] = in_band & u32::MAX << layer;
        }
        let mut due = [0; MOST];
        for (d, due) in due.iter_mut().enumerate().take(y0) {
            *due = move_on(self.lines.line_mut(self.of_d(d)));
        }
        for layer in 0..layers {
            *self.lines.line_mut(self.of_layer(layer)) = past;
            let row = self.lines.halves::<{ 16 * (LONG - 1) }>(self.of_layer(layer) + 1);
            row.fill(0);
            let bit = _mm512_set1_epi32(1 << layer);
            for (half, due) in row.iter_mut().zip(due.as_chunks::<32>().0).take(y0.div_ceil(32)) {
                let [low, high] = due.as_chunks::<WORDS>().0 else { unreachable!("32 words") };
                let bits = |due| u32::from(_mm512_test_epi32_mask(avx512::load(due), bit));
                *half = bits(low) | bits(high) << WORDS;
            }
        }
        self.skew(y0 + K + layers);
    }

    /// Turns words of heaps `x` into words of steps: bit `k` goes `k` words on.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn skew(&mut self, steps: usize) {
        for (level, bits) in
            [0xAAAA_AAAA_u32, 0xCCCC_CCCC, 0xF0F0_F0F0, 0xFF00_FF00, 0xFFFF_0000].into_iter().enumerate()
        {
            let bits = _mm512_set1_epi32(bits as i32);
            for at in (0..steps).step_by(WORDS).rev() {
                let words = |at: usize| avx512::load::<u32, WORDS>(self.unused[at..].first_chunk().expect("a vector"));
                let (here, before) = (words(K + at), words(K + at - (1 << level)));
                let mixed = _mm512_ternarylogic_epi32::<0xCA>(bits, before, here);
                avx512::store::<u32, WORDS>(self.unused[K + at..].first_chunk_mut().expect("a vector"), mixed);
            }
        }
    }

    /// Makes a finished layer the rows of its heap.
    fn leave(&mut self, y0: usize, layer: usize) {
        let (layer, x) = (self.of_layer(layer), self.of_x(y0 + layer));
        for row in 0..2 {
            let line = *self.lines.line(layer + row);
            self.lines.line_mut(x + row).iter_mut().zip(line).for_each(|(to, from)| *to |= from);
        }
    }

    /// Lists the unused pairs of step `t`; returns how many there are.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn list(&mut self, y0: usize, t: usize) -> usize {
        let unused = self.unused[K + t];
        let all = avx2::load(&std::array::from_fn::<u8, K, _>(|layer| layer as u8));
        let layers = _mm256_maskz_compress_epi8(unused, all);
        let number = |n: usize| _mm512_set1_epi32(n as i32);
        let mut put = |half: usize, layers: __m128i| {
            let layer = _mm512_cvtepu8_epi32(layers);
            let x = _mm512_sub_epi32(number(t), layer);
            let d = _mm512_sub_epi32(_mm512_add_epi32(number(y0), layer), x);
            let List { x: xs, layer: layers, d: ds, rest, .. } = &mut self.list;
            for (to, lanes) in [(xs, x), (layers, layer), (ds, d), (rest, _mm512_and_si512(d, number(7)))] {
                avx512::store(&mut to.as_chunks_mut::<WORDS>().0[half], lanes);
            }
        };
        put(0, _mm256_castsi256_si128(layers));
        let pairs = unused.count_ones() as usize;
        if pairs > WORDS {
            put(1, _mm256_extracti128_si256::<1>(layers));
        }
        pairs
    }

    search! {
        search, first_free, __m512i, 8, avx512::load, _mm512_set1_epi64, _mm512_set1_epi32, _mm512_ternarylogic_epi64,
        _mm512_shrdv_epi64, _mm512_alignr_epi64, _mm512_test_epi64_mask, _mm512_maskz_compress_epi64, _mm512_castsi512_si128
    }
    search! {
        search_narrow, first_free_narrow, __m256i, 4, avx2::load, _mm256_set1_epi64x, _mm256_set1_epi32,
        _mm256_ternarylogic_epi64, _mm256_shrdv_epi64, _mm256_alignr_epi64, _mm256_test_epi64_mask,
        _mm256_maskz_compress_epi64, _mm256_castsi256_si128
    }

    /// Marks what was found for the first `pairs` pairs of the list.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn mark<S: Sink>(&mut self, y0: usize, pairs: usize, hits: u32, sink: &mut S) {
        let mut sum = 0;
        if hits.count_ones() as usize == pairs {
            // The usual case, without looking for the next bit.
            for j in 0..pairs.min(K) {
                sum += self.mark_one(y0, j, sink);
            }
        } else {
            let mut hits = hits;
            while hits != 0 {
                sum += self.mark_one(y0, hits.trailing_zeros() as usize, sink);
                hits &= hits - 1;
            }
        }
        if let Some(tally) = sink.tally_mut() {
            tally.add(sum.into(), hits.count_ones().into());
        }
    }

    /// Marks the P-position of a pair of the list, and hands it to a sink that keeps positions; returns the sum of its heaps.
    #[inline(always)]
    fn mark_one<S: Sink>(&mut self, y0: usize, j: usize, sink: &mut S) -> u64 {
        let list = &self.list;
        let (x, layer, d) = (list.x[j] as usize, list.layer[j] as usize % K, list.d[j] as usize % MOST);
        let e = list.found[j] as usize % PLACES as usize;
        let (z, g) = (e + layer, e + d);
        let bit = |place: usize| 1 << (place % 32);
        let (of_x, of_d, of_layer) = (self.of_x(x), self.of_d(d), self.of_layer(layer));
        let row = self.lines.halves::<32>(of_x);
        row[z / 32] |= bit(z);
        row[16 + e / 32] |= bit(e);
        let row = self.lines.halves::<32>(of_d);
        row[z / 32] |= bit(z);
        if self.rule == Rule::AllMoves {
            row[16 + e / 32] |= bit(e);
        }
        let row = self.lines.halves::<{ 16 * LONG }>(of_layer);
        row[z / 32] |= bit(z);
        row[16 + g / 32] |= bit(g);
        if z < K {
            self.mark_near(x, y0 + layer, z);
        }
        let (y, z) = (y0 + layer, y0 + z);
        if sink.tally_mut().is_none() {
            sink.push([x as u32, y as u32, z as u32]);
        }
        (x + y + z) as u64
    }

    /// The marks of a P-position whose `z` is a layer of the band: two used pairs, and the place in its gaps.
    #[inline]
    fn mark_near(&mut self, x: usize, y: usize, layer: usize) {
        let (d, of_layer) = (y - x, self.of_layer(layer));
        self.lines.halves::<{ 16 * LONG }>(of_layer)[16 + d / 32] |= 1 << (d % 32);
        for x in [x, y] {
            self.unused[K + x + layer] &= !(1 << layer);
        }
    }
}
