//! `nimlanes grundy --code`

use std::io::{Result as IoResult, Write};
use std::sync::Arc;

use nimlanes::cores::mex::octal::{Code, Journal, MexOctal, Octal, Start, checkpoint};
use nimlanes::kernel::{Operation, Run};
use nimlanes::workload::InputError;

use super::checkpoint::{CheckpointFile, outcome};
use super::summary::Summary;
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
    let values = outcome(file.as_ref(), values)?.output;
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
