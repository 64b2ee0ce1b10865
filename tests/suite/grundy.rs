//! `nimlanes grundy`: files are right to the byte, and every wrong request gets one clear line.

use std::collections::HashSet;
use std::time::Duration;

use hmac_sha256::Hash;
use nimlanes::cores::mex::octal::{Code, checkpoint};
use nimlanes::machine::isa::Tier;

use crate::program::{Command, path_of_program, send};
use crate::{example, in_memory};

fn grundy(args: &[&str]) -> Command {
    let mut command = crate::nimlanes();
    command.arg("grundy").args(args);
    command
}

fn text(args: &[&str]) -> String {
    grundy(args).text()
}

fn json(args: &[&str]) -> serde_json::Value {
    let mut saved: serde_json::Value = serde_json::from_str(&text(&[args, &["--json"]].concat())).expect("a document");
    saved["content"].take()
}

/// Moves that do not fit in memory are refused with one line before they are listed.
#[cfg(target_os = "linux")]
#[test]
fn moves_that_do_not_fit_in_memory_are_refused() {
    let script =
        format!("ulimit -v 3000000; exec {} grundy --moves 1..500000000 --limit 5e8", path_of_program().display());
    let output = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
    let line = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{line}");
    let starts = "nimlanes: the list of moves of mex_subtraction needs 4.000 GB here and ";
    assert!(line.starts_with(starts) && line.lines().count() == 1, "{line}");
}

/// The complete file of OEIS A014586.
#[test]
fn a_bfile_is_exact_to_the_byte_on_stdout_and_in_a_file() {
    let file = in_memory();
    let out = file.path().join("b014586.txt");
    let args = ["--moves", "squares", "--limit", "10000", "--format", "bfile"];
    let printed = text(&args);
    let sum: String = Hash::hash(printed.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(sum, "931eb17bcf07d057955b4b21f68683a5d7741a507e2f2a19c693a1f59b1e19c5");
    grundy(&args).arg("--output").arg(&out).assert().success().stdout("");
    assert_eq!(std::fs::read_to_string(&out).expect("written"), printed);
    assert_eq!(std::fs::read_dir(file.path()).expect("a folder").count(), 1, "nothing else is left");
}

#[test]
fn zeros_records_and_formats() {
    let to = |more: &[&str]| text(&[&["--moves", "squares", "--limit", "12"], more].concat());
    assert_eq!(to(&["--zeros", "--format", "bfile"]), "0 0\n1 2\n2 5\n3 7\n4 10\n5 12\n");
    assert_eq!(to(&["--records", "--format", "csv"]), "n,a\n0,0\n1,1\n2,4\n");
    let octaves = "up to    zeros, ratio, exponent\n2^0      1\n2^1      2, 2.0000, 1.0000\n2^2      2, 1.0000, 0.0000\n\
        2^3      4, 2.0000, 1.0000\n";
    let first = "moves    squares\nheaps    0..=12\nzeros    6\nlast     12\n";
    assert_eq!(to(&["--zeros"]), format!("{first}{octaves}"));
    assert!(text(&["--zeros", "--limit", "0"]).ends_with("exponent\n2^0      1\n"));
    assert!(text(&["--zeros", "--limit", "65536"]).contains("zeros    2053\n"));
    assert_eq!(to(&["--zeros", "--kernel", "mex_zeros=bit_sieve"]), to(&["--zeros"]));
}

#[test]
fn a_summary_of_a_finite_set_says_whether_its_period_is_proved() {
    assert!(text(&["--moves", "1,8,11", "--limit", "200"]).contains("19 from heap 13 on, proved"));
    assert!(text(&["--moves", "1,8,11", "--limit", "20"]).contains("not proved"));
    assert!(!text(&["--moves", "squares"]).contains("period"));
}

/// A terminal has 24 lines, and the last one is for the prompt.
/// Values of sets without a few moves grow: each round adds to them. Proofs by few heaps are right for many.
#[test]
fn a_summary_of_a_set_without_a_few_moves_says_what_a_round_adds() {
    let words = "\nperiod   4 with saltus 2 from heap 0 on, proved\n";
    assert!(text(&["--moves", "all-but:2", "--limit", "20"]).contains(words));
    assert!(text(&["--moves", "all-but:2", "--limit", "5"]).contains("\nperiod   not proved by these heaps\n"));
    for left_out in ["1", "5", "1,2", "2,4", "3,7,11", "2,3,9", "1,4,5,13", "6,10,15,16"] {
        let moves = format!("all-but:{left_out}");
        let found =
            (50..).step_by(10).map(|limit| json(&["--moves", &moves, "--limit", &limit.to_string()])["period"].take());
        let found = found.take(60).find(|found| !found.is_null()).expect("a period");
        let [period, preperiod, saltus] =
            ["length", "preperiod", "saltus"].map(|name| found[name].as_u64().expect("a number"));
        assert_eq!((period.min(saltus) > 0, &found["proved"]), (true, &true.into()), "{moves}: {found}");
        let values = nimlanes::grundy_values(&moves, 3000).expect("a small limit");
        let (from, period) = (preperiod as usize, period as usize);
        let is_round = |n: usize| u64::from(values[n + period]) == u64::from(values[n]) + saltus;
        assert!((from..=3000 - period).all(is_round), "{moves}: {found}");
        assert!(from == 0 || !is_round(from - 1), "{moves}: the preperiod is the least");
    }
}

#[test]
fn a_summary_is_a_screen_and_its_json_is_whole() {
    for (args, rows, field) in [
        (&["--code", "0.9", "--limit", "2000"] as &[&str], 903, "values"),
        (&["--moves", "squares", "--limit", "1e5"], 75, "values"),
        (&["--moves", "primes", "--records", "--limit", "1e6"], 12, "values"),
        (&["--moves", "squares", "--zeros", "--limit", "2^20"], 21, "octaves"),
    ] {
        let printed = text(args);
        assert!(printed.lines().count() <= 23, "{printed}");
        assert_eq!(json(args)[field].as_array().expect("a list").len(), rows, "{args:?}");
        let left_out = rows.saturating_sub(14);
        assert_eq!(
            printed.contains(&format!("\n...      {left_out} more; --json prints all\n")),
            left_out > 1,
            "{printed}"
        );
    }
    let hexadecimal = text(&["--code", "0.9", "--limit", "20"]);
    assert!(
        hexadecimal.starts_with("code     0.9 (hexadecimal: digits from 8 on leave three heaps)\n"),
        "{hexadecimal}"
    );
    assert!(text(&["--code", "0.6", "--limit", "20"]).starts_with("code     0.6\n"));
}

#[test]
fn a_summary_is_also_json() {
    let set = json(&["--moves", "1,8,11", "--limit", "200"]);
    assert_eq!((&set["moves"], &set["limit"]), (&"1,8,11".into(), &200.into()));
    let period = serde_json::json!({ "length": 19, "preperiod": 13, "saltus": 0, "proved": true });
    assert_eq!(set["period"], period);
    assert_eq!(set["values"][1], serde_json::json!({ "value": 1, "first": 1, "heaps": 74 }));
    let zeros = json(&["--moves", "squares", "--zeros", "--limit", "12"]);
    assert_eq!((&zeros["zeros"], &zeros["last_zero"]), (&6.into(), &12.into()));
    assert!(zeros.get("period").is_none() && zeros.get("values").is_none(), "{zeros}");
    let code = json(&["--code", "0.6", "--limit", "30000"]);
    let rare = ["rare", "last_rare", "mask", "by_position"].map(|name| code[name].clone());
    assert_eq!(serde_json::json!(rare), serde_json::json!([1584, 20627, 0x1ee, false]));
    assert!(code["period"].is_null() && code["code"] == "0.6", "{code}");
    grundy(&["--json", "--format", "csv"]).assert().code(2);
}

/// The period of 0.16 is proved as soon as a window repeats, long before the classical theorem has all the values that
/// it needs.
#[test]
fn a_period_is_proved_without_a_table() {
    let folder = in_memory();
    let path = |name: &str| folder.path().join(name).to_str().expect("a path").to_owned();
    let checkpoint = path("checkpoint");
    let game = ["--code", "0.16", "--limit", "500000"];
    let kernel = ["--kernel", "mex_period=window_words", "--checkpoint", &checkpoint];
    let mut far = json(&[&game[..], &kernel].concat());
    let [heaps, width] = ["heaps", "width"].map(|name| far["period"][name].take().as_u64().expect("a number"));
    assert!(heaps < 400_000 && width < heaps, "{far}");
    let period = serde_json::json!({
        "length": 149_459, "preperiod": 105_351, "saltus": 0, "proved": true, "theorem": "window", "heaps": null, "width": null
    });
    assert_eq!(far["period"], period, "{far}");
    assert_eq!(far["kernel"], "window_words");
    let kept = json(&[&game[..], &["--kernel", "mex_octal=greedy"]].concat());
    assert_eq!(
        (&far["values"], &far["zeros"], false),
        (&kept["values"], &kept["zeros"], kept["period"]["proved"] == true)
    );
    assert!(!std::path::Path::new(&checkpoint).exists(), "it is removed when the output is complete");
    let printed = text(&[&game[..], &["--kernel", "mex_period=window_words"]].concat());
    assert!(printed.contains("period   149459 from heap 105351 on, proved at heap "), "{printed}");
}

/// With a far move, the first lap of the ring is long. A run killed in that lap and resumed gives the same first heaps and
/// frequencies as an uninterrupted one.
#[test]
fn a_run_that_is_killed_early_keeps_its_first_heaps() {
    let folder = in_memory();
    let checkpoint = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let args = ["--moves", "2,40000001", "--limit", "6e7", "--checkpoint"];
    let want = text(&[&args[..], &[&checkpoint("whole")]].concat());
    assert!(want.contains("\n2        40000001, "), "{want}");
    let file = checkpoint("kept");
    let keep = [&args[..], &[&file]].concat();
    let mut child = grundy(&keep).begin();
    while !std::path::Path::new(&file).exists() && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(POLL);
    }
    child.kill().expect("it is killed, or has ended");
    assert!(!child.wait().expect("a child").success(), "it was not killed before its end");
    assert_eq!(text(&keep), want);
}

/// How long a test waits before it looks again whether a run has saved its progress.
const POLL: Duration = Duration::from_millis(1);

/// Starts three runs in turn, and kills each as soon as it has saved its progress. Returns how many had not ended
/// before.
fn kill_three(args: &[&str], file: &std::path::Path) -> u32 {
    let mut kills = 0;
    for _ in 0..3 {
        let mut child = grundy(args).begin();
        // At first the file is only locked, and empty.
        let kept = || file.metadata().ok().filter(|data| data.len() > 0).and_then(|data| data.modified().ok());
        let before = kept();
        while child.try_wait().expect("a child").is_none() && kept() == before {
            std::thread::sleep(POLL);
        }
        child.kill().expect("it is killed, or has ended");
        kills += u32::from(!child.wait().expect("a child").success());
    }
    kills
}

/// Runs are killed as soon as a checkpoint exists, then resumed. The output has the same bytes, and no file is left behind.
#[test]
fn a_killed_run_resumes_from_its_checkpoint() {
    let folder = in_memory();
    let file = folder.path().join("kept");
    let args = ["--moves", "factorials", "--limit", "1e8", "--records", "--format", "bfile"];
    let want = text(&args);
    assert!(want.ends_with("10 40348521\n"), "{want}");
    let mut keep = args.to_vec();
    keep.extend(["--checkpoint", file.to_str().expect("UTF-8")]);
    let kills = kill_three(&keep, &file);
    assert!(kills > 0, "no run was killed before its end");
    assert!(file.is_file());
    // A file of another run is refused, and left as it is.
    let kept = std::fs::read(&file).expect("a checkpoint");
    for other in [["--moves", "factorials", "--limit", "9e7"], ["--moves", "fibonacci", "--limit", "1e8"]] {
        grundy(&other).args(["--records", "--checkpoint"]).arg(&file).refused(2, "");
        assert_eq!(std::fs::read(&file).expect("a checkpoint"), kept);
    }
    assert_eq!(text(&keep), want);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert!(!file.exists(), "the checkpoint goes with the end: {left:?}");
}

/// The same with a compressed history. The file says so: kernels with such a history continue the run, and others are
/// refused.
#[test]
fn a_killed_run_over_a_compressed_history_resumes() {
    let folder = in_memory();
    let file = folder.path().join("kept");
    let args = ["--moves", "factorials", "--limit", "1e8", "--records", "--format", "bfile"];
    let keep = [&args[..], &["--checkpoint", file.to_str().expect("UTF-8")]].concat();
    let named = |kernel| [&keep[..], &["--kernel", kernel]].concat();
    assert!(kill_three(&named("mex_records=compressed_lanes"), &file) > 0, "no run was killed before its end");
    let kept = std::fs::read(&file).expect("a checkpoint");
    assert!(kept.starts_with(b"nimlane3") && kept.len() < 10_000_000, "{} bytes", kept.len());
    grundy(&named("mex_records=guess_lanes")).refused(2, "guess_lanes cannot be used");
    assert_eq!(std::fs::read(&file).expect("a checkpoint"), kept);
    assert_eq!(text(&keep), text(&args));
    assert!(!file.exists(), "the checkpoint goes with the end");
}

/// The same for P-positions. A resumed run may have a larger limit.
#[test]
fn a_killed_run_over_zeros_resumes_from_its_checkpoint() {
    let folder = in_memory();
    let file = folder.path().join("kept").to_str().expect("UTF-8").to_owned();
    for [killed, resumed] in [["3e7", "3e7"], ["4e7", "5e7"]] {
        let args = ["--moves", "squares", "--zeros", "--format", "bfile", "--limit"];
        let kept = |limit| [&args[..], &[limit, "--checkpoint", &file]].concat();
        let kills = kill_three(&kept(killed), file.as_ref());
        assert!(kills > 0, "no run was killed before its end");
        let saved = std::fs::read(&file).expect("a checkpoint");
        for moves in ["triangular", "factorials"] {
            let other = ["--moves", moves, "--zeros", "--limit", killed, "--checkpoint", &file];
            grundy(&other).refused(2, "another subtraction set");
        }
        let records = ["--moves", "factorials", "--records", "--checkpoint", &file];
        grundy(&records).assert().code(2).says("not a checkpoint");
        assert_eq!(std::fs::read(&file).expect("a checkpoint"), saved);
        assert!(text(&kept(resumed)) == text(&[&args[..], &[resumed]].concat()), "to {resumed}");
        assert!(!std::path::Path::new(&file).exists(), "the checkpoint goes with the end");
    }
}

#[test]
fn help_says_which_moves_and_codes_there_are() {
    let help = text(&["--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["A list a,b,c, a range 1..k, all-but:a,b, @FILE, or a name", "a code, or a name such as kayles"] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

#[test]
fn moves_come_from_a_file() {
    let folder = in_memory();
    let file = folder.path().join("moves.txt");
    let of_file = format!("@{}", file.display());
    let values =
        |moves: &str| grundy(&["--moves", moves, "--limit", "500", "--format", "csv"]).output().expect("it runs");
    let commented = "# squares\r\n1 4 # nine is next\r\n9,16#,25";
    for text in ["1,4,9,16\n", "1\n4\n9\n16", "  1 4,\r\n9  16,", "\u{feff}1,4,9,16\r\n", commented] {
        std::fs::write(&file, text).expect("written");
        assert_eq!(values(&of_file).stdout, values("1,4,9,16").stdout, "{text:?}");
    }
    // So do the moves of games and workloads, also through a pipe, which can be read once.
    let solve = ["solve", "nim-square", "--limit", "50", "--json", "--moves"];
    let run =
        ["run", "mex_subtraction", "--size", "50", "--kernel", "stamp", "--seconds", "0.01", "--json", "--workload"];
    let summary = ["grundy", "--limit", "50", "--json", "--moves"];
    let pipe = if cfg!(unix) { "@/dev/stdin" } else { &of_file };
    for (args, moves) in [(&solve[..], "/parameters/moves"), (&run, "/workload"), (&summary, "/content/moves")] {
        for from in [&of_file, pipe] {
            let mut command = crate::nimlanes();
            let printed = command.args(args).arg(from).write_stdin("1,4 9\n16\n").assert().success();
            let printed: serde_json::Value = serde_json::from_slice(&printed.get_output().stdout).expect("JSON");
            assert_eq!(printed.pointer(moves), Some(&"1,4,9,16".into()), "{from}: {printed}");
        }
    }
    // A text in the library names no file.
    let error = nimlanes::grundy_values(&of_file, 9).expect_err("no set").to_string();
    assert!(error.starts_with("unknown move set `@"), "{error}");
    let utf_16 = [&[0xff, 0xfe][..], &"1,4".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat();
    for (text, says) in [
        (&b""[..], "empty"),
        (b"# 1,2,3", "empty"),
        (b"1,2,x", "`x`"),
        (b"1,0", "contains 0"),
        (b"4,2", "not ascending"),
        (b"3,3", "twice"),
        (b"18446744073709551616", "2^64"),
        (b"# A000290\n0 0\n1 1\n2 4\n", "it is a b-file, with an index before each term; allowed: the terms alone"),
        (&utf_16, "it is UTF-16, as some versions of PowerShell write; allowed: UTF-8"),
        (b"1,4,\xff", "it is not text; allowed: UTF-8"),
    ] {
        std::fs::write(&file, text).expect("written");
        let output = values(&of_file);
        let line = String::from_utf8(output.stderr).expect("text");
        assert!(
            output.status.code() == Some(2) && line.lines().count() == 1 && line.contains(says),
            "{text:?}: {line}"
        );
    }
    std::fs::remove_file(&file).expect("removed");
    let line = String::from_utf8(values(&of_file).stderr).expect("text");
    assert!(line.lines().count() == 1 && line.contains("cannot read moves from"), "{line}");
    let unnamed = String::from_utf8(values("@").stderr).expect("text");
    assert!(unnamed.lines().count() == 1 && unnamed.contains("`@` names no file of moves"), "{unnamed}");
    // A sparse file, which is larger than any memory but takes no space on the disk.
    std::fs::File::create(&file).and_then(|file| file.set_len(1 << 42)).expect("a sparse file");
    let line = String::from_utf8(values(&of_file).stderr).expect("text");
    assert!(line.lines().count() == 1 && line.contains("are free"), "{line}");
}

/// A document names the run that made it.
#[test]
fn what_records_find_is_a_document() {
    let folder = in_memory();
    let file = folder.path().join("kept.json");
    let args = |moves| ["--moves", moves, "--limit", "20000", "--records"];
    for moves in ["primes", "fibonacci", "squares"] {
        let printed = text(&[&args(moves)[..], &["--format", "csv"]].concat());
        grundy(&args(moves)).args(["--json", "-o"]).arg(&file).assert().success().stdout("");
        let saved: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
        let kept = &saved["content"];
        assert_eq!((&saved["schema"], &saved["kind"]), (&"nimlanes-saved-1".into(), &"grundy".into()));
        assert!(saved["date"].is_string() && saved["environment"]["cpu"].is_string(), "{saved}");
        assert!(kept["moves"] == moves && kept["kernel"].is_string() && kept["seconds"].is_f64(), "{kept}");
        let values = kept["values"].as_array().expect("a list");
        let lines = values.iter().map(|tally| format!("{},{}\n", tally["value"], tally["first"])).collect::<String>();
        assert_eq!(printed, format!("n,a\n{lines}"));
        assert_eq!(values.iter().map(|tally| tally["heaps"].as_u64().expect("a number")).sum::<u64>(), 20_001);
    }
}

#[test]
fn the_growth_of_zeros_is_a_document() {
    let octaves = |limit: &str, kernel: &str| {
        let found = json(&["--limit", limit, "--zeros", "--kernel", kernel]);
        (found["zeros"].clone(), found["octaves"].as_array().expect("a list").clone())
    };
    let (zeros, long) = octaves("2^17", "mex_zeros=byte_sieve");
    let (_, short) = octaves("131071", "mex_zeros=bit_sieve");
    assert_eq!((long.len(), &long[17]["zeros"]), (18, &zeros));
    assert_eq!(long[..17], short);
    let hashes: HashSet<&str> = long.iter().filter_map(|octave| octave["hash"].as_str()).collect();
    assert_eq!(hashes.len(), 17, "no P-position between 2 and 4, and others in every octave");
}

/// The run is ended while it writes.
#[cfg(unix)]
#[test]
fn a_run_that_is_ended_leaves_no_file() {
    let folder = in_memory();
    let out = folder.path().join("values.csv");
    let args = ["--moves", "1,2", "--limit", "2e8", "--format", "csv", "--output", out.to_str().expect("UTF-8")];
    let mut child = grundy(&args).begin();
    let left = || std::fs::read_dir(folder.path()).expect("a folder");
    let has_begun = || left().any(|file| file.and_then(|file| file.metadata()).is_ok_and(|file| file.len() > 0));
    while !has_begun() && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    send("TERM", &child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(143));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "nimlanes: interrupted\n");
    assert_eq!(left().count(), 0);
}

#[test]
fn octal_games_have_values_zeros_records_and_formats() {
    let to = |more: &[&str]| text(&[&["--code", "0.6", "--limit", "12"], more].concat());
    assert_eq!(to(&["--format", "bfile"]).lines().count(), 13);
    assert_eq!(to(&["--zeros", "--format", "bfile"]), "0 0\n1 1\n2 4\n3 12\n");
    assert_eq!(to(&["--records", "--format", "csv"]), "n,a\n0,0\n1,2\n2,3\n3,7\n4,11\n");
    assert_eq!(
        to(&["--format", "csv"]).lines().take(6).collect::<Vec<_>>(),
        ["n,a", "0,0", "1,0", "2,1", "3,2", "4,0"]
    );
    assert_eq!(to(&["--kernel", "mex_octal=sparse"]), to(&["--kernel", "mex_octal=stamp"]));
}

#[test]
fn a_summary_of_an_octal_game_says_what_is_proved() {
    let of = |code: &str, limit: &str| text(&["--code", code, "--limit", limit]);
    let kayles = of("0.77", "1000");
    assert!(
        kayles
            .starts_with("code     0.77\nknown as Kayles\nheaps    0..=1000\nvalues   9, the largest 8\nzeros    1\n"),
        "{kayles}"
    );
    assert!(kayles.contains("\nperiod   12 from heap 71 on, proved by the heaps up to 168\n"), "{kayles}");
    let observed = "\nperiod   20 from heap 498 on, observed, not proved; the heaps up to 1038 would prove it\n";
    assert!(of("0.45", "1000").contains(observed));
    assert!(of("0.6", "30000").contains("\nrare     1584 heaps, the last 20627, with mask 0x1ee\n"));
    let by_position = "\nrare     15 heaps, the last 1103, with mask 0xd, by position\n";
    assert!(of("0.106", "30000").contains(by_position));
    assert!(of("0.04", "9").starts_with("code     0.04\nknown as Treblecross, of size n - 3 for a heap of n\nheaps "));
    assert!(of("0.6", "1000").contains("\nperiod   none found\n"));
    // Half of the heaps are rare.
    assert!(!of("0.0[3]", "1024").contains("rare") && json(&["--code", "0.0[3]", "--limit", "1024"])["rare"].is_null());
    assert!(of("0.[3]", "1000").contains("\nperiod   not searched, as the digits do not end\n"));
    let three = of("0.3F", "1000");
    assert!(
        three.contains("with saltus") && three.contains("observed, not proved\n") && !three.contains("rare"),
        "{three}"
    );
}

/// A period without a proof has repeated eight times, over half of the heaps. That of 0.2048 doubles, and never does.
#[test]
fn a_short_repetition_is_no_period() {
    for (code, limits) in [("0.2048", &["300", "500", "1000"][..]), ("0.77", &["150"]), ("0.3F", &["50"])] {
        for limit in limits {
            let found = text(&["--code", code, "--limit", limit]);
            assert!(found.contains("\nperiod   none found\n"), "{code} to {limit}: {found}");
            assert!(json(&["--code", code, "--limit", limit])["period"].is_null(), "{code} to {limit}");
        }
    }
    let found = json(&["--code", "0.3F", "--limit", "1000"])["period"].take();
    assert_eq!(found, serde_json::json!({ "length": 6, "preperiod": 0, "saltus": 3, "proved": false }));
}

/// The period of 0.F6 is observed up to heap 1928, and the next heap contradicts it: also if a run resumes from what showed it.
#[test]
fn a_resumed_run_corrects_an_observed_period() {
    let folder = in_memory();
    let path = folder.path().join("checkpoint");
    let code: Code = "0.F6".parse().expect("a game");
    let values = nimlanes::octal_values("0.F6", 1928).expect("a small limit");
    for (limit, words) in [("1928", "43 with saltus 32 from heap 604 on, observed, not proved"), ("4000", "none found")]
    {
        let mut file = std::fs::File::create(&path).expect("a writable folder");
        checkpoint::write(&code, &values, &mut file).expect("a writable file");
        let args = ["--code", "0.F6", "--limit", limit];
        let resumed = text(&[&args[..], &["--checkpoint", path.to_str().expect("UTF-8")]].concat());
        assert!(resumed.contains(&format!("\nperiod   {words}\n")), "{resumed}");
        assert_eq!(resumed, text(&args));
    }
}

/// All but the words for a period and what proves it.
fn figures(code: &str, limit: &str, more: &[&str]) -> serde_json::Value {
    let mut summary = json(&[&["--code", code, "--limit", limit, "--threads", "1"], more].concat());
    let fields = summary.as_object_mut().expect("fields");
    for effort in ["kernel", "threads", "clock", "seconds"] {
        fields.remove(effort);
    }
    match fields.get_mut("period").filter(|period| period["proved"] == true) {
        Some(period) => {
            let proof = ["theorem", "heaps", "width"];
            period.as_object_mut().expect("fields").retain(|name, _| !proof.contains(&&name[..]));
        }
        None => drop(fields.remove("period")),
    }
    summary
}

/// With and without windows, up to the end of a table and past it; the period of 0.16 is proved by these heaps alone.
#[test]
fn a_summary_is_the_same_whichever_kernel_makes_it() {
    for (code, limit) in [
        ("0.106", "131071"),
        ("0.106", "300000"),
        ("0.054", "200001"),
        ("grundy", "150000"),
        ("0.77", "200000"),
        ("0.07", "200001"),
        ("0.02", "400000"),
        ("0.16", "509622"),
        ("4.3", "200000"),
    ] {
        let want = figures(code, limit, &["--kernel", "mex_octal=greedy"]);
        assert_eq!(figures(code, limit, &[]), want, "{code}");
        for kernel in ["mex_period=window_words", "mex_period=table"] {
            assert_eq!(figures(code, limit, &["--kernel", kernel]), want, "{code}: {kernel}");
        }
    }
    assert!(figures("0.16", "509622", &[])["period"]["proved"] == true);
    assert!(json(&["--code", "0.106", "--limit", "300000"])["period"].is_null());
}

/// Too many heaps are rare for a window, and the table goes on.
#[test]
fn a_summary_of_many_rare_heaps_is_made_with_a_table() {
    let limit = "4200000";
    let found = figures("grundy", limit, &[]);
    let heaps =
        found["values"].as_array().expect("a list").iter().map(|tally| tally["heaps"].as_u64().expect("a number"));
    assert_eq!(heaps.sum::<u64>(), 4_200_001);
    assert_eq!(found, figures("grundy", limit, &["--kernel", greedily()]));
}

/// A kernel of `mex_octal` that runs here; where there is a choice, one that is not slow.
fn greedily() -> &'static str {
    let has_avx2 = cfg!(feature = "avx2") && Tier::Avx2.is_on_this_cpu();
    if has_avx2 { "mex_octal=greedy_avx2" } else { "mex_octal=greedy" }
}

/// The checker, which uses nothing of the library.
#[path = "../../src/examples/check_certificate.rs"]
#[expect(dead_code, reason = "it has a main function")]
mod check_certificate;

/// The text of the certificate of a game.
fn certificate(code: &str, limit: &str) -> String {
    text(&["--code", code, "--limit", limit, "--format", "certificate"])
}

/// By the example, or in this program, in minutes, if it has not been built.
fn checked(certificate: &str) -> Result<String, String> {
    let Some(mut example) = example("check_certificate") else {
        return check_certificate::check(certificate);
    };
    let folder = in_memory();
    let file = folder.path().join("certificate");
    std::fs::write(&file, certificate).expect("a writable folder");
    let output = example.arg(file).output().expect("it starts");
    let [said, reason] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
    if output.status.success() { Ok(said.trim_end().to_owned()) } else { Err(reason) }
}

/// The library's own tests show that a changed one is refused.
#[test]
fn a_certificate_is_checked_without_the_library() {
    let kayles = certificate("kayles", "1000");
    assert_eq!(check_certificate::check(&kayles), Ok("0.77: period 12 from heap 71".to_owned()));
    let by_window = certificate("0.56", "6e5");
    assert_eq!(checked(&by_window), Ok("0.56: period 144 from heap 326640".to_owned()));
    let cut = by_window.replacen("period 144", "period 14", 1);
    assert!(checked(&cut).is_err_and(|reason| reason.contains("damaged")));
}

/// Runs are killed as soon as a checkpoint exists, then resumed. The output has the same bytes.
#[test]
fn a_killed_run_of_an_octal_game_resumes() {
    let folder = in_memory();
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let (file, out) = (path("kept"), path("values"));
    let args = ["--code", "grundy", "--limit", "6e5", "--format", "csv"];
    grundy(&args).args(["--output", &out]).assert().success();
    let want = std::fs::read(&out).expect("written");
    let keep = [&args[..], &["--checkpoint", &file]].concat();
    let kills = kill_three(&keep, file.as_ref());
    assert!(kills > 0, "no run was killed before its end");
    // Another game and another kind of run are refused, and leave the file as it is.
    let kept = std::fs::read(&file).expect("a checkpoint");
    for (args, part) in
        [(vec!["--code", "0.6"], "another game"), (vec!["--moves", "factorials", "--records"], "not a checkpoint")]
    {
        grundy(&args).args(["--limit", "6e5", "--checkpoint", &file]).refused(2, part);
        assert_eq!(std::fs::read(&file).expect("a checkpoint"), kept);
    }
    // The values are those that a summary starts from.
    let of_values = path("values kept");
    std::fs::copy(&file, &of_values).expect("copied");
    assert_eq!(
        figures("grundy", "6e5", &["--checkpoint", &of_values]),
        figures("grundy", "6e5", &["--kernel", greedily()])
    );
    grundy(&keep).args(["--output", &out]).assert().success();
    assert!(std::fs::read(&out).expect("written") == want, "other values");
    assert!(!std::path::Path::new(&file).exists(), "the checkpoint goes with the end");
}
