//! The source code that was measured: its revision, and a digest of each file that kernels are made of.
//!
//! A report marks the kernels whose source is not what was measured. It compares digests and not revisions: digests need no
//! git and no history, and they follow from the files of a checkout alone, so `report --check` gives the same on any clone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nimlanes::kernel::Run;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::files::saved::{SavedError, entries, read_text};
use crate::measuring::programs::{ProgramError, output_of, program};

/// The folders whose files kernels are made of.
pub const FOLDERS: [&str; 2] = ["src/cores", "src/foundation/simd"];

/// What was measured. Saved before anything else, and kept if a report is resumed: a kernel that changes in between is marked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sources {
    /// The commit, with `-dirty` if there were uncommitted changes outside of the data; none unless the source tree is a git
    /// repository.
    pub revision: Option<String>,
    /// The digest of each file, by its path from the root of the source tree.
    pub digests: BTreeMap<String, String>,
}

impl Sources {
    /// The source in the working directory, which is of this [`revision`].
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn here(revision: Option<String>) -> Result<Self, SavedError> {
        Ok(Sources { revision, digests: digests(Path::new(""))? })
    }

    /// The files that differ from those in a source tree, or are only here or only there.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn changed(&self, root: &Path) -> Result<BTreeSet<String>, SavedError> {
        let now = digests(root)?;
        let both = self.digests.keys().chain(now.keys());
        Ok(both.filter(|path| now.get(*path) != self.digests.get(*path)).cloned().collect())
    }
}

/// The [`Sources::revision`] of the source in the working directory; none where git is not installed.
///
/// # Errors
/// Git does not read the repository, or the run was cancelled.
pub fn revision(run: &Run) -> Result<Option<String>, ProgramError> {
    let git = |args: &[&str]| Ok(output_of(program("git").args(args), run)?.trim().to_owned());
    // The commits of a repository that the source tree lies in say nothing about it.
    if !Path::new(".git").exists() {
        return Ok(None);
    }
    let commit = match git(&["describe", "--always", "--abbrev=12", "--exclude=*"]) {
        Err(ProgramError::Start { .. }) => return Ok(None),
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
        for path in source_files(&root.join(folder))? {
            let text = read_text(&path)?;
            let inside = path.strip_prefix(root).unwrap_or(&path);
            let name = inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
            digests.insert(name, digest(&text));
        }
    }
    Ok(digests)
}

/// A digest of the code in a file, as far as it runs. Comments, indentation and empty lines do not count, nor do imports and the
/// predicted cost: moving a module or fitting a constant changes no time.
fn digest(text: &str) -> String {
    let mut hasher = XxHash3_64::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim();
        // What is left out ends at its semicolon, or at the brace of an item that is not indented.
        let end = match line {
            _ if ["use ", "pub use "].iter().any(|start| line.starts_with(start)) => ";",
            _ if line.starts_with("pub fn cost(") => "}",
            _ => "",
        };
        if !end.is_empty() {
            let is_last = |line: &str| if end == ";" { line.ends_with(end) } else { line == end };
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

/// The last modification of a source file in the working directory. Older estimates are for different code.
///
/// # Errors
/// The files cannot be listed.
pub fn newest() -> Result<SystemTime, SavedError> {
    let modified = |path: PathBuf| {
        let time = fs::metadata(&path).and_then(|metadata| metadata.modified());
        time.map_err(|source| SavedError::Read { path, source })
    };
    let files = source_files(Path::new("src"))?.into_iter();
    files.map(modified).try_fold(SystemTime::UNIX_EPOCH, |newest, time| Ok(newest.max(time?)))
}

/// The files in Rust and C below a folder; none if it does not exist.
///
/// # Errors
/// The folder cannot be read.
pub fn source_files(folder: &Path) -> Result<Vec<PathBuf>, SavedError> {
    let mut files = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(folder) = left.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                left.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| ["rs", "c", "h"].iter().any(|source| extension == *source))
            {
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
        assert_eq!(digest("//! Header.\n\nfn run() {\n  // Why.\n  work();\n}\n"), code);
        assert_ne!(digest("fn run() {\n    more_work();\n}\n"), code);
        assert_ne!(digest("fn run() { work();\n}\n"), code);
    }

    #[test]
    fn imports_and_predictions_do_not_count() {
        let code = digest("fn run() {\n    work();\n}\n");
        let imports = "use a::b;\npub use c::{\n    d,\n    e,\n};\n";
        let cost = "pub fn cost(input: &Input) -> Cost {\n    Cost { ns: 1.0 }\n}\n";
        assert_eq!(digest(&format!("{imports}{cost}fn run() {{\n    work();\n}}\n")), code);
        assert_ne!(digest(&format!("{cost}fn run() {{\n    use a::b;\n    work();\n}}\n")), code);
    }

    #[test]
    fn changed_missing_and_new_files_are_named() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            fs::write(path, text).expect("writable");
        };
        for path in ["src/cores/a.rs", "src/cores/deep/b.rs", "src/foundation/simd/c.rs"] {
            write(path, "fn run() {}\n");
        }
        let sources = Sources { revision: None, digests: digests(root.path()).expect("readable") };
        assert_eq!(sources.digests.len(), 3);
        assert!(sources.changed(root.path()).expect("readable").is_empty());
        write("src/cores/a.rs", "// A comment.\nfn run() {}\n");
        write("src/cores/new.rs", "fn run() {}\n");
        write("src/cores/deep/b.rs", "fn run() { }\n");
        fs::remove_file(root.path().join("src/foundation/simd/c.rs")).expect("writable");
        let changed: Vec<String> = sources.changed(root.path()).expect("readable").into_iter().collect();
        assert_eq!(changed, ["src/cores/deep/b.rs", "src/cores/new.rs", "src/foundation/simd/c.rs"]);
    }

    #[test]
    fn this_source_tree_has_digests_of_its_kernels() {
        let here = Sources::here(None).expect("readable");
        assert!(here.digests.contains_key("src/cores/table_scan/bit_rows.rs"));
        let newest = newest().expect("readable");
        assert!(newest > SystemTime::UNIX_EPOCH && newest <= SystemTime::now());
    }
}
