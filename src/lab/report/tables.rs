//! The text of a report: markdown, from measurements and what the registry says, and nothing else.

use crate::cores::OPERATIONS;
use crate::games::GAMES;
use crate::kernel::{Needs, Tier, Workload};
use crate::lab::ceilings::Reading;
use crate::lab::duel::{Duel, Row, Skipped, quantile};
use crate::lab::known;
use crate::lab::saved::TIE;
use crate::machine::Machine;
use crate::selection::{bytes, span};
use crate::session::{AnyOperation, KernelInfo};

use super::chart::{self, Bar, Series};
use super::data::{Data, Far, GameDuel, Start, Starts};
use super::measure::SMALL;

const BIAS: &str = include_str!("bias.md");
const HOW_TO_READ: &str = include_str!("how_to_read.md");
const LIMITS: &str = include_str!("limits.md");
const THREATS: &str = include_str!("threats.md");

/// Rows of cells below a heading row, as markdown.
struct Table {
    text: String,
}

impl Table {
    fn new(heads: &[impl AsRef<str>]) -> Self {
        let mut table = Table { text: String::new() };
        table.row(heads.iter().map(|head| head.as_ref().to_owned()));
        table.row(heads.iter().enumerate().map(|(column, _)| if column == 0 { "---" } else { "---:" }.to_owned()));
        table
    }

    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        for cell in cells {
            self.text += &format!("| {} ", cell.replace('|', "\\|"));
        }
        self.text.push_str("|\n");
    }

    fn end(self) -> String {
        self.text + "\n"
    }
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Markdown that a reader unfolds.
fn folded(title: &str, body: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{}\n\n</details>\n\n", body.trim_end())
}

/// A number of seconds for people.
fn time(seconds: f64) -> String {
    span(seconds * 1e9)
}

/// A ratio with three digits.
fn times(ratio: f64) -> String {
    format!("{ratio:.*}", if ratio < 10.0 { 2 } else { usize::from(ratio < 100.0) })
}

/// Half the range of the ratios, in percent of their median.
fn spread(row: &Row) -> String {
    format!("±{:.1} %", 50.0 * (row.ratio_high - row.ratio_low) / row.ratio)
}

/// A number of nanoseconds with three digits.
fn ns(ns: f64) -> String {
    if ns < 1.0 { format!("{ns:.3} ns") } else { format!("{} ns", times(ns)) }
}

/// A size as people write it.
fn size(size: u64) -> String {
    let digits = size.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap_or("")).collect();
    groups.join("\u{202f}")
}

/// What makes a kernel quick: its Cargo features, else its tier, else nothing.
fn technology(kernel: &KernelInfo) -> String {
    match (kernel.features, kernel.tier) {
        ([], Tier::Portable) => "scalar".to_owned(),
        ([], tier) => tier.name().to_owned(),
        (features, _) => features.join(" + "),
    }
}

/// The report on one set of measurements.
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

    fn info(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    fn is_scalar(&self, row: &Row) -> bool {
        self.info(&row.kernel).is_some_and(KernelInfo::is_scalar)
    }

    fn is_public(&self, row: &Row) -> bool {
        self.operation.public().contains(&row.kernel.as_str())
    }
}

/// The least time of a unit of work.
struct Limit {
    ns: f64,
    /// What is needed, dearest first.
    needs: String,
}

impl Limit {
    /// What each need costs at its ceiling; the dearest is the limit, as the others may go on beside it.
    fn of(needs: &Needs, readings: &[&Reading]) -> Option<Self> {
        // The largest buffer that is no larger than what is ranged over: a ceiling that cannot be too low.
        let ceiling = |kind: &str, name: &str| {
            let level = |reading: &&&Reading| {
                reading.kind == kind && (name.is_empty() || reading.name == name || reading.name.ends_with(name))
            };
            let plain = |reading: &&&Reading| !name.is_empty() || !reading.name.ends_with(SPLIT);
            let all = || readings.iter().filter(level).filter(plain);
            let within =
                all().filter(|reading| reading.bytes as f64 <= needs.bytes).max_by_key(|reading| reading.bytes);
            within.or(all().min_by_key(|reading| reading.bytes)).map(|reading| reading.ns)
        };
        let cost = |count: f64, kind, name| if count > 0.0 { Some(count * ceiling(kind, name)?) } else { Some(0.0) };
        let Needs { loads, split_loads, logic, permutes, bits, chased, cycles, .. } = *needs;
        let mut parts = [
            (loads + split_loads, "loads", cost(loads, "loads", "")? + cost(split_loads, "loads", SPLIT)?),
            (logic, "logical operations", cost(logic, "vectors", "logic")?),
            (permutes, "permutations", cost(permutes, "vectors", "permute_bytes")?),
            (bits, "scattered bits", cost(bits, "bits", "")?),
            (chased, "dependent loads", cost(chased, "latency", "")?),
            (cycles, "cycles", cost(cycles, "clock", "")?),
        ];
        parts.sort_by(|a, b| b.2.total_cmp(&a.2));
        let needed = parts.iter().filter(|(count, ..)| *count > 0.0);
        let needs: Vec<String> =
            needed.map(|(count, what, ns)| format!("{} {what} ({})", times(*count), self::ns(*ns))).collect();
        Some(Limit { ns: parts[0].2, needs: needs.join(", ") })
    }
}

/// How the names of ceilings end that are for loads across lines.
const SPLIT: &str = "_split";

/// A limit in percent of what a unit of work takes.
fn share(limit_ns: f64, row: &Row) -> String {
    format!("{:.0} %", 100.0 * limit_ns * row.throughput / 1e9)
}

/// A selected kernel shall take no more than so many times as long as the quickest.
const GOOD_CHOICE: f64 = 1.2;

/// A chart, and the name of its file.
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
        self.data.duel(listed.operation.name(), workload.name, size, "default", "thread")
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
        section("Who measured whom", BIAS.to_owned());
        section("Environment", self.environment());
        section("How to read", HOW_TO_READ.to_owned() + "\n" + &self.clocks());
        section("In short", self.summary());
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
        section("Without AVX-512, without AVX2", self.capped());
        section("What is selected", self.choices());
        section("What did not help", self.losers());
        section("Building", self.built());
        section("Threats to validity", THREATS.to_owned());
        section("Do it again", self.reproduce());
        (text.trim_end().to_owned() + "\n", drawn)
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
            "The clocks, tried: `{}` again and again, alone and beside neighbours on the same machine.\n\n{}",
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
            "× the best scalar",
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
            let known = known::of(listed.operation.name(), &duel.workload, duel.size).is_some();
            table.row([
                code(listed.operation.name()),
                size(duel.size),
                code(&best.kernel),
                against(duel.rows.iter().find(|row| row.kernel == duel.baseline && listed.is_scalar(row))),
                against(duel.rows.iter().find(|row| listed.is_scalar(row))),
                against(duel.rows.iter().find(|row| listed.is_public(row))),
                format!("{} a {}", ns(1e9 / best.throughput), best.unit),
                self.limit(&listed, best).map_or("–".to_owned(), |limit| share(limit.ns, best)),
                if known { "published answer" } else { "each other" }.to_owned(),
            ]);
        }
        format!("Published sizes, one thread, default build.\n\n{}", table.end())
    }

    fn operation(&self, listed: &Listed, charts: &str, drawn: &mut Vec<Chart>) -> String {
        let operation = listed.operation;
        let mut text = String::new();
        let mut draw = |text: &mut String, kind: &str, svg: String| {
            let file = format!("{}-{kind}.svg", operation.name());
            *text += &format!("![{} {kind}]({charts}/{file})\n\n", operation.name());
            drawn.push(Chart { file, svg });
        };
        if let Some(line) = self.result(listed) {
            text += &format!("{line}\n\n");
        }
        let notes = operation.notes().trim();
        if !notes.is_empty() {
            // Headings of the notes stand below those of the report.
            text += &format!("{}\n\n", notes.replace("\n# ", "\n### "));
        }
        let headline = listed.headline();
        let series = self.series(listed, headline);
        if series.iter().any(|series| series.points.len() > 1) {
            let title = format!("{}: {}", operation.name(), headline.name);
            draw(&mut text, "time", chart::times(&title, &series, SMALL as f64));
        }
        if let Some(duel) = self.headline(listed) {
            let title = format!("{}: {} at {}", operation.name(), headline.name, size(duel.size));
            draw(&mut text, "ratio", chart::ratios(&title, &duel.baseline, &bars(listed, duel)));
        }
        for workload in operation.workloads() {
            let sizes = self.sizes(listed, workload).filter(|size| *size > SMALL);
            let duels: Vec<&Duel> = sizes.filter_map(|size| self.duel(listed, workload, size)).collect();
            if duels.is_empty() {
                continue;
            }
            text += &format!("### {}: {}\n\n", code(workload.name), workload.summary);
            text.push_str(&ladder(listed, &duels));
            let threaded = self.threaded(listed, workload);
            if let Some(threads) = threaded.iter().flat_map(|duel| &duel.rows).map(|row| row.threads).max() {
                text += &format!(
                    "On {threads} threads, by the wall, with kernels on one thread to compare with:\n\n{}",
                    rungs(listed, &threaded).0
                );
            }
        }
        let absent = operation.absent();
        if !absent.is_empty() {
            text.push_str("Not in the list:\n\n");
            absent.iter().for_each(|absent| text += &format!("- {}: {}\n", code(absent.feature), absent.reason));
        }
        text
    }

    /// Sizes at which there is a duel on one thread, ascending.
    fn sizes(&self, listed: &Listed, workload: &Workload) -> impl Iterator<Item = u64> + use<> {
        let over = (listed.operation.name(), workload.name);
        let duels = self.data.duels.iter().map(|saved| &saved.content);
        let duels = duels.filter(|duel| (duel.operation.as_str(), duel.workload.as_str()) == over);
        let mut sizes: Vec<u64> = duels.map(|duel| duel.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.into_iter()
    }

    /// Duels with parallel kernels.
    fn threaded(&self, listed: &Listed, workload: &Workload) -> Vec<&'a Duel> {
        let duel = |size| self.data.duel(listed.operation.name(), workload.name, size, "default", "wall");
        self.sizes(listed, workload).filter_map(duel).collect()
    }

    fn series(&self, listed: &Listed, workload: &Workload) -> Vec<Series> {
        let duels: Vec<&Duel> =
            self.sizes(listed, workload).filter_map(|size| self.duel(listed, workload, size)).collect();
        let series = |kernel: &KernelInfo| {
            let point = |duel: &&Duel| {
                let row = duel.rows.iter().find(|row| row.kernel == kernel.name)?;
                Some((duel.size as f64, row.median_seconds))
            };
            Series { name: kernel.name.to_owned(), points: duels.iter().filter_map(point).collect() }
        };
        listed.kernels.iter().map(series).filter(|series| !series.points.is_empty()).collect()
    }

    /// One line: what came of it.
    fn result(&self, listed: &Listed) -> Option<String> {
        let duel = self.headline(listed)?;
        let best = duel.rows.first()?;
        let tied = duel.rows[1..].iter().take_while(|row| best.ratio < row.ratio * (1.0 + TIE));
        let tied: Vec<String> = tied.map(|row| code(&row.kernel)).collect();
        let tied = if tied.is_empty() { String::new() } else { format!(" (a tie with {})", tied.join(", ")) };
        let mut line = format!(
            "**Result** at {}: {}{tied} takes {}, {} a {}, and is {} times as quick as the source's way ({})",
            size(duel.size),
            code(&best.kernel),
            time(best.median_seconds),
            ns(1e9 / best.throughput),
            best.unit,
            times(best.ratio),
            code(&duel.baseline),
        );
        if let Some(scalar) = duel.rows.iter().find(|row| listed.is_scalar(row)) {
            match scalar.kernel == best.kernel {
                true => line.push_str("; it is a scalar kernel"),
                false => {
                    line += &format!(
                        ", {} times the best scalar kernel ({})",
                        times(best.ratio / scalar.ratio),
                        code(&scalar.kernel)
                    );
                }
            }
        }
        Some(line + ".")
    }

    /// The least time of a unit of work by a kernel, from what it states and what the machine can do.
    fn limit(&self, listed: &Listed, row: &Row) -> Option<Limit> {
        let mut stated = self.data.stated.iter().flat_map(|saved| &saved.content.rows);
        let stated = stated
            .find(|stated| (stated.operation.as_str(), &stated.kernel) == (listed.operation.name(), &row.kernel))?;
        let readings: Vec<&Reading> = self.data.ceilings.iter().flat_map(|saved| &saved.content.rows).collect();
        Limit::of(&stated.needs, &readings)
    }

    fn limits(&self) -> String {
        let mut ceilings = Table::new(&["ceiling", "buffer", "time of one"]);
        for reading in self.data.ceilings.iter().flat_map(|saved| &saved.content.rows) {
            let buffer = if reading.bytes == 0 { "registers".to_owned() } else { bytes(reading.bytes as f64) };
            let what = format!("{} ({}, {})", reading.unit, reading.kind, reading.name);
            ceilings.row([what, buffer, ns(reading.ns)]);
        }
        let mut limits = Table::new(&[
            "operation",
            "kernel",
            "a unit of work needs at least",
            "limit",
            "measured",
            "share of the limit",
        ]);
        let mut any = false;
        for listed in self.listed() {
            let Some(duel) = self.headline(&listed) else { continue };
            for row in &duel.rows {
                let Some(limit) = self.limit(&listed, row) else { continue };
                any = true;
                let measured = ns(1e9 / row.throughput);
                limits.row([
                    code(listed.operation.name()),
                    code(&row.kernel),
                    limit.needs.clone(),
                    ns(limit.ns),
                    measured,
                    share(limit.ns, row),
                ]);
            }
        }
        if !any {
            return String::new();
        }
        format!("{LIMITS}\n{}What the machine can do, one thread:\n\n{}", limits.end(), ceilings.end())
    }

    fn games(&self) -> String {
        let mut table = Table::new(&["game", "limit", "kernels", "time", "ratio", "middle 80 %"]);
        let mut any = false;
        for GameDuel { game, limit, rows, .. } in self.data.games.iter().map(|saved| &saved.content) {
            for row in rows {
                any = true;
                let kernels = row.kernels.iter().map(|pair| code(pair)).collect::<Vec<_>>().join(" ");
                table.row([
                    game.clone(),
                    size(*limit),
                    format!("{}: {kernels}", row.cast.replace('_', " ")),
                    time(row.median_seconds),
                    format!("×{}", times(row.ratio)),
                    format!("{} .. {}", times(row.ratio_low), times(row.ratio_high)),
                ]);
            }
        }
        let intro = "A whole solution, by the wall: the source's kernels, the best scalar ones, and those that are selected (all threads allowed).";
        if any { format!("{intro}\n\n{}", table.end()) } else { String::new() }
    }

    fn far(&self) -> String {
        let mut far: Vec<_> = self.data.far.iter().map(|saved| &saved.content).collect();
        let place = |name: &str| GAMES.iter().position(|game| game.name == name);
        far.sort_by_key(|far| (place(&far.game), far.limit));
        let heads = ["game", "limit", "× published", "answer", "time", "peak memory", "kernels", "answer known"];
        let mut table = Table::new(&heads);
        for Far { game, limit, answer, kernels, seconds, peak_bytes } in &far {
            let Some(listed) = place(game).map(|place| &GAMES[place]) else { continue };
            table.row([
                game.clone(),
                size(*limit),
                size(limit / listed.published),
                answer.clone(),
                time(*seconds),
                bytes(*peak_bytes as f64),
                kernels
                    .iter()
                    .map(|(operation, kernel)| code(&format!("{operation}={kernel}")))
                    .collect::<Vec<_>>()
                    .join(" "),
                if known::of_game(listed, *limit).is_some() { "yes" } else { "no" }.to_owned(),
            ]);
        }
        if far.is_empty() {
            return String::new();
        }
        format!(
            "One whole solution each, in a process of its own, by the wall, with the kernels that are selected and all threads. \
             A known answer was found elsewhere, by another program.\n\n{}",
            table.end()
        )
    }

    fn small(&self) -> String {
        let mut table = Table::new(&["operation", "size", "quickest", "", "selected", ""]);
        let mut any = false;
        for listed in self.listed() {
            let workload = listed.headline();
            for n in self.sizes(&listed, workload).filter(|size| *size <= SMALL) {
                let Some(duel) = self.duel(&listed, workload, n) else { continue };
                any = true;
                let selected = self.selected(&listed, workload, n);
                let rows = [duel.rows.first(), duel.rows.iter().find(|row| Some(row.kernel.as_str()) == selected)];
                let cells = rows.into_iter().flat_map(|row| match row {
                    Some(row) => [code(&row.kernel), time(row.median_seconds)],
                    None => ["–".to_owned(), "–".to_owned()],
                });
                table.row([code(listed.operation.name()), size(n)].into_iter().chain(cells));
            }
        }
        let intro = "What a call costs besides its loops; one thread.";
        if any { format!("{intro}\n\n{}", table.end()) } else { String::new() }
    }

    /// The kernel that was selected for an input at the strongest tier.
    fn selected(&self, listed: &Listed, workload: &Workload, size: u64) -> Option<&'a str> {
        let rows = self.data.choices.iter().flat_map(|saved| &saved.content.rows);
        let over = (listed.operation.name(), workload.name, size);
        let mut rows = rows.filter(move |row| (row.operation.as_str(), row.workload.as_str(), row.size) == over);
        rows.next_back().map(|row| row.kernel.as_str())
    }

    fn starts(&self) -> String {
        let mut text = String::new();
        for Starts { operation, workload, size: n, rows, .. } in self.data.starts.iter().map(|saved| &saved.content) {
            let mut table = Table::new(&["kernel", "first call", "later calls", "first / later", "its peak memory"]);
            for row in rows {
                let Start { kernel, first_seconds, later_seconds, idle_bytes, peak_bytes, .. } = row;
                table.row([
                    code(kernel),
                    time(*first_seconds),
                    time(*later_seconds),
                    times(first_seconds / later_seconds),
                    bytes(peak_bytes.saturating_sub(*idle_bytes) as f64),
                ]);
            }
            text += &format!("{} {} at {}\n\n{}", code(operation), code(workload), size(*n), table.end());
        }
        if text.is_empty() {
            return text;
        }
        format!(
            "Each kernel in a process of its own. The first call meets cold caches and makes its pages; memory is the growth \
             of the process's peak over what it held, input included, before the kernel ran.\n\n{text}"
        )
    }

    fn native(&self) -> String {
        let mut text = String::new();
        for listed in self.listed() {
            let workload = listed.headline();
            let native = self.data.duel(listed.operation.name(), workload.name, workload.published, "native", "thread");
            let (Some(default), Some(native)) = (self.headline(&listed), native) else { continue };
            let mut table = Table::new(&["kernel", "default", "native", "default / native"]);
            for row in &native.rows {
                let Some(other) = default.rows.iter().find(|other| other.kernel == row.kernel) else { continue };
                let gain = other.median_seconds / row.median_seconds;
                table.row([code(&row.kernel), time(other.median_seconds), time(row.median_seconds), times(gain)]);
            }
            text += &format!("{} at {}\n\n{}", code(listed.operation.name()), size(native.size), table.end());
        }
        if text.is_empty() {
            return text;
        }
        format!(
            "`wide` and plain Rust take their vectors from the target they are compiled for: SSE2 in the default build, all \
             that this CPU has in the native one (where the compiler may still prefer 256-bit vectors). Two processes, so \
             small differences mean nothing.\n\n{text}"
        )
    }

    fn second_opinion(&self) -> String {
        let heads = ["operation", "size", "kernel", "build", "duel", "criterion", "95 % interval", "criterion / duel"];
        let mut table = Table::new(&heads);
        let mut quotients = Vec::new();
        for listed in self.listed() {
            let workload = listed.headline();
            for build in ["default", "native"] {
                for n in self.sizes(&listed, workload) {
                    let Some(duel) = self.data.duel(listed.operation.name(), workload.name, n, build, "thread") else {
                        continue;
                    };
                    let scalar = duel.rows.iter().position(|row| listed.is_scalar(row));
                    for (index, row) in duel.rows.iter().enumerate() {
                        let id = format!("{}/{}/{}/{n}", listed.operation.name(), workload.name, row.kernel);
                        let Some(estimate) = self.data.estimate(&id, build) else { continue };
                        let quotient = estimate.median_seconds / row.median_seconds;
                        quotients.push(quotient);
                        let is_named = index == 0 || Some(index) == scalar || row.kernel == duel.baseline;
                        if is_named && n == workload.published {
                            table.row([
                                code(listed.operation.name()),
                                size(n),
                                code(&row.kernel),
                                build.to_owned(),
                                time(row.median_seconds),
                                time(estimate.median_seconds),
                                format!("{} .. {}", time(estimate.low_seconds), time(estimate.high_seconds)),
                                times(quotient),
                            ]);
                        }
                    }
                }
            }
        }
        if quotients.is_empty() {
            return String::new();
        }
        let [low, middle, high] = [0.1, 0.5, 0.9].map(|q| times(quantile(&mut quotients, q)));
        format!(
            "The same kernels under criterion, minutes apart and one after the other, where a duel takes turns. Over the {} \
             pairs of a kernel and a size that both timed, criterion's median is {middle} of the duel's, in the middle 80 % \
             {low} to {high}. Ratios rest on the duels.\n\n{}",
            quotients.len(),
            table.end()
        )
    }

    fn capped(&self) -> String {
        let heads: Vec<String> = Tier::ALL.iter().map(|tier| format!("best up to {}", tier.name())).collect();
        let mut table = Table::new(&["operation".to_owned()].into_iter().chain(heads).collect::<Vec<_>>());
        let mut any = false;
        for listed in self.listed() {
            let Some(duel) = self.headline(&listed) else { continue };
            any = true;
            let best = |cap: &Tier| {
                let mut rows = duel.rows.iter();
                let row = rows.find(|row| row.tier.parse::<Tier>().is_ok_and(|tier| tier <= *cap));
                row.map_or("–".to_owned(), |row| {
                    format!("{} {} (×{})", code(&row.kernel), time(row.median_seconds), times(row.ratio))
                })
            };
            table.row([code(listed.operation.name())].into_iter().chain(Tier::ALL.iter().map(best)));
        }
        let intro = "What a weaker CPU would be left with, at the published sizes.";
        if any { format!("{intro}\n\n{}", table.end()) } else { String::new() }
    }

    fn choices(&self) -> String {
        let mut table = Table::new(&["operation", "workload", "size", "selected", "quickest", "selected / quickest"]);
        let mut losses = Vec::new();
        for listed in self.listed() {
            for workload in listed.operation.workloads() {
                let mut cases = self.selected_in_duels(&listed, workload);
                let trials = self.data.trials.iter().flat_map(|saved| &saved.content.rows);
                let trials = trials
                    .filter(|trial| (&*trial.operation, &*trial.workload) == (listed.operation.name(), workload.name));
                cases.extend(trials.map(|trial| (trial.size, &*trial.selected, &*trial.quickest, trial.loss)));
                cases.sort_by_key(|case| case.0);
                for (n, selected, quickest, loss) in cases {
                    losses.push(loss);
                    let quickest = if quickest == selected { "the same".to_owned() } else { code(quickest) };
                    let operation = code(listed.operation.name());
                    table.row([operation, code(workload.name), size(n), code(selected), quickest, times(loss)]);
                }
            }
        }
        let Some(worst) = losses.iter().copied().max_by(f64::total_cmp) else { return String::new() };
        let good = losses.iter().filter(|loss| **loss <= GOOD_CHOICE).count();
        format!(
            "Kernels are selected by the time they predict, for one thread here; what that cost against the quickest. Sizes \
             without a duel of all kernels had a short one of those that are predicted to be near.\n\n\
             Within {GOOD_CHOICE} times the quickest in {good} of {} cases; the worst choice takes {} times as long.\n\n{}",
            losses.len(),
            times(worst),
            folded("All cases", &table.end()),
        )
    }

    /// Sizes with a duel of all kernels: the selected kernel, the quickest, and how many times as long the first takes.
    fn selected_in_duels(&self, listed: &Listed, workload: &Workload) -> Vec<(u64, &'a str, &'a str, f64)> {
        let case = |n| {
            let selected = self.selected(listed, workload, n)?;
            let duel = self.duel(listed, workload, n)?;
            let (best, row) = (duel.rows.first()?, duel.rows.iter().find(|row| row.kernel == selected)?);
            Some((n, selected, best.kernel.as_str(), row.median_seconds / best.median_seconds))
        };
        self.sizes(listed, workload).filter_map(case).collect()
    }

    /// Kernels with a technology that lose to the best scalar kernel.
    fn losers(&self) -> String {
        let mut text = String::new();
        for listed in self.listed() {
            let Some(duel) = self.headline(&listed) else { continue };
            let Some(scalar) = duel.rows.iter().find(|row| listed.is_scalar(row)) else { continue };
            for row in duel.rows.iter().filter(|row| row.ratio * (1.0 + TIE) < scalar.ratio) {
                let Some(info) = listed.info(&row.kernel).filter(|info| !info.is_scalar()) else { continue };
                text += &format!(
                    "- {} {} ({}) takes {} times as long as the scalar {} at {}.\n",
                    code(listed.operation.name()),
                    code(&row.kernel),
                    info.summary,
                    times(scalar.ratio / row.ratio),
                    code(&scalar.kernel),
                    size(duel.size),
                );
            }
        }
        if text.is_empty() {
            text
        } else {
            format!("Vectors, crates and bit tricks that lose to the best scalar kernel:\n\n{text}")
        }
    }

    fn built(&self) -> String {
        let mut table = Table::new(&["build", "from nothing", "compiler processes", "program", "without symbols"]);
        for built in self.data.built.iter().map(|saved| &saved.content) {
            let stripped = built.stripped_bytes.map_or("–".to_owned(), |n| bytes(n as f64));
            table.row([
                built.build.clone(),
                time(built.seconds),
                built.jobs.to_string(),
                bytes(built.program_bytes as f64),
                stripped,
            ]);
        }
        if self.data.built.is_empty() { String::new() } else { table.end() }
    }

    fn reproduce(&self) -> String {
        let setup = self.data.setups.first().map(|saved| &saved.content);
        let took = setup.map_or(String::new(), |setup| format!("{:.0} min here", (setup.took_seconds / 60.0).ceil()));
        let patience = setup.map_or(String::new(), |setup| {
            format!(
                "\nAt sizes that were not published, kernels predicted to take longer than {} for a run were left out, but for \
                 the best scalar kernel and the best public ones.\n",
                time(setup.patience_seconds)
            )
        });
        format!(
            "```sh\n\
             cargo bench                               # criterion's view, read by the report: 8 min\n\
             cargo run --release -- report --again     # measure and write this file: {took}\n\
             cargo run --release -- report --quick     # a draft of it: 2 min\n\
             cargo run --release -- report --check     # rebuild it from the committed data, and compare\n\
             cargo run --release -- compare OPERATION  # one duel: 1 min\n\
             ```\n{patience}"
        )
    }
}

/// Kernels by sizes: time, ratio and spread, the best of a column in bold; below, folded, who took no part and why.
fn ladder(listed: &Listed, duels: &[&Duel]) -> String {
    let (mut text, took_part) = rungs(listed, duels);
    let mut reasons: Vec<(&str, String)> = Vec::new();
    for duel in duels {
        for Skipped { kernel, reason } in &duel.skipped {
            let line = format!("{} {reason}", size(duel.size));
            match reasons.iter_mut().find(|(name, _)| name == kernel) {
                Some((_, lines)) => *lines += &format!("; {line}"),
                None => reasons.push((kernel, line)),
            }
        }
    }
    for kernel in listed.kernels.iter().map(|kernel| kernel.name).filter(|kernel| !took_part.contains(kernel)) {
        if !reasons.iter().any(|(name, _)| *name == kernel) {
            reasons.push((kernel, "not measured".to_owned()));
        }
    }
    if !reasons.is_empty() {
        let list: String = reasons.iter().map(|(kernel, lines)| format!("- {}: {lines}\n", code(kernel))).collect();
        text += &folded("Who took no part, at which sizes, and why", &list);
    }
    text
}

/// The table of a ladder, and the kernels that stand in it.
fn rungs(listed: &Listed, duels: &[&Duel]) -> (String, Vec<&'static str>) {
    let head = |duel: &&Duel| format!("{} (× {})", size(duel.size), code(&duel.baseline));
    let mut table = Table::new(&["kernel".to_owned()].into_iter().chain(duels.iter().map(head)).collect::<Vec<_>>());
    let mut took_part = Vec::new();
    for kernel in listed.kernels.iter().map(|kernel| kernel.name) {
        let rows: Vec<Option<&Row>> =
            duels.iter().map(|duel| duel.rows.iter().find(|row| row.kernel == kernel)).collect();
        if rows.iter().all(Option::is_none) {
            continue;
        }
        took_part.push(kernel);
        let cell = |(duel, row): (&&Duel, Option<&Row>)| {
            let Some(row) = row else { return "–".to_owned() };
            let is_best = duel.rows.first().is_some_and(|best| best.kernel == row.kernel);
            let bold = if is_best { "**" } else { "" };
            let ratio = if row.kernel == duel.baseline { String::new() } else { format!(" {}", spread(row)) };
            format!("{bold}{}{bold}<br>×{}{ratio}", time(row.median_seconds), times(row.ratio))
        };
        table.row([code(kernel)].into_iter().chain(duels.iter().zip(rows).map(cell)));
    }
    (table.end(), took_part)
}

fn bars(listed: &Listed, duel: &Duel) -> Vec<Bar> {
    let bar = |row: &Row| Bar {
        name: row.kernel.clone(),
        technology: listed.info(&row.kernel).map_or(row.tier.clone(), technology),
        ratio: row.ratio,
        range: (row.ratio_low, row.ratio_high),
    };
    duel.rows.iter().map(bar).collect()
}
