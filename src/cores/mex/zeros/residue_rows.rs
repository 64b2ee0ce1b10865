//! Shifted rows of residue classes: heaps by residue, each class in a row of its own.
//!
//! Heap `q a + r` is cell `a` of class `r`, one bit. A move `m = q b + c` leads from a P-position of class `s` to class
//! `s + c mod q`, and `b` cells up, or `b + 1` if `s + c >= q`. So a pair of a class and a residue of moves is an OR of shifted rows as
//! in [`super::shifted_rows`], over a `q`-th of the heaps, and most pairs are left out:
//!
//! * **Covered lines.** A line of a class that is hit as a whole is done. The classes with the most P-positions hit first, and
//!   most classes are covered after a small part of the moves. Nothing is assumed: what is not hit is a P-position.
//! * **Sparse classes.** The few P-positions of such a class are listed, and hit one by one.
//!
//! Cost per move and line of 512 heaps that is not covered: as in [`super::shifted_rows`].
//! Bound: as there; where few moves are left, the search for P-positions in the blocks of many classes.

use std::ops::Range;

use super::Start;
use super::modulus::Plan;
use super::or_rows::{LINE, OrRows};
use super::shifted_rows::{BLOCK, CHUNK, WORDS, lines};
use super::{Zeros, modulus};
use crate::cores::growing;
use crate::kernel::{Cost, CostContext, Run, RunError};
use crate::machine::pages::request_huge_pages;
use crate::simd::bits::WORD;

/// Moves that are applied together.
const MOVES_AT_ONCE: usize = 16;
/// Moves of each shift in a batch, on average.
const BATCH: usize = 64;
/// A class is sparse if fewer than one in this many of its cells are P-positions.
const SPARSE: usize = 1800;
/// Mean hits of the cells of a class after which its covered lines are dropped again.
const LOOK_AGAIN: f64 = 1.0;

const NS_PER_HEAP: f64 = 0.5;
const NS_PER_ZERO: f64 = 60.0;
const NS_PER_ZERO_AND_CLASS: f64 = 2.5;
const NS_PER_MOVE: f64 = 12.0;
/// The search for a modulus.
const NS_PER_PLAN: f64 = 8e6;
const NS_PER_RUN: f64 = 3000.0;

/// Rate: the ns to apply a move to a line of heaps.
pub fn cost(input: &Zeros, _: CostContext, [line]: [f64; 1]) -> Cost {
    let (heaps, zeros, moves) = (input.heaps() as f64, input.zeros(), input.moves().len() as f64);
    let Plan { modulus, share } = input.plan();
    let layout = RowLayout::new(input.heaps(), modulus);
    let per_zero = NS_PER_ZERO + NS_PER_ZERO_AND_CLASS * modulus as f64;
    let fixed = NS_PER_RUN + if modulus::first_heaps(input.heaps()).is_some() { NS_PER_PLAN } else { 0.0 };
    Cost {
        ns: (line * lines(input) * share + NS_PER_HEAP) * heaps + per_zero * zeros + NS_PER_MOVE * moves + fixed,
        bytes: layout.bytes() as f64 + growing::bytes::<u64>(zeros) + growing::bytes::<[usize; 2]>(moves),
    }
}

/// The moves of one residue.
struct Residue {
    residue: usize,
    /// `m / q`, ascending.
    quotients: Vec<usize>,
    /// `m / q / 8 + 1`, ascending, by the last three bits of `m / q`.
    shifts: [Vec<usize>; 8],
    /// The moves within a block, as bits of how many cells up they lead: staying below `q`, and passing it.
    near: [[u64; WORDS]; 2],
}

/// Some moves with the same residue and the same shift.
struct Slice<'a> {
    residue: usize,
    shift: usize,
    /// `m / q / 8 + 1`.
    back: &'a [usize],
}

/// The class that a residue leads to, and whether it passes the modulus.
#[inline(always)]
fn target(class: usize, residue: usize, modulus: usize) -> (usize, usize) {
    let sum = class + residue;
    if sum < modulus { (sum, 0) } else { (sum - modulus, 1) }
}

fn residues(moves: &[u64], modulus: usize) -> Vec<Residue> {
    let mut residues: Vec<Residue> = Vec::new();
    let mut indices = vec![usize::MAX; modulus];
    for m in moves.iter().map(|m| *m as usize) {
        let (quotient, residue) = (m / modulus, m % modulus);
        if indices[residue] == usize::MAX {
            indices[residue] = residues.len();
            let near = [[0; WORDS]; 2];
            residues.push(Residue { residue, quotients: Vec::new(), shifts: Default::default(), near });
        }
        let entry = &mut residues[indices[residue]];
        growing::push(&mut entry.quotients, quotient);
        growing::push(&mut entry.shifts[quotient % 8], quotient / 8 + 1);
        for (passed, near) in entry.near.iter_mut().enumerate() {
            let up = quotient + passed;
            if up < BLOCK {
                near[up / WORD] |= 1 << (up % WORD);
            }
        }
    }
    residues
}

/// The moves with a quotient in a range.
fn slices(residues: &[Residue], quotients: Range<usize>) -> Vec<Slice<'_>> {
    let mut slices = Vec::new();
    for Residue { residue, shifts, .. } in residues {
        for (shift, back) in shifts.iter().enumerate() {
            let below = |bound: usize| back.partition_point(|back| 8 * (back - 1) + shift < bound);
            let range = below(quotients.start)..below(quotients.end.max(quotients.start));
            if !range.is_empty() {
                slices.push(Slice { residue: *residue, shift, back: &back[range] });
            }
        }
    }
    slices
}

/// The lengths of the parts of a run.
#[derive(Clone, Copy)]
struct RowLayout {
    modulus: usize,
    /// Cells of a class in a tile.
    tile: usize,
    /// Bytes of a row before its first cell. No move inside a tile reads further before it.
    pad: usize,
    /// Bytes of a row.
    row: usize,
}

impl RowLayout {
    fn new(heaps: usize, modulus: usize) -> Self {
        let cells = heaps.div_ceil(modulus);
        // Neighbouring squares are `2 sqrt N` heaps apart, so several moves of the same shift share what they read.
        let tile = ((64.0 * (cells as f64).sqrt()) as usize).next_multiple_of(CHUNK);
        let pad = tile / 8 + 2 * LINE;
        RowLayout { modulus, tile, pad, row: pad + cells.next_multiple_of(tile) / 8 + 2 * LINE }
    }

    /// Bytes of rows and hits.
    fn bytes(&self) -> usize {
        self.modulus * (self.row + self.tile / 8) + self.gathered()
    }

    /// Bytes of the buffer in which moves are gathered.
    fn gathered(&self) -> usize {
        self.tile / 8 + LINE
    }

    /// The index of a cell's byte in the rows.
    #[inline(always)]
    fn byte(&self, class: usize, cell: usize) -> usize {
        class * self.row + self.pad + cell / 8
    }
}

/// The P-positions of a class.
#[derive(Clone, Default)]
struct Class {
    is_sparse: bool,
    /// If it is sparse, the cells of its P-positions before the tile.
    listed: Vec<usize>,
    /// The cells up to here are listed.
    listed_to: usize,
}

/// A part of a tile: this many lines from a cell on.
#[derive(Clone, Copy)]
struct Part {
    cell: usize,
    lines: usize,
}

/// The state of a run.
struct Classes {
    layout: RowLayout,
    rows: Vec<u8>,
    classes: Vec<Class>,
    /// The number of P-positions of each class.
    counts: Vec<usize>,
    /// The classes that are not sparse, those with the most P-positions first.
    dense: Vec<usize>,
    /// The first cell of the tile.
    start: usize,
    /// For each class, the cells of the tile that are hit, or that were found to be P-positions.
    hits: Vec<u64>,
    gathered: Vec<u8>,
    /// For each class, runs of lines of a part that are not covered, and the mean hits of its cells since that was found.
    uncovered: Vec<Vec<Range<usize>>>,
    hits_since: Vec<f64>,
}

#[inline(always)]
pub fn run(input: &Zeros, run: &Run, start: Start, or_rows: impl OrRows) -> Result<Vec<u64>, RunError> {
    // One type for all tiers. They are inlined all the same.
    let or_rows: &dyn OrRows = &or_rows;
    let (heaps, Plan { modulus, .. }) = (input.heaps(), input.plan());
    let layout = RowLayout::new(heaps, modulus);
    let residues = residues(input.moves(), modulus);
    let Start { from, journal } = start;
    let mut progress = from.unwrap_or_default();
    // Only whole tiles.
    let first = progress.done.min(heaps as u64) as usize / modulus / layout.tile * layout.tile;
    progress.cut((first * modulus) as u64);
    let mut state = Classes::new(layout, &progress.zeros);
    run.advance(progress.done)?;
    while (progress.done as usize) < heaps {
        state.start = progress.done as usize / modulus;
        let stop = state.tile(input, &residues, or_rows, run, &mut progress.zeros);
        if stop.is_ok() {
            progress.done = ((state.start + layout.tile) * modulus).min(heaps) as u64;
        }
        if let Some(journal) = &journal {
            progress.cut(progress.done);
            journal.keep(&progress, stop.is_err());
        }
        stop?;
    }
    // The last block may extend beyond the limit.
    progress.cut(heaps as u64);
    Ok(progress.zeros)
}

impl Classes {
    fn new(layout: RowLayout, zeros: &[u64]) -> Self {
        let RowLayout { modulus, tile, row, .. } = layout;
        let mut rows = vec![0; modulus * row];
        request_huge_pages(&mut rows);
        let mut state = Classes {
            layout,
            rows,
            classes: vec![Class::default(); modulus],
            counts: vec![0; modulus],
            dense: Vec::new(),
            start: 0,
            hits: vec![0; modulus * tile / WORD],
            gathered: vec![0; layout.gathered()],
            uncovered: vec![Vec::new(); modulus],
            hits_since: vec![0.0; modulus],
        };
        for n in zeros {
            state.remember(*n as usize % modulus, *n as usize / modulus);
        }
        state
    }

    /// Adds a P-position to its row.
    #[inline(always)]
    fn remember(&mut self, class: usize, cell: usize) {
        self.rows[self.layout.byte(class, cell)] |= 1 << (cell % 8);
        self.counts[class] += 1;
    }

    /// The index in the hits of the word of a cell, which is in the tile.
    #[inline(always)]
    fn word(&self, class: usize, cell: usize) -> usize {
        (class * self.layout.tile + cell - self.start) / WORD
    }

    /// Finds the P-positions of a tile.
    ///
    /// A row is read at whole bytes. Moves whose remaining shifts of 0 to 7 bits are equal are gathered in a buffer, which
    /// is shifted into the hits once. Moves longer than a tile come first, class after class, in batches whose sources stay
    /// in L2; then those longer than a chunk, chunk by chunk; then the others, block by block. In a block, the lowest heap
    /// that is not hit is a P-position.
    #[inline(always)]
    fn tile(
        &mut self,
        input: &Zeros,
        residues: &[Residue],
        or_rows: &dyn OrRows,
        run: &Run,
        zeros: &mut Vec<u64>,
    ) -> Result<(), RunError> {
        let RowLayout { modulus, tile, .. } = self.layout;
        let (heaps, start) = (input.heaps(), self.start);
        let lines = (heaps - start * modulus).div_ceil(modulus).min(tile).div_ceil(BLOCK);
        self.hits.fill(0);
        self.sort_classes();
        self.far(residues, Part { cell: start, lines }, or_rows, run)?;
        self.hit_from_sparse(residues);
        let middle = slices(residues, CHUNK..tile);
        let near = slices(residues, 0..CHUNK);
        let end = start + lines * BLOCK;
        for cell in (start..end).step_by(CHUNK) {
            let chunk = Part { cell, lines: (end - cell).min(CHUNK) / BLOCK };
            self.find_uncovered(chunk);
            for i in 0..self.dense.len() {
                self.or_from(self.dense[i], &middle, chunk, or_rows);
            }
            for cell in (cell..cell + chunk.lines * BLOCK).step_by(BLOCK) {
                let block = Part { cell, lines: 1 };
                self.find_uncovered(block);
                for i in 0..self.dense.len() {
                    // Moves inside the block may be included: they read bits that are still zero.
                    self.or_from(self.dense[i], &near, block, or_rows);
                }
                self.resolve(residues, cell, zeros);
            }
            let done = |cell: usize| heaps.min(cell * modulus);
            run.advance((done(cell + chunk.lines * BLOCK) - done(cell)) as u64)?;
        }
        Ok(())
    }

    /// Tells sparse classes from dense ones, and lists the P-positions of the sparse ones.
    fn sort_classes(&mut self) {
        for (c, class) in self.classes.iter_mut().enumerate() {
            class.is_sparse = self.counts[c] * SPARSE < self.start;
            if class.is_sparse {
                let bytes = &self.rows[self.layout.byte(c, class.listed_to)..self.layout.byte(c, self.start)];
                for (w, word) in bytes.as_chunks().0.iter().enumerate() {
                    let mut word = u64::from_le_bytes(*word);
                    while word != 0 {
                        let cell = class.listed_to + w * WORD + word.trailing_zeros() as usize;
                        growing::push(&mut class.listed, cell);
                        word &= word - 1;
                    }
                }
                class.listed_to = self.start;
            }
        }
        self.dense = modulus::ranked(&self.counts, &|class| !self.classes[class].is_sparse);
    }

    /// Applies the moves longer than a tile.
    #[inline(always)]
    fn far(&mut self, residues: &[Residue], tile: Part, or_rows: &dyn OrRows, run: &Run) -> Result<(), RunError> {
        let batches = batches(residues, self.layout.tile..tile.cell + self.layout.tile + 1);
        self.find_uncovered(tile);
        for i in 0..self.dense.len() {
            for batch in &batches {
                self.or_from(self.dense[i], batch, tile, or_rows);
                run.advance(0)?;
            }
        }
        Ok(())
    }

    /// Finds the lines of a part that are not covered.
    #[inline(always)]
    fn find_uncovered(&mut self, part: Part) {
        for class in 0..self.layout.modulus {
            self.uncovered[class].clear();
            self.uncovered[class].push(0..part.lines);
            self.drop_covered(class, part);
        }
    }

    /// Drops the lines that are covered by now. A gap of one line stays, because each run of lines takes one line more.
    #[inline(always)]
    fn drop_covered(&mut self, class: usize, part: Part) {
        self.hits_since[class] = 0.0;
        let first = self.word(class, part.cell);
        let hits = self.hits[first..][..part.lines * WORDS].as_chunks::<WORDS>().0;
        let uncovered = &mut self.uncovered[class];
        let runs = uncovered.len();
        for run in 0..runs {
            let lines = uncovered[run].clone();
            for line in lines {
                if hits[line].iter().fold(u64::MAX, |all, word| all & word) == u64::MAX {
                    continue;
                }
                match uncovered[runs..].last_mut() {
                    Some(last) if line <= last.end + 1 => last.end = line + 1,
                    _ => uncovered.push(line..line + 1),
                }
            }
        }
        uncovered.drain(..runs);
    }

    /// Applies moves from a class to the lines of a part that are not covered.
    #[inline(always)]
    fn or_from(&mut self, source: usize, slices: &[Slice], part: Part, or_rows: &dyn OrRows) {
        let RowLayout { modulus, .. } = self.layout;
        let count = self.counts[source];
        if count == 0 {
            return;
        }
        let density = count as f64 / (part.cell + BLOCK) as f64;
        let at = self.layout.byte(source, part.cell);
        for Slice { residue, shift, back } in slices {
            let (class, passed) = target(source, *residue, modulus);
            if self.uncovered[class].is_empty() {
                continue;
            }
            let first = self.word(class, part.cell);
            // Up by `8 back - 8 + shift`: by `8 back`, or `8 back - 8` if there is no shift, and then down.
            let (at, down) = match shift + passed {
                0 => (at + 1, 0),
                up => (at, 8 - up as u32),
            };
            for lines in &self.uncovered[class] {
                let gathered = &mut self.gathered[..(lines.len() + 1) * LINE];
                gathered.fill(0);
                for back in back.chunks(MOVES_AT_ONCE) {
                    or_rows(&self.rows, at + lines.start * LINE, back, gathered);
                }
                let hits = &mut self.hits[first + lines.start * WORDS..][..lines.len() * WORDS];
                let words = gathered.as_chunks().0;
                for (hits, (low, high)) in hits.iter_mut().zip(words.iter().zip(&words[1..])) {
                    let (low, high) = (u64::from_le_bytes(*low), u64::from_le_bytes(*high));
                    *hits |= low >> down | high << 1 << (WORD as u32 - 1 - down);
                }
            }
            self.hits_since[class] += density * back.len() as f64;
        }
        for class in 0..modulus {
            if self.hits_since[class] >= LOOK_AGAIN {
                self.drop_covered(class, part);
            }
        }
    }

    /// Hits the tile from the P-positions of sparse classes before it, one by one.
    fn hit_from_sparse(&mut self, residues: &[Residue]) {
        let RowLayout { modulus, tile, .. } = self.layout;
        let start = self.start;
        for (source, class) in self.classes.iter().enumerate() {
            if !class.is_sparse {
                continue;
            }
            let zeros = &class.listed;
            for Residue { residue, quotients, .. } in residues {
                let (target, passed) = target(source, *residue, modulus);
                if self.uncovered[target].is_empty() {
                    continue;
                }
                let hits = &mut self.hits[target * tile / WORD..][..tile / WORD];
                // For each of the shorter list, those of the longer one that lead into the tile.
                let (short, long) = if zeros.len() < quotients.len() { (zeros, quotients) } else { (quotients, zeros) };
                for up in short {
                    let up = up + passed;
                    let from = long.partition_point(|cell| cell + up < start);
                    hit_up(hits, &long[from..], up.wrapping_sub(start));
                }
            }
        }
    }

    /// Finds the P-positions of a block, given the hits from earlier blocks.
    #[inline(always)]
    fn resolve(&mut self, residues: &[Residue], block: usize, zeros: &mut Vec<u64>) {
        let modulus = self.layout.modulus;
        let mut unresolved: Vec<usize> = Vec::new();
        for w in 0..WORDS {
            let cell = block + w * WORD;
            unresolved.clear();
            unresolved.extend((0..modulus).filter(|class| !self.uncovered[*class].is_empty()));
            loop {
                // The lowest heap that is not hit, among these 64 cells of all classes.
                let mut lowest = usize::MAX;
                unresolved.retain(|class| {
                    let bit = self.hits[self.word(*class, cell)].trailing_ones() as usize;
                    if bit < WORD {
                        lowest = lowest.min(bit * modulus + class);
                    }
                    bit < WORD
                });
                if lowest == usize::MAX {
                    break;
                }
                let (class, bit) = (lowest % modulus, lowest / modulus);
                growing::push(zeros, (cell * modulus + lowest) as u64);
                self.remember(class, cell + bit);
                let word = self.word(class, cell);
                self.hits[word] |= 1 << bit;
                if self.classes[class].is_sparse {
                    self.hit_from(residues, class, cell + bit);
                } else {
                    self.hit_block_from(residues, class, cell, bit as u32, WORDS - w);
                }
            }
        }
    }

    /// Hits the rest of the tile from a P-position.
    fn hit_from(&mut self, residues: &[Residue], source: usize, cell: usize) {
        let RowLayout { modulus, tile, .. } = self.layout;
        for Residue { residue, quotients, .. } in residues {
            let (class, passed) = target(source, *residue, modulus);
            let hits = &mut self.hits[class * tile / WORD..][..tile / WORD];
            hit_up(hits, quotients, cell - self.start + passed);
        }
    }

    /// Hits the rest of the block, `words` words from `cell` on, from a P-position `bit` cells further.
    #[inline(always)]
    fn hit_block_from(&mut self, residues: &[Residue], source: usize, cell: usize, bit: u32, words: usize) {
        for Residue { residue, near, .. } in residues {
            let (class, passed) = target(source, *residue, self.layout.modulus);
            if self.uncovered[class].is_empty() {
                continue;
            }
            let first = self.word(class, cell);
            let mut below = 0;
            for (hits, near) in self.hits[first..][..words].iter_mut().zip(&near[passed]) {
                *hits |= near << bit | below >> 1 >> (WORD as u32 - 1 - bit);
                below = *near;
            }
        }
    }
}

/// Hits those of the cells, moved up, that are in the tile. They are ascending.
fn hit_up(hits: &mut [u64], cells: &[usize], up: usize) {
    for cell in cells {
        let cell = cell.wrapping_add(up);
        let Some(word) = hits.get_mut(cell / WORD) else { return };
        *word |= 1 << (cell % WORD);
    }
}

/// The moves with a quotient in a range, in batches of about [`BATCH`] for each shift of each residue.
fn batches(residues: &[Residue], quotients: Range<usize>) -> Vec<Vec<Slice<'_>>> {
    let all = slices(residues, quotients.clone());
    let moves: usize = all.iter().map(|slice| slice.back.len()).sum();
    let longest = all.iter().map(|slice| slice.back).max_by_key(|back| back.len()).unwrap_or_default();
    let count = moves.div_ceil(BATCH * all.len().max(1));
    let mut from = quotients.start;
    let batch = |batch: usize| {
        // Each batch gets an equal share of the longest slice.
        let to = longest.get(batch * longest.len() / count).map_or(quotients.end, |back| 8 * (back - 1)).max(from);
        slices(residues, std::mem::replace(&mut from, to)..to)
    };
    (1..count + 1).map(batch).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;
    use crate::cores::mex::zeros::sieves::bit_sieve;
    use crate::cores::mex::zeros::{Journal, MexZeros, Progress};
    use crate::kernel::available;
    use crate::machine::Machine;
    use crate::moves::MoveSet;

    /// Keeps what a run would save.
    #[derive(Default)]
    struct Kept(Mutex<Vec<Progress>>);

    impl Journal for Kept {
        fn keep(&self, progress: &Progress, _: bool) {
            self.0.lock().expect("one thread").push(progress.clone());
        }
    }

    /// Runs by one modulus, then resumes by another from half of the tiles.
    fn check(set: &MoveSet, limit: u64, modulus: usize) {
        let machine = Machine::detect();
        let input = Zeros::new(set, limit, &machine).expect("a small limit");
        let want = bit_sieve::run(&input, &Run::new(1), Start::default()).expect("not cancelled");
        let kernels = available::<MexZeros>(&machine);
        for kernel in kernels.filter(|kernel| kernel.def().name.starts_with("residue_rows")) {
            let mut from = None;
            for modulus in [modulus, 7] {
                let (kept, run) = (Arc::new(Kept::default()), Run::new(1));
                let start = Start::with_journal(Arc::clone(&kept) as _, from.take());
                let got = kernel.run_from(start, &input.clone().split_by(modulus), &run).expect("not cancelled");
                let name = kernel.def().name;
                assert!(got == want, "{name}: {set} up to {limit} modulo {modulus}");
                assert_eq!(run.done(), limit + 1, "{name}: steps");
                let tiles = kept.0.lock().expect("one thread");
                from = tiles.get(tiles.len() / 2).cloned();
            }
        }
    }

    /// Far enough for several tiles, covered lines and sparse classes; ends within a block, a chunk and a tile.
    #[test]
    fn squares_by_any_modulus() {
        for (modulus, limit) in [(1, 800_000), (2, 300_000), (5, 1_000_000), (13, 1_000_000), (64, 1_700_000)] {
            check(&MoveSet::Squares, limit, modulus);
        }
        check(&MoveSet::Squares, 4_000_000, 65);
        check(&MoveSet::Cubes, 1_500_000, 91);
        check(&MoveSet::Primes, 100_000, 4);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn any_set_by_any_modulus(
            moves in prop_oneof![
                btree_set(1_u64..60, 1..30),
                btree_set(1_u64..3000, 1..40),
                btree_set(1_u64..120_000, 1..400),
                btree_set((1_u64..300).prop_map(|k| k * k + 1), 1..200),
            ],
            modulus in 1_usize..90,
            limit in prop_oneof![0_u64..3000, 0_u64..150_000],
        ) {
            let set = MoveSet::list(moves.into_iter().collect()).expect("ascending");
            check(&set, limit, modulus);
        }
    }
}
