//! `nimlanes grundy --moves`

use std::sync::Arc;

use nimlanes::cores::mex::period::tallies;
use nimlanes::cores::mex::records::{self, MexRecords, Output, Records};
use nimlanes::cores::mex::subtraction::{MAX_LIMIT, MexSubtraction, Subtraction};
use nimlanes::cores::mex::zeros::{self, MexZeros, Zeros};
use nimlanes::kernel::Operation;
use nimlanes::kernel::workload::InputError;
use nimlanes::moves::MoveSet;

use super::checkpoint::CheckpointFile;
use super::summary::GameSummary;
use super::{Args, Format, Job};
use crate::terminal::failure::Failure;

pub fn main(args: &Args) -> Result<(), Failure> {
    let set: MoveSet = args.moves.parse().map_err(InputError::Moves)?;
    if args.zeros {
        return zeros(args, &set);
    }
    let is_summary = args.format == Format::Summary;
    if !args.records && !is_summary && args.checkpoint.is_some() {
        return Err(Failure::Usage("--checkpoint needs --records, --zeros or --format summary".to_owned()));
    }
    // A checkpoint keeps no table of values, and a table ends at `MAX_LIMIT`.
    let (keeps, past_tables) = (args.checkpoint.is_some(), args.limit > MAX_LIMIT);
    if args.records || is_summary && (keeps || past_tables) {
        match Records::new(&set, args.limit) {
            Ok(input) => return records(args, &set, input),
            // The values themselves: a table states how far it goes.
            Err(InputError::TooManyMoves { .. }) if !(keeps || args.records && past_tables) => {}
            Err(error) => return Err(error.into()),
        }
    }
    values(args, &set)
}

/// All values.
fn values(args: &Args, set: &MoveSet) -> Result<(), Failure> {
    let job = Job::new(args, &[MexSubtraction::NAME])?;
    let of = |limit| Subtraction::new(set, limit, job.work.selection.machine());
    let values = job.compute::<MexSubtraction>((), &of(args.limit)?, of)?;
    job.finish(
        || GameSummary::of_moves(set, args.limit, &values, &job.work.run),
        || match args.records {
            true => Box::new(tallies(&values).into_iter().map(|tally| tally.first)),
            false => Box::new(values.iter().map(|value| u64::from(*value))),
        },
    )
}

/// First heaps and frequencies, without a table of values.
fn records(args: &Args, set: &MoveSet, mut input: Records) -> Result<(), Failure> {
    let job = Job::new(args, &[MexRecords::NAME])?;
    let mut start = records::Start::default();
    if let Some(file) = &job.file {
        let from = job.load(|from| records::Progress::read(&input, from), records::Progress::done)?;
        input = from.iter().fold(input.resumable(), |input, from| input.continuing(from));
        start = records::Start::with_journal(Arc::clone(file) as Arc<dyn records::Journal>, from);
    }
    let of =
        |limit| Ok(if job.file.is_some() { Records::new(set, limit)?.resumable() } else { Records::new(set, limit)? });
    let Output { first, counts, .. } = job.compute::<MexRecords>(start, &input, of)?;
    job.finish(|| Ok(GameSummary::of_records(set, args.limit, &first, &counts)), || Box::new(first.iter().copied()))
}

impl records::Journal for CheckpointFile {
    fn keep(&self, progress: &records::Progress, is_last: bool) {
        CheckpointFile::keep(self, progress.done(), is_last, |out| progress.write(out));
    }
}

/// The heaps of value 0, by a sieve that finds them without the other values.
fn zeros(args: &Args, set: &MoveSet) -> Result<(), Failure> {
    let job = Job::new(args, &[MexZeros::NAME])?;
    let of = |limit| {
        let input = Zeros::new(set, limit, job.work.selection.machine())?;
        Ok(if job.file.is_some() { input.resumable() } else { input })
    };
    let input = of(args.limit)?;
    let mut start = zeros::Start::default();
    if let Some(file) = &job.file {
        let from = job.load(|from| zeros::Progress::read(&input, from), zeros::Progress::done)?;
        start = zeros::Start::with_journal(Arc::new(ZerosFile { file: Arc::clone(file), input: input.clone() }), from);
    }
    let zeros = job.compute::<MexZeros>(start, &input, of)?;
    job.finish(|| Ok(GameSummary::of_zeros(set, args.limit, &zeros)), || Box::new(zeros.iter().copied()))
}

/// A file for the P-positions of a set.
struct ZerosFile {
    file: Arc<CheckpointFile>,
    input: Zeros,
}

impl zeros::Journal for ZerosFile {
    fn keep(&self, progress: &zeros::Progress, is_last: bool) {
        self.file.keep(progress.done(), is_last, |out| progress.write(&self.input, out));
    }
}
