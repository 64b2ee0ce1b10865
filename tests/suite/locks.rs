//! Files that a process locks and replaces, on every system.

use std::fs;
use std::io::{self, ErrorKind};
#[cfg(unix)]
use std::path::Path;

use nimlanes_lab::files::{self, LockedFile};

fn is_in_use(taken: io::Result<LockedFile>) -> bool {
    taken.is_err_and(|refused| refused.kind() == ErrorKind::WouldBlock)
}

#[test]
fn a_locked_file_stays_locked_when_it_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept");
    let mut locked = LockedFile::lock(&path).unwrap();
    assert!(locked.is_empty().unwrap() && is_in_use(LockedFile::lock(&path)));
    let text = |locked: &LockedFile| io::read_to_string(locked.reader()).unwrap();
    for round in ["one", "two"] {
        locked.replace(|out| out.write_all(round.as_bytes())).unwrap();
        assert!(is_in_use(LockedFile::lock(&path)));
        assert_eq!(fs::read_to_string(&path).unwrap(), round);
    }
    drop(locked);
    let mut locked = LockedFile::lock(&path).unwrap();
    assert_eq!(text(&locked), "two");
    locked.replace(|_| Err(ErrorKind::StorageFull.into())).unwrap_err();
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    locked.remove().unwrap();
    drop(locked);
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

/// A file of someone else is neither replaced nor removed.
#[test]
fn a_locked_file_that_was_moved_is_not_restored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept");
    let mut locked = LockedFile::lock(&path).unwrap();
    locked.replace(|out| out.write_all(b"old")).unwrap();
    fs::rename(&path, folder.path().join("moved")).unwrap();
    fs::write(&path, "mine").unwrap();
    locked.replace(|out| out.write_all(b"new")).unwrap_err();
    locked.remove().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    // It can be created again where there is none.
    fs::remove_file(&path).unwrap();
    locked.replace(|out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn a_file_created_for_the_lock_is_removed_and_an_existing_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept");
    drop(LockedFile::lock(&path).unwrap());
    assert!(!path.exists());
    fs::write(&path, "").unwrap();
    drop(LockedFile::lock(&path).unwrap());
    assert!(path.exists());
    LockedFile::lock(folder.path()).unwrap_err();
    #[cfg(unix)]
    LockedFile::lock(Path::new("/dev/null")).unwrap_err();
}

#[test]
fn paths_of_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["", "missing/", "missing/.", "missing/..", "missing/file"] {
        let path = folder.path().join(name);
        files::check(&path).unwrap_err();
        files::write(&path, |_| Ok(())).unwrap_err();
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
