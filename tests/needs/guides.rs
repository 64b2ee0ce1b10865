//! Every command of the guides, run as written there but for a fraction of the time, each in a folder of its own and with a time limit.
//!
//! `cargo run --release -- ..` is the program as built for tests. Two comments in a guide, which readers do not see,
//! list the beginnings of commands, separated by semicolons: after `only help is tested:` those that take minutes, and
//! are run with `--help`; after `not tested:` those that change the system or the shell. Other commands of cargo build,
//! and so they take minutes.
//!
//! A block of `console` shows a command after `$`, and its output. It prints the same here, but for numbers and the order of lines. A third comment, `stands for:`, names a kernel that the tree has for one that a reader is to write.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use nimlanes::machine::Machine;
use nimlanes::machine::isa::Tier;

use crate::program::{Command, nimlanes};

/// Enough on a busy machine, where the slowest takes half a minute.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// How long kernels are timed.
const SECONDS: &str = "0.1";

/// The size at which kernels are compared in builds, and at which their instructions are counted, which single steps do slowly.
const SIZE: &str = "100";

const GUIDES: [&str; 4] = ["README.md", "CONTRIBUTING.md", "profiles/method.md", "profiles/flamegraphs/README.md"];

/// Papers, discoveries and the files that `nimlanes report` makes have no comments for this test: all their commands are run
/// with `--help`.
const WITH_HELP: [&str; 6] = [
    "RESULTS.md",
    "profiles/discoveries/README.md",
    "profiles/papers/charge.md",
    "profiles/papers/windows.md",
    "profiles/papers/mem0.md",
    "profiles/papers/first-heaps.md",
];

const HELP: &str = "<!-- only help is tested:";
const NOT_TESTED: &str = "<!-- not tested:";
const STANDS_FOR: &str = "<!-- stands for:";

/// Parts of forms that depend on the machine and on what else it does.
const VARYING: [&str; 4] = [
    ", 0 % of the turns disturbed and left out",
    " (few: the range covers nearly all of them)",
    ", debug profile",
    " tie",
];

/// The beginnings of lines that depend on these.
const VARYING_LINES: [&str; 2] = ["not reliable: ", "two modes: "];

pub fn trials() -> Vec<Trial> {
    let read = |guide: &str| fs::read_to_string(source_tree().join(guide)).expect("a file of the source tree");
    let guides = GUIDES.into_iter().flat_map(|guide| trials_of(guide, &read(guide)));
    let of = |page| commands(&read(page)).into_iter().map(move |command| trial(page, command, true));
    let outputs: Vec<Trial> = GUIDES.into_iter().flat_map(|guide| outputs(guide, &read(guide))).collect();
    assert!(outputs.len() > 1, "{} outputs", outputs.len());
    let trials: Vec<Trial> = guides.chain(WITH_HELP.into_iter().flat_map(of)).chain(outputs).collect();
    assert!(trials.len() > 50, "{} commands", trials.len());
    trials
}

fn source_tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn trials_of(guide: &'static str, text: &str) -> Vec<Trial> {
    let (help, not_tested) = (listed(text, HELP), listed(text, NOT_TESTED));
    let mut commands = commands(text);
    for beginning in help.iter().chain(&not_tested) {
        assert!(commands.iter().any(|command| begins(command, beginning)), "{guide} has no command `{beginning}`");
    }
    let is_in = |list: &[String], command: &str| list.iter().any(|beginning| begins(command, beginning));
    commands.retain(|command| !is_in(&not_tested, command));
    commands.into_iter().map(|command| trial(guide, command.clone(), is_in(&help, &command))).collect()
}

/// The outputs that a guide shows. Those that name a kernel for AVX2 are ignored where the CPU lacks it.
fn outputs(guide: &'static str, text: &str) -> Vec<Trial> {
    let mut text = text.to_owned();
    for pair in listed(&text, STANDS_FOR) {
        let (here, shown) = pair.split_once(" for ").expect("a kernel for another");
        text = text.replace(shown, here);
    }
    let blocks = text.split("```console\n$ ").skip(1).filter_map(|rest| rest.split("```").next());
    let shown = blocks.map(|block| block.split_once('\n').expect("a command and its output"));
    shown.map(|(command, output)| trial_of_output(guide, command.to_owned(), output.to_owned())).collect()
}

fn trial_of_output(guide: &str, command: String, shown: String) -> Trial {
    let is_here = !command.contains("avx2") || Machine::detect().offers(Tier::Avx2);
    let trial = Trial::test(format!("{guide}: output of {command}"), move || {
        let folder = tempfile::tempdir()?;
        let words: Vec<&str> = command.split_whitespace().collect();
        let output = process(&words, false, folder.path())?.timeout(TIME_LIMIT).output()?;
        judge(&output)?;
        let printed = String::from_utf8(output.stdout)?;
        if form(&shown) == form(&printed) {
            Ok(())
        } else {
            Err(format!("shown:\n{shown}\nprinted:\n{printed}").into())
        }
    });
    if is_here { trial } else { trial.with_kind("needs AVX2").with_ignored_flag(true) }
}

/// The lines of an output in alphabetic order, without numbers, units of time, bars, and parts that vary from run to run.
fn form(output: &str) -> Vec<String> {
    let word = |word: &str| {
        let letters = word.replace(|c: char| c.is_ascii_digit() || c == '.', "");
        match word {
            "ns" | "µs" | "ms" => "s".to_owned(),
            _ if letters.len() < word.len() => format!("0{letters}"),
            _ if letters.trim_matches('#').is_empty() => "#".to_owned(),
            _ => letters,
        }
    };
    let varies = |line: &&str| line.is_empty() || VARYING_LINES.iter().any(|beginning| line.starts_with(beginning));
    let lines = output.lines().filter(|line| !varies(line)).map(|line| {
        let line = line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
        VARYING.iter().fold(line, |line, part| line.replace(part, ""))
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

/// The beginnings of commands that the comments of one kind list.
fn listed(text: &str, comment: &str) -> Vec<String> {
    let comments = text.split(comment).skip(1).filter_map(|rest| rest.split_once("-->"));
    comments.flat_map(|(list, _)| list.split(';')).map(|beginning| beginning.trim().to_owned()).collect()
}

/// Whether a command, or what comes after `cargo run --release --`, begins with these words.
fn begins(command: &str, beginning: &str) -> bool {
    let begins =
        |text: &str| text.strip_prefix(beginning).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '=']));
    begins(command) || command.split_once(" -- ").is_some_and(|(_, args)| begins(args))
}

/// The lines of shell blocks, and `cargo ..` and `nimlanes ..` within the text, without comments.
fn commands(text: &str) -> Vec<String> {
    // Comments are removed first: their text is not for readers.
    let text: String = text.split("<!--").map(|part| part.split_once("-->").map_or(part, |(_, shown)| shown)).collect();
    let mut found = Vec::new();
    // Split at fences, the parts alternate between text and blocks.
    for (i, part) in text.split("```").enumerate() {
        match part.strip_prefix("sh\n") {
            Some(block) if i % 2 == 1 => {
                found.extend(block.lines().map(|line| line.split(" #").next().unwrap_or(line)))
            }
            _ if i % 2 == 1 => {}
            _ => found.extend(
                part.split('`')
                    .skip(1)
                    .step_by(2)
                    .filter(|code| ["cargo ", "nimlanes "].iter().any(|name| code.starts_with(name))),
            ),
        }
    }
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found: Vec<String> = found.into_iter().map(words).filter(|line| !line.is_empty()).collect();
    found.sort();
    found.dedup();
    found
}

fn trial(guide: &str, command: String, help: bool) -> Trial {
    let name = format!("{guide}: {command}{}", if help { " --help" } else { "" });
    Trial::test(name, move || {
        let folder = tempfile::tempdir()?;
        let words: Vec<&str> = command.split(' ').collect();
        let mut process = process(&words, help, folder.path())?;
        if help {
            process.arg("--help");
        } else if words.contains(&"report") {
            copy_source_tree(folder.path())?;
        }
        judge(&process.timeout(TIME_LIMIT).output()?)
    })
}

/// The process that a command starts. Relative paths lead from `folder`.
fn process(words: &[&str], help: bool, folder: &Path) -> Result<Command, Failed> {
    match words {
        ["cargo", "run", "--release"] | ["cargo", "run-native"] => program(&[], folder),
        ["cargo", "run", "--release", "--", args @ ..]
        | ["cargo", "run-native", "--", args @ ..]
        | ["nimlanes", args @ ..] => program(args, folder),
        ["cargo", name, args @ ..] if help => cargo(name, args),
        [variable, words @ ..] if variable.contains('=') => {
            let (name, value) = variable.split_once('=').unwrap_or_default();
            let mut process = process(words, help, folder)?;
            process.env(name, value);
            Ok(process)
        }
        _ => Err("the test of guides does not know how to run this; tests/needs/guides.rs has what it runs".into()),
    }
}

fn program(words: &[&str], folder: &Path) -> Result<Command, Failed> {
    let mut args = words.to_vec();
    let mut set = |option, value| match args.iter().position(|word| *word == option) {
        Some(at) => args[at + 1] = value,
        None => args.extend([option, value]),
    };
    if let Some("compare" | "profile" | "run") = words.first().copied() {
        set("--seconds", SECONDS);
    }
    if ["--builds", "--counters"].iter().any(|option| words.contains(option)) {
        set("--size", SIZE);
    }
    let mut program = nimlanes();
    program.args(args).current_dir(folder);
    Ok(program)
}

/// Copies what `nimlanes report` reads, because it also writes there.
fn copy_source_tree(folder: &Path) -> Result<(), Failed> {
    for part in ["README.md", "RESULTS.md", "profiles", "src"] {
        judge(&Command::new("cp").arg("-R").arg(source_tree().join(part)).arg(folder).output()?)?;
    }
    Ok(fs::create_dir(folder.join("target"))?)
}

/// A subcommand or alias of cargo. The tests that `args` name must exist.
fn cargo(name: &str, args: &[&str]) -> Result<Command, Failed> {
    for pair in args.windows(2).filter(|pair| pair[0] == "--test") {
        let file = Path::new("tests").join(pair[1]).with_extension("rs");
        let folder = file.with_extension("").join("main.rs");
        if ![&file, &folder].iter().any(|path| source_tree().join(path).exists()) {
            return Err(format!("there is no {}", file.display()).into());
        }
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.arg(name).current_dir(source_tree()); // which has the aliases
    Ok(cargo)
}

fn judge(output: &Output) -> Result<(), Failed> {
    let errors = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(format!("exit code {code}: {errors}").into()),
        None => Err(format!("stopped: it did not end within {} s\n{errors}", TIME_LIMIT.as_secs()).into()),
    }
}
