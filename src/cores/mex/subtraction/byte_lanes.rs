//! Byte lanes: 64 heaps at a time. Tiers differ only in how they decode values: see [`lanes`](crate::cores::mex::lanes).
//!
//! *Far part.* No heap has a value before the value's first heap, so distant moves need fewer planes. Since `g(n) = v`
//! requires an earlier `v - 1`, first heaps ascend, and each plane needs a prefix of the ascending moves. Moves longer
//! than a tile of eight blocks are applied to the whole tile, a few at a time, so their lines stay in L1. In large
//! tables the same is done for a [`Stretch`] of tiles and L2.
//!
//! *Near part.* What moves below 64 reach inside the block is known only in order. The planes are transposed to one word of free
//! values per heap, and the one-hot words of earlier heaps are removed from it. Moves of at least 16 act on eight heaps at once.
//! The rest is a serial chain through the heaps, which isolates the lowest free value of each. A heap without a free value in any
//! window opens a new window: its value is the first that no earlier heap has.
//!
//! Cost per block, move and plane: the decode of the tier.
//! Bound: the decode; below three planes, the loads of codes, which split cache lines.

use std::borrow::Borrow;
use std::ops::Range;

use super::Subtraction;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
use crate::cores::mex::lanes::avx512::BY_SHIFT;
use crate::cores::mex::lanes::chain::{Near, NearMoves};
use crate::cores::mex::lanes::{APART, Decoder, LANES, PLANES, Planes, Sources, WINDOW, below};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Blocks in a tile.
const TILE_BLOCKS: usize = 8;
/// Heaps in a tile.
const TILE_HEAPS: usize = TILE_BLOCKS * LANES;
/// Moves that are applied to all blocks of a tile before the next moves.
pub const MOVES_AT_ONCE: usize = 64;
/// Heaps in a stretch, in units of the square root of the number of heaps.
pub const STRETCH: f64 = 24.0;
/// Fewer moves than this are not worth a separate pass with one plane less.
const LEAST_MOVES: usize = 6;
/// The window that holds the largest value of the output, and how many of its values fit.
const LAST_WINDOW: usize = u16::MAX as usize / WINDOW;
const LAST_VALUES: usize = u16::MAX as usize % WINDOW + 1;

/// Rates: the ns to decode a plane of a block for a move, the least ns for all of its planes, and the time of the near part relative
/// to AVX-512.
pub fn cost(input: &Subtraction, _: CostContext, [plane, step, settle]: [f64; 3]) -> Cost {
    let (heaps, values) = (input.heaps() as f64, input.values());
    let windows = f64::max(values / WINDOW as f64, 1.0);
    // Early heaps, and those that distant moves reach, have fewer values than the last.
    let planes = 0.7 * values / PLANES as f64 + windows;
    let below = |bound: usize| super::below(input.moves(), bound as u64);
    let close = match below(APART) - below(2) {
        0..=2 => 2,
        3..=6 => 6,
        _ => APART - 2,
    };
    let apart = below(LANES) - below(APART);
    let near = settle * (1.5 + 0.25 * close as f64 + 0.15 * apart as f64);
    Cost {
        ns: input.pairs() / LANES as f64 * f64::max(planes * plane, step * windows) + heaps * windows * near + 700.0,
        bytes: bytes(input, 1, stretch(STRETCH, input.heaps()), input.heaps() >= Stretch::WORTHWHILE),
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

/// Heaps in a [`Stretch`] of `roots` times the square root of the number of heaps, rounded up to whole tiles.
pub fn stretch(roots: f64, heaps: usize) -> usize {
    ((roots * (heaps as f64).sqrt()) as usize).next_multiple_of(TILE_HEAPS).max(TILE_HEAPS)
}

/// The codes of a window for all heaps.
pub struct Codes {
    /// Preceded by `pad` zeros, as many as the longest stretch has heaps. No move reads further before heap 0.
    codes: Vec<u8>,
    pad: usize,
    /// For each plane in use, the first heap with one of its values.
    pub first: Vec<usize>,
    /// For each plane in use, the number of moves that reach such a heap.
    reach: [usize; PLANES],
}

impl Codes {
    pub fn new(heaps: usize) -> Self {
        let pad = stretch(STRETCH, heaps);
        let codes = vec![0; Self::bytes(heaps)];
        Codes { codes, pad, first: Vec::new(), reach: [0; PLANES] }
    }

    /// Bytes for this number of heaps.
    fn bytes(heaps: usize) -> usize {
        stretch(STRETCH, heaps) + heaps.next_multiple_of(LANES) + LANES
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

/// The moves, grouped by how they are applied.
struct GroupedMoves {
    all: Vec<usize>,
    /// The number of moves shorter than a tile.
    tile: usize,
    /// Those shorter than a block.
    near: NearMoves,
}

impl GroupedMoves {
    fn new(input: &Subtraction) -> Self {
        let all = input.own_moves();
        GroupedMoves { tile: below(&all, TILE_HEAPS), near: NearMoves::new(&all), all }
    }
}

/// Far moves that have already been applied to the tiles from `start` on.
#[derive(Default)]
pub struct Share {
    start: usize,
    /// For each window and block, the values reached.
    hits: Vec<Vec<Planes>>,
    /// The moves from this index on have been applied; `None`: no moves.
    from: Option<usize>,
}

/// Reuses the memory of old hits. Memory returned to the system would cost page faults.
pub fn recycled(share: &mut Share) -> Vec<Vec<Planes>> {
    let mut hits = std::mem::take(&mut share.hits);
    hits.iter_mut().for_each(Vec::clear);
    hits
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run, decoder: impl Borrow<dyn Decoder>) -> Result<Vec<u16>, RunError> {
    run_with(input, run, decoder.borrow())
}

/// [`run`], in one form for all decoders.
#[inline(always)]
fn run_with(input: &Subtraction, run: &Run, decoder: &dyn Decoder) -> Result<Vec<u16>, RunError> {
    let stretch = Stretch::new(input, stretch(STRETCH, input.heaps()));
    run_helped(input, run, decoder, &mut |start, windows, share| {
        if stretch.starts(start) {
            let done = Done { hits: recycled(share), from: Vec::new() };
            *share = stretch.share(start, windows, done, decoder);
        }
    })
}

/// A stretch of a few `sqrt N` heaps. Moves that leave it are applied to all of it, [`MOVES_AT_ONCE`] at a time. In a set like
/// the squares, neighbouring moves differ by less than `2 sqrt N`, so a line of codes that has come from memory is read by a
/// dozen of them while it is in L2. Longer stretches gain little more, and moves inside a stretch cannot be shared between
/// threads.
pub struct Stretch {
    pub heaps: usize,
    pub length: usize,
    pub moves: Vec<usize>,
    /// The number of moves that stay inside a stretch.
    inside: usize,
}

impl Stretch {
    /// With fewer heaps than this, the codes stay in L2 anyway.
    const WORTHWHILE: usize = 700_000;

    pub fn new(input: &Subtraction, length: usize) -> Self {
        let heaps = input.heaps();
        let moves = input.own_moves();
        let inside = below(&moves, length);
        Stretch { heaps, length, moves, inside }
    }

    fn starts(&self, start: usize) -> bool {
        start.is_multiple_of(self.length) && self.heaps >= Self::WORTHWHILE
    }

    pub fn blocks(&self, start: usize) -> usize {
        self.length.min(self.heaps.next_multiple_of(LANES) - start) / LANES
    }

    /// Applies the moves that leave the stretch, except those already `done`.
    pub fn share(&self, start: usize, windows: &mut [Window], mut done: Done, decoder: &dyn Decoder) -> Share {
        done.hits.resize(windows.len(), Vec::new());
        for (w, (window, hits)) in windows.iter_mut().zip(&mut done.hits).enumerate() {
            hits.resize(self.blocks(start), [[0; LANES]; PLANES]);
            let to = done.from.get(w).map_or(self.moves.len(), |from| *from);
            far_part(&mut window.known, &self.moves, self.inside..to, start, hits, decoder);
        }
        Share { start, hits: done.hits, from: Some(self.inside) }
    }
}

/// Far moves of a stretch that another thread has applied.
#[derive(Default)]
pub struct Done {
    /// For each window and block, the values that the moves reached.
    pub hits: Vec<Vec<Planes>>,
    /// For each window, moves from this index on are done. Windows without an entry still need all moves.
    pub from: Vec<usize>,
}

/// [`run`], with `help(start, windows, share)` called before each tile to update the share. Inlined into kernels, which have the CPU
/// features of their tier, for the near part.
#[inline(always)]
pub fn run_helped(
    input: &Subtraction,
    run: &Run,
    decoder: &dyn Decoder,
    help: &mut dyn FnMut(usize, &mut [Window], &mut Share),
) -> Result<Vec<u16>, RunError> {
    let heaps = input.heaps();
    let moves = GroupedMoves::new(input);
    let mut g = vec![0u16; heaps.next_multiple_of(LANES)];
    let mut windows = vec![Window::new(heaps)];
    let mut near = vec![Near::default()];
    let mut share = Share::default();
    let mut seen = 0; // values 0..seen have occurred
    for (t, tile) in g.chunks_mut(TILE_HEAPS).enumerate() {
        let start = t * TILE_HEAPS;
        let blocks = tile.len() / LANES;
        help(start, &mut windows, &mut share);
        begin_tile(&mut windows, &moves, &share, start, blocks, decoder);
        for (b, block) in tile.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let n = start + b * LANES;
            begin_block(&mut windows, &mut near, &moves, n, decoder);
            settle(&mut windows, &mut near, &moves.near, heaps, decoder);
            write_block(&mut windows, &near, n, block, &mut seen, heaps)?;
            run.advance(LANES.min(heaps - n) as u64)?;
        }
    }
    g.truncate(heaps);
    Ok(g)
}

/// Applies the moves that leave the tile.
#[inline(never)]
fn begin_tile(
    windows: &mut [Window],
    moves: &GroupedMoves,
    share: &Share,
    start: usize,
    blocks: usize,
    decoder: &dyn Decoder,
) {
    for (w, window) in windows.iter_mut().enumerate() {
        // A page that is read before it is written costs a second fault, which interrupts both cores.
        window.known.from(start)[..(blocks + 1) * LANES].fill(0);
        let hits = &mut window.far[..blocks];
        match share.hits.get(w) {
            Some(done) => hits.copy_from_slice(&done[(start - share.start) / LANES..][..blocks]),
            None => hits.fill([[0; LANES]; PLANES]),
        }
        let mine = moves.tile..share.from.unwrap_or(moves.all.len());
        far_part(&mut window.known, &moves.all, mine, start, hits, decoder);
    }
}

/// Applies the moves inside the tile to the block at `n`.
#[inline(never)]
fn begin_block(windows: &mut [Window], near: &mut [Near], moves: &GroupedMoves, n: usize, decoder: &dyn Decoder) {
    let b = n % TILE_HEAPS / LANES;
    for (window, near) in windows.iter_mut().zip(near) {
        let (from, planes) = (window.known.behind(n), window.known.first.len());
        decoder.add(from, &moves.all[..moves.tile], planes, &mut window.far[b..=b]);
        decoder.free_words(&window.far[b], &mut near.free);
    }
}

/// Adds what a range of moves, all of which leave the tile or stretch, reach from its blocks.
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
                decoder.add(known.behind(start), chunk, planes, hits);
            }
            (from, planes) = (to, p);
        }
    }
}

/// Finds the one-hot values of one block, in as many windows as it takes.
fn settle(windows: &mut Vec<Window>, near: &mut Vec<Near>, moves: &NearMoves, heaps: usize, decoder: &dyn Decoder) {
    while !decoder.settle(near, moves) {
        if windows.len() > LAST_WINDOW {
            break; // some heap has no value that fits
        }
        windows.push(Window::new(heaps));
        near.push(Near::default());
    }
}

/// Writes the values of one block, which are settled, to `g` and to the windows.
#[inline(always)]
fn write_block(
    windows: &mut [Window],
    near: &[Near],
    n: usize,
    g: &mut [u16; LANES],
    seen: &mut usize,
    heaps: usize,
) -> Result<(), RunError> {
    // The last window extends beyond the largest value. In the last block, heaps beyond the limit may have any value.
    if let Some(last) = near.get(LAST_WINDOW) {
        let fits = |i: usize| last.own[i] >> LAST_VALUES == 0 && near.iter().any(|window| window.own[i] != 0);
        if !(LANES..LANES + LANES.min(heaps - n)).all(fits) {
            return Err(RunError::LargeValue);
        }
    }
    g.fill(0);
    for (w, (window, near)) in windows.iter_mut().zip(near).enumerate() {
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
    if usize::from(largest) >= *seen {
        for (i, value) in g.iter().enumerate() {
            if usize::from(*value) == *seen {
                if (*seen % WINDOW).is_multiple_of(8) {
                    windows[*seen / WINDOW].known.first.push(n + i);
                }
                *seen += 1;
            }
        }
    }
    Ok(())
}

/// Bytes of the values, the moves in both of their lists, and the windows: the codes that each of `threads` keeps, and the hits of
/// stretches of `length` heaps if `in_stretches`.
pub fn bytes(input: &Subtraction, threads: usize, length: usize, in_stretches: bool) -> f64 {
    let heaps = input.heaps();
    let windows = (input.most_values() / WINDOW as f64).ceil().max(1.0);
    // With two threads, the helper has a copy of the hits, and of the new codes.
    let stretches = if in_stretches { threads * length.min(heaps) * (PLANES + threads - 1) } else { 0 };
    let each = threads * Codes::bytes(heaps) + size_of::<Window>() + size_of::<Near>() + stretches;
    2.0 * heaps.next_multiple_of(LANES) as f64 + windows * each as f64 + 2.0 * input.copied_moves()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::mex::lanes::plain;

    /// The value of the last of `heaps` heaps in a block where heap `i` has only `listed[i]` free, if that exists.
    fn block(listed: &[usize], heaps: usize) -> Result<u16, RunError> {
        let mut windows: Vec<Window> = (0..=LAST_WINDOW).map(|_| Window::new(heaps)).collect();
        let mut near: Vec<Near> = windows.iter().map(|_| Near { free: [0; LANES], ..Near::default() }).collect();
        for (i, value) in listed.iter().enumerate() {
            near[value / WINDOW].free[i] = 1 << (value % WINDOW);
        }
        let mut g = [0; LANES];
        let mut seen = usize::MAX; // no value is new
        settle(&mut windows, &mut near, &NearMoves::new(&[]), heaps, plain::parts());
        write_block(&mut windows, &near, 0, &mut g, &mut seen, heaps)?;
        Ok(g[heaps - 1])
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
