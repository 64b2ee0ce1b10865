//! The surroundings of the programs that this one starts: daemons hold nothing up, nothing is left behind, and words are shown in plain English.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Child, Command as Process, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::duels::{duel, is_gone, script, wait_for_script};
use crate::program::{Command, path_of_program, send, wait_for};

/// A source tree of which the program knows no more than its name, with a `git` that is a shell script: it notes its group, and that it
/// began.
struct Tree(TempDir);

impl Tree {
    fn new(git: &str) -> Self {
        let tree = Tree(tempfile::tempdir().expect("a folder"));
        fs::write(tree.0.path().join("Cargo.toml"), "name = \"nimlanes-lab\"\n").expect("a writable folder");
        fs::rename(script(&tree.0, git), tree.0.path().join("git")).expect("a writable folder");
        tree
    }

    fn program(&self, args: &[&str]) -> Process {
        let mut command = Process::new(path_of_program());
        let path = std::env::var("PATH").expect("a path");
        command.env("PATH", format!("{}:{path}", self.0.path().display()));
        command.current_dir(self.0.path()).args(args);
        command
    }

    fn compare(&self) -> Process {
        self.program(&["compare", "mex_subtraction", "--size", "100", "--builds", "rev:HEAD"])
    }

    /// Starts a comparison, and returns when git has begun.
    fn begin(&self) -> Child {
        let compare = self.compare().stderr(Stdio::null()).spawn().expect("it starts");
        wait_for_script(&self.0);
        compare
    }

    fn fails(&self, says: &str) {
        Command::from(self.compare()).timeout(Duration::from_secs(60)).refused(1, says);
    }
}

/// Starts a process that has left the group, and keeps all that is open for as long as the folder is there.
fn daemon(folder: &TempDir) -> String {
    let folder = folder.path().display();
    let daemon = format!("touch {folder}/has-left; while test -e {folder}; do sleep 0.1; done");
    format!("setsid sh -c '{daemon}' & until test -e {folder}/has-left; do sleep 0.01; done")
}

#[test]
fn a_daemon_that_keeps_what_is_open_holds_nothing_up() {
    let alive = tempfile::tempdir().expect("a folder");
    let daemon = daemon(&alive);
    let answers = "case \"$*\" in *--show-cdup) exit 0; esac";
    Tree::new(&format!("{daemon}\n{answers}\necho fatal: no >&2; exit 128")).fails(": fatal: no\n");
    let tree = Tree::new(&format!("{daemon}\nsleep 600"));
    let mut compare = tree.begin();
    send("TERM", &compare);
    wait_for(|| compare.try_wait().expect("a process of ours").is_some());
    assert_eq!(compare.wait().expect("it ended").code(), Some(143));
    wait_for(|| is_gone(&tree.0));
    // A program that plays in a duel.
    let folder = tempfile::tempdir().expect("a folder");
    let other = script(&folder, &format!("{daemon}\necho out of luck >&2; exit 3"));
    duel(&other).timeout(Duration::from_secs(60)).refused(1, "it ended with exit status: 3: out of luck\n");
}

#[test]
fn the_last_words_of_a_child_are_shown_in_plain_english() {
    let words = r"printf ' 10%%\r 99%%\r\033[1;31mfatal\377:\033[0m ' >&2
        case ${LC_ALL:-$LANG} in C) echo refused ;; *) echo verweigert ;; esac >&2
        printf 'To ask:\n\n\tgit ask\n' >&2
        exit 128";
    let tree = Tree::new(words);
    let mut compare = Command::from(tree.compare());
    compare.env("LC_ALL", "de_DE.UTF-8").refused(1, ": fatal\u{fffd}: refused\n    To ask:\n    \tgit ask\n");
    let lines: Vec<String> = (1..=30).map(|line| format!("line {line}")).collect();
    let tree = Tree::new(&format!("printf '{}' >&2; exit 1", lines.join("\\n")));
    tree.fails(&format!(": {}\n", lines[18..].join("\n    ")));
    for silent in ["exit 7", r"printf ' \n\033[0m' >&2; exit 7"] {
        Tree::new(silent).fails(": exit status: 7\n");
    }
    Tree::new("kill -9 $$").fails(": signal: 9 (SIGKILL)\n");
}

/// Whatever a terminal or a desktop would be asked by.
#[test]
fn a_child_is_told_not_to_ask() {
    let tree =
        Tree::new("echo $GIT_TERMINAL_PROMPT,$GIT_ASKPASS,$SSH_ASKPASS_REQUIRE,$CLICOLOR_FORCE,$(cat) >&2; exit 1");
    let mut compare = Command::from(tree.compare());
    compare.env("GIT_ASKPASS", "askpass").env("CLICOLOR_FORCE", "1").write_stdin("secret");
    compare.refused(1, ": 0,,never,,\n");
}

/// Measurements without a revision are of little use: the report does not start to measure.
#[test]
fn a_report_shows_why_git_names_no_revision() {
    let tree = Tree::new("echo fatal: detected dubious ownership >&2; exit 128");
    for folder in [".git", "src/cores", "src/foundation/simd"] {
        fs::create_dir_all(tree.0.path().join(folder)).expect("a writable folder");
    }
    let mut report = Command::from(tree.program(&["report", "--quick"]));
    let report = report.timeout(Duration::from_secs(60)).assert().code(1);
    report.says(" failed: fatal: detected dubious ownership\n");
}
