//! Moves that reach into their own block: heap by heap, for each code is read soon after it is known.
//!
//! A table for each move has the bits of all codes, none if there is no such move. So a chain of more moves than the game has serves it
//! as well. The last three codes stay in registers, for a byte that was just stored can be read only some seven cycles later.
//!
//! Cost: two loads and an OR for a move; a load and an OR for a place, and for each of the last three codes from the first that is read.
//! Bound (Zen 3): three loads a cycle; if the last code is read, the chain through it: a load, an OR and a count, nine cycles.

use std::cell::Cell;
use std::iter::zip;

use super::codes::Move;
use crate::simd::{array_of, mapped};

/// Moves shorter than this are done heap by heap, and as many heaps at once.
pub const SHORT: usize = 16;
/// Codes in registers.
const NEAREST: usize = 3;
/// Other places of most games that have any.
const PLACES: usize = 2;
/// For how many farther moves the chain is compiled.
const SIZES: [usize; 3] = [4, 8, MOST];
/// The most moves.
pub const MOST: usize = 16;

/// The bit of what a move reaches, for each code that it reads.
type Table = [u64; 256];

/// Of no move.
const NONE: Table = [0; 256];

/// The moves that are done heap by heap.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The codes that splits at the first place reach from the last codes, the last one first.
    nearest: [Table; NEAREST],
    /// The same, with the takes that are apart from the splits.
    with_takes: [Table; NEAREST],
    /// Farther splits at the first place, one of [`SIZES`], and farther takes.
    moves: (Vec<usize>, Vec<Table>),
    takes: Vec<usize>,
    /// How much more other places take than the first.
    others: Vec<usize>,
}

impl Chain {
    /// At most [`MOST`] moves, whose shifts count from the first place. A take leaves an empty heap.
    pub fn new(moves: &[Move], takes: Vec<usize>, others: &[usize]) -> Self {
        let table = |code: u8| -> Table { array_of(|read| 1 << ((read as u8 ^ code) % 64)) };
        let add = |to: &mut Table, code: u8| zip(to, table(code)).for_each(|(to, bit)| *to |= bit);
        let mut nearest = [NONE; NEAREST];
        for m in moves.iter().filter(|m| m.shift <= NEAREST) {
            add(&mut nearest[m.shift - 1], m.code as u8);
        }
        let mut with_takes = nearest;
        for take in takes.iter().filter(|take| **take <= NEAREST) {
            add(&mut with_takes[take - 1], 0);
        }
        let far = moves.iter().filter(|m| m.shift > NEAREST);
        let (mut shifts, mut tables): (Vec<usize>, Vec<Table>) = far.map(|m| (m.shift, table(m.code as u8))).unzip();
        let size = SIZES.into_iter().find(|size| shifts.len() <= *size).expect("at most 16 moves");
        // A move that fills up reads codes that were stored long before.
        shifts.resize(size, SHORT);
        tables.resize(size, NONE);
        let takes = takes.into_iter().filter(|take| *take > NEAREST).collect();
        Chain { nearest, with_takes, moves: (shifts, tables), takes, others: others.to_vec() }
    }

    /// Computes the codes of [`SHORT`] heaps from `n` on. The last words have what all but these moves reach at the first place, those
    /// before them all that their heaps reach there.
    #[inline(always)]
    pub fn run(&self, codes: &mut [u8], n: usize, words: &mut [u64]) {
        if self.others.len() > PLACES || !self.takes.is_empty() {
            return self.run_any(codes, n, words);
        }
        // How many of the last codes no move reads, as far as the chain is compiled for it.
        let unread = match mapped([0, 1, 2], |i| self.with_takes[i][0] > 0) {
            [false, false, false] => NEAREST,
            [false, ..] => 1,
            _ => 0,
        };
        macro_rules! compiled {
            ($($size:literal $unread:literal),*) => {
                match (self.moves.0.len(), unread, self.others.is_empty()) {
                    $(($size, $unread, true) => self.link::<$size, $unread, 0>(codes, n, words),
                    ($size, $unread, false) => self.link::<$size, $unread, PLACES>(codes, n, words),)*
                    _ => unreachable!("one of the sizes"),
                }
            };
        }
        compiled!(4 0, 4 1, 4 3, 8 0, 8 1, 8 3, 16 0, 16 1, 16 3)
    }

    /// Compiled for some numbers of moves, of the last codes that none reads, and of other places.
    #[inline(always)]
    fn link<const MOVES: usize, const UNREAD: usize, const OTHERS: usize>(
        &self,
        codes: &mut [u8],
        n: usize,
        words: &mut [u64],
    ) {
        let codes = Cell::from_mut(&mut codes[..n + SHORT]).as_slice_of_cells();
        let words = Cell::from_mut(words).as_slice_of_cells();
        let start = words.len() - SHORT;
        let tables: &[Table; MOVES] = self.moves.1.first_chunk().expect("this size");
        let (to, at) = (cells_from(codes, n), cells_from(words, start));
        let (mut read, mut others) = ([to; MOVES], [at; OTHERS]);
        let mut i = 0;
        while i < MOVES {
            read[i] = cells_from(codes, n - self.moves.0[i]);
            i += 1;
        }
        i = 0;
        while i < OTHERS {
            others[i] = cells_from(words, start - self.others[i % self.others.len()]);
            i += 1;
        }
        let mut last = array_of(|i| codes[n - 1 - i].get().into());
        for first in (0..SHORT).step_by(4) {
            for lane in first..first + 4 {
                let mut word = at[lane].get();
                for (read, table) in zip(&read, tables) {
                    word |= table[usize::from(read[lane].get())];
                }
                if OTHERS > 0 {
                    at[lane].set(reached::<UNREAD>(word, &self.nearest, last));
                    for from in &others {
                        word |= from[lane].get();
                    }
                }
                let code = reached::<UNREAD>(word, &self.with_takes, last).trailing_ones();
                last = [code as usize, last[0], last[1]];
                to[lane].set(code as u8);
            }
        }
    }

    /// Unlike [`link`](Self::link), this is compiled once, for any number of other places, and for takes apart from the moves: few games
    /// have them.
    #[inline(never)]
    fn run_any(&self, codes: &mut [u8], n: usize, words: &mut [u64]) {
        let start = words.len() - SHORT;
        let mut last = array_of(|i| codes[n - 1 - i].into());
        for (n, at) in zip(n.., start..words.len()) {
            let mut word = words[at];
            for (shift, table) in zip(&self.moves.0, &self.moves.1) {
                word |= table[usize::from(codes[n - shift])];
            }
            words[at] = reached::<0>(word, &self.nearest, last);
            for other in &self.others {
                word |= words[at - other];
            }
            for take in &self.takes {
                word |= 1 << (codes[n - take] % 64);
            }
            let code = reached::<0>(word, &self.with_takes, last).trailing_ones();
            last = [code as usize, last[0], last[1]];
            codes[n] = code as u8;
        }
    }
}

/// The cells of 16 heaps.
#[inline(always)]
fn cells_from<T>(cells: &[Cell<T>], at: usize) -> &[Cell<T>; SHORT] {
    cells[at..].first_chunk().expect("they lie before the end of these heaps")
}

/// Adds what is reached from the last codes that are read; from the very last at the end, for it is known last.
#[inline(always)]
fn reached<const UNREAD: usize>(word: u64, tables: &[Table; NEAREST], last: [usize; NEAREST]) -> u64 {
    let mut word = word;
    for i in 0..NEAREST - UNREAD {
        let i = NEAREST - 1 - i;
        word |= tables[i][last[i]];
    }
    word
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Moves and takes of equal shifts, and more other places than a chain is compiled for, included.
        #[test]
        fn codes_are_those_of_a_search(
            moves in vec((1..SHORT, 0..64_u8), 0..=MOST),
            takes in vec(1..40_usize, 0..5),
            mut others in vec(1..50_usize, 0..5),
            codes in vec(0..64_u8, 64),
            words in vec(any::<u64>(), 64),
        ) {
            others.sort_unstable();
            // Without other places, takes are among the moves.
            let takes = if others.is_empty() { Vec::new() } else { takes };
            let moves: Vec<Move> = moves.into_iter().map(|(shift, code)| Move::new(shift, code, 1)).collect();
            let chain = Chain::new(&moves, takes.clone(), &others);
            let (mut codes, mut words) = (codes, words);
            codes.resize(64 + SHORT, 0);
            words.resize(64 + SHORT, 0x5555);
            let (mut want, mut reached) = (codes.clone(), words.clone());
            chain.run(&mut codes, 64, &mut words);
            for n in 64..64 + SHORT {
                moves.iter().for_each(|m| reached[n] |= 1 << ((want[n - m.shift] ^ m.code as u8) % 64));
                let places = others.iter().fold(reached[n], |word, other| word | reached[n - other]);
                let all = takes.iter().fold(places, |word, take| word | 1 << (want[n - take] % 64));
                want[n] = all.trailing_ones() as u8;
            }
            prop_assert_eq!(codes, want);
        }
    }
}
