//! Random inputs: every kernel that this machine can run agrees with the oracle, and so do long runs, runs on several threads and runs that end early.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use nimlanes::cores::mex::family::{Family, MexFamily};
use nimlanes::cores::mex::octal::{Code, MexOctal, Octal};
use nimlanes::cores::mex::records::{MexRecords, Records};
use nimlanes::cores::mex::split::{MexSplit, Split};
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
use nimlanes::cores::mex::zeros::{MexZeros, Zeros};
use nimlanes::cores::occupancy::{Occupancy, ProportionateNim};
use nimlanes::cores::sink::Outlet;
use nimlanes::cores::table_scan::{Rule, StoneGame, TableScan, Wanted};
use nimlanes::cores::xor_count::partitions::{Partitions, XorPartitions};
use nimlanes::cores::xor_count::triples::{Values, XorTriples};
use nimlanes::cores::{OPERATIONS, operation};
use nimlanes::games::{Positions, game};
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::{KernelInfo, Session};
use nimlanes::kernel::{Kernel, Operation, Run, RunError, Yields, available};
use nimlanes::machine::Machine;
use nimlanes::moves::{Diagonals, MoveSet};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

/// Runs every kernel; parallel ones also with two and three threads.
fn all_equal_the_oracle<O: Operation>(input: &O::Input) -> Result<(), TestCaseError> {
    let want = O::oracle(input);
    for kernel in available::<O>(&Machine::detect()) {
        let most = if kernel.def().features.contains(&"parallel") { 3 } else { 1 };
        for threads in (1..=most).filter(|threads| kernel.cost(input, *threads).is_possible()) {
            let output = kernel.run(input, &Run::new(threads)).expect("not cancelled");
            prop_assert!(output == want, "{} with {threads} thread(s) differs", kernel.def().name);
        }
    }
    Ok(())
}

/// The kernels that can process an input on one thread.
fn able<O: Operation>(input: &O::Input) -> Vec<Kernel<O>> {
    available::<O>(&Machine::detect()).filter(|kernel| kernel.cost(input, 1).is_possible()).collect()
}

/// An input of an operation, for which kernels find this much.
fn session(yields: Yields, operation: &str, workload: &str, size: u64) -> Box<dyn Session> {
    let operation = self::operation(operation).expect("an operation");
    let selection = Selection::new(Machine::detect());
    operation.session_finding(yields, &selection, workload, size).expect("a small input")
}

/// The kernels that can process the input of a session on `threads` threads, with their indices.
fn those_able(session: &dyn Session, threads: usize) -> impl Iterator<Item = (usize, &KernelInfo)> {
    session.kernels().iter().enumerate().filter(move |(index, _)| session.cost(*index, threads).is_possible())
}

/// [`all_equal_the_oracle`], where totals are wanted and where all positions are.
fn all_agree_with_the_oracle(operation: &str, workload: &str, size: u64) -> Result<(), TestCaseError> {
    for yields in [Yields::Everything, Yields::Tally] {
        let session = session(yields, operation, workload, size);
        for threads in 1..=3 {
            let is_apt = |(_, kernel): &(usize, &KernelInfo)| threads == 1 || kernel.is_parallel();
            for (index, kernel) in those_able(session.as_ref(), threads).filter(is_apt) {
                let answer = session.run(index, &Run::new(threads)).expect("not cancelled");
                prop_assert!(answer.agrees(session.oracle()), "{} with {threads} thread(s) differs", kernel.name);
            }
        }
    }
    Ok(())
}

/// Lists of moves from both heaps: with common factors, multiples of each other, or barely within the limit.
fn diagonals() -> impl Strategy<Value = String> {
    let pair = |most: u16| (1..=most, 1..=most).prop_map(|(p, q)| [p.min(q), p.max(q)]);
    let pair = prop_oneof![4 => pair(4), 4 => pair(12), 1 => pair(300)];
    btree_set(pair, 1..5).prop_map(|pairs| {
        let pairs: Vec<_> = pairs.into_iter().collect();
        Diagonals::new(&pairs).expect("positive and without duplicates").to_string()
    })
}

/// Subtraction sets of all kinds: with few or many moves, with or without 1, with near or far moves.
fn move_sets() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![move_set(20, 8), move_set(70, 40), move_set(1000, 12), move_set(1000, 400)]
}

/// Fewer than `count` moves of at most `most`.
fn move_set(most: u64, count: usize) -> impl Strategy<Value = Vec<u64>> {
    btree_set(1..=most, 1..count).prop_map(|set| set.into_iter().collect())
}

/// Octal games most of all, some with far places; hexadecimal games, splits of whole heaps, and repeated digits.
fn codes() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[04]\\.[0-7]{1,5}",
        2 => "0\\.0{1,30}[4-7][0-7]{0,3}",
        2 => "[048C]\\.[0-9A-F]{1,3}",
        1 => "0\\.[0-7]{0,2}\\[[0-7]{1,2}\\]",
        1 => "grundy",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn table_scan(limit in 0u64..200, all_moves: bool) {
        all_agree_with_the_oracle("table_scan", if all_moves { "all-moves" } else { "one-or-two" }, limit)?;
    }

    #[test]
    fn occupancy(limit in 0u64..900) {
        all_agree_with_the_oracle("occupancy", "proportionate", limit)?;
    }

    #[test]
    fn occupancy_with_other_moves(limit in 0u64..500, diagonals in diagonals()) {
        all_agree_with_the_oracle("occupancy", &diagonals, limit)?;
    }

    #[test]
    fn mex_subtraction(moves in move_sets(), limit in 0u64..1500) {
        let input = Subtraction::new(&MoveSet::list(moves).expect("ascending"), limit, &Machine::detect()).expect("a small limit");
        all_equal_the_oracle::<MexSubtraction>(&input)?;
    }

    /// The limits go beyond a chunk of the shifted rows, and beyond several tiles.
    #[test]
    fn mex_zeros(moves in prop_oneof![move_sets(), move_set(20_000, 300)], limit in 0u64..20_000) {
        let input = Zeros::new(&MoveSet::list(moves).expect("ascending"), limit, &Machine::detect()).expect("a small limit");
        all_equal_the_oracle::<MexZeros>(&input)?;
    }

    /// The sets have rings that are reused many times, prefixes, and every kind of near move.
    #[test]
    fn mex_records(
        moves in prop_oneof![move_set(20, 12), move_set(70, 60), move_set(300, 12), move_set(3000, 30)],
        limit in 0u64..5000,
    ) {
        let input = Records::new(&MoveSet::list(moves).expect("ascending"), limit).expect("few moves");
        all_equal_the_oracle::<MexRecords>(&input)?;
    }

    #[test]
    fn mex_octal(code in codes(), limit in 0u64..350) {
        let code: Code = code.parse().expect("a game");
        all_equal_the_oracle::<MexOctal>(&Octal::new(&code, limit).expect("a small limit"))?;
    }

    #[test]
    fn any_text_is_a_game_or_an_error(text in "[0-9A-Ga-g.\\[\\] ]{0,8}|.*") {
        if let Ok(code) = text.parse::<Code>() {
            prop_assert_eq!(code.to_string().parse::<Code>(), Ok(code));
        }
    }

    #[test]
    fn mex_split(parts in 2u32..7, limit in 0u64..120) {
        all_equal_the_oracle::<MexSplit>(&Split::new(parts, limit).expect("a small limit"))?;
    }

    /// A part that need not begin at a whole word. Some sets are empty, or have smaller moves than the largest of the family.
    #[test]
    fn mex_family(
        always in btree_set(1u64..40, 0..4),
        free in btree_set(1u64..40, 1..12),
        first in prop_oneof![Just(0), 0u64..1000],
        sets in 0u64..150,
        kept in 0usize..5,
    ) {
        let [free, always]: [Vec<u64>; 2] = [&free, &always.difference(&free).copied().collect()].map(|set| set.iter().copied().collect());
        let family = Family::new(&always, &free).expect("different moves").part(first, sets).listing(kept);
        all_equal_the_oracle::<MexFamily>(&family)?;
    }
}

proptest! {
    /// Any values, also where all have few bits.
    #[test]
    fn xor_triples(
        values in prop_oneof![
            4 => (0u32..10).prop_flat_map(|bits| vec(0u16..1 << bits, 0..200)),
            1 => vec(0u16..600, 0..150),
            1 => vec(0u16..3000, 0..40),
        ],
    ) {
        all_equal_the_oracle::<XorTriples>(&Values::new(values))?;
    }

    /// Any values and any modulus, not only those of the game.
    #[test]
    fn xor_partitions(
        total in 0u64..90,
        half_modulus in prop_oneof![1u64..10, 1u64..(1 << 30), Just((1 << 30) - 1)],
        values in (0u32..7).prop_flat_map(|bits| vec(vec(0u32..1 << bits, 0..90), 0..3)),
    ) {
        let input = Partitions::new(total, 2 * half_modulus + 1, values).expect("odd and below 2^31");
        all_equal_the_oracle::<XorPartitions>(&input)?;
    }
}

/// The values of the game with the moves 1 and 2 are `n mod 3`. Three values of 0, 1 and 2 have nim-sum 0 only as 0 and an equal
/// pair, so there are `h(0) (C(h(1)+1, 2) + C(h(2)+1, 2)) + C(h(0)+2, 3)` multisets.
#[test]
fn triples_past_16_bits_are_counted_exactly() {
    let input = Values::new((0..=300_000u32).map(|n| (n % 3) as u16).collect());
    let [zeros, ones, twos] = [100_001u128, 100_000, 100_000];
    let want = zeros * (ones * (ones + 1) / 2 + twos * (twos + 1) / 2) + zeros * (zeros + 1) * (zeros + 2) / 6;
    assert_eq!(want, 1_166_696_666_950_001);
    let mut ran = Vec::new();
    // All kernels except those that go through the pairs of heaps.
    for kernel in available::<XorTriples>(&Machine::detect()).filter(|kernel| kernel.cost(&input, 1).ns < 1e8) {
        assert_eq!(kernel.run(&input, &Run::new(1)), Ok(want), "{}", kernel.def().name);
        ran.push(kernel.def().name);
    }
    assert!(["histogram", "histogram_wht"].iter().all(|name| ran.contains(name)), "{ran:?}");
}

#[test]
fn the_memory_for_large_values_of_partitions_is_predicted() {
    let input = Partitions::new(10, 7, vec![vec![0, 1 << 30, 1 << 30]]).expect("an odd modulus");
    for kernel in available::<XorPartitions>(&Machine::detect()) {
        let bytes = kernel.cost(&input, 1).bytes;
        assert!(bytes > 16.0 * (1u64 << 30) as f64, "{}: {bytes}", kernel.def().name);
    }
}

/// With the set `1..k`, heap `n` has the value `n mod (k + 1)`: there are values beyond every window of a kernel. Values beyond 16 bits
/// are an error, not a wrong answer, in the two fastest kernels; the input is long.
#[test]
fn many_values() {
    let input = |k, limit| Subtraction::new(&MoveSet::UpTo(k), limit, &Machine::detect()).expect("a small limit");
    for k in [63, 64, 191, 192, 193, 383, 384, 385, 1000] {
        let input = input(k, 2 * k + 100);
        for kernel in able::<MexSubtraction>(&input) {
            let g = kernel.run(&input, &Run::new(1)).expect("not cancelled");
            let is_right = g.iter().enumerate().all(|(n, v)| u64::from(*v) == n as u64 % (k + 1));
            assert!(is_right, "{} with 1..{k}", kernel.def().name);
        }
    }
    let large = input(65_536, 65_536);
    let mut kernels = able::<MexSubtraction>(&large);
    kernels.sort_by(|a, b| a.cost(&large, 1).ns.total_cmp(&b.cost(&large, 1).ns));
    for kernel in kernels.iter().take(2) {
        assert_eq!(kernel.run(&large, &Run::new(1)), Err(RunError::LargeValue), "{}", kernel.def().name);
    }
}

/// Inputs just outside of each domain, because of types, mathematics or too few threads: an error, and nothing is computed. Some of these
/// runs used to give wrong answers, some panicked.
#[test]
fn inputs_outside_a_domain_are_refused() {
    let outside = |operation: &str, workload: &str, size, is_meant: fn(&str) -> bool| {
        let session = session(Yields::Tally, operation, workload, size);
        for (index, kernel) in session.kernels().iter().enumerate().filter(|(_, kernel)| is_meant(kernel.name)) {
            let run = Run::new(1);
            let ended = session.run(index, &run).err();
            assert_eq!((ended, run.done()), (Some(RunError::OutsideDomain), 0), "{}", kernel.name);
        }
    };
    outside("mex_split", "three-parts", 100, |name| name == "closed_form");
    outside("mex_split", "four-parts", 100, |name| name == "open_values" || name.starts_with("near_sum"));
    outside("mex_split", "three-parts", 131_000, |name| name == "near_sum_avx512");
    outside("table_scan", "all-moves", 1024, |name| name.starts_with("line_rows"));
    outside("table_scan", "all-moves", 100, |name| name.contains("threads"));
    outside("occupancy", "wythoff", 100, |name| name != "general_rows");
    outside("occupancy", "proportionate", 1 << 32, |name| name == "union_find");
    for (largest, names) in [(128, "pairs_avx512"), (256, "histogram_pairs"), (512, "characters_avx512")] {
        let (machine, input) = (Machine::detect(), Values::new(vec![0, largest, 3]));
        for kernel in available::<XorTriples>(&machine).filter(|kernel| kernel.def().name.starts_with(names)) {
            assert_eq!(kernel.run(&input, &Run::new(1)), Err(RunError::OutsideDomain), "{}", kernel.def().name);
        }
    }
}

/// The `k`-th P-position of Wythoff's game, exactly: `(floor(k phi), floor(k phi) + k)` with
/// `floor(k phi) = (k + floor(sqrt(5 k^2))) / 2`.
fn wythoff(k: u64) -> [u64; 2] {
    let lower = (k + (5 * k * k).isqrt()) / 2;
    [lower, lower + k]
}

/// All positions with a smaller heap of at most 1e6 are among those of this limit. Multiples of an existing move change nothing, and
/// without any diagonal the game is Nim.
#[test]
fn diagonals_make_wythoffs_game_and_nim() {
    let positions = |limit, moves| {
        let question = game("proportionate-nim").and_then(|game| game.question(limit).with("moves", moves));
        match nimlanes::positions(&question.expect("a list")).expect("a small limit") {
            Positions::Two(found) => found,
            other => panic!("two heaps, not {other:?}"),
        }
    };
    let limit = 2_700_000;
    let found = positions(limit, "1:1");
    assert!(found.last().is_some_and(|[n, _]| *n > 1_000_000));
    assert!((0..).map(wythoff).take_while(|[n, m]| n + m <= limit).eq(found));
    assert_eq!(positions(5000, "1:1,2:2,1:2,3:6"), positions(5000, "1:1,1:2"));
    assert_eq!(positions(5000, "1:1,4000:1001"), positions(5000, "1:1"), "no position of the limit has this move");
    assert!(positions(1000, "none").into_iter().eq((0..=500).map(|n| [n, n])));
}

/// Some kernels hold rows of marks in a fixed number of places and cannot run above a limit. The output there includes those at smaller
/// limits. But only runs at smaller limits show that a kernel stops at the right heap, at any position in a band: the step is odd,
/// and bands are powers of two. The oracle would visit a hundred million states, so `bit_rows` takes its place.
#[test]
fn the_narrow_kernels_of_table_scan_agree_up_to_their_largest_limit() {
    for rule in ["all-moves", "one-or-two"] {
        let past = session(Yields::Everything, "table_scan", rule, 1024);
        for limit in (0..1024).step_by(29).chain([1023]) {
            let session = session(Yields::Everything, "table_scan", rule, limit);
            let run = |kernel| session.run(kernel, &Run::new(1)).expect("not cancelled");
            let rows = run(session.index("bit_rows").expect("a kernel for every machine"));
            let is_narrow = |(index, _): &(usize, _)| !past.cost(*index, 2).is_possible();
            for (index, kernel) in those_able(session.as_ref(), 1).filter(is_narrow) {
                assert!(run(index).agrees(rows.as_ref()), "{}, limit {limit}, {rule}", kernel.name);
            }
        }
    }
}

/// The timing of threads differs in every run: marks lost by concurrent writes to one word show only occasionally.
#[test]
fn threads_find_the_same_positions_every_time() {
    let session = session(Yields::Tally, "table_scan", "all-moves", 1000);
    let want = session.run(0, &Run::new(1)).expect("not cancelled");
    for threads in [2, 3] {
        for (index, kernel) in those_able(session.as_ref(), threads).filter(|(_, kernel)| kernel.is_parallel()) {
            for round in 0..25 {
                let answer = session.run(index, &Run::new(threads)).expect("not cancelled");
                assert!(answer.agrees(&*want), "{} with {threads} threads, round {round}", kernel.name);
            }
        }
    }
}

/// Also where lanes and inner loops are those of a tier, at limits that reach them.
#[test]
fn every_kernel_of_segments_finds_every_position() {
    for yields in [Yields::Everything, Yields::Tally] {
        for limit in [150_000, 400_003, 3_000_000] {
            let session = session(yields, "occupancy", "proportionate", limit);
            let sequential = session.index("window_certificate").expect("it is listed");
            let want = session.run(sequential, &Run::new(1)).expect("not cancelled");
            for threads in 1..5 {
                let able = those_able(session.as_ref(), threads);
                for (index, kernel) in able.filter(|(_, kernel)| kernel.name.starts_with("charged")) {
                    let run = Run::new(threads);
                    let found = session.run(index, &run).expect("not cancelled");
                    assert!(found.agrees(&*want), "{}, {threads} threads, limit {limit}", kernel.name);
                    assert_eq!(run.done(), session.steps(), "{}, limit {limit}", kernel.name);
                }
            }
        }
    }
}

/// In each kernel of each operation.
#[test]
fn a_cancelled_run_ends_at_once() {
    for operation in OPERATIONS {
        for workload in operation.workloads() {
            let session = session(Yields::Tally, operation.name(), workload.name, workload.published / 10);
            for (index, kernel) in those_able(session.as_ref(), 2) {
                let run = Run::new(2);
                run.cancel();
                let ended = session.run(index, &run).err();
                assert_eq!(ended, Some(RunError::Cancelled), "{} of {}", kernel.name, session.case());
            }
        }
    }
}

/// A run on two threads that is cancelled in the middle ends in both threads with an error.
#[test]
fn a_run_on_two_threads_can_be_cancelled() {
    let session = session(Yields::Tally, "table_scan", "all-moves", 4000);
    for (index, kernel) in those_able(session.as_ref(), 2).filter(|(_, kernel)| kernel.is_parallel()) {
        let run = Run::new(2);
        let ended = std::thread::scope(|scope| {
            let running = scope.spawn(|| session.run(index, &run).err());
            while run.done() < session.steps() / 8 && !running.is_finished() {
                std::thread::yield_now();
            }
            run.cancel();
            running.join().expect("no panic")
        });
        assert_eq!(ended, Some(RunError::Cancelled), "{}", kernel.name);
        assert!(run.done() < session.steps(), "{} went on", kernel.name);
    }
}

/// Panics at the first batch past the first heaps.
fn fragile<P: AsRef<[T]>, T: Copy + Into<u64>>(most: u64) -> Outlet<P> {
    Arc::new(move |batch: Vec<P>| {
        assert!(batch.iter().all(|position| position.as_ref()[0].into() < most), "it breaks");
        Ok(())
    })
}

/// How many kernels hand on positions from several threads. In each, an outlet that panics ends the run in all threads: none waits for
/// what will never be done.
fn end_with_the_outlet<O: Operation>(input: &O::Input) -> usize {
    let machine = Machine::detect();
    let is_parallel = |kernel: &Kernel<O>| kernel.def().is_parallel() && kernel.cost(input, 2).is_possible();
    let kernels = available::<O>(&machine).filter(is_parallel);
    let ends = kernels.map(|kernel| {
        let run = std::panic::catch_unwind(AssertUnwindSafe(|| kernel.run(input, &Run::new(2))));
        assert!(run.is_err(), "{}", kernel.def().name);
    });
    ends.count()
}

#[test]
fn a_panic_in_one_thread_ends_the_others() {
    let stones = StoneGame::new(2000, Rule::AllMoves).expect("a small limit");
    end_with_the_outlet::<TableScan>(&stones.finding(Wanted::InOrder(fragile(200))));
    let two_heaps = ProportionateNim::new(3_000_000).expect("a small limit");
    let ended = end_with_the_outlet::<Occupancy>(&two_heaps.finding(Wanted::InOrder(fragile(300_000))));
    assert!(ended > 0 || cfg!(not(feature = "parallel")));
}
