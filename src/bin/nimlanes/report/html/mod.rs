//! The page: every measurement in one HTML file to browse, which needs nothing else.
//!
//! The files beside this one are its skeleton, its style and its scripts. All data is one block of JSON, packed. It has every number
//! as text, beside the value to sort by, and charts as SVG: the scripts compute and draw none. The page holds the library as a module of WebAssembly for
//! each tier, which a worker runs (`worker.js`) to solve, race, and find periods.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use nimlanes::cores::OPERATIONS;
use nimlanes::games::{GAMES, Game, Setting};
use nimlanes::kernel::case::Case;
use nimlanes::kernel::session::{AnyOperation, KernelInfo};
use nimlanes::kernel::workload::Workload;
use nimlanes::machine::Machine;
use serde_json::{Value, json};
use twox_hash::XxHash3_64;

use super::data::Data;
use super::data::sources::files_below;
use super::read;
use super::tables::markdown::{memory, ns, percent, spread, time, times};
use super::tables::{Entry, MachineReport, best_plain, place};
use crate::drawing::raster::deflated;
use crate::drawing::svg::base64;
use crate::files::saved::SavedError;
use crate::measuring::builds::cargo::Modules;
use crate::measuring::duel::{Duel, Mode, Row};

const SKELETON: &str = include_str!("page.html");
const WORKER: &str = include_str!("worker.js");
const STYLE: &str = include_str!("page.css");
/// Each uses what those before it define.
const SCRIPTS: [&str; 8] = [
    include_str!("base.js"),
    include_str!("table.js"),
    include_str!("measurements.js"),
    include_str!("module.js"),
    include_str!("activity.js"),
    include_str!("race.js"),
    include_str!("family.js"),
    include_str!("solve.js"),
];

/// The folder of the flamegraphs that the repository keeps, as `operation/workload/kernel-size.svg`.
const FLAMEGRAPHS: &str = "profiles/flamegraphs";

/// A page, and what it holds.
#[derive(Debug)]
pub struct Page {
    /// The text of the file.
    pub html: String,
    /// Number of rows of measurements.
    pub rows: usize,
    /// The names of the machines.
    pub machines: Vec<String>,
    /// Why it has no module, if it has none.
    pub no_module: Option<String>,
}

/// Makes a page of the reports on some machines, the main one first. `links` is where links to files of the source tree begin: the path
/// or address of its root, with a slash.
///
/// # Errors
/// A file of the source tree cannot be read.
pub fn compose(reports: &[MachineReport], links: &str, modules: Modules) -> Result<Page, SavedError> {
    let content = content(reports, links, modules.as_ref().err())?;
    let no_module = modules.as_ref().err().cloned();
    let block = |(tier, module): (&str, Vec<u8>)| {
        format!("<script type=\"text/plain\" id=\"module-{tier}\">{}</script>\n", packed(&module))
    };
    let modules: String = modules.into_iter().flatten().map(block).collect();
    let (script, data) = (SCRIPTS.concat(), packed(&serde_json::to_vec(&content).expect("keys are strings")));
    let html = SKELETON
        .replace("@NONCE@", &nonce(&[STYLE, &script, &modules, &data]))
        .replace("@STYLE@", STYLE)
        .replace("@WORKER@", WORKER)
        .replace("@SCRIPT@", &script)
        .replace("@MODULES@", &modules)
        .replace("@DATA@", &data);
    let machines = reports.iter().map(|report| report.data.name().to_owned()).collect();
    Ok(Page { html, rows: content["rows"].as_array().map_or(0, Vec::len), machines, no_module })
}

/// The data of the page.
fn content(reports: &[MachineReport], links: &str, no_module: Option<&String>) -> Result<Value, SavedError> {
    let flamegraphs = flamegraphs()?;
    // The machine only serves to list kernels.
    let machine = Machine::detect();
    let kernels: BTreeMap<&str, Vec<KernelInfo>> =
        OPERATIONS.iter().map(|operation| (operation.name(), operation.kernels(&machine))).collect();
    let operation = |operation: &&'static AnyOperation| -> Result<Value, SavedError> {
        let name = operation.name();
        let kernel = |kernel: &KernelInfo| {
            let flamegraph = flamegraphs.get(&(name.to_owned(), kernel.name.to_owned()));
            kernel_info(name, kernel, flamegraph, reports)
        };
        let kernels = kernels[name].iter().map(kernel).collect::<Result<Vec<_>, _>>()?;
        // The first is the one that the operation was published with.
        let workloads = operation.workloads().iter().map(|Workload { name, summary, published, sizes, .. }| {
            json!({ "name": name, "summary": summary, "published": published, "sizes": sizes })
        });
        Ok(json!({
            "name": name,
            "unit": operation.unit(),
            "workloads": workloads.collect::<Vec<_>>(),
            "kernels": kernels, // in list order
        }))
    };
    let numbered = || reports.iter().enumerate();
    let mut rows: Vec<_> = numbered().flat_map(|(machine, report)| rows(machine, report, &kernels)).collect();
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(json!({
        "schema": "nimlanes-page-5",
        "links": links,
        "machines": reports.iter().map(|report| machine_info(report.data)).collect::<Vec<_>>(),
        "operations": OPERATIONS.iter().map(operation).collect::<Result<Vec<_>, _>>()?,
        "rows": rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>(),
        "charts": numbered().flat_map(|(machine, report)| charts(machine, report)).collect::<Vec<_>>(),
        "games": GAMES.iter().map(game_info).collect::<Vec<_>>(),
        "no_module": no_module,
    }))
}

/// The nonce by which the policy of the page knows its own style and script. It depends on all that the page holds, data too: what
/// data bring along cannot name it beforehand.
fn nonce(parts: &[&str]) -> String {
    format!("{:016x}", XxHash3_64::oneshot(parts.concat().as_bytes()))
}

/// Bytes as text, which the browser unpacks.
fn packed(bytes: &[u8]) -> String {
    base64(&deflated(bytes))
}

/// A number, to sort by, and its text.
fn number(value: f64, text: impl Fn(f64) -> String) -> Value {
    json!({ "value": value, "text": text(value) })
}

/// Where a row stands: in the order of the lists, whatever the order of the files; exact kernels before observed ones, fastest first.
fn place_of_row(machine: usize, Duel { case, build, .. }: &Duel, row: &Row) -> impl Ord + use<> {
    // The bits of positive numbers are in their order.
    let fastest_first = Reverse(row.ratio.to_bits());
    (place(case), machine, build.clone(), row.clock.clone(), !row.is_exact(), fastest_first)
}

/// The times of kernels in the duels on a machine, with their places.
fn rows(
    machine: usize,
    report: &MachineReport,
    kernels: &BTreeMap<&str, Vec<KernelInfo>>,
) -> Vec<(impl Ord + use<>, Value)> {
    let data = report.data;
    let slow = |Mode { median_seconds, processes }: Mode| format!("{} in {processes} processes", time(median_seconds));
    let mut rows = Vec::new();
    for of in data.duels.iter().chain(&data.observed) {
        let kernels = kernels.get(&*of.case.operation).map_or(&[][..], |kernels| kernels);
        // Observed kernels lead in nothing.
        let duel = of.rows.first().and_then(|row| data.duel(&of.case, &of.build, &row.clock));
        let is_published = OPERATIONS.iter().any(|operation| {
            let [Workload { name, published, .. }, ..] = operation.workloads() else { return false };
            of.case == Case::new(operation.name(), name, *published)
        });
        let plain = duel.and_then(|duel| best_plain(duel, kernels));
        for row in &of.rows {
            let is = |named: Option<&Row>| named.is_some_and(|named| named.kernel == row.kernel);
            let is_default = of.build == "default" && row.clock == "thread";
            let limit = report.limit(&of.case.operation, row).filter(|_| is_default && is_published);
            let is_baseline = duel.is_some_and(|duel| duel.baseline == row.kernel);
            let info = json!({
                "machine": machine,
                "operation": of.case.operation,
                "workload": of.case.workload,
                "size": of.case.size,
                "variant": format!("{}, {}", of.build, if row.clock == "thread" { "one thread" } else { "all threads" }),
                "is_default": is_default,
                "is_published": is_published,
                "baseline": duel.map(|duel| &duel.baseline),
                "kernel": row.kernel,
                "tier": row.tier,
                "is_exact": row.is_exact(),
                "is_best": is(duel.and_then(|duel| duel.rows.first())),
                "is_best_plain": is(plain),
                "time": number(row.median_seconds, time),
                // None for a run that has no work.
                "unit_time": (row.throughput > 0.0).then(|| number(1.0 / row.throughput, |seconds| ns(1e9 * seconds))),
                "ratio": number(row.ratio, times),
                "spread": (!is_baseline).then(|| spread(row)),
                "plain": plain.map(|plain| number(row.ratio / plain.ratio, times)),
                "limit": limit.as_ref().map(|limit| number(limit.share(row), percent)),
                "needs": limit.map(|limit| limit.needs),
                "slow_mode": row.slow_mode.map(slow),
            });
            rows.push((place_of_row(machine, of, row), info));
        }
    }
    rows
}

/// The charts of all workloads on a machine.
fn charts(machine: usize, report: &MachineReport) -> Vec<Value> {
    let of_entry = |entry: Entry| {
        let workloads = entry.operation.workloads().iter();
        let chart = |workload: &'static Workload| {
            let svg = report.sizes_chart(&entry, workload)?;
            Some(json!({ "machine": machine, "operation": entry.name(), "workload": workload.name, "svg": svg }))
        };
        workloads.filter_map(chart).collect::<Vec<_>>()
    };
    report.entries().flat_map(of_entry).collect()
}

/// A machine; others refer to it by its place in the list.
fn machine_info(data: &Data) -> Value {
    let environment = &data.environment;
    json!({
        "name": data.name(),
        "cpu": environment.cpu,
        "tier": environment.tier,
        "threads": environment.threads,
        "caches": environment.caches,
        "memory": memory(environment.memory as f64),
        "folder": data.folder.display().to_string(),
        "revision": data.revision(),
        "draft": data.draft,
        "measured": data.date(),
    })
}

/// A game, as it is declared.
fn game_info(game: &'static Game) -> Value {
    let setting = |Setting { name, help, value, choices, published, .. }: Setting| json!({ "name": name, "help": help, "value": value, "choices": choices, "published": published });
    let Game { name, title, question, limit, published, operations, .. } = game;
    json!({
        "name": name,
        "title": title,
        "question": question,
        "limit": limit,
        "published": published,
        "operations": operations,
        "settings": game.settings().map(setting).collect::<Vec<_>>(),
    })
}

fn kernel_info(
    operation: &str,
    kernel: &KernelInfo,
    flamegraph: Option<&String>,
    reports: &[MachineReport],
) -> Result<Value, SavedError> {
    let source = kernel.source();
    let text = read(Path::new(&source))?.unwrap_or_default();
    Ok(json!({
        "name": kernel.name,
        "summary": kernel.like.map_or(String::new(), |other| format!("as {other}: ")) + kernel.summary,
        "claim": kernel.claim.name(),
        "line": line_of_run(&text, kernel.body),
        "flamegraph": flamegraph,
        // The machines where it was measured before it changed.
        "changed": (0..reports.len()).filter(|machine| reports[*machine].has_changed(operation, kernel)).collect::<Vec<_>>(),
        "source": source,
    }))
}

/// The line of a kernel's function `run`: in its module, if several kernels share the file, or in a macro above it.
fn line_of_run(text: &str, module: &str) -> Option<usize> {
    let is_run = |line: &str| line.trim_start().starts_with("pub fn run") || line.ends_with(" as run;");
    let module = text.lines().position(|line| line == format!("pub mod {module} {{")).unwrap_or(0);
    let run = |from: usize| text.lines().skip(from).position(is_run).map(|line| from + line + 1);
    run(module).or_else(|| run(0))
}

/// The kept pictures of where the time of a kernel goes, by operation and kernel.
fn flamegraphs() -> Result<BTreeMap<(String, String), String>, SavedError> {
    let pictures = files_below(Path::new(FLAMEGRAPHS), &["svg"])?.into_iter();
    let named = pictures.filter_map(|path| {
        let operation = path.strip_prefix(FLAMEGRAPHS).ok()?.iter().next()?.to_str()?.to_owned();
        let (kernel, _) = path.file_stem()?.to_str()?.rsplit_once('-')?;
        Some(((operation, kernel.to_owned()), path.display().to_string()))
    });
    Ok(named.collect())
}

/// The way from the folder of a file to the working directory, with a slash at the end: what relative links in that file to files
/// of the source tree begin with. Empty in the working directory itself, or if there is no such way.
pub fn way_back(file: &Path) -> String {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(from), Ok(to)) = (folder.canonicalize(), Path::new(".").canonicalize()) else { return String::new() };
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    // Escapes what would end the path in a link.
    let escaped = |part: &str| part.replace('%', "%25").replace('#', "%23").replace('?', "%3F");
    let down = to.iter().skip(shared).map(|part| escaped(&part.to_string_lossy()) + "/");
    "../".repeat(from.iter().count() - shared) + &down.collect::<String>()
}
