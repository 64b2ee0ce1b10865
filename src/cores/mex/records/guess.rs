//! Blocks resolved in lanes: a guess, improved until it is right.
//!
//! *Guess.* The values of a set with few moves often repeat those `p` heaps before. Those of the factorials do for `p`
//! = 25, the period of `{1,2,6,24}`, in nine blocks of ten. The period is the one that would have guessed most of the
//! last blocks right. While none does so for half of them, the chain computes all blocks.
//!
//! *Rounds.* All heaps of the block take the mex of what their moves reach, where moves within the block reach the guess. Once
//! nothing changes, the values are right, by induction over the heaps: each is the mex of right values. Each round also makes at
//! least one more heap right, so the rounds end; a guess that is wrong takes four on average (factorials to 5e7). The chain takes
//! over after a few, or if a heap reaches all values below 8, which are those that rounds work with.
//!
//! Cost of a block: for each move a load and half an OR, a decode to a single plane; for each round, a permute for each near move.
//! Bound: the hash of the values in [`Output::add`](super::Output), five cycles for eight heaps, and the rounds.

use super::compressed::{JUDGED, LONGEST, MOST_BYTES, Readers, best_period, first_codes, room};
use super::history::History;
use super::layout::HistoryLayout;
use super::ring::{Blocks, Far, LaneBlocks, Position, drive, near, ring_lanes};
use super::{Output, Records, Start};
use crate::cores::mex::lanes::{Decoder, LANES, PLANES, Planes, WINDOW};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::{array_of, mapped};

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
pub mod avx512;

/// The blocks to which far moves are applied at once, which hides the latency of their codes.
const AT_ONCE: usize = 8;

/// The most rounds before the chain takes over.
pub const ROUNDS: usize = 16;

/// The heaps between two looks at how often the guess was right. At first there are fewer.
const EVERY: usize = 4096 * LANES;

/// A period, and what a tier needs to guess and verify a block by it.
pub struct Pattern {
    period: usize,
    /// The moves shorter than a block.
    near: Vec<usize>,
    /// The index in the last block of the code that each heap repeats; its own index for a period of a block or more.
    pub repeat: [u8; LANES],
    /// For each near move, the index of the heap that each heap reaches, in the last block followed by the guess.
    pub reached: Vec<[u8; LANES]>,
    /// The same in the last two blocks, for moves between one block and two that the tier applies in registers.
    pub reached_before: Vec<[u8; LANES]>,
}

impl Pattern {
    fn new(near: &[usize], before: &[usize]) -> Self {
        let (reached, reached_before) = (indices(LANES, near), indices(2 * LANES, before));
        Pattern { period: LANES, near: near.to_vec(), repeat: [0; LANES], reached, reached_before }
    }

    fn set(&mut self, period: usize) {
        let repeat = |i| if period < LANES { LANES - period + i % period } else { i };
        (self.period, self.repeat) = (period, array_of(|i| repeat(i) as u8));
    }
}

/// For each move, the indices of the heaps that the heaps from `start` on reach.
fn indices(start: usize, moves: &[usize]) -> Vec<[u8; LANES]> {
    moves.iter().map(|m| array_of(|i| (start + i - m) as u8)).collect()
}

/// What a block is resolved from.
pub struct Evidence<'a> {
    /// The two blocks before, the last one first, and the codes that the guess repeats.
    pub before: [&'a [u8; LANES]; 2],
    pub repeated: &'a [u8; LANES],
    /// The values below 8 that far moves reach.
    pub far: &'a [u8; LANES],
}

/// The operations of a tier.
#[derive(Clone, Copy)]
pub struct Backend {
    /// Computes the blocks that are not resolved, and what far moves reach.
    pub decoder: &'static dyn Decoder,
    /// The number of last blocks that `resolve` is given in place of what moves shorter than them reach.
    pub held: usize,
    /// Resolves a block; false if it gives up.
    pub resolve: fn(&Pattern, &Evidence, &mut [u8; LANES]) -> bool,
}

/// The parts of a tier that resolves blocks in memory, which every tier can.
macro_rules! in_memory {
    ($module:ident, $condition:meta $(, $tier:ident)?) => {
        #[cfg($condition)]
        pub mod $module {
            use super::{Evidence, LANES, Backend, Pattern, resolve_in_memory};
            use crate::cores::mex::lanes::$module::{first_plane, parts as decoder};

            $(#[$crate::machine::isa::tier($tier)])?
            fn resolve(pattern: &Pattern, evidence: &Evidence, codes: &mut [u8; LANES]) -> bool {
                resolve_in_memory(|codes| first_plane(codes), pattern, evidence, codes)
            }

            #[inline]
            $(#[$crate::machine::isa::tier($tier)])?
            pub fn parts() -> Backend {
                Backend { decoder: decoder(), held: 1, resolve }
            }
        }
    };
}
in_memory!(plain, all());
in_memory!(avx2, all(target_arch = "x86_64", feature = "avx2"), Avx2);
in_memory!(
    v128,
    any(all(target_arch = "aarch64", feature = "neon"), all(target_feature = "simd128", feature = "simd128"))
);

/// Resolves a block in memory, where near moves read the last block and the guess side by side; false if it gives up.
#[inline(always)]
fn resolve_in_memory(
    one_hot: impl Fn(&[u8; LANES]) -> [u8; LANES],
    pattern: &Pattern,
    evidence: &Evidence,
    codes: &mut [u8; LANES],
) -> bool {
    // The last block, the guess, and room for a repetition to end in.
    let mut values = [0; 3 * LANES];
    values[..LANES].copy_from_slice(&one_hot(evidence.before[0]));
    if pattern.period < LANES {
        // Each copy ends with bytes that the next one overwrites.
        let last: [u8; LANES] = *values[LANES - pattern.period..].first_chunk().expect("three blocks");
        for to in (LANES..2 * LANES).step_by(pattern.period) {
            values[to..][..LANES].copy_from_slice(&last);
        }
    } else {
        values[LANES..2 * LANES].copy_from_slice(&one_hot(evidence.repeated));
    }
    for _ in 0..ROUNDS {
        let mut reached = *evidence.far;
        for m in &pattern.near {
            let sources: &[u8; LANES] = values[LANES - m..].first_chunk().expect("moves shorter than a block");
            for i in 0..LANES {
                reached[i] |= sources[i];
            }
        }
        let mex = mapped(reached, |reached| !reached & reached.wrapping_add(1));
        if values[LANES..2 * LANES] == mex {
            *codes = mapped(mex, |mex| WINDOW as u8 - mex.trailing_zeros() as u8);
            // Unlike `contains`, this vectorises.
            let mut least = u8::MAX;
            for mex in mex {
                least = least.min(mex);
            }
            return least > 0;
        }
        values[LANES..2 * LANES].copy_from_slice(&mex);
    }
    false
}

/// Blocks that are guessed first. `inner` computes those that are not resolved.
pub struct Guessed<'a> {
    inner: LaneBlocks<'a>,
    backend: Backend,
    close: Far<'a>,
    far: Far<'a>,
    pattern: Pattern,
    /// Whether the pattern is good enough to guess by.
    is_on: bool,
    /// The heap at which the pattern is judged next, and the blocks resolved since the last time.
    judged_at: usize,
    resolved: usize,
    /// The values that moves reach from blocks: those beyond all of these blocks are added for all of them at once. Only the first
    /// plane is used.
    reached: Box<[Planes; AT_ONCE]>,
    /// The blocks that are in `reached`, and the first heap of the first.
    added: usize,
    added_from: usize,
}

impl<'a> Guessed<'a> {
    #[inline(always)]
    pub fn new(input: &'a Records, layout: &HistoryLayout, backend: Backend) -> Self {
        let [close, far] = Far::new(input, layout).split(AT_ONCE);
        let [before, close] = close.split(backend.held);
        Guessed {
            inner: LaneBlocks::new(input, layout, backend.decoder),
            backend,
            close,
            far,
            pattern: Pattern::new(near(input), before.ring),
            is_on: false,
            judged_at: 0,
            resolved: 0,
            reached: Box::new([[[0; LANES]; PLANES]; AT_ONCE]),
            added: 0,
            added_from: 0,
        }
    }

    /// Keeps the period if half of the blocks were resolved by it since the last time, else looks for a better one.
    #[inline(never)]
    fn judge(&mut self, history: &History, n: usize, index: usize) {
        let since = n.clamp(JUDGED * LANES, EVERY);
        if 2 * self.resolved * LANES < since {
            let best = best_period(&history.recent(n, index, JUDGED * LANES + LONGEST));
            self.is_on = best.is_some();
            if let Some((period, _)) = best {
                self.pattern.set(period);
            }
        }
        self.resolved = 0;
        self.judged_at = n + n.clamp(JUDGED * LANES, EVERY);
    }
}

impl Blocks for Guessed<'_> {
    #[inline(always)]
    fn block(&mut self, history: &History, block: Position, codes: &mut [u8; LANES]) {
        let Position { n, index, .. } = block;
        if n >= self.judged_at {
            self.judge(history, n, index);
        }
        if self.is_on {
            let mut nth = n.wrapping_sub(self.added_from) / LANES;
            if nth >= self.added {
                self.added = if self.far.can_add(history, block, AT_ONCE) { AT_ONCE } else { 1 };
                (nth, self.added_from) = (0, n);
                let reached = &mut self.reached[..self.added];
                for planes in &mut *reached {
                    planes[0] = [0; LANES];
                }
                self.far.add(history, block, 1, reached, self.backend.decoder);
            }
            if !self.close.ring.is_empty() {
                self.close.add(history, block, 1, &mut self.reached[nth..=nth], self.backend.decoder);
            }
            // A pattern is found only after more blocks than these.
            let evidence = Evidence {
                before: [history.codes_behind(index, LANES), history.codes_behind(index, 2 * LANES)],
                repeated: history.codes_behind(index, self.pattern.period.max(LANES)),
                far: &self.reached[nth][0],
            };
            if (self.backend.resolve)(&self.pattern, &evidence, codes) {
                self.resolved += 1;
                return;
            }
        }
        self.inner.block(history, block, codes);
    }

    fn period(&self) -> usize {
        if self.is_on { self.pattern.period } else { 0 }
    }
}

pub mod guess_lanes {
    //! Blocks guessed and verified in lanes.
    //!
    //! Cost of a right block: for each move, the decode of the tier's [`lanes`](crate::cores::mex::lanes) to one plane.
    //! Bound: in plain Rust, the decode; else wrong blocks.

    use super::*;

    /// The time of looking for a period that the first heaps do not have, relative to computing all blocks.
    const NO_PERIOD: f64 = 0.02;

    /// Rates: those of [`ring_lanes`], and the ns of a move for a heap that is guessed. The share of the first heaps that would have
    /// been guessed right stands for all.
    pub fn cost(input: &Records, context: CostContext, [chain, step, guess]: [f64; 3]) -> Cost {
        let computed = ring_lanes::cost(input, context, [chain, step]);
        if !computed.is_possible() {
            return computed;
        }
        let codes = first_codes(input.moves(), input.heaps().min(JUDGED * LANES + LONGEST));
        let share = best_period(&codes).map_or(0.0, |(_, share)| share);
        let pairs = input.heaps() as f64 * (1.0 + input.moves().len() as f64);
        let guesses = if share > 0.0 { guess * pairs } else { NO_PERIOD * computed.ns };
        Cost { ns: guesses + (1.0 - share) * computed.ns, ..computed }
    }

    #[inline(always)]
    pub fn run(input: &Records, run: &Run, start: Start, backend: Backend) -> Result<Output, RunError> {
        let layout = HistoryLayout::new(input);
        drive(input, layout, run, start, &mut Guessed::new(input, &layout, backend))
    }
}

pub mod compressed_lanes {
    //! Blocks guessed and verified in lanes, over a history that is [`compressed`](super::super::compressed).
    //!
    //! Cost of a right block: that of [`guess_lanes`]; for each move beyond the window and 64 heaps, two bits and a copy.
    //! Bound: as there.

    use super::*;

    /// For a heap, and for each of its moves beyond the window.
    const NS_PER_UNPACKED: f64 = 0.07;

    /// Rates: those of [`guess_lanes`].
    pub fn cost(input: &Records, context: CostContext, rates: [f64; 3]) -> Cost {
        let layout = HistoryLayout::packed(input);
        let Some(packed) = layout.packed else { return guess_lanes::cost(input, context, rates) };
        let plain = guess_lanes::cost(&Records { continues_packed: None, ..input.clone() }, context, rates);
        let moves = input.moves().len() - layout.short;
        let index = (packed.prefix + packed.last + 1) * size_of::<Box<[u8]>>();
        let fixed = layout.bytes() + Readers::bytes(moves) + index + MOST_BYTES;
        let unpacked = NS_PER_UNPACKED * input.heaps() as f64 * (1 + moves) as f64;
        Cost { ns: plain.ns + unpacked, bytes: fixed as f64 + room(input, packed) }
            .only_if(input.continues_packed != Some(false))
    }

    #[inline(always)]
    pub fn run(input: &Records, run: &Run, start: Start, backend: Backend) -> Result<Output, RunError> {
        let layout = HistoryLayout::packed(input);
        drive(input, layout, run, start, &mut Guessed::new(input, &layout, backend))
    }
}
