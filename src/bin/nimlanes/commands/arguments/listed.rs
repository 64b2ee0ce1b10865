//! `@FILE` on the command line: a list in a file, which may be a pipe.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use nimlanes::machine::Machine;
use nimlanes::units::bytes;

use crate::files::saved::without_mark;

/// Bytes of memory for a byte of a file: a number of one digit and a comma becomes eight bytes, in a list that doubles; the text
/// is kept meanwhile, as it is and with other separators.
const NEEDS: u64 = 14;

/// What help says after [`ALLOWED`](nimlanes::moves::ALLOWED).
pub const MOVES_NOTE: &str =
    ". @FILE reads a list. The moves of lucas are 1, 2, 3, 4, 7, 11, ...; lucas-from-1 is without the 2";

/// A text of the command line. If it is `@` and a path, the list in that file: its numbers, which commas, spaces or ends of lines
/// separate there, with commas between. A pipe can be read only once, so this is done when the command line is parsed.
pub fn moves(text: &str) -> Result<String, String> {
    let Some(path) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
    let text = read("moves", path)?;
    let parts = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|part| !part.is_empty());
    let mut list = String::with_capacity(text.len());
    for part in parts {
        if !list.is_empty() {
            list.push(',');
        }
        list.push_str(part);
    }
    Ok(list)
}

/// The text of a file or a pipe with `what` in it.
pub fn read(what: &str, path: &str) -> Result<String, String> {
    let wrong = |reason: String| format!("cannot read {what} from {path}: {reason}");
    let file = File::open(Path::new(path)).map_err(|error| wrong(error.to_string()))?;
    let free = Machine::detect().memory(1);
    let most = free / NEEDS;
    // The length of a pipe is 0, and a file may grow meanwhile.
    let mut length = file.metadata().map_err(|error| wrong(error.to_string()))?.len();
    let mut text = String::new();
    if length <= most {
        file.take(most.saturating_add(1)).read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?;
        length = text.len() as u64;
    }
    if length > most {
        let needs = length as f64 * NEEDS as f64;
        return Err(wrong(format!("it may need {} here and {} are free", bytes(needs), bytes(free as f64))));
    }
    Ok(without_mark(text))
}
