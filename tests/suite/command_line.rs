//! The program as a user sees it: answers, JSON, and one clear line for every invalid request.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};

use nimlanes::games::GAMES;
use nimlanes::machine::isa::Tier;
use nimlanes::moves::ALLOWED;
use serde_json::Value;

use crate::nimlanes;
#[cfg(unix)]
use crate::program::{path_of_program, without_tools};

/// The names of this architecture's tiers.
fn tiers(between: &str) -> String {
    Tier::here().map(Tier::name).collect::<Vec<_>>().join(between)
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args)).expect("JSON on stdout")
}

fn stdout(args: &[&str]) -> String {
    nimlanes().args(args).text()
}

/// Runs with `args` and expects exit code 2 and a single line that contains `says`.
fn refused(args: &[&str], says: &str) {
    nimlanes().args(args).refused(2, says);
}

#[test]
fn every_game_is_solved_at_its_published_limit() {
    let reports = json(&["solve", "--json"]);
    let answers: Vec<(&str, &str)> = reports
        .as_array()
        .expect("an array")
        .iter()
        .map(|report| (report["game"].as_str().expect("a name"), report["answer"].as_str().expect("a string")))
        .collect();
    assert!(answers.iter().map(|(game, _)| *game).eq(nimlanes::games::GAMES.iter().map(|game| game.name)));
    let published = [
        ("stone-game", "167542057"),
        ("proportionate-nim", "11541685709674"),
        ("nim-square", "2586528661783"),
        ("scatterstone-nim", "626616617"),
    ];
    assert!(published.iter().all(|pair| answers.contains(pair)), "{answers:?}");
    let table = nimlanes().arg("solve").text();
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
    assert_eq!(report["peak_bytes"].as_u64().expect("a number") > 0, cfg!(any(target_os = "linux", windows)));
}

/// Parameters appear in text and JSON, whether set or default.
#[test]
fn an_answer_includes_its_question() {
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
        let text = nimlanes().args(&args).text();
        assert!(text.lines().next().is_some_and(|first| first.ends_with(line)), "{line}: {text}");
        assert!(text.contains(report["question"].as_str().expect("a sentence")), "{text}");
    }
}

/// Answers below 2^53, below 2^128, and above.
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
fn limits_have_several_notations() {
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

/// Measured slopes and densities come closer to their expected values with each hundredfold limit.
#[test]
fn the_beams_of_proportionate_nim_are_reported() {
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

/// Other misspelt names are in `refusals.tsv`.
#[test]
fn a_misspelt_tier_gets_a_suggestion() {
    nimlanes().env("NIMLANES_ISA_MAX", "avx").arg("env").refused(2, "did you mean `avx2`? allowed: portable");
}

#[test]
fn a_kernel_that_cannot_run_here_is_named_with_the_reason() {
    let duel = ["compare", "table_scan", "--kernels", "bit_rows_avx2"];
    let unable = "kernel table_scan=bit_rows_avx2 is not available: ";
    nimlanes().env("NIMLANES_ISA_MAX", "portable").args(duel).refused(2, unable);
}

#[test]
fn kernels_of_one_operation_are_verified() {
    let text = nimlanes().args(["verify", "xor_partitions"]).text();
    let (kernels, verdict) = text.trim_end().rsplit_once('\n').expect("lines");
    assert_eq!(verdict, "every available kernel agrees");
    assert!(kernels.lines().any(|line| line.starts_with("ok       xor_partitions/scatterstone/")), "{text}");
    assert!(kernels.lines().all(|line| line.contains(" xor_partitions/")), "{text}");
}

/// Unwritable outputs are detected before the work, and no device is replaced by a file.
#[cfg(target_os = "linux")]
#[test]
fn outputs_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (folder, missing) = (folder.path(), folder.path().join("none/file.svg"));
    let long = ["compare", "table_scan", "--size", "3000", "--kernels", "byte_table", "--save"];
    for (args, path) in [
        (&["positions", "stone-game", "--limit", "9", "--output"][..], folder),
        (&["positions", "stone-game", "--limit", "9", "--output"], &missing),
        (&["plot", "stone-game", "--limit", "9", "--output"], &missing),
        (&["grundy", "--limit", "9", "--output"], folder),
        (&["grundy", "--limit", "9", "--records", "--checkpoint"], &missing),
        (&long, folder),
        (&["compare", "mex_split", "--size", "9", "--seconds", "0.1", "--save"], std::path::Path::new("/dev/full")),
        (&["grundy", "--limit", "9", "--output"], std::path::Path::new("/dev/full")),
    ] {
        let output = nimlanes().args(args).arg(path).assert().code(1).stdout("").get_output().clone();
        let line = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(line.lines().count(), 1, "{args:?}: {line}");
        assert!(line.starts_with(&format!("nimlanes: cannot write to {}", path.display())), "{args:?}: {line}");
    }
    assert!(!std::fs::metadata("/dev/full").expect("a device").is_file());
    // A write error on standard output is a failure; one on standard error does not panic.
    let full = || std::fs::File::create("/dev/full").expect("a device");
    let program = path_of_program();
    for args in [&["env"][..], &["--help"], &["kernels", "--json"], &["grundy", "--limit", "9"]] {
        let status = std::process::Command::new(&program).args(args).stdout(full()).stderr(full()).status();
        assert_eq!(status.expect("it starts").code(), Some(1), "{args:?}");
    }
    let status = std::process::Command::new(&program).arg("slove").stderr(full()).status().expect("it starts");
    assert_eq!(status.code(), Some(2));
}

#[test]
fn invalid_move_sets_are_refused() {
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
    refused(&["solve", "proportionate-nim", "--moves", "1:1", "--kernel", "occupancy=automaton"], "cannot be used");
}

#[test]
fn wrong_threads() {
    refused(&["solve", "stone-game", "--threads", "0"], "at least 1");
    refused(&["solve", "stone-game", "--threads", "-1"], "at least 1");
    refused(&["solve", "stone-game", "--threads", "1e6"], "at most 1024");
    refused(&["solve", "stone-game", "--threads", "x"], "whole number");
    if !cfg!(feature = "parallel") {
        refused(&["solve", "stone-game", "--threads", "2"], "feature `parallel`");
    }
}

/// A script can often do no more than to empty a variable.
#[test]
fn an_empty_variable_is_an_unset_one() {
    let kernels = || {
        let mut program = nimlanes();
        program.args(["kernels", "--json"]);
        program
    };
    let expected = kernels().output().expect("it runs").stdout;
    for variable in ["NIMLANES_ISA_MAX", "NIMLANES_KERNEL"] {
        let printed = kernels().env(variable, "").assert().success().get_output().stdout.clone();
        assert!(printed == expected, "{variable}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let profile = ["profile", "mex_split", "--kernel", "near_sum", "--size", "9", "--seconds", "0.05", "--dir", "."];
    let output = nimlanes().current_dir(&folder).env("NIMLANES_SAMPLER", "").args(profile).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("NIMLANES_SAMPLER"), "{said}");
}

#[test]
fn wrong_variables() {
    let unknown = format!("NIMLANES_ISA_MAX: unknown tier `mmx`; allowed: {}", tiers(", "));
    nimlanes().env("NIMLANES_ISA_MAX", "mmx").args(&["kernels"]).refused(2, &unknown);
    nimlanes().env("NIMLANES_KERNEL", "table_scan").args(&["kernels"]).refused(2, "NIMLANES_KERNEL");
    nimlanes().env("NIMLANES_KERNEL", "table_scan=none").args(&["solve", "stone-game"]).refused(2, "byte_table");
}

#[test]
fn a_kernel_that_the_cpu_lacks_is_refused_with_those_it_has() {
    let kernels = json(&["kernels", "--json"]);
    let vector = kernels.as_array().expect("an array").iter().find(|kernel| kernel["tier"] == "avx512");
    let vector = vector.expect("some kernel of the strongest tier");
    let (operation, name) = (vector["operation"].as_str().expect("a name"), vector["kernel"].as_str().expect("a name"));
    let mut capped = nimlanes();
    capped.env("NIMLANES_ISA_MAX", "portable");
    capped.args(["run", operation, "--kernel", name]).refused(2, "not available");
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
    assert_eq!(duel["schema"], "nimlanes-duel-2");
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
        ["compare", "occupancy", "--size", "1e6", "--kernels", "hash_sets,byte_table_certificate", "--seconds", "0.1"];
    let duel = json(&[&slow[..], &["--json"]].concat());
    assert_eq!(duel["skipped"][0]["kernel"], "hash_sets");
    assert!(duel["skipped"][0]["reason"].as_str().expect("a reason").contains("predicted"));
}

#[test]
fn run_and_env_say_what_they_did() {
    let run = ["run", "table_scan", "--kernel", "bit_rows", "--size", "100", "--seconds", "0.05"];
    nimlanes().args(run).assert().success().prints("runs");
    nimlanes().arg("env").assert().success().prints("tiers");
    assert!(json(&["env", "--json"])["threads"].is_number());
}

/// Kernels with quadratic time would take minutes or hours at some sizes.
#[test]
fn run_and_profile_predict_the_time() {
    let (long, few) = (["--size", "20000"], ["--size", "100", "--seconds", "0.01"]);
    for command in ["run", "profile"] {
        let args = [command, "table_scan", "--kernel", "byte_table"];
        refused(&[&args[..], &long].concat(), "more than a minute; ");
        refused(&[&args[..], &long].concat(), " would fit; --force allows it");
    }
    refused(
        &[&["profile", "table_scan", "--against", "byte_table"], &long[..]].concat(),
        "byte_table is predicted to take",
    );
    let run = ["run", "table_scan", "--kernel", "bit_rows"];
    nimlanes().args(run).args(few).assert().success().says("size 100: bit_rows is predicted to take");
    let published = "size 1000, the published one: bit_rows is predicted";
    nimlanes().args(run).args(&few[2..]).assert().success().says(published);
    let mut slow = nimlanes().args(["run", "mex_octal", "--kernel", "stamp"]).begin();
    let says = BufReader::new(slow.stderr.take().expect("it is piped")).lines().next().expect("a line").expect("text");
    slow.kill().and_then(|()| slow.wait()).expect("it ends");
    let less = "the largest within 2.00 s a run: at 131072, the published one, stamp is predicted to take";
    assert!(says.contains(less), "{says}");
}

#[cfg(windows)]
#[test]
fn profile_says_where_it_samples() {
    let says = "nimlanes: cannot sample: profiles are sampled on Linux and macOS alone, and by line on Linux alone\n";
    nimlanes().args(["profile", "table_scan", "--kernel", "bit_rows", "--size", "300"]).assert().code(1).says(says);
}

#[cfg(unix)]
#[test]
fn profile_draws_kernels_by_their_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().to_str().expect("UTF-8");
    let args = ["profile", "table_scan", "--kernel", "bit_rows", "--size", "300", "--seconds", "0.3", "--dir"];
    let output = without_tools().args(args).args([into, "--against", "byte_table"]).assert().success();
    output.prints("bit_rows").prints("samples").prints("from byte_table to bit_rows, shares of the samples:\n");
    let read = |file: &str| std::fs::read_to_string(folder.path().join("table_scan/all-moves").join(file));
    assert!(read("bit_rows-300.svg").expect("a picture").contains("bit_rows"));
    let stacks = read("byte_table-300.folded").expect("stacks");
    let counted = stacks.lines().map(|line| line.rsplit_once(' ').expect("a stack and its count"));
    let [mut own, mut all] = [0, 0];
    for (stack, count) in counted {
        let count: u64 = count.parse().expect("a count");
        all += count;
        own += if stack.starts_with("byte_table") { count } else { 0 };
    }
    assert!(own > 0 && 4 * own >= 3 * all, "{own} of {all} samples are in the kernel: {stacks}");
    without_tools().args(args).arg("/dev/null/x").assert().code(1).says("cannot");
}

/// One file, of which a sample of the kernel is read as Firefox's profiler does.
#[cfg(unix)]
#[test]
fn a_profile_is_written_for_firefox() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("profile.json");
    let args = ["profile", "table_scan", "--kernel", "bit_rows", "--size", "300", "--seconds", "0.3", "--output"];
    without_tools().args(args).arg(&file).current_dir(folder.path()).assert().success();
    let profile: Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
    assert_eq!(profile["meta"]["product"], "table_scan/all-moves/bit_rows/300");
    let thread = &profile["threads"][0];
    let column =
        |table: &str, name: &str, row: &Value| thread[table][name][row.as_u64().expect("a row") as usize].clone();
    let name = |stack: &Value| {
        let function = column("frameTable", "func", &column("stackTable", "frame", stack));
        thread["stringArray"][column("funcTable", "name", &function).as_u64().expect("a row") as usize].clone()
    };
    let [mut own, mut all] = [0, 0];
    let samples = ["stack", "weight"].map(|name| thread["samples"][name].as_array().expect("a column"));
    for (innermost, weight) in samples[0].iter().zip(samples[1]) {
        let outer = |stack: &Value| Some(column("stackTable", "prefix", stack)).filter(|prefix| !prefix.is_null());
        let stack: Vec<Value> = std::iter::successors(Some(innermost.clone()), outer).collect();
        let weight = weight.as_u64().expect("a count");
        all += weight;
        own += if name(stack.last().expect("a frame")) == "bit_rows" { weight } else { 0 };
    }
    assert!(own > 0 && 4 * own >= 3 * all, "{own} of {all} samples are in the kernel: {profile}");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 1, "no other files are written");
}

/// The innermost function is the kernel's, and pprof leaves nothing behind.
#[cfg(unix)]
#[test]
fn pprof_samples_kernels_and_not_itself() {
    let [folder, temporary] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let args = ["profile", "table_scan", "--kernel", "bit_rows", "--size", "300", "--seconds", "0.3"];
    let profile = || {
        let mut profile = without_tools();
        profile.args(args).arg("--dir").arg(folder.path()).env("TMPDIR", temporary.path());
        profile
    };
    // Twice in one process.
    profile().args(["--sampler", "pprof", "--against", "byte_table"]).assert().success();
    for kernel in ["bit_rows", "byte_table"] {
        let path = folder.path().join(format!("table_scan/all-moves/{kernel}-300"));
        let read = |ending: &str| std::fs::read_to_string(path.with_extension(ending)).expect("a file of a profile");
        let stacks = read("folded");
        assert!(stacks.lines().all(|stack| stack.starts_with(kernel)), "{stacks}");
        assert!(!["Trace::trace", "backtrace::", ".rs:"].iter().any(|other| stacks.contains(other)), "{stacks}");
        assert!(read("svg").contains("250 per second, by pprof, functions that are not inlined"));
        assert!(read("txt").contains("no loop: it needs samples by line"));
    }
    assert_eq!(std::fs::read_dir(temporary.path()).expect("a folder").count(), 0, "files are left behind");
    let named = profile().env("NIMLANES_SAMPLER", "pprof").assert().success();
    assert!(!String::from_utf8_lossy(&named.get_output().stderr).contains("by function"));
    let says = "NIMLANES_SAMPLER: `valgrind` is no sampler; allowed: perf, pprof\n";
    profile().env("NIMLANES_SAMPLER", "valgrind").assert().code(2).says(says);
}

fn help(args: &[&str]) -> String {
    nimlanes().args(args).arg("--help").text()
}

/// All commands in the help.
fn commands() -> Vec<String> {
    let help = help(&[]);
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = list.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<_> = names.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect();
    assert!(names.len() > 10, "{help}");
    names.into_iter().filter(|name| name != "help").collect()
}

/// Settings appear in the help of the commands that accept them, under the heading of their games.
#[test]
fn help_lists_the_settings_of_the_games() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Headings, each with the text below it.
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in help(&["solve"]).lines() {
        match (line.strip_suffix(':'), sections.last_mut()) {
            (Some(heading), _) if !line.starts_with(' ') => sections.push((heading.to_owned(), String::new())),
            (_, Some((_, text))) => *text += &format!("{line}\n"),
            _ => {}
        }
    }
    for (game, setting) in GAMES.iter().flat_map(|game| game.settings().map(move |setting| (game, setting))) {
        let default = setting.value.map_or(String::new(), |_| format!(" [default: {}]", setting.published));
        // The sets of moves are in the error for others.
        let moves = "a list a,b,c, a range 1..k, all-but:a,b, @FILE, or a name";
        let help = if setting.help == ALLOWED { moves } else { setting.help };
        let says = format!("{help}{default}").to_lowercase();
        let of_game = sections.iter().filter(|(heading, _)| heading.contains(game.title)).map(|(_, text)| words(text));
        let option = setting.value.map_or(String::new(), |value| format!("<{value}> "));
        let option = format!("--{} {option}", setting.name);
        let mut named = of_game.filter(|text| text.contains(&option));
        assert!(named.any(|text| text.to_lowercase().contains(&says)), "{}: {says}: {sections:?}", game.title);
    }
    assert!(words(&help(&["solve"])).contains(
        "Stone Game: --rule <RULE> Which heaps a move may take from [default: all] [possible values: all, one-or-two] "
    ));
    for command in ["positions", "plot"] {
        let help = words(&help(&[command]));
        assert!(help.contains("Proportionate Nim: --moves <MOVES> The moves from both heaps: p:q "), "{help}");
        assert!(
            help.contains("Stone Game: the largest heap; Proportionate Nim: the largest sum of both heaps "),
            "{help}"
        );
        assert!(!["--heaps", "--modulus", "--exact"].iter().any(|option| help.contains(option)), "{help}");
    }
}

#[test]
fn help_begins_with_an_example_and_fits_a_screen() {
    for command in commands() {
        let help = help(&[&command]);
        assert!(help.starts_with("Example"), "{help}");
        let (examples, rest) = help.split_once("\n\n").expect("a text after the examples");
        assert!(examples.contains(&format!("nimlanes {command}")) && !rest.is_empty(), "{help}");
        assert!(help.lines().count() <= 50, "{help}");
    }
}

#[test]
fn without_a_command_it_prints_help() {
    let short = nimlanes().arg("-h").assert().success().get_output().stdout.clone();
    nimlanes().assert().success().stdout(short).stderr("");
}

#[test]
fn shells_complete_each_command_and_there_is_a_manual_page() {
    let generated = |what: &str| nimlanes().args(["--generate", what]).text();
    for shell in ["bash", "zsh", "fish"] {
        let script = generated(&format!("complete-{shell}"));
        assert!(commands().iter().all(|command| script.contains(command.as_str())), "{shell}");
        assert!(!script.contains("traced"), "{shell}");
    }
    let page = generated("man");
    let section = |command: &String| page.contains(&format!(".SH NIMLANES {}\n", command.to_uppercase()));
    assert!(commands().iter().all(section), "{page}");
    assert!(page.starts_with(".TH NIMLANES 1 ") && page.contains("Exit codes"), "{page}");
    assert!(!page.contains("ANSWER") && !page.contains("TRACED"), "{page}");
    refused(&["--generate", "manual"], "[possible values: man, complete-bash, complete-zsh, complete-fish]");
    refused(&["--generate", "man", "env"], "--generate takes no command");
}

/// The help lists exactly the variables in the source.
#[test]
fn help_lists_the_environment_variables() {
    fn variables(text: &str) -> BTreeSet<String> {
        let ends = |c: char| !c.is_ascii_uppercase() && c != '_';
        let named = |(at, prefix): (usize, &str)| {
            let rest = &text[at + prefix.len()..];
            format!("{prefix}{}", rest.split(ends).next().unwrap_or_default())
        };
        // Cargo hands `DEP_..` from one build script to another.
        let is_ours = |(at, _): &(usize, &str)| !text[..*at].ends_with("DEP_");
        text.match_indices("NIMLANES_").filter(is_ours).map(named).collect()
    }
    fn sources(folder: &std::path::Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.extend(variables(&std::fs::read_to_string(&path).expect("a source file")));
            }
        }
    }
    let mut read = BTreeSet::new();
    sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut read);
    let help = help(&[]);
    assert_eq!(variables(&help), read, "{help}");
    assert!(help.contains(&format!("NIMLANES_ISA_MAX={} ", tiers("|"))), "{help}");
}

#[test]
fn kernels_lists_one_operation_with_its_workloads() {
    let of = |args: &[&str]| nimlanes().arg("kernels").args(args).text();
    let (all, one) = (of(&[]), of(&["mex_zeros"]));
    for operation in nimlanes::cores::OPERATIONS {
        let title = format!("{}: ", operation.name());
        assert!(all.contains(&title));
        assert_eq!(one.contains(&title), operation.name() == "mex_zeros", "{one}");
        assert!(operation.workloads().iter().all(|w| all.contains(w.name)), "{all}");
    }
    assert!(one.contains("--workload triangular  --size 1048576  take a triangular number"), "{one}");
    let rows = json(&["kernels", "mex_zeros", "--json"]);
    let rows = rows.as_array().expect("an array");
    assert!(rows.iter().all(|row| row["operation"] == "mex_zeros" && row["workloads"][1] == "triangular"));
    assert_eq!(rows.iter().filter(|row| row["selected"] == true).count(), 1);
}

/// For every command with `--json`: each object names its format, and no integer exceeds what a JSON number represents
/// exactly.
#[test]
fn every_json_document_names_its_format() {
    fn whole_numbers_are_exact(value: &Value) -> bool {
        match value {
            Value::Number(number) => number.is_f64() || number.as_u64().is_some_and(|n| n <= 1 << 53),
            Value::Array(values) => values.iter().all(whole_numbers_are_exact),
            Value::Object(fields) => fields.values().all(whole_numbers_are_exact),
            _ => true,
        }
    }
    let documents: [(&str, &[&str], &str); 10] = [
        ("solve", &[], "nimlanes-solve-2"),
        // Its largest count exceeds 2^64.
        ("solve", &["nim-square", "--heaps", "5"], "nimlanes-solve-2"),
        ("grundy", &["--limit", "100"], "nimlanes-saved-1"),
        ("grundy", &["--code", "0.16", "--limit", "1000"], "nimlanes-saved-1"),
        ("grundy", &["--limit", "1000", "--zeros"], "nimlanes-saved-1"),
        ("family", &["--largest-move", "3"], "nimlanes-family-1"),
        ("kernels", &[], "nimlanes-kernel-1"),
        ("compare", &["mex_split", "--size", "9", "--seconds", "0.1"], "nimlanes-duel-2"),
        ("run", &["mex_split", "--size", "9", "--seconds", "0.1", "--kernel", "byte_scan"], "nimlanes-run-2"),
        ("env", &[], "nimlanes-environment-1"),
    ];
    for command in commands() {
        let is_walked = documents.iter().any(|(name, ..)| *name == command);
        let has_json = help(&[&command]).lines().any(|line| line.trim_start().starts_with("--json"));
        assert_eq!(has_json, is_walked, "{command}");
    }
    for (command, args, schema) in documents {
        let args: Vec<&str> = [command].into_iter().chain(args.iter().copied()).collect();
        let printed = json(&[&args[..], &["--json"]].concat());
        let objects = printed.as_array().map_or(std::slice::from_ref(&printed), Vec::as_slice);
        assert!(!objects.is_empty(), "{args:?}");
        for object in objects {
            assert_eq!(object["schema"], schema, "{args:?}");
        }
        assert!(whole_numbers_are_exact(&printed), "{args:?}: {printed}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("saved.json");
    let save = ["compare", "mex_split", "--size", "9", "--seconds", "0.1", "--save"];
    nimlanes().args(save).arg(&path).assert().success();
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
    assert!(whole_numbers_are_exact(&saved), "{saved}");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_silently() {
    use std::process::{Command, Stdio};
    let program = path_of_program();
    let mut child =
        Command::new(program).arg("kernels").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(output.stderr, b"");
}
