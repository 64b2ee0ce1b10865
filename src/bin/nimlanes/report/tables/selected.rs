//! The selected kernels, and how much slower they are than the fastest.

use nimlanes::workload::Workload;

use super::markdown::{Table, code, folded, size, time, times};
use super::{Listed, Report, SMALL};

/// A selection is good if the kernel takes at most this many times as long as the fastest.
const GOOD_CHOICE: f64 = 1.2;

impl<'a> Report<'a> {
    pub(super) fn small(&self) -> String {
        let mut table = Table::new(&["operation", "size", "fastest", "", "selected", ""]);
        let mut any = false;
        for listed in self.listed() {
            let workload = listed.headline();
            for n in self.sizes(&listed, workload).filter(|size| *size <= SMALL) {
                let Some(duel) = self.duel(&listed, workload, n) else { continue };
                any = true;
                let selected = self.selected(&listed, workload, n);
                let rows = [duel.rows.first(), duel.rows.iter().find(|row| Some(row.kernel.as_str()) == selected)];
                let cells = rows.into_iter().flat_map(|row| match row {
                    Some(row) => [code(&row.kernel), time(row.median_seconds)],
                    None => ["–".to_owned(), "–".to_owned()],
                });
                table.row([code(listed.operation.name()), size(n)].into_iter().chain(cells));
            }
        }
        let intro = "The fixed cost of a call; one thread.";
        if any { format!("{intro}\n\n{}", table.end()) } else { String::new() }
    }

    pub(super) fn choices(&self) -> String {
        let mut table = Table::new(&["operation", "workload", "size", "selected", "fastest", "selected / fastest"]);
        let mut losses = Vec::new();
        for listed in self.listed() {
            for workload in listed.operation.workloads() {
                let mut cases = self.selected_in_duels(&listed, workload);
                let trials = self.data.trials.iter().flat_map(|saved| &saved.content.rows);
                let trials = trials.filter(|trial| {
                    (&*trial.case.operation, &*trial.case.workload) == (listed.operation.name(), workload.name)
                });
                cases.extend(trials.map(|trial| (trial.case.size, &*trial.selected, &*trial.quickest, trial.loss)));
                cases.sort_by_key(|case| case.0);
                for (n, selected, quickest, loss) in cases {
                    losses.push(loss);
                    let quickest = if quickest == selected { "the same".to_owned() } else { code(quickest) };
                    let operation = code(listed.operation.name());
                    table.row([operation, code(workload.name), size(n), code(selected), quickest, times(loss)]);
                }
            }
        }
        let Some(worst) = losses.iter().copied().max_by(f64::total_cmp) else { return String::new() };
        let good = losses.iter().filter(|loss| **loss <= GOOD_CHOICE).count();
        format!(
            "Kernels are selected by their predicted time, here for one thread. The last column shows the cost of the choice. Sizes \
             without a duel of all kernels had a short duel of those with similar predictions.\n\n\
             The selected kernel is within {GOOD_CHOICE} times the fastest in {good} of {} cases; the worst choice takes {} \
             times as long.\n\n{}",
            losses.len(),
            times(worst),
            folded("All cases", &table.end()),
        )
    }

    /// The kernel selected for an input at the strongest tier.
    fn selected(&self, listed: &Listed, workload: &Workload, size: u64) -> Option<&'a str> {
        let rows = self.data.choices.iter().flat_map(|saved| &saved.content.rows);
        let case = listed.case(workload, size);
        let mut rows = rows.filter(|row| row.case == case);
        rows.next_back().map(|row| row.kernel.as_str())
    }

    /// For each size with a duel of all kernels: the selected kernel, the fastest, and the ratio of their times.
    fn selected_in_duels(&self, listed: &Listed, workload: &Workload) -> Vec<(u64, &'a str, &'a str, f64)> {
        let case = |n| {
            let selected = self.selected(listed, workload, n)?;
            let duel = self.duel(listed, workload, n)?;
            let (best, row) = (duel.rows.first()?, duel.rows.iter().find(|row| row.kernel == selected)?);
            Some((n, selected, best.kernel.as_str(), row.median_seconds / best.median_seconds))
        };
        self.sizes(listed, workload).filter_map(case).collect()
    }
}
