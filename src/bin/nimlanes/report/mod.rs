//! The report: RESULTS.md, its charts and tables, and a digest in README.md, generated from saved measurements.
//!
//! [`measure`] has a list of tasks, from the registry, and measures them into a file. [`data`] reads it back, along with the measurements of [other machines](data::machines); [`tables`] turns it into text
//! and pictures, and [`html`] into one page to browse.
//!
//! In RESULTS.md, the text is between two marks. The first mark names the folder of the measurements, so anyone can regenerate
//! the text and compare it. Prose is kept next to its subject (`NOTES.md` of an operation, `.md` files here); all numbers come
//! from measurements.

pub mod data;
pub mod html;
pub mod measure;
pub mod tables;

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::data::machines;
use self::data::sources::{self, Changed};
use self::data::{Data, DataError, FILE};
use self::tables::{Report, unmarked};
use crate::files;
use crate::files::saved::{SavedError, day, entries};
use crate::measuring::builds::cargo::Modules;

/// The file of the report.
pub const RESULTS: &str = "RESULTS.md";

/// The file with a digest of the report; optional.
pub const README: &str = "README.md";

/// The folder of the charts.
pub const CHARTS: &str = "profiles/charts";

/// The folder of the tables that are too long for the report.
pub const TABLES: &str = "profiles/tables";

/// The folder of measurements, with a subfolder for each machine and day.
pub const FOLDERS: &str = "profiles/data";

/// Where drafts are made. It has the same files and folders as the source tree has for a report.
pub const DRAFT: &str = "target/draft";

const BEGIN: &str = "<!-- made by `nimlanes report` from ";
const BEGIN_ENDS: &str = ": do not edit below -->";
const MADE: &str = "<!-- made by `nimlanes report`: do not edit -->";
const END: &str = "<!-- end of what `nimlanes report` made -->";

/// Why a report could not be made, or is out of date.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The measurements cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] SavedError),
    /// The file has no marks to write between.
    #[error("{} has no lines `{begin}` and `{END}` to write between", path.display())]
    NoMarks {
        /// The file.
        path: PathBuf,
        /// The first mark.
        begin: String,
    },
    /// The working directory is not the source tree, where the files of a report are.
    #[error("a report is made in the source tree of nimlanes, and here is no {}; --html needs none", sources::FOLDERS[0])]
    Elsewhere,
    /// A file differs from what the measurements give.
    #[error("{path} is not what {folder} gives ({how}); `nimlanes report --data {folder}` regenerates it", path = path.display(), folder = folder.display())]
    Differs {
        /// The file.
        path: PathBuf,
        /// The folder of the measurements.
        folder: PathBuf,
        /// Where the first difference is.
        how: String,
    },
    /// Files of an earlier report that this one does not have.
    #[error("no longer part of the report: {}; `nimlanes report --data {}` removes them", list(paths.iter().map(|path| path.display())), folder.display())]
    Stale {
        /// The files.
        paths: Vec<PathBuf>,
        /// The folder of the measurements.
        folder: PathBuf,
    },
}

impl ReportError {
    fn no_marks(path: PathBuf) -> Self {
        ReportError::NoMarks { path, begin: format!("{BEGIN}FOLDER{BEGIN_ENDS}") }
    }
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
pub fn in_source_tree() -> Result<(), ReportError> {
    if Path::new(sources::FOLDERS[0]).is_dir() { Ok(()) } else { Err(ReportError::Elsewhere) }
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

/// Gives the machine of a folder of measurements a name by hand.
///
/// # Errors
/// The folder cannot be used, or the name cannot be written.
pub fn name(folder: &Path, name: &str) -> Result<(), ReportError> {
    Data::read(folder)?;
    let path = folder.join(FILE);
    let mut data = Data::of_file(&path)?;
    data.given_name = Some(name.to_owned());
    Ok(data.write(&path)?)
}

/// The folder of measurements that the report in the working directory was made from.
///
/// # Errors
/// There is no report, or it does not name the folder.
pub fn source() -> Result<PathBuf, ReportError> {
    let text = read(Path::new(RESULTS))?.unwrap_or_default();
    let marked = text.split_once(BEGIN).map(|(_, rest)| rest).and_then(split);
    let (folder, _) = marked.ok_or_else(|| ReportError::no_marks(RESULTS.into()))?;
    Ok(folder.into())
}

/// Splits the text after [`BEGIN`] into the folder, and the text after the end mark.
fn split(text: &str) -> Option<(&str, &str)> {
    let (folder, rest) = text.split_once(BEGIN_ENDS)?;
    let (_, below) = rest.split_once(END)?;
    Some((folder, below))
}

fn read(path: &Path) -> Result<Option<String>, SavedError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SavedError::Read { path: path.to_owned(), source }),
    }
}

/// All files that one set of measurements gives.
struct Composed {
    files: Vec<(PathBuf, String)>,
    /// Charts and tables of an earlier report that are not among the files.
    stale: Vec<PathBuf>,
    summary: Summary,
}

/// What a user should know about a report that was made or checked.
#[derive(Debug)]
pub struct Summary {
    /// The file of the report.
    pub results: PathBuf,
    /// The names of the other machines in it.
    pub beside: Vec<String>,
    /// Files that were removed, as this report does not have them.
    pub removed: Vec<PathBuf>,
    /// Kernels without a measurement, as `operation=kernel`.
    pub unmeasured: Vec<String>,
    /// Kernels that have changed since they were measured, as `operation=kernel`; none if that is not known.
    pub changed: Option<Vec<String>>,
}

/// What is not as it was measured; `None` if the measurements do not say.
fn changed(data: &Data) -> Result<Option<Changed>, SavedError> {
    data.sources.as_ref().map(|measured| Changed::since(measured, &data.environment.build)).transpose()
}

/// The measurements in a folder, and those of other machines beside them. A draft stands alone. `announce` receives a line for each
/// folder that is left out.
fn contents(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<(Data, Vec<Data>), ReportError> {
    let data = Data::read(folder)?;
    let others = match data.is_draft() {
        true => Vec::new(),
        false => machines::beside(&data, folder, Path::new(FOLDERS), announce)?,
    };
    Ok((data, others))
}

/// Generates the files from measurements in a folder. Text outside of the marks is kept, and kernels that have changed are marked.
/// `announce` is as in [`contents`].
fn compose(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<Composed, ReportError> {
    let (data, others) = contents(folder, announce)?;
    let report = Report::new(&data, changed(&data)?, &others);
    let root = root(data.is_draft());
    let mut files = Vec::new();
    for chart in report.charts() {
        files.push((root.join(CHARTS).join(chart.file), format!("{}\n{MADE}\n", chart.text.trim_end())));
    }
    for page in report.pages() {
        let path = Path::new(TABLES).join(page.file);
        let text = format!("{MADE}\n\n{}", links(&page.text, &path, root));
        files.push((root.join(path), text));
    }
    let path = root.join(README);
    if let Some(old) = read(&path)? {
        match between_marks(&old, &report.digest()) {
            Some(text) => files.push((path, text)),
            None => return Err(ReportError::NoMarks { path, begin: MADE.to_owned() }),
        }
    }
    let made: BTreeSet<&Path> = files.iter().map(|(path, _)| path.as_path()).collect();
    let mut stale = generated(&root.join(CHARTS))?;
    stale.extend(generated(&root.join(TABLES))?);
    stale.retain(|path| !made.contains(path.as_path()));

    let path = root.join(RESULTS);
    let old = read(&path)?;
    let (above, below) = match &old {
        None => ("# Results\n\n", "\n"),
        Some(old) => {
            let (above, rest) = old.split_once(BEGIN).ok_or_else(|| ReportError::no_marks(path.clone()))?;
            let (_, below) = split(rest).ok_or_else(|| ReportError::no_marks(path.clone()))?;
            (above, below)
        }
    };
    let body = links(&report.results(), Path::new(RESULTS), root);
    files.push((path.clone(), format!("{above}{BEGIN}{}{BEGIN_ENDS}\n\n{body}\n{END}{below}", folder.display())));
    let beside = others.iter().map(|other| other.name().to_owned()).collect();
    let (unmeasured, changed) = (report.unmeasured(), report.changed());
    Ok(Composed { files, stale, summary: Summary { results: path, beside, removed: Vec::new(), unmeasured, changed } })
}

/// Links in a report lead from the root of the source tree. Makes them lead from a file below the root of the report.
fn links(text: &str, path: &Path, root: &Path) -> String {
    let up = |folders: usize| "../".repeat(folders);
    let inside = path.components().count() - 1;
    let (to_report, to_source) = (up(inside), up(inside + root.components().count()));
    text.replace("](profiles/", &format!("]({to_report}profiles/"))
        .replace("](src/", &format!("]({to_source}src/"))
        .replace(&format!("]({RESULTS}"), &format!("]({to_report}{RESULTS}"))
}

/// The files in a folder that a report made.
fn generated(folder: &Path) -> Result<Vec<PathBuf>, SavedError> {
    let mut paths = entries(folder)?;
    paths.retain(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(MADE)));
    Ok(paths)
}

/// A page with a new text between its marks; none if it has no marks.
fn between_marks(old: &str, part: &str) -> Option<String> {
    let (above, rest) = old.split_once(MADE)?;
    let (_, below) = rest.split_once(END)?;
    Some(format!("{above}{MADE}\n\n{}\n\n{END}{below}", part.trim_end()))
}

/// Writes RESULTS.md, its charts and tables, and the digest, from the measurements in a folder. Removes charts and tables of
/// earlier reports. A draft goes to [`DRAFT`]. `announce` receives a line for each folder of another machine that is left out.
///
/// # Errors
/// The measurements cannot be used, a file has no marks, or a file cannot be written. No file is left incomplete.
pub fn write(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<Summary, ReportError> {
    let Composed { files, stale, summary } = compose(folder, announce)?;
    for (path, text) in files {
        files::save(&path, text.as_bytes()).map_err(|source| SavedError::Write { path, source })?;
    }
    for path in &stale {
        fs::remove_file(path).map_err(|source| SavedError::Write { path: path.clone(), source })?;
    }
    Ok(Summary { removed: stale, ..summary })
}

/// Checks that RESULTS.md, its charts and tables, and the digest are what the measurements in a folder give, and that there are
/// no charts and tables of earlier reports. Marks of kernels that have changed since are not compared, and kernels without
/// measurements are in no report: whoever adds or changes one need not touch the report. `announce` is as in [`write`].
///
/// # Errors
/// They differ, or the measurements cannot be used.
pub fn check(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<Summary, ReportError> {
    let Composed { files, stale, summary } = compose(folder, announce)?;
    for (path, want) in files {
        let found = read(&path)?.unwrap_or_default();
        if let Some(line) = first_difference(&found, &want) {
            let (folder, how) = (folder.to_owned(), format!("first difference at line {line}"));
            return Err(ReportError::Differs { path, folder, how });
        }
    }
    match stale.is_empty() {
        true => Ok(summary),
        false => Err(ReportError::Stale { paths: stale, folder: folder.to_owned() }),
    }
}

/// The first line, counted from 1, in which a file differs from what it should be, apart from what it says about changes.
fn first_difference(found: &str, want: &str) -> Option<usize> {
    let mut want = unmarked(want).map(|(_, text)| text);
    let mut last = 0;
    for (line, text) in unmarked(found) {
        if want.next() != Some(text) {
            return Some(line);
        }
        last = line;
    }
    want.next().map(|_| last + 1)
}

/// Makes the page of the measurements in a folder, and of other machines. `links` is where links to source files begin, see
/// [`html::compose`]; `modules` builds the modules of WebAssembly once the measurements are read, and `announce` receives a line
/// for each folder that is left out.
///
/// # Errors
/// The measurements in the folder cannot be used, a source file cannot be read, or those of `modules`.
pub fn page<E: From<ReportError>>(
    folder: &Path,
    links: &str,
    modules: impl FnOnce() -> Result<Modules, E>,
    announce: &mut dyn FnMut(&str),
) -> Result<html::Page, E> {
    let (data, others) = contents(folder, announce)?;
    let report = |data| Ok(Report::new(data, changed(data).map_err(ReportError::from)?, &[]));
    let reports = [&data].into_iter().chain(&others).map(report).collect::<Result<Vec<_>, ReportError>>()?;
    Ok(html::compose(&reports, links, modules()?)?)
}

#[cfg(test)]
mod tests {
    use nimlanes::lab::environment::Environment;
    use nimlanes::machine::Machine;

    use super::*;

    #[test]
    fn a_microarchitecture_without_a_name_still_names_a_folder() {
        let mut environment = Environment::detect(&Machine::detect());
        environment.microarchitecture = "GenuineIntel-family6-model200".to_owned();
        assert!(!environment.is_named());
        let folder = |draft| folder(&environment.microarchitecture, "2026-01-31T12:00:00Z", draft);
        assert_eq!(folder(false), Path::new("profiles/data/2026-01-31-genuineintel-family6-model200"));
        assert_eq!(folder(true), Path::new("target/draft/profiles/data/2026-01-31-genuineintel-family6-model200"));
        environment.microarchitecture = "zen4".to_owned();
        assert!(environment.is_named());
    }

    #[test]
    fn of_many_names_a_list_has_the_first() {
        let of = |count: usize| list(["a", "b", "c", "d", "e", "f"][..count].iter());
        assert_eq!([0, 1, 5, 6].map(of), ["", "a", "a, b, c, d, e", "6, such as a, b, c"]);
    }

    #[test]
    fn a_part_is_replaced_between_its_marks_and_nothing_else_changes() {
        let old = format!("above\n{MADE}\nold\n{END}\nbelow\n");
        let new = between_marks(&old, "new\n\n").expect("marks");
        assert_eq!(new, format!("above\n{MADE}\n\nnew\n\n{END}\nbelow\n"));
        assert_eq!(between_marks(&new, "new").expect("marks"), new);
        assert_eq!(between_marks("nothing", "new"), None);
    }

    #[test]
    fn what_a_report_says_of_changes_is_not_compared() {
        let marked = "| a† | 1 |\n\n† This kernel has changed since it was measured.\n\
                      \nShared source that has changed since it was measured: `src/b.rs`.\nend\n";
        let plain = "| a | 1 |\nend\n";
        assert_eq!(first_difference(marked, plain), None);
        assert_eq!(first_difference(plain, marked), None);
        assert_eq!(first_difference(marked, "| a | 2 |\nend\n"), Some(1));
        assert_eq!(first_difference(marked, "| a | 1 |\nEnd\n"), Some(6));
        assert_eq!(first_difference(marked, "| a | 1 |\n"), Some(6));
        assert_eq!(first_difference(plain, "| a | 1 |\nend\nmore\n"), Some(3));
        assert_eq!(first_difference("", ""), None);
    }

    #[test]
    fn links_lead_from_the_file_they_are_in() {
        let text = "[a](src/a.rs) [b](profiles/tables/b.md) [c](RESULTS.md#c)";
        let at = |path: &str, draft| links(text, Path::new(path), root(draft));
        assert_eq!(at(RESULTS, false), text);
        let page = "[a](../../src/a.rs) [b](../../profiles/tables/b.md) [c](../../RESULTS.md#c)";
        assert_eq!(at("profiles/tables/page.md", false), page);
        assert_eq!(at(RESULTS, true), "[a](../../src/a.rs) [b](profiles/tables/b.md) [c](RESULTS.md#c)");
    }
}
