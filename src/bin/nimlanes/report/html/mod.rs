//! The page: every measurement in one HTML file to browse, which needs nothing else.
//!
//! The files beside this one are its skeleton, its style and its scripts. All data is one block of JSON, packed, from which the
//! scripts draw tables, charts and flamegraphs: no number is in the page twice. It holds the library as a module of WebAssembly
//! for each tier, which a worker runs (`worker.js`) to solve, draw and race.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::num::NonZeroUsize;
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
use nimlanes::lab::environment::Environment;
use nimlanes::machine::Machine;
use serde::Serialize;

use super::data::sources::rust_files;
use super::data::{Data, Observed};
use super::measure::tasks::SMALL;
use super::tables::{steps, technology};
use super::{ReportError, changed, read};
use crate::drawing::colours::scale;
use crate::files::saved::{Measured, SCHEMA, SavedError, entries};
use crate::measuring::builds::Modules;
use crate::measuring::duel::{self, Duel};
use crate::measuring::profile::frame as frame_of;

const SKELETON: &str = include_str!("page.html");
const WORKER: &str = include_str!("worker.js");
const STYLE: &str = include_str!("page.css");
/// Each uses what those before it define.
const SCRIPTS: [&str; 16] = [
    include_str!("base.js"),
    include_str!("table.js"),
    include_str!("charts.js"),
    include_str!("flamegraph.js"),
    include_str!("profiles.js"),
    include_str!("ladder.js"),
    include_str!("operation.js"),
    include_str!("summary.js"),
    include_str!("measurements.js"),
    include_str!("module.js"),
    include_str!("activity.js"),
    include_str!("race.js"),
    include_str!("solve.js"),
    include_str!("points.js"),
    include_str!("draw.js"),
    include_str!("start.js"),
];

/// Number of colours in a scale.
const SHADES: u8 = 64;

/// The folder of the flamegraphs that the repository keeps, as `operation/workload/kernel-size.folded`.
const KEPT: &str = "profiles/kept";

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
    profiles: Vec<Profile>,
    games: Vec<GameInfo>,
    /// The colours of a scale from dark to light: red, green and blue.
    scale: Vec<[u8; 3]>,
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
    lists_positions: bool,
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
    #[serde(flatten)]
    environment: &'a Environment,
    /// Given by hand, or the microarchitecture.
    name: &'a str,
    folder: String,
    revision: Option<&'a str>,
    draft: bool,
    /// Date and time of the first and the last duel.
    measured: [&'a str; 2],
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
    summary: &'static str,
    like: Option<&'static str>,
    technology: String,
    tier: &'static str,
    claim: &'static str,
    is_plain: bool,
    source: String,
    /// The line of its function `run`.
    line: Option<usize>,
    /// The machines whose measurements are of another source.
    changed: Vec<usize>,
}

/// A kernel's times in a duel.
#[derive(Serialize)]
struct Row<'a> {
    machine: usize,
    #[serde(flatten)]
    case: &'a Case,
    build: &'a str,
    baseline: Option<&'a str>,
    /// Only of a step of the ladder: how much faster it is than the step before it, and nothing for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Option<f64>>,
    #[serde(flatten)]
    row: &'a duel::Row,
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

/// A flamegraph.
#[derive(Serialize)]
struct Profile {
    operation: String,
    workload: String,
    kernel: String,
    size: u64,
    /// How it was sampled.
    about: String,
    /// The file with its tree and its hottest loop.
    text: String,
    /// Folded stacks.
    stacks: String,
    /// The source file and the line in it of frames that are lines, by their `file.rs:12`.
    lines: BTreeMap<String, (String, usize)>,
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
    /// Number of flamegraphs.
    pub profiles: usize,
    /// Why it has no module, if it has none.
    pub no_module: Option<String>,
}

/// Makes a page of the measurements of some machines, the main one first. `links` is where links to files of the source tree begin:
/// the path or address of its root, with a slash.
///
/// # Errors
/// A file of the source tree cannot be read.
pub fn compose(folders: &[&Data], links: &str, modules: Modules) -> Result<Page, ReportError> {
    let sources = SourceTexts::read()?;
    let changed = folders.iter().map(|data| changed(data)).collect::<Result<Vec<_>, _>>()?;
    let changed: Vec<BTreeSet<String>> = changed.into_iter().map(Option::unwrap_or_default).collect();
    // The machine only serves to list kernels.
    let machine = Machine::detect();
    let kernels: BTreeMap<&str, Vec<KernelInfo>> =
        OPERATIONS.iter().map(|operation| (operation.name(), operation.kernels(&machine))).collect();
    let operation = |operation: &&'static dyn AnyOperation| OperationInfo {
        name: operation.name(),
        unit: operation.unit(),
        workloads: operation.workloads().iter().map(WorkloadInfo::from).collect(),
        kernels: kernels[operation.name()].iter().map(|kernel| Kernel::new(kernel, &sources, &changed)).collect(),
    };
    let content = Content {
        schema: "nimlanes-page-2",
        links,
        small: SMALL,
        machines: folders.iter().filter_map(|data| MachineInfo::of(data)).collect(),
        operations: OPERATIONS.iter().map(operation).collect(),
        rows: numbered(folders).flat_map(|(machine, data)| rows(machine, data, &kernels)).collect(),
        skipped: numbered(folders).flat_map(|(machine, data)| skipped(machine, data)).collect(),
        profiles: profiles(&sources)?,
        games: GAMES.iter().map(GameInfo::from).collect(),
        scale: (0..SHADES).map(|shade| scale(f64::from(shade) / f64::from(SHADES - 1)).0).collect(),
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
        profiles: content.profiles.len(),
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

fn duels(data: &Data) -> impl Iterator<Item = &Duel> {
    data.duels.iter().map(|saved| &saved.content)
}

fn rows<'a>(
    machine: usize,
    data: &'a Data,
    kernels: &'a BTreeMap<&str, Vec<KernelInfo>>,
) -> impl Iterator<Item = Row<'a>> {
    let exact = duels(data).flat_map(move |duel| {
        let Duel { case, build, baseline, .. } = duel;
        let steps = kernels.get(&*case.operation).map_or_else(Vec::new, |kernels| steps(duel, kernels));
        duel.rows.iter().map(move |row| {
            let step = steps.iter().find(|step| step.row.kernel == row.kernel).map(|step| step.gain);
            Row { machine, case, build, baseline: Some(baseline), step, row }
        })
    });
    let observed = data.observed.iter().map(move |Observed { case, build, row }| {
        let baseline = data.duel(case, build, &row.clock).map(|duel| &*duel.baseline);
        Row { machine, case, build, baseline, step: None, row }
    });
    exact.chain(observed)
}

fn skipped(machine: usize, data: &Data) -> impl Iterator<Item = Skipped<'_>> {
    duels(data).flat_map(move |duel| {
        let Duel { case, build, .. } = duel;
        duel.skipped.iter().map(move |skipped| Skipped { machine, case, build, skipped })
    })
}

impl<'a> MachineInfo<'a> {
    /// The machine of a folder; there is one, since a folder without a duel is not read.
    fn of(data: &'a Data) -> Option<Self> {
        let dates = || data.duels.iter().map(|saved| saved.date.as_str());
        Some(MachineInfo {
            environment: data.environment()?,
            name: data.name(),
            folder: data.folder.display().to_string(),
            revision: data.source().and_then(|source| source.revision.as_deref()),
            draft: data.is_draft(),
            measured: [dates().min()?, dates().max()?],
        })
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
        let (lists_positions, settings) = (game.lists_positions(), game.settings().map(setting).collect());
        GameInfo { name, title, question, limit, published: *published, operations, lists_positions, settings }
    }
}

impl Kernel {
    fn new(kernel: &KernelInfo, sources: &SourceTexts, changed: &[BTreeSet<String>]) -> Self {
        let source = kernel.source();
        Kernel {
            name: kernel.name,
            summary: kernel.summary,
            like: kernel.like,
            technology: technology(kernel),
            tier: kernel.tier.name(),
            claim: kernel.claim.name(),
            is_plain: kernel.is_plain(),
            line: sources.line_of(&source, "pub fn run"),
            changed: (0..changed.len()).filter(|machine| changed[*machine].contains(&source)).collect(),
            source,
        }
    }
}

/// The text of every file of the source tree, by its path.
struct SourceTexts(BTreeMap<String, String>);

impl SourceTexts {
    fn read() -> Result<Self, SavedError> {
        let with_text = |path: PathBuf| Ok((path.display().to_string(), text(&path)?));
        rust_files(Path::new("src"))?.into_iter().map(with_text).collect::<Result<_, _>>().map(SourceTexts)
    }

    /// The number of the first line that starts with some text.
    fn line_of(&self, path: &str, start: &str) -> Option<usize> {
        Some(1 + self.0.get(path)?.lines().position(|line| line.starts_with(start))?)
    }

    /// The place of a frame of a flamegraph that is a line of source, such as `a.rs:12` of `a.rs:12 let b = c`, with the file and
    /// the line that have this text now: the only file of that name, and the nearest line.
    fn of_frame<'f>(&self, frame: &'f str) -> Option<(&'f str, (&str, usize))> {
        let (place, _) = frame.split_once(' ')?;
        let (file, number) = place.split_once(':')?;
        let number = number.parse::<NonZeroUsize>().ok()?.get();
        let is_same = |there: &str| frame_of(&format!("{place} {}", there.trim())) == frame;
        let nearest = |source: &str| {
            let same = (1..).zip(source.lines()).filter(|(_, there)| is_same(there));
            same.map(|(line, _)| line).min_by_key(|line| number.abs_diff(*line))
        };
        let named = self.0.iter().filter(|(path, _)| Path::new(path).ends_with(file));
        let mut found = named.filter_map(|(path, source)| Some((path.as_str(), nearest(source)?)));
        let there = found.next()?;
        found.next().is_none().then_some((place, there))
    }
}

/// The text of a file; empty if there is none.
fn text(path: &Path) -> Result<String, SavedError> {
    read(path).map(Option::unwrap_or_default)
}

/// The kept flamegraphs, in the order of their paths.
fn profiles(sources: &SourceTexts) -> Result<Vec<Profile>, SavedError> {
    let mut profiles = Vec::new();
    for operation in folders_in(Path::new(KEPT))? {
        for workload in folders_in(&operation)? {
            for path in entries(&workload)?.iter().filter(|path| path.extension().is_some_and(|it| it == "folded")) {
                profiles.extend(Profile::read(path, sources)?);
            }
        }
    }
    Ok(profiles)
}

fn folders_in(folder: &Path) -> Result<Vec<PathBuf>, SavedError> {
    let mut folders = entries(folder)?;
    folders.retain(|path| path.is_dir());
    Ok(folders)
}

impl Profile {
    /// Reads a file of folded stacks and the text beside it; `None` if its path is not that of a kept profile.
    fn read(path: &Path, sources: &SourceTexts) -> Result<Option<Self>, SavedError> {
        let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let parts = || {
            let stem = path.file_stem()?.to_str()?;
            let (kernel, size) = stem.rsplit_once('-')?;
            let [workload, operation] = [path.parent()?, path.parent()?.parent()?].map(name);
            Some((operation?, workload?, kernel.to_owned(), size.parse().ok()?))
        };
        let Some((operation, workload, kernel, size)) = parts() else { return Ok(None) };
        let stacks = text(path)?;
        let beside = path.with_extension("txt");
        let about = text(&beside)?.lines().nth(1).unwrap_or_default().to_owned();
        let frames = stacks.lines().filter_map(|line| line.rsplit_once(' ')).flat_map(|(stack, _)| stack.split(';'));
        let frames: BTreeSet<&str> = frames.collect();
        let line = |frame: &str| {
            let (place, (path, line)) = sources.of_frame(frame)?;
            Some((place.to_owned(), (path.to_owned(), line)))
        };
        let lines = frames.into_iter().filter_map(line).collect();
        Ok(Some(Profile {
            operation,
            workload,
            kernel,
            size,
            about,
            text: beside.display().to_string(),
            stacks,
            lines,
        }))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_the_nearest_line_of_the_only_file_that_has_it() {
        let long = "x".repeat(200);
        let files = [
            ("src/long.rs", long.as_str()),
            ("src/a/mod.rs", "fn a() {\n    one(); two();\n\n    one(); two();\n"),
            ("src/b/mod.rs", "fn b() {\n    three();\n}\n"),
            ("src/c/mod.rs", "\n\n}\n"),
        ];
        let texts = SourceTexts(files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect());
        assert_eq!(texts.of_frame("a/mod.rs:1 one(), two()"), Some(("a/mod.rs:1", ("src/a/mod.rs", 2))));
        assert_eq!(texts.of_frame("mod.rs:9 one(), two()"), Some(("mod.rs:9", ("src/a/mod.rs", 4))));
        let cut = frame_of(&format!("long.rs:1 {long}"));
        assert!(cut.len() < long.len());
        assert_eq!(texts.of_frame(&cut), Some(("long.rs:1", ("src/long.rs", 1))));
        for frame in [
            "a/mod.rs:2 four()",
            "a/mod.rs:2 one(), t",
            "b/mod.rs:2 one(), two()",
            "mod.rs:3 }",
            "x.rs:1 fn a",
            "a::run",
            "mod.rs:0 fn",
            "a b",
        ] {
            assert_eq!(texts.of_frame(frame), None, "{frame}");
        }
    }
}
