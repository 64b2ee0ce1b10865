//! Exceptions that wait for a later block of heaps, four bytes each.

/// The bits of a word that say how far the heap of an exception is from that of the one before, if it is near.
const STEP: u32 = 18;
/// In place of a step: the next word is the heap.
const FAR: u32 = (1 << STEP) - 1;
/// The most bits of a place in a block.
const MOST_BITS: u32 = 32 - STEP;

/// The exceptions of each block of `1 << BITS` heaps, in the order in which they were found.
///
/// An exception of heap `n` is kept as `n` and the heap `t` that it changes. The rest follows from the values of the heaps: option
/// `n` of heap `t` has the value of heap `2 n - t` and not that of heap `n`.
pub struct Waiting<const BITS: u32> {
    blocks: Vec<Block>,
    spare: Vec<Box<[u32]>>,
}

#[derive(Clone, Default)]
struct Block {
    pieces: Vec<Box<[u32]>>,
    /// Words that are free in the last piece.
    free: usize,
    /// The heap of the last exception.
    last: u32,
}

impl<const BITS: u32> Waiting<BITS> {
    /// Words of a piece.
    const PIECE: usize = 1 << (BITS - BITS / 4);

    /// For heaps up to `limit`.
    pub fn new(limit: usize) -> Self {
        const { assert!(BITS <= MOST_BITS) };
        Waiting { blocks: vec![Block::default(); (limit >> BITS) + 1], spare: Vec::new() }
    }

    /// Bytes of the lists before the first exception, and of half a piece of each.
    pub fn bytes(limit: usize) -> usize {
        ((limit >> BITS) + 1) * (size_of::<Block>() + 2 * Self::PIECE)
    }

    /// Adds an exception of `heap`, which is no smaller than the heaps before, that changes heap `lands`.
    #[inline(always)]
    pub fn add(&mut self, heap: u32, lands: u32) {
        let block = (lands >> BITS) as usize;
        let place = lands & ((1 << BITS) - 1);
        let step = heap - std::mem::replace(&mut self.blocks[block].last, heap);
        if step >= FAR {
            self.word(block, FAR << MOST_BITS);
            self.word(block, heap);
            self.word(block, place);
        } else {
            self.word(block, step << MOST_BITS | place);
        }
    }

    #[inline(always)]
    fn word(&mut self, block: usize, word: u32) {
        let block = &mut self.blocks[block];
        if block.free == 0 {
            let piece = self.spare.pop().unwrap_or_else(|| vec![0; Self::PIECE].into());
            block.pieces.push(piece);
            block.free = Self::PIECE;
        }
        if let Some(piece) = block.pieces.last_mut() {
            piece[Self::PIECE - block.free] = word;
        }
        block.free -= 1;
    }

    /// Hands on the exceptions of a block, each as its heap and the place in the block of the heap that it changes.
    pub fn take(&mut self, block: usize, mut found: impl FnMut(u32, u32)) {
        let Block { pieces, free, .. } = std::mem::take(&mut self.blocks[block]);
        let words = (pieces.len() * Self::PIECE) - free;
        let (mut heap, mut is_heap) = (0, false);
        for word in pieces.iter().flat_map(|piece| piece.iter().copied()).take(words) {
            if is_heap {
                (heap, is_heap) = (word, false);
            } else if word >> MOST_BITS == FAR {
                is_heap = true;
            } else {
                heap += word >> MOST_BITS;
                found(heap, word & ((1 << MOST_BITS) - 1));
            }
        }
        self.spare.extend(pieces);
    }
}
