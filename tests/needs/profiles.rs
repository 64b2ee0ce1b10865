//! Counts of the CPU, and profiles by line: perf events, single steps and llvm-mca.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::instructions::needs_steps;
use crate::needs;
use crate::program::{self, Assert, nimlanes, path_of_program, without_tools};

const PROFILE: [&str; 8] = ["profile", "table_scan", "--kernel", "bit_rows", "--size", "300", "--seconds", "0.1"];

pub fn trials() -> Vec<Trial> {
    let [perf, counters] = events();
    let (has_perf, has_counters, steps) = (needs(perf, PERF), needs(counters, "counters of the CPU"), needs_steps());
    let either = needs(counters || steps.is_ok(), "counters of the CPU or single steps");
    let is_linux = needs(cfg!(target_os = "linux"), "Linux");
    let mca =
        has_perf.and(needs(knows_this_cpu() && cfg!(target_arch = "x86_64"), "llvm-mca with a model of this CPU"));
    vec![
        trial("a_profile_goes_down_to_lines", has_perf, a_profile_goes_down_to_lines),
        trial("shares_of_inlined_functions_are_those_of_cpu_time", has_perf, phases::shares_are_those_of_cpu_time),
        trial("a_profile_without_perf_events_says_so", is_linux.and(needs(!perf, "no perf events")), no_perf_events),
        trial("a_program_whose_file_is_gone_is_profiled", has_perf, a_program_whose_file_is_gone_is_profiled),
        trial("a_program_without_symbols_is_not_profiled_by_perf", has_perf, || without_symbols("perf")),
        trial("a_program_without_symbols_is_not_profiled_by_pprof", is_linux, || without_symbols("pprof")),
        trial("a_profile_shows_the_hottest_loop", mca, a_profile_shows_the_hottest_loop),
        trial("counters_are_shown", either, || counted("")),
        trial("the_cpu_counts", has_counters, || counted("hardware")),
        trial("single_steps_are_counted", steps, || counted("steps")),
        trial("a_cpu_that_counts_nothing_is_named", needs(!counters, "a CPU that counts nothing"), || {
            not_counted("hardware", "no counters of the CPU here: ")
        }),
        trial("missing_single_steps_are_named", needs(steps.is_err(), "no single steps"), || {
            not_counted("steps", "no single steps here: ")
        }),
    ]
}

const PERF: &str = "perf events";

fn trial(name: &str, needs: Result<(), &str>, test: impl FnOnce() + Send + 'static) -> Trial {
    crate::trial(&format!("profiles::{name}"), needs, test)
}

/// Whether the system opens perf events, and whether the CPU counts.
#[cfg(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "x86_64")))]
fn events() -> [bool; 2] {
    use perf_event::Builder;
    use perf_event::events::{Hardware, Software};

    [Builder::new(Software::TASK_CLOCK).build().is_ok(), Builder::new(Hardware::INSTRUCTIONS).build().is_ok()]
}

#[cfg(not(all(target_os = "linux", any(target_arch = "aarch64", target_arch = "x86_64"))))]
fn events() -> [bool; 2] {
    [false; 2]
}

fn knows_this_cpu() -> bool {
    let version = Command::new("llvm-mca").arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    version.contains("Host CPU: ") && !version.contains("Host CPU: (unknown)")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Samples into a folder. Returns what is printed and what is said.
fn profile(program: &mut program::Command, folder: &Path) -> [String; 2] {
    texts(&program.args(PROFILE).arg("--dir").arg(folder).assert().success())
}

fn texts(ended: &Assert) -> [String; 2] {
    let output = ended.get_output();
    [&output.stdout, &output.stderr].map(|text| String::from_utf8(text.clone()).expect("UTF-8"))
}

/// The files of a profile in a folder.
fn left(folder: &Path, ending: &str) -> String {
    let path = folder.join("table_scan/all-moves/bit_rows-300").with_extension(ending);
    fs::read_to_string(path).expect("a file of a profile")
}

fn a_profile_goes_down_to_lines() {
    let folder = folder();
    let [_, said] = profile(&mut nimlanes(), folder.path());
    assert!(!said.contains("not by line: "), "{said}");
    assert!(left(folder.path(), "folded").contains("bit_rows.rs:"));
    profile(without_tools().env("NIMLANES_SAMPLER", "perf"), folder.path());
    assert!(left(folder.path(), "folded").contains("bit_rows.rs:"));
    let lacks = if cfg!(target_arch = "x86_64") { "llvm-mca is not installed" } else { "no loop: " };
    let summary = left(folder.path(), "txt");
    assert!(summary.contains(lacks), "{summary}");
}

/// Two inlined phases below a harness, in modules that are named as those of the library.
mod phases {
    use std::fs;
    use std::hint::black_box;
    use std::time::Duration;

    use nimlanes::lab::clock::Clock;
    use nimlanes_lab::profile::{Sampler, Sampling};

    mod session {
        pub trait Session {
            fn spin(&self) -> [std::time::Duration; 2];
        }
    }

    mod nimlanes_phases {
        use super::*;

        pub struct Phases;

        impl super::session::Session for Phases {
            #[inline(never)]
            fn spin(&self) -> [Duration; 2] {
                black_box(two_phases()) // no tail call, which would leave no frame
            }
        }

        /// The CPU time of each of two inlined phases, in a ratio of about one to two.
        #[inline(never)]
        fn two_phases() -> [Duration; 2] {
            let begin = Clock::Thread.now();
            while Clock::Thread.now() - begin < Duration::from_millis(200) {
                black_box(multiply());
            }
            let middle = Clock::Thread.now();
            while Clock::Thread.now() - middle < Duration::from_millis(400) {
                black_box(divide());
            }
            [middle - begin, Clock::Thread.now() - middle]
        }

        // Operators alone: in builds for tests, methods are not inlined.
        #[inline(always)]
        fn multiply() -> u64 {
            let (mut i, mut all) = (0u64, 0);
            while i < 100_000 {
                i += 1;
                all ^= i * i; // a product
            }
            all
        }

        #[inline(always)]
        fn divide() -> u64 {
            let (mut i, mut all) = (0u64, 0);
            while i < 100_000 {
                i += 1;
                all ^= u64::MAX / i; // a quotient
            }
            all
        }
    }

    pub fn shares_are_those_of_cpu_time() {
        let sampling = Sampling::start(Some(Sampler::Perf)).expect("perf events are allowed");
        let times = session::Session::spin(&nimlanes_phases::Phases).map(|time| time.as_secs_f64());
        let profile = sampling.finish("a/test/phases/1").expect("samples");
        let folder = super::folder();
        let path = folder.path().join("kept.folded");
        profile.write_to(&path).expect("a writable folder");
        let text = fs::read_to_string(path).expect("a file");
        let stacks: Vec<(&str, u64)> = text
            .lines()
            .map(|line| line.rsplit_once(' ').expect("a count"))
            .map(|(stack, count)| (stack, count.parse().expect("a number")))
            .collect();
        let all: u64 = stacks.iter().map(|(_, count)| count).sum();
        let share = |of: &str| {
            let own = stacks.iter().filter(|(stack, _)| stack.split(';').any(|frame| frame.contains(of)));
            own.map(|(_, count)| count).sum::<u64>() as f64 / all as f64
        };
        assert!(stacks.iter().all(|(stack, _)| stack.starts_with("nimlanes_phases::two_phases")), "{text}");
        for (phase, time) in ["multiply", "divide"].into_iter().zip(times) {
            let expected = time / times.iter().sum::<f64>();
            let found = share(&format!("nimlanes_phases::{phase}"));
            assert!((found - expected).abs() < 0.05, "{phase}: {found}, not {expected}: {text}");
        }
        assert!(share("profiles.rs:") > 0.9, "{text}");
        if cfg!(target_arch = "x86_64") {
            assert!(profile.text().contains("hottest loop: "), "{}", profile.text());
        }
    }
}

fn no_perf_events() {
    let folder = folder();
    let [_, said] = profile(&mut nimlanes(), folder.path());
    assert!(!left(folder.path(), "folded").contains("bit_rows.rs:"));
    assert!(said.contains("sampled by pprof, by function and not by line: "), "{said}");
    let mut by_name = without_tools();
    by_name.args(PROFILE).args(["--sampler", "perf", "--dir"]).arg(folder.path());
    by_name.assert().code(1).says("cannot sample: ");
}

/// A profile by a copy of the program, without tools.
fn profile_of(program: &Path, sampler: &str, into: &Path) -> Assert {
    let mut profile = program::Command::new(program);
    profile.env("PATH", "").args(PROFILE).args(["--sampler", sampler, "--dir"]).arg(into).assert()
}

/// With perf events its functions still have names.
fn a_program_whose_file_is_gone_is_profiled() {
    let folder = folder();
    let copy = folder.path().join("nimlanes");
    fs::copy(path_of_program(), &copy).expect("a copy");
    let program = fs::File::open(&copy).expect("the copy");
    fs::remove_file(&copy).expect("removed");
    #[cfg(unix)]
    let gone = format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&program));
    #[cfg(not(unix))]
    let gone = format!("{program:?}");
    let says = "functions cannot be distinguished: the program's file was replaced or removed";
    profile_of(gone.as_ref(), "pprof", folder.path()).code(1).says(says);
    profile_of(gone.as_ref(), "perf", folder.path()).success();
    assert!(left(folder.path(), "folded").contains("bit_rows.rs:"));
}

fn without_symbols(sampler: &str) {
    let folder = folder();
    let copy = folder.path().join("nimlanes");
    // It comes with the linker.
    let strip = Command::new("strip").arg("-o").arg(&copy).arg(path_of_program()).status();
    assert!(strip.expect("strip runs").success());
    let says = "functions cannot be distinguished: the program has no symbols\n";
    profile_of(&copy, sampler, folder.path()).code(1).says(says);
}

fn a_profile_shows_the_hottest_loop() {
    let folder = folder();
    let [printed, _] = profile(&mut nimlanes(), folder.path());
    let kept = left(folder.path(), "txt");
    for text in [&printed, &kept] {
        assert!(text.contains("hottest loop: "), "{text}");
    }
    // The instructions follow, and one jumps back.
    let mut listed =
        kept.lines().skip_while(|line| !line.starts_with("hottest loop: ")).filter_map(|line| line.get(9..));
    assert!(listed.any(|text| text.starts_with('j')), "{kept}");
    assert!(kept.contains("Total Cycles:"), "{kept}");
}

const COUNTED: [&[&str]; 2] = [
    &["compare", "mex_subtraction", "--size", "100", "--kernels", "flags,stamp", "--seconds", "0.1"],
    &["run", "mex_subtraction", "--size", "100", "--kernel", "stamp", "--seconds", "0.1"],
];

/// Standard output, what is said on stderr besides the time that is predicted, and the JSON, with some option for counters.
fn output_with(args: &[&str], option: &str) -> (String, String, Value) {
    let mut command = without_tools();
    let [shown, said] = texts(&command.args(args).arg(option).assert().success());
    let said = said.lines().filter(|line| !line.contains(" is predicted to take ")).collect::<Vec<_>>().join("\n");
    (shown, said, command.arg("--json").json())
}

/// By a source, or by either.
fn counted(source: &str) {
    for args in &COUNTED[usize::from(source.is_empty())..] {
        let option = if source.is_empty() { "--counters".to_owned() } else { format!("--counters={source}") };
        let (shown, said, json) = output_with(args, &option);
        assert_eq!(said, "");
        let by = json["counters"]["counted_by"].as_str().expect("a source");
        let says = if by == "hardware" { "by the CPU in user space" } else { "step by step, in one run on one thread" };
        assert!(shown.contains(&format!("counted {says}, per heap")), "{shown}");
        assert!(source.is_empty() || source == by, "{source}: {by}");
        let rows = json["counters"]["rows"].as_array().expect("rows");
        assert_eq!(shown.contains("hot loop, "), by == "steps" && rows.len() == 1, "{shown}");
        for row in rows {
            // A heap has 6 moves.
            let instructions = row["instructions"].as_f64().expect("a number");
            assert!((5.0..5000.0).contains(&instructions), "{row}");
        }
    }
}

/// One line says why, and the command goes on.
fn not_counted(source: &str, reason: &str) {
    for args in COUNTED {
        let (shown, said, json) = output_with(args, &format!("--counters={source}"));
        assert!(said.lines().count() == 1 && said.contains(reason), "{said}");
        assert!(json.get("counters").is_none() && !shown.contains("counted"), "{shown}");
    }
}
