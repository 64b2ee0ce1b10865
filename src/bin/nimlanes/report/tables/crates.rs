//! Crates for vectors beside intrinsics: kernels that differ in nothing else, at each tier.

use std::cmp::Reverse;

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::Tier;
use nimlanes::kernel::session::{AnyOperation, KernelInfo};
use nimlanes::machine::Machine;

use super::markdown::{Table, code, range, size, time, times};
use super::operation::section;
use super::toolchains::noise;
use super::{Entry, Report, Topic};
use crate::files::saved::{Saved, day};
use crate::measuring::duel::{Duel, Row};
use crate::report::data::apart::{Code, Crates};

const CRATES: &str = include_str!("crates.md");

/// The heading of what an operation's notes say about the crates.
const WORDS: &str = "Crates for vectors";

/// What a kernel's vectors come from. The columns of the tables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// Plain Rust, compiled for the tier.
    Compiler,
    Intrinsics,
    Wide,
    FearlessSimd,
    Pulp,
    StdSimd,
    C,
}

impl Source {
    /// Those of the default features.
    const DEFAULT: [Source; 4] = [Source::Compiler, Source::Intrinsics, Source::Wide, Source::FearlessSimd];
    /// Those that a build has to be asked for.
    const MORE: [Source; 3] = [Source::Pulp, Source::StdSimd, Source::C];

    fn name(self) -> &'static str {
        match self {
            Source::Compiler => "plain Rust",
            Source::Intrinsics => "intrinsics",
            Source::Wide => "`wide`",
            Source::FearlessSimd => "`fearless_simd`",
            Source::Pulp => "`pulp`",
            Source::StdSimd => "`std::simd`",
            Source::C => "C",
        }
    }

    /// Whether it is other than what the compiler and the CPU have.
    fn is_crate(self) -> bool {
        !matches!(self, Source::Compiler | Source::Intrinsics)
    }

    /// `None` for kernels on several threads or with another crate.
    fn of(entry: &Entry, kernel: &KernelInfo) -> Option<Self> {
        let is_portable = |other: &KernelInfo| other.has_source_of(kernel) && other.is_plain();
        match kernel.features {
            features if features.contains(&"fearless_simd") => Some(Source::FearlessSimd),
            features if features.contains(&"pulp") => Some(Source::Pulp),
            features if features.contains(&"std_simd") => Some(Source::StdSimd),
            features if features.contains(&"c") => Some(Source::C),
            ["wide"] => Some(Source::Wide),
            features if features.iter().any(|name| Tier::named(name).is_none()) => None,
            _ if entry.kernels.iter().any(is_portable) => Some(Source::Compiler),
            _ => Some(Source::Intrinsics),
        }
    }
}

/// Sources of vectors, each with the texts of the files that are its own.
type Texts = &'static [(Source, &'static [&'static str])];

macro_rules! texts {
    ($($source:ident: $($path:literal)*;)*) => {
        &[$((Source::$source, &[$(include_str!(concat!("../../../../", $path))),*])),*]
    };
}

/// What is written for each of the five ideas beside its driver, and for all of them. Of intrinsics, the file of AVX2; shifted rows have
/// one for AVX-512 alone. What is in the file of the driver, as Walsh lanes in plain Rust, is not told apart.
const WRITTEN: [(&str, Texts); 6] = [
    (
        "bit rows",
        texts! {
            Compiler: "foundation/simd/vectors/plain.rs";
            Intrinsics: "foundation/simd/vectors/avx2.rs";
            Wide: "foundation/simd/vectors/wide.rs";
            FearlessSimd: "cores/table_scan/bit_rows_fearless.rs";
            StdSimd: "foundation/simd/vectors/std_simd.rs";
        },
    ),
    (
        "byte lanes",
        texts! {
            Compiler: "cores/mex/base/lanes/plain.rs";
            Intrinsics: "cores/mex/base/lanes/avx2.rs";
            Wide: "cores/mex/base/lanes/wide.rs";
            FearlessSimd: "cores/mex/subtraction/byte_lanes_fearless.rs";
            StdSimd: "cores/mex/base/lanes/std_simd.rs";
            C: "cores/mex/base/lanes/c.rs" "foundation/simd/c/decode.c";
        },
    ),
    (
        "shifted rows",
        texts! {
            Compiler: "cores/mex/zeros/carry/plain.rs";
            Intrinsics: "cores/mex/zeros/carry/avx512.rs";
            Wide: "cores/mex/zeros/carry/wide.rs";
            Pulp: "cores/mex/zeros/shifted_rows_pulp.rs";
            StdSimd: "cores/mex/zeros/carry/std_simd.rs";
            C: "cores/mex/zeros/carry/c.rs" "foundation/simd/c/carry.c";
        },
    ),
    (
        "near sums",
        texts! {
            Intrinsics: "cores/mex/split/near_sum_avx2.rs";
            Pulp: "cores/mex/split/near_sum_pulp.rs";
            StdSimd: "cores/mex/split/near_sum_std.rs";
            C: "cores/mex/split/near_sum_c.rs" "foundation/simd/c/near.c";
        },
    ),
    (
        "Walsh lanes",
        texts! {
            Intrinsics: "cores/xor_count/partitions/walsh_lanes/avx2.rs";
            Wide: "cores/xor_count/partitions/walsh_lanes/wide.rs";
            FearlessSimd: "cores/xor_count/partitions/walsh_lanes_fearless.rs";
            Pulp: "cores/xor_count/partitions/walsh_lanes_pulp.rs";
            StdSimd: "cores/xor_count/partitions/walsh_lanes/std_simd.rs";
            C: "cores/xor_count/partitions/walsh_lanes/c.rs" "foundation/simd/c/add.c";
        },
    ),
    (
        "for all of these",
        texts! {
            Intrinsics: "foundation/simd/avx2.rs";
            FearlessSimd: "foundation/simd/fearless.rs";
            Pulp: "foundation/simd/pulp.rs";
            StdSimd: "foundation/simd/std_simd.rs";
            C: "foundation/simd/c/mod.rs" "foundation/simd/c/parts.h";
        },
    ),
];

/// Lines of code, without comments and empty lines, and blocks of `unsafe`.
fn count(text: &str) -> [usize; 2] {
    let mut is_comment = false;
    let is_code = |line: &&str| {
        let starts = line.starts_with("/*");
        let is_text = is_comment || starts || line.starts_with("//") || line.is_empty();
        is_comment = (is_comment || starts) && !line.contains("*/");
        !is_text
    };
    let code: Vec<&str> = text.lines().map(str::trim).filter(is_code).collect();
    let blocks = code.iter().filter(|line| line.contains("unsafe {")).count();
    [code.len(), blocks]
}

/// What the sizes of code are.
const CODE: &str = " Bytes of code are those of the instructions that a run executes, each counted once: driver, parts, and what they \
    call. Of C, loops come before vector extensions.";

/// How much is written, by idea and source.
fn written() -> String {
    let sources = || Source::DEFAULT.into_iter().chain(Source::MORE);
    let heads = ["lines of code".to_owned()].into_iter().chain(sources().map(|source| source.name().to_owned()));
    let mut table = Table::new(&heads.collect::<Vec<_>>());
    for (idea, texts) in WRITTEN {
        let cell = |source: Source| {
            let Some((_, texts)) = texts.iter().find(|(of, _)| *of == source) else { return "–".to_owned() };
            let [lines, blocks] = texts.iter().map(|text| count(text)).fold([0; 2], |[a, b], [c, d]| [a + c, b + d]);
            if blocks == 0 { lines.to_string() } else { format!("{lines}, {blocks} `unsafe`") }
        };
        table.row([idea.to_owned()].into_iter().chain(sources().map(cell)));
    }
    table.below(
        "What is written for each way, beside the driver that all share: lines of code of its own files, without comments, and blocks of \
         `unsafe`, where there are any. Of intrinsics it is one tier's file, AVX2's but for shifted rows, which have one for AVX-512; the \
         crates' and `std::simd`'s have all tiers. C has two forms in each, and the compiler checks none of its accesses.",
    )
}

/// Kernels of one idea, each with the source of its vectors.
struct Family<'e> {
    name: &'static str,
    kernels: Vec<(Source, &'e KernelInfo)>,
}

impl<'e> Family<'e> {
    /// The families of an operation in which a crate takes part. Each is named by the kernel that the others refer to.
    fn all(entry: &'e Entry) -> Vec<Self> {
        let sources = || entry.kernels.iter().filter_map(|kernel| Some((Source::of(entry, kernel)?, kernel)));
        let mut families: Vec<Family> = Vec::new();
        for name in sources().filter(|(source, _)| source.is_crate()).map(|(_, kernel)| head(entry, kernel)) {
            if !families.iter().any(|family| family.name == name) {
                let module = entry.info(name).map(|kernel| kernel.module);
                // Another kernel in plain Rust is another idea.
                let is_in = |(source, kernel): &(Source, &KernelInfo)| match source {
                    Source::Compiler => Some(kernel.module) == module,
                    _ => kernel.name == name || head(entry, kernel) == name,
                };
                families.push(Family { name, kernels: sources().filter(is_in).collect() });
            }
        }
        families
    }

    /// Whether a crate beyond the default features takes part.
    fn has_more(&self) -> bool {
        self.kernels.iter().any(|(source, _)| Source::MORE.contains(source))
    }

    fn of(&self, source: Source, tier: Tier) -> impl Iterator<Item = &'e KernelInfo> {
        let at = move |(from, kernel): &&(Source, &'e KernelInfo)| *from == source && kernel.tier == tier;
        self.kernels.iter().filter(at).map(|(_, kernel)| *kernel)
    }
}

/// The kernel that a kernel refers to. One that is the same source at another tier refers to what that source refers to.
fn head(entry: &Entry, kernel: &KernelInfo) -> &'static str {
    match kernel.like.and_then(|name| entry.info(name)) {
        Some(other) if other.has_source_of(kernel) => head(entry, other),
        Some(other) => other.name,
        None => kernel.name,
    }
}

impl Report<'_> {
    pub(super) fn crates(&self) -> Option<Topic> {
        let (mut tables, mut quotients) = (String::new(), Vec::new());
        for entry in self.entries() {
            let families = Family::all(&entry);
            let mut words = section(entry.operation.notes(), WORDS).map(str::to_owned);
            for family in &families {
                let title = format!("## {}: {}\n\n", code(entry.name()), code(family.name));
                let duel = self.duel_of_crates(&entry, family);
                let native = duel.and_then(|duel| self.data.duel(&duel.case, "native", "thread"));
                tables += &title;
                tables += &duel.map_or(String::new(), |duel| speed(&entry, family, duel, native, &mut quotients));
                if let Some(words) = words.take() {
                    tables += &format!("{words}\n\n");
                }
            }
        }
        let finding = range(&quotients, times).map_or_else(
            || "`wide` and `fearless_simd` beside intrinsics.".to_owned(),
            |range| format!("At the same tier `fearless_simd` takes {range} times as long as intrinsics."),
        );
        let mut apart: Vec<_> = self.apart.crates.iter().collect();
        apart.sort_by_key(|Saved { environment, .. }| (&environment.microarchitecture, &environment.build.name));
        Some(Topic {
            file: "crates",
            title: "Crates for vectors".to_owned(),
            finding,
            tables: format!("{CRATES}\n{}{tables}{}", written(), apart.into_iter().map(more).collect::<String>()),
        })
    }

    /// The duel at the published size, or at the largest at which a crate took part.
    fn duel_of_crates(&self, entry: &Entry, family: &Family) -> Option<&Duel> {
        let workload = entry.headline();
        let is_crate =
            |row: &Row| family.kernels.iter().any(|(source, kernel)| source.is_crate() && kernel.name == row.kernel);
        let mut sizes: Vec<u64> = self.sizes(entry, workload).collect();
        sizes.sort_by_key(|size| (*size != workload.published, Reverse(*size)));
        let mut duels = sizes.into_iter().filter_map(|size| self.duel(entry, workload, size));
        duels.find(|duel| duel.rows.iter().any(is_crate)).or_else(|| self.headline(entry))
    }
}

/// The kernels of the families in which a crate beyond the default features takes part.
pub fn with_more(operation: &'static dyn AnyOperation, machine: &Machine) -> Vec<&'static str> {
    let entry = Entry { operation, kernels: operation.kernels(machine), changed: Vec::new() };
    let families = Family::all(&entry).into_iter().filter(Family::has_more);
    families.flat_map(|family| family.kernels.into_iter().map(|(_, kernel)| kernel.name)).collect()
}

/// The tables of these families on a machine.
fn more(Saved { environment, content, date, .. }: &Saved<Crates>) -> String {
    let mut tables = String::new();
    for duel in &content.operations {
        let named = |operation: &&&'static dyn AnyOperation| operation.name() == duel.case.operation;
        let Some(operation) = OPERATIONS.iter().find(named) else { continue };
        let mut kernels = operation.kernels(&Machine::detect());
        kernels.retain(|kernel| duel.rows.iter().any(|row| row.kernel == kernel.name));
        let entry = Entry { operation: *operation, kernels, changed: Vec::new() };
        for family in Family::all(&entry).iter().filter(|family| family.has_more()) {
            let title = format!("### {}: {}\n\n", code(entry.name()), code(family.name));
            tables += &format!("{title}{}", speed(&entry, family, duel, None, &mut Vec::new()));
            let code = content.code.iter().find(|code| code.case.operation == duel.case.operation);
            tables += &code.map_or(String::new(), |code| size_of_code(family, code));
        }
    }
    format!(
        "## Beyond the default features: {}, {} build\n\n{}, on {}, by {}.{}{}\n\n{tables}",
        environment.microarchitecture,
        environment.build.name,
        environment.cpu,
        day(date),
        environment.build.compiler(),
        noise(content.operations.iter().map(|duel| duel.disturbed)),
        if content.code.is_empty() { "" } else { CODE },
    )
}

/// The sources of a family that tables have columns for: those of the default features, and others that take part.
fn columns(family: &Family) -> Vec<Source> {
    let takes_part = |source: &Source| family.kernels.iter().any(|(from, _)| from == source);
    Source::DEFAULT.into_iter().chain(Source::MORE.into_iter().filter(takes_part)).collect()
}

/// How much code the kernels of a family are, a tier in a line. Where a source has two kernels, both.
fn size_of_code(family: &Family, code: &Code) -> String {
    let sources = columns(family);
    let heads = [format!("bytes of code, at {}", size(code.case.size))].into_iter();
    let mut table = Table::new(&heads.chain(sources.iter().map(|source| source.name().to_owned())).collect::<Vec<_>>());
    for tier in Tier::ALL.iter().filter(|tier| family.kernels.iter().any(|(_, kernel)| kernel.tier == **tier)) {
        let cell = |source: &Source| {
            let bytes = family.of(*source, *tier).filter_map(|kernel| Some(size(*code.bytes.get(kernel.name)?)));
            Some(bytes.collect::<Vec<_>>().join("; ")).filter(|cell| !cell.is_empty()).unwrap_or_else(|| "–".to_owned())
        };
        table.row([super::markdown::code(tier.name())].into_iter().chain(sources.iter().map(cell)));
    }
    table.end()
}

/// The times of a family, a tier in a line. Adds the quotients of `fearless_simd` and intrinsics.
fn speed(entry: &Entry, family: &Family, default: &Duel, native: Option<&Duel>, quotients: &mut Vec<f64>) -> String {
    let find = |duel: &'_ Duel, name: &str| -> Option<Row> { duel.rows.iter().find(|row| row.kernel == name).cloned() };
    let plain = find(default, family.name);
    let best = |duel: &Duel, source, tier| {
        let rows = family.of(source, tier).filter_map(|kernel| find(duel, kernel.name));
        rows.min_by(|a, b| a.median_seconds.total_cmp(&b.median_seconds))
    };
    let sources = columns(family);
    let heads = [format!("at {}", size(default.case.size))].into_iter();
    let mut table = Table::new(&heads.chain(sources.iter().map(|source| source.name().to_owned())).collect::<Vec<_>>());
    let mut line = |name: String, duel: &Duel, tier: Tier| {
        let cell = |source: &Source| match (family.of(*source, tier).next(), best(duel, *source, tier)) {
            (None, _) => "–".to_owned(),
            (Some(_), None) => "not measured".to_owned(),
            (Some(_), Some(row)) => {
                let ratio = plain.as_ref().map(|plain| plain.median_seconds / row.median_seconds);
                let ratio = ratio.map_or(String::new(), |ratio| format!(" (×{})", times(ratio)));
                format!("{} {}{ratio}", entry.link(&row.kernel), time(row.median_seconds))
            }
        };
        table.row([name].into_iter().chain(sources.iter().map(cell)));
    };
    for tier in Tier::ALL {
        if family.kernels.iter().any(|(_, kernel)| kernel.tier == *tier) {
            line(code(tier.name()), default, *tier);
            let both = best(default, Source::FearlessSimd, *tier).zip(best(default, Source::Intrinsics, *tier));
            quotients.extend(both.map(|(ours, theirs)| ours.median_seconds / theirs.median_seconds));
        }
    }
    if let Some(native) = native {
        line("native build, portable kernels".to_owned(), native, Tier::Portable);
    }
    table.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> Entry {
        let operation = *OPERATIONS.iter().find(|operation| operation.name() == name).expect("an operation");
        Entry { operation, kernels: operation.kernels(&Machine::detect()), changed: Vec::new() }
    }

    #[test]
    fn code_is_counted_without_comments() {
        let rust = "//! Header.\n\nfn f() {\n    // SAFETY: why.\n    unsafe { g() }\n}\n";
        assert_eq!(count(rust), [3, 1]);
        assert_eq!(count("/* Two\n   lines. */\nint a;\n/* one */\nint b; /* c */\n"), [2, 0]);
    }

    #[test]
    fn a_family_is_one_idea_at_every_tier_and_from_every_source() {
        for (operation, name) in
            [("mex_subtraction", "byte_lanes"), ("mex_split", "near_sum"), ("table_scan", "bit_rows")]
        {
            let entry = entry(operation);
            let families = Family::all(&entry);
            let family = families.iter().find(|family| family.name == name).expect("a family");
            assert_eq!(family.of(Source::StdSimd, Tier::Avx2).count(), 1, "{name}");
        }
        let entry = entry("mex_subtraction");
        let families = Family::all(&entry);
        let lanes = families.iter().find(|family| family.name == "byte_lanes").expect("byte lanes");
        let names = |source, tier| lanes.of(source, tier).map(|kernel| kernel.name).collect::<Vec<_>>();
        assert_eq!(names(Source::Compiler, Tier::Portable), ["byte_lanes"]);
        assert_eq!(names(Source::Wide, Tier::Portable), ["byte_lanes_wide"]);
        assert_eq!(names(Source::C, Tier::Avx2), ["byte_lanes_c_avx2", "byte_lanes_c_vectors_avx2"]);
        let intrinsics: [(Tier, &[&str]); 2] =
            [(Tier::Avx2, &["byte_lanes_avx2"]), (Tier::Avx512, &["byte_lanes_avx512"])];
        for (tier, kernels) in intrinsics {
            assert_eq!(names(Source::Intrinsics, tier), kernels, "without threads");
            assert_eq!(names(Source::FearlessSimd, tier), [kernels[0].replace("lanes_", "lanes_fearless_")]);
        }
        let sets = families.iter().find(|family| family.name == "shifted_sets").expect("shifted sets");
        assert_eq!(sets.of(Source::Compiler, Tier::Avx2).count(), 1, "the same source at another tier");
    }
}
