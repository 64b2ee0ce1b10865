//! A window: its balanced restart, all that is known of the positions before it, and its run with the joints that check it.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::interval::{Flags, Interval, Marks, Pool, Sums, Total, Used};
use super::plan::{HEAPS, Model, Options, Plan};
use crate::cores::occupancy::automaton::block::{BLOCK, PAD, Registers};
use crate::cores::occupancy::automaton::engine::{Engine, Snapshot, Sources, Span, WORDS};
use crate::cores::occupancy::automaton::guess::{self, SlotBalance};
use crate::cores::occupancy::automaton::plain::prepare;
use crate::cores::occupancy::{Beam, ProportionateNim, automaton};
use crate::kernel::{Evidence, Run, RunError};
use crate::machine::isa::tier;
use crate::simd::bits::WORD;
use crate::simd::{array_of, mapped};

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

/// How a run checked itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Joints {
    /// Places where two runs that began with different guesses were compared and were equal.
    pub compared: u64,
    /// The longest way from a guess to a run that was equal from there on, in heaps.
    pub longest: u64,
    /// The way from a guess to the first heap that counts.
    pub warm_up: u64,
    /// How often the run began again with wider margins or a longer warm-up.
    pub widened: u64,
    /// Windows that the work was cut into.
    pub windows: u64,
    /// Heaps visited, those of warm-ups and second runs among them.
    pub heaps: u64,
}

impl From<Joints> for Evidence {
    fn from(Joints { compared, longest, warm_up, widened, windows, heaps }: Joints) -> Self {
        let mut summary = format!(
            "joints compared: {compared}, all equal; the slowest guess took {longest} of {warm_up} heaps; \
             {heaps} heaps visited in {windows} windows"
        );
        if widened > 0 {
            summary += &format!("; begun again {widened} time(s) with wider margins");
        }
        let numbers = vec![
            ("joints", compared),
            ("longest", longest),
            ("warm_up", warm_up),
            ("widened", widened),
            ("windows", windows),
            ("heaps", heaps),
        ];
        Evidence::new(compared, summary, numbers)
    }
}

/// The loops of a tier.
#[derive(Clone, Copy)]
pub struct Loops {
    /// Those of the automaton.
    pub of_queues: automaton::plain::Loops,
    /// [`Engine::prepare`], with old marks in windows.
    pub prepare: fn(&mut Engine, Sources<'_, Marks>) -> Option<()>,
}

/// The loops of plain Rust.
pub mod plain {
    use super::*;
    use crate::cores::occupancy::automaton::plain::{append, interleave};

    pub fn parts() -> Loops {
        Loops { of_queues: automaton::plain::parts(), prepare: prepare!(append, interleave) }
    }
}

/// The loops of AVX-512.
#[cfg(all(target_arch = "x86_64", feature = "avx2", feature = "avx512"))]
pub mod avx512 {
    use super::*;
    use crate::cores::occupancy::automaton::asm::interleave;
    use crate::cores::occupancy::automaton::avx512::append;

    #[tier(Avx512)]
    pub fn parts() -> Loops {
        Loops { of_queues: automaton::avx512::parts(), prepare: prepare!(append, interleave) }
    }
}

/// What a window reads of intervals.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// Used heaps, near the window itself.
    pub heaps: &'a Used,
    /// Lines `2m - n`, for the values `2n - m` that they take.
    pub sum: &'a Sums,
    /// Upper heaps, for the rows used, difference and sum.
    pub flags: [&'a Flags; 3],
}

impl<'a> Inputs<'a> {
    /// Their bit strings.
    pub fn sources(&self) -> Sources<'a, Marks> {
        let [even, odd] = &self.sum.rows;
        Sources { used: &self.heaps.marks, sum: [even, odd], flags: mapped(self.flags, |flags| &flags.marks) }
    }

    /// The balance at heap `n`, given an estimate of the mex of the differences there.
    fn guess(&self, n: u64, estimate: u64) -> Option<SlotBalance> {
        /// Lines between what the intervals know and what is read.
        const EDGE: u64 = 64;
        let row = &self.sum.rows[0];
        let lines = self.flags[1].lines(1, 1);
        let first = lines.start.max(n.saturating_sub(2 * row.end_bit())) + EDGE;
        let last = lines.end.min(n.checked_sub(2 * row.first_bit())?).checked_sub(EDGE)?;
        let differences = |x: u64| Some(x - 1 - self.flags[1].first_from(1, 1, x)?.1);
        guess::guess(n, estimate, first..last, differences, |x| Some(x - self.sum.count(x - 1)?))
    }
}

/// Takes `engine` to heap `n` with a guess of its registers, given an estimate of the mex of the differences there.
/// `None` if the intervals do not reach far enough.
pub fn restart(engine: &mut Engine, n: u64, estimate: u64, inputs: Inputs<'_>) -> Option<()> {
    let (d, registers) = Registers::guess(n, &inputs.guess(n, estimate)?);
    engine.registers = registers;
    let pad = PAD as u64;
    let [used, difference, sum] = inputs.flags;
    let words =
        [used.seek(2, 1, n + d - pad)?, difference.seek(1, 1, d - pad)?, sum.seek(3, 2, 2 * (n / 2 + d - pad))?];
    engine.jump(n, d, words);
    Some(())
}

/// The positions whose smaller heap is below a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The smaller heaps in the lower beam, without that of the two empty heaps.
    pub lower: Total,
    /// The sum of the differences of those positions.
    pub differences: u128,
    /// The smaller heaps in the upper beam.
    pub upper: Total,
}

impl Prefix {
    /// What the taken lines say about the positions before heap `engine.n`.
    ///
    /// All differences below `d` are taken, and all values `2n - m` below some bound. What upper positions and sums do
    /// not take, lower ones do, and difference and value add up to the smaller heap. All heaps below `n` are used; those
    /// that are neither larger ones nor smaller ones of the lower beam belong to the upper beam.
    pub fn new(engine: &Engine, inputs: Inputs<'_>) -> Option<Prefix> {
        let (n, d) = (engine.n, engine.d);
        let own = engine.own();
        let uppers = inputs.flags[1].uppers_below(1, 1, d)?.lines(1, 1);
        let differences = Total::range(1..d).minus(uppers).plus(Total::of_bits(own.difference >> PAD as u32, d));

        // Bit `q` of `late` is the value `top - q`. From bit `full` on all are taken.
        let top = n - d + (PAD + BLOCK) as u64;
        let full = u128::BITS - engine.all().late.leading_ones();
        let end = top - u64::from(full) + 1;
        let bits = Total::of_bits(own.late & !(u128::MAX.checked_shl(full).unwrap_or(0)), 0);
        let own = Total { count: bits.count, sum: u128::from(bits.count) * u128::from(top) - bits.sum };
        let values = Total::range(0..end).minus(inputs.sum.up_to(end - 1)?).plus(own);
        if values.count != differences.count {
            return None;
        }

        let lower = Total { count: values.count, sum: values.sum.wrapping_add(differences.sum) };
        let upper = Total::range(0..n).minus(inputs.heaps.below(n)?).minus(lower);
        Some(Prefix { lower, differences: differences.sum, upper })
    }

    /// The lines `a + q (b - a)` of the positions `(a,b)` of the lower beam.
    fn lower_lines(&self, q: u128) -> Total {
        Total { sum: self.lower.sum.wrapping_add(self.differences.wrapping_mul(q)), ..self.lower }
    }

    /// An empty interval from heap `engine.n` on, with the totals of these positions before it.
    pub fn interval(&self, engine: &Engine, inputs: Inputs<'_>, pool: &Arc<Pool>) -> Option<Interval> {
        // The row begins with a word that is not complete yet, so some positions have their mark in it or after it.
        let own = own(engine)[0];
        let word = (engine.n + engine.d) / WORD as u64;
        let uppers = inputs.flags[0].uppers_below(2, 1, word * WORD as u64)?.lines(2, 1);
        let used = self.lower_lines(1).minus(own).plus(uppers).plus(ORIGIN);
        Some(Interval::new(engine.n, word as usize, self.upper, used, pool))
    }

    /// The same for lines `2m - n`, up to heap `to`.
    pub fn sums(&self, engine: &Engine, inputs: Inputs<'_>, to: u64, pool: &Arc<Pool>) -> Option<Sums> {
        let [_, even, odd] = own(engine);
        let word = (engine.n / 2 + engine.d) / WORD as u64;
        // The first odd line that is in the word or after it.
        let uppers = inputs.flags[2].uppers_below(3, 2, 2 * word * WORD as u64 - 1)?.lines(3, 2);
        let own = even.scaled(2, 0).plus(odd.scaled(2, 1));
        let before = self.lower_lines(2).minus(own).plus(uppers).plus(ORIGIN);
        Some(Sums::new(to, word as usize, before, pool))
    }
}

/// The line of the two empty heaps.
const ORIGIN: Total = Total { count: 1, sum: 0 };

/// The marks of an engine's own beam in words that are not complete: used, and sum by parity.
fn own(engine: &Engine) -> [Total; 3] {
    mapped(engine.own_incomplete(), |[(word, first), (rest, next)]| {
        Total::of_bits(word, first).plus(Total::of_bits(rest, next))
    })
}

/// What a window reads, shared with the windows that made it.
pub struct SharedInputs {
    pub heaps: Arc<Used>,
    pub sum: Arc<Sums>,
    pub flags: [Arc<Flags>; 3],
}

impl SharedInputs {
    fn inputs(&self) -> Inputs<'_> {
        Inputs { heaps: &self.heaps, sum: &self.sum, flags: array_of(|i| &*self.flags[i]) }
    }
}

/// What all windows of an attempt have in common.
pub struct Context<'a> {
    pub limit: u64,
    pub options: &'a Options,
    pub run: &'a Run,
    /// The steps of the whole run, one for each smaller heap.
    pub steps: f64,
    /// Heaps to visit.
    pub heaps: f64,
    /// Heaps visited, and steps that were reported.
    pub progress: Mutex<(u64, u64)>,
    pub model: Mutex<Model>,
    pub pool: Arc<Pool>,
    pub loops: Loops,
}

impl Context<'_> {
    /// About the mex of the differences at a heap.
    pub fn mex(&self, n: u64) -> u64 {
        lock(&self.model).at(n as f64).mex as u64
    }

    fn report(&self, visited: u64) -> Result<(), RunError> {
        let mut progress = lock(&self.progress);
        progress.0 += visited;
        let steps = (((progress.0 as f64 / self.heaps).min(0.99) * self.steps) as u64).max(progress.1);
        let more = steps - progress.1;
        progress.1 = steps;
        self.run.advance(more)
    }
}

/// Locks even if a thread panicked: the panic is passed on when that thread is joined.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The marks that a window reads and makes.
pub struct WindowMarks {
    /// What it reads; nothing for the base, which reads itself.
    pub sources: Option<SharedInputs>,
    /// What it leaves.
    pub interval: Interval,
    pub sums: Vec<Sums>,
}

impl WindowMarks {
    /// What the window reads now.
    pub fn inputs(&self) -> Inputs<'_> {
        match &self.sources {
            Some(sources) => sources.inputs(),
            None => Inputs { heaps: &self.interval.used, sum: &self.sums[0], flags: [&self.interval.flags; 3] },
        }
    }
}

/// The state of a thread in its window.
pub struct WindowRun {
    pub engine: Engine,
    /// Where the window began to run.
    start: u64,
    pub marks: WindowMarks,
    /// For joints: a second engine, and the first one after each span since the beginning of the second.
    second: Engine,
    snapshots: Vec<Snapshot>,
    /// Heaps visited since the last report, and since the last joint.
    visited: u64,
    unchecked: u64,
    pub joints: Joints,
    /// The lower beam, as soon as it is known.
    pub lower: Option<Beam>,
}

impl WindowRun {
    /// At the heap of an engine.
    pub fn new(engine: Engine, interval: Interval, sums: Vec<Sums>) -> Self {
        WindowRun {
            start: engine.n,
            marks: WindowMarks { sources: None, interval, sums },
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
    pub fn at_the_base(input: &ProportionateNim, context: &Context<'_>) -> Result<Self, RunError> {
        let (engine, base, sums) = Interval::base(input, context.options.base, &context.pool)?;
        Ok(WindowRun::new(engine, base, vec![sums]))
    }

    /// Runs the base and samples it for the model.
    pub fn base(&mut self, context: &Context<'_>) -> Result<(), Failure> {
        let Interval { flags, used } = &self.marks.interval;
        let mut uppers = flags.marks.count(self.engine.n).unwrap_or(0);
        let mut lowers = self.engine.n - used.marks.count(self.engine.n).unwrap_or(0) - uppers;
        lock(&context.model).sample(&self.engine, lowers, uppers);
        while self.engine.n < context.options.base {
            let [lower, upper] = self.span(&mut Vec::new(), context)?;
            lowers += (context.loops.of_queues.sum_of_bits)(&lower)[0];
            uppers += (context.loops.of_queues.sum_of_bits)(&upper)[0];
            lock(&context.model).sample(&self.engine, lowers, uppers);
            self.joint_if_due(context)?;
            context.run.advance(0)?;
        }
        Ok(())
    }

    /// Runs the next span and keeps its marks. Returns which of its heaps have a lower and which an upper partner. `sums_to_come` are
    /// heaps further on whose lines `2m - n` are to be kept, in descending order.
    pub fn span(
        &mut self,
        sums_to_come: &mut Vec<Range<u64>>,
        context: &Context<'_>,
    ) -> Result<[[u64; WORDS]; 2], Failure> {
        let n = self.engine.n;
        if let Some(Range { end, .. }) = sums_to_come.pop_if(|range| range.start == n) {
            let inputs = self.marks.inputs();
            let prefix = Prefix::new(&self.engine, inputs).ok_or(Failure::Missed)?;
            let sums = prefix.sums(&self.engine, inputs, end, &context.pool).ok_or(Failure::Missed)?;
            self.marks.sums.push(sums);
        }
        step(&mut self.engine, self.marks.inputs(), context)?;
        self.visited += HEAPS;
        self.unchecked += HEAPS;
        let lower = (context.loops.of_queues.lower)(&self.engine);
        let upper = self.engine.upper(&lower);
        self.marks.interval.extend(&self.engine, &upper, context.loops.of_queues.sum_of_bits);
        if let Some(sums) = self.marks.sums.last_mut() {
            sums.extend(&self.engine, context.loops.of_queues.sum_of_bits);
        }
        Ok([lower, upper])
    }

    /// Goes to the beginning of a window, by a guess and a warm-up.
    pub fn enter(&mut self, window: &Range<u64>, sources: SharedInputs, context: &Context<'_>) -> Result<(), Failure> {
        self.start = window.start - context.options.warm_up;
        self.snapshots.clear();
        let inputs = self.marks.sources.insert(sources).inputs();
        restart(&mut self.engine, self.start, context.mex(self.start), inputs).ok_or(Failure::Missed)?;
        while self.engine.n < window.start {
            step(&mut self.engine, inputs, context)?;
        }
        self.visited += context.options.warm_up;
        let prefix = Prefix::new(&self.engine, inputs).ok_or(Failure::Missed)?;
        self.marks.interval = prefix.interval(&self.engine, inputs, &context.pool).ok_or(Failure::Missed)?;
        Ok(())
    }

    /// Runs a window; the last one as far as the lower beam is within the limit.
    pub fn window(&mut self, window: &Range<u64>, plan: &Plan, context: &Context<'_>) -> Result<(), Failure> {
        /// Heaps between two reports.
        const REPORT: u64 = 1 << 16;
        let (limit, is_last) = (context.limit, plan.windows.last().is_none_or(|last| last.end <= window.end));
        let mut sums_to_come = plan.sums_of(window);
        while self.engine.n < window.end {
            let (n, d) = (self.engine.n, self.engine.d);
            if is_last && self.lower.is_none() && 2 * (n + 2 * HEAPS) + d > limit {
                self.lower = Some(self.lower_before(limit)?);
            }
            if is_last && 2 * n + d > limit {
                break;
            }
            let [lower, _] = self.span(&mut sums_to_come, context)?;
            if let Some(beam) = &mut self.lower {
                for [a, b] in self.engine.positions(0, &lower, |heap| self.engine.pick(heap)) {
                    if b <= 2 * a && a + b <= limit {
                        beam.add(Beam { positions: 1, smaller: a.into(), larger: b.into() });
                    }
                }
            }
            self.joint_if_due(context)?;
            if self.visited >= REPORT {
                context.report(std::mem::take(&mut self.visited))?;
            }
        }
        Ok(context.report(std::mem::take(&mut self.visited))?)
    }

    /// The lower positions before the next span, the two empty heaps among them, all of which must be within the limit.
    fn lower_before(&self, limit: u64) -> Result<Beam, Failure> {
        if 2 * self.engine.n + self.engine.d + 128 > limit {
            return Err(Failure::Missed);
        }
        let Prefix { lower, differences, .. } =
            Prefix::new(&self.engine, self.marks.inputs()).ok_or(Failure::Missed)?;
        Ok(Beam { positions: lower.count + 1, smaller: lower.sum, larger: lower.sum + differences })
    }

    /// Ends a joint, if one is due: a second run, from a guess one warm-up earlier, must reach the registers of this one on the
    /// way. By then this one has had a warm-up more, unless it began in the base.
    fn joint_if_due(&mut self, context: &Context<'_>) -> Result<(), Failure> {
        let Options { warm_up, spacing, .. } = *context.options;
        if self.unchecked + warm_up <= spacing || self.engine.n <= self.start + warm_up {
            return Ok(());
        }
        self.snapshots.push(self.engine.snapshot());
        if HEAPS * (self.snapshots.len() as u64) < warm_up {
            return Ok(());
        }
        let (second, start) = (&mut self.second, self.engine.n - warm_up);
        let inputs = self.marks.inputs();
        restart(second, start, context.mex(start), inputs).ok_or(Failure::Missed)?;
        let mut has_met = false;
        for first in &self.snapshots {
            step(second, inputs, context)?;
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
fn step(engine: &mut Engine, inputs: Inputs<'_>, context: &Context<'_>) -> Result<(), Failure> {
    (context.loops.prepare)(engine, inputs.sources()).ok_or(Failure::Missed)?;
    (context.loops.of_queues.blocks)(engine)?;
    engine.pass();
    Ok(())
}
