//! Other machines: the newest folder of measurements of each microarchitecture, or of each name given by hand, other than that of
//! the report.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Data, DataError};
use crate::files::saved::{SavedError, entries};

/// The usable measurements of other machines.
#[derive(Debug, Default)]
pub struct Others {
    /// By name, one for each.
    pub data: Vec<Data>,
    /// Why folders were left out, one line for each.
    pub left_out: Vec<String>,
}

/// Why a folder of measurements is left out.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("it is a draft")]
    Draft,
}

impl Others {
    /// Reads the folders below `folders`, except for `own` and those of the same microarchitecture as `data`, which was read from
    /// there. Of several folders of one microarchitecture, the one that was measured last counts.
    ///
    /// # Errors
    /// The list of folders cannot be read. A folder that cannot be used is only left out.
    pub fn beside(data: &Data, own: &Path, folders: &Path) -> Result<Self, SavedError> {
        let mut others = Others::default();
        let is_own = |folder: &PathBuf| {
            fs::canonicalize(folder).is_ok_and(|it| fs::canonicalize(own).is_ok_and(|own| it == own))
        };
        for folder in entries(folders)?.into_iter().filter(|path| path.is_dir() && !is_own(path)) {
            match read(&folder) {
                Ok(other) => others.add(other, data),
                Err(why) => others.left_out.push(format!("{} is left out: {why}", folder.display())),
            }
        }
        others.data.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(others)
    }

    /// Adds measurements, unless there are later ones of that microarchitecture.
    fn add(&mut self, other: Data, own: &Data) {
        let name = other.name();
        if name == own.name() {
            return;
        }
        match self.data.iter_mut().find(|known| known.name() == name) {
            Some(known) if known.date() > other.date() => {}
            Some(known) => *known = other,
            None => self.data.push(other),
        }
    }
}

fn read(folder: &Path) -> Result<Data, Unfit> {
    let data = Data::read(folder)?;
    if data.is_draft() { Err(Unfit::Draft) } else { Ok(data) }
}
