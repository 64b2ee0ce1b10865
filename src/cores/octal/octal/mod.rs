//! `mex_octal`: Grundy values of octal and hexadecimal games.
//!
//! A move takes some of a heap and may split the rest into two or three heaps, as the digits of the game's [`Code`]
//! allow. The value of a heap is the mex of the nim-sums of the positions that its moves lead to.
//!
//! # Theorems
//! * *Sparse space.* Choose a mask. Call a value **rare** if it has an even number of bits in common with the mask,
//!   else **common**. The nim-sum of a rare and a common value is common; that of two rare or two common values is
//!   rare. So in a game that splits into two heaps, common values are reached through rare heaps alone (the empty heap
//!   is rare). If few heaps are rare, as observed in many games, the least common value that is not reached is found
//!   quickly. It is the value of the heap if all rare values below it are reached, which is checked for every heap. No
//!   value relies on the observation.
//! * *Sparse by position* (Flammenkamp). If all places `t` that split into two have the same parity,
//!   `p(n) = (n - t) mod 2` is a bit with `p(a) ^ p(b) = p(n)` for each split `n - t = a + b`. So `p` can serve as one
//!   more bit of every value, and of the mask: all of the above holds, except that whether a value is rare depends on
//!   `p(n)`, and that a move at an odd place that leaves one heap turns rare into common and common into rare. The
//!   empty heap is then common if `t` is odd.
//! * *Guy and Smith (1956).* Let `k` be the last place of a finite code with two parts. If `g(n + p) = g(n)` for all `n` from
//!   `e >= 1` to `2 e + p + k`, then for all `n >= e`: of the two heaps of any option of a larger heap, one is at least `e + p`,
//!   and `p` can be taken from it or added to it. With three parts the bound is `3 e + 2 p + k`. Where the heaps of a split
//!   must differ, this is no proof, as the change may make them equal.
//!
//! `profiles/papers/windows.md` in the source tree has the proofs of the first two.
//!
//! # An example
//! ```
//! # use nimlanes_octal as nimlanes;
//! use nimlanes::cores::mex::octal::{Code, MexOctal, Octal, period};
//! use nimlanes::kernel::{Operation, Run};
//! let kayles: Code = "0.77".parse()?;
//! let values = MexOctal::oracle(&Octal::new(&kayles, 1000)?);
//! let found = period(&kayles, &values, &Run::new(1))?.expect("a period");
//! assert_eq!((found.period, found.is_proved, found.value(&values, 12_000_007)), (12, true, Some(2)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use super::{sparse, translate};
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads};
use crate::kernel::{Core, Digest, KernelDef, Operation, kernels};

pub(super) mod candidates;
pub(super) mod greedy;
mod heap_by_heap;
pub(super) mod input;
pub(super) mod period;
pub(super) mod values;

pub use super::sparse::space::{Mask, SparseSpace, sparse_space};
pub use crate::moves::{Code, CodeError};
pub use input::{MAX_ENDLESS, MAX_LIMIT, Octal};
pub use period::{Period, has_lasted, period};
pub use values::{Journal, Start, checkpoint};

/// Grundy values of the heaps `0..=limit` of an octal or hexadecimal game. The output holds one value per heap.
#[derive(Debug)]
pub struct MexOctal;

/// Collects the nim-sums of all ways to divide `left` into `parts` heaps of 1 to `most`, each XORed with `nim_sum`.
fn divide(values: &[u16], is_unequal: bool, left: usize, most: usize, parts: u32, nim_sum: u16, reached: &mut [bool]) {
    match parts {
        0 if left == 0 => reached[usize::from(nim_sum)] = true,
        1 if left > 0 && left <= most => reached[usize::from(nim_sum ^ values[left])] = true,
        0 | 1 => {}
        _ => {
            for part in 1..=most.min(left - left.min(1)) {
                let most = if is_unequal { part - 1 } else { part };
                divide(values, is_unequal, left - part, most, parts - 1, nim_sum ^ values[part], reached);
            }
        }
    }
}

impl Operation for MexOctal {
    type Input = Octal;
    type Output = Vec<u16>;
    type Start = Start;

    const NAME: &'static str = "mex_octal";
    const CORE: Core = Core::Mex;
    const UNIT: &'static str = "heap";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { MexOctal, start;
        stamp = stamp in heap_by_heap, Portable, [], "the baseline: every split stamps its nim-sum";
        bit_rows = bit_rows in heap_by_heap with translate::plain, Portable, [], "sets of nim-sums as bit rows; a third part translates a row by XOR, word by word";
        xor_translate_avx512 = bit_rows in heap_by_heap with translate::avx512 like bit_rows, Avx512, ["avx512"], "the same, with 512 bits translated by two instructions";
        sparse = sparse_stamps in heap_by_heap, Portable, [], "the best known elsewhere: splits with rare heaps first, others only to show that rare values are reached";
        candidates = candidates, Portable, [], "a sample of splits stamps; values still open are searched among all splits";
        candidates_avx512 = candidates like candidates, Avx512, ["avx512"], "the same source at this tier";
        greedy = greedy with sparse::portable, Portable, [], "64 heaps as byte lanes: rare heaps as moves for common values, half of them tested for the least free codes alone";
        greedy_avx2 = greedy with sparse::x86::avx2 like greedy, Avx2, ["avx2"], "the same, with planes by four-bit lookups";
        greedy_avx512 = greedy with sparse::x86::avx512 like greedy, Avx512, ["avx512"], "the same, with planes by a permute that all groups share, and masks by affine maps";
        greedy_neon = greedy with sparse::v128 like greedy, Neon, ["neon"], "the same, with planes by lookups that leave out other groups";
        greedy_simd128 = greedy with sparse::v128 like greedy, Simd128, ["simd128"], "the same, with planes by lookups that leave out other groups";
        window_words = windowed in greedy with sparse::portable like greedy, Portable, [], "where few heaps are rare: an OR of bits over them, and over some common ones to verify";
        window_lanes_avx2 = windowed in greedy with sparse::x86::avx2 like window_words, Avx2, ["avx2"], "windows in planes, by lookups of four bits";
        window_lanes_avx512 = windowed in greedy with sparse::x86::avx512 like window_words, Avx512, ["avx512"], "the same for 64 heaps at once, but for the nearest rare ones";
        greedy_pair_avx512 = pair in greedy with sparse::x86::avx512 like greedy_avx512, Avx512, ["avx512", "parallel"], "the same on two threads: one computes, the other verifies";
    };
    const ABSENT: &'static [(&'static str, &'static str)] = &[(
        "bitvec",
        "a set of nim-sums is made bit by bit, where a stamp needs no clearing, or translated by whole words",
    )];
    const PUBLIC: &'static [&'static str] = &["sparse"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("../rates.tsv");

    /// By the rules: each value is the mex of the nim-sums of all positions that a move may leave, enumerated heap by heap.
    fn oracle(input: &Octal) -> Vec<u16> {
        let code = input.code();
        let mut values: Vec<u16> = vec![0];
        for n in 1..input.heaps() {
            let mut reached = vec![false; 1 << 16];
            for place in 0..=n {
                for parts in (0..4).filter(|parts| code.digit(place) >> parts & 1 == 1) {
                    divide(&values, code.is_unequal(), n - place, n, parts, 0, &mut reached);
                }
            }
            values.push(reached.iter().position(|is_reached| !is_reached).expect("more than moves") as u16);
        }
        values
    }

    fn steps(input: &Octal) -> u64 {
        input.heaps() as u64
    }

    fn digest(values: &Vec<u16>) -> Digest {
        let max = values.iter().max().copied().unwrap_or(0);
        let zeros = values.iter().filter(|value| **value == 0).count() as u128;
        let sum = values.iter().map(|value| u128::from(*value)).sum();
        vec![("max", max.into()), ("zeros", zeros), ("sum", sum), ("last", values.last().copied().unwrap_or(0).into())]
    }
}

impl Workloads for MexOctal {
    const WORKLOADS: &'static [Workload] = &[
        workload!(
            "0.6",
            1 << 17,
            [100, 10_000, 1 << 17, 1 << 20],
            "Officers: take one of a heap of two or more, perhaps splitting the rest"
        ),
        workload!("grundy", 1 << 17, [1 << 17], "Grundy's game: split a heap into two that differ"),
        workload!("0.137", 1 << 17, [1 << 17], "Dawson's Chess, which soon repeats"),
        workload!("0.07", 1 << 17, [1 << 17], "Dawson's Kayles, which soon repeats"),
        workload!("0.16", 1 << 17, [1 << 17], "repeats late, with rare heaps far out"),
        workload!("0.56", 1 << 17, [1 << 17], "repeats late, with rare heaps far out"),
        workload!("0.007", 1 << 14, [1 << 14], "Treblecross: its rare heaps do not end"),
        workload!("0.06", 1 << 14, [1 << 14], "never sparse"),
        workload!("0.8", 1000, [1000], "take one and split the rest into three"),
    ];

    fn canonical(workload: &str) -> Result<String, InputError> {
        Ok(workload.parse::<Code>()?.canonical().to_string())
    }

    fn input(workload: &str, size: u64, _: &Selection) -> Result<Octal, InputError> {
        Octal::new(&workload.parse()?, size)
    }
}
