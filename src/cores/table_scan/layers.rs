//! The driver of the kernels that work layer by layer: for each `x` and `y`, a search for the one `z` of the pair.
//!
//! # What is kept
//! With `d = y - x`, six rows of marks forbid a candidate `z`:
//!
//! | row | place | marked by a P-position that |
//! |---|---|---|
//! | `one[x]`, `one[y]` | `z` | has both heaps |
//! | `two[d]` | `z` | has the heap `z`, the others `d` apart |
//! | `gap[y]` | `z - x` | has the heap `y`, the others `z - x` apart |
//! | `all[d]` | `z - x` | has the same two differences |
//! | `gap[x]` | `z - y` | has the heap `x`, the others `z - y` apart |
//!
//! In lexicographic order of positions, most keys are never read again. Of the pairs, only `(y,z)` is read in later
//! layers, and `(x,z)` in this one; of the keys with one heap, `(y, z-x)` and `(z, d)` in later layers, and `(x, z-y)`
//! in this one. That leaves five marks in rows of later layers and two in rows of this one, not the twelve of a
//! symmetric table.
//!
//! # The hint
//! Within a layer every difference `z - y` is used once, so the search starts at `y + h`, where `h` is the smallest
//! unused one. It never falls as `y` grows; once `y + h` is past the last heap, the layer is done. The search is still
//! `0.09 N` candidates long on average.

use super::{Positions, Rule, StoneGame};
use crate::kernel::{Run, RunError};

/// A table of rows of marks, empty at first. A row has a place for each heap, and one more that is never marked.
pub trait MarkTable {
    fn new(rows: usize, heaps: usize) -> Self;
    fn mark(&mut self, row: usize, place: usize);
    /// The first place from `place` on, at most the number of heaps, that has no mark.
    fn next_free(&self, row: usize, place: usize) -> usize;
}

/// A pair to search for its `z`, and the six rows, grouped by the place at which they are read.
pub struct Visit {
    pub heaps: usize,
    pub x: usize,
    pub y: usize,
    /// The first candidate.
    pub from: usize,
    /// `one[x]`, `one[y]` and `two[d]`, read at `z`.
    pub at_z: [usize; 3],
    /// `gap[y]` and `all[d]`, read at `z - x`.
    pub less_x: [usize; 2],
    /// `gap[x]`, read at `z - y`.
    pub less_y: usize,
}

/// The search of a kernel.
pub trait Search<M> {
    /// The first candidate that no row forbids; at least the number of heaps if there is none.
    fn first_free(&self, marks: &M, visit: &Visit) -> usize;
}

impl<M, F: Fn(&M, &Visit) -> usize> Search<M> for F {
    #[inline(always)]
    fn first_free(&self, marks: &M, visit: &Visit) -> usize {
        self(marks, visit)
    }
}

/// Bytes of a table whose rows take `stride` bytes each.
pub fn bytes(input: &StoneGame, stride: usize) -> f64 {
    let (rows, _) = RowNumbers::of(input.heaps());
    rows as f64 * stride as f64
}

/// The numbers of the rows in a table.
#[derive(Clone, Copy)]
pub struct RowNumbers {
    heaps: usize,
}

impl RowNumbers {
    /// How many rows a table for `heaps` heaps has, and their numbers.
    pub fn of(heaps: usize) -> (usize, Self) {
        (4 * heaps, RowNumbers { heaps })
    }

    #[inline(always)]
    pub fn one(self, heap: usize) -> usize {
        heap
    }

    #[inline(always)]
    fn two(self, d: usize) -> usize {
        self.heaps + d
    }

    #[inline(always)]
    pub fn gap(self, heap: usize) -> usize {
        2 * self.heaps + heap
    }

    #[inline(always)]
    pub fn all(self, d: usize) -> usize {
        3 * self.heaps + d
    }

    /// The visit of a pair, from a candidate on.
    #[inline(always)]
    pub fn visit(self, x: usize, y: usize, from: usize) -> Visit {
        let d = y - x;
        Visit {
            heaps: self.heaps,
            x,
            y,
            from,
            at_z: [self.one(x), self.one(y), self.two(d)],
            less_x: [self.gap(y), self.all(d)],
            less_y: self.gap(x),
        }
    }

    /// Makes the marks of a P-position.
    #[inline(always)]
    pub fn mark(self, marks: &mut impl MarkTable, rule: Rule, [x, y, z]: [usize; 3]) {
        let d = y - x;
        // In a loop, so that the compiler does not find the rows in vectors: a tenth more instructions.
        for (row, place) in [
            (self.one(x), z),
            (self.one(y), z),
            (self.two(d), z),
            (self.gap(x), z - y),
            (self.gap(y), z - x),
            (self.gap(z), d),
        ] {
            marks.mark(row, place);
        }
        if rule == Rule::AllMoves {
            marks.mark(self.all(d), z - x);
        }
    }
}

/// Where the positions of layers go.
struct Layers<'a> {
    run: &'a Run,
    sink: Positions,
    /// Those of a layer, which has at most one for each `y`, if they are kept.
    found: Vec<[u32; 3]>,
}

impl<'a> Layers<'a> {
    fn new(input: &StoneGame, run: &'a Run) -> Self {
        let sink = input.sink();
        let found = vec![[0; 3]; if sink.keeps() { input.heaps() } else { 0 }];
        Layers { run, sink, found }
    }

    /// Ends a layer, given the number of its positions and the sum of their heaps.
    fn end(&mut self, positions: usize, sum: usize) -> Result<(), RunError> {
        match self.sink.totals_alone() {
            Some(totals) => {
                totals.sum += sum as u128;
                totals.positions += positions as u64;
            }
            None => self.sink.extend(&self.found[..positions]),
        }
        self.sink.advance(self.run, 1)
    }
}

/// Finds all P-positions.
#[inline(always)]
pub fn scan<M: MarkTable>(input: &StoneGame, run: &Run, search: impl Search<M>) -> Result<Positions, RunError> {
    let heaps = input.heaps();
    let (count, rows) = RowNumbers::of(heaps);
    let mut marks = M::new(count, heaps);
    let mut layers = Layers::new(input, run);
    for x in 0..heaps {
        let (mut y, mut hint, mut positions, mut sum) = (x, 0, 0, 0);
        loop {
            y = marks.next_free(rows.one(x), y);
            hint = marks.next_free(rows.gap(x), hint);
            if y + hint >= heaps {
                break;
            }
            let z = search.first_free(&marks, &rows.visit(x, y, y + hint));
            if z < heaps {
                if let Some(found) = layers.found.get_mut(positions) {
                    *found = [x as u32, y as u32, z as u32];
                }
                positions += 1;
                sum += x + y + z;
                rows.mark(&mut marks, input.rule, [x, y, z]);
            }
            y += 1;
        }
        layers.end(positions, sum)?;
    }
    Ok(layers.sink)
}
