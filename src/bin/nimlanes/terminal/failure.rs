//! Failures of commands: the error message, in one line and the last words of a child below it, and the exit code.

use std::io::{Write, stderr};
use std::process::ExitCode;

use nimlanes::cores::UnknownOperation;
use nimlanes::cores::mex::family::FamilyError;
use nimlanes::cores::named::NameError;
use nimlanes::games::SolveError;
use nimlanes::kernel::RunError;
use nimlanes::kernel::selection::SelectError;
use nimlanes::kernel::workload::InputError;
use nimlanes::machine::WrongCap;

use super::interrupt;
use crate::files::saved::SavedError;

/// Prints a line on stderr. Ignores errors.
pub fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Prints a remark of this program on stderr.
pub fn remark(line: &str) {
    say(&format!("nimlanes: {line}"));
}

/// Why a command failed or ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line is invalid: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The command failed: exit code 1.
    #[error("{0}")]
    Failed(String),
    /// A signal ended the command: exit code 128 plus its number.
    #[error("{}", RunError::Cancelled)]
    Interrupted,
    /// The same, and what was done is kept.
    #[error("{0}")]
    Stopped(String),
    /// The reader of the output closed the pipe: not an error.
    #[error("the pipe was closed")]
    ClosedPipe,
}

impl Failure {
    /// Prints the message and returns the exit code.
    pub fn report(self) -> ExitCode {
        let code = match self {
            Failure::Usage(_) => 2,
            Failure::Failed(_) => 1,
            Failure::Interrupted | Failure::Stopped(_) => interrupt::exit_code(),
            Failure::ClosedPipe => return ExitCode::SUCCESS,
        };
        remark(&self.to_string());
        ExitCode::from(code)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Cancelled => Failure::Interrupted,
            _ => Failure::Failed(error.to_string()),
        }
    }
}

impl From<SolveError> for Failure {
    fn from(error: SolveError) -> Self {
        match error {
            SolveError::Run(error) => error.into(),
            SolveError::Select(error) => error.into(),
            SolveError::NoSetting { game, name, known } => {
                let options: Vec<String> = known.iter().map(|name| format!("--{name}")).collect();
                let allowed = if options.is_empty() { "none".to_owned() } else { options.join(", ") };
                Failure::Usage(format!("{game} has no option --{name}; allowed: {allowed}"))
            }
            SolveError::Value { setting, value, reason } => {
                Failure::Usage(reason.line(&format!("--{setting}"), &value))
            }
            _ => Failure::Usage(error.to_string()),
        }
    }
}

impl From<SavedError> for Failure {
    fn from(error: SavedError) -> Self {
        match error {
            SavedError::Write(..) => Failure::Failed(error.to_string()),
            SavedError::Read(..) | SavedError::Invalid(..) => Failure::Usage(error.to_string()),
        }
    }
}

impl From<SelectError> for Failure {
    fn from(error: SelectError) -> Self {
        let hint = if matches!(error, SelectError::Long { .. }) { "; --force allows it" } else { "" };
        Failure::Usage(format!("{error}{hint}"))
    }
}

/// Errors of the user: requests for something that does not exist or is not available here.
macro_rules! usage {
    ($($error:ty)*) => { $(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::Usage(error.to_string())
            }
        }
    )* };
}
usage! { FamilyError InputError NameError UnknownOperation WrongCap }
