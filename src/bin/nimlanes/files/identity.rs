//! The facts about a file besides its content: its identity, how many names it has, its owner, and whether a path names an
//! open stream.

use std::path::Path;

pub use here::{has_no_locks, id_of, is_at, leads_to_stdout, names, pass_on, stream};

/// The parent folder of a file.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
mod here {
    use std::fs::{File, Metadata, Permissions};
    use std::io::{self, stderr, stdout};
    use std::os::fd::AsFd;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    use std::path::{Path, PathBuf};

    use rustix::io::Errno;

    use super::folder;

    /// Device and number.
    fn of(file: &Metadata) -> (u64, u64) {
        (file.dev(), file.ino())
    }

    /// Which file or folder a path names.
    pub fn id_of(path: &Path) -> io::Result<(u64, u64)> {
        path.metadata().map(|file| of(&file))
    }

    /// Whether a path names this open file itself, not a symbolic link to it.
    pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
        Ok(of(&path.symlink_metadata()?) == of(&file.metadata()?))
    }

    /// How many names an open file has.
    pub fn names(file: &File) -> io::Result<u64> {
        file.metadata().map(|file| file.nlink())
    }

    /// Whether a lock was refused because the file system has none.
    pub fn has_no_locks(error: &io::Error) -> bool {
        let refused = Errno::from_io_error(error);
        refused.is_some_and(|error| [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP].contains(&error))
    }

    /// Gives a new file the mode of the file that it will replace, and its owner and group if the system allows.
    pub fn pass_on(old: &Metadata, new: &File) -> io::Result<()> {
        let made = new.metadata()?;
        if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
            // Only root may change the owner.
            let _ = fchown(new, Some(old.uid()), Some(old.gid()));
        }
        new.set_permissions(Permissions::from_mode(old.mode() & 0o777))
    }

    /// The open stream that a path names, if it names one, as `/dev/stdout` and `/proc/self/fd/5` do. To open such a path is not the
    /// same: on Linux a file is then written from its beginning, over what others have written there.
    pub fn stream(path: &Path) -> io::Result<Option<File>> {
        let Some((streams, number)) = numbered(path) else { return redirected(path) };
        if streams.starts_with("/proc") && !streams.starts_with(Path::new("/proc/self").canonicalize()?) {
            return Err(io::Error::other("it is a stream of another process"));
        }
        Ok(Some(match number {
            1 => stdout().as_fd().try_clone_to_owned()?.into(),
            2 => stderr().as_fd().try_clone_to_owned()?.into(),
            _ => duplicate(path, number)?,
        }))
    }

    /// Whether a path names the stream that is standard output.
    pub fn leads_to_stdout(path: &Path) -> bool {
        let id = |file: File| file.metadata().map(|file| of(&file)).ok();
        let named = stream(path).ok().flatten().and_then(id);
        named.is_some_and(|named| stdout().as_fd().try_clone_to_owned().is_ok_and(|out| id(out.into()) == Some(named)))
    }

    /// The standard stream that was redirected to the file of this path. Its output so far would be lost with the old file.
    fn redirected(path: &Path) -> io::Result<Option<File>> {
        let Ok(file) = path.metadata() else { return Ok(None) };
        for stream in [stdout().as_fd().try_clone_to_owned()?, stderr().as_fd().try_clone_to_owned()?] {
            let stream = File::from(stream);
            let to = stream.metadata()?;
            if to.is_file() && of(&to) == of(&file) {
                return Ok(Some(stream));
            }
        }
        Ok(None)
    }

    /// The folder of open streams that a path leads to, and the number of a stream there.
    fn numbered(path: &Path) -> Option<(PathBuf, i32)> {
        /// The system follows no more links either.
        const LINKS: usize = 40;
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            let streams = folder(&path).canonicalize().ok()?;
            if streams == Path::new("/dev/fd") || streams.starts_with("/proc") && streams.ends_with("fd") {
                let number = path.file_name()?.to_str()?.parse().ok()?;
                return Some((streams, number));
            }
            path = streams.join(path.read_link().ok()?);
        }
        None
    }

    /// A stream by its number, which std does not turn into a file without `unsafe`.
    #[cfg(target_os = "linux")]
    fn duplicate(path: &Path, number: i32) -> io::Result<File> {
        use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

        let this = pidfd_open(getpid(), PidfdFlags::empty());
        match this.and_then(|this| pidfd_getfd(this, number, PidfdGetfdFlags::empty())) {
            // Old systems and some sandboxes have no such call. A pipe or a device may be opened as well.
            Err(_) if !path.metadata()?.is_file() => File::options().write(true).open(path),
            stream => Ok(stream?.into()),
        }
    }

    /// A stream by its number: elsewhere, to open its path duplicates it.
    #[cfg(not(target_os = "linux"))]
    fn duplicate(path: &Path, _: i32) -> io::Result<File> {
        File::options().write(true).open(path)
    }
}

/// Other systems have no modes of files and paths of streams. All but Windows offer no more of a file than name and content.
#[cfg(not(unix))]
mod here {
    use std::fs::{File, Metadata};
    use std::io;
    use std::path::Path;

    #[cfg(not(windows))]
    pub use self::nothing::{id_of, is_at, names};
    #[cfg(windows)]
    pub use self::windows::{id_of, is_at, names};

    #[cfg(windows)]
    mod windows {
        use super::*;
        use winapi_util::{Handle, file::information};

        /// Number of the volume, and of the file on it.
        pub fn id_of(path: &Path) -> io::Result<(u64, u64)> {
            let file = information(Handle::from_path_any(path)?)?;
            Ok((file.volume_serial_number(), file.file_index()))
        }

        /// Whether a path names an open file. The volumes are not compared: an open file stays on its volume, and wine does
        /// not tell that of a renamed file.
        pub fn is_at(file: &File, path: &Path) -> io::Result<bool> {
            Ok(id_of(path)?.1 == information(file)?.file_index())
        }

        /// How many names an open file has.
        pub fn names(file: &File) -> io::Result<u64> {
            information(file).map(|file| file.number_of_links())
        }
    }

    #[cfg(not(windows))]
    mod nothing {
        use super::*;

        pub fn id_of(_: &Path) -> io::Result<(u64, u64)> {
            Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no identity of files"))
        }

        pub fn is_at(_: &File, path: &Path) -> io::Result<bool> {
            id_of(path).map(|_| false)
        }

        /// One, as far as is known.
        pub fn names(_: &File) -> io::Result<u64> {
            Ok(1)
        }
    }

    /// Whether a lock was refused because there are none.
    pub fn has_no_locks(error: &io::Error) -> bool {
        /// Windows: the function is invalid, or not supported.
        const REFUSED: [i32; 2] = [1, 50];
        let is_refused = error.raw_os_error().is_some_and(|code| cfg!(windows) && REFUSED.contains(&code));
        is_refused || error.kind() == io::ErrorKind::Unsupported
    }

    /// A file has the rights that its folder gives.
    pub fn pass_on(_: &Metadata, _: &File) -> io::Result<()> {
        Ok(())
    }

    /// As [`stream`].
    pub fn leads_to_stdout(_: &Path) -> bool {
        false
    }

    /// Streams have no paths.
    pub fn stream(_: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }
}
