//! The baseline: the values of all options of each heap are counted afresh. The exceptions of a heap wait in a list for the heap
//! whose option they change.
//!
//! Cost: a count for each heap and smaller heap.
//! Bound: the counts, which are chains of load, addition and store.
//! Source: the rules, with the lemma of `profiles/papers/mem0.md`.

use super::{Mem0, Output, Tally};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// The values of a heap's options, and the heaps that have them.
#[derive(Clone, Copy, Default)]
struct Options {
    count: u32,
    last: u32,
}

/// Rates: the ns of a heap and a smaller heap, and of a heap.
pub fn cost(input: &Mem0, _: CostContext, [option, heap]: [f64; 2]) -> Cost {
    let heaps = input.heaps() as f64;
    let ns = option * heaps * heaps / 2.0 + heap * heaps;
    Cost { ns, bytes: (4.0 + 4.0 + 24.0) * heaps + 8.0 * 0.46 * heaps + 8.0 * 1.1 * heaps }
}

pub fn run(input: &Mem0, run: &Run) -> Result<Output, RunError> {
    let heaps = input.heaps();
    let mut tally = Tally::default();
    let mut own: Vec<u32> = Vec::with_capacity(heaps);
    let mut options: Vec<u32> = Vec::with_capacity(heaps);
    let mut exceptions: Vec<Vec<[u32; 2]>> = vec![Vec::new(); heaps];
    let mut holders: Vec<Options> = Vec::new();
    for n in 0..heaps {
        options.clear();
        options.extend_from_slice(&own);
        for [m, value] in std::mem::take(&mut exceptions[n]) {
            options[m as usize] = value;
        }
        holders.fill(Options::default());
        for (m, value) in options.iter().enumerate() {
            let holder = &mut holders[*value as usize];
            *holder = Options { count: holder.count + 1, last: m as u32 };
        }
        let g = holders.iter().position(|holder| holder.count == 0).unwrap_or(holders.len());
        if g == holders.len() {
            holders.push(Options::default());
        }
        for (value, holder) in holders[..g].iter().enumerate().filter(|(_, holder)| holder.count == 1) {
            tally.exceptions += 1;
            let lands = 2 * n - holder.last as usize;
            if lands < heaps {
                exceptions[lands].push([n as u32, value as u32]);
            }
        }
        own.push(g as u32);
        tally.add(g as u32);
        run.advance(1)?;
    }
    let mut heaps_of = vec![Options::default(); holders.len()];
    for (n, value) in own.iter().enumerate() {
        let holder = &mut heaps_of[*value as usize];
        *holder = Options { count: holder.count + 1, last: n as u32 };
    }
    let single = heaps_of.iter().enumerate().filter(|(_, holder)| holder.count == 1);
    Ok(tally.output(input, single.map(|(value, holder)| (value as u32, holder.last))))
}
