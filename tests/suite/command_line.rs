//! The program as a user sees it: answers, JSON, profiles and help. Single lines are in `requests`.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};

use nimlanes::cores::OPERATIONS;
use nimlanes::games::GAMES;
use nimlanes::machine::isa::Tier;
use nimlanes::moves::ALLOWED;
use serde_json::Value;

use crate::nimlanes;
use crate::program::{command, path_of_program};

/// The names of this architecture's tiers.
fn tiers(between: &str) -> String {
    Tier::here().map(Tier::name).collect::<Vec<_>>().join(between)
}

#[test]
fn every_game_is_solved_at_its_published_limit() {
    let (reports, table) = (command("solve --json").json(), command("solve").text());
    let reports = reports.as_array().expect("an array");
    assert!(reports.iter().map(|report| &report["game"]).eq(GAMES.iter().map(|game| game.name)));
    for report in reports {
        let [game, answer] = ["game", "answer"].map(|field| report[field].as_str().expect("text"));
        assert!(table.contains(game) && table.contains(answer), "{table}");
        assert!(report["seconds"].as_f64().expect("a number") > 0.0);
        assert_eq!(report["peak_bytes"].as_u64().expect("a number") > 0, cfg!(any(target_os = "linux", windows)));
        let text = command(&format!("solve {game}")).text();
        assert!(text.contains(report["question"].as_str().expect("a sentence")), "{text}");
    }
}

/// Measured slopes and densities come closer to their expected values with each hundredfold limit.
#[test]
fn the_beams_of_proportionate_nim_are_reported() {
    let mut errors = [1.0, 1.0, 1.0, 1.0];
    for limit in ["1e3", "1e5", "1e7"] {
        let report = command(&format!("solve proportionate-nim --limit {limit} --json")).json();
        let figure = |name: String| report["details"][name.as_str()].as_f64().expect("a number");
        for (name, error) in ["lower_slope", "lower_density", "upper_slope", "upper_density"].iter().zip(&mut errors) {
            let (measured, expected) = (figure((*name).into()), figure(format!("{name}_expected")));
            let now = (measured / expected - 1.0).abs();
            assert!(now < *error, "{name} at {limit}: {measured}, {expected} in the limit");
            *error = now;
        }
    }
    assert!(errors.iter().all(|error| *error < 1e-4), "{errors:?}");
}

#[test]
fn kernels_of_one_operation_are_verified() {
    let text = command("verify mex_split").text();
    let (kernels, verdict) = text.trim_end().rsplit_once('\n').expect("lines");
    assert_eq!(verdict, "every available kernel agrees");
    assert!(kernels.lines().any(|line| line.starts_with("ok       mex_split/")), "{text}");
    assert!(kernels.lines().all(|line| line.contains(" mex_split/")), "{text}");
}

/// Unwritable outputs are detected before the work, and no device is replaced by a file.
#[cfg(target_os = "linux")]
#[test]
fn outputs_that_cannot_be_written() {
    for request in ["compare mex_split --size 9 --seconds 0.1 --save", "grundy --limit 9 --output"] {
        command(request).arg("/dev/full").refused(1, "cannot write to /dev/full");
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

/// The test sets a stack size per thread that no system can provide. `threads` has all kernels without threads.
#[test]
fn a_thread_that_cannot_be_started_is_an_error_in_one_line() {
    for request in
        ["positions stone-game --limit 100", "solve proportionate-nim --threads 3 --kernel occupancy=charged_threads"]
    {
        let mut program = command(request);
        program.env("RUST_MIN_STACK", (1_u64 << 60).to_string());
        program.refused(1, "nimlanes: a thread could not be started");
    }
}

/// A script can often do no more than to empty a variable.
#[test]
fn an_empty_variable_is_an_unset_one() {
    let expected = command("kernels --json").text();
    for variable in ["NIMLANES_ISA_MAX", "NIMLANES_KERNEL"] {
        assert!(command(&format!("{variable}= kernels --json")).text() == expected, "{variable}");
    }
}

#[test]
fn the_environment_caps_tiers() {
    let kernels = command("NIMLANES_ISA_MAX=portable kernels --json").json();
    for kernel in kernels.as_array().expect("an array") {
        assert!(kernel["available"] == false || kernel["tier"] == "portable", "{kernel}");
        assert!(kernel["selected"] == false || kernel["available"] == true, "{kernel}");
    }
}

#[test]
fn compare_reports_every_row_and_every_reason() {
    let duel = command("compare table_scan --size 100 --kernels byte_table,bit_rows --seconds 0.2 --json").json();
    assert_eq!(duel["baseline"], "byte_table");
    let rows = duel["rows"].as_array().expect("an array");
    assert_eq!(rows.len(), 2);
    for row in rows {
        for field in ["threads", "median_seconds", "ratio", "ratio_low", "ratio_high", "throughput"] {
            assert!(row[field].is_number(), "{field} of {row}");
        }
        assert!(row["kernel"] != "byte_table" || row["ratio"] == 1.0, "{row}");
    }
    let slow = "compare occupancy --size 1e6 --kernels hash_sets,byte_table_certificate --seconds 0.1 --json";
    let skipped = command(slow).json()["skipped"][0].take();
    assert_eq!(skipped["kernel"], "hash_sets");
    assert!(skipped["reason"].as_str().expect("a reason").contains("predicted"));
}

/// Kernels with quadratic time would take minutes or hours at some sizes.
#[test]
fn run_predicts_the_time() {
    let run = "run table_scan --kernel bit_rows --seconds 0.01";
    command(&format!("{run} --size 100")).assert().success().says("size 100: bit_rows is predicted to take");
    command(run).assert().success().says("size 1000, the published one: bit_rows is predicted");
    let mut slow = command("run mex_octal --kernel stamp").begin();
    let says = BufReader::new(slow.stderr.take().expect("it is piped")).lines().next().expect("a line").expect("text");
    slow.kill().and_then(|()| slow.wait()).expect("it ends");
    let less = "the largest within 2.00 s a run: at 131072, the published one, stamp is predicted to take";
    assert!(says.contains(less), "{says}");
}

#[cfg(windows)]
#[test]
fn profile_says_where_it_samples() {
    let says = "nimlanes: cannot sample: profiles are sampled on Linux and macOS alone, and by line on Linux alone\n";
    command("profile table_scan --kernel bit_rows --size 300").assert().code(1).says(says);
}

#[cfg(unix)]
const PROFILE: &str = "profile table_scan --kernel bit_rows --size 300 --seconds 0.3";

/// Expects that three quarters of the samples are in the kernel.
#[cfg(unix)]
fn is_mostly(samples: impl IntoIterator<Item = (bool, u64)>) {
    let [mut own, mut all] = [0, 0];
    for (is_own, count) in samples {
        all += count;
        own += if is_own { count } else { 0 };
    }
    assert!(own > 0 && 4 * own >= 3 * all, "{own} of {all} samples are in the kernel");
}

/// The innermost function is the kernel's, and the sampler leaves nothing behind.
#[cfg(unix)]
#[test]
fn profile_draws_kernels_by_their_names() {
    let [folder, temporary] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    // Twice in one process. Without llvm-mca, which takes most of the time.
    let mut profile = command(&format!("{PROFILE} --sampler pprof --against byte_table --dir"));
    profile.arg(folder.path()).env("TMPDIR", temporary.path()).env("PATH", "");
    let output = profile.assert().success();
    output.prints("bit_rows").prints("samples").prints("from byte_table to bit_rows, shares of the samples:\n");
    for kernel in ["bit_rows", "byte_table"] {
        let path = folder.path().join(format!("table_scan/all-moves/{kernel}-300"));
        let read = |ending: &str| std::fs::read_to_string(path.with_extension(ending)).expect("a file of a profile");
        let stacks = read("folded");
        let counted = stacks.lines().map(|line| line.rsplit_once(' ').expect("a stack and its count"));
        is_mostly(counted.map(|(stack, count)| (stack.starts_with(kernel), count.parse().expect("a count"))));
        assert!(stacks.lines().all(|stack| stack.starts_with(kernel)), "{stacks}");
        assert!(!["Trace::trace", "backtrace::", ".rs:"].iter().any(|other| stacks.contains(other)), "{stacks}");
        let picture = read("svg");
        assert!(
            picture.contains(kernel) && picture.contains("250 per second, by pprof, functions that are not inlined")
        );
        assert!(read("txt").contains("no loop: it needs samples by line"));
    }
    assert_eq!(std::fs::read_dir(temporary.path()).expect("a folder").count(), 0, "files are left behind");
    command(&format!("{PROFILE} --dir /dev/null/x")).assert().code(1).says("cannot write to /dev/null/x");
}

/// One file, of which a sample of the kernel is read as Firefox's profiler does.
#[cfg(unix)]
#[test]
fn a_profile_is_written_for_firefox() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut profile = command(&format!("NIMLANES_SAMPLER=pprof {PROFILE} --output profile.json"));
    let output = profile.current_dir(folder.path()).env("PATH", "").assert().success();
    assert!(!String::from_utf8_lossy(&output.get_output().stderr).contains("by function"), "it was named");
    let profile = std::fs::read(folder.path().join("profile.json")).expect("a file");
    let profile: Value = serde_json::from_slice(&profile).expect("JSON");
    assert_eq!(profile["meta"]["product"], "table_scan/all-moves/bit_rows/300");
    let thread = &profile["threads"][0];
    let column =
        |table: &str, name: &str, row: &Value| thread[table][name][row.as_u64().expect("a row") as usize].clone();
    let name = |stack: &Value| {
        let function = column("frameTable", "func", &column("stackTable", "frame", stack));
        thread["stringArray"][column("funcTable", "name", &function).as_u64().expect("a row") as usize].clone()
    };
    let samples = ["stack", "weight"].map(|name| thread["samples"][name].as_array().expect("a column"));
    is_mostly(samples[0].iter().zip(samples[1]).map(|(innermost, weight)| {
        let outer = |stack: &Value| Some(column("stackTable", "prefix", stack)).filter(|prefix| !prefix.is_null());
        let outermost = std::iter::successors(Some(innermost.clone()), outer).last().expect("a frame");
        (name(&outermost) == "bit_rows", weight.as_u64().expect("a count"))
    }));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "no other files are written");
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

/// One kernel of each operation is selected.
#[test]
fn kernels_lists_one_operation_with_its_workloads() {
    let of = |args: &str| command(&format!("kernels {args}")).text();
    let (all, one) = (of(""), of("mex_zeros"));
    let rows = command("kernels --json").json();
    let rows = rows.as_array().expect("an array");
    for operation in OPERATIONS {
        let title = format!("{}: ", operation.name());
        assert!(all.contains(&title));
        assert_eq!(one.contains(&title), operation.name() == "mex_zeros", "{one}");
        assert!(operation.workloads().iter().all(|w| all.contains(w.name)), "{all}");
        let selected = rows.iter().filter(|row| row["operation"] == operation.name() && row["selected"] == true);
        assert_eq!(selected.count(), 1, "{title}");
    }
    let rows = command("kernels mex_zeros --json").json();
    let mut rows = rows.as_array().expect("an array").iter();
    assert!(rows.all(|row| row["operation"] == "mex_zeros" && row["workloads"][1] == "triangular"));
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
    // The largest count of `nim-square` exceeds 2^64.
    let documents = [
        ("solve", "nimlanes-solve-2"),
        ("solve nim-square --heaps 5", "nimlanes-solve-2"),
        ("grundy --limit 100", "nimlanes-saved-1"),
        ("grundy --code 0.16 --limit 1000", "nimlanes-saved-1"),
        ("grundy --limit 1000 --zeros", "nimlanes-saved-1"),
        ("family --largest-move 3", "nimlanes-family-1"),
        ("kernels", "nimlanes-kernel-1"),
        ("compare mex_split --size 9 --seconds 0.1", "nimlanes-duel-2"),
        ("run mex_split --size 9 --seconds 0.1 --kernel byte_scan", "nimlanes-run-2"),
        ("env", "nimlanes-environment-1"),
    ];
    for name in commands() {
        let is_walked = documents.iter().any(|(request, _)| request.split(' ').next() == Some(&name));
        let has_json = help(&[&name]).lines().any(|line| line.trim_start().starts_with("--json"));
        assert_eq!(has_json, is_walked, "{name}");
    }
    for (request, schema) in documents {
        let printed = command(&format!("{request} --json")).json();
        let objects = printed.as_array().map_or(std::slice::from_ref(&printed), Vec::as_slice);
        assert!(!objects.is_empty() && objects.iter().all(|object| object["schema"] == schema), "{request}: {printed}");
        assert!(whole_numbers_are_exact(&printed), "{request}: {printed}");
    }
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
