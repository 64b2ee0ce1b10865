//! Up to 1023 heaps a row of marks is one cache line, and a visit is six loads, no search for a window and no chain.
//!
//! # Frames
//! Pairs are visited with `y` outermost: any order does in which a move leads back. A *band* takes `K = 16` layers `y0 + k`.
//! Differences `z - y` stay below 497 here, so of each row only 512 places matter, and they are held in one of two frames:
//!
//! | row | place | frame |
//! |---|---|---|
//! | `one[x]`, `two[d]`, `one[y]` | `z` | `z - y0`; shifted right by `k` together, moved on by 16 bits after a band |
//! | `gap[x]`, `all[d]` | `z - y` | itself, for all layers: no shift |
//! | `gap[y]` | `z - x` | itself; a row of the layer, twice as long, read from bit `d` on |
//!
//! What falls due at the start of a band are the 16 lowest bits of rows in the first frame: in `one[x]` they say which pairs of
//! the band are used, in `two[d]` they are the marks of `gap[y]`, transposed. So a mark in `gap[z]` is never made, unless `z` is
//! in the band itself.
//!
//! # Steps
//! Layers follow each other at a distance of `X = 4` places `x`: a step takes four of each layer, 64 pairs, about 20 of them
//! unused. Pairs of different layers are independent. Those of one layer share the rows `one[y]` and `gap[y]`: they are searched
//! as if they were independent, and the few that took the same place (6 in 100) are searched again, in order.
//! The used pairs of a step are 64 numbers of 16 bits in a row, of which layer `k` tests its bit.
//!
//! Cost: `1.5` visits a P-position, `N^2 / 128` steps, and `N^2 / 16` lines moved on.
//! Bound: in a prototype a search took 10 to 12 cycles, near what its loads (7) and its shifts and permutations (8) allow; marking
//! took about as long, with what is lost where a step ends. What made the most: results stored at places that
//! are known beforehand. Appending them to a list of what was found, whose length depends on the search, nearly doubled the
//! time of a search (10 to 19 cycles): later loads waited until the place of the store was known.

use std::arch::x86_64::*;

use super::antichain::ones;
use super::{Rule, Sink, StoneGame};
use crate::kernel::{Cost, Needs, On, Run, Stop};
use crate::simd::avx512::{lanes_of, load, store, widen};
use crate::simd::lines::Lines;

/// Layers of a band.
const K: usize = 16;
/// Places of a layer in a step.
const X: usize = 4;
/// Pairs of a step. Pair `i` of a step is that of `x = front - BEHIND + i` in layer `K - 1 - i / X`.
const PAIRS: usize = K * X;
/// How far the last layer of a step is behind its front.
const BEHIND: usize = PAIRS - X;
/// The candidates of a row.
const PLACES: u32 = 512;
/// The most heaps: at more some `z - y` does not fit the frame. Checked at this limit, and what is found at a smaller one is part
/// of that.
const MOST: usize = 1024;
/// Lines of a layer's row of gaps.
const LONG: usize = 4;
/// `d` of pair `i` of a step is that of its pair 0, less this.
const fn back(i: usize) -> usize {
    i + i / X
}

/// For each pair of a step, as words that a vector can be filled with.
struct Pairs {
    layer: [u64; PAIRS],
    /// `d` modulo 8, where `d` of pair 0 is 3 or 7 modulo 8.
    rest: [[u64; PAIRS]; 2],
}

const PAIR: Pairs = {
    let mut pairs = Pairs { layer: [0; PAIRS], rest: [[0; PAIRS]; 2] };
    let mut i = 0;
    while i < PAIRS {
        pairs.layer[i] = (K - 1 - i / X) as u64;
        pairs.rest[0][i] = (8 * PAIRS + 3 - back(i)) as u64 % 8;
        pairs.rest[1][i] = (8 * PAIRS + 7 - back(i)) as u64 % 8;
        i += 1;
    }
    pairs
};

pub fn cost(input: &StoneGame, _: On) -> Cost {
    let n = input.heaps();
    if n > MOST {
        return Cost::IMPOSSIBLE;
    }
    let n = n as f64;
    Cost { ns: 1.6 * n * n + 110.0 * n + 1000.0, bytes: 260.0 * n + 20_000.0 }
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
        board.enter(y0, layers);
        let mut done = 0;
        for front in (0..y0 + K + BEHIND).step_by(X) {
            let step = Step { y0, front, d: y0 + K - 1 + BEHIND - front };
            let pairs = board.search(&step);
            board.mark(&step, pairs, &mut sink);
            while done < layers && front == y0 + X * (done + done / X) {
                board.leave(y0, done);
                done += 1;
            }
        }
        run.advance(layers as u64)?;
    }
    if let Some(tally) = sink.tally_mut() {
        tally.add(board.sums.iter().map(|sum| u128::from(*sum)).sum(), board.positions);
    }
    sink.finish();
    Ok(sink)
}

/// Four places `x` of each layer.
struct Step {
    y0: usize,
    /// The first place of layer 0.
    front: usize,
    /// `d` of pair 0, if it had one.
    d: usize,
}

struct Board {
    heaps: usize,
    rule: Rule,
    /// The rows of `x`, those of `d`, `one[y]` of each layer, `gap[y]` of each layer.
    lines: Lines,
    /// `used[BEHIND + x]`: bit `k` says that the pair of `x` and layer `k` is used, or none, or hopeless.
    used: Vec<u16>,
    /// Pairs of the step that are searched, and what was found for each: `z - y`, or at least `PLACES`.
    list: [u8; PAIRS],
    found: [u32; PAIRS],
    /// Heaps of all positions, in sixteen parts, and the number of positions, for a sink that keeps no more.
    sums: [u32; 16],
    positions: u64,
}

impl Board {
    fn new(heaps: usize, rule: Rule) -> Self {
        let lines = Lines::new(4 * heaps + K + LONG * K);
        let used = vec![u16::MAX; heaps + 3 * PAIRS];
        Board { heaps, rule, lines, used, list: [0; PAIRS], found: [u32::MAX; PAIRS], sums: [0; 16], positions: 0 }
    }

    /// The lines of `one[x]` and, after it, `gap[x]`.
    fn of_x(&self, x: usize) -> usize {
        2 * x
    }

    /// The lines of `two[d]` and, after it, `all[d]`.
    fn of_d(&self, d: usize) -> usize {
        2 * (self.heaps + d)
    }

    /// The line of `one[y]` of a layer.
    fn one(&self, layer: usize) -> usize {
        4 * self.heaps + layer
    }

    /// The lines of `gap[y]` of a layer.
    fn gap(&self, layer: usize) -> usize {
        4 * self.heaps + K + LONG * layer
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
        let next = load(&std::array::from_fn::<u16, 32, _>(|i| (i as u16 + 1) % 32));
        let no_layer = if layers == K { 0 } else { u16::MAX << layers };
        let move_on = |line: &mut [u64; 8]| -> u16 {
            let moved = _mm512_maskz_permutexvar_epi16(u32::MAX >> 1, next, load(line));
            store(line, moved);
            line[0] as u16
        };
        for x in 0..y0 {
            let due = move_on(self.lines.line_mut(2 * x));
            // All differences that would fit are used: so it is for all later layers.
            let gaps = _mm512_or_si512(load(self.lines.line(2 * x + 1)), load(&past));
            let open = _mm512_cmpneq_epi64_mask(gaps, _mm512_set1_epi64(-1));
            self.used[BEHIND + x] = if open == 0 { u16::MAX } else { due | no_layer };
        }
        let mut due = [0; MOST];
        for (d, due) in due.iter_mut().enumerate().take(y0) {
            *due = move_on(self.lines.line_mut(self.of_d(d)));
        }
        for layer in 0..K {
            *self.lines.line_mut(self.one(layer)) = past;
            let at = 16 * self.gap(layer);
            let row = &mut self.lines.halves()[at..][..16 * LONG];
            row.fill(0);
            let bit = _mm512_set1_epi16(1 << layer);
            for (half, due) in row.iter_mut().zip(due[..y0.next_multiple_of(32)].as_chunks::<32>().0) {
                *half = _mm512_test_epi16_mask(load(due), bit);
            }
        }
        for j in 0..layers {
            self.used[BEHIND + y0 + j] = !(u16::MAX << j) | no_layer;
        }
    }

    /// Makes a finished layer the rows of its heap.
    fn leave(&mut self, y0: usize, layer: usize) {
        let (one, gap) = (*self.lines.line(self.one(layer)), *self.lines.line(self.gap(layer)));
        let x = self.of_x(y0 + layer);
        for (row, line) in [one, gap].iter().enumerate() {
            self.lines.line_mut(x + row).iter_mut().zip(line).for_each(|(to, from)| *to |= from);
        }
    }

    /// Lists the unused pairs of a step and searches them; returns how many there are.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn search(&mut self, step: &Step) -> usize {
        let used: &[u16; PAIRS] = self.used[step.front..].first_chunk().expect("all pairs of a step");
        let [low, high] = used.as_chunks::<32>().0 else { unreachable!("64 pairs") };
        let bit = |first: usize| load(&std::array::from_fn::<u16, 32, _>(|i| 1 << (K - 1 - (first + i) / X)));
        let unused = u64::from(_mm512_testn_epi16_mask(load(low), bit(0)))
            | u64::from(_mm512_testn_epi16_mask(load(high), bit(32))) << 32;
        let all = load(&std::array::from_fn::<u8, PAIRS, _>(|i| i as u8));
        store(&mut self.list, _mm512_maskz_compress_epi8(unused, all));
        let pairs = unused.count_ones() as usize;
        for j in 0..pairs {
            self.found[j % PAIRS] = self.first_free(step, usize::from(self.list[j % PAIRS]) % PAIRS);
        }
        pairs
    }

    /// The first free `z - y` of a pair, at least `PLACES` if there is none.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn first_free(&self, step: &Step, i: usize) -> u32 {
        let (layer, d) = (PAIR.layer[i] as usize, step.d - back(i));
        let [one_x, gap_x] = self.lines.pair(self.of_x(step.front + i - BEHIND));
        let [two, all] = self.lines.pair(self.of_d(d));
        let one_y = self.lines.line(self.one(layer));
        let gap_y = load(self.lines.window(64 * self.gap(layer) + d / 8));
        let or3 = |a, b, c| _mm512_ternarylogic_epi64::<0xFE>(a, b, c);
        let (zeros, ones) = (_mm512_setzero_si512(), _mm512_set1_epi64(-1));
        let by = |bits: u64| _mm512_set1_epi64(bits as i64);
        // What is shifted in is past the last heap, and no place of `gap[y]` that matters.
        let by_z = or3(load(one_x), load(two), load(one_y));
        let by_z = _mm512_shrdv_epi64(by_z, _mm512_alignr_epi64::<1>(ones, by_z), by(PAIR.layer[i]));
        let gap_y = _mm512_shrdv_epi64(gap_y, _mm512_alignr_epi64::<1>(zeros, gap_y), by(PAIR.rest[step.d / 4 % 2][i]));
        let free = _mm512_ternarylogic_epi64::<0x01>(by_z, by_z, or3(load(gap_x), load(all), gap_y));
        let words = _mm512_test_epi64_mask(free, free);
        let word = _mm_cvtsi128_si64(_mm512_castsi512_si128(_mm512_maskz_compress_epi64(words, free)));
        64 * u32::from(words).trailing_zeros() + word.trailing_zeros()
    }

    /// Marks what was found for the first `pairs` pairs of the list.
    #[inline]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn mark<S: Sink>(&mut self, step: &Step, pairs: usize, sink: &mut S) {
        let number = |n: usize| _mm512_set1_epi32(n as i32);
        let (add, sub) = (_mm512_add_epi32, _mm512_sub_epi32);
        let mut before = [number(usize::MAX); 2];
        let mut again = usize::MAX;
        for first in (0..pairs).step_by(16) {
            let some = ((1u32 << (pairs - first).min(16)) - 1) as u16;
            let e = load(&self.found.as_chunks::<16>().0[first / 16]);
            let i = widen(&self.list.as_chunks::<16>().0[first / 16]);
            let mut hits = _mm512_mask_cmplt_epu32_mask(some, e, number(PLACES as usize));
            // `k`, `d`, and the three places of the marks.
            let group = _mm512_srli_epi32::<2>(i);
            let k = sub(number(K - 1), group);
            let d = sub(number(step.d), add(i, group));
            let (z, g) = (add(e, k), add(e, d));
            let half = |row: __m512i, place| lanes_of::<u32, 16>(add(row, _mm512_srli_epi32::<5>(place)));
            let bit = |place| lanes_of::<u32, 16>(_mm512_rolv_epi32(number(1), place));
            let row_x = _mm512_slli_epi32::<5>(add(i, number(step.front.wrapping_sub(BEHIND))));
            let row_d = _mm512_slli_epi32::<5>(add(d, number(self.heaps)));
            let one_y = add(_mm512_slli_epi32::<4>(k), number(16 * self.one(0)));
            let gap_y = add(_mm512_slli_epi32::<6>(k), number(16 * self.gap(0)));
            let by_z = [half(row_x, z), half(row_d, z), half(one_y, z)];
            let (gap_x, all) = (half(add(row_x, number(16)), e), half(add(row_d, number(16)), e));
            let gap_y = half(gap_y, g);
            let (bit_z, bit_e, bit_g) = (bit(z), bit(e), bit(g));

            // Pairs of one layer stand within four of each other. Those that took a place again, or may be used by now
            // (`d = 0`: the pair of a heap with itself) are searched again.
            let key = |place| _mm512_mask_or_epi32(number(usize::MAX), hits, place, _mm512_slli_epi32::<16>(k));
            let keys = [key(z), key(g)];
            let mut clash = _mm512_cmpeq_epi32_mask(d, number(0)) | _mm512_cmpeq_epi32_mask(k, number(again));
            for (key, before) in keys.into_iter().zip(before) {
                clash |= _mm512_cmpeq_epi32_mask(key, _mm512_alignr_epi32::<15>(key, before))
                    | _mm512_cmpeq_epi32_mask(key, _mm512_alignr_epi32::<14>(key, before))
                    | _mm512_cmpeq_epi32_mask(key, _mm512_alignr_epi32::<13>(key, before));
            }
            before = keys;
            clash &= hits;
            let near = _mm512_mask_cmplt_epu32_mask(hits, z, number(K));

            let mut todo = hits;
            loop {
                let run = todo & (clash & clash.wrapping_neg()).wrapping_sub(1);
                todo &= !run;
                for j in ones(run & near) {
                    self.mark_near(step, first + j);
                }
                let halves = self.lines.halves();
                for j in ones(run) {
                    for places in &by_z {
                        halves[places[j] as usize] |= bit_z[j];
                    }
                    halves[gap_x[j] as usize] |= bit_e[j];
                    if self.rule == Rule::AllMoves {
                        halves[all[j] as usize] |= bit_e[j];
                    }
                    halves[gap_y[j] as usize] |= bit_g[j];
                }
                if todo == 0 {
                    break;
                }
                let j = todo.trailing_zeros() as usize;
                todo &= todo - 1;
                clash &= clash - 1;
                if !self.search_again(step, first + j) {
                    hits &= !(1 << j);
                }
                // What comes after it in its layer may have taken the place it has now.
                let layer = |j| usize::from(self.list[first + j]) / X;
                again = K - 1 - layer(j);
                if todo != 0 && layer(todo.trailing_zeros() as usize) == layer(j) {
                    clash |= todo & todo.wrapping_neg();
                }
            }
            if sink.tally_mut().is_some() {
                let e = load(&self.found.as_chunks::<16>().0[first / 16]);
                let (x, y) = (add(i, number(step.front.wrapping_sub(BEHIND))), add(k, number(step.y0)));
                let total = add(add(x, y), add(y, e));
                self.sums = lanes_of(_mm512_mask_add_epi32(load(&self.sums), hits, load(&self.sums), total));
                self.positions += u64::from(hits.count_ones());
            } else {
                for j in ones(hits) {
                    let i = usize::from(self.list[first + j]);
                    let y = step.y0 + K - 1 - i / X;
                    sink.push([step.front + i - BEHIND, y, y + self.found[first + j] as usize].map(|heap| heap as u32));
                }
            }
        }
    }

    /// Searches a pair again, with all marks made by now, and marks what is found. Whether there is something.
    #[cold]
    #[target_feature(
        enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq"
    )]
    fn search_again(&mut self, step: &Step, at: usize) -> bool {
        let i = usize::from(self.list[at]);
        let (layer, d) = (K - 1 - i / X, step.d - back(i));
        if self.used[step.front + i] >> layer & 1 == 1 {
            return false;
        }
        let e = self.first_free(step, i);
        if e >= PLACES {
            return false;
        }
        self.found[at] = e;
        let e = e as usize;
        let (x, of_d) = (self.of_x(step.front + i - BEHIND), self.of_d(d));
        let (one_y, gap_y) = (self.one(layer), self.gap(layer));
        let mut mark = |line: usize, place: usize| self.lines.halves()[16 * line + place / 32] |= 1 << (place % 32);
        for line in [x, of_d, one_y] {
            mark(line, e + layer);
        }
        mark(x + 1, e);
        if self.rule == Rule::AllMoves {
            mark(of_d + 1, e);
        }
        mark(gap_y, e + d);
        if e + layer < K {
            self.mark_near(step, at);
        }
        true
    }

    /// The marks of a P-position whose `z` is a layer of the band: two used pairs, and the place in its gaps.
    #[cold]
    fn mark_near(&mut self, step: &Step, at: usize) {
        let i = usize::from(self.list[at]);
        let (layer, d) = (K - 1 - i / X, step.d - back(i));
        let z = self.found[at] as usize + layer;
        self.used[step.front + i] |= 1 << z;
        self.used[BEHIND + step.y0 + layer] |= 1 << z;
        let gap = 16 * self.gap(z);
        self.lines.halves()[gap + d / 32] |= 1 << (d % 32);
    }
}
