//! The heaps of each value are counted first. An increment a heap takes nearly all of the time.

use std::mem::replace;

use super::{HEAPS_BITS, PROGRESS_STEP, Values, by_transform};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Heaps that a turn of the loop counts. With one, the loop has 27 bytes, and takes up to 1.8 times as long where these are in two cache
/// lines of code (Zen 3).
const TURN: usize = 4;

/// Counts the values in `TABLES` tables that take turns, so equal neighbours do not wait for each other's increment.
#[inline(always)]
fn count<const TABLES: usize>(input: &Values, run: &Run) -> Result<Vec<u64>, RunError> {
    let span = input.span;
    let mut tables = vec![[0u32; TABLES]; span];
    let mut counts = vec![0; span];
    for block in input.values.chunks(PROGRESS_STEP) {
        let (turns, rest) = block.as_chunks::<TURN>();
        for turn in turns {
            for (i, value) in turn.iter().enumerate() {
                tables[usize::from(*value)][i % TABLES] += 1;
            }
        }
        rest.iter().for_each(|value| counts[usize::from(*value)] += 1);
        for (total, part) in counts.iter_mut().zip(&mut tables) {
            *total += replace(part, [0; TABLES]).iter().map(|n| u64::from(*n)).sum::<u64>();
        }
        run.advance(block.len() as u64)?;
    }
    Ok(counts)
}

/// A store per heap, for its increment.
pub fn needs(_: &Values) -> Needs {
    Needs { stores: 1.0, ..Needs::default() }
}

/// The best known elsewhere: pairs of values, by the first formula of the operation.
///
/// Cost: an increment per heap, and `V^2 / 2` products for `V` values.
/// Bound: the increments, each of which waits for the previous increment of the same value.
pub mod by_pairs {
    pub use super::needs;
    use super::*;

    /// Rates: ns of a run, of a heap, and of a pair of values.
    pub fn cost(input: &Values, _: CostContext, [start, heap, pair]: [f64; 3]) -> Cost {
        input.cost(HEAPS_BITS, |n, span| (start + heap * n + pair * span * span, 16.0 * span))
    }

    pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
        let counts = count::<1>(input, run)?;
        let of = |x: usize| u128::from(counts[x]);
        let zeros = of(0);
        let mut triples = zeros * (zeros + 1) * (zeros + 2) / 6;
        for x in 1..counts.len() {
            triples += zeros * of(x) * (of(x) + 1) / 2;
            let mut pairs = 0;
            for y in x + 1..counts.len() {
                if x ^ y > y {
                    pairs += of(y) * of(x ^ y);
                }
            }
            triples += of(x) * pairs;
        }
        Ok(triples)
    }
}

/// Unlike [`by_pairs`], this counts in four tables that take turns, and adds up the cubes of the Walsh-Hadamard transform.
///
/// Cost: an increment per heap, `V log V` additions and `2 V` wide products.
/// Bound: the stores.
pub mod wht {
    pub use super::needs;
    use super::*;

    /// Rates: ns of a run, of a heap, and of a value.
    pub fn cost(input: &Values, _: CostContext, [start, heap, value]: [f64; 3]) -> Cost {
        input.cost(HEAPS_BITS, |n, span| (start + heap * n + value * span, 32.0 * span))
    }

    pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
        Ok(by_transform(&count::<4>(input, run)?))
    }
}

/// Unlike [`wht`], this counts two neighbouring heaps by one increment, in a table by both of their values. The table is then summed along
/// its rows and its columns.
///
/// A pair of values is read as one word, and a shift and an OR turn it into the index of a cell; compilers vectorise that for a whole group
/// of heaps. Counters have 16 bits, so a table of 128 by 128 values is 32 KiB; cells of rare values are hardly touched.
///
/// Cost: an increment for two heaps, and `V^2` additions for each table, of up to 65 280 pairs.
/// Bound: the stores, one per cycle here.
pub mod of_pairs {
    use super::*;

    /// Values that a table holds in each direction: one of these.
    const SMALL: usize = 128;
    const LARGE: usize = 256;
    /// Heaps whose cells are found before they are counted.
    const GROUP: usize = 512;
    /// Heaps between two sums of the table: fewer than 2^16 pairs, the most that a counter can hold.
    const BLOCK: usize = 2 * PROGRESS_STEP - GROUP;

    /// Rates: ns of a run, of a heap, and of a cell of the table, for each sum of it.
    pub fn cost(input: &Values, _: CostContext, [start, heap, cell]: [f64; 3]) -> Cost {
        let cells = if input.span <= SMALL { SMALL * SMALL } else { LARGE * LARGE } as f64;
        let bytes = 2.0 * cells + 16_384.0;
        let ns = |n: f64| start + heap * n + cell * cells * (1.0 + n / BLOCK as f64);
        input.cost(HEAPS_BITS, |n, _| (ns(n), bytes)).only_if(input.span <= LARGE)
    }

    /// A store for two heaps, for their increment.
    pub fn needs(_: &Values) -> Needs {
        Needs { stores: 0.5, ..Needs::default() }
    }

    #[inline(always)]
    pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
        let mut counts =
            if input.span <= SMALL { count_pairs::<SMALL>(input, run)? } else { count_pairs::<LARGE>(input, run)? };
        counts.truncate(input.span);
        Ok(by_transform(&counts))
    }

    /// Counts the values, which are below `SPAN`.
    #[inline(always)]
    fn count_pairs<const SPAN: usize>(input: &Values, run: &Run) -> Result<Vec<u64>, RunError> {
        let mut counts = vec![0; SPAN];
        let mut table = vec![[0_u16; SPAN]; SPAN];
        let mut cells = [0; GROUP / 2];
        for block in input.values.chunks(BLOCK) {
            let (groups, rest) = block.as_chunks::<GROUP>();
            for group in groups {
                for (cell, [a, b]) in cells.iter_mut().zip(group.as_chunks().0) {
                    let pair = u32::from(*a) | u32::from(*b) << 16;
                    *cell = pair | pair >> (16 - SPAN.ilog2());
                }
                let table = table.as_flattened_mut();
                cells.iter().for_each(|cell| table[*cell as usize % (SPAN * SPAN)] += 1);
            }
            rest.iter().for_each(|value| counts[usize::from(*value)] += 1);
            let mut columns = [0_u16; SPAN];
            for (total, row) in counts.iter_mut().zip(&mut table) {
                let row = replace(row, [0; SPAN]);
                columns.iter_mut().zip(row).for_each(|(column, pairs)| *column += pairs);
                *total += u64::from(row.iter().sum::<u16>());
            }
            counts.iter_mut().zip(columns).for_each(|(total, column)| *total += u64::from(column));
            run.advance(block.len() as u64)?;
        }
        Ok(counts)
    }
}
