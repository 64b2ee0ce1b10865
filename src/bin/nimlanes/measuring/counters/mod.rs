//! Instructions, cycles and misses of a kernel per unit of work, by the counters of the CPU ([`hardware`]). Many virtual machines
//! have none.

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

use self::hardware::Hardware;
use crate::measuring::duel::repeats;
use crate::terminal::output::table;

/// What is counted, by the name of its field, and the heading of its column. Older files also have the energy of the package.
const COUNTED: [(&str, &str); 8] = [
    (INSTRUCTIONS, "instructions"),
    (CYCLES, "cycles"),
    (IPC, "IPC"),
    (BRANCH_MISSES, "branch misses"),
    (L1_MISSES, "L1d misses"),
    (L2_MISSES, "L2 misses"),
    (FREQUENCY, "GHz"),
    ("package_nanojoules", "package nJ"),
];
const INSTRUCTIONS: &str = "instructions";
const CYCLES: &str = "cycles";
const IPC: &str = "instructions_per_cycle";
const BRANCH_MISSES: &str = "branch_misses";
const L1_MISSES: &str = "l1d_misses";
const L2_MISSES: &str = "l2_misses";
const FREQUENCY: &str = "gigahertz";
/// The time in which the cycles were counted, which is not shown.
const TIME: &str = "nanoseconds";

/// Numbers of events, by name. What could not be counted is missing.
type Counts = BTreeMap<String, f64>;

/// The counts of some kernels.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Counters {
    /// The unit of work.
    unit: String,
    /// A row for each kernel.
    pub rows: Vec<Row>,
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

/// Counts what kernels of a session do, given by their indices; `None` if the CPU has no counters, for which `announce` receives
/// the reason.
///
/// # Errors
/// A kernel failed, or the run was cancelled.
pub fn count(
    session: &dyn Session,
    kernels: &[usize],
    run: &Run,
    announce: &mut dyn FnMut(&str),
) -> Result<Option<Counters>, RunError> {
    let mut hardware = match Hardware::open() {
        Ok(hardware) => hardware,
        Err(error) => {
            let why = match error.kind() {
                ErrorKind::NotFound | ErrorKind::Unsupported => "the system offers none".to_owned(),
                ErrorKind::PermissionDenied => "perf_event_paranoid does not allow them".to_owned(),
                _ => error.to_string(),
            };
            announce(&format!("no counters of the CPU here: {why}"));
            return Ok(None);
        }
    };
    let rows = kernels.iter().map(|kernel| row(session, *kernel, run, &mut hardware)).collect::<Result<_, _>>()?;
    Ok(Some(Counters { unit: session.unit().to_owned(), rows }))
}

/// Runs a kernel once, and then often enough for counts with little noise.
fn row(session: &dyn Session, kernel: usize, run: &Run, hardware: &mut Hardware) -> Result<Row, RunError> {
    let start = Instant::now();
    let answer = session.run(kernel, run)?;
    let runs = repeats(start.elapsed());
    let work = session.work(answer.as_ref());
    drop(answer);
    let total = hardware.count(&mut || session.spin(kernel, run, runs))?;
    Ok(Row::new(session.kernels()[kernel].name, runs, work, total))
}

impl Counters {
    /// A table of what was counted.
    pub fn text(&self) -> String {
        format!("\ncounted by the CPU in user space, per {}\n\n{}", self.unit, table(self.lines()))
    }

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
    use super::*;

    fn counts<const N: usize>(list: [(&str, f64); N]) -> Counts {
        list.map(|(name, count)| (name.to_owned(), count)).into()
    }

    #[test]
    fn counts_are_per_unit_of_work() {
        let row = Row::new("stamp", 10, 50, counts([(INSTRUCTIONS, 1500.0), (CYCLES, 500.0), (TIME, 200.0)]));
        assert_eq!(row.counts, counts([(INSTRUCTIONS, 3.0), (CYCLES, 1.0), (IPC, 3.0), (FREQUENCY, 2.5)]));
        let row = Row::new("stamp", 1, 0, counts([(INSTRUCTIONS, 7.0), (CYCLES, 0.0)]));
        assert_eq!(row.counts, counts([(INSTRUCTIONS, 7.0), (CYCLES, 0.0)]), "no work and no cycles");
    }

    /// Files of older versions say more.
    #[test]
    fn only_what_was_counted_has_a_column() {
        let old = r#"{"source": "hardware", "unit": "heap", "skipped": [], "rows": [
            {"kernel": "old", "runs": 1, "instructions": 1234.0, "cycles": 617.0, "l2_misses": 0.00123, "package_nanojoules": 5.0},
            {"kernel": "new", "runs": 1, "instructions": 12.34}
        ]}"#;
        let counters: Counters = serde_json::from_str(old).unwrap();
        let want = "\ncounted by the CPU in user space, per heap\n\n\
            kernel  instructions  cycles  L2 misses  package nJ\n\
            old             1234     617     0.0012        5.00\n\
            new             12.3       –          –           –\n";
        assert_eq!(counters.text(), want);
    }
}
