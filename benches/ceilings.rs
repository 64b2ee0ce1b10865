//! Benches of what the machine can do at best: groups `ceilings/<kind>`, ids `<name>`.

use std::time::Duration;

use criterion::{SamplingMode, Throughput};
use nimlanes::lab::ceilings::CEILINGS;
use nimlanes::lab::clock::Clock;

mod support;

fn main() {
    support::run(|selection, plan, criterion, instrument| {
        instrument.read(Clock::Thread);
        for kind in CEILINGS.chunk_by(|a, b| a.kind == b.kind) {
            instrument.count(kind[0].unit);
            let mut group = criterion.benchmark_group(format!("ceilings/{}", kind[0].kind));
            group.sampling_mode(SamplingMode::Flat);
            for ceiling in kind {
                plan.apply(&mut group, Duration::ZERO);
                group.throughput(Throughput::Elements(ceiling.units() as u64));
                let mut ready = None;
                group.bench_function(ceiling.name, |bencher| {
                    let ready = ready.get_or_insert_with(|| ceiling.ready(selection.machine()));
                    bencher.iter(|| ready.run());
                });
            }
            group.finish();
        }
    });
}
