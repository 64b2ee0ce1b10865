//! Crates for vectors beside intrinsics: kernels that differ in nothing else, at each tier.

use std::cmp::Reverse;

use nimlanes::kernel::Tier;
use nimlanes::kernel::session::KernelInfo;

use super::markdown::{Table, code, range, size, time, times};
use super::operation::section;
use super::{Entry, Report, Topic};
use crate::measuring::duel::{Duel, Row};

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
}

impl Source {
    const ALL: [Source; 4] = [Source::Compiler, Source::Intrinsics, Source::Wide, Source::FearlessSimd];

    fn name(self) -> &'static str {
        match self {
            Source::Compiler => "plain Rust",
            Source::Intrinsics => "intrinsics",
            Source::Wide => "`wide`",
            Source::FearlessSimd => "`fearless_simd`",
        }
    }

    fn is_crate(self) -> bool {
        matches!(self, Source::Wide | Source::FearlessSimd)
    }

    /// `None` for kernels on several threads or with another crate.
    fn of(entry: &Entry, kernel: &KernelInfo) -> Option<Self> {
        let is_portable = |other: &KernelInfo| other.has_source_of(kernel) && other.is_plain();
        match kernel.features {
            features if features.contains(&"fearless_simd") => Some(Source::FearlessSimd),
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
                tables += &format!("{title}{}", self.speed(&entry, family, &mut quotients));
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
            tables: format!("{CRATES}\n{tables}"),
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

    /// The times of a family, a tier in a line. Adds the quotients of `fearless_simd` and intrinsics.
    fn speed(&self, entry: &Entry, family: &Family, quotients: &mut Vec<f64>) -> String {
        let Some(default) = self.duel_of_crates(entry, family) else { return String::new() };
        let native = self.data.duel(&default.case, "native", "thread");
        let find =
            |duel: &'_ Duel, name: &str| -> Option<Row> { duel.rows.iter().find(|row| row.kernel == name).cloned() };
        let plain = find(default, family.name);
        let best = |duel: &Duel, source, tier| {
            let rows = family.of(source, tier).filter_map(|kernel| find(duel, kernel.name));
            rows.min_by(|a, b| a.median_seconds.total_cmp(&b.median_seconds))
        };
        let heads = [format!("at {}", size(default.case.size))].into_iter();
        let mut table =
            Table::new(&heads.chain(Source::ALL.map(|source| source.name().to_owned())).collect::<Vec<_>>());
        let mut line = |name: String, duel: &Duel, tier: Tier| {
            let cell = |source| match (family.of(source, tier).next(), best(duel, source, tier)) {
                (None, _) => "–".to_owned(),
                (Some(_), None) => "not measured".to_owned(),
                (Some(_), Some(row)) => {
                    let ratio = plain.as_ref().map(|plain| plain.median_seconds / row.median_seconds);
                    let ratio = ratio.map_or(String::new(), |ratio| format!(" (×{})", times(ratio)));
                    format!("{} {}{ratio}", entry.link(&row.kernel), time(row.median_seconds))
                }
            };
            table.row([name].into_iter().chain(Source::ALL.map(cell)));
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
}

#[cfg(test)]
mod tests {
    use nimlanes::cores::OPERATIONS;
    use nimlanes::machine::Machine;

    use super::*;

    fn entry(name: &str) -> Entry {
        let operation = *OPERATIONS.iter().find(|operation| operation.name() == name).expect("an operation");
        Entry { operation, kernels: operation.kernels(&Machine::detect()), changed: Vec::new() }
    }

    #[test]
    fn a_family_is_one_idea_at_every_tier_and_from_every_source() {
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
