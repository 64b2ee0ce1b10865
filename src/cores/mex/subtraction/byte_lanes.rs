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

use std::ops::Range;

use super::Subtraction;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
use crate::cores::mex::lanes::avx512::BY_SHIFT;
use crate::cores::mex::lanes::{APART, Decoder, LANES, PLANES, Planes, Sources, WINDOW, act_apart};
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
/// Windows whose last one-hot word [`settle`] keeps in registers.
const IN_REGISTERS: usize = 4;

/// Rates: the ns to decode a plane of a block for a move, the least ns for all of its planes, and the time of the near part relative
/// to AVX-512.
pub fn cost(input: &Subtraction, _: CostContext, [plane, step, settle]: [f64; 3]) -> Cost {
    let (heaps, values) = (input.heaps() as f64, input.values());
    let windows = f64::max(values / WINDOW as f64, 1.0);
    // Early heaps, and those that distant moves reach, have fewer values than the last.
    let planes = 0.7 * values / PLANES as f64 + windows;
    let below = |bound| input.moves().partition_point(|m| *m < bound);
    let close = match below(APART as u64) - below(2) {
        0..=2 => 2,
        3..=6 => 6,
        _ => APART - 2,
    };
    let apart = below(LANES as u64) - below(APART as u64);
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

/// A window of values: its codes, and the state of the current tile and block.
pub struct Window {
    pub known: Codes,
    /// The values reached by the far moves of the tile.
    far: [Planes; TILE_BLOCKS],
    /// For each heap of the current block, the values that no earlier block rules out.
    free: [u64; LANES],
    /// A block of zeros, then the one-hot values of the heaps of the current block.
    own: [u64; 2 * LANES],
}

impl Window {
    fn new(heaps: usize) -> Self {
        Window {
            known: Codes::new(heaps),
            far: [[[0; LANES]; PLANES]; TILE_BLOCKS],
            free: [u64::MAX >> 1; LANES],
            own: [0; 2 * LANES],
        }
    }
}

/// The moves, grouped by how they are applied.
struct GroupedMoves {
    all: Vec<usize>,
    /// The number of moves shorter than a tile.
    tile: usize,
    /// Moves of at least [`APART`] inside a block.
    apart: Vec<usize>,
    /// Moves from 2 to [`APART`]` - 1`.
    close: Vec<usize>,
    /// All ones if 1 is a move, else 0.
    one: u64,
}

impl GroupedMoves {
    fn new(moves: &[u64]) -> Self {
        let all: Vec<usize> = moves.iter().map(|m| *m as usize).collect();
        let below = |bound| all.partition_point(|m| *m < bound);
        GroupedMoves {
            tile: below(TILE_HEAPS),
            apart: all[below(APART)..below(LANES)].to_vec(),
            close: all[below(2)..below(APART)].to_vec(),
            one: if all.first() == Some(&1) { u64::MAX } else { 0 },
            all,
        }
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
pub fn run(input: &Subtraction, run: &Run, decoder: impl Decoder) -> Result<Vec<u16>, RunError> {
    run_alone(input, run, &decoder)
}

/// [`run`] with a decoder of any kind.
#[inline(always)]
pub fn run_alone(input: &Subtraction, run: &Run, decoder: &dyn Decoder) -> Result<Vec<u16>, RunError> {
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
        let moves: Vec<usize> = input.moves().iter().map(|m| *m as usize).collect();
        let inside = moves.partition_point(|m| *m < length);
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
    let moves = GroupedMoves::new(input.moves());
    let mut g = vec![0u16; heaps.next_multiple_of(LANES)];
    let mut windows = vec![Window::new(heaps)];
    let mut share = Share::default();
    let mut seen = 0; // values 0..seen have occurred
    for (t, tile) in g.chunks_mut(TILE_HEAPS).enumerate() {
        let start = t * TILE_HEAPS;
        let blocks = tile.len() / LANES;
        help(start, &mut windows, &mut share);
        begin_tile(&mut windows, &moves, &share, start, blocks, decoder);
        for (b, block) in tile.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let n = start + b * LANES;
            begin_block(&mut windows, &moves, n, decoder);
            near_part(&mut windows, &moves, n, block, &mut seen, heaps)?;
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
fn begin_block(windows: &mut [Window], moves: &GroupedMoves, n: usize, decoder: &dyn Decoder) {
    let b = n % TILE_HEAPS / LANES;
    for window in windows {
        let (from, planes) = (window.known.behind(n), window.known.first.len());
        decoder.add(from, &moves.all[..moves.tile], planes, &mut window.far[b..=b]);
        decoder.free_words(&window.far[b], &mut window.free);
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
        *reach += moves[*reach..].iter().take_while(|m| *m + first <= last).count();
        let to = range.end.min(*reach);
        if to >= from + LEAST_MOVES || (p == 0 && to > from) {
            for chunk in moves[from..to].chunks(MOVES_AT_ONCE) {
                decoder.add(known.behind(start), chunk, planes, hits);
            }
            (from, planes) = (to, p);
        }
    }
}

/// Computes the values of one block and writes them to `g` and to the windows.
#[inline(always)]
fn near_part(
    windows: &mut Vec<Window>,
    moves: &GroupedMoves,
    n: usize,
    g: &mut [u16; LANES],
    seen: &mut usize,
    heaps: usize,
) -> Result<(), RunError> {
    // Loops over a known number of windows and moves are unrolled.
    while !match (windows.len(), moves.close.len()) {
        (1, 0..=2) => settle::<2>(windows, 1, moves),
        (2, 0..=2) => settle::<2>(windows, 2, moves),
        (3, 0..=2) => settle::<2>(windows, 3, moves),
        (count, 0..=2) => settle::<2>(windows, count, moves),
        (1, 3..=6) => settle::<6>(windows, 1, moves),
        (2, 3..=6) => settle::<6>(windows, 2, moves),
        (count, 3..=6) => settle::<6>(windows, count, moves),
        (1, _) => settle::<{ APART - 2 }>(windows, 1, moves),
        (count, _) => settle::<{ APART - 2 }>(windows, count, moves),
    } {
        if windows.len() > LAST_WINDOW {
            break; // some heap has no value that fits
        }
        windows.push(Window::new(heaps));
    }
    // The last window extends beyond the largest value. In the last block, heaps beyond the limit may have any value.
    if let Some(last) = windows.get(LAST_WINDOW) {
        let fits = |i: usize| last.own[i] >> LAST_VALUES == 0 && windows.iter().any(|window| window.own[i] != 0);
        if !(LANES..LANES + LANES.min(heaps - n)).all(fits) {
            return Err(RunError::LargeValue);
        }
    }
    g.fill(0);
    for (w, window) in windows.iter_mut().enumerate() {
        let codes: &mut [u8; LANES] = window.known.from(n).first_chunk_mut().expect("codes are padded");
        let past = ((w + 1) * WINDOW) as u16;
        for ((code, own), g) in codes.iter_mut().zip(&window.own[LANES..]).zip(&mut *g) {
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

/// Finds the one-hot values of a block's heaps, in order, with at most `C` close moves. Returns false if some heap has no free value
/// in any window. Repeating the block with one more window gives the same values and the missing ones.
#[inline(always)]
fn settle<const C: usize>(windows: &mut [Window], count: usize, moves: &GroupedMoves) -> bool {
    let windows = &mut windows[..count];
    // Where the close moves of heap 0 lead in `own`. Unused entries are moves of a whole block, which lead to zeros.
    let close: [usize; C] = std::array::from_fn(|c| (LANES - moves.close.get(c).unwrap_or(&LANES)) % LANES);
    // The value of the previous heap, for the move 1. In memory, it would add a store and a load to the chain.
    let mut last = [0; IN_REGISTERS];
    let mut all_settled = true;
    for group in 0..LANES / 8 {
        // The `apart` moves are applied to the next group: what they read was stored a while before, and loads that meet
        // unfinished stores delay nothing.
        for window in windows.iter_mut().filter(|_| group < LANES / 8 - 1) {
            let next = 8 * (group + 1);
            act_apart(&moves.apart, &window.own, LANES + next, &mut window.free[next..]);
        }
        for i in 8 * group..8 * group + 8 {
            // All ones until a window has a free value. No branch and no select, since the window is unpredictable.
            let mut wanted = u64::MAX;
            for (w, window) in windows.iter_mut().enumerate() {
                let reached = close.iter().fold(0, |reached, m| reached | window.own[m + i]);
                let before = if w < IN_REGISTERS { last[w] } else { window.own[LANES + i - 1] & moves.one };
                let open = window.free[i] & !reached & !before;
                let own = open & open.wrapping_neg() & wanted;
                wanted &= (open.wrapping_sub(1) as i64 >> 63) as u64; // bit 63 is never open
                window.own[LANES + i] = own;
                if w < IN_REGISTERS {
                    last[w] = own & moves.one;
                }
            }
            all_settled &= wanted == 0;
        }
    }
    all_settled
}

/// Bytes of the values, the moves in both of their lists, and the windows: the codes that each of `threads` keeps, and the hits of
/// stretches of `length` heaps if `in_stretches`.
pub fn bytes(input: &Subtraction, threads: usize, length: usize, in_stretches: bool) -> f64 {
    let heaps = input.heaps();
    let windows = (input.most_values() / WINDOW as f64).ceil().max(1.0);
    // With two threads, the helper has a copy of the hits, and of the new codes.
    let stretches = if in_stretches { threads * length.min(heaps) * (PLANES + threads - 1) } else { 0 };
    let each = threads * Codes::bytes(heaps) + size_of::<Window>() + stretches;
    2.0 * heaps.next_multiple_of(LANES) as f64 + windows * each as f64 + 2.0 * input.copied_moves()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of the last of `heaps` heaps in a block where heap `i` has only `listed[i]` free, if that exists.
    fn block(listed: &[usize], heaps: usize) -> Result<u16, RunError> {
        let mut windows: Vec<Window> = (0..=LAST_WINDOW).map(|_| Window::new(heaps)).collect();
        for window in &mut windows {
            window.free.fill(0);
        }
        for (i, value) in listed.iter().enumerate() {
            windows[value / WINDOW].free[i] = 1 << (value % WINDOW);
        }
        let mut g = [0; LANES];
        let mut seen = usize::MAX; // no value is new
        near_part(&mut windows, &GroupedMoves::new(&[]), 0, &mut g, &mut seen, heaps)?;
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
