//! The benchmarks of a core: groups `<operation>/<workload>`, ids `<kernel>/<size>`, all from the registry.

use std::cell::{Cell, OnceCell};
use std::time::Duration;

use criterion::{BenchmarkGroup, BenchmarkId, SamplingMode, Throughput};
use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::{Core, Run, Workload};
use nimlanes::lab::clock::Clock;
use nimlanes::lab::known;
use nimlanes::machine::Machine;
use nimlanes::selection::span;
use nimlanes::session::{Answer, AnyOperation, Session};

use super::{Instrument, Plan};

/// Sizes up to here are compared with the oracle where no answer is known.
const SMALL: u64 = 100;

/// Runs the benchmarks of a core.
pub fn core(core: Core) {
    let machine = Machine::from_env().unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::for_runs(&predictions(&machine));
    super::run(&plan, |criterion, instrument| {
        for operation in OPERATIONS.iter().filter(|operation| operation.core() == core) {
            instrument.count(operation.unit());
            for workload in operation.workloads() {
                let group = criterion.benchmark_group(format!("{}/{}", operation.name(), workload.name));
                Cases { operation: *operation, workload, machine: &machine, plan: &plan, instrument }.fill(group);
            }
        }
    });
}

/// Predicted run times of all benchmarks there are, in all bench files: they share one budget.
fn predictions(machine: &Machine) -> Vec<Duration> {
    let mut runs = Vec::new();
    for operation in OPERATIONS {
        for workload in operation.workloads() {
            for size in workload.sizes {
                let session = session(*operation, workload, *size, machine);
                runs.extend(contenders(session.as_ref(), machine).map(|contender| contender.predicted));
            }
        }
    }
    runs
}

fn session(operation: &dyn AnyOperation, workload: &Workload, size: u64, machine: &Machine) -> Box<dyn Session> {
    operation.session(machine, workload.name, size).unwrap_or_else(|error| panic!("{error}"))
}

/// A kernel that can do an input.
struct Contender {
    /// Its index in the session.
    kernel: usize,
    name: &'static str,
    /// One if that is enough for it, else all there are.
    threads: usize,
    predicted: Duration,
}

fn contenders(session: &dyn Session, machine: &Machine) -> impl Iterator<Item = Contender> {
    session.kernels().into_iter().enumerate().filter_map(|(kernel, name)| {
        let threads =
            [1, machine.threads()].into_iter().find(|threads| session.cost(kernel, *threads).is_possible())?;
        let cost = session.cost(kernel, threads);
        let predicted = Duration::from_secs_f64((cost.ns / 1e9).clamp(1e-9, 1e9));
        (cost.bytes <= machine.memory() as f64).then_some(Contender { kernel, name, threads, predicted })
    })
}

/// The benchmarks of one workload.
struct Cases<'a> {
    operation: &'a dyn AnyOperation,
    workload: &'a Workload,
    machine: &'a Machine,
    plan: &'a Plan,
    instrument: &'a Instrument,
}

impl Cases<'_> {
    fn fill(&self, mut group: BenchmarkGroup<Instrument>) {
        // Equal samples: their number is what the plan counted on, and a slow kernel has its ten runs.
        group.sampling_mode(SamplingMode::Flat);
        for size in self.workload.sizes {
            let session = session(self.operation, self.workload, *size, self.machine);
            let (fit, slow): (Vec<_>, Vec<_>) =
                contenders(session.as_ref(), self.machine).partition(|contender| self.plan.admits(contender.predicted));
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
        let answer = session.run(quickest.kernel, &Run::new(quickest.threads)).expect("nobody stops it");
        match known::of(self.operation.name(), self.workload.name, size) {
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
        let Contender { kernel, name, threads, predicted } = *contender;
        self.instrument.read(Clock::of(threads));
        let asserted = OnceCell::new();
        group.sample_size(self.plan.samples_of(predicted));
        group.measurement_time(self.plan.measurement_of(predicted));
        group.bench_function(BenchmarkId::new(name, size), |bencher| {
            let run = Run::new(threads);
            asserted.get_or_init(|| {
                let answer = session.run(kernel, &run).expect("nobody stops it");
                assert!(answer.agrees(expected), "{name}/{size}: {:?}, not {:?}", answer.digest(), expected.digest());
            });
            bencher.iter(|| session.spin(kernel, &run).expect("nobody stops it"));
        });
        asserted.get().is_some()
    }

    fn leave_to_the_duel(&self, size: u64, slow: &[Contender]) {
        if slow.is_empty() {
            return;
        }
        let names: Vec<String> =
            slow.iter().map(|c| format!("{} ({})", c.name, span(c.predicted.as_nanos() as f64))).collect();
        let (operation, workload) = (self.operation.name(), self.workload.name);
        let names = names.join(", ");
        println!(
            "Left to `nimlanes compare {operation} --workload {workload} --size {size}` as too slow here: {names}.\n"
        );
    }
}
