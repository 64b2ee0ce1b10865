//! Random inputs: every kernel that this machine can run agrees with the oracle, and theorems that no kernel uses hold.

use nimlanes::cores::mex::octal::{Code, MexOctal, Octal};
use nimlanes::cores::mex::records::{MexRecords, Records};
use nimlanes::cores::mex::split::{MexSplit, Split};
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
use nimlanes::cores::mex::zeros::{MexZeros, Zeros};
use nimlanes::cores::occupancy::{self, Occupancy, ProportionateNim};
use nimlanes::cores::sink::{Sink, Tally};
use nimlanes::cores::table_scan::{self, Rule, StoneGame, TableScan};
use nimlanes::cores::xor_count::partitions::{Partitions, XorPartitions};
use nimlanes::cores::xor_count::triples::{Values, XorTriples};
use nimlanes::kernel::{Kernel, Operation, Run, RunError, available};
use nimlanes::machine::Machine;
use nimlanes::moves::{Diagonals, MoveSet};
use nimlanes::selection::Selection;
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

/// The output of the kernel selected for an input.
fn selected<O: Operation>(input: &O::Input) -> O::Output {
    let selection = Selection::new(Machine::detect());
    let kernel = selection.kernel::<O>(input).expect("some kernel can do it");
    kernel.run(input, &Run::new(selection.threads())).expect("not cancelled")
}

/// Lists of moves from both heaps: with common factors, multiples of each other, or barely within the limit.
fn diagonals() -> impl Strategy<Value = Diagonals> {
    let pair = |most: u16| (1..=most, 1..=most).prop_map(|(p, q)| [p.min(q), p.max(q)]);
    let pair = prop_oneof![4 => pair(4), 4 => pair(12), 1 => pair(300)];
    btree_set(pair, 0..5).prop_map(|pairs| {
        Diagonals::new(&pairs.into_iter().collect::<Vec<_>>()).expect("positive and without duplicates")
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
        let rule = if all_moves { Rule::AllMoves } else { Rule::OneOrTwo };
        let input = StoneGame::new(limit, rule).expect("a small limit");
        all_equal_the_oracle::<TableScan<table_scan::Positions>>(&input)?;
        all_equal_the_oracle::<TableScan<table_scan::Tally>>(&input)?;
    }

    #[test]
    fn occupancy(limit in 0u64..900) {
        let input = ProportionateNim::new(limit).expect("a small limit");
        all_equal_the_oracle::<Occupancy<occupancy::Positions>>(&input)?;
        all_equal_the_oracle::<Occupancy<occupancy::Tally>>(&input)?;
    }

    #[test]
    fn occupancy_with_other_moves(limit in 0u64..500, diagonals in diagonals()) {
        let input = ProportionateNim::with(limit, diagonals).expect("a small limit");
        all_equal_the_oracle::<Occupancy<occupancy::Positions>>(&input)?;
    }

    #[test]
    fn mex_subtraction(moves in move_sets(), limit in 0u64..1500) {
        let input = Subtraction::new(&MoveSet::list(moves).expect("ascending"), limit, &Machine::detect()).expect("a small limit");
        all_equal_the_oracle::<MexSubtraction>(&input)?;
    }

    /// Beyond a chunk of the shifted rows, and several tiles.
    #[test]
    fn mex_zeros(moves in prop_oneof![move_sets(), move_set(20_000, 300)], limit in 0u64..20_000) {
        let input = Zeros::new(&MoveSet::list(moves).expect("ascending"), limit, &Machine::detect()).expect("a small limit");
        all_equal_the_oracle::<MexZeros>(&input)?;
    }

    /// Rings that are reused many times, prefixes, and every kind of near move.
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

    #[test]
    fn xor_triples(values in prop_oneof![vec(0u16..8, 0..150), vec(0u16..600, 0..150), vec(0u16..3000, 0..40)]) {
        all_equal_the_oracle::<XorTriples>(&Values::new(values))?;
    }

    /// Any values and any modulus, not only those of the game.
    #[test]
    fn xor_partitions(
        total in 0u64..60,
        half_modulus in 1u64..(1 << 30),
        values in vec(vec(0u32..40, 1..61), 0..3),
    ) {
        let input = Partitions::new(total, 2 * half_modulus + 1, values).expect("odd and below 2^31");
        all_equal_the_oracle::<XorPartitions>(&input)?;
    }

    /// Ferguson (1974): `g(n) = 1` exactly where `g(n - min S) = 0`.
    #[test]
    fn ones_follow_zeros_by_the_smallest_move(moves in move_sets(), limit in 0u64..1500) {
        let smallest = moves[0] as usize;
        let input = Subtraction::new(&MoveSet::list(moves).expect("ascending"), limit, &Machine::detect()).expect("a small limit");
        for kernel in able::<MexSubtraction>(&input) {
            let g = kernel.run(&input, &Run::new(1)).expect("not cancelled");
            for n in smallest..g.len() {
                prop_assert_eq!(g[n] == 1, g[n - smallest] == 0, "{} at {}", kernel.def().name, n);
            }
        }
    }
}

/// With the set `1..k`, heap `n` has the value `n mod (k + 1)`: values beyond every window of a kernel, up to the maximum of the
/// type.
#[test]
fn many_values() {
    for k in [63, 64, 191, 192, 193, 383, 384, 385, 1000] {
        let input = Subtraction::new(&MoveSet::UpTo(k), 5000, &Machine::detect()).expect("a small limit");
        for kernel in able::<MexSubtraction>(&input) {
            let g = kernel.run(&input, &Run::new(1)).expect("not cancelled");
            let is_right = g.iter().enumerate().all(|(n, v)| u64::from(*v) == n as u64 % (k + 1));
            assert!(is_right, "{} with 1..{k}", kernel.def().name);
        }
    }
}

/// Values beyond 16 bits are an error, not a wrong answer. (Only two kernels, because the input is long.)
#[test]
fn a_value_that_is_too_large_is_an_error() {
    let input = Subtraction::new(&MoveSet::UpTo(65_536), 65_536, &Machine::detect()).expect("a small limit");
    let mut kernels: Vec<_> = available::<MexSubtraction>(&Machine::detect()).collect();
    kernels.sort_by(|a, b| a.cost(&input, 1).ns.total_cmp(&b.cost(&input, 1).ns));
    for kernel in kernels.iter().take(2) {
        assert_eq!(kernel.run(&input, &Run::new(1)), Err(RunError::LargeValue), "{}", kernel.def().name);
    }
}

/// A kernel that cannot process an input returns an error and computes nothing.
fn outside<O: Operation>(input: &O::Input, threads: usize, names: &[&str]) {
    for kernel in available::<O>(&Machine::detect()).filter(|kernel| names.contains(&kernel.def().name)) {
        let run = Run::new(threads);
        let ended = kernel.run(input, &run).err();
        assert_eq!((ended, run.done()), (Some(RunError::OutsideDomain), 0), "{}", kernel.def().name);
    }
}

/// Inputs just outside of each domain, because of types, mathematics or too few threads. Some of these runs used to give wrong
/// answers, some panicked.
#[test]
fn inputs_outside_a_domain_are_refused() {
    let three_parts = ["closed_form"];
    outside::<MexSplit>(&Split::new(3, 100).expect("a small limit"), 1, &three_parts);
    let other_parts = ["open_values", "open_values_bitvec", "near_sum", "near_sum_avx2", "near_sum_avx512"];
    outside::<MexSplit>(&Split::new(4, 100).expect("a small limit"), 1, &other_parts);
    outside::<MexSplit>(&Split::new(3, 131_000).expect("not past the largest"), 1, &["near_sum_avx512"]);
    type Rows = TableScan<table_scan::Tally>;
    let thousand = |limit| StoneGame::new(limit, Rule::AllMoves).expect("a small limit");
    outside::<Rows>(&thousand(1024), 1, &["line_rows_avx512", "line_rows_avx2"]);
    outside::<Rows>(&thousand(100), 1, &["antichain_threads_avx512", "antichain_skip_threads_avx512"]);
    let wythoff = ProportionateNim::with(100, "1:1".parse().expect("a list")).expect("a small limit");
    let published = Occupancy::<occupancy::Tally>::KERNELS.iter().map(|def| def.name);
    let published: Vec<&str> = published.filter(|name| *name != "general_rows").collect();
    outside::<Occupancy<occupancy::Tally>>(&wythoff, 1, &published);
    let far = ProportionateNim::new(1 << 32).expect("not past the largest");
    outside::<Occupancy<occupancy::Tally>>(&far, 1, &["union_find"]);
    outside::<XorTriples>(&Values::new(vec![0, 128, 3]), 1, &["pairs_avx512"]);
    outside::<XorTriples>(&Values::new(vec![0, 256, 3]), 1, &["histogram_pairs", "histogram_pairs_avx2"]);
    outside::<XorTriples>(&Values::new(vec![0, 512, 3]), 1, &["characters_avx512"]);
}

/// Keeps the layer `x = 0`.
#[derive(Debug, Default, PartialEq)]
struct FirstLayer(Vec<[u32; 2]>);

impl Sink<[u32; 3]> for FirstLayer {
    fn push(&mut self, [x, y, z]: [u32; 3]) {
        if x == 0 {
            self.0.push([y, z]);
        }
    }

    fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn finish(&mut self) {
        self.0.sort_unstable();
    }

    fn tally(&self) -> Tally {
        Tally::default()
    }
}

/// Panics at the first position after the first bands.
#[derive(Debug, Default, PartialEq)]
struct Fragile;

impl Sink<[u32; 3]> for Fragile {
    fn push(&mut self, [x, ..]: [u32; 3]) {
        assert!(x < 200, "it breaks");
    }

    fn merge(&mut self, _: Self) {}

    fn tally(&self) -> Tally {
        Tally::default()
    }
}

/// The `k`-th P-position of Wythoff's game, exactly: `(floor(k phi), floor(k phi) + k)` with
/// `floor(k phi) = (k + floor(sqrt(5 k^2))) / 2`.
fn wythoff(k: u64) -> [u64; 2] {
    let lower = (k + (5 * k * k).isqrt()) / 2;
    [lower, lower + k]
}

fn two_heaps(limit: u64, moves: &str) -> Vec<[u64; 2]> {
    let input = ProportionateNim::with(limit, moves.parse().expect("a list")).expect("a small limit");
    selected::<Occupancy<occupancy::Positions>>(&input).0
}

/// All positions with a smaller heap of at most 1e6 are among those of this limit.
#[test]
fn the_diagonal_one_to_one_makes_wythoffs_game() {
    let limit = 2_700_000;
    let found = two_heaps(limit, "1:1");
    assert!(found.last().is_some_and(|[n, _]| *n > 1_000_000));
    assert!((0..).map(wythoff).take_while(|[n, m]| n + m <= limit).eq(found));
}

/// Multiples of an existing move change nothing, and without any diagonal the game is Nim.
#[test]
fn redundant_moves_change_nothing() {
    assert_eq!(two_heaps(5000, "1:1,2:2,1:2,3:6"), two_heaps(5000, "1:1,1:2"));
    assert_eq!(two_heaps(5000, "1:1,4000:1001"), two_heaps(5000, "1:1"), "no position of the limit has this move");
    assert!(two_heaps(1000, "none").into_iter().eq((0..=500).map(|n| [n, n])));
}

/// Some kernels hold rows of marks in a fixed number of places and cannot run above a limit. This test runs them at that limit.
/// The oracle would visit a hundred million states there, so complete outputs are compared with the baseline's.
#[test]
fn the_kernels_of_table_scan_agree_at_the_limit_of_the_narrowest() {
    for rule in [Rule::AllMoves, Rule::OneOrTwo] {
        let input = StoneGame::new(1023, rule).expect("a small limit");
        let machine = Machine::detect();
        let mut kernels = available::<TableScan<table_scan::Positions>>(&machine);
        let run = |kernel: Kernel<TableScan<_>>| kernel.run(&input, &Run::new(2)).expect("not cancelled");
        let want = run(kernels.next().expect("the baseline"));
        for kernel in kernels.filter(|kernel| kernel.cost(&input, 2).is_possible()) {
            assert!(run(kernel) == want, "{} differs, {rule:?}", kernel.def().name);
        }
    }
}

/// The output of such a kernel at its limit includes its outputs below. Only runs at smaller limits show that it stops at the
/// right heap, at any position in a band.
#[test]
fn the_narrow_kernels_of_table_scan_agree_at_every_limit() {
    let machine = Machine::detect();
    let kernels = || available::<TableScan<table_scan::Positions>>(&machine);
    let rows = kernels().find(|kernel| kernel.def().name == "bit_rows").expect("a kernel for every machine");
    let past = StoneGame::new(1024, Rule::AllMoves).expect("a small limit");
    let narrow: Vec<_> = kernels().filter(|kernel| !kernel.cost(&past, 2).is_possible()).collect();
    for (rule, step) in [(Rule::AllMoves, 1), (Rule::OneOrTwo, 7)] {
        for limit in (0..1024).step_by(step) {
            let input = StoneGame::new(limit, rule).expect("a small limit");
            let run = |kernel: &Kernel<TableScan<_>>| kernel.run(&input, &Run::new(1)).expect("not cancelled");
            let want = run(&rows);
            for kernel in &narrow {
                assert!(run(kernel) == want, "{}, limit {limit}, {rule:?}", kernel.def().name);
            }
        }
    }
}

/// The timing of threads differs in every run: marks lost by concurrent writes to one word show only occasionally.
#[test]
fn threads_find_the_same_positions_every_time() {
    let input = StoneGame::new(1000, Rule::AllMoves).expect("a small limit");
    let machine = Machine::detect();
    for kernel in available::<TableScan<Tally>>(&machine).filter(|kernel| kernel.def().features.contains(&"parallel")) {
        for threads in [2, 3].into_iter().filter(|threads| kernel.cost(&input, *threads).is_possible()) {
            for round in 0..100 {
                let tally = kernel.run(&input, &Run::new(threads)).expect("not cancelled");
                let (name, got) = (kernel.def().name, (tally.sum, tally.positions));
                assert_eq!(got, (167_542_057, 121_060), "{name} with {threads} threads, round {round}");
            }
        }
    }
}

/// A run on two threads that is cancelled in the middle ends in both threads with an error.
#[test]
fn a_run_on_two_threads_can_be_cancelled() {
    let input = StoneGame::new(4000, Rule::AllMoves).expect("a small limit");
    let steps = TableScan::<Tally>::steps(&input);
    let machine = Machine::detect();
    let parallel = available::<TableScan<Tally>>(&machine)
        .filter(|kernel| kernel.def().features.contains(&"parallel") && kernel.cost(&input, 2).is_possible());
    for kernel in parallel {
        let run = Run::new(2);
        let output = std::thread::scope(|scope| {
            let running = scope.spawn(|| kernel.run(&input, &run));
            while run.done() < steps / 8 && !running.is_finished() {
                std::thread::yield_now();
            }
            run.cancel();
            running.join().expect("no panic")
        });
        assert_eq!(output, Err(RunError::Cancelled), "{}", kernel.def().name);
        assert!(run.done() < steps, "{} went on", kernel.def().name);
    }
}

/// A sink that panics ends the run in all threads: none waits for bands that will never be done.
#[test]
fn a_panic_in_one_thread_ends_the_others() {
    let input = StoneGame::new(2000, Rule::AllMoves).expect("a small limit");
    let machine = Machine::detect();
    for kernel in available::<TableScan<Fragile>>(&machine).filter(|kernel| kernel.cost(&input, 2).is_possible()) {
        let run = std::panic::catch_unwind(|| kernel.run(&input, &Run::new(2)));
        assert!(run.is_err(), "{}", kernel.def().name);
    }
}

/// With one empty heap, the Stone Game is Wythoff's. Checked with the kernels selected at 20000 and at 1000.
#[test]
fn the_first_layer_of_the_stone_game_is_wythoffs() {
    for limit in [1000, 20_000] {
        let input = StoneGame::new(limit, Rule::AllMoves).expect("a small limit");
        let FirstLayer(found) = selected::<TableScan<FirstLayer>>(&input);
        let want = (0..).map(wythoff).take_while(|[_, z]| *z <= limit);
        assert!(want.eq(found.iter().map(|pair| pair.map(u64::from))), "{limit}");
    }
}
