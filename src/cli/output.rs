//! Printing that survives a closed pipe.

use std::io::{ErrorKind, Write, stdout};

use serde::Serialize;

use super::failure::Failure;

/// Prints text as it is.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::Failed(format!("cannot write to standard output: {error}")),
    })
}

/// Prints a value as JSON, with a new line at the end.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Failed(error.to_string()))?;
    print(&(text + "\n"))
}

/// Lines of columns, padded to the widest cell; columns of numbers (below the first row, perhaps a heading) stand to the
/// right.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |c: usize| rows.iter().filter_map(move |row| row.get(c));
    let is_number = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '–');
    let form = |c: usize| {
        let width = cells(c).map(|cell| cell.chars().count()).max().unwrap_or(0);
        (width, cells(c).skip(1).all(is_number) && cells(c).next_back().is_some_and(is_number))
    };
    let forms: Vec<(usize, bool)> = (0..columns).map(form).collect();
    let cell = |(cell, (width, right)): (&String, &(usize, bool))| match right {
        true => format!("{cell:>width$}"),
        false => format!("{cell:<width$}"),
    };
    let line = |row: &Vec<String>| row.iter().zip(&forms).map(cell).collect::<Vec<_>>().join("  ");
    rows.iter().map(|row| line(row).trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_stand_to_the_right_and_text_to_the_left() {
        let rows = [["kernel", "time", ""], ["a", "9 ns", "64 at once"], ["long", "120 ns", "bytes"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(&rows), "kernel    time\na         9 ns  64 at once\nlong    120 ns  bytes\n");
    }
}
