//! Proportionate Nim (Project Euler 665): two heaps; a move takes, for some `t > 0`, `t` from one heap, `t` from both, or `t`
//! from one and `2t` from the other. The answer `f(limit)` is the sum of `n + m` over the P-positions `n <= m` with
//! `n + m <= limit`. It is Larsson's generalised diagonal Wythoff Nim with the added diagonal `(1,2)`.
//!
//! # Corrections to the source
//! A published solution states the right answer, but its program does not compute it. As printed, it stops with an index
//! error; with a larger array it gives 18, 983, 98582 for `f(10), f(100), f(1000)`, where 21, 1164, 117002 are right. It has
//! three faults:
//! - the position `(0,0)` contributes no lines, although every move to it wins;
//! - it assumes that the partner of `n` grows with `n`, but the P-positions lie in two beams that alternate
//!   irregularly;
//! - the mirrored line is missing: a P-position `(a,b)` also attacks with `a - 2b`.
//!
//! With these faults repaired, the program is quadratic, not "essentially linear".
//!
//! # Other moves
//! [`Diagonals`] may replace the published moves from both heaps. Slopes and densities of the beams are reported for the
//! published moves only.

use super::{
    ChosenKernel, Figure, FoundPositions, Game, Listing, Parameter, Question, Setter, Solution, SolveError, Solver,
    Takes, details, handed_to, held,
};
use crate::cores::occupancy::{Beams, Occupancy, Positions, ProportionateNim, Wanted};
use crate::cores::sink::Totals;
use crate::moves::Diagonals;

/// The game as the lab lists it.
pub const GAME: Game = Game {
    name: "proportionate-nim",
    title: "Proportionate Nim",
    question: "sum of n+m over the P-positions n<=m of two heaps with n+m<=limit",
    limit: "the largest sum of both heaps",
    published: 10_000_000,
    far: &[100_000_000, 1_000_000_000, 10_000_000_000],
    operations: &["occupancy"],
    parameters: &[&DIAGONALS],
    solve,
    listing: Some(Listing {
        caption,
        whole: |question, solver| list(question, solver, Wanted::Positions),
        stream: |question, solver, receiver| list(question, solver, handed_to(receiver)),
    }),
};

static DIAGONALS: Parameter = Parameter {
    name: "diagonals",
    published: || held(Diagonals::PUBLISHED),
    setters: &[Setter {
        name: "moves",
        help: "the moves from both heaps: p:q takes p t from one and q t from the other for any t (1:1 is Wythoff's game, none is Nim)",
        takes: Takes::Text { value: "MOVES", read: |text| Ok(held(text.parse::<Diagonals>()?)) },
    }],
};

fn caption(question: &Question) -> String {
    format!("Two heaps, moves {}", question.get::<Diagonals>(&DIAGONALS))
}

/// The limit of the number of lower P-positions per smaller heap.
///
/// If all heaps are used, and all differences and all values `m - 2n` occur (observed, not proved), then the two densities and
/// the slopes `1 + delta` and `2 + UPPER_DENSITY` satisfy the three equations in the tests of this module.
const LOWER_DENSITY: f64 = 0.382_936_586;
/// The limit of the number of upper P-positions per smaller heap.
const UPPER_DENSITY: f64 = 0.247_725_583_557_736;
/// The limit of the slope of the lower beam, minus one.
const DELTA: f64 = 0.477_799_775_272_120;

fn find(
    question: &Question,
    solver: &Solver,
    wanted: Wanted<[u64; 2]>,
) -> Result<(Positions, ChosenKernel), SolveError> {
    let diagonals: &Diagonals = question.get(&DIAGONALS);
    let input = |limit| Ok(ProportionateNim::with(limit, diagonals.clone())?.finding(wanted.clone()));
    solver.apply::<Occupancy>(question.limit, input)
}

fn list(question: &Question, solver: &Solver, wanted: Wanted<[u64; 2]>) -> Result<FoundPositions, SolveError> {
    let (found, used) = find(question, solver, wanted)?;
    Ok(FoundPositions { positions: found.into_list().into(), used })
}

fn solve(question: &Question, solver: &Solver) -> Result<Solution, SolveError> {
    let (found, used) = find(question, solver, Wanted::Totals)?;
    let beams = *found.totals();
    let total = beams.tally();
    let mut figures = details(total.digest(), "sum");
    if *question.get::<Diagonals>(&DIAGONALS) != Diagonals::PUBLISHED {
        return Ok(Solution { answer: total.sum.into(), details: figures, kernels: vec![used] });
    }
    let Beams { lower, upper } = beams;
    let beams = [
        ("lower_slope", lower.slope()),
        ("lower_slope_expected", 1.0 + DELTA),
        ("lower_density", lower.density(question.limit)),
        ("lower_density_expected", LOWER_DENSITY),
        ("upper_slope", upper.slope()),
        ("upper_slope_expected", 2.0 + UPPER_DENSITY),
        ("upper_density", upper.density(question.limit)),
        ("upper_density_expected", UPPER_DENSITY),
    ];
    // An empty beam has no slope.
    for (name, ratio) in beams {
        if ratio.is_finite() {
            figures.push((name, Figure::Ratio(ratio)));
        }
    }
    Ok(Solution { answer: total.sum.into(), details: figures, kernels: vec![used] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Operation;

    fn positions(limit: u64) -> Beams {
        *Occupancy::oracle(&ProportionateNim::new(limit).expect("small")).totals()
    }

    /// The answer of a program that marks lines. The flags enable the faults of the source: (0,0) has no lines, the partner
    /// never decreases, the mirrored line is missing.
    fn by_lines(limit: u64, [no_origin, monotone, no_mirror]: [bool; 3]) -> u64 {
        use std::collections::HashSet;
        let (mut used, mut difference, mut sum) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut twice = HashSet::new();
        let mut last = 0;
        let mut answer = 0;
        for n in 0..=limit / 2 {
            if used.contains(&n) {
                continue;
            }
            let free = |m: &u64| {
                !(used.contains(m)
                    || difference.contains(&(m - n))
                    || twice.contains(&(*m as i64 - 2 * n as i64))
                    || sum.contains(&(2 * m - n)))
            };
            let from = if monotone { last.max(n) } else { n };
            let Some(m) = (from..=2 * limit).find(free) else { continue };
            last = m;
            if n + m <= limit {
                answer += n + m;
            }
            used.extend([n, m]);
            if n > 0 || !no_origin {
                difference.insert(m - n);
                twice.insert(m as i64 - 2 * n as i64);
                sum.insert(2 * m - n);
                if !no_mirror {
                    twice.insert(n as i64 - 2 * m as i64);
                }
            }
        }
        answer
    }

    #[test]
    fn the_faults_explain_the_results_of_the_published_program() {
        for (limit, right, faulty) in [(10, 21, 18), (100, 1164, 983), (1000, 117_002, 98_582)] {
            assert_eq!(by_lines(limit, [true; 3]), faulty);
            assert_eq!(by_lines(limit, [false; 3]), right);
            assert_eq!(positions(limit).tally().sum, right.into());
        }
    }

    #[test]
    fn the_limits_satisfy_their_equations() {
        let (delta, lower, upper) = (DELTA, LOWER_DENSITY, UPPER_DENSITY);
        // Each difference up to delta n occurs once, at a lower position or at an earlier upper one.
        let differences = lower + upper * delta / (1.0 + upper);
        // Each value 2n - m up to (1 - delta) n occurs once, at a lower position or at the mirror image of either.
        let rest = 1.0 - delta;
        let twice = lower + lower * rest / (1.0 + 2.0 * delta) + upper * rest / (3.0 + 2.0 * upper);
        // Each heap up to n is used once.
        let heaps = lower + upper + lower / (1.0 + delta) + upper / (2.0 + upper);
        for (got, want) in [(differences, delta), (twice, rest), (heaps, 1.0)] {
            assert!((got - want).abs() < 1e-8, "{got} {want}");
        }
    }

    #[test]
    fn the_beams_are_near_their_limits() {
        let Beams { lower, upper } = positions(3000);
        assert!((lower.slope() - 1.0 - DELTA).abs() < 0.01 && (lower.density(3000) - LOWER_DENSITY).abs() < 0.01);
        assert!(
            (upper.slope() - 2.0 - UPPER_DENSITY).abs() < 0.01 && (upper.density(3000) - UPPER_DENSITY).abs() < 0.01
        );
    }
}
