//! The kernels of an operation in one order, over all of its workloads and sizes.

use super::markdown::{Table, code, times};
use super::{Entry, Report, SMALL, Topic};
use crate::measuring::duel::{Duel, TIE};

/// The most kernels that a table shows.
const SHOWN: usize = 10;

const RULE: &str = "A case is a workload and a size above the small ones, in the default build on one thread. Cases are compared if at \
                    least half of the operation's kernels were timed there: at the largest sizes only the fastest kernels run. In a \
                    case, a kernel's ratio is its median time divided by that of the fastest kernel. The mean is the geometric mean \
                    of its ratios over all compared cases; every case counts the same. Only exact kernels that were timed in all \
                    compared cases have a rank. On another machine, the same over its own cases.";

/// A kernel that was timed in every compared case.
#[derive(Debug, PartialEq)]
struct Ranked<'d> {
    kernel: &'d str,
    /// Geometric mean of the ratios.
    mean: f64,
    worst: f64,
    /// The number of cases where it was the fastest.
    fastest: usize,
}

/// The kernels of an operation, ranked.
#[derive(Debug, Default, PartialEq)]
struct Ranking<'d> {
    /// Those that were timed in every compared case, best first.
    ranked: Vec<Ranked<'d>>,
    /// The number of compared cases, and of all.
    cases: [usize; 2],
    /// The number of kernels that were timed in any case.
    kernels: usize,
}

/// Ranks the kernels in the duels of an operation.
fn rank<'d>(duels: &[&'d Duel]) -> Ranking<'d> {
    let mut names: Vec<&str> = duels.iter().flat_map(|duel| &duel.rows).map(|row| row.kernel.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let compared: Vec<&&Duel> = duels.iter().filter(|duel| 2 * duel.rows.len() >= names.len()).collect();
    if compared.is_empty() {
        return Ranking::default();
    }
    let ratio = |kernel: &str, duel: &Duel| {
        let row = duel.rows.iter().find(|row| row.kernel == kernel)?;
        // Rows are in the order of their times.
        Some(row.median_seconds / duel.rows.first()?.median_seconds)
    };
    let ranked = |kernel: &&'d str| {
        let ratios: Vec<f64> = compared.iter().map(|duel| ratio(kernel, duel)).collect::<Option<_>>()?;
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let worst = ratios.iter().copied().fold(1.0, f64::max);
        let fastest = ratios.iter().filter(|ratio| **ratio <= 1.0).count();
        Some(Ranked { kernel, mean, worst, fastest })
    };
    let mut all: Vec<Ranked> = names.iter().filter_map(ranked).collect();
    all.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    Ranking { ranked: all, cases: [compared.len(), duels.len()], kernels: names.len() }
}

impl<'a> Report<'a> {
    /// The duels that count for the rank of an operation's kernels.
    fn ranking_cases(&self, entry: &Entry) -> Vec<&'a Duel> {
        let workloads = entry.operation.workloads().iter();
        let cases = workloads.flat_map(|workload| self.sizes(entry, workload).map(move |size| (workload, size)));
        cases
            .filter(|(_, size)| *size > SMALL)
            .filter_map(|(workload, size)| self.duel(entry, workload, size))
            .collect()
    }

    pub(super) fn ranks(&self) -> Option<Topic> {
        let (mut tables, mut first) = (String::new(), Vec::new());
        let heads = ["rank", "kernel", "mean", "worst", "fastest in"].map(str::to_owned);
        let heads: Vec<String> =
            heads.into_iter().chain(self.others.iter().map(|other| format!("mean on {}", other.name()))).collect();
        for entry in self.entries() {
            let Ranking { ranked, cases: [compared, all], kernels } = rank(&self.ranking_cases(&entry));
            let Some(best) = ranked.first() else { continue };
            first.push(best.mean);
            let elsewhere = |other: &Report<'a>| rank(&other.ranking_cases(&entry)).ranked;
            let elsewhere: Vec<Vec<Ranked>> = self.others.iter().map(elsewhere).collect();
            let mut table = Table::new(&heads);
            for (place, Ranked { kernel, mean, worst, fastest }) in ranked.iter().take(SHOWN).enumerate() {
                let there = elsewhere.iter().map(|ranked| {
                    let same = ranked.iter().find(|there| there.kernel == *kernel);
                    same.map_or_else(|| "–".to_owned(), |there| times(there.mean))
                });
                let own =
                    [(place + 1).to_string(), entry.link(kernel), times(*mean), times(*worst), fastest.to_string()];
                table.row(own.into_iter().chain(there));
            }
            let count = ranked.len();
            let intro =
                format!("Compared: {compared} of {all} cases; timed in all of them: {count} of {kernels} kernels.");
            tables += &format!("## {}\n\n{}", code(entry.name()), table.below(&intro));
        }
        let ties = first.iter().filter(|mean| **mean <= 1.0 + TIE).count();
        (!tables.is_empty()).then(|| Topic {
            file: "rank",
            title: "Rank over all workloads".to_owned(),
            finding: format!(
                "One kernel ties with the fastest in the mean over all workloads in {ties} of {} operations.",
                first.len()
            ),
            tables: format!("{RULE}\n\n{tables}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measuring::duel::example;

    fn duel(times: &[(&str, f64)]) -> Duel {
        example::duel(times.iter().map(|(kernel, seconds)| example::row(kernel, *seconds, [1.0; 3])).collect())
    }

    /// `partial` was the fastest of all, but only in one case; the last case has too few kernels.
    #[test]
    fn a_rank_is_the_mean_over_the_compared_cases() {
        let duels = [
            duel(&[("a", 1.0), ("b", 2.0), ("c", 16.0)]),
            duel(&[("partial", 1.0), ("c", 1.0), ("b", 2.0), ("a", 9.0)]),
            duel(&[("c", 1.0)]),
        ];
        let Ranking { ranked, cases, kernels } = rank(&duels.each_ref());
        assert_eq!((cases, kernels), ([2, 3], 4));
        let order: Vec<(&str, usize)> = ranked.iter().map(|ranked| (ranked.kernel, ranked.fastest)).collect();
        assert_eq!(order, [("b", 0), ("a", 1), ("c", 1)]);
        for (ranked, [mean, worst]) in ranked.iter().zip([[2.0, 2.0], [3.0, 9.0], [4.0, 16.0]]) {
            assert!((ranked.mean - mean).abs() < 1e-12 && ranked.worst == worst, "{ranked:?}");
        }
        assert_eq!(rank(&[]), Ranking::default());
    }
}
