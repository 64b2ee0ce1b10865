//! What is known of first heaps past the public record, as a page and as b-files.
//!
//! They are made from runs that `grundy --records --save` kept. A term counts as confirmed if two kernels found it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::oeis;
use super::runs::{command, longest_first, row};
use super::sequences::{Found, Sequence, agreed, found};
use crate::files::found::{FirstHeaps, Origin};
use crate::files::saved::SavedError;

/// The folder of the runs, the page and the b-files.
pub const FOLDER: &str = "profiles/discoveries";

/// The page, the b-files, and the terms in the form of the OEIS; none without runs.
///
/// # Errors
/// A file cannot be read or is no saved run.
pub fn files(made: &str) -> Result<Vec<(PathBuf, String)>, SavedError> {
    let runs = longest_first(Path::new(FOLDER), |run: &FirstHeaps| &run.origin)?;
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let mut page = format!("{made}\n\n{}", include_str!("first_heaps.md"));
    let mut files = Vec::new();
    let found = found(&runs);
    for found in &found {
        page += &section(found);
        files.push((Path::new(FOLDER).join(found.sequence.file()), b_file(found, made)));
    }
    files.push((Path::new(FOLDER).join("README.md"), page));
    files.push(oeis::file(&found, made));
    Ok(files)
}

fn section(Found { sequence, runs, confirmed }: &Found) -> String {
    let Sequence { moves, oeis, record, .. } = **sequence;
    let mut text = format!("## {moves}\n\n");
    let mut line = |line: String| writeln!(text, "{line}").expect("text takes it");
    line(match oeis {
        Some((number, _)) => format!("- Public: [{number}](https://oeis.org/{number}), {record}."),
        None => format!("- Public: {record}."),
    });
    let new = oeis.map_or(&[][..], |(_, public)| confirmed.get(public..).unwrap_or_default());
    let last = confirmed.len().saturating_sub(1);
    match new {
        [] => {}
        [heap] => line(format!("- New: value {last}, first at heap {heap}.")),
        [.., heap] => line(format!("- New: {} terms, the last of them value {last}, first at heap {heap}.", new.len())),
    }
    if let Some((limit, kernels)) = agreed(runs) {
        let kernels = kernels.iter().map(|kernel| format!("`{kernel}`")).collect::<Vec<_>>().join(" and ");
        let next = runs.iter().find(|run| run.content.origin.limit == limit).map_or(0, |run| run.content.first.len());
        line(format!(
            "- No value {next} up to heap {limit}: {kernels} agree in the first heap and the frequency of every value."
        ));
        let longer = runs.iter().filter(|run| run.content.origin.limit > limit);
        for FirstHeaps { origin, first, .. } in longer.map(|run| &run.content) {
            let Origin { limit, kernel, .. } = origin;
            line(format!("- No value {} up to heap {limit}, as `{kernel}` alone has seen.", first.len()));
        }
    }
    let file = sequence.file();
    line(format!("- All {} confirmed terms: [{file}]({file}).\n", confirmed.len()));
    line("| run | values | time | day | CPU |\n| --- | ---: | ---: | --- | --- |".to_owned());
    for run in runs {
        line(row(run, &run.content.origin, "--records", run.content.first.len()));
    }
    text + "\n"
}

/// What a mark says, without the marks of a comment.
pub fn plain(mark: &str) -> &str {
    mark.trim_start_matches("<!-- ").trim_end_matches(" -->")
}

fn b_file(Found { sequence, runs, confirmed }: &Found, made: &str) -> String {
    let mut text = String::new();
    let name = sequence.oeis.map_or("First heaps", |(number, _)| number);
    writeln!(text, "# {name}: the first heap of each Grundy value, where a move takes one of: {}", sequence.moves)
        .expect("text takes it");
    writeln!(text, "# {}", plain(made)).expect("text takes it");
    if let Some(run) = runs.iter().find(|run| run.content.first.starts_with(confirmed)) {
        writeln!(text, "# {} --format bfile", command(&run.content.origin, "--records")).expect("text takes it");
    }
    for (value, heap) in confirmed.iter().enumerate() {
        writeln!(text, "{value} {heap}").expect("text takes it");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::sequences::tests::run;
    use super::*;

    #[test]
    fn the_page_says_which_kernels_agree() {
        let runs = [run("a", 90, &[0, 1, 2, 80]), run("b", 50, &[0, 1, 2]), run("a", 50, &[0, 1, 2])];
        let [found] = &found(&runs)[..] else { panic!("one sequence was found") };
        let text = section(found);
        assert!(text.contains("No value 3 up to heap 50: `a` and `b` agree"), "{text}");
        assert!(text.contains("No value 4 up to heap 90, as `a` alone has seen."), "{text}");
        let b_file = b_file(found, "<!-- made -->");
        assert!(b_file.ends_with("\n0 0\n1 1\n2 2\n"), "{b_file}");
    }
}
