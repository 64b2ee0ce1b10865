//! The driver of the kernels that go through many layers at once, and what they keep.
//!
//! # Antichains
//! Whether `(x,y)` has a P-position, and which, depends on pairs that are nowhere larger. So the pairs `(x0 + k, t - k)` of one
//! *step* `t`, one for each of the `K` layers of a *band*, do not depend on one another: `x` grows where `y` falls. A step
//! searches all its pairs before it marks any. In a prototype, marking each pair as soon as it was searched took about 75
//! cycles a visit at `N = 1000` with any `K` from 8 to 64, searching first took 58. The likely reason, which this kind of
//! machine has no counters to show: loads wait for earlier stores whose places are not known yet.
//!
//! # Rows
//! The rows are those of [`super::layers`], less what nobody reads. `one[y]`, `two[d]` and `all[d]` start at their diagonal,
//! for places below it are never asked for: half a square each. `gap` takes a whole one, so there are `2.5 N^2` bits in all.
//!
//! Of the five marks of a P-position the one in `gap[z]` at `d` hits a different cache line each time, long before anyone
//! reads it: layer `x` reads places `z - x` and above, so layer `x'` that makes the mark is earlier by at least `z - y`
//! layers. It is `two[d]` at `z` transposed. So it is not made: before a band reaches rows `c..c + 64` of `gap`, the columns
//! that become readable there are transposed from `two`, 64 by 64 bits at a time. Marks with `z - y < K` are made at once.
//!
//! # Windows
//! A search reads 256 candidates from the hint on. With `z` as the frame `one[x]`, `one[y]` and `two[d]` need no shift;
//! `gap[y]` and `all[d]` are ORed first and shifted once, by `x`; `gap[x]` is shifted by `y`. The start is rounded down, which
//! is harmless: the differences below the hint are used, and `gap[x]` has ones in front.
//!
//! # Skipping
//! Where rows are long, all of this is too little, and a band with `SKIP` does more before it reads a window:
//! - A row of `y` or `d` often begins with hundreds of candidates that it forbids alone. How far it does is looked up once a
//!   band, some steps before the row is read, and a search starts at the furthest of five places. A pair for which that is past
//!   the last heap, one in six at `N = 20000`, is not searched.
//! - The pairs of a step are searched in rounds: in the first each looks at a window of 512 candidates, and those that find
//!   nothing are listed for the next. No branch depends on what one pair finds; how long its search goes on nobody can
//!   predict, and a mispredicted end would also stop the loads of the pairs that follow.
//! - Later rounds pass over words that are full in a row, by a summary with a bit for each word.
//!
//! # Threads
//! Bands go round the threads. A band may do the steps below `t` when the band before it has done those below `t + 2K`: then no
//! word is marked by two threads, and all that a search depends on is done.

use std::arch::x86_64::*;
use std::array::from_fn;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::{Rule, Sink, StoneGame};
use crate::bits::{WORD, transpose};
#[cfg(feature = "parallel")]
use crate::kernel::Cost;
use crate::kernel::{Run, Stop};
use crate::simd::avx512::{lanes_of, load, store};
use crate::simd::field::{Field, HalfWindows, Words};

/// Lanes of a vector of places.
const LANES: usize = 16;
/// Candidates of a window of those that do not skip.
const WINDOW: usize = 256;
/// Words that a window of those that skip is sure to have seen whole, whatever the shift.
const WORDS_SEEN: usize = 7;
/// Words whose summary is looked at together: a read at any bit holds 57, and a word in another frame needs two.
const SUMMED: u64 = u64::MAX >> 8;
/// Steps between two looks at the hints.
const HINT_STEPS: usize = 16;

/// Steps from asking for the lines in which a row begins to looking how far it is filled.
const ASKED_AHEAD: usize = 6;
/// Steps from there to its first search.
const FILLED_AHEAD: usize = 6;
/// Lines that are asked for where the searches of a row will start.
const LINES: usize = 4;
/// Entries before the first heap or difference, for the vectors of pairs that are none.
const FRONT: usize = 2 * WORD + LANES;

/// Numbers of the layers of a band.
type Layers<const H: usize> = [[u32; LANES]; H];

/// Where each row stands, in words.
struct Board {
    heaps: usize,
    /// Words of the longest row of a triangle.
    longest: usize,
    two: usize,
    all: usize,
    gap: usize,
    /// Words from one row of `gap` to the next.
    stride: usize,
    words: usize,
}

impl Board {
    fn new(heaps: usize) -> Self {
        // A place past the last heap takes the marks of searches that found nothing.
        let longest = heaps / WORD + 1;
        let reach = Self::reach(heaps).div_ceil(8);
        let stride = longest + 1;
        let triangle = Self::start(heaps, longest).wrapping_add(heaps / WORD);
        let one = 1;
        let (two, all) = (one + triangle, one + 2 * triangle);
        let gap = one + 3 * triangle + 1;
        Board { heaps, longest, two, all, gap, stride, words: gap + heaps * stride + reach }
    }

    /// Bytes from the place where a search starts to the end of its last window.
    const fn reach(heaps: usize) -> usize {
        heaps / 8 + 128
    }

    /// The word of place 0 of row `r` of a triangle, if it had one: its words start at `r / 64`.
    const fn start(r: usize, longest: usize) -> usize {
        let q = r / WORD;
        (r * longest).wrapping_sub(q.wrapping_mul(r.wrapping_sub(32 * q).wrapping_sub(31)))
    }

    fn one(&self, heap: usize) -> usize {
        Self::start(heap, self.longest) + 1
    }

    fn two(&self, d: usize) -> usize {
        Self::start(d, self.longest) + self.two
    }

    fn all(&self, d: usize) -> usize {
        Self::start(d, self.longest) + self.all
    }

    fn gap(&self, heap: usize) -> usize {
        self.gap + heap * self.stride
    }
}

/// Bytes that the tables take.
pub fn bytes(input: &StoneGame) -> f64 {
    8.0 * Board::new(input.heaps()).words as f64
}

/// Whether places fit the 32-bit lanes.
pub fn fits(input: &StoneGame) -> bool {
    bytes(input) < f64::from(u32::MAX) - 1024.0
}

/// The cost on several threads of a run that takes `one` on one.
#[cfg(feature = "parallel")]
pub fn shared(one: Cost, threads: usize) -> Cost {
    match threads {
        0 | 1 => Cost::IMPOSSIBLE,
        // The constant: a thread is started, and bands wait for one another. Two threads are no quicker than one at N = 1000,
        // and 1.6 times as quick at 1250.
        _ => Cost { ns: 1.1 * one.ns / threads as f64 + 8e5, bytes: one.bytes },
    }
}

/// Looks at a counter after which the band before is taken to wait itself: for someone to take its positions.
const PATIENCE: u32 = 1 << 20;

/// Counters of how far each band is.
struct Wave {
    done: Vec<AtomicUsize>,
    stopped: AtomicBool,
}

impl Wave {
    /// Waits until band `band` has done the steps below `step`.
    fn wait(&self, band: Option<usize>, step: usize) -> Result<(), Stop> {
        let Some(band) = band else { return Ok(()) };
        let mut spins = 0_u32;
        while self.done[band].load(Ordering::Acquire) < step {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(Stop::Cancelled);
            }
            spins = spins.saturating_add(1);
            match spins {
                PATIENCE.. => std::thread::sleep(Duration::from_millis(1)),
                _ if spins.is_multiple_of(64) => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
        Ok(())
    }
}

/// The share of a thread. If it goes before it is done, by an error or a panic of the sink, nobody waits for its bands any more.
struct Unfinished<'a>(&'a Wave);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }
}

/// Finds all P-positions with bands of `16 H` layers, with or without what the head of this file calls skipping.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub fn scan<const H: usize, const SKIP: bool, S: Sink>(
    input: &StoneGame,
    run: &Run,
    threads: usize,
) -> Result<S, Stop> {
    let heaps = input.heaps();
    let board = Board::new(heaps);
    let marks = Field::new(board.words);
    let full = Field::new(if SKIP { board.words / WORD + 1 } else { 0 });
    for heap in 0..heaps {
        let front = board.gap(heap) - 1;
        marks.set(front, u64::MAX);
        if SKIP {
            full.set_shared(front / WORD, 1 << (front % WORD));
        }
    }
    let bands = heaps.div_ceil(LANES * H);
    let wave = Wave { done: (0..bands).map(|_| AtomicUsize::new(0)).collect(), stopped: AtomicBool::new(false) };
    let threads = threads.min(bands);
    let share = |thread: usize| {
        let unfinished = Unfinished(&wave);
        let mut sink = S::default();
        for index in (thread..bands).step_by(threads) {
            Band::<H, SKIP>::new(&board, &marks, &full, index).run(&wave, input.rule, run, &mut sink)?;
        }
        std::mem::forget(unfinished);
        Ok(sink)
    };
    let mut sink = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|thread| scope.spawn(move || share(thread))).collect();
        let first = share(0);
        others.into_iter().fold(first, |sink, other| {
            let other = other.join().unwrap_or_else(|panic| resume_unwind(panic));
            let (mut sink, other): (S, S) = (sink?, other?);
            sink.merge(other);
            Ok(sink)
        })
    })?;
    sink.finish();
    Ok(sink)
}

/// Sixteen layers times `H`, and where their rows are.
struct Band<'a, const H: usize, const SKIP: bool> {
    board: &'a Board,
    marks: &'a Field,
    full: &'a Field,
    index: usize,
    x0: usize,
    layers: usize,
    /// `used[t]`: bit `k` says that the pair of layer `k` in step `t` is used or none.
    used: Vec<u64>,
    /// Layers whose hint has not passed the last heap.
    alive: u64,
    hint: Layers<H>,
    /// The least of the hints.
    low: usize,
    /// The places below these are taken in `one[y]`, `two[d]`, `gap[y]`, `all[d]`, from the first that is asked for on. Entries of
    /// heap or difference 0 come after `FRONT` others.
    filled: [Vec<u32>; 4],
}

/// Sixteen pairs of a step: which of them are searched, their layers, and where their searches start.
#[derive(Clone, Copy)]
struct Pairs {
    lanes: u16,
    k: [u32; LANES],
    start: [u32; LANES],
}

impl<'a, const H: usize, const SKIP: bool> Band<'a, H, SKIP> {
    const K: usize = LANES * H;

    fn new(board: &'a Board, marks: &'a Field, full: &'a Field, index: usize) -> Self {
        let x0 = index * Self::K;
        let layers = Self::K.min(board.heaps - x0);
        let alive = u64::MAX >> (WORD - layers);
        let filled = from_fn(|_| vec![0; if SKIP { FRONT + board.heaps + 2 * WORD } else { 0 }]);
        Band { board, marks, full, index, x0, layers, used: Vec::new(), alive, hint: [[0; LANES]; H], low: 0, filled }
    }

    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn run<S: Sink>(&mut self, wave: &Wave, rule: Rule, run: &Run, sink: &mut S) -> Result<(), Stop> {
        let before = self.index.checked_sub(1);
        let heaps = self.board.heaps;
        let steps = heaps + self.layers - 1;
        // The steps of the band before; there is nothing to wait for past the last.
        let last = heaps + Self::K - 1;
        wave.wait(before, last.min(self.x0 + 4 * Self::K))?;
        self.find_used();
        for block in (self.x0 / WORD * WORD..steps).step_by(WORD) {
            let end = steps.min(block + WORD);
            wave.wait(before, last.min(end + 2 * Self::K))?;
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
                // Before the next band, which waits for the last step of this one, can say the same.
                sink.advance(run, self.layers as u64)?;
            }
            wave.done[self.index].store(end, Ordering::Release);
        }
        Ok(())
    }

    /// Fills `used` from the pairs that earlier bands used: 64 steps at a time, rows of layers transposed.
    #[inline(always)]
    fn find_used(&mut self) {
        let (heaps, x0) = (self.board.heaps, self.x0);
        let blocks = (heaps + Self::K) / WORD + 1;
        self.used = vec![u64::MAX; blocks * WORD];
        // What a word of `one[x]` says of pairs; there are none below the diagonal or past the last heap.
        let pairs = |x: usize, word: usize| {
            if word < x / WORD || word > heaps / WORD {
                return u64::MAX;
            }
            let below = if word == x / WORD { !(u64::MAX << (x % WORD)) } else { 0 };
            let past = if word == heaps / WORD { u64::MAX << (heaps % WORD) } else { 0 };
            self.marks.word(self.board.one(x) + word) | below | past
        };
        for block in x0 / WORD..blocks {
            let mut tile = [u64::MAX; WORD];
            for (k, row) in tile.iter_mut().enumerate().take(self.layers) {
                // Step `t` has the pair of `y = t - k`.
                let before = block.checked_sub(1).map_or(u64::MAX, |before| pairs(x0 + k, before));
                *row = pairs(x0 + k, block) << k | before >> 1 >> (WORD - 1 - k);
            }
            transpose(&mut tile);
            self.used[block * WORD..][..WORD].copy_from_slice(&tile);
        }
    }

    /// Looks at the two rows of `y` and two of `d` that a step some way on is the first to read: how far they are filled. Asks for the
    /// lines where searches in them will start, and for those in which rows that come later begin.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn look_ahead(&mut self, t: usize) {
        let (board, x) = (self.board, self.x0);
        // Each row, the first place that any layer asks for, and what is added for its candidate.
        let rows = |y: usize| {
            let (d, low) = (y - x, self.low);
            // The last layer has a `d` that much smaller.
            let gap = (d + low).saturating_sub(Self::K - 1);
            [(board.one(y), y + low, 0), (board.two(d), y + low, 0), (board.gap(y), gap, x), (board.all(d), d + low, x)]
        };
        let byte = |row: usize, place: usize| 8 * (row + place / WORD);
        let asked = t + FILLED_AHEAD + ASKED_AHEAD;
        if asked < board.heaps {
            for (row, place, _) in rows(asked) {
                (0..2).for_each(|line| self.marks.prefetch(byte(row, place) + 64 * line));
            }
        }
        let y = t + FILLED_AHEAD;
        if y >= board.heaps {
            return;
        }
        let rows = rows(y);
        let filled = rows.map(|(row, place, _)| self.filled_to(row, place));
        for (i, entry) in [y, y - x, y, y - x].into_iter().enumerate() {
            self.filled[i][FRONT + entry] = filled[i] as u32;
        }
        let furthest = rows.iter().zip(filled).map(|((_, _, less), place)| place + less).max().unwrap_or(0);
        for (row, _, less) in rows {
            let from = byte(row, furthest - less);
            (0..LINES).for_each(|line| self.marks.prefetch(from + 64 * line));
        }
    }

    /// The end of the marks that a row has from a place on without a gap, rounded down to a word.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn filled_to(&self, row: usize, place: usize) -> usize {
        let ones = _mm512_set1_epi64(-1);
        let mut word = place / WORD;
        let mut before = _mm512_maskz_set1_epi64(1, !(u64::MAX << (place % WORD)) as i64);
        loop {
            let marks = _mm512_or_si512(before, self.marks.window(8 * (row + word)));
            let full = _mm512_cmpeq_epi64_mask(marks, ones);
            word += full.trailing_ones() as usize;
            if full != u8::MAX || word * WORD >= self.board.heaps {
                return word * WORD;
            }
            before = _mm512_setzero_si512();
        }
    }

    /// Brings marks into rows `c..c + 64` of `gap`: the columns that layers of this band are the first to read.
    #[inline(always)]
    fn transpose_into_gap(&self, c: usize) {
        let heaps = self.board.heaps;
        let first = (c + 1).saturating_sub(self.x0 + Self::K);
        let last = c + WORD - 1 - self.x0.min(c);
        for d in (first / WORD * WORD..=last.min(c)).step_by(WORD) {
            let mut tile = [0; WORD];
            for (d, row) in (d..heaps).zip(&mut tile) {
                *row = self.marks.word(self.board.two(d) + c / WORD);
            }
            if tile.iter().all(|row| *row == 0) {
                continue;
            }
            transpose(&mut tile);
            // Not the rows before the band: nobody reads them again but the band before, which may be marking them.
            for (c, row) in (c..heaps).zip(tile).skip(self.x0.saturating_sub(c)) {
                self.set(self.board.gap(c) + d / WORD, row);
            }
        }
    }

    /// Sets bits of one word, and its summary.
    #[inline(always)]
    fn set(&self, at: usize, bits: u64) {
        if self.marks.set(at, bits) {
            self.sum_up(at);
        }
    }

    /// Notes that a word is full.
    #[inline(always)]
    fn sum_up(&self, at: usize) {
        if SKIP {
            self.full.set_shared(at / WORD, 1 << (at % WORD));
        }
    }

    /// Moves each layer's hint to its smallest unused difference; retires the layers that it takes past the last heap.
    #[inline(always)]
    fn raise_hints(&mut self, t: usize) {
        let mut layers = self.alive;
        let mut low = u32::MAX;
        while layers != 0 {
            let k = layers.trailing_zeros() as usize;
            layers &= layers - 1;
            let row = self.board.gap(self.x0 + k) * WORD;
            let hint = &mut self.hint[k / LANES][k % LANES];
            loop {
                let used = self.marks.bits(row + *hint as usize).trailing_ones().min(56);
                *hint += used;
                if used < 56 {
                    break;
                }
            }
            low = low.min(*hint);
            if t + *hint as usize >= self.board.heaps + k {
                self.alive &= !(1 << k);
            }
        }
        self.low = low as usize;
    }

    /// Does steps `steps`: all searches of a step before any of its marks.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn steps<S: Sink>(&mut self, steps: Range<usize>, rule: Rule, sink: &mut S) {
        // 16 steps of heaps below 2^22 do not overflow a lane.
        let mut sum = _mm512_setzero_si512();
        let mut positions = 0;
        for t in steps {
            let pairs = if SKIP {
                self.look_ahead(t);
                self.list(t)
            } else {
                from_fn(|part| self.pairs(t, part))
            };
            let rows: [Rows; H] = from_fn(|part| self.rows(t, &pairs[part]));
            let mut found = [[0; LANES]; H];
            if SKIP {
                self.search_in_rounds(&rows, &pairs, &mut found);
            } else {
                for ((rows, pairs), found) in rows.iter().zip(&pairs).zip(&mut found) {
                    if rows.lanes != 0 {
                        self.search(rows, &pairs.start, found);
                    }
                }
            }
            for (part, (rows, found)) in rows.iter().zip(&found).enumerate() {
                if rows.lanes == 0 {
                    continue;
                }
                // A search that found nothing marks the place past the last heap: cheaper than a branch nobody can predict.
                let z = _mm512_min_epu32(load(found), splat(self.board.heaps));
                let hits = _mm512_mask_cmplt_epu32_mask(rows.lanes, z, splat(self.board.heaps));
                let layers = &pairs[part].k;
                self.mark(rows, layers, z, rule);
                let near = _mm512_mask_cmplt_epu32_mask(hits, sub(z, rows.y), splat(Self::K))
                    | _mm512_mask_cmplt_epu32_mask(hits, rows.y, splat(self.x0 + self.layers));
                if near != 0 {
                    self.mark_near(t, layers, &lanes_of(z), near);
                }
                if sink.tally_mut().is_some() {
                    sum = _mm512_mask_add_epi32(sum, hits, sum, add(add(rows.x, rows.y), z));
                    positions += u64::from(hits.count_ones());
                } else {
                    let [x, y, z]: [[u32; LANES]; 3] = [rows.x, rows.y, z].map(lanes_of);
                    ones(hits).for_each(|i| sink.push([x[i], y[i], z[i]]));
                }
            }
        }
        if let Some(tally) = sink.tally_mut() {
            let sums: [u32; LANES] = lanes_of(sum);
            tally.add(sums.iter().map(|sum| u128::from(*sum)).sum(), positions);
        }
    }

    /// The unused pairs of step `t` in sixteen layers; searches start at the hints.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn pairs(&self, t: usize, part: usize) -> Pairs {
        let lanes = (!self.used[t] & self.alive) >> (LANES * part);
        let k = add(load(&LANE), splat(LANES * part));
        let start = add(sub(splat(t), k), load(&self.hint[part]));
        Pairs { lanes: lanes as u16, k: lanes_of(k), start: lanes_of(start) }
    }

    /// The pairs of step `t` that can have a P-position, in as few vectors as they fill; searches start where rows are not filled.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn list(&self, t: usize) -> [Pairs; H] {
        // A vector more: each part stores a whole one after the pairs before it.
        let (mut ks, mut starts) = ([0; WORD + LANES], [0; WORD + LANES]);
        let mut listed = 0;
        let max = |a, b| _mm512_max_epu32(a, b);
        let backwards = sub(splat(LANES - 1), load(&LANE));
        let odd_backwards = add(add(backwards, backwards), splat(1));
        for part in 0..H {
            let pairs = self.pairs(t, part);
            let k = load(&pairs.k);
            // As `k` grows by one, `y` falls by one and `d` by two.
            let of_y = |filled: &[u32]| {
                let from = FRONT + t - LANES * part - (LANES - 1);
                _mm512_permutexvar_epi32(backwards, load::<u32, LANES>(filled[from..].first_chunk().expect("a vector")))
            };
            let of_d = |filled: &[u32]| {
                let from = FRONT + t - self.x0 - 2 * LANES * part - (2 * LANES - 1);
                let both: &[u32; 2 * LANES] = filled[from..].first_chunk().expect("two vectors");
                let [low, high] = both.as_chunks::<LANES>().0 else { unreachable!("two vectors") };
                _mm512_permutex2var_epi32(load(low), odd_backwards, load(high))
            };
            let [one, two, gap, all] = &self.filled;
            let by_z = max(of_y(one), of_d(two));
            let by_g = add(add(splat(self.x0), k), max(of_y(gap), of_d(all)));
            let start = max(max(by_z, by_g), load(&pairs.start));
            let lanes = _mm512_mask_cmplt_epu32_mask(pairs.lanes, start, splat(self.board.heaps));
            for (to, from) in [(&mut ks, k), (&mut starts, start)] {
                let to = to[listed..].first_chunk_mut::<LANES>().expect("a vector after the pairs");
                store(to, _mm512_maskz_compress_epi32(lanes, from));
            }
            listed += lanes.count_ones() as usize;
        }
        from_fn(|part| {
            let lanes = listed.saturating_sub(LANES * part).min(LANES);
            let part_of = |list: &[u32; WORD + LANES]| list.as_chunks().0[part];
            Pairs { lanes: ((1_u32 << lanes) - 1) as u16, k: part_of(&ks), start: part_of(&starts) }
        })
    }

    /// Where the rows of 16 pairs of step `t` stand.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn rows(&self, t: usize, pairs: &Pairs) -> Rows {
        let board = self.board;
        let start = |r| {
            let q = _mm512_srli_epi32::<6>(r);
            let rest = sub(sub(r, _mm512_slli_epi32::<5>(q)), splat(31));
            sub(_mm512_mullo_epi32(r, splat(board.longest)), _mm512_mullo_epi32(q, rest))
        };
        let gap = |heap| add(_mm512_mullo_epi32(heap, splat(board.stride)), splat(board.gap));
        let k = load(&pairs.k);
        let (x, y) = (add(splat(self.x0), k), sub(splat(t), k));
        let of_d = start(sub(y, x));
        Rows {
            lanes: pairs.lanes,
            x,
            y,
            one_x: add(start(x), splat(1)),
            one_y: add(start(y), splat(1)),
            two: add(of_d, splat(board.two)),
            all: add(of_d, splat(board.all)),
            gap_x: gap(x),
            gap_y: gap(y),
        }
    }

    /// The first free candidate of each pair, at least `heaps` where there is none.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn search(&self, rows: &Rows, start: &[u32; LANES], found: &mut [u32; LANES]) {
        let (board, marks, lanes) = (self.board, self.marks, rows.lanes);
        // Bytes of a bit position, rounded down.
        let below = |bits| _mm512_srai_epi32::<3>(bits);
        let z = below(load(start));
        let minus = |heap| sub(_mm512_setzero_si512(), heap);
        let (g, e) = (add(z, below(minus(rows.x))), add(z, below(minus(rows.y))));
        let windows = |row, from| marks.half_windows(add(_mm512_slli_epi32::<3>(row), from), lanes);
        let (one_x, one_y, two) = (windows(rows.one_x, z), windows(rows.one_y, z), windows(rows.two, z));
        let (gap_y, all, gap_x) = (windows(rows.gap_y, g), windows(rows.all, g), windows(rows.gap_x, e));
        let shifts = |heap| lanes_of(_mm512_and_si512(minus(heap), splat(7)));
        let (by_x, by_y): ([u32; LANES], [u32; LANES]) = (shifts(rows.x), shifts(rows.y));
        let starts: [u32; LANES] = lanes_of(_mm512_slli_epi32::<3>(z));

        let or3 = |a, b, c| _mm256_ternarylogic_epi64::<0xFE>(a, b, c);
        // What six windows forbid; those in another frame than `z` come with the window a word further on.
        let forbid = |i: usize, [one_x, one_y, two]: [__m256i; 3], [gap_y, all, gap_x]: [[__m256i; 2]; 3]| {
            let (by_x, by_y) = (_mm256_set1_epi32(by_x[i] as i32), _mm256_set1_epi32(by_y[i] as i32));
            let both: [__m256i; 2] = from_fn(|j| _mm256_or_si256(gap_y[j], all[j]));
            or3(
                or3(one_x, one_y, two),
                _mm256_shrdv_epi64(both[0], both[1], by_x),
                _mm256_shrdv_epi64(gap_x[0], gap_x[1], by_y),
            )
        };
        // The windows `skip` bytes further on.
        let look = |i: usize, skip: usize| {
            let at = |place: usize| marks.half_window(place + skip);
            let pair = |place: usize| [at(place), at(place + 8)];
            let in_z = [at(one_x.at(i)), at(one_y.at(i)), at(two.at(i))];
            forbid(i, in_z, [pair(gap_y.at(i)), pair(all.at(i)), pair(gap_x.at(i))])
        };

        let full = _mm256_set1_epi8(-1);
        let free_bytes = |forbidden| _mm256_cmpneq_epi8_mask(forbidden, full);
        // The first free candidate, `skip` bytes after the start; 256 candidates on if there is none.
        let first = |i: usize, skip: usize, forbidden, free: u32| {
            let byte = _mm256_castsi256_si128(_mm256_maskz_compress_epi8(free, forbidden));
            let bits = (_mm_cvtsi128_si32(byte) as u32).trailing_ones();
            starts[i] + 8 * skip as u32 + 8 * free.trailing_zeros() + bits
        };
        let last = |i: usize| board.heaps.saturating_sub(starts[i] as usize) / 8;
        // One window each, without a branch; then the searches that need more.
        let mut again = 0;
        for i in ones(lanes) {
            let pair = |places: &HalfWindows| [places.window(i), places.next_window(i)];
            let in_z = [one_x.window(i), one_y.window(i), two.window(i)];
            let forbidden = forbid(i, in_z, [pair(&gap_y), pair(&all), pair(&gap_x)]);
            let free = free_bytes(forbidden);
            again |= u16::from(free == 0) << i;
            found[i] = first(i, 0, forbidden, free);
        }
        for i in ones(again) {
            let mut skip = 0;
            let (mut forbidden, mut free) = (full, 0);
            while free == 0 && skip <= last(i) {
                skip += WINDOW / 8;
                forbidden = look(i, skip);
                free = free_bytes(forbidden);
            }
            found[i] = first(i, skip, forbidden, free);
        }
    }

    /// The same for all pairs of a step, in rounds.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn search_in_rounds(&self, rows: &[Rows; H], pairs: &[Pairs; H], found: &mut [[u32; LANES]; H]) {
        let [one_x, one_y, two, gap_y, all, gap_x]: [usize; 6] = from_fn(|row| row);
        let (heaps, marks) = (self.board.heaps, self.marks);
        let mut places = marks.starts::<6>(Board::reach(heaps));
        let [mut starts, mut by_x, mut by_y] = [[[0; LANES]; H]; 3];
        for (part, rows) in rows.iter().enumerate() {
            let bytes = |bits| _mm512_srai_epi32::<3>(bits);
            let minus = |heap| sub(_mm512_setzero_si512(), heap);
            // Whole words, for the summary.
            let start = _mm512_andnot_si512(splat(WORD - 1), load(&pairs[part].start));
            let z = bytes(start);
            let (g, e) = (add(z, bytes(minus(rows.x))), add(z, bytes(minus(rows.y))));
            for (row, words, from) in [
                (one_x, rows.one_x, z),
                (one_y, rows.one_y, z),
                (two, rows.two, z),
                (gap_y, rows.gap_y, g),
                (all, rows.all, g),
                (gap_x, rows.gap_x, e),
            ] {
                places.set(row, part, add(_mm512_slli_epi32::<3>(words), from), rows.lanes);
            }
            let shifts = |heap| lanes_of(_mm512_and_si512(minus(heap), splat(7)));
            (starts[part], by_x[part], by_y[part]) = (lanes_of(start), shifts(rows.x), shifts(rows.y));
        }
        let (by_x, by_y) = (by_x.as_flattened(), by_y.as_flattened());
        let start = |i: usize| starts.as_flattened()[i] as usize;

        // The first free candidate of the window `skip` bytes after the start; whether there is none.
        let look = |i: usize, skip: usize| {
            let at = |row| places.window(row, i, skip);
            let or3 = |a, b, c| _mm512_ternarylogic_epi64::<0xFE>(a, b, c);
            let shift = |row, by: u32| {
                let next = _mm512_alignr_epi64::<1>(_mm512_set1_epi64(-1), row);
                _mm512_shrdv_epi64(row, next, _mm512_set1_epi32(by as i32))
            };
            let by_z = or3(at(one_x), at(one_y), at(two));
            let less_x = shift(_mm512_or_si512(at(gap_y), at(all)), by_x[i]);
            let free = _mm512_ternarylogic_epi64::<0x01>(by_z, less_x, shift(at(gap_x), by_y[i]));
            let words = _mm512_test_epi64_mask(free, free);
            let word = _mm_cvtsi128_si64(_mm512_castsi512_si128(_mm512_maskz_compress_epi64(words, free)));
            let bit = WORD as u32 * u32::from(words).trailing_zeros() + word.trailing_zeros();
            ((start(i) + 8 * skip) as u32 + bit, words == 0)
        };
        // The words from `seen` words after the start on that no row is known to fill.
        let open_words = |i: usize, seen: usize| {
            let sum = |row| self.full.bits(places.at(row, i) / 8 + seen);
            // A word of the frame lies in two words of a row in another frame.
            let both = |words: u64| words & words >> 1;
            let by_z = sum(one_x) | sum(one_y) | sum(two);
            !(by_z | both(sum(gap_y) | sum(all)) | both(sum(gap_x))) & SUMMED
        };

        let found = found.as_flattened_mut();
        let mut again = [0_u8; WORD + 1];
        let mut left = 0;
        let listed: u32 = pairs.iter().map(|pairs| pairs.lanes.count_ones()).sum();
        for (i, found) in found.iter_mut().enumerate().take(listed as usize) {
            let none;
            (*found, none) = look(i, 0);
            again[left] = i as u8;
            left += usize::from(none);
        }
        // What is left of the open words before word `seen` from the start; the bytes from there to the window.
        let (mut open, mut seen, mut skip) = ([0_u64; WORD], [WORDS_SEEN; WORD], [0; WORD]);
        while left != 0 {
            // First the places of the next windows, whose lines are asked for; when they are read, most have come.
            let mut going = 0;
            for j in 0..left {
                let i = again[j] as usize % Self::K;
                while open[i] == 0 && start(i) + WORD * seen[i] < heaps {
                    open[i] = open_words(i, seen[i]);
                    seen[i] += SUMMED.count_ones() as usize;
                }
                // With none that is past the last heap.
                skip[i] = 8 * (seen[i] + open[i].trailing_zeros() as usize - SUMMED.count_ones() as usize);
                for row in one_x..=gap_x {
                    let at = places.at(row, i) + skip[i];
                    // The lines of its first and of its last byte.
                    [at, at + 63].into_iter().for_each(|byte| marks.prefetch(byte));
                }
                found[i] = heaps as u32;
                again[going] = i as u8;
                going += usize::from(start(i) + 8 * skip[i] < heaps);
            }
            left = 0;
            for j in 0..going {
                let i = again[j] as usize % Self::K;
                let none;
                (found[i], none) = look(i, skip[i]);
                open[i] &= !(((1 << WORDS_SEEN) - 1) << open[i].trailing_zeros());
                again[left] = i as u8;
                left += usize::from(none);
            }
        }
    }

    /// Marks what was found, in the rows that were searched and in `used`.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn mark(&mut self, rows: &Rows, layers: &[u32; LANES], z: __m512i, rule: Rule) {
        let words = |row, place| self.marks.marks(add(row, _mm512_srai_epi32::<6>(place)), rows.lanes);
        let (g, e) = (sub(z, rows.x), sub(z, rows.y));
        let (one_x, one_y, two) = (words(rows.one_x, z), words(rows.one_y, z), words(rows.two, z));
        let (gap_y, all, gap_x) = (words(rows.gap_y, g), words(rows.all, g), words(rows.gap_x, e));
        let [z, g, e]: [[u32; LANES]; 3] = [z, g, e].map(lanes_of);
        for i in ones(rows.lanes) {
            let mark = |words: &Words, bit| {
                if words.mark(i, bit) {
                    self.sum_up(words.at(i));
                }
            };
            mark(&one_x, z[i]);
            mark(&one_y, z[i]);
            mark(&two, z[i]);
            mark(&gap_y, g[i]);
            if rule == Rule::AllMoves {
                mark(&all, g[i]);
            }
            mark(&gap_x, e[i]);
            let k = layers[i] as usize % WORD;
            self.used[z[i] as usize + k] |= 1 << k;
        }
    }

    /// The marks that this band looks for again: a pair of two of its layers in `used`, and `gap[z]` if `z` is near.
    #[inline(always)]
    fn mark_near(&mut self, t: usize, layers: &[u32; LANES], z: &[u32; LANES], near: u16) {
        for i in ones(near) {
            let k = layers[i] as usize % WORD;
            let (x, y, z) = (self.x0 + k, t - k, z[i] as usize);
            if y < self.x0 + self.layers {
                self.used[z + y - self.x0] |= 1 << (y - self.x0);
            }
            if z - y < Self::K {
                self.set(self.board.gap(z) + (y - x) / WORD, 1 << ((y - x) % WORD));
            }
        }
    }
}

/// The first word of each of six rows, for 16 pairs; garbage in lanes that are not set.
#[derive(Clone, Copy)]
struct Rows {
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

const LANE: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

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

/// The set bits, ascending.
#[inline(always)]
pub fn ones(mut set: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then_some(set.trailing_zeros() as usize % LANES);
        set &= set.wrapping_sub(1);
        first
    })
}
