//! `nimlanes family`

use std::ops::RangeInclusive;
use std::path::PathBuf;

use nimlanes::cores::mex::family::{Family, MAX_MOVE, MexFamily};
use nimlanes::kernel::Operation;
use nimlanes::kernel::selection::Selection;
use nimlanes::numbers::within;

use super::arguments::{Kernels, listed};
use super::work::Work;
use crate::files::families::{FamilyName, Periods, ProvedFamily, RankedSet};
use crate::files::saved::Folder;
use crate::terminal::failure::Failure;
use crate::terminal::output::{Document, headed, print, print_json_array};

/// More sets are not listed one by one: their moves must fit in memory.
const MOST_LISTED: u64 = 10_000_000;

/// Prove the periods of all subtraction sets with the same largest move
#[derive(clap::Args)]
#[command(before_help = "Examples:\n  nimlanes family --largest-move 2..20\n  \
    nimlanes family --largest-move 30..40 --symmetric\n  \
    nimlanes family --largest-move 3..63 --sets 3 --top 2000 --json\n  \
    nimlanes family --largest-move 22..30 --with 1,21 --dir families")]
pub struct Args {
    /// The largest move M, or a range, as in 2..20
    #[arg(long, value_name = "M", value_parser = moves, allow_negative_numbers = true)]
    largest_move: RangeInclusive<u64>,
    /// Other moves that every set has, as in 1,5
    #[arg(long, value_name = "MOVES", value_delimiter = ',', value_parser = within(1..=MAX_MOVE))]
    with: Vec<u64>,
    /// Only the sets that have the move M - s for each of their moves s below M
    #[arg(long, conflicts_with = "with")]
    symmetric: bool,
    /// Only the sets of K moves
    #[arg(long, value_name = "K", conflicts_with_all = ["with", "symmetric"], value_parser = within(1..=MAX_MOVE), allow_negative_numbers = true)]
    sets: Option<u64>,
    /// List so many sets with the longest periods and preperiods
    #[arg(long, value_name = "K", value_parser = within(1..=100_000), allow_negative_numbers = true)]
    top: Option<u64>,
    /// Keep what is found in this folder, a file for each family, and skip what it has
    #[arg(long, value_name = "DIR", value_parser = listed::folder())]
    dir: Option<PathBuf>,
    /// Print an array with an object for each largest move
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    kernels: Kernels,
}

impl Args {
    /// How many sets a list has.
    fn top(&self) -> usize {
        self.top.unwrap_or(1) as usize
    }
}

impl Document for Periods {
    const SCHEMA: &'static str = "nimlanes-family-1";
}

/// Parses a move or a range of moves.
fn moves(text: &str) -> Result<RangeInclusive<u64>, String> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    match (first.parse(), last.parse()) {
        (Ok(first), Ok(last)) if 1 <= first && first <= last && last <= MAX_MOVE => Ok(first..=last),
        _ => Err(format!("not a largest move; allowed: 1 to {MAX_MOVE}, or a range of these, as in 2..20")),
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let selection = args.kernels.selection_for("family", &[MexFamily::NAME])?;
    let families = args.largest_move.clone().map(|largest| family(largest, args)).collect::<Result<Vec<_>, _>>()?;
    let folder = args.dir.clone().map(Folder);
    let search = |family| periods(family, args, &selection, folder.as_ref());
    let all = families.into_iter().map(search).collect::<Result<Vec<_>, _>>()?;
    match args.json {
        true => print_json_array(&all),
        false => print(&in_words(&all, args.top.is_some())),
    }
}

/// A family, as the options name it.
fn family(largest: u64, args: &Args) -> Result<(FamilyName, Family), Failure> {
    let mut with = args.with.clone();
    with.sort_unstable();
    let family = match args.sets {
        Some(count) => Family::of_sets(sets(count, largest)?.chunks(count as usize)),
        None if args.symmetric => Family::symmetric(largest),
        None => Family::with_moves(largest, &with),
    };
    let name = FamilyName { largest_move: largest, with, symmetric: args.symmetric, number_of_moves: args.sets };
    Ok((name, family?.listing(args.top())))
}

/// The moves of all sets of `count` moves with this largest one, set after set.
fn sets(count: u64, largest: u64) -> Result<Vec<u64>, Failure> {
    let asked = format!("--sets {count} --largest-move {largest}");
    if count > largest {
        return Err(Failure::Usage(format!("{asked} has no sets; allowed: --largest-move {count} or more")));
    }
    let number = (1..count).try_fold(1u64, |number, i| Some(number.checked_mul(largest - i)? / i));
    if number.is_none_or(|number| number > MOST_LISTED) {
        return Err(Failure::Usage(format!("{asked} has too many sets; allowed: up to {MOST_LISTED} of them")));
    }
    let (mut all, mut set) = (Vec::new(), (1..count).chain([largest]).collect::<Vec<_>>());
    loop {
        all.extend(&set);
        // The first move that has room grows, and those below it start again.
        let Some(place) = (1..set.len()).find(|place| set[place - 1] + 1 < set[*place]) else { return Ok(all) };
        set[place - 1] += 1;
        (1..).zip(&mut set[..place - 1]).for_each(|(least, below)| *below = least);
    }
}

/// The periods of a family, which the folder may have.
fn periods(
    (name, input): (FamilyName, Family),
    args: &Args,
    selection: &Selection,
    folder: Option<&Folder>,
) -> Result<Periods, Failure> {
    let file = name.to_string();
    if let Some(folder) = folder {
        let is_enough =
            |of: &ProvedFamily| of.periods.family == name && of.periods.sets == input.sets() && of.top >= args.top();
        let known = folder.known(&file)?;
        if let Some(known) = known.filter(is_enough) {
            return Ok(known.periods);
        }
        folder.check_writable(&file)?;
    }
    let work = Work::new(format!("family: {name}"), selection.clone(), None);
    let of = |largest| family(largest, args).map(|(_, family)| family);
    let found = work.run::<MexFamily, _>((), &input, name.largest_move, of)??;
    let periods = Periods::of(&name, &input, &found);
    let found = ProvedFamily { effort: work.effort(), top: args.top(), periods };
    match folder {
        Some(folder) => Ok(folder.keep(&file, selection.machine(), found)?.periods),
        None => Ok(found.periods),
    }
}

/// A table of families, and lists of sets.
fn in_words(all: &[Periods], lists_sets: bool) -> String {
    let moves = |found: Option<&RankedSet>| {
        let moves = found.map_or(Vec::new(), |found| found.moves.iter().map(u64::to_string).collect());
        format!("{{{}}}", moves.join(","))
    };
    type Column = (&'static str, fn(&Periods) -> u64);
    let columns: [Column; 9] = [
        ("largest move", |of| of.family.largest_move),
        ("sets", |of| of.sets),
        ("longest period", |of| of.longest_period),
        ("sets with it", |of| of.sets_with_longest_period),
        ("sum of periods", |of| of.sum_of_periods),
        ("periods", |of| of.distinct_periods),
        ("pure", |of| of.purely_periodic),
        ("longest preperiod", |of| of.longest_preperiod),
        ("largest value", |of| of.largest_value),
    ];
    let heads = columns.iter().map(|(head, _)| *head).chain(["first set with the longest period"]);
    let row = |of: &Periods| {
        let numbers = columns.iter().map(|(_, number)| number(of).to_string());
        numbers.chain([moves(of.longest_periods.first())]).collect::<Vec<_>>()
    };
    let mut text = headed(heads.collect::<Vec<_>>(), all.iter().map(row));
    for of in all.iter().filter(|_| lists_sets) {
        for (what, list) in [("periods", &of.longest_periods), ("preperiods", &of.longest_preperiods)] {
            let row = |found: &RankedSet| [found.period.to_string(), found.preperiod.to_string(), moves(Some(found))];
            text += &format!("\nThe longest {what}, largest move {}\n", of.family.largest_move);
            text += &headed(["period", "preperiod", "set"], list.iter().map(row));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_set_is_listed_once() {
        for (count, largest, number) in [(1, 1, 1), (1, 9, 1), (3, 3, 1), (3, 12, 55), (4, 9, 56), (9, 9, 1)] {
            let all = sets(count, largest).expect("some sets");
            let all: Vec<&[u64]> = all.chunks(count as usize).collect();
            assert_eq!((all.len(), all.iter().collect::<BTreeSet<_>>().len()), (number, number));
            assert!(
                all.iter().all(|set| set[0] > 0 && set.is_sorted_by(|a, b| a < b) && set[set.len() - 1] == largest)
            );
        }
    }
}
