//! Where few heaps are rare, a value depends on little but its near past: a **window** of the last codes.
//!
//! *Places.* A split that takes `d` more reaches what the split at the first place reaches from a heap smaller by `d`. So a rare heap
//! is decoded once, at the first place, and what it reaches is read again for each other place.
//!
//! *Common values.* Each rare heap is a move that reads the code of its partner. Moves that leave the block are done for the
//! block at once, those of at least [`SHORT`] for 16 heaps, and the few shorter ones heap by heap. The lowest bit that is not set is
//! the code.
//!
//! *Rare values.* Some small common heaps, the *cover*, reach nearly all rare values below. The values that they miss are searched for
//! among the splits with the first common heaps ([`CodeWindow::after_rare`]), the smallest first.
//!
//! All of this reads only codes, and these only as far back as the farthest move or split in use. So the values
//! of a window decide what follows, and whether it is verified: see [`mex_period`](crate::cores::octal::period).
//!
//! Cost: the decode of 15 to 150 rare heaps and a cover of about as many, and a few words a heap for places and near rare heaps.
//! Bound: the decode, which is that of the tier; with few rare heaps, the chain through near ones.

use super::Backend;
use super::blocks::Sparse;
use super::chain::{self, Chain, SHORT};
use super::codes::{Coder, LANES, Move, codes_at, parted, sort, sort_by_shift};
use super::cover;
use crate::cores::octal::period::{Progress, Repetition};
use crate::simd::array_of;

/// Codes of a word.
pub const CODES: usize = 64;
/// Heaps that are verified after they are computed, while their codes are in L1.
pub const CHUNK: usize = 64 * LANES;
/// If at most this many moves are shorter than a block, all of them are done heap by heap. With more, lanes of 16 are quicker.
const FEW_SHORT: usize = 8;
/// The most moves that leave a rare heap. With more, other kernels are quicker.
const MOST_MOVES: usize = 1024;
/// Common heaps to choose the cover from.
const POOL: usize = 1024;
/// The blocks of a search before any is known. In 0.106 a search reads 1.2 blocks, in 0.324 three, in 0.354 a hundred.
const LONG_SEARCH: u64 = 4;
/// Common heaps whose splits are searched.
const MOST_AFTER_RARE: usize = 1 << 20;

/// The codes of a block of a search.
pub type CodeBlock = [u8; LANES];

/// Moves by the code of the heap that they leave beside the one whose code is read.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    /// A code, and where its shifts end.
    groups: Vec<(u8, usize)>,
    shifts: Vec<usize>,
}

impl Moves {
    fn new(mut moves: Vec<Move>) -> Self {
        sort(&mut moves, |m| m.code as u8);
        let (mut groups, mut shifts): (Vec<(u8, usize)>, _) = (Vec::new(), Vec::new());
        for m in &moves {
            shifts.push(m.shift);
            match groups.last_mut() {
                Some((code, end)) if *code == m.code as u8 => *end = shifts.len(),
                _ => groups.push((m.code as u8, shifts.len())),
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
        self.shifts.iter().copied().max().unwrap_or(0)
    }
}

/// Functions that mark and count heaps of a run without a table: [`Progress::mark`] and [`Progress::count`].
pub type Mark = fn(&mut Progress, count: usize, depth: usize, by_position: bool) -> Option<Repetition>;
pub type Count = fn(&mut Progress, count: usize, values: &[[u16; CODES]; 2]);

/// A function that verifies a chunk: [`CodeWindow::verify`].
pub type Verify = fn(&mut CodeWindow, codes: &[u8], n: usize, odd: usize, is_reached: IsReached<'_>) -> Result<(), End>;

/// Searches for a move by which a heap reaches a rare value, given the heap's index and the code.
pub type IsReached<'a> = &'a mut dyn FnMut(usize, u8) -> bool;

/// The operations of a tier on windows, as those of [`BlockOps`](super::BlockOps) on blocks. `planes` groups of eight codes are enough:
/// nothing reads codes past them.
#[derive(Clone, Copy, Debug)]
pub struct WindowOps {
    /// Heaps of a block, a multiple of [`SHORT`] and at most [`LANES`].
    pub size: usize,
    /// Whether fewer planes take less time.
    pub has_planes: bool,
    /// How many codes of a heap a move of the cover must reach to be quicker than searches in one block.
    pub worth: f64,
    /// Sets the words of the block at `n` to the codes that moves reach from its heaps, a bit for each.
    pub block: fn(codes: &[u8], n: usize, moves: &Moves, planes: usize, words: &mut [u64]),
    /// ORs the codes that moves reach from the `SHORT` heaps at `n` into their words.
    pub short: fn(codes: &[u8], n: usize, moves: &[Move], planes: usize, words: &mut [u64; SHORT]),
    /// Whether a code is the XOR of two codes at the same index.
    pub is_split: fn(a: &CodeBlock, b: &CodeBlock, code: u8) -> bool,
}

/// The moves and codes from which the next codes follow.
#[derive(Clone, Debug)]
pub struct CodeWindow {
    pub coder: Coder,
    /// The value of each code, for even and for odd heaps.
    pub values: [[u16; CODES]; 2],
    /// The last rare heap, and how many there are.
    pub last_rare: usize,
    pub rare_count: usize,
    /// Splits into a rare heap at the first place: heap by heap, for 16 heaps, and for a block; and all of them.
    chain: Chain,
    middle: Vec<Move>,
    far: Moves,
    rare: Moves,
    /// Splits into a common heap at the first place.
    cover: Moves,
    /// Groups of eight codes that hold those of most blocks.
    planes: usize,
    /// Places that split a heap.
    splits: Vec<usize>,
    /// Takes that turn common into rare. With several places they are apart from the cover.
    odd_takes: Vec<usize>,
    odd_take_moves: Moves,
    /// The first common heaps before the last rare one, with their codes. Some values occur there alone.
    first: Vec<(usize, u8)>,
    /// The codes of the common heaps after the last rare one, in blocks of 64, each in reverse order.
    after_rare: Vec<CodeBlock>,
    /// How far back moves that leave a rare heap read, and how far the verification has read.
    pub depth: usize,
    pub verified_by: usize,
    /// Searches, and the blocks that they read.
    searches: u64,
    searched: u64,
    /// Room for what the first place reaches from the heaps of a chunk and those before.
    reached: Vec<u64>,
}

/// Why a window ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The heap at this index is not shown to reach the rare value with this code.
    Unresolved(usize, u8),
    /// A code has no bit in a word.
    TooLarge,
}

impl CodeWindow {
    /// The window of the first `n` heaps; `None` if a value has no bit in a word, the moves are too many, or they reach too far.
    pub fn new(sparse: &Sparse, n: usize, backend: Backend) -> Option<Self> {
        let (coder, last_rare, codes) = (sparse.coder, sparse.last_rare(), &sparse.codes[..n]);
        let (moves, splits, odd_takes) = (sparse.moves(), &sparse.splits, &sparse.odd_takes);
        let (base, place) = (*splits.first()?, splits.last()?);
        let (first, length) = (last_rare + 1, (n / 4).min(MOST_AFTER_RARE) / LANES * LANES);
        let depth = moves.iter().map(|m| m.shift).max()?;
        let farthest = odd_takes.iter().fold(depth.max(first + place), |far, place| far.max(*place));
        if usize::from(codes.iter().fold(0, |most, code| *code.max(&most))) >= CODES
            || moves.len() > MOST_MOVES
            || n < 8 * farthest + CHUNK
            || length == 0
        {
            return None;
        }
        let offsets = offsets(splits);
        let others = &offsets[1..];
        let (mut all, mut takes) = (Vec::new(), Vec::new());
        for m in moves {
            // With one place only, a take is a move like the others.
            if m.heap == 0 && !others.is_empty() {
                takes.push(m.shift);
            } else if m.heap == 0 || m.shift == base + m.heap {
                all.push(m);
            }
        }
        sort_by_shift(&mut all);
        let (near, far) = parted(all.clone(), &|m| m.shift < backend.window.size);
        let all_short = near.len() <= FEW_SHORT;
        let (short, middle) = parted(near, &|m| all_short || m.shift < SHORT);
        if short.len() > chain::MOST {
            return None;
        }
        let common = (1..first).filter(|heap| !sparse.is_rare(*heap)).take(POOL / 2);
        let mut after_rare: Vec<CodeBlock> = codes[first..first + length].as_chunks().0.to_vec();
        after_rare.iter_mut().for_each(|block| block.reverse());
        let mut window = CodeWindow {
            coder,
            values: array_of(|odd| array_of(|code| coder.common(odd, code as u8))),
            last_rare,
            rare_count: sparse.space.rare_count(),
            chain: Chain::new(&short, takes, others),
            middle,
            far: Moves::new(far),
            rare: Moves::new(all),
            cover: Moves::default(),
            planes: 1,
            splits: splits.clone(),
            odd_takes: odd_takes.clone(),
            odd_take_moves: Moves::default(),
            first: common.map(|heap| (heap, codes[heap])).collect(),
            after_rare,
            depth,
            verified_by: 0,
            searches: 1,
            searched: LONG_SEARCH,
            reached: vec![0; place - base + CHUNK + LANES],
        };
        window.choose(codes, backend);
        Some(window)
    }

    /// Chooses the cover by the last of these codes: the heaps that save more time than they take, by the length of the searches so far.
    /// The first code is that of an even heap.
    pub fn choose(&mut self, codes: &[u8], backend: Backend) {
        let (first, base) = (self.last_rare + 1, self.splits[0]);
        let after_rare = self.after_rare.iter().flat_map(|block| block.iter().rev()).zip(first..codes.len() / 8);
        let common = self.first.iter().copied().chain(after_rare.map(|(code, heap)| (heap, *code))).take(POOL);
        let pool = common.map(|(heap, code)| Move::new(base + heap, code, heap)).collect();
        // These reach as much as any common heap can.
        let odd_takes = self.odd_takes.iter().filter(|place| **place <= self.longest());
        let mut odd_takes: Vec<Move> = odd_takes.map(|place| Move::new(*place, 0, 0)).collect();
        let places = offsets(&self.splits);
        let bound = |n, code| self.coder.rare_below(n, code);
        let worth = backend.window.worth * self.searches as f64 / self.searched as f64;
        let (mut cover, _) = cover::greedy(codes, &bound, pool, &places, worth);
        if places.len() == 1 {
            cover.append(&mut odd_takes);
        }
        self.odd_take_moves = Moves::new(odd_takes);
        self.cover = Moves::new(cover);
        let last = &codes[codes.len() / 4 * 3..];
        self.planes = if backend.window.has_planes { fewest_planes(last, backend.window.size) } else { CODES / 8 };
        self.set_verified_by(self.verified_by);
    }

    /// Resets the record of how far back the verification reads: at least as far as the cover and as `distance`.
    pub fn set_verified_by(&mut self, distance: usize) {
        let cover = self.cover.reach() + self.before();
        self.verified_by = cover.max(self.odd_take_moves.reach()).max(distance);
    }

    /// How many of the last codes decide the next ones, and have decided their verification so far.
    pub fn width(&self) -> usize {
        self.depth.max(self.verified_by)
    }

    /// How far back anything can read.
    pub fn longest(&self) -> usize {
        let place = self.splits.last().copied().unwrap_or(0);
        self.depth.max(self.last_rare + self.after_rare.len().max(POOL / LANES) * LANES + place)
    }

    /// How many heaps before a block its places read.
    fn before(&self) -> usize {
        self.splits[self.splits.len() - 1] - self.splits[0]
    }

    /// Computes the codes at the indices from `n` on, a chunk of common heaps.
    ///
    /// # Errors
    /// [`End::TooLarge`].
    #[inline(always)]
    pub fn compute(&mut self, codes: &mut [u8], n: usize, ops: &WindowOps) -> Result<(), End> {
        let before = self.before();
        reach(codes, n - before, before, &self.rare, |_| CODES / 8, ops, &mut self.reached);
        for at in (0..CHUNK).step_by(ops.size) {
            let n = n + at;
            let mut planes = self.planes;
            loop {
                let block = &mut self.reached[before + at..][..ops.size];
                (ops.block)(codes, n, &self.far, planes, block);
                for from in (0..ops.size).step_by(SHORT) {
                    let words = &mut self.reached[..before + at + from + SHORT];
                    if !self.middle.is_empty() {
                        let last = words.last_chunk_mut().expect("16 words");
                        (ops.short)(codes, n + from, &self.middle, planes, last);
                    }
                    self.chain.run(codes, n + from, words);
                }
                let largest = largest(&codes[n..n + ops.size]);
                if usize::from(largest) < 8 * planes {
                    break;
                }
                if planes == CODES / 8 {
                    return Err(End::TooLarge);
                }
                planes += 1;
                // The words before the block have too few planes as well.
                reach(codes, n - before, before, &self.rare, |_| planes, ops, &mut self.reached[at..]);
            }
        }
        Ok(())
    }

    /// Verifies the chunk at the index `n`, which is that of an odd heap if `odd` is 1. `is_reached` searches where no
    /// split with a heap after the last rare one is found.
    ///
    /// # Errors
    /// [`End::Unresolved`]: the heaps before it are verified.
    #[inline(always)]
    pub fn verify(
        &mut self,
        codes: &[u8],
        n: usize,
        odd: usize,
        ops: &WindowOps,
        is_reached: IsReached<'_>,
    ) -> Result<(), End> {
        let before = self.before();
        let coder = self.coder;
        // Words that are read again for other places need as many planes as any heap.
        let most = if before > 0 { enough(coder, &codes[n..n + CHUNK]) } else { 0 };
        let planes = |n: usize| if before > 0 { most } else { enough(coder, &codes[n..n + ops.size]) };
        reach(codes, n - before, before + CHUNK, &self.cover, planes, ops, &mut self.reached);
        for at in (0..CHUNK).step_by(LANES) {
            let n = n + at;
            let mut words: [u64; LANES] = *self.reached[before + at..].first_chunk().expect("a block");
            for place in &self.splits[1..] {
                let at = before + at - (place - self.splits[0]);
                let from: &[u64; LANES] = self.reached[at..].first_chunk().expect("a block");
                for (word, from) in words.iter_mut().zip(from) {
                    *word |= from;
                }
            }
            if !self.odd_take_moves.shifts.is_empty() {
                let mut taken = [0; LANES];
                reach(codes, n, LANES, &self.odd_take_moves, planes, ops, &mut taken);
                for (word, taken) in words.iter_mut().zip(taken) {
                    *word |= taken;
                }
            }
            let block: &CodeBlock = codes_at(codes, n);
            for (word, below) in words.iter_mut().zip(self.coder.all_rare_below(odd, block)) {
                *word = !(u64::MAX.unbounded_shl(below.into()) | *word);
            }
            // The few heaps that have such codes.
            let is_unresolved = |(lane, unresolved): (usize, &u64)| u64::from(*unresolved != 0) << lane;
            let mut unverified = words.iter().enumerate().map(is_unresolved).fold(0, |all, bit| all | bit);
            while unverified != 0 {
                let lane = unverified.trailing_zeros() as usize;
                unverified &= unverified - 1;
                let mut unresolved = words[lane];
                while unresolved != 0 {
                    let code = unresolved.trailing_zeros() as u8;
                    if !self.is_near(codes, n + lane, code, ops) && !is_reached(n + lane, code) {
                        return Err(End::Unresolved(n + lane, code));
                    }
                    unresolved &= unresolved - 1;
                }
            }
        }
        Ok(())
    }

    /// Whether a split with a heap after the last rare one reaches the rare value of a code.
    #[inline(always)]
    fn is_near(&mut self, codes: &[u8], n: usize, code: u8, ops: &WindowOps) -> bool {
        self.searches += 1;
        for (i, block) in self.after_rare.iter().enumerate() {
            self.searched += 1;
            // The last heap of the block comes first, beside the first of its partners.
            let last = self.last_rare + (i + 1) * LANES;
            for place in &self.splits {
                let partners = codes[n - place - last..].first_chunk().expect("partners are behind the block");
                if (ops.is_split)(block, partners, code) {
                    self.verified_by = self.verified_by.max(place + last);
                    return true;
                }
            }
        }
        false
    }
}

/// Sets the words of heaps from `n` on, in whole blocks, to the codes that moves reach, with `planes` for the block at each heap.
#[inline(always)]
fn reach(
    codes: &[u8],
    n: usize,
    heaps: usize,
    moves: &Moves,
    planes: impl Fn(usize) -> usize,
    ops: &WindowOps,
    words: &mut [u64],
) {
    for at in (0..heaps).step_by(ops.size) {
        (ops.block)(codes, n + at, moves, planes(n + at), &mut words[at..at + ops.size]);
    }
}

/// The number of planes that the verification of these codes needs: no rare value above the largest is.
#[inline(always)]
fn enough(coder: Coder, codes: &[u8]) -> usize {
    (usize::from(largest(codes) | coder.low()) / 8 + 1).min(CODES / 8)
}

/// The largest of some blocks of codes.
#[inline(always)]
fn largest(codes: &[u8]) -> u8 {
    let mut most = [0; SHORT];
    for codes in codes.as_chunks::<SHORT>().0 {
        for (most, code) in most.iter_mut().zip(codes) {
            *most = (*most).max(*code);
        }
    }
    most.into_iter().fold(0, u8::max)
}

/// The number of planes with which blocks take the shortest time: a block with larger codes is computed again.
fn fewest_planes(codes: &[u8], block: usize) -> usize {
    // The blocks that need each number of planes, or more.
    let mut blocks = [0; CODES / 8 + 1];
    for codes in codes.chunks_exact(block) {
        for blocks in &mut blocks[..=usize::from(largest(codes)) / 8 + 1] {
            *blocks += 1;
        }
    }
    // The chain and the words take as long as a few planes.
    let pass = |planes: usize| planes + 4;
    // Once more means the words before the block as well.
    let again = |(planes, blocks): (usize, &usize)| blocks * 2 * pass(planes);
    let time =
        |first: usize| blocks[0] * pass(first) + blocks.iter().enumerate().skip(first + 1).map(again).sum::<usize>();
    (1..=CODES / 8).min_by_key(|first| time(*first)).expect("eight numbers of planes")
}

/// How much more each place takes than the first.
fn offsets(places: &[usize]) -> Vec<usize> {
    places.iter().map(|place| place - places[0]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::drive;
    use super::super::portable::{self, window_ops};
    use super::*;
    use crate::cores::octal::octal::{self, Octal};
    use crate::kernel::Run;

    /// Operations that decode no more planes than they must.
    fn narrow() -> WindowOps {
        let block = |codes: &[u8], n: usize, moves: &Moves, planes: usize, words: &mut [u64]| {
            (window_ops().block)(codes, n, moves, planes, words);
            words.iter_mut().for_each(|word| *word &= u64::MAX >> (CODES - 8 * planes));
        };
        WindowOps { has_planes: true, block, ..window_ops() }
    }

    /// Also where a block is computed again with more planes, and its places read heaps before it.
    #[test]
    fn codes_do_not_depend_on_the_planes_at_first() {
        for code in ["0.106", "4.045", "0.7744"] {
            let n = 4 * CHUNK;
            let input = Octal::new(&code.parse().expect("a game"), (n + CHUNK - 1) as u64).expect("a small limit");
            let start = octal::Start::default();
            let values = drive::single(&input, &Run::new(1), start, portable::parts()).expect("it ends");
            let sparse = Sparse::new(&input, &values).ok().expect("small values");
            let mut window =
                CodeWindow::new(&sparse, n, Backend { window: narrow(), ..portable::parts() }).expect("few rare heaps");
            for planes in 1..=CODES / 8 {
                let mut codes = sparse.codes.clone();
                codes[n..].fill(0);
                window.planes = planes;
                assert_eq!(window.compute(&mut codes, n, &narrow()), Ok(()));
                let differs = codes[..n + CHUNK].iter().zip(&sparse.codes).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{code} with {planes} planes at first");
            }
        }
    }
}
