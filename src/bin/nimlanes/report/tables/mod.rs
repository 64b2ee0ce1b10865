//! The text of a report: markdown, generated only from measurements and the registry.
//!
//! Links lead from the root of the source tree.

mod ablation;
mod games;
mod limits;
mod machines;
pub(in crate::report) mod markdown;
mod operation;

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::Tier;
use nimlanes::kernel::case::Case;
use nimlanes::kernel::session::{AnyOperation, KernelInfo};
use nimlanes::kernel::workload::Workload;
use nimlanes::lab::known;
use nimlanes::machine::Machine;

use self::markdown::{MarkdownTable, code, figure, size, times};
use super::PAGES;
use super::data::Data;
use super::data::sources::Changed;
use super::measure::tasks::SMALL;
use crate::files::saved::day;
use crate::measuring::duel::{Duel, FEW_ROUNDS, Row, is_tie};

const HOW_TO_READ: &str = include_str!("how_to_read.txt");
const THREATS: &str = include_str!("threats.txt");
const REPRODUCE: &str = include_str!("reproduce.txt");

const QUESTION: &str =
    "How much faster than the best known code elsewhere are exact kernels built on bits, layout and vectors?";

/// Where an input stands: in the order of the lists. Inputs that are in no list come last.
pub fn place(case: &Case) -> impl Ord + use<> {
    let operation = OPERATIONS.iter().position(|operation| operation.name() == case.operation);
    let workloads = operation.map_or(&[][..], |operation| OPERATIONS[operation].workloads());
    let workload = workloads.iter().position(|workload| workload.name == case.workload);
    ([operation, workload].map(|place| place.unwrap_or(usize::MAX)), case.size)
}

/// The best kernel in plain Rust of a duel.
pub fn best_plain<'d>(duel: &'d Duel, kernels: &[KernelInfo]) -> Option<&'d Row> {
    duel.rows.iter().find(|row| kernels.iter().any(|kernel| kernel.name == row.kernel && kernel.is_plain()))
}

/// How many times as fast a kernel is as another of its duel.
struct Ratio {
    ratio: f64,
    low: f64,
    high: f64,
    rounds: usize,
}

impl Ratio {
    fn of(row: &Row, other: &Row) -> Self {
        let [low, ratio, high] = row.ratio_to(other);
        Ratio { ratio, low, high, rounds: row.rounds.min(other.rounds) }
    }

    /// Whether the ranges of the two overlap.
    fn is_tie(&self) -> bool {
        is_tie([self.low, self.high])
    }

    /// The number of rounds, and whether these are few.
    fn rounds(&self) -> String {
        format!("{} rounds{}", self.rounds, if self.rounds < FEW_ROUNDS { ": few" } else { "" })
    }

    fn with_range(&self) -> String {
        let [ratio, low, high] = [self.ratio, self.low, self.high].map(times);
        format!("{ratio} ({low}–{high})")
    }

    fn with_rounds(&self) -> String {
        let [ratio, low, high] = [self.ratio, self.low, self.high].map(times);
        format!("{ratio} ({low}–{high}, {})", self.rounds())
    }
}

/// The tiers that some duels have kernels of, as columns of a table.
struct TierColumns(Vec<Tier>);

impl TierColumns {
    fn of<'d>(duels: impl IntoIterator<Item = &'d Duel>) -> Self {
        let rows: Vec<&Row> = duels.into_iter().flat_map(|duel| &duel.rows).collect();
        TierColumns(Tier::ALL.iter().copied().filter(|tier| rows.iter().any(|row| row.tier == tier.name())).collect())
    }

    /// The nanoseconds of the fastest row of each tier.
    fn cells(&self, rows: &[&Row]) -> impl Iterator<Item = String> {
        self.0.iter().map(|tier| {
            let of_tier = rows.iter().filter(|row| row.tier == tier.name());
            nanoseconds(of_tier.max_by(|a, b| a.ratio.total_cmp(&b.ratio)).copied())
        })
    }
}

/// The nanoseconds of a unit of work.
fn nanoseconds(row: Option<&Row>) -> String {
    row.map_or("–".to_owned(), |row| figure(1e9 / row.throughput))
}

/// A report on one set of measurements.
#[derive(Debug)]
pub struct MachineReport<'a> {
    pub(in crate::report) data: &'a Data,
    machine: Machine,
    changed: Option<Changed>,
    /// The measurements of other machines, by name.
    others: Vec<MachineReport<'a>>,
}

/// An operation and those of its kernels that were measured, here or on another machine.
pub(in crate::report) struct Entry {
    pub(in crate::report) operation: &'static AnyOperation,
    kernels: Vec<KernelInfo>,
}

impl Entry {
    pub(in crate::report) fn name(&self) -> &'static str {
        self.operation.name()
    }

    fn headline(&self) -> &'static Workload {
        &self.operation.workloads()[0]
    }

    fn case(&self, workload: &Workload, size: u64) -> Case {
        Case::new(self.name(), workload.name, size)
    }

    /// Whether a kernel is still in the list.
    fn lists(&self, row: &Row) -> bool {
        self.kernels.iter().any(|kernel| kernel.name == row.kernel)
    }

    /// The best kernel in plain Rust.
    fn plain<'d>(&self, duel: &'d Duel) -> Option<&'d Row> {
        best_plain(duel, &self.kernels)
    }

    /// The baseline.
    fn baseline<'d>(&self, duel: &'d Duel) -> Option<&'d Row> {
        duel.rows.iter().find(|row| row.kernel == duel.baseline)
    }

    /// The best of the algorithms published elsewhere.
    fn public<'d>(&self, duel: &'d Duel) -> Option<&'d Row> {
        duel.rows.iter().find(|row| self.operation.public().contains(&row.kernel.as_str()))
    }
}

impl<'a> MachineReport<'a> {
    /// A report on `data`, beside the measurements of other machines. `changed` is `None` if it is not known.
    pub fn new(data: &'a Data, changed: Option<Changed>, others: &'a [Data]) -> Self {
        let others = others.iter().map(|other| MachineReport::new(other, None, &[])).collect();
        // The machine only serves to list kernels: the report depends on the measurements, not on where it is generated.
        MachineReport { data, machine: Machine::detect(), changed, others }
    }

    /// Whether a kernel is known to have changed since it was measured.
    pub(in crate::report) fn has_changed(&self, operation: &str, kernel: &KernelInfo) -> bool {
        self.changed.as_ref().is_some_and(|changed| changed.has(operation, kernel))
    }

    pub(in crate::report) fn entries(&self) -> impl Iterator<Item = Entry> {
        OPERATIONS.iter().map(move |operation| {
            let mut kernels = operation.kernels(&self.machine);
            kernels.retain(|kernel| self.is_measured(operation.name(), kernel.name));
            Entry { operation, kernels }
        })
    }

    /// The duel at the published size, default build, one thread.
    fn headline(&self, entry: &Entry) -> Option<&'a Duel> {
        let workload = entry.headline();
        self.duel(entry, workload, workload.published)
    }

    fn duel(&self, entry: &Entry, workload: &Workload, size: u64) -> Option<&'a Duel> {
        self.data.duel(&entry.case(workload, size), "default", "thread")
    }

    /// Sizes at which there is a duel, ascending.
    fn sizes(&self, entry: &Entry, workload: &Workload) -> impl Iterator<Item = u64> + use<> {
        let over = (entry.name(), workload.name);
        let cases = self.data.duels.iter().map(|duel| &duel.case);
        let cases = cases.filter(|case| (case.operation.as_str(), case.workload.as_str()) == over);
        let mut sizes: Vec<u64> = cases.map(|case| case.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.into_iter()
    }

    /// The text of RESULTS.md.
    pub fn results(&self) -> String {
        let mut text = String::new();
        if self.data.draft {
            text.push_str("> **Draft**: few sizes and few rounds. Do not draw conclusions from it.\n\n");
        }
        text += &format!("{QUESTION}\n\n{}{}\n\n", self.by_tier(), self.provenance());
        let mut section = |title: &str, body: String| {
            if !body.trim().is_empty() {
                text += &format!("## {title}\n\n{}\n\n", body.trim());
            }
        };
        section("How to read", HOW_TO_READ.to_owned());
        for entry in self.entries() {
            // An operation that was not measured has no section.
            if let Some(duel) = self.headline(&entry) {
                section(&code(entry.name()), self.operation(&entry, duel));
            }
        }
        section("Complete games", self.complete_games());
        section("Other machines", self.other_machines());
        section("Caveats", self.few_rounds() + &self.slow_modes() + THREATS + &self.machines());
        section("Reproduce", REPRODUCE.to_owned());
        text.trim_end().to_owned() + "\n"
    }

    /// The operations with few rounds, as a caveat; nothing if there are none.
    fn few_rounds(&self) -> String {
        let rounds = |entry: Entry| Some((code(entry.name()), self.headline(&entry)?.rows.first()?.rounds));
        let few = self.entries().filter_map(rounds).filter(|(_, rounds)| *rounds < FEW_ROUNDS);
        let few: Vec<String> = few.map(|(name, rounds)| format!("{name} {rounds}")).collect();
        if few.is_empty() {
            return String::new();
        }
        let day = day(self.data.date());
        format!("- **Few rounds**, on {day}: {}. The fastest kernel is not settled there.\n", few.join(", "))
    }

    /// How many kernels are fast in some processes and slow in others, as a caveat; nothing if none are.
    fn slow_modes(&self) -> String {
        let rows = || self.data.duels.iter().flat_map(|duel| &duel.rows);
        let (count, all) = (rows().filter(|row| row.slow_mode.is_some()).count(), rows().count());
        let day = day(self.data.date());
        let caveat = format!(
            "- **Layouts in memory.** On {day}, {count} of {all} pairs of kernel and input were fast in some processes, slow in others. \
             Ratios are of the faster mode.\n"
        );
        if count > 0 { caveat } else { String::new() }
    }

    /// Whether a kernel was measured, or skipped for a reason, on this machine or on one beside it.
    fn is_measured(&self, operation: &str, kernel: &str) -> bool {
        self.is_measured_here(operation, kernel) || self.others.iter().any(|other| other.is_measured(operation, kernel))
    }

    fn is_measured_here(&self, operation: &str, kernel: &str) -> bool {
        let of_duel = |duel: &Duel| {
            let mut names = duel.rows.iter().map(|row| &row.kernel).chain(duel.skipped.iter().map(|row| &row.kernel));
            duel.case.operation == operation && names.any(|name| name == kernel)
        };
        self.data.duels.iter().chain(&self.data.observed).any(of_duel)
    }

    /// The kernels that satisfy a condition, as `operation=kernel`.
    fn named(&self, is_wanted: impl Fn(&str, &KernelInfo) -> bool) -> Vec<String> {
        let named = |operation: &&'static AnyOperation| {
            let name = operation.name();
            let kernels = operation.kernels(&self.machine).into_iter().filter(|kernel| is_wanted(name, kernel));
            kernels.map(|kernel| format!("{name}={}", kernel.name)).collect::<Vec<_>>()
        };
        OPERATIONS.iter().flat_map(named).collect()
    }

    /// Kernels without a measurement on this machine: added later, or for another architecture.
    pub fn unmeasured(&self) -> Vec<String> {
        self.named(|operation, kernel| !self.is_measured_here(operation, kernel.name))
    }

    /// Kernels that have changed since they were measured; `None` if that is not known.
    pub fn changed(&self) -> Option<Vec<String>> {
        let is_changed = |operation: &str, kernel: &KernelInfo| {
            self.has_changed(operation, kernel) && self.is_measured(operation, kernel.name)
        };
        self.changed.is_some().then(|| self.named(is_changed))
    }

    /// The machine, date and revision of the measurements, and the answers that they were checked against.
    fn provenance(&self) -> String {
        let mut unknown = Vec::new();
        for entry in self.entries() {
            let headline = self.headline(&entry);
            unknown.extend(headline.filter(|duel| known::find(&duel.case).is_none()).map(|_| code(entry.name())));
        }
        let except = if unknown.is_empty() { String::new() } else { format!(", except for {}", unknown.join(", ")) };
        format!("{}. Answers equal published ones{except}.", self.subject())
    }

    /// The build, machine, date and revision that headlines are of.
    fn subject(&self) -> String {
        let (name, day, revision) = (self.name(), day(self.data.date()), revision(self.data));
        format!("One thread, default build, {} ({name}), {day}, revision {revision}", self.data.environment.cpu)
    }

    /// The time of a unit of each operation at its published size, by tier.
    fn by_tier(&self) -> String {
        let headlines = || self.entries().filter_map(|entry| self.headline(&entry).map(|duel| (entry, duel)));
        let tiers = TierColumns::of(headlines().map(|(_, duel)| duel));
        let heads = ["operation", "input", "ns per", "best known elsewhere"].into_iter().chain(self.titles(&tiers));
        let mut table = MarkdownTable::new(&heads.chain(["ratio"]).collect::<Vec<_>>());
        for (entry, duel) in headlines() {
            let (Some(best), Some(public)) = (duel.rows.first(), entry.public(duel)) else { continue };
            let name = format!("[{}]({PAGES}/{}.md)", code(entry.name()), entry.name());
            let input = format!("{} at {}", duel.case.workload, size(duel.case.size));
            let cells = [name, input, best.unit.clone(), nanoseconds(Some(public))].into_iter();
            let rows: Vec<&Row> = duel.rows.iter().collect();
            table.row(cells.chain(tiers.cells(&rows)).chain([Ratio::of(best, public).with_rounds()]));
        }
        table.end()
    }

    /// The digest for README.md.
    pub fn digest(&self) -> String {
        format!("{}{} A ratio has its range and rounds; under ten are few.\n", self.by_tier(), self.provenance())
    }

    /// The titles of tiers. That of plain Rust is the vectors that the default build has.
    fn titles(&self, tiers: &TierColumns) -> impl Iterator<Item = &'static str> {
        let features = &self.data.environment.build.target_features;
        let portable = if features.iter().any(|feature| feature == "sse2") { "SSE2" } else { "portable" };
        tiers.0.iter().map(move |tier| tier.extension().map_or(portable, |extension| extension.title))
    }
}

/// The revision of the measured source.
fn revision(data: &Data) -> String {
    data.revision().map_or("not recorded".to_owned(), code)
}
