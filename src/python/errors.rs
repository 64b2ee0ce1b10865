//! Exceptions for errors of the library.

use nimlanes::games::SolveError;
use nimlanes::kernel::RunError;
use nimlanes::kernel::selection::SelectError;
use nimlanes::kernel::workload::InputError;
use pyo3::prelude::*;

/// The exceptions of the package.
mod exceptions {
    pyo3::import_exception!(nimlanes, OutOfMemoryError);
    pyo3::import_exception!(nimlanes, RunError);
    pyo3::import_exception!(nimlanes, UsageError);
}

/// The exception for an error.
pub fn raised(error: SolveError) -> PyErr {
    let text = error.to_string();
    match error {
        SolveError::Input(InputError::MovesMemory { .. })
        | SolveError::Select(SelectError::Memory { .. })
        | SolveError::Run(RunError::Memory { .. }) => exceptions::OutOfMemoryError::new_err(text),
        SolveError::Run(_) => exceptions::RunError::new_err(text),
        SolveError::Select(SelectError::Long { .. }) => refused(text + "; force=True allows it"),
        _ => refused(text),
    }
}

/// The exception for a refused question.
pub fn refused(text: String) -> PyErr {
    exceptions::UsageError::new_err(text)
}
