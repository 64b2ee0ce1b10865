//! Nim Square (Project Euler 310): three heaps; a move takes a square number from one of them. The answer is the number of
//! P-positions `a <= b <= c <= limit`. By the Sprague-Grundy theorem, these are the positions whose three Grundy values have
//! nim-sum 0. Other subtraction sets may replace the squares.
//!
//! # Corrections to the source
//! The published answer is right, but its program fails at other limits:
//! - it sizes its frequency table with `while (next < max)` instead of `<=`, and so writes past the end when the largest
//!   value is a power of two: limits 1-24, 28, 200-233, 1173-1310 and more;
//! - its 80 flags are enough only for the values up to limit 124063;
//! - its 32-bit frequencies overflow just above limit 1e6.

use num_bigint::{BigInt, BigUint};

use super::{Game, Parameter, Question, Setter, Solution, SolveError, Solver, Takes, details, held};
use crate::cores::mex::subtraction::{MexSubtraction, Subtraction};
use crate::cores::xor_count::triples::{Values, XorTriples};
use crate::kernel::{Operation, Run};
use crate::moves::{ALLOWED, MoveSet};
use crate::simd::walsh::walsh_hadamard;

/// The game as the lab lists it.
pub const GAME: Game = Game {
    name: "nim-square",
    title: "Nim Square",
    question: "number of P-positions (as multisets) of heaps 0..=limit, where a move takes a number of the set from one heap",
    limit: "the largest heap",
    published: 100_000,
    far: &[1_000_000, 10_000_000, 30_000_000],
    operations: &["mex_subtraction", "xor_triples"],
    parameters: &[&MOVES, &HEAPS],
    solve,
    listing: None,
};

static MOVES: Parameter = Parameter {
    name: "moves",
    published: || held(MoveSet::Squares),
    setters: &[Setter {
        name: "moves",
        help: ALLOWED,
        takes: Takes::Text { value: "MOVES", read: |text| Ok(held(text.parse::<MoveSet>()?)) },
    }],
};

static HEAPS: Parameter = Parameter {
    name: "heaps",
    published: || held(3u32),
    setters: &[Setter {
        name: "heaps",
        help: "the number of heaps, at most 10000",
        takes: Takes::Number { value: "M", range: 0..=MAX_HEAPS as u64, read: |heaps| Ok(held(heaps as u32)) },
    }],
};

fn solve(question: &Question, solver: &Solver) -> Result<Solution, SolveError> {
    let (moves, heaps): (&MoveSet, u32) = (question.get(&MOVES), *question.get(&HEAPS));
    let input = |limit| Subtraction::new(moves, limit, solver.selection.machine());
    let (kernel, input) = solver.choose::<MexSubtraction>(question.limit, &input)?;
    if heaps == 3 {
        let predicted = Values::predicted(input.heaps(), (input.values() - 1.0) as u16);
        solver.kernels().kernel::<XorTriples>(&predicted)?;
    }
    let (values, mex) = solver.perform(kernel, (), &input)?;
    let details = details(MexSubtraction::digest(&values), "");
    if heaps != 3 {
        let answer = multisets(&values, heaps, solver.run)?;
        return Ok(Solution { answer, details, kernels: vec![mex] });
    }
    let (triples, kernel) = solver.apply_to::<XorTriples>(&Values::new(values))?;
    Ok(Solution { answer: triples.into(), details, kernels: vec![mex, kernel] })
}

/// The largest number of heaps. With it, the published limit takes seconds, and the numbers have thousands of digits.
pub const MAX_HEAPS: u32 = 10_000;

/// The number of multisets of `heaps` heaps with nim-sum 0; the empty multiset counts.
///
/// For a character `w`, let `h` be the sum of the signs of the `n` values. Let `a(m)` be the sum, over the multisets of `m` heaps,
/// of the product of their signs. Then `f = sum of a(m) z^m = prod over the heaps of 1/(1 - sign z)`. The logarithmic derivative
/// gives `(1 - z^2) f' = (h + n z) f`, and so `m a(m) = h a(m-1) + (n + m - 2) a(m-2)`. The mean of `a(m)` over all characters is
/// the number of multisets with nim-sum 0.
///
/// # Errors
/// There are more than [`MAX_HEAPS`] heaps, or the run was stopped.
pub fn multisets(values: &[u16], heaps: u32, run: &Run) -> Result<BigUint, SolveError> {
    if heaps > MAX_HEAPS {
        return Err(SolveError::TooManyHeaps { heaps, most: MAX_HEAPS });
    }
    let mut largest = 0;
    for value in values {
        largest = largest.max(*value);
    }
    let span = (usize::from(largest) + 1).next_power_of_two();
    let mut signs = vec![0i64; span];
    for value in values {
        signs[usize::from(*value)] += 1;
    }
    walsh_hadamard(&mut signs);
    let n = values.len() as i64;
    let mut total = BigInt::ZERO;
    for h in signs {
        run.advance(0)?;
        let (mut before, mut a) = (BigInt::ZERO, BigInt::from(1));
        for m in 1..=i64::from(heaps) {
            let next = (&a * h + before * (n + m - 2)) / m;
            (before, a) = (a, next);
        }
        total += a;
    }
    // `total` is the count times the number of characters.
    Ok((total / span).into_parts().1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Counts multisets one by one.
    fn one_by_one(values: &[u16], heaps: u32, nim_sum: u16) -> u128 {
        if heaps == 0 {
            return u128::from(nim_sum == 0);
        }
        (0..values.len()).map(|i| one_by_one(&values[i..], heaps - 1, nim_sum ^ values[i])).sum()
    }

    proptest! {
        #[test]
        fn any_number_of_heaps_is_counted(values in prop::collection::vec(0u16..20, 0..9), heaps in 0u32..6) {
            let counted = multisets(&values, heaps, &Run::new(1));
            prop_assert_eq!(counted, Ok(one_by_one(&values, heaps, 0).into()));
        }
    }

    /// With all values 0, the number of multisets of 1000 heaps is the binomial coefficient 1999 over 1000.
    #[test]
    fn numbers_may_have_hundreds_of_digits() {
        let product = |from: u32, to: u32| (from..=to).map(BigUint::from).product::<BigUint>();
        assert_eq!(multisets(&[0; 1000], 1000, &Run::new(1)), Ok(product(1000, 1999) / product(1, 1000)));
    }

    #[test]
    fn too_many_heaps_are_rejected() {
        let error = multisets(&[0], MAX_HEAPS + 1, &Run::new(1)).unwrap_err();
        assert_eq!(error.to_string(), "10001 heaps are too many; at most 10000");
    }
}
