//! The progress of a run in a file.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::progress::{Mark, Marks, Milestone, Progress, Snapshot, VALUES};
use super::stream::LARGEST_TABLE;
use super::{Census, Certificate};
use crate::cores::mex::checkpoint::{self, CheckpointError, Reader, Writer, ensure};
use crate::cores::octal::octal::checkpoint::expect_code;
use crate::cores::octal::octal::{self, Octal};
use crate::cores::octal::sparse::window::CODES;
use crate::kernel::RunError;
use crate::simd::array_of;

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
#[derive(Debug, Default)]
pub struct Start {
    pub(super) stream: checkpoint::Start<Progress, dyn Journal>,
    /// Where the table of the first heaps starts, and where it is saved.
    pub(super) table: octal::Start,
}

impl Start {
    /// A run that saves its progress to `journal`, and resumes `from` earlier progress on the same game if given.
    pub fn with_journal(journal: Arc<dyn Journal>, from: Option<Progress>) -> Self {
        Start { stream: checkpoint::Start::with_journal(journal, from), table: octal::Start::default() }
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
        self.stream.at_zero()?;
        self.table.at_zero()
    }
}

fn read_counts<const COUNT: usize>(reader: &mut Reader) -> Result<[u64; COUNT], CheckpointError> {
    Ok(reader.numbers(COUNT as u64)?.try_into().expect("as many"))
}

fn write_window(out: &mut Writer, heap: u64, codes: &[u8]) -> io::Result<()> {
    out.numbers([heap, codes.len() as u64])?;
    out.bytes(codes)
}

fn read_window(reader: &mut Reader) -> Result<Snapshot, CheckpointError> {
    let heap = reader.number()?;
    let count = reader.number()?;
    ensure(count <= MOST.min(heap))?;
    let mut codes = vec![0; count as usize];
    reader.bytes(&mut codes)?;
    ensure(codes.iter().all(|code| usize::from(*code) < CODES))?;
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
        out.numbers([text.len() as u64])?;
        out.bytes(text.as_bytes())?;
        let Marks { class, since, zeros, marks } = &self.marks;
        out.numbers([self.table as u64, self.kept as u64, self.verified_by as u64, self.distance])?;
        out.numbers(self.tallies.iter().flat_map(|(first, heaps)| [*first, *heaps]))?;
        write_window(&mut out, self.done, self.window(self.kept))?;
        out.numbers([u64::from(*class), *since, *zeros, marks.len() as u64])?;
        out.numbers(marks.iter().flat_map(|mark| [mark.heap, mark.window, mark.zeros]))?;
        out.numbers([self.milestones.len() as u64])?;
        for Milestone { window, counts } in &self.milestones {
            write_window(&mut out, window.heap, &window.codes)?;
            out.numbers(*counts)?;
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
        let tallies = read_counts::<{ 2 * VALUES }>(&mut reader)?;
        let Snapshot { heap: done, mut codes } = read_window(&mut reader)?;
        let [class, since, zeros, count] = read_counts(&mut reader)?;
        let class = u8::try_from(class).map_err(|_| CheckpointError::Damaged)?;
        let mark = |[heap, window, zeros]: [u64; 3]| Mark { heap, window, zeros };
        let marks = (0..count.min(MOST)).map(|_| read_counts(&mut reader).map(mark)).collect::<Result<Vec<_>, _>>()?;
        let count = reader.number()?;
        let milestone = |_| Ok(Milestone { window: read_window(&mut reader)?, counts: read_counts(&mut reader)? });
        let milestones = (0..count.min(MOST)).map(milestone).collect::<Result<Vec<_>, CheckpointError>>()?;
        reader.end()?;
        let tallies = array_of(|value| (tallies[2 * value], tallies[2 * value + 1]));
        let at = codes.len();
        let is_possible = kept == at as u64
            && counted(tallies.iter().map(|(_, heaps)| *heaps)) == u128::from(done)
            && (1..=LARGEST_TABLE as u64).contains(&table)
            && table <= done
            && verified_by <= kept
            && since <= done
            && marks.iter().all(|mark| mark.heap <= done)
            && milestones.is_sorted_by_key(|milestone| milestone.window.heap)
            && milestones.iter().all(|Milestone { window, counts }| {
                (table..=done).contains(&window.heap) && counted(counts.iter().copied()) == u128::from(window.heap)
            })
            && milestones.first().is_some_and(|first| first.window.heap == table);
        ensure(is_possible)?;
        if done > input.limit() + 1 {
            return Err(CheckpointError::Foreign);
        }
        codes.resize(Progress::room(at), 0);
        Ok(Progress {
            table: table as usize,
            done,
            codes,
            at,
            kept: at,
            tallies,
            verified_by: verified_by as usize,
            marks: Marks { class, since, zeros, marks },
            milestones,
            distance: distance.max(1),
        })
    }
}

/// How many heaps were counted.
fn counted(heaps: impl Iterator<Item = u64>) -> u128 {
    heaps.map(u128::from).sum()
}
