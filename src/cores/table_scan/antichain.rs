//! 64 layers at once, with full words skipped.
//!
//! # Antichains
//! Whether `(x,y)` has a P-position, and which, depends only on pairs with no larger heap in either place. So the pairs
//! `(x0 + k, t - k)` of one *step* `t`, one for each of the `K` layers of a *band*, do not depend on one another: `x`
//! grows where `y` falls. A step searches all its pairs before it marks any.
//!
//! # Searches
//! Marks are kept in the rows that [`layout`] describes and made by [`marks`]. Searches [start](starts) where no row is filled and
//! continue in [`rounds`] without mispredicted ends; a summary with a bit for each word of the tables tells which windows can hold a
//! free candidate. Words that no row fills grow slowly in number (observed: 1.7, 2.3 and 2.9 per P-position at `N` = 1000, 4000 and
//! 12000), where a plain scan from the hint needs `0.09 N / 64`. [`wave`](super::wave) makes bands on several threads wait for one
//! another.
//!
//! Cost: one window per visit. For the searches that continue, seven in ten at `N = 20000`, a summary read of six rows and windows
//! at the words that it shows to be open. Each mark checks whether its word is full. On several threads the first steps of a band
//! wait for the band before, and the last bands are short.
//! Bound, inferred and not settled: the six rows of a visit lie in six places, so most windows come from the second cache, two lines
//! each; but a search repeated at once, with its lines in the first, still takes half of its time.

mod layout;
mod marks;
mod rounds;
mod starts;

use std::arch::x86_64::*;
use std::ops::Range;

use self::layout::Layout;
use self::starts::Filled;
use super::wave::{StopOnDrop, Wave};
use super::{Positions, Rule, StoneGame, shared};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::STACK;
use crate::simd::array_of;
use crate::simd::avx512::{lanes_of, load};
use crate::simd::bits::WORD;
use crate::simd::field::Field;

/// Steps between two updates of the hints.
const HINT_STEPS: usize = 16;

/// Lanes of a vector of places.
const LANES: usize = 16;

/// The numbers of the lanes.
const LANE: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Vectors of layers in a band.
const H: usize = 4;
/// Layers of a band.
const K: usize = LANES * H;

/// A number for each layer of a band.
type Layers = [[u32; LANES]; H];

/// Rates: ns of the cube and of the square of the heaps.
pub fn cost(input: &StoneGame, context: CostContext, [cube, square]: [f64; 2]) -> Cost {
    let (Layout { heaps, words, .. }, n) = (Layout::new(input.heaps()), input.heaps() as f64);
    // All places fit 32-bit lanes.
    let fits = Field::bytes(words) < f64::from(u32::MAX) - 1024.0;
    let shared = Field::bytes(words) + Field::bytes(words / WORD + 1) + Wave::bytes(heaps.div_ceil(K));
    let of_thread = 8.0 * (heaps + K + WORD) as f64 + Filled::bytes(heaps);
    let one = cube * n * n * n + square * n * n;
    match context.threads {
        _ if !fits => Cost::IMPOSSIBLE,
        1 if context.is_parallel => Cost::IMPOSSIBLE,
        1 => Cost { ns: one, bytes: shared + of_thread },
        threads => {
            let more = threads.min(heaps.div_ceil(K)).saturating_sub(1);
            let bytes = shared + of_thread + more as f64 * (of_thread + STACK);
            // The constant covers the start of a thread and the wait of bands for one another. Two threads are no quicker than one
            // at N = 1000, and 1.6 times as quick at 1250.
            Cost { ns: 1.1 * one / threads as f64 + 8e5, bytes }
        }
    }
}

#[inline]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
pub fn run(input: &StoneGame, run: &Run, threads: usize) -> Result<Positions, RunError> {
    let heaps = input.heaps();
    let layout = Layout::new(heaps);
    let marks = Field::new(layout.words);
    let full = Field::new(layout.words / WORD + 1);
    for heap in 0..heaps {
        let front = layout.gap(heap) - 1;
        marks.set(front, u64::MAX);
        full.set_shared(front / WORD, 1 << (front % WORD));
    }
    let bands = heaps.div_ceil(K);
    let wave = Wave::new(bands);
    let threads = threads.min(bands);
    let work = |thread: usize| {
        let mut sink = input.sink();
        let stop_on_drop = StopOnDrop(&wave);
        for index in (thread..bands).step_by(threads) {
            Band::new(&layout, &marks, &full, index).run(&wave, input.rule, run, &mut sink)?;
        }
        std::mem::forget(stop_on_drop);
        Ok(sink)
    };
    shared(threads, &work)
}

/// A band of layers, and where their rows are.
struct Band<'a> {
    layout: &'a Layout,
    marks: &'a Field,
    full: &'a Field,
    index: usize,
    x0: usize,
    layers: usize,
    /// `used[t]`: bit `k` says that layer `k` has no pair in step `t`, or a used one.
    used: Vec<u64>,
    /// Layers whose hint has not yet passed the last heap.
    alive: u64,
    hint: Layers,
    /// The lowest hint.
    low: usize,
    filled: Filled,
}

/// Sixteen pairs of a step: which of them are searched, their layers, and where the searches start.
#[derive(Clone, Copy)]
struct Pairs {
    lanes: u16,
    k: [u32; LANES],
    start: [u32; LANES],
}

/// The first word of each of the six rows of 16 pairs; lanes that are not set hold garbage.
#[derive(Clone, Copy)]
struct RowStarts {
    lanes: u16,
    x: __m512i,
    y: __m512i,
    one_x: __m512i,
    one_y: __m512i,
    two: __m512i,
    all: __m512i,
    gap_x: __m512i,
    gap_y: __m512i,
}

impl<'a> Band<'a> {
    fn new(layout: &'a Layout, marks: &'a Field, full: &'a Field, index: usize) -> Self {
        let x0 = index * K;
        let layers = K.min(layout.heaps - x0);
        let alive = u64::MAX >> (WORD - layers);
        let filled = Filled::new(layout.heaps);
        Band { layout, marks, full, index, x0, layers, used: Vec::new(), alive, hint: [[0; LANES]; H], low: 0, filled }
    }

    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
    fn run(&mut self, wave: &Wave, rule: Rule, run: &Run, sink: &mut Positions) -> Result<(), RunError> {
        let heaps = self.layout.heaps;
        let steps = heaps + self.layers - 1;
        let turn = wave.turn(self.index, K, heaps);
        turn.begin()?;
        self.find_used();
        for block in (self.x0 / WORD * WORD..steps).step_by(WORD) {
            let end = steps.min(block + WORD);
            turn.enter(end)?;
            if block < heaps {
                self.transpose_into_gap(block);
            }
            for t in (block.max(self.x0)..end).step_by(HINT_STEPS) {
                self.raise_hints(t);
                if self.alive != 0 {
                    let end = end.min(t + HINT_STEPS);
                    self.steps(t..end, rule, sink);
                }
            }
            if end == steps {
                // Reported before the next band, which waits for the last step of this one, can report its own.
                sink.advance(run, self.layers as u64)?;
            }
            turn.leave(end);
        }
        Ok(())
    }

    /// Moves each layer's hint to its smallest unused difference, and retires the layers whose hint passes the last
    /// heap.
    #[inline(always)]
    fn raise_hints(&mut self, t: usize) {
        let mut layers = self.alive;
        let mut low = u32::MAX;
        while layers != 0 {
            let k = layers.trailing_zeros() as usize;
            layers &= layers - 1;
            let row = self.layout.gap(self.x0 + k) * WORD;
            let hint = &mut self.hint[k / LANES][k % LANES];
            loop {
                let used = self.marks.bits(row + *hint as usize).trailing_ones().min(56);
                *hint += used;
                if used < 56 {
                    break;
                }
            }
            low = low.min(*hint);
            if t + *hint as usize >= self.layout.heaps + k {
                self.alive &= !(1 << k);
            }
        }
        self.low = low as usize;
    }

    /// Runs `steps`: all searches of a step before any of its marks.
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
    fn steps(&mut self, steps: Range<usize>, rule: Rule, sink: &mut Positions) {
        // The sums of 16 steps of heaps below 2^22 fit a lane.
        let mut sum = _mm512_setzero_si512();
        let mut positions = 0;
        for t in steps {
            self.look_ahead(t);
            let pairs = self.list(t);
            let rows: [RowStarts; H] = array_of(|part| self.rows(t, &pairs[part]));
            let mut found = [[0; LANES]; H];
            self.search_in_rounds(&rows, &pairs, &mut found);
            for (part, (rows, found)) in rows.iter().zip(&found).enumerate() {
                if rows.lanes == 0 {
                    continue;
                }
                // A search without a result marks the place past the last heap: cheaper than an unpredictable branch.
                let z = _mm512_min_epu32(load(found), splat(self.layout.heaps));
                let hits = _mm512_mask_cmplt_epu32_mask(rows.lanes, z, splat(self.layout.heaps));
                let layers = &pairs[part].k;
                self.mark(rows, layers, z, rule);
                let near = _mm512_mask_cmplt_epu32_mask(hits, sub(z, rows.y), splat(K))
                    | _mm512_mask_cmplt_epu32_mask(hits, rows.y, splat(self.x0 + self.layers));
                if near != 0 {
                    self.mark_near(t, layers, &lanes_of(z), near);
                }
                if !sink.keeps() {
                    sum = _mm512_mask_add_epi32(sum, hits, sum, add(add(rows.x, rows.y), z));
                    positions += u64::from(hits.count_ones());
                } else {
                    let [x, y, z]: [[u32; LANES]; 3] = [lanes_of(rows.x), lanes_of(rows.y), lanes_of(z)];
                    ones(hits).for_each(|i| sink.push([x[i], y[i], z[i]]));
                }
            }
        }
        if let Some(tally) = sink.totals_alone() {
            let sums: [u32; LANES] = lanes_of(sum);
            for sum in sums {
                tally.sum += u128::from(sum);
            }
            tally.positions += positions;
        }
    }

    /// The unused pairs of step `t` in sixteen layers. Searches start at the hints.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn pairs(&self, t: usize, part: usize) -> Pairs {
        let lanes = (!self.used[t] & self.alive) >> (LANES * part);
        let k = add(load(&LANE), splat(LANES * part));
        let start = add(sub(splat(t), k), load(&self.hint[part]));
        Pairs { lanes: lanes as u16, k: lanes_of(k), start: lanes_of(start) }
    }

    /// Where the rows of 16 pairs of step `t` begin.
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq")]
    fn rows(&self, t: usize, pairs: &Pairs) -> RowStarts {
        let layout = self.layout;
        let start = |r| {
            let q = _mm512_srli_epi32::<6>(r);
            let rest = sub(sub(r, _mm512_slli_epi32::<5>(q)), splat(31));
            sub(_mm512_mullo_epi32(r, splat(layout.longest)), _mm512_mullo_epi32(q, rest))
        };
        let gap = |heap| add(_mm512_mullo_epi32(heap, splat(layout.stride)), splat(layout.gap));
        let k = load(&pairs.k);
        let (x, y) = (add(splat(self.x0), k), sub(splat(t), k));
        let of_d = start(sub(y, x));
        RowStarts {
            lanes: pairs.lanes,
            x,
            y,
            one_x: add(start(x), splat(1)),
            one_y: add(start(y), splat(1)),
            two: add(of_d, splat(layout.two)),
            all: add(of_d, splat(layout.all)),
            gap_x: gap(x),
            gap_y: gap(y),
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(n: usize) -> __m512i {
    _mm512_set1_epi32(n as i32)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi32(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn sub(a: __m512i, b: __m512i) -> __m512i {
    _mm512_sub_epi32(a, b)
}

/// The indices of the set bits, ascending.
#[inline(always)]
fn ones(mut set: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then_some(set.trailing_zeros() as usize % LANES);
        set &= set.wrapping_sub(1);
        first
    })
}
