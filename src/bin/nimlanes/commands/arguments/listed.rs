//! `@FILE` on the command line: a list in a file, which may be a pipe, or standard input as `@-`.

use std::borrow::Cow;
use std::fs::File;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use nimlanes::machine::Machine;
use nimlanes::units::bytes;

use crate::files;
use crate::files::saved;

/// Bytes of memory for a byte of a file: a number of one digit and a comma becomes eight bytes, in a list that doubles; the text
/// is kept meanwhile, as it is and with other separators.
const NEEDS: u64 = 14;

/// Help for moves; the error for others has all of [`ALLOWED`](nimlanes::moves::ALLOWED).
pub const MOVES_HELP: &str = "A list a,b,c, a range 1..k, all-but:a,b, @FILE, or a name";

/// A text of the command line. If it is `@` and a path, the list in that file, with commas between its items. A pipe can be read only
/// once, so this is done when the command line is parsed.
pub fn moves(text: &str) -> Result<String, String> {
    let text = match given("moves", text)? {
        Cow::Borrowed(text) => return Ok(text.to_owned()),
        Cow::Owned(text) => text,
    };
    let mut list = String::with_capacity(text.len());
    for item in items(&text) {
        if !list.is_empty() {
            list.push(',');
        }
        list.push_str(item);
    }
    Ok(list)
}

/// The items of a list: commas, spaces or ends of lines separate them, and a `#` begins a comment.
pub fn items(text: &str) -> impl Iterator<Item = &str> {
    let items = lines(text).flat_map(|line| line.split(|c: char| c == ',' || c.is_whitespace()));
    items.filter(|item| !item.is_empty())
}

/// The lines of a list without their comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split('#').next().unwrap_or_default())
}

/// A text of the command line; if it is `@` and a path, the list of `what` in that file.
pub fn given<'a>(what: &str, text: &'a str) -> Result<Cow<'a, str>, String> {
    let Some(path) = text.strip_prefix('@') else { return Ok(Cow::Borrowed(text)) };
    if path.is_empty() {
        return Err(format!("`@` names no file of {what}; allowed: @FILE, or @- for standard input"));
    }
    list(Path::new(path)).map(Cow::Owned).map_err(|reason| format!("cannot read {what} from {path}: {reason}"))
}

fn list(path: &Path) -> Result<String, String> {
    let text = if files::is_standard(path) { text(stdin().lock(), 0)? } else { of_file(path)? };
    match is_bfile(&text) {
        true => Err("it is a b-file, with an index before each term; allowed: the terms alone".to_owned()),
        false => Ok(text),
    }
}

/// The text of a file, which must not be replaced by what is made of it.
fn of_file(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let text = text(&file, length)?;
    files::keep(file);
    Ok(text)
}

/// The text in a stream of about this length, which is 0 for a pipe; a file may grow meanwhile.
fn text(stream: impl Read, mut length: u64) -> Result<String, String> {
    let free = Machine::detect().memory(1);
    let most = free / NEEDS;
    let mut text = Vec::new();
    if length <= most {
        stream.take(most.saturating_add(1)).read_to_end(&mut text).map_err(|error| error.to_string())?;
        length = text.len() as u64;
    }
    if length > most {
        let needs = length as f64 * NEEDS as f64;
        return Err(format!("it may need {} here and {} are free", bytes(needs), bytes(free as f64)));
    }
    saved::text(text).map_err(|error| error.to_string())
}

/// Whether a text is a b-file of OEIS: lines of two numbers, the first of which counts the lines.
fn is_bfile(text: &str) -> bool {
    let index = |line: &str| {
        let mut words = line.split_whitespace().map(|word| word.parse::<i128>().ok());
        match [words.next(), words.next(), words.next()] {
            [Some(Some(index)), Some(Some(_)), None] => Some(index),
            _ => None,
        }
    };
    let mut indices = lines(text).filter(|line| !line.trim().is_empty()).map(index);
    let Some(Some(mut last)) = indices.next() else { return false };
    let mut follows = |index: Option<i128>| index.is_some_and(|index| std::mem::replace(&mut last, index) + 1 == index);
    indices.next().is_some_and(&mut follows) && indices.all(follows)
}

/// Parses a folder for files. A stream is none.
pub fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match files::is_standard(&path) {
        true => Err("that is the standard stream, not a folder; ./- is a folder"),
        false => Ok(path),
    })
}

#[cfg(test)]
mod tests {
    use super::is_bfile;

    #[test]
    fn a_bfile_counts_its_lines() {
        for text in ["0 0\n1 1\n2 4\n", "# A000290\n\n-1 5 # five\r\n0 -6\r\n", "1 99999999999999999999999\n2 0"] {
            assert!(is_bfile(text), "{text}");
        }
        for text in ["", "1 4", "1 4\n9 16", "1\n2\n3", "1 4\n2 9 16", "1,4\n2,9", "0 0\n1 1\n3 9", "0.1 0.2\n0.3 0.4"]
        {
            assert!(!is_bfile(text), "{text}");
        }
    }
}
