//! The progress of a run, saved in a file.

use std::io::{self, Read, Write};

use super::compressed::{Chunks, MOST_BYTES};
use super::history::Progress;
use super::layout::{CHUNK, HistoryLayout, Packed, RECENT};
use super::{LANES, MOST_MOVES, Output, Records, WINDOW};
use crate::cores::mex::checkpoint::{self, CheckpointError, Reader, Writer, ensure};
use crate::cores::mex::lanes::below;

/// Saves the progress of a run.
pub trait Journal: Send + Sync {
    /// Called between blocks, a few times a second. `is_last` is true if the run is about to stop early.
    fn keep(&self, progress: &Progress, is_last: bool);
}

/// Where a run starts, and where it saves its progress.
pub type Start = checkpoint::Start<Progress, dyn Journal>;

/// The first bytes of a checkpoint, for a plain history and for a packed one.
const MAGIC: [[u8; 8]; 2] = [*b"nimlane2", *b"nimlane3"];

impl Progress {
    /// Writes everything that is needed to resume.
    ///
    /// The format is a sequence of little-endian 64-bit numbers: `nimlane2` in ASCII; the limit; the number of moves, and the moves;
    /// the number of heaps done; the number of values, their first heaps and their counts; the fingerprint. Then come the codes of the
    /// blocks that the history holds, in the order of their heaps, and the XXH3-64 of everything before. A packed history has
    /// `nimlane3` at the beginning, and in place of codes the chunks that it holds, each with its number of bytes before it.
    ///
    /// Reading replays these blocks through the function that writes a run's history, so copies inside the history are restored as
    /// well. The previous format, `nimlane1`, stored the ring without the copy of its first block: runs resumed in the ring's first
    /// lap could compute wrong values.
    ///
    /// A valid checksum is not enough: contents that no run could have written are rejected.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = Writer::new(out, MAGIC[usize::from(self.is_packed())])?;
        let Output { first, counts, fingerprint } = &self.output;
        out.numbers([self.limit, self.moves.len() as u64])?;
        out.numbers(self.moves.iter().map(|m| *m as u64))?;
        out.numbers([self.next as u64, first.len() as u64])?;
        out.numbers(first.iter().chain(counts).copied())?;
        out.number(*fingerprint)?;
        if let Some(packed) = self.history.layout.packed {
            let count = self.next.div_ceil(CHUNK);
            for chunk in (0..count).filter(|chunk| Chunks::holds(packed, count, *chunk)) {
                let bytes = self.history.chunks.get(chunk);
                out.number(bytes.len() as u64)?;
                out.bytes(bytes)?;
            }
        } else {
            for n in self.history.layout.held(self.next).into_iter().flat_map(|heaps| heaps.step_by(LANES)) {
                out.bytes(self.history.block(n))?;
            }
        }
        out.end()
    }

    /// Reads what [`Progress::write`] wrote for a run on `input`.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or belongs to another input.
    pub fn read(input: &Records, from: &mut dyn Read) -> Result<Self, CheckpointError> {
        let (mut reader, version) = Reader::any(from, &MAGIC)?;
        let layout = if version == 0 { HistoryLayout::new(input) } else { HistoryLayout::packed(input) };
        if layout.packed.is_some() != (version == 1) {
            return Err(CheckpointError::Foreign);
        }
        reader.expect([input.limit(), input.moves().len() as u64])?;
        reader.expect(input.moves().iter().map(|m| *m as u64))?;
        let (next, values) = (reader.number()?, reader.number()?);
        ensure(values <= MOST_MOVES as u64 + 1)?;
        let (first, counts) = (reader.numbers(values)?, reader.numbers(values)?);
        let output = Output { first, counts, fingerprint: reader.number()? };
        ensure(is_possible(input, next, &output))?;
        let least = WINDOW as u8 - (values as u8).saturating_sub(1);
        let mut progress = Progress { next: next as usize, output, ..Progress::with_layout(input, layout) };
        match layout.packed {
            None => progress.read_codes(&mut reader, input.heaps(), least)?,
            Some(packed) => progress.read_chunks(&mut reader, packed, input.heaps(), least)?,
        }
        reader.end()?;
        Ok(progress)
    }

    /// Reads the codes that a plain history holds. The last value found so far has the code `least`.
    fn read_codes(&mut self, reader: &mut Reader, heaps: usize, least: u8) -> Result<(), CheckpointError> {
        let history = &mut self.history;
        let mut codes = [0; LANES];
        for n in history.layout.held(self.next).into_iter().flat_map(|heaps| heaps.step_by(LANES)) {
            reader.bytes(&mut codes)?;
            let (own, past) = codes.split_at(LANES.min(heaps - n));
            ensure(are_known(own, least) && past.iter().all(|code| *code == 0))?;
            history.write(n, n % history.layout.ring, &codes);
        }
        Ok(())
    }

    /// Reads the chunks that a packed history holds.
    fn read_chunks(
        &mut self,
        reader: &mut Reader,
        packed: Packed,
        heaps: usize,
        least: u8,
    ) -> Result<(), CheckpointError> {
        ensure(self.next >= heaps || self.next.is_multiple_of(CHUNK))?;
        let count = self.next.div_ceil(CHUNK);
        for chunk in (0..count).filter(|chunk| Chunks::holds(packed, count, *chunk)) {
            let length = reader.number()?;
            ensure(length <= MOST_BYTES as u64)?;
            let mut bytes = vec![0; length as usize].into_boxed_slice();
            reader.bytes(&mut bytes)?;
            let own = CHUNK.min(self.next - chunk * CHUNK);
            ensure(self.history.restore(chunk, bytes).is_some_and(|codes| are_known(&codes[..own], least)))?;
        }
        // The ring is followed by a copy of its first block.
        self.history.ring.copy_within(..LANES, RECENT);
        Ok(())
    }
}

/// Whether the codes are those of values that a run has found, the last of which has the code `least`.
fn are_known(codes: &[u8], least: u8) -> bool {
    codes.iter().all(|code| (least..WINDOW as u8 + 1).contains(code))
}

/// Whether a run on `input` can have this output after `next` heaps.
fn is_possible(input: &Records, next: u64, output: &Output) -> bool {
    let Output { first, counts, .. } = output;
    let heaps = input.heaps() as u64;
    let mut counted = 0;
    for (v, (n, count)) in first.iter().zip(counts).enumerate() {
        let is_in_order = if v == 0 { *n == 0 } else { first[v - 1] < *n };
        // A heap of value v has at least v moves.
        if !is_in_order || *n >= next || below(input.moves(), *n as usize + 1) < v || *count == 0 {
            return false;
        }
        counted += u128::from(*count);
    }
    (next == heaps || next < heaps && next.is_multiple_of(LANES as u64)) && counted == u128::from(next)
}
