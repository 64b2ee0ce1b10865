//! Kernels whose answers are observed, not proved: they run only if they are named, say what they are, and agree with
//! exact ones.

use nimlanes::cores::named::ByName;
use nimlanes::cores::occupancy::{MAX_LIMIT, Occupancy, ProportionateNim, Wanted};
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::{Claim, Kernel, Operation, Run, available};
use nimlanes::machine::Machine;
use nimlanes::machine::isa::Tier;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::nimlanes;

fn json(args: &str) -> Value {
    nimlanes().args(args.split(' ')).json()
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
            prop_assert_eq!(run.done(), Occupancy::steps(&input), "{} at {}", kernel.def().name, limit);
            prop_assert!(limit < 1_000_000 || run.evidence().and_then(|evidence| evidence.number("heaps")) > Some(0));
        }
        Ok(())
    });
    checked.expect("they agree");
    assert!(!observed(&Machine::detect()).is_empty());
}

/// Observed kernels are predicted to be the fastest, and yet they are not selected: `selection` has that for all operations.
#[test]
fn none_is_selected_by_itself() {
    for machine in Tier::here().map(|tier| Machine::described(tier, 1, 1 << 40)) {
        let selection = Selection::new(machine).allow_long();
        let input = ProportionateNim::new(1_000_000_000).expect("below the largest limit");
        let exact = selection.kernel::<Occupancy>(&input).expect("memory for a billion");
        let is_quicker = |kernel: &Kernel<_>| kernel.cost(&input, threads(kernel)).ns < exact.cost(&input, 1).ns;
        assert!(exact.def().claim == Claim::Exact && observed(&machine).iter().all(is_quicker), "than {exact:?}");
        let named = selection.with_kernel("occupancy", "window_tree").expect("it is listed");
        assert_eq!(named.kernel::<Occupancy>(&input).map(|kernel| kernel.def().name), Ok("window_tree"));
    }
}

/// If no exact kernel can handle a limit, the refusal names an observed one that can, but not if positions are wanted.
#[test]
fn a_refusal_names_them() {
    let input = |limit| ProportionateNim::new(limit).expect("below the largest limit");
    for selection in Tier::here().map(|tier| Selection::new(Machine::described(tier, 1, 1 << 32))) {
        let refused = |input| selection.kernel::<Occupancy>(&input).expect_err("no exact kernel can");
        let names_one = |error: &SelectError| {
            let names = |name: &&str| error.to_string().contains(&format!("occupancy={name} can"));
            ["window_tree", "window_tree_avx512"].iter().any(names)
        };
        for limit in [100_000_000_000_u64, 1 << 47] {
            let error = refused(input(limit));
            assert_eq!(matches!(error, SelectError::Memory { .. }), limit < 1 << 46, "{error}");
            assert!(names_one(&error), "{error}");
            let error = refused(input(limit).finding(Wanted::Positions));
            assert!(!names_one(&error), "{error}");
        }
        let named = selection.clone().with_kernel("occupancy", "window_tree").expect("it is listed");
        let error =
            named.kernel::<Occupancy>(&input(100).finding(Wanted::Positions)).expect_err("it finds no positions");
        assert!(error.to_string().ends_with("it finds the sum alone, not the positions"), "{error}");
    }
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
    let claim = |name: &str| if name.starts_with("window_tree") { "observed" } else { "exact" };
    for kernel in json("kernels occupancy --json").as_array().expect("an array") {
        assert_eq!(kernel["claim"], claim(kernel["kernel"].as_str().expect("a name")), "{kernel}");
    }
    let solve = "solve proportionate-nim --limit 2e6";
    let exact = json(&format!("{solve} --json"));
    assert_eq!((&exact["claim"], &exact["evidence"]), (&"exact".into(), &Value::Null));
    let named = format!("{solve} --kernel occupancy=window_tree");
    let observed = json(&format!("{named} --json"));
    assert_eq!(observed["claim"], "observed");
    assert!(observed["evidence"]["joints"].as_u64().is_some_and(|joints| joints > 0), "{observed}");
    assert_eq!([&observed["answer"], &observed["details"]], [&exact["answer"], &exact["details"]]);
    let text = nimlanes().args(named.split(' ')).text();
    assert!(text.contains("observed, not proved") && text.contains("joints compared: "), "{text}");

    let duel = json("compare occupancy --size 1e6 --kernels window_tree,automaton --seconds 0.1 --json");
    assert_eq!(duel["baseline"], "automaton", "an exact kernel");
    for row in duel["rows"].as_array().expect("rows") {
        assert_eq!(row["claim"], claim(row["kernel"].as_str().expect("a name")));
    }
}
