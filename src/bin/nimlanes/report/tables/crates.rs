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
use crate::report::data::apart::Crates;

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
}

impl Source {
    /// Those of the default features.
    const DEFAULT: [Source; 4] = [Source::Compiler, Source::Intrinsics, Source::Wide, Source::FearlessSimd];
    /// Those that a build has to be asked for.
    const MORE: [Source; 2] = [Source::Pulp, Source::StdSimd];

    fn name(self) -> &'static str {
        match self {
            Source::Compiler => "plain Rust",
            Source::Intrinsics => "intrinsics",
            Source::Wide => "`wide`",
            Source::FearlessSimd => "`fearless_simd`",
            Source::Pulp => "`pulp`",
            Source::StdSimd => "`std::simd`",
        }
    }

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
            ["wide"] => Some(Source::Wide),
            features if features.iter().any(|name| Tier::named(name).is_none()) => None,
            _ if entry.kernels.iter().any(is_portable) => Some(Source::Compiler),
            _ => Some(Source::Intrinsics),
        }
    }
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
        Some(Topic {
            file: "crates",
            title: "Crates for vectors".to_owned(),
            finding,
            tables: format!("{CRATES}\n{tables}{}", self.apart.crates.iter().map(more).collect::<String>()),
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
        }
    }
    format!(
        "## With `pulp` and `std::simd`, on {}\n\n{}, on {}, {} build by {}.{}\n\n{tables}",
        environment.microarchitecture,
        environment.cpu,
        day(date),
        environment.build.name,
        environment.build.compiler(),
        noise(content.operations.iter().map(|duel| duel.disturbed)),
    )
}

/// The times of a family, a tier in a line. Adds the quotients of `fearless_simd` and intrinsics.
fn speed(entry: &Entry, family: &Family, default: &Duel, native: Option<&Duel>, quotients: &mut Vec<f64>) -> String {
    let find = |duel: &'_ Duel, name: &str| -> Option<Row> { duel.rows.iter().find(|row| row.kernel == name).cloned() };
    let plain = find(default, family.name);
    let best = |duel: &Duel, source, tier| {
        let rows = family.of(source, tier).filter_map(|kernel| find(duel, kernel.name));
        rows.min_by(|a, b| a.median_seconds.total_cmp(&b.median_seconds))
    };
    let takes_part = |source: &Source| family.kernels.iter().any(|(from, _)| from == source);
    let sources: Vec<Source> = Source::DEFAULT.into_iter().chain(Source::MORE.into_iter().filter(takes_part)).collect();
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
