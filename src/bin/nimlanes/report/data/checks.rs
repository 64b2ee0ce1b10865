//! Conditions on a duel in a file, besides plausible numbers. Folders come from other people, and a report computes with
//! what it reads, makes file names from it, and shows it in tables.

use nimlanes::lab::environment::Environment;

use crate::files::saved::is_date;
use crate::measuring::duel::{Duel, Row};

/// How far a ratio may be from the quotient of the median times: it used to be a median over rounds.
const RATIO: f64 = 2.0;

/// By how much units of work may differ: rounding alone.
const WORK: f64 = 1e-6;

/// The fault of a duel, if it has one.
pub(super) fn fault(duel: &Duel) -> Option<String> {
    let Duel { case, build, baseline, rows, skipped, .. } = duel;
    let mut names = vec![&case.operation, &case.workload, build, baseline];
    names.extend(rows.iter().flat_map(|row| [&row.kernel, &row.tier, &row.clock, &row.unit]));
    names.extend(skipped.iter().map(|skipped| &skipped.kernel));
    if let Some(name) = names.into_iter().find(|name| !is_plain(name)) {
        return Some(format!("{name:?} is no name"));
    }
    let Some(base) = rows.iter().find(|row| row.kernel == *baseline) else {
        return Some(format!("its baseline {baseline} has no times"));
    };
    if !rows.is_sorted_by(|a, b| a.median_seconds <= b.median_seconds) {
        return Some("its kernels are not in the order of their times".to_owned());
    }
    rows.iter().find_map(|row| inconsistency(row, base))
}

/// The contradiction between a row and the rest of it, or the baseline's.
fn inconsistency(row: &Row, base: &Row) -> Option<String> {
    let Row { kernel, ratio, ratio_low, ratio_high, rounds, .. } = row;
    let is_near = |a: f64, b: f64, factor: f64| a <= b * factor && b <= a * factor;
    let work = |row: &Row| row.throughput * row.median_seconds;
    let said = match () {
        () if *rounds == 0 => "was timed in no round".to_owned(),
        () if row.clock != base.clock => format!("is timed by the {} clock, the baseline by another", row.clock),
        () if !(ratio_low..=ratio_high).contains(&ratio) => format!("has a ratio of {ratio} outside of its range"),
        () if !is_near(*ratio, base.median_seconds / row.median_seconds, RATIO) => {
            format!("has a ratio of {ratio}, which its time contradicts")
        }
        () if !is_near(work(row), work(base), 1.0 + WORK) => "did another amount of work than the baseline".to_owned(),
        () => return None,
    };
    Some(format!("{kernel} {said}"))
}

/// The fault of the date or the environment of a measurement, if there is one.
pub(super) fn fault_of_origin(date: &str, environment: &Environment) -> Option<String> {
    if !is_date(date) {
        return Some(format!("its date is {date:?}"));
    }
    let Environment { cpu, microarchitecture, tier, system, caches, .. } = environment;
    // The microarchitecture becomes part of file names.
    let is_file = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if microarchitecture.is_empty() || !microarchitecture.chars().all(is_file) || microarchitecture.starts_with('.') {
        return Some(format!("{microarchitecture:?} is no microarchitecture"));
    }
    let mut texts = [cpu, tier, system].into_iter().chain(caches);
    texts.find(|text| !is_plain(text)).map(|text| format!("{text:?} is no plain text"))
}

/// Whether a text can stand in a table.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() && !"|`<>".contains(c))
}
