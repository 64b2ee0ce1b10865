//! The text of a report: markdown, from measurements and what the registry says, and nothing else.

mod builds;
mod games;
mod ladder;
mod limits;
mod markdown;
mod selected;

use crate::case::Case;
use crate::cores::OPERATIONS;
use crate::lab::duel::{Duel, Row};
use crate::lab::known;
use crate::machine::Machine;
use crate::session::{AnyOperation, KernelInfo};
use crate::units::bytes;
use crate::workload::Workload;

use self::limits::share;
use self::markdown::{Table, code, ns, size, time, times};
use super::data::{Data, Setup};
use super::tasks::{Pace, SMALL};

const BIAS: &str = include_str!("../bias.md");
const HOW_TO_READ: &str = include_str!("../how_to_read.md");
const THREATS: &str = include_str!("../threats.md");

const PUBLISHED: &str = "Published sizes, one thread, default build.";

/// The report on one set of measurements.
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

    /// A kernel's name, which leads to its source.
    fn link(&self, name: &str) -> String {
        self.info(name).map_or(code(name), |kernel| format!("[{}]({})", code(name), kernel.source()))
    }

    /// What a kernel is, with those that its line refers to.
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
    /// Name with suffix.
    pub file: String,
    /// The picture.
    pub svg: String,
}

impl<'a> Report<'a> {
    /// A report on `data`.
    pub fn new(data: &'a Data) -> Self {
        // The list of kernels is that of the strongest machine: what was measured decides, not where this runs.
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

    /// All of it, and the charts that it shows from the folder `charts`.
    pub fn write(&self, charts: &str) -> (String, Vec<Chart>) {
        let mut text = String::new();
        if self.data.is_draft() {
            text.push_str("> **Draft**, measured in a hurry: few sizes, few rounds, nothing to conclude from.\n\n");
        }
        let mut drawn = Vec::new();
        let mut section = |title: &str, body: String| {
            if !body.trim().is_empty() {
                text += &format!("## {title}\n\n{}\n\n", body.trim());
            }
        };
        section("In short", self.summary());
        section("Who measured whom", BIAS.to_owned());
        section("Environment", self.environment());
        section("How to read", [HOW_TO_READ, &self.cut_offs(), "\n", &self.clocks()].concat());
        for listed in self.listed() {
            let body = self.operation(&listed, charts, &mut drawn);
            section(&format!("`{}`", listed.operation.name()), body);
        }
        section("Distance to the limit", self.limits());
        section("Whole games", self.games());
        section("Far past the published limits", self.far());
        section("Small sizes", self.small());
        section("First call, later calls, memory", self.starts());
        section("Default and native build", self.native());
        section("A second harness", self.second_opinion());
        section(&self.capped_title(), self.capped());
        section("What is selected", self.choices());
        section("What did not help", self.losers());
        section("Building", self.built());
        section("Threats to validity", THREATS.to_owned());
        section("Do it again", self.reproduce());
        (text.trim_end().to_owned() + "\n", drawn)
    }

    /// Kernels, as `operation=kernel`, that no measurement knows: added since, or of another architecture. The report is made
    /// of measurements, so it does not tell of them.
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

    /// Seconds that a kernel may be predicted to need for a run and take part in a duel: most, and at headlines.
    fn patience(&self) -> Option<[f64; 2]> {
        let setup = self.setup()?;
        let pace = if setup.draft { Pace::DRAFT } else { Pace::FULL };
        Some([setup.patience_seconds, pace.invitation.as_secs_f64()])
    }

    /// What a run may be predicted to take in a duel.
    fn cut_off(&self, listed: &Listed, duel: &Duel) -> Option<f64> {
        let workload = listed.headline();
        let is_headline = duel.case.workload == workload.name && duel.case.size == workload.published;
        self.patience().map(|[most, headline]| if is_headline { headline } else { most })
    }

    fn cut_offs(&self) -> String {
        let sentence = |[most, headline]: [f64; 2]| {
            format!(
                "- **Cut-off**: a kernel that is predicted to take longer than {} for a run takes no part. At the published size of \
                 an operation's first\n  input it is {}; at its larger sizes the best kernel in plain Rust and the best public ones \
                 have as long.\n",
                time(most),
                time(headline)
            )
        };
        self.patience().map_or(String::new(), sentence)
    }

    fn clocks(&self) -> String {
        let Some(saved) = self.data.clocks.first() else { return String::new() };
        let clocks = &saved.content;
        let mut table = Table::new(&["beside", "clock", "median", "middle 80 %", "spread"]);
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
            "The clocks, tested: `{}` again and again, alone and beside neighbours on the same machine.\n\n{}",
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
            "time of a unit",
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
            let known = known::of(&duel.case).is_some();
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

    /// The least that somebody should know who reads no further.
    pub fn digest(&self) -> String {
        let heads = ["operation", "best kernel", "× the source's algorithm", "× the best plain Rust", "time of a unit"];
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
             cargo bench                               # criterion's view, read by the report: 8 min\n\
             cargo bench-native                        # the same of the native build: 8 min\n\
             cargo run --release -- report --again     # measure and write this file: {took}\n\
             cargo run --release -- report --quick     # a draft of it: 2 min\n\
             cargo run --release -- report --check     # rebuild it from the committed data, and compare\n\
             cargo run --release -- compare OPERATION  # one duel: 1 min\n\
             ```\n"
        )
    }
}
