//! Operations with their types erased, for the command line, duels, benches and listings, which treat all operations
//! alike.

use std::any::Any;
use std::hint::black_box;
use std::ops::Deref;
use std::sync::OnceLock;
use std::time::Duration;

use twox_hash::XxHash3_64;

use crate::kernel::candidate::{Candidate, Conditions, Obstacle};
use crate::kernel::case::Case;
use crate::kernel::selection::{SelectError, Selection};
use crate::kernel::workload::{InputError, Workload, Workloads};
use crate::kernel::{Core, Cost, Digest, Kernel, KernelMeta, Needs, Operation, Run, RunError, Yields, rates};
use crate::machine::Machine;

/// One line of an operation's list of kernels.
#[derive(Clone, Debug)]
pub struct KernelInfo {
    meta: &'static KernelMeta,
    /// Why the kernel cannot run on the machine for which it was listed, if so.
    pub obstacle: Option<Obstacle>,
}

impl Deref for KernelInfo {
    type Target = KernelMeta;

    fn deref(&self) -> &KernelMeta {
        self.meta
    }
}

/// An operation with its types erased: what its list says, and functions that were compiled with its kernels.
#[derive(Debug)]
pub struct AnyOperation {
    name: &'static str,
    core: Core,
    unit: &'static str,
    workloads: &'static [Workload],
    absent: &'static [(&'static str, &'static str)],
    public: &'static [&'static str],
    notes: &'static str,
    rates: &'static str,
    lines: fn() -> Vec<Line>,
    canonical: fn(&str) -> Result<String, InputError>,
    open: Open,
}

/// Opens a session on a workload of a size, whose kernels yield at least this much.
type Open = fn(&Selection, &str, u64, Yields) -> Result<Box<dyn Session>, InputError>;

/// A line of an operation's list, and the address of the kernel's code.
type Line = (&'static KernelMeta, Option<usize>);

impl AnyOperation {
    /// The erased form of `O`, for the one static in the crate of its kernels.
    #[doc(hidden)]
    pub const fn of<O: Workloads>() -> Self {
        AnyOperation {
            name: O::NAME,
            core: O::CORE,
            unit: O::UNIT,
            workloads: O::WORKLOADS,
            absent: O::ABSENT,
            public: O::PUBLIC,
            notes: O::NOTES,
            rates: O::RATES,
            lines: lines::<O>,
            canonical: O::canonical,
            open: open::<O>,
        }
    }

    /// The operation's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The core that the operation belongs to.
    pub fn core(&self) -> Core {
        self.core
    }

    /// The unit that throughput counts, in the singular.
    pub fn unit(&self) -> &'static str {
        self.unit
    }

    /// Named inputs; the first is the default.
    pub fn workloads(&self) -> &'static [Workload] {
        self.workloads
    }

    /// Technologies that have no kernel here: the Cargo feature of each, and the reason.
    pub fn absent(&self) -> &'static [(&'static str, &'static str)] {
        self.absent
    }

    /// Kernels that implement the best algorithms published elsewhere.
    pub fn public(&self) -> &'static [&'static str] {
        self.public
    }

    /// What the measurements showed and what was tried, in Markdown.
    pub fn notes(&self) -> &'static str {
        self.notes
    }

    /// The lines of the table of rates that are those of this operation, in the order of the table, for kernels in builds for any
    /// target.
    #[doc(hidden)]
    pub fn rates(&self) -> impl Iterator<Item = rates::Line<'static>> {
        rates::lines(self.rates).filter(|line| line.operation == self.name)
    }

    /// All kernels, baseline first.
    pub fn kernels(&self, machine: &Machine) -> Vec<KernelInfo> {
        let mut kernels = Vec::new();
        for (meta, _) in (self.lines)() {
            kernels.push(KernelInfo { meta, obstacle: meta.obstacle_on(machine) });
        }
        kernels
    }

    /// The address of the code of each kernel, in list order; `None` for those that are not compiled into this build.
    #[doc(hidden)]
    pub fn entries(&self) -> Vec<Option<usize>> {
        let mut entries = Vec::new();
        for (_, entry) in (self.lines)() {
            entries.push(entry);
        }
        entries
    }

    /// The name of a workload in a [`Case`], given its text.
    ///
    /// # Errors
    /// See [`Workloads::canonical`].
    pub fn name_of(&self, workload: &str) -> Result<String, InputError> {
        Ok(short(&(self.canonical)(workload)?))
    }

    /// Opens a session: an input, and the kernels as candidates for it. If the input is made from values of another
    /// operation, kernels that `selection` allows compute these values.
    ///
    /// # Errors
    /// See [`Workloads::input`].
    pub fn session(&self, selection: &Selection, workload: &str, size: u64) -> Result<Box<dyn Session>, InputError> {
        self.session_finding(Yields::Tally, selection, workload, size)
    }

    /// [`AnyOperation::session`], where kernels must find this much, if outputs of the operation have such parts.
    ///
    /// # Errors
    /// See [`Workloads::input`].
    pub fn session_finding(
        &self,
        yields: Yields,
        selection: &Selection,
        workload: &str,
        size: u64,
    ) -> Result<Box<dyn Session>, InputError> {
        (self.open)(selection, workload, size, yields)
    }
}

fn lines<O: Operation>() -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::with_capacity(O::KERNELS.len());
    for def in O::KERNELS {
        lines.push((def, def.entry()));
    }
    lines
}

fn open<O: Workloads>(
    selection: &Selection,
    workload: &str,
    size: u64,
    yields: Yields,
) -> Result<Box<dyn Session>, InputError> {
    let machine = *selection.machine();
    let workload = O::canonical(workload)?;
    let input = O::finding(O::input(&workload, size, selection)?, yields);
    let case = Case::new(O::NAME, &short(&workload), size);
    let infos = AnyOperation::of::<O>().kernels(&machine);
    Ok(Box::new(OpenSession::<O> { case, workload, input, machine, infos, oracle: OnceLock::new() }))
}

/// One input of one operation, and the kernels of that operation, identified by their index in its list.
///
/// # Panics
/// Methods that take the index of a kernel panic if there is no such kernel.
pub trait Session: Send + Sync {
    /// The operation's name.
    fn operation(&self) -> &'static str;
    /// The operation, the workload and the size.
    fn case(&self) -> &Case;
    /// The text of the workload, in its canonical form. Unlike its name, it makes the input again.
    fn workload(&self) -> &str;
    /// The unit that throughput counts, in the singular.
    fn unit(&self) -> &'static str;
    /// The kernels, in list order.
    fn kernels(&self) -> &[KernelInfo];
    /// The kernels as candidates for the input, in list order, with this number of threads and this time limit for a
    /// run.
    fn candidates(&self, threads: usize, time_limit: Duration) -> Vec<Candidate>;
    /// Bytes of the input, which are part of every [`Session::cost`].
    fn input_bytes(&self) -> f64;
    /// Predicted time and memory; [`Cost::IMPOSSIBLE`] for a kernel that cannot run here.
    fn cost(&self, kernel: usize, threads: usize) -> Cost;
    /// Predicted time and memory on a machine that has the kernel's tier, whether or not this one has it; `None` if the
    /// kernel is not compiled into this build.
    fn predict(&self, kernel: usize, threads: usize) -> Option<Cost>;
    /// The rates of a kernel: see [`KernelDef::rates`](super::KernelDef::rates).
    fn rates(&self, kernel: usize) -> &'static [f64];
    /// [`Session::predict`] with other rates, as many as [`Session::rates`].
    fn predict_at(&self, kernel: usize, threads: usize, rates: &[f64]) -> Option<Cost>;
    /// What a unit of work needs at least, if the kernel states it.
    fn needs(&self, kernel: usize) -> Option<Needs>;
    /// The value of a run's progress counter at the end.
    fn steps(&self) -> u64;
    /// Runs a kernel and returns what it computed.
    ///
    /// # Errors
    /// The kernel cannot handle the input here, or the run was stopped.
    fn run(&self, kernel: usize, run: &Run) -> Result<Box<dyn Answer>, RunError>;
    /// Runs a kernel `times` times, for timing. Whether the kernel can handle the input is checked only once.
    ///
    /// # Errors
    /// The kernel cannot handle the input here, or the run was stopped.
    fn spin(&self, kernel: usize, run: &Run, times: u64) -> Result<(), RunError>;
    /// Units of work in one run that gave `answer`.
    ///
    /// # Panics
    /// `answer` is of another operation.
    fn work(&self, answer: &dyn Answer) -> u64;
    /// The oracle's answer, which is computed at the first call.
    fn oracle(&self) -> &dyn Answer;
}

impl dyn Session + '_ {
    /// The index of a kernel, by its name.
    pub fn index(&self, name: &str) -> Option<usize> {
        for (index, kernel) in self.kernels().iter().enumerate() {
            if kernel.name == name {
                return Some(index);
            }
        }
        None
    }
}

impl Selection {
    /// The kernel for the input of a session, by its index there.
    ///
    /// # Errors
    /// See [`Selection::kernel`].
    pub fn kernel_of(&self, session: &dyn Session) -> Result<usize, SelectError> {
        self.choose(session.operation(), &session.candidates(self.threads(), Duration::MAX))
    }
}

/// A canonical text, or how a long one begins with its digest: a name is part of the names of files.
fn short(text: &str) -> String {
    const LONGEST: usize = 80;
    const BEGINS: usize = 40;
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let mut name = String::new();
    for letter in text.chars().take(BEGINS) {
        name.push(letter);
    }
    format!("{name}..{:016x}", XxHash3_64::oneshot(text.as_bytes()))
}

/// What a kernel computed.
pub trait Answer: Any + Send + Sync {
    /// Whether the complete outputs are equal.
    fn agrees(&self, other: &dyn Answer) -> bool;
    /// Named numbers that summarize the answer.
    fn digest(&self) -> Digest;
}

struct Output<O: Operation>(O::Output);

impl<O: Operation> Answer for Output<O> {
    fn agrees(&self, other: &dyn Answer) -> bool {
        (other as &dyn Any).downcast_ref::<Self>().is_some_and(|other| self.0 == other.0)
    }

    fn digest(&self) -> Digest {
        O::digest(&self.0)
    }
}

struct OpenSession<O: Operation> {
    case: Case,
    workload: String,
    input: O::Input,
    machine: Machine,
    infos: Vec<KernelInfo>,
    oracle: OnceLock<Output<O>>,
}

impl<O: Operation> OpenSession<O> {
    /// A kernel, if it can run here.
    fn kernel(&self, kernel: usize) -> Option<Kernel<O>> {
        O::KERNELS[kernel].on(&self.machine).ok()
    }

    /// [`OpenSession::kernel`], to be run.
    fn to_run(&self, kernel: usize) -> Result<Kernel<O>, RunError> {
        self.kernel(kernel).ok_or(RunError::OutsideDomain)
    }
}

impl<O: Operation> Session for OpenSession<O> {
    fn operation(&self) -> &'static str {
        O::NAME
    }

    fn case(&self) -> &Case {
        &self.case
    }

    fn workload(&self) -> &str {
        &self.workload
    }

    fn unit(&self) -> &'static str {
        O::UNIT
    }

    fn kernels(&self) -> &[KernelInfo] {
        &self.infos
    }

    fn candidates(&self, threads: usize, time_limit: Duration) -> Vec<Candidate> {
        Candidate::all::<O>(&self.input, &Conditions { machine: self.machine, threads, time_limit })
    }

    fn input_bytes(&self) -> f64 {
        O::input_bytes(&self.input)
    }

    fn cost(&self, kernel: usize, threads: usize) -> Cost {
        self.kernel(kernel).map_or(Cost::IMPOSSIBLE, |kernel| kernel.cost(&self.input, threads))
    }

    fn predict(&self, kernel: usize, threads: usize) -> Option<Cost> {
        O::KERNELS[kernel].predict(&self.input, threads)
    }

    fn rates(&self, kernel: usize) -> &'static [f64] {
        O::KERNELS[kernel].rates()
    }

    fn predict_at(&self, kernel: usize, threads: usize, rates: &[f64]) -> Option<Cost> {
        O::KERNELS[kernel].predict_at(&self.input, threads, rates)
    }

    fn needs(&self, kernel: usize) -> Option<Needs> {
        self.kernel(kernel).and_then(|kernel| kernel.needs(&self.input))
    }

    fn steps(&self) -> u64 {
        O::steps(&self.input)
    }

    fn run(&self, kernel: usize, run: &Run) -> Result<Box<dyn Answer>, RunError> {
        Ok(Box::new(Output::<O>(self.to_run(kernel)?.run(&self.input, run)?)))
    }

    fn spin(&self, kernel: usize, run: &Run, times: u64) -> Result<(), RunError> {
        let admitted = self.to_run(kernel)?.admit(&self.input, run.threads())?;
        for _ in 0..times {
            drop(black_box(admitted.enter(O::Start::default(), black_box(&self.input), run)?));
        }
        Ok(())
    }

    fn work(&self, answer: &dyn Answer) -> u64 {
        let output = (answer as &dyn Any).downcast_ref::<Output<O>>().expect("an answer of this session");
        O::work(&self.input, &output.0)
    }

    fn oracle(&self) -> &dyn Answer {
        self.oracle.get_or_init(|| Output(O::oracle(&self.input)))
    }
}
