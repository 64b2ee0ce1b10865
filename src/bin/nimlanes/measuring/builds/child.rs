//! A program of a build as a child process, which plays in a duel.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, absolute};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use nimlanes::kernel::Run;
use nimlanes::lab::duel::{Checked, DuelError};

use super::protocol::{Identity, Listed, Opening, Reply, Request};
use crate::measuring::programs::{self, Process};

/// Gives a program for WebAssembly the system interface of WASI.
const HOST: &str = include_str!("../../../../../tests/wasi.mjs");

/// How often to look whether the run was cancelled while waiting.
const TICK: Duration = Duration::from_millis(50);

/// Longest line that a child may write, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// How long to wait for the first reply, and for any other in addition to ten times the time that the work should take: enough for a
/// machine that is busy with other things.
const PATIENCE: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(30)];

/// A child process, which ends with this value.
pub struct Child<'a> {
    /// How its errors begin.
    name: String,
    process: Process,
    stdin: ChildStdin,
    lines: Receiver<String>,
    patience: Duration,
    run: &'a Run,
    /// Its identity, as it stated it.
    pub identity: Identity,
    /// All kernels of the operation whose input it has.
    pub kernels: Vec<Listed>,
}

/// Starts a program with this many bytes of environment, which move its stack. `name` is what errors call it. Waiting ends if `run` is
/// cancelled.
///
/// # Errors
/// It cannot be started, is not this program, or speaks another protocol.
pub fn start<'a>(program: &Path, name: &str, padding: usize, run: &'a Run) -> Result<Child<'a>, DuelError> {
    let mut command = command(program);
    Child::start(command.arg("answer").env("LAYOUT_PADDING", "x".repeat(padding)), name, PATIENCE, run)
}

/// The system runs a program, or Node if it is a module of WebAssembly (`.wasm`).
fn command(program: &Path) -> Command {
    if program.extension().is_none_or(|extension| extension != "wasm") {
        // A name alone would be looked for where the system has its programs.
        return programs::program(absolute(program).as_deref().unwrap_or(program));
    }
    let mut command = programs::program("node");
    // A script gets its own name before its arguments, but one given by `--eval` has none: `wasi.mjs` takes its place.
    command.args(["--no-warnings", "--input-type=module", "--eval", HOST, "--", "wasi.mjs"]).arg(program);
    command
}

impl<'a> Child<'a> {
    /// Starts `command` and asks who it is.
    fn start(
        command: &mut Command,
        name: &str,
        [first, patience]: [Duration; 2],
        run: &'a Run,
    ) -> Result<Self, DuelError> {
        let cannot = |error: std::io::Error| DuelError::Player(format!("cannot start {name}: {error}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::start(command).map_err(cannot)?;
        let (Some(stdin), Some(stdout)) = (process.child.stdin.take(), process.child.stdout.take()) else {
            unreachable!("both are piped")
        };
        let (sender, lines) = sync_channel(1);
        let read = move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            while (&mut stdout).take(MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
                line.clear();
            }
        };
        thread::Builder::new().name("replies".to_owned()).spawn(read).map_err(cannot)?;
        let (identity, kernels) = (Identity::of_this(), Vec::new());
        let name = name.to_owned();
        let stranger = format!("{name} is no build of nimlanes that can duel");
        let mut child = Child { name: stranger, process, stdin, lines, patience, run, identity, kernels };
        child.identity = match child.reply(&Request::Hello, first)? {
            Reply::Hello(identity) => identity.check().map_err(|why| child.failed(&why)).map(|()| *identity)?,
            _ => return Err(child.confused()),
        };
        Ok(Child { name, ..child })
    }

    /// Why it cannot run a kernel on its input; `None` if it can.
    pub fn obstacle(&self, kernel: &str) -> Option<String> {
        match self.kernels.iter().find(|listed| listed.kernel == kernel) {
            Some(listed) => listed.obstacle.clone(),
            None => Some("no such kernel".to_owned()),
        }
    }

    /// Has it make an input, which should take about `time`.
    ///
    /// # Errors
    /// The run was cancelled; or the child ended, failed, or did not reply in time.
    pub fn open(&mut self, opening: Opening, time: Duration) -> Result<(), DuelError> {
        match self.ask(&Request::Open(opening), time)? {
            Reply::Opened { kernels } => self.kernels = kernels,
            _ => return Err(self.confused()),
        }
        Ok(())
    }

    /// Has it run a kernel once, which should take about `time`, and compare its output with those of the others.
    ///
    /// # Errors
    /// As [`Child::open`].
    pub fn check(&mut self, kernel: &str, time: Duration) -> Result<Checked, DuelError> {
        let Reply::Checked { digest, work, seconds } = self.ask(&Request::Check { kernel: kernel.to_owned() }, time)?
        else {
            return Err(self.confused());
        };
        let number = |(name, value): (String, String)| Some((name, value.parse().ok()?));
        let digest = digest.into_iter().map(number).collect::<Option<_>>();
        match (digest, Duration::try_from_secs_f64(seconds)) {
            (Some(digest), Ok(once)) => Ok(Checked { digest, work, once }),
            _ => Err(self.confused()),
        }
    }

    /// Has it run a kernel several times, which should take about `time`. Returns the time by its clock.
    ///
    /// # Errors
    /// As [`Child::open`].
    pub fn turn(&mut self, kernel: &str, times: u64, time: Duration) -> Result<Duration, DuelError> {
        match self.ask(&Request::Turn { kernel: kernel.to_owned(), times }, time)? {
            Reply::Turn { seconds } => Duration::try_from_secs_f64(seconds).map_err(|_| self.confused()),
            _ => Err(self.confused()),
        }
    }

    fn ask(&mut self, request: &Request, time: Duration) -> Result<Reply, DuelError> {
        match self.reply(request, self.patience.saturating_add(time.saturating_mul(10)))? {
            Reply::Failed { reason } => Err(self.failed(&reason)),
            reply => Ok(reply),
        }
    }

    fn failed(&self, why: &str) -> DuelError {
        DuelError::Player(format!("{}: {why}", self.name))
    }

    /// The error for a reply to another request.
    fn confused(&self) -> DuelError {
        self.failed("it answers another request")
    }

    fn reply(&mut self, request: &Request, limit: Duration) -> Result<Reply, DuelError> {
        let start = Instant::now();
        let line = serde_json::to_string(request).expect("a request is JSON") + "\n";
        if self.stdin.write_all(line.as_bytes()).is_err() {
            return Err(self.ended());
        }
        let mut has_ended = false;
        loop {
            self.run.advance(0)?;
            let Some(left) = limit.checked_sub(start.elapsed()) else {
                return Err(self.failed(&format!("no answer within {} s", limit.as_secs_f64())));
            };
            match self.lines.recv_timeout(left.min(TICK)) {
                Ok(line) => {
                    let noise = |_| self.failed(&format!("it prints `{}`", shortened(&line)));
                    return serde_json::from_str(&line).map_err(noise);
                }
                // A daemon that it started may keep its pipe open.
                Err(RecvTimeoutError::Timeout) if has_ended => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) => has_ended = matches!(self.process.child.try_wait(), Ok(Some(_))),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// Why there are no more replies.
    fn ended(&mut self) -> DuelError {
        // Its pipe closes a moment before it ends.
        let mut status = None;
        for _ in 0..20 {
            status = self.process.child.try_wait().ok().flatten();
            if status.is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.process.end();
        let status = status.map(|status| format!(" with {status}")).unwrap_or_default();
        let words = self.process.last_words().map(|words| format!(": {words}")).unwrap_or_default();
        self.failed(&format!("it ended{status}{words}"))
    }
}

/// The start of a line, without control characters.
fn shortened(line: &str) -> String {
    const MOST: usize = 100;
    let clean = line.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    let short: String = clean.take(MOST).collect();
    if line.trim().chars().count() > MOST { short + ".." } else { short }
}

#[cfg(test)]
mod tests {
    use nimlanes::kernel::RunError;

    use super::*;
    use crate::measuring::programs::program;

    /// A shell that runs `text`, with little patience.
    fn shell(text: &str, run: &Run) -> Result<(), String> {
        let patience = [500, 100].map(Duration::from_millis);
        let mut command = program("sh");
        let mut child =
            Child::start(command.args(["-c", text]), "sh", patience, run).map_err(|error| error.to_string())?;
        child.ask(&Request::Hello, Duration::from_millis(20)).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn a_child_that_hangs_is_given_up() {
        let run = Run::new(1);
        let start = Instant::now();
        let hello = serde_json::to_string(&Reply::Hello(Box::new(Identity::of_this()))).expect("JSON");
        let at_once = shell("sleep 100", &run);
        assert_eq!(at_once, Err("sh is no build of nimlanes that can duel: no answer within 0.5 s".to_owned()));
        let later = shell(&format!("echo '{hello}'; sleep 100"), &run);
        assert_eq!(later, Err("sh: no answer within 0.3 s".to_owned()));
        assert_eq!(shell(&format!("echo '{hello}'; echo '{hello}'; sleep 100"), &run), Ok(()));
        run.cancel();
        assert_eq!(shell("sleep 100", &run), Err(RunError::Cancelled.to_string()));
        assert!(start.elapsed() < Duration::from_secs(50), "none was waited for");
    }
}
