//! Files of every format that runs have written are kept in `tests/formats`. They can still be read, and files of a
//! later version are refused by name. A new version of a format adds a file, and changes none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{in_memory, nimlanes};

/// A checkpoint, and the options of the run that wrote it.
const CHECKPOINTS: [(&str, &str); 5] = [
    ("records-2", "--moves 2,7,11 --limit 2e8 --records --kernel mex_records=masks"),
    ("records-3", "--moves 1,5,600001 --limit 2e8 --records --kernel mex_records=compressed_lanes"),
    ("zeros-1", "--moves squares --limit 2^21 --zeros --kernel mex_zeros=residue_rows"),
    ("octal-0", "--code 0.6 --limit 2e5 --kernel mex_octal=greedy"),
    ("period-2", "--code 0.106 --limit 3e5 --kernel mex_period=window_words"),
];

/// A checkpoint that cannot be resumed any more, and what is said of it.
const OLD: (&str, &str) = ("period-1", "an old format");

/// A duel that `compare --save` wrote: `reports::a_kept_duel_is_read`.
const DUEL: &str = "duel-1.json";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

/// Exit code, output and error of a run that resumes from a file, or begins anew.
fn run(options: &str, from: Option<&[u8]>) -> (Option<i32>, String, String) {
    let folder = in_memory();
    let path = folder.path().join("kept.checkpoint");
    if let Some(file) = from {
        fs::write(&path, file).expect("a writable folder");
    }
    let mut command = nimlanes();
    command.arg("grundy").args(options.split(' ')).arg("--checkpoint").arg(&path);
    let output = command.output().expect("it runs");
    let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
    (output.status.code(), out, error)
}

#[test]
fn kept_checkpoints_are_resumed_and_later_ones_refused() {
    for (name, options) in CHECKPOINTS {
        let file = fs::read(folder().join(format!("{name}.checkpoint"))).expect("a kept file");
        let whole = run(options, None);
        assert_eq!((whole.0, run(options, Some(&file))), (Some(0), whole.clone()), "{name}");
        let (code, _, error) = run(options, Some(&[&file[..7], b"9", &file[8..]].concat()));
        assert!(code == Some(2) && error.contains("a newer format than this version"), "{name}: {error}");
        let (code, _, error) = run(options, Some(&[&file[..file.len() - 1], &[!file[file.len() - 1]]].concat()));
        assert!(code == Some(2) && error.contains("is damaged"), "{name}: {error}");
    }
}

#[test]
fn old_checkpoints_are_refused_by_name() {
    let file = fs::read(folder().join(format!("{}.checkpoint", OLD.0))).expect("a kept file");
    let (code, _, error) = run("--code 0.106 --limit 3e5", Some(&file));
    assert!(code == Some(2) && error.contains(OLD.1), "{error}");
}

#[test]
fn no_kept_file_is_forgotten() {
    let checkpoints = CHECKPOINTS.map(|(name, _)| name).into_iter().chain([OLD.0]);
    let tested = checkpoints.map(|name| format!("{name}.checkpoint")).chain([DUEL.to_owned()]);
    let kept = fs::read_dir(folder()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let kept: BTreeSet<_> = kept.map(|name| name.into_string().expect("UTF-8")).collect();
    assert_eq!(kept, tested.collect());
}
