//! Child programs: cargo, git, tools, and builds of this program. All start here, by one rule for what surrounds them:
//!
//! - **Group:** one of its own, in the background. Ctrl-C does not reach a child, and one that asks for a password on the terminal fails
//!   at once.
//! - **Standard input:** empty, unless the child is given something.
//! - **Variables:** those of this program, except for [`SET`] and [`REMOVED`]: no translations, colours, progress, prompts, or
//!   repository of a hook.
//! - **Time to live:** a child ends with the [`Run`] it is started for, or with this program, even if that is killed; and with the child
//!   its group. Nothing waits for a daemon, which leaves the group: output goes to files in memory, which are read when the child has ended.
//! - **Words:** if a child fails, the last [`SHOWN`] lines of its standard error are shown, without colours.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nimlanes::kernel::{Run, RunError};

use crate::files::identity::id_of;
use crate::terminal::failure::Failure;

/// Whether there are processes besides this one. An engine of WebAssembly has none.
pub const HAS_PROCESSES: bool = cfg!(any(unix, windows));

/// Why a child program was of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// It could not be started or observed, and why.
    #[error("cannot start {0}: {1}")]
    Start(String, #[source] io::Error),
    /// It ended with a failure: its last words, else how it ended.
    #[error("{0} failed: {1}")]
    Ended(String, String),
    /// It is of no use, or is another program than it should be.
    #[error("{0}")]
    Failed(String),
    /// The run was cancelled, and the program was ended.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl ProgramError {
    /// The same, with this line for a program that ended with a failure, given its last words.
    pub fn because(self, line: impl FnOnce(&str) -> String) -> Self {
        match self {
            ProgramError::Ended(_, why) => ProgramError::Failed(line(&why)),
            error => error,
        }
    }
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        match error {
            ProgramError::Run(cancelled) => cancelled.into(),
            error => Failure::Failed(error.to_string()),
        }
    }
}

/// The file that a process of Linux runs, even if it was replaced since.
const RUNNING: &str = "/proc/self/exe";

/// This program, even if its file was replaced since it started.
pub fn this_program() -> Result<PathBuf, ProgramError> {
    let named = std::env::current_exe();
    if cfg!(target_os = "linux")
        && let Ok(running) = id_of(Path::new(RUNNING))
    {
        // In valgrind that is valgrind, and the name alone is of this program. Nothing has the name of a replaced file.
        let is_other = named.as_ref().is_ok_and(|named| id_of(named).is_ok_and(|named| named != running));
        if !is_other {
            return Ok(RUNNING.into());
        }
    }
    named.map_err(|source| ProgramError::Start("this program".to_owned(), source))
}

/// Variables that a child has with these values.
const SET: [(&str, &str); 8] = [
    ("LC_ALL", "C"),
    ("NO_COLOR", "1"),
    ("CARGO_TERM_COLOR", "never"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("RUST_BACKTRACE", "0"), // the reason stands above it
    ("SSH_ASKPASS_REQUIRE", "never"),
];

/// Variables that a child does not have. Those of git tell its hooks which repository, worktree and index they are about: the list of
/// `git rev-parse --local-env-vars`.
const REMOVED: [&str; 17] = [
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// A command, to be given to [`Process::start`] or [`complete`].
pub fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    for variable in REMOVED {
        command.env_remove(variable);
    }
    command.envs(SET).stdin(Stdio::null());
    command
}

/// A process with all that it started, which end with this value.
#[derive(Debug)]
pub struct Process {
    pub child: Child,
    errors: File,
    guard: Option<Child>,
}

impl Process {
    /// Starts a [`program`].
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let errors = memory()?;
        let child = here::spawn(command.stderr(errors.try_clone()?))?;
        let guard = here::guard(&child);
        Ok(Process { child, errors, guard })
    }

    /// Waits for its end.
    fn wait(&mut self, run: &Run) -> Result<ExitStatus, ProgramError> {
        let cannot = |source| ProgramError::Start("a program".to_owned(), source);
        let mut tick = Duration::from_millis(1);
        loop {
            if let Some(status) = self.child.try_wait().map_err(cannot)? {
                return Ok(status);
            }
            run.advance(0)?;
            sleep(tick);
            tick = (2 * tick).min(Duration::from_millis(20));
        }
    }

    /// The last lines that it has written to its standard error, as they are shown.
    pub fn last_words(&self) -> Option<String> {
        Some(shown(&contents(&self.errors).ok()?)).filter(|words| !words.is_empty())
    }

    /// Ends it with all that it started.
    pub fn end(&mut self) {
        here::kill(&mut self.child);
        for child in self.guard.iter_mut().chain([&mut self.child]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// A file without a name.
fn memory() -> io::Result<File> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::fs::memfd_create("child", rustix::fs::MemfdFlags::CLOEXEC)?.into());
    #[cfg(not(target_os = "linux"))]
    tempfile::tempfile_in(std::env::temp_dir()).map_err(io::Error::other)
}

/// All that is in a file, which a child wrote.
fn contents(mut file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// How many lines of a child's errors are shown.
const SHOWN: usize = 12;

/// The last lines of a text that are not empty, as an error shows them: those after the first are indented.
fn shown(text: &[u8]) -> String {
    const WIDTH: usize = 200;
    let text = String::from_utf8_lossy(text);
    let text = without_escapes(&text);
    // What a progress bar has written over is not seen on a terminal either.
    let seen = text.lines().filter_map(|line| line.trim_end().rsplit('\r').next());
    let line = |line: &str| line.chars().filter(|c| !c.is_control() || *c == '\t').take(WIDTH).collect::<String>();
    let lines: Vec<String> = seen.map(line).filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(SHOWN)..].join("\n    ");
    last.trim_start().trim_start_matches("nimlanes: ").to_owned()
}

/// A text without the sequences that colour it: an escape, a bracket, digits, and a letter.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let plain = parts.next().unwrap_or_default().to_owned();
    parts.fold(plain, |plain, part| match part.strip_prefix('[') {
        None => plain + part,
        Some(sequence) => {
            let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map_or(sequence.len(), |letter| letter + 1);
            plain + &sequence[end..]
        }
    })
}

/// Runs a command to its end, with `input` as its standard input. Returns its standard output.
///
/// # Errors
/// It cannot be started, it failed, or `run` was cancelled.
pub fn complete(command: &mut Command, input: &str, run: &Run) -> Result<String, ProgramError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let cannot = |source| ProgramError::Start(name.clone(), source);
    let start = |command: &mut Command| {
        let output = memory()?;
        command.stdout(output.try_clone()?);
        if !input.is_empty() {
            let mut file = memory()?;
            file.write_all(input.as_bytes())?;
            file.rewind()?;
            command.stdin(file);
        }
        Ok((Process::start(command)?, output))
    };
    let (mut process, output) = start(command).map_err(cannot)?;
    let status = process.wait(run)?;
    if !status.success() {
        let why = process.last_words().unwrap_or_else(|| status.to_string());
        return Err(ProgramError::Ended(words(command), why));
    }
    contents(&output).map(|output| String::from_utf8_lossy(&output).into_owned()).map_err(cannot)
}

/// The command line as text.
fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    words.replacen(RUNNING, "nimlanes", 1)
}

#[cfg(unix)]
mod here {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use nix::sys::signal::Signal::{SIGHUP, SIGINT, SIGTERM, SIGTTIN, SIGTTOU};
    use nix::sys::signal::{SigSet, SigmaskHow};
    use rustix::process::{Pid, Signal, kill_process_group};

    /// Starts a command in a group. The child inherits which signals are blocked: those that stop a group that uses the terminal in the
    /// background, so that it fails instead, and those for which a thread of this program waits, but for signals that cargo and rustc
    /// send to themselves.
    pub fn spawn(command: &mut Command) -> io::Result<Child> {
        let blocked = SigSet::from_iter([SIGHUP, SIGINT, SIGTERM, SIGTTIN, SIGTTOU]);
        let own = blocked.thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
        let child = command.process_group(0).spawn();
        own.thread_set_mask()?;
        child
    }

    pub fn kill(process: &mut Child) {
        if let Some(group) = Pid::from_raw(process.id() as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// A shell that kills the group of a process when this program has ended, however it did: a pipe of it closes.
    pub fn guard(process: &Child) -> Option<Child> {
        let kill = format!("read -r _; kill -KILL -{}", process.id());
        let mut shell = super::program("/bin/sh");
        spawn(shell.args(["-c", &kill]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null())).ok()
    }
}

#[cfg(not(unix))]
mod here {
    use std::io;
    use std::process::{Child, Command};

    /// Starts a command; on Windows in a new group, which Ctrl-C does not reach.
    pub fn spawn(command: &mut Command) -> io::Result<Child> {
        #[cfg(windows)] // CREATE_NEW_PROCESS_GROUP
        std::os::windows::process::CommandExt::creation_flags(command, 0x200);
        command.spawn()
    }

    /// Ends a process and all that it started.
    pub fn kill(process: &mut Child) {
        if cfg!(windows) {
            let mut tree = Command::new("taskkill");
            let _ = tree.args(["/T", "/F", "/PID", &process.id().to_string()]).output();
        }
    }

    /// There is none: a killed program leaves its children.
    pub fn guard(_: &Child) -> Option<Child> {
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(text: &str) -> Command {
        let mut command = program("sh");
        command.args(["-c", text]);
        command
    }

    /// The output of a shell, or its last words.
    fn ended(text: &str, input: &str) -> Result<String, String> {
        complete(&mut shell(text), input, &Run::new(1)).map_err(|error| match error {
            ProgramError::Ended(_, why) => why,
            error => error.to_string(),
        })
    }

    /// More than a pipe holds, and than is shown.
    #[test]
    fn much_text_does_not_stop_a_command() {
        let text = "x".repeat(1 << 20);
        let done = |script: &str| ended(script, &text);
        assert_eq!(done("tee /dev/stderr").as_ref(), Ok(&text));
        assert_eq!(done("tee /dev/stderr; exit 1"), Err("x".repeat(200)));
        assert_eq!(done("exit 0"), Ok(String::new()));
    }

    #[test]
    fn what_git_sets_for_hooks_is_not_passed_on() {
        let listed = complete(program("git").args(["rev-parse", "--local-env-vars"]), "", &Run::new(1)).expect("git");
        assert!(listed.lines().all(|name| REMOVED.contains(&name)), "{listed}");
    }
}
