//! The P-positions of a run in a file.

use std::io::{self, Read, Write};

use super::Zeros;
use crate::cores::growing;
use crate::cores::mex::checkpoint::{self, CheckpointError, Reader, Writer, ensure, hash_of};
use crate::cores::mex::lanes::below;

/// The first bytes of a checkpoint.
const MAGIC: [u8; 8] = *b"nimzero1";

/// The P-positions of the first heaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of heaps done.
    pub(super) done: u64,
    /// The P-positions among them, ascending.
    pub(super) zeros: Vec<u64>,
}

/// Saves the progress of a run.
pub trait Journal: Send + Sync {
    /// Called after each tile of heaps. `is_last` is true if the run is about to stop early.
    fn keep(&self, progress: &Progress, is_last: bool);
}

/// Where a run starts, and where it saves its progress.
pub type Start = checkpoint::Start<Progress, dyn Journal>;

/// The number of moves below a heap, and their hash.
fn moves_below(input: &Zeros, heap: u64) -> [u64; 2] {
    let moves = &input.moves()[..below(input.moves(), heap)];
    [moves.len() as u64, hash_of(moves)]
}

impl Progress {
    /// The number of heaps done.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Forgets what is known of the heaps from `heaps` on.
    pub(super) fn cut(&mut self, heaps: u64) {
        self.done = self.done.min(heaps);
        self.zeros.truncate(below(&self.zeros, heaps));
    }

    /// Writes everything that is needed to resume a run on `input`.
    ///
    /// The format: `nimzero1` in ASCII; then little-endian 64-bit numbers: the number of heaps done; the number of moves below it and
    /// their XXH3-64; the number of P-positions, and the P-positions; the XXH3-64 of everything before.
    ///
    /// The P-positions of these heaps depend on no other moves and on no limit, so a run with another limit may resume as well.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write(&self, input: &Zeros, out: &mut dyn Write) -> io::Result<()> {
        let mut out = Writer::new(out, MAGIC)?;
        out.number(self.done)?;
        out.numbers(moves_below(input, self.done))?;
        out.number(self.zeros.len() as u64)?;
        out.numbers(self.zeros.iter().copied())?;
        out.end()
    }

    /// Reads what [`Progress::write`] wrote for a run on the same set.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, belongs to another set, or is from beyond the limit of `input`.
    pub fn read(input: &Zeros, from: &mut dyn Read) -> Result<Self, CheckpointError> {
        let mut reader = Reader::new(from, MAGIC)?;
        let done = reader.number()?;
        if done > input.heaps() as u64 {
            return Err(CheckpointError::Foreign);
        }
        reader.expect(moves_below(input, done))?;
        let mut zeros = Vec::new();
        for _ in 0..reader.number()? {
            let zero = reader.number()?;
            // Heap 0 is a P-position, and the others follow in order.
            ensure(zero < done && zeros.last().map_or(zero == 0, |last| zero > *last))?;
            growing::push(&mut zeros, zero);
        }
        reader.end()?;
        ensure(zeros.is_empty() == (done == 0))?;
        Ok(Progress { done, zeros })
    }
}
