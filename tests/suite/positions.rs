//! `nimlanes positions` and `nimlanes plot`: correct lists and pictures, complete or not written at all.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::in_memory;
use crate::program::{Command, path_of_program, send};

fn nimlanes(args: &[&str]) -> Command {
    let mut command = crate::nimlanes();
    command.args(args);
    command
}

fn printed(args: &[&str]) -> Vec<u8> {
    nimlanes(&[&["positions"], args].concat()).assert().success().get_output().stdout.clone()
}

fn text(args: &[&str]) -> String {
    String::from_utf8(printed(args)).expect("text")
}

/// Expects an exit code and a single line on stderr that contains `says`.
fn refused(args: &[&str], code: i32, says: &str) {
    nimlanes(args).refused(code, says);
}

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    names.map(|name| name.into_string().expect("UTF-8")).collect()
}

#[test]
fn positions_are_listed_in_order() {
    assert_eq!(
        text(&["proportionate-nim", "--limit", "25"]),
        "n,m\n0,0\n1,3\n2,6\n4,5\n7,10\n8,14\n",
        "(9,17) has 26 together"
    );
    assert_eq!(text(&["proportionate-nim", "--limit", "5", "--moves", "none"]), "n,m\n0,0\n1,1\n2,2\n");
    // Wythoff's positions with an empty heap, and the first position without an empty heap.
    let three = text(&["stone-game", "--limit", "5"]);
    assert!(three.starts_with("x,y,z\n0,0,0\n0,1,2\n0,3,5\n1,1,4\n"), "{three}");
    for limit in ["0", "1", "2"] {
        assert!(text(&["proportionate-nim", "--limit", limit]).ends_with("n,m\n0,0\n"));
    }
}

/// The sums equal those of `solve`, whichever kernel finds the positions.
#[test]
fn all_positions_are_listed() {
    for (game, limit, sum) in [("stone-game", "200", 1_358_608_u64), ("proportionate-nim", "1000", 117_002)] {
        let csv = text(&[game, "--limit", limit]);
        let read = csv.lines().skip(1).flat_map(|line| line.split(','));
        assert_eq!(read.map(|number| number.parse::<u64>().expect("a number")).sum::<u64>(), sum, "{game}");
    }
    let with = |kernel: &str| text(&["stone-game", "--limit", "150", "--rule", "one-or-two", "--kernel", kernel]);
    assert_eq!(with("table_scan=byte_table"), with("table_scan=bit_rows"));
}

#[test]
fn a_file_is_complete_or_absent() {
    let folder = in_memory();
    let path = folder.path().join("positions.csv");
    let args = ["stone-game", "--limit", "300"];
    let to_file = [&args[..], &["--output", path.to_str().expect("UTF-8")]].concat();
    assert_eq!(printed(&to_file), b"");
    assert_eq!(std::fs::read(&path).expect("written"), printed(&args));
    assert_eq!(names(folder.path()), ["positions.csv"]);
    refused(
        &["positions", "stone-game", "--limit", "10", "--output", "/no/such/folder/file"],
        1,
        "/no/such/folder/file",
    );
    // A device is not replaced.
    #[cfg(unix)]
    {
        assert_eq!(printed(&[&args[..], &["--output", "/dev/null"]].concat()), b"");
        assert!(!Path::new("/dev/null").metadata().expect("it is there").is_file());
        refused(&["positions", "stone-game", "--limit", "300", "--output", "/dev/full"], 1, "/dev/full");
    }
}

#[test]
fn a_list_that_would_take_too_long_leaves_no_file() {
    let folder = in_memory();
    let out = folder.path().join("positions.csv");
    refused(&["positions", "stone-game", "--limit", "1e6", "--output", out.to_str().expect("UTF-8")], 2, "would fit");
    assert!(names(folder.path()).is_empty());
}

#[test]
fn positions_are_drawn() {
    let folder = in_memory();
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    for (i, game) in [&["stone-game"][..], &["proportionate-nim", "--moves", "1:1,2:3"]].into_iter().enumerate() {
        for limit in ["0", "1", "300"] {
            let out = path("a.svg");
            nimlanes(&[&["plot"], game, &["--limit", limit, "--output", &out]].concat()).assert().success();
            let svg = std::fs::read_to_string(out).expect("text");
            assert!(svg.starts_with("<svg ") && svg.contains("data:image/png;base64,") && svg.ends_with("</svg>\n"));
            assert!(svg.contains(["Stone Game, all moves", "1:1,2:3"][i]), "{game:?}");
        }
    }
    assert_eq!(names(folder.path()), ["a.svg"]);
    refused(&["plot", "stone-game", "--limit", "9", "--output", &path("a.png")], 2, ".svg");
    refused(&["plot", "stone-game", "--limit", "9"], 2, "--output");
    refused(&["plot", "stone-game", "--limit", "1e6", "--output", &path("b.svg")], 2, "would fit");
    refused(&["plot", "stone-game", "--limit", "9", "--output", "/no/such/folder/a.svg"], 1, "/no/such/folder/a.svg");
}

#[test]
fn values_of_octal_games_are_drawn() {
    let folder = in_memory();
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    for (limit, more, title) in [
        ("0", &[][..], "0.6: Grundy values of heaps"),
        ("3000", &[], "0.6: Grundy values of heaps"),
        ("3000", &["--rare"], "0.6: Grundy values of rare heaps"),
    ] {
        let out = path("a.svg");
        nimlanes(&[&["plot", "--code", ".6", "--limit", limit, "--output", &out], more].concat()).assert().success();
        let svg = std::fs::read_to_string(out).expect("text");
        assert!(svg.contains(title) && svg.contains("data:image/png;base64,"), "{limit}");
    }
    let out = path("b.svg");
    let refuse = |args: &[&str], part| refused(&[&["plot", "--limit", "9", "--output", &out], args].concat(), 2, part);
    refuse(&["--code", "6"], "is not a game");
    refuse(&["stone-game", "--code", "0.6"], "cannot be used with");
    refuse(&["--code", "0.6", "--moves", "1:1"], "no option of another game");
    refuse(&["stone-game", "--rare"], "--code");
    refuse(&["--code", "0.6", "--kernel", "table_scan=bit_rows"], "plot does not use");
    refuse(&[], "required");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_silently() {
    use std::io::{BufRead, BufReader};
    // The second would write for hours.
    for limit in ["1e6", "1e11"] {
        let start = Instant::now();
        let mut child = std::process::Command::new(path_of_program())
            .args(["positions", "proportionate-nim", "--limit", limit])
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
}

/// The list has more than the address space.
#[cfg(target_os = "linux")]
#[test]
fn written_positions_are_not_kept_in_memory() {
    let script =
        format!("ulimit -v 60000; {} positions proportionate-nim --limit 2e7 | wc -l", path_of_program().display());
    assert_eq!(Command::new("sh").args(["-c", &script]).text().trim(), (1 + 4_616_608).to_string());
}

/// The run is ended during the search or while it writes.
#[cfg(unix)]
#[test]
fn a_run_that_is_ended_leaves_no_file() {
    let folder = in_memory();
    let path = folder.path().join("positions.csv");
    let out = ["--output", path.to_str().expect("UTF-8")];
    let slow = ["positions", "stone-game", "--limit", "6000", "--kernel", "table_scan=byte_table"];
    let long = ["positions", "proportionate-nim", "--limit", "4e8"];
    for (args, is_due) in [(&slow[..], 0), (&long[..], 1)] {
        let mut child = nimlanes(args).args(out).begin();
        std::thread::sleep(Duration::from_millis(300));
        while names(folder.path()).len() < is_due && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let start = Instant::now();
        send("TERM", &child);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(143), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "nimlanes: interrupted\n");
        assert!(start.elapsed() < Duration::from_secs(5));
        assert!(names(folder.path()).is_empty(), "{args:?}");
    }
}
