//! Value by value, pushed a set at a time: each heap of a value forbids that value to the move set shifted by the heap.
//!
//! A tile of 4096 heaps is done value by value. The OR of the shifted move sets over the earlier heaps that hold the value
//! is what they forbid; then the tile's open heaps are taken in order, and each that takes the value forbids it further
//! on. Eight copies of the move set, shifted by 0 to 7 bits, make every shift a matter of bytes.
//!
//! Cost: `N^2 / 8192` shifted sets of 4096 bits in all, however many moves there are, and a look at every word of the tile
//! for every value. Holders too far back for the largest move are left out.
//! Bound: the loads of the shifted sets, which split cache lines.

use super::{Subtraction, narrow};
use crate::bits::WORD;
use crate::growing;
use crate::kernel::{Cost, CostContext, Run, RunError, Tier};

/// Heaps in a tile.
pub const TILE: usize = 4096;
/// A bit for each heap of a tile, in bytes.
pub type Bits = [u8; TILE / 8];

pub fn cost(input: &Subtraction, context: CostContext) -> Cost {
    cost_of(input, if context.tier == Tier::Avx2 { 6.0 } else { 18.0 })
}

/// Predicted time and memory of a kernel that takes `set` ns to add a shifted set to a tile.
pub fn cost_of(input: &Subtraction, set: f64) -> Cost {
    let heaps = input.heaps() as f64;
    let tiles = (heaps / TILE as f64).ceil();
    // A tile adds the sets of the earlier heaps that its first heap can reach, and its own.
    let reach = heaps.min(input.moves().last().map_or(0.0, |m| *m as f64));
    let sets = heaps + tiles * (reach - reach * reach / (2.0 * heaps));
    // A list for each value, which may be half of its first step longer than what is in it.
    let lists = growing::bytes::<usize>(heaps) + 80.0 * input.most_values();
    Cost {
        ns: sets * set + heaps * 6.0 + tiles * input.values() * 30.0 + 4000.0,
        bytes: 8.0 * Shifted::stride(input.heaps()) as f64 + 2.0 * heaps + lists,
    }
}

/// The move set in eight copies: copy `r` holds the move `m` at bit `TILE + m + r`.
pub struct Shifted {
    copies: Vec<u8>,
    stride: usize,
}

impl Shifted {
    fn new(moves: &[u64], heaps: usize) -> Self {
        let stride = Self::stride(heaps);
        let mut copies = vec![0; 8 * stride];
        for (r, copy) in copies.chunks_mut(stride).enumerate() {
            for m in moves {
                let bit = TILE + *m as usize + r;
                copy[bit / 8] |= 1 << (bit % 8);
            }
        }
        Shifted { copies, stride }
    }

    /// Bytes of a copy.
    fn stride(heaps: usize) -> usize {
        (2 * TILE + heaps).div_ceil(8) + 1
    }

    /// Which heaps of the tile that starts at `start`, a multiple of 8, reach `heap`, which lies before the tile or in it.
    #[inline(always)]
    pub fn reaching(&self, heap: usize, start: usize) -> &Bits {
        let at = heap % 8 * self.stride + (TILE + start) / 8 - heap / 8;
        self.copies[at..].first_chunk().expect("copies reach a tile past the last heap")
    }
}

/// Bits that start a cache line, so that stores and the loads that follow them split none.
#[repr(align(64))]
struct Line(Bits);

/// The heaps of one value.
#[derive(Default)]
struct Holders {
    heaps: Vec<usize>,
    /// So many of them are out of reach.
    past: usize,
}

#[inline(always)]
fn forbid(sets: &Shifted, heaps: &[usize], start: usize, reached: &mut Bits) {
    for heap in heaps {
        for (reached, reaching) in reached.iter_mut().zip(sets.reaching(*heap, start)) {
            *reached |= reaching;
        }
    }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    drive(input, run, forbid)
}

/// Computes all values; `forbid(sets, heaps, start, reached)` adds what `heaps` forbid in the tile at `start`.
#[inline(always)]
pub fn drive(
    input: &Subtraction,
    run: &Run,
    forbid: impl Fn(&Shifted, &[usize], usize, &mut Bits),
) -> Result<Vec<u16>, RunError> {
    let heaps = input.heaps();
    let sets = Shifted::new(input.moves(), heaps);
    let farthest = input.moves().last().map_or(0, |m| *m as usize);
    let mut values: Vec<Holders> = Vec::new();
    let mut g = vec![0; heaps];
    for (t, tile) in g.chunks_mut(TILE).enumerate() {
        let start = t * TILE;
        let mut open = [0u64; TILE / WORD];
        for (k, word) in tile.chunks(WORD).enumerate() {
            open[k] = u64::MAX >> (WORD - word.len());
        }
        for v in 0.. {
            if open == [0; TILE / WORD] {
                break;
            }
            if v == values.len() {
                narrow(v)?;
                values.push(Holders::default());
            }
            let Holders { heaps, past } = &mut values[v];
            *past += heaps[*past..].iter().take_while(|heap| *heap + farthest < start).count();
            let mut reached = Line([0; TILE / 8]);
            let reached = &mut reached.0;
            forbid(&sets, &heaps[*past..], start, reached);
            for (k, open) in open.iter_mut().enumerate() {
                loop {
                    let can = *open & !u64::from_le_bytes(reached.as_chunks().0[k]);
                    if can == 0 {
                        break;
                    }
                    let i = can.trailing_zeros() as usize;
                    *open &= !(1 << i);
                    tile[k * WORD + i] = v as u16;
                    growing::push(heaps, start + k * WORD + i);
                    forbid(&sets, &[start + k * WORD + i], start, reached);
                }
            }
        }
        run.advance(tile.len() as u64)?;
    }
    Ok(g)
}
