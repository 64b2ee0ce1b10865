//! Operations, and kernels: a line in the list of an operation, and the only dispatch into the function behind that line.
//!
//! What is never inlined here is compiled once for an operation, with its kernels: crates share such functions, also generic ones.

use std::env::consts::ARCH;
use std::fmt;
use std::ops::Deref;

use super::cost::{Cost, CostContext, Needs};
use super::obstacle::Obstacle;
use super::run::{MAX_THREADS, Run, RunError};
use super::terms::{Core, Digest, Yields};
use crate::machine::Machine;
use crate::machine::isa::Tier;

/// What is known about the answers of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// The method is proved: every answer is right.
    Exact,
    /// The method rests on something that was observed, not proved. Such a kernel checks itself as it runs
    /// ([`Evidence`](super::Evidence)), and runs only if it is named.
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

/// One typed job of a core, with the list of kernels that perform it.
///
/// Only the cores implement operations: the macro of their lists alone makes a [`KernelDef`].
pub trait Operation: Sized + 'static {
    /// What a kernel is given.
    type Input: Send + Sync + 'static;
    /// What every kernel must compute.
    type Output: PartialEq + fmt::Debug + Send + Sync + 'static;
    /// What a run starts from besides its input: `()` for most operations, else the progress of an interrupted run.
    type Start: Default;

    /// The operation's name everywhere.
    const NAME: &'static str;
    /// The core it belongs to.
    const CORE: Core;
    /// What [`Operation::work`] counts, in the singular.
    const UNIT: &'static str;
    /// All kernels, baseline first, whether compiled in or not.
    const KERNELS: &'static [KernelDef<Self>];
    /// Technologies that have no natural use here: the Cargo feature of each, and the reason.
    const ABSENT: &'static [(&'static str, &'static str)] = &[];
    /// The kernels that implement the best algorithms published elsewhere. Results are compared with the fastest of
    /// them.
    const PUBLIC: &'static [&'static str];
    /// What the measurements showed and what was tried, in Markdown: part of the documentation and of the report.
    const NOTES: &'static str;
    /// The table with the constants of the kernels' predicted times: see [`KernelDef::rates`].
    const RATES: &'static str;

    /// How much a kernel must find for an input. One that finds less cannot handle it.
    fn wanted(_input: &Self::Input) -> Yields {
        Yields::Tally
    }

    /// Bytes of the input, which stays in memory while a kernel runs.
    fn input_bytes(_input: &Self::Input) -> f64 {
        0.0
    }

    /// Bytes of the output of a run on `threads` threads, which are added to the cost of every kernel. For operations
    /// whose kernels do not know the type of the output.
    fn output_bytes(_input: &Self::Input, _threads: usize) -> f64 {
        0.0
    }

    /// Computes the output from the rules of the game alone: slowly, and without any theorem that a kernel uses.
    fn oracle(input: &Self::Input) -> Self::Output;

    /// What the calls of [`Run::advance`](super::Run::advance) in one run add up to.
    fn steps(input: &Self::Input) -> u64;

    /// Units of work in one run that gave `output`, for throughput: mostly the steps.
    fn work(input: &Self::Input, _output: &Self::Output) -> u64 {
        Self::steps(input)
    }

    /// Named numbers that summarize an output.
    fn digest(output: &Self::Output) -> Digest;
}

/// The type of a kernel's entry.
type Entry<O> =
    unsafe fn(&<O as Operation>::Input, &Run, <O as Operation>::Start) -> Result<<O as Operation>::Output, RunError>;

/// The functions of a compiled kernel. Only `kernels!` makes one.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "functions")]
pub struct Body<O: Operation> {
    /// The entry; carries the CPU features of the kernel's tier.
    pub run: Entry<O>,
    /// The cost formula. It is given the rates, or others in their place.
    pub cost: fn(&O::Input, CostContext, &[f64]) -> Cost,
    /// The constants of the cost formula.
    pub rates: &'static [f64],
    /// What a unit of work needs at least, if the kernel states it.
    pub needs: Option<fn(&O::Input) -> Needs>,
}

impl<O: Operation> Body<O> {
    /// Predicted time and memory of the kernel with this line.
    fn cost(&self, def: &KernelDef<O>, input: &O::Input, threads: usize) -> Cost {
        self.cost_at(def, input, threads, self.rates)
    }

    /// [`Body::cost`] with other rates.
    #[inline(never)]
    fn cost_at(&self, def: &KernelDef<O>, input: &O::Input, threads: usize, rates: &[f64]) -> Cost {
        if def.yields < O::wanted(input) {
            return Cost::IMPOSSIBLE;
        }
        let context = def.context(threads);
        let Cost { ns, bytes } = (self.cost)(input, context, rates);
        let bytes = bytes + O::output_bytes(input, context.threads);
        let Cost { ns, .. } = Cost { ns, bytes }.with_fresh_pages(context.threads);
        Cost { ns, bytes: bytes + O::input_bytes(input) }
    }
}

/// What the list of an operation says about a kernel.
#[derive(Debug)]
pub struct KernelMeta {
    /// The name: `<technique>[_<tier>]`.
    pub name: &'static str,
    /// The instruction sets that the CPU must offer.
    pub tier: Tier,
    /// Cargo features that compile the kernel.
    pub features: &'static [&'static str],
    /// The kernel's condition on the target, if this build's target does not meet it.
    pub lacks: Option<&'static str>,
    /// What the kernel is, in one line.
    pub summary: &'static str,
    /// The kernel that the summary refers to, as in "the same with ..".
    pub like: Option<&'static str>,
    /// The module with the list of the operation.
    pub list: &'static str,
    /// The module of the kernel's file; if other kernels share it, that of their driver.
    pub module: &'static str,
    /// The module of the kernel, the last part of [`module`](Self::module) or inside it.
    pub body: &'static str,
    /// What the driver is given, as the list of the operation names it.
    pub parts: Option<&'static str>,
    /// Whether the kernel's answers are proved.
    pub claim: Claim,
    /// How much of the output the kernel finds.
    pub yields: Yields,
    /// Whether the kernel is compiled into this build.
    pub compiled: bool,
}

impl KernelMeta {
    /// The kernel's source file, relative to the root of the source tree.
    pub fn source(&self) -> String {
        // The path without the name of its crate, whose parts are between two colons each.
        let mut source = "src".to_owned();
        for part in self.module.split(':').skip(1) {
            source += if part.is_empty() { "/" } else { part };
        }
        source + ".rs"
    }

    /// The path of the module that has the kernel's functions.
    pub fn path(&self) -> String {
        let is_file = self.module.rsplit("::").next() == Some(self.body);
        if is_file { self.module.to_owned() } else { format!("{}::{}", self.module, self.body) }
    }

    /// Whether two kernels of an operation are one source, at different tiers or with other threads.
    pub fn has_source_of(&self, other: &KernelMeta) -> bool {
        (self.module, self.body, self.parts) == (other.module, other.body, other.parts)
    }

    /// Whether the kernel can use several threads.
    pub fn is_parallel(&self) -> bool {
        self.features.contains(&"parallel")
    }

    /// Whether the kernel's answers are proved.
    pub fn is_exact(&self) -> bool {
        self.claim == Claim::Exact
    }

    /// Why the kernel cannot run on `machine`, if so: see [`KernelDef::on`].
    pub(crate) fn obstacle_on(&self, machine: &Machine) -> Option<Obstacle> {
        if !self.compiled {
            return Some(match self.tier.extension() {
                Some(extension) if extension.architecture != ARCH => {
                    Obstacle::Architecture { needs: extension.architecture }
                }
                extension => match extension.and_then(|extension| extension.lacks).or(self.lacks) {
                    Some(needs) => Obstacle::Target { needs },
                    None => Obstacle::NotCompiled { features: self.features },
                },
            });
        }
        if self.is_parallel() && !machine.has_threads() {
            return Some(Obstacle::NoThreads);
        }
        if !machine.offers(self.tier) {
            let mut offers = Vec::new();
            for tier in machine.tiers() {
                offers.push(tier.name());
            }
            return Some(Obstacle::Tier { needs: self.tier.name(), offers });
        }
        None
    }

    /// What the cost of a run with `threads` threads depends on besides the input.
    fn context(&self, threads: usize) -> CostContext {
        let is_parallel = self.is_parallel();
        let threads = if is_parallel { threads.clamp(1, MAX_THREADS) } else { 1 };
        CostContext { tier: self.tier, threads, is_parallel }
    }

    /// Bytes of `machine` that a run with `threads` threads may take.
    pub(crate) fn free_memory(&self, machine: &Machine, threads: usize) -> u64 {
        machine.memory(if self.is_parallel() { threads } else { 1 })
    }

    /// Why a run at this cost may not begin, if so.
    fn refusal(&self, cost: Cost, free: u64) -> Option<RunError> {
        match cost {
            _ if !cost.is_possible() => Some(RunError::OutsideDomain),
            Cost { bytes, .. } if bytes > free as f64 => Some(RunError::Memory { needs: bytes as u64, free }),
            _ if !self.tier.is_on_this_cpu() => Some(RunError::Tier(self.tier.name())),
            _ => None,
        }
    }

    /// Whether the kernel is exact and plain Rust on one thread: no technology that a Cargo feature names, and only the
    /// portable tier. The compiler may use the vectors of the build's target.
    pub fn is_plain(&self) -> bool {
        self.tier == Tier::Portable && self.features.is_empty() && self.is_exact()
    }
}

/// One line of an operation's list: the description of a kernel, and the kernel itself if it is compiled into this
/// build.
pub struct KernelDef<O: Operation> {
    meta: KernelMeta,
    body: Option<Body<O>>,
}

impl<O: Operation> Deref for KernelDef<O> {
    type Target = KernelMeta;

    fn deref(&self) -> &KernelMeta {
        &self.meta
    }
}

impl<O: Operation> fmt::Debug for KernelDef<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KernelDef").field(&self.meta).finish()
    }
}

impl<O: Operation> KernelDef<O> {
    /// A line of a list, which `kernels!` writes.
    ///
    /// # Safety
    /// The entry in `body` needs the CPU features of `meta.tier` and no more.
    #[doc(hidden)]
    #[allow(unsafe_code, reason = "the dispatch relies on what the list says")]
    pub const unsafe fn listed(meta: KernelMeta, body: Option<Body<O>>) -> Self {
        KernelDef { meta, body }
    }

    /// The kernel's functions, if it is compiled into this build.
    #[doc(hidden)]
    pub fn body(&self) -> Option<&Body<O>> {
        self.body.as_ref()
    }

    /// The address of the kernel's code, if it is compiled into this build.
    pub(crate) fn entry(&self) -> Option<usize> {
        self.body.as_ref().map(|body| body.run as usize)
    }

    /// Predicted time and memory on a machine that has the kernel's tier, whether or not this one has it; `None` if the
    /// kernel is not compiled into this build.
    pub fn predict(&self, input: &O::Input, threads: usize) -> Option<Cost> {
        self.body.as_ref().map(|body| body.cost(self, input, threads))
    }

    /// The rates of the kernel: the constants of its predicted time, from the table of the crate. There are none if the kernel is not
    /// compiled into this build.
    pub fn rates(&self) -> &'static [f64] {
        self.body.as_ref().map_or(&[], |body| body.rates)
    }

    /// [`KernelDef::predict`] with other rates.
    ///
    /// # Panics
    /// They are not as many as [`KernelDef::rates`].
    pub fn predict_at(&self, input: &O::Input, threads: usize, rates: &[f64]) -> Option<Cost> {
        self.body.as_ref().map(|body| body.cost_at(self, input, threads, rates))
    }

    /// The kernel, for `machine`.
    ///
    /// # Errors
    /// The kernel is made for another target or is not compiled in, or the machine lacks its tier or the threads it
    /// needs.
    #[inline(never)]
    pub fn on(&'static self, machine: &Machine) -> Result<Kernel<O>, Obstacle> {
        match (self.obstacle_on(machine), &self.body) {
            (None, Some(body)) => Ok(Kernel { def: self, body, machine: *machine }),
            (Some(obstacle), _) => Err(obstacle),
            (None, None) => unreachable!("the line states whether the kernel is compiled"),
        }
    }
}

/// A kernel that a machine can run.
pub struct Kernel<O: Operation> {
    def: &'static KernelDef<O>,
    body: &'static Body<O>,
    machine: Machine,
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
    /// The kernel's line in the operation's list.
    pub fn def(&self) -> &'static KernelDef<O> {
        self.def
    }

    /// Predicted time and memory with `threads` threads.
    pub fn cost(&self, input: &O::Input, threads: usize) -> Cost {
        self.body.cost(self.def, input, threads)
    }

    /// What a unit of work needs at least, if the kernel states it.
    pub fn needs(&self, input: &O::Input) -> Option<Needs> {
        self.body.needs.map(|needs| needs(input))
    }

    /// Computes the output for `input`.
    ///
    /// # Errors
    /// [`RunError::OutsideDomain`], [`RunError::Memory`] or [`RunError::Tier`] before anything is computed; any other [`RunError`]
    /// if the run was cancelled or the kernel failed.
    pub fn run(&self, input: &O::Input, run: &Run) -> Result<O::Output, RunError> {
        self.run_from(O::Start::default(), input, run)
    }

    /// [`Kernel::run`] from a start other than the default.
    ///
    /// # Errors
    /// See [`Kernel::run`].
    #[inline(never)]
    pub fn run_from(&self, start: O::Start, input: &O::Input, run: &Run) -> Result<O::Output, RunError> {
        let admitted = self.admit(input, run.threads())?;
        #[cfg(debug_assertions)]
        entered::record((O::NAME, self.def.name, self.def.tier.name()));
        admitted.enter(start, input, run)
    }

    /// The kernel, to be entered, if the input is in its domain with this number of threads and fits in memory, and if this CPU has its
    /// tier: the machine may be a described one.
    pub(crate) fn admit(&self, input: &O::Input, threads: usize) -> Result<Admitted<O>, RunError> {
        let free = self.def.free_memory(&self.machine, threads);
        match self.def.refusal(self.cost(input, threads), free) {
            Some(refusal) => Err(refusal),
            None => Ok(Admitted(self.body.run)),
        }
    }
}

/// The entry of a kernel whose tier this CPU has. Only [`Kernel::admit`] makes one.
pub(crate) struct Admitted<O: Operation>(Entry<O>);

impl<O: Operation> Admitted<O> {
    /// [`Kernel::run_from`] on the input that was admitted. For timing, which repeats this alone: the time of the checks would show.
    #[allow(unsafe_code, reason = "the one dispatch from safe code into functions that need CPU features")]
    pub(crate) fn enter(&self, start: O::Start, input: &O::Input, run: &Run) -> Result<O::Output, RunError> {
        // SAFETY: `Kernel::admit` found that this CPU has the kernel's tier, whatever the machine claims, and the function needs the
        // features of that tier and no more, as `KernelDef::listed` was promised.
        unsafe { (self.0)(input, run, start) }
    }
}

/// A record of the kernels that were entered other than for timing, for tests. It is kept if debug assertions are on.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Digest;

    /// Whose input is the bytes that it takes.
    struct Nothing;

    impl Operation for Nothing {
        type Input = u32;
        type Output = ();
        type Start = ();
        const NAME: &'static str = "nothing";
        const CORE: Core = Core::Mex;
        const UNIT: &'static str = "byte";
        const KERNELS: &'static [KernelDef<Self>] = &[FOREIGN];
        const PUBLIC: &'static [&'static str] = &[];
        const NOTES: &'static str = "";
        const RATES: &'static str = "";

        fn oracle(_: &u32) {}

        fn steps(_: &u32) -> u64 {
            0
        }

        fn work(_: &u32, (): &()) -> u64 {
            0
        }

        fn digest((): &()) -> Digest {
            unreachable!("nothing is computed")
        }
    }

    /// Of another architecture than this CPU's, whichever that is. The list of an operation has no such kernel in this build.
    const FOREIGN: KernelDef<Nothing> = KernelDef {
        meta: KernelMeta {
            name: "foreign",
            tier: if cfg!(target_arch = "aarch64") { Tier::Avx2 } else { Tier::Neon },
            features: &[],
            lacks: None,
            summary: "",
            like: None,
            list: "",
            module: "",
            body: "",
            parts: None,
            claim: Claim::Exact,
            yields: Yields::Everything,
            compiled: true,
        },
        body: Some(Body {
            run: |_, _, ()| panic!("it was entered"),
            cost: |bytes, _, _| Cost { ns: 1.0, bytes: f64::from(*bytes) },
            rates: &[],
            needs: None,
        }),
    };

    #[test]
    fn a_kernel_for_a_described_machine_is_predicted_and_not_entered() {
        let [foreign] = Nothing::KERNELS else { panic!("one kernel") };
        let machine = Machine::described(foreign.tier, 1, 1 << 20);
        let kernel = foreign.on(&machine).expect("the machine has the tier");
        assert!(kernel.cost(&0, 1).is_possible());
        assert_eq!(kernel.run(&0, &Run::new(1)), Err(RunError::Tier(foreign.tier.name())));
        // It is refused there as on the machine itself.
        let large = kernel.run(&1_000_000_000, &Run::new(1));
        assert!(matches!(large, Err(RunError::Memory { free: 0x10_0000, .. })), "{large:?}");
        for machine in [Machine::detect(), machine.on_this_cpu()] {
            assert!(matches!(foreign.on(&machine), Err(Obstacle::Tier { .. })), "{machine:?}");
        }
    }
}
