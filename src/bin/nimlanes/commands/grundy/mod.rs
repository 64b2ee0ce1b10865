//! `nimlanes grundy`

mod checkpoint;
mod octal;
mod summary;
mod zeros;

pub use octal::{code_help, values};

use std::borrow::Cow;
use std::io::{Result as IoResult, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use checkpoint::CheckpointFile;
use clap::ValueEnum;
use nimlanes::cores::mex::period::tallies;
use nimlanes::cores::mex::records::{Journal, MexRecords, Output, Progress, Records, Start};
use nimlanes::cores::mex::subtraction::{MAX_LIMIT, MexSubtraction, Subtraction};
use nimlanes::cores::mex::zeros::MexZeros;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Kernel, Operation, Run, RunError};
use nimlanes::lab::environment::Environment;
use nimlanes::moves::{ALLOWED, MoveSet};
pub use summary::Summary;

use crate::commands::arguments::{Kernels, listed, number, seconds};
use crate::files::found::{FirstHeaps, Origin};
use crate::files::saved::{self, Measured, Saved};
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::{check_cancelled, check_distinct, check_writable, write_output};

/// Print the Grundy values of a subtraction set or of an octal game, its P-positions, or the first position of each value
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  nimlanes grundy --moves squares --limit 10000 --format bfile\n  \
    nimlanes grundy --moves 2,7,19,50 --limit 1e6\n  nimlanes grundy --moves squares --limit 1e6 --zeros --format csv\n  \
    nimlanes grundy --code 0.16 --limit 1e6 --json\n  \
    nimlanes grundy --moves factorials --limit 7e9 --records --format csv --checkpoint factorials.checkpoint --resume")]
pub struct Args {
    #[arg(long, help = format!("The moves: {ALLOWED}{}", listed::MOVES_NOTE), value_name = "SET", default_value = "squares", value_parser = listed::moves, allow_hyphen_values = true)]
    moves: String,
    #[arg(long, help = code_help("moves"), value_name = "CODE", conflicts_with = "moves", allow_hyphen_values = true)]
    code: Option<String>,
    /// The largest heap
    #[arg(long, value_name = "N", default_value = "10000", value_parser = number, allow_negative_numbers = true)]
    limit: u64,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Summary)]
    format: Format,
    /// Print the summary as JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print the heaps of value 0 instead of all values; without --code by a sieve that needs no values
    #[arg(long, group = "listed")]
    zeros: bool,
    /// Print the first heap of each value instead of all values; with --code, the heaps whose value is the largest so far
    #[arg(long, group = "listed")]
    records: bool,
    /// The index of the first line of a bfile or a CSV file [default: 0]
    #[arg(long, value_name = "K", value_parser = number, allow_negative_numbers = true)]
    offset: Option<u64>,
    /// Save the progress of a long run to a file: with --code or --zeros always, else for --records or a summary of a set with few moves. Only
    /// one run at a time can use it, and it is removed when the output is complete
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Resume from the file of --checkpoint, if it exists
    #[arg(long, requires = "checkpoint")]
    resume: bool,
    /// How often to save the progress, in seconds
    #[arg(long, value_name = "S", default_value = "60", value_parser = seconds, allow_negative_numbers = true, requires = "checkpoint")]
    every: f64,
    /// Keep what --records finds, with --zeros the numbers and hashes by octaves, or with --code the summary, in a file as JSON,
    /// with kernel, date and environment
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// With --code and a period that is proved, write what proves it to a file: text that `cargo run --release --example
    /// check_certificate FILE` checks without the library
    #[arg(long, value_name = "FILE", conflicts_with = "listed")]
    certificate: Option<PathBuf>,
    /// Write to a file instead of standard output; it appears when it is complete. A file with several hard links is refused
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    kernels: Kernels,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Lines of n and a(n), as in OEIS b-files
    Bfile,
    /// A header, then lines of n and a(n) with a comma between
    Csv,
    /// Little-endian numbers: 16 bits for a value, 64 bits for a heap
    Bin,
    /// Counts, first positions and the period of a finite set or of a code that ends; with --zeros, their growth by octaves. Of many
    /// values it shows those that appear first and last
    Summary,
}

/// What the options ask for.
enum Work {
    /// All values.
    Values,
    /// The heaps of value 0, by a sieve that finds them without the other values.
    Zeros,
    /// First heaps and frequencies, without a table of values.
    Records(Records),
}

impl Work {
    fn of(args: &Args, set: &MoveSet) -> Result<Self, Failure> {
        let is_summary = args.format == Format::Summary;
        if args.zeros {
            return Ok(Work::Zeros);
        }
        if !args.records && !is_summary && args.checkpoint.is_some() {
            return Err(Failure::Usage("--checkpoint needs --records, --zeros or --format summary".to_owned()));
        }
        // A checkpoint keeps no table of values, and a table ends at `MAX_LIMIT`.
        let past_tables = args.checkpoint.is_some() || args.limit > MAX_LIMIT;
        if args.records && !is_summary || is_summary && past_tables {
            match Records::new(set, args.limit) {
                Ok(input) => return Ok(Work::Records(input)),
                Err(error) if past_tables => return Err(error.into()),
                Err(_) => {}
            }
        }
        Ok(Work::Values)
    }

    /// The operation that does it.
    fn operation(&self) -> &'static str {
        match self {
            Work::Values => MexSubtraction::NAME,
            Work::Zeros => MexZeros::NAME,
            Work::Records(_) => MexRecords::NAME,
        }
    }
}

pub fn main(args: &Args) -> Result<(), Failure> {
    if args.offset.is_some() && matches!(args.format, Format::Bin | Format::Summary) {
        return Err(Failure::Usage("--offset needs --format bfile or csv".to_owned()));
    }
    check_distinct(&[
        ("--checkpoint", args.checkpoint.as_deref()),
        ("--save", args.save.as_deref()),
        ("--certificate", args.certificate.as_deref()),
        ("--out", args.out.as_deref()),
    ])?;
    if args.save.is_some() && args.code.is_some() == (args.zeros || args.records) {
        return Err(Failure::Usage("--save needs --records or --zeros, or --code without them".to_owned()));
    }
    if args.certificate.is_some() && (args.code.is_none() || args.format != Format::Summary) {
        return Err(Failure::Usage("--certificate needs --code and --format summary".to_owned()));
    }
    match &args.code {
        Some(code) => octal::main(args, code),
        None => subtraction(args),
    }
}

/// Checks the files of the output before the work to fill them is done.
fn check_files(args: &Args) -> Result<(), Failure> {
    check_writable(args.out.as_deref())?;
    check_writable(args.certificate.as_deref())?;
    Ok(args.save.as_deref().map_or(Ok(()), saved::check_writable)?)
}

fn subtraction(args: &Args) -> Result<(), Failure> {
    let set: MoveSet = args.moves.parse().map_err(InputError::Moves)?;
    let work = Work::of(args, &set)?;
    let selection = args.kernels.selection_for("grundy", &[work.operation()])?;
    check_files(args)?;
    let run = interrupt::run(selection.threads());
    match work {
        Work::Records(input) => {
            let checkpoint = CheckpointFile::of(args, &run)?;
            let found = records(args, &set, input, &selection, &run, checkpoint.as_ref())?;
            let Output { first, counts, .. } = &found.output;
            let (origin, limit) = (|| found.origin(args, &set), args.limit);
            keep(args, &selection, || FirstHeaps { origin: origin(), first: first.clone(), counts: counts.clone() })?;
            let summary = || Ok(Summary::of_records(&set, limit, first, counts));
            write(args, &run, summary, || Sequence::Heaps(first.into()))?;
            checkpoint.map_or(Ok(()), |checkpoint| checkpoint.remove())
        }
        Work::Zeros => zeros::main(args, &set, &selection, &run),
        Work::Values => {
            let of = |limit| Subtraction::new(&set, limit, selection.machine());
            let found = compute::<MexSubtraction>((), &of(args.limit)?, args.limit, of, &selection, &run)?;
            let values = &found.output;
            keep(args, &selection, || counted(found.origin(args, &set), values))?;
            let summary = || Summary::of_moves(&set, values, &run);
            write(args, &run, summary, || match args.records {
                true => Sequence::Heaps(tallies(values).iter().map(|tally| tally.first).collect()),
                false => Sequence::Values(values),
            })
        }
    }
}

/// First heaps and frequencies, with checkpoints if requested.
fn records(
    args: &Args,
    set: &MoveSet,
    input: Records,
    selection: &Selection,
    run: &Arc<Run>,
    checkpoint: Option<&Arc<CheckpointFile>>,
) -> Result<Computed<MexRecords>, Failure> {
    let (input, start) = match checkpoint {
        None => (input, Start::default()),
        Some(checkpoint) => {
            let from = checkpoint.load(args.resume, |from| Progress::read(&input, from), Progress::done)?;
            let input = from.iter().fold(input.resumable(), |input, from| input.continuing(from));
            (input, Start::with_journal(Arc::clone(checkpoint) as Arc<dyn Journal>, from))
        }
    };
    let of = |limit| {
        let input = Records::new(set, limit)?;
        Ok(if checkpoint.is_some() { input.resumable() } else { input })
    };
    checkpoint::outcome(checkpoint, compute::<MexRecords>(start, &input, args.limit, of, selection, run))
}

/// Saves something to the file of `--save`, if there is one.
fn keep<T: Measured>(args: &Args, selection: &Selection, content: impl FnOnce() -> T) -> Result<(), Failure> {
    let Some(path) = &args.save else { return Ok(()) };
    Ok(Saved::now(Environment::detect(selection.machine()), content()).write(path)?)
}

impl Journal for CheckpointFile {
    fn keep(&self, progress: &Progress, is_last: bool) {
        CheckpointFile::keep(self, progress.done(), is_last, |out| progress.write(out));
    }
}

/// What a kernel computed, and how long it took.
struct Computed<O: Operation> {
    output: O::Output,
    kernel: &'static str,
    time: Duration,
}

impl<O: Operation> Computed<O> {
    /// The run, as it is saved with what it found.
    fn origin(&self, args: &Args, set: &MoveSet) -> Origin {
        Origin {
            moves: set.to_string(),
            limit: args.limit,
            operation: O::NAME.to_owned(),
            kernel: self.kernel.to_owned(),
            resumed: args.resume,
            milliseconds: self.time.as_millis() as u64,
        }
    }
}

/// Runs the selected kernel of an operation, with a progress bar. `of` creates inputs with other limits.
fn compute<O: Operation>(
    start: O::Start,
    input: &O::Input,
    limit: u64,
    of: impl Fn(u64) -> Result<O::Input, InputError>,
    selection: &Selection,
    run: &Arc<Run>,
) -> Result<Computed<O>, Failure> {
    let kernel = selection.kernel_for::<O, _>(input, limit, of)?;
    Ok(compute_by(&kernel, start, input, run)?)
}

/// Runs a kernel, with a progress bar.
fn compute_by<O: Operation>(
    kernel: &Kernel<O>,
    start: O::Start,
    input: &O::Input,
    run: &Arc<Run>,
) -> Result<Computed<O>, RunError> {
    let _monitor = Monitor::new(format!("grundy: {}", kernel.def().name), run, O::steps(input));
    let begin = Instant::now();
    let output = kernel.run_from(start, input, run)?;
    Ok(Computed { output, kernel: kernel.def().name, time: begin.elapsed() })
}

/// Numbers to list.
enum Sequence<'a> {
    Values(&'a [u16]),
    Heaps(Cow<'a, [u64]>),
}

/// Writes what the format asks for.
fn write<'a>(
    args: &Args,
    run: &Run,
    summary: impl FnOnce() -> IoResult<Summary>,
    sequence: impl FnOnce() -> Sequence<'a>,
) -> Result<(), Failure> {
    write_output(args.out.as_deref(), |out| match args.format {
        Format::Summary => summary()?.write(args.json, out),
        _ => match sequence() {
            Sequence::Values(values) => {
                numbers(args, values.iter().map(|v| (u64::from(*v), v.to_le_bytes())), run, out)
            }
            Sequence::Heaps(heaps) => numbers(args, heaps.iter().map(|n| (*n, n.to_le_bytes())), run, out),
        },
    })
}

/// Writes a sequence with one line or record per number, unless the run is cancelled.
fn numbers<const BYTES: usize>(
    args: &Args,
    sequence: impl Iterator<Item = (u64, [u8; BYTES])>,
    run: &Run,
    out: &mut dyn Write,
) -> IoResult<()> {
    if args.format == Format::Csv {
        writeln!(out, "n,a")?;
    }
    for (i, (a, bytes)) in sequence.enumerate() {
        if i % (1 << 16) == 0 {
            check_cancelled(run)?;
        }
        let n = u128::from(args.offset.unwrap_or(0)) + i as u128;
        match args.format {
            Format::Bfile => writeln!(out, "{n} {a}")?,
            Format::Csv => writeln!(out, "{n},{a}")?,
            Format::Bin | Format::Summary => out.write_all(&bytes)?,
        }
    }
    Ok(())
}

/// The first heap of each value, and the number of heaps that have it: every value up to the largest occurs.
fn counted(origin: Origin, values: &[u16]) -> FirstHeaps {
    let (first, counts) = tallies(values).iter().map(|tally| (tally.first, tally.heaps)).unzip();
    FirstHeaps { origin, first, counts }
}
