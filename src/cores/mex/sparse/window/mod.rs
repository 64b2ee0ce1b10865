//! Where few heaps are rare, a value depends on little but its near past: a **window** of the last codes.
//!
//! *Common values.* Each rare heap `r` and place `t` is a move that reads the code `t + r` heaps before. Moves that
//! leave the block are done for 64 heaps at once, those of at least [`SHORT`] for 16, and the few shorter ones heap by
//! heap. The lowest bit that is not set is the code.
//!
//! *Rare values.* Some small common heaps, the heads, reach nearly all rare values below. The values that they miss are
//! searched for among the splits with the first common heaps ([`Window::stretch`]), the smallest first.
//!
//! All of this reads only codes, and these only as far back as the farthest move, head or split in use. So the values
//! of a window decide what follows, and whether it is verified: see [`mex_period`](crate::cores::mex::period).
//!
//! Cost per heap in words: a shift and an OR for each rare heap and each head, 30 to 200 of them; several heaps at once where the
//! tier shifts each lane by its own count. Cost per block in lanes of AVX-512: `1 + 1.5 P` operations for each rare heap that is
//! far and each head, `P` being two to five planes; three for each heap and near move.
//! Bound: these operations; with AVX-512 (Zen 5) permutes and ternary operations for the heads, then the chain through near moves.

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;
pub mod steps;
pub mod words;

use std::cell::Cell;
use std::collections::BTreeSet;

use super::blocks::Sparse;
use super::codes::{Coder, LANES, Move};
use super::heads;
use crate::simd::scalar::apart;

/// Codes of a word.
pub const CODES: usize = 64;
/// Heaps that are verified after they are computed, while their codes are in L1.
pub const CHUNK: usize = 64 * LANES;
/// Moves shorter than this are done heap by heap.
const SHORT: usize = 16;
/// The most moves that are done heap by heap. If at most `FEW_SHORT` moves are shorter than a block, all of them are;
/// with more, lanes of 16 are quicker.
const MOST_SHORT: usize = 16;
const FEW_SHORT: usize = 8;
/// The most moves that leave a rare heap. With more, other kernels are quicker.
const MOST_MOVES: usize = 1024;
/// Heads to choose from.
const POOL: usize = 1024;
/// Common heaps whose splits are searched.
const STRETCH: usize = 1 << 20;

/// The codes of a block.
pub type Block = [u8; LANES];
/// A bit for each code, for each heap of a block.
pub type Words = [u64; LANES];

/// Moves by the code of the heap that they leave beside the one whose code is read.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    /// A code, and where its shifts end.
    groups: Vec<(u8, usize)>,
    shifts: Vec<usize>,
}

impl Moves {
    fn new(mut moves: Vec<Move>) -> Self {
        moves.sort_unstable_by_key(|m| (m.code as u8, m.shift));
        let shifts = moves.iter().map(|m| m.shift).collect();
        let mut groups: Vec<(u8, usize)> = Vec::new();
        for (end, m) in (1..).zip(&moves) {
            match groups.last_mut() {
                Some((code, last)) if *code == m.code as u8 => *last = end,
                _ => groups.push((m.code as u8, end)),
            }
        }
        Moves { groups, shifts }
    }

    /// Each code with its shifts.
    #[inline(always)]
    pub fn groups(&self) -> impl Iterator<Item = (u8, &[usize])> {
        let mut from = 0;
        self.groups.iter().map(move |(code, end)| (*code, &self.shifts[std::mem::replace(&mut from, *end)..*end]))
    }

    /// The longest shift.
    fn reach(&self) -> usize {
        self.shifts.iter().max().copied().unwrap_or(0)
    }
}

/// The loops through a chunk, compiled for the tier of the function that [`loops!`] is in.
#[derive(Clone, Copy, Debug)]
pub struct Loops {
    /// [`Window::compute`].
    pub compute: fn(&mut Window, codes: &mut [u8], n: usize) -> Result<(), End>,
    /// [`Window::verify`].
    pub verify: Verify,
    /// [`Lanes::worth`].
    pub worth: f64,
}

type Verify = fn(&mut Window, codes: &[u8], n: usize, odd: usize, is_reached: IsReached<'_>) -> Result<(), End>;

/// Searches for a move by which a heap reaches a rare value, given the heap's index and the code.
pub type IsReached<'a> = &'a mut dyn FnMut(usize, u8) -> bool;

/// [`Loops`] of [`Lanes`].
macro_rules! loops {
    ($lanes:expr) => {
        $crate::cores::mex::sparse::window::Loops {
            compute: |window, codes, n| window.compute(codes, n, &$lanes),
            verify: |window, codes, n, odd, is_reached| window.verify(codes, n, odd, &$lanes, is_reached),
            worth: $crate::cores::mex::sparse::window::Lanes::worth(&$lanes),
        }
    };
}
pub(super) use loops;

/// The parts in which the kernels differ. `planes` groups of eight codes hold all codes of the heaps that are read.
pub trait Lanes {
    /// ORs the codes that moves reach from the block at `n` into its words.
    fn block(&self, codes: &[u8], n: usize, moves: &Moves, planes: usize, words: &mut Words);
    /// ORs the codes that moves reach from the `SHORT` heaps at `n` into their words.
    fn short(&self, codes: &[u8], n: usize, moves: &[Move], planes: usize, words: &mut [u64; SHORT]);
    /// The needed codes that heads do not reach from the block at `n`, whose first heap has the parity `odd`, and the
    /// heaps that have any. The words of other heaps are unspecified.
    fn open(&self, codes: &[u8], n: usize, odd: usize, window: &Window, words: &mut Words) -> u64;
    /// Whether a code is the XOR of two codes at the same index.
    fn is_split(&self, a: &Block, b: &Block, code: u8) -> bool;
    /// How many codes of a heap a head must reach to be quicker than a search.
    fn worth(&self) -> f64;
}

/// What computes codes from those before them.
#[derive(Clone, Debug)]
pub struct Window {
    coder: Coder,
    /// The last rare heap, and how many there are.
    last_rare: usize,
    rare_count: usize,
    /// Moves that leave a rare heap: heap by heap, for 16 heaps, and for a block.
    short: Vec<Move>,
    middle: Vec<Move>,
    far: Moves,
    /// Moves that leave a common heap.
    heads: Moves,
    /// The rare codes below each code, which its heap must reach, for even and for odd heaps: as words, and by planes.
    needed: [[u64; CODES]; 2],
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "lanes of AVX-512 alone read planes"))]
    needed_planes: [[Block; 2]; CODES / 8],
    /// Groups of eight codes that hold all of the codes so far.
    planes: usize,
    /// Places that split a heap, and takes that turn common into rare.
    splits: Vec<usize>,
    turned: Vec<usize>,
    /// The first common heaps before the last rare one, with their codes. Some values occur there alone.
    first: Vec<(usize, u8)>,
    /// The codes of the common heaps after the last rare one, in blocks of 64, each in reverse order.
    stretch: Vec<Block>,
    /// How far back moves that leave a rare heap read, and how far the verification has read.
    depth: usize,
    verified_by: usize,
}

/// Why a window ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The heap at this index is not shown to reach the rare value with this code.
    Open(usize, u8),
    /// A code has no bit in a word.
    TooLarge,
}

impl Window {
    /// The window of the first `n` heaps; `None` if a value has no bit in a word, the moves are too many, or they reach too far.
    /// For `worth`, see [`Window::choose`].
    pub fn new(sparse: &Sparse, n: usize, worth: f64) -> Option<Self> {
        let (coder, last_rare, codes) = (sparse.coder(), sparse.last_rare(), &sparse.codes[..n]);
        let (moves, splits, turned) = (sparse.moves(), sparse.splits(), sparse.turned());
        let place = splits.last()?;
        let largest = usize::from(*codes.iter().max()?);
        let (first, length) = (last_rare + 1, (n / 4).min(STRETCH) / LANES * LANES);
        let depth = moves.iter().map(|m| m.shift).max()?;
        let farthest = turned.iter().copied().fold(depth.max(first + place), usize::max);
        if largest >= CODES || moves.len() > MOST_MOVES || n < 8 * farthest + CHUNK || length == 0 {
            return None;
        }
        let rare: BTreeSet<usize> = moves.iter().map(|m| m.heap).collect();
        let common = (1..first).filter(|heap| !rare.contains(heap)).take(POOL / 2);
        let common = common.map(|heap| (heap, codes[heap])).collect();
        let (near, far): (Vec<Move>, Vec<Move>) = moves.into_iter().partition(|m| m.shift < LANES);
        let all_short = near.len() <= FEW_SHORT;
        let (short, middle): (Vec<Move>, Vec<Move>) = near.into_iter().partition(|m| all_short || m.shift < SHORT);
        if short.len() > MOST_SHORT {
            return None;
        }
        let backwards = |block: &Block| {
            let mut block = *block;
            block.reverse();
            block
        };
        let needed = |odd: usize| {
            let bound = move |code: usize| usize::from(coder.rare_below(odd, code as u8));
            std::array::from_fn(|code| if bound(code) < 64 { (1 << bound(code)) - 1 } else { u64::MAX })
        };
        let needed: [[u64; CODES]; 2] = [needed(0), needed(1)];
        let plane = |p: usize| needed.map(|words| words.map(|word| (word >> (8 * p)) as u8));
        let mut window = Window {
            coder,
            last_rare,
            rare_count: sparse.rare_count(),
            short,
            middle,
            far: Moves::new(far),
            heads: Moves::default(),
            needed,
            needed_planes: std::array::from_fn(plane),
            planes: largest / 8 + 1,
            splits: splits.to_vec(),
            turned: turned.to_vec(),
            first: common,
            stretch: codes[first..first + length].as_chunks().0.iter().map(backwards).collect(),
            depth,
            verified_by: 0,
        };
        window.choose(codes, worth);
        Some(window)
    }

    /// Chooses the heads by the last of these codes: those that reach at least `worth` codes of a heap. The first code is that of
    /// an even heap.
    pub fn choose(&mut self, codes: &[u8], worth: f64) {
        let first = self.last_rare + 1;
        let small = self.stretch.iter().flat_map(|block| block.iter().rev());
        let common = self.first.iter().copied().chain((first..codes.len() / 8).zip(small.copied()));
        let pool =
            common.flat_map(|(heap, code)| self.splits.iter().map(move |place| Move::new(place + heap, code, heap)));
        let takes = self.turned.iter().map(|place| Move::new(*place, 0, 0));
        let (heads, _) = heads::choose(
            codes,
            |n, code| self.coder.rare_below(n, code),
            takes.chain(pool).take(POOL).collect(),
            worth,
        );
        self.heads = Moves::new(heads);
        self.verified_by = self.verified_by.max(self.heads.reach());
    }

    /// How far back the verification has read, at least, since this was set.
    pub fn verified_by(&self) -> usize {
        self.verified_by
    }

    /// Resets the record of how far back the verification reads: at least as far as the heads and as `distance`.
    pub fn set_verified_by(&mut self, distance: usize) {
        self.verified_by = self.heads.reach().max(distance);
    }

    /// How many of the last codes decide the next ones, and have decided their verification so far.
    pub fn width(&self) -> usize {
        self.depth.max(self.verified_by)
    }

    /// How far back moves that leave a rare heap read.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// How far back anything can read.
    pub fn longest(&self) -> usize {
        let place = self.splits.last().copied().unwrap_or(0);
        self.depth.max(self.last_rare + self.stretch.len().max(POOL / LANES) * LANES + place)
    }

    /// The number of rare heaps, and the last of them.
    pub fn rare(&self) -> (usize, usize) {
        (self.rare_count, self.last_rare)
    }

    /// What its codes mean.
    pub fn coder(&self) -> Coder {
        self.coder
    }

    /// Computes the codes at the indices from `n` on, a chunk of common heaps.
    ///
    /// # Errors
    /// [`End::TooLarge`].
    #[inline(always)]
    pub fn compute(&mut self, codes: &mut [u8], n: usize, lanes: &impl Lanes) -> Result<(), End> {
        loop {
            for n in (n..n + CHUNK).step_by(LANES) {
                let mut words = [0; LANES];
                lanes.block(codes, n, &self.far, self.planes, &mut words);
                let heaps = if self.middle.is_empty() { LANES } else { SHORT };
                for (i, words) in words.chunks_exact_mut(heaps).enumerate() {
                    let n = n + i * heaps;
                    if let Ok(words) = words.try_into() {
                        lanes.short(codes, n, &self.middle, self.planes, words);
                    }
                    chain(codes, n, &self.short, words);
                }
            }
            let largest = codes[n..n + CHUNK].iter().fold(0, |most, code| most.max(*code));
            if usize::from(largest) < 8 * self.planes {
                return Ok(());
            }
            if self.planes == CODES / 8 {
                return Err(End::TooLarge);
            }
            self.planes += 1;
        }
    }

    /// Verifies the chunk at the index `n`, which is that of an odd heap if `odd` is 1. `is_reached` searches where no
    /// split with a heap of the stretch is found.
    ///
    /// # Errors
    /// [`End::Open`]: the heaps before it are verified.
    #[inline(always)]
    pub fn verify(
        &mut self,
        codes: &[u8],
        n: usize,
        odd: usize,
        lanes: &impl Lanes,
        is_reached: IsReached<'_>,
    ) -> Result<(), End> {
        for n in (n..n + CHUNK).step_by(LANES) {
            let mut words = [0; LANES];
            let mut open = lanes.open(codes, n, odd, self, &mut words);
            while open != 0 {
                let lane = open.trailing_zeros() as usize;
                let mut word = words[lane];
                while word != 0 {
                    let code = word.trailing_zeros() as u8;
                    if !self.is_near(codes, n + lane, code, lanes) && !is_reached(n + lane, code) {
                        return Err(End::Open(n + lane, code));
                    }
                    word &= word - 1;
                }
                open &= open - 1;
            }
        }
        Ok(())
    }

    /// Whether a split with a heap of the stretch reaches the rare value of a code.
    #[inline(always)]
    fn is_near(&mut self, codes: &[u8], n: usize, code: u8, lanes: &impl Lanes) -> bool {
        for (i, block) in self.stretch.iter().enumerate() {
            // The last heap of the block comes first, beside the first of its partners.
            let last = self.last_rare + (i + 1) * LANES;
            for place in &self.splits {
                let partners = codes[n - place - last..].first_chunk().expect("partners are behind the block");
                if lanes.is_split(block, partners, code) {
                    self.verified_by = self.verified_by.max(place + last);
                    return true;
                }
            }
        }
        false
    }
}

/// Computes the codes of the heaps at `n`, where `words` has what all but the short moves reach.
#[inline(always)]
fn chain(codes: &mut [u8], n: usize, short: &[Move], words: &[u64]) {
    macro_rules! by_moves {
        ($($count:literal)*) => {
            match short.len() {
                $($count => link::<$count>(codes, n, short, words),)*
                _ => unreachable!("a window has no more short moves"),
            }
        };
    }
    by_moves!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
}

/// Compiled for each number of moves.
#[inline(always)]
fn link<const MOVES: usize>(codes: &mut [u8], n: usize, short: &[Move], words: &[u64]) {
    let from = n - LANES;
    let cells = Cell::from_mut(&mut codes[from..n + words.len()]).as_slice_of_cells();
    let to = &cells[LANES..];
    let moves: [(&[Cell<u8>], u8); MOVES] = std::array::from_fn(|i| {
        let (shift, code) = (short[i].shift, short[i].code as u8);
        (&cells[LANES - shift..][..words.len()], code)
    });
    for (lane, (to, word)) in to.iter().zip(words).enumerate() {
        let mut word = *word;
        for (from, code) in &moves {
            word |= apart(1 << ((from[lane].get() ^ code) % CODES as u8));
        }
        to.set(word.trailing_ones() as u8);
    }
}
