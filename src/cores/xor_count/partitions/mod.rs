//! `xor_partitions`: partitions of `n` whose parts, as heaps, have nim-sum 0, modulo a prime or any odd number.
//!
//! Let `sg(s)` be the value of a heap of `s`. The direct algorithm fills a table `D(t, x)` of partitions of `t` with nim-sum `x`:
//! each part `s` in turn adds `D(t - s, x ^ sg(s))` to `D(t, x)`, for ascending `t`. All kernels except the `dp` family work in
//! the Walsh transform over `x` instead, whose rows, the characters `w`, are independent; see `tree`.
//!
//! # Observations
#![doc = include_str!("NOTES.md")]

use super::values_of;
use crate::cores::mex::split::{MexSplit, Split};
use crate::kernel::selection::Selection;
use crate::kernel::workload::{InputError, Workload, Workloads, workload};
use crate::kernel::{Core, Digest, KernelDef, Operation, kernels};

mod dp;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod transform;
mod tree;
#[cfg(all(target_arch = "x86_64", feature = "avx512"))]
mod walsh_fourier;
mod walsh_lanes;
mod walsh_lanes_crates;
mod walsh_tree;

/// For each ruleset, the number of partitions of the total with nim-sum 0, modulo the modulus.
#[derive(Debug)]
pub struct XorPartitions;

/// The total to partition, the modulus, and the values of the parts for each ruleset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitions {
    total: u32,
    modulus: u32,
    values: Vec<Vec<u32>>,
}

/// The default modulus, a prime.
pub const MODULUS: u32 = 1_000_000_007;

/// The largest total: months for the fastest kernel.
pub const MAX_TOTAL: u64 = 1 << 20;

impl Partitions {
    /// Partitions of `total`, for each table `values[ruleset][part]`. Parts beyond the end of a table do not exist; entry 0 is
    /// ignored.
    ///
    /// # Errors
    /// The total is above [`MAX_TOTAL`], or the modulus is even, below 3 or not below 2^31.
    pub fn new(total: u64, modulus: u64, mut values: Vec<Vec<u32>>) -> Result<Self, InputError> {
        if total > MAX_TOTAL {
            return Err(InputError::TooLarge { operation: XorPartitions::NAME, size: total, most: MAX_TOTAL });
        }
        if modulus.is_multiple_of(2) || !(3..1 << 31).contains(&modulus) {
            return Err(InputError::Modulus(modulus));
        }
        for table in &mut values {
            table.truncate(total as usize + 1);
        }
        Ok(Partitions { total: total as u32, modulus: modulus as u32, values })
    }

    /// Partitions of `total` under the rules of Scatterstone Nim: splits into at most 3 parts, and splits into at most 4 or any
    /// larger number of parts.
    ///
    /// # Errors
    /// See [`Partitions::new`].
    pub fn scatterstone(total: u64, modulus: u64, three_parts: Vec<u32>) -> Result<Self, InputError> {
        let more = (0..three_parts.len() as u32).map(|s| s.saturating_sub(1)).collect();
        Partitions::new(total, modulus, vec![three_parts, more])
    }

    /// The total to partition.
    pub fn total(&self) -> usize {
        self.total as usize
    }

    /// The modulus.
    pub fn modulus(&self) -> u32 {
        self.modulus
    }

    /// The tables of values, one per ruleset.
    pub fn values(&self) -> &[Vec<u32>] {
        &self.values
    }

    /// The parts of a ruleset in ascending order, with their values.
    fn parts(table: &[u32]) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        table.iter().enumerate().skip(1).map(|(part, value)| (part, *value as usize))
    }

    /// The power of two above the values of a ruleset.
    fn span(table: &[u32]) -> usize {
        (Self::parts(table).map(|(_, value)| value).max().unwrap_or(0) + 1).next_power_of_two()
    }

    /// The number of additions of the direct algorithm, over all rulesets.
    fn additions(&self) -> f64 {
        let n = f64::from(self.total);
        self.values.iter().map(|table| n * n / 2.0 * Self::span(table) as f64).sum()
    }

    /// Bytes of the largest direct table, with cells of `cell` bytes and at least `least` cells per row.
    fn table_bytes(&self, cell: f64, least: usize) -> f64 {
        let span = self.values.iter().map(|table| Self::span(table)).fold(least, usize::max);
        (f64::from(self.total) + 1.0) * span as f64 * cell
    }
}

/// The partition numbers `p(0..=limit)` modulo `modulus`, which is positive and below 2^31, by Euler's recurrence over the
/// pentagonal numbers `k(3k-1)/2` and `k(3k+1)/2`.
#[doc(hidden)]
pub fn partition_numbers(limit: usize, modulus: u32) -> Vec<u32> {
    let mut numbers = vec![1 % modulus];
    for n in 1..=limit {
        let (mut sum, mut k, mut pentagonal) = (0, 1, 1);
        // Terms k and -k are positive for odd k. The sum of about 1.6 sqrt(n) terms is far from overflow.
        while pentagonal <= n {
            let rest = n - pentagonal;
            let pair = i64::from(numbers[rest]) + if rest >= k { i64::from(numbers[rest - k]) } else { 0 };
            sum += if k % 2 == 1 { pair } else { -pair };
            k += 1;
            pentagonal = k * (3 * k - 1) / 2;
        }
        numbers.push(sum.rem_euclid(i64::from(modulus)) as u32);
    }
    numbers
}

impl Operation for XorPartitions {
    type Input = Partitions;
    type Output = Vec<u32>;
    type Start = ();

    const NAME: &'static str = "xor_partitions";
    const CORE: Core = Core::XorCount;
    const UNIT: &'static str = "part";
    const KERNELS: &'static [KernelDef<Self>] = kernels! { XorPartitions;
        dp = scalar in dp, Portable, [], "the baseline, and the best known elsewhere: a table of 64-bit counts, one remainder per addition", needs;
        dp_lanes = lanes in dp like dp, Portable, [], "the same in 32 bits with a conditional subtraction, and lanes along the nim-sum";
        dp_lanes_avx2 = lanes in dp like dp_lanes, Avx2, ["avx2"], "the same, autovectorised for AVX2";
        walsh_tree = walsh_tree with walsh_tree::plain on one, Portable, [], "one series per character, in a tree that shares the work for small parts";
        walsh_tree_avx512 = walsh_tree with walsh_tree::avx512 on one like walsh_tree, Avx512, ["avx512"], "the same with 16 terms at once, shifted in registers";
        walsh_tree_threads_avx512 = walsh_tree with walsh_tree::avx512 on all like walsh_tree, Avx512, ["avx512", "parallel"], "the same, with the leaves shared among threads";
        walsh_fourier_avx512 = walsh_fourier on one like walsh_tree_avx512, Avx512, ["avx512"], "the same with transforms of the last class, modulo two primes";
        walsh_fourier_threads_avx512 = walsh_fourier on all like walsh_fourier_avx512, Avx512, ["avx512", "parallel"], "the same, with the leaves shared among threads";
        walsh_lanes = walsh_lanes with walsh_lanes::plain like walsh_tree, Portable, [], "the same with 16 characters as lanes", needs;
        walsh_lanes_wide = walsh_lanes with walsh_lanes_crates::wide like walsh_lanes, Portable, ["wide"], "the same with two vectors of wide";
        walsh_lanes_avx2 = walsh_lanes with walsh_lanes::avx2 like walsh_lanes, Avx2, ["avx2"], "the same with two vectors, and signs as masks", needs;
        walsh_lanes_avx512 = walsh_lanes with walsh_lanes::avx512 like walsh_lanes, Avx512, ["avx512"], "the same with signs in a mask register", needs;
        walsh_lanes_neon = walsh_lanes with walsh_lanes::v128 like walsh_lanes, Neon, ["neon"], "the same with four vectors, and signs as factors";
        walsh_lanes_simd128 = walsh_lanes with walsh_lanes::v128 like walsh_lanes, Simd128, ["simd128"], "the same with four vectors, and signs as masks";
        walsh_lanes_std = walsh_lanes with walsh_lanes_crates::std_simd::portable like walsh_lanes, Portable, ["std_simd"] if nightly_compiler, "the same in vectors of std::simd";
        walsh_lanes_std_avx2 = walsh_lanes with walsh_lanes_crates::std_simd::avx2 like walsh_lanes, Avx2, ["avx2", "std_simd"] if nightly_compiler, "the same in vectors of std::simd";
        walsh_lanes_std_avx512 = walsh_lanes with walsh_lanes_crates::std_simd::avx512 like walsh_lanes, Avx512, ["avx512", "std_simd"] if nightly_compiler, "the same in vectors of std::simd";
        walsh_lanes_c = walsh_lanes with walsh_lanes_crates::c::loops like walsh_lanes, Portable, ["c"], "the same in loops in C";
        walsh_lanes_c_vectors = walsh_lanes with walsh_lanes_crates::c::vectors like walsh_lanes, Portable, ["c"] if not(target_env = "msvc"), "the same in vector extensions of C";
        walsh_lanes_c_avx2 = walsh_lanes with walsh_lanes_crates::c::loops_avx2 like walsh_lanes, Avx2, ["avx2", "c"], "the same in loops in C, compiled for AVX2";
        walsh_lanes_c_vectors_avx2 = walsh_lanes with walsh_lanes_crates::c::vectors_avx2 like walsh_lanes, Avx2, ["avx2", "c"] if not(target_env = "msvc"), "the same in vector extensions of C, compiled for AVX2";
        walsh_lanes_pulp = pulp in walsh_lanes_crates(Tier) like walsh_lanes, Portable, ["pulp"], "the same with vectors and masks of pulp", needs;
        walsh_lanes_pulp_avx2 = pulp in walsh_lanes_crates(Tier) like walsh_lanes_pulp, Avx2, ["avx2", "pulp"], "the same source with this tier's token", needs;
        walsh_lanes_pulp_avx512 = pulp in walsh_lanes_crates(Tier) like walsh_lanes_pulp, Avx512, ["avx512", "pulp"], "the same source with this tier's token", needs;
        walsh_lanes_fearless = fearless in walsh_lanes_crates(Tier) like walsh_lanes, Portable, ["fearless_simd"], "the same with vectors and masks of fearless_simd", needs;
        walsh_lanes_fearless_avx2 = fearless in walsh_lanes_crates(Tier) like walsh_lanes_fearless, Avx2, ["avx2", "fearless_simd"], "the same source at this tier's level", needs;
        walsh_lanes_fearless_avx512 = fearless in walsh_lanes_crates(Tier) like walsh_lanes_fearless, Avx512, ["avx512", "fearless_simd"], "the same source at this tier's level", needs;
    };
    const ABSENT: &'static [(&'static str, &'static str)] =
        &[("bitvec", "counts modulo a number are not bits, and the signs of the characters fit in a word")];
    const PUBLIC: &'static [&'static str] = &["dp"];
    const NOTES: &'static str = include_str!("NOTES.md");
    const RATES: &'static str = include_str!("../rates.tsv");

    fn input_bytes(input: &Partitions) -> f64 {
        input.values.iter().map(|table| 4.0 * table.len() as f64).sum()
    }

    /// Counted by definition, part by part, with every multiplicity of each part.
    fn oracle(input: &Partitions) -> Vec<u32> {
        let (total, modulus) = (input.total(), u64::from(input.modulus()));
        let mut answers = Vec::new();
        for table in input.values() {
            let span = table.iter().skip(1).map(|value| (*value as usize + 1).next_power_of_two()).max().unwrap_or(1);
            let mut counts = vec![vec![0u64; span]; total + 1];
            counts[0][0] = 1;
            for (part, value) in table.iter().enumerate().skip(1) {
                for t in (part..=total).rev() {
                    let (below, from_t) = counts.split_at_mut(t);
                    for times in 1..=t / part {
                        let nim_sum = if times % 2 == 1 { *value as usize } else { 0 };
                        let fewer = &below[t - times * part];
                        for (x, count) in from_t[0].iter_mut().enumerate() {
                            *count += fewer[x ^ nim_sum];
                        }
                    }
                    for count in &mut from_t[0] {
                        *count %= modulus;
                    }
                }
            }
            answers.push(counts[total][0] as u32);
        }
        answers
    }

    fn steps(input: &Partitions) -> u64 {
        (input.values.len() * input.total()) as u64
    }

    fn digest(counts: &Vec<u32>) -> Digest {
        ["L3", "L4"].into_iter().zip(counts.iter().map(|count| u128::from(*count))).collect()
    }
}

impl Workloads for XorPartitions {
    const WORKLOADS: &'static [Workload] = &[workload(
        "scatterstone",
        "count for splits into 2 or 3 parts, and for splits into more; size = the total",
        200,
        &[10, 100, 200, 500],
    )];

    fn input(workload: &str, size: u64, selection: &Selection) -> Result<Partitions, InputError> {
        match workload {
            "scatterstone" => {
                let values = values_of::<MexSplit>(Split::new(3, size), Self::NAME, selection)?;
                Partitions::scatterstone(size, MODULUS.into(), values)
            }
            _ => Err(InputError::unknown_workload::<Self>(workload)),
        }
    }
}
