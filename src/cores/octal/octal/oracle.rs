//! The oracle: Grundy values computed directly from the rules of the game.

use super::Octal;

/// The Grundy values of the heaps, each the mex of the nim-sums of all positions that a move may leave. These are
/// enumerated heap by heap, the largest first.
pub fn values(input: &Octal) -> Vec<u16> {
    let code = input.code();
    let mut values: Vec<u16> = vec![0];
    for n in 1..=input.limit() as usize {
        let mut reached = vec![false; 1 << 16];
        for place in 0..=n {
            for parts in 0..4 {
                if code.digit(place) >> parts & 1 == 1 {
                    divide(&values, code.is_unequal(), n - place, n, parts, 0, &mut reached);
                }
            }
        }
        let mut value = 0;
        while reached[usize::from(value)] {
            value += 1;
        }
        values.push(value);
    }
    values
}

/// Collects the nim-sums of all ways to divide `left` into `parts` heaps of 1 to `most`, each XORed with `nim_sum`.
fn divide(values: &[u16], is_unequal: bool, left: usize, most: usize, parts: u32, nim_sum: u16, reached: &mut [bool]) {
    match parts {
        0 if left == 0 => reached[usize::from(nim_sum)] = true,
        1 if left > 0 && left <= most => reached[usize::from(nim_sum ^ values[left])] = true,
        0 | 1 => {}
        _ => {
            for part in 1..=most.min(left - left.min(1)) {
                let most = if is_unequal { part - 1 } else { part };
                divide(values, is_unequal, left - part, most, parts - 1, nim_sum ^ values[part], reached);
            }
        }
    }
}
