//! How the P-positions of the squares grow, as a page with a table and a picture.
//!
//! They are made from runs that `grundy --zeros --save` kept. A row names the kernels that found the same P-positions: as
//! many, with the same hash.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::runs::{self, longest_first};
use crate::drawing::chart::{self, Exponent};
use crate::files::found::Growth;
use crate::files::saved::{Saved, SavedError};

/// The folder of the runs, the page, the picture and a b-file.
pub const FOLDER: &str = "profiles/discoveries/zeros";
const PICTURE: &str = "growth.svg";
/// The first octave of the table and of the picture ends at two to this power. Exponents of fewer heaps vary widely.
const FROM: usize = 10;
/// The summary of exponents covers the octaves above two to this power.
const LATER: usize = 20;

type Run = Saved<Growth>;

/// An octave, by the run that went furthest.
struct Row<'a> {
    /// It ends at two to this power.
    to: usize,
    zeros: u64,
    ratio: f64,
    /// The kernels that found the same.
    kernels: Vec<&'a str>,
}

/// The page and the picture; none without runs.
///
/// # Errors
/// A file cannot be read or is no saved run.
pub fn files(made: &str) -> Result<Vec<(PathBuf, String)>, SavedError> {
    let folder = Path::new(FOLDER);
    let runs = longest_first(folder, |run: &Growth| &run.origin)?;
    let rows = rows(&runs);
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let exponent = |row: &Row| Exponent { to: row.to, exponent: row.ratio.log2(), is_alone: row.kernels.len() < 2 };
    let title = "P-positions of the squares: the exponent of their growth in each octave";
    let picture = chart::exponents(title, &rows.iter().map(exponent).collect::<Vec<_>>());
    let page = format!("{made}\n\n{}{}", include_str!("growth.md"), page(&rows, &runs));
    let picture = (folder.join(PICTURE), format!("{}\n{made}\n", picture.trim_end()));
    Ok(vec![(folder.join("README.md"), page), picture])
}

/// The octaves of the longest run, from [`FROM`] on.
fn rows(runs: &[Run]) -> Vec<Row<'_>> {
    let octaves = runs.first().map_or(&[][..], |run| &run.content.octaves);
    let row = |to: usize| {
        let same = runs.iter().filter(|run| run.content.octaves.get(to) == Some(&octaves[to]));
        let mut kernels: Vec<&str> = same.map(|run| run.content.origin.kernel.as_str()).collect();
        kernels.sort_unstable();
        kernels.dedup();
        let zeros = octaves[to].zeros;
        Row { to, zeros, ratio: zeros as f64 / octaves[to - 1].zeros as f64, kernels }
    };
    (FROM..octaves.len()).map(row).collect()
}

fn named(kernels: &[&str]) -> String {
    kernels.iter().map(|kernel| format!("`{kernel}`")).collect::<Vec<_>>().join(", ")
}

fn page(rows: &[Row], runs: &[Run]) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("text takes it");
    let agreed = rows.iter().rev().find(|row| row.kernels.len() > 1);
    if let Some(row) = agreed {
        line(format!("- Up to 2^{}, these kernels found the same P-positions: {}.", row.to, named(&row.kernels)));
    }
    if let Some(row) = rows.last().filter(|row| row.kernels.len() < 2) {
        line(format!("- The other octaves, up to 2^{}, were seen by {} alone.", row.to, named(&row.kernels)));
    }
    let later: Vec<&Row> = rows.iter().filter(|row| row.to > LATER).collect();
    if let [.., last] = later[..] {
        let (least, most) = later
            .iter()
            .map(|row| row.ratio.log2())
            .fold((f64::INFINITY, 0.0), |(least, most), e| (f64::min(least, e), f64::max(most, e)));
        let mean = later.iter().map(|row| row.ratio.log2()).sum::<f64>() / later.len() as f64;
        line(format!(
            "- From 2^{LATER} to 2^{} the exponent is {mean:.4}, between {least:.4} and {most:.4} in each octave.",
            last.to
        ));
    }
    line(format!("\n![The exponent of each octave]({PICTURE})\n"));
    line("| up to | P-positions | ratio | exponent | found by |\n| --- | ---: | ---: | ---: | --- |".to_owned());
    for Row { to, zeros, ratio, kernels } in rows {
        line(format!("| 2^{to} | {zeros} | {ratio:.4} | {:.4} | {} |", ratio.log2(), named(kernels)));
    }
    line("\n| run | last P-position | time | day | CPU |\n| --- | ---: | ---: | --- | --- |".to_owned());
    for run in runs {
        line(runs::row(run, &run.content.origin, "--zeros", run.content.last));
    }
    text
}

#[cfg(test)]
mod tests {
    use nimlanes::lab::environment::Environment;
    use nimlanes::machine::Machine;

    use super::*;
    use crate::files::found::Origin;

    fn run(kernel: &str, limit: u64, zeros: &[u64]) -> Run {
        let origin = Origin {
            moves: "squares".to_owned(),
            limit,
            operation: "mex_zeros".to_owned(),
            kernel: kernel.to_owned(),
            resumed: kernel == "a",
            milliseconds: 1500,
        };
        Saved::now(
            Environment::detect(&Machine::detect()),
            Growth::new(origin, &zeros[..zeros.partition_point(|n| *n <= limit)]),
        )
    }

    #[test]
    fn a_row_names_the_kernels_that_found_the_same() {
        let all: Vec<u64> = (0..1 << 22).step_by(1000).collect();
        let mut others = all.clone();
        *others.iter_mut().find(|n| **n > 1 << 12).expect("many") += 1;
        let runs = [run("a", 1 << 22, &all), run("b", 1 << 21, &all), run("c", 1 << 20, &others)];
        let rows = rows(&runs);
        let kernels: Vec<usize> = rows.iter().map(|row| row.kernels.len()).collect();
        assert_eq!(kernels, [3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1], "others differ in the octave that ends at 2^13");
        let text = page(&rows, &runs);
        for part in [
            "- Up to 2^21, these kernels found the same P-positions: `a`, `b`.\n- The other octaves, up to 2^22, were seen by `a` alone.\n",
            "- From 2^20 to 2^22 the exponent is 0.9998, between 0.9997 and 1.0000 in each octave.\n",
            "\n| 2^12 | 5 | 1.6667 | 0.7370 | `a`, `b`, `c` |\n",
            "--limit 1048576 --zeros --kernel mex_zeros=c` | 1048000 | 1.5 s |",
            "| 1.5 s after resuming |",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
