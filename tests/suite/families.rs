//! `nimlanes family`, and what its kernels find past the sizes of the oracle.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use nimlanes::cores::mex::family::{Family, FamilyError, Findings, MexFamily, Repeating};
use nimlanes::cores::mex::subtraction::{Subtraction, prove};
use nimlanes::kernel::{Operation, Run, available};
use nimlanes::machine::Machine;
use nimlanes::moves::MoveSet;
use serde_json::{Value, json};

use crate::{in_memory, nimlanes};

fn family_of(args: &[&str]) -> Vec<Value> {
    serde_json::from_value(nimlanes().arg("family").args(args).arg("--json").json()).expect("a list")
}

/// Found by two programs that share nothing with this one.
#[test]
fn families_have_their_known_periods() {
    let found = family_of(&["--largest-move", "8..12"]);
    let figures =
        |of: &Value| ["largest_move", "sets", "longest_period", "sum_of_periods"].map(|name| of[name].as_u64());
    for known in [[8, 128, 25, 1325], [10, 512, 58, 6581], [12, 2048, 87, 32_783]] {
        assert!(found.iter().any(|of| figures(of) == known.map(Some)), "{known:?}");
    }
    let text = nimlanes().args(["family", "--largest-move", "2..3", "--top", "2"]).text();
    for line in ["The longest periods, largest move 3", "     6          0  {3}"] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

/// The results of all kernels that are quick enough.
fn all(input: &Family) -> Findings {
    let machine = Machine::detect();
    let quick = available::<MexFamily>(&machine).filter(|kernel| kernel.cost(input, 1).ns < 2e8);
    let mut found = quick.map(|kernel| (kernel.def().name, kernel.run(input, &Run::new(1)).expect("it ends")));
    let (_, first) = found.next().expect("a kernel");
    found.for_each(|(kernel, other)| assert!(other == first, "{kernel}: {input:?}"));
    first
}

/// Batches of all levels, and sets that are left to the end.
#[test]
fn kernels_agree_where_periods_are_long() {
    let found = all(&Family::with_largest(19).expect("a move").part(3000, 9000).listing(30));
    assert!(found.sets() == 9000 && found.longest_periods.len() == 30 && found.longest_preperiods.len() == 30);
    for (moves, [period, preperiod]) in LONG {
        let family = Family::new(&moves[..moves.len() - 5], &moves[moves.len() - 5..]).expect("different moves");
        let found = all(&family.part(31, 1));
        let longest = found.longest_periods[0];
        assert_eq!([longest.period, longest.preperiod], [period, preperiod], "{moves:?}");
    }
}

/// Sets that are settled at the last levels, or after them.
const LONG: [(&[u64], [u64; 2]); 3] = [
    (&[2, 5, 7, 8, 11, 12, 13, 15, 17, 18, 20, 23, 25], [4104, 1315]),
    (&[2, 3, 5, 6, 9, 13, 16, 17, 19, 20, 22], [4464, 1401]),
    (&[1, 4, 5, 6, 10, 11, 13, 14, 15, 19, 20, 21, 22, 24, 25], [2688, 6800]),
];

#[test]
fn parts_make_a_whole() {
    let family = |first, sets| Family::with_largest(14).expect("a move").part(first, sets).listing(7);
    let whole = all(&family(0, 1 << 13));
    let mut joined = Findings::default();
    for (first, sets) in [(5000, 9999), (0, 1), (1, 4999)] {
        joined.join(all(&family(first, sets)), 7);
    }
    assert_eq!(joined, whole);
    assert_eq!(family(1 << 13, 5).sets(), 0);
}

/// The moves, period and preperiod of the listed sets for which this holds, ascending.
fn listed(family: &Family, is_meant: impl Fn(&[u64]) -> bool) -> Vec<(Vec<u64>, u64, u64)> {
    let named = |found: &Repeating| (family.moves(found.set), found.period, found.preperiod);
    let found = all(family).longest_periods;
    let mut found: Vec<_> = found.iter().map(named).filter(|(moves, ..)| is_meant(moves)).collect();
    found.sort();
    found
}

/// A family is its sets, named one by one.
#[test]
fn listed_sets_have_the_periods_that_they_have_in_a_family() {
    let family = Family::with_largest(13).expect("a move").listing(1 << 12);
    let sets: Vec<Vec<u64>> = (0..family.sets()).rev().map(|set| family.moves(set)).collect();
    let one_by_one = Family::of_sets(sets.iter().map(Vec::as_slice)).expect("moves").listing(1 << 12);
    assert_eq!(listed(&one_by_one, |_| true), listed(&family, |_| true));
    let part = one_by_one.part(100, 700);
    assert_eq!((all(&part).sets(), all(&part)), (700, MexFamily::oracle(&part)));
}

#[test]
fn moves_that_make_no_family_are_an_error() {
    assert_eq!(Family::new(&[], &[]), Err(FamilyError::NoMoves));
    assert_eq!(Family::new(&[3], &[0]), Err(FamilyError::Move(0)));
    assert_eq!(Family::new(&[64], &[1]), Err(FamilyError::Move(64)));
    assert_eq!(Family::new(&[3], &[4, 3]), Err(FamilyError::Twice(3)));
    assert_eq!(Family::with_largest(0), Err(FamilyError::Move(0)));
    assert_eq!(Family::of_sets([&[3][..], &[64]]), Err(FamilyError::Move(64)));
    assert_eq!(Family::of_sets([&[][..]]), Err(FamilyError::NoMoves));
    let family = Family::new(&[7, 2], &[5, 1]).expect("different moves");
    assert_eq!((family.sets(), family.moves(0b10)), (4, vec![1, 2, 7]));
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON")
}

/// Known results are not computed again, unless more sets are to be listed.
#[test]
fn a_family_is_kept() {
    let folder = in_memory();
    let into = folder.path().to_str().expect("UTF-8");
    let of =
        |top: &str| family_of(&["--largest-move", "12..13", "--with", "5,2", "--top", top, "--dir", into]).remove(1);
    let found = of("3");
    let files = fs::read_dir(folder.path()).expect("a folder");
    let names: BTreeSet<_> =
        files.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8")).collect();
    assert!(names.iter().eq(["largest-12-with-2-with-5.json", "largest-13-with-2-with-5.json"]));
    let path = folder.path().join("largest-13-with-2-with-5.json");
    let mut file = read(&path);
    assert_eq!([&file["content"]["with"], &file["content"]["sets"]], [&json!([2, 5]), &json!(1024)]);
    file["content"]["seconds"] = json!(4.5);
    fs::write(&path, file.to_string()).expect("a writable folder");
    assert_eq!([of("3"), of("2")], [found.clone(), found], "it is known");
    assert_eq!(read(&path), file);
    assert_eq!(of("4")["longest_periods"].as_array().map(Vec::len), Some(4));
    // A file of a part, and one without a clock, as earlier versions wrote them.
    let content = file["content"].as_object_mut().expect("an object");
    content.remove("clock");
    fs::write(&path, file.to_string()).expect("a writable folder");
    of("3");
    assert_eq!(read(&path), file);
    file["content"]["sets"] = json!(256);
    fs::write(&path, file.to_string()).expect("a writable folder");
    assert_eq!((&of("3")["sets"], &read(&path)["content"]["sets"]), (&json!(1024), &json!(1024)));
}

/// Sets that are listed one by one have the periods of a search for one set, by all kernels.
#[test]
fn sets_of_a_few_moves_are_those_of_one_at_a_time() {
    let machine = Machine::detect();
    for (count, largest) in [(7, 14), (2, 63), (5, 15), (1, 9)] {
        let sets = count.to_string();
        let of = |more: &[&str]| {
            family_of(&[&["--largest-move", &largest.to_string(), "--sets", &sets, "--top", "2000"], more].concat())
        };
        let found = of(&[]).remove(0);
        for kernel in ["words", "one_by_one"] {
            assert_eq!(of(&["--kernel", &format!("mex_family={kernel}")]), std::slice::from_ref(&found));
        }
        let listed = found["longest_periods"].as_array().expect("a list");
        assert_eq!(found["sets"], listed.len());
        for set in listed {
            let moves: Vec<u64> = serde_json::from_value(set["moves"].clone()).expect("moves");
            assert_eq!((moves.len(), moves.last()), (count, Some(&largest)));
            let input = Subtraction::new(&MoveSet::list(moves).expect("a set"), 100_000_000, &machine).expect("small");
            let (_, alone) = prove(&input, &Run::new(1)).expect("it ends").expect("a period");
            assert_eq!([&set["period"], &set["preperiod"]], [&json!(alone.period), &json!(alone.preperiod)], "{set}");
        }
    }
}

/// The symmetric sets are those among all sets with the same largest move.
#[test]
fn symmetric_families_have_both_moves_of_a_pair() {
    let family = Family::symmetric(12).expect("a move");
    let is_symmetric = |moves: &[u64]| moves.iter().filter(|m| **m < 12).all(|m| moves.contains(&(12 - m)));
    assert!(family.sets() == 64 && (0..64).all(|set| is_symmetric(&family.moves(set))));
    let part = family.listing(64);
    let whole = Family::with_largest(12).expect("a move").listing(2048);
    assert_eq!(listed(&part, |_| true), listed(&whole, is_symmetric));
    let found = family_of(&["--largest-move", "12", "--symmetric"]).remove(0);
    assert_eq!([&found["sets"], &found["longest_period"]], [&json!(64), &json!(all(&part).longest_period())]);
}
