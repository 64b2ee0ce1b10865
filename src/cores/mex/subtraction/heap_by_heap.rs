//! Heap by heap: the kernels differ in how they keep the values that the moves of a heap reach, and find the least other.
//!
//! Cost: a step for each pair of heap and move, then the search for the mex.

use super::{Subtraction, narrow};
use crate::kernel::{Cost, CostContext, Needs, Run, RunError};
use crate::simd::mapped;

/// Heaps between two progress updates, for kernels that go heap by heap.
pub const PROGRESS_STEP: usize = 4096;

/// The driver of kernels that go heap by heap: `value(n, moves, g)` is the Grundy value of `n`, given its legal moves and the values
/// of `0..n`.
#[inline(always)]
pub fn heap_by_heap(
    input: &Subtraction,
    run: &Run,
    mut value: impl FnMut(usize, &[u64], &[u16]) -> usize,
) -> Result<Vec<u16>, RunError> {
    let moves = input.moves();
    let mut legal = 0;
    let mut g = vec![0; input.heaps()];
    for n in 0..g.len() {
        if n > 0 && n % PROGRESS_STEP == 0 {
            run.advance(PROGRESS_STEP as u64)?;
        }
        while legal < moves.len() && moves[legal] <= n as u64 {
            legal += 1;
        }
        g[n] = narrow(value(n, &moves[..legal], &g[..n]))?;
    }
    run.advance((input.limit() as usize % PROGRESS_STEP + 1) as u64)?;
    Ok(g)
}

pub mod flags {
    //! The baseline, as published: packed flags, cleared for each heap. Each reached value sets one bit, and the mex is found by
    //! testing one bit at a time.
    //!
    //! Cost: a read-modify-write of a flag word for each pair of heap and move, then a test for each value below the mex.
    //! Bound: the dependence through the flag words, and the mispredicted end of the search.
    //! Source: the Project Euler 310 solution, but with flags that grow on demand (the original stops at 80 values).

    use super::*;

    /// Rates: the ns of a pair of heap and move, and of a heap.
    pub fn cost(input: &Subtraction, _: CostContext, [pair, heap]: [f64; 2]) -> Cost {
        Cost { ns: pair * input.pairs() + heap * input.heaps() as f64, bytes: 2.0 * input.heaps() as f64 }
    }

    /// One flag to set for each pair of a heap and a move.
    pub fn needs(input: &Subtraction) -> Needs {
        Needs { bits: input.pairs() / input.heaps() as f64, ..Needs::default() }
    }

    pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
        let mut flags = vec![0u64; 2].into_boxed_slice();
        heap_by_heap(input, run, |n, moves, g| {
            flags.fill(0);
            for m in moves {
                let v = usize::from(g[n - *m as usize]);
                if v / 64 >= flags.len() {
                    flags = grown(&flags, v / 64 + 1);
                }
                flags[v / 64] |= 1 << (v % 64);
            }
            let mut v = 0;
            while flags.get(v / 64).is_some_and(|word| word >> (v % 64) & 1 == 1) {
                v += 1;
            }
            v
        })
    }

    /// The flags in more words. The slice that a heap uses stays in registers, as it would not if it grew in place.
    #[cold]
    fn grown(flags: &[u64], words: usize) -> Box<[u64]> {
        let mut grown = vec![0; words].into_boxed_slice();
        grown[..flags.len()].copy_from_slice(flags);
        grown
    }
}

#[cfg(all(feature = "bitvec", target_pointer_width = "64"))]
pub mod bit_array {
    //! The baseline with `bitvec`: a bit array for the reached values, and `first_zero` for the mex.
    //!
    //! Cost: a bounds check and a read-modify-write for each pair of heap and move. Clearing and searching go by words.
    //! Bound: the dependence through the flag words, as in `flags`.

    use bitvec::prelude::{BitVec, Lsb0};

    /// Rates: those of [`flags`].
    pub use super::flags::cost;
    use super::*;

    #[inline(always)]
    pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
        let mut reached: BitVec<u64, Lsb0> = BitVec::from_vec(vec![0; 2]);
        heap_by_heap(input, run, |n, moves, g| {
            reached.as_raw_mut_slice().fill(0);
            for m in moves {
                let v = usize::from(g[n - *m as usize]);
                if v >= reached.len() {
                    reached = grown(std::mem::take(&mut reached), v);
                }
                reached.set(v, true);
            }
            reached.first_zero().unwrap_or(reached.len())
        })
    }

    /// The array with room for `v`.
    #[cold]
    fn grown(reached: BitVec<u64, Lsb0>, v: usize) -> BitVec<u64, Lsb0> {
        let mut words = reached.into_vec();
        words.resize(v / 64 + 1, 0);
        BitVec::from_vec(words)
    }
}

pub mod flags_u128 {
    //! Flags in one register: 128 values at a time, with the mex from counting trailing ones. A heap that reaches all 128 takes
    //! another pass for the next 128.
    //!
    //! Cost: a load and a 128-bit shift for each pair of heap and move; nothing is stored.
    //! Bound: the dependent ORs, and about ten instructions for a variable 128-bit shift.

    use super::*;

    /// Rates: the ns of a pair of heap and move in a pass, and of a heap.
    pub fn cost(input: &Subtraction, _: CostContext, [pair, heap]: [f64; 2]) -> Cost {
        let passes = (input.values() / 128.0).ceil();
        Cost { ns: pair * passes * input.pairs() + heap * input.heaps() as f64, bytes: 2.0 * input.heaps() as f64 }
    }

    #[inline(always)]
    pub fn run(input: &Subtraction, run: &Run) -> Result<Vec<u16>, RunError> {
        heap_by_heap(input, run, |n, moves, g| {
            let mut base = 0;
            loop {
                let mut reached = 0u128;
                for m in moves {
                    let v = usize::from(g[n - *m as usize]).wrapping_sub(base);
                    reached |= if v < 128 { 1 << v } else { 0 };
                }
                if reached != u128::MAX {
                    return base + reached.trailing_ones() as usize;
                }
                base += 128;
            }
        })
    }
}

pub mod stamp {
    //! The best known elsewhere: `stamp[v] == n` means that heap `n` reaches value `v`. Nothing is cleared between heaps.
    //!
    //! Cost: a load and a store for each pair of heap and move, then a test for each value below the mex.
    //! Bound: two cycles per pair (one store, and values from many streams in L1 and L2), and the mispredicted end of the search.
    //! Three choices make it a third faster than the plain loop: 32-bit stamps; a table for all possible values, so no bounds check;
    //! and reading four values before storing the first, because for the compiler stamps and values may overlap.
    //! A fourth keeps it from being half as fast in some processes: the stamps of small values, which take nearly all stores, are not
    //! at the same place in a page as the moves. A CPU compares the low bits of addresses to find whether a load needs the data of an
    //! earlier store, and would have loads of moves wait for stores of stamps (see the notes of the operation).

    use super::*;

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
}
