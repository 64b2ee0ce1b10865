//! Operations, and the kernels that do them.
//!
//! A **kernel** is one implementation of an [`Operation`]. It is data: one line in the operation's list, made by the
//! `kernels!` macro, names it, its module, its [`Tier`] and its Cargo features. Tests, benches, the command line and the
//! report iterate over that list and know no kernel by name.
//!
//! Two things are checked by the compiler, not by convention. The entry of a kernel carries exactly the CPU features of its
//! tier, so a kernel whose `run` asks for more does not compile (error E0133). And only [`KernelDef::on`] makes a
//! [`Kernel`], the thing that can be run, so no instruction set is entered that the CPU lacks.

use std::env::consts::ARCH;
use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

pub use crate::isa::Tier;
use crate::machine::Machine;
use crate::obstacle::Obstacle;

/// The four families of bit operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Core {
    /// Invariant keys of P-positions in boolean tables.
    TableScan,
    /// Attack lines of P-positions in bitsets.
    Occupancy,
    /// Minimum excludants, many heaps or values at once.
    Mex,
    /// Counting multisets of Grundy values by their nim-sum.
    XorCount,
}

impl Core {
    /// The core's name, as paths and listings spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Core::TableScan => "table_scan",
            Core::Occupancy => "occupancy",
            Core::Mex => "mex",
            Core::XorCount => "xor_count",
        }
    }
}

/// Why a run ended without an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// [`Run::cancel`] was called.
    #[error("interrupted")]
    Cancelled,
    /// A Grundy value passed the 16 bits that hold it in the output.
    #[error("a Grundy value passes 65535, the largest that is kept")]
    LargeValue,
    /// A number passed the type that holds it within the kernel.
    #[error("a number is too large for the type that holds it")]
    Overflow,
    /// The system could not start a thread that the run needs; fewer threads may do.
    #[error("a thread could not be started: memory or the number of threads is at its limit; use fewer threads")]
    NoThread,
    /// The windows that a kernel planned did not fit together, however wide their margins and however long their warm-up.
    #[error("the windows of the plan do not fit together, even with wide margins; use an exact kernel")]
    NoPlan,
    /// The values compress less than was foreseen, and would not fit in the memory that was checked.
    #[error(
        "the values compress less than was foreseen, and their history would not fit in the memory that was checked; use another kernel"
    )]
    Outgrown,
    /// The kernel cannot do the input, or needs more threads: its cost is [`Cost::IMPOSSIBLE`].
    #[error("the input is outside the kernel's domain")]
    OutsideDomain,
}

/// What is known about the answers of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The method is proved: every answer is right.
    Exact,
    /// The method rests on something that was observed and not proved. Such a kernel checks itself as it runs
    /// ([`Evidence`]); it runs only where it is named.
    Observed,
}

impl Claim {
    /// The claim's name in listings.
    pub const fn name(self) -> &'static str {
        match self {
            Claim::Exact => "exact",
            Claim::Observed => "observed",
        }
    }
}

/// What a kernel finds of an output that has parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// All of it.
    Everything,
    /// Counts and sums alone.
    Tally,
}

/// How an observed kernel ([`Claim::Observed`]) checked itself in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Evidence {
    /// Joints: places where two runs that began with different guesses were compared and were equal.
    pub joints: u64,
    /// The longest way from a guess to a run that was equal from there on, in heaps.
    pub longest: u64,
    /// The way from a guess to the first heap that counts.
    pub warm_up: u64,
    /// How often the run began again with wider margins or a longer warm-up.
    pub widened: u64,
    /// Windows that the work was cut into.
    pub windows: u64,
    /// Heaps visited, those of warm-ups and second runs among them.
    pub heaps: u64,
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Evidence { joints, longest, warm_up, widened, windows, heaps } = self;
        write!(f, "{joints} joints compared, all equal; the slowest guess took {longest} of {warm_up} heaps; ")?;
        write!(f, "{heaps} heaps visited in {windows} windows")?;
        if *widened > 0 { write!(f, "; begun again {widened} time(s) with wider margins") } else { Ok(()) }
    }
}

/// One run: how many threads it may use, how far it has come, and whether it should stop.
#[derive(Debug)]
pub struct Run {
    threads: usize,
    done: AtomicU64,
    /// Shared with runs that count their own progress, see [`Run::counted_apart`].
    cancelled: Arc<AtomicBool>,
    evidence: Mutex<Option<Evidence>>,
}

impl Run {
    /// A run that may use `threads` threads (at least one).
    pub fn new(threads: usize) -> Self {
        Run { threads: threads.max(1), done: AtomicU64::new(0), cancelled: Arc::default(), evidence: Mutex::default() }
    }

    /// A run that is cancelled with this one but counts its own progress, for work that is not part of this run's steps.
    pub(crate) fn counted_apart(&self) -> Self {
        Run { cancelled: Arc::clone(&self.cancelled), ..Run::new(self.threads) }
    }

    /// Threads the kernel may use, itself included.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Counts `steps` of [`Operation::steps`] as done; kernels call it once per block of work.
    ///
    /// # Errors
    /// [`RunError::Cancelled`] after [`Run::cancel`].
    #[inline]
    pub fn advance(&self, steps: u64) -> Result<(), RunError> {
        // Relaxed: the counter orders no other access.
        self.done.fetch_add(steps, Relaxed);
        if self.cancelled.load(Relaxed) { Err(RunError::Cancelled) } else { Ok(()) }
    }

    /// Steps done so far, over all kernels that ran with this value.
    pub fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// Keeps how the kernel checked itself.
    pub(crate) fn observe(&self, evidence: Evidence) {
        *self.evidence.lock().unwrap_or_else(PoisonError::into_inner) = Some(evidence);
    }

    /// How the last observed kernel that ran with this value checked itself; `None` if there was none, or if it left
    /// its work to an exact one.
    pub fn evidence(&self) -> Option<Evidence> {
        *self.evidence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the kernel to stop at its next block.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }
}

/// What the cost of a run depends on besides the input.
#[derive(Clone, Copy, Debug)]
pub struct CostContext {
    /// The tier the kernel is listed at.
    pub tier: Tier,
    /// Threads it may use.
    pub threads: usize,
}

/// Predicted time and memory of one run. The formula of each kernel holds constants measured on one machine, or estimated
/// where the tier says so ([`Tier::are_costs_measured`]); they serve choices between kernels, refusals and progress, never
/// results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Nanoseconds; infinite where the kernel cannot do the input.
    pub ns: f64,
    /// Peak bytes, the input and the output among them. Stacks of threads count, whether they are touched or not.
    pub bytes: f64,
}

impl Cost {
    /// The cost of an input outside a kernel's domain.
    pub const IMPOSSIBLE: Cost = Cost { ns: f64::INFINITY, bytes: 0.0 };

    /// Whether the kernel can do the input at all.
    pub fn is_possible(&self) -> bool {
        self.ns.is_finite()
    }
}

/// The least that a kernel does for a unit of work ([`Operation::work`]), averaged over an input: counts of the things whose
/// ceilings the lab measures (`nimlanes ceilings`). A count that depends on the data is a lower bound, so a loop of nothing but
/// the most expensive of them is at least as quick as the kernel could be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct Needs {
    /// Aligned loads of 64 bytes.
    pub loads: f64,
    /// Loads of 64 bytes that touch two lines.
    pub split_loads: f64,
    /// Logical operations or additions on registers of 64 bytes.
    pub logic: f64,
    /// Permutations of the bytes of such a register.
    pub permutes: f64,
    /// Bits or bytes set at places that are not in order: load, change, store.
    pub bits: f64,
    /// Stores of a word or less, each to another line than the one before.
    pub stores: f64,
    /// Cycles of operations that wait for each other.
    pub cycles: f64,
    /// Bytes that loads and bits range over; they say which cache they come from.
    pub bytes: f64,
}

/// Named numbers that sum up an output, for checks against known answers and for people.
pub type Digest = Vec<(&'static str, u128)>;

/// A technology with no natural form in an operation, and why.
#[derive(Clone, Copy, Debug)]
pub struct Absent {
    /// The Cargo feature.
    pub feature: &'static str,
    /// Why no kernel is listed for it.
    pub reason: &'static str,
}

/// One typed job of a core, with the list of kernels that do it.
///
/// Operations are this crate's own: kernels come from a list in it, and nothing outside makes a [`KernelDef`].
pub trait Operation: Sized + 'static {
    /// What a kernel is given.
    type Input: Send + Sync + 'static;
    /// What every kernel must compute.
    type Output: PartialEq + Debug + Send + Sync + 'static;
    /// What a run starts from besides its input: `()` for most, else an empty sink that says where the output goes, or the
    /// progress of a run that was interrupted.
    type Start: Default;

    /// The operation's name everywhere.
    const NAME: &'static str;
    /// The core it belongs to.
    const CORE: Core;
    /// What [`Operation::work`] counts, in the singular.
    const UNIT: &'static str;
    /// All kernels, baseline first, whether compiled in or not.
    const KERNELS: &'static [KernelDef<Self>];
    /// Technologies that have no kernel here.
    const ABSENT: &'static [Absent];
    /// The kernels that are the best algorithms published elsewhere: results are compared with the quickest of them.
    const PUBLIC: &'static [&'static str];
    /// What the measurements showed and what was tried, in markdown: part of the documentation and of the report.
    const NOTES: &'static str;

    /// What the output holds. A kernel that finds less cannot do any input.
    const YIELDS: Yields = Yields::Tally;

    /// Bytes of the input, which stays in memory while a kernel runs.
    fn input_bytes(_input: &Self::Input) -> f64 {
        0.0
    }

    /// Bytes of the output of a run on `threads` threads, for operations whose output has a type that the cost of a kernel does
    /// not know. Added to the cost of every kernel.
    fn output_bytes(_input: &Self::Input, _threads: usize) -> f64 {
        0.0
    }

    /// The output from the rules of the game alone: slow, and free of every theorem that a kernel uses.
    fn oracle(input: &Self::Input) -> Self::Output;

    /// What the calls of [`Run::advance`] in one run add up to.
    fn steps(input: &Self::Input) -> u64;

    /// Units of work in one run, for throughput.
    fn work(input: &Self::Input, output: &Self::Output) -> u64;

    /// Named numbers that sum up an output.
    fn digest(output: &Self::Output) -> Digest;
}

/// What a kernel is called through.
type Entry<O> =
    unsafe fn(&<O as Operation>::Input, &Run, <O as Operation>::Start) -> Result<<O as Operation>::Output, RunError>;

/// The functions of a compiled kernel. Only `kernels!` makes one.
pub(crate) struct Body<O: Operation> {
    /// The entry; carries the CPU features of the kernel's tier.
    pub(crate) run: Entry<O>,
    /// The cost formula.
    pub(crate) cost: fn(&O::Input, CostContext) -> Cost,
    /// What a unit of work needs, where the kernel states it.
    pub(crate) needs: Option<fn(&O::Input) -> Needs>,
}

/// One line of an operation's list.
pub struct KernelDef<O: Operation> {
    /// `<technique>[_<tier>]`.
    pub name: &'static str,
    /// What the CPU must offer.
    pub tier: Tier,
    /// Cargo features that compile it.
    pub features: &'static [&'static str],
    /// What it is, in a line.
    pub summary: &'static str,
    /// The kernel that the summary refers to, as in "the same with ..".
    pub like: Option<&'static str>,
    /// The module that it is in: a file.
    pub module: &'static str,
    /// Whether its answers are proved.
    pub claim: Claim,
    /// What it finds.
    pub yields: Yields,
    pub(crate) body: Option<Body<O>>,
}

impl<O: Operation> fmt::Debug for KernelDef<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelDef { name, tier, features, .. } = self;
        let mut debug = f.debug_struct("KernelDef");
        debug.field("name", name).field("tier", tier).field("features", features).finish_non_exhaustive()
    }
}

impl<O: Operation> KernelDef<O> {
    /// Whether this build holds the kernel.
    pub fn is_compiled(&self) -> bool {
        self.body.is_some()
    }

    /// Whether it is built to use several threads.
    pub fn is_parallel(&self) -> bool {
        self.features.contains(&"parallel")
    }

    /// Whether it finds all that the operation's output holds.
    pub(crate) fn finds_output(&self) -> bool {
        self.yields == Yields::Everything || O::YIELDS == Yields::Tally
    }

    /// The kernel, ready to run on `machine`.
    ///
    /// # Errors
    /// It is made for another architecture, not compiled in, or the machine lacks its tier.
    pub fn on(&'static self, machine: &Machine) -> Result<Kernel<O>, Obstacle> {
        let Some(body) = &self.body else {
            return Err(match self.tier.extension() {
                Some(extension) if extension.architecture != ARCH => {
                    Obstacle::Architecture { needs: extension.architecture }
                }
                _ => Obstacle::NotCompiled { features: self.features },
            });
        };
        if !machine.offers(self.tier) {
            let offers = machine.tiers().map(Tier::name).collect();
            return Err(Obstacle::Tier { needs: self.tier.name(), offers });
        }
        Ok(Kernel { def: self, body })
    }
}

/// A kernel that this machine can run.
pub struct Kernel<O: Operation> {
    def: &'static KernelDef<O>,
    body: &'static Body<O>,
}

impl<O: Operation> Clone for Kernel<O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O: Operation> Copy for Kernel<O> {}

impl<O: Operation> fmt::Debug for Kernel<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&format_args!("{}={}", O::NAME, self.def.name)).finish()
    }
}

impl<O: Operation> Kernel<O> {
    /// Its line in the operation's list.
    pub fn def(&self) -> &'static KernelDef<O> {
        self.def
    }

    /// Predicted time and memory with `threads` threads.
    pub fn cost(&self, input: &O::Input, threads: usize) -> Cost {
        if !self.def.finds_output() {
            return Cost::IMPOSSIBLE;
        }
        let Cost { ns, bytes } = (self.body.cost)(input, CostContext { tier: self.def.tier, threads });
        let threads = if self.def.is_parallel() { threads } else { 1 };
        Cost { ns, bytes: bytes + O::input_bytes(input) + O::output_bytes(input, threads) }
    }

    /// What a unit of work needs at least, if the kernel states it.
    pub fn needs(&self, input: &O::Input) -> Option<Needs> {
        self.body.needs.map(|needs| needs(input))
    }

    /// Computes the output.
    ///
    /// # Errors
    /// [`RunError::OutsideDomain`] before anything is computed; cancelled, or a value passed the type that holds it.
    pub fn run(&self, input: &O::Input, run: &Run) -> Result<O::Output, RunError> {
        self.run_from(O::Start::default(), input, run)
    }

    /// [`Kernel::run`] from a start other than the default.
    ///
    /// # Errors
    /// As [`Kernel::run`].
    pub fn run_from(&self, start: O::Start, input: &O::Input, run: &Run) -> Result<O::Output, RunError> {
        self.admit(input, run.threads())?;
        self.enter(start, input, run)
    }

    /// Whether the input is in the domain of the kernel with this number of threads.
    pub(crate) fn admit(&self, input: &O::Input, threads: usize) -> Result<(), RunError> {
        if self.cost(input, threads).is_possible() { Ok(()) } else { Err(RunError::OutsideDomain) }
    }

    /// [`Kernel::run_from`] on an input that was admitted, for timing: computing the cost would show.
    #[allow(unsafe_code, reason = "the one dispatch from safe code into functions that need CPU features")]
    pub(crate) fn enter(&self, start: O::Start, input: &O::Input, run: &Run) -> Result<O::Output, RunError> {
        #[cfg(debug_assertions)]
        entered::record((O::NAME, self.def.name, self.def.tier.name()));
        // SAFETY: `KernelDef::on` found the tier among those that were detected on this CPU, and `entry!` gave the function
        // the features of that tier and no more.
        unsafe { (self.body.run)(input, run, start) }
    }
}

/// Which kernels were entered: a record for tests, kept where debug assertions are on.
#[cfg(debug_assertions)]
#[doc(hidden)]
pub mod entered {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    /// Names of an operation, a kernel of it and the kernel's tier.
    pub type Entered = (&'static str, &'static str, &'static str);

    static RECORD: Mutex<BTreeSet<Entered>> = Mutex::new(BTreeSet::new());

    pub(super) fn record(entered: Entered) {
        RECORD.lock().unwrap_or_else(PoisonError::into_inner).insert(entered);
    }

    /// The kernels that this process entered since the last call.
    pub fn take() -> BTreeSet<Entered> {
        std::mem::take(&mut RECORD.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The kernels of `O` that `machine` can run, in list order.
pub fn available<O: Operation>(machine: &Machine) -> impl Iterator<Item = Kernel<O>> {
    O::KERNELS.iter().filter_map(|def| def.on(machine).ok())
}

/// The list of an operation: `kernels! { Operation, [Generic: Bound]; name = module, Tier, ["feature"], "summary"; ... }`.
///
/// A kernel is compiled where all its features are on and the architecture has its tier; its `mod` line carries the same
/// condition. The line stays in the list either way. `name = module like other, ..` says that the summary refers to the kernel
/// `other`; a kernel that states its [`Needs`] in a function `needs(&Input)` has that name at the end of its line:
/// `"summary", needs;`. A kernel whose answers are observed, not proved, and that finds a tally alone has `observed tally`
/// behind its summary. Where the operation has a [`Start`](Operation::Start), `[Generic: Bound], start;` makes it the third
/// argument of `run`. `name = module(Tier), ..` makes the tier of the line the last.
macro_rules! kernels {
    ($op:ty, $generics:tt $(, $start:ident)?; $($rows:tt)*) => {
        $crate::kernel::kernel_rows!([$op, $generics, [$($start)?]] $($rows)*)
    };
}
pub(crate) use kernels;

/// The rows of [`kernels!`]; what all entries need comes first.
macro_rules! kernel_rows {
    ($common:tt
     $($name:ident = $body:ident $(($told:ident))? $(like $like:ident)?, $tier:ident, [$($f:literal),*],
       $text:literal $($observed:ident $tally:ident)? $(, $needs:ident)?;)*) => { &[$({
        let body = {
            #[cfg(all($(feature = $f),*))]
            { $crate::isa::entry!($tier, $common, $name, $body $(($told))? $(, $needs)?) }
            #[cfg(not(all($(feature = $f),*)))]
            { None }
        };
        $crate::kernel::KernelDef {
            name: stringify!($name),
            tier: $crate::isa::Tier::$tier,
            features: &[$($f),*],
            summary: $text,
            // The first of what may be one or two.
            like: [$(Some(stringify!($like)),)? None][0],
            module: concat!(module_path!(), "::", stringify!($body)),
            claim: [$($crate::kernel::claim!($observed),)? $crate::kernel::Claim::Exact][0],
            yields: [$($crate::kernel::yields!($tally),)? $crate::kernel::Yields::Everything][0],
            body,
        }
    }),*] };
}
pub(crate) use kernel_rows;

/// The claim that a word in the list stands for.
macro_rules! claim {
    (observed) => {
        $crate::kernel::Claim::Observed
    };
}
pub(crate) use claim;

/// The part of an output that a word in the list stands for.
macro_rules! yields {
    (tally) => {
        $crate::kernel::Yields::Tally
    };
}
pub(crate) use yields;
