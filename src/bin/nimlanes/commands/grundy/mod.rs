//! `nimlanes grundy`

mod checkpoint;
mod octal;
mod subtraction;
mod summary;

pub use octal::{GameSearch, Known, code_help, needs_no_table, values};
pub use summary::Figures;

use std::io::{Read, Result as IoResult, Write};
use std::path::PathBuf;
use std::sync::Arc;

use checkpoint::CheckpointFile;
use clap::ValueEnum;
use nimlanes::cores::mex::checkpoint::CheckpointError;
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Operation, Run};
use nimlanes::lab::environment::Environment;
use summary::GameSummary;

use crate::commands::arguments::{Kernels, listed, number};
use crate::commands::work::Work;
use crate::files;
use crate::files::saved::Saved;
use crate::terminal::failure::Failure;
use crate::terminal::output::{check_cancelled, check_writable, write_json, write_output};

/// Print the Grundy values of a subtraction set or of an octal game, its P-positions, or the first heap of each value
#[derive(clap::Args)]
#[command(before_help = "Example: nimlanes grundy --moves squares --limit 1e6 --zeros --format csv")]
pub struct Args {
    #[arg(long, help = listed::MOVES_HELP, value_name = "SET", default_value = "squares", value_parser = listed::moves, allow_hyphen_values = true)]
    moves: String,
    #[arg(long, help = code_help("moves"), value_name = "CODE", conflicts_with = "moves", allow_hyphen_values = true)]
    code: Option<String>,
    /// The largest heap
    #[arg(long, value_name = "N", default_value = "10000", value_parser = number, allow_negative_numbers = true)]
    limit: u64,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Summary)]
    format: Format,
    /// Print the summary as JSON, with date and environment
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print the heaps of value 0
    #[arg(long, group = "listed")]
    zeros: bool,
    /// Print the first heap of each value; with --code, of each value that is the largest so far
    #[arg(long, group = "listed")]
    records: bool,
    /// Save progress in this file, and continue from it; it is removed at the end
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Write to this file, which appears when it is complete
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
    /// Counts, first heaps and the period; with --zeros, their growth
    Summary,
    /// The proof of the period of a code, for the example check_certificate
    Certificate,
}

pub fn main(args: &Args) -> Result<(), Failure> {
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
    work: Work,
    /// The file of `--checkpoint`, if there is one.
    file: Option<Arc<CheckpointFile>>,
}

impl<'a> Job<'a> {
    /// A job of these operations. Checks its files before the work to fill them is done.
    fn new(args: &'a Args, operations: &[&str]) -> Result<Self, Failure> {
        let selection = args.kernels.selection_for("grundy", operations)?;
        check_writable(args.output.as_deref())?;
        let work = Work::new("grundy".to_owned(), selection, None);
        let file = CheckpointFile::of(args, &work.run)?;
        Ok(Job { args, work, file })
    }

    /// The progress in the file, which `heaps` counts; none if there is none.
    fn load<T>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, CheckpointError>,
        heaps: impl FnOnce(&T) -> u64,
    ) -> Result<Option<T>, Failure> {
        self.file.as_ref().map_or(Ok(None), |file| file.load(read, heaps))
    }

    /// Runs the selected kernel of an operation. `of` creates inputs with other limits.
    fn compute<O: Operation>(
        &self,
        start: O::Start,
        input: &O::Input,
        of: impl Fn(u64) -> Result<O::Input, InputError>,
    ) -> Result<O::Output, Failure> {
        self.outcome(self.work.run::<O, _>(start, input, self.args.limit, of)?.map_err(Failure::from))
    }

    /// The findings of a run, or why it ended early.
    fn outcome<T>(&self, found: Result<T, Failure>) -> Result<T, Failure> {
        checkpoint::outcome(self.file.as_deref(), found)
    }

    /// Writes a summary or numbers, by the format.
    fn finish<'b>(
        &self,
        summary: impl FnOnce() -> Result<GameSummary, Failure>,
        numbers: impl FnOnce() -> Box<dyn Iterator<Item = u64> + 'b>,
    ) -> Result<(), Failure> {
        if self.args.format != Format::Summary {
            return self.write(|out| list(self.args.format, numbers(), &self.work.run, out));
        }
        let effort = self.work.effort();
        let mut summary = summary()?;
        summary.effort = effort;
        self.write(|out| match self.args.json {
            true => write_json(&Saved::now(Environment::detect(self.work.selection.machine()), summary), out),
            false => summary.write(out),
        })
    }

    /// Writes the output. A run whose output is complete needs no checkpoint any more.
    fn write(&self, write: impl FnOnce(&mut dyn Write) -> IoResult<()>) -> Result<(), Failure> {
        write_output(self.args.output.as_deref(), write)?;
        self.file.as_ref().map_or(Ok(()), |file| file.remove())
    }
}

/// Writes a line per number, unless the run is cancelled.
fn list(format: Format, numbers: impl Iterator<Item = u64>, run: &Run, out: &mut dyn Write) -> IoResult<()> {
    let (head, between) = if format == Format::Csv { ("n,a\n", ',') } else { ("", ' ') };
    out.write_all(head.as_bytes())?;
    for (n, a) in numbers.enumerate() {
        if n % (1 << 16) == 0 {
            check_cancelled(run)?;
        }
        writeln!(out, "{n}{between}{a}")?;
    }
    Ok(())
}
