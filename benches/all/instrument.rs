//! The measurement for criterion: a clock for each benchmark, throughput in the operation's unit, and flamegraphs.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use nimlanes::lab::clock::Clock;

/// Metric prefixes of throughputs, in steps of a thousand.
const PREFIXES: [&str; 4] = ["", "k", "M", "G"];

/// The measurement of all benchmarks. Criterion allows only one measurement type, so clock and unit are set at run time,
/// before each benchmark; clones share these settings.
#[derive(Clone)]
pub struct Instrument(Rc<Cell<Reading>>);

#[derive(Clone, Copy)]
struct Reading {
    clock: Clock,
    /// Unit of throughput, with each of the prefixes.
    units: [&'static str; 4],
}

impl Default for Instrument {
    fn default() -> Self {
        Instrument(Rc::new(Cell::new(Reading { clock: Clock::Thread, units: PREFIXES })))
    }
}

impl Instrument {
    /// Sets the clock for the following benchmarks.
    pub fn set_clock(&self, clock: Clock) {
        self.0.set(Reading { clock, ..self.0.get() });
    }

    /// Sets the unit of throughput for the following benchmarks, in the singular.
    pub fn set_unit(&self, unit: &str) {
        // Criterion needs `'static` units; a process leaks only a few.
        let units = PREFIXES.map(|prefix| &*format!("{prefix} {unit}s/s").leak());
        self.0.set(Reading { units, ..self.0.get() });
    }
}

impl Measurement for Instrument {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        self.0.get().clock.now()
    }

    fn end(&self, start: Duration) -> Duration {
        self.0.get().clock.now() - start
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, time: &Duration) -> f64 {
        time.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Instrument {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_values(typical, values)
    }

    fn scale_throughputs(&self, typical: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        let Throughput::Elements(work) = *throughput else {
            return WallTime.formatter().scale_throughputs(typical, throughput, values);
        };
        let a_second = |ns: f64| work as f64 * 1e9 / ns;
        let step = (a_second(typical).log10() / 3.0).clamp(0.0, 3.0) as usize;
        values.iter_mut().for_each(|value| *value = a_second(*value) / 1000f64.powi(step as i32));
        self.0.get().units[step]
    }

    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str {
        WallTime.formatter().scale_for_machines(values)
    }
}

#[cfg(feature = "cli")]
pub use self::flamegraphs::Flamegraphs;

#[cfg(feature = "cli")]
mod flamegraphs {
    use std::path::Path;

    use criterion::profiler::Profiler;
    use nimlanes_lab::profile::{Failure, ROOT, Sampler, Sampling};

    /// Draws a flamegraph of each benchmark for `cargo bench -- --profile-time <seconds>`: with its texts in the project's folder
    /// for pictures, and where criterion's users look, in `<target>/criterion/<id>/profile/flamegraph.svg`.
    pub struct Flamegraphs {
        sampler: Option<Sampler>,
        running: Option<Sampling>,
    }

    impl Flamegraphs {
        /// # Errors
        /// The environment names a sampler that there is not.
        pub fn new() -> Result<Self, Failure> {
            Ok(Flamegraphs { sampler: Sampler::from_env()?, running: None })
        }
    }

    impl Profiler for Flamegraphs {
        fn start_profiling(&mut self, _: &str, _: &Path) {
            self.running = Sampling::start(self.sampler).map_err(|error| eprintln!("{error}")).ok();
        }

        fn stop_profiling(&mut self, id: &str, folder: &Path) {
            let Some(sampling) = self.running.take() else { return };
            let drawn = sampling.finish(id).and_then(|profile| {
                profile.write_to(&folder.join("flamegraph.svg"))?;
                Ok((profile.write(Path::new(ROOT))?, profile))
            });
            match drawn {
                Ok((svg, profile)) => {
                    profile.remarks().iter().for_each(|remark| eprintln!("{remark}"));
                    println!("{}", svg.display());
                }
                Err(error) => eprintln!("{error}"),
            }
        }
    }
}
