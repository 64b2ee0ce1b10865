//! The progress of a run in a file.
//!
//! Numbers of 64 bits, little-endian: `nimlane1` in ASCII; the limit; the number of moves, and the moves; heaps done; the number of
//! values, their first heaps and their counts; the fingerprint; the lengths of ring and prefix. Then the bytes of both as far
//! as they are in use, and a hash of everything before.

use std::io::{self, Read, Write};

use super::history::Progress;
use super::{MOST_MOVES, Records, hashed};

/// How a checkpoint begins.
const MAGIC: u64 = u64::from_le_bytes(*b"nimlane1");

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
    /// It belongs to another set or another limit.
    #[error("the checkpoint is of another subtraction set or another limit")]
    Foreign,
    /// Its contents are not what was written.
    #[error("the checkpoint is damaged")]
    Damaged,
}

/// A hash of the words that pass; the last one is filled with zeros.
#[derive(Default)]
struct Hash {
    state: u64,
}

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        for word in words.iter().chain((!rest.is_empty()).then_some(&last)) {
            self.state = hashed(self.state, *word);
        }
    }
}

/// The parts of a history that are in use after so many heaps.
fn in_use(progress: &Progress) -> (usize, usize) {
    let done = progress.next.next_multiple_of(8);
    let ring = if done < progress.history.layout.ring { done } else { progress.history.ring.len() };
    // The block of zeros in front counts as used.
    let prefix = if progress.history.prefix.is_empty() { 0 } else { done + super::LANES };
    (ring.min(progress.history.ring.len()), prefix.min(progress.history.prefix.len()))
}

impl Progress {
    /// Writes all that is needed to go on.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut hash = Hash::default();
        let mut put = |bytes: &[u8]| {
            hash.add(bytes);
            out.write_all(bytes)
        };
        let numbers = [MAGIC, self.limit, self.moves.len() as u64].into_iter();
        let numbers = numbers.chain(self.moves.iter().map(|m| *m as u64));
        let numbers = numbers.chain([self.next as u64, self.output.first.len() as u64]);
        let numbers = numbers.chain(self.output.first.iter().copied()).chain(self.output.counts.iter().copied());
        let layout = self.history.layout;
        let mut numbers = numbers.chain([self.output.fingerprint, layout.ring as u64, layout.prefix as u64]);
        numbers.try_for_each(|number| put(&number.to_le_bytes()))?;
        let (ring, prefix) = in_use(self);
        put(&self.history.ring[..ring])?;
        put(&self.history.prefix[..prefix])?;
        out.write_all(&hash.state.to_le_bytes())
    }

    /// Reads what [`Progress::write`] wrote of a run over `input`.
    ///
    /// # Errors
    /// The file cannot be read, or is not what was written.
    pub fn read(input: &Records, from: &mut dyn Read) -> Result<Self, CheckpointError> {
        let mut reader = Reader { from, hash: Hash::default() };
        if reader.number().map_err(|_| CheckpointError::NoCheckpoint)? != MAGIC {
            return Err(CheckpointError::NoCheckpoint);
        }
        let mut progress = Progress::new(input);
        let limit = reader.number()?;
        let count = reader.number()? as usize;
        if limit != input.limit() || count != input.moves().len() {
            return Err(CheckpointError::Foreign);
        }
        for m in input.moves() {
            if reader.number()? != *m as u64 {
                return Err(CheckpointError::Foreign);
            }
        }
        progress.next = reader.number()? as usize;
        let values = reader.number()? as usize;
        if progress.next > input.heaps() || values > MOST_MOVES + 1 {
            return Err(CheckpointError::Damaged);
        }
        progress.output.first = (0..values).map(|_| reader.number()).collect::<Result<_, _>>()?;
        progress.output.counts = (0..values).map(|_| reader.number()).collect::<Result<_, _>>()?;
        progress.output.fingerprint = reader.number()?;
        let layout = progress.history.layout;
        if [reader.number()?, reader.number()?] != [layout.ring as u64, layout.prefix as u64] {
            return Err(CheckpointError::Damaged);
        }
        let (ring, prefix) = in_use(&progress);
        reader.bytes(&mut progress.history.ring[..ring])?;
        reader.bytes(&mut progress.history.prefix[..prefix])?;
        let want = reader.hash.state;
        if reader.number()? != want || reader.from.read(&mut [0])? != 0 {
            return Err(CheckpointError::Damaged);
        }
        Ok(progress)
    }
}

/// Reads and hashes.
struct Reader<'a> {
    from: &'a mut dyn Read,
    hash: Hash,
}

impl Reader<'_> {
    fn bytes(&mut self, to: &mut [u8]) -> Result<(), CheckpointError> {
        self.from.read_exact(to).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => CheckpointError::Truncated,
            _ => CheckpointError::Io(error),
        })?;
        self.hash.add(to);
        Ok(())
    }

    fn number(&mut self) -> Result<u64, CheckpointError> {
        let mut bytes = [0; 8];
        self.bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}
