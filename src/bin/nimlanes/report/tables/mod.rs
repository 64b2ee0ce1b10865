//! The text of a report: markdown, generated only from measurements and the registry.
//!
//! Links lead from the root of the source tree.

mod findings;
mod games;
mod ladder;
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

pub use self::ladder::{best_plain, steps};
use self::markdown::{MarkdownTable, code, memory, ns, percent, size, time, times};
use super::TABLES;
use super::data::Data;
use super::data::sources::Changed;
use super::measure::tasks::{Effort, SMALL, TIME_LIMIT};
use crate::files::saved::day;
use crate::measuring::duel::{Duel, Row, TIE};

const HOW_TO_READ: &str = include_str!("how_to_read.md");
const THREATS: &str = include_str!("threats.md");
const REPRODUCE: &str = include_str!("reproduce.md");
/// Pages of earlier measurements, which are kept as they are.
const FROZEN: &str = include_str!("frozen.md");

/// How to get the page.
const PAGE: &str = "All kernels, workloads, sizes and machines are in one page: `cargo run --release -- report --html target/page.html`.";

/// Ratios of fewer rounds than this are marked.
const FEW_ROUNDS: usize = 10;

const PUBLISHED: &str = "Published sizes, one thread, default build.";

/// Where an input stands: in the order of the lists. Inputs that are in no list come last.
pub fn place(case: &Case) -> impl Ord + use<> {
    let operation = OPERATIONS.iter().position(|operation| operation.name() == case.operation);
    let workloads = operation.map_or(&[][..], |operation| OPERATIONS[operation].workloads());
    let workload = workloads.iter().position(|workload| workload.name == case.workload);
    ([operation, workload].map(|place| place.unwrap_or(usize::MAX)), case.size)
}

/// Whether something that many times as fast as another is faster by more than a tie.
fn is_ahead(ratio: f64) -> bool {
    ratio > 1.0 + TIE
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

/// An operation and those of its kernels that were measured, here or on another machine. A report has nothing to say about
/// others.
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

    fn info(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// A kernel's name, linked to its source.
    fn link(&self, name: &str) -> String {
        self.info(name).map_or_else(|| code(name), |kernel| format!("[{}]({})", code(name), kernel.source()))
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
        let mut section = |title: &str, body: String| {
            if !body.trim().is_empty() {
                text += &format!("## {title}\n\n{}\n\n", body.trim());
            }
        };
        section("Summary", self.summary());
        section("Complete games", self.complete_games());
        section("How to read", [HOW_TO_READ, &self.layout_note(), &time_limit_note()].concat());
        for entry in self.entries() {
            // An operation that was not measured has nothing to say yet.
            if let Some(duel) = self.headline(&entry) {
                section(&code(entry.name()), self.operation(&entry, duel));
            }
        }
        section("Across operations", self.findings() + FROZEN);
        section("Bias and threats to validity", THREATS.to_owned());
        section("Environment", self.environment());
        section("Reproducing the results", REPRODUCE.to_owned());
        text.trim_end().to_owned() + "\n"
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

    /// The environment of each machine, in a column.
    fn environment(&self) -> String {
        let columns: Vec<&MachineReport> = [self].into_iter().chain(&self.others).collect();
        let heads = [""].into_iter().chain(columns.iter().map(|report| report.name()));
        let mut table = MarkdownTable::new(&heads.collect::<Vec<_>>());
        let mut row = |name: &str, cell: &dyn Fn(&Data) -> String| {
            table.row([name.to_owned()].into_iter().chain(columns.iter().map(|report| cell(report.data))));
        };
        row("CPU", &|data| data.environment.cpu.clone());
        if columns.iter().any(|report| report.data.given_name.is_some()) {
            row("name", &|data| match data.given_name {
                Some(_) => format!("by hand; it said {}", data.environment.microarchitecture),
                None => "by the CPU".to_owned(),
            });
        }
        row("instruction sets up to", &|data| code(&data.environment.tier));
        row("CPUs", &|data| data.environment.threads.to_string());
        row("caches", &|data| data.environment.caches.join(", "));
        row("memory", &|data| memory(data.environment.memory as f64));
        row("system", &|data| data.environment.system.clone());
        row("default build compiled for", &|data| data.environment.build.target_features.join(", "));
        row("features", &|data| data.environment.build.features.join(", "));
        row("profile", &|data| data.environment.build.profile.clone());
        row("measured (UTC)", &|data| data.dates.join(" to "));
        row("revision", &revision);
        table.end()
    }

    /// What the best kernels were measured on and checked against.
    fn provenance(&self) -> String {
        let environment = &self.data.environment;
        let date = day(self.data.date());
        let mut unknown = Vec::new();
        for entry in self.entries() {
            let headline = self.headline(&entry);
            unknown.extend(headline.filter(|duel| known::find(&duel.case).is_none()).map(|_| code(entry.name())));
        }
        let checked = match unknown.as_slice() {
            [] => "All answers were compared with published ones".to_owned(),
            unknown => format!("All answers were compared with published ones, except for {}", unknown.join(", ")),
        };
        format!(
            "Measured on {} ({}{}, up to {}, {} CPUs) on {date}; revision: {}. {checked}.",
            environment.cpu,
            self.name(),
            self.named_by_hand(),
            code(&environment.tier),
            environment.threads,
            revision(self.data),
        )
    }

    /// The best kernel of each operation at its published size.
    fn best_kernels(&self) -> String {
        let heads = [
            "operation",
            "best kernel",
            "× the baseline",
            "× the best plain Rust",
            "× the best public",
            "time per unit",
            "share of the limit",
        ];
        let heads = heads.into_iter().map(str::to_owned).chain(self.heads_of_others());
        let mut table = MarkdownTable::new(&heads.collect::<Vec<_>>());
        for entry in self.entries() {
            let Some(duel) = self.headline(&entry) else { continue };
            let Some(best) = duel.rows.first() else { continue };
            let against = |other: Option<&Row>| match other.map(|other| (other, times(best.ratio / other.ratio))) {
                None => "–".to_owned(),
                Some((other, _)) if other.kernel == best.kernel => "itself".to_owned(),
                Some((other, ratio)) => format!("**{ratio}** {}", code(&other.kernel)),
            };
            let (name, size) = (code(entry.name()), size(duel.case.size));
            let mut cells = vec![format!("[{name}](#{}) at {size}", entry.name()), entry.link(&best.kernel)];
            cells.extend([entry.baseline(duel), entry.plain(duel), entry.public(duel)].map(against));
            cells.push(format!("{} per {}", ns(1e9 / best.throughput), best.unit));
            cells.push(self.limit(entry.name(), best).map_or("–".to_owned(), |limit| percent(limit.share(best))));
            table.row(cells.into_iter().chain(self.best_of_others(&entry, duel)));
        }
        table.end() + &self.observed()
    }

    fn summary(&self) -> String {
        let (best, note) = (self.best_kernels(), self.note_on_others());
        format!("{PUBLISHED}{note}\n\n{best}{}\n\n{PAGE}\n", self.provenance())
    }

    /// The digest for README.md: the time of a unit of each operation at its published size, by tier.
    pub fn digest(&self) -> String {
        let headlines = || self.entries().filter_map(|entry| self.headline(&entry).map(|duel| (entry, duel)));
        let is_of = |row: &Row, tier: Tier| row.tier == tier.name();
        let has = |tier: &Tier| headlines().any(|(_, duel)| duel.rows.iter().any(|row| is_of(row, *tier)));
        let tiers: Vec<Tier> = Tier::ALL.iter().copied().filter(has).collect();
        let title = |tier: &Tier| tier.extension().map_or(self.portable(), |extension| extension.title);
        let heads = ["operation", "input", "unit", "best known elsewhere"].into_iter().chain(tiers.iter().map(title));
        let mut table = MarkdownTable::new(&heads.chain(["ratio", "rounds"]).collect::<Vec<_>>());
        for (entry, duel) in headlines() {
            let (Some(best), Some(public)) = (duel.rows.first(), entry.public(duel)) else { continue };
            let cell = |row: Option<&Row>| row.map_or("–".to_owned(), |row| ns(1e9 / row.throughput));
            let mut cells = vec![
                code(entry.name()),
                format!("{} at {}", duel.case.workload, size(duel.case.size)),
                best.unit.clone(),
                cell(Some(public)),
            ];
            cells.extend(tiers.iter().map(|tier| cell(duel.rows.iter().find(|row| is_of(row, *tier)))));
            let few = if best.rounds < FEW_ROUNDS { " (few)" } else { "" };
            cells.extend([times(best.ratio / public.ratio), format!("{}{few}", best.rounds)]);
            table.row(cells);
        }
        format!(
            "Time per unit of the fastest kernel of each tier: published size, one thread, default build, {} ({}), revision {}. The \
             ratio is that of the fastest to the best known elsewhere.\n\n{}{}",
            self.name(),
            day(self.data.date()),
            revision(self.data),
            table.end(),
            self.furthest_in_a_line()
        )
    }

    /// The name of the tier of plain Rust in the default build.
    fn portable(&self) -> &'static str {
        let features = &self.data.environment.build.target_features;
        if features.iter().any(|feature| feature == "sse2") { "SSE2" } else { "portable" }
    }

    /// The observed kernels at their published sizes, one thread, default build.
    fn observed(&self) -> String {
        let mut table = MarkdownTable::new(&["operation", "observed kernel", "time", "× the best exact kernel"]);
        for entry in self.entries() {
            let headline = entry.headline();
            let published = entry.case(headline, headline.published);
            let best = self.headline(&entry).and_then(|duel| duel.rows.first());
            let of_it = self.data.observed.iter().filter(|duel| duel.case == published && duel.build == "default");
            for row in of_it.flat_map(|duel| &duel.rows).filter(|row| row.clock == "thread") {
                table.row([
                    format!("{} {} at {}", code(entry.name()), headline.name, size(headline.published)),
                    entry.link(&row.kernel),
                    time(row.median_seconds),
                    best.map_or("–".to_owned(), |best| {
                        format!("{} {}", times(best.median_seconds / row.median_seconds), code(&best.kernel))
                    }),
                ]);
            }
        }
        table.below(
            "Observed, not proved: these kernels rely on an unproved property, so they run only if you name them.",
        )
    }
}

/// The revision of the measured source.
fn revision(data: &Data) -> String {
    data.revision().map_or("not recorded".to_owned(), code)
}

fn time_limit_note() -> String {
    let [most, headline] = [TIME_LIMIT, Effort::FULL.headline_time_limit].map(|limit| time(limit.as_secs_f64()));
    format!(
        "- **Time limit**: kernels predicted to take longer than {most} for a run are skipped. At the published size of an operation's \
         first\n  workload the limit is {headline}. At its larger sizes, that limit also applies to the best kernel in plain Rust and \
         the best public ones.\n"
    )
}
