//! Nim Square (Project Euler 310): three heaps; a move takes a square number from one of them. The answer is the number of
//! P-positions `a <= b <= c <= limit`: by Sprague and Grundy those whose three Grundy values have nim-sum 0. Other subtraction
//! sets may stand in for the squares.
//!
//! # Corrections to the source
//! The published answer is right. Its program goes wrong at other limits:
//! - it sizes its table of frequencies with `while (next < max)` where `<=` is meant, and writes past its end when the largest
//!   value is a power of two: limits 1-24, 28, 200-233, 1173-1310 and more;
//! - its 80 flags hold the values up to limit 124063 only;
//! - its 32-bit frequencies overflow just above limit 1e6.

use super::{Game, Question, Solution, SolveError, Solver, details};
use crate::cores::mex::subtraction::{MexSubtraction, Subtraction};
use crate::cores::xor_count::triples::{Values, XorTriples, walsh_hadamard};
use crate::kernel::{Operation, Stop};
use crate::moves::MoveSet;

/// The game as the lab lists it.
pub const GAME: Game = Game {
    name: "nim-square",
    question: "number of losing positions a<=b<=c<=limit of three heaps, taking a square number from one",
    published: 100_000,
    operations: &["mex_subtraction", "xor_triples"],
    solve,
    positions: None,
};

fn solve(question: &Question, solver: &Solver) -> Result<Solution, SolveError> {
    let moves = question.moves.as_ref().unwrap_or(&MoveSet::Squares);
    let (values, mex) = solver.apply::<MexSubtraction>(question.limit, |limit| Subtraction::new(moves, limit))?;
    let details = details(MexSubtraction::digest(&values), "");
    if let Some(heaps) = question.heaps.filter(|heaps| *heaps != 3) {
        let answer = multisets(&values, heaps).ok_or(Stop::Overflow)?;
        return Ok(Solution { answer, details, kernels: vec![mex] });
    }
    let (answer, triples) = solver.apply_to::<XorTriples>(&Values(values))?;
    Ok(Solution { answer, details, kernels: vec![mex, triples] })
}

/// Multisets of `heaps` of the values with nim-sum 0, unless the number or one on the way to it passes 127 bits; the empty multiset is
/// one.
///
/// For a character `w` let `H(w)` be the sum of the signs of the values. The multisets of `m` heaps, each with the product of its
/// signs, add up to `a(m)` with `sum of a(m) z^m = prod over the heaps of 1/(1 - sign z)`, so by its logarithmic derivative
/// `m a(m) = sum over i = 1..=m of S(i) a(m-i)`, where `S(i)` is `H(w)` for odd `i` and the number of values for even `i`. The mean of
/// `a(m)` over all characters counts those with nim-sum 0.
pub fn multisets(values: &[u16], heaps: u32) -> Option<u128> {
    let span = (values.iter().max().map_or(0, |max| usize::from(*max)) + 1).next_power_of_two();
    let mut signs = vec![0i64; span];
    values.iter().for_each(|value| signs[usize::from(*value)] += 1);
    walsh_hadamard(&mut signs);
    let mut total = 0i128;
    for h in signs {
        let sums = [values.len() as i128, h.into()];
        let mut a = vec![1i128];
        for m in 1..=heaps as usize {
            let terms = a.iter().rev().zip(1..).map(|(a, i): (_, usize)| sums[i % 2].checked_mul(*a));
            let sum = terms.into_iter().try_fold(0i128, |sum, term| sum.checked_add(term?))?;
            a.push(sum / m as i128);
        }
        total = total.checked_add(*a.last()?)?;
    }
    Some((total / span as i128) as u128)
}

/// The multisets of three values with nim-sum 0, counted one by one.
pub fn oracle(values: &[u16]) -> u128 {
    let mut triples = 0;
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate().skip(i) {
            triples += values[j..].iter().filter(|c| a ^ b ^ **c == 0).count() as u128;
        }
    }
    triples
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Multisets of the values from index `from` on, one by one.
    fn one_by_one(values: &[u16], heaps: u32, nim_sum: u16) -> u128 {
        if heaps == 0 {
            return u128::from(nim_sum == 0);
        }
        (0..values.len()).map(|i| one_by_one(&values[i..], heaps - 1, nim_sum ^ values[i])).sum()
    }

    proptest! {
        #[test]
        fn any_number_of_heaps_is_counted(values in prop::collection::vec(0u16..20, 0..9), heaps in 0u32..6) {
            prop_assert_eq!(multisets(&values, heaps), Some(one_by_one(&values, heaps, 0)));
        }
    }

    #[test]
    fn a_number_that_does_not_fit_is_none() {
        assert_eq!(multisets(&[0; 1000], 1000), None);
    }
}
