//! What is known of first heaps past the public record, as a page and as b-files.
//!
//! They are made of runs that `grundy --records --save` kept. A term counts as confirmed if two kernels found it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::oeis;
use super::runs::{command, longest_first, row};
use crate::files::found::{FirstHeaps, Origin};
use crate::files::saved::{Saved, SavedError};

/// The folder of the runs, the page and the b-files.
pub const FOLDER: &str = "profiles/discoveries";

/// A sequence of first heaps.
pub struct Sequence {
    pub moves: &'static str,
    /// What a move takes.
    pub takes: &'static str,
    /// Its number in the OEIS.
    pub oeis: Option<&'static str>,
    /// The numbers of related sequences there: what a move takes, and all Grundy values.
    pub related: &'static [&'static str],
    /// Terms that are public.
    pub public: Option<usize>,
    /// What the public record says besides.
    pub record: &'static str,
}

const SEQUENCES: [Sequence; 6] = [
    Sequence {
        moves: "factorials",
        takes: "a factorial",
        oeis: Some("A355556"),
        related: &["A000142", "A014587"],
        public: Some(13),
        record: "thirteen terms, up to value 12",
    },
    Sequence {
        moves: "fibonacci",
        takes: "a Fibonacci number",
        oeis: Some("A019307"),
        related: &["A000045", "A014588"],
        public: Some(19),
        record: "nineteen terms, with the keyword `more`",
    },
    Sequence {
        moves: "primes",
        takes: "a prime number",
        oeis: Some("A355557"),
        related: &["A000040", "A014589"],
        public: Some(12),
        record: "twelve terms, none further up to 10^9; asks for a value 12",
    },
    Sequence {
        moves: "squares",
        takes: "a square",
        oeis: Some("A297963"),
        related: &["A000290", "A014586"],
        public: Some(46),
        record: "46 terms, no b-file",
    },
    Sequence {
        moves: "triangular",
        takes: "a triangular number",
        oeis: Some("A019509"),
        related: &["A000217"],
        public: None,
        record: "not compared; it may hold the values themselves, not their first heaps",
    },
    Sequence {
        moves: "cubes",
        takes: "a cube",
        oeis: None,
        related: &["A000578"],
        public: None,
        record: "no sequence known to us",
    },
];

pub type Run = Saved<FirstHeaps>;

/// A sequence with the runs that found it, longest first, and its confirmed terms.
pub struct Found<'a> {
    pub sequence: &'static Sequence,
    pub runs: Vec<&'a Run>,
    pub confirmed: Vec<u64>,
}

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
    let (mut files, mut found) = (Vec::new(), Vec::new());
    for sequence in &SEQUENCES {
        let runs: Vec<&Run> = runs.iter().filter(|run| run.content.origin.moves == sequence.moves).collect();
        if runs.is_empty() {
            continue;
        }
        let confirmed = confirmed(&runs);
        let file = sequence.file();
        page += &section(sequence, &runs, &confirmed, &file);
        files.push((Path::new(FOLDER).join(&file), b_file(sequence, &runs, &confirmed, made)));
        found.push(Found { sequence, runs, confirmed });
    }
    files.push((Path::new(FOLDER).join("README.md"), page));
    files.push(oeis::file(&found, made));
    Ok(files)
}

impl Sequence {
    /// Its b-file.
    pub fn file(&self) -> String {
        match self.oeis {
            Some(number) => format!("b{}.txt", number.trim_start_matches('A')),
            None => format!("first-{}.txt", self.moves),
        }
    }
}

/// The first terms that runs of two kernels agree on.
fn confirmed(runs: &[&Run]) -> Vec<u64> {
    let shared = |a: &FirstHeaps, b: &FirstHeaps| a.first.iter().zip(&b.first).take_while(|(a, b)| a == b).count();
    let pairs = runs.iter().flat_map(|a| runs.iter().map(move |b| (&a.content, &b.content)));
    let pairs =
        pairs.filter(|(a, b)| a.origin.kernel != b.origin.kernel).map(|(a, b)| a.first[..shared(a, b)].to_vec());
    pairs.max_by_key(Vec::len).unwrap_or_default()
}

/// The largest limit at which two kernels agree in all that they found, and these kernels.
pub fn agreed<'a>(runs: &[&'a Run]) -> Option<(u64, Vec<&'a str>)> {
    runs.iter().find_map(|run| {
        let same = runs.iter().filter(|other| other.content.agrees(&run.content));
        let kernels: BTreeSet<&str> = same.map(|run| run.content.origin.kernel.as_str()).collect();
        (kernels.len() > 1).then(|| (run.content.origin.limit, kernels.into_iter().collect()))
    })
}

fn section(sequence: &Sequence, runs: &[&Run], confirmed: &[u64], file: &str) -> String {
    let Sequence { moves, oeis, public, record, .. } = *sequence;
    let mut text = format!("## {moves}\n\n");
    let mut line = |line: String| writeln!(text, "{line}").expect("text takes it");
    line(match oeis {
        Some(number) => format!("- Public: [{number}](https://oeis.org/{number}), {record}."),
        None => format!("- Public: {record}."),
    });
    let new = public.map_or(&[][..], |public| confirmed.get(public..).unwrap_or_default());
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

fn b_file(sequence: &Sequence, runs: &[&Run], confirmed: &[u64], made: &str) -> String {
    let mut text = String::new();
    let name = sequence.oeis.unwrap_or("First heaps");
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
    use nimlanes::lab::environment::Environment;
    use nimlanes::machine::Machine;

    use super::*;

    fn run(kernel: &str, limit: u64, first: &[u64]) -> Run {
        let origin = Origin {
            moves: "fibonacci".to_owned(),
            limit,
            operation: "mex_records".to_owned(),
            kernel: kernel.to_owned(),
            resumed: false,
            milliseconds: 1500,
        };
        let counts = first.iter().map(|_| limit).collect();
        let content = FirstHeaps { origin, first: first.to_vec(), counts };
        Saved::now(Environment::detect(&Machine::detect()), content)
    }

    #[test]
    fn a_term_counts_if_two_kernels_found_it() {
        let runs = [run("a", 90, &[0, 1, 2, 80]), run("b", 50, &[0, 1, 2]), run("a", 50, &[0, 1, 2])];
        let runs: Vec<&Run> = runs.iter().collect();
        assert_eq!(confirmed(&runs), [0, 1, 2]);
        assert_eq!(agreed(&runs), Some((50, vec!["a", "b"])));
        assert_eq!(confirmed(&[runs[0], runs[2]]), [0; 0]);
        assert_eq!(agreed(&[runs[0], runs[1]]), None);
        let text = section(&SEQUENCES[1], &runs, &confirmed(&runs), "b.txt");
        assert!(text.contains("No value 3 up to heap 50: `a` and `b` agree"), "{text}");
        assert!(text.contains("No value 4 up to heap 90, as `a` alone has seen."), "{text}");
        let b_file = b_file(&SEQUENCES[1], &runs, &confirmed(&runs), "<!-- made -->");
        assert!(b_file.ends_with("\n0 0\n1 1\n2 2\n"), "{b_file}");
    }

    #[test]
    fn runs_that_differ_confirm_what_comes_before() {
        let runs = [run("a", 50, &[0, 1, 2]), run("b", 50, &[0, 1, 3])];
        let runs: Vec<&Run> = runs.iter().collect();
        assert_eq!(confirmed(&runs), [0, 1]);
        assert_eq!(agreed(&runs), None);
    }
}
