//! Reports on several machines, side by side.

use serde_json::{Value, json};

use super::{DATA, Tree, cells, headline, measurements, published};
use nimlanes_lab::report::data::FILE;

use crate::saved::load;

/// Measurements of another machine, with these kernels at the published size.
fn elsewhere(microarchitecture: &str, date: &str, rows: &[(&str, f64)]) -> Value {
    let mut saved = published(&rows.iter().map(|(kernel, ratio)| (*kernel, [*ratio; 3])).collect::<Vec<_>>());
    saved["date"] = json!(date);
    saved["environment"]["cpu"] = json!("Another CPU");
    saved["environment"]["microarchitecture"] = json!(microarchitecture);
    saved
}

/// The columns of other machines, and the ratios in them.
fn others(text: &str) -> Vec<&str> {
    let part = text.split("\n## Other machines\n").nth(1).expect("a section");
    ["| operation", "| `mex_subtraction`"].iter().flat_map(|row| cells(part, row).split_off(1)).collect()
}

#[test]
fn another_machine_stands_beside_that_of_the_report() {
    let mut own = elsewhere("zen-x", "2026-01-31T12:00:00Z", &[("stamp", 5.0), ("pull_words", 4.0), ("flags", 1.0)]);
    own["content"]["processes"] = json!(5);
    let tree = Tree::of(&own);
    // As before there were processes, with a kernel that is no longer in the list.
    let mut there = elsewhere(
        "lake",
        "2026-01-30T12:00:00Z",
        &[("gone_lanes", 9.0), ("pull_words", 6.0), ("stamp", 3.0), ("flags", 1.0)],
    );
    let other = "profiles/data/2026-01-30-lake";
    tree.measured(other, &there);
    tree.add(other, "sources", json!({"revision": "0123456789ab", "digests": {}}));

    tree.report(DATA).assert().success().stderr("").prints("beside it: lake\n");
    let text = tree.read("RESULTS.md");
    assert_eq!(others(&text), ["lake, 2026-01-30, `0123456789ab`", "3.00 (3.00–3.00, 20 rounds)"]);
    tree.succeeds("--check");
    for field in ["ratio", "ratio_high"] {
        there["content"]["rows"][2][field] = json!(3.3);
    }
    tree.add(other, "duels", json!([there["content"]]));
    tree.report("--check").refused(1, "is not what");
}

#[test]
fn the_newest_folder_of_each_other_microarchitecture_counts() {
    let tree = Tree::of(&headline());
    for (name, microarchitecture, date, ratio) in
        [("b", "lake", "2026-01-01", 2.0), ("a", "lake", "2026-01-02", 3.0), ("c", "cove", "2025-01-01", 4.0)]
    {
        let rows = [("byte_lanes", ratio), ("stamp", 1.0), ("flags", 1.0)];
        let saved = elsewhere(microarchitecture, &format!("{date}T12:00:00Z"), &rows);
        tree.measured(&format!("profiles/data/{name}"), &saved);
    }
    // One of its own machine does not count, however new it is.
    let mut own = headline();
    own["date"] = json!("2099-01-01T12:00:00Z");
    tree.measured("profiles/data/d", &own);
    let text = tree.made("RESULTS.md");
    let columns = ["cove, 2025-01-01, not recorded", "lake, 2026-01-02, not recorded"];
    assert_eq!(others(&text), [columns, ["4.00 (4.00–4.00, 20 rounds)", "3.00 (3.00–3.00, 20 rounds)"]].concat());
    tree.succeeds("--check");
}

/// As where a hypervisor hides the model of the CPU.
#[test]
fn a_machine_is_named_by_hand() {
    let tree = Tree::of(&headline());
    let other = "profiles/data/2026-01-30-hidden";
    let said = "GenuineIntel-family6-model167";
    tree.measured(other, &elsewhere(said, "2026-01-30T12:00:00Z", &[("stamp", 2.0), ("flags", 1.0)]));
    for wrong in ["''", "Lake", "lake-", "a--b", "../lake"] {
        let says = "lower-case letters and digits, with hyphens between them";
        tree.report(&format!("--name {wrong}")).refused(2, says);
    }
    for options in ["--check", &format!("--data {other}")] {
        tree.report(&format!("{options} --name lake-2")).refused(2, "--name");
    }

    tree.add(other, "given_name", json!("lake-2"));
    tree.succeeds(&format!("--data {other}"));
    let text = tree.read("RESULTS.md");
    let named = format!("- **lake-2, 2026-01-30, not recorded**, named by hand (the CPU gives {said}): ");
    assert!(text.contains(&named), "{text}");
    let text = tree.made("RESULTS.md");
    assert!(text.contains(&named) && others(&text)[0].starts_with("lake-2, "), "{text}");
    tree.succeeds("--check");
    assert_eq!(load(&tree.path(other).join(FILE))["environment"]["microarchitecture"], said);

    tree.add(other, "given_name", json!("../lake"));
    tree.report(&format!("--data {other}")).refused(2, "\"../lake\" is no name of a machine");
}

/// Each is named in one line.
#[test]
fn a_folder_that_cannot_be_used_is_left_out_and_not_touched() {
    let tree = Tree::of(&headline());
    let before = tree.made("RESULTS.md");
    let other = "profiles/data/2026-01-01-lake";
    let file = format!("{other}/{FILE}");
    let saved = elsewhere("lake", "2026-01-01T12:00:00Z", &[("stamp", 5.0), ("flags", 1.0)]);
    let good = measurements(&saved);
    let whole = good.to_string();
    let with = |pointer: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).expect("a field") = value;
        bad.to_string()
    };
    let bad = [
        (whole[..whole.len() / 2].to_owned(), "is not a measurement saved by nimlanes: EOF while parsing"),
        ("{\"name\": \"foreign\"}".to_owned(), "missing field `schema`"),
        (
            with("/schema", json!("nimlanes-measurements-4")),
            "not \"nimlanes-measurements-3\": it is of a newer nimlanes",
        ),
        (with("/schema", json!("nimlanes-solve-1")), "\"nimlanes-solve-1\", not \"nimlanes-measurements-3\"\n"),
        (with("/draft", json!(true)), "it is a draft"),
        (with("/duels", json!([])), "no data in profiles/data/2026-01-01-lake"),
        (with("/dates/0", json!("yesterday")), "its date is \"yesterday\""),
        (with("/environment/microarchitecture", json!("../lake")), "\"../lake\" is no microarchitecture"),
        (with("/environment/cpu", json!("<img>")), "\"<img>\" is no plain text"),
        (with("/duels/0/baseline", json!("stamp|")), "\"stamp|\" is no name"),
        (with("/duels/0/baseline", json!("gone")), "its baseline gone has no times"),
        (with("/duels/0/rows/0/median_seconds", json!(0.05)), "not in the order of their times"),
        (with("/duels/0/rows/0/median_seconds", json!(0.001)), "stamp has a ratio of 5, which its time contradicts"),
        (with("/duels/0/rows/0/ratio_low", json!(6.0)), "stamp has a ratio of 5 outside of its range"),
        (with("/duels/0/rows/0/throughput", json!(1e5)), "stamp did another amount of work"),
        (with("/duels/0/rows/0/clock", json!("wall")), "stamp is timed by the wall clock"),
        (with("/duels/0/rows/0/rounds", json!(0)), "stamp was timed in no round"),
        (with("/duels/0/rows/1/median_seconds", json!(0.0)), "a measured number is 0.0"),
    ];
    for (text, says) in bad {
        tree.put(&file, &text);
        let left_out = format!("nimlanes: {other} is left out: ");
        for options in [DATA, "--check"] {
            let ended = tree.report(options).assert().success().says(&left_out).says(says);
            assert_eq!(String::from_utf8_lossy(&ended.get_output().stderr).lines().count(), 1, "{says}");
        }
        assert_eq!([tree.read("RESULTS.md"), tree.read(&file)], [before.clone(), text]);
        // As the machine of the report, it is refused, or a draft.
        match says {
            "it is a draft" => tree.succeeds(&format!("--data {other}")),
            says => tree.report(&format!("--data {other}")).refused(2, says.trim_end()),
        }
        assert_eq!(tree.read("RESULTS.md"), before);
    }
}
