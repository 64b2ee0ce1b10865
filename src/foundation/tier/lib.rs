//! The CPU features of each tier of [nimlanes](https://docs.rs/nimlanes), in one list: for the functions of kernels, and for the
//! detection of a tier at run time.
//!
//! **Only the crate `nimlanes` is stable.** All else here may change in any release.

use proc_macro::TokenStream;

/// A tier: its name, the architecture, the test for a `FEATURE`, and the features.
struct Tier {
    name: &'static str,
    architecture: &'static str,
    detect: &'static str,
    features: &'static [&'static str],
}

const TIERS: [Tier; 5] = [
    Tier { name: "Portable", architecture: "", detect: "", features: &[] },
    Tier {
        name: "Avx2",
        architecture: "x86_64",
        detect: "::std::arch::is_x86_feature_detected!(FEATURE)",
        features: &["avx2", "bmi1", "bmi2", "lzcnt", "popcnt"],
    },
    Tier {
        name: "Avx512",
        architecture: "x86_64",
        detect: "::std::arch::is_x86_feature_detected!(FEATURE)",
        features: &[
            "avx2",
            "bmi1",
            "bmi2",
            "lzcnt",
            "popcnt",
            "avx512f",
            "avx512bw",
            "avx512dq",
            "avx512vl",
            "avx512ifma",
            "avx512vbmi",
            "avx512vbmi2",
            "avx512vpopcntdq",
            "avx512bitalg",
            "gfni",
        ],
    },
    Tier {
        name: "Neon",
        architecture: "aarch64",
        detect: "::std::arch::is_aarch64_feature_detected!(FEATURE)",
        features: &["neon"],
    },
    // An engine refuses a module that contains any instruction it does not know, so nothing is detected at run time.
    Tier { name: "Simd128", architecture: "wasm32", detect: "cfg!(target_feature = FEATURE)", features: &["simd128"] },
];

/// The tier that an argument names, or the error of the compiler.
fn named(argument: &TokenStream) -> Result<&'static Tier, TokenStream> {
    let name = argument.to_string();
    for tier in &TIERS {
        if tier.name == name {
            return Ok(tier);
        }
    }
    let known = TIERS.map(|tier| tier.name).join(", ");
    Err(tokens(&format!("compile_error!(\"`{name}` is not a tier; allowed: {known}\");")))
}

/// Rust as tokens.
fn tokens(text: &str) -> TokenStream {
    text.parse().expect("written here")
}

/// Compiles a function with the CPU features of a tier: `#[tier(Avx512)]`.
#[proc_macro_attribute]
pub fn tier(name: TokenStream, function: TokenStream) -> TokenStream {
    match named(&name) {
        Ok(Tier { features: [], .. }) => function,
        Ok(Tier { features, .. }) => {
            let mut marked = tokens(&format!("#[target_feature(enable = \"{}\")]", features.join(",")));
            marked.extend(function);
            marked
        }
        Err(error) => error,
    }
}

/// The CPU features of a tier, as names: `cpu_features!(Avx512)`.
#[proc_macro]
pub fn cpu_features(name: TokenStream) -> TokenStream {
    match named(&name) {
        Ok(tier) => tokens(&format!("&{:?}", tier.features)),
        Err(error) => error,
    }
}

/// Whether this CPU has the CPU features of a tier: `is_detected!(Avx512)`. It has none of another architecture.
#[proc_macro]
pub fn is_detected(name: TokenStream) -> TokenStream {
    match named(&name) {
        Ok(Tier { architecture, detect, features, .. }) => {
            let mut all = String::from("true");
            for feature in *features {
                all += " && ";
                all += &detect.replace("FEATURE", &format!("{feature:?}"));
            }
            tokens(&format!(
                "{{ #[cfg(target_arch = {architecture:?})] {{ {all} }} #[cfg(not(target_arch = {architecture:?}))] {{ false }} }}"
            ))
        }
        Err(error) => error,
    }
}
