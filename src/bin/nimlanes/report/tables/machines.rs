//! Machine beside machine: the same kernels on the same inputs elsewhere, and which rankings hold there.

use super::markdown::{MarkdownTable, code, size, times};
use super::{Entry, MachineReport, SMALL, is_ahead};
use crate::measuring::duel::{Duel, Row, quantile};

/// Adds to the number of pairs that turn over and of all pairs: kernels that two machines have in common, and that are further apart than
/// a tie on both.
fn add_pairs([turning, all]: &mut [usize; 2], here: &Duel, there: &Duel) {
    let common: Vec<[&Row; 2]> = common(here, there).collect();
    for (number, a) in common.iter().enumerate() {
        for b in &common[number + 1..] {
            // `a` is the faster one here.
            let [by, there] = [0, 1].map(|machine| b[machine].median_seconds / a[machine].median_seconds);
            let turns = is_ahead(1.0 / there);
            if is_ahead(by) && (turns || is_ahead(there)) {
                *turning += usize::from(turns);
                *all += 1;
            }
        }
    }
}

/// The rows of the kernels that are in both duels, fastest here first.
fn common<'d>(here: &'d Duel, there: &'d Duel) -> impl Iterator<Item = [&'d Row; 2]> {
    here.rows.iter().filter_map(|row| Some([row, row_of(there, &row.kernel)?]))
}

fn row_of<'d>(duel: &'d Duel, kernel: &str) -> Option<&'d Row> {
    duel.rows.iter().find(|row| row.kernel == kernel)
}

/// The ratio of a kernel to a baseline, which need not be that of the duel.
fn ratio_to(duel: &Duel, baseline: &str, kernel: &str) -> Option<f64> {
    Some(row_of(duel, kernel)?.ratio / row_of(duel, baseline)?.ratio)
}

impl MachineReport<'_> {
    /// The name of the machine that was measured.
    pub(super) fn name(&self) -> &str {
        self.data.name()
    }

    /// What the CPU said, if the machine was named by hand.
    pub(super) fn named_by_hand(&self) -> String {
        let said = |_: &String| format!(", named by hand: it said {}", self.data.environment.microarchitecture);
        self.data.given_name.as_ref().map_or_else(String::new, said)
    }

    /// Headings of columns for the other machines.
    pub(super) fn heads_of_others(&self) -> impl Iterator<Item = String> {
        self.others.iter().map(|other| format!("× on {}", other.name()))
    }

    /// The ratio of a kernel to the baseline of a duel at a published size, on each other machine; in bold where it is the best.
    pub(super) fn steps_of_others(&self, entry: &Entry, duel: &Duel, kernel: &str) -> impl Iterator<Item = String> {
        self.others.iter().map(move |other| {
            let there = other.headline(entry);
            let ratio = there.and_then(|there| ratio_to(there, &duel.baseline, kernel)).map(times);
            let is_best = there.and_then(|there| there.rows.first()).is_some_and(|best| best.kernel == kernel);
            ratio.map_or("–".to_owned(), |ratio| if is_best { format!("**{ratio}**") } else { ratio })
        })
    }

    /// What the columns of [`Self::best_of_others`] show, in a sentence; nothing if there is no other machine.
    pub(super) fn note_on_others(&self) -> &'static str {
        if self.others.is_empty() {
            return "";
        }
        " \"× on\" a machine: the first ratio there. After a semicolon, the kernel that wins there by over 5 %. A dash: not measured."
    }

    /// The ratio of the best kernel of a duel on each other machine, and the best kernel there if it beats that one by more than
    /// a tie.
    pub(super) fn best_of_others(&self, entry: &Entry, duel: &Duel) -> impl Iterator<Item = String> {
        self.others.iter().map(move |other| {
            let (Some(there), Some(best)) = (other.headline(entry), duel.rows.first()) else { return "–".to_owned() };
            let ratio = |kernel: &str| ratio_to(there, &duel.baseline, kernel);
            let same = ratio(&best.kernel);
            let leads = there.rows.first().and_then(|row| Some((&row.kernel, ratio(&row.kernel)?)));
            let leads = leads.filter(|(_, ratio)| same.is_none_or(|same| is_ahead(ratio / same)));
            let same = same.map_or("–".to_owned(), times);
            leads.map_or(same.clone(), |(kernel, ratio)| format!("{same}; {} {}", times(ratio), code(kernel)))
        })
    }

    /// The section on the other machines.
    pub(super) fn machines(&self) -> String {
        if self.others.is_empty() {
            return String::new();
        }
        let spread = |report: &MachineReport| report.noise().map_or("–".to_owned(), |noise| format!("±{noise:.1} %"));
        let mut table = MarkdownTable::new(&[
            "machine",
            "spread",
            "files that differ",
            "leaders that hold",
            "pairs that turn over",
        ]);
        table.row([self.name().to_owned(), spread(self)].into_iter().chain(["–"; 3].map(str::to_owned)));
        for other in &self.others {
            let share = |[part, all]: [usize; 2]| format!("{} of {}", size(part as u64), size(all as u64));
            table.row([
                other.name().to_owned(),
                spread(other),
                self.changed_between(other).map_or("–".to_owned(), share),
                share(self.leaders(other)),
                share(self.pairs(other)),
            ]);
        }
        format!(
            "Which rankings hold elsewhere? Two kernels have an order if they are further apart than a tie on both machines. It may \
             turn over because of the machine, changed code, or the layout in memory.\n\n{}Half of the ratios spread by more over \
             the rounds. Files are sources, beside {}. Leaders are the best kernel and the best in plain Rust at a published size, of \
             those of both machines.",
            table.end(),
            self.name()
        )
    }

    /// The median over all kernels and inputs of half the range of the ratio over the rounds, in percent; none if there are only
    /// baselines.
    fn noise(&self) -> Option<f64> {
        let rows = self.data.duels.iter().flat_map(|duel| duel.rows.iter().map(move |row| (duel, row)));
        let rows = rows.filter(|(duel, row)| row.kernel != duel.baseline);
        let mut noise: Vec<f64> = rows.map(|(_, row)| row.spread()).collect();
        (!noise.is_empty()).then(|| quantile(&mut noise, 0.5))
    }

    /// How many of the source files that were measured on another machine were not measured here; none if either does not say.
    fn changed_between(&self, other: &MachineReport) -> Option<[usize; 2]> {
        let (here, there) = (self.data.sources.as_ref()?, other.data.sources.as_ref()?);
        Some([here.lacks(there).count(), there.digests.len()])
    }

    /// How many pairs turn over, and of how many, at all sizes that are not small, on one thread.
    fn pairs(&self, other: &MachineReport) -> [usize; 2] {
        let mut pairs = [0; 2];
        for entry in self.entries() {
            for workload in entry.operation.workloads() {
                for size in self.sizes(&entry, workload).filter(|size| *size > SMALL) {
                    let both = self.duel(&entry, workload, size).zip(other.duel(&entry, workload, size));
                    both.into_iter().for_each(|(here, there)| add_pairs(&mut pairs, here, there));
                }
            }
        }
        pairs
    }

    /// On how many operations that both machines have their leaders hold, and of how many: the best kernel at the published size, and the
    /// best in plain Rust, of the kernels that both have.
    fn leaders(&self, other: &MachineReport) -> [usize; 2] {
        let holds = |entry: Entry| {
            let (here, there) = self.headline(&entry).zip(other.headline(&entry))?;
            let is_same = |plain_only: bool| {
                let rows = common(here, there).filter(|[row, _]| !plain_only || entry.is_plain(row));
                let rows: Vec<_> = rows.collect();
                let fastest = |machine: usize| {
                    rows.iter().min_by(|a, b| a[machine].median_seconds.total_cmp(&b[machine].median_seconds))
                };
                fastest(0).is_some_and(|here| fastest(1).is_some_and(|there| here[0].kernel == there[0].kernel))
            };
            Some([false, true].into_iter().all(is_same))
        };
        let hold: Vec<bool> = self.entries().filter_map(holds).collect();
        [hold.iter().filter(|holds| **holds).count(), hold.len()]
    }
}
