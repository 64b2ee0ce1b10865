//! Finite sets: the values repeat, and once a repetition is proved the rest is copied.
//!
//! `g(n)` depends on the `M` values before it, `M` the largest move. So if `M` values in a row equal the `M` values that
//! stand `p` earlier, everything from the earlier ones on has period `p`: that is a proof, not an observation. Prefixes of
//! doubling length are computed by one of the portable kernels until the last `M` values have occurred before.
//!
//! Cost: the prefix, and a copy of two bytes a heap.
//! Bound: memory bandwidth, if the period is short.

use super::{Subtraction, pull_words, shifted_sets, stamp};
use crate::kernel::{Cost, On, Run, Stop, Tier};

/// A proved repetition: `g(n + period) = g(n)` for all `n >= preperiod`, both as small as can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The length of the repetition.
    pub period: usize,
    /// Where it starts.
    pub preperiod: usize,
}

/// The period of the values of a set with largest move `farthest`, if the values `g` of the first heaps prove it.
///
/// ```
/// use nimlanes::cores::mex::subtraction::{Period, period};
/// assert_eq!(period(&[0, 1, 2, 0, 1, 2], 2), Some(Period { period: 3, preperiod: 0 })); // take 1 or 2
/// assert_eq!(period(&[0, 1, 2, 0], 2), None); // no two values have come back
/// ```
pub fn period(g: &[u16], farthest: usize) -> Option<Period> {
    let heaps = g.len();
    let window = heaps.checked_sub(farthest)?;
    // Z-function of the reversed values: same[p] is how far back the values agree with those p earlier.
    let back = |i: usize| g[heaps - 1 - i];
    let mut same = vec![0usize; heaps];
    let (mut from, mut to) = (0, 0);
    for p in 1..=window {
        let mut equal = if p < to { same[p - from].min(to - p) } else { 0 };
        while p + equal < heaps && back(equal) == back(p + equal) {
            equal += 1;
        }
        if p + equal > to {
            (from, to) = (p, p + equal);
        }
        same[p] = equal;
        if equal >= farthest {
            return Some(Period { period: p, preperiod: heaps - p - equal });
        }
    }
    None
}

/// The first prefix holds this many times the largest move.
const FIRST: u64 = 8;
/// A limit of so many times the largest move lies far behind most periods.
const FINITE: u64 = 20;

type Values = fn(&Subtraction, &Run) -> Result<Vec<u16>, Stop>;

/// A prefix of `limit + 1` values, and the quickest way to compute it with its predicted time.
fn prefix(input: &Subtraction, limit: u64) -> (Subtraction, f64, Values) {
    let input = Subtraction { limit, ..input.clone() };
    let on = On { tier: Tier::Portable, threads: 1 };
    let ways: [(f64, Values); 3] = [
        (pull_words::cost(&input, on).ns, pull_words::run),
        (shifted_sets::cost(&input, on).ns, shifted_sets::run),
        (stamp::cost(&input, on).ns, stamp::run),
    ];
    let (ns, run) = ways.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("three ways");
    (input, ns, run)
}

pub fn cost(input: &Subtraction, _: On) -> Cost {
    let heaps = input.heaps() as f64;
    let ns = match input.moves().last() {
        // The first prefix, as a rule.
        Some(farthest) if input.limit() / FINITE >= *farthest => 1.4 * prefix(input, FIRST * farthest).1 + 0.2 * heaps,
        // Perhaps no period shows, and the prefixes were for nothing.
        _ => 2.0 * prefix(input, input.limit()).1,
    };
    Cost { ns: ns + 300.0, bytes: 12.0 * heaps }
}

/// The limits of the prefixes that are tried, ascending.
fn prefixes(farthest: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(FIRST.saturating_mul(farthest)), |limit| limit.checked_mul(2))
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, Stop> {
    let farthest = input.moves().last().copied().unwrap_or(input.limit());
    for limit in prefixes(farthest).take_while(|limit| *limit < input.limit()) {
        let (start, _, values) = prefix(input, limit);
        // Progress is counted once, at the end; a prefix is short.
        let mut g = values(&start, &Run::new(1))?;
        run.advance(0)?;
        if let Some(Period { period, .. }) = period(&g, farthest as usize) {
            let mut known = g.len();
            g.resize(input.heaps(), 0);
            // Whole periods, ever more of them at once.
            let mut back = period;
            while known < g.len() {
                let length = back.min(g.len() - known);
                g.copy_within(known - back..known - back + length, known);
                known += length;
                if 2 * back <= known {
                    back *= 2;
                }
            }
            run.advance(input.heaps() as u64)?;
            return Ok(g);
        }
    }
    prefix(input, input.limit()).2(input, run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Operation;
    use crate::moves::MoveSet;

    #[test]
    fn the_period_is_the_least_and_starts_where_it_can() {
        for (moves, period, preperiod) in [("1,2", 3, 0), ("1..9", 10, 0), ("2,4,7", 3, 8), ("1,8,11", 19, 13)] {
            let set: MoveSet = moves.parse().expect("a list");
            let input = Subtraction::new(&set, 2000).expect("a small limit");
            let g = super::super::MexSubtraction::oracle(&input);
            let found = super::period(&g, *input.moves().last().expect("a move") as usize).expect("a period");
            assert!((found.preperiod..=2000 - found.period).all(|n| g[n] == g[n + found.period]), "{moves}: {found:?}");
            assert!(found.preperiod == 0 || g[found.preperiod - 1] != g[found.preperiod - 1 + found.period]);
            assert_eq!(found, Period { period, preperiod }, "{moves}");
        }
    }
}
