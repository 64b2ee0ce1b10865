//! The instruments: a game is profiled, and ceilings are measured.

use std::fs;
use std::time::{Duration, Instant};

use nimlanes::cores::named::ByName;
use nimlanes::games::{Solver, game};
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::lab::ceilings::{Reading, groups};
use nimlanes::machine::Machine;
use nimlanes_lab::profile::Sampling;

/// By its own frame, whatever called it.
#[cfg(target_os = "linux")]
#[test]
fn a_profile_of_a_game_begins_with_the_game() {
    let selection = Selection::new(Machine::detect()).with_kernel("table_scan", "byte_table").expect("always there");
    let run = Run::new(1);
    let question = game("stone-game").expect("a game").question(500);
    let sampling = Sampling::start(None).expect("no other sampling in this process");
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(200) {
        question.solve(&Solver::new(&selection, &run)).expect("a small limit");
    }
    let profile = sampling.finish("games/stone-game/byte_table/500").expect("samples");
    let root = tempfile::tempdir().expect("a folder");
    let stacks = fs::read_to_string(profile.write(root.path()).expect("written").with_extension("folded"));
    let stacks = stacks.expect("stacks");
    // Other tests run beside this one.
    let mut own = stacks.lines().filter(|stack| stack.contains("byte_table::run")).peekable();
    assert!(own.peek().is_some() && own.all(|stack| stack.starts_with("stone_game::solve")), "{stacks}");
}

#[test]
fn ceilings_are_positive_and_those_of_caches_in_order() {
    let machine = Machine::detect();
    let is_in_order = || {
        let readings: Vec<Reading> = groups().flat_map(|group| group.measure(&machine)).collect();
        let ns = |kind: &str, name: &str| {
            let reading = readings.iter().find(|reading| reading.kind == kind && reading.name == name);
            reading.expect("a ceiling of this name").ns
        };
        assert!(ns("clock", "word") > 0.0);
        ns("latency", "l1") < ns("latency", "memory") && ns("loads", "l1") < ns("loads", "memory")
    };
    // Neighbours may disturb a reading.
    assert!((0..3).any(|_| is_in_order()), "caches are never quicker than memory");
}
