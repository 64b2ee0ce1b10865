//! Long runs over subtraction sets with few moves: stopping, checkpoints, resuming, and checkpoints that must be refused.

use std::sync::{Arc, Mutex};

use nimlanes::cores::mex::checkpoint::CheckpointError;
use nimlanes::cores::mex::records::{Journal, MexRecords, Output, Progress, Records, Start};
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
use nimlanes::kernel::{Kernel, Operation, Run, RunError, available};
use nimlanes::machine::Machine;
use nimlanes::moves::MoveSet;
use proptest::collection::btree_set;
use proptest::prelude::*;
use proptest::sample::Index;
use twox_hash::XxHash3_64;

/// The kernels for few moves.
fn kernels() -> Vec<Kernel<MexRecords>> {
    let few = input("factorials", 1000);
    available::<MexRecords>(&Machine::detect()).filter(|kernel| kernel.cost(&few, 1).is_possible()).collect()
}

fn input(set: &str, limit: u64) -> Records {
    Records::new(&set.parse().expect("a set"), limit).expect("few moves")
}

fn whole(kernel: Kernel<MexRecords>, set: &str, limit: u64) -> Output {
    kernel.run(&input(set, limit), &Run::new(1)).expect("not cancelled")
}

/// Saves the progress each time it is reported, and stops the run after a number of times.
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

/// Resumes from `file`, if there is one, and stops after saving `times` times. Returns the checkpoint, and the output
/// if complete.
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
    let start = Start::with_journal(Arc::clone(&journal) as Arc<dyn Journal>, begin);
    let output = match kernel.run_from(start, &input, &run) {
        Err(RunError::Cancelled) => None,
        output => Some(output.expect("it was stopped or ended")),
    };
    (std::mem::take(&mut *journal.file.lock().expect("one thread")), output)
}

/// Collects a checkpoint for each batch of blocks, and reads each back.
struct Files {
    set: String,
    limit: u64,
    files: Mutex<Vec<Vec<u8>>>,
}

impl Journal for Files {
    fn keep(&self, progress: &Progress, _: bool) {
        let mut file = Vec::new();
        progress.write(&mut file).expect("memory takes it");
        let read = Progress::read(&input(&self.set, self.limit), &mut file.as_slice()).expect("what was written");
        assert!(read == *progress, "{} to {}, after {} heaps", self.set, self.limit, progress.done());
        self.files.lock().expect("one thread").push(file);
    }
}

/// The checkpoints of a complete run, one for each batch of blocks.
fn files(kernel: Kernel<MexRecords>, set: &str, limit: u64) -> Vec<Vec<u8>> {
    let journal = Arc::new(Files { set: set.to_owned(), limit, files: Mutex::default() });
    let start = Start::with_journal(Arc::clone(&journal) as Arc<dyn Journal>, None);
    kernel.run_from(start, &input(set, limit), &Run::new(1)).expect("not cancelled");
    std::mem::take(&mut *journal.files.lock().expect("one thread"))
}

/// The kernels that save their progress and are fast for this input: those with a plain history, and those with a
/// compressed one. Within each group, every kernel can continue what another one began.
fn resumable(set: &str, limit: u64) -> [Vec<Kernel<MexRecords>>; 2] {
    let input = input(set, limit);
    // The baseline saves no progress.
    let fast = kernels().into_iter().skip(1).filter(|kernel| kernel.cost(&input, 1).ns < 2e8);
    let (compressed, plain) = fast.partition(is_compressed);
    [plain, compressed]
}

fn is_compressed(kernel: &Kernel<MexRecords>) -> bool {
    kernel.def().name.starts_with("compressed")
}

/// Sets and limits with a ring that is used once or several times, or is never full, and with prefixes, one of which ends at a
/// block boundary. Far moves are not multiples of a block.
const RUNS: [(&str, u64); 8] = [
    ("2,600001", 1_900_000),
    ("1,5,300001", 1_900_000),
    ("2,1500001", 1_800_000),
    ("1,5,500003,1350001", 1_800_000),
    ("3,1300001", 1_300_000 + 64 * 5000),
    ("fibonacci", 1_500_000),
    ("factorials", 1_500_000),
    ("1,2", 999_999),
];

/// Wherever a run is stopped, the checkpoint holds its exact state: first heaps, frequencies and fingerprint equal those from a
/// table of all values.
#[test]
fn a_run_resumed_at_any_batch_equals_an_uninterrupted_one() {
    for (set, limit) in RUNS {
        let want = whole(kernels()[0], set, limit);
        for kernels in resumable(set, limit) {
            let mut others = kernels.into_iter().cycle();
            let files = files(others.next().expect("some kernel"), set, limit);
            assert_eq!(files.len() as u64, (limit + 1).div_ceil(4096 * 64), "a file for each batch");
            for (batch, file) in files.iter().enumerate() {
                let kernel = others.next().expect("some kernel");
                let (_, output) = part(kernel, set, limit, Some(file), usize::MAX);
                assert_eq!(output.as_ref(), Some(&want), "{set} to {limit}, batch {batch}, {}", kernel.def().name);
            }
        }
    }
}

#[test]
fn a_run_that_is_stopped_many_times_has_the_same_output() {
    for (set, limit) in RUNS {
        let want = whole(kernels()[0], set, limit);
        for kernels in resumable(set, limit) {
            let mut steps = kernels.into_iter().cycle();
            let (mut file, mut output) = (None, None);
            while output.is_none() {
                let (kept, end) = part(steps.next().expect("some kernel"), set, limit, file.as_deref(), 1);
                (file, output) = (Some(kept), end);
            }
            assert_eq!(output.as_ref(), Some(&want), "{set}");
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
        let set = set.join(",");
        let want = whole(kernels()[0], &set, limit);
        for kernels in resumable(&set, limit) {
            let kernel = kernels[choice.index(kernels.len())];
            let files = files(kernel, &set, limit);
            let (_, output) = part(kernel, &set, limit, Some(&files[batch.index(files.len())]), usize::MAX);
            prop_assert_eq!(output.as_ref(), Some(&want), "{}", kernel.def().name);
        }
    }
}

/// A set whose far move is compressed.
const COMPRESSED: (&str, u64) = ("1,5,600001", 1_200_000);

/// A kernel with a compressed history, and a checkpoint that it wrote.
fn compressed() -> (Kernel<MexRecords>, Vec<u8>) {
    let kernel = kernels().into_iter().find(is_compressed).expect("it runs anywhere");
    let (set, limit) = COMPRESSED;
    (kernel, part(kernel, set, limit, None, 3).0)
}

#[test]
fn histories_of_the_two_forms_do_not_mix() {
    let (set, limit) = COMPRESSED;
    let (_, compressed) = compressed();
    let begun = |file: &[u8]| Progress::read(&input(set, limit), &mut &file[..]).expect("what was written");
    let plain = kernels().into_iter().find(|kernel| kernel.def().name == "masks").expect("it runs anywhere");
    let (plain, _) = part(plain, set, limit, None, 2);
    assert_eq!((&plain[..8], &compressed[..8]), (&b"nimlane2"[..], &b"nimlane3"[..]));
    assert!(begun(&compressed).is_packed() && !begun(&plain).is_packed());
    for kernel in kernels().into_iter().skip(1) {
        let (file, other) = if is_compressed(&kernel) { (&compressed, &plain) } else { (&plain, &compressed) };
        assert!(kernel.cost(&input(set, limit).continuing(&begun(file)), 1).is_possible(), "{kernel:?}");
        assert!(!kernel.cost(&input(set, limit).continuing(&begun(other)), 1).is_possible(), "{kernel:?}");
        let start = Start::with_journal(Arc::new(Nothing), Some(begun(other)));
        let result = kernel.run_from(start, &input(set, limit), &Run::new(1));
        assert_eq!(result, Err(RunError::OutsideDomain), "{kernel:?}");
    }
}

/// This holds even if their histories have the same lengths.
#[test]
fn progress_of_another_run_is_not_continued() {
    let kernel = *kernels().last().expect("a kernel");
    let (file, _) = part(kernel, "1,2,6", 600_000, None, 1);
    for (set, limit, is_same) in [("1,2,6", 600_000, true), ("1,3,6", 600_000, false), ("1,2,6", 600_001, false)] {
        let begun = Progress::read(&input("1,2,6", 600_000), &mut file.as_slice()).expect("what was written");
        let start = Start::with_journal(Arc::new(Nothing), Some(begun));
        let result = kernel.run_from(start, &input(set, limit), &Run::new(1));
        assert_eq!(result.err(), (!is_same).then_some(RunError::OutsideDomain), "{set} {limit}");
    }
}

/// Saves nothing.
struct Nothing;

impl Journal for Nothing {
    fn keep(&self, _: &Progress, _: bool) {}
}

#[test]
fn a_compressed_history_of_the_factorials_takes_a_fraction_of_a_byte_a_heap() {
    let kernel = kernels().into_iter().find(is_compressed).expect("it runs anywhere");
    let (file, _) = part(kernel, "factorials", 8_000_000, None, 28);
    assert!(file.len() as f64 <= 0.05 * (10 * 9 * 8 * 7 * 6 * 5 * 4 * 3 * 2) as f64, "{} bytes", file.len());
}

/// The number at a byte of a checkpoint.
fn get(file: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(file[at..at + 8].try_into().expect("8 bytes"))
}

/// Writes a number at a byte of a checkpoint.
fn put(file: &mut [u8], at: usize, number: u64) {
    file[at..at + 8].copy_from_slice(&number.to_le_bytes());
}

/// A checkpoint with other contents and a valid checksum.
fn resealed(file: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut file = file[..file.len() - 8].to_vec();
    change(&mut file);
    let sum = XxHash3_64::oneshot(&file);
    file.extend(sum.to_le_bytes());
    file
}

#[test]
fn damaged_checkpoints_of_compressed_histories_are_refused() {
    let (set, limit) = COMPRESSED;
    let (kernel, file) = compressed();
    let read = |file: &[u8]| Progress::read(&input(set, limit), &mut &file[..]).map(|progress| progress.done());
    assert_eq!(read(&file).expect("it is whole"), 4 * 4096 * 64);
    for length in [8, 9, 100, file.len() / 2, file.len() - 1] {
        assert!(matches!(read(&file[..length]), Err(CheckpointError::Truncated)), "{length} bytes");
    }
    // The limit may be one for which nothing is compressed.
    let mut small = file.clone();
    put(&mut small, 8, 500_000);
    assert!(Progress::read(&input(set, 500_000), &mut small.as_slice()).is_err());
    // Runs are saved at the ends of frames. Here, the heaps done and the count of the value 0 are one block less.
    let next = 8 * (3 + input(set, limit).moves().len());
    let counts = next + 16 + 8 * get(&file, next + 8) as usize;
    let early = resealed(&file, |early| {
        for place in [next, counts] {
            put(early, place, get(&file, place) - 64);
        }
    });
    assert!(matches!(read(&early), Err(CheckpointError::Damaged)));
    // Even with a valid checksum, a changed frame is either refused or harmless.
    for (at, with) in (0..file.len() - 8).step_by(7).zip((1..=255u8).cycle()) {
        let changed = resealed(&file, |file| file[at] ^= with);
        if let Ok(progress) = Progress::read(&input(set, limit), &mut changed.as_slice()) {
            let start = Start::with_journal(Arc::new(Nothing), Some(progress));
            let _ = kernel.run_from(start, &input(set, limit), &Run::new(1));
        }
    }
}

/// Heaps up to the limit need every heap of the prefix, whether or not it ends at a boundary of blocks, tiles and
/// frames.
#[test]
fn a_prefix_is_as_long_as_the_last_heap_needs() {
    for limit in 5000..5200 {
        let want = MexRecords::oracle(&input("2,5000", limit));
        for kernel in kernels() {
            assert_eq!(whole(kernel, "2,5000", limit), want, "{} to {limit}", kernel.def().name);
        }
    }
    let frame = 4096 * 64;
    for limit in (0..17).map(|i| 2_000_001 + frame + 1000 * i - 8000) {
        let [plain, compressed] = resumable("2,2000001", limit);
        let want = whole(plain[0], "2,2000001", limit);
        for kernel in compressed {
            assert_eq!(whole(kernel, "2,2000001", limit), want, "{} to {limit}", kernel.def().name);
        }
    }
}

#[test]
fn checkpoints_of_other_runs_and_damaged_ones_are_refused() {
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
    // Every byte of the header, and some of the rest.
    for at in (0..500).chain((500..file.len()).step_by(1009)).chain([file.len() - 1]) {
        let mut file = file.clone();
        file[at] ^= 0x10;
        assert!(whole(&file).is_err(), "byte {at}");
    }
    let old = [b"nimlane1", &file[8..]].concat();
    let error = whole(&old).expect_err("it is of the format before");
    assert!(matches!(error, CheckpointError::OldFormat) && error.to_string().contains("old format"), "{error}");
}

/// A checkpoint of a run with the moves `1..40`, which has 41 values, and the offsets of its fields.
fn many_values() -> (Vec<u8>, Vec<(&'static str, usize)>) {
    let (file, _) = part(*kernels().last().expect("a kernel"), "1..40", 600_000, None, 1);
    let next = 8 * (3 + 40);
    let first = next + 16;
    let counts = first + 8 * 41;
    let fingerprint = counts + 8 * 41;
    (file, vec![("next", next), ("first", first), ("counts", counts), ("fingerprint", fingerprint)])
}

#[test]
fn a_run_with_the_most_values_is_resumed() {
    let kernel = *kernels().last().expect("a kernel");
    let (file, _) = part(kernel, "1..62", 600_000, None, 1);
    let (_, output) = part(kernel, "1..62", 600_000, Some(&file), usize::MAX);
    let output = output.expect("it was not stopped");
    assert_eq!((output.first.len(), &output), (63, &whole(kernel, "1..62", 600_000)));
}

/// Two bits that differ in neighbouring words, and cancel in hashes that rotate and multiply.
#[test]
fn two_flipped_bits_do_not_cancel() {
    let (file, places) = many_values();
    let (_, fingerprint) = places[3];
    let codes = fingerprint + 8;
    assert_eq!(file[codes..codes + 3], [47, 46, 45], "heaps of the values 16, 17 and 18");
    let refused = |flips: [(usize, u8); 2]| {
        let mut file = file.clone();
        flips.into_iter().for_each(|(byte, bit)| file[byte] ^= bit);
        matches!(Progress::read(&input("1..40", 600_000), &mut file.as_slice()), Err(CheckpointError::Damaged))
    };
    // The first of them then has the value 0, which is a valid value.
    assert!(refused([(fingerprint + 7, 0x80), (codes, 0x10)]));
    for (a, b) in [(codes, codes + 1), (codes + 7, codes + 8), (codes + 64, codes + 128)] {
        for bits in (0..64).map(|i| (1 << (i % 8), 1 << (i / 8))) {
            assert!(refused([(a, bits.0), (b, bits.1)]), "{a} {b} {bits:?}");
        }
    }
}

/// Files with a valid checksum that no run can have written.
#[test]
fn files_that_no_run_can_have_written_are_damaged() {
    let (file, places) = many_values();
    let at = |name: &str| places.iter().find(|place| place.0 == name).expect("a place").1;
    let read = |file: &[u8]| Progress::read(&input("1..40", 600_000), &mut &file[..]).map(|progress| progress.done());
    let sealed = |change: &dyn Fn(&mut Vec<u8>)| read(&resealed(&file, change));
    let (next, first, counts, codes) = (at("next"), at("first"), at("counts"), at("fingerprint") + 8);
    let done = get(&file, next);
    assert_eq!((sealed(&|_| ()).ok(), get(&file, next + 8)), (Some(done), 41), "this is the way to seal a file");

    // Numbers of finished heaps, with counts that add up to them.
    for wrong in [0, 1, done - 1, done + 1, done + 63, 600_002, 1 << 40, u64::MAX] {
        let result = sealed(&|changed| {
            put(changed, next, wrong);
            put(changed, counts, get(&file, counts).wrapping_add(wrong.wrapping_sub(done)));
        });
        assert!(matches!(result, Err(CheckpointError::Damaged)), "{wrong} heaps done: {result:?}");
    }
    for wrong in [0, 1, 40, 42] {
        let result = sealed(&|file| put(file, next + 8, wrong));
        assert!(result.is_err(), "{wrong} values: {result:?}");
    }
    // The reader does not look for so many values.
    for wrong in [64, 1 << 40, u64::MAX] {
        let result = sealed(&|file| put(file, next + 8, wrong));
        assert!(matches!(result, Err(CheckpointError::Damaged)), "{wrong} values: {result:?}");
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
        let result = sealed(&|file| put(file, place, wrong));
        assert!(matches!(result, Err(CheckpointError::Damaged)), "{what}: {result:?}");
    }
    let result = sealed(&|changed| {
        put(changed, counts + 8, get(&file, counts) + get(&file, counts + 8));
        put(changed, counts, 0);
    });
    assert!(matches!(result, Err(CheckpointError::Damaged)), "a value without heaps in the right sum: {result:?}");
    for code in [0, 63 - 41, 64, 255] {
        for place in [codes, codes + 63, file.len() - 9] {
            let result = sealed(&|file| file[place] = code);
            assert!(matches!(result, Err(CheckpointError::Damaged)), "code {code} at {place}: {result:?}");
        }
    }
}

/// The fingerprints equal those computed from all values of another operation, whose kernels keep the values.
#[test]
fn fingerprints_equal_those_of_complete_tables() {
    for (set, limit) in [("factorials", 1_000_000), ("fibonacci", 300_000), ("2,7,19,50", 100_001)] {
        let input = Subtraction::new(&set.parse::<MoveSet>().expect("a set"), limit, &Machine::detect())
            .expect("a small limit");
        let values = available::<MexSubtraction>(&Machine::detect()).find(|kernel| kernel.def().name == "stamp");
        let values = values.expect("always there").run(&input, &Run::new(1)).expect("not cancelled");
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
fn kernels_that_guess_equal_the_table_where_guesses_are_right_and_where_they_are_wrong() {
    let table = kernels().into_iter().find(|kernel| kernel.def().name == "table").expect("it runs anywhere");
    // Periods of 3, 2, 25 and 65 heaps, one past the longest that is tried, none, and values of 8 and above.
    let sets = ["1,2", "1", "1,2,6,24", "1,64", "factorials", "1,200", "fibonacci", "1,2,3,4,5,6,7,8,9"];
    for set in sets {
        let want = whole(table, set, 300_000);
        for kernel in kernels().into_iter().filter(|kernel| kernel.def().name.starts_with("guess")) {
            assert_eq!(whole(kernel, set, 300_000), want, "{} of {set}", kernel.def().name);
        }
    }
    // Far moves, with the same periods, with values of 16 and above, and with blocks that are compressed in each way.
    for near in ["1,2", "1", "1,2,6,24", "1,64", "1,5,24,120", "3,5,11", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"] {
        for far in ["600001", "524225", "524224", "700000,1500001"] {
            let set = format!("{near},{far}");
            let want = whole(table, &set, 2_000_000);
            for kernel in kernels().into_iter().filter(is_compressed) {
                assert_eq!(whole(kernel, &set, 2_000_000), want, "{} of {set}", kernel.def().name);
            }
        }
    }
}

#[test]
fn heaps_past_the_limit_have_no_value() {
    // The maximum number of values: the code of the next one pads the last block.
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
    for set in ["squares", "1..63", "random-sparse", "random-dense"] {
        assert!(Records::new(&set.parse().expect("a set"), 1 << 39).is_err(), "{set}");
    }
    assert!(Records::new(&MoveSet::UpTo(62), 1 << 39).is_ok());
    assert!(Records::new(&MoveSet::Factorials, (1 << 41) + 1).is_err());
}
