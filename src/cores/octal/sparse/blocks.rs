//! Sparse blocks: 64 consecutive heaps are 64 byte lanes, which hold [`codes`](super::codes) of values.
//!
//! *Common values.* Each rare heap `r` and place `k` is a move: from the heaps of the block, it reaches the XOR of the
//! code of `r` and the codes `k + r` heaps before, a contiguous load. The kernel decodes them to one-hot bits and ORs
//! these over the moves. Lanes where the other heap is rare as well are left out. What moves below 64 reach inside the
//! block becomes known only in order, so the least free code of each heap is found one by one, as in `mex_subtraction`.
//! Where the position counts, a move that takes an odd number and leaves one heap reaches common values from rare
//! heaps; lanes find these few one by one.
//!
//! *Tests.* Where many heaps are rare, only moves that together reach most values are decoded ([`cover`]). Each other move is tested for
//! the least codes that are still free, a few of each heap, until each heap has one that no move reaches.
//!
//! *Rare values.* Every rare value below must be shown to be reached. A few hundred common heaps go through the same
//! decode. Of the values that remain, a few in a block, each is searched for among all splits. The first that is not
//! found is the value of a new rare heap; what was computed after it is dropped.
//!
//! The quality of the mask affects only the time. The mask is chosen anew as the rare heaps grow in number, or when a
//! value has a new bit.

use super::codes::{CODES, Coder, LANES, Move, parted, sort_by_shift};
use super::space::{Mask, Space, common_parity};
use super::{Backend, BlockOps, CHUNK, GROUPS, Group, PLANES, TESTED, cover};
use crate::cores::octal::octal::candidates::search;
use crate::cores::octal::octal::input::Octal;
use crate::cores::octal::octal::values::Values;
use crate::kernel::RunError;
use crate::simd::bits::funnel;

/// The codes that are free, a word for each group and heap.
type Free = [[u64; LANES]; GROUPS];

/// The state of a run by blocks.
#[derive(Clone)]
pub struct Sparse<'a> {
    input: &'a Octal,
    is_unequal: bool,
    /// Places whose moves leave two heaps.
    pub splits: Vec<usize>,
    pub space: Space,
    pub coder: Coder,
    /// The takes that turn rare into common and common into rare: those of an odd number, where the position counts.
    pub odd_takes: Vec<usize>,
    /// A bit for each heap up to the last rare one.
    rare: Vec<u64>,
    /// A code for each heap, then padding for a block.
    pub codes: Vec<u8>,
    /// Planes that hold the codes of most blocks, and how many blocks in a row needed fewer.
    planes: usize,
    spare: usize,
    roles: Roles,
    /// For searches among splits, whose other heap is in ascending order: in reverse order the first values, and the codes of up to
    /// [`MOST_AFTER_RARE`] heaps after the last rare one, none until the run is far past them.
    reversed: Vec<u16>,
    after_rare: Vec<u8>,
}

/// The moves by what is done with them.
#[derive(Clone, Default)]
struct Roles {
    /// Those that leave a rare heap: that reach into their block, that are decoded, and that are tested.
    near: Vec<Move>,
    far: Vec<Move>,
    tested: Vec<Move>,
    /// Those that leave a common heap and show that rare values are reached: the ones that are decoded.
    cover: Vec<Move>,
    /// The heap from which the moves are chosen anew.
    until: usize,
}

/// Values whose bits do not fit in the codes.
pub struct TooLarge;

/// How many of the first values are kept in reverse order.
const REVERSED: usize = 1 << 15;
/// Heaps whose codes are searched first, at most.
const MOST_AFTER_RARE: usize = 1 << 15;
/// Moves of the cover where none are chosen.
const COVER: usize = 512;
/// Nanoseconds of a heap, of a block, and of a move that goes lane by lane.
const NS_PER_HEAP: f64 = 20.0;
const NS_PER_BLOCK: f64 = 3000.0;
const NS_PER_MIXED: f64 = 60.0;
/// Moves to choose the cover from.
const POOL: usize = 4096;
/// Blocks with a plane to spare until it is given up.
const SPARE: usize = 32;
/// How many codes of a heap a move must reach to be decoded, for common and for rare values, as measured with AVX-512.
const WORTH: f64 = 0.0015;
/// The most heaps of a block that are tested one by one.
const FEW: u32 = 4;

impl<'a> Sparse<'a> {
    pub fn new(input: &'a Octal, g: &[u16]) -> Result<Self, TooLarge> {
        let mut sparse = Sparse {
            input,
            is_unequal: input.code().is_unequal(),
            splits: input.places(4).collect(),
            space: Space::new(common_parity(input.code()), g),
            coder: Coder::new(Mask { values: 1, position: None }),
            odd_takes: Vec::new(),
            rare: Vec::new(),
            codes: vec![0; input.heaps() + 4 * LANES],
            planes: 0,
            spare: 0,
            roles: Roles::default(),
            reversed: Vec::new(),
            after_rare: Vec::new(),
        };
        sparse.rebuild(g)?;
        Ok(sparse)
    }

    /// Adopts the mask of the space: new codes and moves.
    fn rebuild(&mut self, g: &[u16]) -> Result<(), TooLarge> {
        self.coder = Coder::new(self.space.mask);
        (self.rare, self.planes) = (Vec::new(), 0);
        for (n, value) in g.iter().enumerate() {
            self.encode(n, *value)?;
        }
        self.roles = Roles::default();
        self.odd_takes.clear();
        for place in self.input.places(2) {
            if self.space.mask.position.is_some() && place % 2 == 1 {
                self.odd_takes.push(place);
            } else {
                self.add_move(Move::new(place, 0, 0));
            }
        }
        for (heap, value) in self.space.rare().to_vec() {
            self.add_rare(heap, value);
        }
        sort_by_shift(&mut self.roles.near);
        sort_by_shift(&mut self.roles.far);
        Ok(())
    }

    fn encode(&mut self, n: usize, value: u16) -> Result<(), TooLarge> {
        let code = u8::try_from(self.coder.code(value)).map_err(|_| TooLarge)?;
        self.codes[n] = code;
        self.planes = self.planes.max(usize::from(code) / 8 + 1);
        if self.space.mask.is_rare(n, value) {
            self.rare.resize(n / 64 + 1, 0);
            self.rare[n / 64] |= 1 << (n % 64);
        }
        Ok(())
    }

    fn add_move(&mut self, m: Move) {
        if m.shift < LANES { self.roles.near.push(m) } else { self.roles.far.push(m) }
    }

    fn add_rare(&mut self, heap: usize, value: u16) {
        let code = self.coder.code(value) as u8;
        self.after_rare.clear();
        if !self.roles.tested.is_empty() {
            self.roles.far.append(&mut self.roles.tested);
            sort_by_shift(&mut self.roles.far);
        }
        for i in 0..self.splits.len() {
            self.add_move(Move::new(self.splits[i] + heap, code, heap));
        }
    }

    /// Whether a heap is rare.
    pub fn is_rare(&self, n: usize) -> bool {
        self.rare.get(n / 64).is_some_and(|word| word >> (n % 64) & 1 == 1)
    }

    /// The last rare heap.
    pub fn last_rare(&self) -> usize {
        self.space.rare().last().map_or(0, |(heap, _)| *heap)
    }

    /// A bit for each of the 64 heaps from `n` on, set if it is rare.
    fn rare_from(&self, n: usize) -> u64 {
        let word = |i: usize| self.rare.get(i).copied().unwrap_or(0);
        funnel(word(n / 64), word(n / 64 + 1), n % 64)
    }

    /// Whether the 64 heaps from `n` on are common.
    fn is_common(&self, n: usize) -> bool {
        n > self.last_rare() || n > 0 && self.rare_from(n) == 0
    }

    /// Sets `free` to the codes that the moves leave free in the block from `n` on, through common heaps below `end`.
    #[inline(always)]
    fn free(&self, n: usize, end: usize, moves: &[Move], planes: usize, ops: &BlockOps, free: &mut Free) {
        let mut hits = [[0; LANES]; PLANES];
        let farthest = moves.last().map_or(0, |m| m.shift);
        let is_all_common = n > farthest + self.last_rare();
        let is_apart = |m: &Move| m.shift >= LANES && m.shift < n && self.is_common(n - m.shift);
        let (apart, mixed) = if is_all_common { Default::default() } else { parted(moves.to_vec(), &is_apart) };
        (ops.decode)(&self.codes, n, if is_all_common { moves } else { &apart }, planes, &mut hits);
        for (q, free) in free.iter_mut().enumerate() {
            if 8 * q < planes {
                let group: &Group = hits[8 * q..].first_chunk().expect("whole groups");
                (ops.words)(group, free);
                // The codes past the last plane are not free.
                let allowed = u64::MAX >> (64 - 8 * (planes - 8 * q).min(8));
                for (word, last) in free.iter_mut().zip(&group[7]) {
                    *word = (*word & u64::MAX >> 1 | u64::from(!last >> 7) << 63) & allowed;
                }
            } else {
                free.fill(0);
            }
        }
        for m in &mixed {
            self.remove(n, end, m, free);
        }
    }

    /// Removes what one move reaches, lane by lane, through common heaps below `end`.
    #[inline(always)]
    fn remove(&self, n: usize, end: usize, m: &Move, free: &mut Free) {
        let first = (m.shift + 1).saturating_sub(n);
        let last = LANES.min((end + m.shift).saturating_sub(n));
        if first >= last {
            return;
        }
        let mut lanes = u64::MAX << first & u64::MAX >> (LANES - last);
        if n + first <= m.shift + self.last_rare() {
            lanes &= !(self.rare_from((n + first) - m.shift) << first);
        }
        if self.is_unequal && (n + first..n + last).contains(&(m.shift + m.heap)) {
            lanes &= !(1 << (m.shift + m.heap - n));
        }
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            let code = self.codes[n + lane - m.shift] ^ m.code as u8;
            free[usize::from(code) / 64][lane] &= !(1 << (code % 64));
            lanes &= lanes - 1;
        }
    }

    /// Removes the rare values that takes turn into common ones. The heaps of the block itself are not rare.
    #[inline(always)]
    fn remove_odd_takes(&self, n: usize, free: &mut Free) {
        for place in &self.odd_takes {
            if n > place + self.last_rare() {
                continue;
            }
            for lane in (0..LANES.min(*place)).filter(|lane| self.is_rare(n + lane - place)) {
                let code = self.codes[n + lane - place];
                free[usize::from(code) / 64][lane] &= !(1 << (code % 64));
            }
        }
    }

    /// Tests the moves that are not decoded for the least free codes of each heap, and removes the codes that they reach. All codes below
    /// `until` are decided then.
    #[inline(always)]
    fn test_least(&self, n: usize, groups: usize, free: &mut Free, until: &mut [usize; LANES], ops: &BlockOps) {
        // A heap may need more of them when moves inside the block take its codes, but most have enough.
        let mut unknown = u64::MAX;
        while unknown.count_ones() > FEW {
            let mut tested = [[0; LANES]; TESTED];
            let mut is_tested = [0; TESTED];
            for lane in (0..LANES).filter(|lane| unknown >> lane & 1 == 1) {
                let mut count = 0;
                for (q, free) in free.iter().enumerate().take(groups) {
                    let mut word = free[lane] & !below(until[lane], q);
                    while word != 0 && count < TESTED {
                        tested[count][lane] = (64 * q) as u8 + word.trailing_zeros() as u8;
                        is_tested[count] |= 1 << lane;
                        (word, count) = (word & (word - 1), count + 1);
                    }
                }
                until[lane] = if count < TESTED { CODES } else { usize::from(tested[TESTED - 1][lane]) + 1 };
            }
            let hits = (ops.tests)(&self.codes, n, &self.roles.tested, &tested);
            for ((tested, is_tested), hits) in tested.iter().zip(is_tested).zip(hits) {
                unknown &= !is_tested | hits;
                let mut hits = is_tested & hits;
                while hits != 0 {
                    let (lane, code) = (hits.trailing_zeros() as usize, tested[hits.trailing_zeros() as usize]);
                    free[usize::from(code) / 64][lane] &= !(1 << (code % 64));
                    hits &= hits - 1;
                }
            }
            // These heaps have no code left to test: they need more planes.
            for lane in (0..LANES).filter(|lane| until[*lane] == CODES) {
                unknown &= !(1 << lane);
            }
        }
    }

    /// The codes of the block from `n` on, if no heap in it is rare.
    #[inline(always)]
    pub fn common_block(&mut self, n: usize, ops: &BlockOps) -> Result<(), TooLarge> {
        let mut free = [[0; LANES]; GROUPS];
        let mut planes = (ops.planes)(self.planes);
        'block: loop {
            self.free(n, n, &self.roles.far, planes, ops, &mut free);
            let groups = planes.div_ceil(8);
            for m in &self.roles.near {
                self.remove(n, n, m, &mut free);
            }
            self.remove_odd_takes(n, &mut free);
            // Codes below these are decided.
            let mut until = [CODES; LANES];
            if !self.roles.tested.is_empty() {
                until = [0; LANES];
                self.test_least(n, groups, &mut free, &mut until, ops);
            }
            for lane in 0..LANES {
                let code = loop {
                    let Some(q) = (0..groups).find(|q| free[*q][lane] != 0) else {
                        if planes == PLANES {
                            return Err(TooLarge);
                        }
                        planes = (ops.planes)(planes + 1);
                        continue 'block;
                    };
                    let code = (64 * q) as u8 + free[q][lane].trailing_zeros() as u8;
                    if usize::from(code) < until[lane] || !self.is_hit(n + lane, code) {
                        break code;
                    }
                    free[q][lane] &= !(1 << (code % 64));
                };
                self.codes[n + lane] = code;
                // The moves that stay inside the block.
                for m in self.roles.near.iter().take_while(|m| m.shift < LANES - lane) {
                    let code = code ^ m.code as u8;
                    free[usize::from(code) / 64][lane + m.shift] &= !(1 << (code % 64));
                }
            }
            self.fit_planes(n);
            return Ok(());
        }
    }

    /// Most blocks need no more planes than those before. One that does is decoded again.
    #[inline(always)]
    fn fit_planes(&mut self, n: usize) {
        let top = self.codes[n..n + LANES].iter().max().expect("64 codes");
        let planes = usize::from(*top) / 8 + 1;
        self.spare = if planes < self.planes { self.spare + 1 } else { 0 };
        if self.spare == SPARE {
            (self.planes, self.spare) = (self.planes - 1, 0);
        }
        self.planes = self.planes.max(planes);
    }

    /// Whether the moves that are tested reach a code.
    #[inline(always)]
    fn is_hit(&self, n: usize, code: u8) -> bool {
        let mut is_hit = false;
        for m in &self.roles.tested {
            is_hit |= self.codes[n - m.shift] ^ m.code as u8 == code;
        }
        is_hit
    }

    /// Verifies a block whose codes are computed, and keeps its values up to the first rare heap.
    #[inline(always)]
    pub fn verify_block(&mut self, g: &mut Vec<u16>, ops: &BlockOps) -> Result<(), TooLarge> {
        let n = g.len();
        let end = n + LANES;
        let block: &[u8; LANES] = self.codes[n..].first_chunk().expect("padding");
        let coder = self.coder;
        g.extend((n..).zip(block).map(|(n, code)| coder.common(n, *code)));
        let mut free = [[0; LANES]; GROUPS];
        let bounds = (n..).zip(block).map(|(n, code)| usize::from(coder.rare_below(n, *code)));
        let highest = bounds.max().expect("64 codes");
        self.free(n, end, &self.roles.cover, (ops.planes)(highest.div_ceil(8).max(1)), ops, &mut free);
        let mut other = None;
        'heaps: for lane in 0..LANES {
            let bound = usize::from(coder.rare_below(n + lane, self.codes[n + lane]));
            let (mut unresolved, mut count) = ([0; CODES], 0);
            for (q, free) in free.iter().enumerate() {
                let mut word = free[lane] & below(bound, q);
                while word != 0 {
                    unresolved[count] = (64 * q) as u8 + word.trailing_zeros() as u8;
                    (word, count) = (word & (word - 1), count + 1);
                }
            }
            if count > 0 {
                for code in self.not_near_by(n + lane, &mut unresolved[..count], ops) {
                    let value = coder.rare(n + lane, *code);
                    if !self.is_reached(n + lane, g, value) {
                        other = Some((n + lane, value));
                        break 'heaps;
                    }
                }
            }
        }
        let known = other.map_or(end, |(heap, _)| heap);
        let mut is_due = false;
        for (heap, value) in (n..known).zip(&g[n..known]) {
            is_due |= self.space.push(heap, *value);
        }
        if let Some((heap, value)) = other {
            g.truncate(heap);
            g.push(value);
            is_due |= self.space.push(heap, value);
            self.encode(heap, value)?;
            self.add_rare(heap, value);
        }
        if is_due && self.space.choose(g) { self.rebuild(g) } else { Ok(()) }
    }

    /// The codes, in their order, that are not found among splits of a heap of `n` into one of the heaps after the last rare one and a
    /// common heap.
    #[inline(always)]
    fn not_near_by<'c>(&self, n: usize, unresolved: &'c mut [u8], ops: &BlockOps) -> &'c [u8] {
        let mut count = unresolved.len();
        if let Some(place) = self.splits.first().filter(|_| !self.after_rare.is_empty()) {
            // after_rare[i] is the code of heap last - i, whose partner is heap n - place - last + i.
            let last = self.last_rare() + self.after_rare.len();
            let partners = &self.codes[n - place - last..];
            for (a, b) in self.after_rare.as_chunks().0.iter().zip(partners.as_chunks().0) {
                count = (ops.search)(a, b, &mut unresolved[..count]);
                if count == 0 {
                    break;
                }
            }
        }
        &unresolved[..count]
    }

    /// Whether a move on a heap of `n` reaches this nim-sum, by the rules alone.
    #[inline(always)]
    pub fn is_reached(&self, n: usize, g: &[u16], value: u16) -> bool {
        for (left, digit) in self.input.moves(n) {
            if Octal::leaves(digit, left) && g[left] == value || digit & 4 > 0 && self.is_split(left, g, value) {
                return true;
            }
        }
        false
    }

    #[inline(always)]
    fn is_split(&self, left: usize, g: &[u16], value: u16) -> bool {
        let half = left.saturating_sub(usize::from(self.is_unequal)) / 2;
        // values[i] is the value of heap len - i. These heaps are searched first, the largest first.
        let first = self.reversed.len().min(half);
        let reversed = &self.reversed[self.reversed.len() - first..];
        if search(reversed, &g[left - first..], value).1 {
            return true;
        }
        for heap in first + 1..=half {
            if g[heap] ^ g[left - heap] == value {
                return true;
            }
        }
        false
    }

    /// Chooses the moves that are decoded and those that are tested, for heaps from `n`, the next one, to `4 n`.
    fn choose(&mut self, g: &[u16]) {
        let n = g.len();
        self.roles.until = 4 * n;
        if self.reversed.len() < REVERSED {
            self.reversed = g[1..n.min(REVERSED + 1)].to_vec();
            self.reversed.reverse();
        }
        let (common, place) = (self.last_rare() + 1, self.splits.last().copied().unwrap_or(0));
        // These heaps, their partners and the partners of a block are common, and no two of them are the same heap.
        let length = (n / 2).saturating_sub(common + place + 2 * LANES).min(MOST_AFTER_RARE) / CHUNK * CHUNK;
        self.after_rare = self.codes[common..common + length].to_vec();
        self.after_rare.reverse();
        let most = POOL.min(n / 16);
        let mut pool: Vec<Move> = self.odd_takes.iter().map(|place| Move::new(*place, 0, 0)).collect();
        let common_heaps = (1..(n / 4).saturating_sub(place)).filter(|heap| !self.is_rare(*heap));
        let (splits, codes) = (&self.splits, &self.codes);
        let moves = |heap: usize| splits.iter().map(move |place| Move::new(place + heap, codes[heap], heap));
        pool.extend(common_heaps.flat_map(moves).take(most));
        pool.truncate(most);
        self.roles.far.append(&mut self.roles.tested);
        let (codes, coder) = (&self.codes[..n], self.coder);
        // Few rare heaps have few codes, and a choice gains nothing.
        if self.roles.far.len() <= COVER {
            pool.truncate(COVER);
            sort_by_shift(&mut pool);
            self.roles.cover = pool;
            return;
        }
        (self.roles.cover, _) = cover::greedy(codes, &|n, code| coder.rare_below(n, code), pool, &[0], WORTH);
        // Where rare heaps could meet, moves are not tested.
        if n > 2 * common + place + LANES {
            let pool = std::mem::take(&mut self.roles.far);
            (self.roles.far, self.roles.tested) = cover::greedy(codes, &|_, code| u16::from(code), pool, &[0], WORTH);
        }
    }

    /// Computes the values of the next heaps: of a block, or up to the first rare heap.
    fn next(&mut self, g: &mut Vec<u16>, backend: Backend) -> Result<(), TooLarge> {
        let n = g.len();
        if n >= self.roles.until {
            self.choose(g);
        }
        (backend.common_block)(self, n)?;
        (backend.verify_block)(self, g)
    }

    /// Computes the values of the next heaps and counts them, within the limit.
    pub fn step(&mut self, values: &mut Values, backend: Backend) -> Result<Result<(), TooLarge>, RunError> {
        let next = self.next(&mut values.known, backend);
        values.known.truncate(values.heaps);
        values.advance()?;
        Ok(next)
    }

    /// The moves that leave a rare heap.
    pub fn moves(&self) -> Vec<Move> {
        [&self.roles.near[..], &self.roles.far, &self.roles.tested].concat()
    }

    /// Whether moves are chosen before the next block.
    pub fn is_choice_due(&self) -> bool {
        self.roles.until == 0
    }

    /// Twice as far as the moves of common blocks reach back, and four blocks more, so that none meets a rare heap.
    fn reach(&self) -> usize {
        2 * (self.last_rare() + self.input.code().last_place().unwrap_or(0)) + 4 * LANES
    }

    /// How many heaps from `n` on can be computed ahead: no rare heap is near, and no choice is due.
    pub fn ahead(&self, n: usize) -> usize {
        if n > self.reach() { self.roles.until.saturating_sub(n) } else { 0 }
    }

    /// A copy that computes common blocks from heap `n` on, up to `count` heaps, and the index of `n` in its codes.
    pub fn producer(&mut self, n: usize, count: usize) -> (Sparse<'a>, usize) {
        let codes = std::mem::take(&mut self.codes);
        let mut producer = self.clone();
        self.codes = codes;
        let place = self.reach();
        producer.codes = self.codes[n - place..n].to_vec();
        producer.codes.resize(place + count + 2 * LANES, 0);
        (producer, place)
    }

    /// Predicted nanoseconds for a heap, where `ns` is the time of a move and a block. Each rare heap ends a block, and
    /// moves that read rare heaps go lane by lane.
    pub fn heap_ns(&self, n: usize, ns: f64) -> f64 {
        let recent = self.space.rare().len() - self.space.rare().partition_point(|(heap, _)| *heap < n / 2);
        let blocks = 1.0 / LANES as f64 + recent as f64 / (n as f64 / 2.0);
        let is_mixed = |m: &&Move| m.shift >= n || !self.is_common(n - m.shift);
        let mixed = self.roles.far.iter().filter(is_mixed).count();
        blocks * ((self.roles.far.len() + COVER) as f64 * ns + mixed as f64 * NS_PER_MIXED + NS_PER_BLOCK) + NS_PER_HEAP
    }
}

/// The codes of a group that are below a bound.
#[inline(always)]
fn below(bound: usize, group: usize) -> u64 {
    let count = bound.saturating_sub(64 * group);
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::octal::octal::MexOctal;
    use crate::cores::octal::sparse::portable;
    use crate::kernel::Operation;

    /// The mask affects only the speed: values are right with any mask, whatever its lowest bit.
    #[test]
    fn values_do_not_depend_on_the_mask() {
        let parts = portable::parts();
        let masks = [
            ("0.6", None, &[1, 2, 3, 0x10, 0x20, 0x30, 0x50, 0x1ee][..]),
            ("grundy", None, &[1, 8, 0x10, 0xfe]),
            ("0.6", Some(1), &[1, 6, 0x1ee]),
            ("grundy", Some(0), &[1, 8, 0xfe]),
            ("0.106", None, &[1, 0xd]),
            ("0.106", Some(1), &[1, 2, 0xc, 0xd]),
            ("0.324", Some(1), &[2, 0x27, 0x28]),
            ("4.333", Some(0), &[1, 2, 5]),
        ];
        for (code, position, masks) in masks {
            let input = Octal::new(&code.parse().expect("a game"), 2500).expect("a small limit");
            let want = MexOctal::oracle(&input);
            for mask in masks {
                let mut g = want[..200].to_vec();
                let mut sparse = Sparse::new(&input, &g).ok().expect("small values");
                while g.len() <= 2500 {
                    let mask = Mask { values: *mask, position };
                    if sparse.space.mask != mask {
                        sparse.space.split_by(mask, &g);
                        assert!(sparse.rebuild(&g).is_ok(), "values of nine bits");
                    }
                    assert!(sparse.next(&mut g, parts).is_ok(), "values of nine bits");
                }
                let differs = want.iter().zip(&g).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{code} with mask {mask:#x}, position {position:?}");
            }
        }
    }
}
