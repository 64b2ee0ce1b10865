//! How much of a history is kept, and in which form.

use std::ops::Range;

use super::Records;
use crate::cores::mex::lanes::{LANES, below};

/// Heaps in a tile: one bit of a word for each block.
pub const TILE: usize = 64 * LANES;
/// Heaps in a chunk.
pub const CHUNK: usize = 64 * TILE;
/// Heaps that are kept as codes: those of the chunk that the run is in, and of the one before.
pub const RECENT: usize = 2 * CHUNK;

/// The lengths of the parts of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryLayout {
    /// The number of moves that read the ring. The others read the prefix, or the chunks.
    pub short: usize,
    /// Heaps in the ring, a multiple of a block.
    pub ring: usize,
    /// Heaps in the prefix, a multiple of a block.
    pub prefix: usize,
    /// The chunks that are kept, if the history is packed.
    pub packed: Option<Packed>,
}

/// The chunks that are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    /// The first chunks.
    pub prefix: usize,
    /// The last chunks.
    pub last: usize,
}

impl HistoryLayout {
    /// The shortest layout for an input.
    pub fn new(input: &Records) -> Self {
        let heaps = input.heaps();
        let layout = |short: usize| HistoryLayout {
            short,
            // The block itself and what it reaches, but at most all heaps.
            ring: input.moves()[..short].last().map_or(LANES, |m| m + LANES).min(heaps).next_multiple_of(LANES),
            prefix: input.moves().get(short).map_or(0, |m| heaps - m).next_multiple_of(LANES),
            packed: None,
        };
        let layouts = (0..input.moves().len() + 1).rev().map(layout);
        layouts.min_by_key(|layout| layout.ring + layout.prefix).expect("a layout")
    }

    /// The layout that packs all heaps but the last ones, unless no move reaches beyond those.
    pub fn packed(input: &Records) -> Self {
        let (moves, heaps) = (input.moves(), input.heaps());
        let near = below(moves, RECENT - LANES + 1);
        if near == moves.len() {
            return HistoryLayout::new(input);
        }
        let packed = |short: usize| Packed {
            // A tile more is unpacked than the last move reaches.
            prefix: moves.get(short).map_or(0, |m| (heaps - m + TILE).div_ceil(CHUNK)),
            last: moves[..short].last().map_or(0, |m| m.div_ceil(CHUNK)).max(RECENT / CHUNK),
        };
        let best = (near..moves.len() + 1).rev().map(packed).min_by_key(|packed| packed.prefix + packed.last);
        HistoryLayout { short: near, ring: RECENT, prefix: 0, packed: best }
    }

    /// Bytes of the codes.
    pub fn bytes(&self) -> usize {
        self.ring + self.prefix + 3 * LANES
    }

    /// The heaps of the blocks that a history holds when all heaps before `next` are done, ascending: those of the prefix, then the
    /// last ones, in the ring.
    pub fn held(&self, next: usize) -> [Range<usize>; 2] {
        let done = next.next_multiple_of(LANES);
        let prefix = done.min(self.prefix);
        [0..prefix, prefix.max(done.saturating_sub(self.ring))..done]
    }
}
