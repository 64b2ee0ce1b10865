//! `nimlanes positions`

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Result as IoResult, Write, stdout};
use std::path::PathBuf;

use nimlanes::games::{Positions, Solver};

use super::arguments::PositionArgs;
use crate::terminal::failure::Failure;
use crate::terminal::monitor::with_progress;
use crate::terminal::output::{check_cancelled, write_output};

/// Write the P-positions of a game in lexicographic order, with commas between the heaps
///
/// A kernel that finds positions in order writes them at once; one that sorts them, at the end. The search stops when the reader closes
/// the pipe.
#[derive(clap::Args)]
#[command(mut_arg("game", |game| game.required(true)))]
#[command(before_help = "Example: nimlanes positions stone-game --limit 20000 | head")]
pub struct Args {
    #[command(flatten)]
    listed: PositionArgs,
    /// Write to this file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let (question, selection, run) = args.listed.query()?;
    let mut failure = None;
    let written = write_output(args.output.as_deref(), |out| {
        let mut is_first = true;
        let mut search = |solver: &Solver| {
            question.stream(solver, |batch| {
                check_cancelled(&run)?;
                let is_first = std::mem::take(&mut is_first);
                match &batch {
                    Positions::Two(batch) => lines(is_first.then_some("n,m"), batch, out),
                    Positions::Three(batch) => lines(is_first.then_some("x,y,z"), batch, out),
                }
            })
        };
        // On a terminal, the lines themselves show the progress.
        let found = if args.output.is_none() && stdout().is_terminal() {
            search(&Solver::new(&selection, &run))
        } else {
            with_progress(question.game(), &selection, &run, search)
        };
        found?.map(drop).map_err(|error| {
            failure = Some(error);
            ErrorKind::Interrupted.into()
        })
    });
    failure.map_or(written, |error| Err(error.into()))
}

/// Writes a header, if there is one, and one line per position.
fn lines<const HEAPS: usize, T: Display>(
    header: Option<&str>,
    positions: &[[T; HEAPS]],
    out: &mut dyn Write,
) -> IoResult<()> {
    header.map_or(Ok(()), |header| writeln!(out, "{header}"))?;
    for heaps in positions {
        write!(out, "{}", heaps[0])?;
        heaps[1..].iter().try_for_each(|heap| write!(out, ",{heap}"))?;
        writeln!(out)?;
    }
    Ok(())
}
