//! The oracle: P-positions from the rules of the game alone.

use super::ProportionateNim;

/// Finds the P-positions `n <= m` with `n + m <= limit` in lexicographic order from the rules alone. A position that no
/// earlier P-position marked is one, and it marks every position that can move to it.
///
/// The order is sound because a move leads to a sorted position that is no larger in any place.
pub fn positions(input: &ProportionateNim, mut found: impl FnMut([u64; 2])) {
    let limit = input.limit() as usize;
    let moves: Vec<[usize; 2]> = [[1, 0], [0, 1]].into_iter().chain(input.diagonals().directions()).collect();
    let mut winning = vec![false; (limit + 1) * (limit + 1)];
    let index = |[n, m]: [usize; 2]| n * (limit + 1) + m;
    for n in 0..=limit / 2 {
        for m in n..=limit - n {
            if winning[index([n, m])] {
                continue;
            }
            found([n as u64, m as u64]);
            for [p, q] in &moves {
                for t in 1.. {
                    let (a, b) = (n + p * t, m + q * t);
                    if a + b > limit {
                        break;
                    }
                    winning[index([a.min(b), a.max(b)])] = true;
                }
            }
        }
    }
}
