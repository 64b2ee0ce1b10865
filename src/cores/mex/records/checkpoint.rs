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

use std::io::{self, Read, Write};

use super::history::{History, Layout, Progress};
use super::{LANES, MOST_MOVES, Output, Records, WINDOW};
use crate::cores::mex::checkpoint::{CheckpointError, Reader, Writer};

/// The first bytes of a checkpoint.
const MAGIC: [u8; 8] = *b"nimlane2";

impl Progress {
    /// Writes everything that is needed to resume.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = Writer::new(out, MAGIC)?;
        let Output { first, counts, fingerprint } = &self.output;
        out.numbers([self.limit, self.moves.len() as u64])?;
        out.numbers(self.moves.iter().map(|m| *m as u64))?;
        out.numbers([self.next as u64, first.len() as u64])?;
        out.numbers(first.iter().chain(counts).copied().chain([*fingerprint]))?;
        self.history.layout.held(self.next).try_for_each(|n| out.bytes(self.history.block(n)))?;
        out.end()
    }

    /// Reads what [`Progress::write`] wrote for a run on `input`.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or belongs to another input.
    pub fn read(input: &Records, from: &mut dyn Read) -> Result<Self, CheckpointError> {
        let mut reader = Reader::new(from, MAGIC)?;
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
