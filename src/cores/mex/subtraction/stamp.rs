//! The best public algorithm: `stamp[v] == n` means that heap `n` reaches value `v`. Nothing is cleared between heaps.
//!
//! Cost: a load and a store for each pair of heap and move, then a test for each value below the mex.
//! Bound: two cycles per pair (one store, and values from many streams in L1 and L2), and the mispredicted end of the search.
//! Three choices make it a third faster than the plain loop: 32-bit stamps; a table for all possible values, so no bounds check;
//! and reading four values before storing the first, because the compiler cannot know that stamps and values do not overlap.
//! A fourth keeps it from being half as fast in some processes: the stamps of small values, which take nearly all stores, are not
//! at the same place in a page as the moves. A CPU compares the low bits of addresses to tell whether a load needs the data of an
//! earlier store, and would have loads of moves wait for stores of stamps (see the notes of the operation).

use super::{Subtraction, heap_by_heap};
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::simd::mapped;

/// Rates: the ns of a pair of heap and move while the values stay in L2, and past that; of a heap; of a run.
pub fn cost(input: &Subtraction, _: CostContext, [in_l2, past_l2, heap, run]: [f64; 4]) -> Cost {
    // Past half a million heaps the values no longer stay in L2.
    let pair = if input.heaps() < 500_000 { in_l2 } else { past_l2 };
    Cost {
        ns: pair * input.pairs() + heap * input.heaps() as f64 + run,
        bytes: 2.0 * input.heaps() as f64 + (size_of::<[u32; VALUES]>() + PAGE) as f64,
    }
}

/// All values that the output can hold.
const VALUES: usize = 1 << 16;

/// Addresses that differ by a multiple of this have equal low bits.
const PAGE: usize = 4096;

/// Where in the table stamps begin: at the same offset in a page as the end of the moves.
fn start(table: &[u32], moves: &[u64]) -> usize {
    moves.as_ptr_range().end.addr().wrapping_sub(table.as_ptr().addr()) % PAGE / size_of::<u32>()
}

#[inline(always)]
pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
    let mut table = vec![u32::MAX; VALUES + PAGE / size_of::<u32>()];
    let start = start(&table, input.moves());
    let stamp: &mut [u32; VALUES] = (&mut table[start..start + VALUES]).try_into().expect("lengths are equal");
    heap_by_heap(input, run, |n, moves, g| {
        // Heaps fit in 32 bits ([`super::MAX_LIMIT`]).
        let heap = n as u32;
        let (fours, rest) = moves.as_chunks::<4>();
        for four in fours {
            for v in mapped(*four, |m| g[n - m as usize]) {
                stamp[usize::from(v)] = heap;
            }
        }
        for m in rest {
            stamp[usize::from(g[n - *m as usize])] = heap;
        }
        stamp.iter().position(|s| *s != heap).unwrap_or(stamp.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As far as both fit in a page.
    #[test]
    fn first_stamps_and_moves_are_at_different_places_of_their_pages() {
        const STAMPS: usize = 256;
        for length in 0..PAGE / size_of::<u64>() - STAMPS / size_of::<u64>() {
            let (moves, table) = (vec![0u64; length], vec![0u32; VALUES + PAGE / size_of::<u32>()]);
            let start = start(&table, &moves);
            assert!(start + VALUES <= table.len());
            let behind_moves = (table[start..].as_ptr().addr()).wrapping_sub(moves.as_ptr().addr()) % PAGE;
            assert_eq!(behind_moves, size_of_val(&moves[..]), "{length} moves");
            assert!(behind_moves + STAMPS <= PAGE);
        }
    }
}
