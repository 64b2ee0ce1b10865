//! Commands that take long, and end with this program.

use std::io::{self, Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use nimlanes::kernel::{Run, RunError};

use super::group;

/// Why a command did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// It could not be started or observed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The run was cancelled, and the command with everything that it had started was ended.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Runs a command without input and output. Returns how it ended and what it said on stderr.
///
/// # Errors
/// It cannot be started, or `run` was cancelled.
pub fn complete(command: &mut Command, run: &Run) -> Result<(ExitStatus, String), Stopped> {
    const TICK: Duration = Duration::from_millis(20);
    let mut errors = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors.try_clone()?);
    let mut process = group::spawn(command)?;
    let status = loop {
        if let Some(status) = process.try_wait()? {
            break status;
        }
        if let Err(cancelled) = run.advance(0) {
            group::end(&mut process);
            return Err(cancelled.into());
        }
        thread::sleep(TICK);
    };
    let mut text = Vec::new();
    errors.rewind()?;
    errors.read_to_end(&mut text)?;
    Ok((status, String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn shell(text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }

    #[test]
    fn a_command_is_completed_or_ended_with_the_run() {
        let run = Run::new(1);
        let (status, said) = complete(&mut shell("echo no; echo yes >&2; exit 3"), &run).expect("a shell");
        assert_eq!((status.code(), said.as_str()), (Some(3), "yes\n"));
        assert!(matches!(complete(&mut Command::new("/none"), &run), Err(Stopped::Io(_))));
        run.cancel();
        let start = Instant::now();
        assert!(matches!(complete(&mut shell("sleep 100 & sleep 100"), &run), Err(Stopped::Run(RunError::Cancelled))));
        assert!(start.elapsed() < Duration::from_secs(50), "it was not waited for");
    }
}
