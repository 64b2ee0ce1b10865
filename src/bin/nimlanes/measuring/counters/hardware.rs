//! Counters of the CPU, by perf events.

use std::fs;
use std::io;
use std::time::Duration;

use nimlanes::kernel::RunError;
use perf_event::events::{Cache, CacheId, CacheOp, CacheResult, Event, Hardware as Generic, Raw};
use perf_event::{Builder, Counter};

use super::{BRANCH_MISSES, CYCLES, Counts, INSTRUCTIONS, L1_MISSES, L2_MISSES, TIME};

/// Counters of this thread and of those that it starts.
pub struct Hardware {
    counters: Vec<(&'static str, Counter)>,
}

impl Hardware {
    /// Opens a counter for each event that the CPU has.
    ///
    /// # Errors
    /// It has none, the system has no perf events, or does not allow them to this user.
    pub fn open() -> io::Result<Self> {
        let first_level = Cache { which: CacheId::L1D, operation: CacheOp::READ, result: CacheResult::MISS };
        let generic = [
            (INSTRUCTIONS, counter(Generic::INSTRUCTIONS)),
            (CYCLES, counter(Generic::CPU_CYCLES)),
            (BRANCH_MISSES, counter(Generic::BRANCH_MISSES)),
            (L1_MISSES, counter(first_level)),
        ];
        Hardware::of(generic.into_iter().chain(second_level().map(|opened| (L2_MISSES, opened))))
    }

    /// Takes those of some counters that could be opened; at least one.
    fn of(opened: impl Iterator<Item = (&'static str, io::Result<Counter>)>) -> io::Result<Self> {
        let (mut counters, mut failed) = (Vec::new(), None);
        for (name, opened) in opened {
            match opened {
                Ok(counter) => counters.push((name, counter)),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            Some(error) if counters.is_empty() => Err(error),
            _ => Ok(Hardware { counters }),
        }
    }
}

/// Opens a counter of this thread and of those that it starts. Only some users may look at the operating system, and kernels do not
/// work there: it is left out, as is the default.
fn counter(event: impl Event) -> io::Result<Counter> {
    Builder::new(event).inherit(true).build()
}

impl Hardware {
    /// Counts what this thread, and threads that it starts, do in `work`.
    ///
    /// # Errors
    /// That of `work`.
    pub fn count(&mut self, work: &mut dyn FnMut() -> Result<(), RunError>) -> Result<Counts, RunError> {
        let before: Vec<_> = self.counters.iter_mut().map(|(_, counter)| counter.read_full()).collect();
        let started: Vec<_> = self.counters.iter_mut().map(|(_, counter)| counter.enable()).collect();
        let done = work();
        let stopped: Vec<_> = self.counters.iter_mut().map(|(_, counter)| counter.disable()).collect();
        done?;
        let mut counts = Counts::new();
        for (place, (name, counter)) in self.counters.iter_mut().enumerate() {
            let (Ok(before), Ok(()), Ok(()), Ok(after)) =
                (&before[place], &started[place], &stopped[place], counter.read_full())
            else {
                continue;
            };
            let since = |after: Option<Duration>, before: Option<Duration>| {
                (after.unwrap_or_default() - before.unwrap_or_default()).as_nanos() as f64
            };
            let enabled = since(after.time_enabled(), before.time_enabled());
            let running = since(after.time_running(), before.time_running());
            // If there are more events than counters, they take turns: scale the count to all of the time.
            if running > 0.0 {
                counts.insert((*name).to_owned(), (after.count() - before.count()) as f64 * enabled / running);
            }
            if *name == CYCLES {
                counts.insert(TIME.to_owned(), enabled);
            }
        }
        Ok(counts)
    }
}

/// Misses of the second level. Linux has no general event for them. On AMD, its event for cache misses counts them; Intel has
/// `L2_RQSTS.MISS`, event 0x24 with mask 0x3f, from Skylake to Granite Rapids.
fn second_level() -> Option<io::Result<Counter>> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").ok()?;
    let vendor = cpuinfo.lines().find(|line| line.starts_with("vendor_id"))?;
    match vendor.rsplit(' ').next()? {
        "AuthenticAMD" => Some(counter(Generic::CACHE_MISSES)),
        "GenuineIntel" => Some(counter(Raw::new(0x3f24))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread;
    use std::time::Instant;

    use perf_event::events::Software;

    use super::*;

    const FAULTS: &str = "page_faults";
    const CLOCK: &str = "task_clock";

    /// Software events exist on every Linux that has perf events.
    fn software() -> Hardware {
        let events = [(FAULTS, Software::PAGE_FAULTS), (CLOCK, Software::TASK_CLOCK)];
        Hardware::of(events.into_iter().map(|(name, event)| (name, counter(event)))).expect("perf events are allowed")
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
    fn events_of_work_are_counted_and_no_others() {
        let mut source = software();
        let few = source.count(&mut || touch(1)).unwrap()[FAULTS];
        touch(MANY).unwrap();
        let many = source.count(&mut || touch(MANY)).unwrap()[FAULTS];
        assert!(few < LEAST && (LEAST..1.1 * MANY as f64).contains(&many), "{few}, {many}");
    }

    #[test]
    #[ignore = "needs perf events: .ci/run"]
    fn threads_that_are_started_count() {
        let mut source = software();
        let counts = source.count(&mut || thread::scope(|scope| scope.spawn(|| touch(MANY)).join().unwrap())).unwrap();
        assert!(counts[FAULTS] >= LEAST, "{counts:?}");
    }

    #[test]
    #[ignore = "needs perf events: .ci/run"]
    fn a_clock_counts_the_time_of_the_thread() {
        let mut source = software();
        let start = Instant::now();
        let mut spin = || {
            while start.elapsed() < Duration::from_millis(20) {
                std::hint::spin_loop();
            }
            Ok(())
        };
        let counts = source.count(&mut spin).unwrap();
        assert!((1e5..5e7).contains(&counts[CLOCK]), "{counts:?}");
        assert_eq!(source.count(&mut || Err(RunError::Cancelled)), Err(RunError::Cancelled));
    }

    fn unknown() -> (&'static str, io::Result<Counter>) {
        (L2_MISSES, counter(Raw::new(u64::MAX)))
    }

    #[test]
    #[ignore = "needs perf events: .ci/run"]
    fn what_no_cpu_has_is_left_out() {
        let opened = Hardware::of([unknown(), (FAULTS, counter(Software::PAGE_FAULTS))].into_iter()).unwrap();
        assert_eq!(opened.counters.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [FAULTS]);
    }

    /// Where there are no perf events, as well.
    #[test]
    fn what_no_cpu_has_is_refused_if_it_is_all() {
        assert!(Hardware::of([unknown()].into_iter()).is_err());
    }
}
