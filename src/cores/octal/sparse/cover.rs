//! The greedy set cover: moves that together reach most of the codes that some heaps must be shown to reach.
//!
//! Cells are codes that a sample of recent heaps must reach, all those below a bound for each heap. A move covers at
//! most one cell of each heap at each place. The move that covers the most cells is chosen first, then the one that covers the most
//! of the remaining cells, until it is not worth it. The count of a move only falls as others are chosen, so a queue by
//! old counts needs few recounts (Minoux 1978). A choice that is not quite the best is as good, and saves most of them.

use std::collections::BinaryHeap;

use super::codes::{Move, parted, sort_by_shift};
use crate::simd::array_of;

/// The most heaps in the sample.
const SAMPLE: usize = 512;

/// The codes of one heap that are not covered.
type Cells = [u64; 4];

/// Chooses moves for the heaps after those that have these codes, while each covers at least `worth` cells of a heap. The shift of a
/// move counts from each of the places, which are in ascending order.
/// Returns the chosen moves and the others, each in ascending order of their shifts. The sample is from about the last
/// quarter of the heaps; a move that does not reach it from all of these is not chosen.
pub fn greedy(
    codes: &[u8],
    below: &dyn Fn(usize, u8) -> u16,
    pool: Vec<Move>,
    places: &[usize],
    worth: f64,
) -> (Vec<Move>, Vec<Move>) {
    let n = codes.len();
    let size = (n / 256).clamp(8, SAMPLE);
    let step = (n / 4 / size).min(41) | 1;
    let first = n - 1 - (size - 1) * step;
    let farthest = places.last().copied().unwrap_or(0);
    let (pool, mut others) = parted(pool, &|m| m.shift + farthest <= first);
    let heaps = (0..size).map(|i| n - 1 - i * step);
    let mut sample: Vec<(usize, Cells)> = heaps.map(|n| (n, cells(below(n, codes[n])))).collect();
    let mut left: u32 = sample.iter().flat_map(|(_, cells)| cells).map(|word| word.count_ones()).sum();
    let least = worth * size as f64;
    // Removes what a move covers of the cells of a heap, and counts it.
    let cover = |n: usize, cells: &mut Cells, m: &Move| {
        let mut count = 0;
        for place in places {
            let code = codes[n - m.shift - place] ^ m.code as u8;
            let (word, bit) = (&mut cells[usize::from(code / 64)], 1 << (code % 64));
            count += u32::from(*word & bit != 0);
            *word &= !bit;
        }
        count
    };
    // With one place, cells need not be copied to see what a move would cover.
    let count = |sample: &[(usize, Cells)], m: &Move| -> u32 {
        let [place] = places else { return sample.iter().map(|(n, cells)| cover(*n, &mut cells.clone(), m)).sum() };
        let back = m.shift + place;
        let is_left = |(n, cells): &(usize, Cells)| {
            let code = codes[n - back] ^ m.code as u8;
            u32::from(cells[usize::from(code / 64)] >> (code % 64) & 1 != 0)
        };
        sample.iter().map(is_left).sum()
    };
    let mut queue: BinaryHeap<(u32, usize)> = pool.iter().map(|m| count(&sample, m)).zip(0..).collect();
    let mut is_chosen = vec![false; pool.len()];
    // No move covers more than all that is left.
    while f64::from(left) >= least && left > 0 {
        let Some((_, at)) = queue.pop() else { break };
        let now: u32 = count(&sample, &pool[at]);
        if queue.peek().is_some_and(|(next, _)| 8 * now < 7 * *next) {
            queue.push((now, at));
            continue;
        }
        if f64::from(now) < least {
            break;
        }
        left -= now;
        for (n, cells) in &mut sample {
            cover(*n, cells, &pool[at]);
        }
        is_chosen[at] = true;
    }
    let mut chosen = Vec::new();
    for (m, is_chosen) in pool.into_iter().zip(is_chosen) {
        if is_chosen { &mut chosen } else { &mut others }.push(m);
    }
    sort_by_shift(&mut chosen);
    sort_by_shift(&mut others);
    (chosen, others)
}

/// The codes below a bound.
fn cells(below: u16) -> Cells {
    array_of(|q| match usize::from(below).saturating_sub(64 * q) {
        0 => 0,
        count => u64::MAX >> (64 - count.min(64)),
    })
}
