//! The claims of `profiles/discoveries`: its b-files agree with the runs that are kept there and, as far as a test can go, with values
//! computed here.

use std::fs;
use std::path::{Path, PathBuf};

use nimlanes::cores::mex::records::{MexRecords, Records};
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
use nimlanes::kernel::Run;
use nimlanes::machine::Machine;
use nimlanes::moves::MoveSet;
use nimlanes::selection::Selection;
use serde_json::Value;

const FOLDER: &str = "profiles/discoveries";

fn files(extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let entries = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    assert!(!files.is_empty(), "no .{extension} files");
    files
}

fn runs() -> Vec<Value> {
    let read = |path: &PathBuf| fs::read_to_string(path).expect("a file");
    let runs =
        files("json").iter().map(|path| serde_json::from_str(&read(path)).expect("JSON")).collect::<Vec<Value>>();
    for run in &runs {
        for field in ["date", "environment", "content"] {
            assert!(!run[field].is_null(), "{field} of {run}");
        }
    }
    runs
}

fn first(run: &Value) -> Vec<u64> {
    run["content"]["first"].as_array().expect("a list").iter().map(|n| n.as_u64().expect("a heap")).collect()
}

/// The set in the first line of a b-file, and its terms.
fn terms(path: &Path) -> (String, Vec<u64>) {
    let text = fs::read_to_string(path).expect("a file");
    let (comments, terms): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
    let set = comments[0].rsplit_once(": ").expect("the set").1.to_owned();
    let term = |(i, line): (usize, &&str)| {
        let (n, heap) = line.split_once(' ').expect("two numbers");
        assert_eq!(n, i.to_string(), "{}", path.display());
        heap.parse().expect("a heap")
    };
    (set, terms.iter().enumerate().map(term).collect())
}

#[test]
fn every_term_was_found_by_two_kernels() {
    let runs = runs();
    for path in files("txt") {
        let (set, terms) = terms(&path);
        assert!(terms.is_sorted_by(|a, b| a < b) && terms.len() > 5, "{}", path.display());
        let of_set = runs.iter().filter(|run| run["content"]["moves"] == set.as_str());
        let mut kernels: Vec<&str> = of_set
            .filter(|run| first(run).starts_with(&terms))
            .map(|run| run["content"]["kernel"].as_str().expect("a name"))
            .collect();
        kernels.sort_unstable();
        kernels.dedup();
        assert!(kernels.len() > 1, "{set}: {kernels:?}");
    }
}

#[test]
fn terms_are_what_is_computed_here() {
    const LIMIT: u64 = 200_000;
    let selection = Selection::new(Machine::detect());
    for path in files("txt") {
        let (set, terms) = terms(&path);
        let set: MoveSet = set.parse().expect("a set");
        let run = Run::new(selection.threads());
        let found = if let Ok(input) = Records::new(&set, LIMIT) {
            selection.kernel::<MexRecords>(&input).expect("a kernel").run(&input, &run).expect("it ends").first
        } else {
            let input = Subtraction::new(&set, LIMIT, selection.machine()).expect("small");
            let g = selection.kernel::<MexSubtraction>(&input).expect("a kernel").run(&input, &run).expect("it ends");
            let values = 0..=g.iter().max().copied().expect("some values");
            values.map(|v| g.iter().position(|other| *other == v).expect("each occurs") as u64).collect()
        };
        let known = terms.partition_point(|heap| *heap <= LIMIT);
        assert_eq!(found, terms[..known], "{set}");
    }
}
