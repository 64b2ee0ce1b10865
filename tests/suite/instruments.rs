//! The instruments as a user sees them: duels are saved and compared, results are regenerated from data, and an invalid
//! file gives one clear line.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use nimlanes::cores::operation;
use nimlanes::games::{Solver, game};
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::lab::environment::Environment;
use nimlanes::machine::Machine;
use nimlanes::machine::isa::Tier;
use nimlanes_lab::profile::Sampling;
use nimlanes_lab::report::data::folder::{self, JOINED, join};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::nimlanes;

/// Expects exit code 1 and a single line that contains `says`.
fn failed(command: &mut Command, says: &str) {
    let output = command.assert().code(1).get_output().clone();
    let line = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(line.trim_end().lines().count(), 1, "more than a line: {line}");
    assert!(line.starts_with("nimlanes: ") && line.contains(says), "should say {says:?}: {line}");
}

fn row(kernel: &str, ratio: [f64; 3]) -> Value {
    json!({
        "kernel": kernel,
        "tier": "portable",
        "clock": "thread",
        "threads": 1,
        "rounds": 20,
        "median_seconds": 0.04 / ratio[1],
        "ratio": ratio[1],
        "ratio_low": ratio[0],
        "ratio_high": ratio[2],
        "throughput": 1e5 * ratio[1] / 0.04,
        "unit": "heap",
    })
}

/// A saved duel with these kernels, each with its ratio between a low and a high one.
fn duel(rows: &[(&str, [f64; 3])]) -> Value {
    let rows: Vec<Value> = rows.iter().map(|(kernel, ratio)| row(kernel, *ratio)).collect();
    json!({
        "schema": "nimlanes-saved-1",
        "kind": "duel",
        "date": "2026-01-31T12:00:00Z",
        "environment": Environment::detect(&Machine::detect()),
        "content": {
            "operation": "mex_subtraction",
            "workload": "squares",
            "size": 100,
            "build": "default",
            "baseline": "flags",
            "rows": rows,
            "skipped": [],
        },
    })
}

fn write(saved: &Value, path: &Path) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
    fs::write(path, format!("{saved:#}\n")).expect("a writable folder");
}

fn load(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON")
}

/// A short duel of two kernels.
fn compare(more: &[&str]) -> Command {
    let mut command = nimlanes();
    command
        .args(["compare", "mex_subtraction", "--size", "100", "--kernels", "flags,stamp", "--seconds", "0.2"])
        .args(more);
    command
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

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

/// A folder to make a report in, with a saved duel.
fn measured(saved: &Value) -> (TempDir, &'static str) {
    let root = TempDir::new().expect("a folder");
    let folder = "profiles/data/2026-01-31-zen4";
    write(saved, &root.path().join(folder).join("duel.json"));
    (root, folder)
}

fn report(root: &TempDir, args: &[&str]) -> Command {
    let mut command = nimlanes();
    command.current_dir(root.path()).arg("report").args(args);
    command
}

fn read(root: &TempDir, path: &str) -> String {
    fs::read_to_string(root.path().join(path)).expect("a file")
}

/// A duel at the published size, which fills every part of the report that uses duels.
fn headline() -> Value {
    let mut saved = duel(&[("stamp", [4.9, 5.0, 5.1]), ("flags", [1.0, 1.0, 1.0])]);
    saved["content"]["size"] = json!(100_000);
    saved
}

#[test]
fn a_report_is_regenerated_from_its_data_alone() {
    let (root, folder) = measured(&headline());
    report(&root, &["--data", folder]).assert().success();
    let text = read(&root, "RESULTS.md");
    for part in ["**5.00** `flags`", "## Environment", "mex_subtraction-ratio.svg", "`stamp`"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(text.contains("[`stamp`](src/cores/mex/subtraction/stamp.rs)"), "{text}");
    assert!(read(&root, "profiles/charts/mex_subtraction-ratio.svg").starts_with("<svg"));
    assert!(!root.path().join("README.md").exists());
    report(&root, &["--check"]).assert().success();

    // Text outside of the marks is kept; edits inside are reverted.
    let edited = text.replace("# Results", "# Results, with a word before them").replace("**5.00**", "**9.00**");
    fs::write(root.path().join("RESULTS.md"), edited).expect("a writable folder");
    failed(
        &mut report(&root, &["--check"]),
        "RESULTS.md is not what profiles/data/2026-01-31-zen4 gives (first difference at line",
    );
    report(&root, &["--data", folder]).assert().success();
    assert_eq!(read(&root, "RESULTS.md"), text.replace("# Results", "# Results, with a word before them"));

    fs::write(root.path().join("profiles/charts/mex_subtraction-ratio.svg"), "<svg/>").expect("a writable folder");
    failed(&mut report(&root, &["--check"]), "mex_subtraction-ratio.svg is not what");
}

/// Ties and slower kernels are in the tables by size alone.
#[test]
fn the_steps_are_the_kernels_that_beat_all_before_them() {
    let kernels = [("byte_lanes", 8.0), ("pull_words", 5.1), ("stamp", 5.0), ("flags", 1.0), ("bit_array", 0.9)];
    let mut saved = duel(&kernels.map(|(kernel, ratio)| (kernel, [ratio; 3])));
    saved["content"]["size"] = json!(100_000);
    let (root, folder) = measured(&saved);
    report(&root, &["--data", folder]).assert().success();
    let text = read(&root, "RESULTS.md");
    let steps = text.split("| step |").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a table of steps");
    let ends: Vec<&str> = steps.lines().skip(2).map(|line| line.rsplit(" | ").next().unwrap_or(line)).collect();
    assert_eq!(ends, ["– |", "5.00 |", "1.60 |"], "{steps}");
    let table = read(&root, "profiles/tables/mex_subtraction.md");
    assert!(kernels.iter().all(|(kernel, _)| table.contains(&format!("[`{kernel}`]"))), "{table}");
}

/// It is quicker than all exact kernels, and yet stands below them.
#[test]
fn an_observed_kernel_is_not_the_best() {
    let mut saved =
        duel(&[("window_tree", [89.0, 90.0, 91.0]), ("automaton", [4.9, 5.0, 5.1]), ("bit_rows", [1.0; 3])]);
    let content = &mut saved["content"];
    (content["operation"], content["workload"]) = (json!("occupancy"), json!("proportionate"));
    (content["size"], content["baseline"]) = (json!(10_000_000), json!("bit_rows"));
    content["rows"][0]["claim"] = json!("observed");
    let (root, folder) = measured(&saved);
    fs::write(
        root.path().join("README.md"),
        "<!-- made by `nimlanes report`: do not edit -->\n<!-- end of what `nimlanes report` made -->\n",
    )
    .expect("a writable folder");
    report(&root, &["--data", folder]).assert().success();
    for file in ["RESULTS.md", "README.md"] {
        let text = read(&root, file);
        let (exact, observed) = text.split_once("Observed, not proved").expect("a table of observed kernels");
        let row = observed.lines().find(|line| line.contains("[`window_tree`]")).expect("a row of its own");
        assert!(row.ends_with("| 18.0 `automaton` |"), "{row}");
        assert!(exact.contains("[`automaton`]") && !exact.contains("window_tree"), "{exact}");
    }
    let [charts, table] =
        ["profiles/charts/occupancy-ratio.svg", "profiles/tables/occupancy.md"].map(|path| read(&root, path));
    let (exact, observed) = table.split_once("## Observed kernels").expect("a section of its own");
    assert!(!charts.contains("window_tree") && !exact.contains("window_tree") && observed.contains("[`window_tree`]"));
}

#[test]
fn long_tables_are_files_that_the_report_links_to() {
    let (root, folder) = measured(&headline());
    report(&root, &["--data", folder]).assert().success();
    let path = "profiles/tables/mex_subtraction.md";
    assert!(read(&root, "RESULTS.md").contains(&format!("]({path})")));
    let table = read(&root, path);
    assert!(table.contains("[`stamp`](../../src/cores/mex/subtraction/stamp.rs)"), "{table}");
    assert!(read(&root, "profiles/tables/README.md").contains("(mex_subtraction.md)"));
    report(&root, &["--check"]).assert().success();
    fs::write(root.path().join(path), table.replace("5.00", "50.0")).expect("a writable folder");
    failed(&mut report(&root, &["--check"]), "mex_subtraction.md is not what");
    fs::remove_file(root.path().join(path)).expect("a writable folder");
    failed(&mut report(&root, &["--check"]), "mex_subtraction.md is not what");
}

#[test]
fn charts_and_tables_of_an_earlier_report_are_named_and_removed() {
    let (root, folder) = measured(&headline());
    report(&root, &["--data", folder]).assert().success();
    let stale = ["profiles/charts/gone-ratio.svg", "profiles/tables/gone.md"];
    for (old, like) in stale.iter().zip(["profiles/charts/mex_subtraction-ratio.svg", "profiles/tables/README.md"]) {
        fs::write(root.path().join(old), read(&root, like)).expect("a writable folder");
    }
    let own = ["profiles/charts/mine.svg", "profiles/tables/mine.md"];
    own.iter().for_each(|path| fs::write(root.path().join(path), "Mine.").expect("a writable folder"));
    failed(&mut report(&root, &["--check"]), &format!("no longer part of the report: {}", stale.join(", ")));
    let output = report(&root, &["--data", folder]).assert().success().get_output().stdout.clone();
    let output = String::from_utf8(output).expect("UTF-8");
    assert!(output.contains(&format!("removed: {}\n", stale.join(", "))), "{output}");
    assert!(stale.iter().all(|path| !root.path().join(path).exists()));
    assert!(own.iter().all(|path| read(&root, path) == "Mine."));
    report(&root, &["--check"]).assert().success();
}

/// Adds a measurement of another kind to those in a folder.
fn add(root: &TempDir, folder: &str, kind: &str, content: Value) {
    let mut saved = headline();
    saved["kind"] = kind.into();
    saved["content"] = content;
    write(&saved, &root.path().join(folder).join(format!("{kind}.json")));
}

/// Whatever folder it was measured into, and although there is a report.
#[test]
fn counters_of_the_cpu_have_a_table_where_they_were_counted() {
    let (root, folder) = measured(&headline());
    report(&root, &["--data", folder]).assert().success();
    assert!(!read(&root, "RESULTS.md").contains("Counters of the CPU"));
    let rows = json!([
        { "kernel": "stamp", "runs": 3, "instructions": 300.0, "cycles": 100.0, "instructions_per_cycle": 3.0 },
        { "kernel": "flags", "runs": 1, "instructions": 900.5 },
    ]);
    let counters = json!({ "source": "hardware", "unit": "heap", "rows": rows, "skipped": [] });
    let case = json!({ "operation": "mex_subtraction", "workload": "squares", "size": 100_000, "counters": counters });
    add(&root, folder, "counted", case);
    report(&root, &["--data", folder]).assert().success();
    let finding = "The best kernels complete 3.00 to 3.00 instructions in a cycle.";
    assert!(read(&root, "RESULTS.md").contains(finding));
    let table = read(&root, "profiles/tables/counters.md");
    assert_eq!(cells(&table, "| [`stamp`]")[1..], ["300", "100", "3.00"]);
    assert_eq!(cells(&table, "| [`flags`]")[1..], ["900", "–", "–"]);
}

#[test]
fn a_draft_stays_below_the_target_folder() {
    let (root, folder) = measured(&headline());
    fs::write(root.path().join("README.md"), "Mine.").expect("a writable folder");
    fs::write(root.path().join("RESULTS.md"), "Mine, too.").expect("a writable folder");
    add(&root, folder, "setup", json!({"draft": true, "patience_seconds": 1.0, "took_seconds": 80.0}));
    let output = report(&root, &["--data", folder]).assert().success().get_output().stdout.clone();
    assert!(output.starts_with(b"target/draft/RESULTS.md is written"), "{}", String::from_utf8_lossy(&output));
    assert_eq!((&*read(&root, "README.md"), &*read(&root, "RESULTS.md")), ("Mine.", "Mine, too."));
    assert!(!root.path().join("profiles/charts").exists() && !root.path().join("profiles/tables").exists());

    let text = read(&root, "target/draft/RESULTS.md");
    for part in ["**Draft**", "](profiles/tables/mex_subtraction.md)", "](../../src/cores/mex/subtraction/stamp.rs)"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(root.path().join("target/draft/profiles/charts/mex_subtraction-ratio.svg").exists());
    let table = read(&root, "target/draft/profiles/tables/mex_subtraction.md");
    assert!(table.contains("](../../../../src/cores/mex/subtraction/stamp.rs)"), "{table}");
    report(&root, &["--check", "--data", folder]).assert().success();
    let help = report(&root, &["--help"]).assert().success().get_output().stdout.clone();
    assert!(String::from_utf8_lossy(&help).contains("below target/draft"));
}

#[test]
fn kernels_that_changed_since_they_were_measured_are_marked() {
    let (root, folder) = measured(&headline());
    let written = |digests: Value| {
        add(&root, folder, "sources", json!({"revision": "0123456789ab", "digests": digests}));
        report(&root, &["--data", folder]).assert().success().get_output().stdout.clone()
    };
    let output = written(json!({}));
    assert!(!String::from_utf8_lossy(&output).contains("changed since"));
    let text = read(&root, "RESULTS.md");
    assert!(text.contains("| revision | `0123456789ab` |") && !text.contains('†'), "{text}");

    // Whoever changes a kernel need not mark it.
    let changed = json!({"src/cores/mex/subtraction/stamp.rs": "0", "src/cores/mex/gone.rs": "0"});
    add(&root, folder, "sources", json!({"revision": "0123456789ab", "digests": changed}));
    let output = report(&root, &["--check"]).assert().success().get_output().stdout.clone();
    assert!(String::from_utf8_lossy(&output).contains("changed since they were measured: mex_subtraction=stamp"));

    let output = written(changed);
    let output = String::from_utf8_lossy(&output);
    assert!(
        output.contains("changed since they were measured: mex_subtraction=stamp\n"),
        "the same source at another tier was not measured: {output}"
    );
    let text = read(&root, "RESULTS.md");
    assert!(text.contains("[`stamp`](src/cores/mex/subtraction/stamp.rs)†"), "{text}");
    assert!(text.contains("† The source of this kernel has changed"), "{text}");
    assert!(text.contains("Shared source that has changed since it was measured: `src/cores/mex/gone.rs`."), "{text}");
    assert!(read(&root, "profiles/tables/mex_subtraction.md").contains("stamp.rs)†"));
    report(&root, &["--check"]).assert().success();

    // Nor does who changes more than is marked.
    let more = json!({"src/cores/mex/gone.rs": "0", "src/simd/gone.rs": "0"});
    add(&root, folder, "sources", json!({"revision": "0123456789ab", "digests": more}));
    report(&root, &["--check"]).assert().success();
}

#[test]
fn the_readme_has_a_digest() {
    let (root, folder) = measured(&headline());
    let path = root.path().join("README.md");
    let marks = "<!-- made by `nimlanes report`: do not edit -->\n<!-- end of what `nimlanes report` made -->\n";
    fs::write(&path, format!("Mine.\n{marks}Mine, too.\n")).expect("a writable folder");
    report(&root, &["--data", folder]).assert().success();
    let text = read(&root, "README.md");
    assert!(text.starts_with("Mine.\n<!-- made") && text.ends_with("-->\nMine, too.\n"), "{text}");
    assert!(text.contains("| [`stamp`](src/cores/mex/subtraction/stamp.rs) | 5.00 |"), "{text}");
    report(&root, &["--check"]).assert().success();
    fs::write(&path, text.replace("5.00", "50.0")).expect("a writable folder");
    failed(&mut report(&root, &["--check"]), "README.md is not what");
    fs::write(&path, "No marks.").expect("a writable folder");
    failed(&mut report(&root, &["--data", folder]), "README.md has no lines");
}

/// As it is when a report has ended.
#[test]
fn one_file_of_all_measurements_gives_the_same_report() {
    let (root, folder) = measured(&headline());
    add(&root, folder, "sources", json!({"revision": "0123456789ab", "digests": {}}));
    report(&root, &["--data", folder]).assert().success();
    let path = root.path().join(folder);
    join(&path).expect("readable");
    let names = || -> Vec<_> {
        fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect()
    };
    assert_eq!(names(), [JOINED]);
    report(&root, &["--check"]).assert().success();
    report(&root, &["--data", folder, "--name", "lake-2"]).assert().success();
    assert!(names() == [JOINED] && read(&root, "RESULTS.md").contains("(lake-2, named by hand"));

    // A file beside it is newer.
    write(&duel(&[("stamp", [3.0; 3]), ("flags", [1.0; 3])]), &path.join("duel.json"));
    failed(&mut report(&root, &["--check"]), "is not what");
    fs::remove_file(path.join("duel.json")).expect("a writable folder");
    let whole = fs::read_to_string(path.join(JOINED)).expect("a file");
    for (from, to, says) in [
        ("\"kind\": \"duel\"", "\"kind\": \"quarrel\"", "measurements.json/duel.json is not a measurement"),
        ("measurements-1", "measurements-2", "measurements.json is not a measurement saved by nimlanes: its schema is"),
        ("}\n", "", "measurements.json is not a measurement saved by nimlanes: EOF"),
    ] {
        fs::write(path.join(JOINED), whole.replace(from, to)).expect("a writable folder");
        failed(&mut report(&root, &["--check"]), says);
    }
}

/// What is committed is what a report writes.
#[test]
fn committed_measurements_are_one_file_for_each_machine() {
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/data")).expect("measurements") {
        let committed = entry.expect("an entry").path();
        assert_eq!(fs::read_dir(&committed).expect("a folder").count(), 1, "{}", committed.display());
        let folder = TempDir::new().expect("a folder");
        for (name, measurement) in folder::read(&committed).expect("readable") {
            let value: Value = serde_json::from_str(&measurement.text).expect("JSON");
            assert_eq!(value["schema"], "nimlanes-saved-1", "{name}");
            fs::write(folder.path().join(&name), &measurement.text).expect("writable");
        }
        join(folder.path()).expect("writable");
        let text = |folder: &Path| fs::read_to_string(folder.join(JOINED)).expect("a file");
        assert!(text(folder.path()) == text(&committed), "{}", committed.display());
    }
}

#[test]
fn a_report_without_usable_data_is_refused_and_the_old_one_kept() {
    let (root, folder) = measured(&headline());
    failed(&mut report(&root, &["--check"]), "RESULTS.md has no lines");
    failed(&mut report(&root, &["--data", "profiles/none"]), "no data in profiles/none");
    report(&root, &["--data", folder]).assert().success();
    let before = read(&root, "RESULTS.md");

    let other = root.path().join(folder).join("other.json");
    let whole = headline().to_string();
    fs::write(&other, &whole[..whole.len() / 2]).expect("a writable folder");
    failed(&mut report(&root, &["--data", folder]), "other.json is not a measurement saved by nimlanes: EOF");
    fs::write(&other, "{\"name\": \"foreign\"}").expect("a writable folder");
    failed(&mut report(&root, &["--data", folder]), "missing field `schema`");
    let unknown = whole.replace("\"kind\":\"duel\"", "\"kind\":\"quarrel\"");
    fs::write(&other, unknown).expect("a writable folder");
    failed(&mut report(&root, &["--data", folder]), "its kind \"quarrel\" is unknown");

    let mut elsewhere = headline();
    elsewhere["environment"]["cpu"] = json!("another");
    write(&elsewhere, &other);
    failed(&mut report(&root, &["--data", folder]), "other.json: saved on another machine: cpu another");
    assert_eq!(read(&root, "RESULTS.md"), before);
    report(&root, &["--data", folder, "--mixed"]).assert().success();

    fs::write(root.path().join("RESULTS.md"), "# Typed by hand\n").expect("a writable folder");
    failed(&mut report(&root, &["--data", folder, "--mixed"]), "RESULTS.md has no lines");
    assert_eq!(read(&root, "RESULTS.md"), "# Typed by hand\n");
}

/// Measurements of another machine, with these kernels at the published size.
fn elsewhere(microarchitecture: &str, date: &str, rows: &[(&str, f64)]) -> Value {
    let mut saved = duel(&rows.iter().map(|(kernel, ratio)| (*kernel, [*ratio; 3])).collect::<Vec<_>>());
    saved["content"]["size"] = json!(100_000);
    saved["date"] = json!(date);
    saved["environment"]["cpu"] = json!("Another CPU");
    saved["environment"]["microarchitecture"] = json!(microarchitecture);
    saved
}

/// The cells of the first line of a text that has this beginning.
fn cells<'t>(text: &'t str, beginning: &str) -> Vec<&'t str> {
    let line = text.lines().find(|line| line.starts_with(beginning));
    let line = line.unwrap_or_else(|| panic!("no line begins with {beginning} in {text}"));
    line.trim_matches('|').split('|').map(str::trim).collect()
}

#[test]
fn another_machine_stands_beside_that_of_the_report() {
    let mut own = elsewhere("zen-x", "2026-01-31T12:00:00Z", &[("stamp", 5.0), ("push_bits", 4.0), ("flags", 1.0)]);
    own["content"]["processes"] = json!(5);
    let (root, folder) = measured(&own);
    // As before there were processes, with a kernel that is no longer in the list.
    let mut there = elsewhere(
        "lake",
        "2026-01-30T12:00:00Z",
        &[("gone_lanes", 9.0), ("push_bits", 6.0), ("stamp", 3.0), ("flags", 1.0)],
    );
    let path = root.path().join("profiles/data/2026-01-30-lake/duel.json");
    write(&there, &path);
    let mut sources = there.clone();
    sources["kind"] = json!("sources");
    sources["content"] = json!({"revision": "0123456789ab", "digests": {}});
    write(&sources, &path.with_file_name("sources.json"));

    let output = report(&root, &["--data", folder]).assert().success().get_output().clone();
    assert!(output.stderr.is_empty() && String::from_utf8_lossy(&output.stdout).contains("beside it: lake\n"));
    let text = read(&root, "RESULTS.md");
    assert_eq!(cells(&text, "| operation | best kernel").last(), Some(&"× on lake"));
    assert_eq!(cells(&text, "| [`mex_subtraction`]").last(), Some(&"3.00; 9.00 `gone_lanes`"));
    assert_eq!(cells(&text, "| [`flags`]").last(), Some(&"1.00"));
    assert_eq!(cells(&text, "| [`stamp`]").last(), Some(&"3.00"));
    assert_eq!(cells(&text, "| lake")[3..], ["0 of 1", "1 of 3"]);
    let page = read(&root, "profiles/tables/machines.md");
    for part in [
        "Another CPU, measured on 2026-01-30; revision: `0123456789ab`; each duel is of one process",
        "Of 3 pairs of kernels on one input, 1 turn over.",
    ] {
        assert!(page.contains(part), "{part} is missing in {page}");
    }
    let turn = "turns over: `stamp` by 1.25 on zen-x, `push_bits` by 2.00 on lake";
    assert_eq!(cells(&page, "| `mex_subtraction` at 100")[1..], [turn, turn, "1 of 3"]);
    assert_eq!(cells(&page, "| `mex_subtraction` `squares`")[1..], ["`stamp`", "1.25", "`push_bits`", "2.00"]);
    assert_eq!(cells(&page, "| `gone_lanes`")[1..], ["–", "–", "4.44\u{a0}ms", "9.00"]);
    assert!(read(&root, "profiles/tables/mex_subtraction-lake.md").contains("| `gone_lanes` | **4.44"));

    report(&root, &["--check"]).assert().success();
    for field in ["ratio", "ratio_high"] {
        there["content"]["rows"][1][field] = json!(6.6);
    }
    write(&there, &path);
    failed(&mut report(&root, &["--check"]), "is not what");
}

#[test]
fn the_newest_folder_of_each_other_microarchitecture_counts() {
    let (root, folder) = measured(&headline());
    let folders =
        [("b", "lake", "2026-01-01", 2.0), ("a", "lake", "2026-01-02", 3.0), ("c", "cove", "2025-01-01", 4.0)];
    let path = |name: &str| root.path().join("profiles/data").join(name).join("duel.json");
    for (name, microarchitecture, date, ratio) in folders {
        let saved = elsewhere(microarchitecture, &format!("{date}T12:00:00Z"), &[("stamp", ratio), ("flags", 1.0)]);
        write(&saved, &path(name));
    }
    // One of its own machine does not count, however new it is.
    let mut own = headline();
    own["date"] = json!("2099-01-01T12:00:00Z");
    write(&own, &path("d"));
    report(&root, &["--data", folder]).assert().success();
    let text = read(&root, "RESULTS.md");
    assert_eq!(cells(&text, "| operation | best kernel")[7..], ["× on cove", "× on lake"]);
    assert_eq!(cells(&text, "| [`mex_subtraction`]")[7..], ["4.00", "3.00"]);
    report(&root, &["--check"]).assert().success();
}

/// As where a hypervisor hides the model of the CPU.
#[test]
fn a_machine_is_named_by_hand() {
    let (root, folder) = measured(&headline());
    let other = "profiles/data/2026-01-30-hidden";
    let said = "GenuineIntel-family6-model167";
    let saved = elsewhere(said, "2026-01-30T12:00:00Z", &[("stamp", 2.0), ("flags", 1.0)]);
    write(&saved, &root.path().join(other).join("duel.json"));
    for wrong in ["", "Lake", "lake-", "a--b", "../lake"] {
        let output = report(&root, &["--data", other, "--name", wrong]).assert().code(2).get_output().stderr.clone();
        let line = String::from_utf8(output).expect("UTF-8");
        assert!(line.contains("lower-case letters and digits, with hyphens between them"), "{line}");
    }
    report(&root, &["--check", "--name", "lake-2"]).assert().code(2);

    report(&root, &["--data", other, "--name", "lake-2"]).assert().success();
    let text = read(&root, "RESULTS.md");
    assert!(text.contains(&format!("(lake-2, named by hand: it said {said}, ")), "{text}");
    report(&root, &["--data", folder]).assert().success();
    let text = read(&root, "RESULTS.md");
    assert_eq!(cells(&text, "| operation | best kernel").last(), Some(&"× on lake-2"));
    assert_eq!(cells(&text, "| name ")[1..], ["by the CPU", &format!("by hand; it said {said}")]);
    report(&root, &["--check"]).assert().success();
    assert_eq!(load(&root.path().join(other).join("name.json"))["environment"]["microarchitecture"], said);

    let name = root.path().join(other).join("name.json");
    let mut wrong = load(&name);
    wrong["content"]["name"] = json!("../lake");
    write(&wrong, &name);
    failed(&mut report(&root, &["--data", other]), "\"../lake\" is no name of a machine");
}

/// The costs are of today, so a choice can be one that was not timed.
#[test]
fn the_page_on_selection_has_a_section_for_each_machine() {
    let machine = Machine::detect().capped(Tier::Portable);
    let selection = Selection::new(machine).with_threads(1).expect("one thread");
    let session =
        operation("mex_subtraction").expect("listed").session(&selection, "squares", 100_000).expect("listed");
    let selected = session.kernels()[selection.kernel_of(session.as_ref()).expect("a kernel")].name;
    assert!(!["flags", "push_bits"].contains(&selected), "the test needs others");
    let on = |name: &str, rows: &[(&str, f64)]| {
        let mut saved = elsewhere(name, "2026-01-31T12:00:00Z", rows);
        saved["environment"]["tier"] = json!("portable");
        saved
    };
    let (root, folder) = measured(&on("zen-x", &[(selected, 5.0), ("flags", 1.0)]));
    let others = [("cove", (selected, 2.0)), ("lake", ("pull_words", 2.0))];
    for (name, slower) in others {
        let saved = on(name, &[("push_bits", 5.0), slower, ("flags", 1.0)]);
        write(&saved, &root.path().join("profiles/data").join(name).join("duel.json"));
    }
    report(&root, &["--data", folder]).assert().success();
    let page = read(&root, "profiles/tables/selection.md");
    let verdict = |good, worst| {
        format!(
            "at most 1.2 times as long as the fastest in {good} of 1 cases; the worst choice takes {worst} times as long."
        )
    };
    assert!(page.contains(&format!("## On zen-x\n\n{}\n", verdict(1, "1.00"))), "{page}");
    assert!(page.contains(&format!("## On cove\n\n{}\n", verdict(0, "2.50"))), "{page}");
    let row = format!("| `mex_subtraction` | `squares` | 100\u{202f}000 | `{selected}` | `push_bits` |");
    assert!(page.contains(&format!("{row} 2.50 |")), "{page}");
    // What is selected was not timed there.
    assert!(!page.contains("## On lake") || page.contains(&format!("{row} – |")), "{page}");
    report(&root, &["--check"]).assert().success();
}

/// Each is named in one line.
#[test]
fn a_folder_that_cannot_be_used_is_left_out_and_not_touched() {
    let (root, folder) = measured(&headline());
    report(&root, &["--data", folder]).assert().success();
    let before = read(&root, "RESULTS.md");
    let other = "profiles/data/2026-01-01-lake";
    let path = root.path().join(other).join("duel.json");
    let good = elsewhere("lake", "2026-01-01T12:00:00Z", &[("stamp", 5.0), ("flags", 1.0)]);
    let whole = good.to_string();
    let with = |pointer: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).expect("a field") = value;
        bad.to_string()
    };
    let bad = [
        (whole[..whole.len() / 2].to_owned(), "is not a measurement saved by nimlanes: EOF while parsing"),
        ("{\"name\": \"foreign\"}".to_owned(), "missing field `schema`"),
        (with("/schema", json!("nimlanes-saved-2")), "not \"nimlanes-saved-1\": it is of a newer nimlanes"),
        (with("/schema", json!("nimlanes-solve-1")), "its schema is \"nimlanes-solve-1\", not \"nimlanes-saved-1\"\n"),
        (with("/kind", json!("quarrel")), "its kind \"quarrel\" is unknown"),
        (with("/date", json!("yesterday")), "its date is \"yesterday\""),
        (with("/environment/microarchitecture", json!("../lake")), "\"../lake\" is no microarchitecture"),
        (with("/environment/cpu", json!("<img>")), "\"<img>\" is no plain text"),
        (with("/content/baseline", json!("stamp|")), "\"stamp|\" is no name"),
        (with("/content/baseline", json!("gone")), "its baseline gone has no times"),
        (with("/content/rows/0/median_seconds", json!(0.05)), "not in the order of their times"),
        (with("/content/rows/0/median_seconds", json!(0.001)), "stamp has a ratio of 5, which its time contradicts"),
        (with("/content/rows/0/ratio_low", json!(6.0)), "stamp has a ratio of 5 outside of its range"),
        (with("/content/rows/0/throughput", json!(1e5)), "stamp did another amount of work"),
        (with("/content/rows/0/clock", json!("wall")), "stamp is timed by the wall clock"),
        (with("/content/rows/0/rounds", json!(0)), "stamp was timed in no round"),
        (with("/content/rows/1/median_seconds", json!(0.0)), "a measured number is 0.0"),
    ];
    fs::create_dir(root.path().join(other)).expect("a writable folder");
    for (text, says) in bad {
        fs::write(&path, &text).expect("a writable folder");
        for command in [["--data", folder].as_slice(), &["--check"]] {
            let output = report(&root, command).assert().success().get_output().clone();
            let line = String::from_utf8(output.stderr).expect("UTF-8");
            assert_eq!(line.lines().count(), 1, "{line}");
            assert!(
                line.starts_with(&format!("nimlanes: {other} is left out: ")) && line.contains(says),
                "{says}: {line}"
            );
        }
        assert_eq!((read(&root, "RESULTS.md"), fs::read_to_string(&path).expect("a file")), (before.clone(), text));
        // As the machine of the report, it is refused.
        failed(&mut report(&root, &["--data", other]), says.trim_end());
        assert_eq!(read(&root, "RESULTS.md"), before);
    }

    write(&good, &path);
    let mut setup = good;
    setup["kind"] = json!("setup");
    setup["content"] = json!({"draft": true, "patience_seconds": 1.0, "took_seconds": 80.0});
    let mixed = whole.replace("Another CPU", "A third CPU");
    for (text, says) in [(setup.to_string(), "it is a draft"), (mixed, "saved on another machine: cpu A third CPU")] {
        fs::write(path.with_file_name("more.json"), text).expect("a writable folder");
        let line = report(&root, &["--check"]).assert().success().get_output().stderr.clone();
        let line = String::from_utf8_lossy(&line);
        assert!(line.contains(says) && line.lines().count() == 1, "{line}");
    }
}

/// Charts cannot show zeros and infinities, and implausible numbers are not measurements.
#[test]
fn an_implausible_number_is_refused_with_its_file() {
    let (root, folder) = measured(&headline());
    report(&root, &["--data", folder]).assert().success();
    let path = root.path().join(folder).join("duel.json");
    let whole = fs::read_to_string(&path).expect("what was saved");
    for (field, number) in [
        ("ratio", "0.0"),
        ("ratio", "-1.0"),
        ("ratio", "NaN"),
        ("ratio", "null"),
        ("ratio", "1e999"),
        ("ratio", "1e300"),
        ("ratio", "5e-324"),
        ("ratio_low", "0"),
        ("ratio_high", "-0.0"),
        ("median_seconds", "0.0"),
        ("throughput", "-1"),
    ] {
        let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        let line = lines.iter_mut().find(|line| line.contains(&format!("\"{field}\":"))).expect("a row");
        *line = format!("\"{field}\": {number}{}", if line.ends_with(',') { "," } else { "" });
        fs::write(&path, lines.join("\n")).expect("a writable folder");
        for command in [["--data", folder].as_slice(), &["--check"]] {
            failed(&mut report(&root, command), "duel.json is not a measurement saved by nimlanes: ");
        }
        failed(&mut compare(&["--against", text(&path)]), "duel.json is not a measurement saved by nimlanes: ");
    }
}

/// 0 is a valid size, but a logarithmic axis cannot show it.
#[test]
fn a_duel_of_size_0_is_left_out_of_the_chart() {
    let (root, folder) = measured(&headline());
    for size in [0, 1000] {
        let mut other = headline();
        other["content"]["size"] = json!(size);
        write(&other, &root.path().join(folder).join(format!("{size}.json")));
    }
    report(&root, &["--data", folder]).assert().success();
    let chart = read(&root, "profiles/charts/mex_subtraction-sizes.svg");
    assert!(chart.starts_with("<svg") && chart.len() < 100_000, "{} bytes", chart.len());
}

/// What `run` says on stderr besides the time that it predicts.
fn without_prediction(said: &str) -> String {
    said.lines().filter(|line| !line.contains(" is predicted to take ")).map(|line| format!("{line}\n")).collect()
}

/// Whatever can count here: the CPU, valgrind, or nothing.
#[test]
fn counters_are_shown_or_one_line_says_that_there_are_none() {
    let commands = [
        ["compare", "mex_subtraction", "--size", "1000", "--kernels", "flags,stamp", "--seconds", "0.1", "--counters"],
        ["run", "mex_subtraction", "--size", "1000", "--kernel", "stamp", "--seconds", "0.1", "--counters"],
    ];
    for args in commands {
        let output = nimlanes().args(args).assert().success().get_output().clone();
        let [text, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
        let said = without_prediction(&said);
        let json = nimlanes().args(args).arg("--json").assert().success().get_output().stdout.clone();
        let json: Value = serde_json::from_slice(&json).expect("JSON");
        assert_eq!(said.is_empty(), json["counters"]["source"] == "hardware", "{said}");
        assert!(
            said.lines().count() <= 1 && (said.is_empty() || said.contains("no counters of the CPU here")),
            "{said}"
        );
        if said.contains("no valgrind") {
            assert!(json.get("counters").is_none() && !text.contains("counted"), "{text}");
            continue;
        }
        assert!(text.contains("counted by") && text.contains("per heap"), "{text}");
        for row in json["counters"]["rows"].as_array().expect("rows") {
            // A heap has 31 moves.
            let instructions = row["instructions"].as_f64().expect("a number");
            assert!((20.0..20_000.0).contains(&instructions), "{row}");
        }
    }
    nimlanes().args(commands[0]).args(["--rev", "HEAD"]).assert().code(2);
}

/// The command goes on without them.
#[test]
fn counters_that_nothing_can_count_are_left_out() {
    let empty = TempDir::new().expect("a folder");
    let args = ["run", "mex_subtraction", "--size", "1000", "--kernel", "stamp", "--seconds", "0.1", "--counters"];
    let output = nimlanes().args(args).env("PATH", empty.path()).assert().success().get_output().clone();
    let [text, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
    let said = without_prediction(&said);
    assert!(text.contains("runs, the first"), "{text}");
    match said.is_empty() {
        true => assert!(text.contains("counted by the CPU"), "{text}"),
        false => {
            assert!(said.ends_with("and no valgrind to count instructions\n") && said.lines().count() == 1, "{said}")
        }
    }
}

/// By its own frame, whatever called it.
#[cfg(target_os = "linux")]
#[test]
fn a_profile_of_a_game_begins_with_the_game() {
    let selection = Selection::new(Machine::detect()).with_kernel("table_scan", "byte_table").expect("always there");
    let run = Run::new(1);
    let question = game("stone-game").expect("a game").question(500);
    let sampling = Sampling::start().expect("no other sampling in this process");
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
