//! Random inputs: every kernel that this machine can run equals the oracle, and theorems that no kernel uses hold.

use nimlanes::cores::mex::split::{MexSplit, Split};
use nimlanes::cores::mex::subtraction::{MexSubtraction, Subtraction};
use nimlanes::cores::occupancy::{self, Occupancy, ProportionateNim};
use nimlanes::cores::sink::{Sink, Tally};
use nimlanes::cores::table_scan::{self, Rule, StoneGame, TableScan};
use nimlanes::cores::xor_count::partitions::{Partitions, XorPartitions};
use nimlanes::cores::xor_count::triples::{Values, XorTriples};
use nimlanes::kernel::{Operation, Run, Stop, available};
use nimlanes::machine::Machine;
use nimlanes::moves::MoveSet;
use nimlanes::selection::Selection;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

/// Runs every kernel, those for several threads with two and three as well.
fn all_equal_the_oracle<O: Operation>(input: &O::Input) -> Result<(), TestCaseError> {
    let want = O::oracle(input);
    for kernel in available::<O>(&Machine::detect()) {
        let most = if kernel.def().features.contains(&"parallel") { 3 } else { 1 };
        for threads in (1..=most).filter(|threads| kernel.cost(input, *threads).is_possible()) {
            let output = kernel.run(input, &Run::new(threads)).expect("nobody stops it");
            prop_assert!(output == want, "{} with {threads} thread(s) differs", kernel.def().name);
        }
    }
    Ok(())
}

/// Subtraction sets of every character: few moves and many, with and without 1, near and far.
fn move_sets() -> impl Strategy<Value = Vec<u64>> {
    let set =
        |most: u64, count: usize| btree_set(1..=most, 1..count).prop_map(|set| set.into_iter().collect::<Vec<_>>());
    prop_oneof![set(20, 8), set(70, 40), set(1000, 12), set(1000, 400)]
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
    fn mex_subtraction(moves in move_sets(), limit in 0u64..1500) {
        let input = Subtraction::new(&MoveSet::Explicit(moves), limit).expect("a small limit");
        all_equal_the_oracle::<MexSubtraction>(&input)?;
    }

    #[test]
    fn mex_split(parts in 2u32..7, limit in 0u64..120) {
        all_equal_the_oracle::<MexSplit>(&Split::new(parts, limit).expect("a small limit"))?;
    }

    #[test]
    fn xor_triples(values in prop_oneof![vec(0u16..8, 0..150), vec(0u16..600, 0..150), vec(0u16..3000, 0..40)]) {
        all_equal_the_oracle::<XorTriples>(&Values(values))?;
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
        let input = Subtraction::new(&MoveSet::Explicit(moves), limit).expect("a small limit");
        for kernel in available::<MexSubtraction>(&Machine::detect()) {
            let g = kernel.run(&input, &Run::new(1)).expect("nobody stops it");
            for n in smallest..g.len() {
                prop_assert_eq!(g[n] == 1, g[n - smallest] == 0, "{} at {}", kernel.def().name, n);
            }
        }
    }
}

/// With sets `1..k` a heap is worth `n mod (k + 1)`: values beyond every window of a kernel, up to the type's end.
#[test]
fn many_values() {
    for k in [63, 64, 191, 192, 193, 383, 384, 385, 1000] {
        let input = Subtraction::new(&MoveSet::UpTo(k), 5000).expect("a small limit");
        for kernel in available::<MexSubtraction>(&Machine::detect()) {
            let g = kernel.run(&input, &Run::new(1)).expect("nobody stops it");
            let is_right = g.iter().enumerate().all(|(n, v)| u64::from(*v) == n as u64 % (k + 1));
            assert!(is_right, "{} with 1..{k}", kernel.def().name);
        }
    }
}

/// Values past 16 bits are an error, not an answer. (Two kernels: the input is a long one.)
#[test]
fn a_value_too_large_is_noticed() {
    let input = Subtraction::new(&MoveSet::UpTo(65_536), 65_536).expect("a small limit");
    let mut kernels: Vec<_> = available::<MexSubtraction>(&Machine::detect()).collect();
    kernels.sort_by(|a, b| a.cost(&input, 1).ns.total_cmp(&b.cost(&input, 1).ns));
    for kernel in kernels.iter().take(2) {
        assert_eq!(kernel.run(&input, &Run::new(1)), Err(Stop::Overflow), "{}", kernel.def().name);
    }
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

/// With one heap empty the Stone Game is Wythoff's: its P-positions are `(floor(k phi), floor(k phi) + k)`, and
/// `floor(k phi) = (k + floor(sqrt(5 k^2))) / 2`. The kernel that is selected at 20000 and the one at 1000 say so.
#[test]
fn the_first_layer_of_the_stone_game_is_wythoffs() {
    for limit in [1000, 20_000] {
        let input = StoneGame::new(limit, Rule::AllMoves).expect("a small limit");
        let kernel = Selection::new(Machine::detect()).kernel::<TableScan<FirstLayer>>(&input).expect("a kernel");
        let FirstLayer(found) = kernel.run(&input, &Run::new(1)).expect("nobody stops it");
        let lower = |k: u64| (k + (5 * k * k).isqrt()) / 2;
        let want = (0..).map(|k| [lower(k), lower(k) + k]).take_while(|[_, z]| *z <= limit);
        assert!(want.eq(found.iter().map(|pair| pair.map(u64::from))), "{}", kernel.def().name);
    }
}
