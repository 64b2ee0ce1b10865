//! The selected kernels, and how much slower they are than the fastest.

use nimlanes::workload::Workload;

use super::markdown::{Table, code, range, size, time, times};
use super::{Entry, Report, SMALL, Topic};

/// A selection is good if the kernel takes at most this many times as long as the fastest.
const GOOD_CHOICE: f64 = 1.2;

impl<'a> Report<'a> {
    pub(super) fn small_sizes(&self) -> Option<Topic> {
        let mut table = Table::new(&["operation", "size", "fastest", "its time", "selected", "its time"]);
        let mut fastest = Vec::new();
        for entry in self.entries() {
            let workload = entry.headline();
            for n in self.sizes(&entry, workload).filter(|size| *size <= SMALL) {
                let Some(duel) = self.duel(&entry, workload, n) else { continue };
                fastest.extend(duel.rows.first().map(|row| row.median_seconds));
                let selected = self.selected(&entry, workload, n);
                let rows = [duel.rows.first(), duel.rows.iter().find(|row| Some(row.kernel.as_str()) == selected)];
                let cells = rows.into_iter().flat_map(|row| match row {
                    Some(row) => [code(&row.kernel), time(row.median_seconds)],
                    None => ["–".to_owned(), "–".to_owned()],
                });
                table.row([code(entry.name()), size(n)].into_iter().chain(cells));
            }
        }
        Some(Topic {
            file: "small-sizes",
            title: "Small sizes".to_owned(),
            finding: format!("Up to size {SMALL}, the fastest kernels take {} a call.", range(&fastest, time)?),
            tables: table.below("The fixed cost of a call; one thread."),
        })
    }

    pub(super) fn selections(&self) -> Option<Topic> {
        let mut table = Table::new(&["operation", "workload", "size", "selected", "fastest", "selected / fastest"]);
        let mut losses = Vec::new();
        for entry in self.entries() {
            for workload in entry.operation.workloads() {
                let mut cases = self.selected_in_duels(&entry, workload);
                let trials = self.data.trials.iter().flat_map(|saved| &saved.content.rows);
                let trials = trials
                    .filter(|trial| (&*trial.case.operation, &*trial.case.workload) == (entry.name(), workload.name));
                cases.extend(trials.map(|trial| (trial.case.size, &*trial.selected, &*trial.quickest, trial.loss)));
                cases.sort_by_key(|case| case.0);
                for (n, selected, quickest, loss) in cases {
                    losses.push(loss);
                    let quickest = if quickest == selected { "the same".to_owned() } else { code(quickest) };
                    let operation = code(entry.name());
                    table.row([operation, code(workload.name), size(n), code(selected), quickest, times(loss)]);
                }
            }
        }
        let worst = losses.iter().copied().max_by(f64::total_cmp)?;
        let good = losses.iter().filter(|loss| **loss <= GOOD_CHOICE).count();
        Some(Topic {
            file: "selection",
            title: "Kernel selection".to_owned(),
            finding: format!(
                "Kernels are selected by their predicted time. The selected kernel takes at most {GOOD_CHOICE} times as long as the \
                 fastest in {good} of {} cases; the worst choice takes {} times as long.",
                losses.len(),
                times(worst)
            ),
            tables: table.below(
                "One thread. The last column shows the cost of the choice. Sizes without a duel of all kernels had a short duel of \
                 those with similar predictions.",
            ),
        })
    }

    /// The kernel selected for an input at the strongest tier.
    fn selected(&self, entry: &Entry, workload: &Workload, size: u64) -> Option<&'a str> {
        let rows = self.data.choices.iter().flat_map(|saved| &saved.content.rows);
        let case = entry.case(workload, size);
        let mut rows = rows.filter(|row| row.case == case);
        rows.next_back().map(|row| row.kernel.as_str())
    }

    /// For each size with a duel of all kernels: the selected kernel, the fastest, and the ratio of their times.
    fn selected_in_duels(&self, entry: &Entry, workload: &Workload) -> Vec<(u64, &'a str, &'a str, f64)> {
        let case = |n| {
            let selected = self.selected(entry, workload, n)?;
            let duel = self.duel(entry, workload, n)?;
            let (best, row) = (duel.rows.first()?, duel.rows.iter().find(|row| row.kernel == selected)?);
            Some((n, selected, best.kernel.as_str(), row.median_seconds / best.median_seconds))
        };
        self.sizes(entry, workload).filter_map(case).collect()
    }
}
