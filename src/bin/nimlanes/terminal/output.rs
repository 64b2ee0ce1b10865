//! Output to files and standard output, and JSON documents. A closed pipe is not an error.

use std::io::{Error, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::iter::once;
use std::path::Path;

use nimlanes::kernel::Run;
use serde::Serialize;

use super::failure::{Failure, remark};
use crate::files::{self, LockedFile};

/// Prints text as it is.
pub fn print(text: &str) -> Result<(), Failure> {
    write_output(None, |out| out.write_all(text.as_bytes()))
}

/// Fails with the error that [`write_output`] expects if the run was cancelled.
pub fn check_cancelled(run: &Run) -> std::io::Result<()> {
    run.advance(0).map_err(|_| ErrorKind::Interrupted.into())
}

/// Writes to a file with [`files::write`], or to standard output if `file` is `None`. [`ErrorKind::Interrupted`] from `write`
/// means that the command was interrupted. On a terminal, a line on stderr names a file that is complete.
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

/// Checks that files can be written below a folder, which need not exist, before the work to fill them is done.
pub fn check_folder(folder: &Path) -> Result<(), Failure> {
    files::check_saved(&folder.join("file")).map_err(|error| failure(&error, Some(folder)))
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

/// Locks a file for this process. `in_use` is the message if another one has it.
pub fn lock(path: &Path, in_use: impl FnOnce() -> String) -> Result<LockedFile, Failure> {
    let file = LockedFile::lock(path).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => Failure::Failed(in_use()),
        _ => failure(&error, Some(path)),
    })?;
    if !file.is_locked() {
        let path = path.display();
        remark(&format!("{path} is not locked, as its file system has no locks; let no other run use it meanwhile"));
    }
    Ok(file)
}

/// An object that `--json` prints. The field `schema` names its format. Exact numbers that may exceed 2^53, which a JSON number
/// need not represent exactly, are strings.
pub trait Document: Serialize {
    /// `nimlanes-`, the kind of document, and a version that increases when a field changes or is removed.
    const SCHEMA: &'static str;
}

/// A document with its schema before its fields.
#[derive(Serialize)]
struct WithSchema<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    document: &'a T,
}

impl<'a, T: Document> WithSchema<'a, T> {
    fn new(document: &'a T) -> Self {
        WithSchema { schema: T::SCHEMA, document }
    }
}

/// Prints one object.
pub fn print_json<T: Document>(document: &T) -> Result<(), Failure> {
    print_any_json(&WithSchema::new(document))
}

/// Writes an object to where [`write_output`] writes.
pub fn write_json(value: &impl Serialize, out: &mut dyn Write) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

/// Prints an array with one object per document.
pub fn print_json_array<'a, T: Document + 'a>(documents: impl IntoIterator<Item = &'a T>) -> Result<(), Failure> {
    print_any_json(&documents.into_iter().map(WithSchema::new).collect::<Vec<_>>())
}

fn print_any_json(value: &impl Serialize) -> Result<(), Failure> {
    write_output(None, |out| write_json(value, out))
}

/// Formats rows as aligned columns.
pub fn table<R: IntoIterator<Item: ToString>>(rows: impl IntoIterator<Item = R>) -> String {
    align(rows.into_iter().map(cells).collect())
}

/// Formats rows as aligned columns below headings.
pub fn headed<H: IntoIterator<Item: ToString>, R: IntoIterator<Item: ToString>>(
    heads: H,
    rows: impl IntoIterator<Item = R>,
) -> String {
    align(once(cells(heads)).chain(rows.into_iter().map(cells)).collect())
}

fn cells<R: IntoIterator<Item: ToString>>(row: R) -> Vec<String> {
    row.into_iter().map(|cell| cell.to_string()).collect()
}

/// Columns of numbers are right-aligned; the first row, which may be a heading, is not checked.
fn align(rows: Vec<Vec<String>>) -> String {
    let column = |index: usize| rows.iter().filter_map(move |row| row.get(index));
    let is_number = |cell: &String| cell.starts_with(|c: char| c.is_ascii_digit() || c == '–');
    let style = |index| {
        let width = column(index).map(|cell| cell.chars().count()).max().unwrap_or(0);
        let mut below = column(index).skip(1).peekable();
        (width, below.peek().is_some() && below.all(is_number))
    };
    let styles: Vec<(usize, bool)> = (0..rows.iter().map(Vec::len).max().unwrap_or(0)).map(style).collect();
    let cell = |(cell, &(width, is_right)): (&String, &(usize, bool))| match is_right {
        true => format!("{cell:>width$}  "),
        false => format!("{cell:width$}  "),
    };
    let line = |row: &Vec<String>| row.iter().zip(&styles).map(cell).collect::<String>().trim_end().to_owned() + "\n";
    rows.iter().map(line).collect()
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
