//! Which windows a limit needs, by a model of where the beams are.

use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use crate::cores::occupancy::automaton::engine::{Engine, SPAN};

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
            if need.to <= plan.base {
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

/// Heaps that are needed, in the order of their ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Need {
    to: u64,
    from: u64,
}

impl Need {
    /// In whole spans.
    fn spans(&self) -> Range<u64> {
        self.from / HEAPS * HEAPS..self.to.next_multiple_of(HEAPS)
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
        let [from, to] = [from - self.options.margin(from), to + self.options.margin(to)];
        let need = Need { to: to as u64, from: from as u64 };
        self.heap.push(need);
        need
    }

    /// The last of them, with all that are so near that a warm-up between would cost more.
    fn pop(&mut self) -> Option<Need> {
        let mut need = self.heap.pop()?;
        let near = self.options.warm_up + 2 * HEAPS;
        while let Some(next) = self.heap.peek()
            && next.to + near >= need.from
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
        let values = [start - first - 3.0 * LESS, end - last + MORE];
        let Range { start: from, end: to } = self.add(values.map(|line| model.lower([1.0, 2.0], line))).spans();
        self.sums.push([from, to]);
        self.add([start - LESS, end + LESS].map(|line| model.lower([1.0, 1.0], line)));
        for (pq, lines) in [
            ([2.0, 1.0], [start + first - LESS, end + last + MORE]),
            ([1.0, 1.0], [first - LESS, last + MORE]),
            ([3.0, 2.0], [start + 2.0 * first - 2.0 * LESS, end + 2.0 * last + 2.0 * MORE]),
        ] {
            self.add(lines.map(|line| model.upper(pq, line)));
        }
    }
}

/// Lower positions, upper positions and the mex of the differences, per smaller heap: observed limits.
const RATES: Counts = Counts { lower: DELTA / (1.0 + UPPER), upper: UPPER, mex: DELTA };
const UPPER: f64 = 0.247_725_583_557_736;
const DELTA: f64 = 0.477_799_775_272_120;

/// What is known about the heaps before some heap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Lower positions.
    pub lower: f64,
    /// Upper positions.
    pub upper: f64,
    /// The mex of the differences.
    pub mex: f64,
}

impl Counts {
    /// `heaps` heaps later, at the rates.
    fn later(self, Counts { lower, upper, mex }: Counts, heaps: f64) -> Counts {
        Counts { lower: self.lower + lower * heaps, upper: self.upper + upper * heaps, mex: self.mex + mex * heaps }
    }
}

/// Exact counts up to some heap; from there on, what the densities of the beams must satisfy.
pub struct Model {
    /// One sample for each span.
    samples: Vec<Counts>,
    /// Counts at heaps that are multiples of a power of two, by number and exponent.
    known: HashMap<(u64, u32), Counts>,
    /// The binary logarithm of a heap divided by the distance of the known heaps there.
    grid: u32,
}

impl Model {
    /// A model without samples.
    pub fn new(base: u64) -> Self {
        // A finer grid takes longer and is not more exact.
        Model { samples: Vec::new(), known: HashMap::new(), grid: base.ilog2().saturating_sub(10) }
    }

    /// Takes the counts at the heap of an engine, in ascending order.
    pub fn sample(&mut self, engine: &Engine, lower: u64, upper: u64) {
        let spans = (engine.n / SPAN as u64) as usize;
        while self.samples.len() < spans {
            let heaps = (self.samples.len() * SPAN) as f64;
            self.samples.push(Counts::default().later(RATES, heaps));
        }
        // `d` is the mex rounded down to a multiple of eight.
        self.samples.push(Counts { lower: lower as f64, upper: upper as f64, mex: engine.d as f64 + 4.0 });
    }

    /// About the heap `a` with `p a + q k = line`, where `a` is the `k`-th upper one.
    pub fn upper(&mut self, pq: [f64; 2], line: f64) -> f64 {
        self.place(pq, line, |counts| counts.upper)
    }

    /// About the heap `a` with `p a + q x = line`, where `x` is the mex of the differences.
    pub fn lower(&mut self, pq: [f64; 2], line: f64) -> f64 {
        self.place(pq, line, |counts| counts.mex)
    }

    fn place(&mut self, [p, q]: [f64; 2], line: f64, count: fn(Counts) -> f64) -> f64 {
        /// Closer than the margins.
        const CLOSE: f64 = 16.0;
        let slope = p + q * count(RATES);
        let mut a = line / slope;
        for _ in 0..2 {
            let step = (line - p * a - q * count(self.at(a))) / slope;
            a += step;
            if step.abs() < CLOSE {
                break;
            }
        }
        a
    }

    /// The counts at heap `n`.
    pub fn at(&mut self, n: f64) -> Counts {
        let n = n.max(0.0);
        let span = (n / SPAN as f64) as usize;
        if let Some([last, next]) = self.samples.get(span..).and_then(|samples| samples.first_chunk()) {
            let share = n / SPAN as f64 - span as f64;
            let difference = last.later(*next, -1.0);
            return last.later(difference, -share);
        }
        let exponent = (n.log2() as u32).saturating_sub(self.grid);
        let step = f64::from(exponent).exp2();
        let number = (n / step).round();
        let near = number * step;
        let key = (number as u64, exponent);
        if !self.known.contains_key(&key) {
            let counts = self.solve(near);
            self.known.insert(key, counts);
        }
        self.known[&key].later(RATES, n - near)
    }

    /// All heaps below `n` are used, and lower positions take as many differences as values `2n - m`.
    fn solve(&mut self, n: f64) -> Counts {
        /// `n` less the sum of the two mexes, on average.
        const WINDOW: f64 = 4.0;
        let mut mex = DELTA * n;
        let mut lower = 0.0;
        for _ in 0..4 {
            let value = n - WINDOW - mex;
            let place = self.upper([1.0, 1.0], mex);
            lower = mex - self.at(place).upper;
            let place = self.lower([1.0, 2.0], value);
            let sums = self.at(place).lower;
            let place = self.upper([3.0, 2.0], value);
            let sums = sums + self.at(place).upper;
            // The derivatives with respect to `mex`, of the difference and of `lower`.
            let step = (lower - (value - sums)) / 1.534_76;
            mex -= step;
            lower -= 0.801_45 * step;
            if step.abs() < 1.0 {
                break;
            }
        }
        let place = self.lower([1.0, 1.0], n);
        let used = self.at(place).lower;
        let place = self.upper([2.0, 1.0], n);
        let used = used + self.at(place).upper;
        Counts { lower, upper: n - used - lower, mex }
    }
}
