//! `nimlanes survey`

mod games;
mod sets;

use std::path::PathBuf;

use nimlanes::numbers::within;

use crate::commands::arguments::shard::Shard;
use crate::commands::arguments::{Kernels, listed, number, seconds};
use crate::terminal::failure::Failure;

/// The largest heap of a table of values, unless another is named.
const LIMIT: u64 = 100_000_000;

/// Survey octal games, each for some seconds, or the periods of all subtraction sets of some moves
///
/// What is found is kept: a game in a file of its own, sets in a file for each shard. What a survey as long as this one has found is
/// skipped, so an interrupted survey goes on where it was stopped; a longer one replaces what is not proved. Shards can share a folder.
///
/// A period is proved, or else observed: it has repeated at least eight times, over at least half of the heaps.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes survey 0.6 0.14 grundy --into surveyed\n  \
    nimlanes survey --sets 3 --moves-up-to 64 --shard 0/4 --into swept\n  \
    nimlanes survey @profiles/discoveries/octal/games.txt --into profiles/discoveries/octal")]
pub struct Args {
    /// Codes of games, as in 0.137; or @FILE with a list of codes, where a # begins a comment
    #[arg(conflicts_with_all = ["sets", "moves_up_to"], value_name = "CODE")]
    codes: Vec<String>,
    /// Instead of codes, all subtraction sets of K moves: the periods of their values, proved. Sets with moves up to 63 are done many
    /// at once, by a kernel of mex_family, as by `family`
    #[arg(long, value_name = "K", requires = "moves_up_to", value_parser = within(1..=100), allow_negative_numbers = true)]
    sets: Option<u64>,
    /// The largest move of these sets
    #[arg(long, value_name = "M", requires = "sets", value_parser = within(1..=1_000_000), allow_negative_numbers = true)]
    moves_up_to: Option<u64>,
    /// Do only this part of N parts of about the same predicted work, counted from 0
    #[arg(long, value_name = "K/N", default_value = "0/1")]
    shard: Shard,
    /// The folder for the files
    #[arg(long, value_name = "FOLDER", value_parser = listed::folder())]
    into: PathBuf,
    /// How long to compute each game
    #[arg(long, value_name = "S", default_value = "10", conflicts_with = "sets", value_parser = seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// The largest heap, however much time is left [default: 1e8; where no table of values is needed, 2^48]
    #[arg(long, value_name = "N", value_parser = number, allow_negative_numbers = true)]
    limit: Option<u64>,
    /// Recompute what already has a file; what it holds stays until the new result replaces it
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    kernels: Kernels,
}

impl Args {
    /// The largest heap of a table of values.
    fn limit(&self) -> u64 {
        self.limit.unwrap_or(LIMIT)
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    match (args.sets, args.moves_up_to) {
        (Some(count), Some(largest)) => sets::main(count, largest, args),
        _ if args.codes.is_empty() => Err(Failure::Usage(
            "nothing to survey; allowed: codes such as 0.137, @FILE with codes, or --sets K --moves-up-to M".to_owned(),
        )),
        _ => games::main(args),
    }
}
