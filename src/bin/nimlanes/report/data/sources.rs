//! The measured source: its revision, a digest of each file that kernels are made of, and one of the machine code of each kernel.
//!
//! A report marks the kernels that are not what was measured. In a build like the one that was measured, the machine code decides;
//! else the source does, if it was in no file then. Digests need no git and no history.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};

use nimlanes::kernel::{KernelMeta, Run};
use nimlanes::lab::environment::Build;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::files::saved::{SavedError, entries, read_text};
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use crate::measuring::machine_code::DIGESTS;
use crate::measuring::programs::{ProgramError, complete, program};

/// Elsewhere no machine code is read.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
static DIGESTS: BTreeMap<String, String> = BTreeMap::new();

/// The folders whose files kernels are made of.
pub const FOLDERS: [&str; 2] = ["src/cores", "src/foundation/simd"];

/// The measured source. Saved before anything else, and kept if a report is resumed: a kernel that changes in between is marked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sources {
    /// The commit, with `-dirty` if there were uncommitted changes outside of the data; none unless the source tree is a git
    /// repository.
    pub revision: Option<String>,
    /// The digest of each file, by its path from the root of the source tree.
    pub digests: BTreeMap<String, String>,
    /// The digest of the machine code of each kernel, by `operation=kernel`; none where it is not read.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub code: BTreeMap<String, String>,
}

/// The changes since the measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changed {
    /// The files of the source that were not measured, by any path.
    pub files: BTreeSet<String>,
    /// Whether the machine code has changed, by `operation=kernel`, as far as it can be compared.
    pub code: BTreeMap<String, bool>,
}

impl Sources {
    /// The source in the working directory, which is of this [`revision`], and the machine code in this program.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn here(revision: Option<String>) -> Result<Self, SavedError> {
        Ok(Sources { revision, digests: digests(Path::new(""))?, code: DIGESTS.clone() })
    }

    /// The files of another source that are not in this one. A file that was renamed or moved is.
    pub fn lacks<'a>(&self, other: &'a Sources) -> impl Iterator<Item = &'a String> {
        let own: BTreeSet<&String> = self.digests.values().collect();
        other.digests.iter().filter(move |(_, digest)| !own.contains(digest)).map(|(path, _)| path)
    }
}

impl Changed {
    /// The differences of the working directory and of this program from the measured source and its build.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn since(measured: &Sources, build: &Build) -> Result<Self, SavedError> {
        let is_alike = !build.rustc.is_empty() && build.other(&Build::of_this()).is_none();
        let code = if is_alike && !measured.code.is_empty() { DIGESTS.clone() } else { BTreeMap::new() };
        Ok(Self::between(measured, &Sources { revision: None, digests: digests(Path::new(""))?, code }))
    }

    fn between(measured: &Sources, now: &Sources) -> Self {
        let differs = |(kernel, digest): (&String, &String)| Some((kernel.clone(), now.code.get(kernel)? != digest));
        let code = measured.code.iter().filter_map(differs).collect();
        Changed { files: measured.lacks(now).cloned().collect(), code }
    }

    /// Whether a kernel has changed.
    pub fn has(&self, operation: &str, kernel: &KernelMeta) -> bool {
        let by_code = self.code.get(&format!("{operation}={}", kernel.name));
        by_code.copied().unwrap_or_else(|| self.files.contains(&kernel.source()))
    }
}

/// The [`Sources::revision`] of the source in the working directory; none where git is not installed.
///
/// # Errors
/// Git does not read the repository, or the run was cancelled.
pub fn revision(run: &Run) -> Result<Option<String>, ProgramError> {
    let git = |args: &[&str]| Ok(complete(program("git").args(args), "", run)?.trim().to_owned());
    // The commits of a repository around the source tree are not its own.
    if !Path::new(".git").exists() {
        return Ok(None);
    }
    let commit = match git(&["describe", "--always", "--abbrev=12", "--exclude=*"]) {
        Err(ProgramError::Start(..)) => return Ok(None),
        commit => commit?,
    };
    // Measuring again replaces committed data, which is no change of the source.
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":(exclude)profiles/data"])?;
    Ok(Some(commit + if changed.is_empty() { "" } else { "-dirty" }))
}

/// The digests of the files in [`FOLDERS`].
fn digests(root: &Path) -> Result<BTreeMap<String, String>, SavedError> {
    let mut digests = BTreeMap::new();
    for folder in FOLDERS {
        for path in files_below(&root.join(folder), &["rs", "c", "h"])? {
            let text = read_text(&path)?;
            let inside = path.strip_prefix(root).unwrap_or(&path);
            let name = inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
            digests.insert(name, digest(&text));
        }
    }
    Ok(digests)
}

/// A digest of the code in a file, as far as it runs. Comments, indentation and empty lines do not count, nor do imports, modules in
/// other files, tests, who may use what, and what predicts costs and limits: none of these changes a time.
fn digest(text: &str) -> String {
    let mut hasher = XxHash3_64::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let (item, code) = (private(line), private(line.trim()));
        let indent = line.len() - line.trim_start().len();
        // What is left out ends at its semicolon, or at the brace that is indented as it is.
        let end = match item {
            _ if code == "#[cfg(test)]" => "]",
            _ if code == "mod tests {" => "}",
            _ if item.starts_with("use ") || item.starts_with("mod ") && item.ends_with(';') => ";",
            _ if PREDICTIONS.iter().any(|start| code.starts_with(start)) => "}",
            _ => "",
        };
        if !end.is_empty() {
            let is_brace = |line: &str| line.len() == indent + 1 && line.trim_start() == end;
            let is_last = |line: &str| if end == "}" { is_brace(line) } else { line.ends_with(end) };
            if !is_last(line) {
                lines.find(|line| is_last(line));
            }
        } else if !code.is_empty() && !code.starts_with("//") {
            hasher.write(code.as_bytes());
            hasher.write(b"\n");
        }
    }
    format!("{:016x}", hasher.finish())
}

/// How functions begin that predict costs and limits.
const PREDICTIONS: [&str; 4] = ["fn cost(", "fn cost_", "fn needs(", "fn needs_"];

/// A line without its visibility.
fn private(line: &str) -> &str {
    let within = line.strip_prefix("pub(").and_then(|rest| rest.split_once(") "));
    within.map_or(line.strip_prefix("pub ").unwrap_or(line), |(_, item)| item)
}

/// The files below a folder with one of some extensions; none if it does not exist.
///
/// # Errors
/// The folder cannot be read.
pub fn files_below(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, SavedError> {
    let mut files = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for path in entries(&folder)? {
            let extension = path.extension().and_then(|extension| extension.to_str());
            if path.is_dir() {
                left.push(path);
            } else if extension.is_some_and(|extension| extensions.contains(&extension)) {
                files.push(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_counts() {
        let code = digest("fn run() {\n    work();\n}\n");
        for same in [
            "//! Header.\n\nfn run() {\n  // Why.\n  work();\n}\n",
            "use a::b;\npub use c::{\n    d,\n    e,\n};\npub mod f;\nfn run() {\n    work();\n}\n",
            "pub fn cost(input: &Input) -> Cost {\n    Cost { ns: 1.0 }\n}\npub(super) fn run() {\n    work();\n}\n",
            "fn run() {\n    work();\n}\n#[cfg(test)]\nmod tests {\n    fn test() {}\n}\n",
        ] {
            assert_eq!(digest(same), code, "{same}");
        }
        let inner = |cost: &str| digest(&format!("pub mod a {{\n{cost}    fn run() {{\n        work();\n    }}\n}}\n"));
        assert_eq!(inner("    pub fn cost(input: &Input) -> Cost {\n        Cost { ns: 1.0 }\n    }\n"), inner(""));
        for other in [
            "fn run() {\n    more_work();\n}\n",
            "fn run() { work();\n}\n",
            "fn run() {\n    use a::b;\n    work();\n}\n",
            "#[inline]\nfn run() {\n    work();\n}\n",
            "mod a {\n}\nfn run() {\n    work();\n}\n",
        ] {
            assert_ne!(digest(other), code, "{other}");
        }
    }
}
