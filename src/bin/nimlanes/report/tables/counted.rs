//! What the CPU counts while kernels run.

use super::markdown::{Table, code, range, times};
use super::{Entry, Report, Topic};
use crate::report::data::Counted;

impl Report<'_> {
    /// The counts of an operation at its published size.
    fn counts(&self, entry: &Entry) -> Option<&Counted> {
        let case = entry.case(entry.headline(), entry.headline().published);
        self.data.counted.iter().map(|saved| &saved.content).find(|counted| counted.case == case)
    }

    pub(super) fn counted(&self) -> Option<Topic> {
        let (mut tables, mut best) = (String::new(), Vec::new());
        for entry in self.entries() {
            let Some(Counted { case, counters }) = self.counts(&entry) else { continue };
            let lines = counters.lines();
            let (head, rows) = lines.split_first()?;
            let mut table = Table::new(head);
            for line in rows {
                let kernel = entry.link(&line[0]);
                table.row([kernel].into_iter().chain(line[1..].iter().cloned()));
            }
            tables += &table.below(&format!("{}, per {}:", code(&case.to_string()), entry.operation.unit()));
            let leader = self.headline(&entry).and_then(|duel| duel.rows.first());
            let leader = leader.and_then(|best| counters.rows.iter().find(|row| row.kernel == best.kernel));
            best.extend(leader.and_then(|row| row.instructions_per_cycle()));
        }
        let finding = range(&best, times);
        let finding = finding.map(|range| format!(" The best kernels complete {range} instructions in a cycle."));
        (!tables.is_empty()).then(|| Topic {
            file: "counters",
            title: "Counters of the CPU".to_owned(),
            finding: "Instructions, cycles and misses for a unit of work.".to_owned() + &finding.unwrap_or_default(),
            tables,
        })
    }
}
