//! The text of a report: markdown, generated only from measurements and the registry.

mod builds;
mod games;
mod ladder;
mod limits;
mod markdown;
mod selected;

use nimlanes::case::Case;
use nimlanes::cores::OPERATIONS;
use nimlanes::lab::duel::{Duel, Row};
use nimlanes::lab::known;
use nimlanes::machine::Machine;
use nimlanes::session::{AnyOperation, KernelInfo};
use nimlanes::units::bytes;
use nimlanes::workload::Workload;

use self::limits::share;
use self::markdown::{Table, code, ns, size, time, times};
use super::data::{Data, Setup};
use super::tasks::{Effort, SMALL};

const BIAS: &str = include_str!("../bias.md");
const HOW_TO_READ: &str = include_str!("../how_to_read.md");
const THREATS: &str = include_str!("../threats.md");

const PUBLISHED: &str = "Published sizes, one thread, default build.";

/// A report on one set of measurements.
#[derive(Debug)]
pub struct Report<'a> {
    data: &'a Data,
    machine: Machine,
}

/// An operation and the kernels in its list.
struct Listed {
    operation: &'static dyn AnyOperation,
    kernels: Vec<KernelInfo>,
}

impl Listed {
    fn headline(&self) -> &'static Workload {
        &self.operation.workloads()[0]
    }

    fn case(&self, workload: &Workload, size: u64) -> Case {
        Case::new(self.operation.name(), workload.name, size)
    }

    fn info(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// A kernel's name, linked to its source.
    fn link(&self, name: &str) -> String {
        self.info(name).map_or(code(name), |kernel| format!("[{}]({})", code(name), kernel.source()))
    }

    /// A kernel's summary, with those of the kernels it refers to.
    fn explained(&self, kernel: &KernelInfo) -> String {
        match kernel.like.and_then(|name| self.info(name)) {
            Some(other) => format!("{}, as {}: {}", kernel.summary, code(other.name), self.explained(other)),
            None => kernel.summary.to_owned(),
        }
    }

    fn is_plain(&self, row: &Row) -> bool {
        self.info(&row.kernel).is_some_and(KernelInfo::is_plain)
    }

    fn is_public(&self, row: &Row) -> bool {
        self.operation.public().contains(&row.kernel.as_str())
    }
}

/// A chart, and the name of its file.
#[derive(Debug)]
pub struct Chart {
    /// File name with suffix.
    pub file: String,
    /// The SVG text.
    pub svg: String,
}

impl<'a> Report<'a> {
    /// A report on `data`.
    pub fn new(data: &'a Data) -> Self {
        // The machine only serves to list kernels: the report depends on the measurements, not on where it is generated.
        Report { data, machine: Machine::detect() }
    }

    fn listed(&self) -> impl Iterator<Item = Listed> {
        let kernels = |operation: &'static dyn AnyOperation| operation.kernels(&self.machine);
        OPERATIONS.iter().map(move |operation| Listed { operation: *operation, kernels: kernels(*operation) })
    }

    /// The duel at the published size, default build, one thread.
    fn headline(&self, listed: &Listed) -> Option<&'a Duel> {
        let workload = listed.headline();
        self.duel(listed, workload, workload.published)
    }

    fn duel(&self, listed: &Listed, workload: &Workload, size: u64) -> Option<&'a Duel> {
        self.data.duel(&listed.case(workload, size), "default", "thread")
    }

    /// Sizes at which there is a duel on one thread, ascending.
    fn sizes(&self, listed: &Listed, workload: &Workload) -> impl Iterator<Item = u64> + use<> {
        let over = (listed.operation.name(), workload.name);
        let duels = self.data.duels.iter().map(|saved| &saved.content);
        let cases = duels.map(|duel| &duel.case);
        let cases = cases.filter(|case| (case.operation.as_str(), case.workload.as_str()) == over);
        let mut sizes: Vec<u64> = cases.map(|case| case.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.into_iter()
    }

    /// The complete text, and the charts that it links to in the folder `charts`.
    pub fn write(&self, charts: &str) -> (String, Vec<Chart>) {
        let mut text = String::new();
        if self.data.is_draft() {
            text.push_str("> **Draft**: few sizes and few rounds. Do not draw conclusions from it.\n\n");
        }
        let mut drawn = Vec::new();
        let mut section = |title: &str, body: String| {
            if !body.trim().is_empty() {
                text += &format!("## {title}\n\n{}\n\n", body.trim());
            }
        };
        section("Summary", self.summary());
        section("Bias and conflicts of interest", BIAS.to_owned());
        section("Environment", self.environment());
        section("How to read", [HOW_TO_READ, &self.time_limit_note(), "\n", &self.clocks()].concat());
        for listed in self.listed() {
            let body = self.operation(&listed, charts, &mut drawn);
            section(&format!("`{}`", listed.operation.name()), body);
        }
        section("Distance to the limit", self.limits());
        section("Complete games", self.games());
        section("Far beyond the published limits", self.far());
        section("Small sizes", self.small());
        section("First call, later calls, memory", self.starts());
        section("Default and native build", self.native());
        section("A second harness", self.second_opinion());
        section(&self.capped_title(), self.capped());
        section("Kernel selection", self.choices());
        section("What did not help", self.losers());
        section("Build cost", self.built());
        section("Threats to validity", THREATS.to_owned());
        section("Reproducing the results", self.reproduce());
        (text.trim_end().to_owned() + "\n", drawn)
    }

    /// Kernels without a measurement, as `operation=kernel`: added later, or for another architecture. The report contains
    /// only measurements, so it does not mention them.
    pub fn unmeasured(&self) -> Vec<String> {
        let duels = || self.data.duels.iter().map(|saved| &saved.content);
        let is_known = |operation: &str, kernel: &str| {
            duels().filter(|duel| duel.case.operation == operation).any(|duel| {
                duel.rows.iter().any(|row| row.kernel == kernel) || duel.skipped.iter().any(|row| row.kernel == kernel)
            })
        };
        let kernels = |listed: Listed| {
            let name = listed.operation.name();
            listed.kernels.into_iter().map(move |kernel| (name, kernel.name))
        };
        let unknown = self.listed().flat_map(kernels).filter(|(operation, kernel)| !is_known(operation, kernel));
        unknown.map(|(operation, kernel)| format!("{operation}={kernel}")).collect()
    }

    fn environment(&self) -> String {
        let Some(environment) = self.data.environment() else { return String::new() };
        let dates = || self.data.duels.iter().map(|saved| saved.date.as_str());
        let mut table = Table::new(&["", ""]);
        let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
        row("CPU", environment.cpu.clone());
        row("microarchitecture", environment.microarchitecture.clone());
        row("instruction sets up to", code(&environment.tier));
        row("CPUs", environment.threads.to_string());
        row("caches", environment.caches.join(", "));
        row("memory", bytes(environment.memory as f64));
        row("system", environment.system.clone());
        row("default build compiled for", environment.target_features.join(", "));
        row("features", environment.features.join(", "));
        row("profile", environment.profile.clone());
        row("measured (UTC)", format!("{} to {}", dates().min().unwrap_or(""), dates().max().unwrap_or("")));
        table.end()
    }

    fn setup(&self) -> Option<&Setup> {
        self.data.setups.first().map(|saved| &saved.content)
    }

    /// Time limits of a run in a duel, in seconds: in general, and at headline sizes.
    fn time_limits(&self) -> Option<[f64; 2]> {
        let setup = self.setup()?;
        let effort = if setup.draft { Effort::DRAFT } else { Effort::FULL };
        Some([setup.time_limit_seconds, effort.headline_time_limit.as_secs_f64()])
    }

    /// The time limit of a run in this duel, in seconds.
    fn time_limit(&self, listed: &Listed, duel: &Duel) -> Option<f64> {
        let workload = listed.headline();
        let is_headline = duel.case.workload == workload.name && duel.case.size == workload.published;
        self.time_limits().map(|[most, headline]| if is_headline { headline } else { most })
    }

    fn time_limit_note(&self) -> String {
        let sentence = |[most, headline]: [f64; 2]| {
            format!(
                "- **Time limit**: kernels predicted to take longer than {} for a run are skipped. At the published size of an \
                 operation's first\n  input the limit is {}. At its larger sizes, that limit also applies to the best kernel in \
                 plain Rust and the best public ones.\n",
                time(most),
                time(headline)
            )
        };
        self.time_limits().map_or(String::new(), sentence)
    }

    fn clocks(&self) -> String {
        let Some(saved) = self.data.clocks.first() else { return String::new() };
        let clocks = &saved.content;
        let mut table = Table::new(&["neighbours", "clock", "median", "middle 80 %", "spread"]);
        for row in &clocks.rows {
            let range = format!("{} .. {}", time(row.low_seconds), time(row.high_seconds));
            let half = 50.0 * (row.high_seconds - row.low_seconds) / row.median_seconds;
            table.row([
                row.neighbours.clone(),
                row.clock.clone(),
                time(row.median_seconds),
                range,
                format!("±{half:.1} %"),
            ]);
        }
        format!(
            "A test of the clocks: `{}` timed repeatedly, alone and with neighbours on the same machine.\n\n{}",
            clocks.subject,
            table.end()
        )
    }

    fn summary(&self) -> String {
        let heads = [
            "operation",
            "size",
            "best kernel",
            "× the source's algorithm",
            "× the best plain Rust",
            "× the best public",
            "time per unit",
            "share of the limit",
            "verified",
        ];
        let mut table = Table::new(&heads);
        for listed in self.listed() {
            let Some(duel) = self.headline(&listed) else { continue };
            let Some(best) = duel.rows.first() else { continue };
            let against = |other: Option<&Row>| match other {
                None => "–".to_owned(),
                Some(other) if other.kernel == best.kernel => "itself".to_owned(),
                Some(other) => format!("**{}** {}", times(best.ratio / other.ratio), code(&other.kernel)),
            };
            let known = known::find(&duel.case).is_some();
            table.row([
                code(listed.operation.name()),
                size(duel.case.size),
                listed.link(&best.kernel),
                against(duel.rows.iter().find(|row| row.kernel == duel.baseline && listed.is_plain(row))),
                against(duel.rows.iter().find(|row| listed.is_plain(row))),
                against(duel.rows.iter().find(|row| listed.is_public(row))),
                format!("{} per {}", ns(1e9 / best.throughput), best.unit),
                self.limit(&listed, best).map_or("–".to_owned(), |limit| share(limit.ns, best)),
                if known { "published answer" } else { "each other" }.to_owned(),
            ]);
        }
        format!("{PUBLISHED}\n\n{}", table.end())
    }

    /// The digest for README.md.
    pub fn digest(&self) -> String {
        let heads = ["operation", "best kernel", "× the source's algorithm", "× the best plain Rust", "time per unit"];
        let mut table = Table::new(&heads);
        for listed in self.listed() {
            let Some(duel) = self.headline(&listed) else { continue };
            let Some(best) = duel.rows.first() else { continue };
            let against = |other: Option<&Row>| other.map_or("–".to_owned(), |other| times(best.ratio / other.ratio));
            table.row([
                format!("{} at {}", code(listed.operation.name()), size(duel.case.size)),
                listed.link(&best.kernel),
                against(duel.rows.iter().find(|row| row.kernel == duel.baseline && listed.is_plain(row))),
                against(duel.rows.iter().find(|row| listed.is_plain(row))),
                format!("{} per {}", ns(1e9 / best.throughput), best.unit),
            ]);
        }
        format!("{PUBLISHED}\n\n{}{}", table.end(), self.furthest())
    }

    fn reproduce(&self) -> String {
        let took =
            self.setup().map_or(String::new(), |setup| format!("{:.0} min here", (setup.took_seconds / 60.0).ceil()));
        format!(
            "```sh\n\
             cargo bench                               # criterion's estimates, used by the report: 8 min\n\
             cargo bench-native                        # the same of the native build: 8 min\n\
             cargo run --release -- report --again     # measure everything and write this file: {took}\n\
             cargo run --release -- report --quick     # a draft: 2 min\n\
             cargo run --release -- report --check     # regenerate it from the committed data and compare\n\
             cargo run --release -- compare OPERATION  # one duel: 1 min\n\
             ```\n"
        )
    }
}
