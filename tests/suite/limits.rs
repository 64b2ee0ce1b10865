//! The program with little memory or few threads: it succeeds, or says in one line why not.

use std::time::Duration;

use assert_cmd::Command;
use nimlanes::cores::OPERATIONS;
use nimlanes::machine::Machine;
use predicates::str::contains;

/// A command with a timeout. Without backtraces: where the standard library has no memory to print one, it waits for itself.
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env_remove("NIMLANES_ISA_MAX").env_remove("NIMLANES_KERNEL").env_remove("RUST_BACKTRACE");
    command.timeout(Duration::from_secs(120));
    command
}

fn nimlanes() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin("nimlanes")
}

/// Exit code and stderr of the program with these arguments and this limit on its address space.
#[cfg(target_os = "linux")]
fn within(kilobytes: u64, args: &str) -> (Option<i32>, String) {
    let script = format!("ulimit -v {kilobytes}; exec {} {args}", nimlanes().display());
    let output = command("sh").args(["-c", &script]).output().expect("a shell");
    let is_killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
    assert!(!is_killed, "{kilobytes} kB: {args}: hangs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Parses a size as the program prints it.
#[cfg(target_os = "linux")]
fn kilobytes(number: &str, unit: &str) -> f64 {
    let unit = ["B", "kB", "MB", "GB"].iter().position(|name| *name == unit.trim_end_matches(';')).expect("a unit");
    number.parse::<f64>().expect("a number") * 1000f64.powi(unit as i32) / 1024.0
}

/// With a limited address space, the program refuses and says how much memory is missing. Given that much more, step by step,
/// it succeeds. It never fails otherwise.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_is_not_refused_fits_in_memory() {
    let has = |operation: &str, kernel: &str| {
        let operation = nimlanes::cores::operation(operation).expect("it is listed");
        operation.kernels(&Machine::detect()).iter().any(|info| info.name == kernel && info.obstacle.is_none())
    };
    let all = [
        ("table_scan", "bit_rows", "solve stone-game --limit 3000 --threads 1 --kernel table_scan=bit_rows"),
        (
            "table_scan",
            "antichain_skip_avx512",
            "solve stone-game --limit 4000 --kernel table_scan=antichain_skip_avx512",
        ),
        (
            "table_scan",
            "antichain_skip_threads_avx512",
            "run table_scan --kernel antichain_skip_threads_avx512 --size 5000 --threads 2",
        ),
        (
            "table_scan",
            "antichain_skip_threads_avx512",
            "run table_scan --kernel antichain_skip_threads_avx512 --size 2000 --threads 8",
        ),
        ("table_scan", "blocks_words", "run table_scan --kernel blocks_words --size 3000"),
        ("table_scan", "blocks_threads_avx2", "run table_scan --kernel blocks_threads_avx2 --size 5000 --threads 2"),
        (
            "table_scan",
            "antichain_skip_avx512",
            "positions stone-game --limit 2000 --format bin --kernel table_scan=antichain_skip_avx512",
        ),
        ("occupancy", "union_find", "run occupancy --kernel union_find --size 1e7"),
        ("occupancy", "hash_sets_certificate", "run occupancy --kernel hash_sets_certificate --size 500000"),
        ("mex_subtraction", "stamp", "run mex_subtraction --kernel stamp --workload 2,7,19,50 --size 2e7"),
        (
            "mex_subtraction",
            "byte_lanes_pair_avx512",
            "run mex_subtraction --kernel byte_lanes_pair_avx512 --size 2e6 --threads 2",
        ),
        ("mex_zeros", "shifted_rows", "run mex_zeros --kernel shifted_rows --size 2e7 --workload 2,7,19,50"),
    ];
    let able: Vec<_> = all.iter().filter(|(operation, kernel, _)| has(operation, kernel)).collect();
    std::thread::scope(|scope| {
        for half in able.chunks(able.len().div_ceil(2)) {
            scope.spawn(|| half.iter().for_each(|(_, _, args)| fits_if_not_refused(args)));
        }
    });
}

#[cfg(target_os = "linux")]
fn fits_if_not_refused(args: &str) {
    let seconds = if args.starts_with("run") { " --seconds 0.001" } else { "" };
    let args = format!("{args}{seconds} >/dev/null");
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
    for more in [100, 500, 2000, 10_000, 40_000, 100_000] {
        let (code, said) = within(limit + more, &args);
        assert!(matches!(code, Some(0 | 2)), "{more} kB more than {limit}: {args}: {code:?} {said}");
    }
}

/// The test sets a stack size per thread that no system can provide.
#[test]
fn a_thread_that_cannot_be_started_is_an_error_in_one_line() {
    let machine = Machine::detect();
    for operation in OPERATIONS {
        let kernels = operation.kernels(&machine);
        for kernel in kernels.iter().filter(|info| info.obstacle.is_none() && info.is_parallel()) {
            command(nimlanes().to_str().expect("UTF-8"))
                .args(["run", operation.name(), "--kernel", kernel.name, "--size", "300", "--threads", "3"])
                .args(["--seconds", "0.001"])
                .env("RUST_MIN_STACK", (1_u64 << 60).to_string())
                .assert()
                .code(1)
                .stderr(contains("nimlanes: a thread could not be started").count(1));
        }
    }
    command(nimlanes().to_str().expect("UTF-8"))
        .args(["positions", "stone-game", "--limit", "100"])
        .env("RUST_MIN_STACK", (1_u64 << 60).to_string())
        .assert()
        .code(1)
        .stderr(contains("nimlanes: a thread could not be started").count(1));
}
