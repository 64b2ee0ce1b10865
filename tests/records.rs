//! Long runs over subtraction sets with few moves: stopped, kept in a file, gone on with; and what no run goes on from.

use std::sync::{Arc, Mutex};

use nimlanes::cores::mex::records::checkpoint::CheckpointError;
use nimlanes::cores::mex::records::{Journal, MexRecords, Output, Progress, Records};
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
use nimlanes::kernel::{Kernel, Operation, Run, Stop, available};
use nimlanes::machine::Machine;
use nimlanes::moves::MoveSet;

fn kernels() -> Vec<Kernel<MexRecords>> {
    available::<MexRecords>(&Machine::detect()).collect()
}

fn input(set: &str, limit: u64) -> Records {
    Records::new(&set.parse().expect("a set"), limit).expect("few moves")
}

fn whole(kernel: Kernel<MexRecords>, set: &str, limit: u64) -> Output {
    kernel.run(&input(set, limit), &Run::new(1)).expect("nobody stops it")
}

/// Writes the progress down each time, and stops the run after some times.
struct StopAfter {
    times: Mutex<usize>,
    run: Arc<Run>,
    file: Mutex<Vec<u8>>,
}

impl Journal for StopAfter {
    fn keep(&self, progress: &Progress, _: bool) {
        let mut file = self.file.lock().expect("one thread");
        file.clear();
        progress.write(&mut *file).expect("memory takes it");
        let mut times = self.times.lock().expect("one thread");
        *times = times.saturating_sub(1);
        if *times == 0 {
            self.run.cancel();
        }
    }
}

/// Goes on from `file`, if there is one, and stops after some blocks; the file, and the output if it came to an end.
fn part(
    kernel: Kernel<MexRecords>,
    set: &str,
    limit: u64,
    file: Option<&[u8]>,
    times: usize,
) -> (Vec<u8>, Option<Output>) {
    let run = Arc::new(Run::new(1));
    let journal = Arc::new(StopAfter { times: Mutex::new(times), run: Arc::clone(&run), file: Mutex::default() });
    let input = input(set, limit);
    let begin = file.map(|mut file| Progress::read(&input, &mut file).expect("what was written"));
    let input = input.kept(Arc::clone(&journal) as Arc<dyn Journal>, begin).expect("of this input");
    let output = match kernel.run(&input, &run) {
        Err(Stop::Cancelled) => None,
        output => Some(output.expect("it was stopped or ended")),
    };
    (std::mem::take(&mut *journal.file.lock().expect("one thread")), output)
}

#[test]
fn a_run_that_was_stopped_goes_on_with_any_kernel() {
    // A ring without a prefix, one with, and one that is never full.
    for (set, limit) in [("fibonacci", 1_500_000), ("factorials", 3_000_001), ("3,500000", 2_000_000), ("1,2", 999_999)]
    {
        let want = whole(kernels()[0], set, limit);
        // The baseline keeps nothing.
        let mut steps =
            kernels().into_iter().skip(1).filter(|kernel| kernel.cost(&input(set, limit), 1).ns < 2e8).cycle();
        let (mut file, mut output) = (None, None);
        while output.is_none() {
            let (kept, end) = part(steps.next().expect("some kernel"), set, limit, file.as_deref(), 2);
            (file, output) = (Some(kept), end);
        }
        assert_eq!(output, Some(want), "{set}");
    }
}

#[test]
fn no_run_goes_on_from_another_or_a_damaged_file() {
    let kernel = *kernels().last().expect("a kernel");
    let (file, _) = part(kernel, "factorials", 800_000, None, 1);
    let read = |set: &str, limit, mut file: &[u8]| Progress::read(&input(set, limit), &mut file).map(|p| p.done());
    assert_eq!(read("factorials", 800_000, &file).expect("it is whole"), 524_288);
    for (set, limit) in [("factorials", 800_001), ("fibonacci", 800_000), ("1,2,6", 800_000)] {
        assert!(matches!(read(set, limit, &file), Err(CheckpointError::Foreign)), "{set} {limit}");
    }
    let whole = |file: &[u8]| read("factorials", 800_000, file);
    assert!(matches!(whole(b""), Err(CheckpointError::NoCheckpoint)));
    assert!(matches!(whole(b"something else"), Err(CheckpointError::NoCheckpoint)));
    assert!(matches!(whole(&[file.as_slice(), &[0]].concat()), Err(CheckpointError::Damaged)));
    for length in [8, 9, 100, file.len() / 2, file.len() - 1] {
        assert!(matches!(whole(&file[..length]), Err(CheckpointError::Truncated)), "{length} bytes");
    }
    // Every byte of the head, and some of the rest.
    for at in (0..500).chain((500..file.len()).step_by(1009)).chain([file.len() - 1]) {
        let mut file = file.clone();
        file[at] ^= 0x10;
        assert!(whole(&file).is_err(), "byte {at}");
    }
}

/// All values, by the kernels of another operation that keep them: equal fingerprints.
#[test]
fn fingerprints_are_of_the_values_that_tables_hold() {
    for (set, limit) in [("factorials", 1_000_000), ("fibonacci", 300_000), ("2,7,19,50", 100_001)] {
        let input = Subtraction::new(&set.parse::<MoveSet>().expect("a set"), limit, &Machine::detect())
            .expect("a small limit");
        let values = available::<MexSubtraction>(&Machine::detect()).find(|kernel| kernel.def().name == "stamp");
        let values = values.expect("always there").run(&input, &Run::new(1)).expect("nobody stops it");
        let mut fingerprint = 0u64;
        for block in values.chunks(64) {
            let mut codes = [0u8; 64];
            codes.iter_mut().zip(block).for_each(|(code, v)| *code = 63 - *v as u8);
            for word in codes.as_chunks::<8>().0 {
                fingerprint =
                    (fingerprint.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x517c_c1b7_2722_0a95);
            }
        }
        for kernel in kernels() {
            let output = whole(kernel, set, limit);
            assert_eq!(output.fingerprint, fingerprint, "{set}, {}", kernel.def().name);
            let count = |v: usize| values.iter().filter(|g| usize::from(**g) == v).count() as u64;
            assert_eq!(output.counts, (0..output.counts.len()).map(count).collect::<Vec<_>>(), "{set}");
        }
    }
}

#[test]
fn heaps_past_the_limit_have_no_value() {
    // As many values as there can be: the next one's code is what pads the last block.
    for limit in 61..=64 {
        let oracle = MexRecords::oracle(&input("1..62", limit));
        assert_eq!(oracle.first, (0..=limit.min(62)).collect::<Vec<_>>(), "limit {limit}");
        for kernel in kernels() {
            assert_eq!(whole(kernel, "1..62", limit), oracle, "{} to {limit}", kernel.def().name);
        }
    }
}

#[test]
fn sets_with_many_moves_are_refused() {
    for set in ["squares", "primes", "1..63", "random-sparse"] {
        assert!(Records::new(&set.parse().expect("a set"), 1 << 39).is_err(), "{set}");
    }
    assert!(Records::new(&MoveSet::UpTo(62), 1 << 39).is_ok());
    assert!(Records::new(&MoveSet::Factorials, (1 << 40) + 1).is_err());
}
