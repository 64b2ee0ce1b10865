//! Sequences of first heaps: what the public record has, the runs that found them, and the terms that are confirmed.

use std::collections::BTreeSet;

use crate::files::found::FirstHeaps;
use crate::files::saved::Saved;

/// A sequence of first heaps.
pub struct Sequence {
    pub moves: &'static str,
    /// What a move takes.
    pub takes: &'static str,
    /// Its number in the OEIS, and how many terms are public there. They were compared.
    pub oeis: Option<(&'static str, usize)>,
    /// The numbers of related sequences there: what a move takes, and all Grundy values.
    pub related: &'static [&'static str],
    /// What the public record says besides.
    pub record: &'static str,
}

static SEQUENCES: [Sequence; 6] = [
    Sequence {
        moves: "factorials",
        takes: "a factorial",
        oeis: Some(("A355556", 13)),
        related: &["A000142", "A014587"],
        record: "thirteen terms, up to value 12",
    },
    Sequence {
        moves: "fibonacci",
        takes: "a Fibonacci number",
        oeis: Some(("A019307", 19)),
        related: &["A000045", "A014588"],
        record: "nineteen terms, with the keyword `more`",
    },
    Sequence {
        moves: "primes",
        takes: "a prime number",
        oeis: Some(("A355557", 12)),
        related: &["A000040", "A014589"],
        record: "twelve terms, none further up to 10^9; asks for a value 12",
    },
    Sequence {
        moves: "squares",
        takes: "a square",
        oeis: Some(("A297963", 46)),
        related: &["A000290", "A014586"],
        record: "46 terms, no b-file",
    },
    Sequence {
        moves: "triangular",
        takes: "a triangular number",
        oeis: None,
        related: &["A000217", "A019509"],
        record: "no sequence known to us; A019509 has the values themselves",
    },
    Sequence { moves: "cubes", takes: "a cube", oeis: None, related: &["A000578"], record: "no sequence known to us" },
];

pub type Run = Saved<FirstHeaps>;

/// A sequence with the runs that found it, longest first, and its confirmed terms.
pub struct Found<'a> {
    pub sequence: &'static Sequence,
    pub runs: Vec<&'a Run>,
    pub confirmed: Vec<u64>,
}

impl Sequence {
    /// Its b-file.
    pub fn file(&self) -> String {
        match self.oeis {
            Some((number, _)) => format!("b{}.txt", number.trim_start_matches('A')),
            None => format!("first-{}.txt", self.moves),
        }
    }
}

/// The sequences that some of the runs, longest first, have found.
pub fn found(runs: &[Run]) -> Vec<Found<'_>> {
    let of = |sequence: &'static Sequence| {
        let runs: Vec<&Run> = runs.iter().filter(|run| run.content.origin.moves == sequence.moves).collect();
        (!runs.is_empty()).then(|| Found { sequence, confirmed: confirmed(&runs), runs })
    };
    SEQUENCES.iter().filter_map(of).collect()
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

#[cfg(test)]
pub mod tests {
    use nimlanes::lab::environment::Environment;
    use nimlanes::machine::Machine;

    use super::*;
    use crate::files::found::Origin;

    pub fn run(kernel: &str, limit: u64, first: &[u64]) -> Run {
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
        let [fibonacci] = &found(&runs)[..] else { panic!("one sequence was found") };
        assert_eq!((fibonacci.sequence.moves, &fibonacci.confirmed[..]), ("fibonacci", &[0, 1, 2][..]));
        let runs: Vec<&Run> = runs.iter().collect();
        assert_eq!(agreed(&runs), Some((50, vec!["a", "b"])));
        assert_eq!(confirmed(&[runs[0], runs[2]]), [0; 0]);
        assert_eq!(agreed(&[runs[0], runs[1]]), None);
    }

    #[test]
    fn runs_that_differ_confirm_what_comes_before() {
        let runs = [run("a", 50, &[0, 1, 2]), run("b", 50, &[0, 1, 3])];
        let runs: Vec<&Run> = runs.iter().collect();
        assert_eq!(confirmed(&runs), [0, 1]);
        assert_eq!(agreed(&runs), None);
    }
}
