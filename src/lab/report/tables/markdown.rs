//! Markdown: tables, and numbers as people write them.

use crate::lab::duel::Row;
use crate::selection::span;

/// Rows of cells below a heading row, as markdown.
pub(super) struct Table {
    text: String,
}

impl Table {
    pub(super) fn new(heads: &[impl AsRef<str>]) -> Self {
        let mut table = Table { text: String::new() };
        table.row(heads.iter().map(|head| head.as_ref().to_owned()));
        table.row(heads.iter().enumerate().map(|(column, _)| if column == 0 { "---" } else { "---:" }.to_owned()));
        table
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        for cell in cells {
            self.text += &format!("| {} ", cell.replace('|', "\\|"));
        }
        self.text.push_str("|\n");
    }

    pub(super) fn end(self) -> String {
        self.text + "\n"
    }
}

pub(super) fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Markdown that a reader unfolds.
pub(super) fn folded(title: &str, body: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{}\n\n</details>\n\n", body.trim_end())
}

/// A number of seconds for people.
pub(super) fn time(seconds: f64) -> String {
    span(seconds * 1e9)
}

/// A ratio with three digits.
pub(super) fn times(ratio: f64) -> String {
    format!("{ratio:.*}", if ratio < 10.0 { 2 } else { usize::from(ratio < 100.0) })
}

/// Half the range of the ratios, in percent of their median.
pub(super) fn spread(row: &Row) -> String {
    format!("±{:.1} %", 50.0 * (row.ratio_high - row.ratio_low) / row.ratio)
}

/// A number of nanoseconds with three digits.
pub(super) fn ns(ns: f64) -> String {
    if ns < 1.0 { format!("{ns:.3} ns") } else { format!("{} ns", times(ns)) }
}

/// A size as people write it.
pub(super) fn size(size: u64) -> String {
    let digits = size.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap_or("")).collect();
    groups.join("\u{202f}")
}
