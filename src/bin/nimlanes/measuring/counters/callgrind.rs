//! Instructions of a run, counted by callgrind, a part of valgrind, in a simulation of this program.

use std::time::Duration;

use nimlanes::kernel::session::Session;
use nimlanes::kernel::{Run, RunError};
use nimlanes::machine::isa::Tier;
use nimlanes::units::span;

use crate::measuring::programs::{ProgramError, complete, output_of, program};

/// Counting starts and ends with this function, by its name in the program's symbols. The warm-up run uses another.
const COUNTED: &str = "*Session>::spin";

/// The assumed slowdown of a run relative to the CPU: 20 to 80 times was observed.
const SLOWDOWN: u32 = 80;

/// Runs of a kernel: to warm up, and to be counted.
const RUNS: u32 = 2;

/// A kernel that would take longer is not counted.
const LONGEST: Duration = Duration::from_secs(30);

/// Whether valgrind is installed.
pub fn is_here(run: &Run) -> bool {
    output_of(program("valgrind").arg("--version"), run).is_ok()
}

/// Why the instructions of a kernel were not counted.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Uncounted {
    /// They cannot be.
    #[error("{0}")]
    Reason(String),
    /// The run was cancelled.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<ProgramError> for Uncounted {
    fn from(error: ProgramError) -> Self {
        match error {
            ProgramError::Run(cancelled) => cancelled.into(),
            error => Uncounted::Reason(error.to_string()),
        }
    }
}

/// The instructions of one run of a kernel on one thread.
///
/// # Errors
/// They cannot be counted, or the run was cancelled.
pub fn instructions(session: &dyn Session, kernel: usize, run: &Run) -> Result<u64, Uncounted> {
    let info = &session.kernels()[kernel];
    let time = Duration::from_secs_f64((session.cost(kernel, 1).ns / 1e9).clamp(0.0, 1e9)) * SLOWDOWN * RUNS;
    let obstacle = match () {
        () if cfg!(target_feature = "avx512f") => "this build has AVX-512 everywhere, which valgrind does not know",
        () if info.tier == Tier::Avx512 => "valgrind knows no AVX-512",
        () if info.is_parallel() && run.threads() > 1 => "valgrind runs threads one after the other",
        () if time > LONGEST => &format!("valgrind may take {}", span(time.as_nanos() as f64)),
        () => return simulate(session, info.name, run),
    };
    Err(Uncounted::Reason(obstacle.to_owned()))
}

/// Runs a kernel in the simulation.
fn simulate(session: &dyn Session, kernel: &str, run: &Run) -> Result<u64, Uncounted> {
    let this = std::env::current_exe().map_err(|error| Uncounted::Reason(format!("valgrind: {error}")))?;
    let mut command = program("valgrind");
    // The total is among what it says; no function's share is wanted.
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(format!("--toggle-collect={COUNTED}")).arg(this);
    command.args(["run", session.operation(), "--workload", session.workload()]);
    command.args(["--size", &session.case().size.to_string()]);
    command.args(["--kernel", kernel, "--untimed"]);
    // Makes the C library fill and copy with vectors: valgrind counts a `rep` instruction once for each byte.
    command.env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-ERMS");
    let completed = complete(&mut command, "", run)?;
    if !completed.status.success() {
        return Err(Uncounted::Reason(format!("valgrind: {}", completed.complaint())));
    }
    let total = total(&completed.said).filter(|total| *total > 0);
    total.ok_or_else(|| Uncounted::Reason("valgrind does not find the kernel in this program".to_owned()))
}

/// The instructions that callgrind says it collected.
fn total(said: &str) -> Option<u64> {
    said.lines().find_map(|line| line.split_once(" Collected : "))?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use nimlanes::kernel::selection::Selection;
    use nimlanes::machine::Machine;

    use super::*;

    #[test]
    fn the_total_is_read() {
        let text =
            "a kernel\n==7== \n==7== Events    : Ir\n==7== Collected : 12345\n==7== \n==7== I   refs:      12,345\n";
        assert_eq!(total(text), Some(12345));
        assert_eq!([total(""), total("==7== Collected :"), total("==7== Collected : many")], [None; 3]);
    }

    /// Whether or not valgrind is here.
    #[test]
    #[cfg(not(target_feature = "avx512f"))]
    fn kernels_that_valgrind_cannot_run_are_told_apart_before() {
        let selection = Selection::new(Machine::detect());
        let session =
            |size| nimlanes::cores::operation("table_scan").unwrap().session(&selection, "all-moves", size).unwrap();
        let small = session(50);
        let wide = (0..small.kernels().len()).filter(|kernel| small.kernels()[*kernel].tier == Tier::Avx512);
        for kernel in wide {
            let refused = instructions(small.as_ref(), kernel, &Run::new(1));
            assert_eq!(refused, Err(Uncounted::Reason("valgrind knows no AVX-512".to_owned())));
        }
        let large = session(10_000);
        let refused = instructions(large.as_ref(), large.index("byte_table").unwrap(), &Run::new(1)).unwrap_err();
        assert!(refused.to_string().starts_with("valgrind may take "), "{refused}");
    }
}
