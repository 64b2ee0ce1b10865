//! The oracle for subtraction sets: Grundy values computed directly from the rules of the game.

/// The Grundy values of the heaps `0..heaps`, each the mex of the values that the moves reach.
pub fn values(moves: &[usize], heaps: usize) -> Vec<usize> {
    let mut values: Vec<usize> = Vec::with_capacity(heaps);
    // A heap has no more moves than these, so that it leaves one of so many values free.
    let mut reached = vec![false; moves.len() + 1];
    for n in 0..heaps {
        reached.fill(false);
        for m in moves {
            if *m <= n {
                reached[values[n - m]] = true;
            }
        }
        values.push(reached.iter().position(|is_reached| !is_reached).expect("fewer moves than values"));
    }
    values
}
