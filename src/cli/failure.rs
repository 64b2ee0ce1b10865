//! What can go wrong, the one line that says it, and the exit code.

use std::process::ExitCode;

use nimlanes::cores::UnknownOperation;
use nimlanes::cores::named::NameError;
use nimlanes::games::SolveError;
use nimlanes::kernel::RunError;
use nimlanes::machine::WrongCap;
use nimlanes::selection::SelectError;
use nimlanes::workload::InputError;

use super::interrupt;
use super::output::say;

/// Why a command ended without success.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something that is not there: exit code 2.
    Usage(String),
    /// Something failed while it ran: exit code 1.
    Failed(String),
    /// A signal asked for the end: exit code 128 and its number.
    Interrupted,
    /// Nobody reads the output any more: not a failure.
    ClosedPipe,
}

impl Failure {
    /// Prints the line and gives the exit code.
    pub fn report(self) -> ExitCode {
        let (code, line) = match self {
            Failure::Usage(line) => (2, line),
            Failure::Failed(line) => (1, line),
            Failure::Interrupted => (interrupt::exit_code(), RunError::Cancelled.to_string()),
            Failure::ClosedPipe => return ExitCode::SUCCESS,
        };
        say(&format!("nimlanes: {line}"));
        ExitCode::from(code)
    }
}

impl From<RunError> for Failure {
    fn from(stop: RunError) -> Self {
        match stop {
            RunError::Cancelled => Failure::Interrupted,
            _ => Failure::Failed(stop.to_string()),
        }
    }
}

impl From<SolveError> for Failure {
    fn from(error: SolveError) -> Self {
        match error {
            SolveError::Run(stop) => stop.into(),
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

impl From<SelectError> for Failure {
    fn from(error: SelectError) -> Self {
        let hint = if matches!(error, SelectError::Long { .. }) { "; --force allows it" } else { "" };
        Failure::Usage(format!("{error}{hint}"))
    }
}

/// Requests for what does not exist or cannot be had here.
macro_rules! usage {
    ($($error:ty)*) => { $(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::Usage(error.to_string())
            }
        }
    )* };
}
usage! { InputError NameError UnknownOperation WrongCap }
