//! The periods of subtraction sets, as a page.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::files::saved::{Saved, SavedError, day};
use crate::files::swept::{Found, Sets, Sweep, number_of_sets, read_all};

/// The folder of what `survey --sets` kept, and of the page.
pub const FOLDER: &str = "profiles/discoveries/sets";

/// A set whose period is proved.
#[derive(Clone, Copy)]
struct Proved<'a> {
    moves: &'a [u64],
    period: u64,
    preperiod: u64,
}

/// The page; none if there are no sets.
///
/// # Errors
/// A file cannot be read or holds something else, or two contradict each other.
pub fn files(made: &str) -> Result<Vec<(PathBuf, String)>, SavedError> {
    let folder = Path::new(FOLDER);
    let (sweeps, sets) = read_all(folder)?;
    if sets.is_empty() {
        return Ok(Vec::new());
    }
    let text = format!("{made}\n\n{}{}{}", include_str!("sweep.md"), runs(&sweeps), sections(&sets));
    Ok(vec![(folder.join("README.md"), text)])
}

/// A table of the files.
fn runs(sweeps: &[Saved<Sweep>]) -> String {
    let mut text = "| sets | shard | time | day | CPU |\n| --- | --- | ---: | --- | --- |\n".to_owned();
    for Saved { date, environment, content: Sweep { sets, moves_up_to, shard, milliseconds }, .. } in sweeps {
        let (day, time) = (day(date), *milliseconds as f64 / 1e3);
        let cpu = &environment.microarchitecture;
        writeln!(text, "| {sets} moves up to {moves_up_to} | {shard} | {time:.1} s | {day} | {cpu} |")
            .expect("text takes it");
    }
    text + "\n"
}

/// A section for each number of moves.
fn sections(sets: &Sets) -> String {
    let mut by_count = BTreeMap::<usize, (Vec<Proved>, usize)>::new();
    for (moves, found) in sets {
        let (proved, unproved) = by_count.entry(moves.len()).or_default();
        match *found {
            Found::Period { period, preperiod } => proved.push(Proved { moves, period, preperiod }),
            Found::Nothing { .. } => *unproved += 1,
        }
    }
    by_count.iter().map(|(count, (proved, unproved))| section(*count, proved, *unproved)).collect()
}

fn section(count: usize, sets: &[Proved], unproved: usize) -> String {
    let mut text = format!("## Sets of {count} {}\n\n", if count == 1 { "move" } else { "moves" });
    let mut line = |line: String| writeln!(text, "{line}").expect("text takes it");
    let mut by_largest = BTreeMap::<u64, Vec<Proved>>::new();
    for set in sets {
        by_largest.entry(set.moves[count - 1]).or_default().push(*set);
    }
    let is_complete = |(largest, sets): &(&u64, &Vec<Proved>)| {
        number_of_sets(count as u64 - 1, **largest - 1) == Some(sets.len() as u64)
    };
    // Smaller moves than `count` are the largest of no set.
    let rows = (count as u64..).zip(&by_largest);
    let complete = rows.take_while(|(next, row)| next == row.0 && is_complete(row)).last();
    let all =
        complete.map_or(String::new(), |(largest, _)| format!("; they include all sets of moves up to {largest}"));
    line(format!("- Proved: {} periods{all}.", sets.len()));
    if unproved > 0 {
        line(format!("- Not proved: {unproved}."));
    }
    if count == 3 {
        conjecture(sets, &mut line);
    }
    line("\n| largest move | sets | purely periodic | longest period | of | longest preperiod | of |".to_owned());
    line("| ---: | ---: | ---: | ---: | --- | ---: | --- |".to_owned());
    for (largest, sets) in &by_largest {
        let pure = sets.iter().filter(|set| set.preperiod == 0).count();
        let (long, far) = (first_most(sets, |set| set.period), first_most(sets, |set| set.preperiod));
        let of = |set: &Proved| format!("`{}`", set.moves.iter().map(u64::to_string).collect::<Vec<_>>().join(","));
        let preperiod = match far.preperiod {
            0 => "0 | –".to_owned(),
            most => format!("{most} | {}", of(&far)),
        };
        line(format!("| {largest} | {} | {pure} | {} | {} | {preperiod} |", sets.len(), long.period, of(&long)));
    }
    text + "\n"
}

/// The first of the sets with the largest value of `of`.
fn first_most<'a>(sets: &[Proved<'a>], of: impl Fn(&Proved) -> u64) -> Proved<'a> {
    *sets.iter().rev().max_by_key(|set| of(set)).expect("a row has sets")
}

/// How the sets of three moves compare with what is conjectured about them.
fn conjecture(sets: &[Proved], line: &mut impl FnMut(String)) {
    let (additive, others): (Vec<Proved>, Vec<Proved>) =
        sets.iter().copied().partition(|set| set.moves[0] + set.moves[1] == set.moves[2]);
    let sums = |set: &Proved| {
        let [a, b, c] = [0, 1, 2].map(|place| set.moves[place]);
        [a + b, a + c, b + c]
    };
    let pure = additive.iter().filter(|set| set.preperiod == 0).count();
    let equal = others.iter().filter(|set| sums(set).contains(&set.period)).count();
    let divide = others.iter().filter(|set| sums(set).iter().any(|sum| sum % set.period == 0)).count();
    line(
        "- Flammenkamp conjectured in 1997 that additive sets, whose largest move is the sum of the others, are purely periodic, \
         and that the period of other sets is a sum of two of the moves ([as told here](https://arxiv.org/abs/2601.18715))."
            .to_owned(),
    );
    line(format!("- Additive sets: {}; purely periodic: {pure}.", additive.len()));
    line(format!(
        "- Other sets: {}; the period is a sum of two moves: {equal}; it is one or divides one: {divide}.",
        others.len()
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_row_for_each_largest_move() {
        let sets = [
            (vec![1, 2, 3], Found::Period { period: 4, preperiod: 0 }),
            (vec![1, 2, 4], Found::Period { period: 3, preperiod: 0 }),
            (vec![1, 3, 4], Found::Period { period: 7, preperiod: 0 }),
            (vec![2, 3, 4], Found::Period { period: 6, preperiod: 0 }),
            (vec![2, 4, 7], Found::Period { period: 3, preperiod: 8 }),
            (vec![2, 4, 8], Found::Nothing { limit: 9 }),
        ];
        let text = sections(&sets.into());
        for part in [
            "## Sets of 3 moves\n\n- Proved: 5 periods; they include all sets of moves up to 4.\n- Not proved: 1.\n",
            "- Additive sets: 2; purely periodic: 2.\n- Other sets: 3; the period is a sum of two moves: 2; it is one or divides one: 3.\n",
            "\n| 4 | 3 | 3 | 7 | `1,3,4` | 0 | – |\n| 7 | 1 | 0 | 3 | `2,4,7` | 8 | `2,4,7` |\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
