//! Instructions of a run, counted by callgrind, a part of valgrind, in a simulation of this program.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use nimlanes::kernel::case::Case;
use nimlanes::kernel::session::Session;
use nimlanes::kernel::{Run, RunError};
use nimlanes::machine::isa::Tier;
use nimlanes::units::span;

use crate::measuring::subprocess::{Stopped, complete};

/// Counting starts and ends with this function, by its name in the program's symbols. The warm-up run uses another.
const COUNTED: &str = "*Session>::spin";

/// The assumed slowdown of a run relative to the CPU: 20 to 80 times was observed.
const SLOWDOWN: u32 = 80;

/// Runs of a kernel: to warm up, and to be counted.
const RUNS: u32 = 2;

/// A kernel that would take longer is not counted.
const LONGEST: Duration = Duration::from_secs(30);

/// Whether valgrind is installed.
pub fn is_here() -> bool {
    let version = Command::new("valgrind").arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    version.is_ok_and(|output| output.status.success())
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

impl From<std::io::Error> for Uncounted {
    fn from(error: std::io::Error) -> Self {
        Uncounted::Reason(format!("valgrind: {error}"))
    }
}

impl From<Stopped> for Uncounted {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Io(error) => error.into(),
            Stopped::Run(cancelled) => cancelled.into(),
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
        () => return simulate(session.case(), info.name, run),
    };
    Err(Uncounted::Reason(obstacle.to_owned()))
}

/// Runs a kernel in the simulation.
fn simulate(case: &Case, kernel: &str, run: &Run) -> Result<u64, Uncounted> {
    let written = tempfile::NamedTempFile::new()?;
    let mut command = Command::new("valgrind");
    command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", written.path().display()));
    command.arg(format!("--toggle-collect={COUNTED}")).arg(std::env::current_exe()?);
    command.args(["run", &case.operation, "--workload", &case.workload, "--size", &case.size.to_string()]);
    command.args(["--kernel", kernel, "--untimed"]);
    // Makes the C library fill and copy with vectors: valgrind counts a `rep` instruction once for each byte.
    command.env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-ERMS");
    let (status, said) = complete(&mut command, run)?;
    if !status.success() {
        let line = said.lines().find_map(|line| line.strip_prefix("nimlanes: "));
        return Err(Uncounted::Reason(format!("valgrind: {}", line.map_or(status.to_string(), str::to_owned))));
    }
    let total = total(&fs::read_to_string(written.path())?).filter(|total| *total > 0);
    total.ok_or_else(|| Uncounted::Reason("valgrind does not find the kernel in this program".to_owned()))
}

/// The instructions in a file of callgrind.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("totals:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use nimlanes::kernel::selection::Selection;
    use nimlanes::machine::Machine;

    use super::*;

    #[test]
    fn the_total_is_read() {
        let text = "version: 1\nevents: Ir\nfn=(1) main\n1 5\n\ntotals: 12345\n";
        assert_eq!(total(text), Some(12345));
        assert_eq!([total(""), total("totals:"), total("totals: many")], [None; 3]);
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
