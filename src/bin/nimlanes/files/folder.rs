//! The runs in a folder: a file of each as it is saved, or one file of all of them, as the discoveries are kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::saved::{SavedError, entries, parse_as, read_text};

/// The file of all measurements.
pub const JOINED: &str = "measurements.json";

/// The version of its format.
const SCHEMA: &str = "nimlanes-measurements-1";

#[derive(Deserialize)]
struct Joined {
    /// What was in each file, by its name.
    measurements: BTreeMap<String, Box<RawValue>>,
}

/// The text of a measurement, and where it is; if in [`JOINED`], the path goes on with the name of the file that it was in.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The path.
    pub path: PathBuf,
    /// JSON.
    pub text: String,
}

/// The measurements in a folder, by the names of their files; none if it does not exist. A file replaces what [`JOINED`] has
/// under the same name.
///
/// # Errors
/// A file cannot be read, or [`JOINED`] has another format.
pub fn read(folder: &Path) -> Result<BTreeMap<String, Measurement>, SavedError> {
    let mut measurements = BTreeMap::new();
    let joined = folder.join(JOINED);
    if joined.is_file() {
        let text = read_text(&joined)?;
        for (name, json) in parse_as::<Joined>(&joined, &text, SCHEMA)?.measurements {
            let path = joined.join(&name);
            measurements.insert(name, Measurement { path, text: json.get().to_owned() });
        }
    }
    for (name, path) in files(folder)?.into_iter().filter(|(name, _)| name != JOINED) {
        let text = read_text(&path)?;
        measurements.insert(name, Measurement { path, text });
    }
    Ok(measurements)
}

/// The names and paths of the `.json` files in a folder, sorted; none if it does not exist.
fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>, SavedError> {
    let named = |path: PathBuf| Some((path.file_name()?.to_string_lossy().into_owned(), path));
    let files = entries(folder)?.into_iter().filter_map(named);
    Ok(files.filter(|(name, _)| name.ends_with(".json")).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_replaces_what_the_joined_one_has() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("writable");
        let texts = || read(folder.path()).map(|all| all.into_values().map(|it| it.text).collect::<Vec<_>>());
        file(JOINED, r#"{"schema": "nimlanes-measurements-1", "measurements": {"a.json": {"n": 0.10}, "b.json": []}}"#);
        file("other.txt", "not JSON");
        assert_eq!(texts().expect("readable"), [r#"{"n": 0.10}"#, "[]"]);
        file("b.json", "[1]");
        assert_eq!(texts().expect("readable"), [r#"{"n": 0.10}"#, "[1]"]);
        file(JOINED, r#"{"schema": "nimlanes-measurements-3"}"#);
        assert!(texts().expect_err("another format").to_string().contains("it is of a newer nimlanes"));
    }
}
