//! Operations with their types erased, for the command line, duels, benches and listings, which treat all operations
//! alike.

use std::any::Any;
use std::hint::black_box;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::OnceLock;
use std::time::Duration;

use twox_hash::XxHash3_64;

use crate::kernel::candidate::{Candidate, Conditions, Obstacle};
use crate::kernel::case::Case;
use crate::kernel::selection::{SelectError, Selection};
use crate::kernel::workload::{InputError, Workload, Workloads};
use crate::kernel::{Absent, Core, Cost, Digest, Kernel, KernelDef, KernelMeta, Needs, Operation, Run, RunError};
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

/// An operation with its types erased.
pub trait AnyOperation: Send + Sync {
    /// The operation's name.
    fn name(&self) -> &'static str;
    /// The core that the operation belongs to.
    fn core(&self) -> Core;
    /// The unit that throughput counts, in the singular.
    fn unit(&self) -> &'static str;
    /// Named inputs; the first is the default.
    fn workloads(&self) -> &'static [Workload];
    /// Technologies that have no kernel here.
    fn absent(&self) -> &'static [Absent];
    /// Kernels that implement the best algorithms published elsewhere.
    fn public(&self) -> &'static [&'static str];
    /// What the measurements showed and what was tried, in Markdown.
    fn notes(&self) -> &'static str;
    /// All kernels, baseline first.
    fn kernels(&self, machine: &Machine) -> Vec<KernelInfo>;
    /// The address of the code of each kernel, in list order; `None` for those that are not compiled into this build.
    #[doc(hidden)]
    fn entries(&self) -> Vec<Option<usize>>;
    /// The name of a workload in a [`Case`], given its text.
    ///
    /// # Errors
    /// See [`Workloads::canonical`].
    fn name_of(&self, workload: &str) -> Result<String, InputError>;
    /// Opens a session: an input, and the kernels as candidates for it. If the input is made from values of another
    /// operation, kernels that `selection` allows compute these values.
    ///
    /// # Errors
    /// See [`Workloads::input`].
    fn session(&self, selection: &Selection, workload: &str, size: u64) -> Result<Box<dyn Session>, InputError>;
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
    /// The rates of a kernel: see [`KernelDef::rates`].
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
        self.kernels().iter().position(|kernel| kernel.name == name)
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
    let begins: String = text.chars().take(BEGINS).collect();
    format!("{begins}..{:016x}", XxHash3_64::oneshot(text.as_bytes()))
}

/// What a kernel computed.
pub trait Answer: Any + Send + Sync {
    /// Whether the complete outputs are equal.
    fn agrees(&self, other: &dyn Answer) -> bool;
    /// Named numbers that summarize the answer.
    fn digest(&self) -> Digest;
}

/// The erased form of `O`, as a value for a list.
#[derive(Debug)]
pub struct Erased<O>(PhantomData<fn() -> O>);

impl<O> Erased<O> {
    /// The erased form of `O`.
    #[expect(clippy::new_without_default, reason = "a constant, made in one list")]
    pub const fn new() -> Self {
        Erased(PhantomData)
    }
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
    /// The kernels, or `None` for those that cannot run on the machine.
    kernels: Vec<Option<Kernel<O>>>,
    oracle: OnceLock<Output<O>>,
}

impl<O: Operation> OpenSession<O> {
    /// A kernel, if it can run here.
    fn kernel(&self, kernel: usize) -> Result<&Kernel<O>, RunError> {
        self.kernels[kernel].as_ref().ok_or(RunError::OutsideDomain)
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
        self.kernels[kernel].map_or(Cost::IMPOSSIBLE, |kernel| kernel.cost(&self.input, threads))
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
        self.kernels[kernel].and_then(|kernel| kernel.needs(&self.input))
    }

    fn steps(&self) -> u64 {
        O::steps(&self.input)
    }

    fn run(&self, kernel: usize, run: &Run) -> Result<Box<dyn Answer>, RunError> {
        Ok(Box::new(Output::<O>(self.kernel(kernel)?.run(&self.input, run)?)))
    }

    fn spin(&self, kernel: usize, run: &Run, times: u64) -> Result<(), RunError> {
        let kernel = self.kernel(kernel)?;
        let admitted = kernel.admit(&self.input, run.threads())?;
        (0..times).try_for_each(|_| {
            admitted.enter(O::Start::default(), black_box(&self.input), run).map(|output| drop(black_box(output)))
        })
    }

    fn work(&self, answer: &dyn Answer) -> u64 {
        let output = (answer as &dyn Any).downcast_ref::<Output<O>>().expect("an answer of this session");
        O::work(&self.input, &output.0)
    }

    fn oracle(&self) -> &dyn Answer {
        self.oracle.get_or_init(|| Output(O::oracle(&self.input)))
    }
}

impl<O: Workloads> AnyOperation for Erased<O> {
    fn name(&self) -> &'static str {
        O::NAME
    }

    fn core(&self) -> Core {
        O::CORE
    }

    fn unit(&self) -> &'static str {
        O::UNIT
    }

    fn workloads(&self) -> &'static [Workload] {
        O::WORKLOADS
    }

    fn absent(&self) -> &'static [Absent] {
        O::ABSENT
    }

    fn public(&self) -> &'static [&'static str] {
        O::PUBLIC
    }

    fn notes(&self) -> &'static str {
        O::NOTES
    }

    fn kernels(&self, machine: &Machine) -> Vec<KernelInfo> {
        let info = |def: &'static KernelDef<O>| KernelInfo { meta: def, obstacle: def.on(machine).err() };
        O::KERNELS.iter().map(info).collect()
    }

    fn entries(&self) -> Vec<Option<usize>> {
        O::KERNELS.iter().map(|def| def.body().map(|body| body.run as usize)).collect()
    }

    fn name_of(&self, workload: &str) -> Result<String, InputError> {
        Ok(short(&O::canonical(workload)?))
    }

    fn session(&self, selection: &Selection, workload: &str, size: u64) -> Result<Box<dyn Session>, InputError> {
        let machine = *selection.machine();
        let workload = O::canonical(workload)?;
        let input = O::input(&workload, size, selection)?;
        let kernels = O::KERNELS.iter().map(|def| def.on(&machine).ok()).collect();
        let case = Case::new(O::NAME, &short(&workload), size);
        Ok(Box::new(OpenSession::<O> {
            case,
            workload,
            input,
            machine,
            infos: self.kernels(&machine),
            kernels,
            oracle: OnceLock::new(),
        }))
    }
}
