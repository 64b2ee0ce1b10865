//! The section of an operation: result, steps, what they taught, and charts.

use std::path::Path;

use nimlanes::kernel::Tier;
use nimlanes::kernel::session::KernelInfo;
use nimlanes::kernel::workload::Workload;

use super::ladder::{Step, steps};
use super::markdown::{Table, code, ns, size, spread, time, times};
use super::{Entry, Page, Report, SMALL, is_ahead};
use crate::drawing::chart::{self, Dot, Point, Series};
use crate::measuring::duel::{Duel, Row};
use crate::report::CHARTS;

/// The heading of an operation's notes on failed ideas.
const TRIED: &str = "Tried";

/// The text below a heading of an operation's notes.
pub(super) fn section<'n>(notes: &'n str, heading: &str) -> Option<&'n str> {
    let sections = notes.split("\n# ").skip(1);
    sections
        .filter_map(|section| section.split_once('\n'))
        .find(|(head, _)| *head == heading)
        .map(|(_, text)| text.trim())
}

impl Report<'_> {
    /// The section of an operation in the report.
    pub(super) fn operation(&self, entry: &Entry, duel: &Duel) -> String {
        let name = entry.name();
        let charts = self.charts_of(entry);
        let picture = |kind: &str| {
            let file = format!("{name}-{kind}.svg");
            let is_drawn = charts.iter().any(|chart| chart.file == file);
            if is_drawn { format!("![{name} {kind}]({CHARTS}/{file})\n\n") } else { String::new() }
        };
        let mut text = String::new();
        if let Some(line) = result(entry, duel) {
            text += &format!("{line}\n\n");
        }
        text += &self.steps(entry, duel);
        text += &picture(RATIO);
        let notes = entry.operation.notes();
        let lessons = notes.split("\n# ").next().unwrap_or_default();
        if !lessons.trim().is_empty() {
            text += &format!("What the measurements showed:\n\n{}\n\n", lessons.trim());
        }
        text += &picture(SIZES);
        if let (Some(_), Some(kernel)) = (section(notes, TRIED), entry.kernels.first()) {
            let source = kernel.source();
            let folder = Path::new(&source).parent().unwrap_or(Path::new("")).display();
            text += &format!("More: [ideas that failed]({folder}/NOTES.md#tried).\n");
        }
        text
    }

    /// All charts.
    pub fn charts(&self) -> Vec<Page> {
        self.entries().flat_map(|entry| self.charts_of(&entry)).collect()
    }

    fn charts_of(&self, entry: &Entry) -> Vec<Page> {
        let headline = entry.headline();
        let ratios = self.headline(entry).map(|duel| {
            let title = format!("{}: {} at {}", entry.name(), headline.name, size(duel.case.size));
            let marks = self.marks(entry, &self.charted(entry, headline));
            chart::ratios(&title, &duel.baseline, &dots(entry, duel, &marks))
        });
        let charts = [(RATIO, ratios), (SIZES, self.sizes_chart(entry, headline))];
        let page = |(kind, text): (&str, Option<String>)| {
            Some(Page { file: format!("{}-{kind}.svg", entry.name()), text: text? })
        };
        charts.into_iter().filter_map(page).collect()
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
        let mut table = Table::new(&heads.collect::<Vec<_>>());
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

const RATIO: &str = "ratio";
const SIZES: &str = "sizes";

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

/// The technology that a kernel uses: its Cargo features, else its tier, else plain Rust.
fn technology(kernel: &KernelInfo) -> String {
    match (kernel.features, kernel.tier) {
        ([], Tier::Portable) => "plain Rust".to_owned(),
        ([], tier) => tier.name().to_owned(),
        (features, _) => features.join(" + "),
    }
}

fn dots(entry: &Entry, duel: &Duel, marks: &[&str]) -> Vec<Dot> {
    let dot = |row: &Row| Dot {
        name: row.kernel.clone(),
        technology: entry.info(&row.kernel).map_or(row.tier.clone(), technology),
        mark: marks.iter().position(|name| *name == row.kernel),
        ratio: row.ratio,
        range: (row.ratio_low, row.ratio_high),
    };
    duel.rows.iter().map(dot).collect()
}

/// The kernels over sizes, relative to the best in plain Rust.
fn series(entry: &Entry, duels: &[&Duel], marks: &[&str]) -> Vec<Series> {
    let series = |kernel: &KernelInfo| {
        let point = |duel: &&Duel| {
            let row = duel.rows.iter().find(|row| row.kernel == kernel.name)?;
            let ratio = row.ratio / entry.plain(duel)?.ratio;
            Some(Point { size: duel.case.size as f64, seconds: row.median_seconds, ratio })
        };
        let mark = marks.iter().position(|name| *name == kernel.name);
        Series { name: kernel.name.to_owned(), mark, points: duels.iter().filter_map(point).collect() }
    };
    entry.kernels.iter().map(series).filter(|series| !series.points.is_empty()).collect()
}
