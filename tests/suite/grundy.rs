//! `nimlanes grundy`: files are right to the byte, and runs that were killed resume. What is one line is in `requests`.

use std::collections::HashSet;
use std::fs;
use std::time::Duration;

use hmac_sha256::Hash;
use nimlanes::cores::mex::octal::{Code, checkpoint};
use serde_json::Value;

use crate::program::{Command, command, path_of_program, send};
use crate::{example, in_memory};

fn grundy(options: &str) -> Command {
    command(&format!("grundy {options}"))
}

fn text(options: &str) -> String {
    grundy(options).text()
}

/// What is found, of a document.
fn found(options: &str) -> Value {
    grundy(options).arg("--json").json()["content"].take()
}

/// Moves that do not fit in memory are refused with one line before they are listed.
#[cfg(target_os = "linux")]
#[test]
fn moves_that_do_not_fit_in_memory_are_refused() {
    let program = path_of_program();
    let script = format!("ulimit -v 3000000; exec {} grundy --moves 1..500000000 --limit 5e8", program.display());
    let says = "the list of moves of mex_subtraction needs 4.000 GB here and ";
    Command::new("sh").args(["-c", &script]).refused(2, says);
}

/// The complete file of OEIS A014586.
#[test]
fn a_bfile_is_exact_to_the_byte_on_stdout_and_in_a_file() {
    let folder = in_memory();
    let out = folder.path().join("b014586.txt");
    let options = "--moves squares --limit 10000 --format bfile";
    let printed = text(options);
    let sum: String = Hash::hash(printed.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(sum, "931eb17bcf07d057955b4b21f68683a5d7741a507e2f2a19c693a1f59b1e19c5");
    grundy(options).arg("--output").arg(&out).assert().success().stdout("");
    assert_eq!(fs::read_to_string(&out).expect("written"), printed);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else is left");
}

/// Values of sets without a few moves grow: each round adds to them. Proofs by few heaps are right for many.
#[test]
fn a_summary_of_a_set_without_a_few_moves_says_what_a_round_adds() {
    for left_out in ["1", "5", "1,2", "2,4", "3,7,11", "2,3,9", "1,4,5,13", "6,10,15,16"] {
        let moves = format!("all-but:{left_out}");
        let periods =
            (50..).step_by(10).map(|limit| found(&format!("--moves {moves} --limit {limit}"))["period"].take());
        let found = periods.take(60).find(|found| !found.is_null()).expect("a period");
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

/// A terminal has 24 lines, and the last one is for the prompt.
#[test]
fn a_summary_is_a_screen_and_its_json_is_whole() {
    for (options, rows, field) in [
        ("--code 0.9 --limit 2000", 903, "values"),
        ("--moves squares --limit 1e5", 75, "values"),
        ("--moves primes --records --limit 1e6", 12, "values"),
        ("--moves squares --zeros --limit 2^20", 21, "octaves"),
    ] {
        let printed = text(options);
        assert!(printed.lines().count() <= 23, "{printed}");
        assert_eq!(found(options)[field].as_array().expect("a list").len(), rows, "{options}");
        let left_out = rows.saturating_sub(14);
        let is_cut = printed.contains(&format!("\n...      {left_out} more; --json prints all\n"));
        assert_eq!(is_cut, left_out > 1, "{printed}");
    }
}

/// The period of 0.16 is proved as soon as a window repeats, long before the classical theorem has all the values that
/// it needs.
#[test]
fn a_period_is_proved_without_a_table() {
    let folder = in_memory();
    let checkpoint = folder.path().join("checkpoint");
    let far = grundy("--code 0.16 --limit 500000 --kernel mex_period=window_words --json --checkpoint")
        .arg(&checkpoint)
        .json()["content"]
        .take();
    let [heaps, width] = ["heaps", "width"].map(|name| far["period"][name].as_u64().expect("a number"));
    assert!(heaps < 400_000 && width < heaps, "{far}");
    let kept = found("--code 0.16 --limit 500000 --kernel mex_octal=greedy");
    assert_eq!((&far["values"], &far["zeros"]), (&kept["values"], &kept["zeros"]));
    assert!(kept["period"]["proved"] != true, "{kept}");
    assert!(!checkpoint.exists(), "it is removed when the output is complete");
}

/// How long a test waits before it looks again whether a run has saved its progress.
const POLL: Duration = Duration::from_millis(1);

/// Kills three runs in turn as soon as they have saved something; then another one resumes, has the same output as one that was not
/// killed, and leaves no file. Other runs are refused in between, each with these words, and leave the file as it is. Returns the file as
/// it was then.
fn resumes([killed, resumed]: [&str; 2], others: &[(&str, &str)]) -> Vec<u8> {
    let folder = in_memory();
    let file = folder.path().join("kept");
    let keeps = |options: &str| {
        let mut command = grundy(options);
        command.arg("--checkpoint").arg(&file);
        command
    };
    // At first the file is only locked, and empty.
    let version = || file.metadata().ok().filter(|data| data.len() > 0).and_then(|data| data.modified().ok());
    let mut kills = 0;
    for _ in 0..3 {
        let (mut child, before) = (keeps(killed).begin(), version());
        while child.try_wait().expect("a child").is_none() && version() == before {
            std::thread::sleep(POLL);
        }
        child.kill().expect("it is killed, or has ended");
        kills += u32::from(!child.wait().expect("a child").success());
    }
    assert!(kills > 0, "no run was killed before its end");
    let kept = fs::read(&file).expect("a checkpoint");
    for (other, says) in others {
        keeps(other).refused(2, says);
        assert!(fs::read(&file).expect("a checkpoint") == kept, "{other}");
    }
    assert!(keeps(resumed).text() == text(resumed), "{resumed}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "the checkpoint goes with the end");
    kept
}

/// Files of first heaps say whether their history is compressed: only kernels with such a history continue it. With a far move, the first
/// lap of the ring is long, and a run is killed in it.
#[test]
fn a_killed_run_over_first_heaps_resumes() {
    const RECORDS: &str = "--moves factorials --limit 3e7 --records --format bfile";
    let others = [("--moves factorials --limit 2e7 --records", ""), ("--moves fibonacci --limit 3e7 --records", "")];
    resumes([RECORDS; 2], &others);
    let other = format!("{RECORDS} --kernel mex_records=guess_lanes");
    let compressed = format!("{RECORDS} --kernel mex_records=compressed_lanes");
    let kept = resumes([&compressed, RECORDS], &[(&other, "guess_lanes cannot be used")]);
    assert!(kept.starts_with(b"nimlane3") && kept.len() < 3_000_000, "{} bytes", kept.len());
    resumes(["--moves 2,10000001 --limit 15e6 --records"; 2], &[]);
}

/// A resumed run may have a larger limit.
#[test]
fn a_killed_run_over_zeros_resumes() {
    let others = [
        ("--moves triangular --zeros --limit 3e7", "another subtraction set"),
        ("--moves factorials --zeros --limit 3e7", "another subtraction set"),
        ("--moves factorials --records", "not a checkpoint"),
    ];
    let to = |limit: &str| format!("--moves squares --zeros --format bfile --limit {limit}");
    resumes([&to("3e7"); 2], &others);
    resumes([&to("3e7"), &to("4e7")], &[]);
}

/// A summary starts from the values of a table.
#[test]
fn a_killed_run_of_an_octal_game_resumes() {
    let others =
        [("--code 0.6 --limit 4e5", "another game"), ("--moves factorials --records --limit 4e5", "not a checkpoint")];
    let kept = resumes(["--code grundy --limit 4e5 --format csv"; 2], &others);
    let folder = in_memory();
    let file = folder.path().join("values");
    fs::write(&file, kept).expect("a writable folder");
    let from_values = figures("grundy", "4e5", &format!("--checkpoint {}", file.display()));
    assert_eq!(from_values, figures("grundy", "4e5", ""));
}

#[test]
fn moves_come_from_a_file() {
    let folder = in_memory();
    let file = folder.path().join("moves.txt");
    let of_file = format!("@{}", file.display());
    let values = |moves: &str| grundy(&format!("--limit 500 --format csv --moves {moves}"));
    let commented = "# squares\r\n1 4 # nine is next\r\n9,16#,25";
    for text in ["1,4,9,16\n", "1\n4\n9\n16", "  1 4,\r\n9  16,", "\u{feff}1,4,9,16\r\n", commented] {
        fs::write(&file, text).expect("written");
        assert_eq!(values(&of_file).text(), values("1,4,9,16").text(), "{text:?}");
    }
    // So do the moves of games and workloads, also through a pipe, which can be read once.
    let pipe = if cfg!(unix) { "@/dev/stdin" } else { &of_file };
    for (request, moves) in [
        ("solve nim-square --limit 50 --json --moves", "/parameters/moves"),
        ("run mex_subtraction --size 50 --kernel stamp --seconds 0.01 --json --workload", "/workload"),
        ("grundy --limit 50 --json --moves", "/content/moves"),
    ] {
        for from in [&of_file, pipe] {
            let printed = command(request).arg(from).write_stdin("1,4 9\n16\n").json();
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
        fs::write(&file, text).expect("written");
        values(&of_file).refused(2, says);
    }
    // A sparse file, which is larger than any memory but takes no space on the disk.
    fs::File::create(&file).and_then(|file| file.set_len(1 << 42)).expect("a sparse file");
    values(&of_file).refused(2, "are free");
}

/// A document names the run that made it.
#[test]
fn what_records_find_is_a_document() {
    let folder = in_memory();
    let file = folder.path().join("kept.json");
    for moves in ["primes", "fibonacci", "squares"] {
        let options = format!("--moves {moves} --limit 20000 --records");
        grundy(&options).args(["--json", "-o"]).arg(&file).assert().success().stdout("");
        let saved = crate::saved::load(&file);
        let kept = &saved["content"];
        assert_eq!((&saved["schema"], &saved["kind"]), (&"nimlanes-saved-1".into(), &"grundy".into()));
        assert!(saved["date"].is_string() && saved["environment"]["cpu"].is_string(), "{saved}");
        assert!(kept["moves"] == moves && kept["kernel"].is_string() && kept["seconds"].is_f64(), "{kept}");
        let values = kept["values"].as_array().expect("a list");
        let lines = values.iter().map(|tally| format!("{},{}\n", tally["value"], tally["first"])).collect::<String>();
        assert_eq!(text(&format!("{options} --format csv")), format!("n,a\n{lines}"));
        assert_eq!(values.iter().map(|tally| tally["heaps"].as_u64().expect("a number")).sum::<u64>(), 20_001);
    }
}

#[test]
fn the_growth_of_zeros_is_a_document() {
    let octaves = |limit: &str, kernel: &str| {
        let found = found(&format!("--zeros --limit {limit} --kernel mex_zeros={kernel}"));
        (found["zeros"].clone(), found["octaves"].as_array().expect("a list").clone())
    };
    let (zeros, long) = octaves("2^17", "byte_sieve");
    let (_, short) = octaves("131071", "bit_sieve");
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
    let mut child = grundy(&format!("--moves 1,2 --limit 2e8 --format csv --output {}", out.display())).begin();
    let left = || fs::read_dir(folder.path()).expect("a folder");
    let has_begun = || left().any(|file| file.and_then(|file| file.metadata()).is_ok_and(|file| file.len() > 0));
    while !has_begun() && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    send("TERM", &child);
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*said, left().count()), (Some(143), "nimlanes: interrupted\n", 0));
}

/// The period of 0.F6 is observed up to heap 1928, and the next heap contradicts it: also if a run resumes from what showed it.
#[test]
fn a_resumed_run_corrects_an_observed_period() {
    let folder = in_memory();
    let path = folder.path().join("checkpoint");
    let code: Code = "0.F6".parse().expect("a game");
    let values = nimlanes::octal_values("0.F6", 1928).expect("a small limit");
    for (limit, words) in [(1928, "43 with saltus 32 from heap 604 on, observed, not proved"), (4000, "none found")] {
        let mut file = fs::File::create(&path).expect("a writable folder");
        checkpoint::write(&code, &values, &mut file).expect("a writable file");
        let options = format!("--code 0.F6 --limit {limit}");
        let resumed = grundy(&options).arg("--checkpoint").arg(&path).text();
        assert!(resumed.contains(&format!("\nperiod   {words}\n")), "{resumed}");
        assert_eq!(resumed, text(&options));
    }
}

/// All but the words for a period and what proves it.
fn figures(code: &str, limit: &str, more: &str) -> Value {
    let mut summary = found(&format!("--code {code} --limit {limit} --threads 1 {more}"));
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
        let want = figures(code, limit, "--kernel mex_octal=greedy");
        for more in ["", "--kernel mex_period=window_words", "--kernel mex_period=table"] {
            let found = figures(code, limit, more);
            assert_eq!(found, want, "{code} {more}");
            assert!(code != "0.16" || found["period"]["proved"] == true, "{found}");
        }
    }
}

/// The checker, which uses nothing of the library.
#[path = "../../src/examples/check_certificate.rs"]
#[expect(dead_code, reason = "it has a main function")]
mod check_certificate;

/// The text of the certificate of a game.
fn certificate(code: &str, limit: &str) -> String {
    text(&format!("--code {code} --limit {limit} --format certificate"))
}

/// By the example, or in this program, in minutes, if it has not been built.
fn checked(certificate: &str) -> Result<String, String> {
    let Some(mut example) = example("check_certificate") else {
        return check_certificate::check(certificate);
    };
    let folder = in_memory();
    let file = folder.path().join("certificate");
    fs::write(&file, certificate).expect("a writable folder");
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
