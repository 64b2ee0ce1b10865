//! `xor_triples`: multisets of three heaps whose nim-sum is 0.
//!
//! Let `h(x)` be the number of heaps of value `x` among `0..=N`. A multiset has nim-sum 0 if its values are `x < y < x ^ y`, or
//! 0 and twice `x`, or three times 0. So the number of multisets is
//!
//! ```text
//! sum over 0 < x < y < x^y of h(x) h(y) h(x^y)  +  h(0) sum over x > 0 of C(h(x)+1, 2)  +  C(h(0)+2, 3)
//! ```
//!
//! The Walsh-Hadamard transform `H(w) = sum over x of (-1)^|w & x| h(x)` turns nim-sums into products. The number of ordered
//! triples is `T = sum over w of H(w)^3 / M`, where `M` is the power of two above the largest value. By Burnside's lemma, the number
//! of multisets is `(T + 3 (N+1) h(0) + 2 h(0)) / 6`.
//!
//! The count exceeds 64 bits near `N = 4e7`, and the sum of cubes much earlier, near `N = 1.75e6`, so it is computed in 128 bits.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use super::values_of;
use crate::cores::mex::subtraction::{MexSubtraction, Subtraction};
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads, workload};
use crate::kernel::{Core, Cost, Digest, KernelDef, Operation, kernels};
use crate::moves::MoveSet;
use crate::simd::walsh::walsh_hadamard;

#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod characters;
mod histogram;
mod pairs;

/// Multisets of three heaps whose nim-sum is 0.
#[derive(Debug)]
pub struct XorTriples;

/// The Grundy values of the heaps `0..=N`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    values: Vec<u16>,
    heaps: usize,
    /// The power of two above the largest value.
    span: usize,
}

impl Values {
    /// The values of the heaps in order.
    pub fn new(values: Vec<u16>) -> Self {
        // Unlike `max`, a fold vectorises.
        let largest = values.iter().fold(0, |max, value| *value.max(&max));
        Values { heaps: values.len(), values, span: span(largest) }
    }

    /// Stands in for `heaps` values with about this largest value, to predict costs, which depend on nothing else.
    #[doc(hidden)]
    pub fn predicted(heaps: usize, largest: u16) -> Self {
        Values { values: Vec::new(), heaps, span: span(largest) }
    }

    /// The time and bytes of a kernel, given the heaps and the span; its numbers overflow with `2^bits` heaps or more.
    fn cost(&self, bits: u32, cost: impl Fn(f64, f64) -> (f64, f64)) -> Cost {
        let (ns, bytes) = cost(self.heaps as f64, self.span as f64);
        if self.heaps as u64 >> bits == 0 { Cost { ns, bytes } } else { Cost::IMPOSSIBLE }
    }
}

/// The power of two above the largest value.
fn span(largest: u16) -> usize {
    (usize::from(largest) + 1).next_power_of_two()
}

/// Fewer heaps than two to this power have cubes whose sum fits in 128 bits.
const HEAPS_BITS: u32 = 36;
/// Heaps between two progress updates.
const PROGRESS_STEP: usize = 1 << 16;

/// Computes the number of multisets from the number of heaps of each value, by the transform. The length must be a power of two.
#[inline(always)]
fn by_transform(counts: &[u64]) -> u128 {
    // There are fewer than `2^HEAPS_BITS` heaps, so cubes fit in 108 bits, and the sum of 2^16 of them in 124.
    let mut transform: Vec<i64> = counts.iter().map(|n| *n as i64).collect();
    walsh_hadamard(&mut transform);
    let cubes: i128 = transform.iter().map(|h| i128::from(*h) * i128::from(*h) * i128::from(*h)).sum();
    let (heaps, zeros) = (counts.iter().sum::<u64>() as i128, i128::from(counts[0] as i64));
    ((cubes / counts.len() as i128 + 3 * heaps * zeros + 2 * zeros) / 6) as u128
}

impl Operation for XorTriples {
    type Input = Values;
    type Output = u128;
    type Start = ();

    const NAME: &'static str = "xor_triples";
    const CORE: Core = Core::XorCount;
    const UNIT: &'static str = "heap";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { XorTriples;
        pair_loop = scalar in pairs, Portable, [], "the baseline: for each pair of heaps, look up how many heaps complete it", needs;
        pairs_avx512 = avx512 in pairs like pair_loop, Avx512, ["avx512"], "the same for 64 pairs at once, with the table in registers";
        histogram = by_pairs in histogram, Portable, [], "the best known elsewhere: count the values, then go through pairs of values", needs;
        histogram_wht = wht in histogram, Portable, [], "count in four tables, then apply the Walsh-Hadamard transform", needs;
        histogram_pairs = of_pairs in histogram, Portable, [], "the same with one increment for two heaps, in a table of pairs of values", needs;
        histogram_pairs_avx2 = of_pairs in histogram like histogram_pairs, Avx2, ["avx2"], "the same source, compiled at this tier", needs;
        characters_avx512 = characters, Avx512, ["avx512"], "the transform without counting values, from XORs of bit planes and population counts", needs;
    };
    const ABSENT: &'static [(&'static str, &'static str)] = &[
        ("bitvec", "counts are numbers; bits are counted only in characters_avx512, and there in registers"),
        ("wide", "counts take scattered increments or population counts, and wide has neither"),
        ("neon", "it counts the bits of bytes, whose sums take more instructions than counting; not tried"),
        ("simd128", "as with NEON: there are counts of the bits of bytes; not tried"),
        ("parallel", "up to a million heaps, the whole takes less time than starting a thread"),
    ];
    const PUBLIC: &'static [&'static str] = &["histogram"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("../rates.tsv");

    fn input_bytes(input: &Values) -> f64 {
        2.0 * input.heaps as f64
    }

    fn oracle(input: &Values) -> u128 {
        let values = &input.values;
        let mut triples = 0;
        for i in 0..values.len() {
            for j in i..values.len() {
                for c in &values[j..] {
                    triples += u128::from(values[i] ^ values[j] == *c);
                }
            }
        }
        triples
    }

    fn steps(input: &Values) -> u64 {
        input.heaps as u64
    }

    fn digest(output: &u128) -> Digest {
        vec![("triples", *output)]
    }
}

impl Workloads for XorTriples {
    const WORKLOADS: &'static [Workload] = &[workload(
        "squares",
        "values of the game of taking a square number; size = the largest heap",
        100_000,
        &[10, 100, 10_000, 100_000],
    )];

    fn input(workload: &str, size: u64, selection: &Selection) -> Result<Values, InputError> {
        match workload {
            "squares" => {
                let input = Subtraction::new(&MoveSet::Squares, size, selection.machine());
                values_of::<MexSubtraction>(input, Self::NAME, selection).map(Values::new)
            }
            _ => Err(InputError::unknown_workload::<Self>(workload)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::available;
    use crate::machine::Machine;
    use crate::machine::isa::Tier;

    #[test]
    fn sums_of_cubes_past_64_bits_are_exact() {
        // If all values are 0, there are C(n+2, 3) multisets of n heaps.
        for n in [1_700_001u128, 1_800_001, 2_100_001, 50_000_001, (1 << 36) - 1] {
            let mut counts = vec![0; 1 << 16];
            counts[0] = n as u64;
            for counts in [&counts[..4], &counts] {
                assert_eq!(by_transform(counts), n * (n + 1) * (n + 2) / 6);
            }
        }
    }

    #[test]
    fn more_heaps_than_the_counters_can_hold_are_outside_the_domain() {
        let machine = Machine::described(Tier::Portable, 1, 1 << 40);
        let is_possible = |name: &str, heaps| {
            let kernel = available::<XorTriples>(&machine).find(|kernel| kernel.def().name == name);
            kernel.expect("it is portable").cost(&Values::predicted(heaps, 1), 1).is_possible()
        };
        assert!(is_possible("pair_loop", (1 << 33) - 1) && !is_possible("pair_loop", 1 << 33));
        assert!(is_possible("histogram_wht", 1 << 33));
    }
}
