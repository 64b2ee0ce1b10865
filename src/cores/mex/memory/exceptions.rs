//! Counts of values that last from heap to heap. A heap adds its own value. Its exceptions, some 20 of the values below it, are
//! found among the values that one heap alone has and those that exceptions change here.
//!
//! Cost: 16 exceptions for each of a million heaps, one more each time the heaps double. Memory: 25 bytes a heap.
//! Bound: loads at scattered places, as soon as the tables exceed the caches.

use super::holders::{Holders, MOST_HOLDERS};
use super::{Mem0, Output, Tally};
use crate::kernel::{Cost, CostContext, Run, RunError};

/// An exception: option `heap` of the heap where it is listed has `value`.
#[derive(Clone, Copy)]
struct Exception {
    heap: u32,
    value: u32,
    /// The next one of the same list.
    next: u32,
}

/// No exception.
const NONE: u32 = u32::MAX;

/// Heaps between two calls of `Run::advance`.
const BLOCK: usize = 256;

/// Rates: the ns of an exception.
pub fn cost(input: &Mem0, _: CostContext, [exception]: [f64; 1]) -> Cost {
    let heaps = input.heaps() as f64;
    let bytes = 4.0 * heaps + 4.0 * heaps + 8.0 * values(heaps) + 12.0 * waiting(heaps);
    Cost { ns: exception * input.exceptions(), bytes }
}

/// Room for the values of this many heaps: as observed, with some to spare.
fn values(heaps: f64) -> f64 {
    heaps / 2.0 + 16.0
}

/// Room for the exceptions that wait, likewise.
fn waiting(heaps: f64) -> f64 {
    heaps + heaps / 8.0 + 64.0
}

pub fn run(input: &Mem0, run: &Run) -> Result<Output, RunError> {
    let heaps = input.heaps();
    let mut tally = Tally::default();
    let mut own: Vec<u32> = Vec::with_capacity(heaps);
    let mut holders: Vec<Holders> = Vec::with_capacity(values(heaps as f64) as usize);
    holders.push(Holders::default());
    let mut first = vec![NONE; heaps];
    let (mut exceptions, mut free): (Vec<Exception>, u32) = (Vec::with_capacity(waiting(heaps as f64) as usize), NONE);
    let mut single: Vec<(u32, u32)> = Vec::new();
    let (mut landed, mut emitted) = (Vec::new(), Vec::new());
    // All smaller values have holders.
    let mut least = 0;
    for n in 0..heaps {
        landed.clear();
        let mut place = first[n];
        while place != NONE {
            let Exception { heap, value, next } = exceptions[place as usize];
            exceptions[place as usize].next = free;
            (free, place) = (place, next);
            landed.push((heap, own[heap as usize], value));
        }
        if landed.len() > MOST_HOLDERS {
            return Err(RunError::Overflow);
        }
        for (heap, from, to) in &landed {
            holders[*from as usize].remove(Holders::own(*heap));
            holders[*to as usize].add(Holders::exceptional(*heap));
        }
        let mut g = (least..).find(|v| holders[*v].is_empty()).expect("the last value has no holder");
        for (_, from, _) in &landed {
            if holders[*from as usize].is_empty() {
                g = g.min(*from as usize);
            }
        }
        emitted.clear();
        let changed = landed.iter().flat_map(|(_, from, to)| [*from, *to]);
        for value in changed.chain(single.iter().map(|(value, _)| *value)).filter(|value| (*value as usize) < g) {
            let holders = &mut holders[value as usize];
            if holders.is_single() && !holders.is_listed() {
                emitted.push((value, holders.only()));
                holders.list();
            }
        }
        for (heap, from, to) in &landed {
            holders[*from as usize].add(Holders::own(*heap));
            holders[*to as usize].remove(Holders::exceptional(*heap));
        }
        tally.exceptions += emitted.len() as u64;
        for (value, m) in &emitted {
            holders[*value as usize].unlist();
            let Some(head) = first.get_mut(2 * n - *m as usize) else { continue };
            let new = Exception { heap: n as u32, value: *value, next: *head };
            if free == NONE {
                if exceptions.len() == NONE as usize {
                    return Err(RunError::Overflow);
                }
                *head = exceptions.len() as u32;
                exceptions.push(new);
            } else {
                *head = free;
                free = exceptions[free as usize].next;
                exceptions[*head as usize] = new;
            }
        }
        if g + 1 == holders.len() {
            holders.push(Holders::default());
        }
        holders[g].add(Holders::own(n as u32));
        match holders[g].count() {
            1 => single.push((g as u32, n as u32)),
            2 => single.retain(|(value, _)| *value != g as u32),
            count if count > MOST_HOLDERS => return Err(RunError::Overflow),
            _ => {}
        }
        while !holders[least].is_empty() {
            least += 1;
        }
        own.push(g as u32);
        tally.add(g as u32);
        if (n + 1).is_multiple_of(BLOCK) || n + 1 == heaps {
            run.advance((n % BLOCK + 1) as u64)?;
        }
    }
    Ok(tally.output(input, single))
}
