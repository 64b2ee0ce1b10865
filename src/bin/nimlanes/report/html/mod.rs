//! The page: every measurement in one HTML file to browse, which needs nothing else.
//!
//! The files beside this one are its skeleton, its style and its scripts. All data is one block of JSON, packed. It has every number
//! as text, beside the value to sort and to draw by: the scripts compute none. The page holds the library as a module of WebAssembly for
//! each tier, which a worker runs (`worker.js`) to solve, race, and find periods.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use hmac_sha256::Hash;
use nimlanes::cores::OPERATIONS;
use nimlanes::games::{GAMES, Game, Setting};
use nimlanes::kernel::case::Case;
use nimlanes::kernel::session::{AnyOperation, KernelInfo};
use nimlanes::kernel::workload::Workload;
use nimlanes::machine::Machine;
use serde::Serialize;

use super::data::sources::Changed;
use super::data::{Data, Observed};
use super::measure::tasks::SMALL;
use super::tables::markdown::{memory, ns, spread, time, times};
use super::tables::{best_plain, steps, technology};
use super::{ReportError, changed, read};
use crate::files::saved::{Measured, SCHEMA, SavedError, entries};
use crate::measuring::builds::cargo::Modules;
use crate::measuring::duel::{self, Duel, Mode};

const SKELETON: &str = include_str!("page.html");
const WORKER: &str = include_str!("worker.js");
const STYLE: &str = include_str!("page.css");
/// Each uses what those before it define.
const SCRIPTS: [&str; 12] = [
    include_str!("base.js"),
    include_str!("table.js"),
    include_str!("charts.js"),
    include_str!("ladder.js"),
    include_str!("operation.js"),
    include_str!("summary.js"),
    include_str!("measurements.js"),
    include_str!("module.js"),
    include_str!("activity.js"),
    include_str!("race.js"),
    include_str!("family.js"),
    include_str!("solve.js"),
];

/// The folder of the flamegraphs that the repository keeps, as `operation/workload/kernel-size.svg`.
const FLAMEGRAPHS: &str = "profiles/flamegraphs";

/// What the scripts draw.
#[derive(Serialize)]
struct Content<'a> {
    /// The format.
    schema: &'static str,
    /// What links to files of the source tree begin with.
    links: &'a str,
    /// Sizes up to this are small.
    small: u64,
    machines: Vec<MachineInfo<'a>>,
    operations: Vec<OperationInfo>,
    rows: Vec<Row<'a>>,
    skipped: Vec<Skipped<'a>>,
    games: Vec<GameInfo>,
    /// The fields of a saved duel that are always the same.
    saved: SavedDuel,
    /// Why there is no module, if there is none.
    no_module: Option<String>,
}

/// A game, as it is declared.
#[derive(Serialize)]
struct GameInfo {
    name: &'static str,
    title: &'static str,
    question: &'static str,
    limit: &'static str,
    published: u64,
    operations: &'static [&'static str],
    settings: Vec<SettingInfo>,
}

#[derive(Serialize)]
struct SettingInfo {
    name: &'static str,
    help: &'static str,
    value: Option<&'static str>,
    choices: Vec<String>,
    published: String,
}

#[derive(Serialize)]
struct SavedDuel {
    schema: &'static str,
    kind: &'static str,
}

/// A machine; others refer to it by its place in the list.
#[derive(Serialize)]
struct MachineInfo<'a> {
    /// Given by hand, or the microarchitecture.
    name: &'a str,
    cpu: &'a str,
    tier: &'a str,
    threads: usize,
    caches: &'a [String],
    memory: String,
    folder: String,
    revision: Option<&'a str>,
    draft: bool,
    /// Date and time of the last duel.
    measured: &'a str,
}

#[derive(Serialize)]
struct OperationInfo {
    name: &'static str,
    unit: &'static str,
    /// The first is the one that the operation was published with.
    workloads: Vec<WorkloadInfo>,
    /// In list order.
    kernels: Vec<Kernel>,
}

#[derive(Serialize)]
struct WorkloadInfo {
    name: &'static str,
    summary: &'static str,
    published: u64,
    sizes: &'static [u64],
}

#[derive(Serialize)]
struct Kernel {
    name: &'static str,
    /// What it is; after the kernel that it is like, if there is one.
    summary: String,
    technology: String,
    claim: &'static str,
    source: String,
    /// The line of its function `run`.
    line: Option<usize>,
    /// The picture of where its time goes, if one is kept.
    flamegraph: Option<String>,
    /// The machines where it was measured before it changed.
    changed: Vec<usize>,
}

/// A number, to sort and to draw by, and its text.
#[derive(Serialize)]
struct Number {
    value: f64,
    text: String,
}

impl Number {
    fn new(value: f64, text: impl Fn(f64) -> String) -> Self {
        Number { value, text: text(value) }
    }
}

/// A kernel's times in a duel.
#[derive(Serialize)]
struct Row<'a> {
    machine: usize,
    #[serde(flatten)]
    case: &'a Case,
    build: &'a str,
    clock: &'a str,
    threads: usize,
    baseline: Option<&'a str>,
    kernel: &'a str,
    tier: &'a str,
    is_exact: bool,
    /// Whether it is the best of the exact kernels, and the best of those in plain Rust.
    is_best: bool,
    is_best_plain: bool,
    /// Whether it is a step of the ladder.
    is_step: bool,
    time: Number,
    /// For a unit of work; none for a run that has no work.
    unit_time: Option<Number>,
    /// Times as fast as the baseline.
    ratio: Number,
    /// None for the baseline.
    spread: Option<String>,
    /// Times as fast as the best plain Rust.
    plain: Option<Number>,
    /// How much faster a step is than the one before it; none for the first.
    gain: Option<Number>,
    /// The time in the slower of two modes, and the number of processes in it.
    slow_mode: Option<String>,
}

/// A kernel that did not take part in a duel.
#[derive(Serialize)]
struct Skipped<'a> {
    machine: usize,
    #[serde(flatten)]
    case: &'a Case,
    build: &'a str,
    #[serde(flatten)]
    skipped: &'a duel::Skipped,
}

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

/// Makes a page of the measurements of some machines, the main one first. `links` is where links to files of the source tree begin:
/// the path or address of its root, with a slash.
///
/// # Errors
/// A file of the source tree cannot be read.
pub fn compose(folders: &[&Data], links: &str, modules: Modules) -> Result<Page, ReportError> {
    let flamegraphs = flamegraphs()?;
    let changed = folders.iter().map(|data| changed(data)).collect::<Result<Vec<_>, _>>()?;
    let changed: Vec<Changed> = changed.into_iter().map(Option::unwrap_or_default).collect();
    // The machine only serves to list kernels.
    let machine = Machine::detect();
    let kernels: BTreeMap<&str, Vec<KernelInfo>> =
        OPERATIONS.iter().map(|operation| (operation.name(), operation.kernels(&machine))).collect();
    let operation = |operation: &&'static dyn AnyOperation| -> Result<OperationInfo, SavedError> {
        let name = operation.name();
        let kernel = |kernel: &KernelInfo| {
            let flamegraph = flamegraphs.get(&(name.to_owned(), kernel.name.to_owned()));
            let changed = (0..changed.len()).filter(|machine| changed[*machine].has(name, kernel)).collect();
            Kernel::new(kernel, flamegraph.cloned(), changed)
        };
        let kernels = kernels[name].iter().map(kernel).collect::<Result<_, _>>()?;
        let workloads = operation.workloads().iter().map(WorkloadInfo::from).collect();
        Ok(OperationInfo { name, unit: operation.unit(), workloads, kernels })
    };
    let mut rows: Vec<Row> = numbered(folders).flat_map(|(machine, data)| rows(machine, data, &kernels)).collect();
    rows.sort_by_cached_key(place);
    let content = Content {
        schema: "nimlanes-page-3",
        links,
        small: SMALL,
        machines: folders.iter().map(MachineInfo::of).collect(),
        operations: OPERATIONS.iter().map(operation).collect::<Result<_, _>>()?,
        rows,
        skipped: numbered(folders).flat_map(|(machine, data)| skipped(machine, data)).collect(),
        games: GAMES.iter().map(GameInfo::from).collect(),
        saved: SavedDuel { schema: SCHEMA, kind: Duel::KIND },
        no_module: modules.as_ref().err().cloned(),
    };
    let json = serde_json::to_vec(&content).expect("keys are strings");
    let block = |(tier, module): (&str, Vec<u8>)| {
        format!("<script type=\"text/plain\" id=\"module-{tier}\">{}</script>\n", packed(&module))
    };
    let modules: String = modules.into_iter().flatten().map(block).collect();
    let script = SCRIPTS.concat();
    let html = SKELETON
        .replace("@POLICY@", &policy(STYLE, &script))
        .replace("@STYLE@", STYLE)
        .replace("@WORKER@", WORKER)
        .replace("@SCRIPT@", &script)
        .replace("@MODULES@", &modules)
        .replace("@DATA@", &packed(&json));
    Ok(Page {
        html,
        rows: content.rows.len(),
        machines: content.machines.iter().map(|machine| machine.name.to_owned()).collect(),
        no_module: content.no_module,
    })
}

/// What the page may load and run: its own style and script, known by their digests, and the module. There is no network.
fn policy(style: &str, script: &str) -> String {
    let digest = |text: &str| format!("'sha256-{}'", BASE64.encode(Hash::hash(text.as_bytes())));
    let (style, script) = (digest(style), digest(script));
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src {style}; \
         script-src {script} 'wasm-unsafe-eval'; worker-src blob:"
    )
}

/// Bytes as text, which the browser unpacks.
fn packed(bytes: &[u8]) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    BASE64.encode(packed.expect("writing to memory succeeds"))
}

fn numbered<'a>(folders: &[&'a Data]) -> impl Iterator<Item = (usize, &'a Data)> {
    folders.iter().copied().enumerate()
}

/// Where a row stands: in the order of the lists, whatever the order of the files; exact kernels before observed ones, fastest first.
fn place<'a>(row: &Row<'a>) -> impl Ord + use<'a> {
    let operation = OPERATIONS.iter().position(|operation| operation.name() == row.case.operation);
    let workloads = operation.map_or(&[][..], |operation| OPERATIONS[operation].workloads());
    let workload = workloads.iter().position(|workload| workload.name == row.case.workload);
    let lists = [operation, workload].map(|place| place.unwrap_or(usize::MAX));
    // The bits of positive numbers are in their order.
    (lists, row.case.size, row.machine, row.build, row.clock, !row.is_exact, Reverse(row.ratio.value.to_bits()))
}

fn rows<'a>(machine: usize, data: &'a Data, kernels: &BTreeMap<&str, Vec<KernelInfo>>) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for duel in &data.duels {
        let kernels = kernels.get(&*duel.case.operation).map_or(&[][..], |kernels| kernels);
        let steps = steps(duel, kernels);
        let plain = best_plain(duel, kernels);
        let is = |named: Option<&duel::Row>, row: &duel::Row| named.is_some_and(|named| named.kernel == row.kernel);
        for row in &duel.rows {
            let step = steps.iter().find(|step| step.row.kernel == row.kernel);
            let gain = step.and_then(|step| step.gain);
            rows.push(Row {
                is_best: is(duel.rows.first(), row),
                is_best_plain: is(plain, row),
                is_step: step.is_some(),
                gain: gain.map(|gain| Number::new(gain, times)),
                ..Row::new(machine, &duel.case, &duel.build, Some(&duel.baseline), plain, row)
            });
        }
    }
    for Observed { case, build, row } in &data.observed {
        let duel = data.duel(case, build, &row.clock);
        let plain = duel.and_then(|duel| best_plain(duel, kernels.get(&*case.operation)?));
        rows.push(Row::new(machine, case, build, duel.map(|duel| &*duel.baseline), plain, row));
    }
    rows
}

impl<'a> Row<'a> {
    /// A row that leads in nothing and is no step.
    fn new(
        machine: usize,
        case: &'a Case,
        build: &'a str,
        baseline: Option<&'a str>,
        plain: Option<&duel::Row>,
        row: &'a duel::Row,
    ) -> Self {
        let unit_time = |seconds: f64| Number::new(seconds, |seconds| ns(1e9 * seconds));
        let slow =
            |Mode { median_seconds, processes }: Mode| format!("{} in {processes} processes", time(median_seconds));
        Row {
            machine,
            case,
            build,
            clock: &row.clock,
            threads: row.threads,
            baseline,
            kernel: &row.kernel,
            tier: &row.tier,
            is_exact: row.is_exact(),
            is_best: false,
            is_best_plain: false,
            is_step: false,
            time: Number::new(row.median_seconds, time),
            unit_time: (row.throughput > 0.0).then(|| unit_time(1.0 / row.throughput)),
            ratio: Number::new(row.ratio, times),
            spread: (Some(&*row.kernel) != baseline).then(|| spread(row)),
            plain: plain.map(|plain| Number::new(row.ratio / plain.ratio, times)),
            gain: None,
            slow_mode: row.slow_mode.map(slow),
        }
    }
}

fn skipped(machine: usize, data: &Data) -> impl Iterator<Item = Skipped<'_>> {
    data.duels.iter().flat_map(move |duel| {
        let Duel { case, build, .. } = duel;
        duel.skipped.iter().map(move |skipped| Skipped { machine, case, build, skipped })
    })
}

impl<'a> MachineInfo<'a> {
    fn of(data: &&'a Data) -> Self {
        let environment = &data.environment;
        MachineInfo {
            name: data.name(),
            cpu: &environment.cpu,
            tier: &environment.tier,
            threads: environment.threads,
            caches: &environment.caches,
            memory: memory(environment.memory as f64),
            folder: data.folder.display().to_string(),
            revision: data.revision(),
            draft: data.is_draft(),
            measured: data.date(),
        }
    }
}

impl From<&Workload> for WorkloadInfo {
    fn from(workload: &Workload) -> Self {
        WorkloadInfo {
            name: workload.name,
            summary: workload.summary,
            published: workload.published,
            sizes: workload.sizes,
        }
    }
}

impl From<&'static Game> for GameInfo {
    fn from(game: &'static Game) -> Self {
        let setting = |Setting { name, help, value, choices, published, .. }: Setting| SettingInfo {
            name,
            help,
            value,
            choices,
            published,
        };
        let Game { name, title, question, limit, published, operations, .. } = game;
        let settings = game.settings().map(setting).collect();
        GameInfo { name, title, question, limit, published: *published, operations, settings }
    }
}

impl Kernel {
    fn new(kernel: &KernelInfo, flamegraph: Option<String>, changed: Vec<usize>) -> Result<Self, SavedError> {
        let source = kernel.source();
        let text = read(Path::new(&source))?.unwrap_or_default();
        Ok(Kernel {
            name: kernel.name,
            summary: kernel.like.map_or(String::new(), |other| format!("as {other}: ")) + kernel.summary,
            technology: technology(kernel),
            claim: kernel.claim.name(),
            line: text.lines().position(|line| line.starts_with("pub fn run")).map(|place| place + 1),
            flamegraph,
            changed,
            source,
        })
    }
}

/// The kept pictures of where the time of a kernel goes, by operation and kernel.
fn flamegraphs() -> Result<BTreeMap<(String, String), String>, SavedError> {
    let mut pictures = BTreeMap::new();
    let name = |path: &Path| path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
    for operation in folders_in(Path::new(FLAMEGRAPHS))? {
        for workload in folders_in(&operation)? {
            for path in entries(&workload)?.iter().filter(|path| path.extension().is_some_and(|it| it == "svg")) {
                let kernel = name(path).and_then(|stem| Some(stem.rsplit_once('-')?.0.to_owned()));
                pictures.extend(name(&operation).zip(kernel).map(|key| (key, path.display().to_string())));
            }
        }
    }
    Ok(pictures)
}

fn folders_in(folder: &Path) -> Result<Vec<PathBuf>, SavedError> {
    let mut folders = entries(folder)?;
    folders.retain(|path| path.is_dir());
    Ok(folders)
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
