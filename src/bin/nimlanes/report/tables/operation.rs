//! An operation: its section in RESULTS.md, its page, and its chart.

use std::path::Path;

use nimlanes::kernel::session::KernelInfo;
use nimlanes::kernel::workload::Workload;

use super::markdown::{code, ns, size};
use super::{Entry, MachineReport, Ratio, SMALL};
use crate::drawing::chart::{self, Point, Series};
use crate::measuring::duel::{Duel, Row};
use crate::report::{CHARTS, PAGES};

/// The question of each operation, and the best known elsewhere with its sources.
const OPERATIONS: &str = include_str!("operations.txt");

/// The part of a text in Markdown below a heading of the first level.
fn below<'t>(text: &'t str, heading: &str) -> &'t str {
    let part = text.split("# ").find_map(|part| part.strip_prefix(heading)?.strip_prefix('\n'));
    part.unwrap_or_default().trim()
}

/// The question of an operation, and its sources.
fn about(operation: &str) -> (&'static str, &'static str) {
    let text = below(OPERATIONS, operation);
    text.split_once("\n\n").unwrap_or((text, ""))
}

/// The lessons of the measurements of an operation: a list.
fn lessons(entry: &Entry) -> &'static str {
    entry.operation.notes().split("\n# ").next().unwrap_or_default().trim()
}

impl MachineReport<'_> {
    /// The section of an operation in RESULTS.md: result and bound, the first lesson, and where else the idea helps.
    pub(super) fn operation(&self, entry: &Entry, duel: &Duel) -> String {
        let name = entry.name();
        let items = || lessons(entry).split("\n- ").map(|item| item.trim_start_matches("- "));
        let elsewhere = items().filter(|item| item.starts_with("**Use this elsewhere**"));
        let chosen: String = items().take(1).chain(elsewhere).map(|item| format!("- {item}\n")).collect();
        let result = result(duel, entry, &[entry.public(duel).map(|row| (PUBLIC, row))]);
        let bound = self.bound(name, duel).map_or("No kernel states a bound.".to_owned(), |[bound, _]| bound);
        format!("{}\n\n{result} {bound}\n\n{chosen}- [All kernels]({PAGES}/{name}.md)\n", about(name).0)
    }

    /// The page of each operation that was measured: the name of its file, and its text.
    pub fn pages(&self) -> impl Iterator<Item = (String, String)> {
        let page = |entry: Entry| Some((format!("{}.md", entry.name()), self.page(&entry, self.headline(&entry)?)));
        self.entries().filter_map(page)
    }

    fn page(&self, entry: &Entry, duel: &Duel) -> String {
        let name = entry.name();
        let (question, sources) = about(name);
        let plain = entry.plain(duel).map(|row| ("The best in plain Rust", row));
        let result = result(duel, entry, &[entry.public(duel).map(|row| (PUBLIC, row)), plain]);
        let mut text = format!("# {}\n\n{question}\n\n{result}\n\n{}.\n\n", code(name), self.subject());
        let mut section = |title: &str, body: &str| {
            if !body.trim().is_empty() {
                text += &format!("## {title}\n\n{}\n\n", body.trim());
            }
        };
        if let (Some(reference), Some(best)) = (entry.public(duel).or(entry.baseline(duel)), duel.rows.first()) {
            let note = self.note_on_ablation(entry, duel, &best.unit);
            section("Ablation", &(note + &self.ablation(entry, duel, reference) + &self.observed(entry, best)));
        }
        section("Bound", &self.bound(name, duel).map_or(String::new(), |[_, needs]| needs));
        section("Lessons", lessons(entry));
        section("Best known elsewhere", sources);
        section("More", &self.more(entry));
        text
    }

    /// The observed kernels at the published size, below the exact ones.
    fn observed(&self, entry: &Entry, best: &Row) -> String {
        let headline = entry.headline();
        let published = entry.case(headline, headline.published);
        let mut duels = self.data.observed.iter().filter(|duel| duel.case == published && duel.build == "default");
        let duel = duels.find(|duel| duel.rows.iter().any(|row| row.clock == "thread"));
        let table = duel.map_or(String::new(), |duel| self.ablation(entry, duel, best));
        if table.is_empty() {
            return table;
        }
        format!("Observed, not proved; run only if named.\n\n{table}")
    }

    /// The chart of an operation, and the ways to its sources, flamegraphs and ideas that failed.
    fn more(&self, entry: &Entry) -> String {
        let name = entry.name();
        let chart = self.sizes_chart(entry, entry.headline());
        let chart = chart.map(|_| format!("![{name} sizes]({CHARTS}/{})\n\n", chart_file(name))).unwrap_or_default();
        let source = entry.kernels.first().map(|kernel| kernel.source()).unwrap_or_default();
        let folder = Path::new(&source).parent().unwrap_or(Path::new("")).display();
        let tried = if entry.operation.notes().contains("\n# Tried\n") {
            format!(", [ideas that failed]({folder}/NOTES.md#tried)")
        } else {
            String::new()
        };
        format!("{chart}[Annotated flamegraphs](profiles/flamegraphs/README.md#{name}), [sources]({folder}){tried}")
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

const PUBLIC: &str = "The best known elsewhere";

/// The result, of the kernels that are still there. `others` are compared with the fastest of them.
fn result(duel: &Duel, entry: &Entry, others: &[Option<(&str, &Row)>]) -> String {
    let mut rows = duel.rows.iter().filter(|row| entry.lists(row));
    let Some(best) = rows.next() else { return String::new() };
    let others = others.iter().flatten().filter(|(_, other)| other.kernel != best.kernel).map(|(title, other)| {
        format!(" {title}, {}, takes {} times as long.", code(&other.kernel), Ratio::of(best, other).with_rounds())
    });
    let others: String = others.collect();
    let tied = rows.filter(|row| Ratio::of(best, row).is_tie());
    let tied: Vec<String> = tied.map(|row| code(&row.kernel)).collect();
    let tied = if tied.is_empty() { String::new() } else { format!(" It ties with {}.", tied.join(", ")) };
    let (kernel, workload, size) = (code(&best.kernel), &duel.case.workload, size(duel.case.size));
    format!("{kernel} takes {} per {} ({workload} at {size}).{others}{tied}", ns(1e9 / best.throughput), best.unit)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_question_and_sources() {
        for operation in nimlanes::cores::OPERATIONS {
            let (question, sources) = about(operation.name());
            assert!(question.ends_with('.') && sources.starts_with("- "), "{}: {question}", operation.name());
        }
    }
}
