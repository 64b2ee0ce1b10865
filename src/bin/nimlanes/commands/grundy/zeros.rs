//! `nimlanes grundy --zeros`

use std::io::{Result as IoResult, Write};
use std::sync::Arc;

use nimlanes::cores::mex::zeros::{Journal, MexZeros, Progress, Start, Zeros};
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::moves::MoveSet;

use super::checkpoint::{CheckpointFile, outcome};
use super::summary::Summary;
use super::{Args, Format, compute, numbers, save};
use crate::files::found::Growth;
use crate::terminal::failure::Failure;
use crate::terminal::output::write_output;

pub fn main(args: &Args, set: &MoveSet, selection: &Selection, run: &Arc<Run>) -> Result<(), Failure> {
    let of = |limit| {
        let input = Zeros::new(set, limit, selection.machine())?;
        Ok(if args.checkpoint.is_some() { input.resumable() } else { input })
    };
    let input = of(args.limit)?;
    let lock = |path| CheckpointFile::lock(path, args.every, run);
    let file = args.checkpoint.as_deref().map(lock).transpose()?;
    let start = match &file {
        None => Start::default(),
        Some(file) => {
            let from = file.load(args.resume, |from| Progress::read(&input, from))?;
            Start::with_journal(Arc::new(Kept { file: Arc::clone(file), input: input.clone() }), from)
        }
    };
    let found = compute::<MexZeros>(start, &input, args.limit, of, selection, run);
    let found = outcome(file.as_ref(), found)?;
    save(args, set, selection, &found, |origin, zeros| Growth::new(origin, zeros))?;
    write_output(args.out.as_deref(), |out| write(args, set, &found.output, run, out))?;
    file.map_or(Ok(()), |file| file.remove())
}

/// A file for the P-positions of a set.
struct Kept {
    file: Arc<CheckpointFile>,
    input: Zeros,
}

impl Journal for Kept {
    fn keep(&self, progress: &Progress, is_last: bool) {
        self.file.keep(is_last, |out| progress.write(&self.input, out));
    }
}

fn write(args: &Args, set: &MoveSet, zeros: &[u64], run: &Run, out: &mut dyn Write) -> IoResult<()> {
    if args.format != Format::Summary {
        return numbers(args, zeros.iter().map(|n| (*n, n.to_le_bytes())), run, out);
    }
    Summary::of_zeros(set, args.limit, zeros).write(args.json, out)
}
