//! Discoveries: pages on what no public list has, with their b-files and pictures.
//!
//! They are made from what runs of `grundy --save` and `survey --into` kept. What is timed is not here. Papers are pages on
//! the mathematics: proofs are written by hand, and data come from these runs.

mod far;
mod first_heaps;
mod growth;
mod oeis;
mod runs;
mod sequences;
mod survey;
mod sweep;

use std::path::{Path, PathBuf};

use crate::files::folder;
use crate::files::saved::SavedError;

pub use self::first_heaps::plain;

/// The folder of the papers.
const PAPERS: &str = "profiles/papers";

/// The folders of the runs, with the pages that are made of them, and that of the papers.
pub const FOLDERS: [&str; 5] = [first_heaps::FOLDER, growth::FOLDER, survey::FOLDER, sweep::FOLDER, PAPERS];

/// The pages, and the files beside them; none where there are no runs.
///
/// # Errors
/// A file cannot be read or is no saved run.
pub fn files(made: &str) -> Result<Vec<(PathBuf, String)>, SavedError> {
    let pages = [first_heaps::files(made)?, growth::files(made)?, survey::files(made)?, sweep::files(made)?];
    Ok(pages.concat())
}

/// Makes one file of the runs in each folder: `survey` and `grundy --save` leave a file for each.
///
/// # Errors
/// As [`folder::join`].
pub fn join() -> Result<(), SavedError> {
    let octal = Path::new(survey::FOLDER);
    let [first_heaps, growth] = [first_heaps::FOLDER, growth::FOLDER].map(PathBuf::from);
    let folders = [first_heaps, growth, octal.to_owned(), octal.join(survey::CHECKED), octal.join(far::FOLDER)];
    folders.iter().try_for_each(|folder| folder::join(folder))
}

/// What stands between the marks of pages that are written by hand.
///
/// # Errors
/// A file cannot be read or holds something else.
pub fn parts() -> Result<Vec<(PathBuf, String)>, SavedError> {
    Ok(vec![(Path::new(PAPERS).join("windows.md"), survey::of_windows()?)])
}
