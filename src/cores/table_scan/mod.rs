//! `table_scan`: P-positions of three heaps, by the keys that a move leaves unchanged.
//!
//! A player takes the same positive amount from any one, two or three heaps ([`Rule::AllMoves`], Project Euler 260). Two
//! positions are one move apart exactly when they share a *key*: two heaps (a move in the third), one heap and the
//! difference of the other two (a move in those two), or both differences (a move in all three). So a position `x <= y <= z`
//! with the seven keys
//!
//! | move | keys |
//! |---|---|
//! | one heap | `{x,y}` `{y,z}` `{x,z}` |
//! | two heaps | `(x, z-y)` `(y, z-x)` `(z, y-x)` |
//! | three heaps | `(y-x, z-y)` |
//!
//! is a P-position exactly when no earlier P-position, in lexicographic order of sorted positions, has one of them.
//! That order is sound because a move leads to a sorted position that is no larger in any place. A pair `(x,y)` has at
//! most one P-position `z >= y`.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use std::fmt;

use crate::cores::sink;
pub use crate::cores::sink::Wanted;
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads, workload};
use crate::kernel::{Core, Digest, KernelDef, Operation, Yields, kernels};
use crate::simd::vectors;

mod bit_rows;
mod blocks;
mod byte_rows;
mod byte_table;
mod layers;
#[cfg(any(
    feature = "wide",
    all(target_arch = "x86_64", any(feature = "avx2", feature = "avx512")),
    all(target_arch = "aarch64", feature = "neon"),
    all(target_feature = "simd128", feature = "simd128")
))]
mod line_rows;

/// P-positions `x <= y <= z <= limit`.
#[derive(Debug)]
pub struct TableScan;

/// Which heaps a move may take from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// One, two or three heaps (Project Euler 260).
    AllMoves,
    /// One or two heaps: the game that a program solves if it omits the move in all three.
    OneOrTwo,
}

impl Rule {
    /// All rules.
    pub const ALL: &[Rule] = &[Rule::AllMoves, Rule::OneOrTwo];
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::AllMoves => "all",
            Rule::OneOrTwo => "one-or-two",
        })
    }
}

/// Three heaps of at most `limit` each.
#[derive(Clone, Debug)]
pub struct StoneGame {
    limit: u32,
    rule: Rule,
    /// What is to be found of its P-positions.
    wanted: Wanted<[u32; 3]>,
}

/// The largest limit: tables of its square take tens of terabytes.
pub const MAX_LIMIT: u64 = 1 << 22;

impl StoneGame {
    /// A game with heaps of `0..=limit`, of whose P-positions the totals are wanted.
    ///
    /// # Errors
    /// The limit is above [`MAX_LIMIT`].
    pub fn new(limit: u64, rule: Rule) -> Result<Self, InputError> {
        if limit > MAX_LIMIT {
            return Err(InputError::TooLarge { operation: "table_scan", size: limit, most: MAX_LIMIT });
        }
        Ok(StoneGame { limit: limit as u32, rule, wanted: Wanted::Totals })
    }

    /// The same game, of whose P-positions this is wanted.
    #[must_use]
    pub fn finding(self, wanted: Wanted<[u32; 3]>) -> Self {
        StoneGame { wanted, ..self }
    }

    /// The largest heap.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// The moves.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// An empty place for what is wanted.
    fn sink(&self) -> Positions {
        Positions::new(&self.wanted)
    }

    /// The number of heap sizes: `0..=limit`.
    pub fn heaps(&self) -> usize {
        self.limit as usize + 1
    }
}

/// P-positions divided by the square of the limit: an upper bound, observed at all limits from some hundreds on.
const DENSITY: f64 = 0.1215;

/// The most heaps `x` whose positions are handed on at once.
const BATCH_LAYERS: usize = 64;

/// The most positions between two calls of [`sink::Positions::advance`], divided by the number of heaps: each layer has fewer than two
/// for five heaps (observed; the layer of Wythoff's game has the most).
const BATCH_PER_HEAP: f64 = BATCH_LAYERS as f64 * 0.4;

/// Positions `x <= y <= z`.
pub type Positions = sink::Positions<[u32; 3]>;

impl Operation for TableScan {
    type Input = StoneGame;
    type Output = Positions;
    type Start = ();

    const NAME: &'static str = "table_scan";
    const CORE: Core = Core::TableScan;
    const UNIT: &'static str = "P-position";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { TableScan;
        byte_table = byte_table, Portable, [], "the baseline: three byte tables, the whole triple loop", needs;
        byte_table_pruned = byte_table_pruned in byte_table, Portable, [], "one byte per mark, used pairs skipped, each scan stopped at its P-position";
        byte_rows = byte_rows, Portable, [], "96 candidates at once: six runs of bytes, vectorised by the compiler";
        byte_rows_avx2 = byte_rows like byte_rows, Avx2, ["avx2"], "the same source, compiled at this tier";
        bit_rows = bit_rows with vectors::plain, Portable, [], "64 candidates at once: a window of six bit rows, from the hint on", needs;
        bitvec_operators = bitvec_rows in bit_rows with bit_rows::bitvec_rows::operators like bit_rows, Portable, ["bitvec"] if target_pointer_width = "64",
            "windows as slices of a BitVec, combined by |=";
        bitvec_rows = bitvec_rows in bit_rows with bit_rows::bitvec_rows::raw_words like bit_rows, Portable, ["bitvec"] if target_pointer_width = "64",
            "the same windows, read as raw words of a BitVec";
        wide_rows = bit_rows with vectors::wide::four like bit_rows, Portable, ["wide"], "256 candidates at once, in portable vectors";
        bit_rows_std = bit_rows with vectors::std_simd::portable like bit_rows, Portable, ["std_simd"] if nightly_compiler,
            "the same in vectors of std::simd";
        bit_rows_std_avx2 = bit_rows with vectors::std_simd::avx2 like bit_rows, Avx2, ["avx2", "std_simd"] if nightly_compiler,
            "the same in vectors of std::simd";
        bit_rows_std_avx512 = bit_rows with vectors::std_simd::avx512 like bit_rows, Avx512, ["avx512", "std_simd"] if nightly_compiler,
            "the same in vectors of std::simd";
        bit_rows_avx2 = bit_rows with vectors::avx2 like bit_rows, Avx2, ["avx2"], "256 candidates at once";
        bit_rows_avx512 = bit_rows with vectors::avx512 like bit_rows, Avx512, ["avx512"], "512 candidates at once";
        bit_rows_neon = bit_rows with vectors::v128 like bit_rows, Neon, ["neon"], "256 candidates at once, in two vectors";
        bit_rows_simd128 = bit_rows with vectors::v128 like bit_rows, Simd128, ["simd128"], "256 candidates at once, in two vectors";
        bit_rows_fearless = bit_rows_fearless in bit_rows(Tier) like bit_rows, Portable, ["fearless_simd"], "256 or 512 candidates at once, in vectors of fearless_simd";
        bit_rows_fearless_avx2 = bit_rows_fearless in bit_rows(Tier) like bit_rows_fearless, Avx2, ["avx2", "fearless_simd"], "the same source at this tier's level";
        bit_rows_fearless_avx512 = bit_rows_fearless in bit_rows(Tier) like bit_rows_fearless, Avx512, ["avx512", "fearless_simd"], "the same source at this tier's level";
        line_rows_avx512 = line_rows with line_rows::x86::avx512, Avx512, ["avx512"], "heaps of up to 1023: a row is a cache line, 32 layers per step", needs;
        line_rows_avx2 = line_rows with line_rows::x86::avx2 like line_rows_avx512, Avx2, ["avx2"], "a row in two vectors of 256 bits, a funnel shift in three operations";
        line_rows_wide = line_rows with line_rows::portable::wide like line_rows_avx512, Portable, ["wide"],
            "the same rows of a cache line, in portable vectors";
        line_rows_neon = line_rows with line_rows::portable::v128 like line_rows_avx512, Neon, ["neon"], "the same rows of a cache line, in four vectors";
        line_rows_simd128 = line_rows with line_rows::portable::v128 like line_rows_avx512, Simd128, ["simd128"], "the same rows of a cache line, in four vectors";
        blocks_words = blocks with blocks::plain on one, Portable, [],
            "blocks of 512 candidates, searched word by word: a row is one line in each";
        blocks_avx2 = blocks with blocks::x86::avx2 on one like blocks_words, Avx2, ["avx2"],
            "the same blocks with a line in two vectors";
        blocks_avx512 = blocks with blocks::x86::avx512 on one like blocks_words, Avx512, ["avx512"],
            "the same blocks with a line in one vector";
        blocks_threads_avx2 = blocks with blocks::x86::avx2 on all like blocks_avx2, Avx2, ["avx2", "parallel"],
            "superbands of 512 layers shared among the threads";
        blocks_threads_avx512 = blocks with blocks::x86::avx512 on all like blocks_avx512, Avx512, ["avx512", "parallel"],
            "superbands of 512 layers shared among the threads";
    };
    const PUBLIC: &'static [&'static str] = &["byte_table", "byte_table_pruned"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("rates.tsv");

    fn wanted(input: &StoneGame) -> Yields {
        input.wanted.yields()
    }

    fn output_bytes(input: &StoneGame, threads: usize) -> f64 {
        let heaps = input.heaps() as f64;
        input.wanted.bytes(DENSITY * heaps.powi(2), BATCH_PER_HEAP * heaps, threads)
    }

    fn oracle(input: &StoneGame) -> Positions {
        let mut sink = input.sink();
        oracle::positions(input, |position| sink.push(position));
        sink.finish();
        sink
    }

    fn steps(input: &StoneGame) -> u64 {
        input.heaps() as u64
    }

    fn work(_: &StoneGame, output: &Positions) -> u64 {
        output.totals().positions
    }

    fn digest(output: &Positions) -> Digest {
        output.totals().digest()
    }
}

impl Workloads for TableScan {
    const WORKLOADS: &'static [Workload] = &[
        workload("all-moves", "one, two or three heaps; size = the largest heap", 1000, &[10, 100, 1000]),
        workload("one-or-two", "one or two heaps; size = the largest heap", 1000, &[100]),
    ];

    fn input(workload: &str, size: u64, _: &Selection) -> Result<StoneGame, InputError> {
        let rule = match workload {
            "all-moves" => Rule::AllMoves,
            "one-or-two" => Rule::OneOrTwo,
            _ => return Err(InputError::unknown_workload::<Self>(workload)),
        };
        StoneGame::new(size, rule)
    }

    fn finding(input: StoneGame, yields: Yields) -> StoneGame {
        input.finding(yields.into())
    }
}

mod oracle {
    use super::{Rule, StoneGame};

    /// Finds the P-positions `x <= y <= z <= limit` in lexicographic order from the rules alone. A position that no earlier
    /// P-position marked is one, and it marks every position that can move to it.
    pub fn positions(input: &StoneGame, mut found: impl FnMut([u32; 3])) {
        let heaps = input.heaps();
        let index = |[x, y, z]: [usize; 3]| (x * heaps + y) * heaps + z;
        let mut winning = vec![false; heaps * heaps * heaps];
        let most = if input.rule == Rule::AllMoves { 3 } else { 2 };
        for x in 0..heaps {
            for y in x..heaps {
                for z in y..heaps {
                    let position = [x, y, z];
                    if winning[index(position)] {
                        continue;
                    }
                    found([x as u32, y as u32, z as u32]);
                    for heaps_moved in (1u32..8).filter(|set| set.count_ones() <= most) {
                        for amount in 1..heaps {
                            let mut from = position;
                            for (i, heap) in from.iter_mut().enumerate() {
                                *heap += amount * (heaps_moved as usize >> i & 1);
                            }
                            // A call of `sort` would compile all of it.
                            for (i, j) in [(0, 1), (1, 2), (0, 1)] {
                                if from[i] > from[j] {
                                    from.swap(i, j);
                                }
                            }
                            if from[2] >= heaps {
                                break;
                            }
                            winning[index(from)] = true;
                        }
                    }
                }
            }
        }
    }
}
