//! `nimlanes grundy --code`

use std::io::{Result as IoResult, Write};
use std::sync::Arc;

use nimlanes::cores::mex::octal::{Code, Journal, MexOctal, Octal, Start, checkpoint};
use nimlanes::cores::mex::period::{self, Census, MexPeriod, Progress, Proved, Theorem};
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::workload::InputError;
use nimlanes::kernel::{Operation, Run};
use nimlanes::moves::FAMOUS;

use super::checkpoint::{CheckpointFile, outcome};
use super::summary::Summary;
use super::{Args, Computed, Format, compute, keep, numbers, selection};
use crate::commands::arguments::Kernels;
use crate::files::found::{Periodic, ProvedPeriod};
use crate::files::saved;
use crate::terminal::failure::Failure;
use crate::terminal::interrupt;
use crate::terminal::output::{check_writable, write_output};

/// A summary of more heaps than this is made without a table of values, unless a kernel of `mex_octal` is named. So is any
/// summary that `--save` keeps.
const TABLE: u64 = 1 << 28;

/// Help text of `--code`, which is given instead of something else.
pub fn code_help(instead_of: &str) -> String {
    let is_first = |i: usize| !FAMOUS[..i].iter().any(|(_, name, _)| *name == FAMOUS[i].1);
    let named = (0..FAMOUS.len()).filter(|i| is_first(*i)).map(|i| format!("{} is {}", FAMOUS[i].1, FAMOUS[i].0));
    let named = named.collect::<Vec<_>>().join(", ");
    format!(
        "The code of an octal or hexadecimal game instead of {instead_of}: 0.137, 4.3, 0.[3], ..., or grundy. {named}"
    )
}

pub fn main(args: &Args, code: &str) -> Result<(), Failure> {
    let code: Code = code.parse().map_err(InputError::Code)?;
    let input = Octal::new(&code, args.limit)?;
    check_writable(args.out.as_deref())?;
    if let Some(save) = &args.save {
        saved::check_writable(save)?;
    }
    let is_summary = args.format == Format::Summary && !args.zeros && !args.records;
    let names = |operation: &str| args.kernels.names(operation);
    let is_far = args.limit > TABLE && !names(MexOctal::NAME);
    if is_summary && (args.save.is_some() || names(MexPeriod::NAME) || is_far) {
        let selection = selection(&args.kernels, "grundy", MexPeriod::NAME)?;
        return census(args, &code, &input, &selection);
    }
    let selection = selection(&args.kernels, "grundy", MexOctal::NAME)?;
    let run = interrupt::run(selection.threads());
    let lock = |path| CheckpointFile::lock(path, args.every, &run);
    let file = args.checkpoint.as_deref().map(lock).transpose()?;
    let start = match &file {
        None => Start::default(),
        Some(file) => {
            let known = file.load(args.resume, |from| checkpoint::read(&code, input.heaps(), from))?;
            let journal = Kept { file: Arc::clone(file), code: code.clone() };
            Start::with_journal(Arc::new(journal), known.unwrap_or_default())
        }
    };
    let values = compute::<MexOctal>(start, &input, args.limit, |limit| Octal::new(&code, limit), &selection, &run);
    let values = outcome(file.as_ref(), values)?.output;
    write_output(args.out.as_deref(), |out| write(args, &code, &values, &run, out))?;
    file.map_or(Ok(()), |file| file.remove())
}

/// A summary without a table of values.
fn census(args: &Args, code: &Code, input: &Octal, selection: &Selection) -> Result<(), Failure> {
    let run = interrupt::run(selection.threads());
    let lock = |path| CheckpointFile::lock(path, args.every, &run);
    let file = args.checkpoint.as_deref().map(lock).transpose()?;
    let start = match &file {
        None => period::Start::default(),
        Some(file) => {
            let from = file.load(args.resume, |from| Progress::read(input, from))?;
            period::Start::with_journal(Arc::clone(file) as Arc<dyn period::Journal>, from)
        }
    };
    let found = compute::<MexPeriod>(start, input, args.limit, |limit| Octal::new(code, limit), selection, &run);
    let found = outcome(file.as_ref(), found)?;
    keep(args, selection, || kept(args, code, &found))?;
    let summary = Summary::of_census(code, args.limit, &found.output);
    write_output(args.out.as_deref(), |out| summary.write(args.json, out))?;
    file.map_or(Ok(()), |file| file.remove())
}

/// What `--save` keeps of a summary.
fn kept(args: &Args, code: &Code, found: &Computed<MexPeriod>) -> Periodic {
    let Census { tallies, period, rare, .. } = &found.output;
    let proved = |proved: Proved| ProvedPeriod {
        length: proved.period,
        preperiod: proved.preperiod,
        heaps: proved.heaps,
        width: match proved.theorem {
            Theorem::GuySmith => None,
            Theorem::Window(width) => Some(width),
        },
    };
    Periodic {
        code: code.to_string(),
        limit: args.limit,
        kernel: found.kernel.to_owned(),
        resumed: args.resume,
        milliseconds: found.time.as_millis() as u64,
        rare: rare.map(|rare| (rare.heaps, rare.last)),
        values: tallies.iter().map(|tally| (tally.value, tally.first, tally.heaps)).collect(),
        period: period.map(proved),
    }
}

impl period::Journal for CheckpointFile {
    fn keep(&self, progress: &Progress, input: &Octal, is_last: bool) {
        CheckpointFile::keep(self, is_last, |out| progress.write(input, out));
    }
}

/// The values of a game, for `plot`.
pub fn values(code: &str, limit: u64, kernels: &Kernels) -> Result<(Code, Vec<u16>, Arc<Run>), Failure> {
    let code: Code = code.parse().map_err(InputError::Code)?;
    let input = Octal::new(&code, limit)?;
    let selection = selection(kernels, "plot", MexOctal::NAME)?;
    let run = interrupt::run(selection.threads());
    let of = |limit| Octal::new(&code, limit);
    let values = compute::<MexOctal>(Start::default(), &input, limit, of, &selection, &run)?.output;
    Ok((code, values, run))
}

/// A file for the values of a game.
struct Kept {
    file: Arc<CheckpointFile>,
    code: Code,
}

impl Journal for Kept {
    fn keep(&self, values: &[u16], is_last: bool) {
        self.file.keep(is_last, |out| checkpoint::write(&self.code, values, out));
    }
}

fn write(args: &Args, code: &Code, values: &[u16], run: &Run, out: &mut dyn Write) -> IoResult<()> {
    if args.format == Format::Summary {
        return Summary::of_code(code, values, run)?.write(args.json, out);
    }
    if args.zeros {
        let zeros = (0u64..).zip(values).filter(|(_, value)| **value == 0);
        return numbers(args, zeros.map(|(n, _)| (n, n.to_le_bytes())), run, out);
    }
    if args.records {
        // The largest value so far; a smaller one may come later, or never.
        let mut largest = None;
        let is_record = |(_, value): &(u64, &u16)| largest < Some(**value) && largest.replace(**value) < Some(**value);
        let records = (0u64..).zip(values).filter(is_record);
        return numbers(args, records.map(|(n, _)| (n, n.to_le_bytes())), run, out);
    }
    numbers(args, values.iter().map(|value| (u64::from(*value), value.to_le_bytes())), run, out)
}
