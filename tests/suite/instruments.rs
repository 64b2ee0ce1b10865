//! The instruments as a user sees them: duels are saved and compared, the CPU counts, and a game is profiled.

use std::fs;
use std::time::{Duration, Instant};

use nimlanes::cores::named::ByName;
use nimlanes::games::{Solver, game};
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::lab::ceilings::{Reading, groups};
use nimlanes::machine::Machine;
use nimlanes_lab::profile::Sampling;
use serde_json::json;
use tempfile::TempDir;

use crate::nimlanes;
use crate::saved::{compare, duel, failed, load, text, write};

#[test]
fn a_duel_is_saved_and_the_next_one_compared_with_it() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("deep").join("saved.json");
    compare(&["--save", text(&path)]).assert().success();
    let mut saved = load(&path);
    assert_eq!(saved["content"]["size"], 100);
    let rows = saved["content"]["rows"].as_array_mut().expect("rows");
    assert_eq!(rows.len(), 2);
    for row in rows {
        for field in ["ratio", "ratio_low", "ratio_high"] {
            row[field] = json!(row[field].as_f64().expect("a number") / 1000.0);
        }
    }
    write(&saved, &path);
    let output = compare(&["--against", text(&path)]).assert().success().get_output().stdout.clone();
    let output = String::from_utf8(output).expect("UTF-8");
    assert!(output.contains("changed beyond the noise") && output.contains("stamp: ratio 0.0"), "{output}");
}

/// Files from before duels had several processes.
#[test]
fn a_duel_saved_without_processes_can_be_compared() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("saved.json");
    compare(&["--save", text(&path), "--processes", "2"]).assert().success();
    let mut whole = load(&path);
    assert_eq!(whole["content"]["processes"], 2);
    let content = whole["content"].as_object_mut().expect("an object");
    for field in ["processes", "disturbed"] {
        assert!(content.remove(field).is_some(), "{field}");
    }
    for row in content["rows"].as_array_mut().expect("an array") {
        let row = row.as_object_mut().expect("an object");
        assert!(row.remove("ratio_processes").is_some());
        row.remove("slow_mode");
    }
    write(&whole, &path);
    compare(&["--against", text(&path)]).assert().success();
}

#[test]
fn a_file_without_a_saved_duel_is_refused_before_the_duel() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("saved.json");
    failed(&mut compare(&["--against", text(&path)]), "cannot read");
    let whole = duel(&[("flags", [1.0, 1.0, 1.0])]).to_string();
    let foreign = [
        (&whole[..whole.len() / 2], "EOF while parsing"),
        ("", "EOF while parsing"),
        ("{\"a\": 1}", "missing field `schema`"),
        ("{\"schema\": \"nimlanes-solve-1\"}", "its schema is \"nimlanes-solve-1\""),
        ("not JSON", "expected"),
    ];
    for (text, says) in foreign {
        fs::write(&path, text).expect("a writable folder");
        failed(&mut compare(&["--against", path.to_str().expect("UTF-8")]), says);
    }
    failed(&mut compare(&["--save", "/proc/none/saved.json"]), "cannot write");
}

#[test]
fn a_duel_of_another_machine_is_compared_only_on_request() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("saved.json");
    compare(&["--save", text(&path)]).assert().success();
    let mut saved = load(&path);
    saved["environment"]["cpu"] = json!("another");
    write(&saved, &path);
    failed(&mut compare(&["--against", text(&path)]), "another machine: cpu another");
    compare(&["--against", text(&path), "--mixed"]).assert().success();
    nimlanes().args(["compare", "mex_subtraction", "--mixed"]).assert().code(2);
}

#[test]
fn wrong_requests_for_counters_are_refused() {
    let mut compare = nimlanes();
    compare.args(["compare", "mex_subtraction", "--counters", "--rev", "HEAD"]).assert().code(2);
    let mut run = nimlanes();
    run.args(["run", "mex_subtraction", "--kernel", "stamp", "--counters=valgrind"]).assert().code(2);
}

/// By its own frame, whatever called it.
#[cfg(target_os = "linux")]
#[test]
fn a_profile_of_a_game_begins_with_the_game() {
    let selection = Selection::new(Machine::detect()).with_kernel("table_scan", "byte_table").expect("always there");
    let run = Run::new(1);
    let question = game("stone-game").expect("a game").question(500);
    let sampling = Sampling::start(None).expect("no other sampling in this process");
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(500) {
        question.solve(&Solver::new(&selection, &run)).expect("a small limit");
    }
    let profile = sampling.finish("games/stone-game/byte_table/500").expect("samples");
    let root = tempfile::tempdir().expect("a folder");
    let stacks = fs::read_to_string(profile.write(root.path()).expect("written").with_extension("folded"));
    let stacks = stacks.expect("stacks");
    // Other tests run beside this one.
    let mut own = stacks.lines().filter(|stack| stack.contains("byte_table::run")).peekable();
    assert!(own.peek().is_some() && own.all(|stack| stack.starts_with("stone_game::solve")), "{stacks}");
}

#[test]
fn ceilings_are_positive_and_those_of_caches_in_order() {
    let machine = Machine::detect();
    let is_in_order = || {
        let readings: Vec<Reading> = groups().flat_map(|group| group.measure(&machine)).collect();
        let ns = |kind: &str, name: &str| {
            let reading = readings.iter().find(|reading| reading.kind == kind && reading.name == name);
            reading.expect("a ceiling of this name").ns
        };
        assert!(ns("clock", "word") > 0.0);
        ns("latency", "l1") < ns("latency", "memory") && ns("loads", "l1") < ns("loads", "memory")
    };
    // Neighbours may disturb a reading.
    assert!((0..3).any(|_| is_in_order()), "caches are never quicker than memory");
}
