//! What is measured apart from a report: a file for each kind and machine, beside the folders of reports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nimlanes::kernel::case::Case;
use serde::{Deserialize, Serialize};

use crate::files::saved::{Measured, Saved, SavedError, entries};
use crate::measuring::counters::Counted;
use crate::measuring::duel::{Compilers, Duel};
use crate::report::FOLDERS;

/// Kernels in an engine of WebAssembly, beside those of this program: the duels of all operations at their published sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WebAssembly {
    /// The engine with its version.
    pub engine: String,
    /// For each operation, one duel split by builds: all of them took turns, and ratios are to the baseline of the first, this
    /// program. The others are for WebAssembly, without vectors and with them.
    pub operations: Vec<Vec<Duel>>,
}

impl Measured for WebAssembly {
    const KIND: &'static str = "webassembly";
}

/// Kernels by several compilers: all operations at their published sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Toolchains {
    /// By the same compilers.
    pub operations: Vec<Compilers>,
}

impl Measured for Toolchains {
    const KIND: &'static str = "toolchains";
}

/// Kernels that differ in where their vectors come from, in a build with Cargo features beyond the default: a duel for each operation
/// at its published size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Crates {
    pub operations: Vec<Duel>,
    /// For each operation, how much code its kernels are. Empty where there are no single steps.
    #[serde(default)]
    pub code: Vec<Code>,
}

/// How much machine code kernels are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Code {
    /// The input, a small one.
    #[serde(flatten)]
    pub case: Case,
    /// Bytes of the instructions that a run executes, by kernel.
    pub bytes: BTreeMap<String, u64>,
}

impl Measured for Crates {
    const KIND: &'static str = "crates";
}

/// What bounds the selected kernel of each operation, at about the largest size that single steps allow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The counts of one kernel each.
    pub operations: Vec<Counted>,
}

impl Measured for Bounds {
    const KIND: &'static str = "bounds";
}

/// All that is measured apart.
#[derive(Debug, Default)]
pub struct Apart {
    /// In engines of WebAssembly.
    pub webassembly: Vec<Saved<WebAssembly>>,
    /// By several compilers.
    pub toolchains: Vec<Saved<Toolchains>>,
    /// With more crates.
    pub crates: Vec<Saved<Crates>>,
    /// What bounds kernels.
    pub bounds: Vec<Saved<Bounds>>,
}

impl Apart {
    /// Reads the measurements of all machines.
    ///
    /// # Errors
    /// A file cannot be read or holds something else.
    pub fn read() -> Result<Self, SavedError> {
        Ok(Apart { webassembly: all()?, toolchains: all()?, crates: all()?, bounds: all()? })
    }
}

/// The file of a machine with this name.
pub fn path<T: Measured>(name: &str) -> PathBuf {
    Path::new(FOLDERS).join(format!("{}-{name}.json", T::KIND))
}

/// The measurements of a kind.
fn all<T: Measured>() -> Result<Vec<Saved<T>>, SavedError> {
    let of_kind = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".json") && name.strip_prefix(T::KIND).is_some_and(|rest| rest.starts_with('-'))
    };
    entries(Path::new(FOLDERS))?.iter().filter(|path| of_kind(path)).map(|path| Saved::read(path)).collect()
}
