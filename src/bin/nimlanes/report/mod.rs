//! The report: RESULTS.md, its charts, and a digest in README.md, generated from saved measurements alone.
//!
//! [`tasks`] lists what to measure, from the registry. [`measure`] measures it and saves each result in a small file.
//! [`data`] reads the files back; [`tables`] and [`chart`] turn them into text and pictures. In RESULTS.md, the text is
//! between two marks. The first mark names the source folder, so anyone can regenerate the text and compare it. Prose is
//! kept next to its subject (`NOTES.md` of an operation, the `.md` files of this module); all numbers come from
//! measurements.

pub mod chart;
pub mod data;
pub mod estimates;
pub mod measure;
mod neighbours;
pub mod programs;
pub mod tables;
pub mod tasks;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nimlanes::lab::environment::Environment;
use nimlanes::lab::files;
use nimlanes::lab::saved::SavedError;

use self::data::{Data, DataError};
use self::tables::{Chart, Report};

/// The file of the report.
pub const RESULTS: &str = "RESULTS.md";

/// The file with a digest of the report; optional.
pub const README: &str = "README.md";

/// The folder of the charts.
pub const CHARTS: &str = "profiles/charts";

/// The folder of measurements, with a subfolder for each machine and day.
pub const FOLDERS: &str = "profiles/data";

const BEGIN: &str = "<!-- made by `nimlanes report` from ";
const BEGIN_ENDS: &str = ": do not edit below -->";
const README_BEGIN: &str = "<!-- made by `nimlanes report`: do not edit -->";
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
    #[error("{path} has no lines `{begin}` and `{END}` to write between")]
    NoMarks {
        /// The file.
        path: &'static str,
        /// The first mark.
        begin: String,
    },
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
    fn no_marks() -> Self {
        ReportError::NoMarks { path: RESULTS, begin: format!("{BEGIN}FOLDER{BEGIN_ENDS}") }
    }
}

/// The folder for measurements in this environment on a date (`2026-01-31T..`).
pub fn folder(environment: &Environment, date: &str, draft: bool) -> PathBuf {
    let day = date.split('T').next().unwrap_or(date);
    let tidy = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = environment.microarchitecture.chars().map(tidy).collect();
    Path::new(FOLDERS).join(format!("{day}-{name}{}", if draft { "-draft" } else { "" }))
}

/// The folder of measurements that the report in the working directory was made from.
///
/// # Errors
/// There is no report, or it does not name the folder.
pub fn source() -> Result<PathBuf, ReportError> {
    let text = read(Path::new(RESULTS))?.unwrap_or_default();
    let (before, _, _) =
        text.split_once(BEGIN).map(|(_, rest)| rest).and_then(split).ok_or_else(ReportError::no_marks)?;
    Ok(before.into())
}

/// Splits the text after [`BEGIN`] into the folder, the body, and the text after the end mark.
fn split(text: &str) -> Option<(&str, &str, &str)> {
    let (folder, rest) = text.split_once(BEGIN_ENDS)?;
    let (body, below) = rest.split_once(END)?;
    Some((folder, body, below))
}

fn read(path: &Path) -> Result<Option<String>, SavedError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SavedError::Read { path: path.to_owned(), source }),
    }
}

/// The path and text of a generated file.
type File = (PathBuf, String);

/// All files generated from the measurements in a folder, and the kernels without a measurement, as `operation=kernel`. Text
/// outside of the marks is kept.
fn compose(folder: &Path, mixed: bool) -> Result<(Vec<File>, Vec<String>), ReportError> {
    let data = Data::read(folder, mixed)?;
    let report = Report::new(&data);
    let (body, charts) = report.write(CHARTS);
    let old = read(Path::new(RESULTS))?;
    let (above, below) = match &old {
        None => ("# Results\n\n", "\n"),
        Some(old) => {
            let (above, rest) = old.split_once(BEGIN).ok_or_else(ReportError::no_marks)?;
            let (_, _, below) = split(rest).ok_or_else(ReportError::no_marks)?;
            (above, below)
        }
    };
    let results = format!("{above}{BEGIN}{}{BEGIN_ENDS}\n\n{body}\n{END}{below}", folder.display());
    let charts = charts.into_iter().map(|Chart { file, svg }| (Path::new(CHARTS).join(file), svg));
    let mut files: Vec<File> = charts.chain([(RESULTS.into(), results)]).collect();
    if let Some(old) = read(Path::new(README))? {
        files.push((README.into(), readme(&old, &report.digest())?));
    }
    Ok((files, report.unmeasured()))
}

/// README.md with a new digest.
fn readme(old: &str, digest: &str) -> Result<String, ReportError> {
    let marked = old.split_once(README_BEGIN).and_then(|(above, rest)| Some((above, rest.split_once(END)?.1)));
    let (above, below) = marked.ok_or_else(|| ReportError::NoMarks { path: README, begin: README_BEGIN.to_owned() })?;
    Ok(format!("{above}{README_BEGIN}\n\n{}\n\n{END}{below}", digest.trim_end()))
}

/// Writes RESULTS.md, its charts and the digest in the working directory from the measurements in a folder. Gives the kernels
/// without a measurement, as `operation=kernel`.
///
/// # Errors
/// The measurements cannot be used, a file has no marks, or a file cannot be written. No file is left incomplete.
pub fn write(folder: &Path, mixed: bool) -> Result<Vec<String>, ReportError> {
    let (composed, unmeasured) = compose(folder, mixed)?;
    for (path, text) in composed {
        files::save(&path, text.as_bytes()).map_err(|source| SavedError::Write { path, source })?;
    }
    Ok(unmeasured)
}

/// Checks that RESULTS.md, its charts and the digest are what the measurements in a folder give. Gives the same as [`write`].
///
/// # Errors
/// They differ, or the measurements cannot be used.
pub fn check(folder: &Path, mixed: bool) -> Result<Vec<String>, ReportError> {
    let (composed, unmeasured) = compose(folder, mixed)?;
    for (path, want) in composed {
        let found = read(&path)?.unwrap_or_default();
        if found != want {
            let same = found.lines().zip(want.lines()).take_while(|(found, want)| found == want).count();
            let (folder, how) = (folder.to_owned(), format!("first difference at line {}", same + 1));
            return Err(ReportError::Differs { path, folder, how });
        }
    }
    Ok(unmeasured)
}

#[cfg(test)]
mod tests {
    use nimlanes::machine::Machine;

    use super::*;

    #[test]
    fn a_microarchitecture_without_a_name_still_names_a_folder() {
        let mut environment = Environment::detect(&Machine::detect());
        environment.microarchitecture = "GenuineIntel-family6-model200".to_owned();
        assert!(!environment.is_named());
        let folder = folder(&environment, "2026-01-31T12:00:00Z", true);
        assert_eq!(folder, Path::new("profiles/data/2026-01-31-genuineintel-family6-model200-draft"));
        environment.microarchitecture = "zen4".to_owned();
        assert!(environment.is_named());
    }

    #[test]
    fn a_digest_is_replaced_between_its_marks_and_nothing_else_changes() {
        let old = format!("above\n{README_BEGIN}\nold\n{END}\nbelow\n");
        let new = readme(&old, "new\n\n").expect("marks");
        assert_eq!(new, format!("above\n{README_BEGIN}\n\nnew\n\n{END}\nbelow\n"));
        assert_eq!(readme(&new, "new").expect("marks"), new);
        let error = readme("nothing", "new").expect_err("no marks");
        assert!(error.to_string().starts_with("README.md has no lines"), "{error}");
    }
}
