//! Output files where another user owns them, the disk is full, or there are no locks.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::{Command, Output};
use std::time::Duration;

use libtest_mimic::Trial;
use rustix::io::Errno;
use tempfile::TempDir;

use crate::program::{self, command, nimlanes, path_of_program, script};

const RECORDS: &str = "grundy --moves factorials --records --format csv";

/// Commands that write a file.
const WRITING: [&str; 2] =
    ["grundy --limit 2 --format csv --output", "compare mex_split --size 9 --seconds 0.1 --save"];

pub fn trials() -> Vec<Trial> {
    let is_root = folder().path().metadata().expect("a folder").uid() == 0;
    let root = crate::needs(is_root, "root");
    let others = crate::needs(!is_root, "a user other than root");
    let mounted = on_full_disk("true", "").is_ok_and(|output| output.status.success());
    let mounts = crate::needs(mounted, "a mount namespace");
    let library = folder();
    let refuses = refusing_locks(&library).is_ok_and(|output| output.status.success());
    let linked = crate::needs(refuses, "a C compiler, and a libc that the program finds when it starts");
    vec![
        crate::trial("files::a_replaced_file_keeps_its_owner", root, a_replaced_file_keeps_its_owner),
        crate::trial("files::a_read_only_file_is_not_replaced", others, a_read_only_file_is_not_replaced),
        crate::trial("files::a_full_disk_changes_no_file", mounts, a_full_disk_changes_no_file),
        crate::trial("files::a_file_system_without_locks_keeps_files", linked, move || {
            a_file_system_without_locks_keeps_checkpoints(&library);
            a_file_system_without_locks_keeps_revisions(&library);
        }),
    ]
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn a_replaced_file_keeps_its_owner() {
    for line in WRITING {
        let folder = folder();
        let path = folder.path().join("out");
        fs::write(&path, "old").expect("a writable folder");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("an own file");
        chown(&path, Some(12_345), Some(23_456)).expect("root may");
        command(line).arg(&path).assert().success();
        let known = path.metadata().expect("a file");
        assert_eq!((known.uid(), known.gid(), known.mode() & 0o7777), (12_345, 23_456, 0o755));
    }
}

fn a_read_only_file_is_not_replaced() {
    for line in WRITING {
        let folder = folder();
        let path = folder.path().join("out");
        fs::write(&path, "old").expect("a writable folder");
        fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("an own file");
        command(line).arg(&path).assert().code(1);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "old");
    }
}

/// Runs a script in a file system of 64 kB, in a mount namespace of its own, where the program is `"$0" "$@"`.
fn on_full_disk(script: &str, line: &str) -> std::io::Result<Output> {
    let folder = folder();
    let disk = folder.path().display();
    let script = format!("mount -t tmpfs -o size=64k none '{disk}' && cd '{disk}' || exit 77\n{script}");
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &script]).arg(path_of_program()).args(line.split_whitespace()).output()
}

fn a_full_disk_changes_no_file() {
    for line in [
        "grundy --moves 1,2 --limit 1e6 --format csv --output out",
        "positions proportionate-nim --limit 1e6 --output out",
        "plot stone-game --limit 2000 --output out.svg",
        &format!("{RECORDS} --limit 3e7 --checkpoint kept"),
    ] {
        let script = r#"echo mine >out && "$0" "$@" && exit 0
            code=$?; cat out; ls -A; exit $code"#;
        let output = on_full_disk(script, line).expect("a namespace");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("No space left") && said.lines().count() == 1, "{line}: {said}");
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "mine\nout\n", "{line}");
    }
}

/// Instead of the function of libc, one that refuses all locks with the number in `REFUSED`.
const FLOCK: &str = r#"
    #include <errno.h>
    #include <stdlib.h>
    int flock(int file, int operation) {
        errno = atoi(getenv("REFUSED"));
        return -1;
    }"#;

const LIBRARY: &str = "flock.so";

/// Compiles [`FLOCK`] into a folder, and lists the libraries that programs here load.
fn refusing_locks(folder: &TempDir) -> std::io::Result<Output> {
    fs::write(folder.path().join("flock.c"), FLOCK)?;
    let arguments = ["-shared", "-fPIC", "flock.c", "-o", LIBRARY];
    let compiled = Command::new("cc").args(arguments).current_dir(folder.path()).output()?;
    if !compiled.status.success() {
        return Ok(compiled);
    }
    // A program with its own libc does not take it.
    let here = std::env::current_exe()?;
    let libraries = Command::new("ldd").arg(here).output()?;
    let is_dynamic = String::from_utf8_lossy(&libraries.stdout).contains("libc.so");
    if is_dynamic { Ok(libraries) } else { Err(std::io::ErrorKind::Unsupported.into()) }
}

/// Refusals of a lock, and whether the program goes on without one. Network file systems may have no locks.
const REFUSALS: [(Errno, bool); 4] =
    [(Errno::NOLCK, true), (Errno::NOSYS, true), (Errno::OPNOTSUPP, true), (Errno::IO, false)];

/// Starts the program where locks are refused.
fn refused_locks(library: &TempDir, refused: Errno) -> program::Command {
    let mut program = nimlanes();
    program.env("LD_PRELOAD", library.path().join(LIBRARY)).env("REFUSED", refused.raw_os_error().to_string());
    program
}

/// A source tree whose repository has a commit without files.
fn a_file_system_without_locks_keeps_revisions(library: &TempDir) {
    let tree = folder();
    script(&tree.path().join("git"), "case \"$*\" in *read-tree*) echo fatal: no files >&2; exit 128 ;; esac");
    fs::write(tree.path().join("Cargo.toml"), "name = \"nimlanes-lab\"\n").expect("a writable folder");
    for (refused, goes_on) in REFUSALS {
        let mut program = refused_locks(library, refused);
        program.env("PATH", tree.path()).current_dir(tree.path()).timeout(Duration::from_secs(60));
        let output = program.args("compare mex_subtraction --size 100 --builds rev:HEAD".split(' ')).assert().code(1);
        let text = String::from_utf8_lossy(&output.get_output().stderr);
        assert_eq!(text.contains("lock is not locked, as its file system has no locks"), goes_on, "{refused}: {text}");
        assert_eq!(text.contains("fatal: no files"), goes_on, "{refused}: {text}");
        assert_eq!(text.contains("cannot write to "), !goes_on, "{refused}: {text}");
    }
}

/// A whole file replaces another there as well.
fn a_file_system_without_locks_keeps_checkpoints(library: &TempDir) {
    for (refused, goes_on) in REFUSALS {
        let folder = folder();
        let mut program = refused_locks(library, refused);
        program.current_dir(folder.path()).args(RECORDS.split(' '));
        let output =
            program.args(["--limit", "3e6", "--checkpoint", "kept", "--output", "out"]).output().expect("it starts");
        let line = String::from_utf8_lossy(&output.stderr);
        let (code, says, left) = match goes_on {
            true => (0, "nimlanes: kept is not locked, as its file system has no locks", vec!["out".into()]),
            false => (1, "nimlanes: cannot write to kept: ", Vec::<OsString>::new()),
        };
        assert_eq!((output.status.code(), line.lines().count()), (Some(code), 1), "{refused}: {line}");
        assert!(line.starts_with(says), "{refused}: {line}");
        let entries = fs::read_dir(folder.path()).expect("a folder");
        assert_eq!(entries.map(|entry| entry.expect("an entry").file_name()).collect::<Vec<_>>(), left, "{refused}");
    }
}
