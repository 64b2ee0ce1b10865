//! `nimlanes grundy --code`

use std::io::{ErrorKind, Result as IoResult, Write};
use std::sync::Arc;

use nimlanes::cores::mex::octal::{self, Code, Journal, MexOctal, Octal, Period, Start, checkpoint, sparse_space};
use nimlanes::kernel::{Operation, Run};
use nimlanes::workload::InputError;

use super::checkpoint::CheckpointFile;
use super::{Args, Format, compute, numbers, selection};
use crate::args::Kernels;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{check_writable, write_output};

pub fn main(args: &Args, code: &str) -> Result<(), Failure> {
    let code: Code = code.parse().map_err(InputError::Code)?;
    let input = Octal::new(&code, args.limit)?;
    let selection = selection(&args.kernels, "grundy", MexOctal::NAME)?;
    check_writable(args.out.as_deref())?;
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
    if let Some(failure) = file.as_ref().and_then(|file| file.failure()) {
        return Err(failure);
    }
    let values = values?.output;
    write_output(args.out.as_deref(), |out| write(args, &code, &values, &run, out))?;
    file.map_or(Ok(()), |file| file.remove())
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
        return summary(code, values, run, out);
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

fn summary(code: &Code, values: &[u16], run: &Run, out: &mut dyn Write) -> IoResult<()> {
    // The first heap of each value, and how many heaps have it.
    let mut tallies = vec![(0, 0u64); 1 << 16];
    for (n, value) in values.iter().enumerate() {
        let (first, count) = &mut tallies[usize::from(*value)];
        if *count == 0 {
            *first = n;
        }
        *count += 1;
    }
    let occurring = || tallies.iter().enumerate().filter(|(_, (_, count))| *count > 0);
    let period = octal::period(code, values, run).map_err(|_| ErrorKind::Interrupted)?;
    writeln!(out, "code     {code}")?;
    writeln!(out, "heaps    0..={}", values.len() - 1)?;
    writeln!(
        out,
        "values   {}, the largest {}",
        occurring().count(),
        occurring().next_back().map_or(0, |(value, _)| value)
    )?;
    writeln!(out, "zeros    {}", tallies[0].1)?;
    writeln!(out, "period   {}", in_words(code, period))?;
    if !code.has_three_parts() {
        let space = sparse_space(values);
        let last = space.rare.last().copied().unwrap_or(0);
        writeln!(out, "rare     {} heaps, the last {last}, with mask {:#x}", space.rare.len(), space.mask)?;
    }
    writeln!(out, "value    first heap, heaps")?;
    for (value, (first, count)) in occurring() {
        writeln!(out, "{value:<7}  {first}, {count}")?;
    }
    Ok(())
}

/// What is known of the period.
fn in_words(code: &Code, period: Option<Period>) -> String {
    let Some(Period { period, preperiod, saltus, certificate, is_proved }) = period else {
        return match code.last_place() {
            Some(_) => "none found".to_owned(),
            None => "not searched, as the digits do not end".to_owned(),
        };
    };
    let saltus = if saltus == 0 { String::new() } else { format!(" with saltus {saltus}") };
    let proof = match certificate {
        Some(heap) if is_proved => format!("proved by the heaps up to {heap}"),
        Some(heap) => format!("not proved; the heaps up to {heap} would prove it"),
        None => "observed, not proved".to_owned(),
    };
    format!("{period}{saltus} from heap {preperiod} on, {proof}")
}
