//! The choice of a kernel: the one with the smallest predicted time among those that are compiled in, run on this CPU and fit
//! in memory, unless one is named.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kernel::candidate::{Candidate, Conditions, Obstacle, quickest};
use crate::kernel::{Kernel, Operation};
use crate::machine::Machine;
use crate::text::units::{bytes, span};

/// Runs that are predicted to take longer are refused unless they are allowed.
pub const LONG: Duration = Duration::from_secs(24 * 3600);

/// How kernels are chosen.
#[derive(Clone, Debug)]
pub struct Selection {
    machine: Machine,
    threads: usize,
    named: BTreeMap<&'static str, &'static str>,
    allow_long: bool,
}

/// A choice that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No thread at all.
    #[error("no thread to run on; at least one is needed")]
    NoThreads,
    /// More threads than the build can use.
    #[error("{0} threads need a build with the feature `parallel`")]
    NotParallel(usize),
    /// More threads than one where none can be started, as in WebAssembly.
    #[error("this system has no threads but the one of the program; {0} were asked for")]
    SingleThread(usize),
    /// The named kernel cannot do this input.
    #[error("kernel {operation}={name} cannot do this: {obstacle}")]
    Impossible {
        /// The operation.
        operation: &'static str,
        /// The kernel.
        name: &'static str,
        /// Why not.
        obstacle: Obstacle,
    },
    /// No exact kernel can do the input with this number of threads.
    #[error("no{} kernel of {operation} can do this input here{}", observed.map_or("", |_| " exact"), named(operation, *.observed))]
    NoKernel {
        /// The operation.
        operation: &'static str,
        /// A kernel that can, if it is named: its answers are observed to be right, not proved.
        observed: Option<&'static str>,
    },
    /// Not enough memory.
    #[error(
        "{operation} needs {} here and {} are free{}{}",
        bytes(*.needs), bytes(*.free as f64), hint(*.fits), named(operation, *.observed)
    )]
    Memory {
        /// The operation.
        operation: &'static str,
        /// Bytes of the least demanding choice.
        needs: f64,
        /// Bytes of the machine.
        free: u64,
        /// About the largest size that fits, where that was computed.
        fits: Option<u64>,
        /// As in [`SelectError::NoKernel`].
        observed: Option<&'static str>,
    },
    /// More than a day.
    #[error("{operation} is predicted to take {}, more than a day{}", span(*.ns), named(operation, *.observed))]
    Long {
        /// The operation.
        operation: &'static str,
        /// Predicted nanoseconds.
        ns: f64,
        /// As in [`SelectError::NoKernel`].
        observed: Option<&'static str>,
    },
}

fn hint(fits: Option<u64>) -> String {
    fits.map(|size| format!("; {size} would fit")).unwrap_or_default()
}

/// Names a kernel that must be named to run.
fn named(operation: &str, observed: Option<&str>) -> String {
    observed.map_or_else(String::new, |kernel| {
        format!("; --kernel {operation}={kernel} can, but its answers are observed, not proved")
    })
}

/// About the largest size below `size` that `fits`, rounded down to two digits. Of larger sizes than one that does not fit, none
/// should.
pub fn largest(size: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, size);
    while high - low > high / 200 + 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    let digit = 10u64.pow(low.checked_ilog10().unwrap_or(0).saturating_sub(1));
    low / digit * digit
}

impl SelectError {
    /// A memory error with the largest size below `size` that fits, to two digits; `attempt` tries a size. Other errors
    /// stay as they are.
    pub(crate) fn with_fitting(self, size: u64, attempt: impl Fn(u64) -> Option<SelectError>) -> Self {
        let SelectError::Memory { operation, needs, free, observed, .. } = self else { return self };
        let fits = largest(size, |size| !matches!(attempt(size), Some(SelectError::Memory { .. })));
        SelectError::Memory { operation, needs, free, fits: Some(fits), observed }
    }
}

impl Selection {
    /// The best kernels for `machine`, with all its threads where the build can use them.
    pub fn new(machine: Machine) -> Self {
        let threads = if cfg!(feature = "parallel") { machine.threads() } else { 1 };
        Selection { machine, threads, named: BTreeMap::new(), allow_long: false }
    }

    /// The same with at most `threads` threads.
    ///
    /// # Errors
    /// No thread, or several in a build without the feature `parallel` or on a machine that has none.
    pub fn with_threads(self, threads: usize) -> Result<Self, SelectError> {
        match threads {
            0 => Err(SelectError::NoThreads),
            2.. if !cfg!(feature = "parallel") => Err(SelectError::NotParallel(threads)),
            2.. if !self.machine.has_threads() => Err(SelectError::SingleThread(threads)),
            _ => Ok(Selection { threads, ..self }),
        }
    }

    /// The same, with runs allowed that are predicted to take more than a day.
    #[must_use]
    pub fn allow_long(self) -> Self {
        Selection { allow_long: true, ..self }
    }

    /// The same, with one operation's kernel named. Neither name is checked: see [`Selection::with_kernel`].
    pub(crate) fn naming(mut self, operation: &'static str, kernel: &'static str) -> Self {
        self.named.insert(operation, kernel);
        self
    }

    /// The machine that kernels are chosen for.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Threads a run may use.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// What a run may use. Time is not limited here: [`Selection::admit`] is.
    pub fn conditions(&self) -> Conditions {
        Conditions { machine: self.machine, threads: self.threads, time_limit: Duration::MAX }
    }

    /// The kernel for `input`.
    ///
    /// # Errors
    /// None can do the input, none fits in memory, or the best would take more than a day.
    pub fn kernel<O: Operation>(&self, input: &O::Input) -> Result<Kernel<O>, SelectError> {
        let index = self.choose(O::NAME, &Candidate::all::<O>(input, &self.conditions()))?;
        Ok(O::KERNELS[index].on(&self.machine).expect("a candidate that nothing stands in the way of"))
    }

    /// The kernel for `input`, which `of` makes of `size`: [`Selection::kernel`] whose error says which size would fit in memory.
    ///
    /// # Errors
    /// As [`Selection::kernel`].
    pub fn kernel_for<O: Operation, E>(
        &self,
        input: &O::Input,
        size: u64,
        of: impl Fn(u64) -> Result<O::Input, E>,
    ) -> Result<Kernel<O>, SelectError> {
        let attempt = |size| of(size).ok().and_then(|input| self.kernel::<O>(&input).err());
        self.kernel::<O>(input).map_err(|error| error.with_fitting(size, attempt))
    }

    /// Whether an operation that is predicted to take `ns` nanoseconds in all may begin.
    ///
    /// # Errors
    /// That is more than a day, and such runs were not allowed.
    pub fn admit(&self, operation: &'static str, ns: f64) -> Result<(), SelectError> {
        if ns > LONG.as_nanos() as f64 && !self.allow_long {
            return Err(SelectError::Long { operation, ns, observed: None });
        }
        Ok(())
    }

    /// The index of the exact candidate that is predicted to be the quickest, or of the one that is named.
    pub(crate) fn choose(&self, operation: &'static str, candidates: &[Candidate]) -> Result<usize, SelectError> {
        let named = self.named.get(operation);
        let is_allowed = |candidate: &&Candidate| match named {
            Some(name) => candidate.name == *name,
            None => candidate.is_exact(),
        };
        let allowed = || candidates.iter().filter(is_allowed);
        // What to name where no exact kernel will do.
        let observed = match named {
            Some(_) => None,
            None => quickest(candidates.iter().filter(|candidate| !candidate.is_exact()))
                .filter(|candidate| self.admit(operation, candidate.cost.ns).is_ok())
                .map(|candidate| candidate.name),
        };
        if let Some(best) = quickest(allowed()) {
            return match self.admit(operation, best.cost.ns) {
                Err(SelectError::Long { operation, ns, .. }) => Err(SelectError::Long { operation, ns, observed }),
                admitted => admitted.map(|()| best.index),
            };
        }
        let memory = |candidate: &Candidate| match candidate.obstacle {
            Some(Obstacle::Memory { needs, free }) => Some((needs, free)),
            _ => None,
        };
        if let Some((needs, free)) = allowed().filter_map(memory).min_by(|(a, _), (b, _)| a.total_cmp(b)) {
            return Err(SelectError::Memory { operation, needs, free, fits: None, observed });
        }
        let named = named.and_then(|_| allowed().next());
        Err(match named.and_then(|candidate| Some((candidate.name, candidate.obstacle.clone()?))) {
            Some((name, obstacle)) => SelectError::Impossible { operation, name, obstacle },
            None => SelectError::NoKernel { operation, observed },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(fits: Option<u64>, observed: Option<&'static str>) -> SelectError {
        SelectError::Memory { operation: "an_operation", needs: 2e9, free: 1_000_000_000, fits, observed }
    }

    #[test]
    fn a_memory_error_says_the_largest_size_that_fits_to_two_digits() {
        for (fits, size, said) in [(0, 1000, 0), (7, 1000, 7), (99, 1000, 99), (123_456, u64::MAX, 120_000)] {
            let attempt = |size| (size > fits).then(|| memory(None, None));
            assert_eq!(memory(None, Some("a")).with_fitting(size, attempt), memory(Some(said), Some("a")), "{fits}");
        }
        // What fits may yet be refused for another reason.
        let long = |size| Some(if size > 9 { memory(None, None) } else { SelectError::NoThreads });
        assert_eq!(memory(None, None).with_fitting(1000, long), memory(Some(9), None));
        assert_eq!(SelectError::NoThreads.with_fitting(1000, |_| None), SelectError::NoThreads);
    }

    #[test]
    fn an_error_names_the_kernel_that_must_be_named() {
        let says = "an_operation needs 2.000 GB here and 1.000 GB are free; 7 would fit; --kernel an_operation=a can, but its \
                    answers are observed, not proved";
        assert_eq!(memory(Some(7), Some("a")).to_string(), says);
        assert_eq!(memory(None, None).to_string(), "an_operation needs 2.000 GB here and 1.000 GB are free");
    }

    #[test]
    fn runs_of_more_than_a_day_must_be_allowed() {
        let selection = Selection::new(Machine::detect());
        let day = 86_400e9;
        assert_eq!(selection.admit("an_operation", day), Ok(()));
        let long = SelectError::Long { operation: "an_operation", ns: 2.0 * day, observed: None };
        assert_eq!(selection.admit("an_operation", 2.0 * day), Err(long));
        assert_eq!(selection.allow_long().admit("an_operation", 2.0 * day), Ok(()));
    }
}
