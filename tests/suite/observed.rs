//! Kernels whose answers are observed, not proved: they run only if they are named, say what they are, and agree with
//! exact ones.

use nimlanes::cores::named::ByName;
use nimlanes::cores::occupancy::{MAX_LIMIT, Occupancy, ProportionateNim, Wanted};
use nimlanes::cores::{OPERATIONS, operation};
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::{Claim, Kernel, Run, available};
use nimlanes::machine::Machine;
use nimlanes::machine::isa::Tier;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::nimlanes;

fn json(args: &[&str]) -> Value {
    nimlanes().args(args).json()
}

fn observed(machine: &Machine) -> Vec<Kernel<Occupancy>> {
    available(machine).filter(|kernel| kernel.def().claim == Claim::Observed).collect()
}

/// The least number of threads that a kernel needs.
fn threads(kernel: &Kernel<Occupancy>) -> usize {
    1 + usize::from(kernel.def().is_parallel())
}

/// This is checked at random limits up to `10^7`, a quarter of them below `10^6`.
#[test]
fn they_agree_with_an_exact_kernel() {
    let cases = if cfg!(debug_assertions) { 12 } else { 2000 };
    let limits = prop_oneof![1 => 0_u64..1_000_000, 3 => 1_000_000_u64..=10_000_000];
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let checked = runner.run(&limits, |limit| {
        let input = ProportionateNim::new(limit).expect("below the largest limit");
        let selection = Selection::new(Machine::detect()).with_threads(1).expect("one thread");
        let exact = selection.kernel::<Occupancy>(&input).expect("a small limit");
        prop_assert_eq!(exact.def().claim, Claim::Exact);
        let want = exact.run(&input, &Run::new(1)).expect("not cancelled");
        for kernel in observed(&Machine::detect()) {
            let run = Run::new(threads(&kernel));
            let got = kernel.run(&input, &run).expect("not cancelled");
            prop_assert_eq!(&got, &want, "{} at {}", kernel.def().name, limit);
            prop_assert!(limit < 1_000_000 || run.evidence().and_then(|evidence| evidence.number("heaps")) > Some(0));
        }
        Ok(())
    });
    checked.expect("they agree");
    assert!(!observed(&Machine::detect()).is_empty());
}

/// Progress ends at the number of steps, whatever was visited, and a cancelled run ends.
#[test]
fn they_report_progress_and_can_be_cancelled() {
    use nimlanes::kernel::{Operation, RunError};
    let input = ProportionateNim::new(20_000_000).expect("below the largest limit");
    for kernel in observed(&Machine::detect()) {
        let run = Run::new(threads(&kernel));
        kernel.run(&input, &run).expect("not cancelled");
        assert_eq!(run.done(), Occupancy::steps(&input));
        let run = Run::new(threads(&kernel));
        run.cancel();
        assert_eq!(kernel.run(&input, &run), Err(RunError::Cancelled));
    }
}

/// Observed kernels are predicted to be the fastest, and yet they are not selected.
#[test]
fn none_is_selected_by_itself() {
    for tier in Tier::here() {
        let machine = Machine::described(tier, 1, 1 << 40);
        let selection = Selection::new(machine).allow_long();
        for operation in OPERATIONS {
            for workload in operation.workloads() {
                let session = operation.session(&selection, workload.name, workload.published).expect("a listed size");
                let chosen = selection.kernel_of(session.as_ref()).expect("some kernel can do it");
                assert!(session.kernels()[chosen].is_exact(), "{}", operation.name());
            }
        }
        let input = ProportionateNim::new(1_000_000_000).expect("below the largest limit");
        let exact = selection.kernel::<Occupancy>(&input).expect("memory for a billion");
        let is_quicker = |kernel: &Kernel<_>| kernel.cost(&input, threads(kernel)).ns < exact.cost(&input, 1).ns;
        assert!(observed(&machine).iter().all(is_quicker), "than {exact:?}");
        let named = selection.with_kernel("occupancy", "window_tree").expect("it is listed");
        assert_eq!(named.kernel::<Occupancy>(&input).map(|kernel| kernel.def().name), Ok("window_tree"));
    }
}

/// If no exact kernel can handle a limit, the refusal names an observed one that can, but not if positions are wanted.
#[test]
fn a_refusal_names_them() {
    for tier in Tier::here() {
        a_refusal_names_them_on(Machine::described(tier, 1, 1 << 32));
    }
}

fn a_refusal_names_them_on(machine: Machine) {
    let selection = Selection::new(machine);
    let kernels = ["window_tree", "window_tree_avx512"];
    let names_one =
        |error: &SelectError| kernels.iter().any(|name| error.to_string().contains(&format!("occupancy={name} can")));
    let input = |limit| ProportionateNim::new(limit).expect("below the largest limit");
    for limit in [100_000_000_000_u64, 1 << 47] {
        let error = selection.kernel::<Occupancy>(&input(limit)).expect_err("no exact kernel can");
        assert_eq!(matches!(error, SelectError::Memory { .. }), limit < 1 << 46, "{error}");
        assert!(names_one(&error), "{error}");
        let error =
            selection.kernel::<Occupancy>(&input(limit).finding(Wanted::Positions)).expect_err("no exact kernel can");
        assert!(!names_one(&error), "{error}");
    }
    let error = selection.clone().with_kernel("occupancy", "window_tree").expect("it is listed");
    let error = error.kernel::<Occupancy>(&input(100).finding(Wanted::Positions)).expect_err("it finds no positions");
    assert!(error.to_string().ends_with("it finds the sum alone, not the positions"), "{error}");
}

/// At the largest limit, the sum of the smaller heaps and the sum of two lines fit in their types.
#[test]
fn the_largest_limit_is_accepted_and_none_beyond() {
    let input = ProportionateNim::new(MAX_LIMIT).expect("the largest limit");
    for kernel in observed(&Machine::detect()) {
        let cost = kernel.cost(&input, threads(&kernel));
        assert!(cost.is_possible() && cost.bytes > 1e11, "{cost:?}");
    }
    assert!(ProportionateNim::new(MAX_LIMIT + 1).is_err());
}

#[test]
fn the_command_line_says_what_they_are() {
    let kernels = json(&["kernels", "occupancy", "--json"]);
    let claim = |name: &str| {
        let found = kernels.as_array().expect("an array").iter().find(|kernel| kernel["kernel"] == name);
        found.expect("it is listed")["claim"].clone()
    };
    assert_eq!([claim("window_tree"), claim("automaton")], ["observed", "exact"]);
    let text = nimlanes().args(["kernels", "occupancy"]).text();
    assert_eq!(
        text.matches(" observed ").count(),
        operation("occupancy")
            .expect("it is listed")
            .kernels(&Machine::detect())
            .iter()
            .filter(|kernel| !kernel.is_exact())
            .count(),
        "{text}"
    );

    let solve = ["solve", "proportionate-nim", "--limit", "2e6", "--json"];
    let exact = json(&solve);
    assert_eq!((&exact["claim"], &exact["evidence"]), (&"exact".into(), &Value::Null));
    let named = [&solve[..], &["--kernel", "occupancy=window_tree"]].concat();
    let observed = json(&named);
    assert_eq!(observed["claim"], "observed");
    assert!(observed["evidence"]["joints"].as_u64().is_some_and(|joints| joints > 0), "{observed}");
    assert_eq!(observed["answer"], exact["answer"]);
    assert_eq!(observed["details"], exact["details"]);
    let text = nimlanes().args(named.iter().filter(|arg| **arg != "--json")).text();
    assert!(text.contains("observed, not proved") && text.contains("joints compared: "), "{text}");

    let compare = ["compare", "occupancy", "--size", "1e6", "--kernels", "window_tree,automaton", "--seconds", "0.1"];
    let duel = json(&[&compare[..], &["--json"]].concat());
    assert_eq!(duel["baseline"], "automaton", "an exact kernel");
    for row in duel["rows"].as_array().expect("rows") {
        assert_eq!(row["claim"], if row["kernel"] == "window_tree" { "observed" } else { "exact" });
    }
}

#[test]
fn what_they_cannot_do_is_refused_in_one_line() {
    let refused = |args: &str, says: &[&str]| {
        says.iter().for_each(|says| nimlanes().args(args.split(' ')).refused(2, says));
    };
    let far = "solve proportionate-nim --limit 4e18 --force --kernel occupancy=window_tree";
    refused(far, &["needs", "are free", "would fit"]);
    refused("solve proportionate-nim --limit 1e15", &["no exact kernel", "occupancy=window_tree"]);
}
