//! The choice of a kernel: among the exact ones ([`Claim`](crate::kernel::Claim)) that are compiled in, run on this CPU
//! and fit in memory, the one with the smallest predicted time, unless a kernel is named.

use std::time::Duration;

use crate::kernel::candidate::{Candidate, Conditions, Obstacle, quicker};
use crate::kernel::{Kernel, MAX_THREADS, Operation, Run};
use crate::machine::Machine;
use crate::text::units::{bytes, span};

/// A day: runs that are predicted to take longer are refused, unless [`Selection::within`] sets another limit or
/// [`Selection::allow_long`] allows them.
pub const LONG: Duration = Duration::from_secs(24 * 3600);

/// How kernels are chosen.
#[derive(Clone, Debug)]
pub struct Selection {
    machine: Machine,
    threads: usize,
    /// Operations and their kernels, the last of an operation first.
    named: Vec<[&'static str; 2]>,
    longest: Duration,
}

/// Why no kernel can be chosen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// The number of threads is zero.
    #[error("no thread to run on; at least one is needed")]
    NoThreads,
    /// There are more threads than [`MAX_THREADS`].
    #[error("{0} threads are too many; at most {MAX_THREADS}")]
    TooManyThreads(usize),
    /// There are more threads than the build can use.
    #[error("{0} threads need a build with the feature `parallel`")]
    NotParallel(usize),
    /// There is more than one thread, and the system can start none, as in WebAssembly.
    #[error("this system has no threads but the one of the program; {0} were asked for")]
    SingleThread(usize),
    /// The named kernel cannot handle this input.
    #[error("kernel {operation}={name} cannot be used: {obstacle}")]
    Impossible {
        /// The operation.
        operation: &'static str,
        /// The kernel.
        name: &'static str,
        /// Why not.
        obstacle: Obstacle,
    },
    /// No exact kernel can handle the input with this number of threads.
    #[error("no{} kernel of {operation} can handle this input here{}", observed.map_or("", |_| " exact"), named(operation, *.observed))]
    NoKernel {
        /// The operation.
        operation: &'static str,
        /// A kernel that can if it is named. Its answers are observed to be right, not proved.
        observed: Option<&'static str>,
    },
    /// There is not enough free memory.
    #[error(
        "{operation} needs {} here and {} are free{}{}",
        bytes(*.needs), bytes(*.free as f64), hint(*.fits), named(operation, *.observed)
    )]
    Memory {
        /// The operation.
        operation: &'static str,
        /// Bytes that the least demanding kernel needs.
        needs: f64,
        /// Bytes that are free.
        free: u64,
        /// About the largest size that fits, if it was computed.
        fits: Option<u64>,
        /// An observed kernel that can, as in [`SelectError::NoKernel`].
        observed: Option<&'static str>,
    },
    /// The run is predicted to take longer than the selection allows: a day, unless it says otherwise.
    #[error(
        "{operation} is predicted to take {}, more than {}{}",
        span(*.ns), limit(*.longest), named(operation, *.observed)
    )]
    Long {
        /// The operation.
        operation: &'static str,
        /// Predicted nanoseconds.
        ns: f64,
        /// The longest run that is allowed.
        longest: Duration,
        /// An observed kernel that can, as in [`SelectError::NoKernel`].
        observed: Option<&'static str>,
    },
}

fn limit(longest: Duration) -> String {
    if longest == LONG { "a day".to_owned() } else { span(longest.as_nanos() as f64) }
}

fn hint(fits: Option<u64>) -> String {
    match fits {
        Some(size) => format!("; {size} would fit"),
        None => String::new(),
    }
}

/// The end of a message: an observed kernel, which runs only if it is named.
fn named(operation: &str, observed: Option<&str>) -> String {
    match observed {
        Some(kernel) => format!("; --kernel {operation}={kernel} can, but its answers are observed, not proved"),
        None => String::new(),
    }
}

/// About the largest size below `size` that `fits`, rounded down to two digits. If a size does not fit, no larger one
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
    /// Adds to a memory error the largest size below `size` that fits, to two digits; `attempt` tries a size. Other
    /// errors are unchanged.
    pub(crate) fn with_fitting(self, size: u64, attempt: &dyn Fn(u64) -> Option<SelectError>) -> Self {
        let SelectError::Memory { operation, needs, free, observed, .. } = self else { return self };
        let fits = largest(size, |size| !matches!(attempt(size), Some(SelectError::Memory { .. })));
        SelectError::Memory { operation, needs, free, fits: Some(fits), observed }
    }
}

impl Selection {
    /// A selection of the best kernels for `machine`, with all its threads if the build can use them.
    pub fn new(machine: Machine) -> Self {
        let threads = if cfg!(feature = "parallel") { machine.threads().min(MAX_THREADS) } else { 1 };
        Selection { machine, threads, named: Vec::new(), longest: LONG }
    }

    /// The same selection with at most `threads` threads.
    ///
    /// # Errors
    /// `threads` is 0 or above [`MAX_THREADS`], or above 1 in a build without the feature `parallel` or on a machine that cannot start threads.
    pub fn with_threads(self, threads: usize) -> Result<Self, SelectError> {
        match threads {
            0 => Err(SelectError::NoThreads),
            _ if threads > MAX_THREADS => Err(SelectError::TooManyThreads(threads)),
            2.. if !cfg!(feature = "parallel") => Err(SelectError::NotParallel(threads)),
            2.. if !self.machine.has_threads() => Err(SelectError::SingleThread(threads)),
            _ => Ok(Selection { threads, ..self }),
        }
    }

    /// The same selection, which refuses runs that are predicted to take longer than `longest`, in place of a day.
    #[must_use]
    pub fn within(self, longest: Duration) -> Self {
        Selection { longest, ..self }
    }

    /// The same selection, which also allows runs that are predicted to take more than a day.
    #[must_use]
    pub fn allow_long(self) -> Self {
        self.within(Duration::MAX)
    }

    /// The same selection for what this CPU has of the machine.
    #[doc(hidden)]
    #[must_use]
    pub fn on_this_cpu(&self) -> Self {
        Selection { machine: self.machine.on_this_cpu(), ..self.clone() }
    }

    /// The same selection, with one operation's kernel named. Neither name is checked, unlike in
    /// [`Selection::with_kernel`].
    #[doc(hidden)]
    pub fn naming(mut self, operation: &'static str, kernel: &'static str) -> Self {
        self.named.insert(0, [operation, kernel]);
        self
    }

    /// The machine that kernels are chosen for.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The number of threads that a run may use.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// A run for kernels that this selection chooses: it may use as many threads as they were chosen for.
    pub fn run(&self) -> Run {
        Run::new(self.threads)
    }

    /// The same selection with the threads of a run.
    #[doc(hidden)]
    pub fn for_run(&self, run: &Run) -> Self {
        Selection { threads: run.threads(), ..self.clone() }
    }

    /// What a run may use. The conditions set no time limit; [`Selection::admit`] does.
    pub fn conditions(&self) -> Conditions {
        Conditions { machine: self.machine, threads: self.threads, time_limit: Duration::MAX }
    }

    /// The kernel for `input`.
    ///
    /// # Errors
    /// No kernel can handle the input, none fits in memory, or the best would take longer than is allowed.
    pub fn kernel<O: Operation>(&self, input: &O::Input) -> Result<Kernel<O>, SelectError> {
        self.chosen(self.choose(O::NAME, &Candidate::all::<O>(input, &self.conditions())))
    }

    fn chosen<O: Operation>(&self, index: Result<usize, SelectError>) -> Result<Kernel<O>, SelectError> {
        Ok(O::KERNELS[index?].on(&self.machine).expect("a candidate that nothing stands in the way of"))
    }

    /// The kernel for `input`, as chosen by [`Selection::kernel`]. `of` makes the input from its `size`, so that an
    /// error can say which size would fit in memory.
    ///
    /// # Errors
    /// See [`Selection::kernel`].
    pub fn kernel_for<O: Operation, E>(
        &self,
        input: &O::Input,
        size: u64,
        of: impl Fn(u64) -> Result<O::Input, E>,
    ) -> Result<Kernel<O>, SelectError> {
        let conditions = self.conditions();
        let at = |size| Some(Candidate::all::<O>(&of(size).ok()?, &conditions));
        self.chosen(self.choose_for(O::NAME, &Candidate::all::<O>(input, &conditions), size, &at))
    }

    /// [`Selection::choose`] at a size, whose errors name one that fits; `at` gives the candidates at other sizes.
    fn choose_for(
        &self,
        operation: &'static str,
        candidates: &[Candidate],
        size: u64,
        at: &dyn Fn(u64) -> Option<Vec<Candidate>>,
    ) -> Result<usize, SelectError> {
        let attempt = |size| self.choose(operation, &at(size)?).err();
        self.choose(operation, candidates).map_err(|error| error.with_fitting(size, &attempt))
    }

    /// Checks that an operation that is predicted to take `ns` nanoseconds in all may begin.
    ///
    /// # Errors
    /// The predicted time is longer than is allowed.
    pub fn admit(&self, operation: &'static str, ns: f64) -> Result<(), SelectError> {
        if self.is_long(ns) {
            return Err(SelectError::Long { operation, ns, longest: self.longest, observed: None });
        }
        Ok(())
    }

    /// Whether a run of `ns` nanoseconds takes longer than is allowed.
    fn is_long(&self, ns: f64) -> bool {
        ns > self.longest.as_nanos() as f64
    }

    /// The index of the exact candidate with the smallest predicted time, or of the named candidate.
    #[doc(hidden)]
    pub fn choose(&self, operation: &'static str, candidates: &[Candidate]) -> Result<usize, SelectError> {
        let named = self.named.iter().find(|[of, _]| *of == operation);
        let (mut best, mut other, mut least, mut refused) = (None, None, None, None);
        for candidate in candidates {
            let is_allowed = match named {
                Some([_, name]) => candidate.name == *name,
                None => candidate.is_exact(),
            };
            match &candidate.obstacle {
                None if is_allowed => best = quicker(best, candidate),
                // It runs if it is named.
                None if named.is_none() => other = quicker(other, candidate),
                // Of equals the first.
                Some(Obstacle::Memory { needs, free }) if is_allowed => {
                    least = least.filter(|(least, _)| least <= needs).or(Some((*needs, *free)));
                }
                Some(obstacle) if is_allowed && named.is_some() => refused = Some((candidate.name, obstacle)),
                _ => {}
            }
        }
        // The kernel that an error suggests if no exact one will do.
        let observed = match other {
            Some(other) if !self.is_long(other.cost.ns) => Some(other.name),
            _ => None,
        };
        Err(match (best, least, refused) {
            (Some(best), ..) if !self.is_long(best.cost.ns) => return Ok(best.index),
            (Some(best), ..) => SelectError::Long { operation, ns: best.cost.ns, longest: self.longest, observed },
            (None, Some((needs, free)), _) => SelectError::Memory { operation, needs, free, fits: None, observed },
            (None, None, Some((name, obstacle))) => {
                SelectError::Impossible { operation, name, obstacle: obstacle.clone() }
            }
            (None, None, None) => SelectError::NoKernel { operation, observed },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::isa::Tier;

    fn memory(fits: Option<u64>, observed: Option<&'static str>) -> SelectError {
        SelectError::Memory { operation: "an_operation", needs: 2e9, free: 1_000_000_000, fits, observed }
    }

    #[test]
    fn a_memory_error_says_the_largest_size_that_fits_to_two_digits() {
        for (fits, size, said) in [(0, 1000, 0), (7, 1000, 7), (99, 1000, 99), (123_456, u64::MAX, 120_000)] {
            let attempt = |size| (size > fits).then(|| memory(None, None));
            assert_eq!(memory(None, Some("a")).with_fitting(size, &attempt), memory(Some(said), Some("a")), "{fits}");
        }
        // A size that fits may still be refused for another reason.
        let long = |size| Some(if size > 9 { memory(None, None) } else { SelectError::NoThreads });
        assert_eq!(memory(None, None).with_fitting(1000, &long), memory(Some(9), None));
        assert_eq!(SelectError::NoThreads.with_fitting(1000, &|_| None), SelectError::NoThreads);
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
        let selection = Selection::new(Machine::described(Tier::Portable, 1, 1 << 30));
        let day = 86_400e9;
        assert_eq!(selection.admit("an_operation", day), Ok(()));
        let says = |selection: &Selection, ns| selection.admit("an_operation", ns).expect_err("long").to_string();
        assert!(says(&selection, 2.0 * day).ends_with(", more than a day"));
        let second = selection.clone().within(Duration::from_secs(1));
        assert_eq!(says(&second, 2e9), "an_operation is predicted to take 2.00 s, more than 1.00 s");
        assert_eq!(second.admit("an_operation", 1e9), Ok(()));
        assert_eq!(selection.allow_long().admit("an_operation", 2.0 * day), Ok(()));
    }
}
