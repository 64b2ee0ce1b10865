//! Tests of the benches as a process, with `cargo test --benches`: options are what criterion's users know.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use tempfile::TempDir;

use crate::arguments::Arguments;
use crate::described;

/// A benchmark that takes microseconds.
const ID: &str = "mex_subtraction/squares/stamp/100";

/// Its folder.
const FOLDER: &str = "mex_subtraction_squares/stamp/100";

type Test = fn() -> Result<(), Failed>;

/// Runs the tests that the command line names, and ends the program if one fails.
pub fn test(arguments: &Arguments) {
    let tests: [(&str, Test); 12] = [
        ("names_are_listed_and_filtered", names_are_listed_and_filtered),
        ("a_closed_pipe_is_no_error", a_closed_pipe_is_no_error),
        ("what_matches_nothing_computes_nothing", what_matches_nothing_computes_nothing),
        ("a_baseline_is_saved_and_compared", a_baseline_is_saved_and_compared),
        ("sampling_is_the_same_whatever_else_is_there", sampling_is_the_same_whatever_else_is_there),
        ("results_are_where_criterion_writes", results_are_where_criterion_writes),
        ("a_run_says_how_long_it_takes", a_run_says_how_long_it_takes),
        ("it_ends_with_a_table_of_this_run", it_ends_with_a_table_of_this_run),
        ("where_nothing_is_estimated_there_is_no_table", where_nothing_is_estimated_there_is_no_table),
        ("the_own_option_goes_with_those_of_criterion", the_own_option_goes_with_those_of_criterion),
        ("pictures_are_in_both_folders", pictures_are_in_both_folders),
        ("mistakes_are_explained_in_a_line", mistakes_are_explained_in_a_line),
    ];
    let processes = tests.map(|(name, test)| Trial::test(format!("process::{name}"), test));
    let described = described::TESTS.map(|(name, test)| {
        let succeed = move || {
            test();
            Ok(())
        };
        Trial::test(format!("described::{name}"), succeed)
    });
    let trials = processes.into_iter().chain(described).filter(|trial| arguments.picks(trial.name())).collect();
    libtest_mimic::run(&libtest_mimic::Arguments::default(), trials).exit_if_failed();
}

/// This program as `cargo bench -- <arguments>` starts it, with a folder of its own for results.
fn bench(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg("--bench").args(arguments).env("CRITERION_HOME", home).current_dir(home);
    command.env_remove("NIMLANES_ISA_MAX").env("NIMLANES_SAMPLER", "pprof");
    command
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The output of a successful run.
fn printed(command: &mut Command) -> String {
    String::from_utf8(ended(command, 0).stdout).expect("UTF-8")
}

/// What a run leaves that ends with this code.
fn ended(command: &mut Command, code: i32) -> Output {
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    output
}

fn names_are_listed_and_filtered() -> Result<(), Failed> {
    let home = folder();
    let list = |arguments: &[&str]| {
        let text = printed(&mut bench(home.path(), &[&["--list", "--format", "terse"], arguments].concat()));
        text.lines().map(|line| line.strip_suffix(": benchmark").expect(line).to_owned()).collect::<Vec<_>>()
    };
    let all = list(&[]);
    let like = |start: &str| all.iter().filter(|name| name.starts_with(start)).count();
    assert!(all.len() > 200 && like("ceilings/") > 5 && like("games/stone-game/best/") == 3, "{all:?}");
    let [some, one] = [list(&["^mex_subtraction/squares/stamp/"]), list(&["--exact", ID])];
    assert!(some.len() > 1 && some.iter().all(|name| name.starts_with("mex_subtraction/squares/stamp/")), "{some:?}");
    assert_eq!(one, [ID]);
    assert_eq!(list(&["--exact", "squares/stamp"]), [""; 0]);
    assert_eq!(list(&["--ignored"]), [""; 0]);
    assert_eq!(list(&["--sample-size", "10", "--color=never", "--", &format!("{ID}$")]), [ID]);
    Ok(())
}

fn a_closed_pipe_is_no_error() -> Result<(), Failed> {
    let home = folder();
    let mut list = bench(home.path(), &["--list"]);
    let mut child = list.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut first = String::new();
    BufReader::with_capacity(100, child.stdout.take().expect("a pipe")).read_line(&mut first)?;
    let mut says = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut says)?;
    assert!(child.wait()?.success() && !says.contains("panicked"), "{says}");
    assert!(first.ends_with(": benchmark\n"), "{first}");
    Ok(())
}

fn what_matches_nothing_computes_nothing() -> Result<(), Failed> {
    let home = folder();
    let runs_at_once = || -> Result<bool, Failed> {
        let start = Instant::now();
        let output = ended(&mut bench(home.path(), &["no_such_name"]), 1);
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8(output.stderr)?.contains("no benchmark has such a name"));
        Ok(start.elapsed() < Duration::from_millis(1500))
    };
    // The quickest kernels of each size take twice as long, in a build for tests.
    assert!(runs_at_once()? || runs_at_once()? || runs_at_once()?);
    Ok(())
}

fn a_baseline_is_saved_and_compared() -> Result<(), Failed> {
    let home = folder();
    let quick = ["--quick", "--noplot", "--exact", ID];
    printed(&mut bench(home.path(), &[&quick[..], &["--save-baseline", "before"]].concat()));
    assert!(home.path().join(FOLDER).join("before/estimates.json").exists());
    let compared = printed(&mut bench(home.path(), &[&quick[..], &["--baseline", "before"]].concat()));
    assert!(compared.contains("change:"), "{compared}");
    let missing = ended(&mut bench(home.path(), &[&quick[..], &["--baseline", "none"]].concat()), 1);
    let says = String::from_utf8(missing.stderr)?;
    assert!(
        says.ends_with("bench: Baseline 'none' must exist before comparison is allowed; try --save-baseline none\n")
    );
    Ok(())
}

/// A weaker machine has fewer kernels.
fn sampling_is_the_same_whatever_else_is_there() -> Result<(), Failed> {
    let home = folder();
    let warm_up = |tier: Option<&str>| -> Result<String, Failed> {
        let mut alone = bench(home.path(), &["--noplot", "--exact", ID]);
        let says = alone.envs(tier.map(|tier| ("NIMLANES_ISA_MAX", tier))).output()?.stderr;
        let says = String::from_utf8(says)?;
        Ok(says.lines().find(|line| line.contains("Warming up for")).ok_or(says.clone())?.to_owned())
    };
    assert_eq!(warm_up(None)?, warm_up(Some("portable"))?);
    Ok(())
}

fn results_are_where_criterion_writes() -> Result<(), Failed> {
    for variable in ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
        let target = folder();
        let mut quick = bench(target.path(), &["--quick", "--exact", ID]);
        for other in ["CRITERION_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
            quick.env_remove(other);
        }
        // As cargo starts it.
        quick.current_dir(env!("CARGO_MANIFEST_DIR")).env("CARGO", env!("CARGO")).env(variable, target.path());
        let text = printed(&mut quick);
        let estimates = target.path().join("criterion").join(FOLDER).join("new/estimates.json");
        assert!(estimates.exists(), "{variable}: {text}");
        assert!(text.starts_with("1 benchmark, "), "{text}");
        assert!(text.contains("-- compare mex_zeros`") && text.ends_with("RESULTS.md.\n"), "{text}");
    }
    Ok(())
}

/// Its first line, before it is stopped.
fn a_run_says_how_long_it_takes() -> Result<(), Failed> {
    let home = folder();
    let few = ["--noplot", "mex_split/two-parts|mex_split/four-parts|ceilings/vectors"];
    let mut child = bench(home.path(), &few).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut first)?;
    child.kill()?;
    child.wait()?;
    let [count, time] = *first.trim_end().split(" benchmarks, ").collect::<Vec<_>>() else { return Err(first.into()) };
    assert!(count.parse::<u32>()? > 8, "{first}");
    assert!(time == "a few seconds." || time.starts_with("about "), "{first}");
    Ok(())
}

fn it_ends_with_a_table_of_this_run() -> Result<(), Failed> {
    let home = folder();
    let run = |id: &str| printed(&mut bench(home.path(), &["--quick", "--noplot", "--exact", id]));
    let rows = |text: &str| {
        let (_, table) = text.split_once("mex_subtraction, squares, by the time at ").expect("a table");
        let names = table.lines().filter_map(|line| line.split_once("  ")).map(|(name, _)| name.to_owned());
        names.filter(|name| !name.is_empty()).collect::<Vec<_>>()
    };
    assert_eq!(rows(&run(ID)), ["stamp"]);
    // The first is there still, and is not of this run.
    assert_eq!(rows(&run("mex_subtraction/squares/flags/100")), ["flags"]);
    assert!(home.path().join(FOLDER).join("new/estimates.json").exists());
    Ok(())
}

fn where_nothing_is_estimated_there_is_no_table() -> Result<(), Failed> {
    let home = folder();
    let quick = ["--quick", "--noplot", "--exact", ID];
    printed(&mut bench(home.path(), &quick));
    for options in [&["--discard-baseline"][..], &["--baseline", "base", "--load-baseline", "new"]] {
        let text = printed(&mut bench(home.path(), &[&quick[..], options].concat()));
        assert!(text.contains("RESULTS.md") && !text.contains("by the time at"), "{text}");
    }
    for options in [&["--list"][..], &["--test"], &["--profile-time", "1"]] {
        let text = printed(&mut bench(home.path(), &[&["--exact", ID], options].concat()));
        assert!(!text.contains("by the time at"), "{text}");
    }
    Ok(())
}

fn the_own_option_goes_with_those_of_criterion() -> Result<(), Failed> {
    let home = folder();
    let list = |arguments: &[&str]| printed(&mut bench(home.path(), arguments));
    assert_eq!(list(&["--full", "--list"]), list(&["--list"]));
    assert!(list(&["--sample-size", "10", "--full", "--list", "--exact", ID]).starts_with(ID));
    let help = list(&["--full", "--help"]);
    assert!(help.contains("  --full  ") && help.contains("--save-baseline"), "{help}");
    ended(&mut bench(home.path(), &["--full", "no_such_name"]), 1);
    for unknown in ["--fill", "--full=yes"] {
        ended(&mut bench(home.path(), &[unknown, "--list"]), 2);
    }
    Ok(())
}

fn pictures_are_in_both_folders() -> Result<(), Failed> {
    let (home, temporary) = (folder(), folder());
    let mut profile = bench(home.path(), &["--profile-time", "1", "--exact", ID]);
    printed(profile.env("TMPDIR", temporary.path()));
    assert_eq!(fs::read_dir(temporary.path())?.count(), 0, "files are left behind");
    let of_project = format!("{}/mex_subtraction/squares/stamp-100.svg", nimlanes_lab::profile::ROOT);
    for path in [&of_project, &format!("{FOLDER}/profile/flamegraph.svg")] {
        let picture = fs::read_to_string(home.path().join(path))?;
        assert!(
            picture.contains("250 per second, by pprof") && picture.contains("<title>stamp ("),
            "{path}: {picture}"
        );
    }
    // Git tracks what is kept, not what a run leaves.
    let mut git = Command::new("git");
    git.current_dir(env!("CARGO_MANIFEST_DIR")).args(["check-ignore", "--no-index", "--quiet"]);
    ended(git.arg(of_project), 0);
    Ok(())
}

fn mistakes_are_explained_in_a_line() -> Result<(), Failed> {
    let home = folder();
    let says = |command: &mut Command, code: i32, line: &str| {
        let said = String::from_utf8_lossy(&ended(command, code).stderr).into_owned();
        assert!(said.contains(line) && !said.contains("panicked"), "{said}");
    };
    says(bench(home.path(), &[]).arg(OsStr::from_bytes(b"\xff")), 2, "invalid UTF-8");
    says(
        &mut bench(home.path(), &["["]),
        2,
        "bench: `[` is not a regular expression: error: unclosed character class\n",
    );
    says(&mut bench(home.path(), &["--sample-size", "9"]), 1, "bench: assertion failed: num_size >= 10\n");
    let bench = || bench(home.path(), &["--list"]);
    says(bench().env("NIMLANES_ISA_MAX", "foo"), 2, "bench: NIMLANES_ISA_MAX: ");
    says(
        bench().env("NIMLANES_SAMPLER", "foo"),
        2,
        "bench: NIMLANES_SAMPLER: `foo` is no sampler; allowed: perf, pprof\n",
    );
    Ok(())
}
