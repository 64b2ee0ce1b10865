//! About where the beams are: a model that says how far a plan must reach.

use std::collections::HashMap;

use crate::cores::occupancy::streaming::{Engine, SPAN};

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

    /// [`Model::upper`] of two lines.
    pub fn uppers(&mut self, pq: [f64; 2], lines: [f64; 2]) -> [f64; 2] {
        [self.upper(pq, lines[0]), self.upper(pq, lines[1])]
    }

    /// [`Model::lower`] of two lines.
    pub fn lowers(&mut self, pq: [f64; 2], lines: [f64; 2]) -> [f64; 2] {
        [self.lower(pq, lines[0]), self.lower(pq, lines[1])]
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
        let counts = match self.known.get(&key) {
            Some(counts) => *counts,
            None => {
                let counts = self.solve(near);
                self.known.insert(key, counts);
                counts
            }
        };
        counts.later(RATES, n - near)
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
