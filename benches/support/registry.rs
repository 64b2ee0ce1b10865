//! The benchmarks of a core: groups `<operation>/<workload>`, ids `<kernel>/<size>`, all from the registry.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use criterion::measurement::Measurement;
use criterion::{BenchmarkGroup, BenchmarkId, SamplingMode, Throughput};
use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::{Core, Run};
use nimlanes::lab::clock::Clock;
use nimlanes::lab::known;
use nimlanes::selection::Selection;
use nimlanes::session::{Answer, AnyOperation, KernelInfo, Session};
use nimlanes::units::span;
use nimlanes::workload::Workload;

use super::{Instrument, Plan};

/// Sizes up to here are compared with the oracle where no answer is known.
const SMALL: u64 = 100;

/// Runs the benchmarks of a core.
pub fn core(core: Core) {
    super::run(|selection, plan, criterion, instrument| {
        for operation in OPERATIONS.iter().filter(|operation| operation.core() == core) {
            instrument.count(operation.unit());
            for workload in operation.workloads() {
                let group = criterion.benchmark_group(format!("{}/{}", operation.name(), workload.name));
                Cases { operation: *operation, workload, selection, plan, instrument }.fill(group);
            }
        }
    });
}

/// Predicted run times of all benchmarks there are, in all bench files: they share one budget.
pub fn predictions(selection: &Selection) -> Vec<Duration> {
    let mut runs = Vec::new();
    for operation in OPERATIONS {
        for workload in operation.workloads() {
            for size in workload.sizes {
                let session = session(*operation, workload, *size, selection);
                let contenders = contenders(session.as_ref(), selection.threads());
                runs.extend(contenders.iter().map(|contender| contender.predicted));
            }
        }
    }
    runs
}

fn session(operation: &dyn AnyOperation, workload: &Workload, size: u64, selection: &Selection) -> Box<dyn Session> {
    operation.session(selection, workload.name, size).unwrap_or_else(|error| panic!("{error}"))
}

/// A kernel that can do an input here.
pub struct Contender {
    /// Its index in the session.
    index: usize,
    /// What it is.
    pub info: KernelInfo,
    /// Threads it is given: all there are, if it is built to use them.
    threads: usize,
    /// Predicted time of a run.
    pub predicted: Duration,
}

/// The kernels that can do the input of a session with at most so many threads.
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
        // Equal samples: their number is what the plan counted on, and a slow kernel has its ten runs.
        group.sampling_mode(SamplingMode::Flat);
        for size in self.workload.sizes {
            let session = session(self.operation, self.workload, *size, self.selection);
            let (fit, slow): (Vec<_>, Vec<_>) = contenders(session.as_ref(), self.selection.threads())
                .into_iter()
                .partition(|contender| self.plan.admits(contender.predicted));
            let Some(expected) = self.expected(session.as_ref(), *size, &fit) else { continue };
            group.throughput(Throughput::Elements(session.work(expected.as_ref())));
            let any = Cell::new(false);
            for contender in &fit {
                any.set(any.get() | self.bench(&mut group, session.as_ref(), expected.as_ref(), contender, *size));
            }
            if any.get() {
                self.leave_to_the_duel(*size, &slow);
            }
        }
        group.finish();
    }

    /// The answer of the quickest kernel, known to be right where an answer is known or the oracle is quick.
    fn expected(&self, session: &dyn Session, size: u64, contenders: &[Contender]) -> Option<Box<dyn Answer>> {
        let quickest = contenders.iter().min_by_key(|contender| contender.predicted)?;
        let answer = session.run(quickest.index, &Run::new(quickest.threads)).expect("nobody stops it");
        match known::of(session.case()) {
            Some(known) => known.check(&answer.digest()).unwrap_or_else(|difference| panic!("{difference}")),
            None if size <= SMALL => assert!(answer.agrees(session.oracle()), "{size}: not the oracle's answer"),
            None => {}
        }
        Some(answer)
    }

    /// Asserts the answer of one kernel and times it, unless the command line filters it out; says whether it did not.
    fn bench(
        &self,
        group: &mut BenchmarkGroup<Instrument>,
        session: &dyn Session,
        expected: &dyn Answer,
        contender: &Contender,
        size: u64,
    ) -> bool {
        let Contender { index, threads, .. } = *contender;
        let name = contender.info.name;
        self.instrument.read(Clock::of(threads));
        let asserted = OnceCell::new();
        self.plan.apply(group, contender.predicted);
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            let run = Run::new(threads);
            asserted.get_or_init(|| {
                let answer = session.run(index, &run).expect("nobody stops it");
                assert!(answer.agrees(expected), "{name}/{size}: {:?}, not {:?}", answer.digest(), expected.digest());
            });
            bencher.iter_custom(|runs| {
                let start = self.instrument.start();
                session.spin(index, &run, runs).expect("nobody stops it");
                self.instrument.end(start)
            });
        });
        asserted.get().is_some()
    }

    fn leave_to_the_duel(&self, size: u64, slow: &[Contender]) {
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
