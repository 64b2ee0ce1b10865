//! The driver of the byte-lane kernels: 64 consecutive heaps are 64 byte lanes, and only the decode is theirs.
//!
//! Values come in windows of 63. A window keeps one byte a heap, the *code*: `63 - v` for a heap whose value is the
//! window's `v`, 0 for every other heap, for heaps not known yet and for the padding in front. So one contiguous load at
//! `n - m` is what the move `m` contributes to the heaps `n..n + 64`, and no case is special.
//!
//! *Far part.* The kernel decodes codes to one-hot bits: eight planes of eight values each, ORed over the moves. A source
//! heap cannot hold a value before that value's first heap, so the distant moves need fewer planes; and since `g(n) = v`
//! asks for an earlier `v - 1`, first heaps ascend and each plane needs a prefix of the ascending moves. Moves that leave
//! a tile of some blocks are done for the whole tile at once, a few moves at a time, so that they find their lines in L1;
//! in large tables the same is done once more for a [`Stretch`] of tiles and L2.
//!
//! *Near part.* What moves below 64 reach inside the block is known only in order: the planes are transposed to one word
//! of free values a heap, from which the one-hot words of earlier heaps are taken. Moves of at least 16 act on eight heaps
//! at once; the rest is a serial chain through the heaps, isolating the lowest free value of each.
//!
//! A heap that finds no free value in any window opens a new one: its value is the first that no earlier heap has.

#[cfg(all(test, loom))]
mod model;

use std::ops::Range;

use super::{Subtraction, pairs};
use crate::kernel::{Cost, Run, RunError};
use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use crate::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use crate::sync::yield_now;
use crate::threads;

/// Heaps in a block.
pub const LANES: usize = 64;
/// Values in a window; code 0 stands for "none of them".
pub const WINDOW: usize = LANES - 1;
/// One-hot planes of a window: bit `b` of byte `i` of plane `p` stands for heap `i` and value `8 p + b`.
pub const PLANES: usize = 8;
/// The values reached by the heaps of a block. Bit 63 of a heap may hold anything.
pub type Planes = [[u8; LANES]; PLANES];

/// Blocks in a tile.
const TILE: usize = 8;
/// Heaps in a tile.
const TILE_HEAPS: usize = TILE * LANES;
/// Moves that stay together while the blocks of a tile pass.
const CHUNK: usize = 64;
/// Heaps in a stretch, in units of the root of all heaps.
const STRETCH: f64 = 24.0;
/// The same on two threads, which can share only the moves that leave a stretch, while caches hold the codes.
const PAIR_STRETCH: f64 = 6.0;
/// From so many heaps on caches do not hold the codes.
const PAST_CACHES: usize = 5_000_000;
/// Fewer moves than this are not worth a pass of their own with one plane less.
const SHORT: usize = 6;
/// The window that holds the largest value of the output, and how many of its values fit.
const LAST_WINDOW: usize = u16::MAX as usize / WINDOW;
const LAST_VALUES: usize = u16::MAX as usize % WINDOW + 1;
/// Windows whose last one-hot word [`settle`] keeps in registers.
const IN_REGISTERS: usize = 4;
/// Moves of at least this distance can act on eight heaps at once inside a block: see [`act_apart`].
pub const APART: usize = 16;

/// Calls `f::<planes>(..)`: a kernel that holds its planes in registers is compiled for each number of them.
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

/// The codes that a block of heaps reads.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    codes: &'a [u8],
    at: usize,
}

impl<'a> Sources<'a> {
    /// What a block reads whose first heap's code is, or would be, at a place of `codes`.
    #[inline(always)]
    pub fn new(codes: &'a [u8], at: usize) -> Self {
        Sources { codes, at }
    }

    /// What consecutive blocks read, this one first, each with its hits.
    #[inline(always)]
    pub fn blocks<'h>(self, hits: &'h mut [Planes]) -> impl Iterator<Item = (Sources<'a>, &'h mut Planes)> {
        hits.iter_mut().enumerate().map(move |(b, hits)| (Sources { at: self.at + b * LANES, ..self }, hits))
    }

    /// Codes of the heaps that the move `m` reaches from the block.
    #[inline(always)]
    pub fn behind(self, m: usize) -> &'a [u8; LANES] {
        self.codes[self.at - m..].first_chunk().expect("codes are padded by a block")
    }
}

/// Heaps in a stretch of so many roots of all heaps, see [`Stretch`]: whole tiles.
fn stretch(roots: f64, heaps: usize) -> usize {
    ((roots * (heaps as f64).sqrt()) as usize).next_multiple_of(TILE_HEAPS).max(TILE_HEAPS)
}

/// Heaps in a stretch of [`drive_pair`].
fn pair_stretch(heaps: usize) -> usize {
    stretch(if heaps < PAST_CACHES { PAIR_STRETCH } else { STRETCH }, heaps)
}

/// The least move that the threads of [`drive_pair`] share: from the next stretch a smaller one may lead to what is not settled.
fn shared_from(stretch: usize) -> usize {
    2 * stretch
}

/// The heaps that hold the 63 values of a window.
struct Codes {
    /// After so many zeros as the longest stretch has heaps: no move looks further ahead of heap 0.
    codes: Vec<u8>,
    pad: usize,
    /// For each plane in use the first heap with one of its values.
    first: Vec<usize>,
    /// For each plane in use the number of moves that reach such a heap.
    reach: [usize; PLANES],
}

impl Codes {
    fn new(heaps: usize) -> Self {
        let pad = stretch(STRETCH, heaps);
        let codes = vec![0; Self::bytes(heaps)];
        Codes { codes, pad, first: Vec::new(), reach: [0; PLANES] }
    }

    /// Bytes for so many heaps.
    fn bytes(heaps: usize) -> usize {
        stretch(STRETCH, heaps) + heaps.next_multiple_of(LANES) + LANES
    }

    /// What the block at `n` reads.
    #[inline(always)]
    fn behind(&self, n: usize) -> Sources<'_> {
        Sources::new(&self.codes, self.pad + n)
    }

    /// The codes of the heaps from `n` on.
    fn from(&mut self, n: usize) -> &mut [u8] {
        &mut self.codes[self.pad + n..]
    }
}

/// A window of values: its codes, and what the current tile and block need.
struct Window {
    known: Codes,
    /// What the far moves of the tile reached.
    far: [Planes; TILE],
    /// Free values of the heaps of the current block, as far as earlier blocks decide.
    free: [u64; LANES],
    /// One-hot values of the heaps of the current block, after a block of zeros.
    own: [u64; 2 * LANES],
}

impl Window {
    fn new(heaps: usize) -> Self {
        Window {
            known: Codes::new(heaps),
            far: [[[0; LANES]; PLANES]; TILE],
            free: [u64::MAX >> 1; LANES],
            own: [0; 2 * LANES],
        }
    }
}

/// The moves, by how they are carried out.
struct Moves {
    all: Vec<usize>,
    /// Moves inside a tile: the first so many.
    tile: usize,
    /// Moves of at least [`APART`] inside a block.
    apart: Vec<usize>,
    /// Moves of 2 to [`APART`]` - 1`.
    close: Vec<usize>,
    /// All ones if one is a move.
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

/// Far moves that somebody else has carried out for the tiles from `start` on.
#[derive(Default)]
pub struct Share {
    start: usize,
    /// For each window and block, what they reached.
    hits: Vec<Vec<Planes>>,
    /// The moves from this index on; `None`: no moves.
    from: Option<usize>,
}

/// The memory of hits that have been used: what is returned to the system comes back a page fault at a time.
fn emptied(share: &mut Share) -> Vec<Vec<Planes>> {
    let mut hits = std::mem::take(&mut share.hits);
    hits.iter_mut().for_each(Vec::clear);
    hits
}

/// Computes all values. `accumulate(sources, moves, planes, hits)` ORs the first `planes` planes of what `moves` reach into
/// `hits`, for consecutive blocks, the first of which reads `sources`; `free(hits, words)` transposes: bit `v` of word `i` is
/// set if heap `i` does not reach `v`, bit 63 never.
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
            let done = Done { hits: emptied(share), from: Vec::new() };
            *share = stretch.share(start, windows, done, &accumulate);
        }
    })
}

/// A stretch of some `sqrt N` heaps: moves that leave it are carried out for all of it at once, a [`CHUNK`] after the
/// other. Moves of a set like the squares stand less than `2 sqrt N` apart, so a line of codes that has come from memory is
/// read by a dozen of them while it is in L2. Longer stretches gain little more, and the moves inside them cannot be shared
/// between threads.
struct Stretch {
    heaps: usize,
    length: usize,
    moves: Vec<usize>,
    /// The number of moves that stay inside a stretch.
    inside: usize,
}

impl Stretch {
    /// Below so many heaps the codes are in L2 anyway.
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

    /// The share in which the moves that leave the stretch are done, beside what somebody else has `done`.
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

/// [`drive`], where `help(start, windows, share)` is asked before each tile whether the share changes.
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
    let mut seen = 0; // the values 0..seen have occurred
    for (t, tile) in g.chunks_mut(TILE_HEAPS).enumerate() {
        let start = t * TILE_HEAPS;
        let blocks = tile.len() / LANES;
        help(start, &mut windows, &mut share);
        for (w, window) in windows.iter_mut().enumerate() {
            // Pages that are read before they are written cost a second fault, and both cores an interruption.
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

/// What the moves of the range, all of which leave the tile, reach from its blocks.
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
        if to >= from + SHORT || (p == 0 && to > from) {
            for chunk in moves[from..to].chunks(CHUNK) {
                accumulate(known.behind(start), chunk, planes, hits);
            }
            (from, planes) = (to, p);
        }
    }
}

/// The values of one block, written to `g` and to the windows.
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
            break; // the heap has no value that fits
        }
        windows.push(Window::new(heaps));
    }
    // The last window reaches past the largest value. Heaps past the limit, in the last block, may have any.
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
            // 63 - v for the one-hot word of v, 0 for none: the zeros above the highest one, and no zeros above no one.
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

/// Takes what moves of at least [`APART`] reach from the first eight values that are free: `own[at..]` are the one-hot values
/// of their heaps.
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

/// Finds the one-hot values of a block's heaps, in order, with at most `C` close moves; false if a heap finds every window
/// full. Doing a block again, with one window more, repeats what was found.
#[inline(always)]
fn settle<const C: usize>(windows: &mut [Window], count: usize, moves: &Moves) -> bool {
    let windows = &mut windows[..count];
    // Where the close moves of heap 0 lead in `own`; a move of a whole block stands for none, it leads to zeros.
    let close: [usize; C] = std::array::from_fn(|c| (LANES - moves.close.get(c).unwrap_or(&LANES)) % LANES);
    // The value of the heap before, for the move 1: memory would put a store and a load into the chain.
    let mut last = [0; IN_REGISTERS];
    let mut all_settled = true;
    for group in 0..LANES / 8 {
        // The moves apart, for the group after this one: what they read has been stored for a while by then, and loads
        // that meet half-finished stores hold nothing up.
        for window in windows.iter_mut().filter(|_| group < LANES / 8 - 1) {
            let next = 8 * (group + 1);
            act_apart(&moves.apart, &window.own, LANES + next, &mut window.free[next..]);
        }
        for i in 8 * group..8 * group + 8 {
            // All ones until a window has a free value. No branch and no select: the window is not predictable.
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

/// What the helper of [`drive_pair`] is to do: far moves of the stretch at `start`.
struct Job {
    start: usize,
    /// Where the codes below belong.
    at: usize,
    /// For each window the codes that are new, and the first heaps of its planes.
    news: Vec<(Vec<u8>, Vec<usize>)>,
    /// Memory for what the moves reach.
    hits: Vec<Vec<Planes>>,
}

/// What the helper has done of a [`Job`].
#[derive(Default)]
struct Done {
    /// For each window and block, what the moves reached.
    hits: Vec<Vec<Planes>>,
    /// For each window, the index from which on moves were done; all moves are to be done in the windows after the last.
    from: Vec<usize>,
}

/// [`drive`] on two threads that share no table. While one settles a [`Stretch`], the other carries out moves of the next one:
/// those of at least two stretches, a window after the other, the farthest moves first; all they reach is known. It goes on
/// until the first one comes to that stretch, takes over what has been reached and does what is left, so that neither waits.
/// They exchange new codes for hits by messages.
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

/// The thread of [`drive_pair`] that settles.
struct Lead<'a> {
    stretch: &'a Stretch,
    /// The stretch that it has come to. It decides only who does a move: messages order everything else.
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
                let news =
                    |Window { known, .. }: &mut Window| (known.from(at)[..start - at].to_vec(), known.first.clone());
                let news = windows.iter_mut().map(news).collect();
                let job = Job { start: next, at, news, hits: emptied(share) };
                self.jobs.send(job).expect("the helper ends after its jobs");
            }
            let done = if was_ordered { receive(&self.results) } else { None };
            *share = stretch.share(start, windows, done.unwrap_or_default(), &accumulate);
        })
    }
}

/// The next message; none if the other thread has ended. It is due sooner than a sleeping thread would wake.
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
    let possible = stretch.moves.partition_point(|m| *m < shared_from(stretch.length));
    let mut windows: Vec<Codes> = Vec::new();
    while let Some(Job { start, at, news, hits }) = receive(&jobs) {
        windows.resize_with(news.len(), || Codes::new(stretch.heaps));
        for (window, (codes, first)) in windows.iter_mut().zip(news) {
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
            while from > possible && reached.load(Relaxed) < start {
                let to = from;
                from = possible.max(to.saturating_sub(CHUNK));
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

/// [`drive`]'s transposition, eight heaps of eight planes at a time, in words.
#[inline(always)]
pub fn free_words(hits: &Planes, free: &mut [u64; LANES]) {
    for (group, words) in free.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        *words = hits.map(|plane| u64::from_le_bytes(*plane[8 * group..].first_chunk().expect("eight heaps")));
        // An 8x8 matrix of bytes: exchange the off-diagonal quarters at distances of 4, 2 and 1 bytes.
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

/// Planes that are accumulated for a heap, over all its moves: values reach about four fifths of the largest on average.
pub fn planes(input: &Subtraction) -> f64 {
    let moves = input.pairs() / input.heaps() as f64;
    0.8 * input.values() / 8.0 * moves / LANES as f64
}

/// The part of the pairs of heap and move that [`drive_pair`] can share.
pub fn shareable(input: &Subtraction) -> f64 {
    let least = shared_from(pair_stretch(input.heaps())) as u64;
    let unshared = input.moves().partition_point(|m| *m < least);
    pairs(&input.moves()[unshared..], input.limit()) / f64::max(input.pairs(), 1.0)
}

/// Predicted time and memory of a kernel that takes `plane` ns to decode one plane of a block for one move, and no less than
/// `step` ns for all planes together; `settle` is the time of its near part, compared with AVX-512.
pub fn cost(input: &Subtraction, plane: f64, step: f64, settle: f64) -> Cost {
    let (heaps, values) = (input.heaps() as f64, input.values());
    let windows = f64::max(values / WINDOW as f64, 1.0);
    // Early and distant heaps hold fewer values than the last.
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
    bytes(input, 2, pair_stretch(input.heaps()), true) + threads::STACK
}

/// Bytes of the values, of the moves in both of their lists, and of the windows with the codes that each of `threads` keeps, and with
/// the hits of stretches of `length` heaps if there are any.
fn bytes(input: &Subtraction, threads: usize, length: usize, in_stretches: bool) -> f64 {
    let heaps = input.heaps();
    let windows = (input.most_values() / WINDOW as f64).ceil().max(1.0);
    // On two threads a copy is with the helper, and so are codes that are new.
    let stretches = if in_stretches { threads * length.min(heaps) * (PLANES + threads - 1) } else { 0 };
    let each = threads * Codes::bytes(heaps) + size_of::<Window>() + stretches;
    2.0 * heaps.next_multiple_of(LANES) as f64 + windows * each as f64 + 2.0 * input.copied_moves()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of the last of `heaps` heaps, in a block of which each heap has one free value: the next that is listed, if any.
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
    fn values_of_16_bits_fit_and_what_is_past_the_limit_is_not_looked_at() {
        let most = usize::from(u16::MAX);
        assert_eq!(block(&[most], 1), Ok(u16::MAX));
        assert_eq!(block(&[most, most + 1], 1), Ok(u16::MAX));
        assert_eq!(block(&[most, most + 1], 2), Err(RunError::LargeValue));
        assert_eq!(block(&[most, 7], 2), Ok(7));
        assert_eq!(block(&[most, 7], 3), Err(RunError::LargeValue), "no free value at all");
    }
}
