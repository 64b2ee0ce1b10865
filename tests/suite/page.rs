//! The page of `report --html`: what is in it, how it is refused, and how it works in a browser.

pub mod browser;

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::Value;
use tempfile::TempDir;

use self::browser::Browser;
use crate::nimlanes;
use crate::program::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const DRIVER: &str = include_str!("page/drive.js");

/// The only address in the page. It is a name; nothing is loaded from there.
const SVG: &str = "http://www.w3.org/2000/svg";

/// A source tree with the measurements of two machines: the newest folder of this one, and some of it as if from another machine.
struct Tree {
    folder: TempDir,
    main: String,
    rows: usize,
}

impl Tree {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        let folders = names(&Path::new(ROOT).join("profiles/data"));
        let measured = folders.into_iter().rfind(|name| !name.ends_with(".json")).expect("measurements");
        let (main, other) = (format!("profiles/data/{measured}"), "profiles/data/2026-01-31-other-lake");
        for measured in [&main, other] {
            fs::create_dir_all(at(measured)).expect("folders");
        }
        for linked in ["src", "profiles/flamegraphs"] {
            symlink(Path::new(ROOT).join(linked), at(linked)).expect("a link");
        }
        let file = |of: &str| Path::new(of).join("measurements.json");
        let text = fs::read_to_string(Path::new(ROOT).join(file(&main))).expect("measurements");
        fs::write(folder.path().join(file(&main)), &text).expect("writable");
        let mut measured: Value = serde_json::from_str(&text).expect("JSON");
        let duels = measured["duels"].as_array_mut().expect("a list");
        // Only one of a duel and its repetition is in the page.
        let mut seen = HashSet::new();
        let of = |duel: &Value| ["operation", "workload", "size", "build"].map(|name| duel[name].to_string());
        duels.retain(|duel| seen.insert((of(duel), duel["rows"][0]["clock"].to_string())));
        let count = |duels: &[Value]| duels.iter().map(|duel| list(duel, "rows").len()).sum::<usize>();
        let all = count(duels);
        duels.retain(|duel| duel["operation"] == "table_scan" && duel["build"] == "default");
        let rows = all + count(duels);
        measured["environment"]["microarchitecture"] = "other-lake".into();
        fs::write(folder.path().join(file(other)), measured.to_string()).expect("writable");
        Tree { folder, main, rows }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn report(&self, args: &[&str]) -> Command {
        let mut command = nimlanes();
        command.current_dir(self.folder.path()).arg("report").args(args);
        command
    }

    /// Writes the page, and returns it.
    fn page(&self, file: &str) -> String {
        self.report(&["--html", file, "--data", &self.main]).assert().success().stderr("");
        fs::read_to_string(self.path(file)).expect("the page")
    }
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

/// The data in a page.
pub fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"text/plain\" id=\"data\">").expect("data");
    let (packed, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_slice(&decompress_to_vec_zlib(&bytes(packed)).expect("packed")).expect("JSON")
}

/// The bytes of a text in base64.
fn bytes(text: &str) -> Vec<u8> {
    let digits = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect::<Vec<char>>();
    let bits =
        text.trim_end_matches('=').chars().map(|c| digits.iter().position(|digit| *digit == c).expect("a digit"));
    let bits: Vec<usize> = bits.flat_map(|bits| (0..6).rev().map(move |place| bits >> place & 1)).collect();
    bits.chunks_exact(8).map(|bits| bits.iter().fold(0, |byte, bit| 2 * byte + *bit as u8)).collect()
}

fn list<'a>(value: &'a Value, field: &str) -> &'a Vec<Value> {
    value[field].as_array().unwrap_or_else(|| panic!("{field} is a list"))
}

/// The kernels of all operations.
fn kernels(data: &Value) -> impl Iterator<Item = &Value> {
    list(data, "operations").iter().flat_map(|operation| list(operation, "kernels"))
}

#[test]
fn a_page_has_every_measurement_and_needs_no_network() {
    let tree = Tree::new();
    let page = tree.page("page.html");
    assert!(page.len() < 6 << 20, "{} bytes", page.len());
    assert!(!page.replace(SVG, "").contains("://"), "an address in the page");
    for mark in ["@POLICY@", "@STYLE@", "@WORKER@", "@SCRIPT@", "@MODULES@", "@DATA@", "@import"] {
        assert!(!page.contains(mark), "{mark}");
    }
    let data = data(&page);
    let names: Vec<&Value> = list(&data, "machines").iter().map(|machine| &machine["name"]).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(names[1], "other-lake");
    assert!(tree.rows > 500 && list(&data, "rows").len() == tree.rows && data["links"] == "");
    // Texts of tables elsewhere are the same here.
    for row in list(&data, "rows") {
        for number in ["ratio", "plain"].map(|name| &row[name]).iter().filter(|number| !number.is_null()) {
            let value = number["value"].as_f64().expect("a number");
            assert_eq!(number["text"], nimlanes::units::ratio(value), "{row}");
        }
    }
    let count = |flag: &str| list(&data, "rows").iter().filter(|row| row[flag] == true).count();
    assert!(count("is_best_plain") > 50 && count("is_best") >= count("is_best_plain"));
}

#[test]
fn links_lead_from_the_page_to_lines_of_source() {
    let tree = Tree::new();
    fs::create_dir_all(tree.path("target/deep")).expect("folders");
    let data = data(&tree.page("target/deep/page.html"));
    assert_eq!(data["links"], "../../");
    let text = |path: &Value| {
        let path = tree.path("target/deep/../..").join(path.as_str().expect("a path"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    for kernel in kernels(&data) {
        let number = kernel["line"].as_u64().unwrap_or_else(|| panic!("{kernel} has no line"));
        let source = text(&kernel["source"]);
        let line = source.lines().nth(number as usize - 1).expect("a line");
        assert!(line.trim_start().starts_with("pub fn run") || line.ends_with(" as run;"), "{kernel}");
    }
    let pictures = kernels(&data).filter(|kernel| !kernel["flamegraph"].is_null());
    assert!(pictures.map(|kernel| text(&kernel["flamegraph"])).filter(|text| text.contains("<svg")).count() > 20);
}

#[test]
fn what_cannot_be_a_page_is_refused_and_nothing_is_overwritten() {
    let tree = Tree::new();
    fs::write(tree.path("old.html"), "old").expect("writable");
    fs::create_dir(tree.path("damaged")).expect("a folder");
    fs::write(tree.path("damaged/measurements.json"), "{").expect("writable");
    let refused = |args: &[&str], code: i32, says: &str| tree.report(args).refused(code, says);
    // The path is checked first: here, there are no measurements either.
    for (file, says) in [("missing/page.html", "cannot write to missing/page.html"), ("src", "cannot write to src")] {
        refused(&["--html", file, "--data", "nothing"], 1, says);
    }
    refused(&["--html", "old.html", "--data", "nothing"], 2, "no data in nothing");
    refused(&["--html", "old.html", "--data", "damaged"], 2, "damaged/measurements.json is not a measurement");
    refused(&["--html", "old.html"], 1, "RESULTS.md");
    for other in ["--quick", "--check", "--again"] {
        refused(&["--html", "old.html", other], 2, "cannot be used with");
    }
    assert_eq!(fs::read_to_string(tree.path("old.html")).expect("the file"), "old");
    assert!(!names(tree.folder.path()).iter().any(|name| name.starts_with(".nimlanes-")), "no temporary file");

    // A folder of another machine that cannot be used is named and left out.
    fs::create_dir(tree.path("profiles/data/2026-01-31-damaged-lake")).expect("a folder");
    fs::write(tree.path("profiles/data/2026-01-31-damaged-lake/measurements.json"), "{").expect("writable");
    let output = tree.report(&["--html", "old.html", "--data", &tree.main]).assert().success().get_output().clone();
    let said = String::from_utf8(output.stderr).expect("text");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("profiles/data/2026-01-31-damaged-lake is left out: "), "{said}");
    assert_eq!(list(&data(&fs::read_to_string(tree.path("old.html")).expect("the page")), "machines").len(), 2);
}

#[test]
#[ignore = "needs a browser: .ci/deep page"]
fn the_page_works_in_a_browser() {
    let tree = Tree::new();
    tree.page("page.html");
    let mut browser = Browser::start(browser::program(), &[]);
    browser.resize(1400, false);
    browser.open(&tree.path("page.html"), "");
    let found = browser.value(DRIVER);
    assert_eq!(list(&found, "failures"), &Vec::<Value>::new());
    assert!(found["checks"].as_u64() > Some(40), "{found}");
    for section in ["measurements", "machines"] {
        browser.pictures(section);
    }
    assert_eq!(browser.errors, [""; 0]);
}
