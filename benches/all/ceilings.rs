//! Benches of the machine's ceilings: groups `ceilings/<kind>`, ids `<name>`.

use std::time::Duration;

use criterion::{SamplingMode, Throughput};
use nimlanes::kernel::selection::Selection;
use nimlanes::lab::ceilings::{CEILINGS, Ceiling};

use crate::pass::{Task, time};
use crate::{Bench, Plan};

/// The benchmarks of this run.
pub fn tasks<'a>(selection: &'a Selection, plan: &Plan) -> Vec<Task<'a>> {
    let task = |ceiling: &'static Ceiling| Task {
        id: format!("ceilings/{}/{}", ceiling.kind, ceiling.name),
        predicted: predicted(ceiling),
        is_one_run: false,
        time: Box::new(|| {
            let mut prepared = ceiling.prepare(selection.machine());
            time(|| prepared.run())
        }),
    };
    CEILINGS.iter().map(task).filter(|task| plan.arguments.picks(&task.id)).collect()
}

/// Ten bytes in a nanosecond: only a sweep over memory takes long.
fn predicted(ceiling: &Ceiling) -> Duration {
    Duration::from_nanos(ceiling.bytes as u64 / 10)
}

pub fn run(Bench { selection, plan, instrument, criterion, .. }: &mut Bench) {
    for kind in CEILINGS.chunk_by(|a, b| a.kind == b.kind) {
        instrument.set_clock(kind[0].clock());
        instrument.set_unit(kind[0].unit);
        let mut group = criterion.benchmark_group(format!("ceilings/{}", kind[0].kind));
        group.sampling_mode(SamplingMode::Flat);
        for ceiling in kind {
            plan.apply(&mut group, predicted(ceiling));
            group.throughput(Throughput::Elements(ceiling.units() as u64));
            let mut prepared = None;
            group.bench_function(ceiling.name, |bencher| {
                let prepared = prepared.get_or_insert_with(|| ceiling.prepare(selection.machine()));
                bencher.iter(|| prepared.run());
            });
        }
        group.finish();
    }
}
