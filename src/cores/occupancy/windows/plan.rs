//! Which windows a limit needs.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::model::Model;
use crate::cores::occupancy::streaming::SPAN;

/// Heaps in a span.
pub const HEAPS: u64 = SPAN as u64;

/// A window reads nothing above this part of its end.
pub const NEAREST: f64 = 0.7;

/// How far a run looks.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Heaps at the beginning that are all visited.
    pub base: u64,
    /// Heaps between a guess and the first result, a multiple of [`HEAPS`].
    pub warm_up: u64,
    /// How far the model may be off at the end of the base, in heaps. Further on its errors grow.
    pub margin: f64,
    /// Heaps between two joints.
    pub spacing: u64,
}

impl Options {
    /// The options that took the least time.
    pub fn for_limit(limit: u64) -> Self {
        let base = (100.0 * (limit as f64).sqrt()).min(2e8) as u64;
        Options { base: base.next_multiple_of(HEAPS), warm_up: 8192, margin: 20.0, spacing: 131_072 }
    }

    /// How far the model may be off at heap `n`. Its errors grow as the positions stray from straight lines (observed).
    fn margin(&self, n: f64) -> f64 {
        const LEAST: f64 = 60.0;
        let times = n / self.base as f64;
        LEAST + if times > 1.0 { self.margin * times.powf(0.7) } else { 0.0 }
    }
}

/// Windows that must be run.
#[derive(Debug, Default)]
pub struct Plan {
    /// The end of the base, extended over the windows that touch it.
    pub base: u64,
    /// The other windows in ascending order, without their warm-up.
    pub windows: Vec<Range<u64>>,
    /// The parts of them whose lines `2m - n` are read: about a quarter.
    pub sums: Vec<Range<u64>>,
}

impl Plan {
    /// Heaps to visit, without those for joints.
    pub fn heaps(&self, options: &Options) -> u64 {
        let mut heaps = self.base;
        for Range { start, end } in &self.windows {
            heaps += end - start + options.warm_up;
        }
        heaps
    }

    /// The parts of a window whose lines `2m - n` are read, in descending order.
    pub fn sums_of(&self, window: &Range<u64>) -> Vec<Range<u64>> {
        let mut end = self.sums.partition_point(|range| range.start < window.end);
        let mut sums = Vec::new();
        while end > 0 && self.sums[end - 1].start >= window.start {
            end -= 1;
            sums.push(self.sums[end].clone());
        }
        sums
    }

    /// The plan for a limit, given a model of the heaps in the base.
    pub fn new(limit: u64, options: &Options, model: &mut Model) -> Plan {
        let mut plan = Plan { base: options.base, windows: Vec::new(), sums: Vec::new() };
        let mut needs = Needs { heap: BinaryHeap::new(), sums: Vec::new(), options };
        let limit = limit as f64;
        let ends = [model.lower([2.0, 1.0], limit), model.upper([3.0, 1.0], limit)];
        // The last span must begin within the limit, and the next one must end after it.
        for end in ends {
            needs.add([end - 2.0 * SPAN as f64, end + 2.0 * SPAN as f64]);
        }
        while let Some(need) = needs.pop() {
            // Needs come in descending order.
            if need.to <= plan.base as f64 {
                break;
            }
            let window = need.spans();
            let end = window.end;
            // A window that reads itself belongs to the base: only the base may read itself.
            let start =
                if (window.start as f64) < (NEAREST * end as f64).max(options.base as f64) + options.warm_up as f64 {
                    plan.base = end;
                    options.base
                } else {
                    plan.windows.push(window.clone());
                    window.start - options.warm_up
                };
            needs.add_sources(start as f64, end as f64, model);
        }
        plan.windows.reverse();
        needs.sums.sort_unstable();
        for [start, end] in needs.sums {
            match plan.sums.last_mut() {
                _ if end <= plan.base => {}
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => plan.sums.push(start..end),
            }
        }
        plan
    }
}

/// Heaps that are needed.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Need {
    from: f64,
    to: f64,
}

impl Need {
    /// In whole spans.
    fn spans(&self) -> Range<u64> {
        self.from.max(0.0) as u64 / HEAPS * HEAPS..(self.to as u64).next_multiple_of(HEAPS)
    }
}

impl Eq for Need {}

impl PartialOrd for Need {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Need {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to.total_cmp(&other.to)
    }
}

struct Needs<'a> {
    heap: BinaryHeap<Need>,
    /// Those whose lines `2m - n` are read, in whole spans.
    sums: Vec<[u64; 2]>,
    options: &'a Options,
}

impl Needs<'_> {
    /// Adds what lies between two places that the model found.
    fn add(&mut self, [from, to]: [f64; 2]) -> Need {
        let need = Need { from: from - self.options.margin(from), to: to + self.options.margin(to) };
        self.heap.push(need);
        need
    }

    /// The last of them, with all that are so near that a warm-up between would cost more.
    fn pop(&mut self) -> Option<Need> {
        let mut need = self.heap.pop()?;
        let near = (self.options.warm_up + 2 * HEAPS) as f64;
        while let Some(next) = self.heap.peek()
            && next.to >= need.from - near
        {
            need.from = need.from.min(next.from);
            self.heap.pop();
        }
        Some(need)
    }

    /// Adds what heaps `start..end` read: old marks as far as a span of the greatest growth may need them, and somewhat
    /// further.
    fn add_sources(&mut self, start: f64, end: f64, model: &mut Model) {
        const LESS: f64 = 160.0;
        const MORE: f64 = 800.0;
        let (first, last) = (model.at(start).mex, model.at(end).mex);
        let sums = model.lowers([1.0, 2.0], [start - first - 3.0 * LESS, end - last + MORE]);
        let Range { start: from, end: to } = self.add(sums).spans();
        self.sums.push([from, to]);
        let sums = [start + 2.0 * first - 2.0 * LESS, end + 2.0 * last + 2.0 * MORE];
        self.add(model.lowers([1.0, 1.0], [start - LESS, end + LESS]));
        self.add(model.uppers([2.0, 1.0], [start + first - LESS, end + last + MORE]));
        self.add(model.uppers([1.0, 1.0], [first - LESS, last + MORE]));
        self.add(model.uppers([3.0, 2.0], sums));
    }
}
