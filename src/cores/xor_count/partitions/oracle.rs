//! The oracle: partitions with nim-sum 0, counted by definition.

use super::Partitions;

/// For each ruleset, the number of partitions of the total with nim-sum 0, part by part, with every multiplicity of each part.
pub fn counts(input: &Partitions) -> Vec<u32> {
    let (total, modulus) = (input.total(), u64::from(input.modulus()));
    let count = |table: &Vec<u32>| {
        let values = table.iter().enumerate().skip(1).map(|(part, value)| (part, *value as usize));
        let span = values.clone().map(|(_, value)| value + 1).max().unwrap_or(1).next_power_of_two();
        let mut counts = vec![vec![0u64; span]; total + 1];
        counts[0][0] = 1;
        for (part, value) in values {
            for t in (part..=total).rev() {
                let (fewer, rest) = counts.split_at_mut(t);
                for times in 1..=t / part {
                    let nim_sum = if times % 2 == 1 { value } else { 0 };
                    for (x, count) in fewer[t - times * part].iter().enumerate() {
                        rest[0][x ^ nim_sum] += count;
                    }
                }
                rest[0].iter_mut().for_each(|count| *count %= modulus);
            }
        }
        counts[total][0] as u32
    };
    input.values().iter().map(count).collect()
}
