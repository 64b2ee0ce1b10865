//! A cap on the tier applies to every kernel that a run enters, including those that prepare its input. This is a single test
//! because the record of entered kernels is global to the process.
#![cfg(debug_assertions)]

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::{Run, Tier, entered};
use nimlanes::machine::Machine;

#[test]
fn no_kernel_above_a_cap_runs() {
    for cap in Tier::here() {
        let selection = Selection::new(Machine::detect().capped(cap));
        for operation in OPERATIONS {
            for workload in operation.workloads() {
                let session = operation.session(&selection, workload.name, 200).expect("a small size");
                let run = Run::new(selection.threads());
                let kernel = selection.kernel_of(session.as_ref()).expect("some kernel can do it");
                session.run(kernel, &run).expect("not cancelled");
                let entered = entered::take();
                let is_recorded = entered.iter().any(|(name, ..)| *name == operation.name());
                assert!(is_recorded, "{} left no record", session.case());
                for (operation, kernel, tier) in entered {
                    let tier: Tier = tier.parse().expect("a tier");
                    assert!(cap.includes(tier), "{} entered {operation}={kernel} under {}", session.case(), cap.name());
                }
            }
        }
    }
}
