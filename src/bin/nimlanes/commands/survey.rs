//! `nimlanes survey`

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use nimlanes::cores::mex::octal::{Code, MexOctal, Octal};
use nimlanes::cores::mex::period::{MexPeriod, Tally};
use nimlanes::kernel::Operation;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::workload::InputError;

use super::arguments::shard::Shard;
use super::arguments::{Kernels, code, listed, number, seconds};
use super::grundy::{Figures, GameSearch, Known, needs_no_table};
use super::work::Work;
use crate::files::saved::Folder;
use crate::files::surveyed::Surveyed;
use crate::terminal::failure::Failure;
use crate::terminal::output::print;

/// The largest heap of a table of values, unless another is named.
const LIMIT: u64 = 100_000_000;
/// The largest heap where no table of values is needed, unless another is named.
const FARTHEST: u64 = 1 << 48;

/// Survey octal games, each for some seconds, and keep what is found in a file for each
///
/// Findings of a survey as long as this one are skipped, so an interrupted survey goes on where it was stopped; a longer one replaces
/// what is not proved.
#[derive(clap::Args)]
#[command(before_help = "Examples:\n  nimlanes survey 0.6 0.14 grundy --dir surveyed\n  \
    nimlanes survey @profiles/discoveries/octal/games.txt --shard 0/4 --dir surveyed")]
pub struct Args {
    /// Codes such as 0.137, names of games, or @FILE with a list of these
    #[arg(required = true, value_name = "CODE")]
    codes: Vec<String>,
    /// Do only this part of N parts with as many games
    #[arg(long, value_name = "K/N", default_value = "0/1")]
    shard: Shard,
    /// The folder for the files, which shards can share
    #[arg(long, value_name = "DIR", value_parser = listed::folder())]
    dir: PathBuf,
    /// How long to compute each game
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// The largest heap [default: 1e8 with a table of values, else 2^48]
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true)]
    limit: Option<u64>,
    #[command(flatten)]
    kernels: Kernels,
}

/// A game up to a limit: by default up to this one, or as far as its digits allow.
fn game(code: &Code, limit: Option<u64>, default: u64) -> Result<Octal, InputError> {
    match (limit, Octal::new(code, limit.unwrap_or(default))) {
        (None, Err(InputError::TooLarge { most, .. })) => Octal::new(code, most),
        (_, made) => made,
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let codes = codes(&args.codes)?;
    let selection = args.kernels.selection_for("survey", &[MexOctal::NAME, MexPeriod::NAME])?;
    let selection = selection.allow_long(); // a run ends when its time is over
    let games = codes.iter().map(|code| game(code, args.limit, LIMIT)).collect::<Result<Vec<_>, _>>()?;
    let folder = Folder(args.dir.clone());
    let shard = args.shard.range(games.len() as u64);
    for input in &games[shard.start as usize..shard.end as usize] {
        let code = input.code().to_string();
        let known = folder.known::<Surveyed>(&code)?;
        if let Some(known) = known.filter(|known| known.is_final(args.limit, LIMIT, args.seconds)) {
            print(&format!("{known}: known\n"))?;
            continue;
        }
        folder.check_writable(&code)?;
        let found = survey(input, args, &selection)?;
        print(&format!("{found}\n"))?;
        folder.keep(&code, selection.machine(), found)?;
    }
    Ok(())
}

/// The codes that are named, and those in files, each game once.
fn codes(named: &[String]) -> Result<Vec<Code>, Failure> {
    let mut codes = Vec::new();
    for text in named {
        let text = listed::given("codes", text).map_err(Failure::Usage)?;
        for item in listed::items(&text) {
            codes.push(code(item)?);
        }
    }
    let mut seen = BTreeSet::new();
    codes.retain(|code: &Code| seen.insert(code.to_string()));
    match codes.is_empty() {
        true => Err(Failure::Usage(
            "the lists contain no codes; allowed: codes such as 0.137, and # before comments".to_owned(),
        )),
        false => Ok(codes),
    }
}

/// Computes a game until the time is over: without a table of values where that is quicker, else with one.
fn survey(table: &Octal, args: &Args, selection: &Selection) -> Result<Surveyed, Failure> {
    let code = table.code();
    let farthest = game(code, args.limit, FARTHEST)?;
    let time = Some(Duration::from_secs_f64(args.seconds));
    let work = Work::new(format!("survey: {code}"), selection.clone(), time);
    let is_named = args.kernels.names(MexPeriod::NAME);
    let search = GameSearch { work: &work, input: &farthest, table, is_named, certifies: false, file: None };
    let has_table = args.kernels.names(MexOctal::NAME) || !(is_named || needs_no_table(code));
    let known = if has_table { search.values(Vec::new())? } else { search.census(None, Vec::new())? };
    let effort = work.effort();
    let Figures { tallies, sparse, period } = known.figures(code)?;
    let Some(Tally { value: largest, first: largest_at, .. }) = tallies.last().copied() else {
        return Err(Failure::Failed(format!("{code}: no values in {} s; allowed: more --seconds", args.seconds)));
    };
    let heaps = tallies.iter().map(|tally| tally.heaps).sum();
    let all = if matches!(known, Known::Values(_)) { table.heaps() } else { farthest.heaps() };
    let stopped_after = (heaps < all as u64).then_some(args.seconds);
    Ok(Surveyed { code: code.to_string(), effort, stopped_after, heaps, largest, largest_at, sparse, period })
}
