//! [`super::dp`] in 32-bit lanes along the nim-sum. The sum of two numbers below the modulus fits in 32 bits, and a subtraction
//! and a minimum reduce it. XORing the nim-sum permutes the lanes of a vector by its low bits, and the vectors by the other bits.
//!
//! Groups of lanes are cache lines. Where the allocator began them 16 bytes later, as it does by chance, the same machine code took up
//! to 1.3 times as long: vectors straddled lines.
//!
//! Cost: `n^2 V / 2` additions per ruleset, 4 to 16 at once.
//! Bound: two loads and a store per vector, from memory when the table is larger than the caches.

use super::Partitions;
use crate::kernel::{Cost, CostContext, Run, RunError};

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
