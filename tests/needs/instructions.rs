//! Kernels execute as many instructions as before, and their hot loops have no more of what should not be in them: a change that costs some is
//! seen without a clock.
//!
//! The counted program is the one built for the tests, with debug assertions and overflow checks, or without them by `cargo
//! test --release`: so no other build is needed. Each compiler makes other code, and has its own lines in `instructions.tsv`: of kernels of
//! most operations, with inputs that take them some thousand branches.

use std::sync::LazyLock;
use std::time::Instant;

use libtest_mimic::Trial;
use nimlanes::lab::environment::BUILD;
use nimlanes::machine::isa::Tier;
use serde_json::Value;

use crate::program::nimlanes;

const TABLE: &str = include_str!("../instructions.tsv");

/// Parts that should not be in a hot loop: calls, checks, what is on the stack (values that found no register, and lanes that go through
/// memory), and lanes moved one by one.
const UNWANTED: [&str; 4] = ["calls", "checks", "stack", "lanes"];

/// The largest change that passes: another C library copies memory by other instructions.
const TOLERANCE: f64 = 0.02;

/// The counts of `run --counters=steps`, or its stderr if it cannot count.
fn count(operation: &str, kernel: &str, size: &str) -> Result<Value, String> {
    let mut run = nimlanes();
    run.args(["run", operation, "--kernel", kernel, "--size", size, "--seconds", "0.001"]);
    let output = run.args(["--counters=steps", "--json"]).assert().success().get_output().clone();
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let row = json["counters"]["rows"].get(0).cloned();
    row.ok_or_else(|| String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned())
}

/// How many of the instructions in the hot loop are [`UNWANTED`].
fn unwanted(row: &Value) -> [usize; 4] {
    let hot_loop = &row["hot_loop"];
    let texts = hot_loop["instructions"].as_array().expect("instructions").iter();
    let texts: Vec<&str> = texts.map(|it| it["text"].as_str().expect("text")).collect();
    let of = |is_meant: fn(&str) -> bool| texts.iter().filter(|text| is_meant(text)).count();
    let moves_a_lane =
        |text: &str| ["pinsr", "pextr"].iter().any(|name| text.trim_start_matches('v').starts_with(name));
    let checks = hot_loop["checks"].as_u64().expect("a number");
    [of(|text| text.starts_with("call")), checks as usize, of(|text| text.contains("(%rsp")), of(moves_a_lane)]
}

/// The needs of every count.
pub fn needs_steps() -> Result<(), &'static str> {
    static NEEDS: LazyLock<Result<(), &str>> = LazyLock::new(|| {
        let counted = count("mex_subtraction", "flags", "9");
        counted.map(drop).map_err(|said| {
            assert!(said.contains("no single steps here: "), "{said}");
            "single steps"
        })
    });
    *NEEDS
}

pub fn trials() -> Vec<Trial> {
    let steps = needs_steps();
    let environment = nimlanes().args(["env", "--json"]).json();
    let [rustc, profile] = ["rustc", "profile"].map(|name| environment[name].as_str().expect("text").to_owned());
    let of_profile = TABLE.lines().filter(|line| line.split('\t').nth(1) == Some(&profile));
    let (own, others): (Vec<&str>, Vec<&str>) = of_profile.partition(|line| line.starts_with(&rustc));
    // A new compiler, which has no lines, is no mistake. Those of others show what to count.
    let is_counted = crate::needs(cfg!(feature = "avx2") && Tier::Avx2.is_on_this_cpu(), "AVX2")
        .and(crate::needs(BUILD == "default", "the default build"))
        .and(crate::needs(!own.is_empty(), "lines of this compiler in tests/instructions.tsv"));
    let lines = if own.is_empty() { others } else { own };
    vec![
        crate::trial("instructions::those_of_kernels_are_those_of_the_table", steps.and(is_counted), move || {
            kernels_execute_the_instructions_of_the_table(&lines, &format!("{rustc}\t{profile}"))
        }),
        crate::trial("instructions::counts_are_exact", steps, counts_are_exact),
        crate::trial("instructions::too_many_branches_are_seen_early", steps, too_many_branches_are_seen_early),
    ]
}

fn kernels_execute_the_instructions_of_the_table(lines: &[&str], build: &str) {
    let (mut now, mut changed) = (String::new(), Vec::new());
    for line in lines {
        let [.., operation, kernel, size] = line.split('\t').take(5).collect::<Vec<_>>()[..] else { panic!("{line}") };
        let row = count(operation, kernel, size).expect("one could be counted");
        let instructions = row["instructions"].as_f64().expect("a number");
        let unwanted = unwanted(&row);
        let counts = unwanted.map(|count| count.to_string()).join("\t");
        now += &format!("{build}\t{operation}\t{kernel}\t{size}\t{instructions:.3}\t{counts}\n");
        let before = line.split('\t').skip(5);
        let before: Vec<f64> = before.map(|count| count.parse().expect("a number")).collect();
        if (instructions - before[0]).abs() > TOLERANCE * before[0] {
            changed.push(format!(
                "{operation} {kernel}: {instructions:.3} instructions per unit of work, {} in the table",
                before[0]
            ));
        }
        for ((name, count), before) in UNWANTED.into_iter().zip(unwanted).zip(&before[1..]) {
            if count as f64 != *before {
                changed.push(format!("{operation} {kernel}: the hot loop has {count} {name}, {before} in the table"));
            }
        }
    }
    let changed = changed.join("\n");
    assert!(changed.is_empty(), "{changed}\nIf that is meant, put these into tests/instructions.tsv:\n{now}");
}

/// Some of all are branches; the hot loop has most of it; and one run is like the other, also in the addresses that it uses.
fn counts_are_exact() {
    let [counted, again] = [(); 2].map(|()| count("mex_subtraction", "stamp", "300").expect("one could be counted"));
    assert_eq!(counted, again);
    let number = |name: &str| counted[name].as_f64().unwrap_or_default();
    let all = number("instructions");
    assert!((1.0..all).contains(&number("branches")), "{counted}");
    // Of 300 heaps, the squares below them: a load and a store of a mark for each move.
    let moves: u64 = (1..=300u64).map(u64::isqrt).sum();
    assert!(number("loads").min(number("stores")) >= moves as f64 / 301.0, "{counted}");
    let hot_loop = &counted["hot_loop"];
    let share = hot_loop["share"].as_f64().expect("a share");
    let lines = hot_loop["instructions"].as_array().expect("instructions");
    let in_loop: f64 = lines.iter().filter_map(|line| line["times"].as_f64()).sum();
    assert!((in_loop - share * all).abs() < 1e-6 * all && share > 0.2 && share < 1.0, "{hot_loop}");
    let jumps = |line: &Value| line["text"].as_str().is_some_and(|text| text.starts_with('j'));
    assert!(lines.last().is_some_and(jumps), "{hot_loop}");
}

/// A run that is predicted to take long is not begun.
fn too_many_branches_are_seen_early() {
    let start = Instant::now();
    let counted = count("mex_subtraction", "stamp", "500").expect("one could be counted");
    let short = start.elapsed();
    let refused = count("mex_subtraction", "stamp", "200000").expect_err("over a million");
    let long = start.elapsed() - short;
    assert!(refused.contains("too many branches for single steps"));
    let branches = 500.0 * counted["branches"].as_f64().expect("a number");
    // All of the million would take a multiple of this.
    let million = short.as_secs_f64() * f64::from(1 << 20) / branches;
    assert!(long.as_secs_f64() < million / 2.0, "{long:?}, where {branches} branches take {short:?}");
}
