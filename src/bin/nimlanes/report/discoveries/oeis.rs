//! First heaps in the form of entries of the OEIS, as a page.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use nimlanes::cores::OPERATIONS;
use nimlanes::kernel::session::KernelInfo;
use nimlanes::machine::Machine;

use super::PAPERS;
use super::runs::command;
use super::sequences::{Found, Run, Sequence, agreed};
use crate::files::found::Origin;
use crate::report::tables::markdown::Table;

/// The most characters in a data line of the OEIS.
const DATA: usize = 260;

/// The page.
pub fn file(found: &[Found], made: &str) -> (PathBuf, String) {
    let entries: String = found.iter().map(entry).collect();
    (Path::new(PAPERS).join("first-heaps.md"), format!("{made}\n\n{}{entries}", include_str!("oeis.md")))
}

/// The first terms, as many as the line of data holds.
fn data(terms: &[u64]) -> String {
    let mut line = String::new();
    for term in terms {
        let separator = if line.is_empty() { "" } else { ", " };
        let next = format!("{separator}{term}");
        if line.len() + next.len() > DATA {
            break;
        }
        line += &next;
    }
    line
}

/// The index of the first term, and the place of the first one above 1.
fn offset(terms: &[u64]) -> String {
    let above = terms.iter().position(|term| *term > 1).map_or(1, |at| at + 1);
    format!("0,{above}")
}

/// What is to be sent, in words.
fn kind(sequence: &Sequence, terms: usize) -> String {
    let Sequence { oeis, record, .. } = *sequence;
    let Some((number, public)) = oeis else { return "A new sequence, as far as we know.".to_owned() };
    let entry = format!("[{number}](https://oeis.org/{number})");
    match terms.saturating_sub(public) {
        0 => format!("For {entry} ({record}): no further term, only a bound."),
        1 => format!("For {entry} ({record}): one more term."),
        more => format!("For {entry} ({record}): {more} more terms."),
    }
}

/// An entry, and below it which kernels found its terms.
fn entry(found: &Found) -> String {
    let Found { sequence, runs, confirmed } = found;
    let (last, file, data) = (confirmed.len().saturating_sub(1), sequence.file(), data(confirmed));
    let (limit, names) = agreed(runs).unzip();
    let names = names.unwrap_or_default();
    let agrees = |origin: &Origin| Some(origin.limit) == limit && names.contains(&origin.kernel.as_str());
    let both: Vec<&Run> = runs.iter().filter(|run| agrees(&run.content.origin)).copied().collect();
    let mut text = format!("## {}\n\n{}\n\n```text\n", sequence.moves, kind(sequence, confirmed.len()));
    let mut line = |field: &str, content: &str| writeln!(text, "{field:<10} {content}").expect("text takes it");
    line(
        "NAME",
        &format!("Smallest number with Grundy value n in the game where a move subtracts {}.", sequence.takes),
    );
    line("DATA", &data);
    line("OFFSET", &offset(confirmed));
    for (i, comment) in comments(runs, limit).iter().enumerate() {
        line(if i == 0 { "COMMENTS" } else { "" }, comment);
    }
    line("LINKS", &format!("Table of n, a(n) for n = 0..{last}, {file}"));
    if let Some(run) = both.iter().min_by_key(|run| run.content.origin.milliseconds) {
        line("PROG", &format!("(nimlanes) {} --format bfile", command(&run.content.origin, "--records")));
    }
    line("CROSSREFS", &format!("Cf. {}.", sequence.related.join(", ")));
    line("KEYWORD", if data.split(", ").count() == confirmed.len() { "nonn,more" } else { "nonn" });
    if let Some((_, public)) = sequence.oeis.filter(|(_, public)| *public < confirmed.len()) {
        let first = if public == last { String::new() } else { format!("a({public})-") };
        line("EXTENSIONS", &format!("{first}a({last}) computed with nimlanes"));
    }
    let all = format!("All {} terms: [{file}](../discoveries/{file}).", confirmed.len());
    text + "```\n\n" + &all + "\n\n" + &kernels(&both)
}

/// What is known of the terms and of the next one, up to heap `limit` by two kernels.
fn comments(runs: &[&Run], limit: Option<u64>) -> Vec<String> {
    let bound = |run: &Run| format!("a({}) > {}", run.content.first.len(), run.content.origin.limit);
    let both = runs.iter().find(|run| Some(run.content.origin.limit) == limit);
    let alone = runs.iter().filter(|run| Some(run.content.origin.limit) > limit);
    let both =
        both.map(|run| format!("{}, by two programs that agree in the number of heaps of each value.", bound(run)));
    both.into_iter().chain(alone.map(|run| format!("{}, as one program alone has seen.", bound(run)))).collect()
}

/// Some runs as a table: the kernels, with their sources, and what these do.
fn kernels(runs: &[&Run]) -> String {
    let mut table = Table::new(&["kernel", "what it is", "to heap", "seconds"]);
    for Origin { operation, kernel, limit, milliseconds, .. } in runs.iter().map(|run| &run.content.origin) {
        let listed = OPERATIONS.iter().find(|listed| listed.name() == operation);
        let known = listed.map_or_else(Vec::new, |listed| listed.kernels(&Machine::detect()));
        let (name, what) = match known.iter().find(|known| known.name == kernel) {
            Some(kernel) => (format!("[`{}`](../../{})", kernel.name, kernel.source()), idea(kernel, &known)),
            None => (format!("`{kernel}`"), "no longer there".to_owned()),
        };
        table.row([name, what, limit.to_string(), format!("{:.1}", *milliseconds as f64 / 1e3)]);
    }
    table.end()
}

/// What a kernel is, after what the kernel is that it refers to.
fn idea(kernel: &KernelInfo, known: &[KernelInfo]) -> String {
    match known.iter().find(|other| Some(other.name) == kernel.like) {
        Some(other) => format!("`{}`: {}; here: {}", other.name, other.summary, kernel.summary),
        None => kernel.summary.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use nimlanes::lab::environment::Environment;

    use super::*;
    use crate::files::found::FirstHeaps;
    use crate::files::saved::Saved;

    const SEQUENCE: Sequence = Sequence {
        moves: "factorials",
        takes: "a factorial",
        oeis: Some(("A355556", 4)),
        related: &["A000142", "A014587"],
        record: "four terms",
    };

    fn run(kernel: &str, limit: u64, first: &[u64], milliseconds: u64) -> Run {
        let origin = Origin {
            moves: "factorials".to_owned(),
            limit,
            operation: "mex_records".to_owned(),
            kernel: kernel.to_owned(),
            resumed: false,
            milliseconds,
        };
        let content = FirstHeaps { origin, first: first.to_vec(), counts: vec![limit; first.len()] };
        Saved::now(Environment::detect(&Machine::detect()), content)
    }

    #[test]
    fn an_entry_has_the_fields_of_the_oeis() {
        let terms = [0, 1, 2, 6, 5050];
        let runs = [run("table", 9000, &terms, 90), run("masks", 6000, &terms, 20), run("gone", 6000, &terms, 10)];
        let text = entry(&Found { sequence: &SEQUENCE, runs: runs.iter().collect(), confirmed: terms.to_vec() });
        let fields = [
            "For [A355556](https://oeis.org/A355556) (four terms): one more term.",
            "\nNAME       Smallest number with Grundy value n in the game where a move subtracts a factorial.\n",
            "\nDATA       0, 1, 2, 6, 5050\nOFFSET     0,3\nCOMMENTS   a(5) > 6000, by two programs",
            "\n           a(5) > 9000, as one program alone has seen.\nLINKS      Table of n, a(n) for n = 0..4, b355556.txt\n",
            "\nPROG       (nimlanes) nimlanes grundy --moves factorials --limit 6000 --records --kernel mex_records=gone --format bfile\n",
            "\nCROSSREFS  Cf. A000142, A014587.\nKEYWORD    nonn,more\nEXTENSIONS a(4) computed with nimlanes\n```\n",
            "| [`masks`](../../src/cores/mex/records/masks.rs) | `table`: a table of all values; for each heap,",
            "; here: the same masks over a history as long as the largest move | 6000 | 0.0 |",
            "| `gone` | no longer there | 6000 | 0.0 |",
        ];
        for field in fields {
            assert!(text.contains(field), "{field}: {text}");
        }
    }

    #[test]
    fn data_ends_with_a_whole_term_within_the_limit() {
        let terms: Vec<u64> = (0..100).map(|i| i * i * 37).collect();
        let line = data(&terms);
        let held = line.split(", ").count();
        assert!(line.len() <= DATA && line.len() + format!(", {}", terms[held]).len() > DATA, "{line}");
        assert!(line.split(", ").zip(&terms).all(|(text, term)| text == term.to_string()), "{line}");
        assert_eq!(
            (data(&[]), offset(&[0, 1, 2]), offset(&[0, 2]), offset(&[0, 1])),
            (String::new(), "0,3".into(), "0,2".into(), "0,1".into())
        );
    }

    #[test]
    fn what_is_new_says_so() {
        let of = |oeis, terms| kind(&Sequence { oeis, ..SEQUENCE }, terms);
        assert_eq!(of(None, 9), "A new sequence, as far as we know.");
        assert!(of(Some(("A1", 9)), 9).ends_with("no further term, only a bound."));
        assert!(of(Some(("A1", 2)), 9).ends_with("7 more terms."));
    }
}
