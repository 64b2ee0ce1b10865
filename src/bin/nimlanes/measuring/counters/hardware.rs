//! Counters of the CPU, by perf events.

use std::fs;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use nimlanes::kernel::session::Session;
use nimlanes::kernel::{Run, RunError};
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Event, Hardware};
use perf_event::{Builder, Counter};

use super::{BRANCH_MISSES, CYCLES, CountError, CountedKernel, Counts, INSTRUCTIONS, L1_MISSES, per_unit};
use crate::measuring::duel::repeats;

/// Runs a kernel often enough for counts with little noise.
///
/// # Errors
/// There are no counters, or the kernel failed.
pub(super) fn row(session: &dyn Session, kernel: usize, run: &Run) -> Result<CountedKernel, CountError> {
    let start = Instant::now();
    let work = session.work(session.run(kernel, run)?.as_ref());
    let runs = repeats(start.elapsed());
    let total = count(|| session.spin(kernel, run, runs))?;
    let counts = per_unit(&total, runs as f64 * work.max(1) as f64);
    Ok(CountedKernel { kernel: session.kernels()[kernel].name, runs, counts, code_bytes: None, hot_loop: None })
}

/// Counts what this thread, and threads that it starts, do in `work`, by each event that the CPU has.
///
/// # Errors
/// It has none, the system has no perf events, or does not allow them to this user; or `work` failed.
fn count(work: impl FnOnce() -> Result<(), RunError>) -> Result<Counts, CountError> {
    let first_level = Cache { which: CacheId::L1D, operation: CacheOp::READ, result: CacheResult::MISS };
    let opened = [
        (INSTRUCTIONS, counter(Hardware::INSTRUCTIONS)),
        (CYCLES, counter(Hardware::CPU_CYCLES)),
        (BRANCH_MISSES, counter(Hardware::BRANCH_MISSES)),
        (L1_MISSES, counter(first_level)),
    ];
    count_by(opened, work)
}

/// Counts by those counters that could be opened; at least one.
fn count_by(
    opened: impl IntoIterator<Item = (&'static str, io::Result<Counter>)>,
    work: impl FnOnce() -> Result<(), RunError>,
) -> Result<Counts, CountError> {
    let (mut counters, mut failed) = (Vec::new(), None);
    for (name, opened) in opened {
        match opened.and_then(|mut counter| counter.enable().map(|()| counter)) {
            Ok(counter) => counters.push((name, counter)),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    if let Some(error) = failed.filter(|_| counters.is_empty()) {
        return Err(CountError::Impossible(why_not(&error)));
    }
    work()?;
    let stopped: Vec<_> = counters.iter_mut().map(|(_, counter)| counter.disable()).collect();
    let mut counts = Counts::new();
    for ((name, counter), stopped) in counters.iter_mut().zip(stopped) {
        let Ok(data) = stopped.and_then(|()| counter.read_full()) else { continue };
        let nanoseconds = |time: Option<Duration>| time.unwrap_or_default().as_nanos() as f64;
        let [enabled, running] = [data.time_enabled(), data.time_running()].map(nanoseconds);
        // If there are more events than counters, they take turns: scale the count to all of the time.
        if running > 0.0 {
            counts.insert(name, data.count() as f64 * enabled / running);
        }
    }
    Ok(counts)
}

/// Opens a counter of this thread and of those that it starts. Only some users may look at the operating system, and kernels do not
/// work there: it is left out, as is the default.
fn counter(event: impl Event) -> io::Result<Counter> {
    Builder::new(event).inherit(true).build()
}

/// Why perf events did not start.
pub fn why_not(error: &io::Error) -> String {
    let setting = "/proc/sys/kernel/perf_event_paranoid";
    match (error.kind(), fs::read_to_string(setting)) {
        (ErrorKind::PermissionDenied, Ok(level)) => {
            format!("perf events are not allowed ({setting} is {}): {error}", level.trim())
        }
        _ => format!("there are no perf events: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread;

    use perf_event::events::{Raw, Software};

    use super::*;

    const FAULTS: &str = "page_faults";

    /// By a software event, which exists on every Linux that has perf events, and one that no CPU has, which is left out.
    fn counted(work: impl FnOnce() -> Result<(), RunError>) -> Result<Counts, CountError> {
        count_by([(L1_MISSES, counter(Raw::new(u64::MAX))), (FAULTS, counter(Software::PAGE_FAULTS))], work)
    }

    /// Pages of 4 kB that no allocator keeps when they are freed: more than 32 MiB.
    const MANY: usize = 20_000;
    /// Their fewest page faults: the system provides at most 2 MB at a time.
    const LEAST: f64 = (MANY / 512) as f64;

    /// Writes to pages: if they are many, to ones that the system has yet to provide.
    fn touch(pages: usize) -> Result<(), RunError> {
        let mut memory = vec![0u8; pages << 12];
        memory.chunks_mut(1 << 12).for_each(|page| page[0] = 1);
        black_box(memory);
        Ok(())
    }

    #[test]
    #[ignore = "needs perf events: .ci/run"]
    fn events_of_work_and_of_its_threads_are_counted_and_no_others() {
        let few = counted(|| touch(1)).unwrap();
        assert_eq!(few.keys().collect::<Vec<_>>(), [&FAULTS]);
        touch(MANY).unwrap();
        let many = counted(|| touch(MANY)).unwrap()[FAULTS];
        assert!(few[FAULTS] < LEAST && (LEAST..1.1 * MANY as f64).contains(&many), "{few:?}, {many}");
        let counts = counted(|| thread::scope(|scope| scope.spawn(|| touch(MANY)).join().unwrap())).unwrap();
        assert!(counts[FAULTS] >= LEAST, "{counts:?}");
        assert!(matches!(counted(|| Err(RunError::Cancelled)), Err(CountError::Run(RunError::Cancelled))));
    }

    #[test]
    fn a_refusal_is_explained() {
        let refused = why_not(&ErrorKind::PermissionDenied.into());
        assert!(refused.contains("perf events are not allowed (/proc/sys/kernel/perf_event_paranoid is "), "{refused}");
        let absent = why_not(&ErrorKind::Unsupported.into());
        assert!(absent.starts_with("there are no perf events: "), "{absent}");
    }

    /// Where there are no perf events, as well.
    #[test]
    fn what_no_cpu_has_is_refused_if_it_is_all() {
        let counted = count_by([(L1_MISSES, counter(Raw::new(u64::MAX)))], || Ok(()));
        assert!(matches!(counted, Err(CountError::Impossible(_))), "{counted:?}");
    }
}
