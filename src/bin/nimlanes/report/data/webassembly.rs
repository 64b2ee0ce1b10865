//! Kernels in an engine of WebAssembly, beside those of this program. These measurements are kept apart from those of a report: a
//! file for each machine, beside the folders of reports.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::folder;
use crate::files::saved::{Measured, Saved, SavedError};
use crate::measuring::duel::Duel;
use crate::report::FOLDERS;

/// The duels of all operations at their published sizes.
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

/// The file of a machine with this name.
pub fn path(name: &str) -> PathBuf {
    Path::new(FOLDERS).join(format!("webassembly-{name}.json"))
}

/// The measurements of all machines.
///
/// # Errors
/// A file cannot be read or holds something else.
pub fn read() -> Result<Vec<Saved<WebAssembly>>, SavedError> {
    folder::saved(Path::new(FOLDERS))
}
