//! Ctrl-C.

use libtest_mimic::Trial;

pub fn trials() -> Vec<Trial> {
    #[cfg(unix)]
    return vec![crate::trial(
        "ctrl_c_ends_a_long_run_cleanly",
        // In the background of a shell, SIGINT may be ignored, and child processes inherit this.
        crate::needs(!is_sigint_ignored(), "SIGINT, which is ignored here"),
        ctrl_c_ends_a_long_run_cleanly,
    )];
    #[cfg(not(unix))]
    Vec::new()
}

#[cfg(unix)]
fn is_sigint_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(ignored.trim(), 16).expect("a set of signals") >> 1 & 1 == 1
}

#[cfg(unix)]
fn ctrl_c_ends_a_long_run_cleanly() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let program = crate::program::path_of_program();
    let long = ["solve", "stone-game", "--limit", "6000", "--kernel", "table_scan=byte_table"];
    let child = Command::new(program).args(long).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(kill.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "nimlanes: interrupted\n");
    assert!(start.elapsed() < Duration::from_secs(5));
}
