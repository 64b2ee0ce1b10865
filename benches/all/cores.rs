//! Benches of kernels: groups `<operation>/<workload>`, ids `<kernel>/<size>`, all from the registry.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use criterion::measurement::Measurement;
use criterion::{BenchmarkGroup, BenchmarkId, SamplingMode, Throughput};
use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::{Answer, AnyOperation, KernelInfo, Session};
use nimlanes::kernel::workload::Workload;
use nimlanes::lab::clock::Clock;
use nimlanes::lab::known;
use nimlanes::units::span;

use crate::arguments::Mode;
use crate::{Bench, Instrument, Plan};

/// Up to this size, answers are compared with the oracle if there is no known answer.
const SMALL: u64 = 100;

pub fn run(Bench { selection, plan, instrument, criterion }: &mut Bench) {
    for operation in OPERATIONS {
        instrument.set_unit(operation.unit());
        for workload in operation.workloads() {
            let group = criterion.benchmark_group(format!("{}/{}", operation.name(), workload.name));
            Cases { operation: *operation, workload, selection, plan, instrument }.fill(group);
        }
    }
}

/// The id of each benchmark and the predicted time of a run.
pub fn all(selection: &Selection, plan: &Plan) -> Vec<(String, Duration)> {
    let mut all = Vec::new();
    for operation in OPERATIONS {
        for workload in operation.workloads() {
            for size in workload.sizes {
                let session = session(*operation, workload, *size, selection);
                let contenders = contenders(session.as_ref(), selection.threads());
                let fit = contenders.iter().filter(|contender| plan.admits(contender.predicted));
                all.extend(fit.map(|contender| (contender.id(session.as_ref()), contender.predicted)));
            }
        }
    }
    all
}

fn session(operation: &dyn AnyOperation, workload: &Workload, size: u64, selection: &Selection) -> Box<dyn Session> {
    operation.session(selection, workload.name, size).unwrap_or_else(|error| panic!("{error}"))
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
}

impl Contender {
    /// The id of its benchmark.
    fn id(&self, session: &dyn Session) -> String {
        session.case().with_kernel(self.info.name)
    }
}

/// The kernels that can process the input of a session with at most `threads` threads.
pub fn contenders(session: &dyn Session, threads: usize) -> Vec<Contender> {
    let [alone, together] = [1, threads].map(|threads| session.candidates(threads, Duration::MAX));
    let contender = |(index, info): (usize, &KernelInfo)| {
        let (threads, candidate) = if info.is_parallel() { (threads, &together[index]) } else { (1, &alone[index]) };
        let (info, predicted) = (info.clone(), candidate.predicted());
        candidate.is_able().then_some(Contender { index, info, threads, predicted })
    };
    session.kernels().iter().enumerate().filter_map(contender).collect()
}

/// The benchmarks of one workload.
struct Cases<'a> {
    operation: &'a dyn AnyOperation,
    workload: &'a Workload,
    selection: &'a Selection,
    plan: &'a Plan,
    instrument: &'a Instrument,
}

impl Cases<'_> {
    fn fill(&self, mut group: BenchmarkGroup<Instrument>) {
        // Flat sampling: the plan relies on the number of samples, and a slow kernel gets exactly ten runs.
        group.sampling_mode(SamplingMode::Flat);
        for size in self.workload.sizes {
            let session = session(self.operation, self.workload, *size, self.selection);
            let (fit, slow): (Vec<_>, Vec<_>) = contenders(session.as_ref(), self.selection.threads())
                .into_iter()
                .partition(|contender| self.plan.admits(contender.predicted));
            if !fit.iter().any(|contender| self.plan.arguments.picks(&contender.id(session.as_ref()))) {
                continue;
            }
            // A list computes nothing.
            let is_list = self.plan.arguments.mode() == Mode::List;
            let expected = (!is_list).then(|| self.expected(session.as_ref(), *size, &fit));
            if let Some(expected) = &expected {
                group.throughput(Throughput::Elements(session.work(expected.as_ref())));
            }
            let any = Cell::new(false);
            for contender in &fit {
                any.set(any.get() | self.bench(&mut group, session.as_ref(), expected.as_deref(), contender, *size));
            }
            if any.get() {
                self.print_skipped(*size, &slow);
            }
        }
        group.finish();
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

    fn print_skipped(&self, size: u64, slow: &[Contender]) {
        if slow.is_empty() {
            return;
        }
        let names: Vec<String> =
            slow.iter().map(|c| format!("{} ({})", c.info.name, span(c.predicted.as_nanos() as f64))).collect();
        let (operation, workload) = (self.operation.name(), self.workload.name);
        let names = names.join(", ");
        println!(
            "Left to `nimlanes compare {operation} --workload {workload} --size {size}` as too slow here: {names}.\n"
        );
    }
}
