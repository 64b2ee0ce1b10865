//! A child process that plays in a duel.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use nimlanes::kernel::{Run, RunError};

use super::protocol::{Identity, Reply, Request};
use crate::measuring::duel::DuelError;
use crate::measuring::programs::Process;

/// How often to look whether the run was cancelled while waiting.
const TICK: Duration = Duration::from_millis(50);

/// Longest line that a child may write, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// How long to wait for replies.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the first one.
    pub hello: Duration,
    /// For any other, in addition to ten times the time that the work should take.
    pub reply: Duration,
}

impl Patience {
    /// Enough for a machine that is busy with other things.
    pub const DEFAULT: Patience = Patience { hello: Duration::from_secs(10), reply: Duration::from_secs(30) };
}

/// A child process, which ends with this value.
pub struct Child<'a> {
    name: String,
    process: Process,
    stdin: ChildStdin,
    lines: Receiver<String>,
    patience: Patience,
    run: &'a Run,
    identity: Identity,
}

impl<'a> Child<'a> {
    /// Starts `command` and asks who it is. `name` is what errors call it. Waiting ends if `run` is cancelled.
    ///
    /// # Errors
    /// It cannot be started, is not this program, or speaks another protocol.
    pub fn start(command: &mut Command, name: &str, patience: Patience, run: &'a Run) -> Result<Self, DuelError> {
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
        let identity = Identity::of_this();
        let mut child = Child { name: name.to_owned(), process, stdin, lines, patience, run, identity };
        let no_build = |why: String| DuelError::Player(format!("{name} is no build of nimlanes that can duel: {why}"));
        child.identity = match child.reply(&Request::Hello, patience.hello) {
            Ok(Reply::Hello(identity)) => identity.check().map_err(no_build).map(|()| *identity)?,
            Ok(_) => return Err(no_build("it answers another request".to_owned())),
            Err(Silence::Cancelled) => return Err(RunError::Cancelled.into()),
            Err(Silence::Because(why)) => return Err(no_build(why)),
        };
        Ok(child)
    }

    /// Who it said it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Asks for something that should take about `time`.
    ///
    /// # Errors
    /// The run was cancelled; or the child ended, failed, or did not reply in time.
    pub fn ask(&mut self, request: &Request, time: Duration) -> Result<Reply, DuelError> {
        let failed = |name: &str, why: String| DuelError::Player(format!("{name}: {why}"));
        match self.reply(request, self.patience.reply.saturating_add(time.saturating_mul(10))) {
            Ok(Reply::Failed { reason }) => Err(failed(&self.name, reason)),
            Ok(reply) => Ok(reply),
            Err(Silence::Cancelled) => Err(RunError::Cancelled.into()),
            Err(Silence::Because(why)) => Err(failed(&self.name, why)),
        }
    }

    /// The error for a reply to another request.
    pub fn confused(&self) -> DuelError {
        DuelError::Player(format!("{}: it answers another request", self.name))
    }

    fn reply(&mut self, request: &Request, limit: Duration) -> Result<Reply, Silence> {
        let start = Instant::now();
        let line = serde_json::to_string(request).expect("a request is JSON") + "\n";
        if self.stdin.write_all(line.as_bytes()).is_err() {
            return Err(self.ended());
        }
        let mut has_ended = false;
        loop {
            self.run.advance(0).map_err(|_| Silence::Cancelled)?;
            let Some(left) = limit.checked_sub(start.elapsed()) else {
                return Err(Silence::Because(format!("no answer within {} s", limit.as_secs_f64())));
            };
            match self.lines.recv_timeout(left.min(TICK)) {
                Ok(line) => {
                    let noise = |_| Silence::Because(format!("it says `{}`", shortened(&line)));
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
    fn ended(&mut self) -> Silence {
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
        Silence::Because(format!("it ended{status}{words}"))
    }
}

/// Why a child gave no reply.
enum Silence {
    Cancelled,
    Because(String),
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
    use super::*;
    use crate::measuring::programs::program;

    /// A shell that runs `text`, with little patience.
    fn shell(text: &str, run: &Run) -> Result<(), String> {
        let patience = Patience { hello: Duration::from_millis(500), reply: Duration::from_millis(100) };
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
