//! Output files: complete or absent, with nothing else changed. Also the signals that end the program.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Child;
use std::time::SystemTime;

use crate::program::{Command, Folder, command, path_of_program, send, wait_for};

/// The output of `grundy --limit 2 --format csv`.
const CSV: &str = "n,a\n0,0\n1,1\n2,0\n";
const TO: &str = "grundy --limit 2 --format csv --output";
const DUEL: &str = "compare mex_split --size 9 --seconds 0.1 --save";
const RECORDS: &str = "grundy --moves factorials --records --format csv";

/// A shell that starts the program, with the words of a line, as `"$0" "$@"`.
fn shell(script: &str, line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(path_of_program()).args(line.split_whitespace());
    command
}

/// The exit code and the standard error of a process when it has ended.
fn end(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

const INTERRUPTED: &str = "nimlanes: interrupted\n";

#[test]
fn output_and_checkpoint_must_be_different_files() {
    let folder = Folder::new();
    fs::create_dir(folder.path("sub")).expect("a folder");
    symlink("sub", folder.path("also")).expect("a link");
    symlink("x", folder.path("link")).expect("a link");
    let before = folder.names();
    let absolute = folder.text("x");
    let spellings = ["x", "./x", "sub/../x", "link", &absolute, "also/../link"];
    let refused = |checkpoint, out| {
        let pair = format!("--limit 1000 --checkpoint {checkpoint} --output {out}");
        folder.run(&format!("{RECORDS} {pair}")).refused(2, "is the same file as --output");
    };
    for other in spellings {
        refused("x", other);
        refused(other, "x");
    }
    assert_eq!(folder.names(), before, "nothing was made");
    folder.put("x", "mine");
    fs::hard_link(folder.path("x"), folder.path("twin")).expect("a hard link");
    for other in spellings.into_iter().chain(["twin"]) {
        refused("x", other);
        refused(other, "x");
    }
    assert_eq!(folder.read("x"), "mine");
}

/// A new file in place of the one that a shell redirects to would lose what was printed.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_a_shell_redirects_to_is_a_stream() {
    let folder = Folder::new();
    for (redirection, before) in [(">", ""), (">>", "old\n")] {
        folder.put("log", "old\n");
        let script = format!(r#""$0" "$@" 2{redirection} log"#);
        shell(&script, &format!("{DUEL} ./log")).current_dir(folder.path("")).assert().success();
        let log = folder.read("log");
        assert!(log.starts_with(before) && log.contains("nimlanes-saved-1") && log.contains("mex_split"), "{log}");
        assert_eq!(folder.names(), ["log"]);
    }
}

#[test]
fn a_list_that_was_read_is_not_replaced() {
    let folder = Folder::new();
    folder.put("list", "1,4\n");
    symlink("list", folder.path("link")).expect("a link");
    let says = "it was read as input";
    for (list, output) in [("@list", "list"), ("@link", "list"), ("@list", "link")] {
        folder.run(&format!("grundy --limit 9 --moves {list} --output {output}")).refused(1, says);
        folder.run(&format!("grundy --limit 9 --moves {list} --records --checkpoint {output}")).refused(1, says);
    }
    folder.run("compare mex_split --size 9 --seconds 0.1 --workload @list --save list").refused(1, says);
    folder.put("measured.json", "{}");
    folder.run("report --data . --html ./measured.json").refused(2, "is a measurement in .");
    assert_eq!((folder.read("list"), folder.read("measured.json")), ("1,4\n".to_owned(), "{}".to_owned()));
    folder.run(&format!("{TO} list")).assert().success();
    assert_eq!(folder.read("list"), CSV, "it was not read");
}

#[test]
fn a_hyphen_is_the_standard_stream() {
    let folder = Folder::new();
    let run = |line: &str, input: &str| folder.run(line).write_stdin(input).text();
    assert_eq!(run(&format!("{TO} -"), ""), CSV);
    assert_eq!(run("positions stone-game --limit 1 --output -", ""), "x,y,z\n0,0,0\n");
    assert!(run("grundy --code kayles --limit 500 --format certificate -o -", "").contains("period 12"));
    let read = run("grundy --limit 9 --format csv --moves @-", "# squares\n1 4\n9\n");
    assert_eq!(read, run("grundy --limit 9 --format csv", ""));
    assert!(run("solve nim-square --limit 9 --moves @-", "2,3\n").contains("moves 2,3"));

    assert!(run("survey @- --limit 1e3 --dir .", "0.77 # Kayles\n").starts_with("0.77: "));
    assert_eq!(folder.names(), ["0.77.json"]);
}

#[test]
fn a_file_with_the_output_in_its_name_is_not_touched() {
    let folder = Folder::new();
    // This file is not a checkpoint, so it is refused as one, but not lost.
    folder.put("factorials.part", "mine");
    let command = format!("{RECORDS} --limit 1000 --checkpoint factorials.part --output factorials");
    folder.run(&command).refused(2, "not a checkpoint");
    assert_eq!(folder.names(), ["factorials.part"]);
    for (out, command) in [("factorials", TO), ("duel.json", DUEL)] {
        let part = format!("{out}.part");
        folder.put(&part, "mine");
        folder.put("precious", "mine");
        folder.run(&format!("{command} {out}")).assert().success();
        assert_eq!(folder.read(&part), "mine");
        fs::remove_file(folder.path(&part)).expect("a file");
        symlink("precious", folder.path(&part)).expect("a link");
        folder.run(&format!("{command} {out}")).assert().success();
        assert!(folder.path(&part).is_symlink());
        assert_eq!(folder.read("precious"), "mine");
    }
    assert_eq!(folder.names(), ["duel.json", "duel.json.part", "factorials", "factorials.part", "precious"]);
}

#[test]
fn a_replaced_file_keeps_its_mode() {
    let folder = Folder::new();
    let mode = |name: &str| folder.path(name).metadata().expect("a file").mode() & 0o7777;
    for (name, command) in [("out.csv", TO), ("duel.json", DUEL)] {
        let to = format!("{command} {}", folder.text(name));
        shell(r#"umask 027; exec "$0" "$@""#, &to).assert().success();
        assert_eq!(mode(name), 0o640, "what the umask leaves");
        for old in [0o600, 0o755] {
            fs::set_permissions(folder.path(name), fs::Permissions::from_mode(old)).expect("an own file");
            folder.run(&to).assert().success();
            assert_eq!(mode(name), old);
        }
    }
}

/// A file that the shell opened, such as the log of a job, is written where its stream stands.
#[cfg(target_os = "linux")]
#[test]
fn open_streams_are_appended_to() {
    let folder = Folder::new();
    let to = |script: &str, line: &str| {
        folder.put("log", "old\n");
        shell(script, line).current_dir(folder.path("")).assert().success();
        assert_eq!(folder.names(), ["log"]);
        folder.read("log")
    };
    let out = |path: &str| format!("{TO} {path}");
    for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"] {
        let between =
            |redirection: &str| to(&format!(r#"{{ echo a; "$0" "$@" && echo b; }} {redirection} log"#), &out(path));
        assert_eq!((between(">"), between(">>")), (format!("a\n{CSV}b\n"), format!("old\na\n{CSV}b\n")), "{path}");
    }
    assert_eq!(to(r#"{ echo a >&2; "$0" "$@"; } 2>> log"#, &out("/dev/stderr")), format!("old\na\n{CSV}"));
    for redirection in [">", ">>"] {
        let script = format!(r#"{{ echo a >&5; "$0" "$@" && echo b >&5; }} 5{redirection} log"#);
        assert!(to(&script, &out("/dev/fd/5")).ends_with(&format!("a\n{CSV}b\n")), "{redirection}");
    }
    let saved = to(r#""$0" "$@" 2>> log"#, &format!("{DUEL} /dev/stderr"));
    assert!(saved.starts_with("old\n") && saved.contains("nimlanes-saved-1"), "{saved}");

    // A file that is no output is left as it is.
    for (script, line, says) in [
        (r#""$0" "$@" < log"#, &out("/dev/stdin"), "Bad file descriptor"),
        (r#""$0" "$@" /proc/$$/fd/5 5>> log; exit"#, &TO.to_owned(), "another process"),
        (r#""$0" "$@" >> log"#, &format!("{RECORDS} --limit 9 --checkpoint /dev/stdout"), "an open stream"),
    ] {
        folder.put("log", "old\n");
        shell(script, line).current_dir(folder.path("")).refused(1, says);
        assert_eq!(folder.read("log"), "old\n");
    }
}

#[test]
fn hard_links_are_refused_and_kept() {
    let folder = Folder::new();
    folder.put("one", "mine");
    fs::hard_link(folder.path("one"), folder.path("two")).expect("a hard link");
    for to in [TO, DUEL, &format!("{RECORDS} --limit 9 --checkpoint")] {
        folder.run(&format!("{to} two")).refused(1, "cannot write to two: it has 2 hard links");
    }
    assert_eq!(folder.path("one").metadata().expect("a file").nlink(), 2);
    assert_eq!((folder.read("one"), folder.names().len()), ("mine".to_owned(), 2));
}

#[test]
fn symbolic_links_are_kept_and_their_targets_written() {
    let folder = Folder::new();
    fs::create_dir(folder.path("far")).expect("a folder");
    folder.put("far/there", "old");
    // To an existing file, to a missing one, through another link, and in a cycle.
    for (to, link) in [("far/there", "a"), ("far/not-yet", "b"), ("b", "c"), ("e", "d"), ("d", "e")] {
        symlink(to, folder.path(link)).expect("a link");
    }
    let far = || fs::read_dir(folder.path("far")).expect("a folder").count();
    for (link, written) in [("a", "far/there"), ("c", "far/not-yet"), ("b", "far/not-yet")] {
        folder.run(&format!("{TO} {link}")).assert().success();
        assert!(folder.path(link).is_symlink());
        assert_eq!(folder.read(written), CSV);
        folder.run(&format!("{DUEL} {link}")).assert().success();
        assert!(folder.path(link).is_symlink());
        assert!(folder.read(written).contains("nimlanes-saved-1"));
    }
    for to in [TO, DUEL] {
        folder.run(&format!("{to} d")).refused(1, "");
    }
    assert_eq!((folder.names().len(), far()), (6, 2), "nothing else is left");
}

#[test]
fn of_two_runs_with_one_output_the_last_one_wins() {
    let folder = Folder::new();
    let lines = ["4e5", "3e5"].map(|limit| format!("grundy --moves 1,2 --format csv --limit {limit}"));
    let whole = lines.each_ref().map(|line| command(line).text());
    for _ in 0..3 {
        for mut run in lines.each_ref().map(|line| folder.run(&format!("{line} --output out")).begin()) {
            assert!(run.wait().expect("it ends").success());
        }
        assert!(whole.contains(&folder.read("out")), "a mixture");
        assert_eq!(folder.names(), ["out"]);
    }
}

#[test]
fn a_checkpoint_belongs_to_one_run() {
    let folder = Folder::new();
    let keep = format!("{RECORDS} --limit 2e9 --checkpoint kept");
    let start = || folder.run(&keep).begin();
    let size = || folder.path("kept").metadata().map_or(0, |known| known.len());
    let mut first = start();
    // From before the first checkpoint until after it was replaced.
    wait_for(|| folder.path("kept").exists());
    symlink("kept", folder.path("link")).expect("a link");
    for length in [0, 1] {
        wait_for(|| size() >= length);
        folder.run(&keep).refused(1, "kept is in use: another run saves its progress there");
        folder.run(&format!("{RECORDS} --limit 9 --checkpoint link")).refused(1, "link is in use");
    }
    // The lock is released when the process ends, even if it is killed.
    first.kill().expect("it is killed");
    first.wait().expect("it ends");
    let before = size();
    assert!(before > 0);
    folder.put("kept.lock", "mine");
    let second = start();
    wait_for(|| size() > before);
    send("TERM", &second);
    assert_eq!(end(second).0, Some(143));
    // Only the temporary file of the killed process may be left.
    let left: Vec<String> = folder.names().into_iter().filter(|name| !name.starts_with(".nimlanes-")).collect();
    assert_eq!(left, ["kept", "kept.lock", "link"]);
}

#[test]
fn a_checkpoint_leaves_nothing_behind() {
    let folder = Folder::new();
    let run = |limit, moves| format!("grundy --records --checkpoint kept --limit {limit} --moves {moves}");
    folder.run(&run("1e12", "fibonacci")).refused(2, "would fit");
    assert!(folder.names().is_empty(), "nothing was kept");
    folder.run(&run("9", "factorials")).assert().success();
    assert!(folder.names().is_empty(), "it was complete");
    // The file of a run that was killed before its first checkpoint.
    folder.put("kept", "");
    folder.run(&run("9", "factorials")).assert().success();
    assert!(folder.names().is_empty());
}

/// By default, exceeding `ulimit -f` ends a process. Here it is a write error, and the old file is unchanged.
#[test]
fn exceeding_the_file_size_limit_is_a_write_error() {
    let folder = Folder::new();
    folder.put("out", "mine");
    for line in [
        "grundy --moves 1,2 --limit 1e6 --format csv --output out",
        &format!("{RECORDS} --limit 3e7 --checkpoint kept"),
    ] {
        let mut run = shell(r#"ulimit -f 64; exec "$0" "$@""#, line);
        run.current_dir(folder.path("")).refused(1, "cannot write to ");
        assert_eq!((folder.read("out").as_str(), folder.names()), ("mine", vec!["out".to_owned()]));
    }
}

/// Whether a set of signals of a process has this one.
#[cfg(target_os = "linux")]
fn has(set: &str, signal: u32, child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let signals = status.lines().find_map(|line| line.strip_prefix(set)).unwrap_or("0");
    u64::from_str_radix(signals.trim(), 16).expect("a set of signals") >> (signal - 1) & 1 == 1
}

/// Whether a process waits for SIGTERM, which its other threads block. A process that is being started blocks all signals.
#[cfg(target_os = "linux")]
fn is_watching(child: &Child) -> bool {
    const SIGSEGV: u32 = 11;
    has("SigBlk:", 15, child) && !has("SigBlk:", SIGSEGV, child)
}

/// Signals are ignored under `nohup`, and in the background of a shell without job control.
#[cfg(target_os = "linux")]
#[test]
fn signals_that_are_ignored_stay_ignored() {
    for (signal, number) in [("HUP", 1), ("INT", 2), ("USR1", 10)] {
        let long = "solve stone-game --limit 6000 --kernel table_scan=byte_table";
        let child = shell(&format!(r#"trap "" {signal}; exec "$0" "$@""#), long).begin();
        wait_for(|| is_watching(&child));
        assert!(has("SigIgn:", number, &child) && !has("SigBlk:", number, &child), "SIG{signal}");
        send("TERM", &child);
        assert_eq!(end(child).0, Some(143));
    }
}

/// Ends a run with a checkpoint by a signal, once it has saved something. Returns the heaps that it says the file holds.
#[cfg(target_os = "linux")]
fn interrupted(options: &str, file: &str, (signal, code): (&str, i32)) -> u64 {
    let version = || {
        let found = fs::metadata(file).ok().filter(|found| found.len() > 0)?;
        Some((found.ino(), found.modified().expect("a time")))
    };
    let before: Option<(u64, SystemTime)> = version();
    let child = command(&format!("grundy {options} --threads=1 --checkpoint {file}")).begin();
    wait_for(|| version() != before);
    send(signal, &child);
    let (ended, line) = end(child);
    assert_eq!(ended, Some(code), "{line}");
    let heaps = line.strip_prefix(&format!("nimlanes: interrupted; {file} holds ")).expect("a message");
    let heaps = heaps.strip_suffix(" heaps, and the same command continues\n").expect("a number");
    heaps.parse().expect("a number")
}

/// Runs of an octal game, of first heaps and of P-positions, each interrupted three times.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_run_says_what_its_file_holds() {
    use nimlanes::cores::mex::octal::{self, Octal};
    use nimlanes::cores::mex::{period, records, zeros};
    use nimlanes::machine::Machine;

    let in_period = |mut file: &[u8]| {
        let input = Octal::new(&"0.106".parse().expect("a game"), 1_000_000_000_000).expect("an input");
        // A table of values comes first.
        let values = octal::checkpoint::read(input.code(), input.heaps(), &mut { file });
        let mut progress = || period::Progress::read(&input, &mut file).expect("progress").done();
        values.map_or_else(|_| progress(), |values| values.len() as u64)
    };
    let in_records = |mut file: &[u8]| {
        let input = records::Records::new(&"2,40000001".parse().expect("a set"), 100_000_000_000);
        records::Progress::read(&input.expect("an input"), &mut file).expect("progress").done()
    };
    let in_zeros = |mut file: &[u8]| {
        let input = zeros::Zeros::new(&"squares".parse().expect("a set"), 1_000_000_000, &Machine::detect());
        zeros::Progress::read(&input.expect("an input"), &mut file).expect("progress").done()
    };
    let folder = Folder::new();
    let file = folder.text("kept");
    for (options, held) in [
        ("--code=0.106 --limit=1e12 --kernel=mex_period=window_words", &in_period as &dyn Fn(&[u8]) -> u64),
        ("--moves=2,40000001 --limit=1e11 --records", &in_records),
        ("--moves=squares --limit=1e9 --zeros", &in_zeros),
    ] {
        // Batch systems warn by the last two.
        for signal in [("TERM", 143), ("USR1", 138), ("XCPU", 152)] {
            let heaps = interrupted(options, &file, signal);
            assert!(heaps > 0 && heaps == held(&fs::read(&file).expect("a file")), "{options}: {heaps}");
        }
        fs::remove_file(&file).expect("a file");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_exit_code_names_the_signal() {
    let folder = Folder::new();
    let out = folder.text("out");
    // The parent process of the tests may have set signals to be ignored.
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 130), ("USR1", 138), ("USR2", 140), ("XCPU", 152)] {
        let mut command = Command::new("env");
        command.arg(format!("--default-signal={signal}")).arg(path_of_program());
        let child = command.args(["positions", "proportionate-nim", "--limit", "4e8", "--output", &out]).begin();
        wait_for(|| !folder.names().is_empty());
        send(signal, &child);
        assert_eq!(end(child), (Some(code), INTERRUPTED.to_owned()));
        assert_eq!(folder.names(), [""; 0]);
    }
}

/// A second signal does not wait for the run, but its temporary file is removed.
#[test]
fn a_second_signal_leaves_no_file_either() {
    let folder = Folder::new();
    let child = folder.run("positions proportionate-nim --limit 4e8 --output out").begin();
    wait_for(|| !folder.names().is_empty());
    // Both signals are pending when the process continues.
    for signal in ["STOP", "INT", "TERM", "CONT"] {
        send(signal, &child);
    }
    let (code, _) = end(child);
    assert!(matches!(code, Some(130 | 143)), "{code:?}");
    assert!(folder.names().is_empty());
}
