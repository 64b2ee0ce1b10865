//! The measurements in a folder: a file of each while they are made, and one file of all of them when that has ended.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::saved::{Header, Measured, Saved, SavedError, check_schema, entries, parse, read_text, write_json};

/// The file of all measurements.
pub const JOINED: &str = "measurements.json";

/// The folder within a folder of measurements for those that will replace it.
const AGAIN: &str = "again";

/// The version of its format.
const SCHEMA: &str = "nimlanes-measurements-1";

#[derive(Serialize, Deserialize)]
struct Joined {
    schema: String,
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
        check_schema(&joined, &parse::<Header>(&joined, &text)?.schema, SCHEMA)?;
        for (name, json) in parse::<Joined>(&joined, &text)?.measurements {
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

/// The measurements in a folder, all of one kind, in the order of [`read`].
///
/// # Errors
/// As [`read`]; or one is of another kind.
pub fn saved<T: Measured>(folder: &Path) -> Result<Vec<Saved<T>>, SavedError> {
    read(folder)?.into_values().map(|Measurement { path, text }| Saved::parsed(&path, &text)).collect()
}

/// Makes one file of all measurements in a folder, if there are others than those in [`JOINED`].
///
/// # Errors
/// A file cannot be read, written or removed, or holds no JSON. No measurement is lost.
pub fn join(folder: &Path) -> Result<(), SavedError> {
    let others: Vec<_> = files(folder)?.into_iter().filter(|(name, _)| name != JOINED).collect();
    if others.is_empty() {
        return Ok(());
    }
    let line = |measurement: Measurement| {
        // No string in JSON contains the end of a line.
        let line = measurement.text.lines().map(str::trim).collect::<String>();
        let invalid =
            |error: serde_json::Error| SavedError::Invalid { path: measurement.path, reason: error.to_string() };
        RawValue::from_string(line).map_err(invalid)
    };
    let measurements = read(folder)?.into_iter().map(|(name, measurement)| Ok((name, line(measurement)?)));
    let joined = Joined { schema: SCHEMA.to_owned(), measurements: measurements.collect::<Result<_, SavedError>>()? };
    write_json(&folder.join(JOINED), &joined)?;
    remove(others.into_iter())
}

/// The folder to measure into. It is one within `folder` if everything is to be measured `again`, and as long as that has not ended:
/// what was measured before stays until [`replace`] is called.
///
/// # Errors
/// What was measured again before cannot be removed.
pub fn target(folder: &Path, again: bool) -> Result<PathBuf, SavedError> {
    let target = folder.join(AGAIN);
    if again {
        remove(files(&target)?.into_iter())?;
    }
    Ok(if again || target.is_dir() { target } else { folder.to_owned() })
}

/// Replaces the measurements in a folder by the [`join`]ed ones of its [`target`], if that is another folder.
///
/// # Errors
/// A file cannot be renamed or removed.
pub fn replace(folder: &Path, target: &Path) -> Result<(), SavedError> {
    if target == folder {
        return Ok(());
    }
    let path = folder.join(JOINED);
    fs::rename(target.join(JOINED), &path)
        .and_then(|()| fs::remove_dir_all(target))
        .map_err(|source| SavedError::Write { path, source })?;
    remove(files(folder)?.into_iter().filter(|(name, _)| name != JOINED))
}

fn remove(mut files: impl Iterator<Item = (String, PathBuf)>) -> Result<(), SavedError> {
    files.try_for_each(|(_, path)| fs::remove_file(&path).map_err(|source| SavedError::Write { path, source }))
}

/// The names and paths of the `.json` files in a folder, sorted; none if it does not exist.
fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>, SavedError> {
    let named = |path: PathBuf| Some((path.file_name()?.to_string_lossy().into_owned(), path));
    let files = entries(folder)?.into_iter().filter_map(named);
    Ok(files.filter(|(name, _)| name.ends_with(".json")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_what_was_in_all_and_a_newer_file_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("writable");
        let texts = || -> Vec<(String, String)> {
            let all = read(folder.path()).expect("readable");
            all.into_iter().map(|(name, measurement)| (name, measurement.text)).collect()
        };
        let of = |pairs: [(&str, &str); 2]| pairs.map(|(name, text)| (name.to_owned(), text.to_owned()));
        file("a.json", "{\n  \"text\": \" of \\n two lines \",\n  \"number\": 0.10000000000000001e-7\n}\n");
        file("b.json", "[]");
        file("other.txt", "not JSON");
        join(folder.path()).expect("writable");
        let a = r#"{"text": " of \n two lines ","number": 0.10000000000000001e-7}"#;
        assert_eq!(texts(), of([("a.json", a), ("b.json", "[]")]));
        let names: Vec<PathBuf> = entries(folder.path()).expect("readable");
        assert_eq!(names, [JOINED, "other.txt"].map(|name| folder.path().join(name)));

        file("b.json", "[1]");
        assert_eq!(texts()[1].1, "[1]");
        let before = fs::read(folder.path().join(JOINED)).expect("readable");
        file("c.json", "[");
        assert!(join(folder.path()).expect_err("no JSON").to_string().contains("c.json"));
        assert_eq!(fs::read(folder.path().join(JOINED)).expect("readable"), before);
        fs::remove_file(folder.path().join("c.json")).expect("writable");
        join(folder.path()).expect("writable");
        assert_eq!(texts(), of([("a.json", a), ("b.json", "[1]")]));
    }

    #[test]
    fn what_was_measured_stays_until_it_is_measured_again() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path();
        let put = |folder: &Path, name: &str, text: &str| {
            fs::create_dir_all(folder).and_then(|()| fs::write(folder.join(name), text)).expect("writable");
        };
        let texts = |folder: &Path| -> Vec<(String, String)> {
            read(folder).expect("readable").into_iter().map(|(name, found)| (name, found.text)).collect()
        };
        let old = [("a.json", "1"), ("b.json", "2")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        put(folder, "a.json", "1");
        join(folder).expect("writable");
        put(folder, "b.json", "2");
        assert_eq!(target(folder, false).expect("a folder"), folder);
        replace(folder, folder).expect("nothing to do");

        // It is interrupted, goes on, and begins once more.
        let again = target(folder, true).expect("a folder");
        assert_eq!((texts(folder), texts(&again)), (old.to_vec(), vec![]));
        put(&again, "a.json", "3");
        assert_eq!(target(folder, false).expect("the same folder"), again);
        assert_eq!(texts(&again).len(), 1, "it goes on");
        assert_eq!(target(folder, true).expect("the same folder"), again);
        assert_eq!((texts(folder), texts(&again)), (old.to_vec(), vec![]));
        put(&again, "a.json", "4");
        join(&again).expect("writable");
        replace(folder, &again).expect("writable");
        assert_eq!(texts(folder), [("a.json".to_owned(), "4".to_owned())]);
        assert_eq!(entries(folder).expect("readable"), [folder.join(JOINED)]);
    }
}
