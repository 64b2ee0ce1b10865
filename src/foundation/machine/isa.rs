//! Tiers of instruction sets.
//!
//! A new tier or architecture needs a variant and a row here, its CPU features in `src/foundation/tier`, an arm of `entry!`
//! (`src/foundation/kernel/list.rs`), a Cargo feature with the row's name, loads and stores in `src/foundation/simd/<name>.rs`, and
//! kernels. All else reads the table.

use std::env::consts::ARCH;

#[doc(hidden)]
pub use nimlanes_tier::tier;
use nimlanes_tier::{cpu_features, is_detected};

use crate::text::names::hint;

/// What a tier adds to plain Rust: instructions of one architecture.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Extension {
    /// The architecture, as `target_arch` spells it.
    pub architecture: &'static str,
    /// The CPU features with which kernels of the tier are compiled, including those of the tiers that it includes.
    pub cpu_features: &'static [&'static str],
    /// The name that engineers use, for titles.
    pub title: &'static str,
    /// How the costs of the tier's kernels were estimated; `None` if they were measured.
    pub costs_estimated: Option<&'static str>,
    /// Whether the Cargo feature with the tier's name is on.
    pub is_enabled: bool,
    /// The tier's condition on the target, as for `cfg`, if this build's target does not meet it.
    pub lacks: Option<&'static str>,
    is_on_this_cpu: fn() -> bool,
}

struct Row {
    name: &'static str,
    /// Tiers whose kernels run wherever the kernels of this tier do, without those that these tiers include themselves.
    includes: &'static [Tier],
    extension: Option<Extension>,
}

/// A class of instruction sets. Tiers are not ordered: a CPU with one tier runs the kernels of another if the first
/// [includes](Tier::includes) the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tier {
    /// Plain Rust, compiled for the build's target.
    Portable,
    /// 256-bit vectors and the bit-manipulation instructions (Haswell, Zen and later).
    Avx2,
    /// 512-bit vectors with byte permutes, bit counts and GFNI (Ice Lake, Zen 4 and later).
    Avx512,
    /// 128-bit vectors with byte lookups and a separate shift count for each lane, available on every 64-bit ARM CPU.
    Neon,
    /// The 128-bit vectors of WebAssembly, with byte lookups.
    Simd128,
}

/// The tiers in the order of their declaration.
static TABLE: [Row; Tier::ALL.len()] = [
    Row { name: "portable", includes: &[], extension: None },
    Row {
        name: "avx2",
        includes: &[Tier::Portable],
        extension: Some(Extension {
            architecture: "x86_64",
            cpu_features: cpu_features!(Avx2),
            title: "AVX2",
            costs_estimated: None,
            is_enabled: cfg!(feature = "avx2"),
            lacks: None,
            is_on_this_cpu: || is_detected!(Avx2),
        }),
    },
    Row {
        name: "avx512",
        includes: &[Tier::Avx2],
        extension: Some(Extension {
            architecture: "x86_64",
            cpu_features: cpu_features!(Avx512),
            title: "AVX-512",
            costs_estimated: None,
            is_enabled: cfg!(feature = "avx512"),
            lacks: None,
            is_on_this_cpu: || is_detected!(Avx512),
        }),
    },
    Row {
        name: "neon",
        includes: &[Tier::Portable],
        extension: Some(Extension {
            architecture: "aarch64",
            cpu_features: cpu_features!(Neon),
            title: "NEON",
            costs_estimated: Some("by llvm-mca for Neoverse V2 and Apple M1, or scaled from x86, and not timed on ARM"),
            is_enabled: cfg!(feature = "neon"),
            lacks: None,
            is_on_this_cpu: || is_detected!(Neon),
        }),
    },
    Row {
        name: "simd128",
        includes: &[Tier::Portable],
        extension: Some(Extension {
            architecture: "wasm32",
            cpu_features: cpu_features!(Simd128),
            title: "SIMD128",
            costs_estimated: Some("as those of NEON, or beside plain Rust under Node"),
            is_enabled: cfg!(feature = "simd128"),
            lacks: if cfg!(target_feature = "simd128") { None } else { Some("target_feature = \"simd128\"") },
            is_on_this_cpu: || is_detected!(Simd128),
        }),
    },
];

impl Tier {
    /// All tiers, of all architectures, each after those that it includes.
    pub const ALL: &[Tier] = &[Tier::Portable, Tier::Avx2, Tier::Avx512, Tier::Neon, Tier::Simd128];

    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The tier's name, as `NIMLANES_ISA_MAX` spells it. Above [`Tier::Portable`] it is also the name of the Cargo feature that
    /// compiles the tier's kernels.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What the tier adds to plain Rust; `None` for [`Tier::Portable`].
    pub fn extension(self) -> Option<&'static Extension> {
        self.row().extension.as_ref()
    }

    /// Whether the constants in the costs of the tier's kernels were measured, on the machine of the report.
    pub fn are_costs_measured(self) -> bool {
        self.extension().is_none_or(|extension| extension.costs_estimated.is_none())
    }

    /// Whether a CPU with this tier also runs the kernels of `other`.
    pub fn includes(self, other: Tier) -> bool {
        if self == other {
            return true;
        }
        for included in self.row().includes {
            if included.includes(other) {
                return true;
            }
        }
        false
    }

    /// Whether this CPU (and its operating system) offers the tier.
    pub fn is_on_this_cpu(self) -> bool {
        self.extension().is_none_or(|extension| (extension.is_on_this_cpu)())
    }

    /// The tiers of this architecture, whether or not this CPU offers them.
    pub fn here() -> impl Iterator<Item = Tier> {
        Tier::of(ARCH)
    }

    fn of(architecture: &str) -> impl Iterator<Item = Tier> {
        Tier::ALL.iter().copied().filter(move |tier| tier.is_of(architecture))
    }

    fn is_of(self, architecture: &str) -> bool {
        self.extension().is_none_or(|extension| extension.architecture == architecture)
    }

    /// The tier with this name, of any architecture, for data that may have been measured elsewhere. [`str::parse`]
    /// accepts only the tiers of this architecture.
    pub fn named(name: &str) -> Option<Tier> {
        for tier in Tier::ALL {
            if tier.name() == name {
                return Some(*tier);
            }
        }
        None
    }

    fn named_on(architecture: &'static str, name: &str) -> Result<Tier, TierError> {
        let found = Tier::named(name);
        if let Some(tier) = found
            && tier.is_of(architecture)
        {
            return Ok(tier);
        }
        let mut known = Vec::new();
        for tier in Tier::of(architecture) {
            known.push(tier.name());
        }
        match found {
            None => Err(TierError::Unknown { name: name.to_owned(), known }),
            Some(tier) => Err(TierError::Architecture { tier, here: architecture, known }),
        }
    }
}

/// Why a name is not a tier of this architecture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TierError {
    /// No tier has this name.
    #[error("unknown tier `{name}`{}", hint(.name, .known))]
    Unknown {
        /// The name given.
        name: String,
        /// The tiers of this architecture.
        known: Vec<&'static str>,
    },
    /// The tier belongs to another architecture.
    #[error(
        "{} is a tier of {} and this is {here}; allowed: {}",
        .tier.name(),
        .tier.extension().map_or("every architecture", |extension| extension.architecture),
        .known.join(", ")
    )]
    Architecture {
        /// The tier.
        tier: Tier,
        /// This architecture.
        here: &'static str,
        /// The tiers of this architecture.
        known: Vec<&'static str>,
    },
}

impl std::str::FromStr for Tier {
    type Err = TierError;

    fn from_str(text: &str) -> Result<Self, TierError> {
        Tier::named_on(ARCH, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On an architecture for which there is no row, so that no new row changes what is allowed.
    #[test]
    fn a_tier_of_another_architecture_is_refused_by_name() {
        let asked = |name| Tier::named_on("pdp11", name).map_err(|error| error.to_string());
        assert_eq!(asked("portable"), Ok(Tier::Portable));
        let refused = |why: &str| Err(why.to_owned());
        assert_eq!(asked("avx2"), refused("avx2 is a tier of x86_64 and this is pdp11; allowed: portable"));
        // A name that is not allowed here is not suggested.
        assert_eq!(asked("avx"), refused("unknown tier `avx`; allowed: portable"));
        assert_eq!(Tier::named_on("x86_64", "avx2"), Ok(Tier::Avx2));
        let neon = Tier::named_on("x86_64", "neon").map_err(|error| error.to_string());
        let why = "neon is a tier of aarch64 and this is x86_64; allowed: portable, avx2, avx512";
        assert_eq!(neon, Err(why.to_owned()));
        assert_eq!(Tier::named_on("aarch64", "neon"), Ok(Tier::Neon));
    }

    #[test]
    fn a_tier_includes_itself_and_what_those_below_it_include() {
        let included = |tier: Tier| Tier::ALL.iter().copied().filter(|other| tier.includes(*other)).collect::<Vec<_>>();
        assert_eq!(included(Tier::Portable), [Tier::Portable]);
        assert_eq!(included(Tier::Avx2), [Tier::Portable, Tier::Avx2]);
        assert_eq!(included(Tier::Avx512), [Tier::Portable, Tier::Avx2, Tier::Avx512]);
        assert_eq!(included(Tier::Neon), [Tier::Portable, Tier::Neon]);
        assert_eq!(included(Tier::Simd128), [Tier::Portable, Tier::Simd128]);
    }

    /// What the rest of the crate assumes of every row, including future ones.
    #[test]
    fn every_row_fits_those_that_it_includes() {
        for (index, tier) in Tier::ALL.iter().enumerate() {
            assert!(tier.includes(Tier::Portable), "{} leaves plain Rust out", tier.name());
            for other in Tier::ALL.iter().filter(|other| *other != tier && tier.includes(**other)) {
                let (name, below) = (tier.name(), other.name());
                assert!(Tier::ALL[..index].contains(other), "{name} stands before {below}");
                if let Some(below) = other.extension() {
                    let own = tier.extension().expect("above a tier with an extension");
                    assert_eq!(own.architecture, below.architecture, "{name}");
                    assert!(below.cpu_features.iter().all(|feature| own.cpu_features.contains(feature)), "{name}");
                }
            }
        }
    }
}
