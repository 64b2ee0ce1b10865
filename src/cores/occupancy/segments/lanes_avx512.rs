//! The blocks of eight automata at once, each in a lane of 512-bit vectors.
//!
//! Within a span, the registers of all lanes move alike in the rows, apart from the growth of `d`. So the rows are
//! copied side by side, each from where its registers begin: then one number for each lane tells the place in all of
//! them.

use std::arch::x86_64::*;

use super::run::{Extent, Runner, Segment, Spare, none};
use crate::cores::occupancy::automaton::block::{BLOCK, EARLY, PAD, RegisterSet, Registers, Word};
use crate::cores::occupancy::automaton::engine::{BLOCKS, Cursor, OldMarks, SPAN, Span, WORDS};
use crate::cores::occupancy::automaton::plain::Loops;
use crate::cores::occupancy::automaton::totals::{Automaton, Joint};
use crate::cores::occupancy::{Positions, Wanted};
use crate::machine::isa::tier;
use crate::simd::avx512::{collect, lanes_of, load, spread, store};
use crate::simd::bits::WORD;
use crate::simd::{array_of, mapped};

/// Lanes of a vector.
pub const LANES: usize = 8;

/// Bytes by which registers move in a row in a span, besides the growth of `d`: two a block in `used` and, backwards, in
/// `below`; one a block in `sum`; none in `difference`.
const MOVED: usize = BLOCK / 8 * BLOCKS;
/// Bytes that they reach by growth alone: it is two bytes a block at most, and 16 bytes are read at once.
const GROWN: usize = BLOCK / 8 * BLOCKS + 16;

/// Bytes from one row to the next. Growth is kept in a byte, so whatever it is, the place is in the row.
const ROW: usize = MOVED + u8::MAX as usize + 1 + 64;
// Where rows begin.
const USED: usize = 0;
const DIFFERENCE: usize = ROW;
const SUM: [usize; 2] = [2 * ROW, 3 * ROW];
const BELOW: usize = 4 * ROW + MOVED + BLOCK / 8;
/// Bytes of all rows, in whole cache lines and an odd number of them: otherwise lanes share sets of the cache.
const BYTES: usize = 37 * 64;
const _: () = assert!(BYTES >= BELOW + ROW - MOVED && BYTES / 64 % 2 == 1);

/// The rows of eight spans, and what their blocks found besides the marks.
pub struct Found {
    old: [[u8; BYTES]; LANES],
    new: [[u8; BYTES]; LANES],
    /// For each heap, the lanes in which it is used, and those in which it has a lower partner.
    heaps: [[u64; LANES]; WORDS],
    lower: [u8; SPAN],
    /// For each heap, the lower partner in each lane, as in a block. Empty if no positions are kept.
    picks: Vec<[u64; LANES]>,
}

/// Bytes of the spans of one thread.
pub fn bytes() -> f64 {
    (LANES * size_of::<Span>() + size_of::<Found>()) as f64
}

impl Found {
    fn new(with_picks: bool) -> Box<Self> {
        Box::new(Found {
            old: [[0; BYTES]; LANES],
            new: [[0; BYTES]; LANES],
            heaps: [[0; LANES]; WORDS],
            lower: [0; SPAN],
            picks: vec![[0; LANES]; if with_picks { SPAN } else { 0 }],
        })
    }

    /// Whether partners are kept.
    pub fn has_picks(&self) -> bool {
        !self.picks.is_empty()
    }

    /// Takes the old marks of a span. False if the registers are too near the ends of its rows.
    fn take(&mut self, lane: usize, span: &Span) -> bool {
        let at = span.cursor;
        if !at.is_roomy() {
            return false;
        }
        for (heaps, word) in self.heaps.iter_mut().zip(span.heaps) {
            heaps[lane] = word;
        }
        let OldMarks { used: [used], difference: [difference], sum, below } = &span.old;
        let row = &mut self.old[lane];
        row[USED..][..MOVED + GROWN].copy_from_slice(used.bytes::<{ MOVED + GROWN }>(at.used));
        row[DIFFERENCE..][..GROWN].copy_from_slice(difference.bytes::<GROWN>(at.difference));
        for (to, sum) in SUM.iter().zip(sum) {
            row[*to..][..BLOCKS + GROWN].copy_from_slice(sum.bytes::<{ BLOCKS + GROWN }>(at.sum));
        }
        const BACK: usize = MOVED + BLOCK / 8;
        row[BELOW - BACK..][..BACK + GROWN].copy_from_slice(below.bytes::<{ BACK + GROWN }>(at.below - BACK));
        true
    }

    /// Gives the complete marks to a span, given by how many bytes `d` grew: up to those of the last block.
    fn give(&self, lane: usize, span: &mut Span, grown: usize) {
        let (row, at) = (&self.new[lane], span.cursor);
        let [used, sum @ ..] = &mut span.new;
        used.replace(at.used, &row[USED..][..MOVED + grown + 6]);
        for (from, sum) in SUM.iter().zip(sum) {
            sum.replace(at.sum, &row[*from..][..BLOCKS + grown + 7]);
        }
        span.cursor = at.after(BLOCKS, grown);
    }

    /// Step `j` of a block, and what it finds.
    #[inline]
    #[tier(Avx512)]
    fn step<const PICKS: bool>(&mut self, lanes: &mut Lanes, heaps: __m512i, block: usize, j: usize) {
        let [open, minus] = lanes.step(heaps, j);
        self.lower[BLOCK * block + j] = _mm512_test_epi64_mask(open, open);
        if PICKS {
            store(&mut self.picks[BLOCK * block + j], _mm512_and_si512(open, minus));
        }
    }

    /// Which heaps have a lower partner, in each lane.
    #[inline]
    #[tier(Avx512)]
    pub fn lower(&self) -> [[u64; WORDS]; LANES] {
        let mut lower = [[0; WORDS]; LANES];
        let (words, _) = self.lower.as_chunks::<WORD>();
        for (i, bytes) in words.iter().enumerate() {
            let bytes = load(bytes);
            macro_rules! lanes {
                ($($lane:literal)*) => {$(
                    lower[$lane][i] = _mm512_movepi8_mask(_mm512_slli_epi16::<{ 7 - $lane }>(bytes));
                )*};
            }
            lanes!(0 1 2 3 4 5 6 7);
        }
        lower
    }

    /// The lower partner of a heap, where these were kept.
    #[inline(always)]
    fn pick(&self, heap: usize, lane: usize) -> u64 {
        self.picks.get(heap).map_or(0, |picks| picks[lane])
    }
}

/// The registers of eight lanes. `free` is `difference` inverted, so that zeros come in from below.
#[derive(Clone, Copy)]
struct Lanes {
    used: __m512i,
    free: __m512i,
    twice: __m512i,
    late: __m512i,
    even: __m512i,
    odd: __m512i,
}

impl Lanes {
    #[inline]
    #[tier(Avx512)]
    fn new(windows: [RegisterSet<u64>; LANES]) -> Self {
        let mut rows = [[0; LANES]; 6];
        for (lane, window) in windows.iter().enumerate() {
            let RegisterSet { used, difference, twice, late, sum: [even, odd] } = *window;
            for (row, word) in rows.iter_mut().zip([used, !difference, twice, late, even, odd]) {
                row[lane] = word;
            }
        }
        let [used, free, twice, late, even, odd] = mapped(rows, |row| load(&row));
        Lanes { used, free, twice, late, even, odd }
    }

    /// The registers of each lane.
    #[inline]
    #[tier(Avx512)]
    fn windows(self) -> [RegisterSet<u64>; LANES] {
        let [used, free, twice, late, even, odd]: [[u64; LANES]; 6] =
            mapped([self.used, self.free, self.twice, self.late, self.even, self.odd], lanes_of);
        array_of(|i| RegisterSet {
            used: used[i],
            difference: !free[i],
            twice: twice[i],
            late: late[i],
            sum: [even[i], odd[i]],
        })
    }

    /// Adds old marks.
    #[inline]
    #[tier(Avx512)]
    fn with(self, old: Lanes) -> Self {
        Lanes {
            used: _mm512_or_si512(self.used, old.used),
            free: _mm512_and_si512(self.free, old.free),
            twice: _mm512_or_si512(self.twice, old.twice),
            late: _mm512_or_si512(self.late, old.late),
            even: _mm512_or_si512(self.even, old.even),
            odd: _mm512_or_si512(self.odd, old.odd),
        }
    }

    /// Takes the lanes in a mask from `other`.
    #[inline]
    #[tier(Avx512)]
    fn replace(&mut self, lanes: u8, other: Lanes) {
        self.used = _mm512_mask_mov_epi64(self.used, lanes, other.used);
        self.free = _mm512_mask_mov_epi64(self.free, lanes, other.free);
        self.twice = _mm512_mask_mov_epi64(self.twice, lanes, other.twice);
        self.late = _mm512_mask_mov_epi64(self.late, lanes, other.late);
        self.even = _mm512_mask_mov_epi64(self.even, lanes, other.even);
        self.odd = _mm512_mask_mov_epi64(self.odd, lanes, other.odd);
    }

    /// The lanes in which 64 bits are too narrow for a block.
    #[inline]
    #[tier(Avx512)]
    fn too_narrow(&self) -> u8 {
        _mm512_cmplt_epu64_mask(self.twice, _mm512_set1_epi64(-1 << <u64 as Word>::REACH))
    }

    /// How far `d` may grow, given the registers after `EARLY` steps.
    #[inline]
    #[tier(Avx512)]
    fn growth(&self) -> __m512i {
        let all = |bits: i64| _mm512_testn_epi64_mask(self.free, _mm512_set1_epi64(bits << (PAD + EARLY)));
        _mm512_mask_mov_epi64(_mm512_maskz_set1_epi64(all(0xff), 8), all(0xffff), _mm512_set1_epi64(16))
    }

    /// Step `j` of a block. Returns the candidates, and the same negated: the pick is in both.
    #[inline]
    #[tier(Avx512)]
    fn step(&mut self, heaps: __m512i, j: usize) -> [__m512i; 2] {
        let sums = if j.is_multiple_of(2) { self.even } else { self.odd };
        let unused = _mm512_testn_epi64_mask(heaps, _mm512_set1_epi64(1 << j));
        let open = _mm512_ternarylogic_epi64::<0x10>(self.free, self.used, self.twice);
        let open = _mm512_maskz_ternarylogic_epi64::<0x30>(unused, open, sums, sums);
        let minus = _mm512_sub_epi64(_mm512_setzero_si512(), open);
        let marked = |row| _mm512_ternarylogic_epi64::<0xf8>(row, open, minus);
        let free = _mm512_ternarylogic_epi64::<0x70>(self.free, open, minus);
        let sums = marked(sums);
        let sums = _mm512_add_epi64(sums, sums);
        self.used = marked(self.used);
        self.free = _mm512_add_epi64(free, free);
        self.twice = _mm512_slli_epi64::<2>(marked(self.twice));
        if j.is_multiple_of(2) {
            self.even = sums;
        } else {
            self.odd = sums;
        }
        [open, minus]
    }

    /// [`RegisterSet::next`].
    #[inline]
    #[tier(Avx512)]
    fn next(self, growth: __m512i) -> Self {
        let by = _mm512_add_epi64(growth, _mm512_set1_epi64(BLOCK as i64));
        Lanes {
            used: _mm512_srlv_epi64(self.used, by),
            // Inverted, so ones come in from above.
            free: _mm512_shrdv_epi64(self.free, _mm512_set1_epi64(-1), by),
            twice: _mm512_srav_epi64(self.twice, by),
            late: _mm512_srav_epi64(self.twice, growth),
            even: _mm512_srlv_epi64(self.even, by),
            odd: _mm512_srlv_epi64(self.odd, by),
        }
    }
}

/// Runs the blocks of the prepared spans. Returns the lanes whose state is still valid: others came to a window that is
/// too wide, and what they find is to be ignored.
#[inline]
#[tier(Avx512)]
pub fn blocks<const PICKS: bool>(automata: &mut [Automaton; LANES], found: &mut Found) -> u8 {
    let mut alive = 0;
    let mut windows = [RegisterSet { used: 0, difference: 0, twice: u64::MAX, late: u64::MAX, sum: [0; 2] }; LANES];
    for (lane, automaton) in automata.iter().enumerate() {
        if let Registers::Narrow(window) = automaton.engine.registers
            && found.take(lane, &automaton.engine.span)
        {
            windows[lane] = window;
            alive |= 1 << lane;
        }
    }
    let taken = alive;
    let mut lanes = Lanes::new(windows);
    let mut grown = [0; LANES];
    for block in 0..BLOCKS {
        let heaps = &found.heaps[block / (WORD / BLOCK)];
        let heaps = _mm512_srlv_epi64(load(heaps), _mm512_set1_epi64((BLOCK * block % WORD) as i64));
        let below = BELOW - BLOCK / 8 * block;
        lanes = lanes.with(Lanes {
            used: collect(&found.old, USED + BLOCK / 8 * block, grown),
            free: _mm512_xor_si512(collect(&found.old, DIFFERENCE, grown), _mm512_set1_epi64(-1)),
            twice: collect(&found.old, below, grown),
            late: collect(&found.old, below - BLOCK / 8, grown),
            even: collect(&found.old, SUM[0] + block, grown),
            odd: collect(&found.old, SUM[1] + block, grown),
        });
        let before = lanes;
        macro_rules! steps {
            ($($j:literal)*) => {$(found.step::<PICKS>(&mut lanes, heaps, block, $j);)*};
        }
        steps!(0 1 2 3 4 5 6 7);
        lanes.twice = _mm512_or_si512(lanes.twice, lanes.late);
        steps!(8 9 10 11);
        let growth = lanes.growth();
        steps!(12 13 14 15);
        // The complete marks; a span keeps them in the same way.
        spread(&mut found.new, USED + BLOCK / 8 * block, grown, lanes.used);
        spread(&mut found.new, SUM[0] + block, grown, _mm512_srli_epi64::<{ BLOCK as u32 / 2 }>(lanes.even));
        spread(&mut found.new, SUM[1] + block, grown, _mm512_srli_epi64::<{ BLOCK as u32 / 2 }>(lanes.odd));
        let mut bytes = bytes_of(_mm512_srli_epi64::<3>(growth));
        lanes = lanes.next(growth);
        if PICKS {
            for (lane, automaton) in automata.iter_mut().enumerate() {
                let span = &mut *automaton.engine.span;
                span.begins[block] = span.cursor.after(block, usize::from(grown[lane])).used;
            }
        }

        let wide = before.too_narrow() & alive;
        if wide != 0 {
            let (before, mut windows, used) = (before.windows(), lanes.windows(), lanes_of::<u64, LANES>(heaps));
            for lane in 0..LANES {
                if wide >> lane & 1 == 0 {
                    continue;
                }
                let span = &mut automata[lane].engine.span;
                let cursor = span.cursor.after(block, usize::from(grown[lane]));
                match wide_block(found, [block, lane], span, cursor, before[lane], used[lane] as u16) {
                    Some((window, growth)) => (windows[lane], bytes[lane]) = (window, growth),
                    None => alive &= !(1 << lane),
                }
            }
            lanes.replace(wide, Lanes::new(windows));
        }
        grown = array_of(|lane| grown[lane] + bytes[lane]);
    }
    let windows = lanes.windows();
    for (lane, automaton) in automata.iter_mut().enumerate() {
        if taken >> lane & 1 == 1 {
            automaton.engine.registers = Registers::Narrow(windows[lane]);
            found.give(lane, &mut automaton.engine.span, usize::from(grown[lane]));
        }
    }
    alive
}

/// Runs a block of one lane again, in 128 bits. Returns the registers after it, and by how many bytes `d` grew.
#[cold]
fn wide_block(
    found: &mut Found,
    [block, lane]: [usize; 2],
    span: &mut Span,
    cursor: Cursor,
    window: RegisterSet<u64>,
    used: u16,
) -> Option<(RegisterSet<u64>, u8)> {
    let (window, growth, picks) = span.wide_block(cursor, Registers::Narrow(window).wide(), used)?;
    for (j, pick) in picks.into_iter().enumerate() {
        let heap = BLOCK * block + j;
        found.lower[heap] = found.lower[heap] & !(1 << lane) | u8::from(pick != 0) << lane;
        if let Some(picks) = found.picks.get_mut(heap) {
            picks[lane] = pick;
        }
    }
    // `Span::wide_block` kept the marks in the rows of the span.
    let (row, grown) = (&mut found.new[lane], cursor.used - span.cursor.used - BLOCK / 8 * block);
    let places = [(USED + BLOCK / 8 * block, cursor.used), (SUM[0] + block, cursor.sum), (SUM[1] + block, cursor.sum)];
    for (marks, (to, from)) in span.new.iter().zip(&places) {
        row[to + grown..][..8].copy_from_slice(marks.bytes::<8>(*from));
    }
    Some((window, (growth / 8) as u8))
}

/// The low byte of each lane.
#[inline]
#[tier(Avx512)]
fn bytes_of(v: __m512i) -> [u8; LANES] {
    _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(v)).to_le_bytes()
}

/// Runs segments in lanes.
pub struct InLanes {
    /// For automata that run alone, and for the spans of all.
    pub loops: Loops,
    /// [`blocks`]
    pub blocks: fn(&mut [Automaton; LANES], &mut Found) -> u8,
    /// [`Found::lower`]
    pub lower: fn(&Found) -> [[u64; WORDS]; LANES],
}

impl Runner for InLanes {
    fn lanes(&self) -> usize {
        LANES
    }

    fn loops(&self) -> &Loops {
        &self.loops
    }

    fn together(
        &self,
        from: &[Joint],
        Extent { limit, warm_up, heaps, queues }: Extent<'_>,
        spare: &mut Spare,
        sink: Positions,
    ) -> Vec<Option<Segment>> {
        let mut automata = Vec::with_capacity(LANES);
        for joint in from {
            let Some(mut automaton) = Automaton::at(limit, joint, queues, spare.span()) else { return none(LANES) };
            automaton.new = spare.marks.pop().unwrap_or_default();
            automaton.new.reserve(warm_up + heaps);
            automata.push(automaton);
        }
        let Some(lanes) = automata.first_chunk_mut::<LANES>() else { return none(LANES) };
        let mut sinks = Vec::with_capacity(LANES);
        sinks.resize_with(LANES, || sink.fork());
        let mut idle = Positions::new(&Wanted::Totals);
        let mut found = Found::new(sink.keeps());
        let mut alive = u8::MAX;
        let mut begins = Vec::with_capacity(LANES);
        for at in (0..warm_up + heaps).step_by(SPAN) {
            if at == warm_up {
                for automaton in &mut *lanes {
                    begins.push(automaton.joint());
                    automaton.new.clear();
                }
            }
            for automaton in &mut *lanes {
                if (self.loops.prepare)(&mut automaton.engine, queues).is_none() {
                    return none(LANES);
                }
            }
            alive &= (self.blocks)(lanes, &mut found);
            let lower = (self.lower)(&found);
            for (lane, automaton) in lanes.iter_mut().enumerate() {
                let sink = if at < warm_up { &mut idle } else { &mut sinks[lane] };
                automaton.finish_lower(&lower[lane], &|_, heap| found.pick(heap, lane), sink, &self.loops);
            }
        }
        let mut segments = Vec::with_capacity(LANES);
        for (lane, ((begin, automaton), sink)) in begins.into_iter().zip(automata).zip(sinks).enumerate() {
            let segment = Segment { begin, end: automaton.joint(), marks: automaton.new, sink };
            spare.spans.push(automaton.engine.span);
            segments.push((alive >> lane & 1 == 1).then_some(segment));
        }
        segments
    }
}
