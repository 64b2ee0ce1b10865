//! Markdown: tables and readable numbers.

pub(in crate::report) use nimlanes::units::{grouped, ratio as times};
use nimlanes::units::{scaled, span};

use crate::measuring::duel::Row;

/// A markdown table: a heading row and rows of cells. Columns of numbers are right-aligned.
pub(in crate::report) struct MarkdownTable {
    rows: Vec<Vec<String>>,
}

impl MarkdownTable {
    pub(in crate::report) fn new(heads: &[impl AsRef<str>]) -> Self {
        MarkdownTable { rows: vec![heads.iter().map(|head| head.as_ref().to_owned()).collect()] }
    }

    pub(in crate::report) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table; nothing if it has no rows.
    pub(in crate::report) fn end(self) -> String {
        let (heads, body) = self.rows.split_first().expect("a heading row");
        if body.is_empty() {
            return String::new();
        }
        let is_right = |column: usize| {
            let cells =
                || body.iter().filter_map(|row| row.get(column)).filter(|cell| !["", "–"].contains(&cell.as_str()));
            cells().next().is_some() && cells().all(|cell| is_number(cell))
        };
        let rule = (0..heads.len()).map(|column| if is_right(column) { "---:" } else { "---" }.to_owned()).collect();
        let mut text = String::new();
        for row in [heads, &rule].into_iter().chain(body) {
            row.iter().for_each(|cell| text += &format!("| {} ", cell.replace('|', "\\|")));
            text.push_str("|\n");
        }
        text + "\n"
    }

    /// The table below a line of text; nothing if it has no rows.
    pub(super) fn below(self, intro: &str) -> String {
        let table = self.end();
        if table.is_empty() { table } else { format!("{intro}\n\n{table}") }
    }
}

/// Whether a cell is only a number, perhaps with a unit and a spread.
fn is_number(cell: &str) -> bool {
    let starts = cell.trim_start_matches(['*', '×', '±', '−']).starts_with(|c: char| c.is_ascii_digit());
    starts && !cell.contains(['`', '(', ',', '/'])
}

pub(super) fn code(name: &str) -> String {
    format!("`{name}`")
}

/// Keeps a number and its unit on one line.
fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// A time with a readable unit.
pub(in crate::report) fn time(seconds: f64) -> String {
    unbroken(&span(seconds * 1e9))
}

/// Half the range of the ratios, in percent of their median.
pub(in crate::report) fn spread(row: &Row) -> String {
    unbroken(&format!("±{:.1} %", row.spread()))
}

/// A number with three significant digits.
pub(super) fn figure(number: f64) -> String {
    if number < 1.0 { format!("{number:.3}") } else { times(number) }
}

/// Nanoseconds with three significant digits.
pub(in crate::report) fn ns(ns: f64) -> String {
    unbroken(&format!("{} ns", figure(ns)))
}

/// Memory, with three significant digits.
pub(in crate::report) fn memory(bytes: f64) -> String {
    match scaled(bytes) {
        (number, "B") => unbroken(&format!("{number} B")),
        (number, unit) => unbroken(&format!("{} {unit}", times(number))),
    }
}

/// A share, in percent.
pub(in crate::report) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A size with thousands separators.
pub(super) fn size(size: u64) -> String {
    grouped(&size.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_right_aligned_and_words_left_aligned() {
        let mut table = MarkdownTable::new(&["kernel", "time", "best", "against", "empty", "needs"]);
        let row = ["`a`", "1.02 ms<br>×1.00", "**1.02 ms**", "**5.49** `b`", "–", "3 loads (1 ns)"];
        table.row(row.map(str::to_owned));
        table.row(["`b`", "–", "×2 ±3 %", "itself", "", "5 cycles (2 ns)"].map(str::to_owned));
        let text = table.end();
        assert_eq!(text.lines().nth(1), Some("| --- | ---: | ---: | --- | --- | --- |"), "{text}");
        assert_eq!(MarkdownTable::new(&["kernel"]).below("No kernels:"), "");
    }

    #[test]
    fn numbers_have_units() {
        assert_eq!([512.0, 494_481_000.0, 25.277e9].map(memory), ["512\u{a0}B", "494\u{a0}MB", "25.3\u{a0}GB"]);
        assert_eq!([0.1852, 8.456, 142.3].map(ns), ["0.185\u{a0}ns", "8.46\u{a0}ns", "142\u{a0}ns"]);
    }
}
