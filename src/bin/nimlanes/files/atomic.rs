//! Atomic file output, used for all files: a file is complete, or it does not exist.
//!
//! A file is written under a temporary name in its folder (`.nimlanes-` and six random characters), synced to disk and
//! renamed. A symbolic link is kept, and the file it points to is replaced. The new file has the mode of the old one, and
//! its owner and group where the system allows. Devices and pipes are written directly, and so are open streams of this process,
//! even if they are files: output is appended where the stream stands. `-` and `/dev/stdout` name standard output, and so does the
//! file that a shell redirects it to. A file with several hard links is refused: a new file would replace only one of the names, and
//! writing in place could leave the old one incomplete. A file that was [read](keep) for its content alone is refused as well.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Read, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use super::identity::{folder, has_no_locks, id_of, is_at, leads_to_stdout, names, pass_on, stream};

/// Whether a path is `-`: standard output, or standard input of what reads.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether a path names standard output, in any way.
pub fn is_stdout(path: &Path) -> bool {
    is_standard(path) || leads_to_stdout(path)
}

/// Writes a file with the content that `fill` produces.
///
/// # Errors
/// Errors of `fill` and of the system. The old file is then unchanged, and no temporary file is left.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match Place::resolve(path)? {
        Some(place) => PartialFile::filled(&place, fill)?.rename(&place).map(drop),
        None => {
            stdout().flush()?; // what was printed before comes first
            if is_standard(path) {
                return buffered(stdout().lock(), fill);
            }
            buffered(stream(path)?.map_or_else(|| File::options().write(true).open(path), Ok)?, fill)
        }
    }
}

/// Writes a file with these bytes, and creates missing folders.
///
/// # Errors
/// Errors of the system. The old file is then unchanged.
pub fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder(path))?;
    write(path, |out| out.write_all(bytes))
}

/// Checks that [`write()`] can write a file, before the work to fill it is done. Changes no existing file.
///
/// # Errors
/// The file cannot be written.
pub fn check(path: &Path) -> io::Result<()> {
    match Place::resolve(path)? {
        Some(place) => PartialFile::create_for(&place).map(drop),
        None if is_standard(path) => Ok(()),
        // A stream that was opened for reading refuses to write even nothing.
        None => stream(path)?.map_or(Ok(()), |mut stream| stream.write(&[]).map(drop)),
    }
}

/// The same for [`save()`]: of missing folders, the first one is to be created. Creates none.
///
/// # Errors
/// The file or a folder cannot be written.
pub fn check_saved(mut path: &Path) -> io::Result<()> {
    while let Some(missing) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        path = missing;
    }
    check(path)
}

/// Whether two paths name the same file, which need not exist yet. Two outputs to one device, pipe or open stream lose nothing, so
/// these are not the same.
pub fn are_same(a: &Path, b: &Path) -> bool {
    let place = |path| Place::resolve(path).ok().flatten();
    let named = |place: &Place| Some((id_of(folder(&place.path)).ok()?, place.path.file_name()?.to_owned()));
    let (Some(a), Some(b)) = (place(a), place(b)) else { return false };
    match (id_of(&a.path), id_of(&b.path)) {
        (Ok(a), Ok(b)) => a == b,
        _ => named(&a).is_some_and(|a| named(&b) == Some(a)),
    }
}

/// Files whose content this process was given, and which it must not replace.
static INPUTS: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Has all that replaces files refuse to replace this one, which was read.
pub fn keep(input: File) {
    // A pipe that stays open would keep its writer waiting.
    if input.metadata().is_ok_and(|input| input.is_file()) {
        INPUTS.lock().unwrap_or_else(PoisonError::into_inner).push(input);
    }
}

/// Whether the file at a path was read.
fn is_input(path: &Path) -> bool {
    let inputs = INPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    inputs.iter().any(|input| is_at(input, path).unwrap_or(false))
}

/// Calls `fill` with a buffered writer, and flushes it at the end.
///
/// # Errors
/// Errors of `fill` and of the underlying writer.
pub fn buffered(out: impl Write, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    fill(&mut out)?;
    out.flush()
}

/// Removes all temporary files and exits the process, whatever its other threads are doing.
pub fn exit(code: u8) -> ! {
    // The lock is held until the exit, so that no new file is created.
    let parts = parts();
    for part in parts.iter() {
        let _ = fs::remove_file(part);
    }
    std::process::exit(code.into())
}

/// Where a regular file is, or will be.
struct Place {
    /// The path with symbolic links resolved.
    path: PathBuf,
    /// The existing file.
    old: Option<Metadata>,
}

impl Place {
    /// Resolves a path; `None` for a device, a pipe or an open stream.
    fn resolve(path: &Path) -> io::Result<Option<Self>> {
        if is_standard(path) || stream(path)?.is_some() {
            return Ok(None);
        }
        match path.metadata() {
            Ok(old) if old.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(old) if old.is_file() => Ok(Some(Place { path: path.canonicalize()?, old: Some(old) })),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => match path.read_link() {
                Ok(next) => Place::resolve(&folder(path).join(next)),
                Err(_) => Ok(Some(Place { path: resolve_missing(path)?, old: None })),
            },
            Err(error) => Err(error),
        }
    }
}

/// Resolves the path of a file that does not exist.
fn resolve_missing(path: &Path) -> io::Result<PathBuf> {
    match path.file_name() {
        Some(name) if path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) => {
            Ok(folder(path).canonicalize()?.join(name))
        }
        // `missing/`, `missing/.` and `missing/..` name folders.
        _ => Err(ErrorKind::NotADirectory.into()),
    }
}

/// The temporary files of this process.
static PARTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn parts() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An incomplete file; it is removed on drop.
struct PartialFile {
    file: NamedTempFile,
    _registration: Registration,
}

/// An entry of [`PARTS`].
struct Registration(PathBuf);

impl Drop for Registration {
    fn drop(&mut self) {
        parts().remove(&self.0);
    }
}

impl PartialFile {
    /// Creates an empty file that can replace the one at `place`.
    fn create_for(place: &Place) -> io::Result<Self> {
        if place.old.is_some() {
            // A rename ignores the permissions of the replaced file, but a read-only file should be respected.
            let links = names(&File::options().write(true).open(&place.path)?)?;
            if links > 1 {
                let several = format!("it has {links} hard links; remove it first, or choose another name");
                return Err(io::Error::other(several));
            }
            if is_input(&place.path) {
                return Err(io::Error::other("it was read as input, and would be lost; choose another name"));
            }
        }
        let mut parts = parts();
        let mut builder = tempfile::Builder::new();
        // As of any other new file: the umask applies.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.prefix(".nimlanes-").tempfile_in(folder(&place.path))?;
        let registration = Registration(file.path().to_owned());
        parts.insert(registration.0.clone());
        drop(parts);
        if let Some(old) = &place.old {
            pass_on(old, file.as_file())?;
        }
        Ok(PartialFile { file, _registration: registration })
    }

    /// Creates a complete file, synced to disk.
    fn filled(place: &Place, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let part = PartialFile::create_for(place)?;
        buffered(part.file.as_file(), fill)?;
        part.file.as_file().sync_all()?;
        Ok(part)
    }

    /// Renames it to its final name.
    fn rename(self, place: &Place) -> io::Result<File> {
        let file = self.file.persist(&place.path)?;
        // Sync the folder, so that the new name survives a crash. Not every system supports this; a crash may then bring
        // back the old file, but complete.
        let _ = File::open(folder(&place.path)).and_then(|folder| folder.sync_all());
        Ok(file)
    }
}

/// Locks a file until it is closed. Returns false if its file system refuses locks, as some network file systems do.
///
/// # Errors
/// Another process has locked it, or the lock failed otherwise.
fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Err(TryLockError::Error(error)) if has_no_locks(&error) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
        Err(TryLockError::WouldBlock) => Err(ErrorKind::WouldBlock.into()),
        Ok(()) => Ok(true),
    }
}

/// A file locked by this process, which may replace it many times.
///
/// The lock (`flock`) is on the file itself, and a replacement is locked before it is renamed. So no lock file can be left
/// behind, and the system releases the lock if the process is killed. Where there are no locks, a file is used without one, and
/// replaced as a whole nevertheless.
#[derive(Debug)]
pub struct LockedFile {
    /// The path with symbolic links resolved.
    path: PathBuf,
    file: File,
    /// Whether its file system has locks.
    is_locked: bool,
    /// Whether the file was created for the lock and is still empty; it is then removed on drop.
    is_blank: bool,
}

impl LockedFile {
    /// Locks a file. A missing file is created empty, and removed again if it is never replaced.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if another process has locked it; or it cannot be replaced, or is a device, a pipe or an open
    /// stream.
    pub fn lock(path: &Path) -> io::Result<Self> {
        loop {
            let place = Place::resolve(path)?;
            let place = place.ok_or_else(|| io::Error::other("it is a device, a pipe or an open stream"))?;
            PartialFile::create_for(&place)?;
            let is_blank = place.old.is_none();
            let file = match File::options().read(true).write(true).create_new(is_blank).open(&place.path) {
                // It was created or removed in between.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => continue,
                opened => opened?,
            };
            let mut locked = LockedFile { path: place.path, file, is_locked: false, is_blank };
            match try_lock(&locked.file) {
                Ok(is_locked) => locked.is_locked = is_locked,
                Err(refused) => {
                    // Another process may have found the new file, and locked it first: then it is not removed.
                    locked.is_blank &= refused.kind() != ErrorKind::WouldBlock;
                    return Err(refused);
                }
            }
            // Another process may have replaced or removed the file before the lock was taken.
            if locked.is_in_place()? {
                return Ok(locked);
            }
        }
    }

    /// Whether other processes are kept from locking it.
    pub fn is_locked(&self) -> bool {
        self.is_locked
    }

    /// Whether the file is empty.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.file.metadata()?.len() == 0)
    }

    /// A reader from the current position in the file.
    pub fn reader(&self) -> impl Read {
        &self.file
    }

    /// Replaces the file, and keeps the new one locked.
    ///
    /// # Errors
    /// Those of [`write()`]; or the file was replaced by someone else.
    pub fn replace(&mut self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let place = Place::resolve(&self.path)?.filter(|place| place.path == self.path);
        let place = match place {
            Some(place) if place.old.is_none() || self.is_in_place()? => place,
            _ => return Err(io::Error::other("another file was put in its place")),
        };
        let part = PartialFile::filled(&place, fill)?;
        if self.is_locked {
            part.file.as_file().try_lock()?;
        }
        // Windows does not replace an open file, so the old one is closed first. A process that locks it in between
        // keeps the lock, and the rename fails.
        if cfg!(windows) {
            self.file = part.file.as_file().try_clone()?;
        }
        self.file = part.rename(&place)?;
        self.is_blank = false;
        Ok(())
    }

    /// Removes the file, unless someone else replaced it.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn remove(&mut self) -> io::Result<()> {
        if self.is_in_place()? { fs::remove_file(&self.path) } else { Ok(()) }
    }

    /// Whether the path still names the locked file.
    fn is_in_place(&self) -> io::Result<bool> {
        match is_at(&self.file, &self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            found => found,
        }
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        if self.is_blank {
            let _ = self.remove();
        }
    }
}
