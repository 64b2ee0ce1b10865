//! Criterion's estimates from `cargo bench`, as a cross-check of the duels.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nimlanes::cores::OPERATIONS;
use serde::Deserialize;

use crate::files::saved::{SavedError, entries, read_text};
use crate::report::data::{Estimate, Estimates, Spread};

/// Builds, and the folder of criterion's results for each.
pub const FOLDERS: [(&str, &str); 2] = [("default", "target/criterion"), ("native", "target/native/criterion")];

/// The part of criterion's `benchmark.json` used here.
#[derive(Deserialize)]
struct Benchmark {
    full_id: String,
}

/// The part of criterion's `estimates.json` used here; times in nanoseconds.
#[derive(Deserialize)]
struct Statistics {
    median: Statistic,
}

#[derive(Deserialize)]
struct Statistic {
    point_estimate: f64,
    confidence_interval: Interval,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

/// Reads criterion's estimates for operations that are not older than `since`. A missing folder has no estimates.
///
/// # Errors
/// A file cannot be read, or does not have the format of criterion 0.8.
pub fn read(build: &str, folder: &Path, since: SystemTime) -> Result<Estimates, SavedError> {
    let mut rows = Vec::new();
    for group in folders(folder)? {
        for kernel in folders(&group)? {
            for size in folders(&kernel)? {
                rows.extend(estimate(&size.join("new"), since)?);
            }
        }
    }
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(Estimates { build: build.to_owned(), rows })
}

/// The estimate in one folder, if there is one, it is recent enough, and it is for an operation.
fn estimate(folder: &Path, since: SystemTime) -> Result<Option<Estimate>, SavedError> {
    let path = folder.join("estimates.json");
    let is_recent = fs::metadata(&path).and_then(|metadata| metadata.modified()).is_ok_and(|made| made >= since);
    if !is_recent {
        return Ok(None);
    }
    let Benchmark { full_id } = json(&folder.join("benchmark.json"))?;
    let operation = full_id.split('/').next().unwrap_or("");
    if !OPERATIONS.iter().any(|known| known.name() == operation) {
        return Ok(None);
    }
    let Statistics { median: Statistic { point_estimate, confidence_interval: interval } } = json(&path)?;
    Ok(Some(Estimate {
        id: full_id,
        time: Spread::of([interval.lower_bound, point_estimate, interval.upper_bound].map(|ns| ns / 1e9)),
    }))
}

fn json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, SavedError> {
    serde_json::from_str(&read_text(path)?).map_err(|error| {
        let reason = format!("not the format of criterion 0.8: {error}");
        SavedError::Invalid { path: path.to_owned(), reason }
    })
}

/// The subfolders of a folder; none if it does not exist.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, SavedError> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir()).collect())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Writes an estimate as criterion does.
    fn bench(root: &Path, id: &str, median: &str) {
        let folder = root.join(id.replacen('/', "_", 1)).join("new");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("benchmark.json"), format!(r#"{{"full_id":"{id}","title":"t"}}"#)).unwrap();
        fs::write(folder.join("estimates.json"), format!(r#"{{"mean":null,"median":{median}}}"#)).unwrap();
    }

    #[test]
    fn recent_estimates_of_operations_are_read() {
        let root = tempfile::tempdir().unwrap();
        let median =
            r#"{"confidence_interval":{"lower_bound":1.0,"upper_bound":3e9},"point_estimate":2e9,"standard_error":0}"#;
        bench(root.path(), "table_scan/all-moves/byte_table/100", median);
        bench(root.path(), "games/stone-game/best/1000", median);
        let of = |since| read("default", root.path(), since).unwrap().rows;
        let id = "table_scan/all-moves/byte_table/100".to_owned();
        assert_eq!(of(SystemTime::UNIX_EPOCH), [Estimate { id, time: Spread::of([1e-9, 2.0, 3.0]) }]);
        assert!(of(SystemTime::now() + Duration::from_secs(60)).is_empty());
        assert!(read("native", &root.path().join("missing"), SystemTime::UNIX_EPOCH).unwrap().rows.is_empty());

        bench(root.path(), "occupancy/published/byte_table/100", "2e9");
        let error = read("default", root.path(), SystemTime::UNIX_EPOCH).unwrap_err();
        assert!(error.to_string().contains("not the format of criterion 0.8"), "{error}");
    }
}
