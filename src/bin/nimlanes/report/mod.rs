//! The report: RESULTS.md, a page for each operation, charts, and a digest in README.md, generated from saved measurements.
//!
//! [`measure`] has a list of tasks, from the registry, and measures them into a file. [`data`] reads it back, along with the measurements of [other machines](data::machines); [`tables`] turns it into text
//! and pictures, and [`html`] into one page to browse.
//!
//! In RESULTS.md, the text is between two marks. The first mark names the folder of the measurements, so anyone can regenerate
//! the text and compare it. Prose is kept next to its subject (`NOTES.md` of an operation, `.txt` files here, whose links lead from the root); all numbers come
//! from measurements.

pub mod data;
pub mod html;
pub(crate) mod measure;
pub mod tables;

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::data::Data;
use self::data::machines;
use self::data::sources::{self, Changed};
use self::tables::MachineReport;
use crate::files;
use crate::files::saved::{SavedError, day};
use crate::measuring::builds::cargo::Modules;
use crate::terminal::failure::Failure;

/// The file of the report.
pub const RESULTS: &str = "RESULTS.md";

/// The file with a digest of the report; optional.
pub const README: &str = "README.md";

/// The folder of the charts.
pub const CHARTS: &str = "profiles/charts";

/// The folder of the pages of operations.
pub const PAGES: &str = "profiles/results";

/// The folder of measurements, with a subfolder for each machine and day.
pub const FOLDERS: &str = "profiles/data";

/// Where drafts are made. It has the same files and folders as the source tree has for a report.
pub const DRAFT: &str = "target/draft";

const BEGIN: &str = "<!-- made by `nimlanes report` from ";
const BEGIN_ENDS: &str = ": do not edit below -->";
/// The first mark, as errors name it.
const BEGINS: &str = "<!-- made by `nimlanes report` from FOLDER: do not edit below -->";
const MADE: &str = "<!-- made by `nimlanes report`: do not edit -->";
const END: &str = "<!-- end of what `nimlanes report` made -->";

/// A file has no marks to write between, of which this is the first.
fn no_marks(path: &Path, begin: &str) -> Failure {
    Failure::Failed(format!("{} has no lines `{begin}` and `{END}` to write between", path.display()))
}

/// Names as text: their number and the first ones if they are many.
pub fn list(names: impl ExactSizeIterator<Item = impl Display>) -> String {
    const MANY: usize = 6;
    const SHOWN: usize = 3;
    let (all, is_short) = (names.len(), names.len() < MANY);
    let shown: Vec<String> = names.take(if is_short { MANY } else { SHOWN }).map(|name| name.to_string()).collect();
    let shown = shown.join(", ");
    if is_short { shown } else { format!("{all}, such as {shown}") }
}

/// Checks that the working directory is the source tree.
///
/// # Errors
/// It is another folder.
pub fn in_source_tree() -> Result<(), Failure> {
    let needed = sources::FOLDERS[0];
    let elsewhere =
        || format!("a report is made in the source tree of nimlanes, and here is no {needed}; --html needs none");
    if Path::new(needed).is_dir() { Ok(()) } else { Err(Failure::Failed(elsewhere())) }
}

/// Where the files of a report go.
fn root(draft: bool) -> &'static Path {
    Path::new(if draft { DRAFT } else { "" })
}

/// The folder for measurements of a machine of this name on a date (`2026-01-31T..`).
pub fn folder(name: &str, date: &str, draft: bool) -> PathBuf {
    let day = day(date);
    let tidy = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = name.chars().map(tidy).collect();
    root(draft).join(FOLDERS).join(format!("{day}-{name}"))
}

/// The folder of measurements that the report in the working directory was made from.
///
/// # Errors
/// There is no report, or it does not name the folder.
pub fn source() -> Result<PathBuf, Failure> {
    let text = read(Path::new(RESULTS))?.unwrap_or_default();
    let folder = text.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(BEGIN_ENDS));
    let (folder, _) = folder.ok_or_else(|| no_marks(Path::new(RESULTS), BEGINS))?;
    Ok(folder.into())
}

fn read(path: &Path) -> Result<Option<String>, SavedError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SavedError::Read(path.to_owned(), source)),
    }
}

/// A report that was made or checked, for its user.
#[derive(Debug)]
pub struct Overview {
    /// The file of the report.
    pub results: PathBuf,
    /// The names of the other machines in it.
    pub beside: Vec<String>,
    /// Kernels without a measurement, as `operation=kernel`.
    pub unmeasured: Vec<String>,
    /// Kernels that have changed since they were measured, as `operation=kernel`; none if that is not known.
    pub changed: Option<Vec<String>>,
}

/// The files and kernels that changed since the measurements; `None` if these name no source.
fn changed(data: &Data) -> Result<Option<Changed>, SavedError> {
    data.sources.as_ref().map(|measured| Changed::since(measured, &data.environment.build)).transpose()
}

/// The measurements in a folder, and those of other machines beside them. A draft stands alone. `announce` receives a line for each
/// folder that is left out.
fn contents(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<(Data, Vec<Data>), Failure> {
    let data = Data::read(folder)?;
    let others = match data.draft {
        true => Vec::new(),
        false => machines::beside(&data, folder, Path::new(FOLDERS), announce)?,
    };
    Ok((data, others))
}

/// Generates the files from measurements in a folder: the path and the text of each. Text outside of the marks is kept.
/// `announce` is as in [`contents`].
fn compose(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<(Vec<(PathBuf, String)>, Overview), Failure> {
    let (data, others) = contents(folder, announce)?;
    let report = MachineReport::new(&data, changed(&data)?, &others);
    let root = root(data.draft);
    let whole = |folder: &str, file: String, text: String| {
        let path = Path::new(folder).join(file);
        let text = links(&text, &path, root);
        (root.join(path), format!("{}\n{MADE}\n", text.trim_end()))
    };
    let charts = report.charts().map(|(file, text)| whole(CHARTS, file, text));
    let pages = report.pages().map(|(file, text)| whole(PAGES, file, text));
    let mut files: Vec<_> = charts.chain(pages).collect();
    let path = root.join(README);
    if let Some(old) = read(&path)? {
        match between_marks(&old, MADE, MADE, &report.digest()) {
            Some(text) => files.push((path, text)),
            None => return Err(no_marks(&path, MADE)),
        }
    }
    let results = root.join(RESULTS);
    let old = read(&results)?.unwrap_or_else(|| format!("# Results\n\n{BEGIN}{END}\n"));
    let mark = format!("{BEGIN}{}{BEGIN_ENDS}", folder.display());
    let text = between_marks(&old, BEGIN, &mark, &links(&report.results(), Path::new(RESULTS), root));
    files.push((results.clone(), text.ok_or_else(|| no_marks(&results, BEGINS))?));
    let beside = others.iter().map(|other| other.name().to_owned()).collect();
    let (unmeasured, changed) = (report.unmeasured(), report.changed());
    Ok((files, Overview { results, beside, unmeasured, changed }))
}

/// A text for a file below `root`, whose links lead from the source tree. Those to charts and pages stay below `root`.
fn links(text: &str, file: &Path, root: &Path) -> String {
    let within = "../".repeat(file.components().count() - 1);
    let out = format!("{within}{}", "../".repeat(root.components().count()));
    let text = text.replace("](src/", &format!("]({out}src/")).replace("](profiles/", &format!("]({out}profiles/"));
    let own = |text: String, folder| text.replace(&format!("]({out}{folder}/"), &format!("]({within}{folder}/"));
    [CHARTS, PAGES].into_iter().fold(text, own)
}

/// A file with a new text between its marks, of which the first has this beginning and is written anew; none if it has no marks.
fn between_marks(old: &str, begin: &str, mark: &str, part: &str) -> Option<String> {
    let (above, rest) = old.split_once(begin)?;
    let (_, below) = rest.split_once(END)?;
    Some(format!("{above}{mark}\n\n{}\n\n{END}{below}", part.trim_end()))
}

/// Writes RESULTS.md, pages, charts and the digest, from the measurements in a folder. A draft goes to [`DRAFT`]. `announce` receives a line for each folder of another machine that is left out.
///
/// # Errors
/// The measurements cannot be used, a file has no marks, or a file cannot be written. No file is left incomplete.
pub fn write(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<Overview, Failure> {
    let (files, summary) = compose(folder, announce)?;
    for (path, text) in files {
        files::save(&path, text.as_bytes()).map_err(|source| SavedError::Write(path, source))?;
    }
    Ok(summary)
}

/// Checks that RESULTS.md, pages, charts and the digest are what the measurements in a folder give. Kernels without measurements are in no
/// report: whoever adds or changes one need not touch the report. `announce` is as in [`write`].
///
/// # Errors
/// They differ, or the measurements cannot be used.
pub fn check(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<Overview, Failure> {
    let (files, summary) = compose(folder, announce)?;
    for (path, want) in files {
        let found = read(&path)?.unwrap_or_default();
        if found != want {
            let same = found.lines().zip(want.lines()).take_while(|(found, want)| found == want).count();
            let (path, folder, line) = (path.display(), folder.display(), same + 1);
            return Err(Failure::Failed(format!(
                "{path} is not what {folder} gives (first difference at line {line}); `nimlanes report --data {folder}` regenerates it"
            )));
        }
    }
    Ok(summary)
}

/// Makes the page of the measurements in a folder, and of other machines. `links` is where links to source files begin, see
/// [`html::compose`]; `modules` builds the modules of WebAssembly once the measurements are read, and `announce` receives a line
/// for each folder that is left out.
///
/// # Errors
/// The measurements in the folder cannot be used, a source file cannot be read, or those of `modules`.
pub fn page(
    folder: &Path,
    links: &str,
    modules: impl FnOnce() -> Result<Modules, Failure>,
    announce: &mut dyn FnMut(&str),
) -> Result<html::Page, Failure> {
    let (data, others) = contents(folder, announce)?;
    let report = |data| Ok(MachineReport::new(data, changed(data)?, &[]));
    let reports = [&data].into_iter().chain(&others).map(report).collect::<Result<Vec<_>, Failure>>()?;
    Ok(html::compose(&reports, links, modules()?)?)
}
