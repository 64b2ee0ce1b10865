//! A checkpoint that differs from what was written is refused: any bytes, and real checkpoints of records (both
//! formats), zeros, octal games and their periods, with some bytes changed.
#![no_main]

use std::io::{self, Write};
use std::sync::{Arc, LazyLock, Mutex};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use nimlanes::cores::mex::checkpoint::CheckpointError;
use nimlanes::cores::mex::{octal, period, records, zeros};
use nimlanes::kernel::{Kernel, Operation, Run, available};
use nimlanes::machine::Machine;

#[derive(Arbitrary, Debug)]
enum File {
    Bytes(Vec<u8>),
    /// One of the checkpoints, cut to a length, with bytes changed by XOR.
    Changed {
        which: u8,
        length: u32,
        changes: Vec<(u32, u8)>,
    },
}

/// Reads a checkpoint of one kind, and returns what it would write again.
type Reader = dyn Fn(&[u8]) -> Result<Vec<u8>, CheckpointError> + Send + Sync;

struct Checkpoint {
    written: Vec<u8>,
    read: Box<Reader>,
}

/// Keeps the bytes of the first checkpoint, and stops the run.
struct Journal<W> {
    run: Run,
    bytes: Mutex<Option<Vec<u8>>>,
    write: W,
}

impl<W> Journal<W> {
    fn keep_first(&self, write: impl FnOnce(&W, &mut dyn Write) -> io::Result<()>) {
        self.run.cancel();
        self.bytes.lock().expect("one thread").get_or_insert_with(|| bytes(|to| write(&self.write, to)));
    }
}

impl records::Journal for Journal<()> {
    fn keep(&self, progress: &records::Progress, _: bool) {
        self.keep_first(|(), to| progress.write(to));
    }
}

impl zeros::Journal for Journal<zeros::Zeros> {
    fn keep(&self, progress: &zeros::Progress, _: bool) {
        self.keep_first(|input, to| progress.write(input, to));
    }
}

impl octal::Journal for Journal<octal::Code> {
    fn keep(&self, values: &[u16], _: bool) {
        self.keep_first(|code, to| octal::checkpoint::write(code, values, to));
    }
}

impl period::Journal for Journal<()> {
    fn keep(&self, state: &period::Progress, input: &octal::Octal, _: bool) {
        self.keep_first(|(), to| state.write(input, to));
    }
}

fn bytes(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory takes all");
    bytes
}

/// The first checkpoint of the first kernel that keeps its progress, among those whose names begin with `name`.
fn first_kept<O: Operation, W>(
    name: &str,
    write: impl Fn() -> W,
    run: impl Fn(&Kernel<O>, &Arc<Journal<W>>),
) -> Vec<u8> {
    let machine = Machine::detect();
    let named = available::<O>(&machine).filter(|kernel| kernel.def().name.starts_with(name));
    let mut kept = named.filter_map(|kernel| {
        let journal = Arc::new(Journal { run: Run::new(1), bytes: Mutex::new(None), write: write() });
        run(&kernel, &journal);
        journal.bytes.lock().expect("one thread").take()
    });
    kept.next().expect("some kernel keeps its progress")
}

fn of_records(name: &str, moves: &str, limit: u64) -> Checkpoint {
    let input = records::Records::new(&moves.parse().expect("a set"), limit).expect("few moves");
    let written = first_kept::<records::MexRecords, ()>(name, Default::default, |kernel, journal| {
        let start = records::Start::with_journal(Arc::clone(journal) as _, None);
        let _ = kernel.run_from(start, &input, &journal.run);
    });
    let read = move |mut file: &[u8]| {
        let progress = records::Progress::read(&input, &mut file)?;
        Ok(bytes(|to| progress.write(to)))
    };
    Checkpoint { written, read: Box::new(read) }
}

fn of_zeros(moves: &str, limit: u64) -> Checkpoint {
    let set = moves.parse().expect("a set");
    let input = move || zeros::Zeros::new(&set, limit, &Machine::detect()).expect("few moves").resumable();
    let written = first_kept::<zeros::MexZeros, _>("", &input, |kernel, journal| {
        let start = zeros::Start::with_journal(Arc::clone(journal) as _, None);
        let _ = kernel.run_from(start, &journal.write, &journal.run);
    });
    let input = input();
    let read = move |mut file: &[u8]| {
        let progress = zeros::Progress::read(&input, &mut file)?;
        Ok(bytes(|to| progress.write(&input, to)))
    };
    Checkpoint { written, read: Box::new(read) }
}

fn of_octal(code: &str, limit: u64) -> Checkpoint {
    let code: octal::Code = code.parse().expect("a game");
    let input = octal::Octal::new(&code, limit).expect("a small limit");
    let keep = || code.clone();
    let written = first_kept::<octal::MexOctal, _>("", keep, |kernel, journal| {
        let start = octal::Start::with_journal(Arc::clone(journal) as _, None);
        let _ = kernel.run_from(start, &input, &journal.run);
    });
    let read = move |mut file: &[u8]| {
        let values = octal::checkpoint::read(&code, usize::MAX, &mut file)?;
        Ok(bytes(|to| octal::checkpoint::write(&code, &values, to)))
    };
    Checkpoint { written, read: Box::new(read) }
}

fn of_period(code: &str, limit: u64) -> Checkpoint {
    let input = octal::Octal::new(&code.parse().expect("a game"), limit).expect("a small limit");
    let written = first_kept::<period::MexPeriod, ()>("", Default::default, |kernel, journal| {
        let start = period::Start::with_journal(Arc::clone(journal) as _, None);
        let _ = kernel.run_from(start, &input, &journal.run);
    });
    let read = move |mut file: &[u8]| {
        let state = period::Progress::read(&input, &mut file)?;
        Ok(bytes(|to| state.write(&input, to)))
    };
    Checkpoint { written, read: Box::new(read) }
}

/// Checkpoints of records with and without a prefix, at limits above a batch; of zeros; of an octal game; and of one past
/// the table of its first values.
static CHECKPOINTS: LazyLock<Vec<Checkpoint>> = LazyLock::new(|| {
    vec![
        of_records("", "factorials", 300_000),
        of_records("", "2,250001", 300_000),
        of_records("", "1,3,700", 300_000),
        of_records("compressed", "1,3,600001", 700_000),
        of_zeros("squares", 1 << 20),
        of_zeros("3,5,11", 1 << 20),
        of_octal("0.6", 5000),
        of_period("0.106", 200_000),
    ]
});

fuzz_target!(|file: File| {
    match file {
        File::Bytes(bytes) => CHECKPOINTS.iter().for_each(|checkpoint| {
            let _ = (checkpoint.read)(&bytes);
        }),
        File::Changed { which, length, changes } => {
            let Checkpoint { written, read } = &CHECKPOINTS[which as usize % CHECKPOINTS.len()];
            let mut changed = written.clone();
            for (at, with) in changes {
                changed[at as usize % written.len()] ^= with;
            }
            // Half of the lengths keep the whole file.
            changed.truncate(length as usize % (2 * written.len()));
            match read(&changed) {
                Ok(again) => assert!(changed == *written && again == *written, "a damaged file was read"),
                Err(error) => assert!(changed != *written, "a whole file was refused: {error}"),
            }
        }
    }
});
