//! A checkpoint that differs from what was written is refused: arbitrary bytes, and real checkpoints with changed bytes.
#![no_main]

use std::sync::{Arc, LazyLock, Mutex};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use nimlanes::cores::mex::records::{Journal, MexRecords, Progress, Records};
use nimlanes::kernel::{Run, available};
use nimlanes::machine::Machine;

#[derive(Arbitrary, Debug)]
enum File {
    Bytes(Vec<u8>),
    /// A checkpoint of one of the sets, cut to a length, with bytes changed by XOR.
    Changed { set: u8, length: u32, changes: Vec<(u32, u8)> },
}

/// Sets with and without a prefix, with limits larger than a batch.
const SETS: [(&str, u64); 3] = [("factorials", 300_000), ("2,100001", 250_000), ("1,3,700", 100_000)];

/// Keeps the bytes of the last checkpoint.
#[derive(Default)]
struct Kept(Mutex<Vec<u8>>);

impl Journal for Kept {
    fn keep(&self, progress: &Progress, _: bool) {
        *self.0.lock().expect("one thread") = bytes(progress);
    }
}

fn bytes(progress: &Progress) -> Vec<u8> {
    let mut bytes = Vec::new();
    progress.write(&mut bytes).expect("memory takes all");
    bytes
}

fn input(set: usize) -> Records {
    let (moves, limit) = SETS[set];
    Records::new(&moves.parse().expect("a set"), limit).expect("few moves")
}

/// The checkpoint of a run that is stopped at once.
static WRITTEN: LazyLock<[Vec<u8>; SETS.len()]> = LazyLock::new(|| {
    std::array::from_fn(|set| {
        let kept = Arc::new(Kept::default());
        let input = input(set).kept(Arc::clone(&kept) as _, None).expect("from the beginning");
        let run = Run::new(1);
        run.cancel();
        // Not all of them write checkpoints.
        for kernel in available::<MexRecords>(&Machine::detect()) {
            assert!(kernel.run(&input, &run).is_err(), "it was stopped");
        }
        let written = kept.0.lock().expect("one thread").clone();
        assert!(!written.is_empty(), "some kernel keeps its progress");
        written
    })
});

fuzz_target!(|file: File| {
    match file {
        File::Bytes(bytes) => SETS.iter().enumerate().for_each(|(set, _)| {
            let _ = Progress::read(&input(set), &mut &bytes[..]);
        }),
        File::Changed { set, length, changes } => {
            let set = set as usize % SETS.len();
            let written = &WRITTEN[set];
            let mut changed = written.clone();
            for (at, with) in changes {
                changed[at as usize % written.len()] ^= with;
            }
            // The complete file, about half of the time.
            changed.truncate(length as usize % (2 * written.len()));
            match Progress::read(&input(set), &mut &changed[..]) {
                Ok(progress) => assert!(changed == *written && bytes(&progress) == *written, "a damaged file was read"),
                Err(error) => assert!(changed != *written, "a whole file was refused: {error}"),
            }
        }
    }
});
