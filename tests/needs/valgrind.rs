//! The program in valgrind, which hides from it the vDSO and what it runs.

use std::process::Command as Process;

use libtest_mimic::Trial;

use crate::program::{Command, path_of_program};

const RUN: &str = "run mex_zeros --size 1000 --kernel byte_sieve --seconds 0.001";
const DUEL: &str = "compare mex_subtraction --size 1000 --kernels stamp,flags --seconds 0.1 --processes 1";

pub fn trials() -> Vec<Trial> {
    let is_here = Process::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success());
    let trial = |name: &str, options: &'static [&str], args: &'static str| {
        let needs = crate::needs(is_here, "valgrind");
        crate::trial(&format!("valgrind::{name}"), needs, move || in_valgrind(options, args))
    };
    vec![
        trial("memcheck_runs_a_kernel", &["--tool=memcheck"], RUN),
        trial("a_duel_starts_this_program", &["--tool=none"], DUEL),
        trial("a_duel_starts_this_program_in_valgrind", &["--tool=none", "--trace-children=yes"], DUEL),
    ]
}

/// Valgrind knows no AVX-512.
fn in_valgrind(options: &[&str], args: &str) {
    let mut valgrind = Command::new("valgrind");
    valgrind.env("NIMLANES_ISA_MAX", "portable").env_remove("NIMLANES_KERNEL");
    valgrind.args(options).arg(path_of_program()).args(args.split(' ')).assert().success();
}
