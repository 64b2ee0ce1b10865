//! The program with little memory: it succeeds, or says in one line why not.

use std::time::Duration;

use libtest_mimic::Trial;
use nimlanes::machine::Machine;

use crate::program::{Command, path_of_program};

/// The operation, and what is run with one of its kernels.
const RUNS: [(&str, &str, &str); 8] = [
    ("table_scan", "bit_rows", "solve stone-game --limit 3000 --threads 1 --kernel table_scan=bit_rows"),
    ("table_scan", "blocks_threads_avx2", "run table_scan --size 4000 --threads 2"),
    ("table_scan", "blocks_threads_avx2", "run table_scan --size 2000 --threads 8"),
    ("table_scan", "blocks_words", "positions stone-game --limit 3000 --threads 1 --kernel table_scan=blocks_words"),
    ("occupancy", "union_find", "run occupancy --size 1e7"),
    ("occupancy", "hash_sets_certificate", "run occupancy --size 500000"),
    ("mex_subtraction", "byte_lanes_pair_avx512", "run mex_subtraction --size 2e6 --threads 2"),
    ("mex_zeros", "shifted_rows", "run mex_zeros --size 2e7 --workload 2,7,19,50"),
];

pub fn trials() -> Vec<Trial> {
    let machine = Machine::detect();
    let trial = |(operation, kernel, args): (&str, &str, &str)| {
        let kernels = nimlanes::cores::operation(operation).expect("it is listed").kernels(&machine);
        let info = kernels.iter().find(|info| info.name == kernel).expect("it is listed");
        let args = match args.starts_with("run") {
            true => format!("{args} --kernel {kernel} --seconds 0.001"),
            false => args.to_owned(),
        };
        let name = format!("memory::a_run_that_is_not_refused_fits: {args}");
        let is_here = crate::needs(info.obstacle.is_none(), info.tier.name());
        crate::trial(&name, is_here, move || fits_if_not_refused(&args))
    };
    RUNS.into_iter().map(trial).collect()
}

/// A shell with a timeout. Without backtraces: where the standard library has no memory to print one, it waits for itself.
fn shell(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.env_remove("NIMLANES_ISA_MAX").env_remove("NIMLANES_KERNEL").env_remove("RUST_BACKTRACE");
    shell.args(["-c", script]).timeout(Duration::from_secs(120));
    shell
}

/// Exit code and stderr of the program with these arguments and this limit on its address space.
fn within(kilobytes: u64, args: &str) -> (Option<i32>, String) {
    let script = format!("ulimit -v {kilobytes}; exec {} {args}", path_of_program().display());
    let output = shell(&script).output().expect("a shell");
    let is_killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
    assert!(!is_killed, "{kilobytes} kB: {args}: hangs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Parses a size as the program prints it.
fn kilobytes(number: &str, unit: &str) -> f64 {
    let unit = ["B", "kB", "MB", "GB"].iter().position(|name| *name == unit.trim_end_matches(';')).expect("a unit");
    number.parse::<f64>().expect("a number") * 1000f64.powi(unit as i32) / 1024.0
}

/// With a limited address space, the program refuses and says how much memory is missing. Given that much more, step by step,
/// it succeeds. It never fails otherwise.
fn fits_if_not_refused(args: &str) {
    let args = format!("{args} >/dev/null");
    // A limit, in kilobytes, that is too small for the kernel.
    let mut limit = 20_000;
    // Threads reserve memory in steps, so a refusal may be followed by another one.
    let mut refusals = 0;
    loop {
        let (code, said) = within(limit, &args);
        if code == Some(0) {
            break;
        }
        // Too little even for the program itself, which is not loaded or ends before it has read its arguments, or for
        // its threads.
        let is_started = code.is_some_and(|code| code != 127);
        if refusals == 0 && (!is_started || code == Some(1) && said.contains("a thread could not be started")) {
            limit += 1000;
            continue;
        }
        assert_eq!((code, said.lines().count()), (Some(2), 1), "{limit} kB: {args}: {said}");
        let words: Vec<&str> = said.split_whitespace().collect();
        let after = |word: &str| words.iter().position(|other| *other == word).expect("a refusal of memory") + 1;
        let (needs, free) = (after("needs"), after("and"));
        let short = kilobytes(words[needs], words[needs + 1]) - kilobytes(words[free], words[free + 1]);
        // The program prints three decimals.
        limit += short.max(0.0) as u64 + 64;
        refusals += 1;
        assert!(refusals < 40, "{args}: {said}");
    }
    assert!(refusals > 0, "{args}: nothing was refused");
    for more in [100, 2000, 10_000, 100_000] {
        let (code, said) = within(limit + more, &args);
        assert!(matches!(code, Some(0 | 2)), "{more} kB more than {limit}: {args}: {code:?} {said}");
    }
}
