//! The instruments as a user sees them: duels are saved and compared, the CPU counts, and a game is profiled.

use std::fs;
use std::time::{Duration, Instant};

use nimlanes::cores::named::ByName;
use nimlanes::games::{Solver, game};
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::machine::Machine;
use nimlanes_lab::profile::Sampling;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::nimlanes;
use crate::saved::{compare, duel, failed, load, text, write};
use crate::schema::follows_its_schema;

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

/// What it found decides what `compare` calls a tie, on the machine and for the build that it is of.
#[test]
fn a_calibration_is_continued_and_used() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("target/calibration.json");
    let calibrate = |seconds: &str| {
        let mut command = nimlanes();
        command.args(["calibrate", "--minutes", "0.001", "--processes", "1", "--seconds", seconds]);
        command.current_dir(folder.path());
        command
    };
    for played in 1..3 {
        calibrate("0.05").assert().success();
        let saved = load(&path);
        follows_its_schema(&saved);
        assert_eq!(saved["content"]["trials"].as_array().expect("duels").len(), played, "{saved}");
    }
    calibrate("0.06").assert().code(2);

    let mut saved = load(&path);
    let trial = |length: f64| {
        let mut trial = saved["content"]["trials"][0].clone();
        (trial["run_seconds"], trial["ratio_of_medians"]) = (json!(length), json!(1.03));
        trial
    };
    let trials: Vec<Value> = [1e-6, 1e-3, 1.0].into_iter().flat_map(|length| vec![trial(length); 20]).collect();
    saved["content"]["trials"] = json!(trials);
    write(&saved, &path);
    let says = |line: &str| {
        let output = compare(&[]).current_dir(folder.path()).assert().success().get_output().stdout.clone();
        let output = String::from_utf8(output).expect("UTF-8");
        assert!(output.contains(line), "{output}");
    };
    says("; differences under 3.0 % are not told apart here\n");
    saved["environment"]["cpu"] = json!("another");
    write(&saved, &path);
    says("; under 5 % is a tie\n");
    failed(&mut calibrate("0.05"), "another machine: cpu another");
}

/// What `run` says on stderr besides the time that it predicts.
fn without_prediction(said: &str) -> String {
    said.lines().filter(|line| !line.contains(" is predicted to take ")).map(|line| format!("{line}\n")).collect()
}

/// By the CPU, or else by single steps; the command goes on without either.
#[test]
fn counters_are_shown_or_one_line_says_that_there_are_none() {
    let commands: [&[&str]; 2] = [
        &["compare", "mex_subtraction", "--size", "100", "--kernels", "flags,stamp", "--seconds", "0.1"],
        &["run", "mex_subtraction", "--size", "100", "--kernel", "stamp", "--seconds", "0.1"],
    ];
    for (args, counters) in commands.iter().flat_map(|args| ["", "=hardware", "=steps"].map(|source| (args, source))) {
        let mut command = nimlanes();
        command.env("PATH", ""); // without llvm-mca, which takes most of the time
        command.args(*args).arg(format!("--counters{counters}"));
        let output = command.assert().success().get_output().clone();
        let [text, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
        let said = without_prediction(&said);
        let json = command.arg("--json").assert().success().get_output().stdout.clone();
        let json: Value = serde_json::from_slice(&json).expect("JSON");
        if !said.is_empty() {
            assert!(said.lines().count() == 1, "{said}");
            let reasons = [("=steps", "no counters of the CPU here: "), ("=hardware", "no single steps here: ")];
            for (not, reason) in reasons {
                assert_eq!(said.contains(reason), counters != not, "{said}");
            }
            assert!(json.get("counters").is_none() && !text.contains("counted"), "{text}");
            continue;
        }
        let by = json["counters"]["counted_by"].as_str().expect("a source");
        let says = if by == "hardware" { "by the CPU in user space" } else { "step by step, in one run on one thread" };
        assert!(text.contains(&format!("counted {says}, per heap")), "{text}");
        assert!(counters.is_empty() || counters == format!("={by}"), "{counters}: {by}");
        let rows = json["counters"]["rows"].as_array().expect("rows");
        assert_eq!(text.contains("hot loop, "), by == "steps" && rows.len() == 1, "{text}");
        for row in rows {
            // A heap has 6 moves.
            let instructions = row["instructions"].as_f64().expect("a number");
            assert!((5.0..5000.0).contains(&instructions), "{row}");
        }
    }
    nimlanes().args(commands[0]).args(["--counters", "--rev", "HEAD"]).assert().code(2);
    nimlanes().args(commands[0]).arg("--counters=valgrind").assert().code(2);
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
