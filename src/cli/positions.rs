//! `nimlanes positions`
//!
//! # The binary format
//! Positions one after another, without a header, in lexicographic order. Each is its heaps in ascending order, as little-endian
//! unsigned integers: three of 32 bits for the Stone Game (12 bytes a position), two of 64 bits for Proportionate Nim (16 bytes).

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use nimlanes::games::Positions;
use nimlanes::kernel::Run;

use super::args::{Board, Found};
use super::failure::Failure;
use super::output::{deliver, go_on};

/// Write the P-positions of a game in lexicographic order
///
/// They are all found before the first is written, and kept until then: 12 bytes for each of about 0.12 N^2 positions of the
/// Stone Game, 16 bytes for each of about N / 4 of Proportionate Nim, and half as much again for the work. What does not fit in
/// memory is refused.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes positions stone-game --limit 1000 | head\n  \
    nimlanes positions proportionate-nim --limit 1e6 --moves 1:1 --format bin --out wythoff.bin")]
pub struct Args {
    #[command(flatten)]
    board: Board,
    /// How they are written
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// A file instead of standard output; it appears when it is complete
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A header and a line a position: "x,y,z" or "n,m"
    Csv,
    /// Little-endian numbers and nothing else: three of 32 bits a position of the Stone Game, two of 64 bits of Proportionate Nim
    Bin,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let Found { positions, run, .. } = args.board.find()?;
    deliver(args.out.as_deref(), |out| match (&positions, args.format) {
        (Positions::Two(found), Format::Csv) => lines("n,m", found, &run, out),
        (Positions::Three(found), Format::Csv) => lines("x,y,z", found, &run, out),
        (Positions::Two(found), Format::Bin) => {
            each(found, &run, |heap| out.write_all(&heap.map(u64::to_le_bytes).concat()))
        }
        (Positions::Three(found), Format::Bin) => {
            each(found, &run, |heap| out.write_all(&heap.map(u32::to_le_bytes).concat()))
        }
    })
}

/// Writes a header and a line for each position.
fn lines<const HEAPS: usize, T: Copy + Into<u64>>(
    header: &str,
    positions: &[[T; HEAPS]],
    run: &Run,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "{header}")?;
    let mut line = Vec::new();
    each(positions, run, |heaps| {
        line.clear();
        heaps.iter().for_each(|heap| push_decimal(&mut line, (*heap).into()));
        *line.last_mut().expect("a position has heaps") = b'\n';
        out.write_all(&line)
    })
}

/// Appends a number and a comma.
fn push_decimal(line: &mut Vec<u8>, mut number: u64) {
    let start = line.len();
    loop {
        line.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    line[start..].reverse();
    line.push(b',');
}

/// Does something with each position, unless the run is interrupted.
fn each<P: Copy>(positions: &[P], run: &Run, mut act: impl FnMut(P) -> std::io::Result<()>) -> std::io::Result<()> {
    for block in positions.chunks(1 << 16) {
        go_on(run)?;
        block.iter().try_for_each(|position| act(*position))?;
    }
    Ok(())
}
