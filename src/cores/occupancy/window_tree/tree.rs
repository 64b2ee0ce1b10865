//! The windows of a plan on some threads: the base, then each window once all that it reads have ended.

use std::collections::VecDeque;
use std::mem::{replace, take};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::interval::{Flags, Interval, Sums, Used};
use super::plan::{Model, NEAREST, Options, Plan};
use super::window::{Context, Failure, Joints, Loops, SharedInputs, WindowMarks, WindowRun, lock};
use crate::cores::occupancy::automaton::engine::{Engine, Span};
use crate::cores::occupancy::{Beam, Beams, ProportionateNim, share};
use crate::kernel::Run;

/// What windows leave of one kind, in ascending order, without what no window reads any more.
type Row<T> = VecDeque<Arc<T>>;

/// The number of the last one that is before something, or of the first.
fn last<T>(row: &Row<T>, is_before: impl Fn(&T) -> bool) -> usize {
    row.partition_point(|part| is_before(part)).saturating_sub(1)
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
    pending: Vec<(usize, Interval, Vec<Sums>)>,
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
    fn inputs(&mut self, n: u64, mex: u64) -> SharedInputs {
        let flags = |p, q, line| last(&self.flags, |flags| flags.first_line(p, q) <= line);
        let [of_used, of_differences, of_sums] = [flags(2, 1, n + mex), flags(1, 1, mex), flags(3, 2, n + 2 * mex)];
        let heaps = last(&self.used, |used| used.marks.first_bit() <= n);
        let sum = last(&self.sums, |sums| 2 * sums.rows[0].first_bit() <= n - mex);
        let flags = |at: usize| Arc::clone(&self.flags[at]);
        let inputs = SharedInputs {
            heaps: Arc::clone(&self.used[heaps]),
            sum: Arc::clone(&self.sums[sum]),
            flags: [flags(of_used), flags(of_differences), flags(of_sums)],
        };
        self.used.drain(..heaps);
        self.sums.drain(..sum);
        self.flags.drain(..of_differences);
        inputs
    }

    fn end(&mut self, number: usize, interval: Interval, sums: Vec<Sums>) {
        self.pending.push((number, interval, sums));
        while let Some(at) = self.pending.iter().position(|(number, ..)| *number == self.whole) {
            let (_, interval, sums) = self.pending.swap_remove(at);
            self.flags.push_back(Arc::new(interval.flags));
            self.used.push_back(Arc::new(interval.used));
            self.sums.extend(sums.into_iter().map(Arc::new));
            self.whole += 1;
        }
    }
}

/// What the threads of an attempt share: the windows and the plan.
struct SharedWindows<'a> {
    context: Context<'a>,
    plan: Plan,
    ended: Mutex<Ended>,
    /// A window has ended, or a thread failed.
    news: Condvar,
}

/// One attempt to find the tally on `threads` threads, each of which does `work`. `reported` are the steps that were
/// reported to the run.
pub fn attempt(
    input: &ProportionateNim,
    options: &Options,
    run: &Run,
    threads: usize,
    reported: &mut u64,
    loops: Loops,
) -> Result<(Beams, Joints), Failure> {
    let mut shared = SharedWindows::new(input, options, run, *reported, loops);
    let result = (|| {
        let mut base = WindowRun::at_the_base(input, &shared.context)?;
        base.base(&shared.context)?;
        shared.plan = Plan::new(input.limit(), options, &mut lock(&shared.context.model));
        shared.context.heaps = shared.plan.heaps(options) as f64;
        // The base goes on as far as windows touch it.
        base.marks.sums[0].to = shared.plan.base;
        base.window(&(options.base..shared.plan.base), &shared.plan, &shared.context)?;
        shared.end(0, base);
        share(threads, &|| match shared.work() {
            Err(Failure::Run(error)) => Err(error),
            Err(failure) => {
                lock(&shared.ended).failure = Some(failure);
                Ok(())
            }
            Ok(()) => Ok(()),
        })?;
        lock(&shared.ended).failure.take().map_or(Ok(()), Err)
    })();
    *reported = lock(&shared.context.progress).1;
    result?;
    shared.finish()
}

impl<'a> SharedWindows<'a> {
    /// Without a plan: before the base was run.
    fn new(input: &ProportionateNim, options: &'a Options, run: &'a Run, reported: u64, loops: Loops) -> Self {
        let context = Context {
            limit: input.limit(),
            options,
            run,
            steps: input.smaller_heaps() as f64,
            heaps: f64::INFINITY,
            progress: Mutex::new((0, reported)),
            model: Mutex::new(Model::new(options.base)),
            pool: Arc::default(),
            loops,
        };
        SharedWindows { context, plan: Plan::default(), ended: Mutex::default(), news: Condvar::new() }
    }

    /// Runs one window after the other, as long as there are any.
    fn work(&self) -> Result<(), Failure> {
        let mut window_run = WindowRun::new(Engine::new(Span::new()), Interval::none(&self.context.pool), Vec::new());
        let _end = EndOnDrop(self);
        while let Some((number, sources)) = self.begin() {
            let window = &self.plan.windows[number - 1];
            window_run.enter(window, sources, &self.context)?;
            window_run.window(window, &self.plan, &self.context)?;
            window_run = self.end(number, window_run);
        }
        Ok(())
    }

    /// The next window, as soon as all windows that it reads have ended.
    fn begin(&self) -> Option<(usize, SharedInputs)> {
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
                let start = window.start - self.context.options.warm_up;
                return Some((number, ended.inputs(start, self.context.mex(start))));
            }
            ended = self.news.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the results of a window that has ended. The rest of its run can run another.
    fn end(&self, number: usize, mut window_run: WindowRun) -> WindowRun {
        let mut ended = lock(&self.ended);
        let WindowMarks { sources, interval, sums } = &mut window_run.marks;
        ended.begun = ended.begun.max(number + 1);
        ended.end(number, replace(interval, Interval::none(&self.context.pool)), take(sums));
        *sources = None;
        ended.lower = ended.lower.or(window_run.lower.take());
        let joints = take(&mut window_run.joints);
        ended.joints.compared += joints.compared;
        ended.joints.longest = ended.joints.longest.max(joints.longest);
        self.news.notify_all();
        window_run
    }

    /// Both beams.
    fn finish(self) -> Result<(Beams, Joints), Failure> {
        let Ended { flags, lower, joints, .. } = self.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Context { limit, options, progress, .. } = self.context;
        let above = limit + 1;
        let at = last(&flags, |flags| flags.first_line(3, 1) <= above);
        let uppers = flags[at].uppers_below(3, 1, above).ok_or(Failure::Missed)?;
        let upper = Beam { positions: uppers.count, smaller: uppers.sum, larger: uppers.lines(2, 1).sum };
        let heaps = lock(&progress).0;
        let joints = Joints { windows: self.plan.windows.len() as u64, warm_up: options.warm_up, heaps, ..joints };
        Ok((Beams { lower: lower.ok_or(Failure::Missed)?, upper }, joints))
    }
}

/// Lets no window begin after a thread has left because it failed, panicked, or saw that none is left: otherwise threads might
/// wait for one of its windows.
struct EndOnDrop<'a>(&'a SharedWindows<'a>);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        lock(&self.0.ended).is_over = true;
        self.0.news.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::super::interval::Total;
    use super::super::plan::HEAPS;
    use super::super::window::{Prefix, plain};
    use super::*;
    use crate::cores::occupancy::automaton;

    fn input(limit: u64) -> ProportionateNim {
        ProportionateNim::new(limit).expect("below the largest limit")
    }

    /// A plan that has much to do at small limits.
    const SMALL: Options = Options { base: 20_480, warm_up: 8192, margin: 40.0, spacing: 40_000 };

    fn attempted(limit: u64, options: &Options) -> Result<(Beams, Joints), Failure> {
        attempted_on(1, limit, options)
    }

    fn attempted_on(threads: usize, limit: u64, options: &Options) -> Result<(Beams, Joints), Failure> {
        attempt(&input(limit), options, &Run::new(threads), threads, &mut 0, plain::parts())
    }

    fn exact(limit: u64) -> Beams {
        *automaton::drive(&input(limit), &Run::new(1), &automaton::plain::parts()).expect("runs to its end").totals()
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
        let shared = SharedWindows::new(&input, &options, &run, 0, plain::parts());
        let mut tree = WindowRun::at_the_base(&input, &shared.context).expect("not cancelled");
        let mut lower = Total::default();
        let before = exact_positions(tree.engine.n);
        let mut differences: u128 = before.iter().map(|[a, b]| u128::from(b - a)).sum();
        before.iter().for_each(|[a, _]| lower = lower.plus(Total { count: 1, sum: u128::from(*a) }));
        let mut pending: Vec<(Interval, Sums)> = Vec::new();
        while tree.engine.n < options.base {
            let [beam, _] = tree.span(&mut Vec::new(), &shared.context).expect("the base reads itself");
            for [a, b] in tree.engine.positions(0, &beam, |heap| tree.engine.pick(heap)).filter(|[a, b]| *b <= 2 * a) {
                lower = lower.plus(Total { count: 1, sum: a.into() });
                differences += u128::from(b - a);
            }
            let inputs = tree.marks.inputs();
            let prefix = Prefix::new(&tree.engine, inputs).expect("the base reaches far enough");
            let upper = tree.marks.interval.flags.marks.below(tree.engine.n).expect("it was run");
            assert_eq!(prefix, Prefix { lower, differences, upper });
            let interval = prefix.interval(&tree.engine, inputs, &shared.context.pool);
            let sums = prefix.sums(&tree.engine, inputs, options.base, &shared.context.pool);
            pending.push(interval.zip(sums).expect("the base reaches far enough"));
        }
        // The rows of the base are complete up to where these begin.
        let base = &tree.marks.interval;
        for (interval, sums) in &pending[..pending.len() - 1] {
            assert_eq!(base.used.below(interval.used.marks.first_bit()), Some(interval.used.before));
            assert_eq!(tree.marks.sums[0].up_to(2 * sums.rows[0].first_bit() - 2), Some(sums.before));
        }
    }

    /// Lower positions with a smaller heap from 1 to `end - 1`.
    fn exact_positions(end: u64) -> Vec<[u64; 2]> {
        use crate::cores::occupancy::Wanted;
        let all = crate::cores::occupancy::bit_rows::window_certificate::run(
            &input(4 * end).finding(Wanted::Positions),
            &Run::new(1),
        );
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
}
