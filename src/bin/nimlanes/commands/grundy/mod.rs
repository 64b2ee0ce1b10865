//! `nimlanes grundy`

mod checkpoint;
mod octal;
mod subtraction;
mod summary;

pub use octal::{code_help, values};

use std::borrow::Cow;
use std::io::{Read, Result as IoResult, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use checkpoint::CheckpointFile;
use clap::ValueEnum;
use nimlanes::cores::mex::checkpoint::CheckpointError;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Kernel, Operation, Run, RunError};
use nimlanes::moves::ALLOWED;
use summary::{Origin, Summary};

use crate::commands::arguments::{Kernels, listed, number};
use crate::files;
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::monitor::Monitor;
use crate::terminal::output::{check_cancelled, check_writable, write_output};

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
    /// Print the summary as JSON, with kernel, date and environment
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print the heaps of value 0 instead of all values; without --code by a sieve that needs no values
    #[arg(long, group = "listed")]
    zeros: bool,
    /// Print the first heap of each value instead of all values, of a set with few moves without a table of them; with --code, the heaps
    /// whose value is the largest so far
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
    /// Write to a file instead of standard output; it appears when it is complete. A file with several hard links is refused
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
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
    /// The proof of the period of a code, as a text that the example check_certificate checks without the library
    Certificate,
}

pub fn main(args: &Args) -> Result<(), Failure> {
    if args.offset.is_some() && !matches!(args.format, Format::Bfile | Format::Csv) {
        return Err(Failure::Usage("--offset needs --format bfile or csv".to_owned()));
    }
    if args.format == Format::Certificate && (args.code.is_none() || args.zeros || args.records) {
        return Err(Failure::Usage("--format certificate needs --code, without --zeros and --records".to_owned()));
    }
    if let (Some(checkpoint), Some(output)) = (&args.checkpoint, &args.output)
        && files::are_same(checkpoint, output)
    {
        let (checkpoint, output) = (checkpoint.display(), output.display());
        return Err(Failure::Usage(format!("--checkpoint `{checkpoint}` is the same file as --output `{output}`")));
    }
    match &args.code {
        Some(code) => octal::main(args, code),
        None => subtraction::main(args),
    }
}

/// A run, and the files that it writes.
struct Job<'a> {
    args: &'a Args,
    selection: Selection,
    run: Arc<Run>,
    /// The file of `--checkpoint`, if there is one.
    file: Option<Arc<CheckpointFile>>,
}

impl<'a> Job<'a> {
    /// A job of these operations. Checks its files before the work to fill them is done.
    fn new(args: &'a Args, operations: &[&str]) -> Result<Self, Failure> {
        let selection = args.kernels.selection_for("grundy", operations)?;
        check_writable(args.output.as_deref())?;
        let run = interrupt::run(selection.threads());
        let file = CheckpointFile::of(args, &run)?;
        Ok(Job { args, selection, run, file })
    }

    /// The progress in the file, which `heaps` counts; none if there is none.
    fn load<T>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, CheckpointError>,
        heaps: impl FnOnce(&T) -> u64,
    ) -> Result<Option<T>, Failure> {
        self.file.as_ref().map_or(Ok(None), |file| file.load(self.args.resume, read, heaps))
    }

    /// Runs the selected kernel of an operation. `of` creates inputs with other limits.
    fn compute<O: Operation>(
        &self,
        start: O::Start,
        input: &O::Input,
        of: impl Fn(u64) -> Result<O::Input, InputError>,
    ) -> Result<Computed<O::Output>, Failure> {
        let kernel = self.selection.kernel_for::<O, _>(input, self.args.limit, of)?;
        self.outcome(compute(&kernel, start, input, &self.run))
    }

    /// What a run has found, or why it ended early.
    fn outcome<T>(&self, found: Result<T, RunError>) -> Result<T, Failure> {
        checkpoint::outcome(self.file.as_deref(), found.map_err(Failure::from))
    }

    /// Writes what the format asks for.
    fn finish<'b, T>(
        &self,
        found: &'b Computed<T>,
        summary: impl FnOnce(&'b T) -> IoResult<Summary>,
        sequence: impl FnOnce(&'b T) -> Sequence<'b>,
    ) -> Result<(), Failure> {
        let Job { args, run, .. } = self;
        self.write(|out| match args.format {
            Format::Summary if args.json => summary(&found.output)?.write_json(Origin::now(self, found), out),
            Format::Summary => summary(&found.output)?.write(out),
            _ => match sequence(&found.output) {
                Sequence::Values(values) => {
                    numbers(args, values.iter().map(|v| (u64::from(*v), v.to_le_bytes())), run, out)
                }
                Sequence::Heaps(heaps) => numbers(args, heaps.iter().map(|n| (*n, n.to_le_bytes())), run, out),
            },
        })
    }

    /// Writes the output. A run whose output is complete needs no checkpoint any more.
    fn write(&self, write: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> Result<(), Failure> {
        write_output(self.args.output.as_deref(), write)?;
        self.file.as_ref().map_or(Ok(()), |file| file.remove())
    }
}

/// What a kernel computed, and how long it took.
struct Computed<T> {
    output: T,
    operation: &'static str,
    kernel: &'static str,
    time: Duration,
}

impl<T> Computed<T> {
    fn map<U>(self, map: impl FnOnce(T) -> U) -> Computed<U> {
        let Computed { output, operation, kernel, time } = self;
        Computed { output: map(output), operation, kernel, time }
    }
}

/// Runs a kernel, with a progress bar.
fn compute<O: Operation>(
    kernel: &Kernel<O>,
    start: O::Start,
    input: &O::Input,
    run: &Arc<Run>,
) -> Result<Computed<O::Output>, RunError> {
    let _monitor = Monitor::new(format!("grundy: {}", kernel.def().name), run, O::steps(input));
    let begin = Instant::now();
    let output = kernel.run_from(start, input, run)?;
    Ok(Computed { output, operation: O::NAME, kernel: kernel.def().name, time: begin.elapsed() })
}

/// Numbers to list.
enum Sequence<'a> {
    Values(&'a [u16]),
    Heaps(Cow<'a, [u64]>),
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
            _ => out.write_all(&bytes)?,
        }
    }
    Ok(())
}
