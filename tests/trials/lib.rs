//! Every kernel, on every workload, against the oracle and the known answers: one named test each, from the lists of a crate.
//!
//! Kernels that this CPU cannot run are reported as *ignored* with the reason, never as passed. With `NIMLANES_REQUIRE=avx512`, they fail
//! instead, for that tier and all that it includes.
//!
//! Known answers of inputs above `NIMLANES_LARGEST`, if it is set, are not checked. This is for emulated CPUs, which
//! are slow to prepare such inputs. The comparisons with the oracle at the edges of vectors are still made.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use nimlanes_foundation::kernel::rates::TABLE;
use nimlanes_foundation::kernel::selection::Selection;
use nimlanes_foundation::kernel::session::{AnyOperation, KernelInfo};
use nimlanes_foundation::kernel::workload::Workload;
use nimlanes_foundation::kernel::{Run, Tier, Yields};
use nimlanes_foundation::machine::{Machine, variable};
use nimlanes_foundation::verify::Inputs;

/// Sizes at which every oracle is fast enough.
const LARGEST: u64 = 513;
/// Known answers are checked with kernels that need at most this long; `nimlanes verify --full` has more time.
const TIME_LIMIT: Duration = Duration::from_millis(30);
/// The kernels share an input, so it may take longer to prepare.
const PREPARED_WITHIN: Duration = Duration::from_secs(1);

/// Operations in a list of a crate.
type List = &'static [&'static AnyOperation];

/// The largest input with a known answer that is checked.
fn largest_known() -> u64 {
    variable("NIMLANES_LARGEST").map_or(u64::MAX, |text| match text.to_string_lossy().parse() {
        Ok(size) => size,
        Err(error) => panic!("NIMLANES_LARGEST={}: {error}", text.display()),
    })
}

/// Runs the tests of all kernels, and these others, and ends the process. Outputs are compared as far as a kernel finds them.
pub fn run(operations: List, others: impl IntoIterator<Item = Trial>) -> ! {
    let machine = Machine::detect();
    let required: Option<Tier> = variable("NIMLANES_REQUIRE")
        .map(|tier| tier.to_string_lossy().parse().unwrap_or_else(|error| panic!("NIMLANES_REQUIRE: {error}")));
    let of_workloads = Yields::ALL.iter().copied().flat_map(|yields| {
        // The slowest oracle is the last operation's, and one thread runs it: begun first, it does not end last.
        operations.iter().rev().flat_map(move |operation| {
            operation.workloads().iter().map(move |workload| trials(operation, workload, yields, machine, required))
        })
    });
    let trials = in_turn(of_workloads.map(Iterator::collect).collect());
    let left_out = left_out(operations, &machine, &trials);
    let no_kernel_is_left_out = Trial::test("every compiled kernel has a trial", move || match left_out.as_slice() {
        [] => Ok(()),
        kernels => Err(Failed::from(format!("no workload is in the domain of {}", kernels.join(", ")))),
    });
    let every_kernel_has_rates = Trial::test("every kernel has its rates", move || rates(operations, &machine));
    // The first of the others may prepare what all of them use: begun first, too, it leaves the rest of the cores to the kernels.
    let mut others = others.into_iter();
    let all = others.next().into_iter().chain(trials).chain([no_kernel_is_left_out, every_kernel_has_rates]);
    libtest_mimic::run(&Arguments::from_args(), all.chain(others).collect()).exit()
}

/// Trials that share an input wait for the one that prepares it. So trials of as many workloads as there are cores take turns.
fn in_turn(of_workloads: Vec<Vec<Trial>>) -> Vec<Trial> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut left: Vec<_> = of_workloads.into_iter().map(Vec::into_iter).collect();
    let mut trials = Vec::new();
    for together in left.chunks_mut(cores) {
        while together.iter().any(|workload| workload.len() > 0) {
            trials.extend(together.iter_mut().filter_map(Iterator::next));
        }
    }
    trials
}

/// Fails if a kernel has no line in the table of rates of its crate, or if a line has no kernel.
fn rates(operations: List, machine: &Machine) -> Result<(), Failed> {
    for operation in operations {
        let kernels: BTreeSet<&str> = operation.kernels(machine).iter().map(|kernel| kernel.name).collect();
        let measured: BTreeSet<&str> = operation.rates().map(|line| line.kernel).collect();
        let name = operation.name();
        if let Some(kernel) = kernels.difference(&measured).next() {
            let how = format!("cargo run --release --example fit -- {name} {kernel}");
            return Err(format!("{name}/{kernel} has no line in {TABLE}; this measures it: {how}").into());
        }
        if let Some(kernel) = measured.difference(&kernels).next() {
            return Err(format!("{TABLE} has a line for {name}/{kernel}, which is not a kernel").into());
        }
    }
    Ok(())
}

/// The compiled kernels without a test.
fn left_out(operations: List, machine: &Machine, trials: &[Trial]) -> Vec<String> {
    let all = operations.iter().flat_map(|operation| {
        let kernels = operation.kernels(machine).into_iter().filter(|kernel| kernel.compiled);
        kernels.map(|kernel| (operation.name(), kernel.name))
    });
    let is_about = |trial: &Trial, operation: &str, kernel: &str| {
        trial.name().strip_prefix(operation).is_some_and(|rest| rest.starts_with('/'))
            && trial.name().strip_suffix(kernel).is_some_and(|rest| rest.ends_with('/'))
    };
    let left_out = all.filter(|(operation, kernel)| !trials.iter().any(|trial| is_about(trial, operation, kernel)));
    left_out.map(|(operation, kernel)| format!("{operation}/{kernel}")).collect()
}

/// One test for each compiled kernel that finds this much and can process the workload; they share the inputs and the oracle's
/// answers.
fn trials(
    operation: &'static AnyOperation,
    workload: &'static Workload,
    yields: Yields,
    machine: Machine,
    required: Option<Tier>,
) -> impl Iterator<Item = Trial> {
    let inputs = Arc::new(OnceLock::new());
    let known = largest_known();
    let smallest = operation.session(&Selection::new(machine), workload.name, 0).expect("an input of size 0");
    // The same on every machine.
    let is_outside = move |name: &str| {
        let predict = |threads| smallest.predict(smallest.index(name).expect("it is listed"), threads);
        !(1..=2).any(|threads| predict(threads).is_some_and(|cost| cost.is_possible()))
    };
    let kernels = operation.kernels(&machine).into_iter();
    let is_here = move |kernel: &KernelInfo| kernel.yields == yields && kernel.compiled && !is_outside(kernel.name);
    kernels.filter(is_here).map(move |kernel| {
        let inputs = Arc::clone(&inputs);
        let missing = kernel.obstacle.clone();
        let is_required = required.is_some_and(|tier| tier.includes(kernel.tier));
        let name = format!("{}/{}/{}", operation.name(), workload.name, kernel.name);
        let obstacle = kernel.obstacle.as_ref().filter(|_| !is_required).map(ToString::to_string);
        let trial = Trial::test(name, move || {
            if let Some(reason) = missing {
                return Err(Failed::from(format!("required: {reason}")));
            }
            let selection = Selection::new(machine).within(PREPARED_WITHIN);
            let inputs = inputs.get_or_init(|| Inputs::new(operation, workload, yields, &selection, LARGEST, known));
            let verdict = inputs.check(kernel.name, &|threads| Arc::new(Run::new(threads)), TIME_LIMIT)?;
            if verdict.with_oracle == 0 { Err(Failed::from("it was compared with nothing")) } else { Ok(()) }
        });
        match obstacle {
            Some(obstacle) => trial.with_kind(obstacle).with_ignored_flag(true),
            None => trial,
        }
    })
}
