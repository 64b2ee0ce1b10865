//! Measures what has a file of its own, apart from a report, one operation after the other.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::Run;
use nimlanes::kernel::session::AnyOperation;
use nimlanes::machine::Machine;

use super::MeasureError;
use crate::files::saved::{Measured, SavedError};
use crate::measuring::duel::DuelOptions;

/// What measurements are made with.
#[derive(Clone, Copy, Debug)]
pub struct Means<'a> {
    /// Where they are made.
    pub machine: &'a Machine,
    /// Programs that take turns with this one.
    pub programs: &'a [PathBuf],
    /// What stops them.
    pub run: &'a Run,
    /// Says what is going on, a line each time.
    pub announce: fn(&str),
}

impl Means<'_> {
    /// The programs that take turns with this one.
    pub fn programs(&self) -> Vec<&Path> {
        self.programs.iter().map(PathBuf::as_path).collect()
    }
}

/// A duel of these kernels on one thread, however long they take.
pub fn on_one_thread(kernels: Vec<String>, baseline: Option<String>, budget: Duration) -> DuelOptions {
    DuelOptions { kernels, baseline, threads: 1, budget, time_limit: Duration::MAX, always_included: Vec::new() }
}

/// What is measured of operations, each at the published size of its first workload.
pub trait OfOperations: Measured + Clone {
    /// What was measured earlier, if it can be continued by these means; else nothing yet.
    ///
    /// # Errors
    /// A program does not say what it is.
    fn begin(earlier: Option<Self>, means: &Means<'_>) -> Result<Self, MeasureError>;

    /// Whether an operation was measured, or has nothing to measure on this machine.
    fn has(&self, operation: &'static dyn AnyOperation, machine: &Machine) -> bool;

    /// Measures an operation.
    ///
    /// # Errors
    /// It cannot be measured by these means, outputs differ, or the run was stopped.
    fn add(&mut self, operation: &'static dyn AnyOperation, means: &Means<'_>) -> Result<(), MeasureError>;
}

/// Measures all operations but those that were measured `earlier` by the same means. `save` receives all that is measured after each
/// operation.
///
/// # Errors
/// Those of [`OfOperations`], and those of `save`.
pub fn measure<T: OfOperations>(
    earlier: Option<T>,
    means: Means<'_>,
    save: &mut dyn FnMut(&T) -> Result<(), SavedError>,
) -> Result<(), MeasureError> {
    let mut measured = T::begin(earlier, &means)?;
    for (number, operation) in (1..).zip(OPERATIONS) {
        if !measured.has(*operation, means.machine) {
            (means.announce)(&format!("{number}/{} {}", OPERATIONS.len(), operation.name()));
            measured.add(*operation, &means)?;
            save(&measured)?;
        }
    }
    Ok(())
}
