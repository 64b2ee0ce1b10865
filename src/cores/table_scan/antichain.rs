//! The driver of the kernels that go through many layers at once, and what they keep.
//!
//! # Antichains
//! Whether `(x,y)` has a P-position, and which, depends on pairs that are nowhere larger. So the pairs `(x0 + k, t - k)` of one
//! *step* `t`, one for each of the `K` layers of a *band*, do not depend on one another: `x` grows where `y` falls. A step
//! searches all its pairs before it marks any. That matters more than any instruction saved: a search that follows a mark
//! of the same layer waits for it, about 60 cycles, and a load that overtakes a mark whose place is not known yet is thrown
//! away with everything behind it.
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
//! # Threads
//! Bands go round the threads. A band may do the steps below `t` when the band before it has done those below `t + 2K`: then no
//! word is marked by two threads, and all that a search depends on is done.

use std::arch::x86_64::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Rule, Sink, StoneGame};
use crate::bits::{WORD, transpose};
use crate::kernel::{Run, Stop};
use crate::simd::avx512::{load, store};
use crate::simd::field::Field;

/// Lanes of a vector of places.
const LANES: usize = 16;
/// Candidates of a window.
const WINDOW: usize = 256;
/// Steps between two looks at the hints.
const HINT_STEPS: usize = 16;

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
        let stride = longest + 1;
        let triangle = Self::start(heaps, longest).wrapping_add(heaps / WORD);
        let one = 1;
        let (two, all) = (one + triangle, one + 2 * triangle);
        let gap = one + 3 * triangle + 1;
        Board { heaps, longest, two, all, gap, stride, words: gap + heaps * stride + WINDOW / WORD }
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

/// Counters of how far each band is.
struct Wave {
    done: Vec<AtomicUsize>,
    stopped: AtomicBool,
}

impl Wave {
    /// Waits until band `band` has done the steps below `step`.
    fn wait(&self, band: Option<usize>, step: usize) -> Result<(), Stop> {
        let Some(band) = band else { return Ok(()) };
        let mut spins = 0;
        while self.done[band].load(Ordering::Acquire) < step {
            if self.stopped.load(Ordering::Relaxed) {
                return Err(Stop::Cancelled);
            }
            spins += 1;
            if spins % 64 == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
        Ok(())
    }
}

/// Finds all P-positions with bands of `16 H` layers; with `SKIP`, windows whose words are full in a row are passed over by
/// a summary, a bit for each word.
#[inline]
#[target_feature(
    enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
)]
pub fn scan<const H: usize, const SKIP: bool, S: Sink>(input: &StoneGame, run: &Run) -> Result<S, Stop> {
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
    let threads = if cfg!(feature = "parallel") { run.threads().min(bands) } else { 1 };
    let share = |thread: usize| {
        let mut sink = S::default();
        for index in (thread..bands).step_by(threads) {
            let mut band = Band::<H, SKIP>::new(&board, &marks, &full, index);
            let done = band.run(&wave, input.rule, &mut sink).and_then(|()| run.advance(band.layers as u64));
            if done.is_err() {
                wave.stopped.store(true, Ordering::Relaxed);
                return Err(Stop::Cancelled);
            }
        }
        Ok(sink)
    };
    let mut sink = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|thread| scope.spawn(move || share(thread))).collect();
        let first = share(0);
        others.into_iter().fold(first, |sink, other| {
            let (mut sink, other): (S, S) = (sink?, other.join().expect("a thread that does not panic")?);
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
}

impl<'a, const H: usize, const SKIP: bool> Band<'a, H, SKIP> {
    const K: usize = LANES * H;
    /// Starts of windows are rounded down to so many bits: whole words where the summary is read, else bytes.
    const UNIT: u32 = if SKIP { 6 } else { 3 };

    fn new(board: &'a Board, marks: &'a Field, full: &'a Field, index: usize) -> Self {
        let x0 = index * Self::K;
        let layers = Self::K.min(board.heaps - x0);
        let alive = u64::MAX >> (WORD - layers);
        Band { board, marks, full, index, x0, layers, used: Vec::new(), alive, hint: [[0; LANES]; H] }
    }

    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn run<S: Sink>(&mut self, wave: &Wave, rule: Rule, sink: &mut S) -> Result<(), Stop> {
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
                    let near = self.is_near(t);
                    match (rule, near) {
                        (Rule::AllMoves, false) => self.steps::<true, false, S>(t..end, sink),
                        (Rule::AllMoves, true) => self.steps::<true, true, S>(t..end, sink),
                        (Rule::OneOrTwo, _) => self.steps::<false, true, S>(t..end, sink),
                    }
                }
            }
            wave.done[self.index].store(end, Ordering::Release);
        }
        Ok(())
    }

    /// Fills `used` from the pairs that earlier bands used.
    fn find_used(&mut self) {
        let (heaps, x0) = (self.board.heaps, self.x0);
        self.used = vec![u64::MAX; heaps + Self::K + 1];
        for k in 0..self.layers {
            let x = x0 + k;
            for y in (x..heaps).step_by(56) {
                let free = !self.marks.bits(self.board.one(x) * WORD + y);
                for (i, used) in self.used[y + k..][..56.min(heaps - y)].iter_mut().enumerate() {
                    *used ^= (free >> i & 1) << k;
                }
            }
        }
    }

    /// Brings marks into rows `c..c + 64` of `gap`: the columns that layers of this band are the first to read.
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
            for (c, row) in (c..heaps).zip(tile) {
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
    fn raise_hints(&mut self, t: usize) {
        let mut layers = self.alive;
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
            if t + *hint as usize >= self.board.heaps + k {
                self.alive &= !(1 << k);
            }
        }
    }

    /// Whether a step from `t` on may find a P-position that this band looks for again: in `used`, or in `gap[z]`.
    fn is_near(&self, t: usize) -> bool {
        let hints = self.hint.as_flattened().iter().enumerate();
        let least = hints.filter(|(k, _)| self.alive >> k & 1 == 1).map(|(_, hint)| *hint as usize).min();
        t < self.x0 + 2 * Self::K || least.is_some_and(|hint| hint < Self::K)
    }

    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn steps<const ALL: bool, const NEAR: bool, S: Sink>(&mut self, steps: std::ops::Range<usize>, sink: &mut S) {
        let (board, marks) = (self.board, self.marks);
        let splat = |n: usize| _mm512_set1_epi32(n as i32);
        let add = |a, b| _mm512_add_epi32(a, b);
        let sub = |a, b| _mm512_sub_epi32(a, b);
        let start = |r| {
            let q = _mm512_srli_epi32::<6>(r);
            let part = sub(sub(r, _mm512_slli_epi32::<5>(q)), splat(31));
            sub(_mm512_mullo_epi32(r, splat(board.longest)), _mm512_mullo_epi32(q, part))
        };
        let full = _mm256_set1_epi8(-1);
        let lane = load(&std::array::from_fn::<u32, LANES, _>(|i| i as u32));
        let mut sum = 0;
        let mut positions = 0;
        for t in steps {
            let unused = !self.used[t] & self.alive;
            for half in 0..H {
                let lanes = (unused >> (LANES * half)) as u16;
                if lanes == 0 {
                    continue;
                }
                let k = add(lane, splat(LANES * half));
                let (x, y) = (add(splat(self.x0), k), sub(splat(t), k));
                let d = sub(y, x);
                let hint = load(&self.hint[half]);
                let below = |v| match Self::UNIT {
                    6 => _mm512_slli_epi32::<3>(_mm512_srai_epi32::<6>(v)),
                    _ => _mm512_srai_epi32::<3>(v),
                };
                let bytes = |words| _mm512_slli_epi32::<3>(words);
                let zero = _mm512_setzero_si512();
                let rest = splat((1 << Self::UNIT) - 1);
                // Rows, in words.
                let (one_x, one_y, of_d) = (add(start(x), splat(1)), add(start(y), splat(1)), start(d));
                let (two, all) = (add(of_d, splat(board.two)), add(of_d, splat(board.all)));
                let gap_row = |c| add(_mm512_mullo_epi32(c, splat(board.stride)), splat(board.gap));
                let (gap_x, gap_y) = (gap_row(x), gap_row(y));
                // The windows at the hint, in bytes.
                let z = below(add(y, hint));
                let (minus_x, minus_y) = (sub(zero, x), sub(zero, y));
                let (g, e) = (add(z, below(minus_x)), add(z, below(minus_y)));
                let at_one_x = marks.windows(add(bytes(one_x), z), lanes);
                let at_one_y = marks.windows(add(bytes(one_y), z), lanes);
                let at_two = marks.windows(add(bytes(two), z), lanes);
                let at_gap_y = marks.windows(add(bytes(gap_y), g), lanes);
                let at_all = marks.windows(add(bytes(all), g), lanes);
                let at_gap_x = marks.windows(add(bytes(gap_x), e), lanes);
                let (mut by_x, mut by_y, mut starts) = ([0u32; LANES], [0u32; LANES], [0u32; LANES]);
                store(&mut by_x, _mm512_and_si512(minus_x, rest));
                store(&mut by_y, _mm512_and_si512(minus_y, rest));
                store(&mut starts, bytes(z));
                let mut found = [0u32; LANES];
                let mut left = lanes;
                while left != 0 {
                    let i = left.trailing_zeros() as usize % LANES;
                    left &= left - 1;
                    let (by_x, by_y) = (_mm256_set1_epi32(by_x[i] as i32), _mm256_set1_epi32(by_y[i] as i32));
                    let or3 = |a, b, c| _mm256_ternarylogic_epi64::<0xFE>(a, b, c);
                    let shift = |low, high, by| _mm256_shrdv_epi64(low, high, by);
                    let mut z = starts[i];
                    let mut forbidden = or3(
                        or3(at_one_x.window(i), at_one_y.window(i), at_two.window(i)),
                        shift(
                            _mm256_or_si256(at_gap_y.window(i), at_all.window(i)),
                            _mm256_or_si256(at_gap_y.next_window(i), at_all.next_window(i)),
                            by_x,
                        ),
                        shift(at_gap_x.window(i), at_gap_x.next_window(i), by_y),
                    );
                    let mut free = _mm256_cmpneq_epi8_mask(forbidden, full);
                    if free == 0 {
                        let mut skip = 0;
                        while free == 0 && (z as usize) < board.heaps {
                            skip += WINDOW / 8;
                            z += WINDOW as u32;
                            let at = |place: usize| marks.window(place + skip);
                            forbidden = or3(
                                or3(at(at_one_x.at(i)), at(at_one_y.at(i)), at(at_two.at(i))),
                                shift(
                                    _mm256_or_si256(at(at_gap_y.at(i)), at(at_all.at(i))),
                                    _mm256_or_si256(at(at_gap_y.at(i) + 8), at(at_all.at(i) + 8)),
                                    by_x,
                                ),
                                shift(at(at_gap_x.at(i)), at(at_gap_x.at(i) + 8), by_y),
                            );
                            free = _mm256_cmpneq_epi8_mask(forbidden, full);
                        }
                    }
                    let byte = _mm256_castsi256_si128(_mm256_maskz_compress_epi8(free, forbidden));
                    found[i] = z + 8 * free.trailing_zeros() + (_mm_cvtsi128_si32(byte) as u32).trailing_ones();
                }
                // A search that found nothing marks the place past the last heap: cheaper than a branch that nobody can predict.
                let z = _mm512_min_epu32(load(&found), splat(board.heaps));
                let hits = _mm512_mask_cmplt_epu32_mask(lanes, z, splat(board.heaps));
                let word = |v| _mm512_srai_epi32::<6>(v);
                let (g, e) = (sub(z, x), sub(z, y));
                let in_one_x = marks.marks(add(one_x, word(z)), lanes);
                let in_one_y = marks.marks(add(one_y, word(z)), lanes);
                let in_two = marks.marks(add(two, word(z)), lanes);
                let in_gap_y = marks.marks(add(gap_y, word(g)), lanes);
                let in_all = marks.marks(add(all, word(g)), lanes);
                let in_gap_x = marks.marks(add(gap_x, word(e)), lanes);
                let (mut zs, mut gs, mut es) = ([0u32; LANES], [0u32; LANES], [0u32; LANES]);
                store(&mut zs, z);
                store(&mut gs, g);
                store(&mut es, e);
                let mut left = lanes;
                while left != 0 {
                    let i = left.trailing_zeros() as usize % LANES;
                    left &= left - 1;
                    let (z, g, e) = (zs[i], gs[i], es[i]);
                    let mark = |places: &crate::simd::field::Places<'_, 0>, bit| {
                        if places.mark(i, bit) {
                            self.sum_up(places.at(i));
                        }
                    };
                    mark(&in_one_x, z);
                    mark(&in_one_y, z);
                    mark(&in_two, z);
                    mark(&in_gap_y, g);
                    if ALL {
                        mark(&in_all, g);
                    }
                    mark(&in_gap_x, e);
                    let k = LANES * half + i;
                    self.used[z as usize + k] |= 1 << k;
                }
                if NEAR {
                    let mut left = hits;
                    while left != 0 {
                        let i = left.trailing_zeros() as usize;
                        left &= left - 1;
                        let k = LANES * half + i;
                        let (x, y, z) = (self.x0 + k, t - k, zs[i] as usize);
                        if y < self.x0 + self.layers {
                            self.used[z + y - self.x0] |= 1 << (y - self.x0);
                        }
                        if z - y < Self::K {
                            self.set(board.gap(z) + (y - x) / WORD, 1 << ((y - x) % WORD));
                        }
                    }
                }
                match sink.tally_mut() {
                    Some(_) => {
                        sum += u64::from(_mm512_mask_reduce_add_epi32(hits, add(add(x, y), z)) as u32);
                        positions += u64::from(hits.count_ones());
                    }
                    None => (0..LANES).filter(|i| hits >> i & 1 == 1).for_each(|i| {
                        let k = LANES * half + i;
                        sink.push([(self.x0 + k) as u32, (t - k) as u32, zs[i]]);
                    }),
                }
            }
        }
        if let Some(tally) = sink.tally_mut() {
            tally.add(sum.into(), positions);
        }
    }
}
