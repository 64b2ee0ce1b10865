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
mod selected;

use std::collections::BTreeSet;
use std::time::Duration;

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::case::Case;
use nimlanes::kernel::session::{AnyOperation, KernelInfo};
use nimlanes::kernel::workload::Workload;
use nimlanes::lab::environment::Environment;
use nimlanes::lab::known;
use nimlanes::machine::Machine;

pub use self::ladder::{best_plain, steps};
use self::limits::share;
use self::markdown::{Table, code, memory, ns, size, time, times};
use super::data::sources::Changed;
use super::data::{Data, Setup};
use super::measure::tasks::{Effort, SMALL};
use super::{TABLES, list};
use crate::files::saved::day;
use crate::measuring::duel::{Duel, Row, TIE};

const HOW_TO_READ: &str = include_str!("how_to_read.md");
const THREATS: &str = include_str!("threats.md");
/// Pages of earlier measurements, which are kept as they are.
const FROZEN: &str = include_str!("frozen.md");

/// Of no input that a report measures do the Grundy values take this long.
const LONGEST_INPUT: Duration = Duration::from_secs(1);

/// How to get the page.
const PAGE: &str = "All kernels, workloads, sizes and machines are in one page: `cargo run --release -- report --html target/page.html`.";

const PUBLISHED: &str = "Published sizes, one thread, default build.";

/// Marks a kernel that has changed since it was measured.
const CHANGED: &str = "†";
/// Explains [`CHANGED`].
const CHANGED_NOTE: &str = "† This kernel has changed since it was measured.";
/// Begins the list of changed sources that are not the source of one kernel.
const CHANGED_PARTS: &str = "Shared source that has changed since it was measured: ";

/// The lines of a report, counted from 1, without what they say about changes.
pub fn unmarked(text: &str) -> impl Iterator<Item = (usize, String)> {
    let is_kept = |line: &str| !line.is_empty() && line != CHANGED_NOTE && !line.starts_with(CHANGED_PARTS);
    (1..).zip(text.lines()).filter(move |(_, line)| is_kept(line)).map(|(n, line)| (n, line.replace(CHANGED, "")))
}

/// Whether something that many times as fast as another is faster by more than a tie.
fn is_ahead(ratio: f64) -> bool {
    ratio > 1.0 + TIE
}

/// A report on one set of measurements.
#[derive(Debug)]
pub struct Report<'a> {
    pub(in crate::report) data: &'a Data,
    machine: Machine,
    changed: Option<Changed>,
    /// The measurements of other machines, by name.
    others: Vec<Report<'a>>,
    /// The longest that the Grundy values of an input may be predicted to take.
    longest_input: Duration,
}

/// An operation and those of its kernels that were measured, here or on another machine. A report has nothing to say about
/// others.
pub(in crate::report) struct Entry {
    pub(in crate::report) operation: &'static AnyOperation,
    kernels: Vec<KernelInfo>,
    /// The kernels that have changed since they were measured.
    changed: Vec<&'static str>,
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

    /// A kernel's name, linked to its source, and marked if it has changed.
    fn link(&self, name: &str) -> String {
        let Some(kernel) = self.info(name) else { return code(name) };
        let mark = if self.changed.contains(&kernel.name) { CHANGED } else { "" };
        format!("[{}]({}){mark}", code(name), kernel.source())
    }

    fn is_plain(&self, row: &Row) -> bool {
        self.info(&row.kernel).is_some_and(|info| info.is_plain())
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

/// A chart, or tables that are too long for the report.
#[derive(Debug)]
pub struct Page {
    /// File name with suffix.
    pub file: String,
    /// Its text: SVG or markdown.
    pub text: String,
}

/// Tables on a topic that concerns all operations.
struct Topic {
    /// The name of the file, without suffix.
    file: &'static str,
    title: String,
    /// What the tables show, in a sentence or two for the report.
    finding: String,
    tables: String,
}

impl<'a> Report<'a> {
    /// A report on `data`, beside the measurements of other machines. `changed` is `None` if it is not known.
    pub fn new(data: &'a Data, changed: Option<Changed>, others: &'a [Data]) -> Self {
        let others = others.iter().map(|other| Report::new(other, None, &[])).collect();
        // The machine only serves to list kernels: the report depends on the measurements, not on where it is generated.
        Report { data, machine: Machine::detect(), changed, others, longest_input: LONGEST_INPUT }
    }

    /// The same without inputs whose Grundy values are predicted to take longer than this, which is a second by default.
    pub fn within(self, longest_input: Duration) -> Self {
        Report { longest_input, ..self }
    }

    /// Whether a kernel is known to have changed since it was measured.
    pub(in crate::report) fn has_changed(&self, operation: &str, kernel: &KernelInfo) -> bool {
        self.changed.as_ref().is_some_and(|changed| changed.has(operation, kernel))
    }

    pub(in crate::report) fn entries(&self) -> impl Iterator<Item = Entry> {
        OPERATIONS.iter().map(move |operation| {
            let mut kernels = operation.kernels(&self.machine);
            kernels.retain(|kernel| self.is_measured(operation.name(), kernel.name));
            let changed = kernels.iter().filter(|kernel| self.has_changed(operation.name(), kernel));
            let changed = changed.map(|kernel| kernel.name).collect();
            Entry { operation, kernels, changed }
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
        if self.data.is_draft() {
            text.push_str("> **Draft**: few sizes and few rounds. Do not draw conclusions from it.\n\n");
        }
        let mut section = |title: &str, body: String| {
            if !body.trim().is_empty() {
                text += &format!("## {title}\n\n{}\n\n", body.trim());
            }
        };
        section("Summary", self.summary());
        section("Complete games", self.complete_games());
        section("How to read", [HOW_TO_READ, &self.layout_note(), &self.time_limit_note()].concat());
        for entry in self.entries() {
            // An operation that was not measured has nothing to say yet.
            if let Some(duel) = self.headline(&entry) {
                section(&code(entry.name()), self.operation(&entry, duel));
            }
        }
        section("Across operations", self.findings() + self.frozen());
        section("Machine beside machine", self.machines());
        section("Bias and threats to validity", THREATS.to_owned());
        section("Environment", self.environment());
        section("Reproducing the results", self.reproduce());
        text.trim_end().to_owned() + "\n"
    }

    /// The files of tables.
    pub fn pages(&self) -> Vec<Page> {
        let mut index = String::from("The tables behind [RESULTS.md](RESULTS.md).\n\n");
        let mut pages = Vec::new();
        let mut page = |file: &str, title: &str, body: String| {
            index += &format!("- [{title}]({file}.md)\n");
            pages.push(Page { file: format!("{file}.md"), text: self.page(title, &body) });
        };
        for Topic { file, title, finding, tables } in self.topics() {
            page(file, &title, format!("{finding}\n\n{tables}"));
        }
        if let Some((file, title, body)) = self.machines_page() {
            page(file, title, body);
        }
        index += self.frozen();
        pages.push(Page { file: "README.md".to_owned(), text: self.page("Tables", &index) });
        pages
    }

    fn page(&self, title: &str, body: &str) -> String {
        format!(
            "# {title}\n\n{}\n{}",
            body.trim_end(),
            if body.contains(CHANGED) { self.changed_note() } else { String::new() }
        )
    }

    /// Explains [`CHANGED`], if a kernel has changed.
    fn changed_note(&self) -> String {
        match self.changed() {
            Some(kernels) if !kernels.is_empty() => format!("\n{CHANGED_NOTE}\n"),
            _ => String::new(),
        }
    }

    fn topics(&self) -> impl Iterator<Item = Topic> {
        let topics = [self.limits(), self.selections()];
        topics.into_iter().flatten()
    }

    fn findings(&self) -> String {
        let topic = |Topic { file, title, finding, .. }| format!("- **[{title}]({TABLES}/{file}.md).** {finding}\n");
        let short = |(title, finding)| format!("- **{title}.** {finding}\n");
        self.topics().map(topic).chain(self.short_findings().map(short)).collect()
    }

    /// What else was measured once. A draft stands in a folder without it.
    fn frozen(&self) -> &'static str {
        if self.data.is_draft() { "" } else { FROZEN }
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

    /// All kernels, as pairs of operation and kernel.
    fn all_kernels(&self) -> impl Iterator<Item = (&'static str, KernelInfo)> {
        let kernels = |operation: &&'static AnyOperation| {
            let name = operation.name();
            operation.kernels(&self.machine).into_iter().map(move |kernel| (name, kernel))
        };
        OPERATIONS.iter().flat_map(kernels)
    }

    /// Kernels without a measurement on this machine, as `operation=kernel`: added later, or for another architecture.
    pub fn unmeasured(&self) -> Vec<String> {
        let unmeasured =
            self.all_kernels().filter(|(operation, kernel)| !self.is_measured_here(operation, kernel.name));
        unmeasured.map(|(operation, kernel)| format!("{operation}={}", kernel.name)).collect()
    }

    /// Kernels that have changed since they were measured, as `operation=kernel`; `None` if that is not known.
    pub fn changed(&self) -> Option<Vec<String>> {
        self.changed.as_ref()?;
        let kernels = |entry: Entry| {
            let name = entry.name();
            entry.changed.into_iter().map(move |kernel| format!("{name}={kernel}"))
        };
        Some(self.entries().flat_map(kernels).collect())
    }

    /// Changed files that are not the source of one kernel, where no machine code decides.
    fn changed_parts(&self) -> Vec<String> {
        let own: BTreeSet<String> = self.all_kernels().map(|(_, kernel)| kernel.source()).collect();
        let by_source = self.changed.iter().filter(|changed| changed.code.is_empty());
        let files = by_source.flat_map(|changed| &changed.files).filter(|path| !own.contains(*path));
        files.map(|path| code(path)).collect()
    }

    /// The revision of the measured source.
    fn revision(&self) -> String {
        self.data.revision().map_or("not recorded".to_owned(), code)
    }

    /// The environment of each machine, in a column.
    fn environment(&self) -> String {
        let columns: Vec<(&Report, &Environment)> =
            [self].into_iter().chain(&self.others).map(|report| (report, &report.data.environment)).collect();
        let heads = columns.iter().map(|(report, _)| report.name().to_owned());
        let mut table = Table::new(&[String::new()].into_iter().chain(heads).collect::<Vec<_>>());
        let mut row = |name: &str, cell: &dyn Fn(&Report, &Environment) -> String| {
            table.row(
                [name.to_owned()]
                    .into_iter()
                    .chain(columns.iter().map(|(report, environment)| cell(report, environment))),
            );
        };
        row("CPU", &|_, environment| environment.cpu.clone());
        if columns.iter().any(|(report, _)| report.data.given_name.is_some()) {
            row("name", &|report, environment| match report.data.given_name {
                Some(_) => format!("by hand; it said {}", environment.microarchitecture),
                None => "by the CPU".to_owned(),
            });
        }
        row("instruction sets up to", &|_, environment| code(&environment.tier));
        row("CPUs", &|_, environment| environment.threads.to_string());
        row("caches", &|_, environment| environment.caches.join(", "));
        row("memory", &|_, environment| memory(environment.memory as f64));
        row("system", &|_, environment| environment.system.clone());
        row("default build compiled for", &|_, environment| environment.build.target_features.join(", "));
        row("features", &|_, environment| environment.build.features.join(", "));
        row("profile", &|_, environment| environment.build.profile.clone());
        row("measured (UTC)", &|report, _| report.data.dates.join(" to "));
        row("revision", &|report, _| report.revision());
        let parts = self.changed_parts();
        let text = table.end();
        if parts.is_empty() { text } else { format!("{text}{CHANGED_PARTS}{}.\n", list(parts.iter())) }
    }

    /// Time limits of a run in a duel, in seconds: in general, and at headline sizes.
    fn time_limits(&self) -> Option<[f64; 2]> {
        let setup = self.data.setup.as_ref()?;
        let effort = if setup.draft { Effort::DRAFT } else { Effort::FULL };
        Some([setup.time_limit_seconds, effort.headline_time_limit.as_secs_f64()])
    }

    fn time_limit_note(&self) -> String {
        let sentence = |[most, headline]: [f64; 2]| {
            format!(
                "- **Time limit**: kernels predicted to take longer than {} for a run are skipped. At the published size of an \
                 operation's first\n  workload the limit is {}. At its larger sizes, that limit also applies to the best kernel in \
                 plain Rust and the best public ones.\n",
                time(most),
                time(headline)
            )
        };
        self.time_limits().map_or(String::new(), sentence)
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
            self.revision(),
        )
    }

    /// The best kernel of each operation at its published size. The digest has the ratios alone, and fewer of them.
    fn best_kernels(&self, is_digest: bool) -> String {
        let mut heads = vec!["operation", "best kernel", "× the baseline", "× the best plain Rust"];
        heads.extend((!is_digest).then_some("× the best public"));
        heads.push("time per unit");
        heads.extend((!is_digest).then_some("share of the limit"));
        let heads = heads.into_iter().map(str::to_owned).chain(self.heads_of_others());
        let mut table = Table::new(&heads.collect::<Vec<_>>());
        for entry in self.entries() {
            let Some(duel) = self.headline(&entry) else { continue };
            let Some(best) = duel.rows.first() else { continue };
            let against = |other: Option<&Row>| match other.map(|other| (other, times(best.ratio / other.ratio))) {
                None => "–".to_owned(),
                Some((_, ratio)) if is_digest => ratio,
                Some((other, _)) if other.kernel == best.kernel => "itself".to_owned(),
                Some((other, ratio)) => format!("**{ratio}** {}", code(&other.kernel)),
            };
            let (name, size) = (code(entry.name()), size(duel.case.size));
            let operation = if is_digest { name } else { format!("[{name}](#{})", entry.name()) };
            let mut cells = vec![format!("{operation} at {size}"), entry.link(&best.kernel)];
            cells.extend([entry.baseline(duel), entry.plain(duel)].map(against));
            cells.extend((!is_digest).then(|| against(entry.public(duel))));
            cells.push(format!("{} per {}", ns(1e9 / best.throughput), best.unit));
            let limit = || self.limit(&entry, best).map_or("–".to_owned(), |limit| share(limit.ns, best));
            cells.extend((!is_digest).then(limit));
            table.row(cells.into_iter().chain(self.best_of_others(&entry, duel)));
        }
        table.end() + &self.observed()
    }

    fn summary(&self) -> String {
        let (best, note) = (self.best_kernels(false), self.note_on_others());
        format!("{PUBLISHED}{note}\n\n{best}{}\n{}\n{PAGE}\n", self.provenance(), self.changed_note())
    }

    /// The digest for README.md.
    pub fn digest(&self) -> String {
        let (best, note, name) = (self.best_kernels(true), self.note_on_others(), self.name());
        let (date, revision) = (day(self.data.date()), self.revision());
        format!(
            "{PUBLISHED} Measured on {name} on {date}; revision: {revision}.{note}\n\n{best}{}{}",
            self.furthest(),
            self.changed_note()
        )
    }

    /// The observed kernels at their published sizes, one thread, default build.
    fn observed(&self) -> String {
        let mut table = Table::new(&["operation", "observed kernel", "time", "× the best exact kernel"]);
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

    fn reproduce(&self) -> String {
        let took = |setup: &Setup| format!(": {:.0} min here", (setup.took_seconds / 60.0).ceil());
        let took = self.data.setup.as_ref().map_or(String::new(), took);
        format!(
            "```sh\n\
             cargo run --release -- report --again     # measure everything and write this file{took}\n\
             cargo run --release -- report --quick     # a draft, below target/draft: 2 min\n\
             cargo run --release -- report --html FILE # a page of all measurements, to browse\n\
             cargo run --release -- report --check     # regenerate it from the committed data and compare\n\
             cargo run --release -- compare OPERATION  # one duel: 1 min\n\
             ```\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::FOLDERS;
    use super::*;
    use crate::files::saved::entries;

    /// As if the kernel had been added after the measurements.
    #[test]
    fn a_kernel_without_measurements_is_in_no_table() {
        let text = |data: &Data| {
            let report = Report::new(data, None, &[]);
            let pages = report.pages().into_iter().map(|page| page.text);
            let text: String = [report.results(), report.digest()].into_iter().chain(pages).collect();
            (text, report.unmeasured())
        };
        let (operation, kernel) = ("mex_subtraction", "byte_lanes_avx512");
        let (link, pair) = (format!("[`{kernel}`]("), format!("{operation}={kernel}"));
        let folders = entries(Path::new(FOLDERS)).expect("readable").into_iter().filter(|path| path.is_dir());
        let mut all = folders.map(|folder| Data::read(&folder).expect("measurements"));
        let mut data = all.find(|data| text(data).0.contains(&link)).expect("one with the kernel");
        assert!(!text(&data).1.contains(&pair));
        for duel in data.duels.iter_mut().filter(|duel| duel.case.operation == operation) {
            duel.rows.retain(|row| row.kernel != kernel);
            duel.skipped.retain(|row| row.kernel != kernel);
        }
        let (text, unmeasured) = text(&data);
        assert!(!text.contains(&link) && unmeasured.contains(&pair));
    }
}
