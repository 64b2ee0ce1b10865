//! Builds of the source tree by the compilers of other toolchains, which rustup finds. Each has its own target folder: cargo compiles
//! only what has changed since.

use std::path::{Path, PathBuf};

use nimlanes::kernel::Run;
use nimlanes::lab::environment::Build;

use super::builds::{announce, built, order, source_tree};
use super::programs::{ProgramError, complete, output_of, program};
use crate::terminal::failure::{Failure, say};

/// Where the builds are, below the root of the source tree: a target folder for each toolchain.
const FOLDER: &str = "target/toolchains";

/// A build by the compiler of a toolchain.
pub struct Toolchain {
    /// What rustup calls it.
    pub name: String,
    /// Its target folder.
    pub folder: PathBuf,
    pub program: PathBuf,
}

/// A name that rustup may know. It also names a folder.
pub fn name(text: &str) -> Result<String, String> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._+".contains(c);
    match text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_allowed) {
        true => Ok(text.to_owned()),
        false => Err("allowed: names of toolchains, such as 1.89, stable or nightly-2026-10-30".to_owned()),
    }
}

/// Builds the source tree around the working directory as this program was built, but by the compilers of toolchains. For a compiler
/// that has built this program, this program stands. Missing toolchains are installed if `installs`. All ends if `run` is cancelled.
///
/// # Errors
/// There is no source tree or no such toolchain, no toolchain has another compiler, it does not build, or the run was cancelled.
pub fn build(names: &[String], installs: bool, run: &Run) -> Result<Vec<Toolchain>, Failure> {
    let root = source_tree("--toolchain")?;
    // Each is found before the first is built.
    let found = names.iter().map(|name| Ok((name, Compiler::find(name, installs, run)?)));
    let mut compilers = found.collect::<Result<Vec<_>, Failure>>()?;
    let own = Build::of_this().rustc;
    let mut seen = vec![own.clone()];
    compilers.retain(|(_, compiler)| {
        let is_new = !seen.contains(&compiler.version);
        seen.push(compiler.version.clone());
        is_new
    });
    if compilers.is_empty() {
        return Err(Failure::Usage(format!("--toolchain needs another compiler than that of this program, {own}")));
    }
    compilers.into_iter().map(|(name, compiler)| Ok(compiler.build(name, &root, run)?)).collect()
}

/// A compiler of Rust.
struct Compiler {
    rustc: PathBuf,
    version: String,
}

impl Compiler {
    fn find(toolchain: &str, installs: bool, run: &Run) -> Result<Self, Failure> {
        let install = ["toolchain", "install", toolchain, "--profile", "minimal", "--no-self-update"];
        let which = || complete(program("rustup").args(["which", "--toolchain", toolchain, "rustc"]), "", run);
        let mut found = which()?;
        if found.is_err() && installs {
            say(&format!("installing {toolchain}"));
            output_of(program("rustup").args(install), run)?;
            found = which()?;
        }
        let missing = |why: String| {
            let command = install[..5].join(" ");
            Failure::Failed(format!(
                "there is no rustc of {toolchain}; `rustup {command}` installs it, as --install does: {why}"
            ))
        };
        let rustc = PathBuf::from(found.map_err(missing)?.trim_end());
        let version = output_of(program(&rustc).arg("--version"), run)?.trim_end().to_owned();
        Ok(Compiler { rustc, version })
    }

    /// Builds the program. It must say that this compiler made it.
    fn build(&self, toolchain: &str, root: &Path, run: &Run) -> Result<Toolchain, ProgramError> {
        let folder = root.join(FOLDER).join(toolchain);
        announce(&format!("building by {} in {}", self.version, folder.display()));
        let mut wanted = Build::of_this();
        wanted.rustc.clone_from(&self.version);
        let mut command = order(&wanted, &folder);
        command.current_dir(root).env("RUSTC", &self.rustc);
        let (program, _) = built(&mut command, &wanted, &format!("the program by {toolchain}"), run)?;
        Ok(Toolchain { name: toolchain.to_owned(), folder, program })
    }
}
