//! Discoveries: pages on what no public list has, with their b-files and pictures.
//!
//! They are made of what runs of `grundy` and `survey` kept with `--save`. What is timed is not here.

mod far;
mod first_heaps;
mod growth;
mod runs;
mod survey;
mod sweep;

use std::path::PathBuf;

use crate::files::saved::SavedError;

pub use self::first_heaps::plain;

/// The folders of the runs, with the pages that are made of them.
pub const FOLDERS: [&str; 4] = [first_heaps::FOLDER, growth::FOLDER, survey::FOLDER, sweep::FOLDER];

/// The pages, and the files beside them; none where there are no runs.
///
/// # Errors
/// A file cannot be read or is no saved run.
pub fn files(made: &str) -> Result<Vec<(PathBuf, String)>, SavedError> {
    let pages = [first_heaps::files(made)?, growth::files(made)?, survey::files(made)?, sweep::files(made)?];
    Ok(pages.concat())
}
