//! The one writer of all files: a file is whole, or it is not there.
//!
//! It is written under a temporary name in its folder, `.nimlanes-` and six random characters, brought to the disk and renamed.
//! A link stays, and the file that it leads to is replaced; the new file has the mode of the old one, and its owner and group
//! where the system allows. A device or a pipe is written to. A file with several hard links is refused: a new file would get
//! only one of the names, and writing into the old one could leave it half written.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, Permissions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

/// Writes a file with what `fill` writes.
///
/// # Errors
/// Those of `fill`, and of the system. What was there before is unharmed then, and nothing else is left.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match Place::of(path)? {
        Some(place) => Part::filled(&place, fill)?.rename(&place).map(drop),
        None => buffered(File::options().write(true).open(path)?, fill),
    }
}

/// Writes a file with these bytes, and makes the folders that it needs.
///
/// # Errors
/// Those of the system. What was there before is unharmed then.
pub fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder(path))?;
    write(path, |out| out.write_all(bytes))
}

/// Finds out whether [`write()`] could write a file, before the work that is to fill it. Changes nothing that is there.
///
/// # Errors
/// It could not.
pub fn check(path: &Path) -> io::Result<()> {
    Place::of(path)?.map_or(Ok(()), |place| Part::beside(&place).map(drop))
}

/// Whether two paths lead to the same file, which need not be there yet.
pub fn are_same(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        let Place { path, .. } = Place::of(path).ok()??;
        Some((id(&folder(&path).metadata().ok()?), path.file_name()?.to_owned()))
    };
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => id(&a) == id(&b),
        _ => place(a).is_some_and(|a| place(b) == Some(a)),
    }
}

/// Gives `fill` a writer with a buffer, and empties that at the end.
///
/// # Errors
/// Those of `fill` and of the writer below.
pub fn buffered(out: impl Write, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    fill(&mut out)?;
    out.flush()
}

/// Removes all temporary files and ends the process, whatever its other threads are doing.
pub fn exit(code: i32) -> ! {
    // Held to the end, so that no new one is made.
    let parts = parts();
    for part in parts.iter() {
        let _ = fs::remove_file(part);
    }
    std::process::exit(code)
}

/// Where a regular file is, or is to be.
struct Place {
    /// Without links.
    path: PathBuf,
    /// The file that is there now.
    old: Option<Metadata>,
}

impl Place {
    /// What a path leads to; `None` for a device or a pipe.
    fn of(path: &Path) -> io::Result<Option<Self>> {
        match path.metadata() {
            Ok(old) if old.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(old) if old.is_file() => Ok(Some(Place { path: path.canonicalize()?, old: Some(old) })),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => match path.read_link() {
                Ok(next) => Place::of(&folder(path).join(next)),
                Err(_) => Ok(Some(Place { path: to_be(path)?, old: None })),
            },
            Err(error) => Err(error),
        }
    }
}

/// The path of a file that is not there, without links.
fn to_be(path: &Path) -> io::Result<PathBuf> {
    match path.file_name() {
        Some(name) if path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes()) => {
            Ok(folder(path).canonicalize()?.join(name))
        }
        // `missing/`, `missing/.` and `missing/..` name folders.
        _ => Err(ErrorKind::NotADirectory.into()),
    }
}

/// The folder that a path names a file in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What tells a file from all others that are there.
fn id(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// The temporary files of this process.
static PARTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn parts() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    PARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that is not complete; it goes when it is dropped.
struct Part {
    file: NamedTempFile,
    _listed: Listed,
}

/// An entry of [`PARTS`].
struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        parts().remove(&self.0);
    }
}

impl Part {
    /// An empty one that can take its place.
    fn beside(place: &Place) -> io::Result<Self> {
        if let Some(old) = &place.old {
            // Renaming needs no right to write the file that is replaced; whoever took that right away meant it.
            File::options().write(true).open(&place.path)?;
            if old.nlink() > 1 {
                let several = format!("it has {} hard links; remove it first, or choose another name", old.nlink());
                return Err(io::Error::other(several));
            }
        }
        let mut builder = tempfile::Builder::new();
        // The umask applies.
        builder.prefix(".nimlanes-").permissions(Permissions::from_mode(0o666));
        let mut parts = parts();
        let file = builder.tempfile_in(folder(&place.path))?;
        let listed = Listed(file.path().to_owned());
        parts.insert(listed.0.clone());
        drop(parts);
        if let Some(old) = &place.old {
            let new = file.as_file().metadata()?;
            if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
                // Only root may give a file away.
                let _ = fchown(file.as_file(), Some(old.uid()), Some(old.gid()));
            }
            file.as_file().set_permissions(Permissions::from_mode(old.mode() & 0o777))?;
        }
        Ok(Part { file, _listed: listed })
    }

    /// A complete one, on the disk.
    fn filled(place: &Place, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let part = Part::beside(place)?;
        buffered(part.file.as_file(), fill)?;
        part.file.as_file().sync_all()?;
        Ok(part)
    }

    /// Gives it the name that it is for.
    fn rename(self, place: &Place) -> io::Result<File> {
        let file = self.file.persist(&place.path)?;
        // The new name, too, is to outlast a crash. Not every system can; then the old file may come back, but whole.
        let _ = File::open(folder(&place.path)).and_then(|folder| folder.sync_all());
        Ok(file)
    }
}

/// A file that is locked by this process, which may replace it many times.
///
/// The lock (`flock`) is on the file itself, and a replacement is locked before it gets the name. So there is no lock file that
/// could be left behind, and the system releases the lock of a process that was killed.
#[derive(Debug)]
pub struct Held {
    /// Without links.
    path: PathBuf,
    file: File,
    /// Whether the file was made for the lock and holds nothing yet; it goes then.
    is_blank: bool,
}

impl Held {
    /// Locks a file. One that is not there is made, empty, and goes again if it is never replaced.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if another process holds it; or it cannot be replaced, or is a device or a pipe.
    pub fn take(path: &Path) -> Result<Self, TryLockError> {
        loop {
            let place = Place::of(path).map_err(TryLockError::Error)?;
            let place = place.ok_or_else(|| TryLockError::Error(io::Error::other("it is a device or a pipe")))?;
            Part::beside(&place).map_err(TryLockError::Error)?;
            let mut options = File::options();
            options.read(true).write(true).create_new(place.old.is_none());
            let file = match options.open(&place.path) {
                // It came or went in between.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => continue,
                opened => opened.map_err(TryLockError::Error)?,
            };
            file.try_lock()?;
            let held = Held { path: place.path, file, is_blank: place.old.is_none() };
            // Another process may have replaced or removed the file before it was locked here.
            if held.is_in_place().map_err(TryLockError::Error)? {
                return Ok(held);
            }
        }
    }

    /// Whether the file holds nothing.
    ///
    /// # Errors
    /// Those of the system.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.file.metadata()?.len() == 0)
    }

    /// Reads on in the file.
    pub fn reader(&self) -> impl Read {
        &self.file
    }

    /// Replaces the file, and holds the new one.
    ///
    /// # Errors
    /// As of [`write()`]; or somebody put another file in its place.
    pub fn replace(&mut self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let place = Place::of(&self.path)?.filter(|place| place.path == self.path);
        let place = match place {
            Some(place) if place.old.is_none() || self.is_in_place()? => place,
            _ => return Err(io::Error::other("another file was put in its place")),
        };
        let part = Part::filled(&place, fill)?;
        part.file.as_file().try_lock()?;
        self.file = part.rename(&place)?;
        self.is_blank = false;
        Ok(())
    }

    /// Removes the file, unless somebody put another one in its place.
    ///
    /// # Errors
    /// Those of the system.
    pub fn remove(&mut self) -> io::Result<()> {
        if self.is_in_place()? { fs::remove_file(&self.path) } else { Ok(()) }
    }

    /// Whether the path names the file that is locked.
    fn is_in_place(&self) -> io::Result<bool> {
        match self.path.symlink_metadata() {
            Ok(there) => Ok(id(&there) == id(&self.file.metadata()?)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.is_blank {
            let _ = self.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn is_in_use(taken: Result<Held, TryLockError>) -> bool {
        matches!(taken, Err(TryLockError::WouldBlock))
    }

    #[test]
    fn a_held_file_is_refused_to_others_however_often_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let mut held = Held::take(&path).unwrap();
        assert!(held.is_empty().unwrap() && is_in_use(Held::take(&path)));
        let text = |held: &Held| io::read_to_string(held.reader()).unwrap();
        for round in ["one", "two"] {
            held.replace(|out| out.write_all(round.as_bytes())).unwrap();
            assert!(is_in_use(Held::take(&path)));
            assert_eq!(fs::read_to_string(&path).unwrap(), round);
        }
        drop(held);
        let mut held = Held::take(&path).unwrap();
        assert_eq!(text(&held), "two");
        held.replace(|_| Err(ErrorKind::StorageFull.into())).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        held.remove().unwrap();
        drop(held);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    /// Somebody else's file is neither replaced nor removed.
    #[test]
    fn a_held_file_that_was_moved_away_stays_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        let mut held = Held::take(&path).unwrap();
        held.replace(|out| out.write_all(b"old")).unwrap();
        fs::rename(&path, folder.path().join("moved")).unwrap();
        fs::write(&path, "mine").unwrap();
        held.replace(|out| out.write_all(b"new")).unwrap_err();
        held.remove().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        // It can be made again where there is none.
        fs::remove_file(&path).unwrap();
        held.replace(|out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_file_that_was_only_held_goes_and_one_that_was_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        drop(Held::take(&path).unwrap());
        assert!(!path.exists());
        fs::write(&path, "").unwrap();
        drop(Held::take(&path).unwrap());
        assert!(path.exists());
        assert!(matches!(Held::take(folder.path()), Err(TryLockError::Error(_))));
        assert!(matches!(Held::take(Path::new("/dev/null")), Err(TryLockError::Error(_))));
    }

    #[test]
    fn spellings_and_links_of_one_file_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        symlink("sub", path("also")).unwrap();
        symlink("sub/file", path("link")).unwrap();
        let (same, other) = (["sub/file", "also/file", "sub/../link", "link"], ["file", "sub/file2", "no/file", "sub"]);
        // Without the file, then with it.
        for _ in 0..2 {
            for a in same {
                assert!(same.iter().all(|b| are_same(&path(a), &path(b))), "{a}");
                assert!(!other.iter().any(|b| are_same(&path(a), &path(b))), "{a}");
            }
            fs::write(path("link"), "").unwrap();
        }
        fs::hard_link(path("link"), path("file")).unwrap();
        assert!(are_same(&path("file"), &path("also/file")));
    }

    #[test]
    fn names_of_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["", "missing/", "missing/.", "missing/..", "missing/file"] {
            let path = folder.path().join(name);
            check(&path).unwrap_err();
            write(&path, |_| Ok(())).unwrap_err();
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
