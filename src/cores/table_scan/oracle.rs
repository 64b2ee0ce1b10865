//! The oracle: P-positions from the rules of the game alone.

use super::{Rule, StoneGame};

/// Finds the P-positions `x <= y <= z <= limit` in lexicographic order from the rules alone. A position that no earlier
/// P-position marked is one, and it marks every position that can move to it.
///
/// The order is sound because a move leads to a sorted position that is no larger in any place.
pub fn positions(input: &StoneGame, mut found: impl FnMut([u32; 3])) {
    let heaps = input.heaps();
    let index = |[x, y, z]: [usize; 3]| (x * heaps + y) * heaps + z;
    let mut winning = vec![false; heaps * heaps * heaps];
    let most = if input.rule == Rule::AllMoves { 3 } else { 2 };
    for x in 0..heaps {
        for y in x..heaps {
            for z in y..heaps {
                let position = [x, y, z];
                if winning[index(position)] {
                    continue;
                }
                found([x as u32, y as u32, z as u32]);
                for heaps_moved in (1u32..8).filter(|set| set.count_ones() <= most) {
                    for amount in 1..heaps {
                        let mut from = position;
                        for (i, heap) in from.iter_mut().enumerate() {
                            *heap += amount * (heaps_moved as usize >> i & 1);
                        }
                        // A call of `sort` would compile all of it.
                        for (i, j) in [(0, 1), (1, 2), (0, 1)] {
                            if from[i] > from[j] {
                                from.swap(i, j);
                            }
                        }
                        if from[2] >= heaps {
                            break;
                        }
                        winning[index(from)] = true;
                    }
                }
            }
        }
    }
}
