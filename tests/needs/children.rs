//! Programs that this one starts: on a terminal, and in a namespace of processes.

use std::fs;
use std::process::Command;
use std::time::Duration;

use libtest_mimic::Trial;

use crate::program::{self, command, path_of_program, script};

pub fn trials() -> Vec<Trial> {
    let works = |name, args: &[&str]| Command::new(name).args(args).output().is_ok_and(|it| it.status.success());
    let terminals = works("script", &["--quiet", "--command", "true", "/dev/null"]);
    let terminals = crate::needs(terminals, "script, which makes a terminal");
    let namespaces = crate::needs(works("unshare", &["-rpf", "true"]), "a namespace of processes");
    vec![
        crate::trial("children::a_child_asks_nobody_on_the_terminal", terminals, a_child_asks_nobody_on_the_terminal),
        crate::trial("children::a_build_duels_in_a_namespace", namespaces, a_build_duels_in_a_namespace),
    ]
}

/// It is not stopped for ever, as a process in the background that reads from its terminal.
fn a_child_asks_nobody_on_the_terminal() {
    let tree = tempfile::tempdir().expect("a folder");
    fs::write(tree.path().join("Cargo.toml"), "name = \"nimlanes-lab\"\n").expect("a writable folder");
    script(&tree.path().join("git"), "read password </dev/tty; echo fatal: no password >&2; exit 128");
    let compare = format!("{} compare mex_subtraction --size 100 --builds rev:HEAD", path_of_program().display());
    let path = std::env::var("PATH").expect("a path");
    let mut terminal = program::Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &compare, "/dev/null"]).timeout(Duration::from_secs(60));
    terminal.current_dir(tree.path()).env("PATH", format!("{}:{path}", tree.path().display()));
    terminal.assert().code(1).prints("fatal: no password");
}

/// There, this program has no number.
fn a_build_duels_in_a_namespace() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("other");
    script(&other, &format!("exec unshare -rpf {} \"$@\"", path_of_program().display()));
    let duel = "compare mex_subtraction --size 100 --kernels flags --seconds 0.1 --builds";
    command(duel).arg(other).assert().success();
}
