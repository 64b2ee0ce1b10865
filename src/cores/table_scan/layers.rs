//! The driver of the kernels that go layer by layer: `x`, then `y`, and a search for the one `z` of the pair.
//!
//! # What is kept
//! With `d = y - x`, six rows of marks forbid a candidate `z`:
//!
//! | row | place | marked by a P-position that |
//! |---|---|---|
//! | `one[x]`, `one[y]` | `z` | has both heaps |
//! | `two[d]` | `z` | has the heap `z`, the others `d` apart |
//! | `gap[x]` | `z - y` | has the heap `x`, the others `z - y` apart |
//! | `gap[y]` | `z - x` | has the heap `y`, the others `z - x` apart |
//! | `all[d]` | `z - x` | has the same two differences |
//!
//! Read in lexicographic order of positions, most keys are never looked at again. Of the pairs only `(y,z)` is, in later
//! layers, and `(x,z)` in this one; of the keys with one heap `(y, z-x)` and `(z, d)`, and `(x, z-y)` in this layer. That
//! leaves five marks in rows of later layers, not the twelve of a symmetric table.
//!
//! # The hint
//! Within a layer every difference `z - y` is used once, so the search starts at `y + h` with `h` the smallest unused one. It
//! never falls as `y` grows. The search is still `0.09 N` candidates long on average.

use super::{Rule, Sink, StoneGame};
use crate::kernel::{Run, Stop};

/// Marks in a run of places.
pub trait Marks {
    /// `places` places without a mark, followed by [`PADDING`].
    fn new(places: usize) -> Self;
    fn mark(&mut self, place: usize);
    fn is_marked(&self, place: usize) -> bool;
}

/// The places of one candidate in the six rows.
pub type Places = [usize; 6];

/// A search for the first candidate that no row forbids.
pub trait Search<M> {
    /// Given the places of one candidate in the six rows, looks at the lanes' number of candidates from there on and
    /// returns how many are forbidden before the first that is free, all of them if none is.
    fn first_free(&self, marks: &M, rows: Places) -> usize;
}

impl<M, F: Fn(&M, Places) -> usize> Search<M> for F {
    #[inline(always)]
    fn first_free(&self, marks: &M, rows: Places) -> usize {
        self(marks, rows)
    }
}

/// Places that may be read, and mean nothing, after the last one: the widest search reads 512 from any place on, in words.
pub const PADDING: usize = 9 * 64;

/// Bytes of a kernel whose marks take `bits` bits each.
pub fn bytes(input: &StoneGame, bits: f64) -> f64 {
    let n = input.heaps() as f64;
    4.0 * n * n * bits / 8.0
}

/// Finds all P-positions with a search that looks at `LANES` candidates at once.
#[inline(always)]
pub fn scan<const LANES: usize, M: Marks, S: Sink>(
    input: &StoneGame,
    run: &Run,
    search: impl Search<M>,
) -> Result<S, Stop> {
    let heaps = input.heaps();
    let one = |heap: usize, z: usize| heap * heaps + z;
    let two = |d: usize, z: usize| (heaps + d) * heaps + z;
    let gap = |heap: usize, difference: usize| (2 * heaps + heap) * heaps + difference;
    let all = |d: usize, difference: usize| (3 * heaps + d) * heaps + difference;
    let mut marks = M::new(4 * heaps * heaps);
    let mut sink = S::default();
    for x in 0..heaps {
        let mut hint = 0;
        for y in x..heaps {
            if marks.is_marked(one(x, y)) {
                continue;
            }
            while hint < heaps && marks.is_marked(gap(x, hint)) {
                hint += 1;
            }
            let d = y - x;
            let mut z = y + hint;
            while z < heaps {
                // The row that forbids most comes first, for the kernels that test one candidate at a time.
                let rows = [all(d, z - x), one(x, z), one(y, z), gap(x, z - y), gap(y, z - x), two(d, z)];
                let skip = search.first_free(&marks, rows);
                z += skip;
                if skip < LANES {
                    break;
                }
            }
            if z >= heaps {
                continue;
            }
            sink.push([x as u32, y as u32, z as u32]);
            for place in [one(x, y), one(x, z), one(y, z), two(d, z), gap(x, z - y), gap(y, z - x), gap(z, d)] {
                marks.mark(place);
            }
            if input.rule == Rule::AllMoves {
                marks.mark(all(d, z - x));
            }
        }
        run.advance(1)?;
    }
    Ok(sink)
}
