//! The machine and the build of a measurement.

use std::env::consts::ARCH;

use crate::kernel::Tier;
use crate::machine::{Machine, system};

/// The machine and the build of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Environment {
    /// The CPU's name.
    pub cpu: String,
    /// The microarchitecture if its name is known, else vendor, family and model.
    pub microarchitecture: String,
    /// The strongest tier allowed.
    pub tier: String,
    /// Number of hardware threads.
    pub threads: usize,
    /// Caches of the first core, such as `L1d 32K`.
    pub caches: Vec<String>,
    /// Memory of the machine in bytes.
    pub memory: u64,
    /// Operating system.
    pub system: String,
    /// `default`, or `native` if everything is compiled for a CPU with AVX2.
    pub build: String,
    /// Vector and bit-manipulation features that the build target has.
    pub target_features: Vec<String>,
    /// Cargo features.
    pub features: Vec<String>,
    /// `release` or `debug`.
    pub profile: String,
}

/// `default` or `native`: the target for which plain Rust and the crate `wide` are compiled.
pub const BUILD: &str = if cfg!(target_feature = "avx2") { "native" } else { "default" };

macro_rules! compiled_with {
    ($kind:ident: $($name:literal)*) => {{
        let mut on: Vec<String> = Vec::new();
        $(if cfg!($kind = $name) { on.push($name.to_owned()); })*
        on
    }};
}

impl Environment {
    /// Describes this machine and this build.
    pub fn detect(machine: &Machine) -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let names = system::names();
        let cpu = Cpu::new(ARCH, &cpuinfo, &names.cpu);
        let tiers = Tier::ALL.iter().filter(|tier| tier.extension().is_some_and(|extension| extension.is_enabled));
        let tiers = tiers.map(|tier| tier.name().to_owned()).collect();
        Environment {
            cpu: cpu.name,
            microarchitecture: cpu.microarchitecture,
            tier: machine.strongest_tier().name().to_owned(),
            threads: machine.threads(),
            caches: caches(),
            memory: names.memory,
            system: names.system,
            build: BUILD.to_owned(),
            target_features: compiled_with!(target_feature:
                "sse2" "sse4.2" "popcnt" "lzcnt" "bmi1" "bmi2" "avx2" "avx512f" "avx512bw" "avx512vbmi" "gfni" "neon" "simd128"),
            features: [
                compiled_with!(feature: "bitvec" "fearless_simd" "wide"),
                tiers,
                compiled_with!(feature: "parallel"),
            ]
            .concat(),
            profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        }
    }

    /// Whether the microarchitecture has a known name.
    pub fn is_named(&self) -> bool {
        !self.microarchitecture.starts_with("unknown-") && !self.microarchitecture.contains("-family")
    }

    /// The first difference in hardware from the machine of another measurement; `None` if times can be compared.
    pub fn other_machine(&self, other: &Environment) -> Option<String> {
        let respects = [
            ("cpu", &self.cpu, &other.cpu),
            ("microarchitecture", &self.microarchitecture, &other.microarchitecture),
            ("caches", &self.caches.join(", "), &other.caches.join(", ")),
            ("threads", &self.threads.to_string(), &other.threads.to_string()),
        ];
        differing(&respects)
    }

    /// The first difference from the build of another measurement; `None` if the builds are alike.
    pub fn other_build(&self, other: &Environment) -> Option<String> {
        let targets = [&self.target_features, &other.target_features].map(|features| features.join(" "));
        differing(&[
            ("build", &self.build, &other.build),
            ("profile", &self.profile, &other.profile),
            ("compiled for", &targets[0], &targets[1]),
        ])
    }

    /// The tiers of this architecture, and whether the CPU supports each.
    pub fn tiers() -> impl Iterator<Item = (Tier, bool)> {
        Tier::here().map(|tier| (tier, tier.is_on_this_cpu()))
    }
}

/// Describes the first entry whose two values differ.
fn differing(respects: &[(&str, &String, &String)]) -> Option<String> {
    let differs = respects.iter().find(|(_, here, there)| here != there);
    differs.map(|(name, here, there)| format!("{name} {there}, not {here}"))
}

/// What the system says about the first CPU.
struct Cpu {
    name: String,
    microarchitecture: String,
}

impl Cpu {
    /// From `/proc/cpuinfo` (empty if there is none) and the brand that `sysinfo` reports. For ARM, Linux gives only
    /// the numbers of a core, which `sysinfo` translates to a name.
    fn new(architecture: &str, cpuinfo: &str, brand: &str) -> Self {
        let field = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned())
        };
        let number = |name: &str| field(name).and_then(|text| text.parse::<u32>().ok());
        let brand = Some(brand.trim()).filter(|brand| !brand.is_empty());
        let numbered = || Some(format!("implementer {}, part {}", field("CPU implementer")?, field("CPU part")?));
        let name = field("model name").or_else(|| brand.map(str::to_owned)).or_else(numbered);
        let known = match (field("vendor_id"), number("cpu family"), number("model")) {
            (Some(vendor), Some(family), Some(model)) => Some(microarchitecture(&vendor, family, model)),
            _ if architecture == "aarch64" => brand.map(|brand| brand.to_lowercase().replace(' ', "-")),
            _ => None,
        };
        Cpu {
            name: name.unwrap_or_else(|| "unknown".to_owned()),
            microarchitecture: known.unwrap_or_else(|| format!("unknown-{architecture}")),
        }
    }
}

/// The common name of the microarchitecture, from the CPU's family and model, for widespread CPUs with AVX2 or AVX-512.
fn microarchitecture(vendor: &str, family: u32, model: u32) -> String {
    let name = match (vendor, family, model) {
        ("AuthenticAMD", 0x17, 0x30..) => "zen2",
        ("AuthenticAMD", 0x17, _) => "zen1",
        ("AuthenticAMD", 0x19, 0x00..=0x0f | 0x20..=0x5f) => "zen3",
        ("AuthenticAMD", 0x19, _) => "zen4",
        ("AuthenticAMD", 0x1a, _) => "zen5",
        ("GenuineIntel", 6, 0x55) => "skylake-server",
        ("GenuineIntel", 6, 0x6a | 0x6c) => "ice-lake-server",
        ("GenuineIntel", 6, 0x8f) => "sapphire-rapids",
        ("GenuineIntel", 6, 0xcf) => "emerald-rapids",
        ("GenuineIntel", 6, 0xad | 0xae) => "granite-rapids",
        _ => return format!("{vendor}-family{family}-model{model}"),
    };
    name.to_owned()
}

/// The caches of the first core, as Linux lists them; empty on other systems.
fn caches() -> Vec<String> {
    let read = |index: usize, name: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
        std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
    };
    let cache = |index| {
        let (level, kind, size) = (read(index, "level")?, read(index, "type")?, read(index, "size")?);
        let suffix = match kind.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        Some(format!("L{level}{suffix} {size}"))
    };
    (0..8).map_while(cache).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first lines of a Graviton 4 and of a Zen 4.
    #[test]
    fn cpus_are_named_on_both_architectures() {
        let arm = "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\n\
                   CPU variant\t: 0x0\nCPU part\t: 0xd4f\n";
        let x86 =
            "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9R14\n";
        let named = |architecture, cpuinfo, brand| {
            let Cpu { name, microarchitecture } = Cpu::new(architecture, cpuinfo, brand);
            [name, microarchitecture]
        };
        assert_eq!(named("aarch64", arm, "Neoverse-V2"), ["Neoverse-V2", "neoverse-v2"]);
        assert_eq!(named("aarch64", arm, ""), ["implementer 0x41, part 0xd4f", "unknown-aarch64"]);
        assert_eq!(named("aarch64", "", "Apple M1"), ["Apple M1", "apple-m1"]);
        assert_eq!(named("x86_64", x86, "AMD EPYC 9R14"), ["AMD EPYC 9R14", "zen4"]);
        assert_eq!(named("x86_64", "", "Intel(R) Core(TM) i9"), ["Intel(R) Core(TM) i9", "unknown-x86_64"]);
        assert_eq!(named("riscv64", "", ""), ["unknown", "unknown-riscv64"]);
    }
}
