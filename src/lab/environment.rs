//! The machine and the build of a measurement.

use std::env::consts::ARCH;

use crate::kernel::Tier;
use crate::machine::{Machine, system};

/// The machine and the build of a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
    /// The build.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub build: Build,
}

/// How this code is compiled. Builds of which this is the same compile the same source alike.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Build {
    /// The CPU for which plain Rust and the crate `wide` are compiled: `default`, `native` or what the flags of rustc name. For
    /// WebAssembly `wasm32`, or `simd128` with vectors.
    #[cfg_attr(feature = "serde", serde(rename = "build"))]
    pub name: String,
    /// Vector and bit-manipulation features that the build target has.
    #[cfg_attr(feature = "serde", serde(default))]
    pub target_features: Vec<String>,
    /// Cargo features.
    #[cfg_attr(feature = "serde", serde(default))]
    pub features: Vec<String>,
    /// The profile of Cargo, by the folder of its artefacts: `release`, `debug`, or the name of another.
    pub profile: String,
    /// The `opt-level` of the library, which variables and configuration files change within a profile; empty if not recorded.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "String::is_empty"))]
    pub opt_level: String,
    /// The flags of rustc that are not cargo's own.
    #[cfg_attr(feature = "serde", serde(default))]
    pub flags: Vec<String>,
    /// The version of rustc. Files and builds from before it was recorded have none, and no flags.
    #[cfg_attr(feature = "serde", serde(default))]
    pub rustc: String,
    /// The version of the LLVM in it, if that is what makes the machine code, and recorded.
    #[cfg_attr(feature = "serde", serde(default))]
    pub llvm: String,
    /// The version of the C compiler, if there are kernels in C.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "String::is_empty"))]
    pub c: String,
}

/// The name of this build: see [`Build::name`].
pub const BUILD: &str = env!("BUILT_AS");

macro_rules! compiled_with {
    ($kind:ident: $($name:literal)*) => {{
        const ALL: &[(&str, bool)] = &[$(($name, cfg!($kind = $name))),*];
        let mut on = Vec::new();
        for (name, is_on) in ALL {
            if *is_on {
                on.push((*name).to_owned());
            }
        }
        on
    }};
}

impl Build {
    /// Describes this build.
    pub fn of_this() -> Self {
        let mut features = compiled_with!(feature: "bitvec" "c" "fearless_simd" "pulp" "std_simd" "wide");
        for tier in Tier::ALL {
            if tier.extension().is_some_and(|extension| extension.is_enabled) {
                features.push(tier.name().to_owned());
            }
        }
        features.append(&mut compiled_with!(feature: "parallel"));
        let mut flags = Vec::new();
        for flag in env!("BUILT_WITH_FLAGS").split('\x1f') {
            if !flag.is_empty() {
                flags.push(flag.to_owned());
            }
        }
        Build {
            name: BUILD.to_owned(),
            target_features: compiled_with!(target_feature:
                "sse2" "sse4.2" "popcnt" "lzcnt" "bmi1" "bmi2" "avx2" "avx512f" "avx512bw" "avx512vbmi" "gfni" "neon" "simd128"),
            features,
            profile: env!("BUILT_IN_PROFILE").to_owned(),
            opt_level: env!("BUILT_AT_LEVEL").to_owned(),
            flags,
            rustc: env!("BUILT_BY").to_owned(),
            llvm: env!("BUILT_ON_LLVM").to_owned(),
            c: env!("BUILT_WITH_C").to_owned(),
        }
    }

    /// The compilers: rustc, LLVM, and that of C if there are kernels in C.
    pub fn compiler(&self) -> String {
        let more = |what: &str, version: &str| match version {
            "" => String::new(),
            version => format!(", {what} {version}"),
        };
        self.rustc.clone() + &more("LLVM", &self.llvm) + &more("C by", &self.c)
    }

    /// The first difference from another build; `None` if both compile the same source alike, as far as both state. Cargo features are
    /// no difference: they only add kernels.
    pub fn other(&self, other: &Build) -> Option<String> {
        let listed = |list: fn(&Build) -> &[String]| [self, other].map(|build| list(build).join(" "));
        let [targets, flags] = [listed(|build| &build.target_features), listed(|build| &build.flags)];
        let respects = [
            ("build", &self.name, &other.name),
            ("profile", &self.profile, &other.profile),
            ("compiled for", &targets[0], &targets[1]),
            ("rustc", &self.rustc, &other.rustc),
            ("flags", &flags[0], &flags[1]),
        ];
        let both_say = |version: fn(&Build) -> &str| !version(self).is_empty() && !version(other).is_empty();
        let by_c = both_say(|build| &build.c).then(|| differing(&[("C compiler", &self.c, &other.c)])).flatten();
        let level = ("opt-level", &self.opt_level, &other.opt_level);
        let by_level = both_say(|build| &build.opt_level).then(|| differing(&[level])).flatten();
        let by_rest = differing(if both_say(|build| &build.rustc) { &respects } else { &respects[..3] });
        by_c.or(by_rest).or(by_level)
    }
}

impl Environment {
    /// Describes this machine and this build.
    pub fn detect(machine: &Machine) -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let names = system::names();
        let cpu = Cpu::new(ARCH, &cpuinfo, &names.cpu);
        Environment {
            cpu: cpu.name,
            microarchitecture: cpu.microarchitecture,
            tier: machine.strongest_tier().name().to_owned(),
            threads: machine.threads(),
            caches: caches(),
            memory: names.memory,
            system: names.system,
            build: Build::of_this(),
        }
    }

    /// Whether the microarchitecture has a known name.
    pub fn is_named(&self) -> bool {
        !self.microarchitecture.starts_with("unknown-")
            && !self.microarchitecture.split('-').any(|part| part.starts_with("family"))
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

    /// The tiers of this architecture, and whether the CPU supports each.
    pub fn tiers() -> impl Iterator<Item = (Tier, bool)> {
        Tier::here().map(|tier| (tier, tier.is_on_this_cpu()))
    }
}

/// Describes the first entry whose two values differ.
fn differing(respects: &[(&str, &String, &String)]) -> Option<String> {
    for (name, here, there) in respects {
        if here != there {
            return Some(format!("{name} {there}, not {here}"));
        }
    }
    None
}

/// The system's description of the first CPU.
struct Cpu {
    name: String,
    microarchitecture: String,
}

impl Cpu {
    /// From `/proc/cpuinfo` (empty if there is none) and the brand that `sysinfo` reports. For ARM, Linux gives only
    /// the numbers of a core, which `sysinfo` translates to a name.
    fn new(architecture: &str, cpuinfo: &str, brand: &str) -> Self {
        let field = |name: &str| {
            for line in cpuinfo.lines() {
                if let Some((key, value)) = line.split_once(':')
                    && key.trim() == name
                {
                    return Some(value.trim().to_owned());
                }
            }
            None
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
    let mut caches = Vec::new();
    while caches.len() < 8
        && let Some(cache) = cache(caches.len())
    {
        caches.push(cache);
    }
    caches
}

#[cfg(test)]
#[path = "../build.rs"]
#[allow(dead_code, reason = "it has a main of its own")]
mod build_script;

#[cfg(test)]
mod tests {
    use super::build_script::{name, profile};
    use super::*;

    #[test]
    fn a_build_is_named_by_its_flags() {
        let named = |flags: &str| name(&flags.replace(' ', "\x1f"));
        assert_eq!([named(""), named("-Cdebuginfo=1 -Clink-arg=-fuse-ld=mold")], ["default"; 2]);
        for flags in ["-Ctarget-cpu=native", "-C target-cpu=native -g", "--codegen=target-cpu=native"] {
            assert_eq!(named(flags), "native", "{flags}");
        }
        assert_eq!(named("-Ctarget-cpu=native -Ctarget-cpu=x86-64-v3"), "x86-64-v3");
        assert_eq!(named("-Ctarget-feature=+avx2,-sse4.1"), "default+avx2-sse4.1");
        assert_eq!((BUILD, Build::of_this().name), (name(env!("BUILT_WITH_FLAGS")).as_str(), BUILD.to_owned()));
    }

    #[test]
    fn a_profile_is_named_by_its_folder() {
        assert_eq!(profile("/build/target/debug/build/nimlanes-0123456789abcdef/out"), Some("debug"));
        assert_eq!(profile("/build/target/wasm32-wasip1/web/build/nimlanes-0123456789abcdef/out"), Some("web"));
        assert_eq!(profile(r"C:\target\release\build\nimlanes\0123456789abcdef\out"), Some("release"));
        assert_eq!(profile("/elsewhere/out"), None);
    }

    /// Files and builds from before flags and compilers were recorded are compared by what they state.
    #[test]
    fn builds_differ_by_what_both_say() {
        let this = Build::of_this();
        let flags = vec!["-Copt-level=1".to_owned()];
        let flagged = Build { flags, ..this.clone() };
        assert!(this.other(&flagged).is_some_and(|how| how.starts_with("flags -Copt-level=1, not ")));
        assert_eq!(this.other(&Build { rustc: String::new(), ..flagged }), None);
        let renamed = Build { name: "another".to_owned(), rustc: String::new(), ..this.clone() };
        assert_eq!(this.other(&renamed), Some(format!("build another, not {BUILD}")));
        let leveled = |level: &str| Build { opt_level: level.to_owned(), ..this.clone() };
        assert_eq!(leveled("1").other(&leveled("0")), Some("opt-level 0, not 1".to_owned()));
        assert_eq!(leveled("1").other(&leveled("")), None);
    }

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
