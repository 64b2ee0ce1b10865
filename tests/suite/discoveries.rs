//! The claims of `profiles/discoveries` and of the papers: files and tables agree with the runs that are kept there and, as far
//! as a test can go, with values computed here. Also tests the commands that make such runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};

use nimlanes::cores::mex::family::{Family, MexFamily};
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
use nimlanes::games::Solver;
use nimlanes::kernel::Operation;
use nimlanes::kernel::selection::Selection;
use nimlanes::machine::Machine;
use nimlanes::moves::{MoveSet, Rules};
use serde_json::{Value, json};
use twox_hash::XxHash3_64;

use crate::program::{Command, command};
use crate::saved::load;
use crate::{example, in_memory};

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

/// The contents of the runs that are kept in a folder.
fn runs(folder_name: &str) -> Vec<Value> {
    let Value::Object(runs) = load(&folder().join(folder_name).join("measurements.json"))["measurements"].take() else {
        panic!("{folder_name}: no runs")
    };
    let content = |mut run: Value| {
        assert!(!run["date"].is_null() && !run["environment"].is_null() && !run["content"].is_null(), "{run}");
        run["content"].take()
    };
    runs.into_iter().map(|(_, run)| content(run)).collect()
}

/// What is a text in a run, or a number.
fn words(of: &Value) -> &str {
    of.as_str().expect("a text")
}

fn number(of: &Value) -> u64 {
    of.as_u64().expect("a number")
}

fn first_heaps() -> PathBuf {
    folder().join("first-heaps")
}

fn text_of(page: &str) -> String {
    fs::read_to_string(folder().join(page)).expect("a file")
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

/// The page says how many terms there are, and how far two kernels, and one alone, have seen no other. The paper has as many of the terms
/// as its lines hold.
#[test]
fn every_term_was_found_by_two_kernels() {
    let (runs, page, paper) = (runs("first-heaps"), text_of("README.md"), text_of("../papers/first-heaps.md"));
    let (paths, entries) = (files(&first_heaps(), "txt"), paper.split("\n## ").skip(1));
    assert_eq!(entries.clone().count(), paths.len());
    for path in paths {
        let (set, terms) = terms(&path);
        assert!(terms.is_sorted_by(|a, b| a < b) && terms.len() > 5, "{}", path.display());
        let of_set: Vec<&Value> = runs.iter().filter(|run| run["moves"] == set.as_str()).collect();
        let agree = |a: &Value, b: &Value| ["limit", "first", "counts"].iter().all(|field| a[field] == b[field]);
        let by_two = |run: &&&Value| of_set.iter().any(|other| other["kernel"] != run["kernel"] && agree(run, other));
        let confirmed = of_set.iter().filter(|run| run["first"] == json!(terms)).filter(by_two);
        let confirmed = confirmed.map(|run| number(&run["limit"])).max().expect("two kernels");
        let furthest = of_set.iter().map(|run| number(&run["limit"])).max().filter(|limit| *limit > confirmed);
        let furthest = furthest.map_or("–".to_owned(), |limit| limit.to_string());
        let (file, last) = (path.file_name().expect("a name").to_string_lossy(), terms[terms.len() - 1]);
        let row = format!(" | [{}](first-heaps/{file}) | {last} | {confirmed} | {furthest} |", terms.len());
        let is_row = |line: &str| line.starts_with(&format!("| {set} | ")) && line.ends_with(&row);
        assert!(page.lines().any(is_row), "{set}: {row}");

        let entry = entries.clone().find(|entry| entry.starts_with(&format!("{set}\n"))).expect("an entry of the set");
        let field = |name: &str| entry.lines().find_map(|line| line.strip_prefix(name)).expect("a field").trim();
        let (links, data) = (field("LINKS"), field("DATA"));
        assert!(
            links.contains(&format!("n = 0..{},", terms.len() - 1)) && links.ends_with(&format!(" {file}")),
            "{entry}"
        );
        let listed: Vec<u64> = data.split(", ").map(|term| term.parse().expect("a term")).collect();
        assert!(terms.starts_with(&listed) && data.len() <= 260, "{entry}");
        assert_eq!(field("KEYWORD") == "nonn,more", listed.len() == terms.len(), "{set}");
    }
}

#[test]
fn terms_are_what_is_computed_here() {
    const LIMIT: u64 = 200_000;
    for path in files(&first_heaps(), "txt") {
        let (set, terms) = terms(&path);
        let g = nimlanes::grundy_values(&set, LIMIT).expect("a small limit");
        let values = 0..=g.iter().max().copied().expect("some values");
        let found = values.map(|v| g.iter().position(|other| *other == v).expect("each occurs") as u64);
        assert!(found.eq(terms.into_iter().take_while(|heap| *heap <= LIMIT)), "{set}");
    }
}

/// The paper has the period of each game whose period a window proved, and the games that are sparse by position.
#[test]
fn the_paper_on_windows_has_the_games() {
    let digits = text_of("../papers/windows.md").replace('\u{202f}', "");
    for game in runs("octal/far") {
        let code = words(&game["code"]);
        let row = match &game["period"] {
            Value::Null => format!("| `{code}` | none up to {} |", game["limit"]),
            found => {
                let [length, from, heaps, width] =
                    ["length", "preperiod", "heaps", "width"].map(|name| found[name].to_string());
                format!("| `{code}` | {length} | {from} | {heaps} | {width} |")
            }
        };
        assert!(digits.contains(&row), "{row}");
    }
    for game in surveyed().iter().filter(|game| game["by_position"] == true) {
        let (code, mask) = (words(&game["code"]), number(&game["mask"]));
        let heaps = if game["period"]["proved"] == true { "all".to_owned() } else { game["heaps"].to_string() };
        let [rare, last, largest] = ["rare", "last_rare", "largest"].map(|name| game[name].to_string());
        let row = format!("| `{code}` | {mask:#x} | {rare} | {last} | {largest} | {heaps} |");
        assert!(digits.contains(&row), "{row}");
    }
}

/// The example, which uses nothing of the library.
#[path = "../../src/examples/mem0.rs"]
#[expect(dead_code, reason = "it has a main function")]
mod mem0;

/// The values of each heap of Mem0 by its last move, 0 if there was none, by the rules. A last move above the heap forbids nothing.
fn values_of_mem0(limit: usize) -> Vec<Vec<u32>> {
    let mut g: Vec<Vec<u32>> = Vec::new();
    for n in 0..=limit {
        let after = |taken: usize| g[n - taken].get(taken).copied().unwrap_or(g[n - taken][0]);
        let options: Vec<u32> = (1..=n).map(after).collect();
        let value = |last: usize| {
            let others = options.iter().zip(1..).filter(|(_, taken)| *taken != last).map(|(value, _)| *value);
            let mut is_reached = vec![false; n + 1];
            others.for_each(|value| is_reached[value as usize] = true);
            is_reached.iter().position(|it| !it).expect("there are fewer options than numbers") as u32
        };
        g.push((0..=n).map(value).collect());
    }
    g
}

#[test]
fn mem0_follows_the_rules() {
    let all = values_of_mem0(250);
    for limit in [0, 1, 2, 43, 44, 250] {
        let heaps = &all[..=limit];
        let own: Vec<u32> = heaps.iter().map(|values| values[0]).collect();
        let exceptions =
            heaps.iter().flat_map(|values| values.iter().filter(|value| **value != values[0])).count() as u64;
        let single = own.iter().zip(0..).filter(|(value, _)| own.iter().filter(|other| other == value).count() == 1);
        let (recurring, open) =
            single.map(|(value, heap)| [*value, heap]).partition(|[_, heap]| 2 * *heap as usize <= limit);
        let fingerprint = own.iter().fold(0, |hash, value| mem0::hashed(hash, *value));
        let want = mem0::Found { recurring, open, exceptions, fingerprint };
        assert_eq!(mem0::recurring(limit), Ok(want), "up to {limit}");
    }
}

/// The values that recur, each with its heap, that the heaps up to 500 000 prove: by the example, or here, in more time, if it has not
/// been built.
fn recurring() -> Vec<[u32; 2]> {
    const LIMIT: usize = 500_000;
    let Some(mut example) = example("mem0") else {
        return mem0::recurring(LIMIT).expect("a small limit").recurring;
    };
    let printed = example.arg(LIMIT.to_string()).text();
    let pairs = printed.lines().filter_map(|line| line.split_once(" recurs, by heap "));
    pairs.map(|(value, heap)| [value, heap].map(|number| number.parse().expect("a number"))).collect()
}

/// Both tables on Mem0: the values of the paper are those that the example finds, and the pages have the runs that are kept, of which two
/// kernels made the same.
#[test]
fn the_values_of_mem0_are_those_that_are_found() {
    let (paper, page) = (text_of("../papers/mem0.md"), text_of("README.md"));
    let found = recurring();
    let row = |[value, heap]: &[u32; 2]| format!("| {value} | {heap} | {} |\n", 2 * heap);
    let rows: String = found.iter().map(row).collect();
    assert!(paper.contains(&format!("| ---: | ---: | ---: |\n{rows}\n")), "{rows}");
    let runs: Vec<Value> = files(&folder().join("mem0"), "json").iter().map(|path| load(path)).collect();
    for run in &runs {
        assert_eq!(run["schema"], "nimlanes-solve-2");
        let details = ["oldest", "oldest_heap", "recurring"].map(|name| words(&run["details"][name]));
        let (kernel, [oldest, heap, recurring]) = (words(&run["kernels"]["mex_memory"]), details);
        assert_eq!(recurring, found.len().to_string());
        let row = format!("| `{kernel}` | {} | {heap} | {oldest} |", run["limit"]);
        assert!(page.contains(&row) && paper.contains(&row), "{row}");
    }
    let agree = |a: &Value, b: &Value| a["kernels"] != b["kernels"] && a["details"] == b["details"];
    assert!(runs.iter().any(|run| runs.iter().any(|other| agree(run, other))), "one kernel alone");
}

fn octaves(run: &Value) -> &[Value] {
    run["octaves"].as_array().expect("a list")
}

#[test]
fn kernels_found_the_same_p_positions() {
    let runs = runs("zeros");
    let longest = runs.iter().map(octaves).max_by_key(|octaves| octaves.len()).expect("a run");
    for run in &runs {
        assert_eq!(run["moves"], "squares");
        assert_eq!(octaves(run), &longest[..octaves(run).len()], "{}", run["kernel"]);
    }
    let past = runs.iter().filter(|run| octaves(run).len() > 32).map(|run| run["kernel"].to_string());
    assert!(past.collect::<BTreeSet<_>>().len() > 1, "two kernels went to 2^32");
    let zeros = |power: usize| number(&longest[power]["zeros"]) as f64;
    let last = longest.len() - 1;
    let exponents: Vec<f64> = (20..last).map(|power| (zeros(power + 1) / zeros(power)).log2()).collect();
    let (least, most) = exponents.iter().fold((1.0, 0.0), |(least, most), e| (f64::min(least, *e), f64::max(most, *e)));
    let mean = exponents.iter().sum::<f64>() / exponents.len() as f64;
    let page = text_of("README.md").replace('\n', " ");
    for claim in [
        format!("From 2^20 to 2^{last} it is {mean:.4} on average, between {least:.4} and {most:.4}."),
        format!("There are {} P-positions up to 2^32", zeros(32)),
        format!("and {} up to 2^{last}, as one kernel alone has seen", zeros(last)),
    ] {
        assert!(page.contains(&claim), "{claim}");
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
    for run in runs("zeros") {
        assert_eq!(octaves(&run)[LAST], here, "{}", run["kernel"]);
    }
}

/// The games that were surveyed, as their files have them.
fn surveyed() -> Vec<Value> {
    let (games, runs) = (text_of("octal/games.txt"), runs("octal"));
    let codes = games.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    codes.map(|code| runs.iter().find(|game| game["code"] == code).expect("a run of each game").clone()).collect()
}

#[test]
fn largest_values_of_octal_games_are_what_is_computed_here() {
    const LIMIT: u64 = 5_000;
    for game in surveyed() {
        let code = words(&game["code"]);
        let values = nimlanes::octal_values(code, LIMIT).expect("a small limit");
        let (largest, at) = (number(&game["largest"]), number(&game["largest_at"]));
        let here = values.iter().max().copied().map_or(0, u64::from);
        match values.get(at as usize) {
            Some(value) => assert_eq!((u64::from(*value), here), (largest, largest), "{code}"),
            None => assert!(here < largest, "{code}: {here} up to {LIMIT}, {largest} at {at}"),
        }
    }
}

/// The page has the periods of all games, proved, and all but one were found by two kernels.
#[test]
fn periods_of_octal_games_are_those_of_the_runs() {
    let page = text_of("README.md");
    let mut all = ["octal", "octal/checked", "octal/far"].map(runs).concat();
    all.retain(|game| !game["period"].is_null());
    let games: BTreeSet<&str> = all.iter().map(|game| words(&game["code"])).collect();
    let is_octal = |line: &&str| line.strip_prefix("| `").is_some_and(|code| code.starts_with(['0', '4']));
    assert_eq!(page.lines().filter(is_octal).count(), games.len());
    for code in games {
        let of_game = || all.iter().filter(|game| game["code"] == code);
        let kernels: BTreeSet<String> = of_game().map(|game| game["kernel"].to_string()).collect();
        assert!(kernels.len() > 1 || code == "0.106", "{code}: {kernels:?}");
        for period in of_game().map(|game| &game["period"]) {
            let row = format!("| `{code}` | {} | {} |", period["length"], period["preperiod"]);
            assert!(page.contains(&row) && period["proved"] != false, "{row}");
        }
    }
    assert!(page.contains(&format!("[octal](octal) has the {} octal games", surveyed().len())));
}

/// The theorem of windows, or the classical one, proves the periods that begin early.
#[test]
fn early_periods_of_octal_games_are_proved_here() {
    let selection = Selection::new(Machine::detect());
    let mut early = runs("octal");
    early.retain(|game| game["period"]["preperiod"].as_u64().is_some_and(|heap| heap < 300_000));
    assert_eq!(early.len(), 4);
    for game in early {
        let rules = words(&game["code"]).parse::<Rules>().expect("a game");
        let run = selection.run();
        let proved = Solver::new(&selection, &run).period(&rules, 2_000_000).expect("it ends").expect("a period");
        let kept = ["length", "preperiod"].map(|name| number(&game["period"][name]));
        assert_eq!([proved.period, proved.preperiod], kept, "{rules:?}");
    }
}

/// The page has a row for each largest move, up to one by two kernels that have nothing in common; the first are computed here.
#[test]
fn families_of_sets_are_those_of_the_runs() {
    let page = text_of("README.md");
    let by_move = |folder_name: &str, symmetric: bool| -> BTreeMap<u64, Value> {
        let of_kind = runs(folder_name).into_iter().filter(|run| run["symmetric"] == symmetric);
        of_kind.map(|run| (number(&run["largest_move"]), run)).collect()
    };
    let set = |of: &Value| {
        let moves = of["longest_periods"][0]["moves"].as_array().expect("a set").iter();
        moves.map(Value::to_string).collect::<Vec<_>>().join(" ")
    };
    for (largest, of) in by_move("families", true) {
        let row = format!("| {largest} | {} | {} | {} |", of["longest_period"], set(&of), of["longest_preperiod"]);
        assert!(page.contains(&row), "{row}");
    }
    let (found, checked) = (by_move("families", false), by_move("families/checked", false));
    for (file, name) in [
        ("longest-periods", "longest_period"),
        ("longest-preperiods", "longest_preperiod"),
        ("sums-of-periods", "sum_of_periods"),
        ("distinct-periods", "distinct_periods"),
        ("purely-periodic", "purely_periodic"),
    ] {
        let terms: String = checked.iter().map(|(largest, of)| format!("{largest} {}\n", of[name])).collect();
        let text = text_of(&format!("families/{file}.txt"));
        let listed: String =
            text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
        assert_eq!(listed, terms, "{file}");
        assert!(page.contains(&format!("| [{file}.txt](families/{file}.txt) |")), "{file}");
    }
    let last = |of: &BTreeMap<u64, Value>| *of.last_key_value().expect("a run").0;
    let claim = format!("up to {} by two kernels, up to {} by one alone", last(&checked), last(&found));
    assert!(page.replace('\n', " ").contains(&claim), "{claim}");
    assert!(found.keys().copied().eq(1..=last(&found)) && checked.keys().copied().eq(1..=last(&checked)));
    for (largest, of) in &found {
        let names = [
            "sets",
            "longest_period",
            "sets_with_longest_period",
            "longest_preperiod",
            "distinct_periods",
            "purely_periodic",
            "sum_of_periods",
            "largest_value",
            "longest_periods",
            "longest_preperiods",
        ];
        if let Some(other) = checked.get(largest) {
            assert_ne!(of["kernel"], other["kernel"]);
            names.iter().for_each(|name| assert_eq!(of[name], other[name], "{name}, largest move {largest}"));
        }
        let [sets, longest, with_it, preperiod, distinct, pure, sum, ..] = names.map(|name| of[name].to_string());
        let set = set(of);
        let row = format!("| {largest} | {longest} | {with_it} | {set} | {preperiod} | {distinct} | {pure} | {sum} |");
        assert!(page.contains(&row), "{row}");
        assert_eq!(sets, (1u64 << (largest - 1)).to_string());
        if *largest <= 12 {
            let here = MexFamily::oracle(&Family::with_largest(*largest).expect("a move"));
            let numbers = [here.longest_period(), here.longest_preperiod(), here.pure].map(|n| n.to_string());
            assert_eq!((numbers, here.sum_of_periods().to_string()), ([longest, preperiod, pure], sum));
        }
    }
}

fn survey(into: &Path, options: &str) -> Command {
    let mut command = command(&format!("survey {options}"));
    command.arg("--dir").arg(into);
    command
}

/// Some of the games are periodic and others are stopped; the second time, all are known.
#[test]
fn a_survey_goes_on_where_it_was_stopped() {
    let folder = in_memory();
    let list = folder.path().join("games");
    fs::write(&list, "\u{feff}0.77 # Kayles\n0.07\n# 0.137\n4.3 0.6 grundy\n").expect("a writable folder");
    let (list, into) = (format!("@{}", list.display()), folder.path().join("deep"));
    let lines = |options: &str| survey(&into, options).text().lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines("0.77 --limit 1e5").len(), 1);
    let games = format!("0.06 {list} --seconds 0.3 --limit 1e6");
    let all = lines(&games);
    let ends = [", no period found", "period 12 from heap 71 on, proved: known", "period 34 from heap 53 on, proved"];
    assert!(all.iter().zip(ends).all(|(line, end)| line.ends_with(end)) && all.len() == 6, "{all:#?}");
    let of = |code: &str| load(&into.join(format!("{code}.json")));
    assert!(of("0.06")["content"]["heaps"].as_u64() < Some(1_000_001), "it was stopped");
    assert_eq!(of("0.07")["content"]["heaps"], 1_000_001);
    assert_eq!(of("grundy")["kind"], "octal-game");
    assert!(lines(&games).iter().all(|line| line.ends_with(": known")));
}

/// A longer run replaces results without a proof, and periods that no longer count as such.
#[test]
fn a_longer_survey_corrects_a_shorter_one() {
    let folder = in_memory();
    let of = |code: &str, options: &str| -> (bool, Value) {
        let is_known = survey(folder.path(), &format!("{code} {options}")).text().ends_with(": known\n");
        (is_known, load(&folder.path().join(format!("{code}.json")))["content"].take())
    };
    let observed = |length: u64, preperiod: u64, saltus: u64| json!({ "length": length, "preperiod": preperiod, "saltus": saltus, "proved": false });
    // Observed, then contradicted; not found, then proved; observed, and still observed.
    let proved =
        json!({ "length": 12, "preperiod": 71, "saltus": 0, "proved": true, "theorem": "guy-smith", "heaps": 169 });
    for (code, short, kept, corrected) in [
        ("0.F6", "--limit 1900", observed(43, 604, 32), Value::Null),
        ("0.77", "--limit 150", Value::Null, proved),
        ("0.3F", "--limit 100", observed(6, 0, 3), observed(6, 0, 3)),
    ] {
        let (is_known, first) = of(code, short);
        assert!(!is_known && first["period"] == kept, "{first}");
        assert!(of(code, short) == (true, first.clone()), "{code}");
        let (is_known, second) = of(code, "--limit 4000");
        assert!(!is_known && second["period"] == corrected && second["heaps"] == 4001, "{second}");
        assert!(of(code, short) == (true, second), "{code}: a shorter run corrects nothing");
    }
    // A file of a version that took two rounds for a period.
    of("0.2048", "--limit 300");
    let path = folder.path().join("0.2048.json");
    let mut file = load(&path);
    file["content"]["period"] = observed(104, 42, 32);
    fs::write(&path, file.to_string()).expect("a writable file");
    let (is_known, corrected) = of("0.2048", "--limit 300");
    assert!(!is_known && corrected["period"].is_null(), "{corrected}");
    // A run that was stopped is known until it is given more time.
    let (_, stopped) = of("0.06", "--limit 1e8 --seconds 0.1");
    assert_eq!(stopped["stopped_after"], 0.1);
    assert_eq!(of("0.06", "--limit 1e8 --seconds 0.05"), (true, stopped));
    let (is_known, longer) = of("0.06", "--limit 1e8 --seconds 0.2");
    assert!(!is_known && longer["stopped_after"] == 0.2);
}

/// However its code is written. Lists of codes are read as lists of moves are.
#[test]
fn a_game_has_one_file() {
    let folder = in_memory();
    let list = folder.path().join("games");
    fs::write(&list, "0.77,0.770 .77 # Kayles\nkayles,0.7[0]").expect("a writable folder");
    let (list, into) = (format!("@{}", list.display()), folder.path().join("surveyed"));
    let lines = |codes: &str| survey(&into, &format!("{codes} --limit 1e3")).text();
    assert_eq!(lines(&format!("0.770 {list} 0.7[0],0.77")).lines().count(), 2);
    assert_eq!(contents(&into).into_keys().collect::<Vec<_>>(), ["0.7.json", "0.77.json"]);
    assert!(lines(".77").ends_with(": known\n"));
}

/// If few heaps are rare, no table is needed, and the limit of a table does not apply.
#[test]
fn a_survey_goes_by_windows_where_few_heaps_are_rare() {
    let folder = in_memory();
    let of = |code: &str, options: &str| -> Value {
        let into = folder.path().join(options);
        survey(&into, &format!("{code} {options}")).assert().success();
        load(&into.join(format!("{code}.json")))["content"].take()
    };
    // A busy machine needs longer to see that few heaps are rare.
    let is_window = |found: &Value| found["kernel"].as_str().is_some_and(|name| name.starts_with("window"));
    let mut tries = ["0.5", "4", "30"].iter().map(|seconds| of("0.106", &format!("--seconds {seconds}")));
    let stopped = tries.find(is_window).expect("a kernel with a window is quicker");
    assert!(stopped["heaps"].as_u64() > Some(1 << 17), "{stopped}");
    let rare = ["rare", "last_rare", "mask", "by_position"].map(|name| stopped[name].clone());
    assert_eq!(rare, [json!(15), json!(1103), json!(0xd), json!(true)]);
    let proved = of("0.165", "--seconds 60 --limit 1e12");
    assert_eq!((&proved["heaps"], &proved["period"]["proved"]), (&json!(1_000_000_000_001u64), &json!(true)));
    let table = of("0.054", "--seconds 0.1 --kernel mex_octal=greedy");
    assert_eq!(table["kernel"], "greedy");
}

#[test]
fn a_survey_of_what_is_no_game_gives_one_line() {
    let folder = in_memory();
    let empty = folder.path().join("empty");
    fs::write(&empty, "# none\n").expect("a writable folder");
    survey(folder.path(), &format!("@{}", empty.display())).refused(2, "");
    fs::write(folder.path().join("0.77.json"), "{}").expect("a writable folder");
    survey(folder.path(), "0.77").assert().code(2);
}

/// The games in the files of a folder, by file name, without what differs from run to run.
fn contents(folder: &Path) -> BTreeMap<String, Value> {
    let content = |path: PathBuf| {
        let mut game = load(&path)["content"].take();
        game["seconds"].take();
        (path.file_name().expect("a name").to_string_lossy().into_owned(), game)
    };
    files(folder, "json").into_iter().map(content).collect()
}

/// Shards in folders of their own and in one, each of them twice, against the whole.
#[test]
fn shards_of_a_survey_are_its_parts_and_merge() {
    // The last one is the first again.
    const GAMES: &str = "0.77 0.07 0.137 0.6 0.06 0.16 0.56 4.3 0.156 grundy 0.45 0.64 .77";
    let folder = in_memory();
    let of = |into: &str, shard: &str| {
        let into = folder.path().join(into);
        survey(&into, &format!("{GAMES} --limit 2000 {shard}")).assert().success();
        contents(&into)
    };
    let whole = of("whole", "");
    assert_eq!(whole.len(), 12);
    let mut together = BTreeMap::new();
    for shard in ["--shard 0/3", "--shard 1/3", "--shard 2/3"] {
        let part = of(&shard.replace('/', "of"), shard);
        assert_eq!(part, of(&shard.replace('/', "again"), shard), "{shard}");
        assert!(part.len() >= 2, "{shard}: {}", part.len());
        for (name, found) in part {
            assert_eq!(together.insert(name, found), None, "{shard}");
        }
        of("shared", shard);
    }
    assert_eq!(together, whole);
    assert_eq!(of("shared", ""), whole, "all are known, in whatever shards they were found");
    of("shared", "--shard 999/1000");
}

/// The periods of all sets of three moves, in which the claims of the page are counted; some of the sets against values computed
/// from the rules of the game alone.
#[test]
fn periods_of_sets_are_those_of_the_oracle() {
    let families = command("family --largest-move 3..63 --sets 3 --top 2000 --json").json();
    type Periodic = ([u64; 3], u64, u64);
    let set = |set: &Value| {
        let [period, preperiod] = ["period", "preperiod"].map(|name| number(&set[name]));
        (serde_json::from_value(set["moves"].clone()).expect("moves"), period, preperiod)
    };
    let listed =
        families.as_array().expect("a list").iter().flat_map(|of| of["longest_periods"].as_array().expect("a list"));
    let found: Vec<Periodic> = listed.map(set).collect();
    let (additive, others): (Vec<&Periodic>, Vec<&Periodic>) = found.iter().partition(|([a, b, c], ..)| a + b == *c);
    let pure = additive.iter().filter(|(.., preperiod)| *preperiod == 0).count();
    let sums = |[a, b, c]: [u64; 3]| [a + b, a + c, b + c];
    let equal = others.iter().filter(|(moves, period, _)| sums(*moves).contains(period)).count();
    let divide = others.iter().filter(|(moves, period, _)| sums(*moves).iter().any(|sum| sum % period == 0)).count();
    let page = text_of("README.md").replace('\n', " ");
    let claim = format!(
        "Of the {} sets, {} are additive; all {pure} are purely periodic. Of the other {}, the period is a sum of two moves for \
         {equal}, and is one or divides one for all {divide}.",
        found.len(),
        additive.len(),
        others.len()
    );
    assert!(page.contains(&claim), "{claim}");
    for (moves, period, preperiod) in found.iter().step_by(37) {
        let [period, preperiod] = [*period, *preperiod].map(|number| number as usize);
        let last = preperiod + period + moves[2] as usize;
        let input = Subtraction::new(&MoveSet::list(moves.to_vec()).expect("a set"), last as u64, &Machine::detect());
        let g = MexSubtraction::oracle(&input.expect("small"));
        let repeats = |n: usize, period: usize| g[n] == g[n + period];
        assert!((preperiod..=last - period).all(|n| repeats(n, period)), "{moves:?}");
        assert!(preperiod == 0 || !repeats(preperiod - 1, period), "{moves:?}: it begins before");
        // A shorter period would divide this one.
        let mut divisors = (1..period).filter(|shorter| period % shorter == 0);
        assert!(
            divisors.all(|shorter| !(preperiod..preperiod + period - shorter).all(|n| repeats(n, shorter))),
            "{moves:?}"
        );
    }
}
