//! Tells the foundation and the cores whether a nightly compiler builds them. Compiles the parts in C, if the build has them, and tells the
//! library which compiler did.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let said = Command::new(env::var_os("RUSTC").unwrap_or_default()).arg("-V").output();
    let version = said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned()).unwrap_or_default();
    if version.contains("-nightly") || version.contains("-dev") {
        println!("cargo::rustc-cfg=nightly_compiler");
        println!("cargo::metadata=NIGHTLY=1");
    }
    println!("cargo::metadata=C={}", parts_in_c());
}

#[cfg(not(feature = "c"))]
fn parts_in_c() -> String {
    String::new()
}

/// Compiles the parts in C, for the target of the build and for AVX2, and returns the version of the compiler.
#[cfg(feature = "c")]
fn parts_in_c() -> String {
    const FOLDER: &str = "simd/c";
    println!("cargo::rerun-if-changed={FOLDER}");
    let builder = |tier: &str| {
        let mut builder = cc::Build::new();
        builder
            .files(["add", "decode"].map(|part| format!("{FOLDER}/{part}.c")))
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
