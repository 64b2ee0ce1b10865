//! Every kernel at sizes small enough for an interpreter: `.ci/deep` runs this in Miri, which supports only the portable tier.

use nimlanes::cores::COMPLETE;
use nimlanes::kernel::Run;
use nimlanes::machine::Machine;
use nimlanes::selection::Selection;

/// Zero, one, few, and more than a word, if the oracle is fast.
const SIZES: [u64; 4] = [0, 1, 9, 70];
/// The largest where the oracle tries all positions of three heaps, or all triples of heaps.
const CUBIC: u64 = 12;
/// As many inputs of each operation as are needed for all its kernels: other sets of moves run the same code.
const WORKLOADS: usize = 3;

#[test]
fn every_kernel_equals_the_oracle_at_small_sizes() {
    let selection = Selection::new(Machine::detect());
    for operation in COMPLETE {
        let is_cubic = ["table_scan", "mex_split", "xor_triples", "xor_partitions"].contains(&operation.name());
        for workload in operation.workloads().iter().take(WORKLOADS) {
            let mut runs = 0;
            for size in SIZES.map(|size| if is_cubic { size.min(CUBIC) } else { size }) {
                let session = operation.session(&selection, workload.name, size).expect("a listed workload");
                for (index, kernel) in session.kernels().iter().enumerate() {
                    let most = if kernel.is_parallel() { 2 } else { 1 };
                    for threads in (1..=most).filter(|threads| session.cost(index, *threads).is_possible()) {
                        let answer = session.run(index, &Run::new(threads)).expect("not cancelled");
                        assert!(answer.agrees(session.oracle()), "{} of {}", kernel.name, session.case());
                        runs += 1;
                    }
                }
            }
            println!("{}/{}: {runs} runs", operation.name(), workload.name);
            assert!(runs > 0, "{} has a kernel", operation.name());
        }
    }
}
