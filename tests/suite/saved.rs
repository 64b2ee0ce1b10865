//! Duels that are saved, and commands that read them.

use std::fs;
use std::path::Path;

use nimlanes::lab::clock::utc;
use nimlanes::lab::environment::Environment;
use nimlanes::machine::Machine;
use nimlanes_lab::files::saved::is_date;
use serde_json::{Value, json};

use crate::program::command;

fn row(kernel: &str, ratio: [f64; 3]) -> Value {
    json!({
        "kernel": kernel,
        "tier": "portable",
        "clock": "thread",
        "threads": 1,
        "rounds": 20,
        "median_seconds": 0.04 / ratio[1],
        "ratio": ratio[1],
        "ratio_low": ratio[0],
        "ratio_high": ratio[2],
        "throughput": 1e5 * ratio[1] / 0.04,
        "unit": "heap",
    })
}

/// A saved duel with these kernels, each with its ratio between a low and a high one.
pub fn duel(rows: &[(&str, [f64; 3])]) -> Value {
    let rows: Vec<Value> = rows.iter().map(|(kernel, ratio)| row(kernel, *ratio)).collect();
    json!({
        "schema": "nimlanes-saved-1",
        "kind": "duel",
        "date": "2026-01-31T12:00:00Z",
        "environment": Environment::detect(&Machine::detect()),
        "content": {
            "operation": "mex_subtraction",
            "workload": "squares",
            "size": 100,
            "build": "default",
            "baseline": "flags",
            "rows": rows,
            "skipped": [],
        },
    })
}

pub fn load(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON")
}

/// Inputs go by what they are: a file by its moves, a list by the set.
#[test]
fn an_input_is_known_by_its_moves() {
    let folder = tempfile::tempdir().expect("a folder");
    let [moves, saved] = ["moves.txt", "saved.json"].map(|name| folder.path().join(name));
    let file = format!("@{}", moves.display());
    let name = |workload: &str| {
        let compare = "compare mex_subtraction --size 100 --kernels flags,stamp --seconds 0.1";
        command(&format!("{compare} --workload {workload} --save {}", saved.display())).assert().success();
        load(&saved)["content"]["workload"].as_str().expect("a name").to_owned()
    };
    fs::write(&moves, "1 2\n3").expect("a writable folder");
    assert_eq!([name(&file), name("1,2,3")], ["1..3"; 2]);
    fs::write(&moves, "1 2 4").expect("a writable folder");

    let into = folder.path().join("pictures");
    let profile = "profile mex_subtraction --kernel stamp --size 100 --seconds 0.1 --sampler pprof --workload";
    command(&format!("{profile} {file} --dir {}", into.display())).assert().success();
    assert!(into.join("mex_subtraction/1,2,4/stamp-100.svg").is_file());

    // A long list by its beginning and a digest.
    let long: Vec<String> = (1..100).map(|k| (3 * k).to_string()).collect();
    fs::write(&moves, long.join(" ")).expect("a writable folder");
    let short = name(&file);
    assert!(short.starts_with("3,6,9,") && short.len() < 80, "{short}");
    assert_eq!(name(&long.join(",")), short);
    assert_ne!(name(&(long.join(",") + ",1000")), short);
}

#[test]
fn dates_have_leap_days() {
    let days = [0, 951_782_400, 951_868_800, 1_709_164_799, 1_735_689_599, 1_735_689_600, 4_107_542_400];
    let texts = days.map(utc);
    assert_eq!(
        texts,
        [
            "1970-01-01T00:00:00Z",
            "2000-02-29T00:00:00Z",
            "2000-03-01T00:00:00Z",
            "2024-02-28T23:59:59Z",
            "2024-12-31T23:59:59Z",
            "2025-01-01T00:00:00Z",
            "2100-03-01T00:00:00Z",
        ]
    );
    assert!(texts.iter().all(|text| is_date(text)));
    assert!(["", "2024-12-31", "2024-12-31T23:59:59+", "2024-12-31 23:59:59Z"].iter().all(|text| !is_date(text)));
}
