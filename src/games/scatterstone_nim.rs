//! Scatterstone Nim: heaps with `n` stones in total; a move splits one heap into 2 to `k` non-empty heaps. A position is a
//! partition of `n`, and `F(n, k)` is the number of positions that the player to move wins. The answer is
//! `g(n) = sum of F(n, k) for k = 2..=n`, modulo 1000000007.
//!
//! A position is lost when the Grundy values of its heaps have nim-sum 0. So `F(n, k) = p(n) - L_k(n)`, where `p(n)` is the number
//! of partitions and `L_k(n)` the number of lost ones. Only three rules differ, as [`mex_split`](crate::cores::mex::split)
//! proves: `k = 2`, `k = 3` and all `k >= 4`. So `g(n) = F(n, 2) + F(n, 3) + (n - 3) F(n, 4)`.
//!
//! # Two parts
//! `sg_2` is 1 for even heaps and 0 for odd ones, so `L_2(n)` counts the partitions with an even number of even parts. With the
//! sign `(-1)^(even parts)`, the generating function of all partitions becomes a product over odd `m`:
//!
//! ```text
//! prod 1/(1 - x^m)  prod 1/(1 + x^2m')  =  prod over odd m of (1 - x^2m) / (1 - x^m)  =  prod over odd m of (1 + x^m)
//!                   (all m')
//! ```
//!
//! since `prod 1/(1 + x^2m') = prod over odd m of (1 - x^2m)` (Euler). So `L_2(n)` is half the sum of `p(n)` and the number of
//! partitions into distinct odd parts, which equals the number of self-conjugate partitions.
//!
//! # Corrections to the source
//! None: every number on the Scatterstone Nim page is right. Its observation for `k >= 4`, `sg_k(s) = s - 1`, has a short proof.

use std::fmt;

use num_bigint::BigUint;

use super::{ChosenKernel, Figure, Game, Parameter, Question, Setter, Solution, SolveError, Solver, Takes, held};
use crate::cores::mex::split::{MexSplit, Split};
use crate::cores::xor_count::partitions::{MODULUS, Partitions, XorPartitions, partition_numbers};
use crate::kernel::workload::InputError;
use crate::kernel::{Operation, RunError};
use crate::simd::mapped;

/// The game as the lab lists it.
pub const GAME: Game = Game {
    name: "scatterstone-nim",
    title: "Scatterstone Nim",
    question: "sum over k=2..limit of the winning partitions of limit, where a move splits a heap into 2..k",
    limit: "the number of stones",
    published: 200,
    far: &[1000, 16_000, 30_000],
    operations: &["mex_split", "xor_partitions"],
    parameters: &[&COUNT],
    solve,
    listing: None,
};

static COUNT: Parameter = Parameter {
    name: "count",
    published: || held(Count::Modulo(MODULUS.into())),
    setters: &[
        Setter {
            name: "modulus",
            help: "count modulo an odd number below 2^31",
            takes: Takes::Number {
                value: "MODULUS",
                range: 0..=u64::MAX,
                read: |modulus| {
                    Partitions::new(0, modulus, Vec::new())?;
                    Ok(held(Count::Modulo(modulus)))
                },
            },
        },
        Setter {
            name: "exact",
            help: "compute the exact number, however large",
            takes: Takes::Nothing(|| held(Count::Exact)),
        },
    ],
};

/// How positions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Count {
    /// Modulo an odd number below 2^31.
    Modulo(u64),
    /// Exactly.
    Exact,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Modulo(modulus) => write!(f, "modulo {modulus}"),
            Count::Exact => f.write_str("exact"),
        }
    }
}

fn solve(question: &Question, solver: &Solver) -> Result<Solution, SolveError> {
    let count: Count = *question.get(&COUNT);
    let modulus = if let Count::Modulo(modulus) = count { modulus } else { MODULUS.into() };
    let (kernel, input) = solver.choose::<XorPartitions>(question.limit, &|limit| predicted(limit, modulus))?;
    if let Count::Exact = count {
        let runs = bits(question.limit) as f64 / f64::from(PRIME_BITS);
        solver.selection.admit(XorPartitions::NAME, runs * kernel.cost(&input, solver.run.threads()).ns)?;
    }
    let (values, mex) = solver.apply::<MexSplit>(question.limit, |limit| Split::new(3, limit))?;
    let (numbers, partitions) = match count {
        Count::Modulo(modulus) => {
            let (numbers, kernel) = modulo(question.limit, modulus, &values, solver)?;
            (numbers.map(BigUint::from), kernel)
        }
        Count::Exact => exact(question.limit, &values, solver)?,
    };
    let [answer, f2, f3, f4, l2, l3, l4] = numbers;
    let mut details = Vec::new();
    for (name, number) in [("F2", f2), ("F3", f3), ("F4", f4), ("L2", l2), ("L3", l3), ("L4", l4)] {
        details.push((name, Figure::Count(number)));
    }
    Ok(Solution { answer, details, kernels: vec![mex, partitions] })
}

/// An input like the later one of [`XorPartitions`], to predict its cost. Its values approximate those of [`MexSplit`].
fn predicted(limit: u64, modulus: u64) -> Result<Partitions, InputError> {
    // Checks the limit first: the next line makes a value for each heap.
    Partitions::new(limit, modulus, Vec::new())?;
    Partitions::scatterstone(limit, modulus, (0..=limit as u32).map(|s| s / 2).collect())
}

/// `g`, `F2`, `F3`, `F4`, `L2`, `L3` and `L4`.
type Numbers<T> = [T; 7];

/// The numbers for `limit` modulo `modulus`, from the values of [`MexSplit`] for three parts.
fn modulo(
    limit: u64,
    modulus: u64,
    values: &[u32],
    solver: &Solver,
) -> Result<(Numbers<u64>, ChosenKernel), SolveError> {
    let input = Partitions::scatterstone(limit, modulus, values.to_vec())?;
    let (lost, kernel) = solver.apply_to::<XorPartitions>(&input)?;
    let n = input.total();
    let all = partition_numbers(n, input.modulus())[n];
    let lost = mapped([lost_with_two_parts(n, all, input.modulus()), lost[0], lost[1]], u64::from);
    let won = mapped(lost, |lost| (u64::from(all) + modulus - lost) % modulus);
    // How many k have each rule: k = 2, k = 3 and 4..=n.
    let rules = [n.saturating_sub(1).min(1), n.saturating_sub(2).min(1), n.saturating_sub(3)];
    let mut answer = 0;
    for rule in 0..3 {
        answer = (answer + won[rule] * (rules[rule] as u64 % modulus)) % modulus;
    }
    Ok(([answer, won[0], won[1], won[2], lost[0], lost[1], lost[2]], kernel))
}

/// The largest prime moduli are just below two to this power.
const PRIME_BITS: u32 = 31;

/// Whether an odd number is prime.
fn is_prime(n: u64) -> bool {
    let mut d = 3;
    while d * d <= n {
        if n.is_multiple_of(d) {
            return false;
        }
        d += 2;
    }
    true
}

/// The exact numbers, by the Chinese remainder theorem, from as many primes as their size requires.
fn exact(limit: u64, values: &[u32], solver: &Solver) -> Result<(Numbers<BigUint>, ChosenKernel), SolveError> {
    let bits = bits(limit);
    let mut numbers: Numbers<BigUint> = Default::default();
    let mut product = BigUint::from(1u32);
    // The prime moduli, descending.
    let mut prime = 1 << PRIME_BITS | 1;
    while prime > 3 {
        prime -= 2;
        if !is_prime(prime) {
            continue;
        }
        let (remainders, kernel) = modulo(limit, prime, values, solver)?;
        let inverse = power(remainder(&product, prime), prime - 2, prime);
        for (number, wanted) in numbers.iter_mut().zip(remainders) {
            // The mixed-radix digit that gives this remainder; the last ones are 0.
            let missing = wanted + prime - remainder(number, prime);
            *number += &product * (missing % prime * inverse % prime);
        }
        product *= prime;
        if product.bits() > bits {
            return Ok((numbers, kernel));
        }
    }
    Err(RunError::Overflow.into())
}

/// A number of bits that is enough for `(n + 1) p(n)`, an upper bound on all the numbers: `p(n) < exp(pi sqrt(2n/3))` for all
/// `n > 0` (Apostol, Introduction to Analytic Number Theory, theorem 14.5).
fn bits(n: u64) -> u64 {
    let n = n as f64;
    (std::f64::consts::PI * (2.0 * n / 3.0).sqrt() * std::f64::consts::LOG2_E + (n + 1.0).log2()).ceil() as u64 + 1
}

fn remainder(number: &BigUint, modulus: u64) -> u64 {
    (number % modulus).iter_u64_digits().next().unwrap_or(0)
}

/// `base` to the power `exponent`, modulo `modulus` below 2^31, by repeated squaring.
fn power(base: u64, exponent: u64, modulus: u64) -> u64 {
    let mut power = 1;
    for bit in 0..u64::BITS {
        power = power * power % modulus;
        if exponent << bit >> (u64::BITS - 1) == 1 {
            power = power * base % modulus;
        }
    }
    power
}

/// `L_2(n)` from `all`, which is `p(n)`, both modulo an odd `modulus`.
fn lost_with_two_parts(n: usize, all: u32, modulus: u32) -> u32 {
    // Halves `double`: it is even, or becomes even when the odd modulus is added.
    let double = (u64::from(all) + u64::from(self_conjugate(n, modulus))) % u64::from(modulus);
    ((double + double % 2 * u64::from(modulus)) / 2) as u32
}

/// The number of self-conjugate partitions of `n`, by the side `k` of the Durfee square: the rest is twice a partition into parts
/// of at most `k`.
fn self_conjugate(n: usize, modulus: u32) -> u32 {
    let mut bounded = vec![0u32; n / 2 + 1];
    bounded[0] = 1;
    let mut count = u32::from(n == 0);
    let mut k = 1;
    while k * k <= n {
        for m in k..bounded.len() {
            bounded[m] = (bounded[m] + bounded[m - k]) % modulus;
        }
        if (n - k * k).is_multiple_of(2) {
            count = (count + bounded[(n - k * k) / 2]) % modulus;
        }
        k += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Operation;

    #[test]
    fn the_formula_for_two_parts_agrees_with_the_general_count() {
        let all = partition_numbers(120, MODULUS);
        for (n, all) in all.into_iter().enumerate() {
            let values = (0..=n as u32).map(|s| u32::from(s > 0 && s % 2 == 0)).collect();
            let input = Partitions::new(n as u64, MODULUS.into(), vec![values]).expect("the default modulus");
            assert_eq!(XorPartitions::oracle(&input)[0], lost_with_two_parts(n, all, MODULUS), "{n}");
        }
    }
}
