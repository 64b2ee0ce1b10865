//! Common heaps that show for most heaps that their rare values are reached.
//!
//! Of a sample of recent heaps, all rare values below the value are cells to be covered. A head, a common heap at a place, covers a
//! cell if the two common heaps it makes have that nim-sum. Heads are chosen greedily: the one that covers the most cells first.
//! What a head covers only becomes less as others are chosen, so a queue by old counts needs few counts anew (Minoux 1978).

use std::collections::BinaryHeap;

use super::lanes::{Coder, Move, spread};

/// The largest number of heads.
pub const MOST: usize = 640;
/// Heaps in the sample, and heads to choose from.
const SAMPLE: usize = 256;
const POOL: usize = 4096;
/// A head must cover this share of a cell for each heap: it takes a quarter of a cycle, a search tens of cycles.
const WORTH: f64 = 0.006;

/// The codes of the rare values below the value of a heap that no head covers.
type Cells = [u64; 4];

/// Chooses heads, in ascending order of their shifts, for the heaps after those that have these codes. If some of these are rare, the
/// choice is not quite as good.
pub fn choose(codes: &[u8], coder: Coder, splits: &[usize], is_common: impl Fn(usize) -> bool) -> Vec<Move> {
    let n = codes.len();
    let size = (n / 256).clamp(8, SAMPLE);
    let step = (n / 4 / size).min(41) | 1;
    let sample = (0..size).map(|i| n - 1 - i * step);
    let mut sample: Vec<(usize, Cells)> = sample.map(|n| (n, cells(coder.rare_below(codes[n])))).collect();
    let last = splits.last().copied().unwrap_or(0);
    let pool = (1..(n / 4).saturating_sub(last)).filter(|heap| is_common(*heap));
    let pool = pool.flat_map(|heap| splits.iter().map(move |place| (heap, place + heap))).take(POOL.min(n / 8));
    let count = |sample: &[(usize, Cells)], heap: usize, shift: usize| {
        let mut count = 0;
        for (n, cells) in sample {
            let code = codes[heap] ^ codes[n - shift];
            count += cells[usize::from(code / 64)] >> (code % 64) & 1;
        }
        count
    };
    let mut queue: BinaryHeap<(u64, usize, usize)> =
        pool.map(|(heap, shift)| (count(&sample, heap, shift), heap, shift)).collect();
    let mut heads = Vec::new();
    let least = (WORTH * size as f64) as u64 + 1;
    while let Some((_, heap, shift)) = queue.pop() {
        let now = count(&sample, heap, shift);
        if queue.peek().is_some_and(|(next, ..)| now < *next) {
            if now >= least {
                queue.push((now, heap, shift));
            }
            continue;
        }
        if now < least || heads.len() == MOST {
            break;
        }
        for (n, cells) in &mut sample {
            let code = codes[heap] ^ codes[*n - shift];
            cells[usize::from(code / 64)] &= !(1 << (code % 64));
        }
        heads.push(Move { shift, code: spread(codes[heap]), heap });
    }
    heads.sort_unstable_by_key(|head| head.shift);
    heads
}

/// The codes below a bound.
fn cells(below: u16) -> Cells {
    std::array::from_fn(|q| match usize::from(below).saturating_sub(64 * q) {
        0 => 0,
        count => u64::MAX >> (64 - count.min(64)),
    })
}
