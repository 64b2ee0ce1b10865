//! Output files where another user owns them, or the disk is full.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::program::nimlanes;

const TO: [&str; 6] = ["grundy", "--limit", "2", "--format", "csv", "--out"];
const DUEL: [&str; 7] = ["compare", "mex_split", "--size", "9", "--seconds", "0.1", "--save"];

pub fn trials() -> Vec<Trial> {
    let is_root = folder().path().metadata().expect("a folder").uid() == 0;
    let root = crate::needs(is_root, "root");
    let others = crate::needs(!is_root, "a user other than root");
    let mounted = on_full_disk("true", &[]).is_ok_and(|output| output.status.success());
    let mounts = crate::needs(mounted, "a mount namespace");
    vec![
        crate::trial("files::a_replaced_file_keeps_its_owner", root, a_replaced_file_keeps_its_owner),
        crate::trial("files::a_read_only_file_is_not_replaced", others, a_read_only_file_is_not_replaced),
        crate::trial("files::a_full_disk_changes_no_file", mounts, a_full_disk_changes_no_file),
    ]
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn a_replaced_file_keeps_its_owner() {
    let folder = folder();
    for (name, command) in [("out.csv", &TO[..]), ("duel.json", &DUEL)] {
        let path = folder.path().join(name);
        fs::write(&path, "old").expect("a writable folder");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("an own file");
        chown(&path, Some(12_345), Some(23_456)).expect("root may");
        nimlanes().args(command).arg(&path).assert().success();
        let known = path.metadata().expect("a file");
        assert_eq!((known.uid(), known.gid(), known.mode() & 0o7777), (12_345, 23_456, 0o755));
    }
}

fn a_read_only_file_is_not_replaced() {
    let folder = folder();
    for (name, command) in [("out.csv", &TO[..]), ("duel.json", &DUEL)] {
        let path = folder.path().join(name);
        fs::write(&path, "old").expect("a writable folder");
        fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("an own file");
        nimlanes().args(command).arg(&path).assert().code(1);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "old");
    }
}

/// Runs a script in a file system of 64 kB, in a mount namespace of its own, where the program is `"$0" "$@"`.
fn on_full_disk(script: &str, args: &[&str]) -> std::io::Result<Output> {
    let folder = folder();
    let disk = folder.path().display();
    let script = format!("mount -t tmpfs -o size=64k none '{disk}' && cd '{disk}' || exit 77\n{script}");
    Command::new("unshare").args(["-rm", "sh", "-c", &script]).arg(cargo_bin("nimlanes")).args(args).output()
}

fn a_full_disk_changes_no_file() {
    for args in [
        &["grundy", "--moves", "1,2", "--limit", "1e6", "--format", "csv", "--out", "out"][..],
        &["positions", "proportionate-nim", "--limit", "1e6", "--out", "out"],
        &["plot", "stone-game", "--limit", "2000", "--out", "out.png"],
        &[
            "grundy",
            "--moves",
            "factorials",
            "--records",
            "--format",
            "csv",
            "--limit",
            "3e7",
            "--every",
            "0.001",
            "--checkpoint",
            "kept",
        ],
    ] {
        let script = r#"echo mine >out && "$0" "$@" && exit 0
            code=$?; cat out; ls -A; exit $code"#;
        let output = on_full_disk(script, args).expect("a namespace");
        let line = String::from_utf8_lossy(&output.stderr);
        assert!(line.contains("No space left") && line.lines().count() == 1, "{args:?}: {line}");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "mine\nout\n", "{args:?}");
    }
}
