//! The ablation of an operation: what each idea is worth at each width. No kernel that was timed is left out.

use nimlanes::kernel::session::KernelInfo;

use super::markdown::{MarkdownTable, code, figure, times};
use super::operation::summary;
use super::{Entry, MachineReport, Ratio, TierColumns, nanoseconds};
use crate::measuring::duel::{Duel, Row};

/// One idea at several tiers, in the order of the list.
struct Idea<'e, 'd> {
    kernel: &'e KernelInfo,
    rows: Vec<&'d Row>,
}

/// The name of a kernel without its tier.
fn idea(kernel: &KernelInfo) -> &str {
    let name = kernel.name.strip_suffix(kernel.tier.name()).and_then(|name| name.strip_suffix('_'));
    name.unwrap_or(kernel.name)
}

fn ideas<'e, 'd>(entry: &'e Entry, duel: &'d Duel) -> Vec<Idea<'e, 'd>> {
    let mut ideas: Vec<Idea> = Vec::new();
    for kernel in &entry.kernels {
        let Some(row) = duel.rows.iter().find(|row| row.kernel == kernel.name) else { continue };
        match ideas.iter_mut().find(|known| idea(known.kernel) == idea(kernel)) {
            Some(known) => known.rows.push(row),
            None => ideas.push(Idea { kernel, rows: vec![row] }),
        }
    }
    ideas
}

impl MachineReport<'_> {
    /// The kernels of a duel, a line for each idea, with ratios to `reference`.
    pub(super) fn ablation(&self, entry: &Entry, duel: &Duel, reference: &Row) -> String {
        let tiers = TierColumns::of([duel]);
        let cycle = self.cycle();
        let ratio =
            format!("ratio to {} (range, {})", code(&reference.kernel), Ratio::of(reference, reference).rounds());
        let mut heads: Vec<&str> = ["idea"].into_iter().chain(self.titles(&tiers)).collect();
        heads.extend(["cycles", &ratio]);
        let mut table = MarkdownTable::new(&heads);
        for Idea { kernel, rows } in ideas(entry, duel) {
            let fastest = rows.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio)).expect("an idea has a row");
            let idea = format!("{}: {}", code(idea(kernel)), summary(kernel));
            let cycles = cycle.map_or("–".to_owned(), |cycle| times(1e9 / fastest.throughput / cycle));
            let cells = [idea].into_iter().chain(tiers.cells(&rows));
            table.row(cells.chain([cycles, Ratio::of(fastest, reference).with_range()]));
        }
        table.end()
    }

    /// The nanoseconds of a cycle, if they were measured.
    fn cycle(&self) -> Option<f64> {
        self.data.ceilings.iter().find(|reading| reading.kind == "clock").map(|reading| reading.ns)
    }

    /// The note above the ablation, with kernels that were too slow or have left the list since.
    pub(super) fn note_on_ablation(&self, entry: &Entry, duel: &Duel, unit: &str) -> String {
        let gone = duel.rows.iter().filter(|row| !entry.lists(row));
        let gone: Vec<String> = gone.map(|row| format!("{} {}", code(&row.kernel), nanoseconds(Some(row)))).collect();
        let gone = if gone.is_empty() { String::new() } else { format!(" Gone since: {}.", gone.join(", ")) };
        let cycle = self
            .cycle()
            .map(|ns| format!(" A cycle took {} ns. Cycles and ratios are of the fastest tier.", figure(ns)));
        let slow = duel.skipped.iter().filter(|skipped| skipped.reason.starts_with("predicted"));
        let slow: Vec<String> = slow.map(|skipped| code(&skipped.kernel)).collect();
        let slow = if slow.is_empty() { String::new() } else { format!(" Too slow to time: {}.", slow.join(", ")) };
        let cycle = cycle.unwrap_or_default();
        format!("In ns per {unit}.{cycle}{slow}{gone}\n\n")
    }
}
