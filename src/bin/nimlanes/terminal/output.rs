//! Output to files and standard output, and JSON documents. A closed pipe is not an error.

use std::io::{Error, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use clap::builder::StyledStr;
use comfy_table::CellAlignment::{Left, Right};
use comfy_table::presets::NOTHING;
use comfy_table::{Cell, Row, Table};
use nimlanes::kernel::Run;
use serde::Serialize;

use super::failure::{Failure, remark};
use crate::files;

/// Prints text as it is.
pub fn print(text: &str) -> Result<(), Failure> {
    write_output(None, |out| out.write_all(text.as_bytes()))
}

/// Prints text in colour where that is wanted.
pub fn print_styled(text: &StyledStr) -> Result<(), Failure> {
    let is_plain = AutoStream::choice(&stdout()) == ColorChoice::Never;
    print(&if is_plain { text.to_string() } else { text.ansi().to_string() })
}

/// Fails with the error that [`write_output`] expects if the run was cancelled.
pub fn check_cancelled(run: &Run) -> std::io::Result<()> {
    run.advance(0).map_err(|_| ErrorKind::Interrupted.into())
}

/// Writes to a file with [`files::write`], or to standard output if `file` is `None`. [`ErrorKind::Interrupted`] from `write`
/// means that the command was interrupted. On a terminal, a line on stderr says that a file is complete.
pub fn write_output(
    file: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Failure> {
    let file = file.filter(|path| !files::is_standard(path));
    let written = match file {
        None => files::buffered(stdout().lock(), write),
        Some(path) => files::write(path, write),
    };
    written.map_err(|error| failure(&error, file))?;
    if let Some(path) = file.filter(|_| stderr().is_terminal()) {
        remark(&format!("{} is written", path.display()));
    }
    Ok(())
}

/// Checks that [`write_output`] can write to a file, before the work to fill it is done.
pub fn check_writable(file: Option<&Path>) -> Result<(), Failure> {
    file.map_or(Ok(()), files::check).map_err(|error| failure(&error, file))
}

/// The failure for a write error of a file, or of standard output.
pub fn failure(error: &Error, file: Option<&Path>) -> Failure {
    match (error.kind(), file.filter(|path| !files::is_standard(path))) {
        (ErrorKind::BrokenPipe, _) => Failure::ClosedPipe,
        (ErrorKind::Interrupted, _) => Failure::Interrupted,
        (_, None) => Failure::Failed(format!("cannot write to standard output: {error}")),
        (_, Some(path)) => Failure::Failed(format!("cannot write to {}: {error}", path.display())),
    }
}

/// An object that `--json` prints. The field `schema` names its format. Exact numbers that may exceed 2^53, which a JSON number
/// need not represent exactly, are strings.
pub trait Document: Serialize {
    /// `nimlanes-`, the kind of document, and a version that increases when a field changes or is removed.
    const SCHEMA: &'static str;
}

/// A document with its schema before its fields.
#[derive(Serialize)]
struct Named<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    document: &'a T,
}

impl<'a, T: Document> Named<'a, T> {
    fn new(document: &'a T) -> Self {
        Named { schema: T::SCHEMA, document }
    }
}

/// Prints one object.
pub fn print_json<T: Document>(document: &T) -> Result<(), Failure> {
    print_any_json(&Named::new(document))
}

/// Writes one object to where [`write_output`] writes.
pub fn write_json<T: Document>(document: &T, out: &mut dyn Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Named::new(document))?;
    writeln!(out)
}

/// Prints an array with one object per document.
pub fn print_json_array<'a, T: Document + 'a>(documents: impl IntoIterator<Item = &'a T>) -> Result<(), Failure> {
    print_any_json(&documents.into_iter().map(Named::new).collect::<Vec<_>>())
}

fn print_any_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Failed(error.to_string()))?;
    print(&(text + "\n"))
}

/// Formats rows as aligned columns.
pub fn table<R: Into<Row>>(rows: impl IntoIterator<Item = R>) -> String {
    align(Table::new().add_rows(rows))
}

/// Formats rows as aligned columns below headings.
pub fn headed<R: Into<Row>>(heads: impl Into<Row>, rows: impl IntoIterator<Item = R>) -> String {
    align(Table::new().add_row(heads).add_rows(rows))
}

/// Columns of numbers are right-aligned; the first row, which may be a heading, is not checked.
fn align(table: &mut Table) -> String {
    let columns = table.column_count();
    let is_number = |cell: &Cell| cell.content().starts_with(|c: char| c.is_ascii_digit() || c == '–');
    let are_numbers = |column| {
        let mut cells = table.column_cells_iter(column).skip(1).flatten().peekable();
        cells.peek().is_some() && cells.all(is_number)
    };
    let are_right: Vec<bool> = (0..columns).map(are_numbers).collect();
    for (column, is_right) in table.load_style(NOTHING).column_iter_mut().zip(are_right) {
        column.set_padding((0, 2)).set_cell_alignment(if is_right { Right } else { Left });
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_right_aligned_and_text_left_aligned() {
        let rows = [["a", "9 ns", "64 at once"], ["long", "120 ns", "bytes"]];
        assert_eq!(
            headed(["kernel", "time", ""], rows),
            "kernel    time\na         9 ns  64 at once\nlong    120 ns  bytes\n"
        );
    }
}
