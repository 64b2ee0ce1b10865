//! Long runs over subtraction sets with few moves: stopping, checkpoints, resuming, and checkpoints that must be refused.

use std::sync::{Arc, Mutex};

use nimlanes::cores::mex::checkpoint::CheckpointError;
use nimlanes::cores::mex::records::{Journal, MexRecords, Output, Progress, Records, Start};
use nimlanes::kernel::{Kernel, Operation, Run, RunError, available};
use nimlanes::machine::Machine;
use nimlanes::moves::MoveSet;
use proptest::collection::btree_set;
use proptest::prelude::*;
use proptest::sample::Index;
use twox_hash::XxHash3_64;

/// Heaps between two checkpoints.
const BATCH: u64 = 4096 * 64;

/// The kernels for few moves.
fn kernels() -> Vec<Kernel<MexRecords>> {
    let few = input("factorials", 1000);
    available::<MexRecords>(&Machine::detect()).filter(|kernel| kernel.cost(&few, 1).is_possible()).collect()
}

fn named(name: &str) -> Kernel<MexRecords> {
    nimlanes::kernel_named::<MexRecords>(name).expect("it runs anywhere")
}

fn input(set: &str, limit: u64) -> Records {
    Records::new(&set.parse().expect("a set"), limit).expect("few moves")
}

fn whole(kernel: Kernel<MexRecords>, input: &Records) -> Output {
    kernel.run(input, &Run::new(1)).expect("not cancelled")
}

fn read(input: &Records, mut file: &[u8]) -> Result<Progress, CheckpointError> {
    Progress::read(input, &mut file)
}

/// Reads back and keeps each checkpoint, and stops the run after a number of them.
struct Files {
    input: Records,
    most: usize,
    run: Arc<Run>,
    files: Mutex<Vec<Vec<u8>>>,
}

impl Journal for Files {
    fn keep(&self, progress: &Progress, _: bool) {
        let mut file = Vec::new();
        progress.write(&mut file).expect("memory takes it");
        let again = read(&self.input, &file).expect("what was written");
        assert!(again == *progress, "{:?}, after {} heaps", self.input, progress.done());
        let mut files = self.files.lock().expect("one thread");
        files.push(file);
        if files.len() == self.most {
            self.run.cancel();
        }
    }
}

/// Resumes from `file`, if there is one, and stops after a number of checkpoints. Returns these, and the output if complete.
fn part(
    kernel: Kernel<MexRecords>,
    input: &Records,
    file: Option<&[u8]>,
    most: usize,
) -> (Vec<Vec<u8>>, Result<Output, RunError>) {
    let run = Arc::new(Run::new(1));
    let journal = Arc::new(Files { input: input.clone(), most, run: Arc::clone(&run), files: Mutex::default() });
    let begin = file.map(|file| read(input, file).expect("what was written"));
    let output = kernel.run_from(Start::with_journal(Arc::clone(&journal) as Arc<dyn Journal>, begin), input, &run);
    (std::mem::take(&mut *journal.files.lock().expect("one thread")), output)
}

/// The checkpoint at which a run was stopped.
fn stopped(kernel: Kernel<MexRecords>, input: &Records, batches: usize) -> Vec<u8> {
    part(kernel, input, None, batches).0.pop().expect("a checkpoint")
}

/// The kernels that save their progress and are fast for this input: those with a plain history, and those with a
/// compressed one. Within each group, every kernel can continue what another one began.
fn resumable(input: &Records) -> [Vec<Kernel<MexRecords>>; 2] {
    // The baseline saves no progress.
    let fast = kernels().into_iter().skip(1).filter(|kernel| kernel.cost(input, 1).ns < 2e8);
    let (compressed, plain) = fast.partition(is_compressed);
    [plain, compressed]
}

fn is_compressed(kernel: &Kernel<MexRecords>) -> bool {
    kernel.def().name.starts_with("compressed")
}

/// Sets and limits with a ring that is used once or several times, or is never full; with prefixes, one of which ends at a
/// block boundary; and with the most values. Far moves are not multiples of a block.
const RUNS: [(&str, u64); 9] = [
    ("2,600001", 1_900_000),
    ("1,5,300001", 1_900_000),
    ("2,1500001", 1_800_000),
    ("1,5,500003,1350001", 1_800_000),
    ("3,1300001", 1_300_000 + 64 * 5000),
    ("fibonacci", 1_500_000),
    ("factorials", 1_500_000),
    ("1,2", 999_999),
    ("1..62", 600_000),
];

/// Wherever a run is stopped, the checkpoint holds its exact state, whichever kernel continues it: first heaps, frequencies and
/// fingerprint equal those from a table of all values.
#[test]
fn a_run_that_is_stopped_at_every_batch_has_the_output_of_an_uninterrupted_one() {
    for (set, limit) in RUNS {
        let input = input(set, limit);
        let want = whole(kernels()[0], &input);
        for kernels in resumable(&input).into_iter().filter(|kernels| !kernels.is_empty()) {
            let mut steps = kernels.into_iter().cycle();
            let (mut files, mut output) = part(steps.next().expect("some kernel"), &input, None, 1);
            while output == Err(RunError::Cancelled) {
                (files, output) = part(steps.next().expect("some kernel"), &input, files.last().map(Vec::as_slice), 1);
            }
            assert_eq!(output.as_ref(), Ok(&want), "{set}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_set_with_far_moves_can_be_resumed_anywhere(
        near in btree_set(1u64..200, 1..4),
        far in btree_set(200_000u64..1_500_000, 1..3),
        limit in 600_000u64..1_600_000,
        batch: Index,
        choice: Index,
    ) {
        let set: Vec<String> = near.iter().chain(&far).map(u64::to_string).collect();
        let input = input(&set.join(","), limit);
        let want = whole(kernels()[0], &input);
        for kernels in resumable(&input) {
            let kernel = kernels[choice.index(kernels.len())];
            let (files, _) = part(kernel, &input, None, usize::MAX);
            prop_assert_eq!(files.len() as u64, (limit + 1).div_ceil(BATCH), "a file for each batch");
            let (_, output) = part(kernel, &input, Some(&files[batch.index(files.len())]), usize::MAX);
            prop_assert_eq!(output.as_ref(), Ok(&want), "{}", kernel.def().name);
        }
    }
}

/// An input whose far move is compressed.
fn far() -> Records {
    input("1,5,600001", 1_200_000)
}

#[test]
fn histories_of_the_two_forms_do_not_mix() {
    let input = far();
    let [plain, compressed] = ["masks", "compressed_lanes"].map(|name| stopped(named(name), &input, 2));
    let begun = |file: &[u8]| read(&input, file).expect("what was written");
    assert_eq!((&plain[..8], &compressed[..8]), (&b"nimlane2"[..], &b"nimlane3"[..]));
    assert!(begun(&compressed).is_packed() && !begun(&plain).is_packed());
    for kernel in kernels().into_iter().skip(1) {
        let (file, other) = if is_compressed(&kernel) { (&compressed, &plain) } else { (&plain, &compressed) };
        assert!(kernel.cost(&input.clone().continuing(&begun(file)), 1).is_possible(), "{kernel:?}");
        assert!(!kernel.cost(&input.clone().continuing(&begun(other)), 1).is_possible(), "{kernel:?}");
        assert_eq!(part(kernel, &input, Some(other), 1).1, Err(RunError::OutsideDomain), "{kernel:?}");
    }
}

/// This holds even if their histories have the same lengths.
#[test]
fn progress_of_another_run_is_not_continued() {
    let kernel = *kernels().last().expect("a kernel");
    let begun = input("1,2,6", 600_000);
    let file = stopped(kernel, &begun, 1);
    for (set, limit, is_same) in [("1,2,6", 600_000, true), ("1,3,6", 600_000, false), ("1,2,6", 600_001, false)] {
        let start = Start { from: read(&begun, &file).ok(), journal: None };
        let result = kernel.run_from(start, &input(set, limit), &Run::new(1));
        assert_eq!(result.err(), (!is_same).then_some(RunError::OutsideDomain), "{set} {limit}");
    }
}

#[test]
fn a_compressed_history_of_the_factorials_takes_a_fraction_of_a_byte_a_heap() {
    let file = stopped(named("compressed_lanes"), &input("factorials", 8_000_000), 28);
    assert!(file.len() as f64 <= 0.05 * (10 * 9 * 8 * 7 * 6 * 5 * 4 * 3 * 2) as f64, "{} bytes", file.len());
}

/// The number at a byte of a checkpoint.
fn get(file: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(file[at..at + 8].try_into().expect("8 bytes"))
}

/// A checkpoint with other numbers at these bytes, and a valid checksum.
fn resealed(file: &[u8], puts: &[(usize, u64)]) -> Vec<u8> {
    let mut file = file[..file.len() - 8].to_vec();
    puts.iter().for_each(|(at, number)| file[*at..at + 8].copy_from_slice(&number.to_le_bytes()));
    file.extend(XxHash3_64::oneshot(&file).to_le_bytes());
    file
}

#[test]
fn checkpoints_of_other_runs_and_damaged_ones_are_refused() {
    for (kernel, input, others, batches) in [
        ("guess_lanes", input("factorials", 800_000), [("factorials", 800_001), ("fibonacci", 800_000)], 1),
        ("compressed_lanes", far(), [("1,5,600001", 1_200_001), ("1,600001", 1_200_000)], 3),
    ] {
        let file = stopped(named(kernel), &input, batches);
        assert_eq!(read(&input, &file).expect("it is whole").done(), (1 + batches as u64) * BATCH);
        for (set, limit) in others {
            assert!(matches!(read(&self::input(set, limit), &file), Err(CheckpointError::Foreign)), "{set} {limit}");
        }
        for length in [8, 9, 100, file.len() / 2, file.len() - 1] {
            assert!(matches!(read(&input, &file[..length]), Err(CheckpointError::Truncated)), "{length} bytes");
        }
        assert!(matches!(read(&input, &[file.as_slice(), &[0]].concat()), Err(CheckpointError::Damaged)));
        // Every byte of the header, and some of the rest.
        for at in (0..500).chain((500..file.len()).step_by(1009)).chain([file.len() - 1]) {
            let mut file = file.clone();
            file[at] ^= 0x10;
            assert!(read(&input, &file).is_err(), "byte {at}");
        }
    }
    let read = |file: &[u8]| read(&input("factorials", 800_000), file).expect_err("refused");
    assert!(matches!(read(b""), CheckpointError::NoCheckpoint));
    assert!(matches!(read(b"something else"), CheckpointError::NoCheckpoint));
    assert!(matches!(read(b"nimlane1"), CheckpointError::OldFormat));
}

/// With a valid checksum, too.
#[test]
fn changed_checkpoints_of_compressed_histories_are_refused_or_harmless() {
    let (kernel, input) = (named("compressed_lanes"), far());
    let file = stopped(kernel, &input, 3);
    // The limit may be one for which nothing is compressed.
    assert!(read(&self::input("1,5,600001", 500_000), &resealed(&file, &[(8, 500_000)])).is_err());
    // Runs are saved at the ends of frames. Here, the heaps done and the count of the value 0 are one block less.
    let next = 8 * (3 + input.moves().len());
    let counts = next + 16 + 8 * get(&file, next + 8) as usize;
    let early = resealed(&file, &[next, counts].map(|at| (at, get(&file, at) - 64)));
    assert!(matches!(read(&input, &early), Err(CheckpointError::Damaged)));
    for (at, with) in (0..file.len() - 16).step_by(7).zip((1..=255_u64).cycle()) {
        if let Ok(progress) = read(&input, &resealed(&file, &[(at, get(&file, at) ^ with)])) {
            let _ = kernel.run_from(Start { from: Some(progress), journal: None }, &input, &Run::new(1));
        }
    }
}

/// Files with a valid checksum that no run can have written.
#[test]
fn files_that_no_run_can_have_written_are_damaged() {
    // It has 41 values.
    let input = input("1..40", 600_000);
    let file = stopped(named("guess_lanes"), &input, 1);
    let next = 8 * (3 + 40);
    let first = next + 16;
    let counts = first + 8 * 41;
    let codes = counts + 8 * 41 + 8;
    let done = get(&file, next);
    let sealed = |puts: &[(usize, u64)]| read(&input, &resealed(&file, puts)).map(|progress| progress.done());
    assert_eq!((sealed(&[]).ok(), get(&file, next + 8)), (Some(done), 41), "this is the way to seal a file");
    let is_damaged = |what: &str, puts: &[(usize, u64)]| {
        let result = sealed(puts);
        assert!(matches!(result, Err(CheckpointError::Damaged)), "{what}: {result:?}");
    };
    // Numbers of finished heaps, with counts that add up to them.
    for wrong in [0, 1, done - 1, done + 1, done + 63, 600_002, 1 << 40, u64::MAX] {
        let count = get(&file, counts).wrapping_add(wrong.wrapping_sub(done));
        is_damaged(&format!("{wrong} heaps done"), &[(next, wrong), (counts, count)]);
    }
    for wrong in [0, 1, 40, 42] {
        assert!(sealed(&[(next + 8, wrong)]).is_err(), "{wrong} values");
    }
    // The reader does not look for so many values.
    for wrong in [64, 1 << 40, u64::MAX] {
        is_damaged(&format!("{wrong} values"), &[(next + 8, wrong)]);
    }
    for (what, place, wrong) in [
        ("heap 0 has no value", first, 1),
        ("two values begin at one heap", first + 8, 0),
        ("two values begin at a heap with moves enough", first + 8, 2),
        ("values out of order", first + 8, 3),
        ("a value before its moves", first + 8 * 40, 39),
        ("a value that begins later", first + 8 * 40, done),
        ("a value without heaps", counts, 0),
        ("a heap too many", counts, get(&file, counts) + 1),
        ("more heaps than fit", counts, u64::MAX),
    ] {
        is_damaged(what, &[(place, wrong)]);
    }
    let both = get(&file, counts) + get(&file, counts + 8);
    is_damaged("a value without heaps in the right sum", &[(counts, 0), (counts + 8, both)]);
    for code in [0, 63 - 41, 64, 255] {
        for place in [codes, codes + 63, file.len() - 16] {
            is_damaged(&format!("code {code} at {place}"), &[(place, get(&file, place) & !255 | code)]);
        }
    }
}

/// Heaps up to the limit need every heap of the prefix, whether or not it ends at a boundary of blocks, tiles and
/// frames.
#[test]
fn a_prefix_is_as_long_as_the_last_heap_needs() {
    for limit in 5000..5200 {
        let input = input("2,5000", limit);
        let want = MexRecords::oracle(&input);
        for kernel in kernels() {
            assert_eq!(whole(kernel, &input), want, "{} to {limit}", kernel.def().name);
        }
    }
    for past in [-4097, -64, -1, 0, 1, 63, 4096_i64] {
        let input = input("2,2000001", (2_000_001 + BATCH).strict_add_signed(past));
        let [plain, compressed] = resumable(&input);
        let want = whole(plain[0], &input);
        for kernel in compressed {
            assert_eq!(whole(kernel, &input), want, "{} to {past} past a frame", kernel.def().name);
        }
    }
}

/// The oracle's fingerprint, which has its own sum of the values, has the stated form.
#[test]
fn a_fingerprint_is_a_hash_of_all_values() {
    let values = nimlanes::grundy_values("2,7,19,50", 100_001).expect("a small limit");
    let mut fingerprint = 0u64;
    for block in values.chunks(64) {
        let mut codes = [0u8; 64];
        codes.iter_mut().zip(block).for_each(|(code, v)| *code = 63 - *v as u8);
        for word in codes.as_chunks::<8>().0 {
            fingerprint = (fingerprint.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }
    assert_eq!(MexRecords::oracle(&input("2,7,19,50", 100_001)).fingerprint, fingerprint);
}

#[test]
fn kernels_that_guess_equal_the_table_where_guesses_are_right_and_where_they_are_wrong() {
    let equal_the_table = |set: &str, limit, is_meant: fn(&Kernel<MexRecords>) -> bool| {
        let input = input(set, limit);
        let want = whole(named("table"), &input);
        for kernel in kernels().into_iter().filter(is_meant) {
            assert_eq!(whole(kernel, &input), want, "{} of {set}", kernel.def().name);
        }
    };
    // Periods of 3, 2, 25 and 65 heaps, one past the longest that is tried, none, and values of 8 and above.
    for set in ["1,2", "1", "1,2,6,24", "1,64", "factorials", "1,200", "fibonacci", "1,2,3,4,5,6,7,8,9"] {
        equal_the_table(set, 300_000, |kernel| kernel.def().name.starts_with("guess"));
    }
    // Far moves, with the same periods, with values of 16 and above, and with blocks that are compressed in each way.
    for near in ["1,2", "1", "1,2,6,24", "1,64", "1,5,24,120", "3,5,11", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"] {
        for far in ["600001", "524225", "524224", "700000,1500001"] {
            equal_the_table(&format!("{near},{far}"), 2_000_000, is_compressed);
        }
    }
}

#[test]
fn heaps_past_the_limit_have_no_value() {
    // The maximum number of values: the code of the next one pads the last block.
    for limit in 61..=64 {
        let input = input("1..62", limit);
        let oracle = MexRecords::oracle(&input);
        assert_eq!(oracle.first, (0..=limit.min(62)).collect::<Vec<_>>(), "limit {limit}");
        for kernel in kernels() {
            assert_eq!(whole(kernel, &input), oracle, "{} to {limit}", kernel.def().name);
        }
    }
}

#[test]
fn sets_with_many_moves_are_refused() {
    for set in ["squares", "1..63", "random-sparse", "random-dense"] {
        assert!(Records::new(&set.parse().expect("a set"), 1 << 39).is_err(), "{set}");
    }
    assert!(Records::new(&MoveSet::UpTo(62), 1 << 39).is_ok());
    assert!(Records::new(&MoveSet::Factorials, (1 << 41) + 1).is_err());
}
