//! The program as a user meets it: answers, JSON, and one clear line for every wrong request.

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;

fn nimlanes() -> Command {
    let mut command = Command::cargo_bin("nimlanes").expect("the program is built for its tests");
    command.env_remove("NIMLANES_ISA_MAX").env_remove("NIMLANES_KERNEL");
    command
}

fn json(args: &[&str]) -> Value {
    let output = nimlanes().args(args).assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).expect("JSON on stdout")
}

/// Runs with `args` and expects exit code 2 and a single line that contains `says`.
fn refused(args: &[&str], says: &str) {
    refused_by(&mut nimlanes(), args, says);
}

fn refused_by(command: &mut Command, args: &[&str], says: &str) {
    let output = command.args(args).assert().code(2).stdout("").get_output().clone();
    let line = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(line.trim_end().lines().count(), 1, "{args:?} printed more than a line: {line}");
    assert!(line.starts_with("nimlanes: "), "{args:?}: {line}");
    assert!(line.contains(says), "{args:?} should say {says:?}: {line}");
}

#[test]
fn alone_it_solves_every_game_at_its_published_limit() {
    let reports = json(&["--json"]);
    let answers: Vec<(&str, &str)> = reports
        .as_array()
        .expect("an array")
        .iter()
        .map(|report| (report["game"].as_str().expect("a name"), report["answer"].as_str().expect("a string")))
        .collect();
    let published = [
        ("stone-game", "167542057"),
        ("proportionate-nim", "11541685709674"),
        ("nim-square", "2586528661783"),
        ("scatterstone-nim", "626616617"),
    ];
    assert_eq!(answers, published);
    let table = nimlanes().assert().success().get_output().stdout.clone();
    let table = String::from_utf8(table).expect("UTF-8");
    assert!(published.iter().all(|(game, answer)| table.contains(game) && table.contains(answer)), "{table}");
}

#[test]
fn solve_prints_one_object_with_the_kernels_it_used() {
    let report = json(&["solve", "stone-game", "--limit", "100", "--kernel", "table_scan=byte_table", "--json"]);
    assert_eq!(report["schema"], "nimlanes-solve-2");
    assert_eq!(report["limit"], 100);
    assert_eq!(report["answer"], "173895");
    assert_eq!(report["details"]["positions"], "1264");
    assert_eq!(report["kernels"]["table_scan"], "byte_table");
    assert!(report["seconds"].as_f64().expect("a number") > 0.0);
    assert_eq!(report["peak_bytes"].as_u64().expect("a number") > 0, cfg!(target_os = "linux"));
}

/// As text and as JSON, chosen or published.
#[test]
fn an_answer_says_what_it_answers() {
    for (args, parameters, line) in [
        (&["stone-game", "--limit", "9"][..], r#"{"rule": "all"}"#, "limit 9, rule all"),
        (
            &["stone-game", "--limit", "9", "--rule", "one-or-two"],
            r#"{"rule": "one-or-two"}"#,
            "limit 9, rule one-or-two",
        ),
        (
            &["proportionate-nim", "--limit", "9", "--moves", "3:2,1:1"],
            r#"{"diagonals": "1:1,2:3"}"#,
            "limit 9, diagonals 1:1,2:3",
        ),
        (
            &["nim-square", "--limit", "100", "--moves", "cubes", "--heaps", "5"],
            r#"{"heaps": "5", "moves": "cubes"}"#,
            "limit 100, heaps 5, moves cubes",
        ),
        (&["scatterstone-nim"], r#"{"count": "modulo 1000000007"}"#, "limit 200, count modulo 1000000007"),
        (&["scatterstone-nim", "--modulus", "97"], r#"{"count": "modulo 97"}"#, "limit 200, count modulo 97"),
        (&["scatterstone-nim", "--exact"], r#"{"count": "exact"}"#, "limit 200, count exact"),
    ] {
        let args = [&["solve"], args].concat();
        let report = json(&[&args[..], &["--json"]].concat());
        assert_eq!(report["parameters"], serde_json::from_str::<Value>(parameters).expect("JSON"));
        let text = nimlanes().args(&args).assert().success().get_output().stdout.clone();
        let text = String::from_utf8(text).expect("UTF-8");
        assert!(text.lines().next().is_some_and(|first| first.ends_with(line)), "{line}: {text}");
        assert!(text.contains(report["question"].as_str().expect("a sentence")), "{text}");
    }
}

/// Below 2^53, between that and 2^128, and past it.
#[test]
fn exact_numbers_are_strings_whatever_their_size() {
    for (limit, digits) in [("20", 1..16), ("900", 17..39), ("2000", 40..60)] {
        let report = json(&["solve", "scatterstone-nim", "--limit", limit, "--exact", "--json"]);
        for number in [&report["answer"], &report["details"]["F3"], &report["details"]["L4"]] {
            let number = number.as_str().expect("a string");
            assert!(digits.contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit()), "{limit}: {number}");
        }
    }
}

#[test]
fn limits_are_read_as_people_write_them() {
    for limit in ["1e2", "100", "1_00"] {
        assert_eq!(json(&["solve", "stone-game", "--limit", limit, "--json"])["answer"], "173895", "{limit}");
    }
}

#[test]
fn the_smallest_limits_have_answers() {
    for (game, answers) in [
        ("stone-game", ["0", "0", "3"]),
        ("proportionate-nim", ["0", "0", "0"]),
        ("nim-square", ["1", "2", "6"]),
        ("scatterstone-nim", ["0", "0", "1"]),
    ] {
        for (limit, answer) in ["0", "1", "2"].into_iter().zip(answers) {
            assert_eq!(json(&["solve", game, "--limit", limit, "--json"])["answer"], answer, "{game} {limit}");
        }
    }
}

/// Measured, and beside what they tend to: closer with each hundredfold limit, and as the sum demands.
#[test]
fn the_beams_of_proportionate_nim_are_told() {
    let mut errors = [1.0, 1.0, 1.0, 1.0];
    for limit in ["1e3", "1e5", "1e7"] {
        let report = json(&["solve", "proportionate-nim", "--limit", limit, "--json"]);
        let figure = |name: String| report["details"][name.as_str()].as_f64().expect("a number");
        for (name, error) in ["lower_slope", "lower_density", "upper_slope", "upper_density"].iter().zip(&mut errors) {
            let (measured, expected) = (figure((*name).into()), figure(format!("{name}_expected")));
            let now = (measured / expected - 1.0).abs();
            assert!(now < *error, "{name} at {limit}: {measured}, {expected} in the limit");
            *error = now;
        }
    }
    assert!(errors.iter().all(|error| *error < 1e-4), "{errors:?}");
    // An empty beam has no slope, and other moves have other beams.
    assert!(json(&["solve", "proportionate-nim", "--limit", "3", "--json"])["details"]["lower_slope"].is_null());
    let wythoff = json(&["solve", "proportionate-nim", "--limit", "1e3", "--moves", "1:1", "--json"]);
    assert!(wythoff["details"]["positions"].is_string() && wythoff["details"]["lower_slope"].is_null());
}

#[test]
fn the_named_variants_are_other_games() {
    let answer = |args: &[&str]| json(&[&["solve"], args, &["--json"]].concat())["answer"].clone();
    assert_eq!(answer(&["stone-game", "--rule", "one-or-two", "--limit", "100"]), "194965");
    assert_eq!(answer(&["nim-square", "--moves", "cubes", "--limit", "1e6"]), "8279179340528666");
    let two_heaps = |moves| answer(&["proportionate-nim", "--moves", moves, "--limit", "1000"]);
    assert_eq!(two_heaps("2:1,1:1"), "117002");
    // Nim: (n,n) up to n = 500.
    assert_eq!(two_heaps("none"), "250500");
    assert_eq!(
        answer(&["nim-square", "--moves", "1,2,3", "--limit", "50"]),
        answer(&["nim-square", "--moves", "1..3", "--limit", "50"])
    );
}

#[test]
fn wrong_limits() {
    refused(&["solve", "stone-game", "--limit", "-5"], "at least 0");
    refused(&["solve", "stone-game", "--limit", "many"], "not a whole number");
    refused(&["solve", "stone-game", "--limit", "1e30"], "at most 18446744073709551615");
    refused(&["solve", "stone-game", "--limit", "1e19"], "at most");
    refused(&["solve", "stone-game", "--limit", "4e6"], "would fit");
    refused(&["solve", "nim-square", "--limit", "1e18"], "at most");
    refused(&["solve", "--limit", "5"], "GAME");
}

#[test]
fn wrong_names() {
    refused(&["solve", "chess"], "stone-game");
    refused(&["solve", "stone-game", "--rule", "none"], "one-or-two");
    refused(&["solve", "stone-game", "--moves", "squares"], "--moves");
    refused(&["solve", "nim-square", "--rule", "one-or-two"], "--rule");
    refused(&["solve", "stone-game", "--heaps", "2"], "--heaps");
    refused(&["solve", "nim-square", "--exact"], "--exact");
    refused(&["solve", "nim-square", "--heaps", "10001"], "at most 10000");
    refused(&["solve", "scatterstone-nim", "--modulus", "0"], "modulus 0");
    refused(&["solve", "scatterstone-nim", "--modulus", "1000000006"], "odd");
    refused(&["solve", "scatterstone-nim", "--modulus", "2147483649"], "odd");
    refused(&["solve", "stone-game", "--kernel", "bit_rows"], "OPERATION=");
    refused(&["solve", "stone-game", "--kernel", "table_scan=none"], "byte_table");
    refused(&["solve", "stone-game", "--kernel", "scan=byte_table"], "table_scan");
    refused(&["solve", "stone-game", "--kernel", "mex_subtraction=stamp"], "does not use");
    refused(&["compare", "none"], "table_scan");
    refused(&["compare", "table_scan", "--workload", "none"], "all-moves");
    refused(&["compare", "table_scan", "--kernels", ""], "empty name");
    refused(&["compare", "table_scan", "--kernels", "byte_table,"], "empty name");
    refused(&["compare", "table_scan", "--kernels", "none"], "byte_table");
    refused(&["compare", "table_scan", "--baseline", "none"], "byte_table");
    refused(&["compare", "table_scan", "--seconds", "0"], "above 0");
    refused(&["compare", "table_scan", "--pin", "4096"], "allowed");
    refused(&["run", "table_scan", "--kernel", "none"], "byte_table");
    refused(&["nonsense"], "nonsense");
    refused(&["--json", "kernels"], "--json");
}

#[test]
fn wrong_move_sets() {
    for (moves, says) in [
        ("", "empty"),
        ("0,1", "contains 0"),
        ("4,3", "not ascending"),
        ("3,3", "twice"),
        ("1,x", "not a whole number"),
        ("-1,2", "not a whole number"),
        ("odd", "squares"),
        ("2..5", "1..k"),
        ("1..0", "1..k"),
    ] {
        refused(&["solve", "nim-square", "--moves", moves], says);
    }
    for (moves, says) in [
        ("", "empty"),
        ("0:0", "takes nothing"),
        ("3:0", "one heap only"),
        ("1:2,2:1", "twice"),
        ("1:65536", "above 65535"),
        ("1:-1", "not p:q"),
        ("squares", "not p:q"),
    ] {
        refused(&["solve", "proportionate-nim", "--moves", moves], says);
    }
    refused(&["solve", "proportionate-nim", "--moves", "1:60000", "--limit", "1e9"], "would fit");
    refused(&["solve", "proportionate-nim", "--moves", "1:1", "--kernel", "occupancy=automaton"], "cannot do");
}

#[test]
fn wrong_threads() {
    refused(&["solve", "stone-game", "--threads", "0"], "at least one");
    refused(&["solve", "stone-game", "--threads", "-1"], "at least 0");
    refused(&["solve", "stone-game", "--threads", "1e6"], "at most");
    if !cfg!(feature = "parallel") {
        refused(&["solve", "stone-game", "--threads", "2"], "feature `parallel`");
    }
}

#[test]
fn wrong_variables() {
    refused_by(nimlanes().env("NIMLANES_ISA_MAX", "mmx"), &["kernels"], "portable, avx2, avx512");
    refused_by(nimlanes().env("NIMLANES_KERNEL", "table_scan"), &["kernels"], "NIMLANES_KERNEL");
    refused_by(nimlanes().env("NIMLANES_KERNEL", "table_scan=none"), &["solve", "stone-game"], "byte_table");
}

#[test]
fn a_kernel_that_the_cpu_lacks_is_refused_with_those_it_has() {
    let kernels = json(&["kernels", "--json"]);
    let vector = kernels.as_array().expect("an array").iter().find(|kernel| kernel["tier"] == "avx512");
    let vector = vector.expect("some kernel of the strongest tier");
    let (operation, name) = (vector["operation"].as_str().expect("a name"), vector["kernel"].as_str().expect("a name"));
    let mut capped = nimlanes();
    capped.env("NIMLANES_ISA_MAX", "portable");
    refused_by(&mut capped, &["run", operation, "--kernel", name], "not available");
}

#[test]
fn the_environment_caps_tiers_and_names_kernels() {
    let output = nimlanes().env("NIMLANES_ISA_MAX", "portable").args(["kernels", "--json"]).assert().success();
    let kernels: Value = serde_json::from_slice(&output.get_output().stdout).expect("JSON");
    for kernel in kernels.as_array().expect("an array") {
        assert!(kernel["available"] == false || kernel["tier"] == "portable", "{kernel}");
        assert!(kernel["selected"] == false || kernel["available"] == true, "{kernel}");
    }
    let output =
        nimlanes().env("NIMLANES_KERNEL", "table_scan=byte_table").args(["solve", "stone-game", "--json"]).assert();
    let report: Value = serde_json::from_slice(&output.success().get_output().stdout).expect("JSON");
    assert_eq!(report["kernels"]["table_scan"], "byte_table");
}

#[test]
fn every_operation_has_one_selected_kernel() {
    let kernels = json(&["kernels", "--json"]);
    let kernels = kernels.as_array().expect("an array");
    let mut operations: Vec<&str> =
        kernels.iter().map(|kernel| kernel["operation"].as_str().expect("a name")).collect();
    operations.dedup();
    assert_eq!(operations.len(), nimlanes::cores::OPERATIONS.len());
    for operation in operations {
        let selected = kernels.iter().filter(|k| k["operation"] == operation && k["selected"] == true).count();
        assert_eq!(selected, 1, "{operation}");
    }
}

#[test]
fn compare_reports_every_row_and_every_reason() {
    let args =
        ["compare", "table_scan", "--size", "100", "--kernels", "byte_table,bit_rows", "--seconds", "0.2", "--json"];
    let duel = json(&args);
    assert_eq!(duel["schema"], "nimlanes-duel-1");
    assert_eq!(duel["baseline"], "byte_table");
    let rows = duel["rows"].as_array().expect("an array");
    assert_eq!(rows.len(), 2);
    for row in rows {
        for field in ["threads", "median_seconds", "ratio", "ratio_low", "ratio_high", "throughput"] {
            assert!(row[field].is_number(), "{field} of {row}");
        }
    }
    let baseline = rows.iter().find(|row| row["kernel"] == "byte_table").expect("the baseline has a row");
    assert_eq!(baseline["ratio"], 1.0);
    let slow =
        ["compare", "occupancy", "--size", "1e6", "--kernels", "hash_sets,bit_tests_certificate", "--seconds", "0.1"];
    let duel = json(&[&slow[..], &["--json"]].concat());
    assert_eq!(duel["skipped"][0]["kernel"], "hash_sets");
    assert!(duel["skipped"][0]["reason"].as_str().expect("a reason").contains("predicted"));
}

#[test]
fn run_and_env_say_what_they_did() {
    let run = ["run", "table_scan", "--kernel", "bit_rows", "--size", "100", "--seconds", "0.05"];
    nimlanes().args(run).assert().success().stdout(predicate::str::contains("runs"));
    nimlanes().arg("env").assert().success().stdout(predicate::str::contains("tiers"));
    assert!(json(&["env", "--json"])["threads"].is_number());
}

#[test]
fn profile_draws_kernels_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().to_str().expect("UTF-8");
    let args = ["profile", "table_scan", "--kernel", "bit_rows", "--size", "300", "--seconds", "0.3", "--into"];
    let output = nimlanes().args(args).args([into, "--against", "byte_table"]).assert().success();
    output.stdout(predicate::str::contains("bit_rows").and(predicate::str::contains("samples")));
    let read = |file: &str| std::fs::read_to_string(folder.path().join("table_scan/all-moves").join(file));
    assert!(read("bit_rows-300.svg").expect("a picture").contains("bit_rows"));
    assert!(read("byte_table-300.folded").expect("stacks").starts_with("byte_table"));
    assert!(read("byte_table-to-bit_rows-300.svg").expect("a picture").contains("kernel"));
    nimlanes().args(args).arg("/dev/null/x").assert().code(1).stderr(predicate::str::contains("cannot"));
}

#[test]
fn ceilings_are_positive_and_those_of_caches_in_order() {
    let readings = json(&["ceilings", "--json"]);
    let ns = |kind: &str, name: &str| {
        let readings = readings.as_array().expect("an array");
        let reading = readings.iter().find(|reading| reading["kind"] == kind && reading["name"] == name);
        reading.expect("a ceiling of this name")["ns"].as_f64().expect("a number")
    };
    assert!(ns("clock", "word") > 0.0);
    assert!(ns("latency", "l1") < ns("latency", "memory"));
    assert!(ns("loads", "l1") < ns("loads", "memory"));
}

#[test]
fn help_teaches_with_an_example() {
    for command in ["solve", "positions", "plot", "kernels", "verify", "compare", "run", "profile", "ceilings", "env"] {
        let help = nimlanes().args([command, "--help"]).assert().success();
        help.stdout(predicate::str::contains("Example").and(predicate::str::contains("nimlanes")));
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_silently() {
    use std::process::{Command, Stdio};
    let program = assert_cmd::cargo::cargo_bin("nimlanes");
    let mut child =
        Command::new(program).arg("kernels").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(output.stderr, b"");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_long_run_cleanly() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let program = assert_cmd::cargo::cargo_bin("nimlanes");
    let long = ["solve", "stone-game", "--limit", "6000", "--kernel", "table_scan=byte_table"];
    let child = Command::new(program).args(long).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(kill.success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "nimlanes: interrupted\n");
    assert!(start.elapsed() < Duration::from_secs(5));
}
