//! The values of a run: where they start, and where they are saved.

use std::sync::Arc;

use super::input::Octal;
use crate::cores::mex::checkpoint as files;
use crate::cores::octal::sparse::codes::LANES;
use crate::kernel::{Run, RunError};

/// Numbers that fit in the output.
pub const VALUES: usize = 1 << 16;

/// Saves the progress of a run.
pub trait Journal: Send + Sync {
    /// Called between blocks with all values that are known. `is_last` is true if the run is about to stop early.
    fn keep(&self, values: &[u16], is_last: bool);
}

/// Where a run starts, after the values of the first heaps, and where it saves its progress.
pub type Start = files::Start<Vec<u16>, dyn Journal>;

/// The values known so far, and where they are saved.
pub struct Values<'a> {
    pub known: Vec<u16>,
    pub heaps: usize,
    /// How many of them count as progress.
    counted: usize,
    journal: Option<Arc<dyn Journal>>,
    run: &'a Run,
}

impl<'a> Values<'a> {
    pub fn new(input: &Octal, run: &'a Run, start: Start) -> Self {
        let (mut known, heaps) = (start.from.unwrap_or_default(), input.heaps());
        known.truncate(heaps);
        // A block may end past the limit.
        known.reserve_exact(heaps - known.len() + LANES);
        Values { known, heaps, counted: 0, journal: start.journal, run }
    }

    /// Whether all values are known.
    pub fn is_complete(&self) -> bool {
        self.known.len() == self.heaps
    }

    /// Repeats the last values up to the limit.
    pub fn repeat(&mut self, period: usize) -> Result<(), RunError> {
        while !self.is_complete() {
            let from = self.known.len() - period;
            let end = (self.known.len() + REPEAT_STEP).min(self.heaps);
            while self.known.len() < end {
                // All whole periods since `from` are copied, so each step about doubles them.
                let count = (self.known.len() - from) / period * period;
                self.known.extend_from_within(from..from + count.min(end - self.known.len()));
            }
            self.advance()?;
        }
        Ok(())
    }

    /// Takes the value of the next heap, `None` if it is too large, and counts progress now and then.
    #[inline(always)]
    pub fn push(&mut self, value: Option<u16>) -> Result<(), RunError> {
        self.known.push(value.ok_or(RunError::LargeValue)?);
        if self.known.len().is_multiple_of(PROGRESS_STEP) { self.advance() } else { Ok(()) }
    }

    /// Counts and saves progress.
    pub fn advance(&mut self) -> Result<(), RunError> {
        let more = self.known.len() - std::mem::replace(&mut self.counted, self.known.len());
        let end = self.run.advance(more as u64);
        if let Some(journal) = &self.journal {
            journal.keep(&self.known, end.is_err());
        }
        end
    }
}

/// Repeated values between two progress updates.
const REPEAT_STEP: usize = 1 << 16;
/// Heaps between two progress updates, for kernels that go heap by heap.
const PROGRESS_STEP: usize = 256;

/// The values of a run in a file.
///
/// The format: `nimoctal` in ASCII; as little-endian 64-bit numbers, the length of the code and the number of values; the code as text;
/// the values, 16 bits each, little-endian; and the XXH3-64 of everything before. A run on the same game may resume from it
/// whatever its limit.
pub mod checkpoint {
    use std::io::{self, Read, Write};

    use super::super::input::MAX_LIMIT;
    use crate::cores::mex::checkpoint::{CheckpointError, Reader, Writer, ensure};
    use crate::moves::Code;

    /// The first bytes of a checkpoint.
    pub const MAGIC: [u8; 8] = *b"nimoctal";

    /// Values to read or write at once.
    const STEP: usize = 1 << 15;

    /// Writes the values of the first heaps of a game.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write(code: &Code, values: &[u16], out: &mut dyn Write) -> io::Result<()> {
        let mut out = Writer::new(out, MAGIC)?;
        let text = code.to_string();
        out.numbers([text.len() as u64, values.len() as u64])?;
        out.bytes(text.as_bytes())?;
        let mut bytes = Vec::with_capacity(2 * STEP);
        for values in values.chunks(STEP) {
            bytes.clear();
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            out.bytes(&bytes)?;
        }
        out.end()
    }

    /// Reads what [`write()`] wrote for a game: the values of its first heaps, at most `most`.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or belongs to another game.
    pub fn read(code: &Code, most: usize, from: &mut dyn Read) -> Result<Vec<u16>, CheckpointError> {
        let mut reader = Reader::new(from, MAGIC)?;
        let (length, count) = (reader.number()?, reader.number()?);
        expect_code(&mut reader, length, code)?;
        ensure(count <= MAX_LIMIT + 1)?;
        let mut values = Vec::new();
        let mut bytes = vec![0; 2 * STEP];
        let mut left = count as usize;
        while left > 0 {
            let step = &mut bytes[..2 * left.min(STEP)];
            reader.bytes(step)?;
            left -= step.len() / 2;
            let step = step.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes));
            values.extend(step.take(most.saturating_sub(values.len())));
        }
        reader.end()?;
        ensure(values.first().is_none_or(|value| *value == 0))?;
        Ok(values)
    }

    /// Reads the text of a code, of a length that was read before.
    pub(crate) fn expect_code(reader: &mut Reader, length: u64, code: &Code) -> Result<(), CheckpointError> {
        let text = code.to_string();
        let mut found = vec![0; text.len()];
        if length == text.len() as u64 {
            reader.bytes(&mut found)?;
        }
        if found == text.as_bytes() { Ok(()) } else { Err(CheckpointError::OtherGame) }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_written_is_read_again() {
            let code: Code = "0.137".parse().expect("a game");
            let values: Vec<u16> = (0..100_000u64).map(|n| (n * n % 65_521) as u16).collect();
            let mut file = Vec::new();
            write(&code, &values, &mut file).expect("memory");
            for most in [0, 1, STEP, STEP + 1, values.len(), usize::MAX] {
                let read = read(&code, most, &mut &file[..]).expect("a checkpoint");
                assert_eq!(read, values[..most.min(values.len())]);
            }
            // A count of all heaps up to the largest limit is accepted, and no larger one.
            for (count, want) in
                [(MAX_LIMIT + 1, CheckpointError::Truncated), (MAX_LIMIT + 2, CheckpointError::Damaged)]
            {
                let wrong = [&file[..16], &count.to_le_bytes(), &file[24..]].concat();
                let error = read(&code, usize::MAX, &mut &wrong[..]).expect_err("no checkpoint");
                assert_eq!(error.to_string(), want.to_string());
            }
        }
    }
}
