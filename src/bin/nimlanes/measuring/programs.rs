//! Child programs: cargo, git, tools, and builds of this program. All start here, each in a group of its own: a signal to the
//! group of this program does not reach it, and it ends together with all that it started. It ends with the [`Run`] it is started
//! for, and with this program.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::thread::{Builder, Scope, ScopedJoinHandle, scope, sleep};
use std::time::Duration;

use nimlanes::kernel::{Run, RunError};
use serde::de::DeserializeOwned;

use crate::files::identity::id_of;
use crate::terminal::failure::Failure;

/// Whether there are processes besides this one. An engine of WebAssembly has none.
pub const HAS_PROCESSES: bool = cfg!(any(unix, windows));

/// Why a child program was of no use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// It could not be started or observed.
    #[error("cannot start {name}: {source}")]
    Start {
        /// The program.
        name: String,
        /// The cause.
        source: io::Error,
    },
    /// It failed.
    #[error("{what} failed: {why}")]
    Failed {
        /// Its command line.
        what: String,
        /// What it complained of, in one line.
        why: String,
    },
    /// It does not compile.
    #[error("{what} does not build: {why}")]
    Unbuilt {
        /// What errors call it.
        what: String,
        /// What cargo complained of, in one line.
        why: String,
    },
    /// It is another program than it should be.
    #[error("{0}")]
    Stranger(String),
    /// The run was cancelled, and the program was ended.
    #[error(transparent)]
    Run(#[from] RunError),
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
    named.map_err(|source| ProgramError::Start { name: "this program".to_owned(), source })
}

/// What git sets for its hooks: which repository, worktree and index they are about. A child is about those that it is told. The
/// list is that of `git rev-parse --local-env-vars`.
const OF_A_REPOSITORY: [&str; 15] = [
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

/// The process that a child ends with: see [`end_with_parent`].
pub const PARENT: &str = "ENDS_WITH_PROCESS";

/// A command, to be given to [`Process::start`] or [`complete`].
pub fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    for variable in OF_A_REPOSITORY {
        command.env_remove(variable);
    }
    if HAS_PROCESSES {
        // Always as long: the environment moves the stack.
        command.env(PARENT, format!("{:010}", std::process::id()));
    }
    command
}

/// Has this process end with the one that started it as a child, where the system can do that. Other programs end when they write
/// to a pipe that nobody reads, or read from one that nobody writes to.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Pid, Signal, set_parent_process_death_signal, test_kill_process};
        let parent = std::env::var(PARENT).ok().and_then(|pid| Pid::from_raw(pid.parse().ok()?));
        let Some(parent) = parent else { return };
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
        if test_kill_process(parent).is_err() {
            std::process::exit(1); // it ended before
        }
    }
}

/// The first argument of a process that does nothing but to keep a program.
const KEEP: &str = "keep-program";

/// A command for a program that does not see to that itself. A process of this program starts it, where the system tells that
/// process when its parent has ended, and then ends all that it started.
pub fn kept(name: impl AsRef<OsStr>) -> Command {
    match this_program() {
        Ok(this) if cfg!(target_os = "linux") => {
            let mut command = program(this);
            command.arg(KEEP).arg(name);
            command
        }
        _ => program(name),
    }
}

/// Runs the program that [`kept`] started this process for, if it did. The first signal ends the group of this process at once: the
/// system sends one for each thread of the parent that ends.
pub fn keep() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    words.next().filter(|word| word == KEEP)?;
    let name = words.next()?;
    let kept = here::end_own_group_by_signal().and_then(|()| Command::new(&name).args(words).status());
    let cannot = |source| ProgramError::Start { name: name.to_string_lossy().into_owned(), source };
    Some(match kept.map_err(cannot) {
        Ok(status) => ExitCode::from(status.code().map_or(1, |code| code as u8)),
        Err(error) => Failure::from(error).report(),
    })
}

/// A process with all that it started, which end with this value.
#[derive(Debug)]
pub struct Process(pub Child);

impl Process {
    /// Starts a command.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        here::apart(command).spawn().map(Process)
    }

    /// Ends it with all that it started.
    pub fn end(&mut self) {
        here::kill(&mut self.0);
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// A command that came to its end.
#[derive(Debug)]
pub struct Completed {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Its standard error.
    pub said: String,
}

impl Completed {
    /// What it complained of: its first line that is marked as an error, else its last one, else how it ended.
    pub fn complaint(&self) -> String {
        let mut lines = self.said.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_error = |line: &&str| ["error", "fatal: ", "nimlanes: "].iter().any(|mark| line.starts_with(mark));
        let line = lines.clone().find(is_error).or_else(|| lines.next_back());
        line.map_or_else(|| self.status.to_string(), |line| line.trim_start_matches("nimlanes: ").to_owned())
    }

    /// Its standard output.
    ///
    /// # Errors
    /// It failed: its [`Completed::complaint`].
    pub fn success(self) -> Result<String, String> {
        if self.status.success() {
            Ok(String::from_utf8_lossy(&self.output).into_owned())
        } else {
            Err(self.complaint())
        }
    }
}

/// Runs a command to its end. Its standard input is `input`.
///
/// # Errors
/// It cannot be started, or `run` was cancelled.
pub fn complete(command: &mut Command, input: &str, run: &Run) -> Result<Completed, ProgramError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let cannot = |source| ProgramError::Start { name: name.clone(), source };
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = Process::start(command).map_err(cannot)?;
    let (stdin, stdout, stderr) = (process.0.stdin.take(), process.0.stdout.take(), process.0.stderr.take());
    // Pipes are read and written while it runs: it would wait at a full one.
    scope(|scope| {
        // Within the scope: whatever happens, it ends, and so do those that read.
        let mut process = process;
        if let Some(mut stdin) = stdin {
            // A program may end without reading all.
            spawn(scope, move || drop(stdin.write_all(input.as_bytes()))).map_err(cannot)?;
        }
        let output = spawn(scope, || read(stdout)).map_err(cannot)?;
        let said = spawn(scope, || read(stderr)).map_err(cannot)?;
        let status = wait(&mut process.0, run)?;
        // What it left behind may hold its pipes.
        drop(process);
        let [output, said] = [output, said].map(|bytes| bytes.join().expect("reading does not panic"));
        Ok(Completed { status, output, said: String::from_utf8_lossy(&said).into_owned() })
    })
}

/// Waits for the end of a process.
fn wait(process: &mut Child, run: &Run) -> Result<ExitStatus, ProgramError> {
    let cannot = |source| ProgramError::Start { name: "a program".to_owned(), source };
    let mut tick = Duration::from_millis(1);
    loop {
        if let Some(status) = process.try_wait().map_err(cannot)? {
            return Ok(status);
        }
        run.advance(0)?;
        sleep(tick);
        tick = (2 * tick).min(Duration::from_millis(20));
    }
}

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().name("pipe".to_owned()).spawn_scoped(scope, work)
}

/// All that a pipe gives.
fn read(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    bytes
}

/// Runs a command and returns its standard output.
///
/// # Errors
/// As [`complete`]; or it failed.
pub fn output_of(command: &mut Command, run: &Run) -> Result<String, ProgramError> {
    let completed = complete(command, "", run)?;
    completed.success().map_err(|why| ProgramError::Failed { what: words(command), why })
}

/// Runs a command and parses its JSON output.
///
/// # Errors
/// As [`output_of`]; or it says something else.
pub fn json_of<T: DeserializeOwned>(command: &mut Command, run: &Run) -> Result<T, ProgramError> {
    let output = output_of(command, run)?;
    let unreadable = |error: serde_json::Error| ProgramError::Failed { what: words(command), why: error.to_string() };
    serde_json::from_str(&output).map_err(unreadable)
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
    use std::process::{Child, Command};
    use std::thread;

    use rustix::process::{Pid, Signal, kill_current_process_group, kill_process_group};
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    pub fn apart(command: &mut Command) -> &mut Command {
        command.process_group(0)
    }

    pub fn kill(process: &mut Child) {
        if let Some(group) = Pid::from_raw(process.id() as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    pub fn end_own_group_by_signal() -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let wait = move || {
            if signals.forever().next().is_some() {
                let _ = kill_current_process_group(Signal::KILL);
            }
        };
        thread::Builder::new().spawn(wait).map(drop)
    }
}

#[cfg(windows)]
mod here {
    use std::io;
    use std::os::windows::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    /// Ctrl-C does not reach a new group.
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

    pub fn apart(command: &mut Command) -> &mut Command {
        command.creation_flags(CREATE_NEW_PROCESS_GROUP)
    }

    pub fn kill(process: &mut Child) {
        let mut tree = Command::new("taskkill");
        tree.args(["/T", "/F", "/PID", &process.id().to_string()]);
        let _ = tree.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = process.kill();
    }

    pub fn end_own_group_by_signal() -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(any(unix, windows)))]
mod here {
    use std::io;
    use std::process::{Child, Command};

    pub fn apart(command: &mut Command) -> &mut Command {
        command
    }

    pub fn kill(process: &mut Child) {
        let _ = process.kill();
    }

    pub fn end_own_group_by_signal() -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Instant;

    use super::*;

    fn shell(text: &str) -> Command {
        let mut command = program("sh");
        command.args(["-c", text]);
        command
    }

    #[test]
    fn a_command_is_completed_or_ended_with_the_run() {
        let run = Run::new(1);
        let said = complete(&mut shell("cat; echo no; echo error: yes >&2; echo later >&2; exit 3"), "in", &run)
            .expect("a shell");
        assert_eq!((said.status.code(), said.output.as_slice()), (Some(3), &b"inno\n"[..]));
        assert_eq!(said.success(), Err("error: yes".to_owned()));
        assert!(matches!(complete(&mut program("/none"), "", &run), Err(ProgramError::Start { .. })));
        let start = Instant::now();
        // It leaves a process behind that holds its pipes.
        assert_eq!(output_of(&mut shell("sleep 100 & echo yes"), &run).expect("a shell"), "yes\n");
        run.cancel();
        let stopped = complete(&mut shell("sleep 100 & sleep 100"), "", &run);
        assert!(matches!(stopped, Err(ProgramError::Run(RunError::Cancelled))));
        assert!(start.elapsed() < Duration::from_secs(50), "none was waited for");
    }

    /// More than a pipe holds, in each of three.
    #[test]
    fn full_pipes_do_not_stop_a_command() {
        let text = "x".repeat(1 << 20);
        let both = complete(&mut shell("tee /dev/stderr"), &text, &Run::new(1)).expect("a shell");
        assert_eq!([both.output.len(), both.said.len()], [1 << 20; 2]);
        let deaf = complete(&mut shell("exit 0"), &text, &Run::new(1)).expect("a shell");
        assert!(deaf.status.success());
    }

    #[test]
    fn what_git_sets_for_hooks_is_not_passed_on() {
        let listed = output_of(program("git").args(["rev-parse", "--local-env-vars"]), &Run::new(1));
        let listed = listed.unwrap_or_default(); // without git there are no hooks
        assert!(listed.lines().all(|name| OF_A_REPOSITORY.contains(&name)), "{listed}");
        let command = program("true");
        let removed = command.get_envs().filter(|(_, value)| value.is_none()).count();
        assert_eq!(removed, OF_A_REPOSITORY.len());
    }
}
