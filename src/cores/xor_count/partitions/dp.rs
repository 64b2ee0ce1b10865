//! A table of the partitions of each total with each nim-sum, filled part by part.

use super::{MODULUS, Partitions};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// The baseline, as published: a table of 64-bit counts by total and nim-sum, with one remainder for each addition.
///
/// Cost: `n^2 V / 2` additions per ruleset, where `V` is the power of two above its values.
/// Bound: the remainder. The default modulus is a constant for the compiler, so its remainder is a multiplication.
/// Source: the Scatterstone Nim page.
pub mod scalar {
    use super::*;

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
}

/// Unlike [`scalar`], this has 32-bit lanes along the nim-sum. The sum of two numbers below the modulus fits in 32 bits, and a
/// subtraction and a minimum reduce it. XORing the nim-sum permutes the lanes of a vector by its low bits, and the vectors by the others.
///
/// Groups of lanes are cache lines. Where the allocator began them 16 bytes later, as it does by chance, the same machine code took up
/// to 1.3 times as long: vectors straddled lines.
///
/// Cost: `n^2 V / 2` additions per ruleset, 4 to 16 at once.
/// Bound: two loads and a store per vector, from memory when the table is larger than the caches.
pub mod lanes {
    use super::*;

    /// Cells in a group, which the low bits of a value permute.
    const LANES: usize = 16;

    /// A group, which is a cache line.
    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Group([u32; LANES]);

    /// Rates: ns of a run, and of an addition.
    pub fn cost(input: &Partitions, _: CostContext, [start, addition]: [f64; 2]) -> Cost {
        Cost { ns: start + addition * input.additions(), bytes: input.table_bytes(4.0, LANES) }
    }

    #[inline(always)]
    pub fn run(input: &Partitions, run: &Run) -> Result<Vec<u32>, RunError> {
        let total = input.total();
        let mut answers = Vec::new();
        // A loop, because a closure passed to an iterator would be compiled without the tier's instructions.
        for table in input.values() {
            let blocks = Partitions::span(table).div_ceil(LANES);
            let mut counts = vec![Group([0; LANES]); (total + 1) * blocks];
            counts[0].0[0] = 1;
            for (part, value) in Partitions::parts(table) {
                for t in part..=total {
                    let (smaller, row) = counts.split_at_mut(t * blocks);
                    let from = &smaller[(t - part) * blocks..][..blocks];
                    add(&mut row[..blocks], from, value, input.modulus());
                }
                run.advance(1)?;
            }
            run.advance((total + 1 - table.len().max(1)) as u64)?;
            answers.push(counts[total * blocks].0[0]);
        }
        Ok(answers)
    }

    /// Adds to each cell of `to` the cell of `from` at its index XOR `value`.
    #[inline(always)]
    fn add(to: &mut [Group], from: &[Group], value: usize, modulus: u32) {
        macro_rules! by_low_bits {
            ($($low:literal)*) => {
                match value % LANES {
                    $($low => add_blocks::<$low>(to, from, value / LANES, modulus),)*
                    _ => unreachable!("a remainder"),
                }
            };
        }
        by_low_bits!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    }

    #[inline(always)]
    fn add_blocks<const LOW: usize>(to: &mut [Group], from: &[Group], block: usize, modulus: u32) {
        for (x, Group(cells)) in to.iter_mut().enumerate() {
            let Group(others) = &from[x ^ block];
            for lane in 0..LANES {
                let sum = cells[lane] + others[lane ^ LOW];
                cells[lane] = sum.min(sum.wrapping_sub(modulus));
            }
        }
    }
}
