//! Tells the library how it is compiled: the profile, the flags of rustc, the name of the build that they make, which rustc and LLVM, and
//! which compiler of C, if the foundation has parts in C.

use std::env;
use std::process::Command;

/// What the alias of a native build sets: how the name of the build must begin.
const WANTED: &str = "BUILD_AS";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={WANTED}");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let build = match (variable("CARGO_CFG_TARGET_ARCH").as_str(), variable("CARGO_CFG_TARGET_FEATURE")) {
        ("wasm32", features) if features.split(',').any(|feature| feature == "simd128") => "simd128".to_owned(),
        ("wasm32", _) => "wasm32".to_owned(),
        _ => name(&flags),
    };
    let wanted = variable(WANTED);
    if !build.starts_with(&wanted) {
        println!(
            "cargo::error=this would be the {build} build, not the {wanted} one: RUSTFLAGS and CARGO_ENCODED_RUSTFLAGS replace the \
             flags of the alias; add -Ctarget-cpu={wanted} to them, or unset them"
        );
    }
    let said = Command::new(variable("RUSTC")).arg("-vV").output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let version = said.lines().next().unwrap_or_default();
    let llvm = said.lines().find_map(|line| line.strip_prefix("LLVM version: ")).unwrap_or_default();
    println!("cargo::rustc-env=BUILT_IN_PROFILE={}", profile(&variable("OUT_DIR")).unwrap_or(&variable("PROFILE")));
    println!("cargo::rustc-env=BUILT_AT_LEVEL={}", variable("OPT_LEVEL"));
    println!("cargo::rustc-env=BUILT_WITH_FLAGS={flags}");
    println!("cargo::rustc-env=BUILT_AS={build}");
    println!("cargo::rustc-env=BUILT_BY={version}");
    println!("cargo::rustc-env=BUILT_ON_LLVM={llvm}");
    println!("cargo::rustc-env=BUILT_WITH_C={}", variable("DEP_NIMLANES_FOUNDATION_C"));
}

/// The profile that cargo compiles in, by the folder of its artefacts, above `build`. `PROFILE` has `release` for all that inherit from it.
pub fn profile(out_dir: &str) -> Option<&str> {
    out_dir.rsplit(['/', '\\']).skip_while(|folder| *folder != "build").nth(1)
}

/// The name of a build with these flags, which cargo separates by 0x1f: the CPU that they name, or `default`, and the features of
/// the CPU that they add or take away.
pub fn name(flags: &str) -> String {
    let (mut cpu, mut features) = ("default", String::new());
    let mut flags = flags.split('\x1f');
    while let Some(flag) = flags.next() {
        let option = match flag {
            "-C" | "--codegen" => flags.next(),
            _ => flag.strip_prefix("-C").or_else(|| flag.strip_prefix("--codegen=")),
        };
        match option.and_then(|option| option.trim().split_once('=')) {
            Some(("target-cpu", named)) => cpu = named,
            Some(("target-feature", changed)) => features += &changed.replace(',', ""),
            _ => {}
        }
    }
    cpu.to_owned() + &features
}
