//! Files of every format that runs have written are kept in `tests/formats`. They can still be read, and files of a
//! later version are refused by name. A new version of a format adds a file, and changes none.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::in_memory;
use crate::program::{Command, command};

/// A checkpoint, and the options of the run that wrote it. Beside it is the output of a run that was not stopped.
const CHECKPOINTS: [(&str, &str); 5] = [
    ("records-2", "--moves 2,7,11 --limit 2e8 --records --kernel mex_records=masks"),
    ("records-3", "--moves 1,5,600001 --limit 2e8 --records --kernel mex_records=compressed_lanes"),
    ("zeros-1", "--moves squares --limit 2^21 --zeros --kernel mex_zeros=residue_rows"),
    ("octal-0", "--code 0.6 --limit 2e5 --kernel mex_octal=greedy"),
    ("period-2", "--code 0.106 --limit 3e5 --kernel mex_period=window_words"),
];

/// A checkpoint that cannot be resumed any more, and a duel that `compare --save` wrote: `reports::a_kept_duel_is_read`.
const OTHERS: [&str; 2] = ["period-1.checkpoint", "duel-1.json"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats")
}

#[test]
fn kept_checkpoints_are_resumed_and_later_ones_refused() {
    let kept = in_memory();
    let path = kept.path().join("kept.checkpoint");
    let run = |options: &str, file: &[u8]| -> Command {
        fs::write(&path, file).expect("a writable folder");
        let mut command = command(&format!("grundy {options} --checkpoint"));
        command.arg(&path);
        command
    };
    for (name, options) in CHECKPOINTS {
        let path = folder().join(name);
        let file = fs::read(path.with_extension("checkpoint")).expect("a kept file");
        let whole = fs::read_to_string(path.with_extension("txt")).expect("a kept output");
        run(options, &file).assert().success().stdout(whole);
        run(options, &[&file[..7], b"9", &file[8..]].concat()).refused(2, "a newer format than this version");
        run(options, &[&file[..file.len() - 1], &[!file[file.len() - 1]]].concat()).refused(2, "is damaged");
    }
    let old = fs::read(folder().join(OTHERS[0])).expect("a kept file");
    run("--code 0.106 --limit 3e5", &old).refused(2, "an old format");
}

#[test]
fn no_kept_file_is_forgotten() {
    let of_runs = |ending: &'static str| CHECKPOINTS.iter().map(move |(name, _)| format!("{name}.{ending}"));
    let tested = of_runs("checkpoint").chain(of_runs("txt")).chain(OTHERS.map(str::to_owned));
    let kept = fs::read_dir(folder()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let kept: BTreeSet<_> = kept.map(|name| name.into_string().expect("UTF-8")).collect();
    assert_eq!(kept, tested.collect());
}
