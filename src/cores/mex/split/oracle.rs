//! The oracle: Grundy values computed directly from the rules of the game.

use super::Split;

/// The Grundy values of the heaps, each the mex of the nim-sums of all splits. Splits are enumerated part by part.
pub fn values(input: &Split) -> Vec<u32> {
    /// Marks the nim-sums of all splits of `left` into at most `parts` parts of at most `most`, each XORed with `nim_sum`.
    fn reach(values: &[u32], left: usize, most: usize, parts: usize, nim_sum: u32, reached: &mut [bool]) {
        if left == 0 {
            reached[nim_sum as usize] = true;
        } else if parts > 0 {
            for part in left.div_ceil(parts)..=left.min(most) {
                reach(values, left - part, part, parts - 1, nim_sum ^ values[part], reached);
            }
        }
    }

    let mut values: Vec<u32> = vec![0];
    for s in 1..=input.limit() {
        // Nim-sums of parts are below the power of two above s, because every value is below its size.
        let mut reached = vec![false; (s + 1).next_power_of_two()];
        reach(&values, s, s - 1, input.parts(), 0, &mut reached);
        values.push(reached.iter().position(|reached| !reached).expect("fewer nim-sums than numbers") as u32);
    }
    values
}
