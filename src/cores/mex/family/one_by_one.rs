//! One set at a time: values of doubling length, until the last of them, as many as the largest move, have occurred before.
//!
//! [`proved`] is the search of `mex_subtraction`, whose kernels are made for sets of any size. In [`flags`], these sets are
//! small: the values that a heap reaches are the bits of a register.
//!
//! Cost: a load and an OR for each pair of heap and move, for about 12 heaps per unit of the largest move; [`proved`] prepares tables for
//! larger sets first, which takes longer than the values.
//! Bound: the instructions; the values stay in L1.

use super::{Family, Findings, Repeating, bits_of};
use crate::cores::mex::subtraction::{MAX_LIMIT, Period};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// The largest value of a set, its period and its preperiod, given the mask of its moves.
pub type Resolve = fn(u64, &Run) -> Result<[u64; 3], RunError>;

/// The heaps of the first prefix, in units of the largest move.
const FIRST: usize = 8;

/// Rates: the ns of a set, and of a pair of heap and move.
pub fn cost(input: &Family, _: CostContext, [set, pair]: [f64; 2]) -> Cost {
    /// Heaps per unit of the largest move, on average.
    const HEAPS: f64 = 12.0;
    /// For what is prepared for larger sets.
    const NS_PER_RUN: f64 = 1000.0;
    const PREPARED_BYTES: f64 = 65_000.0;
    let pairs = HEAPS * input.largest() as f64 * input.mean_moves();
    Cost { ns: input.sets() as f64 * (set + pair * pairs) + NS_PER_RUN, bytes: PREPARED_BYTES }
}

/// Resolves a set, and adds what is found.
pub fn add(input: &Family, set: u64, run: &Run, findings: &mut Findings, resolve: Resolve) -> Result<(), RunError> {
    let [largest, period, preperiod] = resolve(input.mask(set), run)?;
    findings.add(Repeating { set, period, preperiod }, largest, input.kept);
    run.advance(1)
}

pub fn run(input: &Family, run: &Run, resolve: Resolve) -> Result<Findings, RunError> {
    let mut findings = Findings::default();
    for set in input.numbers(input.indices()) {
        add(input, set, run, &mut findings, resolve)?;
    }
    Ok(findings)
}

/// What is found of a set, from the values of its first heaps.
fn found(values: Vec<u16>, Period { period, preperiod }: Period) -> [u64; 3] {
    let largest = values.into_iter().max().unwrap_or(0);
    [largest.into(), period as u64, preperiod as u64]
}

const TOO_LONG: RunError = RunError::GaveUp("a set has no period among the heaps that fit in memory");

/// By the search of `mex_subtraction`.
pub mod proved {
    use super::*;
    use crate::cores::mex::subtraction::{Subtraction, prove};

    pub fn parts() -> Resolve {
        |moves, run| {
            let input = Subtraction::of_moves(bits_of(moves).map(|m| m as u64).collect(), MAX_LIMIT);
            let (values, period) = prove(&input, run)?.ok_or(TOO_LONG)?;
            Ok(found(values, period))
        }
    }
}

/// With flags in a register.
pub mod flags {
    use super::*;
    use crate::cores::mex::subtraction::period;
    use crate::simd::bits::first_zero;

    pub fn resolve(moves: u64, run: &Run) -> Result<[u64; 3], RunError> {
        let moves: Vec<usize> = bits_of(moves).collect();
        let farthest = moves.last().copied().unwrap_or(0).max(1);
        let (mut g, mut heaps, mut allowed) = (Vec::<u16>::new(), FIRST * farthest, 0);
        while heaps as u64 <= MAX_LIMIT {
            g.reserve_exact(heaps - g.len());
            for n in g.len()..heaps {
                while allowed < moves.len() && moves[allowed] <= n {
                    allowed += 1;
                }
                let reached = moves[..allowed].iter().fold(0u64, |reached, m| reached | 1 << g[n - m]);
                // At most 63, as there are no more moves.
                g.push(first_zero(reached) as u16);
            }
            if let Some(period) = period(&g, farthest, run)? {
                return Ok(found(g, period));
            }
            heaps *= 2;
        }
        Err(TOO_LONG)
    }

    pub fn parts() -> Resolve {
        resolve
    }
}
