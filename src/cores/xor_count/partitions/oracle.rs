//! The oracle: partitions with nim-sum 0, counted by definition.

use super::Partitions;

/// For each ruleset, the number of partitions of the total with nim-sum 0, part by part, with every multiplicity of each part.
pub fn counts(input: &Partitions) -> Vec<u32> {
    let (total, modulus) = (input.total(), u64::from(input.modulus()));
    let mut answers = Vec::new();
    for table in input.values() {
        let mut span = 1;
        for value in table.iter().skip(1) {
            span = span.max((*value as usize + 1).next_power_of_two());
        }
        let mut counts = vec![vec![0u64; span]; total + 1];
        counts[0][0] = 1;
        for (part, value) in table.iter().enumerate().skip(1) {
            for t in (part..=total).rev() {
                for times in 1..=t / part {
                    let nim_sum = if times % 2 == 1 { *value as usize } else { 0 };
                    for x in 0..span {
                        let fewer = counts[t - times * part][x ^ nim_sum];
                        counts[t][x] += fewer;
                    }
                }
                for count in &mut counts[t] {
                    *count %= modulus;
                }
            }
        }
        answers.push(counts[total][0] as u32);
    }
    answers
}
