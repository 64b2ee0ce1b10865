//! Tells the library how it is compiled: whether by a nightly compiler, the flags of rustc, the name of the build that they make, and which
//! rustc and LLVM. Compiles the parts in C, if the build has them.

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
    if version.contains("-nightly") || version.contains("-dev") {
        println!("cargo::rustc-cfg=nightly_compiler");
    }
    println!("cargo::rustc-env=BUILT_WITH_FLAGS={flags}");
    println!("cargo::rustc-env=BUILT_AS={build}");
    println!("cargo::rustc-env=BUILT_BY={version}");
    println!("cargo::rustc-env=BUILT_ON_LLVM={llvm}");
    println!("cargo::rustc-env=BUILT_WITH_C={}", parts_in_c());
}

#[cfg(not(all(feature = "c", not(test))))]
fn parts_in_c() -> String {
    String::new()
}

/// Compiles the parts in C, for the target of the build and for AVX2, and returns the version of the compiler.
#[cfg(all(feature = "c", not(test)))]
fn parts_in_c() -> String {
    const FOLDER: &str = "simd/c";
    println!("cargo::rerun-if-changed={FOLDER}");
    let builder = |tier: &str| {
        let mut builder = cc::Build::new();
        builder
            .files(["add", "carry", "decode", "near"].map(|part| format!("{FOLDER}/{part}.c")))
            .std("c11")
            .define("TIER", tier)
            .opt_level(3);
        // At this level gcc unrolls short loops, and merges steps of outer ones, before its vectoriser sees them.
        builder.flag_if_supported("-fno-loop-unroll-and-jam").flag_if_supported("--param=max-completely-peel-times=8");
        builder
    };
    builder("portable").compile("nimlanes_portable");
    let compiler = builder("portable").get_compiler();
    if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|architecture| architecture == "x86_64") {
        let avx2 = if compiler.is_like_msvc() { "/arch:AVX2" } else { "-mavx2" };
        builder("avx2").flag(avx2).compile("nimlanes_avx2");
    }
    // MSVC names itself beside the complaint that it knows no such option.
    let said = Command::new(compiler.path()).arg("--version").output();
    let said = said.map(|said| [said.stdout, said.stderr].concat()).unwrap_or_default();
    String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned()
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
