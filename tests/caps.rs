//! A cap on the tier holds for everything a run enters, the kernels that its input is made with included. One test, because the
//! record of entered kernels is of the whole process.
#![cfg(debug_assertions)]

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::{Run, Tier, entered};
use nimlanes::machine::Machine;
use nimlanes::selection::Selection;

#[test]
fn nothing_above_a_cap_is_entered() {
    for cap in Tier::here() {
        let selection = Selection::new(Machine::detect().capped(cap));
        for operation in OPERATIONS {
            for workload in operation.workloads() {
                let session = operation.session(&selection, workload.name, 200).expect("a small size");
                let run = Run::new(selection.threads());
                let kernel = selection.kernel_of(session.as_ref()).expect("some kernel can do it");
                session.run(kernel, &run).expect("nobody stops it");
                let entered = entered::take();
                assert!(
                    entered.iter().any(|(name, ..)| *name == operation.name()),
                    "{} left no record",
                    session.case()
                );
                for (operation, kernel, tier) in entered {
                    let tier: Tier = tier.parse().expect("a tier");
                    assert!(cap.includes(tier), "{} entered {operation}={kernel} under {}", session.case(), cap.name());
                }
            }
        }
    }
}
