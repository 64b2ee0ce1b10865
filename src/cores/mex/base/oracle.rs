//! The oracle for subtraction sets: Grundy values computed directly from the rules of the game.

use std::collections::HashSet;

/// The Grundy values of the heaps `0..heaps`, each the mex of the values that the moves reach.
pub fn values(moves: &[usize], heaps: usize) -> Vec<usize> {
    let mut values: Vec<usize> = Vec::new();
    for n in 0..heaps {
        let reached: HashSet<usize> = moves.iter().filter(|m| **m <= n).map(|m| values[n - m]).collect();
        values.push((0..).find(|v| !reached.contains(v)).expect("fewer moves than values"));
    }
    values
}
