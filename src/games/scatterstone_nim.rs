//! Scatterstone Nim: heaps of `n` stones in all; a move splits one heap into 2 to `k` non-empty heaps. `F(n, k)` is the number
//! of partitions of `n`, as positions, that the player to move wins; the answer is `g(n) = sum of F(n, k) for k = 2..=n`,
//! modulo 1000000007.
//!
//! A position is lost when the Grundy values of its heaps have nim-sum 0, so `F(n, k) = p(n) - L_k(n)` with `p(n)` partitions in
//! all and `L_k(n)` of them lost. Only three rules differ, as [`mex_split`](crate::cores::mex::split) proves: `k = 2`, `k = 3`
//! and all `k >= 4` together, so `g(n) = F(n, 2) + F(n, 3) + (n - 3) F(n, 4)`.
//!
//! # Two parts
//! `sg_2` is 1 for even heaps and 0 for odd ones, so `L_2(n)` counts the partitions with an even number of even parts. With the
//! sign `(-1)^(even parts)` the series of all partitions becomes a product over odd `m`:
//!
//! ```text
//! prod 1/(1 - x^m)  prod 1/(1 + x^2m')  =  prod over odd m of (1 - x^2m) / (1 - x^m)  =  prod over odd m of (1 + x^m)
//!                   (all m')
//! ```
//!
//! since `prod 1/(1 + x^2m') = prod over odd m of (1 - x^2m)` (Euler). So `L_2(n)` is half of `p(n)` plus the partitions into
//! distinct odd parts, which are as many as the self-conjugate ones.
//!
//! # Corrections to the source
//! None: the Scatterstone Nim page is right in every number. What it observes for `k >= 4`, `sg_k(s) = s - 1`, has a short proof.

use super::{Figure, Game, Question, Solution, SolveError, Solver};
use crate::cores::mex::split::{MexSplit, Split};
use crate::cores::xor_count::partitions::{MODULUS, Partitions, XorPartitions, partition_numbers};

/// The game as the lab lists it.
pub const GAME: Game = Game {
    name: "scatterstone-nim",
    question: "sum over k=2..limit of the winning partitions of limit, a heap being split into 2..k, mod 1000000007",
    published: 200,
    operations: &["mex_split", "xor_partitions"],
    solve,
};

fn solve(question: &Question, solver: &Solver) -> Result<Solution, SolveError> {
    let (values, mex) = solver.apply::<MexSplit>(question.limit, |limit| Split::new(3, limit))?;
    let input = Partitions::scatterstone(question.limit, MODULUS.into(), values)?;
    let (lost, partitions) = solver.apply_to::<XorPartitions>(&input)?;
    let n = input.total();
    let modulus = u64::from(MODULUS);
    let all = u64::from(partition_numbers(n, MODULUS)[n]);
    let lost = [lost_with_two_parts(n, all), u64::from(lost[0]), u64::from(lost[1])];
    let [f2, f3, f4] = lost.map(|lost| (all + modulus - lost) % modulus);
    // k = 2, k = 3 and the others up to n.
    let rules = [n.saturating_sub(1).min(1), n.saturating_sub(2).min(1), n.saturating_sub(3)];
    let answer = [f2, f3, f4].iter().zip(rules).fold(0, |sum, (f, rules)| (sum + f * rules as u64) % modulus);
    let figures = [("F2", f2), ("F3", f3), ("F4", f4), ("L2", lost[0]), ("L3", lost[1]), ("L4", lost[2])];
    let details = figures.into_iter().map(|(name, n)| (name, Figure::Count(n.into()))).collect();
    Ok(Solution { answer: answer.into(), details, kernels: vec![mex, partitions] })
}

/// `L_2(n)` from `p(n)`, both modulo [`MODULUS`].
fn lost_with_two_parts(n: usize, all: u64) -> u64 {
    let modulus = u64::from(MODULUS);
    // Half of a number: it, or it and the odd modulus, is even.
    let double = (all + u64::from(self_conjugate(n, MODULUS))) % modulus;
    (double + double % 2 * modulus) / 2
}

/// Self-conjugate partitions of `n`, by the side `k` of the Durfee square: what is left over is twice a partition into parts of at
/// most `k`.
fn self_conjugate(n: usize, modulus: u32) -> u32 {
    let mut bounded = vec![0u32; n / 2 + 1];
    bounded[0] = 1;
    let mut count = u32::from(n == 0);
    for k in (1..).take_while(|k: &usize| k * k <= n) {
        for m in k..bounded.len() {
            bounded[m] = (bounded[m] + bounded[m - k]) % modulus;
        }
        if (n - k * k).is_multiple_of(2) {
            count = (count + bounded[(n - k * k) / 2]) % modulus;
        }
    }
    count
}

/// The counts of [`XorPartitions`], part by part from their definition: each part is taken some number of times.
pub fn oracle_counts(input: &Partitions) -> Vec<u32> {
    let (total, modulus) = (input.total(), u64::from(input.modulus()));
    let count = |table: &Vec<u32>| {
        let values = table.iter().enumerate().skip(1).map(|(part, value)| (part, *value as usize));
        let span = values.clone().map(|(_, value)| value + 1).max().unwrap_or(1).next_power_of_two();
        let mut counts = vec![vec![0u64; span]; total + 1];
        counts[0][0] = 1;
        for (part, value) in values {
            for t in (part..=total).rev() {
                for times in 1..=t / part {
                    let nim_sum = if times % 2 == 1 { value } else { 0 };
                    for x in 0..span {
                        counts[t][x ^ nim_sum] += counts[t - times * part][x];
                    }
                }
                counts[t].iter_mut().for_each(|count| *count %= modulus);
            }
        }
        counts[total][0] as u32
    };
    input.values().iter().map(count).collect()
}

/// The Grundy values of [`MexSplit`](crate::cores::mex::split::MexSplit) from the rules alone: the mex of the nim-sums of
/// all splits, which are enumerated part by part.
pub fn oracle_values(input: &Split) -> Vec<u32> {
    /// Marks the nim-sums of `left` in at most `parts` parts of at most `most`, added to `nim_sum`.
    fn reach(values: &[u32], left: usize, most: usize, parts: usize, nim_sum: u32, reached: &mut [bool]) {
        if left == 0 {
            reached[nim_sum as usize] = true;
        } else if parts > 0 {
            for part in left.div_ceil(parts)..=left.min(most) {
                reach(values, left - part, part, parts - 1, nim_sum ^ values[part], reached);
            }
        }
    }

    let mut values: Vec<u32> = vec![0];
    for s in 1..=input.limit() {
        // No nim-sum of parts reaches the power of two above s, since no value reaches its size.
        let mut reached = vec![false; (s + 1).next_power_of_two()];
        reach(&values, s, s - 1, input.parts(), 0, &mut reached);
        values.push(reached.iter().position(|reached| !reached).expect("fewer nim-sums than numbers") as u32);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_parts_are_counted_as_any_ruleset_is() {
        let all = partition_numbers(120, MODULUS);
        for (n, all) in all.into_iter().enumerate() {
            let values = (0..=n as u32).map(|s| u32::from(s > 0 && s % 2 == 0)).collect();
            let input = Partitions::new(n as u64, MODULUS.into(), vec![values]).expect("the default modulus");
            assert_eq!(u64::from(oracle_counts(&input)[0]), lost_with_two_parts(n, all.into()), "{n}");
        }
    }
}
