//! The progress of a run in a file.
//!
//! The format is a sequence of little-endian 64-bit numbers: `nimlane2` in ASCII; the limit; the number of moves, and the moves;
//! the number of heaps done; the number of values, their first heaps and their counts; the fingerprint. Then come the codes of the
//! blocks that the history holds, in the order of their heaps, and the XXH3-64 of everything before.
//!
//! Reading replays these blocks through the function that writes a run's history, so copies inside the history are restored as
//! well. The previous format, `nimlane1`, stored the ring without the copy of its first block: runs resumed in the ring's first
//! lap could compute wrong values.
//!
//! A valid checksum is not enough: contents that no run could have written are rejected.

use std::hash::Hasher as _;
use std::io::{self, BufReader, BufWriter, Read, Write};

use twox_hash::XxHash3_64;

use super::history::{History, Layout, Progress};
use super::{LANES, MOST_MOVES, Output, Records, WINDOW};

/// The first bytes of a checkpoint.
const MAGIC: [u8; 8] = *b"nimlane2";

/// The first bytes of a checkpoint in the previous format.
const OLD_MAGIC: [u8; 8] = *b"nimlane1";

/// Bytes to read or write at once.
pub(in crate::cores::mex) const BUFFER: usize = 1 << 16;

/// Why a run cannot resume from a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file ends too early.
    #[error("the checkpoint is truncated")]
    Truncated,
    /// The file is not a checkpoint.
    #[error("this is not a checkpoint of nimlanes")]
    NoCheckpoint,
    /// The file was written by a version whose checkpoints could lead to wrong values.
    #[error("the checkpoint has the old format nimlane1, which cannot be resumed; start this run again without it")]
    OldFormat,
    /// The file belongs to another set or another limit.
    #[error("the checkpoint belongs to another subtraction set or another limit")]
    Foreign,
    /// The file belongs to another game.
    #[error("the checkpoint belongs to another game")]
    OtherGame,
    /// The contents are not what was written.
    #[error("the checkpoint is damaged")]
    Damaged,
}

impl Progress {
    /// Writes everything that is needed to resume.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(BUFFER, out);
        let mut hash = XxHash3_64::new();
        let mut put = |bytes: &[u8]| {
            hash.write(bytes);
            out.write_all(bytes)
        };
        let Output { first, counts, fingerprint } = &self.output;
        let numbers = [u64::from_le_bytes(MAGIC), self.limit, self.moves.len() as u64].into_iter();
        let numbers = numbers.chain(self.moves.iter().map(|m| *m as u64));
        let numbers = numbers.chain([self.next as u64, first.len() as u64]);
        let mut numbers = numbers.chain(first.iter().chain(counts).copied()).chain([*fingerprint]);
        numbers.try_for_each(|number| put(&number.to_le_bytes()))?;
        self.history.layout.held(self.next).try_for_each(|n| put(self.history.block(n)))?;
        out.write_all(&hash.finish().to_le_bytes())?;
        out.flush()
    }

    /// Reads what [`Progress::write`] wrote for a run on `input`.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or belongs to another input.
    pub fn read(input: &Records, from: &mut dyn Read) -> Result<Self, CheckpointError> {
        let mut reader = Reader::new(from);
        match reader.number().map(u64::to_le_bytes) {
            Ok(MAGIC) => {}
            Ok(OLD_MAGIC) => return Err(CheckpointError::OldFormat),
            Ok(_) | Err(CheckpointError::Truncated) => return Err(CheckpointError::NoCheckpoint),
            Err(error) => return Err(error),
        }
        if reader.number()? != input.limit() || reader.number()? != input.moves().len() as u64 {
            return Err(CheckpointError::Foreign);
        }
        for m in input.moves() {
            if reader.number()? != *m as u64 {
                return Err(CheckpointError::Foreign);
            }
        }
        let (next, values) = (reader.number()?, reader.number()?);
        if values > MOST_MOVES as u64 + 1 {
            return Err(CheckpointError::Damaged);
        }
        let mut numbers = || (0..values).map(|_| reader.number()).collect::<Result<_, _>>();
        let output = Output { first: numbers()?, counts: numbers()?, fingerprint: reader.number()? };
        if !is_possible(input, next, &output) {
            return Err(CheckpointError::Damaged);
        }
        let (next, heaps) = (next as usize, input.heaps());
        let mut history = History::new(Layout::new(input));
        let known = WINDOW as u8 - (values as u8).saturating_sub(1)..=WINDOW as u8;
        let mut codes = [0; LANES];
        for n in history.layout.held(next) {
            reader.bytes(&mut codes)?;
            let (own, past) = codes.split_at(LANES.min(heaps - n));
            if !own.iter().all(|code| known.contains(code)) || past.iter().any(|code| *code != 0) {
                return Err(CheckpointError::Damaged);
            }
            history.write(n, n % history.layout.ring, &codes);
        }
        reader.end()?;
        Ok(Progress { moves: input.moves().to_vec(), limit: input.limit(), next, output, history })
    }
}

/// Whether a run on `input` can have this output after `next` heaps.
fn is_possible(input: &Records, next: u64, output: &Output) -> bool {
    let Output { first, counts, .. } = output;
    let heaps = input.heaps() as u64;
    // A heap of value v has at least v moves.
    let moves = |n: u64| input.moves().partition_point(|m| *m as u64 <= n);
    (next == heaps || next < heaps && next.is_multiple_of(LANES as u64))
        && first.first().copied() == (next > 0).then_some(0)
        && first.is_sorted_by(|a, b| a < b)
        && first.iter().enumerate().all(|(v, n)| *n < next && moves(*n) >= v)
        && counts.iter().all(|count| *count > 0)
        && counts.iter().map(|count| u128::from(*count)).sum::<u128>() == u128::from(next)
}

/// A reader that hashes what it reads.
pub(in crate::cores::mex) struct Reader<'a> {
    from: BufReader<&'a mut dyn Read>,
    hash: XxHash3_64,
}

impl<'a> Reader<'a> {
    pub(in crate::cores::mex) fn new(from: &'a mut dyn Read) -> Self {
        Reader { from: BufReader::with_capacity(BUFFER, from), hash: XxHash3_64::new() }
    }

    pub(in crate::cores::mex) fn bytes(&mut self, to: &mut [u8]) -> Result<(), CheckpointError> {
        self.from.read_exact(to).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => CheckpointError::Truncated,
            _ => CheckpointError::Io(error),
        })?;
        self.hash.write(to);
        Ok(())
    }

    pub(in crate::cores::mex) fn number(&mut self) -> Result<u64, CheckpointError> {
        let mut bytes = [0; 8];
        self.bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Checks that only the hash of what was read follows.
    pub(in crate::cores::mex) fn end(&mut self) -> Result<(), CheckpointError> {
        let want = self.hash.finish();
        let is_right = self.number()? == want && self.from.read(&mut [0])? == 0;
        if is_right { Ok(()) } else { Err(CheckpointError::Damaged) }
    }
}
