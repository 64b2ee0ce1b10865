//! A report as a user sees it: it is regenerated from its data, and a file that is no measurement gives one clear line.

mod machines;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Deref;
use std::path::Path;

use nimlanes::cores::mex::subtraction::MexSubtraction;
use nimlanes::lab::clock::utc_now;
use nimlanes::lab::environment::{Build, Environment};
use nimlanes::machine::Machine;
use nimlanes_lab::files::saved::{entries, write_json};
use nimlanes_lab::report::data::sources::{Changed, Sources};
use nimlanes_lab::report::data::{Data, FILE};
use nimlanes_lab::report::tables::MachineReport;
use nimlanes_lab::report::{FOLDERS, folder, list};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Command, Folder};
use crate::saved::{duel, load};

/// A duel as `compare --save` kept it is one of a report.
#[test]
fn a_kept_duel_is_read() {
    let mut saved = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats/duel-1.json"));
    assert!(Tree::of(&saved).made("RESULTS.md").contains("zen5"));
    saved["content"]["rows"][0]["kernel"] = "<img>".into();
    Tree::of(&saved).report(DATA).refused(2, "\"<img>\" is no name");
}

/// A source tree to make a report in: a folder that passes for one.
struct Tree(Folder);

impl Deref for Tree {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.0
    }
}

/// Where the measurements of its report are, and the option that names them.
const FOLDER: &str = "profiles/data/2026-01-31-zen4";
const DATA: &str = "--data profiles/data/2026-01-31-zen4";

impl Tree {
    fn new() -> Self {
        let root = Folder::new();
        fs::create_dir_all(root.path("src/cores")).expect("a folder within it");
        Tree(root)
    }

    /// One with a saved duel.
    fn of(saved: &Value) -> Self {
        let tree = Tree::new();
        tree.measured(FOLDER, saved);
        tree
    }

    /// Has the measurements of a saved duel in a folder.
    fn measured(&self, folder: &str, saved: &Value) {
        self.put(&format!("{folder}/{FILE}"), &format!("{:#}\n", measurements(saved)));
    }

    /// Adds measurements of another kind to those in a folder.
    fn add(&self, folder: &str, kind: &str, content: Value) {
        let file = format!("{folder}/{FILE}");
        let mut measured = load(&self.path(&file));
        measured[kind] = content;
        self.put(&file, &format!("{measured:#}\n"));
    }

    fn report(&self, options: &str) -> Command {
        self.run(&format!("report {options}"))
    }

    fn succeeds(&self, options: &str) {
        self.report(options).assert().success();
    }

    /// A file of the report.
    fn made(&self, path: &str) -> String {
        self.succeeds(DATA);
        self.read(path)
    }
}

/// Measurements of a report: a saved duel.
fn measurements(saved: &Value) -> Value {
    json!({
        "schema": "nimlanes-measurements-3",
        "dates": [saved["date"], saved["date"]],
        "environment": saved["environment"],
        "draft": false,
        "sources": null,
        "duels": [saved["content"]],
        "games": [],
        "far": [],
        "ceilings": [],
        "needs": [],
        "done": [],
    })
}

/// A duel at the published size, between these kernels.
fn published(kernels: &[(&str, [f64; 3])]) -> Value {
    let mut saved = duel(kernels);
    saved["content"]["size"] = json!(100_000);
    saved
}

/// One that fills every part of the report that uses duels.
fn headline() -> Value {
    published(&[("stamp", [4.9, 5.0, 5.1]), ("flags", [1.0, 1.0, 1.0])])
}

/// The same at other sizes.
fn of_sizes(sizes: &[u64]) -> Value {
    let of_size = |size: &u64| {
        let mut duel = headline()["content"].take();
        duel["size"] = json!(size);
        duel
    };
    sizes.iter().map(of_size).collect()
}

/// The cells of the first line of a text that has this beginning.
fn cells<'t>(text: &'t str, beginning: &str) -> Vec<&'t str> {
    let line = text.lines().find(|line| line.starts_with(beginning));
    let line = line.unwrap_or_else(|| panic!("no line begins with {beginning} in {text}"));
    line.trim_matches('|').split('|').map(str::trim).collect()
}

#[test]
fn a_report_is_regenerated_from_its_data_alone() {
    let tree = Tree::of(&headline());
    // 0 is a valid size, but a logarithmic axis cannot show it.
    tree.add(FOLDER, "duels", of_sizes(&[0, 1000, 100_000]));
    let text = tree.made("RESULTS.md");
    for part in ["`stamp` takes 80.0", "## Caveats", "](profiles/results/mex_subtraction.md)"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let page = tree.read(PAGE);
    for link in ["[sources](../../src/cores/mex/subtraction)", "(../../profiles/charts/mex_subtraction-sizes.svg)"] {
        assert!(page.contains(link), "{link} is missing in {page}");
    }
    let chart = tree.read(CHART);
    assert!(chart.starts_with("<svg") && chart.len() < 100_000, "{} bytes", chart.len());
    assert!(!tree.path("README.md").exists());
    tree.succeeds("--check");

    // Text outside of the marks is kept; edits inside are reverted.
    let edited = text.replace("# Results", "# Results, with a word before them").replace("takes 80.0", "takes 8.00");
    tree.put("RESULTS.md", &edited);
    let says = format!("RESULTS.md is not what {FOLDER} gives (first difference at line");
    tree.report("--check").refused(1, &says);
    assert_eq!(tree.made("RESULTS.md"), text.replace("# Results", "# Results, with a word before them"));

    // Pages and charts are written whole.
    for (path, edited) in [(PAGE, format!("A word.\n{page}")), (PAGE, page + "A word.\n"), (CHART, "<svg/>".to_owned())]
    {
        tree.put(path, &edited);
        tree.report("--check").refused(1, &format!("{path} is not what"));
        tree.succeeds(DATA);
        tree.succeeds("--check");
    }
    fs::remove_file(tree.path(PAGE)).expect("a writable folder");
    tree.report("--check").refused(1, &format!("{PAGE} is not what"));
}

/// The page of the operation of [`headline`].
const PAGE: &str = "profiles/results/mex_subtraction.md";
const CHART: &str = "profiles/charts/mex_subtraction-sizes.svg";

/// Also those that are slower than a kernel before them.
#[test]
fn the_ablation_has_every_kernel_that_was_timed() {
    let kernels = [
        ("byte_lanes", 8.0),
        ("gone_lanes", 5.2),
        ("pull_words", 5.1),
        ("stamp", 5.0),
        ("flags", 1.0),
        ("bit_array", 0.9),
    ];
    let page = Tree::of(&published(&kernels.map(|(kernel, ratio)| (kernel, [ratio; 3])))).made(PAGE);
    let ideas: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(ideas, ["flags", "bit_array", "stamp", "pull_words", "byte_lanes"], "{page}");
    assert!(page.contains(" Gone since: `gone_lanes` 76.9.\n"), "{page}");
    assert_eq!(cells(&page, "| `pull_words`: ").last(), Some(&"1.02 (1.02–1.02)"));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn an_idea_at_several_tiers_is_a_row_of_the_ablation() {
    let kernels =
        [("byte_lanes_avx512", 10.0), ("byte_lanes_avx2", 8.0), ("byte_lanes", 4.0), ("stamp", 2.0), ("flags", 1.0)];
    let mut saved = published(&kernels.map(|(kernel, ratio)| (kernel, [ratio; 3])));
    for (row, tier) in ["avx512", "avx2"].into_iter().enumerate() {
        saved["content"]["rows"][row]["tier"] = json!(tier);
    }
    let page = Tree::of(&saved).made(PAGE);
    assert_eq!(cells(&page, "| idea")[1..5], ["SSE2", "AVX2", "AVX-512", "cycles"]);
    let row = cells(&page, "| `byte_lanes`: ");
    assert_eq!(row[1..], ["100", "50.0", "40.0", "–", "5.00 (5.00–5.00)"]);
}

/// No fixed difference decides.
#[test]
fn kernels_tie_if_their_ranges_overlap() {
    let ties = |stamp: [f64; 3]| {
        let saved = published(&[("byte_lanes", [4.99, 5.0, 5.01]), ("stamp", stamp), ("flags", [1.0; 3])]);
        Tree::of(&saved).made(PAGE).contains("It ties with `stamp`.")
    };
    assert!(!ties([4.96, 4.97, 4.98]));
    assert!(ties([3.0, 4.5, 4.995]));
}

/// It is quicker than all exact kernels, and yet stands below them.
#[test]
fn an_observed_kernel_is_not_the_best() {
    let mut saved =
        duel(&[("window_tree", [89.0, 90.0, 91.0]), ("automaton", [4.9, 5.0, 5.1]), ("bit_rows", [1.0; 3])]);
    let content = &mut saved["content"];
    (content["operation"], content["workload"]) = (json!("occupancy"), json!("proportionate"));
    (content["size"], content["baseline"]) = (json!(10_000_000), json!("bit_rows"));
    content["rows"][0]["claim"] = json!("observed");
    let text = Tree::of(&saved).made("profiles/results/occupancy.md");
    let (exact, observed) = text.split_once("Observed, not proved").expect("a table of observed kernels");
    let last = |beginning| *cells(observed, beginning).last().expect("a column");
    assert!(last("| idea").starts_with("ratio to `automaton` (range, 20 rounds)"), "{observed}");
    assert!(last("| `window_tree`: ").starts_with("18.0 ("), "{observed}");
    assert!(exact.contains("| `automaton`: ") && !exact.contains("window_tree"), "{exact}");
}

/// Adds what a kernel needs and what the machine could do at best.
fn add_limits(tree: &Tree) {
    let needs = json!({ "operation": "mex_subtraction", "kernel": "stamp", "needs": { "stores": 2.0 } });
    let stores =
        json!({ "kind": "stores", "name": "l1", "unit": "store", "bytes": 16384, "tier": "portable", "ns": 0.5 });
    tree.add(FOLDER, "needs", json!([needs]));
    tree.add(FOLDER, "ceilings", json!([stores]));
}

#[test]
fn a_kernel_has_its_share_of_the_limit() {
    let tree = Tree::of(&headline());
    assert!(tree.made("RESULTS.md").contains("No kernel states a bound."));
    add_limits(&tree);
    let text = tree.made("RESULTS.md");
    assert!(text.contains("Bound of `stamp`: 2.00 stores (1.00\u{a0}ns) per heap, 1 % of its 80.0\u{a0}ns."), "{text}");
    tree.succeeds("--check");
    tree.succeeds(&format!("{DATA} --html page.html"));
    let page = crate::page::data(&tree.read("page.html"));
    let row = &page["rows"][0];
    assert_eq!((&row["limit"]["text"], &row["needs"]), (&json!("1 %"), &json!("2.00 stores (1.00\u{a0}ns)")), "{row}");
}

#[test]
fn a_draft_stays_below_the_target_folder() {
    let tree = Tree::of(&headline());
    tree.put("README.md", "Mine.");
    tree.put("RESULTS.md", "Mine, too.");
    tree.add(FOLDER, "draft", json!(true));
    add_limits(&tree);
    let output = tree.report(DATA).text();
    assert!(output.starts_with("target/draft/RESULTS.md is written"), "{output}");
    assert_eq!([tree.read("README.md"), tree.read("RESULTS.md")], ["Mine.", "Mine, too."]);
    assert!(!tree.path("profiles/charts").exists() && !tree.path("profiles/tables").exists());

    let text = tree.read("target/draft/RESULTS.md");
    for part in ["**Draft**", "](../../profiles/tables/limits.md)", "](profiles/results/mex_subtraction.md)"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    let page = tree.read(&format!("target/draft/{PAGE}"));
    assert!(page.contains("](../../../../src/cores/mex/subtraction)"), "{page}");
    tree.succeeds(&format!("--check {DATA}"));
}

/// The file of the kernel `stamp`.
const STAMP: &str = "src/cores/mex/subtraction/heap_by_heap.rs";

/// The source and the machine code that the program is made of.
fn made_of() -> Sources {
    let here = Sources::here(None).expect("a source tree");
    assert!(here.digests.contains_key("src/cores/table_scan/bit_rows.rs"));
    here
}

/// Puts the source of `stamp` into a tree, with an edit.
fn put_stamp(tree: &Tree, edit: [&str; 2]) {
    let text = fs::read_to_string(STAMP).expect("a kernel");
    assert!(text.contains(edit[0]), "{text}");
    tree.put(STAMP, &text.replace(edit[0], edit[1]));
}

#[test]
fn kernels_that_changed_since_they_were_measured_are_named() {
    let tree = Tree::of(&headline());
    let digests = json!({"src/cores/mex/by_another_name.rs": made_of().digests[STAMP]});
    tree.add(FOLDER, "sources", json!({"revision": "0123456789ab", "digests": digests}));
    // The file had another name. A comment and a prediction are no change.
    for edit in [["", ""], ["pub fn run", "// Why.\npub fn run"], ["ns: pair", "ns: 2.0 * pair"]] {
        put_stamp(&tree, edit);
        assert!(!tree.report(DATA).text().contains("changed since"), "{edit:?}");
        assert!(tree.read("RESULTS.md").contains(", revision `0123456789ab`. "));
    }

    // Whoever changes a kernel need not touch the report.
    put_stamp(&tree, ["pub fn run", "const MORE: u8 = 1;\npub fn run"]);
    let checked = tree.report("--check").text();
    let changed = checked.lines().find(|line| line.starts_with("changed since they were measured: "));
    assert!(changed.is_some_and(|line| line.ends_with("mex_subtraction=stamp")), "{checked}");
    tree.succeeds(&format!("{DATA} --html page.html"));
    let page = crate::page::data(&tree.read("page.html"));
    let kernels = page["operations"].as_array().expect("a list").iter();
    let mut kernels = kernels.flat_map(|operation| operation["kernels"].as_array().expect("a list"));
    assert!(kernels.any(|kernel| kernel["name"] == "stamp" && kernel["changed"] == json!([0])));
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn machine_code_decides_in_an_equal_build_and_else_the_source() {
    let (same, this) = (made_of(), Build::of_this());
    let other_code = |kernel: &str| {
        let code = same.code.iter().map(|(name, digest)| (name.clone(), digest.clone()));
        let code = code.chain([(format!("mex_subtraction={kernel}"), "0".to_owned())]).collect();
        Sources { code, ..same.clone() }
    };
    let other_source = Sources { digests: BTreeMap::new(), ..same.clone() };
    let stamp = nimlanes::kernel_named::<MexSubtraction>("stamp").expect("it is listed");
    for (measured, by_code, by_source) in
        [(&other_source, false, true), (&other_code("stamp"), true, false), (&other_code("flags"), false, false)]
    {
        for (rustc, has_changed) in [(this.rustc.as_str(), by_code), ("rustc 1.2.3", by_source)] {
            let mut build = this.clone();
            build.rustc = rustc.to_owned();
            let changed = Changed::since(measured, &build).expect("readable");
            assert_eq!(changed.has("mex_subtraction", stamp.def()), has_changed, "{rustc}");
        }
    }
    // The machine code is the same in this program and in that of the report, where it has other addresses.
    let tree = Tree::of(&headline());
    put_stamp(&tree, ["", ""]);
    tree.add(FOLDER, "sources", json!(other_source));
    let text = tree.report(DATA).text();
    assert!(!text.contains("measured: mex_subtraction=stamp"), "{text}");
}

#[test]
fn the_readme_has_a_digest() {
    let mut saved = headline();
    saved["content"]["rows"][0]["rounds"] = json!(7);
    let tree = Tree::of(&saved);
    let marks = "<!-- made by `nimlanes report`: do not edit -->\n<!-- end of what `nimlanes report` made -->\n";
    tree.put("README.md", &format!("Mine.\n{marks}Mine, too.\n"));
    let text = tree.made("README.md");
    assert!(text.starts_with("Mine.\n<!-- made") && text.ends_with("-->\nMine, too.\n"), "{text}");
    let row = text.lines().find(|line| line.contains("`mex_subtraction`")).expect("a row of the operation");
    assert!(row.ends_with("| 1.00 (1.00–1.00, 7 rounds: few) |"), "{text}");
    assert!(text.contains(", 2026-01-31, revision not recorded. "), "{text}");
    tree.succeeds("--check");
    tree.put("README.md", &text.replace("80.0", "8.0"));
    tree.report("--check").refused(1, "README.md is not what");
    tree.put("README.md", "No marks.");
    tree.report(DATA).refused(1, "README.md has no lines");
}

/// The committed files are those that a report writes.
#[test]
fn committed_measurements_are_one_file_for_each_machine() {
    let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/data")).expect("measurements");
    for committed in folders.map(|entry| entry.expect("an entry").path()) {
        assert_eq!(fs::read_dir(&committed).expect("a folder").count(), 1, "{}", committed.display());
        let folder = TempDir::new().expect("a folder");
        let [old, new] = [committed.join(FILE), folder.path().join(FILE)];
        write_json(&new, &Data::of_file(&old).expect("measurements")).expect("writable");
        let text = |path: &Path| fs::read_to_string(path).expect("a file");
        assert!(text(&old) == text(&new), "{}", committed.display());
    }
}

/// As it would write its files there.
#[test]
fn a_report_elsewhere_is_refused() {
    let (tree, elsewhere) = (Tree::of(&headline()), TempDir::new().expect("a folder"));
    let data = format!("--data {}", tree.path(FOLDER).display());
    for options in [&data, &format!("{data} --check"), "--check", "--quick"] {
        let says = "a report is made in the source tree of nimlanes";
        tree.report(options).current_dir(elsewhere.path()).refused(1, says);
    }
    assert_eq!(fs::read_dir(elsewhere.path()).expect("a folder").count(), 0);
    tree.report(&format!("{data} --html page.html")).current_dir(elsewhere.path()).assert().success();
}

#[test]
fn what_was_measured_today_stays_until_all_is_measured_again() {
    let tree = Tree::new();
    let folder = format!("target/draft/profiles/data/{}-lake", &utc_now()[..10]);
    tree.measured(&folder, &headline());
    let file = format!("{folder}/{FILE}");
    let old = tree.read(&file);
    let mut child = tree.report("--quick --again --name lake").begin();
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    assert!(lines.any(|line| line.expect("text").starts_with("2/")), "a second measurement begins");
    child.kill().and_then(|()| child.wait()).expect("it ends");
    assert_eq!(tree.read(&file), old);
    let begun = Data::of_file(&tree.path(&folder).join("measurements.part")).expect("what is done of the new ones");
    assert_eq!((begun.done.len(), begun.given_name.as_deref()), (1, Some("lake")));
}

#[test]
fn a_report_without_usable_data_is_refused_and_the_old_one_kept() {
    let tree = Tree::of(&headline());
    tree.report("--check").refused(1, "RESULTS.md has no lines");
    tree.report("--data profiles/none").refused(2, "no data in profiles/none");
    let before = tree.made("RESULTS.md");
    let file = format!("{FOLDER}/{FILE}");
    let whole = tree.read(&file);
    tree.put(&file, &whole[..whole.len() / 2]);
    tree.report(DATA).refused(2, "measurements.json is not a measurement saved by nimlanes: EOF");
    assert_eq!(tree.read("RESULTS.md"), before);
    tree.put(&file, &whole);
    tree.put("RESULTS.md", "# Typed by hand\n");
    tree.report(DATA).refused(1, "RESULTS.md has no lines");
    assert_eq!(tree.read("RESULTS.md"), "# Typed by hand\n");
}

/// Charts cannot show zeros and infinities, and implausible numbers are not measurements.
#[test]
fn an_implausible_number_is_refused_with_its_file() {
    let tree = Tree::of(&headline());
    let file = format!("{FOLDER}/{FILE}");
    let whole = tree.read(&file);
    for (field, number) in [
        ("ratio", "0.0"),
        ("ratio", "-1.0"),
        ("ratio", "NaN"),
        ("ratio", "null"),
        ("ratio", "1e999"),
        ("ratio", "1e300"),
        ("ratio", "5e-324"),
        ("ratio_low", "0"),
        ("ratio_high", "-0.0"),
        ("median_seconds", "0.0"),
        ("throughput", "-1"),
    ] {
        let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        let line = lines.iter_mut().find(|line| line.contains(&format!("\"{field}\":"))).expect("a row");
        *line = format!("\"{field}\": {number}{}", if line.ends_with(',') { "," } else { "" });
        tree.put(&file, &lines.join("\n"));
        tree.report(DATA).refused(2, "measurements.json is not a measurement saved by nimlanes: ");
    }
}

/// As if the kernel had been added after the measurements.
#[test]
fn a_kernel_without_measurements_is_in_no_table() {
    let text = |data: &Data| {
        let report = MachineReport::new(data, None, &[]);
        let pages: String = report.pages().map(|(_, page)| page).collect();
        (report.results() + &report.digest() + &pages, report.unmeasured())
    };
    let (operation, kernel) = ("mex_subtraction", "byte_lanes_avx512");
    let (result, pair) = (format!("`{kernel}` takes "), format!("{operation}={kernel}"));
    let folders = entries(Path::new(FOLDERS)).expect("readable").into_iter().filter(|path| path.is_dir());
    let mut all = folders.map(|folder| Data::read(&folder).expect("measurements"));
    let mut data = all.find(|data| text(data).0.contains(&result)).expect("one with the kernel");
    assert!(!text(&data).1.contains(&pair));
    for duel in data.duels.iter_mut().filter(|duel| duel.case.operation == operation) {
        duel.rows.retain(|row| row.kernel != kernel);
        duel.skipped.retain(|row| row.kernel != kernel);
    }
    let (text, unmeasured) = text(&data);
    assert!(!text.contains(&result) && unmeasured.contains(&pair));
}

#[test]
fn a_microarchitecture_without_a_name_still_names_a_folder() {
    let mut environment = Environment::detect(&Machine::detect());
    environment.microarchitecture = "GenuineIntel-family6-model200".to_owned();
    assert!(!environment.is_named());
    let folder = |draft| folder(&environment.microarchitecture, "2026-01-31T12:00:00Z", draft);
    assert_eq!(folder(false), Path::new("profiles/data/2026-01-31-genuineintel-family6-model200"));
    assert_eq!(folder(true), Path::new("target/draft/profiles/data/2026-01-31-genuineintel-family6-model200"));
    environment.microarchitecture = "zen4".to_owned();
    assert!(environment.is_named());
}

#[test]
fn of_many_names_a_list_has_the_first() {
    let of = |count: usize| list(["a", "b", "c", "d", "e", "f"][..count].iter());
    assert_eq!([0, 1, 5, 6].map(of), ["", "a", "a, b, c, d, e", "6, such as a, b, c"]);
}

#[test]
fn files_are_compared_by_their_content() {
    let of = |files: &[[&str; 2]]| {
        let digests = files.iter().map(|file| file.map(str::to_owned)).map(|[path, digest]| (path, digest)).collect();
        Sources { revision: None, digests, code: BTreeMap::new() }
    };
    let measured = of(&[["a.rs", "1"], ["b.rs", "2"], ["c.rs", "3"]]);
    let now = of(&[["b.rs", "4"], ["moved/a.rs", "1"], ["c.rs", "2"], ["new.rs", "5"]]);
    assert_eq!(measured.lacks(&now).collect::<Vec<_>>(), ["b.rs", "new.rs"]);
}
