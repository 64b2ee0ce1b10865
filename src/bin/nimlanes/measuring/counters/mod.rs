//! Instructions, cycles and misses of a kernel per unit of work.
//!
//! The counters of the CPU give all of these, by perf events ([`hardware`]). Many virtual machines have none. There callgrind
//! counts instructions, in a simulation that does not time anything ([`callgrind`]). Where the machine reports the [`energy`] it
//! uses, that is counted as well.

mod callgrind;
mod energy;
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "x86_64"))),
    path = "no_hardware.rs"
)]
mod hardware;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::time::Instant;

use nimlanes::kernel::session::Session;
use nimlanes::kernel::{Run, RunError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::callgrind::Uncounted;
use self::energy::Metered;
use self::hardware::Hardware;
use crate::measuring::duel::{Skipped, repeats};
use crate::terminal::output::table;

/// What is counted, by the name of its field, and the heading of its column.
const COUNTED: [(&str, &str); 8] = [
    (INSTRUCTIONS, "instructions"),
    (CYCLES, "cycles"),
    (IPC, "IPC"),
    (BRANCH_MISSES, "branch misses"),
    (L1_MISSES, "L1d misses"),
    (L2_MISSES, "L2 misses"),
    (FREQUENCY, "GHz"),
    (ENERGY, "package nJ"),
];
const INSTRUCTIONS: &str = "instructions";
const CYCLES: &str = "cycles";
const IPC: &str = "instructions_per_cycle";
const BRANCH_MISSES: &str = "branch_misses";
const L1_MISSES: &str = "l1d_misses";
const L2_MISSES: &str = "l2_misses";
const FREQUENCY: &str = "gigahertz";
const ENERGY: &str = "package_nanojoules";
/// The time in which the cycles were counted, which is not shown.
const TIME: &str = "nanoseconds";

/// Numbers of events, by name. What could not be counted is missing.
type Counts = BTreeMap<String, f64>;

/// What has counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Origin {
    /// The counters of the CPU.
    Hardware,
    /// callgrind, which counts instructions alone.
    Callgrind,
}

/// What counts events.
trait Source {
    /// Counts what this thread, and threads that it starts, do in `work`.
    ///
    /// # Errors
    /// That of `work`.
    fn count(&mut self, work: &mut dyn FnMut() -> Result<(), RunError>) -> Result<Counts, RunError>;
}

/// The counts of some kernels.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Counters {
    source: Origin,
    /// The unit of work.
    unit: String,
    /// The kernels that were counted.
    pub rows: Vec<Row>,
    /// The kernels that were not counted.
    skipped: Vec<Skipped>,
}

/// The counts of one kernel.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Row {
    /// The kernel's name.
    pub kernel: String,
    /// Number of runs that were counted.
    runs: u64,
    /// Per unit of work, in user space.
    #[serde(flatten)]
    counts: Counts,
}

impl Row {
    /// The counts of several runs, each of so many units of work.
    fn new(kernel: &str, runs: u64, work: u64, total: Counts) -> Self {
        let units = runs as f64 * work.max(1) as f64;
        let ratio = |of: &str, to: &str| Some(total.get(of)? / total.get(to).filter(|count| **count > 0.0)?);
        let mut counts: Counts = total.iter().map(|(name, count)| (name.clone(), count / units)).collect();
        counts.remove(TIME);
        counts.extend(ratio(INSTRUCTIONS, CYCLES).map(|ratio| (IPC.to_owned(), ratio)));
        counts.extend(ratio(CYCLES, TIME).map(|ratio| (FREQUENCY.to_owned(), ratio)));
        Row { kernel: kernel.to_owned(), runs, counts }
    }

    /// Instructions per cycle, if both were counted.
    pub fn instructions_per_cycle(&self) -> Option<f64> {
        self.counts.get(IPC).copied()
    }
}

/// Counts what kernels of a session do, given by their indices; `None` if nothing here can count. `announce` receives a line if
/// the CPU has no counters.
///
/// # Errors
/// A kernel failed, or the run was cancelled.
pub fn count(
    session: &dyn Session,
    kernels: &[usize],
    run: &Run,
    announce: &mut dyn FnMut(&str),
) -> Result<Option<Counters>, RunError> {
    let why = match Hardware::open() {
        Ok(hardware) => return by_hardware(hardware, session, kernels, run).map(Some),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::Unsupported => "the system offers none".to_owned(),
            ErrorKind::PermissionDenied => "perf_event_paranoid does not allow them".to_owned(),
            _ => error.to_string(),
        },
    };
    if !callgrind::is_here(run) {
        announce(&format!("no counters of the CPU here ({why}), and no valgrind to count instructions"));
        return Ok(None);
    }
    announce(&format!("no counters of the CPU here ({why}): valgrind counts instructions"));
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    for kernel in kernels {
        let name = session.kernels()[*kernel].name;
        match callgrind::instructions(session, *kernel, run) {
            Ok(total) => {
                let work = session.work(session.run(*kernel, run)?.as_ref());
                rows.push(Row::new(name, 1, work, Counts::from([(INSTRUCTIONS.to_owned(), total as f64)])));
            }
            Err(Uncounted::Reason(reason)) => {
                skipped.push(Skipped { kernel: name.to_owned(), reason, predicted_seconds: None })
            }
            Err(Uncounted::Run(cancelled)) => return Err(cancelled),
        }
    }
    Ok(Some(Counters { source: Origin::Callgrind, unit: session.unit().to_owned(), rows, skipped }))
}

/// [`count`] by the CPU alone; `None` if it has no counters.
///
/// # Errors
/// As [`count`].
pub fn count_by_cpu(session: &dyn Session, kernels: &[usize], run: &Run) -> Result<Option<Counters>, RunError> {
    Hardware::open().ok().map(|hardware| by_hardware(hardware, session, kernels, run)).transpose()
}

fn by_hardware(hardware: Hardware, session: &dyn Session, kernels: &[usize], run: &Run) -> Result<Counters, RunError> {
    let mut source = Metered::new(hardware);
    let rows = kernels.iter().map(|kernel| row(session, *kernel, run, &mut source)).collect::<Result<_, _>>()?;
    Ok(Counters { source: Origin::Hardware, unit: session.unit().to_owned(), rows, skipped: Vec::new() })
}

/// Runs a kernel once, and then often enough for counts with little noise.
fn row(session: &dyn Session, kernel: usize, run: &Run, source: &mut dyn Source) -> Result<Row, RunError> {
    let start = Instant::now();
    let answer = session.run(kernel, run)?;
    let runs = repeats(start.elapsed());
    let work = session.work(answer.as_ref());
    drop(answer);
    let total = source.count(&mut || session.spin(kernel, run, runs))?;
    Ok(Row::new(session.kernels()[kernel].name, runs, work, total))
}

impl Counters {
    /// A table of what was counted, and what was not.
    pub fn text(&self) -> String {
        let Counters { source, unit, rows, skipped } = self;
        let title = match source {
            Origin::Hardware => format!("counted by the CPU in user space, per {unit}"),
            Origin::Callgrind => format!("counted by callgrind, per {unit}"),
        };
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for Skipped { kernel, reason, .. } in skipped {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, kernels)) => kernels.push(kernel),
                None => reasons.push((reason, vec![kernel])),
            }
        }
        let skipped =
            reasons.iter().map(|(reason, kernels)| format!("not counted: {} ({reason})\n", kernels.join(", ")));
        let counted = if rows.is_empty() { String::new() } else { format!("{title}\n\n{}", table(&self.lines())) };
        format!("\n{counted}{}", skipped.collect::<String>())
    }
}

impl Counters {
    /// The rows of a table, the first of them its heading. Only what was counted has a column, after that of the kernels.
    pub fn lines(&self) -> Vec<Vec<String>> {
        let is_counted = |(name, _): &&(&str, &str)| self.rows.iter().any(|row| row.counts.contains_key(*name));
        let columns: Vec<_> = COUNTED.iter().filter(is_counted).collect();
        let heads = columns.iter().map(|(_, head)| (*head).to_owned());
        let head = ["kernel".to_owned()].into_iter().chain(heads).collect();
        let rows = self.rows.iter().map(|Row { kernel, counts, .. }| {
            let cells =
                columns.iter().map(|(name, _)| counts.get(*name).map_or("–".to_owned(), |count| figure(*count)));
            [kernel.clone()].into_iter().chain(cells).collect()
        });
        [head].into_iter().chain(rows).collect()
    }
}

/// A number with three significant digits, but all of those before the point, and at most four after it.
fn figure(count: f64) -> String {
    let places = match count {
        0.1..1.0 => 3,
        1.0..10.0 => 2,
        10.0..100.0 => 1,
        100.0.. => 0,
        _ => 4,
    };
    format!("{count:.places$}")
}

#[cfg(test)]
mod tests {
    use nimlanes::kernel::selection::Selection;
    use nimlanes::machine::Machine;

    use super::*;

    fn counts<const N: usize>(list: [(&str, f64); N]) -> Counts {
        list.map(|(name, count)| (name.to_owned(), count)).into()
    }

    /// A CPU that takes two cycles and three instructions for a run, and has no caches.
    struct Fake {
        runs: u64,
    }

    impl Source for Fake {
        fn count(&mut self, work: &mut dyn FnMut() -> Result<(), RunError>) -> Result<Counts, RunError> {
            work()?;
            let runs = self.runs as f64;
            Ok(counts([(INSTRUCTIONS, 3.0 * runs), (CYCLES, 2.0 * runs), (BRANCH_MISSES, 0.0)]))
        }
    }

    fn session() -> Box<dyn Session> {
        let selection = Selection::new(Machine::detect());
        nimlanes::cores::operation("mex_subtraction").unwrap().session(&selection, "squares", 100).unwrap()
    }

    #[test]
    fn counts_are_per_unit_of_work() {
        let row = Row::new("stamp", 10, 50, counts([(INSTRUCTIONS, 1500.0), (CYCLES, 500.0), (TIME, 200.0)]));
        assert_eq!(row.counts, counts([(INSTRUCTIONS, 3.0), (CYCLES, 1.0), (IPC, 3.0), (FREQUENCY, 2.5)]));
        let row = Row::new("stamp", 1, 0, counts([(INSTRUCTIONS, 7.0), (CYCLES, 0.0)]));
        assert_eq!(row.counts, counts([(INSTRUCTIONS, 7.0), (CYCLES, 0.0)]), "no work and no cycles");
    }

    #[test]
    fn a_kernel_is_run_while_it_is_counted() {
        let (session, run) = (session(), Run::new(1));
        let kernel = session.index("stamp").unwrap();
        let counted = row(session.as_ref(), kernel, &run, &mut Fake { runs: 101 }).unwrap();
        assert_eq!((counted.kernel.as_str(), counted.counts[IPC], counted.counts[BRANCH_MISSES]), ("stamp", 1.5, 0.0));
        assert!(counted.runs >= 1, "{}", counted.runs);
        run.cancel();
        assert_eq!(row(session.as_ref(), kernel, &run, &mut Fake { runs: 1 }), Err(RunError::Cancelled));
    }

    #[test]
    fn only_what_was_counted_has_a_column() {
        let rows = vec![
            Row::new("old", 1, 1, counts([(INSTRUCTIONS, 1234.0), (CYCLES, 617.0), (L2_MISSES, 0.00123)])),
            Row::new("new", 1, 1, counts([(INSTRUCTIONS, 12.34)])),
        ];
        let skipped = [("wide", "too wide"), ("slow", "too slow"), ("wider", "too wide")];
        let skipped = skipped.map(|(kernel, reason)| (kernel.to_owned(), reason.to_owned()));
        let skipped = skipped.map(|(kernel, reason)| Skipped { kernel, reason, predicted_seconds: None }).to_vec();
        let counters = Counters { source: Origin::Hardware, unit: "heap".to_owned(), rows, skipped };
        let want = "\ncounted by the CPU in user space, per heap\n\n\
            kernel  instructions  cycles   IPC  L2 misses\n\
            old             1234     617  2.00     0.0012\n\
            new             12.3       –     –          –\n\
            not counted: wide, wider (too wide)\n\
            not counted: slow (too slow)\n";
        assert_eq!(counters.text(), want);
        let json = serde_json::to_value(&counters).unwrap();
        assert_eq!(serde_json::from_value::<Counters>(json.clone()).unwrap(), counters);
        assert_eq!(
            (&json["rows"][0]["instructions_per_cycle"], &json["rows"][1]["cycles"]),
            (&2.0.into(), &serde_json::Value::Null)
        );
    }
}
