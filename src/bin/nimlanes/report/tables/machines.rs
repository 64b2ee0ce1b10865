//! Other machines: the fastest kernels on the same inputs elsewhere.

use super::markdown::{MarkdownTable, code};
use super::{Entry, MachineReport, Ratio, revision};
use crate::files::saved::day;

impl MachineReport<'_> {
    /// The name of the machine that was measured.
    pub(super) fn name(&self) -> &str {
        self.data.name()
    }

    /// Name, date and revision: what a column of numbers is of.
    fn origin(&self) -> String {
        format!("{}, {}, {}", self.name(), day(self.data.date()), revision(self.data))
    }

    /// The ratio of the fastest kernel to the best known elsewhere at the published size; a dash if one of them was not measured.
    fn lead(&self, entry: &Entry) -> String {
        let lead = self.headline(entry).and_then(|duel| Some(Ratio::of(duel.rows.first()?, entry.public(duel)?)));
        lead.map_or("–".to_owned(), |ratio| ratio.with_rounds())
    }

    /// These ratios on each other machine; nothing if there is none.
    pub(super) fn other_machines(&self) -> String {
        if self.others.is_empty() {
            return String::new();
        }
        let heads = ["operation".to_owned()].into_iter().chain(self.others.iter().map(MachineReport::origin));
        let mut table = MarkdownTable::new(&heads.collect::<Vec<_>>());
        for entry in self.entries().filter(|entry| self.headline(entry).is_some()) {
            let ratios = self.others.iter().map(|other| other.lead(&entry));
            table.row([code(entry.name())].into_iter().chain(ratios));
        }
        table.below("The same ratio, by the fastest kernel there. A column has one revision.")
    }

    /// The machines in words: a line for each.
    pub(super) fn machines(&self) -> String {
        let machines = [self].into_iter().chain(&self.others).map(|report| {
            let environment = &report.data.environment;
            let hidden = report.data.given_name.as_ref();
            let hidden = hidden.map(|_| format!(", named by hand (the CPU gives {})", environment.microarchitecture));
            let (tier, hidden) = (code(&environment.tier), hidden.unwrap_or_default());
            let (origin, cpu, cpus) = (report.origin(), &environment.cpu, environment.threads);
            format!("- **{origin}**{hidden}: {cpu}, up to {tier}, {cpus} CPUs.\n")
        });
        machines.collect()
    }
}
