//! P-positions in long runs: stopping, checkpoints, resuming, checkpoints that must be refused, and limits.

use std::sync::{Arc, Mutex};

use nimlanes::cores::mex::checkpoint::CheckpointError;
use nimlanes::cores::mex::zeros::{Journal, MAX_LIMIT, MexZeros, Progress, Start, Zeros};
use nimlanes::cores::named::ByName;
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::{Kernel, Operation, Run, RunError, available};
use nimlanes::machine::Machine;
use nimlanes::machine::isa::Tier;
use proptest::collection::btree_set;
use proptest::prelude::*;
use proptest::sample::Index;
use twox_hash::XxHash3_64;

fn input(set: &str, limit: u64) -> Zeros {
    Zeros::new(&set.parse().expect("a set"), limit, &Machine::detect()).expect("a small limit").resumable()
}

/// The kernels that can resume.
fn kernels() -> Vec<Kernel<MexZeros>> {
    let input = input("squares", 1000);
    available::<MexZeros>(&Machine::detect()).filter(|kernel| kernel.cost(&input, 1).is_possible()).collect()
}

/// Keeps the last checkpoint, and stops the run after a number of checkpoints.
struct StopAfter {
    input: Zeros,
    run: Arc<Run>,
    left: Mutex<usize>,
    file: Mutex<Vec<u8>>,
}

impl Journal for StopAfter {
    fn keep(&self, progress: &Progress, _: bool) {
        let mut file = Vec::new();
        progress.write(&self.input, &mut file).expect("memory takes it");
        let read = Progress::read(&self.input, &mut &file[..]).expect("what was written");
        assert!(read == *progress, "after {} heaps", progress.done());
        *self.file.lock().expect("one thread") = file;
        let mut left = self.left.lock().expect("one thread");
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.run.cancel();
        }
    }
}

/// Resumes from `file`, if there is one, and stops after `tiles`. Returns the checkpoint, and the output if complete.
fn part(
    kernel: Kernel<MexZeros>,
    input: &Zeros,
    file: Option<&[u8]>,
    tiles: usize,
) -> (Vec<u8>, Result<Vec<u64>, RunError>) {
    let run = Arc::new(Run::new(1));
    let (left, file_kept) = (Mutex::new(tiles), Mutex::default());
    let journal = Arc::new(StopAfter { input: input.clone(), run: Arc::clone(&run), left, file: file_kept });
    let from = file.map(|mut file| Progress::read(input, &mut file).expect("what was written"));
    let output = kernel.run_from(Start::with_journal(Arc::clone(&journal) as _, from), input, &run);
    (std::mem::take(&mut *journal.file.lock().expect("one thread")), output)
}

#[test]
fn a_run_that_is_stopped_many_times_has_the_same_output() {
    for (set, limit) in [("squares", 700_000), ("2,250001", 600_000), ("1,3,700", 300_000), ("primes", 100_000)] {
        let input = input(set, limit);
        let want = nimlanes::zeros(set, limit).expect("a small limit");
        let mut steps = kernels().into_iter().cycle();
        let (mut file, mut output) = part(steps.next().expect("some kernel"), &input, None, 1);
        let mut stops = 1;
        while output == Err(RunError::Cancelled) {
            (file, output) = part(steps.next().expect("some kernel"), &input, Some(&file), 1);
            stops += 1;
        }
        assert!(stops > 2, "{set}: {stops} stops");
        assert!(output == Ok(want), "{set}");
    }
}

/// The P-positions up to a heap do not depend on the limit.
#[test]
fn a_run_resumes_to_a_larger_limit() {
    let (small, large) = (input("squares", 400_000), input("squares", 900_000));
    for kernel in kernels() {
        let (file, _) = part(kernel, &small, None, 3);
        let progress = Progress::read(&large, &mut &file[..]).expect("the same set");
        assert!(progress.done() > 0 && progress.done() < 400_000);
        let (_, output) = part(kernel, &large, Some(&file), usize::MAX);
        assert!(output == Ok(nimlanes::zeros("squares", 900_000).expect("a small limit")), "{}", kernel.def().name);
    }
}

/// A checkpoint with these numbers after its letters, and with the right checksum.
fn sealed(letters: &[u8; 8], numbers: &[u64]) -> Vec<u8> {
    let mut file = letters.to_vec();
    numbers.iter().for_each(|number| file.extend(number.to_le_bytes()));
    file.extend(XxHash3_64::oneshot(&file).to_le_bytes());
    file
}

#[test]
fn checkpoints_of_other_runs_and_damaged_ones_are_refused() {
    let squares = input("squares", 400_000);
    let (file, _) = part(kernels()[0], &squares, None, 3);
    let error = |input: &Zeros, file: &[u8]| Progress::read(input, &mut &file[..]).expect_err("refused");
    for other in [input("triangular", 400_000), input("1,4,9,16", 400_000), input("squares", 10_000)] {
        assert!(matches!(error(&other, &file), CheckpointError::Foreign));
    }
    // Moves beyond these are not legal in the heaps that are done.
    let done = Progress::read(&squares, &mut &file[..]).expect("whole").done();
    let same: Vec<String> = (1..).map(|k| k * k).take_while(|m| *m < done).map(|m| m.to_string()).collect();
    for further in [vec![], vec![done.to_string()], vec![(done + 1).to_string()]] {
        let set = [&same[..], &further].concat().join(",");
        assert!(Progress::read(&input(&set, 400_000), &mut &file[..]).is_ok(), "{further:?}");
    }

    // A newer version's; `records` has what every checkpoint is checked for.
    assert!(matches!(error(&squares, b"nimzero2"), CheckpointError::NewFormat));

    // The right checksum is not enough. The numbers: heaps done, moves and their hash, P-positions.
    let numbers: Vec<u64> =
        file[8..file.len() - 8].as_chunks().0.iter().map(|number| u64::from_le_bytes(*number)).collect();
    assert!(sealed(b"nimzero1", &numbers) == file);
    let count = numbers[3] as usize;
    assert_eq!(numbers.len(), 4 + count);
    let changed = |at: usize, number: u64| {
        let mut numbers = numbers.clone();
        numbers[at] = number;
        error(&squares, &sealed(b"nimzero1", &numbers)).to_string()
    };
    let damaged = CheckpointError::Damaged.to_string();
    assert_eq!(changed(4, 1), damaged, "heap 0 is a P-position");
    assert_eq!(changed(9, numbers[8]), damaged, "ascending");
    assert_eq!(changed(3 + count, done), damaged, "heaps that are done");
    assert_eq!(changed(3, u64::MAX), damaged, "as many as it says");
    let of_none = [done, numbers[1], numbers[2], 0];
    assert_eq!(error(&squares, &sealed(b"nimzero1", &of_none)).to_string(), damaged, "no P-position at all");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_set_can_be_resumed_anywhere(
        moves in prop_oneof![btree_set(1_u64..400_000, 1..30), btree_set(1_u64..2000, 1..200)],
        limit in 60_000_u64..400_000,
        tiles in 1_usize..6,
        which in any::<Index>(),
    ) {
        let set = moves.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let input = input(&set, limit);
        let (file, output) = part(*which.get(&kernels()), &input, None, tiles);
        let output = output.or_else(|_| part(*which.get(&kernels()), &input, Some(&file), usize::MAX).1);
        prop_assert!(output == Ok(nimlanes::zeros(&set, limit).expect("a small limit")), "{}", set);
    }
}

/// A kernel that can start only at heap 0 is not chosen for a run that is saved, and refuses such a run.
#[test]
fn other_kernels_do_not_resume() {
    let resumable = input("squares", 10_000);
    let plain = Zeros::new(&"squares".parse().expect("a set"), 10_000, &Machine::detect()).expect("a small limit");
    let able: Vec<&str> = kernels().iter().map(|kernel| kernel.def().name).collect();
    for kernel in available::<MexZeros>(&Machine::detect()) {
        let is_able = able.contains(&kernel.def().name);
        assert_eq!(kernel.def().name.starts_with("residue_rows"), is_able);
        if !is_able {
            assert_eq!(part(kernel, &plain, None, 1).1, Err(RunError::OutsideDomain), "{}", kernel.def().name);
            assert_eq!(kernel.run(&resumable, &Run::new(1)), Err(RunError::OutsideDomain), "{}", kernel.def().name);
        }
    }
}

/// Limits above those of tables of values, up to one at which a row of bits does not fit in memory.
#[test]
fn large_limits_are_checked_before_anything_is_allocated() {
    for machine in Tier::here().map(|tier| Machine::described(tier, 2, 4 << 30)) {
        let of = |limit| Zeros::new(&"squares".parse().expect("a set"), limit, &machine);
        let selection = Selection::new(machine);
        let kernel = selection.kernel::<MexZeros>(&of(1 << 33).expect("allowed")).expect("it fits");
        assert!(kernel.def().name.starts_with("residue_rows"), "{}", kernel.def().name);
        let named = selection.with_kernel(MexZeros::NAME, kernel.def().name).expect("it is listed");
        let Err(SelectError::Memory { needs, .. }) = named.kernel::<MexZeros>(&of(MAX_LIMIT).expect("allowed")) else {
            panic!("128 GiB do not fit");
        };
        assert!(needs > (128_u64 << 30) as f64, "{needs}");
        let error = of(MAX_LIMIT + 1).expect_err("too large").to_string();
        assert!(error.contains(&format!("at most {MAX_LIMIT}")), "{error}");
    }
}
