//! Runs that save their progress and resume, and the files that hold it.
//!
//! A checkpoint begins with eight letters that name its kind. The last one is the digit of its version, or a letter
//! while there is only one version. Little-endian numbers and bytes follow, and at the end the XXH3-64 of all before.

use std::fmt;
use std::hash::Hasher as _;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::sync::Arc;

use crate::kernel::RunError;

use twox_hash::XxHash3_64;

/// Where a run starts, and the journal that saves its progress. By default it starts at heap 0 and saves nothing.
pub struct Start<P, J: ?Sized> {
    /// Earlier progress.
    #[doc(hidden)]
    pub from: Option<P>,
    #[doc(hidden)]
    pub journal: Option<Arc<J>>,
}

impl<P, J: ?Sized> Default for Start<P, J> {
    fn default() -> Self {
        Start { from: None, journal: None }
    }
}

impl<P, J: ?Sized> fmt::Debug for Start<P, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (resumes, is_kept) = (self.from.is_some(), self.journal.is_some());
        f.debug_struct("Start").field("resumes", &resumes).field("is_kept", &is_kept).finish()
    }
}

impl<P, J: ?Sized> Start<P, J> {
    /// A run that saves its progress to `journal`, and resumes `from` earlier progress if given.
    pub fn with_journal(journal: Arc<J>, from: Option<P>) -> Self {
        Start { from, journal: Some(journal) }
    }

    /// For a kernel that cannot resume.
    ///
    /// # Errors
    /// [`RunError::OutsideDomain`]: the run starts from earlier progress, or saves it.
    pub fn at_zero(self) -> Result<(), RunError> {
        if self.from.is_none() && self.journal.is_none() { Ok(()) } else { Err(RunError::OutsideDomain) }
    }
}

/// Bytes to read or write at once.
const BUFFER: usize = 1 << 16;

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
    /// The file was written by a version whose checkpoints could lead to wrong values, or lack what is needed now.
    #[error("the checkpoint has an old format, which cannot be resumed; start this run again without it")]
    OldFormat,
    /// The file was written by a later version.
    #[error("the checkpoint has a newer format than this version of nimlanes reads")]
    NewFormat,
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

/// [`CheckpointError::Damaged`], unless the contents are right.
#[doc(hidden)]
pub fn ensure(is_right: bool) -> Result<(), CheckpointError> {
    if is_right { Ok(()) } else { Err(CheckpointError::Damaged) }
}

/// The XXH3-64 of numbers in little-endian bytes.
#[doc(hidden)]
#[inline(never)]
pub fn hash_of(numbers: &[u64]) -> u64 {
    let mut hash = XxHash3_64::new();
    numbers.iter().for_each(|number| hash.write(&number.to_le_bytes()));
    hash.finish()
}

/// A writer that hashes what it writes.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "a buffer")]
pub struct Writer<'a> {
    to: BufWriter<&'a mut dyn Write>,
    hash: XxHash3_64,
}

impl<'a> Writer<'a> {
    /// Writes the letters at the beginning.
    pub fn new(to: &'a mut dyn Write, magic: [u8; 8]) -> io::Result<Self> {
        let mut writer = Writer { to: BufWriter::with_capacity(BUFFER, to), hash: XxHash3_64::new() };
        writer.bytes(&magic)?;
        Ok(writer)
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.write(bytes);
        self.to.write_all(bytes)
    }

    pub fn number(&mut self, number: u64) -> io::Result<()> {
        self.bytes(&number.to_le_bytes())
    }

    pub fn numbers(&mut self, numbers: impl IntoIterator<Item = u64>) -> io::Result<()> {
        numbers.into_iter().try_for_each(|number| self.number(number))
    }

    /// Writes the hash of all before.
    pub fn end(mut self) -> io::Result<()> {
        self.number(self.hash.finish())?;
        self.to.flush()
    }
}

/// A reader that hashes what it reads.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "a buffer")]
pub struct Reader<'a> {
    from: BufReader<&'a mut dyn Read>,
    hash: XxHash3_64,
}

impl<'a> Reader<'a> {
    /// Reads the letters at the beginning.
    pub fn new(from: &'a mut dyn Read, magic: [u8; 8]) -> Result<Self, CheckpointError> {
        Reader::any(from, &[magic]).map(|(reader, _)| reader)
    }

    /// Reads the letters at the beginning, which may be those of several versions, ascending. Returns the index of the version.
    pub fn any(from: &'a mut dyn Read, versions: &[[u8; 8]]) -> Result<(Self, usize), CheckpointError> {
        let mut reader = Reader { from: BufReader::with_capacity(BUFFER, from), hash: XxHash3_64::new() };
        let [kind @ .., last] = versions.last().expect("a version");
        let mut found = [0; 8];
        let result = reader.bytes(&mut found);
        if let (Ok(()), Some(version)) = (&result, versions.iter().position(|version| *version == found)) {
            return Ok((reader, version));
        }
        match result {
            Ok(()) if found[..7] == *kind && found[7].is_ascii_digit() => {
                let is_newer = !last.is_ascii_digit() || found[7] > *last;
                Err(if is_newer { CheckpointError::NewFormat } else { CheckpointError::OldFormat })
            }
            Ok(()) | Err(CheckpointError::Truncated) => Err(CheckpointError::NoCheckpoint),
            Err(error) => Err(error),
        }
    }

    pub fn bytes(&mut self, to: &mut [u8]) -> Result<(), CheckpointError> {
        self.from.read_exact(to).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => CheckpointError::Truncated,
            _ => CheckpointError::Io(error),
        })?;
        self.hash.write(to);
        Ok(())
    }

    pub fn number(&mut self) -> Result<u64, CheckpointError> {
        let mut bytes = [0; 8];
        self.bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// So many numbers.
    pub fn numbers(&mut self, count: u64) -> Result<Vec<u64>, CheckpointError> {
        (0..count).map(|_| self.number()).collect()
    }

    /// Checks that these numbers follow.
    ///
    /// # Errors
    /// [`CheckpointError::Foreign`]: others do.
    pub fn expect(&mut self, numbers: impl IntoIterator<Item = u64>) -> Result<(), CheckpointError> {
        numbers.into_iter().try_for_each(|number| match self.number()? == number {
            true => Ok(()),
            false => Err(CheckpointError::Foreign),
        })
    }

    /// Checks that only the hash of what was read follows.
    pub fn end(&mut self) -> Result<(), CheckpointError> {
        let want = self.hash.finish();
        ensure(self.number()? == want && self.from.read(&mut [0])? == 0)
    }
}
