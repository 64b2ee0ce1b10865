//! Runs of `grundy`: in order, and as rows of a table.

use std::fmt::Display;
use std::path::Path;

use crate::files::folder;
use crate::files::found::Origin;
use crate::files::saved::{Measured, Saved, SavedError, day};

/// The runs in a folder, longest first.
///
/// # Errors
/// A file cannot be read or is no saved run.
pub fn longest_first<T: Measured>(folder: &Path, origin: impl Fn(&T) -> &Origin) -> Result<Vec<Saved<T>>, SavedError> {
    let mut runs: Vec<Saved<T>> = folder::saved(folder)?;
    runs.sort_by(|a, b| {
        let [a, b] = [a, b].map(|run| origin(&run.content));
        (b.limit, &a.kernel).cmp(&(a.limit, &b.kernel))
    });
    Ok(runs)
}

/// The command that repeats a run.
pub fn command(run: &Origin, option: &str) -> String {
    let Origin { moves, limit, operation, kernel, .. } = run;
    format!("nimlanes grundy --moves {moves} --limit {limit} {option} --kernel {operation}={kernel}")
}

/// The row of a run in a table, with what it `found`.
pub fn row<T>(saved: &Saved<T>, run: &Origin, option: &str, found: impl Display) -> String {
    let day = day(&saved.date);
    let (time, after) = (run.milliseconds as f64 / 1e3, if run.resumed { " after resuming" } else { "" });
    let cpu = &saved.environment.microarchitecture;
    format!("| `{}` | {found} | {time:.1} s{after} | {day} | {cpu} |", command(run, option))
}
