//! Checks kernels against the oracle and known answers.

use std::sync::Arc;
use std::time::Duration;

use crate::kernel::case::Case;
use crate::kernel::selection::{SelectError, Selection};
use crate::kernel::session::{Answer, AnyOperation, Session};
use crate::kernel::workload::{InputError, ValuesError, Workload};
use crate::kernel::{Run, RunError, Yields};
use crate::known::{self, Known};

/// Sizes at which complete outputs are compared with the oracle's: around the boundaries of a word, a vector and two
/// vectors.
pub const EDGES: &[u64] = &[0, 1, 2, 3, 31, 63, 64, 65, 127, 128, 129, 200, 257, 511, 512, 513];

/// Numbers of successful comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparisons {
    /// Runs with the same complete output as the oracle.
    pub with_oracle: usize,
    /// Runs with the same digest as a known answer.
    pub with_known: usize,
    /// How often an observed kernel was compared with itself in those runs.
    pub with_itself: u64,
}

impl std::fmt::Display for Comparisons {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Comparisons { with_oracle, with_known, with_itself } = self;
        write!(f, "runs equal to the oracle: {with_oracle}, to a known answer: {with_known}")?;
        if *with_itself > 0 {
            write!(f, "; observed, not proved: compared with itself {with_itself} times")?;
        }
        Ok(())
    }
}

/// Why a check failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The output differs from the oracle's.
    #[error("size {size}, {threads} thread(s): {got}; the oracle has {want}")]
    WrongOutput {
        /// Size of the input.
        size: u64,
        /// Number of threads.
        threads: usize,
        /// Digest of the kernel's output.
        got: String,
        /// Digest of the oracle's output.
        want: String,
    },
    /// The answer differs from the known one.
    #[error("{0}")]
    WrongAnswer(String),
    /// The progress counter did not reach its end.
    #[error("size {size}: progress ended at {done} of {steps}")]
    Progress {
        /// Size of the input.
        size: u64,
        /// Steps reported.
        done: u64,
        /// Steps expected.
        steps: u64,
    },
    /// The run was stopped.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The inputs of one workload with the oracle's answers, shared by all kernels that are checked.
pub struct Inputs {
    edges: Vec<(u64, Box<dyn Session>)>,
    known: Vec<(Known, Box<dyn Session>)>,
}

impl std::fmt::Debug for Inputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let edges: Vec<u64> = self.edges.iter().map(|(size, _)| *size).collect();
        let known: Vec<u64> = self.known.iter().map(|(known, _)| known.case.size).collect();
        f.debug_struct("Inputs").field("edges", &edges).field("known", &known).finish()
    }
}

/// The digest of an answer, for people.
fn written(answer: &dyn Answer) -> String {
    format!("{:?}", answer.digest())
}

/// How often the kernel of a run was compared with itself.
fn comparisons(run: &Run) -> u64 {
    run.evidence().map_or(0, |evidence| evidence.comparisons)
}

/// Whether the Grundy values for an input are refused because they take too long.
fn takes_long(error: &InputError) -> bool {
    let InputError::Values { source, .. } = error else { return false };
    matches!(**source, ValuesError::Select(SelectError::Long { .. }))
}

impl Inputs {
    /// Makes the inputs at the sizes of [`EDGES`] up to `edge`, and those with known answers up to size `known`. Of the latter, those
    /// are left out whose Grundy values take longer to compute than `selection` allows, or, on a target with 32-bit indices, that do
    /// not fit. Kernels must find as much for an input as `yields` names.
    ///
    /// # Panics
    /// A listed workload has no input of a listed size. The tests create all of them.
    pub fn new(
        operation: &AnyOperation,
        workload: &Workload,
        yields: Yields,
        selection: &Selection,
        edge: u64,
        known: u64,
    ) -> Self {
        let open = |size| operation.session_finding(yields, selection, workload.name, size);
        let session = |size| open(size).expect("a listed workload and size");
        let mut inputs = Inputs { edges: Vec::new(), known: Vec::new() };
        for size in EDGES {
            if *size <= edge {
                inputs.edges.push((*size, session(*size)));
            }
        }
        for answer in known::all() {
            let Case { operation: of, workload: on, size } = &answer.case;
            if of != operation.name() || on != workload.name || *size > known {
                continue;
            }
            match open(*size) {
                Ok(session) => inputs.known.push((answer, session)),
                Err(error) if takes_long(&error) || cfg!(target_pointer_width = "32") => {}
                Err(error) => panic!("a listed workload and size: {error}"),
            }
        }
        inputs
    }

    /// Checks one kernel, on one thread and, if it is parallel, on several. `run` makes the [`Run`] for a number of
    /// threads. Known answers are skipped if a run is predicted to take longer than `time_limit` or does not fit in
    /// memory.
    ///
    /// # Errors
    /// The first check that failed.
    pub fn check(
        &self,
        kernel: &str,
        run: &dyn Fn(usize) -> Arc<Run>,
        time_limit: Duration,
    ) -> Result<Comparisons, VerifyError> {
        let mut compared = Comparisons::default();
        for (size, session) in &self.edges {
            let Some(kernel) = session.index(kernel) else { continue };
            let most = if session.kernels()[kernel].is_parallel() { 3 } else { 1 };
            for threads in 1..=most {
                if !session.candidates(threads, Duration::MAX)[kernel].is_able() {
                    continue;
                }
                let run = run(threads);
                let answer = session.run(kernel, &run)?;
                if !answer.agrees(session.oracle()) {
                    let (got, want) = (written(answer.as_ref()), written(session.oracle()));
                    return Err(VerifyError::WrongOutput { size: *size, threads, got, want });
                }
                if run.done() != session.steps() {
                    return Err(VerifyError::Progress { size: *size, done: run.done(), steps: session.steps() });
                }
                compared.with_oracle += 1;
                compared.with_itself += comparisons(&run);
            }
        }
        for (known, session) in &self.known {
            let Some(kernel) = session.index(kernel) else { continue };
            let is_able = |threads: usize| session.candidates(threads, time_limit)[kernel].is_able();
            let threads = if is_able(1) { 1 } else { 2 };
            if threads == 2 && !is_able(2) {
                continue;
            }
            let run = run(threads);
            known.check(&session.run(kernel, &run)?.digest()).map_err(VerifyError::WrongAnswer)?;
            compared.with_known += 1;
            compared.with_itself += comparisons(&run);
        }
        Ok(compared)
    }
}
