//! `nimlanes grundy --zeros`

use std::sync::Arc;

use nimlanes::cores::mex::zeros::{Journal, MexZeros, Progress, Start, Zeros};
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::moves::MoveSet;

use super::checkpoint::{CheckpointFile, outcome};
use super::summary::Summary;
use super::{Args, Sequence, compute, keep, write};
use crate::files::found::Growth;
use crate::terminal::failure::Failure;

pub fn main(args: &Args, set: &MoveSet, selection: &Selection, run: &Arc<Run>) -> Result<(), Failure> {
    let of = |limit| {
        let input = Zeros::new(set, limit, selection.machine())?;
        Ok(if args.checkpoint.is_some() { input.resumable() } else { input })
    };
    let input = of(args.limit)?;
    let file = CheckpointFile::of(args, run)?;
    let start = match &file {
        None => Start::default(),
        Some(file) => {
            let from = file.load(args.resume, |from| Progress::read(&input, from), Progress::done)?;
            Start::with_journal(Arc::new(Kept { file: Arc::clone(file), input: input.clone() }), from)
        }
    };
    let found = compute::<MexZeros>(start, &input, args.limit, of, selection, run);
    let found = outcome(file.as_ref(), found)?;
    let zeros = &found.output;
    keep(args, selection, || Growth::new(found.origin(args, set), zeros))?;
    let summary = || Ok(Summary::of_zeros(set, args.limit, zeros));
    write(args, run, summary, || Sequence::Heaps(zeros.into()))?;
    file.map_or(Ok(()), |file| file.remove())
}

/// A file for the P-positions of a set.
struct Kept {
    file: Arc<CheckpointFile>,
    input: Zeros,
}

impl Journal for Kept {
    fn keep(&self, progress: &Progress, is_last: bool) {
        self.file.keep(progress.done(), is_last, |out| progress.write(&self.input, out));
    }
}
