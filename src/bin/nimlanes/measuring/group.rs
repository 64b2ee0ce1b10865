//! Processes with a group of their own: a signal to the group of this program does not reach them, and they are ended together with
//! all that they started.

use std::io;
use std::process::{Child, Command};

/// Whether there are processes besides this one. An engine of WebAssembly has none.
pub const HAS_PROCESSES: bool = cfg!(any(unix, windows));

/// Starts a command in a group of its own.
///
/// # Errors
/// It cannot be started.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    here::apart(command).spawn()
}

/// Ends a process that [`spawn`] started, with all that it started, and waits for its end.
pub fn end(process: &mut Child) {
    here::kill(process);
    let _ = process.wait();
}

#[cfg(unix)]
mod here {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, kill_process_group};

    pub fn apart(command: &mut Command) -> &mut Command {
        command.process_group(0)
    }

    pub fn kill(process: &mut Child) {
        if let Some(group) = Pid::from_raw(process.id() as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(windows)]
mod here {
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
}

#[cfg(not(any(unix, windows)))]
mod here {
    use std::process::{Child, Command};

    pub fn apart(command: &mut Command) -> &mut Command {
        command
    }

    pub fn kill(process: &mut Child) {
        let _ = process.kill();
    }
}
