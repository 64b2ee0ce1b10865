//! Messages between this program and a child process that plays in a duel: JSON, an object a line. The child answers each
//! request with one reply, and ends when its input does.

use serde::{Deserialize, Serialize};

use nimlanes::kernel::case::Case;
use nimlanes::lab::environment::Build;

/// The version of these messages. It changes with any of them, but [`Request::Hello`] and [`Identity`] stay as they are; the latter
/// may hold more.
const PROTOCOL: u32 = 1;

const PROGRAM: &str = "nimlanes";

/// A request to the child.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Its identity: [`Reply::Hello`].
    Hello,
    /// To make an input: [`Reply::Opened`].
    Open(Opening),
    /// To run a kernel once and compare its output with those of the others: [`Reply::Checked`].
    Check {
        /// The kernel.
        kernel: String,
    },
    /// To run a kernel several times: [`Reply::Turn`].
    Turn {
        /// The kernel.
        kernel: String,
        /// How often.
        times: u64,
    },
}

/// An input, and how kernels are run on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    #[serde(flatten)]
    pub case: Case,
    /// Threads that a kernel may use.
    pub threads: usize,
    /// Whether the wall clock times all kernels, and not the clock of their thread.
    pub wall_clock: bool,
    /// Bytes to allocate first and keep, so that later allocations are elsewhere than in another process: before and after a hole
    /// that small tables go to. So the second number moves large tables relative to small ones.
    pub heap: [usize; 2],
}

/// A reply of the child.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// Its identity.
    Hello(Box<Identity>),
    /// The input is made.
    Opened {
        /// All kernels of the operation.
        kernels: Vec<Listed>,
    },
    /// The output agrees with those before.
    Checked {
        /// The digest of the output. Numbers are strings: they may be too large for JSON.
        digest: Vec<(String, String)>,
        /// Units of work in a run.
        work: u64,
        /// Time of a run.
        seconds: f64,
    },
    /// The turn is over.
    Turn {
        /// Time of all runs.
        seconds: f64,
    },
    /// The request could not be met; the child ends.
    Failed {
        /// Why not.
        reason: String,
    },
}

/// A kernel in the child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Listed {
    pub kernel: String,
    /// Why it cannot run on this input.
    pub obstacle: Option<String>,
}

/// A build of this program, as it states itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// `nimlanes`.
    pub program: String,
    /// The version of the messages.
    pub protocol: u32,
    /// The version of the program.
    pub version: String,
    /// The commit, if it was built of a revision.
    pub revision: Option<String>,
    /// How it is compiled.
    #[serde(flatten)]
    pub build: Build,
}

impl Identity {
    /// This build.
    pub fn of_this() -> Self {
        Identity {
            program: PROGRAM.to_owned(),
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            revision: option_env!("BUILT_FROM_REVISION").map(str::to_owned),
            build: Build::of_this(),
        }
    }

    /// Whether this build can talk to it.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self) -> Result<(), String> {
        match (self.program.as_str(), self.protocol) {
            (PROGRAM, PROTOCOL) => Ok(()),
            (PROGRAM, theirs) => Err(format!("it speaks version {theirs} of the protocol; allowed: {PROTOCOL}")),
            (other, _) => Err(format!("it prints that it is {other}")),
        }
    }
}
