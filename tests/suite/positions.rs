//! `nimlanes positions` and `nimlanes plot`: correct lists and pictures, complete or not written at all.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::program::{Command, path_of_program, send};
use crate::{in_memory, nimlanes};

/// The standard output of `positions` with these arguments, which have no blanks.
fn positions(args: &str) -> String {
    nimlanes().arg("positions").args(args.split(' ')).text()
}

/// The picture of `plot` with these arguments, in a file that is replaced.
fn picture(file: &Path, args: &str) -> String {
    nimlanes().arg("plot").args(args.split(' ')).arg("--output").arg(file).assert().success();
    let svg = std::fs::read_to_string(file).expect("text");
    assert!(svg.starts_with("<svg ") && svg.contains("data:image/png;base64,") && svg.ends_with("</svg>\n"), "{args}");
    svg
}

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    names.map(|name| name.into_string().expect("UTF-8")).collect()
}

#[test]
fn positions_are_listed_in_order() {
    // (9,17) has 26 together.
    assert_eq!(positions("proportionate-nim --limit 25"), "n,m\n0,0\n1,3\n2,6\n4,5\n7,10\n8,14\n");
    assert_eq!(positions("proportionate-nim --limit 5 --moves none"), "n,m\n0,0\n1,1\n2,2\n");
    // Wythoff's positions with an empty heap, and the first position without an empty heap.
    let three = positions("stone-game --limit 5");
    assert!(three.starts_with("x,y,z\n0,0,0\n0,1,2\n0,3,5\n1,1,4\n"), "{three}");
    assert_eq!(positions("proportionate-nim --limit 0"), "n,m\n0,0\n");
}

/// The sums equal those of `solve`, whichever kernel finds the positions.
#[test]
fn all_positions_are_listed() {
    for (args, sum) in [("stone-game --limit 200", 1_358_608_u64), ("proportionate-nim --limit 1000", 117_002)] {
        let csv = positions(args);
        let read = csv.lines().skip(1).flat_map(|line| line.split(','));
        assert_eq!(read.map(|number| number.parse::<u64>().expect("a number")).sum::<u64>(), sum, "{args}");
    }
    let with = |kernel: &str| positions(&format!("stone-game --limit 150 --rule one-or-two --kernel {kernel}"));
    assert_eq!(with("table_scan=byte_table"), with("table_scan=bit_rows"));
}

#[test]
fn a_file_is_complete_or_absent() {
    let folder = in_memory();
    let path = folder.path().join("positions.csv");
    let args = "stone-game --limit 300";
    assert_eq!(positions(&format!("{args} --output {}", path.display())), "");
    assert_eq!(std::fs::read_to_string(&path).expect("written"), positions(args));
    assert_eq!(names(folder.path()), ["positions.csv"]);
    // A device is not replaced.
    #[cfg(unix)]
    {
        assert_eq!(positions(&format!("{args} --output /dev/null")), "");
        assert!(!Path::new("/dev/null").metadata().expect("it is there").is_file());
        nimlanes().arg("positions").args(args.split(' ')).args(["--output", "/dev/full"]).refused(1, "/dev/full");
    }
}

#[test]
fn positions_and_values_are_drawn() {
    let folder = in_memory();
    let file = folder.path().join("a.svg");
    for (args, title) in [
        ("stone-game --limit 0", "Stone Game, all moves"),
        ("stone-game --limit 300", "Stone Game, all moves"),
        ("proportionate-nim --limit 1 --moves 1:1,2:3", "1:1,2:3"),
        ("proportionate-nim --limit 300 --moves 1:1,2:3", "1:1,2:3"),
        ("--code .6 --limit 0", "0.6: Grundy values of heaps"),
        ("--code .6 --limit 3000", "0.6: Grundy values of heaps"),
        ("--code .6 --limit 3000 --rare", "0.6: Grundy values of rare heaps"),
    ] {
        assert!(picture(&file, args).contains(title), "{args}");
    }
    assert_eq!(names(folder.path()), ["a.svg"]);
}

/// The list would be written for hours.
#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_silently() {
    use std::io::{BufRead, BufReader};
    let start = Instant::now();
    let mut child = std::process::Command::new(path_of_program())
        .args(["positions", "proportionate-nim", "--limit", "1e11"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let first = BufReader::new(child.stdout.take().expect("a pipe")).lines().next().expect("a line");
    assert_eq!(first.expect("text"), "n,m");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(start.elapsed() < Duration::from_secs(20));
}

/// The list has more than the address space.
#[cfg(target_os = "linux")]
#[test]
fn written_positions_are_not_kept_in_memory() {
    let script =
        format!("ulimit -v 60000; {} positions proportionate-nim --limit 2e7 | wc -l", path_of_program().display());
    assert_eq!(Command::new("sh").args(["-c", &script]).text().trim(), (1 + 4_616_608).to_string());
}

/// The run is ended while it writes.
#[cfg(unix)]
#[test]
fn a_run_that_is_ended_leaves_no_file() {
    let folder = in_memory();
    let mut child = nimlanes()
        .args(["positions", "proportionate-nim", "--limit", "4e8", "--output"])
        .arg(folder.path().join("positions.csv"))
        .begin();
    while names(folder.path()).is_empty() && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let start = Instant::now();
    send("TERM", &child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(143));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "nimlanes: interrupted\n");
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(names(folder.path()).is_empty());
}
