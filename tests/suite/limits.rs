//! The program with few threads: it says in one line why it fails. `needs` has it with little memory.

use nimlanes::cores::OPERATIONS;
use nimlanes::machine::Machine;

use crate::nimlanes;
use crate::program::Assert;

/// The test sets a stack size per thread that no system can provide.
#[test]
fn a_thread_that_cannot_be_started_is_an_error_in_one_line() {
    let machine = Machine::detect();
    for operation in OPERATIONS {
        let kernels = operation.kernels(&machine);
        for kernel in kernels.iter().filter(|info| info.obstacle.is_none() && info.is_parallel()) {
            let output = nimlanes()
                .args(["run", operation.name(), "--kernel", kernel.name, "--size", "300", "--threads", "3"])
                .args(["--seconds", "0.001"])
                .env("RUST_MIN_STACK", (1_u64 << 60).to_string())
                .assert();
            says_it_once(output);
        }
    }
    let output = nimlanes()
        .args(["positions", "stone-game", "--limit", "100"])
        .env("RUST_MIN_STACK", (1_u64 << 60).to_string())
        .assert();
    says_it_once(output);
}

fn says_it_once(output: Assert) {
    let output = output.code(1);
    let line = String::from_utf8_lossy(&output.get_output().stderr);
    assert_eq!(line.matches("nimlanes: a thread could not be started").count(), 1, "{line}");
}
