//! Reports on several machines, side by side.

use std::fs;

use serde_json::{Value, json};

use super::{add, cells, headline, measured, measurements, read, report, write_folder};
use nimlanes_lab::report::data::FILE;

use crate::saved::{duel, failed, load};

/// Measurements of another machine, with these kernels at the published size.
fn elsewhere(microarchitecture: &str, date: &str, rows: &[(&str, f64)]) -> Value {
    let mut saved = duel(&rows.iter().map(|(kernel, ratio)| (*kernel, [*ratio; 3])).collect::<Vec<_>>());
    saved["content"]["size"] = json!(100_000);
    saved["date"] = json!(date);
    saved["environment"]["cpu"] = json!("Another CPU");
    saved["environment"]["microarchitecture"] = json!(microarchitecture);
    saved
}

/// The columns of other machines, and the ratios in them.
fn others(text: &str) -> Vec<&str> {
    let part = text.split("\n## Other machines\n").nth(1).expect("a section");
    [cells(part, "| operation"), cells(part, "| `mex_subtraction`")]
        .iter()
        .flat_map(|cells| &cells[1..])
        .copied()
        .collect()
}

#[test]
fn another_machine_stands_beside_that_of_the_report() {
    let mut own = elsewhere("zen-x", "2026-01-31T12:00:00Z", &[("stamp", 5.0), ("pull_words", 4.0), ("flags", 1.0)]);
    own["content"]["processes"] = json!(5);
    let (root, folder) = measured(&own);
    // As before there were processes, with a kernel that is no longer in the list.
    let mut there = elsewhere(
        "lake",
        "2026-01-30T12:00:00Z",
        &[("gone_lanes", 9.0), ("pull_words", 6.0), ("stamp", 3.0), ("flags", 1.0)],
    );
    let other = "profiles/data/2026-01-30-lake";
    write_folder(&there, &root.path().join(other));
    add(&root, other, "sources", json!({"revision": "0123456789ab", "digests": {}}));

    let output = report(&root, &["--data", folder]).assert().success().get_output().clone();
    assert!(output.stderr.is_empty() && String::from_utf8_lossy(&output.stdout).contains("beside it: lake\n"));
    let text = read(&root, "RESULTS.md");
    assert_eq!(others(&text), ["lake, 2026-01-30, `0123456789ab`", "3.00 (3.00–3.00, 20 rounds)"]);
    report(&root, &["--check"]).assert().success();
    for field in ["ratio", "ratio_high"] {
        there["content"]["rows"][2][field] = json!(3.3);
    }
    add(&root, other, "duels", json!([there["content"]]));
    failed(&mut report(&root, &["--check"]), "is not what");
}

#[test]
fn the_newest_folder_of_each_other_microarchitecture_counts() {
    let (root, folder) = measured(&headline());
    let folders =
        [("b", "lake", "2026-01-01", 2.0), ("a", "lake", "2026-01-02", 3.0), ("c", "cove", "2025-01-01", 4.0)];
    let path = |name: &str| root.path().join("profiles/data").join(name);
    for (name, microarchitecture, date, ratio) in folders {
        let saved = elsewhere(
            microarchitecture,
            &format!("{date}T12:00:00Z"),
            &[("byte_lanes", ratio), ("stamp", 1.0), ("flags", 1.0)],
        );
        write_folder(&saved, &path(name));
    }
    // One of its own machine does not count, however new it is.
    let mut own = headline();
    own["date"] = json!("2099-01-01T12:00:00Z");
    write_folder(&own, &path("d"));
    report(&root, &["--data", folder]).assert().success();
    let text = read(&root, "RESULTS.md");
    let columns = ["cove, 2025-01-01, not recorded", "lake, 2026-01-02, not recorded"];
    assert_eq!(others(&text), [columns, ["4.00 (4.00–4.00, 20 rounds)", "3.00 (3.00–3.00, 20 rounds)"]].concat());
    report(&root, &["--check"]).assert().success();
}

/// As where a hypervisor hides the model of the CPU.
#[test]
fn a_machine_is_named_by_hand() {
    let (root, folder) = measured(&headline());
    let other = "profiles/data/2026-01-30-hidden";
    let said = "GenuineIntel-family6-model167";
    let saved = elsewhere(said, "2026-01-30T12:00:00Z", &[("stamp", 2.0), ("flags", 1.0)]);
    write_folder(&saved, &root.path().join(other));
    for wrong in ["", "Lake", "lake-", "a--b", "../lake"] {
        let output = report(&root, &["--name", wrong]).assert().code(2).get_output().stderr.clone();
        let line = String::from_utf8(output).expect("UTF-8");
        assert!(line.contains("lower-case letters and digits, with hyphens between them"), "{line}");
    }
    for other in [&["--check"][..], &["--data", other]] {
        report(&root, &[other, &["--name", "lake-2"]].concat()).assert().code(2);
    }

    add(&root, other, "given_name", json!("lake-2"));
    report(&root, &["--data", other]).assert().success();
    let text = read(&root, "RESULTS.md");
    let named = format!("- **lake-2, 2026-01-30, not recorded**, named by hand (the CPU gives {said}): ");
    assert!(text.contains(&named), "{text}");
    report(&root, &["--data", folder]).assert().success();
    let text = read(&root, "RESULTS.md");
    assert!(text.contains(&named) && others(&text)[0].starts_with("lake-2, "), "{text}");
    report(&root, &["--check"]).assert().success();
    assert_eq!(load(&root.path().join(other).join(FILE))["environment"]["microarchitecture"], said);

    add(&root, other, "given_name", json!("../lake"));
    report(&root, &["--data", other]).refused(2, "\"../lake\" is no name of a machine");
}

/// Each is named in one line.
#[test]
fn a_folder_that_cannot_be_used_is_left_out_and_not_touched() {
    let (root, folder) = measured(&headline());
    report(&root, &["--data", folder]).assert().success();
    let before = read(&root, "RESULTS.md");
    let other = "profiles/data/2026-01-01-lake";
    let path = root.path().join(other).join(FILE);
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
    fs::create_dir(root.path().join(other)).expect("a writable folder");
    for (text, says) in bad {
        fs::write(&path, &text).expect("a writable folder");
        for command in [["--data", folder].as_slice(), &["--check"]] {
            let output = report(&root, command).assert().success().get_output().clone();
            let line = String::from_utf8(output.stderr).expect("UTF-8");
            assert_eq!(line.lines().count(), 1, "{line}");
            assert!(
                line.starts_with(&format!("nimlanes: {other} is left out: ")) && line.contains(says),
                "{says}: {line}"
            );
        }
        assert_eq!((read(&root, "RESULTS.md"), fs::read_to_string(&path).expect("a file")), (before.clone(), text));
        // As the machine of the report, it is refused, or a draft.
        match says {
            "it is a draft" => drop(report(&root, &["--data", other]).assert().success()),
            says => report(&root, &["--data", other]).refused(2, says.trim_end()),
        }
        assert_eq!(read(&root, "RESULTS.md"), before);
    }
}
