//! The oracle: Grundy values computed directly from the rules of the game.

use std::collections::HashSet;

use super::Octal;

/// The Grundy values of the heaps, each the mex of the nim-sums of all positions that a move may leave. These are
/// enumerated heap by heap, the largest first.
pub fn values(input: &Octal) -> Vec<u16> {
    let code = input.code();
    let mut values: Vec<u16> = vec![0];
    for n in 1..=input.limit() as usize {
        let mut reached = HashSet::new();
        for place in 0..=n {
            for parts in (0..4).filter(|parts| code.digit(place) >> parts & 1 == 1) {
                divide(&values, code.is_unequal(), n - place, n, parts, 0, &mut reached);
            }
        }
        values.push((0..).find(|value| !reached.contains(value)).expect("fewer nim-sums than numbers"));
    }
    values
}

/// Collects the nim-sums of all ways to divide `left` into `parts` heaps of 1 to `most`, each XORed with `nim_sum`.
fn divide(
    values: &[u16],
    is_unequal: bool,
    left: usize,
    most: usize,
    parts: u32,
    nim_sum: u16,
    reached: &mut HashSet<u16>,
) {
    match parts {
        0 if left == 0 => drop(reached.insert(nim_sum)),
        1 if (1..=most).contains(&left) => drop(reached.insert(nim_sum ^ values[left])),
        0 | 1 => {}
        _ => {
            for part in 1..=most.min(left - left.min(1)) {
                let most = if is_unequal { part - 1 } else { part };
                divide(values, is_unequal, left - part, most, parts - 1, nim_sum ^ values[part], reached);
            }
        }
    }
}
