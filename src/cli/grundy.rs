//! `nimlanes grundy`

use std::io::Write;
use std::path::PathBuf;

use clap::ValueEnum;
use nimlanes::cores::mex::subtraction::{MexSubtraction, Period, Subtraction, period};
use nimlanes::cores::mex::zeros::MexZeros;
use nimlanes::kernel::{InputError, Operation};
use nimlanes::moves::MoveSet;
use nimlanes::selection::Selection;

use super::args::{Threads, number};
use super::failure::Failure;
use super::interrupt;
use super::monitor::Monitor;
use super::output::deliver;

/// Print the Grundy values of a subtraction set, its P-positions, or the first position of each value
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes grundy --moves squares --limit 10000 --format bfile\n  \
    nimlanes grundy --moves 2,7,19,50 --limit 1e6\n  nimlanes grundy --moves squares --limit 1e6 --zeros --format csv")]
pub struct Args {
    /// squares, cubes, triangular, primes, factorials, fibonacci, a list a,b,c or a range 1..k
    #[arg(long, value_name = "SET", default_value = "squares", allow_hyphen_values = true)]
    moves: String,
    /// The largest heap
    #[arg(long, value_name = "N", default_value = "10000", value_parser = number, allow_negative_numbers = true)]
    limit: u64,
    /// How they are written
    #[arg(long, value_enum, default_value_t = Format::Summary)]
    format: Format,
    /// The heaps of value 0 instead of all values, by a sieve that needs no values
    #[arg(long, conflicts_with = "records")]
    zeros: bool,
    /// The first heap of each value instead of all values
    #[arg(long)]
    records: bool,
    /// The index of the first line of a bfile
    #[arg(long, value_name = "K", default_value = "0", value_parser = number, allow_negative_numbers = true)]
    offset: u64,
    /// A file instead of standard output; it appears when it is complete
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines "n a(n)", as OEIS has them
    Bfile,
    /// A header and lines "n,a(n)"
    Csv,
    /// Little-endian numbers: 16 bits a value, 64 bits a heap
    Bin,
    /// Counts, first positions and the period of a finite set
    Summary,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    let set: MoveSet = args.moves.parse().map_err(InputError::Moves)?;
    let input = Subtraction::new(&set, args.limit)?;
    let selection = args.threads.selection(None)?;
    if args.zeros {
        // Without the other values.
        let zeros = computed::<MexZeros>(&input, &selection)?;
        return deliver(args.out.as_deref(), |out| write_zeros(args, &set, &zeros, out));
    }
    let g = computed::<MexSubtraction>(&input, &selection)?;
    deliver(args.out.as_deref(), |out| write(args, &set, &g, out))
}

/// What the selected kernel of an operation computes, with a progress bar.
fn computed<O: Operation>(input: &O::Input, selection: &Selection) -> Result<O::Output, Failure> {
    let kernel = selection.kernel::<O>(input)?;
    let run = interrupt::run(selection.threads());
    let _monitor = Monitor::new(format!("grundy: {}", kernel.def().name), &run, O::steps(input));
    Ok(kernel.run(input, &run)?)
}

fn write_zeros(args: &Args, set: &MoveSet, zeros: &[u64], out: &mut dyn Write) -> std::io::Result<()> {
    if args.format != Format::Summary {
        return numbers(args, zeros.iter().map(|n| (*n, n.to_le_bytes())), out);
    }
    heading(set, args.limit, out)?;
    writeln!(out, "zeros    {}", zeros.len())?;
    writeln!(out, "last     {}", zeros.last().copied().unwrap_or(0))
}

fn write(args: &Args, set: &MoveSet, g: &[u16], out: &mut dyn Write) -> std::io::Result<()> {
    if args.format == Format::Summary {
        summary(set, g, out)
    } else if args.records {
        numbers(args, first_heaps(g).into_iter().map(|n| (n, n.to_le_bytes())), out)
    } else {
        numbers(args, g.iter().map(|v| (u64::from(*v), v.to_le_bytes())), out)
    }
}

/// Writes a sequence in a format that has a line or a record for each number.
fn numbers<const BYTES: usize>(
    args: &Args,
    sequence: impl Iterator<Item = (u64, [u8; BYTES])>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    if args.format == Format::Csv {
        writeln!(out, "n,a")?;
    }
    for (i, (a, bytes)) in sequence.enumerate() {
        let n = u128::from(args.offset) + i as u128;
        match args.format {
            Format::Bfile => writeln!(out, "{n} {a}")?,
            Format::Csv => writeln!(out, "{n},{a}")?,
            Format::Bin | Format::Summary => out.write_all(&bytes)?,
        }
    }
    Ok(())
}

/// The first heap of each value. Values appear in order, for a heap of value `v` moves to one of value `v - 1`.
fn first_heaps(g: &[u16]) -> Vec<u64> {
    let mut firsts = Vec::new();
    for (n, v) in (0..).zip(g) {
        if usize::from(*v) == firsts.len() {
            firsts.push(n);
        }
    }
    firsts
}

/// The first lines of a summary.
fn heading(set: &MoveSet, limit: u64, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "moves    {set}")?;
    writeln!(out, "heaps    0..={limit}")
}

fn summary(set: &MoveSet, g: &[u16], out: &mut dyn Write) -> std::io::Result<()> {
    let firsts = first_heaps(g);
    let mut counts = vec![0u64; firsts.len()];
    for v in g {
        counts[usize::from(*v)] += 1;
    }
    heading(set, g.len() as u64 - 1, out)?;
    writeln!(out, "values   {}", firsts.len())?;
    writeln!(out, "zeros    {}", counts[0])?;
    let farthest = match set {
        MoveSet::UpTo(k) => Some(*k),
        MoveSet::Explicit(moves) => moves.last().copied(),
        _ => None,
    };
    if let Some(farthest) = farthest {
        match usize::try_from(farthest).ok().and_then(|farthest| period(g, farthest)) {
            Some(Period { period, preperiod }) => writeln!(out, "period   {period} from heap {preperiod} on, proved")?,
            None => writeln!(out, "period   not proved by these heaps")?,
        }
    }
    writeln!(out, "value    first heap, heaps")?;
    for (v, (first, count)) in firsts.iter().zip(&counts).enumerate() {
        writeln!(out, "{v:<7}  {first}, {count}")?;
    }
    Ok(())
}
