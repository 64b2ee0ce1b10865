//! Documents in a folder, by name: a file of each as it is saved, or one file of all of them, as the discoveries are kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nimlanes::lab::environment::Environment;
use nimlanes::machine::Machine;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::saved::{self, Measured, Saved, SavedError, parse_as, read_text};

/// The file of all measurements.
const JOINED: &str = "measurements.json";

/// The version of its format.
const SCHEMA: &str = "nimlanes-measurements-1";

#[derive(Debug, Default, Deserialize)]
struct Joined {
    /// What was in each file, by its name.
    measurements: BTreeMap<String, Box<RawValue>>,
}

/// A folder, which need not exist yet.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    joined: Joined,
}

impl Folder {
    /// A folder, with what its [`JOINED`] file has.
    ///
    /// # Errors
    /// That file cannot be read, or has another format.
    pub fn open(path: &Path) -> Result<Self, SavedError> {
        let (path, file) = (path.to_owned(), path.join(JOINED));
        let joined = if file.is_file() { parse_as(&file, &read_text(&file)?, SCHEMA)? } else { Joined::default() };
        Ok(Folder { path, joined })
    }

    /// What is kept under a name. A file replaces what [`JOINED`] has.
    ///
    /// # Errors
    /// The file cannot be read, or has another format or kind.
    pub fn known<T: Measured>(&self, name: &str) -> Result<Option<T>, SavedError> {
        let path = self.file(name);
        let saved = match self.joined.measurements.get(&format!("{name}.json")) {
            _ if path.exists() => Saved::read(&path),
            Some(json) => Saved::parsed(&self.path.join(JOINED).join(name), json.get()),
            None => return Ok(None),
        };
        saved.map(|saved| Some(saved.content))
    }

    /// Creates the folder and checks that something can be kept, before the work to find it is done.
    ///
    /// # Errors
    /// The file or the folder cannot be written.
    pub fn check_writable(&self, name: &str) -> Result<(), SavedError> {
        saved::check_writable(&self.file(name))
    }

    /// Keeps what was found on a machine, and returns it.
    ///
    /// # Errors
    /// The file cannot be written. An existing one is then unchanged.
    pub fn keep<T: Measured>(&self, name: &str, machine: &Machine, found: T) -> Result<T, SavedError> {
        let saved = Saved::now(Environment::detect(machine), found);
        saved.write(&self.file(name))?;
        Ok(saved.content)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.json"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::files::surveyed::{RunWork, Surveyed};

    fn surveyed(heaps: u64) -> String {
        let effort = RunWork::default();
        let found = Surveyed {
            code: "0.6".to_owned(),
            effort,
            stopped_after: None,
            heaps,
            largest: 0,
            largest_at: 0,
            sparse: None,
            period: None,
        };
        serde_json::to_string(&Saved::now(Environment::detect(&Machine::detect()), found)).expect("JSON")
    }

    #[test]
    fn a_file_replaces_what_the_joined_one_has() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("writable");
        let heaps = |name| {
            let known = Folder::open(folder.path())?.known::<Surveyed>(name)?;
            Ok::<_, SavedError>(known.map(|known| known.heaps))
        };
        let joined =
            format!(r#"{{"schema": "{SCHEMA}", "measurements": {{"a.json": {}, "b.json": []}}}}"#, surveyed(1));
        file(JOINED, &joined);
        assert_eq!([heaps("a").expect("readable"), heaps("c").expect("readable")], [Some(1), None]);
        heaps("b").expect_err("no document");
        file("b.json", &surveyed(2));
        assert_eq!(["a", "b"].map(|name| heaps(name).expect("readable")), [Some(1), Some(2)]);
        file(JOINED, r#"{"schema": "nimlanes-measurements-3"}"#);
        assert!(heaps("a").expect_err("another format").to_string().contains("it is of a newer nimlanes"));
    }
}
