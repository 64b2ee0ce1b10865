//! The progress of a run in a file.
//!
//! Numbers of 64 bits, little-endian: `nimlane2` in ASCII; the limit; the number of moves, and the moves; heaps done; the number of
//! values, their first heaps and their counts; the fingerprint. Then the codes of the blocks that the history still holds, in
//! the order of their heaps, and the XXH3-64 of everything before.
//!
//! Reading plays those blocks back through the function that a run writes its history with, so nothing that it keeps twice or
//! elsewhere can be forgotten here. The format before, `nimlane1`, stored the ring without the copy of its first block: runs
//! resumed in the ring's first lap could compute wrong values.
//!
//! A file with a right checksum is not trusted either: what no run could have written is refused.

use std::hash::Hasher as _;
use std::io::{self, BufReader, BufWriter, Read, Write};

use twox_hash::XxHash3_64;

use super::history::{History, Layout, Progress};
use super::{LANES, MOST_MOVES, Output, Records, WINDOW};

/// How a checkpoint begins.
const MAGIC: [u8; 8] = *b"nimlane2";

/// How checkpoints of the format before begin.
const OLD_MAGIC: [u8; 8] = *b"nimlane1";

/// Bytes that are read or written at once.
const BUFFER: usize = 1 << 16;

/// A file that a run cannot go on from.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It ends too early.
    #[error("the checkpoint is cut short")]
    Truncated,
    /// It holds something else.
    #[error("this is no checkpoint of nimlanes")]
    NoCheckpoint,
    /// It was written by a version whose checkpoints could lead to wrong values.
    #[error(
        "the checkpoint has the older format nimlane1, which is no longer resumed: start this run again without it"
    )]
    OldFormat,
    /// It belongs to another set or another limit.
    #[error("the checkpoint is of another subtraction set or another limit")]
    Foreign,
    /// Its contents are not what was written.
    #[error("the checkpoint is damaged")]
    Damaged,
}

impl Progress {
    /// Writes all that is needed to go on.
    ///
    /// # Errors
    /// Those of the writer.
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

    /// Reads what [`Progress::write`] wrote of a run over `input`.
    ///
    /// # Errors
    /// The file cannot be read, or is not what was written.
    pub fn read(input: &Records, from: &mut dyn Read) -> Result<Self, CheckpointError> {
        let mut reader = Reader { from: BufReader::with_capacity(BUFFER, from), hash: XxHash3_64::new() };
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
        let want = reader.hash.finish();
        if reader.number()? != want || reader.from.read(&mut [0])? != 0 {
            return Err(CheckpointError::Damaged);
        }
        Ok(Progress { moves: input.moves().to_vec(), limit: input.limit(), next, output, history })
    }
}

/// Whether a run over `input` can have this output after `next` heaps.
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

/// Reads and hashes.
struct Reader<'a> {
    from: BufReader<&'a mut dyn Read>,
    hash: XxHash3_64,
}

impl Reader<'_> {
    fn bytes(&mut self, to: &mut [u8]) -> Result<(), CheckpointError> {
        self.from.read_exact(to).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => CheckpointError::Truncated,
            _ => CheckpointError::Io(error),
        })?;
        self.hash.write(to);
        Ok(())
    }

    fn number(&mut self) -> Result<u64, CheckpointError> {
        let mut bytes = [0; 8];
        self.bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}
