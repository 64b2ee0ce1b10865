//! Byte lanes. Unlike `stamp`, which takes one heap and one move at a time, a move acts on 64 heaps at once: it reads 64 codes, and
//! the values that the heaps reach are bits of planes. Tiers differ only in how they decode: see [`lanes`](crate::cores::mex::lanes).
//!
//! *Far part.* No heap has a value before the value's first heap, so distant moves need fewer planes. Since `g(n) = v`
//! requires an earlier `v - 1`, first heaps ascend, and each plane needs a prefix of the ascending moves. Moves longer
//! than a tile of eight blocks are applied to the whole tile, a few at a time, so their lines stay in L1. In large
//! tables the same is done for an [`L2Tile`].
//!
//! *Near part.* Moves below 64 reach heaps of the block itself. The planes are transposed to one word of free values per heap, and
//! [`resolve`](crate::cores::mex::lanes::resolve) takes the lowest one of each heap in order. A heap without a free value in any window
//! opens a new window: its value is the first that no earlier heap has.
//!
//! Cost per block, move and plane: the decode of the tier.
//! Bound: the decode; below three planes, the loads of codes, which split cache lines.

use std::borrow::Borrow;
use std::ops::Range;

use super::Subtraction;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
use crate::cores::mex::lanes::avx512::BY_SHIFT;
use crate::cores::mex::lanes::{APART, Decoder, LANES, PLANES, Planes, Sources, WINDOW, below};
use crate::cores::mex::lanes::{Near, NearMoves};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Blocks in a tile.
const TILE_BLOCKS: usize = 8;
/// Heaps in a tile.
pub const TILE_HEAPS: usize = TILE_BLOCKS * LANES;
/// Moves that are applied to all blocks of a tile before the next moves.
pub const MOVES_AT_ONCE: usize = 64;
/// Heaps in an L2 tile, in units of the square root of the number of heaps.
pub const L2_ROOTS: f64 = 24.0;
/// With fewer heaps than this, the codes stay in L2 anyway.
const PAST_L2: usize = 700_000;
/// Fewer moves than this are not worth a separate pass with one plane less.
const LEAST_MOVES: usize = 6;
/// The window that holds the largest value of the output, and how many of its values fit.
const LAST_WINDOW: usize = u16::MAX as usize / WINDOW;
const LAST_VALUES: usize = u16::MAX as usize % WINDOW + 1;

/// Planes that a move needs, of those that the largest value has: early heaps, and those that distant moves reach, have fewer values.
const SHARE_OF_PLANES: f64 = 0.7;
/// The near part with AVX-512: for a heap, for each close move, and for each move apart; and for a run.
const NS_PER_HEAP: f64 = 1.5;
const NS_PER_CLOSE: f64 = 0.25;
const NS_PER_APART: f64 = 0.15;
const NS_PER_RUN: f64 = 700.0;

/// Rates: the ns to decode a plane of a block for a move, the least ns for all of its planes, and the time of the near part relative
/// to AVX-512.
pub fn cost(input: &Subtraction, _: CostContext, [plane, step, near]: [f64; 3]) -> Cost {
    let (heaps, values) = (input.heaps() as f64, input.values());
    let windows = f64::max(values / WINDOW as f64, 1.0);
    let planes = SHARE_OF_PLANES * values / PLANES as f64 + windows;
    let below = |bound: usize| below(input.moves(), bound as u64);
    let close = match below(APART) - below(2) {
        0..=2 => 2,
        3..=6 => 6,
        _ => APART - 2,
    };
    let apart = below(LANES) - below(APART);
    let near = near * (NS_PER_HEAP + NS_PER_CLOSE * close as f64 + NS_PER_APART * apart as f64);
    Cost {
        ns: input.pairs() / LANES as f64 * f64::max(planes * plane, step * windows)
            + heaps * windows * near
            + NS_PER_RUN,
        bytes: bytes(input, 1, l2_tile(L2_ROOTS, input.heaps()), input.heaps() >= PAST_L2),
    }
}

/// A comparison, an AND and an OR for each move and plane of 64 heaps.
pub fn needs(input: &Subtraction) -> Needs {
    Needs { logic: 3.0 * planes(input), ..Needs::default() }
}

/// A load for each move; half an OR for each move and plane, and a permutation unless the plane is decoded by shifts.
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub fn needs_avx512(input: &Subtraction) -> Needs {
    let (loads, planes) = (input.pairs() / input.heaps() as f64 / LANES as f64, planes(input));
    let by_permute = 1.0 - f64::from(BY_SHIFT.count_ones()) / PLANES as f64;
    Needs { loads, permutes: by_permute * planes, logic: 0.5 * planes, ..Needs::default() }
}

/// The planes accumulated per heap, over all its moves. On average, values reach about four fifths of the largest.
fn planes(input: &Subtraction) -> f64 {
    let moves = input.pairs() / input.heaps() as f64;
    0.8 * input.values() / 8.0 * moves / LANES as f64
}

/// Heaps in an [`L2Tile`] of `roots` times the square root of the number of heaps, rounded up to whole tiles.
pub fn l2_tile(roots: f64, heaps: usize) -> usize {
    ((roots * (heaps as f64).sqrt()) as usize).next_multiple_of(TILE_HEAPS).max(TILE_HEAPS)
}

/// The codes of a window for all heaps.
pub struct Codes {
    /// Preceded by `pad` zeros, as many as the longest L2 tile has heaps. No move reads further before heap 0.
    codes: Vec<u8>,
    pad: usize,
    /// For each plane in use, the first heap with one of its values.
    pub first: Vec<usize>,
    /// For each plane in use, the number of moves that reach such a heap.
    reach: [usize; PLANES],
}

impl Codes {
    pub fn new(heaps: usize) -> Self {
        let pad = l2_tile(L2_ROOTS, heaps);
        let codes = vec![0; Self::bytes(heaps)];
        Codes { codes, pad, first: Vec::new(), reach: [0; PLANES] }
    }

    /// Bytes for this number of heaps.
    fn bytes(heaps: usize) -> usize {
        l2_tile(L2_ROOTS, heaps) + heaps.next_multiple_of(LANES) + LANES
    }

    /// The sources of the block at `n`.
    #[inline(always)]
    fn behind(&self, n: usize) -> Sources<'_> {
        Sources::new(&self.codes, self.pad + n)
    }

    /// The codes of the heaps from `n` on.
    pub fn from(&mut self, n: usize) -> &mut [u8] {
        &mut self.codes[self.pad + n..]
    }
}

/// A window of values: its codes, and the state of the current tile.
pub struct Window {
    pub known: Codes,
    /// The values reached by the far moves of the tile.
    far: [Planes; TILE_BLOCKS],
}

impl Window {
    fn new(heaps: usize) -> Self {
        Window { known: Codes::new(heaps), far: [[[0; LANES]; PLANES]; TILE_BLOCKS] }
    }
}

/// An L2 tile: a few `sqrt N` heaps. Moves that leave it are applied to all of it, [`MOVES_AT_ONCE`] at a time. In a set like
/// the squares, neighbouring moves differ by less than `2 sqrt N`, so a line of codes that has come from memory is read by a
/// dozen of them while it is in L2. Longer tiles gain little more.
pub struct L2Tile {
    pub heaps: usize,
    pub length: usize,
    pub moves: Vec<usize>,
    /// The number of moves that stay inside.
    inside: usize,
}

impl L2Tile {
    pub fn new(input: &Subtraction, length: usize) -> Self {
        let moves = input.own_moves();
        L2Tile { heaps: input.heaps(), length, inside: below(&moves, length), moves }
    }

    /// Room in `hits` for the blocks of the tile at `start`, with no value reached. Memory is reused: new pages would fault.
    pub fn clear(&self, hits: &mut Vec<Planes>, start: usize) {
        hits.clear();
        hits.resize(self.length.min(self.heaps.next_multiple_of(LANES) - start) / LANES, [[0; LANES]; PLANES]);
    }
}

/// The state of a run.
pub struct ByteLanes<'a> {
    heaps: usize,
    decoder: &'a dyn Decoder,
    moves: Vec<usize>,
    /// The number of moves shorter than a tile.
    in_tile: usize,
    /// Those shorter than a block.
    near_moves: NearMoves,
    pub windows: Vec<Window>,
    near: Vec<Near>,
    /// For each window and block of the current L2 tile, what the moves from `far_from` on reach.
    pub far: Vec<Vec<Planes>>,
    far_from: usize,
    far_start: usize,
    /// The values below this have occurred.
    seen: usize,
    g: Vec<u16>,
}

impl<'a> ByteLanes<'a> {
    pub fn new(input: &Subtraction, decoder: &'a dyn Decoder) -> Self {
        let (heaps, moves) = (input.heaps(), input.own_moves());
        ByteLanes {
            heaps,
            decoder,
            in_tile: below(&moves, TILE_HEAPS),
            near_moves: NearMoves::new(&moves),
            far: Vec::new(),
            far_from: moves.len(),
            far_start: 0,
            moves,
            windows: vec![Window::new(heaps)],
            near: vec![Near::default()],
            seen: 0,
            g: vec![0; heaps.next_multiple_of(LANES)],
        }
    }

    /// Applies the moves that leave the L2 tile at `start`. `hits` of a window may hold what those from an index in `applied` on
    /// reach; a window without an index needs all.
    pub fn begin_l2_tile(&mut self, tile: &L2Tile, start: usize, mut hits: Vec<Vec<Planes>>, applied: &[usize]) {
        hits.resize(self.windows.len(), Vec::new());
        for (w, (window, hits)) in self.windows.iter_mut().zip(&mut hits).enumerate() {
            let to = applied.get(w).copied().unwrap_or_else(|| {
                tile.clear(hits, start);
                self.moves.len()
            });
            far_part(&mut window.known, &self.moves, tile.inside..to, start, hits, self.decoder);
        }
        (self.far, self.far_from, self.far_start) = (hits, tile.inside, start);
    }

    /// Computes the values of the tile at `start`. Inlined into kernels, which have the CPU features of their tier.
    #[inline(always)]
    pub fn tile(&mut self, start: usize, run: &Run) -> Result<(), RunError> {
        let end = self.g.len().min(start + TILE_HEAPS);
        self.begin_tile(start, (end - start) / LANES);
        for n in (start..end).step_by(LANES) {
            self.begin_block(n);
            self.resolve();
            self.write_block(n)?;
            run.advance(LANES.min(self.heaps - n) as u64)?;
        }
        Ok(())
    }

    /// The values.
    pub fn finish(mut self) -> Vec<u16> {
        self.g.truncate(self.heaps);
        self.g
    }

    /// Applies the moves that leave the tile.
    #[inline(never)]
    fn begin_tile(&mut self, start: usize, blocks: usize) {
        for (w, window) in self.windows.iter_mut().enumerate() {
            // A page that is read before it is written costs a second fault, which interrupts both cores.
            window.known.from(start)[..(blocks + 1) * LANES].fill(0);
            let hits = &mut window.far[..blocks];
            match self.far.get(w) {
                Some(far) => hits.copy_from_slice(&far[(start - self.far_start) / LANES..][..blocks]),
                None => hits.fill([[0; LANES]; PLANES]),
            }
            far_part(&mut window.known, &self.moves, self.in_tile..self.far_from, start, hits, self.decoder);
        }
    }

    /// Applies the moves inside the tile to the block at `n`.
    #[inline(never)]
    fn begin_block(&mut self, n: usize) {
        let b = n % TILE_HEAPS / LANES;
        for (window, near) in self.windows.iter_mut().zip(&mut self.near) {
            let (from, planes) = (window.known.behind(n), window.known.first.len());
            self.decoder.add(&from, &self.moves[..self.in_tile], planes, &mut window.far[b..=b]);
            self.decoder.free_words(&window.far[b], &mut near.free);
        }
    }

    /// Finds the one-hot values of one block, in as many windows as it takes.
    fn resolve(&mut self) {
        while !self.decoder.resolve(&mut self.near, &self.near_moves) {
            if self.windows.len() > LAST_WINDOW {
                break; // some heap has no value that fits
            }
            self.windows.push(Window::new(self.heaps));
            self.near.push(Near::default());
        }
    }

    /// Writes the resolved values of the block at `n` to the output and to the windows.
    #[inline(always)]
    fn write_block(&mut self, n: usize) -> Result<(), RunError> {
        let near = &self.near;
        // The last window extends beyond the largest value. In the last block, heaps beyond the limit may have any value.
        if let Some(last) = near.get(LAST_WINDOW) {
            let fits = |i: usize| last.own[i] >> LAST_VALUES == 0 && near.iter().any(|window| window.own[i] != 0);
            if !(LANES..LANES + LANES.min(self.heaps - n)).all(fits) {
                return Err(RunError::LargeValue);
            }
        }
        let g: &mut [u16; LANES] = self.g[n..].first_chunk_mut().expect("whole blocks");
        g.fill(0);
        for (w, (window, near)) in self.windows.iter_mut().zip(near).enumerate() {
            let codes: &mut [u8; LANES] = window.known.from(n).first_chunk_mut().expect("codes are padded");
            let past = ((w + 1) * WINDOW) as u16;
            for ((code, own), g) in codes.iter_mut().zip(&near.own[LANES..]).zip(&mut *g) {
                // 63 - v for the one-hot word of v, and 0 for a zero word: the number of zeros above the bit, if there is one.
                *code = (!(own | own.wrapping_sub(1))).count_ones() as u8;
                *g += if *code == 0 { 0 } else { past.wrapping_sub(u16::from(*code)) };
            }
        }
        let mut largest = 0;
        for value in &*g {
            largest = largest.max(*value);
        }
        if usize::from(largest) >= self.seen {
            for (i, value) in g.iter().enumerate() {
                if usize::from(*value) == self.seen {
                    if (self.seen % WINDOW).is_multiple_of(8) {
                        self.windows[self.seen / WINDOW].known.first.push(n + i);
                    }
                    self.seen += 1;
                }
            }
        }
        Ok(())
    }
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run, decoder: impl Borrow<dyn Decoder>) -> Result<Vec<u16>, RunError> {
    let mut lanes = ByteLanes::new(input, decoder.borrow());
    let tile = L2Tile::new(input, l2_tile(L2_ROOTS, input.heaps()));
    for start in (0..input.heaps()).step_by(TILE_HEAPS) {
        if start.is_multiple_of(tile.length) && input.heaps() >= PAST_L2 {
            let hits = std::mem::take(&mut lanes.far);
            lanes.begin_l2_tile(&tile, start, hits, &[]);
        }
        lanes.tile(start, run)?;
    }
    Ok(lanes.finish())
}

/// Adds what a range of moves, all of which leave the tile, reach from its blocks.
pub fn far_part(
    known: &mut Codes,
    moves: &[usize],
    range: Range<usize>,
    start: usize,
    hits: &mut [Planes],
    decoder: &dyn Decoder,
) {
    let last = start + hits.len() * LANES - 1;
    let mut from = range.start;
    let mut planes = known.first.len();
    for p in (0..planes).rev() {
        let (first, reach) = (known.first[p], &mut known.reach[p]);
        while *reach < moves.len() && moves[*reach] + first <= last {
            *reach += 1;
        }
        let to = range.end.min(*reach);
        if to >= from + LEAST_MOVES || (p == 0 && to > from) {
            for chunk in moves[from..to].chunks(MOVES_AT_ONCE) {
                decoder.add(&known.behind(start), chunk, planes, hits);
            }
            (from, planes) = (to, p);
        }
    }
}

/// Bytes of the values, the moves in both of their lists, and the windows: the codes that each of `threads` keeps, and the hits of
/// L2 tiles of `length` heaps if there are any.
pub fn bytes(input: &Subtraction, threads: usize, length: usize, has_l2_tiles: bool) -> f64 {
    let heaps = input.heaps();
    let windows = (input.most_values() / WINDOW as f64).ceil().max(1.0);
    // With two threads, the helper has a copy of the hits, and of the new codes.
    let l2_tiles = if has_l2_tiles { threads * length.min(heaps) * (PLANES + threads - 1) } else { 0 };
    let each = threads * Codes::bytes(heaps) + size_of::<Window>() + size_of::<Near>() + l2_tiles;
    2.0 * heaps.next_multiple_of(LANES) as f64 + windows * each as f64 + 2.0 * input.copied_moves()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::mex::lanes::plain;

    /// The value of the last of `heaps` heaps in a block where heap `i` has only `listed[i]` free, if that exists.
    fn block(listed: &[usize], heaps: usize) -> Result<u16, RunError> {
        let input = Subtraction::of_moves(Vec::new(), heaps as u64 - 1);
        let mut lanes = ByteLanes::new(&input, plain::parts());
        lanes.windows = (0..=LAST_WINDOW).map(|_| Window::new(heaps)).collect();
        lanes.near = (0..=LAST_WINDOW).map(|_| Near { free: [0; LANES], ..Near::default() }).collect();
        for (i, value) in listed.iter().enumerate() {
            lanes.near[value / WINDOW].free[i] = 1 << (value % WINDOW);
        }
        lanes.seen = usize::MAX; // no value is new
        lanes.resolve();
        lanes.write_block(0)?;
        Ok(lanes.g[heaps - 1])
    }

    #[test]
    fn values_of_16_bits_fit_and_heaps_beyond_the_limit_are_ignored() {
        let most = usize::from(u16::MAX);
        assert_eq!(block(&[most], 1), Ok(u16::MAX));
        assert_eq!(block(&[most, most + 1], 1), Ok(u16::MAX));
        assert_eq!(block(&[most, most + 1], 2), Err(RunError::LargeValue));
        assert_eq!(block(&[most, 7], 2), Ok(7));
        assert_eq!(block(&[most, 7], 3), Err(RunError::LargeValue), "no free value at all");
    }
}
