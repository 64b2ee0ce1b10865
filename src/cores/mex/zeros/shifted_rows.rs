//! Shifted rows: each move ORs the known part of the row of P-positions into later heaps.
//!
//! A move `m` hits, in a block of heaps, the P-positions `m` bits earlier in the row. Whole vectors of bits move, no matter how
//! few are set. A shift by whole bytes is a load from another address. For the rest of the shift, there is one copy of the row
//! for each residue of the moves modulo 8 (three for the squares), already shifted. So a move costs one load and one OR per
//! vector of heaps.
//!
//! A move is applied as soon as its sources are complete. Moves longer than a tile are applied to the whole tile, a few at a
//! time, so their overlapping sources are read from L2. Moves longer than a chunk are applied chunk by chunk, and moves longer
//! than a block, block by block. Inside a block, the lowest heap that is not hit is a P-position, and a mask of the moves,
//! shifted to it, marks what it hits.
//!
//! Cost and bound: for each move and line of 512 heaps, those of [`or_rows`](super::or_rows).

use super::Start;
use super::Zeros;
use super::or_rows::{LINE, OrRows};
use crate::cores::growing;
use crate::cores::mex::lanes::below;
use crate::cores::mex::subtraction::Subtraction;
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::array_of;
use crate::simd::bits::WORD;

/// Heaps in a block, which is a line.
pub const BLOCK: usize = 8 * LINE;
pub const WORDS: usize = BLOCK / WORD;
/// Heaps in a chunk, sixteen vectors.
pub const CHUNK: usize = 16 * BLOCK;
/// Moves that are applied to a tile together.
const MOVES_AT_ONCE: usize = 16;

const NS_PER_HEAP: f64 = 0.1;
const NS_PER_HEAP_OF_ROW: f64 = 0.04;
const NS_PER_ZERO: f64 = 6.0;
const NS_PER_ROW: f64 = 300.0;
const NS_PER_MOVE: f64 = 9.0;
const NS_PER_RUN: f64 = 200.0;

/// Rate: the ns to apply a move to a line of heaps.
pub fn cost(input: &Zeros, _: CostContext, [line]: [f64; 1]) -> Cost {
    let (heaps, zeros) = (input.heaps() as f64, input.zeros());
    let residues = input.moves().iter().fold(0u8, |residues, m| residues | 1 << (m % 8));
    let (rows, moves) = (f64::from(residues.count_ones()), input.moves().len() as f64);
    let each = [NS_PER_HEAP * heaps, NS_PER_HEAP_OF_ROW * heaps * rows, NS_PER_ZERO * zeros, NS_PER_ROW * rows];
    let rest = each.iter().sum::<f64>() + NS_PER_MOVE * moves + NS_PER_RUN;
    // The moves and their distances in bytes.
    let lists = growing::bytes::<u64>(zeros) + growing::bytes::<[usize; 2]>(moves);
    let bytes = rows * row_bytes(input.heaps()) as f64 + lists + tile(input.heaps()) as f64 / 8.0;
    Cost { ns: line * lines(input) * heaps + rest, bytes }.only_if(!input.is_resumable)
}

/// A load and an OR for each move and line.
pub fn needs(input: &Zeros) -> Needs {
    let lines = lines(input);
    Needs { split_loads: lines, logic: lines, bytes: input.heaps() as f64 / 8.0, ..Needs::default() }
}

/// A load, a permutation and an OR for each move and line.
pub fn needs_avx512(input: &Zeros) -> Needs {
    let lines = lines(input);
    Needs { loads: lines, permutes: lines, logic: lines, bytes: input.heaps() as f64 / 8.0, ..Needs::default() }
}

/// Lines that are ORed into lines, per heap.
pub fn lines(input: &Subtraction) -> f64 {
    input.pairs() / BLOCK as f64 / input.heaps() as f64
}

/// The moves of one residue modulo 8, and the row of P-positions that they read.
struct ShiftedRow {
    /// `-m mod 8` for these moves.
    shift: u32,
    moves: Vec<usize>,
    /// The distance of each move in bytes: `m / 8`, rounded up.
    back: Vec<usize>,
    /// A tile and a line of zeros, then bit `b` for heap `b + shift`, then a line of zeros.
    bits: Vec<u8>,
}

impl ShiftedRow {
    /// The indices of the moves in `from..to`.
    fn range(&self, from: usize, to: usize) -> std::ops::Range<usize> {
        let first = below(&self.moves, from);
        first..below(&self.moves, to).max(first)
    }
}

/// Heaps in a tile. Neighbouring squares are at most `2 sqrt N` apart, so dozens of moves share what they read.
fn tile(heaps: usize) -> usize {
    ((32.0 * (heaps as f64).sqrt()) as usize).next_multiple_of(CHUNK)
}

/// Bytes of padding before a row. No move inside a tile reads further before heap 0.
fn pad(tile: usize) -> usize {
    tile / 8 + LINE
}

/// Bytes of a row for this number of heaps.
fn row_bytes(heaps: usize) -> usize {
    let tile = tile(heaps);
    pad(tile) + heaps.next_multiple_of(tile) / 8 + LINE
}

#[inline(always)]
pub fn run(input: &Zeros, run: &Run, start: Start, or_rows: impl OrRows) -> Result<Vec<u64>, RunError> {
    // One type for all tiers. They are inlined all the same.
    let or_rows: &dyn OrRows = &or_rows;
    start.at_zero()?;
    let heaps = input.heaps();
    let tile = tile(heaps);
    let pad = pad(tile);
    let mut rows = rows(input, row_bytes(heaps));
    let near = near(input);
    let mut zeros = Vec::new();
    let mut hits = vec![0u8; tile / 8];
    for start in (0..heaps).step_by(tile) {
        hits.fill(0);
        for row in &rows {
            let far = row.range(tile, start + tile);
            for back in row.back[far].chunks(MOVES_AT_ONCE) {
                or_rows(&row.bits, pad + start / 8, back, &mut hits);
            }
        }
        for (c, chunk) in hits.chunks_mut(CHUNK / 8).enumerate() {
            let start = start + c * CHUNK;
            if start >= heaps {
                break;
            }
            for row in &rows {
                or_rows(&row.bits, pad + start / 8, &row.back[row.range(CHUNK, tile.min(start + CHUNK))], chunk);
            }
            for (b, line) in chunk.as_chunks_mut::<LINE>().0.iter_mut().enumerate() {
                let start = start + b * BLOCK;
                if start >= heaps {
                    break;
                }
                for row in &rows {
                    // Moves inside the block may be included: they read bits that are still zero.
                    or_rows(&row.bits, pad + start / 8, &row.back[row.range(0, CHUNK.min(start + BLOCK))], line);
                }
                let found = resolve(line, &near);
                for (w, word) in found.into_iter().enumerate() {
                    let at = start + w * WORD;
                    for row in &mut rows {
                        remember(row, pad + at / 8, word);
                    }
                    let mut rest = word;
                    while rest != 0 {
                        growing::push(&mut zeros, (at + rest.trailing_zeros() as usize) as u64);
                        rest &= rest - 1;
                    }
                }
            }
            run.advance(CHUNK.min(heaps - start) as u64)?;
        }
    }
    // The last block may extend beyond the limit.
    zeros.truncate(below(&zeros, input.limit() + 1));
    Ok(zeros)
}

fn rows(input: &Subtraction, bytes: usize) -> Vec<ShiftedRow> {
    let mut rows: Vec<ShiftedRow> = Vec::new();
    for m in input.moves() {
        let m = *m as usize;
        let shift = (m.wrapping_neg() % 8) as u32;
        let index = rows.iter().position(|row| row.shift == shift).unwrap_or(rows.len());
        if index == rows.len() {
            rows.push(ShiftedRow { shift, moves: Vec::new(), back: Vec::new(), bits: vec![0; bytes] });
        }
        let row = &mut rows[index];
        growing::push(&mut row.moves, m);
        growing::push(&mut row.back, m.div_ceil(8));
    }
    rows
}

/// The moves shorter than a block, as bits.
fn near(input: &Subtraction) -> [u64; WORDS] {
    let mut near = [0; WORDS];
    for m in input.moves().iter().take_while(|m| **m < BLOCK as u64) {
        near[*m as usize / WORD] |= 1 << (m % WORD as u64);
    }
    near
}

/// The P-positions of a block, given the `hits` from earlier blocks.
#[inline(always)]
fn resolve(hits: &[u8; LINE], near: &[u64; WORDS]) -> [u64; WORDS] {
    let mut unresolved: [u64; WORDS] =
        array_of(|w| !u64::from_le_bytes(*hits[8 * w..].first_chunk().expect("words of a line")));
    let mut found = [0; WORDS];
    for w in 0..WORDS {
        while unresolved[w] != 0 {
            let bit = unresolved[w].trailing_zeros();
            found[w] |= 1 << bit;
            unresolved[w] &= !(1 << bit | near[0] << bit);
            for up in 1..WORDS - w {
                unresolved[w + up] &= !(near[up] << bit | near[up - 1] >> 1 >> (WORD as u32 - 1 - bit));
            }
        }
    }
    found
}

/// Writes a word of P-positions to the row of a row at byte `at`. The bits shifted out go to the word before.
#[inline(always)]
fn remember(row: &mut ShiftedRow, at: usize, word: u64) {
    let mut add = |at: usize, bits: u64| {
        let bytes: &mut [u8; 8] = row.bits[at..].first_chunk_mut().expect("the row has whole words");
        *bytes = (u64::from_le_bytes(*bytes) | bits).to_le_bytes();
    };
    add(at, word >> row.shift);
    if row.shift > 0 {
        add(at - 8, word << (WORD as u32 - row.shift));
    }
}
