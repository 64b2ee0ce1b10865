//! A compressed history: what repeats with a period takes a bit or two per block.
//!
//! Codes are packed in *chunks*, once all heaps of a chunk are done. A chunk can be unpacked without the one before, a
//! *tile* of 64 blocks at a time. A block is one of four kinds: it repeats the codes one period before; it does so but
//! for some heaps, given by a mask and their values; values below 16 in half a byte each; or its codes. A value given
//! with a mask also holds in the periods after it.
//!
//! Each move beyond the window reads the chunks in order, at its distance behind the run. A [`Reader`] unpacks one tile for each
//! tile of the run, and keeps two, because a move need not be a multiple of a tile.

use super::Records;
use super::layout::{CHUNK, HistoryLayout, Packed, TILE};
use crate::cores::mex::lanes::{LANES, PLANES, WINDOW, below};
use crate::simd::array_of;

/// The longest period.
pub const LONGEST: usize = 2 * LANES;
/// The most bytes of a chunk.
pub const MOST_BYTES: usize = CHUNK / TILE * HEAD + CHUNK;

/// Bytes at the beginning of a tile: the period, and two words that hold the kinds of its blocks.
const HEAD: usize = 17;
/// Values below this take half a byte.
const SMALL: u8 = 16;
/// The bytes of a block in halves, and of a mask.
const HALVES: usize = LANES / 2;
const MASK: usize = LANES / 8;

/// Whether the value of a code takes half a byte.
pub fn is_small(code: u8) -> bool {
    code > WINDOW as u8 - SMALL
}

/// Packs a chunk. With a period of 0, no block is taken to repeat anything.
pub fn pack(codes: &[u8], period: usize, to: &mut Vec<u8>) {
    for tile in (0..codes.len()).step_by(TILE) {
        let head = to.len();
        to.extend([0; HEAD]);
        let [mut low, mut high] = [0u64; 2];
        for b in 0..TILE / LANES {
            let at = tile + b * LANES;
            let block: &[u8; LANES] = codes[at..].first_chunk().expect("whole blocks");
            // Nothing before the chunk is read.
            let before = (0 < period && period <= at).then(|| codes[at - period..].first_chunk().expect("a block"));
            let mut mask = before.map_or(u64::MAX, |before| differing(block, before));
            if mask == 0 {
                continue;
            }
            let is_small = is_small(block.iter().fold(u8::MAX, |least, code| least.min(*code)));
            if is_small && MASK + mask.count_ones().div_ceil(2) as usize <= HALVES {
                low |= 1 << b;
                to.extend(mask.to_le_bytes());
                while mask != 0 {
                    let low = next_one(&mut mask).map_or(0, |i| WINDOW as u8 - block[i]);
                    let high = next_one(&mut mask).map_or(0, |i| WINDOW as u8 - block[i]);
                    to.push(low | high << 4);
                }
            } else if is_small {
                high |= 1 << b;
                for i in 0..HALVES {
                    to.push((WINDOW as u8 - block[i]) | (WINDOW as u8 - block[HALVES + i]) << 4);
                }
            } else {
                (low, high) = (low | 1 << b, high | 1 << b);
                to.extend(block);
            }
        }
        to[head] = period as u8;
        to[head + 1..][..8].copy_from_slice(&low.to_le_bytes());
        to[head + 9..][..8].copy_from_slice(&high.to_le_bytes());
    }
}

/// The heaps at which two blocks differ.
#[inline(always)]
fn differing(a: &[u8; LANES], b: &[u8; LANES]) -> u64 {
    // Unlike `==`, this is done in vectors without a call.
    let mut all = 0;
    for i in 0..LANES {
        all |= a[i] ^ b[i];
    }
    if all == 0 {
        return 0;
    }
    let differs: [u8; LANES] = array_of(|i| u8::from(a[i] != b[i]));
    let mut mask = 0;
    for (i, eight) in differs.as_chunks::<8>().0.iter().enumerate() {
        // The product gathers the lowest bits of all bytes in the last byte.
        mask |= u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56 << (8 * i);
    }
    mask
}

/// Takes the lowest one of a word, and returns its position.
#[inline(always)]
fn next_one(word: &mut u64) -> Option<usize> {
    let position = (*word != 0).then(|| word.trailing_zeros() as usize)?;
    *word &= *word - 1;
    Some(position)
}

/// Unpacks a tile from the beginning of `bytes` to the second half of `codes`, whose first half holds the tile before. Returns
/// the bytes that follow, or `None` if no chunk holds such a tile.
fn unpack<'a>(bytes: &'a [u8], codes: &mut [u8; 2 * TILE]) -> Option<&'a [u8]> {
    let (head, mut bytes) = bytes.split_first_chunk::<HEAD>()?;
    let period = usize::from(head[0]);
    let word = |at: usize| u64::from_le_bytes(*head[at..].first_chunk().expect("a word"));
    let (low, high) = (word(1), word(9));
    // Blocks of the first two kinds have no high bit.
    if period > LONGEST || period == 0 && high != u64::MAX {
        return None;
    }
    // The last period, repeated for one more block, while blocks repeat it; and where the next block begins in it.
    let mut repeated = [0; LONGEST + LANES];
    let mut phase = None;
    let step = LANES % period.max(1);
    for b in 0..TILE / LANES {
        let at = TILE + b * LANES;
        let is_patched = match (low >> b & 1, high >> b & 1) {
            (0, 0) => false,
            (1, 0) => true,
            (0, _) => {
                let (halves, rest) = bytes.split_first_chunk::<HALVES>()?;
                let block: &mut [u8; LANES] = codes[at..].first_chunk_mut().expect("a block");
                for i in 0..HALVES {
                    block[i] = WINDOW as u8 - (halves[i] & 15);
                    block[HALVES + i] = WINDOW as u8 - (halves[i] >> 4);
                }
                (bytes, phase) = (rest, None);
                continue;
            }
            _ => {
                let (block, rest) = bytes.split_first_chunk::<LANES>()?;
                codes[at..][..LANES].copy_from_slice(block);
                (bytes, phase) = (rest, None);
                continue;
            }
        };
        if phase.is_none() {
            repeat(&codes[at - period..at], &mut repeated);
        }
        let from = phase.unwrap_or(0);
        codes[at..][..LANES].copy_from_slice(&repeated[from..][..LANES]);
        phase = Some(if from + step < period { from + step } else { from + step - period });
        if is_patched {
            let (mask, rest) = bytes.split_first_chunk::<MASK>()?;
            let mut mask = u64::from_le_bytes(*mask);
            let (values, rest) = rest.split_at_checked(mask.count_ones().div_ceil(2) as usize)?;
            let mut k = 0;
            while let Some(mut i) = next_one(&mut mask) {
                let code = WINDOW as u8 - (values[k / 2] >> (k % 2 * 4) & 15);
                while i < LANES {
                    codes[at + i] = code;
                    i += period;
                }
                k += 1;
            }
            (bytes, phase) = (rest, None);
        }
    }
    Some(bytes)
}

/// Repeats a period for as long as it is, and a block more.
fn repeat(period: &[u8], to: &mut [u8; LONGEST + LANES]) {
    let to = &mut to[..period.len() + LANES];
    to[..period.len()].copy_from_slice(period);
    let mut filled = period.len();
    while filled < to.len() {
        let more = filled.min(to.len() - filled);
        to.copy_within(..more, filled);
        filled += more;
    }
}

/// Unpacks a chunk to `CHUNK` codes; false if it is not one.
pub fn unpack_chunk(mut bytes: &[u8], codes: &mut [u8]) -> bool {
    let mut tiles = [0; 2 * TILE];
    for codes in codes.chunks_exact_mut(TILE) {
        tiles.copy_within(TILE.., 0);
        match unpack(bytes, &mut tiles) {
            Some(rest) => bytes = rest,
            None => return false,
        }
        codes.copy_from_slice(&tiles[TILE..]);
    }
    bytes.is_empty()
}

/// The chunks that later heaps may still need: those of the prefix, and the last ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Chunks {
    packed: Packed,
    prefix: Vec<Box<[u8]>>,
    /// Chunk `f` is at `f` modulo the length.
    last: Vec<Box<[u8]>>,
    /// The number of chunks so far, and the bytes of those that are kept.
    pub count: usize,
    pub bytes: usize,
}

impl Chunks {
    pub fn new(packed: Packed) -> Self {
        let (prefix, last) = (Vec::with_capacity(packed.prefix), vec![Box::default(); packed.last]);
        Chunks { packed, prefix, last, ..Chunks::default() }
    }

    /// Adds the next chunk, and drops the one that nothing reads any more.
    pub fn push(&mut self, chunk: Box<[u8]>) {
        self.bytes += chunk.len();
        if self.count < self.packed.prefix {
            self.prefix.push(chunk);
        } else {
            let slot = &mut self.last[self.count % self.packed.last];
            self.bytes -= slot.len();
            *slot = chunk;
        }
        self.count += 1;
    }

    /// Whether a chunk is kept after `count` chunks.
    pub fn holds(packed: Packed, count: usize, chunk: usize) -> bool {
        chunk < packed.prefix || chunk + packed.last >= count
    }

    pub fn get(&self, chunk: usize) -> &[u8] {
        match self.prefix.get(chunk) {
            Some(bytes) => bytes,
            None => &self.last[chunk % self.packed.last],
        }
    }
}

/// How far the chunks are unpacked for a move.
struct Reader {
    m: usize,
    /// The next tile, and where it begins in its chunk.
    next: usize,
    offset: usize,
}

/// The codes that moves beyond the window reach from a tile.
pub struct Readers {
    readers: Vec<Reader>,
    /// Two tiles for each move; 0 stands for no heap.
    pub codes: Vec<u8>,
}

impl Readers {
    /// The readers of moves of at least [`RECENT`](super::layout::RECENT)` - LANES` heaps.
    pub fn new(moves: &[usize]) -> Self {
        let readers = moves.iter().map(|m| Reader { m: *m, next: 0, offset: 0 }).collect();
        Readers { readers, codes: vec![0; moves.len() * 2 * TILE] }
    }

    /// The bytes of the readers of this many moves.
    pub fn bytes(moves: usize) -> usize {
        moves * (2 * TILE + size_of::<Reader>())
    }

    /// The moves that a run with this layout reads from chunks.
    pub fn moves<'a>(layout: &HistoryLayout, moves: &'a [usize]) -> &'a [usize] {
        if layout.packed.is_some() { &moves[layout.short..] } else { &[] }
    }

    /// How far before the end of [`codes`](Readers::codes) the codes lie that each move reaches from the first heap of
    /// a tile.
    pub fn offsets(moves: &[usize]) -> Vec<usize> {
        let offset = |(r, m): (usize, &usize)| (moves.len() - r) * 2 * TILE - m.wrapping_neg() % TILE;
        moves.iter().enumerate().map(offset).collect()
    }

    /// Unpacks what the tile at `n` reaches.
    #[inline(always)]
    pub fn advance(&mut self, chunks: &Chunks, n: usize) {
        if !self.readers.is_empty() {
            self.advance_all(chunks, n);
        }
    }

    #[inline(never)]
    fn advance_all(&mut self, chunks: &Chunks, n: usize) {
        const TILES: usize = CHUNK / TILE;
        for (reader, codes) in self.readers.iter_mut().zip(self.codes.as_chunks_mut().0) {
            let Some(reached) = (n + TILE).checked_sub(reader.m).filter(|reached| *reached > 0) else { continue };
            // The heaps reached begin in tile `end - 2`, or before heap 0.
            let end = reached / TILE + 1;
            // A run that resumes begins with a whole chunk.
            reader.next = reader.next.max(end.saturating_sub(2) / TILES * TILES);
            while reader.next < end {
                if reader.next.is_multiple_of(TILES) {
                    reader.offset = 0;
                }
                codes.copy_within(TILE.., 0);
                let chunk = chunks.get(reader.next / TILES);
                let rest = unpack(&chunk[reader.offset..], codes).expect("chunks were packed, or checked when read");
                (reader.next, reader.offset) = (reader.next + 1, chunk.len() - rest.len());
            }
        }
    }
}

/// The blocks that a period is judged by.
pub const JUDGED: usize = 16;

/// The bytes of chunks that are foreseen for an input, by how its first heaps repeat: those of the factorials take 0.024 a heap
/// up to 13!, and 0.032 past it. It is an estimate, since later heaps of some sets repeat less often.
pub fn room(input: &Records, packed: Packed) -> f64 {
    let codes = first_codes(input.moves(), JUDGED * LANES + LONGEST);
    let each = match best_period(&codes) {
        Some(_) => 0.08,
        None if codes.iter().copied().all(is_small) => 0.55,
        None => 1.01,
    };
    ((packed.prefix + packed.last + 1) * CHUNK) as f64 * each
}

/// The codes of the first heaps.
pub fn first_codes(moves: &[usize], heaps: usize) -> Vec<u8> {
    let mut codes: Vec<u8> = Vec::with_capacity(heaps);
    for n in 0..heaps {
        let reached = moves[..below(moves, n + 1)].iter().fold(1u64, |reached, m| reached | 1 << codes[n - m]);
        codes.push((!reached).ilog2() as u8);
    }
    codes
}

/// The period that would have guessed most of the last blocks of `codes` right, and their share, if it is at least half.
pub fn best_period(codes: &[u8]) -> Option<(usize, f64)> {
    let blocks = codes.len().saturating_sub(LONGEST) / LANES;
    let (mut best, mut most) = (0, 0);
    for period in 1..LONGEST + 1 {
        let starts = (codes.len() - blocks * LANES..codes.len()).step_by(LANES);
        let right = starts.filter(|start| is_guessed(codes, *start, period)).count();
        // The shortest of the best: a wrong block misleads fewer blocks after it.
        if right > most {
            (best, most) = (period, right);
        }
    }
    (most > 0 && 2 * most >= blocks).then(|| (best, most as f64 / blocks as f64))
}

/// Whether the block of `codes` at `start` is what `period` would have guessed, and small values.
fn is_guessed(codes: &[u8], start: usize, period: usize) -> bool {
    let lag = |i: usize| if period < LANES { period * (i / period + 1) } else { period };
    (0..LANES).all(|i| codes[start + i] == codes[start + i - lag(i)] && codes[start + i] > (WINDOW - PLANES) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random numbers below a bound.
    fn numbers() -> impl FnMut(u32) -> u32 {
        let mut state = 1u32;
        move |below| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            ((u64::from(state) * u64::from(below)) >> 32) as u32
        }
    }

    #[test]
    fn the_shortest_period_is_found_where_there_is_one() {
        const HEAPS: usize = JUDGED * LANES + LONGEST;
        for period in [1, 2, 25, 63, 64, 65, 127, 128] {
            let codes: Vec<u8> = (0..HEAPS).map(|n| if n % period == 0 { 62 } else { 63 }).collect();
            assert_eq!(best_period(&codes), Some((period, 1.0)));
        }
        let mut random = numbers();
        let codes: Vec<u8> = (0..HEAPS).map(|_| 60 + random(4) as u8).collect();
        assert_eq!(best_period(&codes), None);
        assert_eq!(best_period(&[54; HEAPS]), None, "value 9");
        assert_eq!(best_period(&[63; LONGEST]), None, "no blocks to judge by");
    }

    /// Codes with a period, and at some heaps another value, below `most`.
    fn codes(period: usize, wrong: u32, most: u32) -> Vec<u8> {
        let (mut random, mut codes) = (numbers(), Vec::new());
        for i in 0..CHUNK {
            let is_wrong = i < period || random(1000) < wrong;
            codes.push(if is_wrong { WINDOW as u8 - random(most) as u8 } else { codes[i - period] });
        }
        codes
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        for period in [0, 1, 2, 25, 63, 64, 65, 127, 128] {
            for (wrong, most) in
                [(0, 3), (1, 5), (10, 9), (30, 16), (100, 16), (500, 16), (1000, 16), (30, 17), (1000, 63)]
            {
                let codes = codes(period.max(1), wrong, most);
                let (mut packed, mut unpacked) = (Vec::new(), vec![0; CHUNK]);
                pack(&codes, period, &mut packed);
                assert!(packed.len() <= MOST_BYTES);
                assert!(unpack_chunk(&packed, &mut unpacked) && unpacked == codes, "{period} {wrong} {most}");
                if wrong <= 1 && period > 0 {
                    assert!(packed.len() < CHUNK / 50, "{period} {wrong} {most}: {}", packed.len());
                }
                for length in [0, 16, packed.len() / 2, packed.len() - 1] {
                    assert!(!unpack_chunk(&packed[..length], &mut unpacked), "{length} bytes");
                }
                packed.push(0);
                assert!(!unpack_chunk(&packed, &mut unpacked), "a byte too many");
            }
        }
    }
}
