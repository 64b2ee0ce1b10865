//! What is found about families of subtraction sets, as pictures and b-files. It does not depend on the machine that a report is about.

use std::path::{Path, PathBuf};

use nimlanes::cores::mex::family::{Family, MAX_MOVE, MexFamily};
use nimlanes::kernel::Operation;

use super::{CHARTS, MADE};
use crate::drawing::chart::{self, Line};
use crate::drawing::plot;
use crate::files::families::{Part, Periods};
use crate::files::folder::saved;
use crate::files::saved::{Saved, SavedError};

const FOLDER: &str = "profiles/discoveries/families";

/// A figure of a family, by the name of its file.
type Figure = (&'static str, &'static str, fn(&Periods) -> u64);

/// Those that have a b-file.
const FIGURES: [Figure; 5] = [
    ("longest-periods", "the longest period", |of| of.longest_period),
    ("longest-preperiods", "the longest preperiod", |of| of.longest_preperiod),
    ("sums-of-periods", "the sum of all periods", |of| of.sum_of_periods),
    ("distinct-periods", "the number of different periods", |of| of.distinct_periods),
    ("purely-periodic", "the number of purely periodic sets", |of| of.purely_periodic),
];

/// The files, if there are such findings.
pub(super) fn files() -> Result<Vec<(PathBuf, String)>, SavedError> {
    let read = |folder: &Path| -> Result<Vec<Part>, SavedError> {
        Ok(saved(folder)?.into_iter().map(|Saved { content, .. }| content).collect())
    };
    let folder = Path::new(FOLDER);
    let found = read(folder)?;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let charts = [("families-longest", longest(&found)), ("families-small", small())];
    let charts = charts
        .map(|(name, svg)| (Path::new(CHARTS).join(format!("{name}.svg")), format!("{}\n{MADE}\n", svg.trim_end())));
    let confirmed = confirmed(&found, &read(&folder.join("checked"))?);
    let list = |figure: &Figure| (folder.join(format!("{}.txt", figure.0)), list(figure, &confirmed));
    Ok(charts.into_iter().chain(FIGURES.iter().map(list)).collect())
}

/// The family of all sets with this largest move, or of the symmetric ones.
fn family(parts: &[Part], largest: u64, symmetric: bool) -> Option<&Part> {
    let is_it = |part: &&Part| {
        let Periods { family, sets, .. } = &part.periods;
        let all = 1 << if symmetric { largest / 2 } else { largest - 1 };
        family.largest_move == largest && family.symmetric == symmetric && family.with.is_empty() && *sets == all
    };
    parts.iter().find(is_it)
}

/// The families with largest moves from 1 on in which two kernels have found the same.
fn confirmed<'a>(found: &'a [Part], checked: &[Part]) -> Vec<&'a Periods> {
    let by_two = |largest| {
        let (one, other) = (family(found, largest, false)?, family(checked, largest, false)?);
        (one.kernel != other.kernel && one.periods == other.periods).then_some(&one.periods)
    };
    (1..=MAX_MOVE).map_while(by_two).collect()
}

/// A figure by the largest move, as a b-file.
fn list((_, title, figure): &Figure, families: &[&Periods]) -> String {
    let last = families.len();
    let terms = families.iter().map(|of| format!("{} {}\n", of.family.largest_move, figure(of)));
    format!(
        "# Subtraction sets with largest move n: {title}, each term by two kernels\n# nimlanes family --largest-move 1..{last}\n{}",
        terms.collect::<String>()
    )
}

/// The longest and the mean period by the largest move.
fn longest(found: &[Part]) -> String {
    let line = |name: &str, symmetric, figure: fn(&Periods) -> f64| {
        let families = (1..=MAX_MOVE).filter_map(|largest| Some((largest, family(found, largest, symmetric)?)));
        let points = families.map(|(largest, part)| [largest as f64, figure(&part.periods)]).collect();
        Line { name: name.to_owned(), points }
    };
    let longest = |of: &Periods| of.longest_period as f64;
    let lines = [
        line("the longest of all sets", false, longest),
        line("the mean of all sets", false, |of| of.sum_of_periods as f64 / of.sets as f64),
        line("the longest of symmetric sets", true, longest),
    ];
    chart::lines(
        "Periods of subtraction sets",
        "by the largest move; the axis of periods is logarithmic",
        "largest move",
        &lines,
    )
}

/// The periods of the smallest sets, by two of their moves.
fn small() -> String {
    let pairs = || (1..=MAX_MOVE).flat_map(|a| (1..=MAX_MOVE).map(move |b| [a, b])).filter(|[a, b]| a != b);
    // Below the diagonal, sets of two moves; above it, with a third.
    let set = |[a, b]: [u64; 2]| {
        let mut moves = if a > b { vec![b, a] } else { vec![1, a, b] };
        moves.dedup();
        moves
    };
    let sets: Vec<Vec<u64>> = pairs().map(set).collect();
    let family = Family::of_sets(sets.iter().map(Vec::as_slice)).expect("moves of a family").listing(sets.len());
    let mut found = MexFamily::oracle(&family).longest_periods;
    found.sort_unstable_by_key(|found| family.moves(found.set));
    let period = |pair| {
        let place = found.binary_search_by_key(&set(pair), |found| family.moves(found.set)).expect("each is listed");
        (pair.map(|m| m as usize), found[place].period)
    };
    plot::periods(
        &pairs().map(period).collect::<Vec<_>>(),
        "Periods of the subtraction sets {a, b}, and of {1, a, b}",
        "below the diagonal two moves, above it the move 1 as well; the colours are logarithmic",
    )
    .svg()
}
