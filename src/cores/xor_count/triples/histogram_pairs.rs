//! Counts neighbouring heaps in pairs: one increment, in a table by both values, stands for two heaps. The values of a pair are
//! its indices. The table is then summed along its rows and its columns, and the counts are transformed as in
//! [`super::histogram_wht`].
//!
//! A pair of values is read as one word, and a shift and an OR turn it into the index of a cell; compilers vectorise that for a
//! whole group of heaps. Counters have 16 bits, so a table of 128 by 128 values is 32 KiB; cells of rare values are hardly
//! touched.
//!
//! Cost: an increment for two heaps, and `V^2` additions for each table, of up to 65 280 pairs.
//! Bound: the stores, one per cycle here.

use std::mem::replace;

use super::{PROGRESS_STEP, Values, by_transform};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};

/// Values that a table holds in each direction: one of these.
const SMALL: usize = 128;
const LARGE: usize = 256;
/// Heaps whose cells are found before they are counted.
const GROUP: usize = 512;
/// Heaps between two sums of the table: fewer than 2^16 pairs, the most that a counter can hold.
const BLOCK: usize = 2 * PROGRESS_STEP - GROUP;

/// Rates: ns of a run, of a heap, and of a cell of the table, for each sum of it.
pub fn cost(input: &Values, _: CostContext, [start, heap, cell]: [f64; 3]) -> Cost {
    let (n, span) = (input.heaps as f64, input.span());
    if span > LARGE || !input.are_below(36) {
        return Cost::IMPOSSIBLE;
    }
    let cells = if span <= SMALL { SMALL * SMALL } else { LARGE * LARGE } as f64;
    Cost { ns: start + heap * n + cell * cells * (1.0 + n / BLOCK as f64), bytes: 2.0 * cells + 16_384.0 }
}

/// A store for two heaps, for their increment.
pub fn needs(_: &Values) -> Needs {
    Needs { stores: 0.5, ..Needs::default() }
}

#[inline(always)]
pub fn run(input: &Values, run: &Run) -> Result<u128, RunError> {
    let mut counts = if input.span() <= SMALL { count::<SMALL>(input, run)? } else { count::<LARGE>(input, run)? };
    counts.truncate(input.span());
    Ok(by_transform(&counts))
}

/// Counts the values, which are below `SPAN`.
#[inline(always)]
fn count<const SPAN: usize>(input: &Values, run: &Run) -> Result<Vec<u64>, RunError> {
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
