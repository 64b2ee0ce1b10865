//! The choice of a modulus: heaps are split into classes by residue.
//!
//! P-positions may avoid residues. Squares are 0, 1 or 4 modulo 5, so between two P-positions the differences 2 and 3 modulo 5 are
//! free, and nearly all have the residues 0 and 2. A class with hardly any P-positions has nothing to hit others with, and it
//! is soon hit as a whole by the others. Which modulus does that is found from the first P-positions. It decides how
//! long a run takes, never its result.

use std::iter;

use super::shifted_rows::BLOCK;

/// The largest modulus. With more classes, the work per block outweighs what is left out.
const MOST: usize = 128;
/// From this many heaps on, a modulus is looked for.
const LEAST_HEAPS: usize = 1 << 24;
/// The first heaps whose P-positions are looked at: one in this many of all heaps, and at most this many.
const FIRST: (u64, u64) = (64, 1 << 20);
/// Mean hits of a heap at which a line of heaps is expected to be hit as a whole.
const COVERED: f64 = 9.0;
/// A class with fewer P-positions in a line than this is expected to be hit as a whole.
const FEW: f64 = 0.2;
/// Lines that could be moved in the time that each class takes for a line of heaps, however few of its lines are moved.
const CLASS: f64 = 7.0;
/// Lines that could be moved while a single P-position hits a heap.
const PUSH: f64 = 3.5;

/// A modulus, and the share of the work that it is expected to leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    pub modulus: usize,
    /// Lines that are moved, as a share of those without classes.
    pub share: f64,
}

impl Plan {
    /// All heaps in one class.
    pub const ONE: Plan = Plan { modulus: 1, share: 1.0 };
}

/// How many first heaps to look at, or `None` if a modulus is not worth the time.
pub fn first_heaps(heaps: usize) -> Option<u64> {
    (heaps >= LEAST_HEAPS).then(|| (heaps as u64 / FIRST.0).min(FIRST.1))
}

/// The plan with the least expected work, from the first P-positions and moves, the P-positions in a line of heaps, and the mean
/// number of moves that a heap allows. Moves beyond the first heaps say nothing about residues.
pub fn plan(first_zeros: &[u64], first_moves: &[u64], density: f64, allowed: f64) -> Plan {
    if first_moves.is_empty() {
        return Plan::ONE;
    }
    let share = |modulus: usize| {
        let (zeros, moves) = (counts(first_zeros, modulus), counts(first_moves, modulus));
        // P-positions in a line of each class, and moves of each residue.
        let scale = density * modulus as f64 / first_zeros.len() as f64;
        let density = |class: usize| zeros[class] as f64 * scale;
        let moves = |residue: usize| moves[residue] as f64 * allowed / first_moves.len() as f64;
        let sources = ranked(&zeros, &|class| zeros[class] > 0);
        let mut lines = 0.0;
        for target in 0..modulus {
            let mut unresolved = if density(target) < FEW { COVERED } else { f64::INFINITY };
            for source in &sources {
                let per_line = density(*source);
                let hits = per_line / BLOCK as f64;
                let moved = f64::min(moves((target + modulus - source) % modulus), unresolved / hits);
                lines += moved * f64::min(PUSH * per_line, 1.0);
                unresolved -= moved * hits;
                if unresolved <= 0.0 {
                    break;
                }
            }
        }
        lines / modulus as f64 / allowed
    };
    let work = |plan: &Plan| plan.share * allowed + CLASS * plan.modulus as f64;
    let plans = (2..MOST + 1).map(|modulus| Plan { modulus, share: share(modulus) });
    iter::once(Plan::ONE).chain(plans).min_by(|a, b| work(a).total_cmp(&work(b))).expect("a plan")
}

/// How many of the numbers are in each class.
fn counts(numbers: &[u64], modulus: usize) -> Vec<usize> {
    let mut counts = vec![0; modulus];
    numbers.iter().for_each(|n| counts[(n % modulus as u64) as usize] += 1);
    counts
}

/// The classes that are `taken`, those with the largest counts first.
pub fn ranked(counts: &[usize], taken: &dyn Fn(usize) -> bool) -> Vec<usize> {
    let mut ranked: Vec<usize> = Vec::new();
    for class in 0..counts.len() {
        if taken(class) {
            ranked.insert(ranked.partition_point(|other| counts[*other] >= counts[class]), class);
        }
    }
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::mex::zeros::Zeros;
    use crate::machine::Machine;

    fn plan(set: &str, limit: u64) -> Plan {
        Zeros::new(&set.parse().expect("a set"), limit, &Machine::detect()).expect("a small limit").plan()
    }

    /// Observed: P-positions of squares avoid residues modulo 5 and 13, those of cubes modulo 7 and 13, of triangular numbers
    /// modulo 9.
    #[test]
    fn a_modulus_is_found_where_residues_are_avoided() {
        for (set, factor) in [("squares", 5), ("triangular", 9), ("cubes", 7)] {
            let Plan { modulus, share } = plan(set, 1 << 26);
            assert!(modulus % factor == 0 && share < 0.8, "{set}: {modulus} leaves {share}");
        }
        // All P-positions of `1..100` are multiples of 101, but so few lines are moved that classes cost more.
        for set in ["random-sparse", "1..100", "2000000,2999999"] {
            assert_eq!(plan(set, 1 << 26), Plan::ONE, "{set}");
        }
        assert_eq!(plan("squares", (1 << 24) - 2), Plan::ONE, "too few heaps to look for one");
    }
}
