//! `nimlanes family`

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nimlanes::cores::mex::family::{Family, Findings, MAX_MOVE, MexFamily};
use nimlanes::kernel::Operation;
use nimlanes::kernel::selection::Selection;
use nimlanes::lab::environment::Environment;
use nimlanes::numbers::within;

use super::arguments::shard::Shard;
use super::arguments::{Kernels, listed};
use crate::files::families::{Found, Named, Part, Periods, read_all};
use crate::files::saved::{Saved, check_writable};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::{Document, headed, print, print_json_array};

/// How often the file is written, as by `survey`.
const KEPT_EVERY: Duration = Duration::from_secs(30);

/// Sets between two looks at the clock: seconds of work.
const AT_ONCE: u64 = 1 << 22;

/// The periods of all subtraction sets with the same largest move
///
/// All periods are proved: as many values in succession as the largest move have occurred before.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes family --largest-move 2..20\n  \
    nimlanes family --largest-move 30..40 --symmetric\n  \
    nimlanes family --largest-move 40 --with 1,39 --shard 0/64 --into families\n  \
    nimlanes family --largest-move 24 --top 20 --json")]
pub struct Args {
    /// The largest move M; or a range, as in 2..20
    #[arg(long, value_name = "M", value_parser = moves, allow_negative_numbers = true)]
    largest_move: RangeInclusive<u64>,
    /// Other moves that every set has, as in 1,5
    #[arg(long, value_name = "MOVES", value_delimiter = ',', value_parser = within(1..=MAX_MOVE))]
    with: Vec<u64>,
    /// Only the symmetric sets, which have the move M - s if they have the move s below M
    #[arg(long, conflicts_with = "with")]
    symmetric: bool,
    /// List so many sets with the longest periods, and with the longest preperiods
    #[arg(long, value_name = "K", value_parser = within(1..=1000), allow_negative_numbers = true)]
    top: Option<u64>,
    /// Do only this part of N parts with as many sets, counted from 0
    #[arg(long, value_name = "K/N", default_value = "0/1")]
    shard: Shard,
    /// Keep what is found in this folder, in a file for each family and shard, now and then and at the end; parts of a family that
    /// the folder has are not computed again
    #[arg(long, value_name = "FOLDER", value_parser = listed::folder())]
    into: Option<PathBuf>,
    /// Recompute what the folder has; it stays until the new result replaces it
    #[arg(long, requires = "into")]
    again: bool,
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
    let search = |(named, family)| Search { named, family, args, selection: &selection }.periods();
    let all = families.into_iter().map(search).collect::<Result<Vec<_>, _>>()?;
    match args.json {
        true => print_json_array(&all),
        false => print(&in_words(&all, args.top.is_some())),
    }
}

/// A family, as the options name it.
fn family(largest: u64, args: &Args) -> Result<(Named, Family), Failure> {
    let named = Named { largest_move: largest, with: sorted(&args.with), symmetric: args.symmetric };
    let family = match args.symmetric {
        true => Family::symmetric(largest),
        false => Family::with_moves(largest, &named.with),
    };
    Ok((named, family?.listing(args.top())))
}

fn sorted(moves: &[u64]) -> Vec<u64> {
    let mut moves = moves.to_vec();
    moves.sort_unstable();
    moves
}

/// The search for the periods of a shard of a family.
struct Search<'a> {
    named: Named,
    family: Family,
    args: &'a Args,
    selection: &'a Selection,
}

impl Search<'_> {
    /// The file of this shard.
    fn path(&self) -> Option<PathBuf> {
        let Named { largest_move, with, symmetric } = &self.named;
        let symmetric = if *symmetric { "symmetric-" } else { "" };
        let with: String = with.iter().map(|m| format!("-with-{m}")).collect();
        let name = format!("{symmetric}largest-{largest_move}{with}{}.json", self.args.shard.suffix());
        Some(self.args.into.as_ref()?.join(name))
    }

    fn periods(&self) -> Result<Periods, Failure> {
        let path = self.path();
        path.as_deref().map_or(Ok(()), check_writable)?;
        let known = match &self.args.into {
            Some(into) if !self.args.again => read_all(into, &self.named, self.args.top())?,
            _ => BTreeMap::new(),
        };
        let all = self.family.sets();
        if let Some(whole) =
            known.get(&0).filter(|part| part.periods.sets == all && self.args.shard.range(all) == (0..all))
        {
            return Ok(whole.periods.clone());
        }
        let found = self.search(known, path)?;
        Ok(Periods::of(&self.named, &self.family, &found))
    }

    /// Finds what is not known, and keeps it now and then, at the end, and if the search is interrupted.
    fn search(&self, known: BTreeMap<u64, Part>, path: Option<PathBuf>) -> Result<Findings, Failure> {
        let shard = self.args.shard.range(self.family.sets());
        let sets = |first, end: u64| self.family.clone().part(first, end - first);
        let kernel = self.selection.kernel::<MexFamily>(&sets(shard.start, shard.end))?;
        let run = interrupt::run(self.selection.threads());
        let _monitor =
            Monitor::new(format!("family: largest move {}", self.named.largest_move), &run, shard.end - shard.start);
        let (mut found, mut next, mut seconds, mut written) = (Findings::default(), shard.start, 0.0, Instant::now());
        while next < shard.end {
            let part = known.get(&next).filter(|part| next + part.periods.sets <= shard.end);
            let ended = match part.and_then(|part| Some((part, part.findings()?))) {
                Some((part, findings)) => {
                    run.advance(part.periods.sets)?;
                    seconds += part.seconds;
                    Ok(findings)
                }
                None => {
                    let end = known.range(next + 1..).next().map_or(shard.end, |(first, _)| *first);
                    let (input, begin) = (sets(next, end.min(next + AT_ONCE).min(shard.end)), Instant::now());
                    let ended = kernel.run(&input, &run);
                    seconds += begin.elapsed().as_secs_f64();
                    ended
                }
            };
            if let Ok(part) = &ended {
                next += part.sets();
                found.join(part.clone(), self.args.top());
            }
            if let Some(path) = &path
                && (next == shard.end || ended.is_err() || written.elapsed() > KEPT_EVERY)
                && found.sets() > 0
            {
                written = Instant::now();
                let periods = Periods::of(&self.named, &self.family, &found);
                let is_whole = found.sets() == self.family.sets();
                let part = Part {
                    first: shard.start,
                    kernel: kernel.def().name.to_owned(),
                    threads: self.selection.threads(),
                    seconds,
                    top: self.args.top(),
                    periods,
                    counts: if is_whole { Vec::new() } else { found.periods.clone().into_iter().collect() },
                };
                Saved::now(Environment::detect(self.selection.machine()), part).write(path)?;
            }
            ended?;
        }
        Ok(found)
    }
}

/// A table of families, and lists of sets.
fn in_words(all: &[Periods], lists_sets: bool) -> String {
    let moves = |found: Option<&Found>| {
        let moves = found.map_or(Vec::new(), |found| found.moves.iter().map(u64::to_string).collect());
        format!("{{{}}}", moves.join(","))
    };
    let heads = [
        "largest move",
        "sets",
        "longest period",
        "sets with it",
        "sum of periods",
        "periods",
        "pure",
        "longest preperiod",
        "largest value",
        "first set with the longest period",
    ];
    let row = |of: &Periods| {
        let numbers = [
            of.family.largest_move,
            of.sets,
            of.longest_period,
            of.sets_with_longest_period,
            of.sum_of_periods,
            of.distinct_periods,
            of.purely_periodic,
            of.longest_preperiod,
            of.largest_value,
        ];
        numbers.iter().map(u64::to_string).chain([moves(of.longest_periods.first())]).collect::<Vec<_>>()
    };
    let mut text = headed(heads, all.iter().map(row));
    for of in all.iter().filter(|_| lists_sets) {
        for (what, list) in [("periods", &of.longest_periods), ("preperiods", &of.longest_preperiods)] {
            let row = |found: &Found| [found.period.to_string(), found.preperiod.to_string(), moves(Some(found))];
            text += &format!("\nThe longest {what}, largest move {}\n", of.family.largest_move);
            text += &headed(["period", "preperiod", "set"], list.iter().map(row));
        }
    }
    text
}
