//! The progress of a run in a file.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use super::marks::{Mark, Marks};
use super::state::{Milestone, Progress, Snapshot, VALUES};
use super::stream::LARGEST_TABLE;
use super::{Census, Certificate};
use crate::cores::mex::checkpoint::{CheckpointError, Reader, Writer};
use crate::cores::octal::octal::checkpoint::expect_code;
use crate::cores::octal::octal::{self, Octal};
use crate::cores::octal::sparse::window::CODES;
use crate::kernel::RunError;
use crate::simd::mapped;

/// The first bytes of a checkpoint.
const MAGIC: [u8; 8] = *b"nimwind2";

/// The most windows in a file, and the most bytes of one.
const MOST: u64 = 1 << 24;

/// Saves the progress of a run.
pub trait Journal: Send + Sync {
    /// Called after each chunk of heaps. `is_last` is true if the run is about to stop early.
    fn keep(&self, progress: &Progress, input: &Octal, is_last: bool);

    /// Called when a window proves a period. To make the certificate, some of the heaps are computed again.
    ///
    /// # Errors
    /// Those of `certify`, which end the run.
    fn proved(&self, _certify: &dyn Fn() -> Result<Certificate, RunError>) -> Result<(), RunError> {
        Ok(())
    }

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

fn read_counts<const COUNT: usize>(reader: &mut Reader) -> Result<[u64; COUNT], CheckpointError> {
    let mut numbers = [0; COUNT];
    read_numbers(reader, &mut numbers)?;
    Ok(numbers)
}

fn read_numbers(reader: &mut Reader, numbers: &mut [u64]) -> Result<(), CheckpointError> {
    for number in numbers {
        *number = reader.number()?;
    }
    Ok(())
}

fn write_numbers(out: &mut Writer, numbers: &[u64]) -> io::Result<()> {
    out.numbers(numbers.iter().copied())
}

fn write_window(out: &mut Writer, heap: u64, codes: &[u8]) -> io::Result<()> {
    write_numbers(out, &[heap, codes.len() as u64])?;
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
    for code in &codes {
        if usize::from(*code) >= CODES {
            return Err(CheckpointError::Damaged);
        }
    }
    Ok(Snapshot { heap, codes })
}

impl Progress {
    /// Writes everything that is needed to resume a run on the game of `input`, whatever its limit.
    ///
    /// The format: `nimwind2` in ASCII; as little-endian 64-bit numbers, the length of the code; the code as text; the numbers of
    /// [`Progress`], with windows as bytes; and the XXH3-64 of everything before. What depends on the first heaps alone is computed anew.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write(&self, input: &Octal, out: &mut dyn Write) -> io::Result<()> {
        let mut out = Writer::new(out, MAGIC)?;
        let text = input.code().to_string();
        write_numbers(&mut out, &[text.len() as u64])?;
        out.bytes(text.as_bytes())?;
        let Marks { class, since, zeros, marks } = &self.marks;
        let counts = [self.table as u64, self.kept as u64, self.verified_by as u64, self.distance];
        write_numbers(&mut out, &counts)?;
        for (first, heaps) in &self.tallies {
            write_numbers(&mut out, &[*first, *heaps])?;
        }
        write_window(&mut out, self.done, self.window(self.kept))?;
        write_numbers(&mut out, &[u64::from(*class), *since, *zeros, marks.len() as u64])?;
        for mark in marks {
            write_numbers(&mut out, &[mark.heap, mark.window, mark.zeros])?;
        }
        write_numbers(&mut out, &[self.milestones.len() as u64])?;
        for Milestone { window, counts } in &self.milestones {
            write_window(&mut out, window.heap, &window.codes)?;
            write_numbers(&mut out, counts)?;
        }
        out.end()
    }

    /// Reads what [`Progress::write`] wrote for a run on the same game.
    ///
    /// A file holds what was counted, and no period: a run that has proved one saves what it knew before, and proves it again.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, belongs to another game, or is from beyond the limit of `input`.
    pub fn read(input: &Octal, from: &mut dyn Read) -> Result<Self, CheckpointError> {
        let mut reader = Reader::new(from, MAGIC)?;
        let length = reader.number()?;
        expect_code(&mut reader, length, input.code())?;
        let [table, kept, verified_by, distance] = read_counts(&mut reader)?;
        let mut tallies = [(0, 0); VALUES];
        for tally in &mut tallies {
            *tally = (reader.number()?, reader.number()?);
        }
        let Snapshot { heap: done, mut codes } = read_window(&mut reader)?;
        let [class, since, zeros, count] = read_counts(&mut reader)?;
        let class = u8::try_from(class).map_err(|_| CheckpointError::Damaged)?;
        let at = codes.len();
        let mut is_possible = kept == at as u64
            && counted(&mapped(tallies, |(_, heaps)| heaps)) == u128::from(done)
            && (1..=LARGEST_TABLE as u64).contains(&table)
            && table <= done
            && verified_by <= kept
            && since <= done;
        let mut marks = Vec::new();
        for _ in 0..count.min(MOST) {
            let [heap, window, zeros] = read_counts(&mut reader)?;
            is_possible &= heap <= done;
            marks.push(Mark { heap, window, zeros });
        }
        let mut milestones: Vec<Milestone> = Vec::new();
        for place in 0..reader.number()?.min(MOST) {
            let (window, counts) = (read_window(&mut reader)?, read_counts(&mut reader)?);
            let least = milestones.last().map_or(table, |last| last.window.heap);
            is_possible &= (least..=done).contains(&window.heap)
                && (place > 0 || window.heap == table)
                && counted(&counts) == u128::from(window.heap);
            milestones.push(Milestone { window, counts });
        }
        reader.end()?;
        if !is_possible || milestones.is_empty() {
            return Err(CheckpointError::Damaged);
        }
        if done > input.limit() + 1 {
            return Err(CheckpointError::Foreign);
        }
        let kept = at;
        codes.resize(Progress::room(kept), 0);
        Ok(Progress {
            table: table as usize,
            done,
            codes,
            at,
            kept,
            tallies,
            verified_by: verified_by as usize,
            marks: Marks { class, since, zeros, marks },
            milestones,
            distance: distance.max(1),
        })
    }
}

/// How many heaps were counted.
fn counted(heaps: &[u64]) -> u128 {
    let mut sum = 0;
    for heaps in heaps {
        sum += u128::from(*heaps);
    }
    sum
}
