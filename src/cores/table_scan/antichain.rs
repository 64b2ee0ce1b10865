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
//! # Threads
//! Bands go round the threads. A band may do the steps below `t` when the band before it has done those below `t + 2K`: then no
//! word is marked by two threads, and all that a search depends on is done.

use std::arch::x86_64::*;
use std::array::from_fn;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::{Rule, Sink, StoneGame};
use crate::bits::{WORD, transpose};
#[cfg(feature = "parallel")]
use crate::kernel::Cost;
use crate::kernel::{Run, Stop};
use crate::simd::avx512::{lanes_of, load};
use crate::simd::field::{Field, Places};

/// Lanes of a vector of places.
const LANES: usize = 16;
/// Candidates of a window.
const WINDOW: usize = 256;
/// Words whose summary is looked at together: a read at any bit holds 57, and a word in another frame needs two.
const SUMMED: u64 = u64::MAX >> 8;
/// Bytes of those words.
const BYTES_SUMMED: usize = 8 * SUMMED.count_ones() as usize;
/// Steps between two looks at the hints.
const HINT_STEPS: usize = 16;

/// Steps between asking for lines and reading them.
const AHEAD: usize = 4;
/// Heaps for each line that is asked for: lines of 512 bits then cover a fifth of a row, twice the length of a mean search.
const HEAPS_A_LINE: usize = 512 * 5;

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

/// Finds all P-positions with bands of `16 H` layers; with `SKIP`, searches that need more than one window pass over words
/// that are full in a row by a summary, a bit for each word.
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
        let mut sink = S::default();
        for index in (thread..bands).step_by(threads) {
            let mut band = Band::<H, SKIP>::new(&board, &marks, &full, index);
            if band.run(&wave, input.rule, run, &mut sink).is_err() {
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

    /// Asks for what a step some way on reads first in its two rows of `y` and two of `d` that are new to the band: the
    /// lines from the hint on, as many as most searches go through. Later layers find them in the cache.
    #[inline(always)]
    fn fetch(&self, t: usize) {
        let (board, x) = (self.board, self.x0);
        let y = t + AHEAD;
        if y < board.heaps {
            let z = y + self.hint[0][0] as usize;
            let (one, two) = (board.one(y) * WORD + z, board.two(y - x) * WORD + z);
            let (gap, all) = (board.gap(y) * WORD + z - x, board.all(y - x) * WORD + z - x);
            for line in 0..=board.heaps / HEAPS_A_LINE {
                [one, two, gap, all].into_iter().for_each(|bit| self.marks.prefetch(bit / 8 + 64 * line));
            }
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
            let unused = !self.used[t] & self.alive;
            if SKIP {
                self.fetch(t);
            }
            let rows: [Rows; H] = from_fn(|part| self.rows(t, part, (unused >> (LANES * part)) as u16));
            let mut found = [[0; LANES]; H];
            for (part, (rows, found)) in rows.iter().zip(&mut found).enumerate() {
                if rows.lanes != 0 {
                    self.search(rows, part, found);
                }
            }
            for (part, (rows, found)) in rows.iter().zip(&found).enumerate() {
                if rows.lanes == 0 {
                    continue;
                }
                // A search that found nothing marks the place past the last heap: cheaper than a branch nobody can predict.
                let z = _mm512_min_epu32(load(found), splat(self.board.heaps));
                let hits = _mm512_mask_cmplt_epu32_mask(rows.lanes, z, splat(self.board.heaps));
                self.mark(rows, part, z, rule);
                let near = _mm512_mask_cmplt_epu32_mask(hits, sub(z, rows.y), splat(Self::K))
                    | _mm512_mask_cmplt_epu32_mask(hits, rows.y, splat(self.x0 + self.layers));
                if near != 0 {
                    self.mark_near(t, part, &lanes_of(z), near);
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

    /// Where the rows of 16 pairs of step `t` stand.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn rows(&self, t: usize, part: usize, lanes: u16) -> Rows {
        let board = self.board;
        let start = |r| {
            let q = _mm512_srli_epi32::<6>(r);
            let rest = sub(sub(r, _mm512_slli_epi32::<5>(q)), splat(31));
            sub(_mm512_mullo_epi32(r, splat(board.longest)), _mm512_mullo_epi32(q, rest))
        };
        let gap = |heap| add(_mm512_mullo_epi32(heap, splat(board.stride)), splat(board.gap));
        let k = add(load(&LANE), splat(LANES * part));
        let (x, y) = (add(splat(self.x0), k), sub(splat(t), k));
        let of_d = start(sub(y, x));
        Rows {
            lanes,
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
    fn search(&self, rows: &Rows, part: usize, found: &mut [u32; LANES]) {
        let (board, marks, lanes) = (self.board, self.marks, rows.lanes);
        // Bytes of a bit position, rounded down.
        let below = |bits| match Self::UNIT {
            6 => _mm512_slli_epi32::<3>(_mm512_srai_epi32::<6>(bits)),
            _ => _mm512_srai_epi32::<3>(bits),
        };
        let z = below(add(rows.y, load(&self.hint[part])));
        let minus = |heap| sub(_mm512_setzero_si512(), heap);
        let (g, e) = (add(z, below(minus(rows.x))), add(z, below(minus(rows.y))));
        let windows = |row, from| marks.windows(add(_mm512_slli_epi32::<3>(row), from), lanes);
        let (one_x, one_y, two) = (windows(rows.one_x, z), windows(rows.one_y, z), windows(rows.two, z));
        let (gap_y, all, gap_x) = (windows(rows.gap_y, g), windows(rows.all, g), windows(rows.gap_x, e));
        let rest = splat((1 << Self::UNIT) - 1);
        let shifts = |heap| lanes_of(_mm512_and_si512(minus(heap), rest));
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
            let at = |place: usize| marks.window(place + skip);
            let pair = |place: usize| [at(place), at(place + 8)];
            let in_z = [at(one_x.at(i)), at(one_y.at(i)), at(two.at(i))];
            forbid(i, in_z, [pair(gap_y.at(i)), pair(all.at(i)), pair(gap_x.at(i))])
        };
        // The words from `skip` bytes after the start on that no row is known to fill.
        let open_words = |i: usize, skip: usize| {
            let sum = |place: usize| self.full.bits((place + skip) / 8);
            // A word of the frame lies in two words of a row in another frame.
            let both = |words: u64| words & words >> 1;
            let by_z = sum(one_x.at(i)) | sum(one_y.at(i)) | sum(two.at(i));
            !(by_z | both(sum(gap_y.at(i)) | sum(all.at(i))) | both(sum(gap_x.at(i)))) & SUMMED
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
            let pair = |places: &Places<_>| [places.window(i), places.next_window(i)];
            let in_z = [one_x.window(i), one_y.window(i), two.window(i)];
            let forbidden = forbid(i, in_z, [pair(&gap_y), pair(&all), pair(&gap_x)]);
            let free = free_bytes(forbidden);
            again |= u16::from(free == 0) << i;
            found[i] = first(i, 0, forbidden, free);
        }
        if SKIP {
            // The words from `seen` bytes after the start on that are open, seen further on if there is none.
            let next_open = |i: usize, mut open: u64, mut seen: usize| {
                while open == 0 && seen <= last(i) {
                    seen += BYTES_SUMMED;
                    open = open_words(i, seen);
                }
                (open, seen)
            };
            // Past the last heap there are open words.
            let skip = |(open, seen): (u64, usize)| seen + 8 * open.trailing_zeros() as usize;
            let rest = |open: u64| open & !(0xF << open.trailing_zeros());
            // First the place of each window, whose lines are asked for; when they are read, most have come.
            let mut next = [(0, 0); LANES];
            for i in ones(again) {
                next[i] = next_open(i, open_words(i, 0) & !0xF, 0);
                for place in [&one_x, &one_y, &two, &gap_y, &all, &gap_x] {
                    marks.prefetch(place.at(i) + skip(next[i]));
                }
            }
            for i in ones(again) {
                let mut next = next[i];
                found[i] = loop {
                    let skip = skip(next);
                    if skip > last(i) {
                        break board.heaps as u32;
                    }
                    let forbidden = look(i, skip);
                    let free = free_bytes(forbidden);
                    if free != 0 {
                        break first(i, skip, forbidden, free);
                    }
                    next = next_open(i, rest(next.0), next.1);
                };
            }
        } else {
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
    }

    /// Marks what was found, in the rows that were searched and in `used`.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn mark(&mut self, rows: &Rows, part: usize, z: __m512i, rule: Rule) {
        let words = |row, place| self.marks.marks(add(row, _mm512_srai_epi32::<6>(place)), rows.lanes);
        let (g, e) = (sub(z, rows.x), sub(z, rows.y));
        let (one_x, one_y, two) = (words(rows.one_x, z), words(rows.one_y, z), words(rows.two, z));
        let (gap_y, all, gap_x) = (words(rows.gap_y, g), words(rows.all, g), words(rows.gap_x, e));
        let [z, g, e]: [[u32; LANES]; 3] = [z, g, e].map(lanes_of);
        for i in ones(rows.lanes) {
            let mark = |words: &Places<0>, bit| {
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
            let k = LANES * part + i;
            self.used[z[i] as usize + k] |= 1 << k;
        }
    }

    /// The marks that this band looks for again: a pair of two of its layers in `used`, and `gap[z]` if `z` is near.
    #[inline(always)]
    fn mark_near(&mut self, t: usize, part: usize, z: &[u32; LANES], near: u16) {
        for i in ones(near) {
            let k = LANES * part + i;
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
