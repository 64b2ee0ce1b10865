//! Every kernel of every core against the oracle and the known answers, as `tests/trials` has it, and the machine code of all.

use nimlanes::cores::OPERATIONS;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "conformance/machine_code.rs"]
mod machine_code;

fn main() {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    let others = machine_code::trials();
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    let others = [];
    nimlanes_trials::run(OPERATIONS, others)
}
