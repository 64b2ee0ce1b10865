//! Passes on that a nightly compiler builds the crate, as the script of the foundation found.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("DEP_NIMLANES_FOUNDATION_NIGHTLY").is_some() {
        println!("cargo::rustc-cfg=nightly_compiler");
    }
}
