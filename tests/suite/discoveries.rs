//! The claims of `profiles/discoveries`: its b-files and tables agree with the runs that are kept there and, as far as a test can go,
//! with values computed here. And the commands that make such runs.

use std::collections::BTreeSet;
use std::fs;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use nimlanes::cores::mex::octal::{MexOctal, Octal};
use nimlanes::cores::mex::records::{MexRecords, Records};
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
use nimlanes::kernel::Run;
use nimlanes::machine::Machine;
use nimlanes::moves::MoveSet;
use nimlanes::selection::Selection;
use serde_json::{Value, json};
use twox_hash::XxHash3_64;

const FOLDER: &str = "profiles/discoveries";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER)
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    assert!(!files.is_empty(), "no .{extension} files");
    files
}

fn runs(folder: &Path) -> Vec<Value> {
    let read = |path: &PathBuf| fs::read_to_string(path).expect("a file");
    let runs = files(folder, "json")
        .iter()
        .map(|path| serde_json::from_str(&read(path)).expect("JSON"))
        .collect::<Vec<Value>>();
    for run in &runs {
        for field in ["date", "environment", "content"] {
            assert!(!run[field].is_null(), "{field} of {run}");
        }
    }
    runs
}

fn first(run: &Value) -> Vec<u64> {
    run["content"]["first"].as_array().expect("a list").iter().map(|n| n.as_u64().expect("a heap")).collect()
}

/// The set in the first line of a b-file, and its terms.
fn terms(path: &Path) -> (String, Vec<u64>) {
    let text = fs::read_to_string(path).expect("a file");
    let (comments, terms): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
    let set = comments[0].rsplit_once(": ").expect("the set").1.to_owned();
    let term = |(i, line): (usize, &&str)| {
        let (n, heap) = line.split_once(' ').expect("two numbers");
        assert_eq!(n, i.to_string(), "{}", path.display());
        heap.parse().expect("a heap")
    };
    (set, terms.iter().enumerate().map(term).collect())
}

#[test]
fn every_term_was_found_by_two_kernels() {
    let runs = runs(&folder());
    for path in files(&folder(), "txt") {
        let (set, terms) = terms(&path);
        assert!(terms.is_sorted_by(|a, b| a < b) && terms.len() > 5, "{}", path.display());
        let of_set = runs.iter().filter(|run| run["content"]["moves"] == set.as_str());
        let mut kernels: Vec<&str> = of_set
            .filter(|run| first(run).starts_with(&terms))
            .map(|run| run["content"]["kernel"].as_str().expect("a name"))
            .collect();
        kernels.sort_unstable();
        kernels.dedup();
        assert!(kernels.len() > 1, "{set}: {kernels:?}");
    }
}

#[test]
fn terms_are_what_is_computed_here() {
    const LIMIT: u64 = 200_000;
    let selection = Selection::new(Machine::detect());
    for path in files(&folder(), "txt") {
        let (set, terms) = terms(&path);
        let set: MoveSet = set.parse().expect("a set");
        let run = Run::new(selection.threads());
        let found = if let Ok(input) = Records::new(&set, LIMIT) {
            selection.kernel::<MexRecords>(&input).expect("a kernel").run(&input, &run).expect("it ends").first
        } else {
            let input = Subtraction::new(&set, LIMIT, selection.machine()).expect("small");
            let g = selection.kernel::<MexSubtraction>(&input).expect("a kernel").run(&input, &run).expect("it ends");
            let values = 0..=g.iter().max().copied().expect("some values");
            values.map(|v| g.iter().position(|other| *other == v).expect("each occurs") as u64).collect()
        };
        let known = terms.partition_point(|heap| *heap <= LIMIT);
        assert_eq!(found, terms[..known], "{set}");
    }
}

fn octaves(run: &Value) -> &[Value] {
    run["content"]["octaves"].as_array().expect("a list")
}

#[test]
fn kernels_found_the_same_p_positions() {
    let runs = runs(&folder().join("zeros"));
    let longest = runs.iter().map(octaves).max_by_key(|octaves| octaves.len()).expect("a run");
    for run in &runs {
        assert_eq!(run["content"]["moves"], "squares");
        assert_eq!(octaves(run), &longest[..octaves(run).len()], "{}", run["content"]["kernel"]);
    }
    let past = runs.iter().filter(|run| octaves(run).len() > 32).map(|run| run["content"]["kernel"].to_string());
    assert!(past.collect::<BTreeSet<_>>().len() > 1, "two kernels went to 2^32");
    let page = fs::read_to_string(folder().join("zeros").join("README.md")).expect("the page");
    for (power, octaves) in longest.windows(2).enumerate().skip(9) {
        let [below, zeros] = [0, 1].map(|i| octaves[i]["zeros"].as_f64().expect("a number"));
        let ratio = zeros / below;
        let row = format!("\n| 2^{} | {zeros} | {ratio:.4} | {:.4} | `", power + 1, ratio.log2());
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn p_positions_are_what_is_computed_here() {
    const LAST: usize = 20;
    let zeros = nimlanes::zeros("squares", 1 << LAST).expect("a small limit");
    let (set, listed) = terms(&folder().join("zeros").join("b030193.txt"));
    assert!(set == "squares" && listed == zeros);
    let mut hash = XxHash3_64::new();
    zeros.iter().for_each(|n| hash.write(&n.to_le_bytes()));
    let here = json!({ "zeros": zeros.len(), "hash": format!("{:016x}", hash.finish()) });
    for run in runs(&folder().join("zeros")) {
        assert_eq!(octaves(&run)[LAST], here, "{}", run["content"]["kernel"]);
    }
}

/// The games that were surveyed, as their files have them.
fn surveyed() -> Vec<Value> {
    let folder = folder().join("octal");
    let games = fs::read_to_string(folder.join("games.txt")).expect("the games");
    let codes = games.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let read = |code: &str| fs::read_to_string(folder.join(format!("{code}.json"))).expect("a file for each game");
    codes.map(|code| serde_json::from_str::<Value>(&read(code)).expect("JSON")["content"].take()).collect()
}

#[test]
fn largest_values_of_octal_games_are_what_is_computed_here() {
    const LIMIT: u64 = 5_000;
    let selection = Selection::new(Machine::detect());
    for game in surveyed() {
        let code = game["code"].as_str().expect("a code");
        let input = Octal::new(&code.parse().expect("a game"), LIMIT).expect("small");
        let run = Run::new(selection.threads());
        let values = selection.kernel::<MexOctal>(&input).expect("a kernel").run(&input, &run).expect("it ends");
        let (largest, at) = (game["largest"].as_u64().expect("a value"), game["largest_at"].as_u64().expect("a heap"));
        let here = values.iter().max().copied().map_or(0, u64::from);
        match values.get(at as usize) {
            Some(value) => assert_eq!((u64::from(*value), here), (largest, largest), "{code}"),
            None => assert!(here < largest, "{code}: {here} up to {LIMIT}, {largest} at {at}"),
        }
    }
}

fn survey(into: &Path, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("nimlanes").expect("the program is built for its tests");
    command.env_remove("NIMLANES_ISA_MAX").env_remove("NIMLANES_KERNEL");
    command.arg("survey").args(args).arg("--into").arg(into);
    command
}

/// Some of the games repeat and others are stopped; the second time all are known.
#[test]
fn a_survey_goes_on_where_it_was_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("games");
    fs::write(&list, "0.77 # Kayles\n0.07\n# 0.137\n4.3 0.6 grundy\n").expect("a writable folder");
    let (list, into) = (format!("@{}", list.display()), folder.path().join("deep"));
    let lines = |args: &[&str]| {
        let output = survey(&into, args).assert().success().get_output().stdout.clone();
        String::from_utf8(output).expect("UTF-8").lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(&["0.77", "--limit", "1e5"]).len(), 1);
    let all = lines(&["0.06", &list, "--seconds", "0.5", "--limit", "1e6"]);
    let ends = [", no period found", "period 12 from heap 71 on, proved: known", "period 34 from heap 53 on, proved"];
    assert!(all.iter().zip(ends).all(|(line, end)| line.ends_with(end)) && all.len() == 6, "{all:#?}");
    let of = |code: &str| -> Value {
        let text = fs::read_to_string(into.join(format!("{code}.json"))).expect("a file");
        serde_json::from_str(&text).expect("JSON")
    };
    assert!(of("0.06")["content"]["heaps"].as_u64() < Some(1_000_001), "it was stopped");
    assert_eq!(of("0.07")["content"]["heaps"], 1_000_001);
    assert_eq!(of("grundy")["kind"], "octal-game");
    assert!(lines(&["0.06", &list, "--seconds", "0.2"]).iter().all(|line| line.ends_with(": known")));
    assert!(!lines(&["0.77", "--limit", "1e5", "--again"])[0].ends_with("known"));
}

#[test]
fn a_survey_of_what_is_no_game_gives_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let empty = folder.path().join("empty");
    fs::write(&empty, "# none\n").expect("a writable folder");
    let empty = format!("@{}", empty.display());
    let wrong = [("0.9x", 2), ("1.7", 2), ("@/no/such/file", 2), (&empty, 2)];
    for (code, exit) in wrong {
        let output = survey(folder.path(), &[code]).assert().code(exit).get_output().stderr.clone();
        assert_eq!(String::from_utf8_lossy(&output).lines().count(), 1, "{code}");
    }
    survey(Path::new("/proc/none"), &["0.77"]).assert().code(1);
    survey(folder.path(), &["0.77", "--kernel", "mex_zeros=bit_sieve"]).assert().code(2);
    fs::write(folder.path().join("0.77.json"), "{}").expect("a writable folder");
    survey(folder.path(), &["0.77"]).assert().code(1);
}
