//! The driver of the byte-lane kernels: 64 consecutive heaps are 64 byte lanes. Kernels differ only in how they decode values.
//!
//! Values are split into windows of 63. A window keeps one byte per heap, the *code*: `63 - v` for a heap whose value is the
//! window's `v`, and 0 for all other heaps, for heaps not known yet and for padding. So one contiguous load at `n - m` holds what
//! the move `m` contributes to the heaps `n..n + 64`, without special cases.
//!
//! *Far part.* The kernel decodes codes to one-hot bits: eight planes of eight values each, ORed over the moves. No heap has a
//! value before the value's first heap, so distant moves need fewer planes. Since `g(n) = v` requires an earlier `v - 1`, first
//! heaps ascend, and each plane needs a prefix of the ascending moves. Moves longer than a tile of some blocks are applied to the
//! whole tile, a few at a time, so their lines stay in L1. In large tables the same is done for a [`Stretch`] of tiles and L2.
//!
//! *Near part.* What moves below 64 reach inside the block is known only in order. The planes are transposed to one word of free
//! values per heap, and the one-hot words of earlier heaps are removed from it. Moves of at least 16 act on eight heaps at once.
//! The rest is a serial chain through the heaps, which isolates the lowest free value of each. A heap without a free value in any
//! window opens a new window: its value is the first that no earlier heap has.

#[cfg(all(test, loom))]
mod model;

use std::ops::Range;

use super::{Subtraction, pairs};
use crate::kernel::threads;
use crate::kernel::{Cost, Run, RunError};
use crate::machine::STACK;
use crate::machine::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::machine::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use crate::machine::sync::yield_now;

/// Heaps in a block.
pub const LANES: usize = 64;
/// Values in a window; code 0 means none of them.
pub const WINDOW: usize = LANES - 1;
/// One-hot planes of a window: bit `b` of byte `i` of plane `p` means heap `i` and value `8 p + b`.
pub const PLANES: usize = 8;
/// The values reached by the heaps of a block. Bit 63 of a heap is unspecified.
pub type Planes = [[u8; LANES]; PLANES];

/// Blocks in a tile.
const TILE_BLOCKS: usize = 8;
/// Heaps in a tile.
const TILE_HEAPS: usize = TILE_BLOCKS * LANES;
/// Moves that are applied to all blocks of a tile before the next moves.
const MOVES_AT_ONCE: usize = 64;
/// Heaps in a stretch, in units of the square root of the number of heaps.
const STRETCH: f64 = 24.0;
/// The same for two threads, while caches hold the codes. Threads can share only the moves that leave a stretch.
const PAIR_STRETCH: f64 = 6.0;
/// From this number of heaps on, caches do not hold the codes.
const PAST_CACHES: usize = 5_000_000;
/// Fewer moves than this are not worth a separate pass with one plane less.
const LEAST_MOVES: usize = 6;
/// The window that holds the largest value of the output, and how many of its values fit.
const LAST_WINDOW: usize = u16::MAX as usize / WINDOW;
const LAST_VALUES: usize = u16::MAX as usize % WINDOW + 1;
/// Windows whose last one-hot word [`settle`] keeps in registers.
const IN_REGISTERS: usize = 4;
/// Moves of at least this distance can act on eight heaps at once inside a block: see [`act_apart`].
pub const APART: usize = 16;

/// Calls `f::<planes>(..)`. A kernel that holds its planes in registers is compiled for each number of planes.
macro_rules! by_planes {
    ($planes:expr, $f:ident($($argument:expr),*)) => {
        match $planes {
            0 => {}
            1 => $f::<1>($($argument),*),
            2 => $f::<2>($($argument),*),
            3 => $f::<3>($($argument),*),
            4 => $f::<4>($($argument),*),
            5 => $f::<5>($($argument),*),
            6 => $f::<6>($($argument),*),
            7 => $f::<7>($($argument),*),
            _ => $f::<8>($($argument),*),
        }
    };
}
pub(in crate::cores::mex) use by_planes;

/// The table entry of a code in plane `p`: the one-hot bit of its value.
pub const fn one_hot(code: u8, plane: usize) -> u8 {
    match WINDOW.checked_sub(code as usize) {
        Some(value) if code > 0 && value / 8 == plane => 1 << (value % 8),
        _ => 0,
    }
}

/// The one-hot bits of every code, for lookups in 64 bytes.
pub const ONE_HOT: Planes = {
    let mut tables: Planes = [[0; LANES]; _];
    let mut p = 0;
    while p < tables.len() {
        let mut code = 0;
        while code < LANES {
            tables[p][code] = one_hot(code as u8, p);
            code += 1;
        }
        p += 1;
    }
    tables
};

/// The codes that a block of heaps reads.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    codes: &'a [u8],
    at: usize,
}

impl<'a> Sources<'a> {
    /// The sources of a block. `at` is the index in `codes` where the code of its first heap is, or would be.
    #[inline(always)]
    pub fn new(codes: &'a [u8], at: usize) -> Self {
        Sources { codes, at }
    }

    /// The sources of consecutive blocks, starting with this one, each with its hits.
    #[inline(always)]
    pub fn blocks<'h>(self, hits: &'h mut [Planes]) -> impl Iterator<Item = (Sources<'a>, &'h mut Planes)> {
        hits.iter_mut().enumerate().map(move |(b, hits)| (Sources { at: self.at + b * LANES, ..self }, hits))
    }

    /// The codes of the heaps that the move `m` reaches from the block.
    #[inline(always)]
    pub fn behind(self, m: usize) -> &'a [u8; LANES] {
        self.codes[self.at - m..].first_chunk().expect("codes are padded by a block")
    }
}

/// Heaps in a [`Stretch`] of `roots` times the square root of the number of heaps, rounded up to whole tiles.
fn stretch(roots: f64, heaps: usize) -> usize {
    ((roots * (heaps as f64).sqrt()) as usize).next_multiple_of(TILE_HEAPS).max(TILE_HEAPS)
}

/// Heaps in a stretch of [`drive_pair`].
fn pair_stretch(heaps: usize) -> usize {
    stretch(if heaps < PAST_CACHES { PAIR_STRETCH } else { STRETCH }, heaps)
}

/// The least move that the threads of [`drive_pair`] share. From the next stretch, a smaller move may reach heaps that are not
/// settled yet.
fn shared_from(stretch: usize) -> usize {
    2 * stretch
}

/// The codes of a window for all heaps.
struct Codes {
    /// Preceded by `pad` zeros, as many as the longest stretch has heaps. No move reads further before heap 0.
    codes: Vec<u8>,
    pad: usize,
    /// For each plane in use, the first heap with one of its values.
    first: Vec<usize>,
    /// For each plane in use, the number of moves that reach such a heap.
    reach: [usize; PLANES],
}

impl Codes {
    fn new(heaps: usize) -> Self {
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
    fn from(&mut self, n: usize) -> &mut [u8] {
        &mut self.codes[self.pad + n..]
    }
}

/// A window of values: its codes, and the state of the current tile and block.
struct Window {
    known: Codes,
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
struct Moves {
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

impl Moves {
    fn new(moves: &[u64]) -> Self {
        let all: Vec<usize> = moves.iter().map(|m| *m as usize).collect();
        let below = |bound| all.partition_point(|m| *m < bound);
        Moves {
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

/// Takes the memory of used hits for new ones. Memory returned to the system would cost page faults.
fn recycled(share: &mut Share) -> Vec<Vec<Planes>> {
    let mut hits = std::mem::take(&mut share.hits);
    hits.iter_mut().for_each(Vec::clear);
    hits
}

/// Computes all values.
///
/// `accumulate(sources, moves, planes, hits)` ORs the first `planes` planes of the values that `moves` reach into `hits`, for
/// consecutive blocks. The first block reads `sources`. `free(hits, words)` transposes: bit `v` of word `i` is set if heap `i` does
/// not reach `v`; bit 63 is never set.
#[inline(always)]
pub fn drive(
    input: &Subtraction,
    run: &Run,
    accumulate: impl Fn(Sources, &[usize], usize, &mut [Planes]),
    free: impl Fn(&Planes, &mut [u64; LANES]),
) -> Result<Vec<u16>, RunError> {
    let stretch = Stretch::new(input, stretch(STRETCH, input.heaps()));
    drive_helped(input, run, &accumulate, free, |start, windows, share| {
        if stretch.starts(start) {
            let done = Done { hits: recycled(share), from: Vec::new() };
            *share = stretch.share(start, windows, done, &accumulate);
        }
    })
}

/// A stretch of a few `sqrt N` heaps. Moves that leave it are applied to all of it, [`MOVES_AT_ONCE`] at a time. In a set like
/// the squares, neighbouring moves differ by less than `2 sqrt N`, so a line of codes that has come from memory is read by a
/// dozen of them while it is in L2. Longer stretches gain little more, and moves inside a stretch cannot be shared between
/// threads.
struct Stretch {
    heaps: usize,
    length: usize,
    moves: Vec<usize>,
    /// The number of moves that stay inside a stretch.
    inside: usize,
}

impl Stretch {
    /// With fewer heaps than this, the codes stay in L2 anyway.
    const WORTHWHILE: usize = 700_000;

    fn new(input: &Subtraction, length: usize) -> Self {
        let heaps = input.heaps();
        let moves: Vec<usize> = input.moves().iter().map(|m| *m as usize).collect();
        let inside = moves.partition_point(|m| *m < length);
        Stretch { heaps, length, moves, inside }
    }

    fn starts(&self, start: usize) -> bool {
        start.is_multiple_of(self.length) && self.heaps >= Self::WORTHWHILE
    }

    fn blocks(&self, start: usize) -> usize {
        self.length.min(self.heaps.next_multiple_of(LANES) - start) / LANES
    }

    /// Applies the moves that leave the stretch, except those already `done`.
    #[inline(always)]
    fn share(
        &self,
        start: usize,
        windows: &mut [Window],
        mut done: Done,
        accumulate: &impl Fn(Sources, &[usize], usize, &mut [Planes]),
    ) -> Share {
        done.hits.resize(windows.len(), Vec::new());
        for (w, (window, hits)) in windows.iter_mut().zip(&mut done.hits).enumerate() {
            hits.resize(self.blocks(start), [[0; LANES]; PLANES]);
            let to = done.from.get(w).map_or(self.moves.len(), |from| *from);
            far_part(&mut window.known, &self.moves, self.inside..to, start, hits, accumulate);
        }
        Share { start, hits: done.hits, from: Some(self.inside) }
    }
}

/// [`drive`], with `help(start, windows, share)` called before each tile to update the share.
#[inline(always)]
fn drive_helped(
    input: &Subtraction,
    run: &Run,
    accumulate: impl Fn(Sources, &[usize], usize, &mut [Planes]),
    free: impl Fn(&Planes, &mut [u64; LANES]),
    mut help: impl FnMut(usize, &mut [Window], &mut Share),
) -> Result<Vec<u16>, RunError> {
    let heaps = input.heaps();
    let moves = Moves::new(input.moves());
    let mut g = vec![0u16; heaps.next_multiple_of(LANES)];
    let mut windows = vec![Window::new(heaps)];
    let mut share = Share::default();
    let mut seen = 0; // values 0..seen have occurred
    for (t, tile) in g.chunks_mut(TILE_HEAPS).enumerate() {
        let start = t * TILE_HEAPS;
        let blocks = tile.len() / LANES;
        help(start, &mut windows, &mut share);
        for (w, window) in windows.iter_mut().enumerate() {
            // A page that is read before it is written costs a second fault, which interrupts both cores.
            window.known.from(start)[..(blocks + 1) * LANES].fill(0);
            let hits = &mut window.far[..blocks];
            match share.hits.get(w) {
                Some(done) => hits.copy_from_slice(&done[(start - share.start) / LANES..][..blocks]),
                None => hits.fill([[0; LANES]; PLANES]),
            }
            let mine = moves.tile..share.from.unwrap_or(moves.all.len());
            far_part(&mut window.known, &moves.all, mine, start, hits, &accumulate);
        }
        for (b, block) in tile.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let n = start + b * LANES;
            for window in &mut windows {
                accumulate(
                    window.known.behind(n),
                    &moves.all[..moves.tile],
                    window.known.first.len(),
                    &mut window.far[b..=b],
                );
                free(&window.far[b], &mut window.free);
            }
            near_part(&mut windows, &moves, n, block, &mut seen, heaps)?;
            run.advance(LANES.min(heaps - n) as u64)?;
        }
    }
    g.truncate(heaps);
    Ok(g)
}

/// Adds what a range of moves, all of which leave the tile or stretch, reach from its blocks.
#[inline(always)]
fn far_part(
    known: &mut Codes,
    moves: &[usize],
    range: Range<usize>,
    start: usize,
    hits: &mut [Planes],
    accumulate: &impl Fn(Sources, &[usize], usize, &mut [Planes]),
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
                accumulate(known.behind(start), chunk, planes, hits);
            }
            (from, planes) = (to, p);
        }
    }
}

/// Computes the values of one block and writes them to `g` and to the windows.
#[inline(always)]
fn near_part(
    windows: &mut Vec<Window>,
    moves: &Moves,
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

/// Removes what moves of at least [`APART`] reach from the free values of eight heaps, `free[..8]`. The one-hot values of these
/// heaps are at `own[at..]`.
#[inline(always)]
pub fn act_apart(moves: &[usize], own: &[u64], at: usize, free: &mut [u64]) {
    let mut reached = [0; 8];
    for m in moves {
        let source: &[u64; 8] = own[at - m..].first_chunk().expect("eight heaps");
        for (reached, source) in reached.iter_mut().zip(source) {
            *reached |= source;
        }
    }
    for (free, reached) in free.iter_mut().zip(reached) {
        *free &= !reached;
    }
}

/// Finds the one-hot values of a block's heaps, in order, with at most `C` close moves. Returns false if some heap has no free value
/// in any window. Repeating the block with one more window gives the same values and the missing ones.
#[inline(always)]
fn settle<const C: usize>(windows: &mut [Window], count: usize, moves: &Moves) -> bool {
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

/// A job for the helper of [`drive_pair`]: far moves of the stretch at `start`.
struct Job {
    start: usize,
    /// The first heap of the new codes.
    at: usize,
    /// For each window, the new codes and the first heaps of its planes.
    updates: Vec<(Vec<u8>, Vec<usize>)>,
    /// Memory for the values that the moves reach.
    hits: Vec<Vec<Planes>>,
}

/// The part of a [`Job`] that the helper has done.
#[derive(Default)]
struct Done {
    /// For each window and block, the values that the moves reached.
    hits: Vec<Vec<Planes>>,
    /// For each window, moves from this index on are done. Windows without an entry still need all moves.
    from: Vec<usize>,
}

/// [`drive`] on two threads that share no table. While the leading thread settles a [`Stretch`], the helper applies moves of at
/// least two stretches to the next one, whose sources are all known: window by window, the longest moves first. When the leading
/// thread comes to that stretch, the helper stops and hands over its hits, and the leading thread applies the remaining moves. So
/// neither waits for the other. They exchange new codes and hits by messages.
#[inline(always)]
pub fn drive_pair<A: Fn(Sources, &[usize], usize, &mut [Planes]) + Copy + Send>(
    input: &Subtraction,
    run: &Run,
    accumulate: A,
    free: impl Fn(&Planes, &mut [u64; LANES]),
) -> Result<Vec<u16>, RunError> {
    let stretch = &Stretch::new(input, pair_stretch(input.heaps()));
    let reached = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (jobs, todo) = channel();
        let (done, results) = channel();
        threads::start(scope, move || assist(stretch, reached, todo, done, accumulate))?;
        Lead { stretch, reached, jobs, results }.drive(input, run, accumulate, free)
    })
}

/// The leading thread of [`drive_pair`], which settles values.
struct Lead<'a> {
    stretch: &'a Stretch,
    /// The start of the stretch that it has come to. This only decides which thread applies a move; messages order everything else.
    reached: &'a AtomicUsize,
    jobs: Sender<Job>,
    results: Receiver<Done>,
}

impl Lead<'_> {
    #[inline(always)]
    fn drive<A: Fn(Sources, &[usize], usize, &mut [Planes]) + Copy>(
        self,
        input: &Subtraction,
        run: &Run,
        accumulate: A,
        free: impl Fn(&Planes, &mut [u64; LANES]),
    ) -> Result<Vec<u16>, RunError> {
        let stretch = self.stretch;
        let mut ordered = false;
        drive_helped(input, run, accumulate, free, |start, windows, share| {
            if !start.is_multiple_of(stretch.length) {
                return;
            }
            self.reached.store(start, Relaxed);
            let was_ordered = ordered;
            let next = start + stretch.length;
            ordered = start > 0 && next < stretch.heaps;
            if ordered {
                let at = start - stretch.length;
                let update =
                    |Window { known, .. }: &mut Window| (known.from(at)[..start - at].to_vec(), known.first.clone());
                let updates = windows.iter_mut().map(update).collect();
                let job = Job { start: next, at, updates, hits: recycled(share) };
                self.jobs.send(job).expect("the helper outlives its jobs");
            }
            let done = if was_ordered { receive(&self.results) } else { None };
            *share = stretch.share(start, windows, done.unwrap_or_default(), &accumulate);
        })
    }
}

/// The next message; `None` if the other thread has ended. Yields instead of sleeping, because the message comes sooner than a
/// sleeping thread would wake.
fn receive<T>(messages: &Receiver<T>) -> Option<T> {
    loop {
        match messages.try_recv() {
            Ok(message) => return Some(message),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => yield_now(),
        }
    }
}

/// The helper's loop.
#[inline(always)]
fn assist(
    stretch: &Stretch,
    reached: &AtomicUsize,
    jobs: Receiver<Job>,
    results: Sender<Done>,
    accumulate: impl Fn(Sources, &[usize], usize, &mut [Planes]),
) {
    let shared = stretch.moves.partition_point(|m| *m < shared_from(stretch.length));
    let mut windows: Vec<Codes> = Vec::new();
    while let Some(Job { start, at, updates, hits }) = receive(&jobs) {
        windows.resize_with(updates.len(), || Codes::new(stretch.heaps));
        for (window, (codes, first)) in windows.iter_mut().zip(updates) {
            window.from(at)[..codes.len()].copy_from_slice(&codes);
            window.first = first;
        }
        let mut done = Done { hits, from: Vec::new() };
        done.hits.resize(windows.len(), Vec::new());
        for (window, hits) in windows.iter_mut().zip(&mut done.hits) {
            if reached.load(Relaxed) >= start {
                break;
            }
            hits.resize(stretch.blocks(start), [[0; LANES]; PLANES]);
            let mut from = stretch.moves.partition_point(|m| *m < start + stretch.length);
            while from > shared && reached.load(Relaxed) < start {
                let to = from;
                from = shared.max(to.saturating_sub(MOVES_AT_ONCE));
                far_part(window, &stretch.moves, from..to, start, hits, &accumulate);
            }
            done.from.push(from);
        }
        // The other thread may have been stopped.
        if results.send(done).is_err() {
            break;
        }
    }
}

/// The transposition for [`drive`], in words of eight heaps, eight planes at a time.
#[inline(always)]
pub fn free_words(hits: &Planes, free: &mut [u64; LANES]) {
    for (group, words) in free.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *words = hits.map(|plane| u64::from_le_bytes(*plane[8 * group..].first_chunk().expect("eight heaps")));
        // Transposes an 8x8 matrix of bytes: exchanges the off-diagonal quarters at distances of 4, 2 and 1 bytes.
        for (distance, mask) in [(4, 0x0000_0000_ffff_ffff), (2, 0x0000_ffff_0000_ffff), (1, 0x00ff_00ff_00ff_00ff)] {
            for i in (0..8).filter(|i| i & distance == 0) {
                let swap = (words[i] >> (8 * distance) ^ words[i + distance]) & mask;
                words[i + distance] ^= swap;
                words[i] ^= swap << (8 * distance);
            }
        }
        words.iter_mut().for_each(|word| *word = !*word & u64::MAX >> 1);
    }
}

/// The planes accumulated per heap, over all its moves. On average, values reach about four fifths of the largest.
pub fn planes(input: &Subtraction) -> f64 {
    let moves = input.pairs() / input.heaps() as f64;
    0.8 * input.values() / 8.0 * moves / LANES as f64
}

/// The fraction of the pairs of heap and move that [`drive_pair`] can share.
pub fn shareable(input: &Subtraction) -> f64 {
    let least = shared_from(pair_stretch(input.heaps())) as u64;
    let unshared = input.moves().partition_point(|m| *m < least);
    pairs(&input.moves()[unshared..], input.limit()) / f64::max(input.pairs(), 1.0)
}

/// Predicted time and memory of a kernel that takes `plane` ns to decode one plane of a block for one move, but at least `step` ns
/// for all planes together. `settle` is the time of its near part relative to AVX-512.
pub fn cost(input: &Subtraction, plane: f64, step: f64, settle: f64) -> Cost {
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

/// Bytes of [`drive_pair`].
pub fn pair_bytes(input: &Subtraction) -> f64 {
    bytes(input, 2, pair_stretch(input.heaps()), true) + STACK
}

/// Bytes of the values, the moves in both of their lists, and the windows: the codes that each of `threads` keeps, and the hits of
/// stretches of `length` heaps if `in_stretches`.
fn bytes(input: &Subtraction, threads: usize, length: usize, in_stretches: bool) -> f64 {
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
        near_part(&mut windows, &Moves::new(&[]), 0, &mut g, &mut seen, heaps)?;
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
