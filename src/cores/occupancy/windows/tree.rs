//! The run of a plan: the base, then window after window.

use std::ops::Range;

use super::Joints;
use super::interval::{Interval, Pool, Sums};
use super::model::Model;
use super::plan::{HEAPS, Options, Plan};
use super::restart::{Places, Prefix, restart};
use crate::cores::occupancy::streaming::{Engine, InnerLoops, Snapshot, Span, WORDS};
use crate::cores::occupancy::{Beam, ProportionateNim, Tally};
use crate::kernel::{Run, RunError};

/// Why an attempt ended early.
#[derive(Debug)]
pub enum Failure {
    /// An error for the caller.
    Run(RunError),
    /// A window reads what no other covers: the margins were too narrow.
    Missed,
    /// Two runs differ at a joint: the warm-up was too short.
    Uncoupled,
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Failure::Run(error)
    }
}

/// The intervals that a window reads, by their indices.
#[derive(Clone, Copy)]
struct Indices {
    heaps: usize,
    sum: usize,
    flags: [usize; 3],
}

impl Indices {
    /// Those of the base, which reads itself.
    const BASE: Indices = Indices { heaps: 0, sum: 0, flags: [0; 3] };

    /// Those of a window that begins at heap `n`, where the mex of the differences is about `mex`.
    fn new(intervals: &[Interval], sums: &[Sums], n: u64, mex: u64) -> Self {
        let last = |is_before: &dyn Fn(&Interval) -> bool| intervals.partition_point(is_before).max(1) - 1;
        let flags = |p, q, line| last(&|interval| interval.first_line(p, q) <= line);
        Indices {
            heaps: last(&|interval| interval.used.first_bit() <= n),
            sum: sums.partition_point(|sums| 2 * sums.rows[0].first_bit() <= n - mex).max(1) - 1,
            flags: [flags(2, 1, n + mex), flags(1, 1, mex), flags(3, 2, n + 2 * mex)],
        }
    }

    fn of<'a>(self, intervals: &'a [Interval], sums: &'a [Sums]) -> Places<'a> {
        let Indices { heaps, sum, flags } = self;
        Places { heaps: &intervals[heaps], sum: &sums[sum], flags: flags.map(|flags| &intervals[flags]) }
    }
}

/// One attempt to find the tally. `reported` are the steps that were reported to the run.
#[inline(always)]
pub fn attempt(
    input: &ProportionateNim,
    options: &Options,
    run: &Run,
    reported: &mut u64,
    inner: impl InnerLoops,
) -> Result<(Tally, Joints), Failure> {
    let mut model = Model::new(options.base);
    let mut tree = Tree::new(input, options)?;
    tree.base(&mut model, run, inner)?;
    let plan = Plan::new(input.limit(), options, &mut model);
    let heaps = plan.heaps(options) as f64;
    let mut report = |visited: u64| -> Result<(), RunError> {
        let share = (visited as f64 / heaps).min(0.99);
        let steps = ((share * input.smaller_heaps() as f64) as u64).max(*reported);
        run.advance(steps - *reported)?;
        *reported = steps;
        Ok(())
    };
    // The base goes on as far as windows touch it.
    tree.sums[0].to = plan.base;
    tree.sums_to_come = plan.sums.iter().rev().cloned().collect();
    let base = options.base..plan.base;
    for (i, window) in std::iter::once(base).chain(plan.windows.iter().cloned()).enumerate() {
        if i > 0 {
            tree.enter(&window, &mut model, inner)?;
        }
        tree.window(&window, i == plan.windows.len(), &mut model, inner, &mut report)?;
    }
    tree.finish()
}

/// The windows so far.
struct Tree<'a> {
    limit: u64,
    options: &'a Options,
    intervals: Vec<Interval>,
    sums: Vec<Sums>,
    pool: Pool,
    /// Heaps whose lines `2m - n` are to be kept, in descending order.
    sums_to_come: Vec<Range<u64>>,
    /// Intervals whose marks of each kind were dropped, from the first on.
    dropped: Indices,
    engine: Engine,
    /// Where the current window began to run, and what it reads.
    start: u64,
    indices: Indices,
    /// For joints: another engine, and this one after each span since the other's beginning.
    second: Engine,
    snapshots: Vec<Snapshot>,
    /// Heaps visited, and those since the last joint.
    visited: u64,
    unchecked: u64,
    joints: Joints,
    /// The lower beam, as soon as it is known.
    lower: Option<Beam>,
}

impl<'a> Tree<'a> {
    /// The first heaps.
    fn new(input: &ProportionateNim, options: &'a Options) -> Result<Self, RunError> {
        let (engine, base, sums) = Interval::base(input, options.base)?;
        Ok(Tree {
            limit: input.limit(),
            options,
            intervals: vec![base],
            sums: vec![sums],
            pool: Pool::default(),
            sums_to_come: Vec::new(),
            dropped: Indices::BASE,
            start: engine.n,
            visited: engine.n,
            engine,
            indices: Indices::BASE,
            second: Engine::new(Span::new()),
            snapshots: Vec::new(),
            unchecked: 0,
            joints: Joints { warm_up: options.warm_up, ..Joints::default() },
            lower: None,
        })
    }

    /// Runs the base and tells the model what is in it.
    #[inline(always)]
    fn base(&mut self, model: &mut Model, run: &Run, inner: impl InnerLoops) -> Result<(), Failure> {
        let base = &self.intervals[0];
        let counts = [base.flags.below(self.engine.n), base.used.below(self.engine.n)];
        let [mut uppers, used] = counts.map(|total| total.map_or(0, |total| total.count));
        let mut lowers = self.engine.n - used - uppers;
        model.sample(&self.engine, lowers, uppers);
        while self.engine.n < self.options.base {
            let [lower, upper] = self.span(inner)?;
            lowers += inner.sum_of_bits(&lower)[0];
            uppers += inner.sum_of_bits(&upper)[0];
            model.sample(&self.engine, lowers, uppers);
            self.joint_if_due(model, inner)?;
            run.advance(0)?;
        }
        Ok(())
    }

    /// Runs the next span and keeps its marks. Returns which of its heaps have a lower and which an upper partner.
    #[inline(always)]
    fn span(&mut self, inner: impl InnerLoops) -> Result<[[u64; WORDS]; 2], Failure> {
        let places = self.indices.of(&self.intervals, &self.sums);
        let n = self.engine.n;
        if let Some(Range { end, .. }) = self.sums_to_come.pop_if(|range| range.start == n) {
            let prefix = Prefix::new(&self.engine, places).ok_or(Failure::Missed)?;
            let sums = prefix.sums(&self.engine, places, end).ok_or(Failure::Missed)?;
            self.sums.push(sums);
        }
        step(&mut self.engine, self.indices.of(&self.intervals, &self.sums), inner)?;
        self.visited += HEAPS;
        self.unchecked += HEAPS;
        let lower = self.engine.lower(inner);
        let upper = self.engine.upper(&lower);
        if let Some(interval) = self.intervals.last_mut() {
            interval.extend(&self.engine, &upper, &mut self.pool, inner);
        }
        if let Some(sums) = self.sums.last_mut() {
            sums.extend(&self.engine, &mut self.pool, inner);
        }
        Ok([lower, upper])
    }

    /// Goes to the beginning of a window, by a guess and a warm-up.
    #[inline(always)]
    fn enter(&mut self, window: &Range<u64>, model: &mut Model, inner: impl InnerLoops) -> Result<(), Failure> {
        self.start = window.start - self.options.warm_up;
        let mex = model.at(self.start as f64).mex as u64;
        self.indices = Indices::new(&self.intervals, &self.sums, self.start, mex);
        self.snapshots.clear();
        self.drop_passed();
        let places = self.indices.of(&self.intervals, &self.sums);
        restart(&mut self.engine, self.start, mex, places).ok_or(Failure::Missed)?;
        while self.engine.n < window.start {
            step(&mut self.engine, places, inner)?;
        }
        self.visited += self.options.warm_up;
        let prefix = Prefix::new(&self.engine, places).ok_or(Failure::Missed)?;
        let interval = prefix.interval(&self.engine, places).ok_or(Failure::Missed)?;
        self.intervals.push(interval);
        Ok(())
    }

    /// Runs a window; the last one as far as the lower beam is within the limit.
    #[inline(always)]
    fn window(
        &mut self,
        window: &Range<u64>,
        is_last: bool,
        model: &mut Model,
        inner: impl InnerLoops,
        report: &mut impl FnMut(u64) -> Result<(), RunError>,
    ) -> Result<(), Failure> {
        /// Heaps between two reports.
        const REPORT: u64 = 1 << 16;
        while self.engine.n < window.end {
            let (n, d) = (self.engine.n, self.engine.d);
            if is_last && self.lower.is_none() && 2 * (n + 2 * HEAPS) + d > self.limit {
                self.lower = Some(self.lower_before()?);
            }
            if is_last && 2 * n + d > self.limit {
                break;
            }
            let [lower, _] = self.span(inner)?;
            if let Some(beam) = &mut self.lower {
                let positions = self
                    .engine
                    .positions(0, &lower, |heap| self.engine.pick(heap))
                    .filter(|[a, b]| *b <= 2 * a && a + b <= self.limit);
                positions.for_each(|[a, b]| beam.add(Beam { positions: 1, smaller: a.into(), larger: b.into() }));
            }
            self.joint_if_due(model, inner)?;
            if self.engine.n.is_multiple_of(REPORT) {
                report(self.visited)?;
            }
        }
        Ok(report(self.visited)?)
    }

    /// The lower positions before the next span, the two empty heaps among them, all of which must be within the limit.
    fn lower_before(&self) -> Result<Beam, Failure> {
        if 2 * self.engine.n + self.engine.d + 128 > self.limit {
            return Err(Failure::Missed);
        }
        let Prefix { lower, differences, .. } =
            Prefix::new(&self.engine, self.indices.of(&self.intervals, &self.sums)).ok_or(Failure::Missed)?;
        Ok(Beam { positions: lower.count + 1, smaller: lower.sum, larger: lower.sum + differences })
    }

    /// Ends a joint, if one is due: a second run, from a guess one warm-up earlier, must come to the registers of this one
    /// on the way. By then this one has had a warm-up more, unless it began in the base.
    #[inline(always)]
    fn joint_if_due(&mut self, model: &mut Model, inner: impl InnerLoops) -> Result<(), Failure> {
        let Options { warm_up, spacing, .. } = *self.options;
        if self.unchecked + warm_up <= spacing || self.engine.n <= self.start + warm_up {
            return Ok(());
        }
        self.snapshots.push(self.engine.snapshot());
        if HEAPS * (self.snapshots.len() as u64) < warm_up {
            return Ok(());
        }
        let (second, start) = (&mut self.second, self.engine.n - warm_up);
        let places = self.indices.of(&self.intervals, &self.sums);
        restart(second, start, model.at(start as f64).mex as u64, places).ok_or(Failure::Missed)?;
        let mut has_met = false;
        for first in &self.snapshots {
            step(second, places, inner)?;
            has_met = first.agrees(&second.snapshot());
            if has_met {
                break;
            }
        }
        if !has_met {
            return Err(Failure::Uncoupled);
        }
        let length = second.n - start;
        self.snapshots.clear();
        self.visited += length;
        self.unchecked = 0;
        self.joints.compared += 1;
        self.joints.longest = self.joints.longest.max(length);
        Ok(())
    }

    /// Drops the marks that no window from this one on reads.
    fn drop_passed(&mut self) {
        let Indices { heaps, sum, flags } = self.indices;
        for sums in self.sums.get_mut(self.dropped.sum..sum).unwrap_or_default() {
            sums.rows.iter_mut().for_each(|row| row.clear(&mut self.pool));
        }
        for interval in self.intervals.get_mut(self.dropped.heaps..heaps).unwrap_or_default() {
            interval.used.clear(&mut self.pool);
        }
        for interval in self.intervals.get_mut(self.dropped.flags[1]..flags[1]).unwrap_or_default() {
            interval.flags.clear(&mut self.pool);
        }
        self.dropped = self.indices;
    }

    /// Both beams.
    fn finish(self) -> Result<(Tally, Joints), Failure> {
        let Tree { limit, intervals, lower, joints, visited, .. } = self;
        let above = limit + 1;
        let last = intervals.partition_point(|interval| interval.first_line(3, 1) <= above).max(1) - 1;
        let uppers = intervals[last].uppers_below(3, 1, above).ok_or(Failure::Missed)?;
        let upper = Beam { positions: uppers.count, smaller: uppers.sum, larger: uppers.lines(2, 1).sum };
        let joints = Joints { windows: intervals.len() as u64 - 1, heaps: visited, ..joints };
        Ok((Tally { lower: lower.ok_or(Failure::Missed)?, upper }, joints))
    }
}

/// Runs the next span of an engine.
#[inline(always)]
fn step(engine: &mut Engine, places: Places<'_>, inner: impl InnerLoops) -> Result<(), Failure> {
    engine.prepare(places.sources(), inner).ok_or(Failure::Missed)?;
    engine.blocks(inner)?;
    engine.pass();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::interval::Total;
    use super::*;
    use crate::cores::occupancy::streaming::{self, Plain};

    fn input(limit: u64) -> ProportionateNim {
        ProportionateNim::new(limit).expect("below the largest limit")
    }

    /// A plan that has much to do at small limits.
    const SMALL: Options = Options { base: 20_480, warm_up: 8192, margin: 40.0, spacing: 40_000 };

    fn attempted(limit: u64, options: &Options) -> Result<(Tally, Joints), Failure> {
        attempt(&input(limit), options, &Run::new(1), &mut 0, Plain)
    }

    fn exact(limit: u64) -> Tally {
        streaming::drive(&input(limit), &Run::new(1), Tally::default(), Plain).expect("runs to its end")
    }

    #[test]
    fn windows_find_the_tally_of_all_heaps() {
        let mut joints = 0;
        for limit in [200_000, 300_001, 1_234_567, 2_669_342, 3_000_000, 7_654_321] {
            let (tally, found) = attempted(limit, &SMALL).expect("the windows fit together");
            assert_eq!(tally, exact(limit), "limit {limit}");
            joints += found.compared;
            assert!(found.longest < SMALL.warm_up);
        }
        assert!(joints > 20, "{joints} joints");
    }

    #[test]
    fn lines_that_are_taken_tell_all_totals() {
        let options = Options { base: 60_000 / HEAPS * HEAPS, ..SMALL };
        let mut tree = Tree::new(&input(1_000_000), &options).expect("not cancelled");
        let mut lower = Total::default();
        let before = exact_positions(tree.engine.n);
        let mut differences: u128 = before.iter().map(|[a, b]| u128::from(b - a)).sum();
        before.iter().for_each(|[a, _]| lower = lower.plus(Total { count: 1, sum: u128::from(*a) }));
        let mut waiting: Vec<(Interval, Sums)> = Vec::new();
        while tree.engine.n < options.base {
            let [beam, _] = tree.span(Plain).expect("the base reads itself");
            for [a, b] in tree.engine.positions(0, &beam, |heap| tree.engine.pick(heap)).filter(|[a, b]| *b <= 2 * a) {
                lower = lower.plus(Total { count: 1, sum: a.into() });
                differences += u128::from(b - a);
            }
            let places = Indices::BASE.of(&tree.intervals, &tree.sums);
            let prefix = Prefix::new(&tree.engine, places).expect("the base reaches far enough");
            let upper = tree.intervals[0].flags.below(tree.engine.n).expect("it was run");
            assert_eq!(prefix, Prefix { lower, differences, upper });
            let interval = prefix.interval(&tree.engine, places);
            let sums = prefix.sums(&tree.engine, places, options.base);
            waiting.push(interval.zip(sums).expect("the base reaches far enough"));
        }
        // The rows of the base are complete up to where these begin.
        let base = &tree.intervals[0];
        for (interval, sums) in &waiting[..waiting.len() - 1] {
            assert_eq!(base.used_below(interval.used.first_bit()), Some(interval.before.used));
            assert_eq!(tree.sums[0].up_to(2 * sums.rows[0].first_bit() - 2), Some(sums.before));
        }
    }

    /// Lower positions with a smaller heap from 1 to `end - 1`.
    fn exact_positions(end: u64) -> Vec<[u64; 2]> {
        use crate::cores::occupancy::{Positions, window_certificate};
        let all = window_certificate::run(&input(4 * end), &Run::new(1), Positions::default());
        let all = all.expect("runs to its end").0;
        all.into_iter().filter(|[a, b]| (1..end).contains(a) && *b <= 2 * a).collect()
    }

    #[test]
    fn a_joint_tells_that_a_warm_up_was_too_short() {
        let short = Options { warm_up: HEAPS, spacing: HEAPS, ..SMALL };
        assert!(matches!(attempted(3_000_000, &short), Err(Failure::Uncoupled)));
    }

    #[test]
    fn a_narrow_plan_ends_and_gives_no_answer() {
        let narrow = Options { margin: 0.0, ..SMALL };
        assert!(matches!(attempted(100_000_000, &narrow), Err(Failure::Missed)));
    }

    #[test]
    fn two_plans_agree() {
        let other = Options { base: 40_960, warm_up: 12_288, margin: 60.0, spacing: 65_536 };
        let [a, b] = [SMALL, other].map(|options| attempted(40_000_000, &options).expect("they fit together").0);
        assert_eq!(a, b);
        assert_eq!(a, exact(40_000_000));
    }

    /// Where no exact kernel comes: minutes in a release build.
    #[test]
    #[ignore = "takes minutes"]
    fn two_plans_agree_far_out() {
        let limit = 1_000_000_000_000_000;
        let usual = Options::for_limit(limit);
        let other = Options { base: 5 * usual.base, warm_up: 12_288, margin: 40.0, spacing: 200_000 };
        let [a, b] = [usual, other].map(|options| attempted(limit, &options).expect("the windows fit together").0);
        assert_eq!(a, b);
    }
}
