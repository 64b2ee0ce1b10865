//! `nimlanes positions`
//!
//! # The binary format
//! The positions in lexicographic order, without a header. Each is its heaps in ascending order, as little-endian unsigned
//! integers: three of 32 bits for three heaps (12 bytes per position), two of 64 bits for two heaps (16 bytes).

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write, stdout};
use std::path::PathBuf;

use clap::ValueEnum;
use nimlanes::games::{Positions, Solver};

use super::arguments::{PositionArgs, PositionQuery};
use crate::terminal::failure::Failure;
use crate::terminal::monitor::with_progress;
use crate::terminal::output::{check_cancelled, write_output};

/// Write the P-positions of a game in lexicographic order
///
/// Positions are written as they are found. Besides the memory of its kernel, the command needs memory for a few batches, each
/// of at most 64 layers x of the Stone Game or 16384 heaps n of Proportionate Nim. If this does not fit, the command refuses
/// before the search starts. The search stops when the reader closes the pipe.
#[derive(clap::Args)]
#[command(mut_arg("game", |game| game.required(true)))]
#[command(after_help = "Examples:\n  nimlanes positions stone-game --limit 20000 | head\n  \
    nimlanes positions proportionate-nim --limit 1e6 --moves 1:1 --format bin --output wythoff.bin")]
pub struct Args {
    #[command(flatten)]
    listed: PositionArgs,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// Write to a file instead of standard output; it appears when it is complete. A file with several hard links is refused
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A header, then one line per position: x,y,z or n,m
    Csv,
    /// Little-endian numbers without a header: three of 32 bits per position of three heaps, two of 64 bits per position of
    /// two heaps
    Bin,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let PositionQuery { question, selection, run } = args.listed.query()?;
    let mut failure = None;
    let written = write_output(args.output.as_deref(), |out| {
        let (mut is_first, mut bytes) = (true, Vec::new());
        let mut search = |solver: &Solver| {
            question.stream(solver, |batch| {
                check_cancelled(&run)?;
                bytes.clear();
                args.format.encode(&batch, std::mem::take(&mut is_first), &mut bytes);
                out.write_all(&bytes)
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

impl Format {
    /// Appends a batch; the first one with a header.
    fn encode(self, batch: &Positions, is_first: bool, bytes: &mut Vec<u8>) {
        match (batch, self) {
            (Positions::Two(batch), Format::Csv) => lines(is_first.then_some("n,m\n"), batch, bytes),
            (Positions::Three(batch), Format::Csv) => lines(is_first.then_some("x,y,z\n"), batch, bytes),
            (Positions::Two(batch), Format::Bin) => numbers(batch, u64::to_le_bytes, bytes),
            (Positions::Three(batch), Format::Bin) => numbers(batch, u32::to_le_bytes, bytes),
        }
    }
}

/// Appends the bytes of each number.
fn numbers<const HEAPS: usize, const BYTES: usize, T: Copy>(
    positions: &[[T; HEAPS]],
    number: fn(T) -> [u8; BYTES],
    bytes: &mut Vec<u8>,
) {
    let heaps = positions.as_flattened();
    let start = bytes.len();
    bytes.resize(start + BYTES * heaps.len(), 0);
    let (places, _) = bytes[start..].as_chunks_mut();
    places.iter_mut().zip(heaps).for_each(|(place, heap)| *place = number(*heap));
}

/// Appends a header, if there is one, and one line per position.
fn lines<const HEAPS: usize, T: Display>(header: Option<&str>, positions: &[[T; HEAPS]], bytes: &mut Vec<u8>) {
    bytes.extend(header.unwrap_or_default().as_bytes());
    for heaps in positions {
        for (i, heap) in heaps.iter().enumerate() {
            let separator = if i == 0 { "" } else { "," };
            write!(bytes, "{separator}{heap}").expect("writing to memory succeeds");
        }
        bytes.push(b'\n');
    }
}
