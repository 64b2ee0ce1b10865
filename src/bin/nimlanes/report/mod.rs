//! The report: RESULTS.md, its charts, and a digest in README.md, generated from saved measurements.
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

use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use self::data::machines;
use self::data::sources::{self, Changed};
use self::data::{Data, DataError};
use self::tables::MachineReport;
use crate::files;
use crate::files::saved::{SavedError, day};
use crate::measuring::builds::cargo::Modules;

/// The file of the report.
pub const RESULTS: &str = "RESULTS.md";

/// The file with a digest of the report; optional.
pub const README: &str = "README.md";

/// The folder of the charts.
pub const CHARTS: &str = "profiles/charts";

/// The folder of longer documents that the report links to.
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

/// The folder of measurements that the report in the working directory was made from.
///
/// # Errors
/// There is no report, or it does not name the folder.
pub fn source() -> Result<PathBuf, ReportError> {
    let text = read(Path::new(RESULTS))?.unwrap_or_default();
    let folder = text.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(BEGIN_ENDS));
    let (folder, _) = folder.ok_or_else(|| ReportError::no_marks(RESULTS.into()))?;
    Ok(folder.into())
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
    summary: Overview,
}

/// What a user should know about a report that was made or checked.
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

/// What is not as it was measured; `None` if the measurements do not say.
fn changed(data: &Data) -> Result<Option<Changed>, SavedError> {
    data.sources.as_ref().map(|measured| Changed::since(measured, &data.environment.build)).transpose()
}

/// The measurements in a folder, and those of other machines beside them. A draft stands alone. `announce` receives a line for each
/// folder that is left out.
fn contents(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<(Data, Vec<Data>), ReportError> {
    let data = Data::read(folder)?;
    let others = match data.draft {
        true => Vec::new(),
        false => machines::beside(&data, folder, Path::new(FOLDERS), announce)?,
    };
    Ok((data, others))
}

/// Generates the files from measurements in a folder. Text outside of the marks is kept.
/// `announce` is as in [`contents`].
fn compose(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<Composed, ReportError> {
    let (data, others) = contents(folder, announce)?;
    let report = MachineReport::new(&data, changed(&data)?, &others);
    let root = root(data.draft);
    let charts = root.join(CHARTS);
    let chart = |(file, text): (String, String)| (charts.join(file), format!("{}\n{MADE}\n", text.trim_end()));
    let mut files: Vec<_> = report.charts().map(chart).collect();
    let path = root.join(README);
    if let Some(old) = read(&path)? {
        match between_marks(&old, MADE, MADE, &report.digest()) {
            Some(text) => files.push((path, text)),
            None => return Err(ReportError::NoMarks { path, begin: MADE.to_owned() }),
        }
    }
    let results = root.join(RESULTS);
    let old = read(&results)?.unwrap_or_else(|| format!("# Results\n\n{BEGIN}{END}\n"));
    let mark = format!("{BEGIN}{}{BEGIN_ENDS}", folder.display());
    let text = between_marks(&old, BEGIN, &mark, &links(&report.results(), root));
    files.push((results.clone(), text.ok_or_else(|| ReportError::no_marks(results.clone()))?));
    let beside = others.iter().map(|other| other.name().to_owned()).collect();
    let (unmeasured, changed) = (report.unmeasured(), report.changed());
    Ok(Composed { files, summary: Overview { results, beside, unmeasured, changed } })
}

/// Links in a report lead from the root of the source tree, as do those in a draft, but for its own charts.
fn links(text: &str, root: &Path) -> String {
    let up = "../".repeat(root.components().count());
    text.replace("](src/", &format!("]({up}src/")).replace(&format!("]({TABLES}/"), &format!("]({up}{TABLES}/"))
}

/// A file with a new text between its marks, of which the first has this beginning and is written anew; none if it has no marks.
fn between_marks(old: &str, begin: &str, mark: &str, part: &str) -> Option<String> {
    let (above, rest) = old.split_once(begin)?;
    let (_, below) = rest.split_once(END)?;
    Some(format!("{above}{mark}\n\n{}\n\n{END}{below}", part.trim_end()))
}

/// Writes RESULTS.md, its charts, and the digest, from the measurements in a folder.  A draft goes to [`DRAFT`]. `announce` receives a line for each folder of another machine that is left out.
///
/// # Errors
/// The measurements cannot be used, a file has no marks, or a file cannot be written. No file is left incomplete.
pub fn write(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<Overview, ReportError> {
    let Composed { files, summary } = compose(folder, announce)?;
    for (path, text) in files {
        files::save(&path, text.as_bytes()).map_err(|source| SavedError::Write { path, source })?;
    }
    Ok(summary)
}

/// Checks that RESULTS.md, its charts, and the digest are what the measurements in a folder give. Kernels without measurements are in no
/// report: whoever adds or changes one need not touch the report. `announce` is as in [`write`].
///
/// # Errors
/// They differ, or the measurements cannot be used.
pub fn check(folder: &Path, announce: &mut dyn FnMut(&str)) -> Result<Overview, ReportError> {
    let Composed { files, summary } = compose(folder, announce)?;
    for (path, want) in files {
        let found = read(&path)?.unwrap_or_default();
        if found != want {
            let same = found.lines().zip(want.lines()).take_while(|(found, want)| found == want).count();
            let (folder, how) = (folder.to_owned(), format!("first difference at line {}", same + 1));
            return Err(ReportError::Differs { path, folder, how });
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
pub fn page<E: From<ReportError>>(
    folder: &Path,
    links: &str,
    modules: impl FnOnce() -> Result<Modules, E>,
    announce: &mut dyn FnMut(&str),
) -> Result<html::Page, E> {
    let (data, others) = contents(folder, announce)?;
    let report = |data| Ok(MachineReport::new(data, changed(data).map_err(ReportError::from)?, &[]));
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
        let replaced = |old: &str, part: &str| between_marks(old, MADE, MADE, part);
        let new = replaced(&old, "new\n\n").expect("marks");
        assert_eq!(new, format!("above\n{MADE}\n\nnew\n\n{END}\nbelow\n"));
        assert_eq!(replaced(&new, "new").expect("marks"), new);
        assert_eq!(replaced("nothing", "new"), None);
    }

    #[test]
    fn links_of_a_draft_lead_out_of_it() {
        let text = "[a](src/a.rs) [b](profiles/tables/b.md) [c](profiles/charts/c.svg)";
        assert_eq!(links(text, root(false)), text);
        let draft = "[a](../../src/a.rs) [b](../../profiles/tables/b.md) [c](profiles/charts/c.svg)";
        assert_eq!(links(text, root(true)), draft);
    }
}
