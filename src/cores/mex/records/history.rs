//! The values that later heaps may still need.
//!
//! A value is kept as its *code* `63 - v`; 0 means no heap. The ring holds the heaps that moves up to a bound reach, with heap
//! `n` at index `n` modulo its length. The first block is repeated after its end, so 64 codes from any index on are contiguous.
//! Larger moves, up to the limit, reach only the first heaps, which a prefix keeps. The bound is chosen to make ring and prefix
//! together as short as possible.
//!
//! A *packed* history keeps only the last heaps as codes. Moves beyond them read compressed [`chunks`](super::compressed).

use super::compressed::{Chunks, pack, unpack_chunk};
use super::layout::{CHUNK, HistoryLayout, RECENT};
use super::{Output, Records};
use crate::cores::mex::lanes::LANES;
use crate::machine::pages::request_huge_pages;

/// The codes of the heaps that later moves reach.
#[derive(Debug, PartialEq, Eq)]
pub struct History {
    pub(super) layout: HistoryLayout,
    /// The ring, followed by a copy of its first block.
    pub(super) ring: Vec<u8>,
    /// A block of zeros, the prefix, a block of zeros.
    pub(super) prefix: Vec<u8>,
    /// What is packed, in place of a prefix.
    pub(super) chunks: Chunks,
}

impl History {
    pub(super) fn new(layout: HistoryLayout) -> Self {
        let prefix = if layout.prefix > 0 { layout.prefix + 2 * LANES } else { 0 };
        let chunks = Chunks::new(layout.packed.unwrap_or_default());
        let mut history = History { layout, ring: vec![0; layout.ring + LANES], prefix: vec![0; prefix], chunks };
        request_huge_pages(&mut history.ring);
        request_huge_pages(&mut history.prefix);
        history
    }

    /// The index in the ring of heap `n - m`, where `index` is the index of heap `n` and `m` a move that reads the ring.
    #[inline(always)]
    pub fn behind(&self, index: usize, m: usize) -> usize {
        if m <= index { index - m } else { index + self.layout.ring - m }
    }

    /// The codes of the heaps that the move `m` reaches from a block.
    #[inline(always)]
    pub fn codes_behind(&self, index: usize, m: usize) -> &[u8; LANES] {
        self.ring[self.behind(index, m)..].first_chunk().expect("the ring is followed by a block")
    }

    /// The codes of the last heaps before `n`, whose index in the ring is `index`: `most`, or as many as the ring holds.
    pub fn recent(&self, n: usize, index: usize, most: usize) -> Vec<u8> {
        let held = most.min(n).min(self.layout.ring);
        (1..held + 1).rev().map(|m| self.ring[self.behind(index, m)]).collect()
    }

    /// Writes the codes of the block at `n`, whose index in the ring is `index`.
    #[inline(always)]
    pub fn write(&mut self, n: usize, index: usize, codes: &[u8; LANES]) {
        self.ring[index..][..LANES].copy_from_slice(codes);
        if index == 0 {
            self.ring[self.layout.ring..].copy_from_slice(codes);
        }
        if n < self.layout.prefix {
            self.prefix[LANES + n..][..LANES].copy_from_slice(codes);
        }
    }

    /// Packs the chunk at `n`, whose heaps are all done, or all that the run has.
    #[inline(never)]
    pub fn pack(&mut self, n: usize, period: usize, scratch: &mut Vec<u8>) {
        scratch.clear();
        pack(&self.ring[n % RECENT..][..CHUNK], period, scratch);
        self.chunks.push(scratch.as_slice().into());
    }

    /// Restores a chunk, and returns its codes, which stay in the ring until the chunk after the next; `None` if it is
    /// not a chunk.
    pub fn restore(&mut self, chunk: usize, bytes: Box<[u8]>) -> Option<&[u8]> {
        let codes = &mut self.ring[chunk * CHUNK % RECENT..][..CHUNK];
        let is_whole = unpack_chunk(&bytes, codes);
        // Not all chunks before it are kept.
        self.chunks.count = chunk;
        self.chunks.push(bytes);
        is_whole.then_some(codes)
    }

    /// The codes of the block at `n`, which must be one of those [`held`](HistoryLayout::held).
    pub fn block(&self, n: usize) -> &[u8; LANES] {
        let codes = match n < self.layout.prefix {
            true => &self.prefix[LANES + n..],
            false => &self.ring[n % self.layout.ring..],
        };
        codes.first_chunk().expect("both parts end with a block")
    }
}

/// The state of a run, with all it needs to resume.
#[derive(Debug, PartialEq, Eq)]
pub struct Progress {
    pub(super) moves: Vec<usize>,
    pub(super) limit: u64,
    /// The next heap: a multiple of a block, or `limit + 1`.
    pub(super) next: usize,
    pub(super) output: Output,
    pub(super) history: History,
}

impl Progress {
    /// The start of a run, with no heap done.
    pub fn new(input: &Records) -> Self {
        Progress::with_layout(input, HistoryLayout::new(input))
    }

    /// The start of a run over a history of this layout.
    pub(super) fn with_layout(input: &Records, layout: HistoryLayout) -> Self {
        Progress {
            moves: input.moves().to_vec(),
            limit: input.limit(),
            next: 0,
            output: Output::default(),
            history: History::new(layout),
        }
    }

    /// Whether this is progress on `input`.
    pub fn matches(&self, input: &Records) -> bool {
        self.moves == input.moves() && self.limit == input.limit()
    }

    /// Whether the history is packed. Only kernels that pack theirs can continue such a run, and they continue no other.
    pub fn is_packed(&self) -> bool {
        self.history.layout.packed.is_some()
    }

    /// The number of heaps done.
    pub fn done(&self) -> u64 {
        self.next as u64
    }
}
