//! The baseline, as published: a table of 64-bit counts by total and nim-sum, filled part by part, with one remainder per addition.
//!
//! Cost: `n^2 V / 2` additions per ruleset, where `V` is the power of two above its values.
//! Bound: the remainder. The default modulus is a constant for the compiler, so its remainder is a multiplication.
//! Source: the Scatterstone Nim page.

use super::{MODULUS, Partitions};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Rates: ns of a run, and of an addition.
pub fn cost(input: &Partitions, _: CostContext, [start, addition]: [f64; 2]) -> Cost {
    Cost { ns: start + addition * input.additions(), bytes: input.table_bytes(8.0, 1) }
}

/// A remainder for each addition: two multiplications, and one can start per cycle.
pub fn needs(input: &Partitions) -> Needs {
    Needs { cycles: 2.0 * input.additions() / (input.values.len() * input.total()) as f64, ..Needs::default() }
}

pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
    let modulus = u64::from(input.modulus());
    if input.modulus() == MODULUS {
        drive(input, run, |sum| sum % u64::from(MODULUS))
    } else {
        drive(input, run, |sum| sum % modulus)
    }
}

#[inline(always)]
fn drive(input: &Partitions, run: &Run, remainder: impl Fn(u64) -> u64) -> Result<Vec<u32>, RunError> {
    let total = input.total();
    let count = |table: &Vec<u32>| {
        let span = Partitions::span(table);
        let mut counts = vec![0u64; (total + 1) * span];
        counts[0] = 1;
        for (part, value) in Partitions::parts(table) {
            for t in part..=total {
                let (smaller, row) = counts.split_at_mut(t * span);
                let from = &smaller[(t - part) * span..][..span];
                for (x, add) in from.iter().enumerate() {
                    row[x ^ value] = remainder(row[x ^ value] + add);
                }
            }
            run.advance(1)?;
        }
        run.advance((total + 1 - table.len().max(1)) as u64)?;
        Ok(remainder(counts[total * span]) as u32)
    };
    // A loop, because a fallible iterator would move the work into another function, under another name in profiles.
    let mut counts = Vec::new();
    for table in input.values() {
        counts.push(count(table)?);
    }
    Ok(counts)
}
