//! Which kernel does an operation: the one with the smallest predicted time among those that are compiled in, run on this
//! CPU and fit in memory, unless one is named.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cores::{self, UnknownOperation};
use crate::kernel::{Cost, Impossible, InputError, Kernel, Operation, available};
use crate::machine::{Machine, WrongCap};
use crate::names;
use crate::session::Session;

/// The environment variable that names kernels: `operation=kernel,...`.
pub const KERNEL: &str = "NIMLANES_KERNEL";

/// Runs predicted to take longer are refused unless they are asked for.
pub const LONG: Duration = Duration::from_secs(24 * 3600);

/// How kernels are chosen.
#[derive(Clone, Debug)]
pub struct Selection {
    machine: Machine,
    threads: usize,
    forced: BTreeMap<&'static str, &'static str>,
    allow_long: bool,
}

/// A choice that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// Not of the form `operation=kernel`.
    #[error("`{0}` is not OPERATION=KERNEL, as in mex_subtraction=stamp")]
    NotAPair(String),
    /// No operation of that name.
    #[error(transparent)]
    UnknownOperation(#[from] UnknownOperation),
    /// No kernel of that name.
    #[error("unknown kernel `{name}` of {operation}{}", names::hint(.name, .available.iter().copied()))]
    UnknownKernel {
        /// The operation.
        operation: &'static str,
        /// What was asked for.
        name: String,
        /// What can be run here.
        available: Vec<&'static str>,
    },
    /// A kernel that cannot run here.
    #[error("kernel {operation}={name} is not available: {reason}; allowed: {}", .available.join(", "))]
    Unavailable {
        /// The operation.
        operation: &'static str,
        /// What was asked for.
        name: String,
        /// Why it cannot be run.
        reason: String,
        /// What can be run here.
        available: Vec<&'static str>,
    },
    /// A tier that the environment names wrongly.
    #[error(transparent)]
    Tier(#[from] WrongCap),
    /// A kernel that the environment names wrongly.
    #[error("{KERNEL}: {0}")]
    Variable(Box<SelectError>),
    /// No thread at all.
    #[error("no thread to run on; at least one is needed")]
    NoThreads,
    /// More threads than the build can use.
    #[error("{0} threads need a build with the feature `parallel`")]
    NotParallel(usize),
    /// The kernel cannot do this input.
    #[error("kernel {operation}={name} cannot do this: {reason}")]
    Impossible {
        /// The operation.
        operation: &'static str,
        /// The kernel.
        name: &'static str,
        /// Why not.
        reason: Impossible,
    },
    /// Not enough memory.
    #[error("{operation} needs {} here and {} are free{}", bytes(*.needs), bytes(*.free as f64), hint(*.fits))]
    Memory {
        /// The operation.
        operation: &'static str,
        /// Bytes of the least demanding choice.
        needs: f64,
        /// Bytes of the machine.
        free: u64,
        /// About the largest size that fits, where it was looked for.
        fits: Option<u64>,
    },
    /// More than a day.
    #[error("{operation} is predicted to take {}, more than a day", span(*.ns))]
    Long {
        /// The operation.
        operation: &'static str,
        /// Predicted nanoseconds.
        ns: f64,
    },
}

fn hint(fits: Option<u64>) -> String {
    fits.map(|size| format!("; {size} would fit")).unwrap_or_default()
}

impl SelectError {
    /// A memory error with the largest size below `size` that fits, to two digits; `attempt` tries a size. Other errors
    /// stay as they are.
    pub fn with_fitting(self, size: u64, attempt: impl Fn(u64) -> Option<SelectError>) -> Self {
        let SelectError::Memory { operation, needs, free, .. } = self else { return self };
        let fits = |size: u64| !matches!(attempt(size), Some(SelectError::Memory { .. }));
        let (mut low, mut high) = (0, size);
        while high - low > high / 200 + 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        let digit = 10u64.pow(low.checked_ilog10().unwrap_or(0).saturating_sub(1));
        SelectError::Memory { operation, needs, free, fits: Some(low / digit * digit) }
    }
}

/// A number of bytes for people.
pub fn bytes(bytes: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let step = if bytes < 1.0 { 0 } else { ((bytes.log10() / 3.0) as usize).min(units.len() - 1) };
    format!("{:.3} {}", bytes / 1000f64.powi(step as i32), units[step])
}

/// A number of nanoseconds for people.
pub fn span(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} us", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns if ns < 600e9 => format!("{:.2} s", ns / 1e9),
        ns if ns < 48.0 * 3600e9 => format!("{:.1} hours", ns / 3600e9),
        ns => format!("{:.0} days", ns / (24.0 * 3600e9)),
    }
}

/// An operation and a kernel, written `operation=kernel`.
///
/// # Errors
/// The text is no pair.
pub fn pair(text: &str) -> Result<(&str, &str), SelectError> {
    text.split_once('=').ok_or_else(|| SelectError::NotAPair(text.to_owned()))
}

impl Selection {
    /// The best kernels for `machine`, with all its threads where the build can use them.
    pub fn new(machine: Machine) -> Self {
        let threads = if cfg!(feature = "parallel") { machine.threads() } else { 1 };
        Selection { machine, threads, forced: BTreeMap::new(), allow_long: false }
    }

    /// [`Selection::new`] for this machine as the environment caps it ([`ISA_MAX`](crate::machine::ISA_MAX)), with the
    /// kernels that the environment names ([`KERNEL`]).
    ///
    /// # Errors
    /// A variable names something that does not exist or cannot run here.
    pub fn from_env() -> Result<Self, SelectError> {
        let selection = Selection::new(Machine::from_env()?);
        let Some(pairs) = std::env::var_os(KERNEL) else { return Ok(selection) };
        let pairs = pairs.to_string_lossy().into_owned();
        let named = pairs.split(',').try_fold(selection, |selection, text| {
            let (operation, kernel) = pair(text.trim())?;
            selection.with_kernel(operation, kernel)
        });
        named.map_err(|error| SelectError::Variable(Box::new(error)))
    }

    /// The same with at most `threads` threads.
    ///
    /// # Errors
    /// No thread, or several in a build without the feature `parallel`.
    pub fn with_threads(self, threads: usize) -> Result<Self, SelectError> {
        match threads {
            0 => Err(SelectError::NoThreads),
            2.. if !cfg!(feature = "parallel") => Err(SelectError::NotParallel(threads)),
            _ => Ok(Selection { threads, ..self }),
        }
    }

    /// The same, with runs allowed that are predicted to take more than a day.
    pub fn allow_long(self) -> Self {
        Selection { allow_long: true, ..self }
    }

    /// The same, with one operation's kernel named.
    ///
    /// # Errors
    /// There is no such operation or kernel, or it cannot run here.
    pub fn with_kernel(mut self, operation: &str, name: &str) -> Result<Self, SelectError> {
        let operation = cores::operation(operation)?;
        let kernels = operation.kernels(&self.machine);
        let able = kernels.iter().filter(|k| k.unavailable.is_none()).map(|k| k.name).collect();
        let Some(kernel) = kernels.iter().find(|k| k.name == name) else {
            let (operation, name) = (operation.name(), name.to_owned());
            return Err(SelectError::UnknownKernel { operation, name, available: able });
        };
        if let Some(reason) = &kernel.unavailable {
            let (operation, reason) = (operation.name(), reason.to_string());
            return Err(SelectError::Unavailable { operation, name: name.to_owned(), reason, available: able });
        }
        self.forced.insert(operation.name(), kernel.name);
        Ok(self)
    }

    /// The machine that kernels are chosen for.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Threads a run may use.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The kernel for `input`.
    ///
    /// # Errors
    /// None can do the input, none fits in memory, or the best would take more than a day.
    pub fn kernel<O: Operation>(&self, input: &O::Input) -> Result<Kernel<O>, SelectError> {
        let kernels: Vec<Kernel<O>> = available(&self.machine).collect();
        let names: Vec<_> = kernels.iter().map(|kernel| kernel.def().name).collect();
        let cost = |kernel: usize, threads| kernels[kernel].cost(input, threads);
        Ok(kernels[self.choose(O::NAME, &names, cost)?])
    }

    /// The kernel for `input`, which `of` makes of `size`: [`Selection::kernel`] whose error says which size would fit in memory.
    ///
    /// # Errors
    /// As [`Selection::kernel`].
    pub fn kernel_for<O: Operation>(
        &self,
        input: &O::Input,
        size: u64,
        of: impl Fn(u64) -> Result<O::Input, InputError>,
    ) -> Result<Kernel<O>, SelectError> {
        let attempt = |size| of(size).ok().and_then(|input| self.kernel::<O>(&input).err());
        self.kernel::<O>(input).map_err(|error| error.with_fitting(size, attempt))
    }

    /// The kernel for the input of a session, by its index there.
    ///
    /// # Errors
    /// As [`Selection::kernel`].
    pub fn kernel_of(&self, session: &dyn Session) -> Result<usize, SelectError> {
        self.choose(session.operation(), &session.kernels(), |kernel, threads| session.cost(kernel, threads))
    }

    /// Whether an operation that is predicted to take `ns` nanoseconds in all may begin.
    ///
    /// # Errors
    /// That is more than a day, and such runs were not allowed.
    pub fn admit(&self, operation: &'static str, ns: f64) -> Result<(), SelectError> {
        if ns > LONG.as_nanos() as f64 && !self.allow_long {
            return Err(SelectError::Long { operation, ns });
        }
        Ok(())
    }

    /// The index of the kernel with the smallest predicted time among those that are allowed; `cost(kernel, threads)` predicts.
    fn choose(
        &self,
        operation: &'static str,
        names: &[&'static str],
        cost: impl Fn(usize, usize) -> Cost,
    ) -> Result<usize, SelectError> {
        let index = |name: &&'static str| {
            let unknown =
                || SelectError::UnknownKernel { operation, name: (*name).to_owned(), available: names.to_vec() };
            names.iter().position(|known| known == name).ok_or_else(unknown)
        };
        let forced = self.forced.get(operation).map(index).transpose()?;
        let allowed = forced.map_or(0..names.len(), |forced| forced..forced + 1);
        let costs = allowed.map(|kernel| (kernel, cost(kernel, self.threads)));
        let (free, mut least, mut best) = (self.machine.memory(), f64::INFINITY, None);
        for (index, cost) in costs.filter(|(_, cost)| cost.is_possible()) {
            least = least.min(cost.bytes);
            if cost.bytes <= free as f64 && best.is_none_or(|(_, ns)| cost.ns < ns) {
                best = Some((index, cost.ns));
            }
        }
        match best {
            Some((index, ns)) => self.admit(operation, ns).map(|()| index),
            None => {
                if let Some(kernel) = forced
                    && let Some(reason) = Impossible::with(self.threads, |threads| cost(kernel, threads))
                {
                    return Err(SelectError::Impossible { operation, name: names[kernel], reason });
                }
                Err(SelectError::Memory { operation, needs: least, free, fits: None })
            }
        }
    }
}
