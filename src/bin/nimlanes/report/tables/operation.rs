//! The section of an operation: result, steps, what they taught, and charts.

use std::path::Path;

use nimlanes::kernel::session::KernelInfo;
use nimlanes::kernel::workload::Workload;

use super::ladder::{Step, steps};
use super::markdown::{MarkdownTable, code, ns, size, spread, time, times};
use super::{Entry, MachineReport, SMALL, is_ahead};
use crate::drawing::chart::{self, Point, Series};
use crate::measuring::duel::{Duel, Row};
use crate::report::CHARTS;

impl MachineReport<'_> {
    /// The section of an operation in the report.
    pub(super) fn operation(&self, entry: &Entry, duel: &Duel) -> String {
        let name = entry.name();
        let mut text = String::new();
        if let Some(line) = result(entry, duel) {
            text += &format!("{line}\n\n");
        }
        text += &self.steps(entry, duel);
        let notes = entry.operation.notes();
        let lessons = notes.split("\n# ").next().unwrap_or_default();
        if !lessons.trim().is_empty() {
            text += &format!("What the measurements showed:\n\n{}\n\n", lessons.trim());
        }
        if self.sizes_chart(entry, entry.headline()).is_some() {
            text += &format!("![{name} sizes]({CHARTS}/{})\n\n", chart_file(name));
        }
        if let (true, Some(kernel)) = (notes.contains("\n# Tried\n"), entry.kernels.first()) {
            let source = kernel.source();
            let folder = Path::new(&source).parent().unwrap_or(Path::new("")).display();
            text += &format!("More: [ideas that failed]({folder}/NOTES.md#tried).\n");
        }
        text
    }

    /// The charts of the first workloads: the name of the file of each, and its text.
    pub fn charts(&self) -> impl Iterator<Item = (String, String)> {
        let chart = |entry: Entry| Some((chart_file(entry.name()), self.sizes_chart(&entry, entry.headline())?));
        self.entries().filter_map(chart)
    }

    /// The duels of a workload by size. A logarithmic axis cannot show size 0.
    fn charted(&self, entry: &Entry, workload: &Workload) -> Vec<&Duel> {
        let sizes = self.sizes(entry, workload).filter(|size| *size > 0);
        sizes.filter_map(|size| self.duel(entry, workload, size)).collect()
    }

    /// The chart of a workload over its sizes, if there are several.
    pub(in crate::report) fn sizes_chart(&self, entry: &Entry, workload: &Workload) -> Option<String> {
        let duels = self.charted(entry, workload);
        let series = series(entry, &duels, &self.marks(entry, &duels));
        let title = format!("{}: {}", entry.name(), workload.name);
        let is_line = series.iter().any(|series| series.points.len() > 1);
        is_line.then(|| chart::sizes(&title, &series, SMALL as f64))
    }

    /// The kernels that beat all before them in the list, and the best in plain Rust.
    fn steps(&self, entry: &Entry, duel: &Duel) -> String {
        let heads = ["step", "what it is", "time", &format!("× {}", code(&duel.baseline)), "× the best before"];
        let heads = heads.into_iter().map(str::to_owned).chain(self.heads_of_others());
        let mut table = MarkdownTable::new(&heads.collect::<Vec<_>>());
        let is = |named: Option<&Row>, row: &Row| named.is_some_and(|named| named.kernel == row.kernel);
        for Step { kernel, row, gain } in steps(duel, &entry.kernels) {
            let bold = if is(duel.rows.first(), row) { "**" } else { "" };
            let note = if is(entry.plain(duel), row) { "; **the best plain Rust**" } else { "" };
            let noise = if row.kernel == duel.baseline { String::new() } else { format!(" {}", spread(row)) };
            let cells = [
                entry.link(kernel.name),
                summary(kernel) + note,
                format!("{bold}{}{bold}", time(row.median_seconds)),
                times(row.ratio) + &noise,
                gain.map_or("–".to_owned(), times),
            ];
            table.row(cells.into_iter().chain(self.steps_of_others(entry, duel, kernel.name)));
        }
        table.end()
    }

    /// The kernels with a mark in charts, in list order: the baseline, and those that lead, overall or in plain Rust, at a size that
    /// is not small.
    fn marks(&self, entry: &Entry, duels: &[&Duel]) -> Vec<&'static str> {
        let mut leads: Vec<&str> = self.headline(entry).map(|duel| duel.baseline.as_str()).into_iter().collect();
        for duel in duels.iter().filter(|duel| duel.case.size > SMALL) {
            leads.extend(duel.rows.first().into_iter().chain(entry.plain(duel)).map(|row| row.kernel.as_str()));
        }
        entry.kernels.iter().map(|kernel| kernel.name).filter(|name| leads.contains(name)).collect()
    }
}

fn chart_file(operation: &str) -> String {
    format!("{operation}-sizes.svg")
}

/// The result in one line.
fn result(entry: &Entry, duel: &Duel) -> Option<String> {
    let best = duel.rows.first()?;
    let tied = duel.rows[1..].iter().take_while(|row| !is_ahead(best.ratio / row.ratio));
    let tied: Vec<String> = tied.map(|row| code(&row.kernel)).collect();
    let tied = if tied.is_empty() { String::new() } else { format!(" (a tie with {})", tied.join(", ")) };
    let mut line = format!(
        "**Result** at {}: {}{tied} takes {}, {} per {}: {} times as fast as the baseline, {}",
        size(duel.case.size),
        code(&best.kernel),
        time(best.median_seconds),
        ns(1e9 / best.throughput),
        best.unit,
        times(best.ratio),
        code(&duel.baseline),
    );
    if let Some(plain) = entry.plain(duel) {
        match plain.kernel == best.kernel {
            true => line.push_str("; it is plain Rust"),
            false => {
                line += &format!(
                    ", and {} times as fast as the best plain Rust, {}",
                    times(best.ratio / plain.ratio),
                    code(&plain.kernel)
                );
            }
        }
    }
    Some(line + ".")
}

/// A kernel's summary, with the name of the kernel that it refers to.
pub(super) fn summary(kernel: &KernelInfo) -> String {
    match kernel.like {
        Some(other) => format!("as {}: {}", code(other), kernel.summary),
        None => kernel.summary.to_owned(),
    }
}

/// The kernels over sizes, relative to the best in plain Rust.
fn series(entry: &Entry, duels: &[&Duel], marks: &[&str]) -> Vec<Series> {
    let series = |kernel: &KernelInfo| {
        let point = |duel: &&Duel| {
            let row = duel.rows.iter().find(|row| row.kernel == kernel.name)?;
            let ratio = row.ratio / entry.plain(duel)?.ratio;
            Some(Point { size: duel.case.size as f64, ratio })
        };
        let mark = marks.iter().position(|name| *name == kernel.name);
        Series { name: kernel.name.to_owned(), mark, points: duels.iter().filter_map(point).collect() }
    };
    entry.kernels.iter().map(series).filter(|series| !series.points.is_empty()).collect()
}
