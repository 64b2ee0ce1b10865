//! WebAssembly programs, which run in Node.

use std::path::{Path, absolute};
use std::process::Command;

use super::programs;

/// Gives a program the system interface of WASI.
const HOST: &str = include_str!("../../../../tests/wasi.mjs");

/// What runs a program: the system, or Node if the file is a module of WebAssembly (`.wasm`).
pub fn command(program: &Path) -> Command {
    if program.extension().is_none_or(|extension| extension != "wasm") {
        // A name alone would be looked for where the system has its programs.
        return programs::program(absolute(program).as_deref().unwrap_or(program));
    }
    let mut command = programs::program("node");
    // A script gets its own name before its arguments, but one given by `--eval` has none: `wasi.mjs` takes its place.
    command.args(["--no-warnings", "--input-type=module", "--eval", HOST, "--", "wasi.mjs"]).arg(program);
    command
}
