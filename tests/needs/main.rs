//! Tests that need something which a machine may lack, and the commands of the guides. Those that lack it here are listed as *ignored*,
//! with what they need in brackets, and none of them passes. `cargo test --test needs -- --include-ignored` starts them nevertheless.

mod guides;
mod instructions;
mod profiles;
#[path = "../suite/program.rs"]
mod program;

#[cfg(target_os = "linux")]
mod children;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(unix)]
mod shells;
#[cfg(target_os = "linux")]
mod valgrind;

use libtest_mimic::{Arguments, Trial};

/// A test of what this machine may lack. If it lacks it, `needs` says what that is.
fn trial(name: &str, needs: Result<(), &str>, test: impl FnOnce() + Send + 'static) -> Trial {
    let trial = Trial::test(name, move || {
        test();
        Ok(())
    });
    match needs {
        Ok(()) => trial,
        Err(needs) => trial.with_kind(format!("needs {needs}")).with_ignored_flag(true),
    }
}

/// The needs of a test, unless they are here.
fn needs(is_here: bool, what: &str) -> Result<(), &str> {
    if is_here { Ok(()) } else { Err(what) }
}

fn main() {
    // The longest first.
    let mut trials = instructions::trials();
    trials.extend(profiles::trials());
    trials.extend(guides::trials());
    #[cfg(unix)]
    trials.extend(shells::trials());
    #[cfg(target_os = "linux")]
    trials.extend([children::trials(), files::trials(), memory::trials(), valgrind::trials()].into_iter().flatten());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
