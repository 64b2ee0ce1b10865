//! A driver over a history: [`drive`] goes through blocks of 64 heaps, and [`LaneBlocks`] computes each block as lanes.
//!
//! *Far part.* Moves of at least 64 reach finished blocks. Their codes are decoded to one-hot bits as in
//! [`lanes`](crate::cores::mex::lanes), with one window of 63 values.
//!
//! *Chain.* Moves below 64 reach the block itself or the one before. The one-hot words of the last three heaps are in
//! registers, so moves 1, 2 and 3 do not wait for a store. Those of the last two blocks are in memory. Each heap isolates its
//! lowest free value, two operations after the previous heap.

use std::sync::Arc;

use super::compressed::{MOST_BYTES, Readers, room};
use super::history::{History, Progress};
use super::layout::{CHUNK, HistoryLayout, TILE};
use super::{Journal, Output, Records, Start};
use crate::cores::mex::lanes::{APART, Decoder, LANES, PLANES, Planes, Sources, WINDOW, act_apart, below};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// A run ends if its chunks take more bytes than this, and more than was foreseen.
const CHECKED: f64 = 67_108_864.0;
/// Why a run over a packed history ends early.
const OUTGROWN: &str = "the values compress less than was foreseen, and their history would not fit in the memory that was \
                        checked; use another kernel";

/// The position of a block, and what is unpacked for it.
#[derive(Clone, Copy)]
pub struct Position<'a> {
    /// Its first heap.
    pub n: usize,
    /// The index of that heap in the ring.
    pub index: usize,
    /// The number of values that occur before it.
    pub values: usize,
    /// What moves beyond a packed history's window reach from its tile.
    pub unpacked: &'a [u8],
}

/// Computes blocks.
pub trait Blocks {
    /// Computes the codes of a block. Heaps beyond the limit may get any code.
    fn block(&mut self, history: &History, block: Position, codes: &mut [u8; LANES]);

    /// The period by which most blocks repeat; 0 if none is known.
    fn period(&self) -> usize {
        0
    }
}

/// Goes through the blocks from the start of the run, with a history of this layout. Inlined into kernels, with the blocks, which have
/// the CPU features of their tier; what is done once a chunk is apart.
#[inline(always)]
pub fn drive(
    input: &Records,
    layout: HistoryLayout,
    run: &Run,
    start: Start,
    blocks: &mut impl Blocks,
) -> Result<Output, RunError> {
    let mut state = State::new(input, layout, run, start)?;
    let mut codes = [0; LANES];
    while state.progress.next < state.heaps {
        let Progress { next, output, history, .. } = &mut state.progress;
        let from = *next;
        let end = state.heaps.min(from + CHUNK);
        let mut index = from % history.layout.ring;
        for n in (from..end).step_by(LANES) {
            if n % TILE == 0 || n == from {
                state.readers.advance(&history.chunks, n);
            }
            let block = Position { n, index, values: output.first.len(), unpacked: &state.readers.codes };
            blocks.block(history, block, &mut codes);
            if state.heaps - n < LANES {
                codes[state.heaps - n..].fill(0);
            }
            history.write(n, index, &codes);
            output.add(n, &codes);
            index += LANES;
            if index == history.layout.ring {
                index = 0;
            }
        }
        state.end_chunk(end, blocks.period())?;
    }
    Ok(state.progress.output)
}

struct State<'a> {
    run: &'a Run,
    progress: Progress,
    journal: Option<Arc<dyn Journal>>,
    heaps: usize,
    readers: Readers,
    /// The bytes that chunks may take, if the history is packed.
    room: Option<f64>,
    scratch: Vec<u8>,
}

impl<'a> State<'a> {
    #[inline(never)]
    fn new(input: &Records, layout: HistoryLayout, run: &'a Run, start: Start) -> Result<Self, RunError> {
        let Start { from, journal } = start;
        let progress = from.unwrap_or_else(|| Progress::with_layout(input, layout));
        if !progress.matches(input) || progress.history.layout != layout {
            return Err(RunError::OutsideDomain);
        }
        run.advance(progress.done())?;
        let room = layout.packed.map(|packed| room(input, packed).max(CHECKED));
        Ok(State {
            run,
            progress,
            journal,
            heaps: input.heaps(),
            readers: Readers::new(Readers::moves(&layout, input.moves())),
            room,
            scratch: Vec::with_capacity(room.map_or(0, |_| MOST_BYTES)),
        })
    }

    /// Counts the heaps up to `end`, packs and saves them.
    #[inline(never)]
    fn end_chunk(&mut self, end: usize, period: usize) -> Result<(), RunError> {
        let from = self.progress.next;
        self.progress.next = end;
        let mut is_outgrown = false;
        if let Some(room) = self.room {
            let history = &mut self.progress.history;
            history.pack(from, period, &mut self.scratch);
            is_outgrown = history.chunks.bytes as f64 > room;
        }
        let stop = self.run.advance((end - from) as u64);
        if let Some(journal) = &self.journal {
            journal.keep(&self.progress, stop.is_err() || is_outgrown);
        }
        stop?;
        if is_outgrown { Err(RunError::GaveUp(OUTGROWN)) } else { Ok(()) }
    }
}

/// Computes blocks as lanes.
pub struct LaneBlocks<'a> {
    decoder: &'static dyn Decoder,
    far: Far<'a>,
    chain: Chain,
}

impl<'a> LaneBlocks<'a> {
    pub fn new(input: &'a Records, layout: &HistoryLayout, decoder: &'static dyn Decoder) -> Self {
        LaneBlocks { decoder, far: Far::new(input, layout), chain: Chain::new(near(input)) }
    }
}

/// The moves shorter than a block.
pub fn near(input: &Records) -> &[usize] {
    &input.moves()[..below(input.moves(), LANES)]
}

/// The moves of at least a block: those that read the ring, and those that read the prefix or the chunks.
pub struct Far<'a> {
    pub ring: &'a [usize],
    prefix: &'a [usize],
    /// In a packed history, where the unpacked codes of each of the latter begin.
    unpacked: Vec<usize>,
    /// The number of moves that read the ring without wrapping, and that are legal in the block, as of the last block.
    unwrapped: usize,
    legal: usize,
}

impl<'a> Far<'a> {
    pub fn new(input: &'a Records, layout: &HistoryLayout) -> Self {
        let (ring, prefix) = input.moves().split_at(layout.short);
        let ring = &ring[below(ring, LANES)..];
        let unpacked = Readers::offsets(Readers::moves(layout, input.moves()));
        Far { ring, prefix, unpacked, unwrapped: 0, legal: 0 }
    }

    /// Splits off the moves of at least this many blocks, which lead from none of so many consecutive blocks to
    /// another.
    pub fn split(self, blocks: usize) -> [Self; 2] {
        let (close, ring) = self.ring.split_at(below(self.ring, blocks * LANES));
        [Far { ring: close, prefix: &[], unpacked: Vec::new(), ..self }, Far { ring, ..self }]
    }

    /// Whether [`add`](Far::add) may add this many blocks at once.
    #[inline(always)]
    pub fn can_add(&self, history: &History, Position { n, index, .. }: Position, blocks: usize) -> bool {
        let (heaps, last) = (blocks * LANES, index + (blocks - 1) * LANES);
        let is_wrapping = |m: &usize| index < *m && *m <= last;
        n % TILE + heaps <= TILE
            && index + heaps <= history.layout.ring
            && !self.ring.iter().any(is_wrapping)
            && (!self.unpacked.is_empty() || self.prefix.first().is_none_or(|m| *m >= n + heaps))
    }

    /// Adds the first `planes` planes of the values that the moves reach from the block, and from those after it if there are hits
    /// for more than one.
    #[inline(always)]
    pub fn add(
        &mut self,
        history: &History,
        Position { n, index, unpacked, .. }: Position,
        planes: usize,
        hits: &mut [Planes],
        decoder: &dyn Decoder,
    ) {
        update(&mut self.unwrapped, self.ring, index);
        update(&mut self.legal, self.prefix, n + hits.len() * LANES - 1);
        let (before, wrapped) = self.ring.split_at(self.unwrapped);
        decoder.add(&Sources::new(&history.ring, index), before, planes, hits);
        if !wrapped.is_empty() {
            decoder.add(&Sources::new(&history.ring, index + history.layout.ring), wrapped, planes, hits);
        }
        if self.legal > 0 {
            let (sources, moves) = match self.unpacked.is_empty() {
                true => (Sources::new(&history.prefix, LANES + n), self.prefix),
                false => (Sources::new(unpacked, unpacked.len() + n % TILE), self.unpacked.as_slice()),
            };
            decoder.add(&sources, &moves[..self.legal], planes, hits);
        }
    }
}

/// Updates the number of moves up to `most`, which changes rarely from block to block.
#[inline(always)]
fn update(below: &mut usize, moves: &[usize], most: usize) {
    if *below > 0 && moves[*below - 1] > most {
        *below = 0;
    }
    while moves.get(*below).is_some_and(|m| *m <= most) {
        *below += 1;
    }
}

impl Blocks for LaneBlocks<'_> {
    #[inline(always)]
    fn block(&mut self, history: &History, block: Position, codes: &mut [u8; LANES]) {
        let Position { n, index, values, .. } = block;
        let planes = values.div_ceil(PLANES);
        let mut hits: [Planes; 1] = [[[0; LANES]; PLANES]];
        self.far.add(history, block, planes, &mut hits, self.decoder);
        if self.chain.next != n {
            self.chain.resume(n, history, index);
        }
        self.decoder.free_words(&hits[0], &mut self.chain.free);
        self.chain.resolve(codes);
    }
}

/// The moves within a block and to the one before.
struct Chain {
    /// The first heap of the next block.
    next: usize,
    /// For 1, 2 and 3, all ones if it is a move, else 0.
    close: [u64; 3],
    /// Moves from 4 to 15, and moves from 16 on, which can act on eight heaps at once.
    middle: Vec<usize>,
    apart: Vec<usize>,
    /// One-hot values: a block of zeros, the last block, the current one.
    own: [u64; 3 * LANES],
    /// For each heap of the current block, the values that no far move reaches.
    free: [u64; LANES],
}

/// The index in [`Chain::own`] where the current block begins.
const CURRENT: usize = 2 * LANES;

impl Chain {
    fn new(moves: &[usize]) -> Self {
        let is_move = |m| if moves.contains(&m) { u64::MAX } else { 0 };
        let within = |from, to| moves[below(moves, from)..below(moves, to)].to_vec();
        Chain {
            next: 0,
            close: [is_move(1), is_move(2), is_move(3)],
            middle: within(4, APART),
            apart: within(APART, LANES),
            own: [0; 3 * LANES],
            free: [0; LANES],
        }
    }

    /// Restores the chain from the history, for a run that resumes at this block.
    #[inline(never)]
    fn resume(&mut self, n: usize, history: &History, index: usize) {
        let last = &history.ring[history.behind(index, LANES)..][..LANES];
        for (own, code) in self.own[LANES..CURRENT].iter_mut().zip(last) {
            *own = if *code == 0 { 0 } else { 1 << (WINDOW - usize::from(*code)) };
        }
        self.next = n;
    }

    #[inline(always)]
    fn resolve(&mut self, codes: &mut [u8; LANES]) {
        match (self.close[0] != 0, middle_at_most(self.middle.len())) {
            (true, 0) => self.resolve_with::<true, 0>(codes),
            (true, 1) => self.resolve_with::<true, 1>(codes),
            (true, 3) => self.resolve_with::<true, 3>(codes),
            (true, _) => self.resolve_with::<true, { APART - 4 }>(codes),
            (false, 0 | 1) => self.resolve_with::<false, 1>(codes),
            (false, 3) => self.resolve_with::<false, 3>(codes),
            (false, _) => self.resolve_with::<false, { APART - 4 }>(codes),
        }
        self.own.copy_within(CURRENT.., LANES);
        self.next += LANES;
    }

    /// Finds the values of a block, in order. `ONE`: 1 is a move. There are at most `M` middle moves.
    #[inline(always)]
    fn resolve_with<const ONE: bool, const M: usize>(&mut self, codes: &mut [u8; LANES]) {
        // Unused entries are moves of two blocks, which lead to zeros.
        let mut middle = [0; M];
        for (to, m) in middle.iter_mut().zip(&self.middle) {
            *to = CURRENT - m;
        }
        let [_, two, three] = self.close;
        let [mut third, mut second, mut first] = *self.own[..CURRENT].last_chunk().expect("three heaps");
        self.apart(0);
        for group in 0..LANES / 8 {
            // The `apart` moves of the next group: what they read has been stored for a while by the time it is needed.
            if group < LANES / 8 - 1 {
                self.apart(group + 1);
            }
            for (i, code) in (8 * group..).zip(&mut codes[8 * group..][..8]) {
                let mut reached = 0;
                for m in &middle {
                    reached |= self.own[m + i];
                }
                let open = self.free[i] & !reached & !(third & three) & !(second & two);
                let open = if ONE { open & !first } else { open };
                let own = open & open.wrapping_neg();
                self.own[CURRENT + i] = own;
                *code = own.leading_zeros() as u8;
                (third, second, first) = (second, first, own);
            }
        }
    }

    /// Removes what the `apart` moves reach from the free values of a group of eight heaps.
    #[inline(always)]
    fn apart(&mut self, group: usize) {
        act_apart(&self.apart, &self.own, CURRENT + 8 * group, &mut self.free[8 * group..]);
    }
}

/// The number of middle moves that the chain is compiled for. Loops over a known number of moves are unrolled.
fn middle_at_most(moves: usize) -> usize {
    match moves {
        0 | 1 => moves,
        2 | 3 => 3,
        _ => APART - 4,
    }
}

const NS_PER_RUN: f64 = 300.0;

/// Rates: the ns of a heap, and of a heap and legal move.
pub fn cost(input: &Records, _: CostContext, [heap, step]: [f64; 2]) -> Cost {
    let ns = heap * input.heaps() as f64 + step * pairs(input) + NS_PER_RUN;
    let bytes = HistoryLayout::new(input).bytes() as f64;
    Cost { ns, bytes }.only_if(input.moves.is_some() && input.continues_packed != Some(true))
}

/// The number of pairs of a heap and a legal move.
pub fn pairs(input: &Records) -> f64 {
    input.moves().iter().map(|m| (input.heaps() - m) as f64).sum()
}

pub mod ring_lanes {
    //! Lanes over a history.
    //!
    //! Cost: for each far move and 64 heaps, the decode of the tier's [`lanes`](crate::cores::mex::lanes); a chain of two operations
    //! per heap.
    //! Bound: in plain Rust, the decode; else the chain, and what it waits for. If a far
    //! move is shorter than two blocks, a block's far part waits for the codes of the previous block.

    use super::*;

    /// The chain with AVX-512: for a heap, for each middle move, and for each move apart; and for a run.
    const NS_PER_HEAP: f64 = 1.6;
    const NS_PER_MIDDLE: f64 = 0.25;
    const NS_PER_APART: f64 = 0.15;
    const NS_PER_RUN: f64 = 150.0;

    /// Rates: the time of the chain relative to AVX-512, and the ns of a far move for a heap.
    pub fn cost(input: &Records, context: CostContext, [chain, step]: [f64; 2]) -> Cost {
        let within = |from, to| below(input.moves(), to) - below(input.moves(), from);
        let middle = NS_PER_MIDDLE * middle_at_most(within(4, APART)) as f64;
        let heap = chain * (NS_PER_HEAP + middle + NS_PER_APART * within(APART, LANES) as f64);
        let Cost { ns, bytes } = super::cost(input, context, [heap + step * within(LANES, usize::MAX) as f64, 0.0]);
        Cost { ns: ns + NS_PER_RUN, bytes }
    }

    /// The chain: each heap waits for the previous one.
    pub fn needs(_: &Records) -> Needs {
        Needs { cycles: 2.0, ..Needs::default() }
    }

    #[inline(always)]
    pub fn run(input: &Records, run: &Run, start: Start, decoder: &'static dyn Decoder) -> Result<Output, RunError> {
        let layout = HistoryLayout::new(input);
        drive(input, layout, run, start, &mut LaneBlocks::new(input, &layout, decoder))
    }
}
