//! A checkpoint that is not what was written is refused: any bytes, and real checkpoints with some bytes changed.
#![no_main]

use std::sync::{Arc, LazyLock, Mutex};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use nimlanes::cores::mex::records::{Journal, MexRecords, Progress, Records, Start};
use nimlanes::kernel::{Run, available};
use nimlanes::machine::Machine;

#[derive(Arbitrary, Debug)]
enum File {
    Bytes(Vec<u8>),
    /// A checkpoint of one of the sets, cut to a length, with bytes changed by XOR.
    Changed {
        set: u8,
        length: u32,
        changes: Vec<(u32, u8)>,
    },
}

/// Sets with and without a prefix, limits above a batch.
const SETS: [(&str, u64); 3] = [("factorials", 300_000), ("2,250001", 300_000), ("1,3,700", 300_000)];

/// Keeps the bytes of the first checkpoint, and stops the run.
struct Kept {
    run: Run,
    bytes: Mutex<Option<Vec<u8>>>,
}

impl Journal for Kept {
    fn keep(&self, progress: &Progress, _: bool) {
        self.run.cancel();
        self.bytes.lock().expect("one thread").get_or_insert_with(|| bytes(progress));
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

/// What a run over each set keeps first.
static WRITTEN: LazyLock<[Vec<u8>; SETS.len()]> = LazyLock::new(|| {
    std::array::from_fn(|set| {
        let machine = Machine::detect();
        // Not every kernel keeps checkpoints.
        let mut written = available::<MexRecords>(&machine).filter_map(|kernel| {
            let kept = Arc::new(Kept { run: Run::new(1), bytes: Mutex::new(None) });
            let start = Start::with_journal(Arc::clone(&kept) as _, None);
            let _ = kernel.run_from(start, &input(set), &kept.run);
            kept.bytes.lock().expect("one thread").take()
        });
        written.next().expect("some kernel keeps its progress")
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
            // Half of the lengths keep all of it.
            changed.truncate(length as usize % (2 * written.len()));
            match Progress::read(&input(set), &mut &changed[..]) {
                Ok(progress) => assert!(changed == *written && bytes(&progress) == *written, "a damaged file was read"),
                Err(error) => assert!(changed != *written, "a whole file was refused: {error}"),
            }
        }
    }
});
