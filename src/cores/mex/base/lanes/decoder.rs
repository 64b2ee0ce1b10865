//! What the decoders of all tiers share, and the serial chain through the heaps of a block.

/// Heaps in a block.
pub const LANES: usize = 64;
/// Values in a window; code 0 means none of them.
pub const WINDOW: usize = LANES - 1;
/// One-hot planes of a window: bit `b` of byte `i` of plane `p` means heap `i` and value `8 p + b`.
pub const PLANES: usize = 8;
/// The values reached by the heaps of a block. Bit 63 of a heap is unspecified.
pub type Planes = [[u8; LANES]; PLANES];

/// Moves of at least this distance can act on eight heaps at once inside a block: see [`act_apart`].
pub const APART: usize = 16;

/// How many of the numbers, in ascending order, are below a bound.
#[inline]
pub fn below<T: PartialOrd>(numbers: &[T], bound: T) -> usize {
    numbers.partition_point(|n| *n < bound)
}

/// Calls `f::<planes>(..)`. A kernel that holds its planes in registers is compiled for each number of planes.
#[doc(hidden)]
#[macro_export]
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
pub use by_planes;

/// The operations of a tier. Drivers take `&dyn Decoder`: they and the decoders are compiled once, and a call is small beside the block
/// that it decodes.
pub trait Decoder: Sync {
    /// ORs the first planes of the values that the moves reach into the hits of consecutive blocks. The first block reads these
    /// sources, which are passed as a reference: a copy would wait for the stores of what is copied.
    fn add(&self, from: &Sources, moves: &[usize], planes: usize, hits: &mut [Planes]);

    /// The values that are not hit, a word for each heap.
    fn free_words(&self, hits: &Planes, free: &mut [u64; LANES]);

    /// [`resolve()`].
    fn resolve(&self, windows: &mut [Near], moves: &NearMoves) -> bool;
}

/// A decoder of closures, which have the CPU features of the function that makes them.
#[derive(Clone, Copy)]
pub struct Backend<A, F, S> {
    /// [`Decoder::add`].
    pub add: A,
    /// [`Decoder::free_words`].
    pub free_words: F,
    /// [`Decoder::resolve`].
    pub resolve: S,
}

/// A [`Backend`] whose closures have the CPU features of the function that this is in.
macro_rules! backend {
    (|$from:ident, $moves:ident, $planes:ident, $hits:ident| $add:expr, $free_words:path) => {
        $crate::cores::mex::lanes::Backend {
            add: move |$from: &Sources, $moves: &[usize], $planes: usize, $hits: &mut [Planes]| $add,
            free_words: |hits: &Planes, free: &mut [u64; LANES]| $free_words(hits, free),
            resolve: |windows: &mut [_], moves: &_| $crate::cores::mex::lanes::resolve(windows, moves),
        }
    };
}
pub(super) use backend;

impl<A, F, S> Decoder for Backend<A, F, S>
where
    A: Fn(&Sources, &[usize], usize, &mut [Planes]) + Sync,
    F: Fn(&Planes, &mut [u64; LANES]) + Sync,
    S: Fn(&mut [Near], &NearMoves) -> bool + Sync,
{
    #[inline(always)]
    fn add(&self, from: &Sources, moves: &[usize], planes: usize, hits: &mut [Planes]) {
        (self.add)(from, moves, planes, hits);
    }

    #[inline(always)]
    fn free_words(&self, hits: &Planes, free: &mut [u64; LANES]) {
        (self.free_words)(hits, free);
    }

    fn resolve(&self, windows: &mut [Near], moves: &NearMoves) -> bool {
        (self.resolve)(windows, moves)
    }
}

/// The table entry of a code in plane `p`: the one-hot bit of its value.
pub const fn one_hot(code: u8, plane: usize) -> u8 {
    match WINDOW.checked_sub(code as usize) {
        Some(value) if code > 0 && value / 8 == plane => 1 << (value % 8),
        _ => 0,
    }
}

/// Codes of a group of 16 values, for lookups in 16 bytes.
pub const GROUP: usize = 16;

/// The one-hot bits of a plane, by the low four bits of the code, as often as they fit. The table is the same for every group.
pub const fn group_table<const N: usize>(plane: usize) -> [u8; N] {
    let mut table = [0; N];
    let mut i = 0;
    while i < N {
        table[i] = one_hot((WINDOW + 1 - GROUP + i % GROUP) as u8, plane);
        i += 1;
    }
    table
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
    pub(super) codes: &'a [u8],
    pub(super) at: usize,
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

/// Removes what moves of at least [`APART`] reach from the free values of eight heaps, `free[..8]`. The one-hot values of these
/// heaps are at `own[at..]`.
#[inline(always)]
pub fn act_apart(moves: &[usize], own: &[u64], at: usize, free: &mut [u64]) {
    let free: &mut [u64; 8] = free.first_chunk_mut().expect("eight heaps");
    let mut reached = [0; 8];
    for m in moves {
        let source: &[u64; 8] = own[at - m..].first_chunk().expect("eight heaps");
        for i in 0..8 {
            reached[i] |= source[i];
        }
    }
    for i in 0..8 {
        free[i] &= !reached[i];
    }
}

/// Windows whose last one-hot word the chain keeps in registers.
const IN_REGISTERS: usize = 4;

/// The state of a window in a block.
pub struct Near {
    /// For each heap of the current block, the values that no earlier block rules out.
    pub free: [u64; LANES],
    /// A block of zeros, then the one-hot values of the heaps of the current block.
    pub own: [u64; 2 * LANES],
}

impl Default for Near {
    fn default() -> Self {
        Near { free: [u64::MAX >> 1; LANES], own: [0; 2 * LANES] }
    }
}

/// The moves inside a block.
pub struct NearMoves {
    /// Those of at least [`APART`].
    pub apart: Vec<usize>,
    /// Those from 2 to [`APART`]` - 1`.
    pub close: Vec<usize>,
    /// All ones if 1 is a move, else 0.
    pub one: u64,
}

impl NearMoves {
    /// Of moves in ascending order, those inside a block.
    pub fn new(moves: &[usize]) -> Self {
        NearMoves {
            apart: moves[below(moves, APART)..below(moves, LANES)].to_vec(),
            close: moves[below(moves, 2)..below(moves, APART)].to_vec(),
            one: if moves.first() == Some(&1) { u64::MAX } else { 0 },
        }
    }
}

/// Finds the one-hot values of a block's heaps, in order: each heap takes the lowest value that is free for it. Returns false if some heap has no free value in any window. Repeating the
/// block with one more window gives the same values and the missing ones.
///
/// Inlined into the decoder of each tier, which has its CPU features.
#[inline(always)]
pub fn resolve(windows: &mut [Near], moves: &NearMoves) -> bool {
    // Loops over a known number of windows and moves are unrolled.
    match (windows.len(), moves.close.len()) {
        (1, 0..=2) => resolve_with::<2>(windows, 1, moves),
        (2, 0..=2) => resolve_with::<2>(windows, 2, moves),
        (3, 0..=2) => resolve_with::<2>(windows, 3, moves),
        (count, 0..=2) => resolve_with::<2>(windows, count, moves),
        (1, 3..=6) => resolve_with::<6>(windows, 1, moves),
        (2, 3..=6) => resolve_with::<6>(windows, 2, moves),
        (count, 3..=6) => resolve_with::<6>(windows, count, moves),
        (1, _) => resolve_with::<{ APART - 2 }>(windows, 1, moves),
        (count, _) => resolve_with::<{ APART - 2 }>(windows, count, moves),
    }
}

/// [`resolve`] with at most `C` close moves.
#[inline(always)]
fn resolve_with<const C: usize>(windows: &mut [Near], count: usize, moves: &NearMoves) -> bool {
    let windows = &mut windows[..count];
    // Where the close moves of heap 0 lead in `own`. Unused entries are moves of a whole block, which lead to zeros.
    let mut close = [0; C];
    for (to, m) in close.iter_mut().zip(&moves.close) {
        *to = LANES - m;
    }
    // The value of the previous heap, for the move 1. In memory, it would add a store and a load to the chain.
    let mut last = [0; IN_REGISTERS];
    let mut all_resolved = true;
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
                // The remainder changes nothing and spares a check.
                let mut reached = 0;
                for m in &close {
                    reached |= window.own[(m + i) % window.own.len()];
                }
                let before = if w < IN_REGISTERS { last[w] } else { window.own[LANES + i - 1] & moves.one };
                let open = window.free[i] & !reached & !before;
                let own = open & open.wrapping_neg() & wanted;
                wanted &= (open.wrapping_sub(1) as i64 >> 63) as u64; // bit 63 is never open
                window.own[LANES + i] = own;
                if w < IN_REGISTERS {
                    last[w] = own & moves.one;
                }
            }
            all_resolved &= wanted == 0;
        }
    }
    all_resolved
}
