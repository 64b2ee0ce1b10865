//! Counters of the CPU, by perf events.

use std::fs;
use std::io;

use nimlanes::kernel::RunError;
use perf_event_open::config::{Cpu, Inherit, Opts, Priv, Proc, StatFormat};
use perf_event_open::count::Counter;
use perf_event_open::event::Event;
use perf_event_open::event::hw::{Hardware as Generic, Op, OpResult, Type};
use perf_event_open::event::raw::Raw;

use super::{BRANCH_MISSES, CYCLES, Counts, INSTRUCTIONS, L1_MISSES, L2_MISSES, Source, TIME};

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
        let first_level = Generic::Cache(Type::L1d, Op::Read, OpResult::Miss);
        let generic = [
            (INSTRUCTIONS, Generic::Instr),
            (CYCLES, Generic::CpuCycle),
            (BRANCH_MISSES, Generic::BranchMiss),
            (L1_MISSES, first_level),
        ];
        let generic = generic.into_iter().map(|(name, event)| (name, counter(event)));
        Hardware::of(generic.chain(second_level().map(|opened| (L2_MISSES, opened))))
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

/// Opens a counter of this thread and of those that it starts.
fn counter(event: impl TryInto<Event, Error = io::Error>) -> io::Result<Counter> {
    let options = Opts {
        // Only some users may look at the operating system, and kernels do not work there.
        exclude: Priv { kernel: true, hv: true, ..Priv::default() },
        inherit: Some(Inherit::NewChild),
        stat_format: StatFormat { time_enabled: true, time_running: true, ..StatFormat::default() },
        ..Opts::default()
    };
    Counter::new(event, (Proc::CURRENT, Cpu::ALL), options)
}

impl Source for Hardware {
    fn count(&mut self, work: &mut dyn FnMut() -> Result<(), RunError>) -> Result<Counts, RunError> {
        let before: Vec<_> = self.counters.iter().map(|(_, counter)| counter.stat()).collect();
        let started: Vec<_> = self.counters.iter().map(|(_, counter)| counter.enable()).collect();
        let done = work();
        let stopped: Vec<_> = self.counters.iter().map(|(_, counter)| counter.disable()).collect();
        done?;
        let mut counts = Counts::new();
        for (place, (name, counter)) in self.counters.iter().enumerate() {
            let (Ok(before), Ok(()), Ok(()), Ok(after)) =
                (&before[place], &started[place], &stopped[place], counter.stat())
            else {
                continue;
            };
            let since = |after: Option<u64>, before: Option<u64>| after.unwrap_or(0) - before.unwrap_or(0);
            let enabled = since(after.time_enabled, before.time_enabled);
            let running = since(after.time_running, before.time_running);
            // If there are more events than counters, they take turns: scale the count to all of the time.
            if running > 0 {
                counts
                    .insert((*name).to_owned(), (after.count - before.count) as f64 * enabled as f64 / running as f64);
            }
            if *name == CYCLES {
                counts.insert(TIME.to_owned(), enabled as f64);
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
        "AuthenticAMD" => Some(counter(Generic::CacheMiss)),
        "GenuineIntel" => Some(counter(Raw { config: 0x3f24, config1: 0, config2: 0, config3: 0 })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread;
    use std::time::{Duration, Instant};

    use perf_event_open::event::sw::Software;

    use super::*;

    const FAULTS: &str = "page_faults";
    const CLOCK: &str = "task_clock";

    /// Software events exist on every Linux that has perf events.
    fn software() -> Option<Hardware> {
        let events = [(FAULTS, Software::PageFault), (CLOCK, Software::TaskClock)];
        match Hardware::of(events.into_iter().map(|(name, event)| (name, counter(event)))) {
            Ok(opened) => Some(opened),
            // Containers may forbid all of them.
            Err(error) => {
                eprintln!("no perf events here, not tested: {error}");
                None
            }
        }
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
    fn events_of_work_are_counted_and_no_others() {
        let Some(mut source) = software() else { return };
        let few = source.count(&mut || touch(1)).unwrap()[FAULTS];
        touch(MANY).unwrap();
        let many = source.count(&mut || touch(MANY)).unwrap()[FAULTS];
        assert!(few < LEAST && (LEAST..1.1 * MANY as f64).contains(&many), "{few}, {many}");
    }

    #[test]
    fn threads_that_are_started_count() {
        let Some(mut source) = software() else { return };
        let counts = source.count(&mut || thread::scope(|scope| scope.spawn(|| touch(MANY)).join().unwrap())).unwrap();
        assert!(counts[FAULTS] >= LEAST, "{counts:?}");
    }

    #[test]
    fn a_clock_counts_the_time_of_the_thread() {
        let Some(mut source) = software() else { return };
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

    #[test]
    fn what_no_cpu_has_is_left_out_or_refused() {
        let unknown = || (L2_MISSES, counter(Raw { config: u64::MAX, config1: 0, config2: 0, config3: 0 }));
        assert!(Hardware::of([unknown()].into_iter()).is_err());
        if software().is_some() {
            let opened = Hardware::of([unknown(), (FAULTS, counter(Software::PageFault))].into_iter()).unwrap();
            assert_eq!(opened.counters.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [FAULTS]);
        }
    }
}
