//! The progress of a run in a file.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use super::Census;
use super::state::{Progress, Snapshot, Tallies, Tortoise, VALUES};
use super::stream::LARGEST_TABLE;
use crate::cores::mex::checkpoint::{CheckpointError, Reader, Writer};
use crate::cores::mex::octal::{self, Octal};
use crate::cores::mex::sparse::window::CODES;
use crate::kernel::RunError;

/// The first bytes of a checkpoint.
const MAGIC: [u8; 8] = *b"nimwind1";

/// The most windows in a file, and the most bytes of one.
const MOST: u64 = 1 << 24;

/// Saves the progress of a run.
pub trait Journal: Send + Sync {
    /// Called after each chunk of heaps. `is_last` is true if the run is about to stop early.
    fn keep(&self, progress: &Progress, input: &Octal, is_last: bool);

    /// Called with what was counted, after [`keep`](Self::keep), if the run is about to stop early.
    fn stopped(&self, _: &Census) {}
}

/// Where a run starts, and where it saves its progress. By default it starts at heap 0 and saves nothing.
#[derive(Default)]
pub struct Start {
    pub(super) from: Option<Progress>,
    pub(super) journal: Option<Arc<dyn Journal>>,
    /// Where the table of the first heaps starts, and where it is saved.
    pub(super) table: octal::Start,
}

impl fmt::Debug for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = self.from.as_ref().map_or(0, Progress::done);
        f.debug_struct("Start").field("done", &done).field("is_kept", &self.journal.is_some()).finish()
    }
}

impl Start {
    /// A run that saves its progress to `journal`, and resumes `from` earlier progress on the same game if given.
    pub fn with_journal(journal: Arc<dyn Journal>, from: Option<Progress>) -> Self {
        Start { from, journal: Some(journal), table: octal::Start::default() }
    }

    /// The same run, whose table of the first heaps starts from the values in `table` and is saved to its journal. If too many
    /// heaps are rare for a window, the last call of that journal has all values that are known.
    #[must_use]
    pub fn with_table(self, table: octal::Start) -> Self {
        Start { table, ..self }
    }

    /// For a kernel that cannot resume.
    ///
    /// # Errors
    /// [`RunError::OutsideDomain`]: the run starts from earlier progress, or saves it.
    pub(super) fn at_zero(self) -> Result<(), RunError> {
        let Start { from, journal, table } = self;
        let is_plain = from.is_none() && journal.is_none() && table.from.is_empty() && table.journal.is_none();
        if is_plain { Ok(()) } else { Err(RunError::OutsideDomain) }
    }
}

fn write_tallies(out: &mut Writer, tallies: &Tallies) -> io::Result<()> {
    out.numbers(tallies.iter().flat_map(|(first, heaps)| [*first, *heaps]))
}

fn read_tallies(reader: &mut Reader) -> Result<Tallies, CheckpointError> {
    let mut tallies = [(0, 0); VALUES];
    for (first, heaps) in &mut tallies {
        (*first, *heaps) = (reader.number()?, reader.number()?);
    }
    Ok(tallies)
}

fn write_window(out: &mut Writer, heap: u64, codes: &[u8]) -> io::Result<()> {
    out.numbers([heap, codes.len() as u64])?;
    out.bytes(codes)
}

fn read_window(reader: &mut Reader) -> Result<Snapshot, CheckpointError> {
    let heap = reader.number()?;
    let count = reader.number()?;
    if count > MOST.min(heap) {
        return Err(CheckpointError::Damaged);
    }
    let mut codes = vec![0; count as usize];
    reader.bytes(&mut codes)?;
    if codes.iter().any(|code| usize::from(*code) >= CODES) {
        return Err(CheckpointError::Damaged);
    }
    Ok(Snapshot { heap, codes })
}

impl Progress {
    /// Writes everything that is needed to resume a run on the game of `input`, whatever its limit.
    ///
    /// The format: `nimwind1` in ASCII; as little-endian 64-bit numbers, the length of the code; the code as text; the numbers of
    /// [`Progress`], with windows as bytes; and the XXH3-64 of everything before. What depends on the first heaps alone is computed anew.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write(&self, input: &Octal, out: &mut dyn Write) -> io::Result<()> {
        let mut out = Writer::new(out, MAGIC)?;
        let text = input.code().to_string();
        out.numbers([text.len() as u64])?;
        out.bytes(text.as_bytes())?;
        let found = self.found.map_or([0; 4], |found| [found.period, found.preperiod, found.width as u64, found.heaps]);
        out.numbers([self.table as u64, self.kept as u64, self.verified_by as u64, self.distance])?;
        out.numbers(found)?;
        write_tallies(&mut out, &self.tallies)?;
        write_tallies(&mut out, &self.tortoise.tallies)?;
        write_window(&mut out, self.done, self.window(self.kept))?;
        write_window(&mut out, self.tortoise.window.heap, &self.tortoise.window.codes)?;
        out.numbers([self.snapshots.len() as u64])?;
        self.snapshots.iter().try_for_each(|snapshot| write_window(&mut out, snapshot.heap, &snapshot.codes))?;
        out.end()
    }

    /// Reads what [`Progress::write`] wrote for a run on the same game.
    ///
    /// A file holds what was counted, and proves nothing: the run goes on from before a period that is in the file, finds it
    /// again and proves it.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, belongs to another game, or is from beyond the limit of `input`.
    pub fn read(input: &Octal, from: &mut dyn Read) -> Result<Self, CheckpointError> {
        let mut reader = Reader::new(from, MAGIC)?;
        let text = input.code().to_string();
        let mut found = vec![0; text.len()];
        if reader.number()? != text.len() as u64 {
            return Err(CheckpointError::OtherGame);
        }
        reader.bytes(&mut found)?;
        if found != text.as_bytes() {
            return Err(CheckpointError::OtherGame);
        }
        let [table, kept, verified_by, distance] = [(); 4].map(|()| reader.number());
        let [period, preperiod, width, heaps] = [(); 4].map(|()| reader.number());
        let is_found = period? > 0;
        for number in [preperiod, width, heaps] {
            number?;
        }
        let index = |number: Result<u64, _>| usize::try_from(number?).map_err(|_| CheckpointError::Foreign);
        let (mut tallies, before) = (read_tallies(&mut reader)?, read_tallies(&mut reader)?);
        let (Snapshot { heap: mut done, mut codes }, window) = (read_window(&mut reader)?, read_window(&mut reader)?);
        let count = reader.number()?;
        if count > MOST {
            return Err(CheckpointError::Damaged);
        }
        let mut snapshots = (0..count).map(|_| read_window(&mut reader)).collect::<Result<Vec<_>, _>>()?;
        reader.end()?;
        let at = codes.len();
        let (table, kept, mut verified_by) = (index(table)?, index(kept)?, index(verified_by)?);
        let counted = |tallies: &Tallies| tallies.iter().map(|(_, heaps)| u128::from(*heaps)).sum::<u128>();
        let is_possible = kept == at
            && window.codes.len() == kept
            && counted(&tallies) == u128::from(done)
            && counted(&before) == u128::from(window.heap)
            && (1..=LARGEST_TABLE).contains(&table)
            && (table as u64..=done).contains(&window.heap)
            && verified_by <= kept
            && !snapshots.is_empty()
            && snapshots.is_sorted_by_key(|snapshot| snapshot.heap);
        if !is_possible {
            return Err(CheckpointError::Damaged);
        }
        if done > input.limit() + 1 {
            return Err(CheckpointError::Foreign);
        }
        if is_found {
            (done, codes, tallies, verified_by) = (window.heap, window.codes.clone(), before, 0);
            snapshots.retain(|snapshot| snapshot.heap < done);
        }
        codes.resize(Progress::room(kept), 0);
        Ok(Progress {
            table,
            done,
            codes,
            at,
            kept,
            tallies,
            tortoise: Tortoise { window, tallies: before },
            verified_by,
            snapshots,
            distance: distance?.max(1),
            found: None,
        })
    }
}
