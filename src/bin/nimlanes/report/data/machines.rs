//! Other machines: the newest folder of measurements of each microarchitecture, or of each name given by hand, other than that of
//! the report.

use std::fs;
use std::path::{Path, PathBuf};

use super::Data;
use crate::files::saved::{SavedError, entries};

/// Reads the folders below `folders`, except for `own` and those of the same microarchitecture as `data`, which was read from there.
/// Of several folders of one microarchitecture, the one that was measured last counts. They are in the order of their names.
/// `announce` receives a line for each folder that cannot be used and is left out.
///
/// # Errors
/// The list of folders cannot be read.
pub fn beside(
    data: &Data,
    own: &Path,
    folders: &Path,
    announce: &mut dyn FnMut(&str),
) -> Result<Vec<Data>, SavedError> {
    let is_own =
        |folder: &PathBuf| fs::canonicalize(folder).is_ok_and(|it| fs::canonicalize(own).is_ok_and(|own| it == own));
    let mut others: Vec<Data> = Vec::new();
    for folder in entries(folders)?.into_iter().filter(|path| path.is_dir() && !is_own(path)) {
        let other = match Data::read(&folder) {
            Ok(other) if other.draft => Err("it is a draft".to_owned()),
            other => other.map_err(|error| error.to_string()),
        };
        match other {
            Err(why) => announce(&format!("{} is left out: {why}", folder.display())),
            Ok(other) if other.name() == data.name() => {}
            Ok(other) => match others.iter_mut().find(|known| known.name() == other.name()) {
                Some(known) if known.date() > other.date() => {}
                Some(known) => *known = other,
                None => others.push(other),
            },
        }
    }
    others.sort_by(|a, b| a.name().cmp(b.name()));
    Ok(others)
}
