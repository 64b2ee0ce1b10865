//! The run of a plan: the base, then window after window.

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::Joints;
use super::interval::{Flags, Interval, Marks, Pool, Sums, Total, Used};
use super::model::Model;
use super::plan::{HEAPS, NEAREST, Options, Plan};
use super::restart::{Places, Prefix, restart};
use crate::cores::occupancy::streaming::{self, Engine, Snapshot, Sources, Span, WORDS};
use crate::cores::occupancy::{Beam, Beams, ProportionateNim, share};
use crate::kernel::{Run, RunError};
use crate::simd::array_of;

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

/// What windows leave of one kind, in ascending order.
struct Row<T> {
    /// None at the front that no window reads any more.
    parts: Vec<Option<Arc<T>>>,
    /// The first that is left.
    first: usize,
}

/// Nothing yet.
impl<T> Default for Row<T> {
    fn default() -> Self {
        Row { parts: Vec::new(), first: 0 }
    }
}

impl<T> Row<T> {
    fn push(&mut self, part: T) {
        self.parts.push(Some(Arc::new(part)));
    }

    fn get(&self, at: usize) -> &Arc<T> {
        self.parts[at].as_ref().expect("some window reads it")
    }

    /// The number of the last one that is before something, or of the first.
    fn last(&self, is_before: impl Fn(&T) -> bool) -> usize {
        let (mut at, mut end) = (self.first, self.parts.len());
        while end - at > 1 {
            let middle = at.midpoint(end);
            if is_before(self.get(middle)) { at = middle } else { end = middle }
        }
        at
    }

    /// Drops those before number `at`.
    fn drop_before(&mut self, at: usize, pool: &Pool, drop: fn(Arc<T>, &Pool)) {
        while self.first < at {
            if let Some(part) = self.parts[self.first].take() {
                drop(part, pool);
            }
            self.first += 1;
        }
    }
}

/// What a window reads.
pub struct Read {
    heaps: Arc<Used>,
    sum: Arc<Sums>,
    flags: [Arc<Flags>; 3],
}

impl Read {
    fn places(&self) -> Places<'_> {
        Places { heaps: &self.heaps, sum: &self.sum, flags: array_of(|i| &*self.flags[i]) }
    }

    /// Drops what nobody else reads and no later window will.
    fn drop_into(self, pool: &Pool) {
        let Read { heaps, sum, flags } = self;
        drop_used(heaps, pool);
        drop_sums(sum, pool);
        for flags in flags {
            drop_flags(flags, pool);
        }
    }
}

/// Gives the pages back, if nobody reads them any more.
fn drop_used(used: Arc<Used>, pool: &Pool) {
    if let Some(Used { marks, .. }) = Arc::into_inner(used) {
        marks.drop_into(pool);
    }
}

fn drop_flags(flags: Arc<Flags>, pool: &Pool) {
    if let Some(Flags { marks, .. }) = Arc::into_inner(flags) {
        marks.drop_into(pool);
    }
}

fn drop_sums(sums: Arc<Sums>, pool: &Pool) {
    if let Some(Sums { rows: [even, odd], .. }) = Arc::into_inner(sums) {
        even.drop_into(pool);
        odd.drop_into(pool);
    }
}

/// What the windows leave, and how far they have come.
#[derive(Default)]
struct Ended {
    flags: Row<Flags>,
    used: Row<Used>,
    sums: Row<Sums>,
    /// Windows that were begun, the base among them.
    begun: usize,
    /// Windows that have ended, as all before them have; and what others that have ended leave, by number.
    whole: usize,
    waiting: Vec<(usize, Interval, Vec<Sums>)>,
    /// The lower beam, as soon as it is known.
    lower: Option<Beam>,
    joints: Joints,
    /// Whether no further window begins.
    is_over: bool,
    /// Why a thread failed, but for errors for the caller.
    failure: Option<Failure>,
}

impl Ended {
    /// What a window that begins at heap `n` reads, where the mex of the differences is about `mex`. No later window reads what
    /// is before that, so it is dropped.
    fn read(&mut self, n: u64, mex: u64, pool: &Pool) -> Read {
        let flags = |p, q, line| self.flags.last(|flags| flags.first_line(p, q) <= line);
        let [of_used, of_differences, of_sums] = [flags(2, 1, n + mex), flags(1, 1, mex), flags(3, 2, n + 2 * mex)];
        let heaps = self.used.last(|used| used.marks.first_bit() <= n);
        let sum = self.sums.last(|sums| 2 * sums.rows[0].first_bit() <= n - mex);
        let flags = |at: usize| Arc::clone(self.flags.get(at));
        let read = Read {
            heaps: Arc::clone(self.used.get(heaps)),
            sum: Arc::clone(self.sums.get(sum)),
            flags: [flags(of_used), flags(of_differences), flags(of_sums)],
        };
        self.used.drop_before(heaps, pool, drop_used);
        self.sums.drop_before(sum, pool, drop_sums);
        self.flags.drop_before(of_differences, pool, drop_flags);
        read
    }

    /// A window has ended.
    fn end(&mut self, number: usize, interval: Interval, sums: Vec<Sums>) {
        self.waiting.push((number, interval, sums));
        while let Some(at) = self.waiting.iter().position(|(number, ..)| *number == self.whole) {
            let (_, interval, sums) = self.waiting.swap_remove(at);
            self.flags.push(interval.flags);
            self.used.push(interval.used);
            for sums in sums {
                self.sums.push(sums);
            }
            self.whole += 1;
        }
    }
}

/// What the threads of an attempt share: the windows and the plan.
pub struct Shared<'a> {
    limit: u64,
    options: &'a Options,
    plan: Plan,
    /// Heaps to visit.
    heaps: f64,
    run: &'a Run,
    /// Heaps visited, and steps that were reported.
    progress: Mutex<(u64, u64)>,
    /// The steps of the whole run, one for each smaller heap.
    steps: f64,
    model: Mutex<Model>,
    pool: Pool,
    ended: Mutex<Ended>,
    /// A window has ended, or a thread failed.
    news: Condvar,
}

/// Locks even if a thread panicked: the panic is passed on when that thread is joined.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One attempt to find the tally on `threads` threads, each of which does [`Shared::work`]. `reported` are the steps that were
/// reported to the run.
pub fn attempt(
    input: &ProportionateNim,
    options: &Options,
    run: &Run,
    threads: usize,
    reported: &mut u64,
    loops: Loops,
) -> Result<(Beams, Joints), Failure> {
    let mut shared = Shared::new(input, options, run, *reported);
    let result = (|| {
        let mut base = Walk::at_the_base(input, options)?;
        base.base(&shared, &loops)?;
        shared.plan = Plan::new(input.limit(), options, &mut lock(&shared.model));
        shared.heaps = shared.plan.heaps(options) as f64;
        // The base goes on as far as windows touch it.
        base.sums[0].to = shared.plan.base;
        base.window(&(options.base..shared.plan.base), shared.plan.windows.is_empty(), &shared, &loops)?;
        shared.end(0, base);
        share(threads, &|| match shared.work(&loops) {
            Err(Failure::Run(error)) => Err(error),
            Err(failure) => {
                lock(&shared.ended).failure = Some(failure);
                Ok(())
            }
            Ok(()) => Ok(()),
        })?;
        lock(&shared.ended).failure.take().map_or(Ok(()), Err)
    })();
    *reported = lock(&shared.progress).1;
    result?;
    shared.finish()
}

impl<'a> Shared<'a> {
    /// Without a plan: before the base was run.
    fn new(input: &ProportionateNim, options: &'a Options, run: &'a Run, reported: u64) -> Self {
        Shared {
            limit: input.limit(),
            options,
            plan: Plan::default(),
            heaps: f64::INFINITY,
            run,
            steps: input.smaller_heaps() as f64,
            progress: Mutex::new((0, reported)),
            model: Mutex::new(Model::new(options.base)),
            pool: Pool::default(),
            ended: Mutex::default(),
            news: Condvar::new(),
        }
    }

    /// Runs one window after the other, as long as there are any.
    fn work(&self, loops: &Loops) -> Result<(), Failure> {
        let mut walk =
            Walk::new(Engine::new(Span::new()), Interval::new(0, 0, Total::default(), Total::default()), Vec::new());
        let _end = EndOnDrop(self);
        while let Some((number, read)) = self.begin() {
            let window = &self.plan.windows[number - 1];
            walk.enter(window, read, self, loops)?;
            walk.window(window, number == self.plan.windows.len(), self, loops)?;
            walk = self.end(number, walk);
        }
        Ok(())
    }

    /// The next window, as soon as all windows that it reads have ended.
    fn begin(&self) -> Option<(usize, Read)> {
        let mut ended = lock(&self.ended);
        loop {
            let number = ended.begun;
            if ended.is_over || number > self.plan.windows.len() {
                return None;
            }
            let window = &self.plan.windows[number - 1];
            let reads = self.plan.windows.partition_point(|other| (other.start as f64) < NEAREST * window.end as f64);
            if ended.whole > reads {
                ended.begun += 1;
                let start = window.start - self.options.warm_up;
                return Some((number, ended.read(start, self.mex(start), &self.pool)));
            }
            ended = self.news.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the results of a window that has ended. The rest of the walk can run another.
    fn end(&self, number: usize, mut walk: Walk) -> Walk {
        let mut ended = lock(&self.ended);
        let interval = std::mem::replace(&mut walk.interval, Interval::new(0, 0, Total::default(), Total::default()));
        ended.begun = ended.begun.max(number + 1);
        ended.end(number, interval, std::mem::take(&mut walk.sums));
        if let Some(read) = walk.read.take() {
            read.drop_into(&self.pool);
        }
        ended.lower = ended.lower.or(walk.lower.take());
        let joints = std::mem::take(&mut walk.joints);
        ended.joints.compared += joints.compared;
        ended.joints.longest = ended.joints.longest.max(joints.longest);
        self.news.notify_all();
        walk
    }

    /// About the mex of the differences at a heap.
    fn mex(&self, n: u64) -> u64 {
        lock(&self.model).at(n as f64).mex as u64
    }

    /// Reports heaps that were visited.
    fn report(&self, visited: u64) -> Result<(), RunError> {
        let mut progress = lock(&self.progress);
        progress.0 += visited;
        let steps = (((progress.0 as f64 / self.heaps).min(0.99) * self.steps) as u64).max(progress.1);
        let more = steps - progress.1;
        progress.1 = steps;
        self.run.advance(more)
    }

    /// Both beams.
    fn finish(self) -> Result<(Beams, Joints), Failure> {
        let Ended { flags, lower, joints, .. } = self.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        let above = self.limit + 1;
        let at = flags.last(|flags| flags.first_line(3, 1) <= above);
        let uppers = flags.get(at).uppers_below(3, 1, above).ok_or(Failure::Missed)?;
        let upper = Beam { positions: uppers.count, smaller: uppers.sum, larger: uppers.lines(2, 1).sum };
        let heaps = lock(&self.progress).0;
        let joints = Joints { windows: self.plan.windows.len() as u64, warm_up: self.options.warm_up, heaps, ..joints };
        Ok((Beams { lower: lower.ok_or(Failure::Missed)?, upper }, joints))
    }
}

/// Lets no window begin after a thread has left because it failed, panicked, or saw that none is left: otherwise threads might
/// wait for one of its windows.
struct EndOnDrop<'a>(&'a Shared<'a>);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        lock(&self.0.ended).is_over = true;
        self.0.news.notify_all();
    }
}

/// The loops of a tier.
#[derive(Clone, Copy)]
pub struct Loops {
    /// Those of the automaton.
    pub of_tapes: streaming::Loops,
    /// [`Engine::prepare`], with old marks in windows.
    pub prepare: fn(&mut Engine, Sources<'_, Marks>) -> Option<()>,
}

/// The state of a thread in its window.
pub struct Walk {
    engine: Engine,
    /// Where the window began to run.
    start: u64,
    /// What it reads; nothing for the base, which reads itself.
    read: Option<Read>,
    /// What it leaves.
    interval: Interval,
    sums: Vec<Sums>,
    /// For joints: a second engine, and the first one after each span since the beginning of the second.
    second: Engine,
    snapshots: Vec<Snapshot>,
    /// Heaps visited since the last report, and since the last joint.
    visited: u64,
    unchecked: u64,
    joints: Joints,
    /// The lower beam, as soon as it is known.
    lower: Option<Beam>,
}

/// What a window reads. A function of parts of a `Walk`, because other parts are written meanwhile.
fn places_of<'a>(read: &'a Option<Read>, interval: &'a Interval, sums: &'a [Sums]) -> Places<'a> {
    match read {
        Some(read) => read.places(),
        None => Places { heaps: &interval.used, sum: &sums[0], flags: [&interval.flags; 3] },
    }
}

impl Walk {
    fn new(engine: Engine, interval: Interval, sums: Vec<Sums>) -> Self {
        Walk {
            start: engine.n,
            read: None,
            interval,
            sums,
            second: Engine::new(Span::new()),
            snapshots: Vec::new(),
            visited: engine.n,
            engine,
            unchecked: 0,
            joints: Joints::default(),
            lower: None,
        }
    }

    /// The first heaps.
    fn at_the_base(input: &ProportionateNim, options: &Options) -> Result<Self, RunError> {
        let (engine, base, sums) = Interval::base(input, options.base)?;
        Ok(Walk::new(engine, base, vec![sums]))
    }

    fn places(&self) -> Places<'_> {
        places_of(&self.read, &self.interval, &self.sums)
    }

    /// Runs the base and tells the model what is in it.
    pub fn base(&mut self, shared: &Shared<'_>, loops: &Loops) -> Result<(), Failure> {
        let Interval { flags, used } = &self.interval;
        let mut uppers = flags.marks.count(self.engine.n).unwrap_or(0);
        let mut lowers = self.engine.n - used.marks.count(self.engine.n).unwrap_or(0) - uppers;
        lock(&shared.model).sample(&self.engine, lowers, uppers);
        while self.engine.n < shared.options.base {
            let [lower, upper] = self.span(&mut Vec::new(), shared, loops)?;
            lowers += (loops.of_tapes.sum_of_bits)(&lower)[0];
            uppers += (loops.of_tapes.sum_of_bits)(&upper)[0];
            lock(&shared.model).sample(&self.engine, lowers, uppers);
            self.joint_if_due(shared, loops)?;
            shared.run.advance(0)?;
        }
        Ok(())
    }

    /// Runs the next span and keeps its marks. Returns which of its heaps have a lower and which an upper partner. `sums_to_come` are
    /// heaps further on whose lines `2m - n` are to be kept, in descending order.
    fn span(
        &mut self,
        sums_to_come: &mut Vec<Range<u64>>,
        shared: &Shared<'_>,
        loops: &Loops,
    ) -> Result<[[u64; WORDS]; 2], Failure> {
        let n = self.engine.n;
        if let Some(Range { end, .. }) = sums_to_come.pop_if(|range| range.start == n) {
            let places = self.places();
            let prefix = Prefix::new(&self.engine, places).ok_or(Failure::Missed)?;
            let sums = prefix.sums(&self.engine, places, end).ok_or(Failure::Missed)?;
            self.sums.push(sums);
        }
        step(&mut self.engine, places_of(&self.read, &self.interval, &self.sums), loops)?;
        self.visited += HEAPS;
        self.unchecked += HEAPS;
        let lower = (loops.of_tapes.lower)(&self.engine);
        let upper = self.engine.upper(&lower);
        self.interval.extend(&self.engine, &upper, &shared.pool, loops.of_tapes.sum_of_bits);
        if let Some(sums) = self.sums.last_mut() {
            sums.extend(&self.engine, &shared.pool, loops.of_tapes.sum_of_bits);
        }
        Ok([lower, upper])
    }

    /// Goes to the beginning of a window, by a guess and a warm-up.
    pub fn enter(
        &mut self,
        window: &Range<u64>,
        read: Read,
        shared: &Shared<'_>,
        loops: &Loops,
    ) -> Result<(), Failure> {
        self.start = window.start - shared.options.warm_up;
        self.snapshots.clear();
        let places = self.read.insert(read).places();
        restart(&mut self.engine, self.start, shared.mex(self.start), places).ok_or(Failure::Missed)?;
        while self.engine.n < window.start {
            step(&mut self.engine, places, loops)?;
        }
        self.visited += shared.options.warm_up;
        let prefix = Prefix::new(&self.engine, places).ok_or(Failure::Missed)?;
        self.interval = prefix.interval(&self.engine, places).ok_or(Failure::Missed)?;
        Ok(())
    }

    /// Runs a window; the last one as far as the lower beam is within the limit.
    pub fn window(
        &mut self,
        window: &Range<u64>,
        is_last: bool,
        shared: &Shared<'_>,
        loops: &Loops,
    ) -> Result<(), Failure> {
        /// Heaps between two reports.
        const REPORT: u64 = 1 << 16;
        let limit = shared.limit;
        let mut sums_to_come = shared.plan.sums_of(window);
        while self.engine.n < window.end {
            let (n, d) = (self.engine.n, self.engine.d);
            if is_last && self.lower.is_none() && 2 * (n + 2 * HEAPS) + d > limit {
                self.lower = Some(self.lower_before(limit)?);
            }
            if is_last && 2 * n + d > limit {
                break;
            }
            let [lower, _] = self.span(&mut sums_to_come, shared, loops)?;
            if let Some(beam) = &mut self.lower {
                for [a, b] in self.engine.positions(0, &lower, |heap| self.engine.pick(heap)) {
                    if b <= 2 * a && a + b <= limit {
                        beam.add(Beam { positions: 1, smaller: a.into(), larger: b.into() });
                    }
                }
            }
            self.joint_if_due(shared, loops)?;
            if self.visited >= REPORT {
                shared.report(std::mem::take(&mut self.visited))?;
            }
        }
        Ok(shared.report(std::mem::take(&mut self.visited))?)
    }

    /// The lower positions before the next span, the two empty heaps among them, all of which must be within the limit.
    fn lower_before(&self, limit: u64) -> Result<Beam, Failure> {
        if 2 * self.engine.n + self.engine.d + 128 > limit {
            return Err(Failure::Missed);
        }
        let Prefix { lower, differences, .. } = Prefix::new(&self.engine, self.places()).ok_or(Failure::Missed)?;
        Ok(Beam { positions: lower.count + 1, smaller: lower.sum, larger: lower.sum + differences })
    }

    /// Ends a joint, if one is due: a second run, from a guess one warm-up earlier, must reach the registers of this one on the
    /// way. By then this one has had a warm-up more, unless it began in the base.
    fn joint_if_due(&mut self, shared: &Shared<'_>, loops: &Loops) -> Result<(), Failure> {
        let Options { warm_up, spacing, .. } = *shared.options;
        if self.unchecked + warm_up <= spacing || self.engine.n <= self.start + warm_up {
            return Ok(());
        }
        self.snapshots.push(self.engine.snapshot());
        if HEAPS * (self.snapshots.len() as u64) < warm_up {
            return Ok(());
        }
        let (second, start) = (&mut self.second, self.engine.n - warm_up);
        let places = places_of(&self.read, &self.interval, &self.sums);
        restart(second, start, shared.mex(start), places).ok_or(Failure::Missed)?;
        let mut has_met = false;
        for first in &self.snapshots {
            step(second, places, loops)?;
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
}

/// Runs the next span of an engine.
fn step(engine: &mut Engine, places: Places<'_>, loops: &Loops) -> Result<(), Failure> {
    (loops.prepare)(engine, places.sources()).ok_or(Failure::Missed)?;
    (loops.of_tapes.blocks)(engine)?;
    engine.pass();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::occupancy::loops::plain;

    fn input(limit: u64) -> ProportionateNim {
        ProportionateNim::new(limit).expect("below the largest limit")
    }

    /// A plan that has much to do at small limits.
    const SMALL: Options = Options { base: 20_480, warm_up: 8192, margin: 40.0, spacing: 40_000 };

    fn attempted(limit: u64, options: &Options) -> Result<(Beams, Joints), Failure> {
        attempted_on(1, limit, options)
    }

    fn attempted_on(threads: usize, limit: u64, options: &Options) -> Result<(Beams, Joints), Failure> {
        attempt(&input(limit), options, &Run::new(threads), threads, &mut 0, plain::windows::parts())
    }

    fn exact(limit: u64) -> Beams {
        *streaming::drive(&input(limit), &Run::new(1), &plain::parts()).expect("runs to its end").totals()
    }

    #[test]
    fn windows_find_the_tally_of_all_heaps() {
        let mut joints = 0;
        for limit in [200_000, 300_001, 1_234_567, 2_669_342, 3_000_000, 7_654_321] {
            let (tally, found) = attempted(limit, &SMALL).expect("the windows fit together");
            assert_eq!(tally, exact(limit), "limit {limit}");
            joints += found.compared;
            assert!(found.longest < SMALL.warm_up);
            let (of_threads, others) = attempted_on(3, limit, &SMALL).expect("the windows fit together");
            assert_eq!(of_threads, tally, "limit {limit}");
            assert_eq!(others.windows, found.windows);
        }
        assert!(joints > 20, "{joints} joints");
    }

    #[test]
    fn lines_that_are_taken_tell_all_totals() {
        let options = Options { base: 60_000 / HEAPS * HEAPS, ..SMALL };
        let (input, run) = (input(1_000_000), Run::new(1));
        let shared = Shared::new(&input, &options, &run, 0);
        let mut tree = Walk::at_the_base(&input, &options).expect("not cancelled");
        let mut lower = Total::default();
        let before = exact_positions(tree.engine.n);
        let mut differences: u128 = before.iter().map(|[a, b]| u128::from(b - a)).sum();
        before.iter().for_each(|[a, _]| lower = lower.plus(Total { count: 1, sum: u128::from(*a) }));
        let mut waiting: Vec<(Interval, Sums)> = Vec::new();
        while tree.engine.n < options.base {
            let [beam, _] =
                tree.span(&mut Vec::new(), &shared, &plain::windows::parts()).expect("the base reads itself");
            for [a, b] in tree.engine.positions(0, &beam, |heap| tree.engine.pick(heap)).filter(|[a, b]| *b <= 2 * a) {
                lower = lower.plus(Total { count: 1, sum: a.into() });
                differences += u128::from(b - a);
            }
            let places = tree.places();
            let prefix = Prefix::new(&tree.engine, places).expect("the base reaches far enough");
            let upper = tree.interval.flags.marks.below(tree.engine.n).expect("it was run");
            assert_eq!(prefix, Prefix { lower, differences, upper });
            let interval = prefix.interval(&tree.engine, places);
            let sums = prefix.sums(&tree.engine, places, options.base);
            waiting.push(interval.zip(sums).expect("the base reaches far enough"));
        }
        // The rows of the base are complete up to where these begin.
        let base = &tree.interval;
        for (interval, sums) in &waiting[..waiting.len() - 1] {
            assert_eq!(base.used.below(interval.used.marks.first_bit()), Some(interval.used.before));
            assert_eq!(tree.sums[0].up_to(2 * sums.rows[0].first_bit() - 2), Some(sums.before));
        }
    }

    /// Lower positions with a smaller heap from 1 to `end - 1`.
    fn exact_positions(end: u64) -> Vec<[u64; 2]> {
        use crate::cores::occupancy::{Wanted, window_certificate};
        let all = window_certificate::run(&input(4 * end).finding(Wanted::Positions), &Run::new(1));
        let all = all.expect("runs to its end").into_list();
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

    /// Further than any exact kernel gets: minutes in a release build.
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
