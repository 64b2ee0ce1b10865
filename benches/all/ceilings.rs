//! Benches of the machine's ceilings: groups `ceilings/<kind>`, ids `<name>`.

use std::time::Duration;

use criterion::{SamplingMode, Throughput};
use nimlanes::lab::ceilings::CEILINGS;

use crate::Bench;

/// The id of each benchmark and the time of a run, which is short.
pub fn all() -> Vec<(String, Duration)> {
    CEILINGS.iter().map(|ceiling| (format!("ceilings/{}/{}", ceiling.kind, ceiling.name), Duration::ZERO)).collect()
}

pub fn run(Bench { selection, plan, instrument, criterion }: &mut Bench) {
    for kind in CEILINGS.chunk_by(|a, b| a.kind == b.kind) {
        instrument.set_clock(kind[0].clock());
        instrument.set_unit(kind[0].unit);
        let mut group = criterion.benchmark_group(format!("ceilings/{}", kind[0].kind));
        group.sampling_mode(SamplingMode::Flat);
        for ceiling in kind {
            plan.apply(&mut group, Duration::ZERO);
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
