//! Benches of kernels: groups `<operation>/<workload>`, ids `<kernel>/<size>`, all from the registry.

use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Duration;

use criterion::measurement::Measurement;
use criterion::{BenchmarkGroup, BenchmarkId, SamplingMode, Throughput};
use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::Run;
use nimlanes::kernel::case::Case;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::{Answer, AnyOperation, KernelInfo, Session};
use nimlanes::kernel::workload::Workload;
use nimlanes::lab::clock::Clock;
use nimlanes::lab::known;
use nimlanes::units::span;

use crate::arguments::Mode;
use crate::pass::{Task, time};
use crate::table::Timing;
use crate::{Bench, Instrument, Plan, Results};

/// A baseline takes no longer. The first of `occupancy` takes a day at the published size; the next is the baseline there.
const LONGEST_RUN: Duration = Duration::from_secs(10);

/// Up to this size, answers are compared with the oracle if there is no known answer.
const SMALL: u64 = 100;

pub fn run(Bench { selection, plan, instrument, criterion, results, .. }: &mut Bench) -> Vec<Timing> {
    let mut timings = Vec::new();
    for (operation, workload) in workloads(plan) {
        instrument.set_unit(operation.unit());
        let group = criterion.benchmark_group(format!("{}/{}", operation.name(), workload.name));
        let cases = Cases { operation, workload, selection, plan, instrument, results };
        cases.fill(group, &mut timings);
    }
    timings
}

/// The benchmarks of this run, and single runs beside them.
pub fn tasks(selection: &Selection, plan: &Plan) -> Vec<Task<'static>> {
    let mut tasks = Vec::new();
    for (operation, workload) in workloads(plan) {
        for size in plan.sizes(workload) {
            let Some(session) = session(operation, workload, *size, selection, plan) else { continue };
            let session: Rc<dyn Session> = session.into();
            for contender in contenders(session.as_ref(), selection.threads()) {
                let id = contender.id(session.as_ref());
                let part = contender.part(operation, workload, *size, plan);
                if part == Part::Left || !plan.arguments.picks(&id) {
                    continue;
                }
                let (index, run, session) = (contender.index, Run::new(contender.threads), Rc::clone(&session));
                tasks.push(Task {
                    id,
                    predicted: contender.predicted,
                    is_one_run: part == Part::OneRun,
                    time: Box::new(move || time(|| session.spin(index, &run, 1).expect("not cancelled"))),
                });
            }
        }
    }
    tasks
}

/// The workloads of this run: if it is short, the default ones.
fn workloads(plan: &Plan) -> impl Iterator<Item = (&'static AnyOperation, &'static Workload)> {
    let most = if plan.arguments.is_short() { 1 } else { usize::MAX };
    let of = move |operation: &&'static AnyOperation| {
        let operation = *operation;
        operation.workloads().iter().take(most).map(move |workload| (operation, workload))
    };
    OPERATIONS.iter().flat_map(of)
}

/// The session for an input, if the command line picks a kernel.
fn session(
    operation: &AnyOperation,
    workload: &Workload,
    size: u64,
    selection: &Selection,
    plan: &Plan,
) -> Option<Box<dyn Session>> {
    let case = Case::new(operation.name(), workload.name, size);
    let is_picked = |kernel: &KernelInfo| plan.arguments.picks(&case.with_kernel(kernel.name));
    let session = || operation.session(selection, workload.name, size).unwrap_or_else(|error| panic!("{error}"));
    operation.kernels(selection.machine()).iter().any(is_picked).then(session)
}

/// A kernel that can process an input here.
pub struct Contender {
    /// The kernel's index in the session.
    index: usize,
    /// The kernel's registry entry.
    pub info: KernelInfo,
    /// Number of threads that the kernel uses: all that are allowed if it is parallel, else one.
    threads: usize,
    /// Predicted time of a run.
    pub predicted: Duration,
    /// Whether it is the first of the list that ends in time.
    is_baseline: bool,
}

/// How a kernel takes part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Criterion samples it.
    Sampled,
    /// Too slow for that, but the table of results needs it.
    OneRun,
    /// Left to `nimlanes compare`.
    Left,
}

impl Contender {
    /// The id of its benchmark.
    fn id(&self, session: &dyn Session) -> String {
        session.case().with_kernel(self.info.name)
    }

    /// How it takes part. The baseline and what is known elsewhere are in the table, if a single run ends in time.
    fn part(&self, operation: &AnyOperation, workload: &Workload, size: u64, plan: &Plan) -> Part {
        let is_compared =
            self.is_baseline || operation.public().contains(&self.info.name) && self.predicted <= LONGEST_RUN;
        let is_in_table = workload.name == operation.workloads()[0].name && size == workload.published;
        match plan.admits(self.predicted) {
            true => Part::Sampled,
            false if is_compared && is_in_table && plan.measures() => Part::OneRun,
            false => Part::Left,
        }
    }
}

/// The kernels that can process the input of a session with at most `threads` threads.
pub fn contenders(session: &dyn Session, threads: usize) -> Vec<Contender> {
    let [alone, together] = [1, threads].map(|threads| session.candidates(threads, Duration::MAX));
    let contender = |(index, info): (usize, &KernelInfo)| {
        let (threads, candidate) = if info.is_parallel() { (threads, &together[index]) } else { (1, &alone[index]) };
        let (info, predicted) = (info.clone(), candidate.predicted());
        candidate.is_able().then_some(Contender { index, info, threads, predicted, is_baseline: false })
    };
    let mut contenders: Vec<_> = session.kernels().iter().enumerate().filter_map(contender).collect();
    if let Some(baseline) = contenders.iter_mut().find(|contender| contender.predicted <= LONGEST_RUN) {
        baseline.is_baseline = true;
    }
    contenders
}

/// The benchmarks of one workload.
struct Cases<'a> {
    operation: &'static AnyOperation,
    workload: &'static Workload,
    selection: &'a Selection,
    plan: &'a Plan,
    instrument: &'a Instrument,
    results: &'a Results,
}

impl Cases<'_> {
    fn fill(&self, mut group: BenchmarkGroup<Instrument>, timings: &mut Vec<Timing>) {
        // Flat sampling: the plan relies on the number of samples, and a slow kernel gets exactly ten runs.
        group.sampling_mode(SamplingMode::Flat);
        for size in self.plan.sizes(self.workload) {
            let Some(session) = session(self.operation, self.workload, *size, self.selection, self.plan) else {
                continue;
            };
            let session = session.as_ref();
            let all = contenders(session, self.selection.threads());
            let parts = |part| {
                let has = move |contender: &&Contender| {
                    contender.part(self.operation, self.workload, *size, self.plan) == part
                };
                all.iter().filter(has)
            };
            let is_picked = |contender: &&Contender| self.plan.arguments.picks(&contender.id(session));
            let one_runs: Vec<_> = parts(Part::OneRun).filter(is_picked).collect();
            if one_runs.is_empty() && !parts(Part::Sampled).any(|contender| is_picked(&contender)) {
                continue;
            }
            // A list computes nothing.
            let is_list = self.plan.arguments.mode() == Mode::List;
            let expected = (!is_list).then(|| self.expected(session, *size, &all));
            if let Some(expected) = &expected {
                group.throughput(Throughput::Elements(session.work(expected.as_ref())));
            }
            for contender in parts(Part::Sampled) {
                if self.bench(&mut group, session, expected.as_deref(), contender, *size)
                    && let Some(ns) = self.results.estimate(&contender.id(session))
                {
                    timings.push(self.timing(contender, *size, ns, false));
                }
            }
            for contender in one_runs {
                let ns = self.time_once(session, expected.as_deref().expect("not in a list"), contender);
                timings.push(self.timing(contender, *size, ns, true));
            }
            if !is_list {
                self.print_skipped(*size, parts(Part::Left));
            }
        }
        group.finish();
    }

    fn timing(&self, contender: &Contender, size: u64, ns: f64, is_one_run: bool) -> Timing {
        let info = &contender.info;
        Timing {
            operation: self.operation.name(),
            workload: self.workload.name,
            is_default: self.workload.name == self.operation.workloads()[0].name,
            size,
            is_published: size == self.workload.published,
            kernel: info.name,
            tier: info.tier,
            is_baseline: contender.is_baseline,
            is_public: self.operation.public().contains(&info.name),
            is_exact: info.is_exact(),
            is_parallel: info.is_parallel(),
            ns,
            is_one_run,
        }
    }

    /// The answer of the fastest kernel, checked against the known answer, or against the oracle if the size is small.
    fn expected(&self, session: &dyn Session, size: u64, contenders: &[Contender]) -> Box<dyn Answer> {
        let quickest = contenders.iter().min_by_key(|contender| contender.predicted).expect("one is picked");
        let answer = session.run(quickest.index, &Run::new(quickest.threads)).expect("not cancelled");
        match known::find(session.case()) {
            Some(known) => known.check(&answer.digest()).unwrap_or_else(|difference| panic!("{difference}")),
            None if size <= SMALL => assert!(answer.agrees(session.oracle()), "{size}: not the oracle's answer"),
            None => {}
        }
        answer
    }

    /// Asserts the answer of one kernel and times it. Returns false if the command line filters it out.
    fn bench(
        &self,
        group: &mut BenchmarkGroup<Instrument>,
        session: &dyn Session,
        expected: Option<&dyn Answer>,
        contender: &Contender,
        size: u64,
    ) -> bool {
        let Contender { index, threads, .. } = *contender;
        let name = contender.info.name;
        self.instrument.set_clock(Clock::for_threads(threads));
        let asserted = OnceCell::new();
        self.plan.apply(group, contender.predicted);
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            let run = Run::new(threads);
            asserted.get_or_init(|| {
                let answer = session.run(index, &run).expect("not cancelled");
                let expected = expected.expect("a list runs nothing");
                assert!(answer.agrees(expected), "{name}/{size}: {:?}, not {:?}", answer.digest(), expected.digest());
            });
            bencher.iter_custom(|runs| {
                let start = self.instrument.start();
                session.spin(index, &run, runs).expect("not cancelled");
                self.instrument.end(start)
            });
        });
        asserted.get().is_some()
    }

    /// Times one run, in nanoseconds, and asserts its answer.
    fn time_once(&self, session: &dyn Session, expected: &dyn Answer, contender: &Contender) -> f64 {
        let Contender { index, threads, .. } = *contender;
        let clock = Clock::for_threads(threads).for_one_run();
        let start = clock.now();
        let answer = session.run(index, &Run::new(threads)).expect("not cancelled");
        let ns = (clock.now() - start).as_nanos() as f64;
        let id = contender.id(session);
        assert!(answer.agrees(expected), "{id}: {:?}, not {:?}", answer.digest(), expected.digest());
        println!("{id}: one run of {}, as ten samples would take too long.\n", span(ns));
        ns
    }

    fn print_skipped<'c>(&self, size: u64, slow: impl Iterator<Item = &'c Contender>) {
        let names: Vec<String> =
            slow.map(|c| format!("{} ({})", c.info.name, span(c.predicted.as_nanos() as f64))).collect();
        if names.is_empty() {
            return;
        }
        let (operation, workload) = (self.operation.name(), self.workload.name);
        let names = names.join(", ");
        println!(
            "Left to `nimlanes compare {operation} --workload {workload} --size {size}` as too slow here: {names}.\n"
        );
    }
}
