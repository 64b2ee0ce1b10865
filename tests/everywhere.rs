//! Properties that hold on every target, even if pointers have 32 bits, if there are no threads, and in an interpreter:
//! kernels equal the oracle, published answers are found, and a limit that does not fit is refused in one line, never
//! truncated.

use nimlanes::cores::OPERATIONS;
use nimlanes::games::GAMES;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::{Run, Yields};
use nimlanes::lab::known::find_game;
use nimlanes::machine::Machine;

/// Zero, one, few, and more than a word, if the oracle is fast.
const SIZES: [u64; 4] = [0, 1, 9, 70];
/// The largest size if the oracle tries all positions of three heaps, or all triples of heaps.
const CUBIC: u64 = 12;
/// As many inputs of each operation as are needed for all its kernels: other sets of moves run the same code.
const WORKLOADS: usize = 3;

/// The sizes are small enough for an interpreter: `.ci/deep` runs this in Miri, which supports only the portable tier.
#[test]
fn every_kernel_equals_the_oracle_at_small_sizes() {
    let selection = Selection::new(Machine::detect());
    for operation in OPERATIONS {
        let is_cubic = ["table_scan", "mex_split", "xor_triples", "xor_partitions"].contains(&operation.name());
        for workload in operation.workloads().iter().take(WORKLOADS) {
            let mut runs = 0;
            for size in SIZES.map(|size| if is_cubic { size.min(CUBIC) } else { size }) {
                let session = operation.session_finding(Yields::Everything, &selection, workload.name, size);
                let session = session.expect("a listed workload");
                for (index, kernel) in session.kernels().iter().enumerate() {
                    let most = if kernel.is_parallel() { 2 } else { 1 };
                    for threads in (1..=most).filter(|threads| session.cost(index, *threads).is_possible()) {
                        let answer = session.run(index, &Run::new(threads)).expect("not cancelled");
                        assert!(answer.agrees(session.oracle()), "{} of {}", kernel.name, session.case());
                        runs += 1;
                    }
                }
            }
            println!("{}/{}: {runs} runs", operation.name(), workload.name);
            assert!(runs > 0, "{} has a kernel", operation.name());
        }
    }
}

#[test]
fn games_have_their_published_answers() {
    for game in GAMES {
        let published = find_game(game, game.published).expect("a published answer");
        let solution = nimlanes::solve(game.name, game.published).expect("its published limit fits everywhere");
        assert_eq!(published.figure("answer").map(Into::into), Some(solution.answer), "{}", game.name);
    }
}

#[test]
#[cfg(all(target_feature = "simd128", feature = "simd128"))]
fn kernels_with_vectors_of_webassembly_are_selected() {
    use nimlanes::machine::isa::Tier;
    let selection = Selection::new(Machine::described(Tier::Simd128, 1, 1 << 29).without_threads());
    let cases = [
        ("table_scan", "all-moves", 1000, "line_rows_simd128"),
        ("mex_subtraction", "squares", 100_000, "byte_lanes_simd128"),
        ("mex_records", "factorials", 1_000_000, "guess_lanes_simd128"),
        ("mex_split", "three-parts", 100_000, "near_sum_simd128"),
    ];
    for (operation, workload, size, best) in cases {
        let operation = nimlanes::cores::operation(operation).expect("it is listed");
        let session = operation.session(&selection, workload, size).expect("a listed workload");
        let chosen = selection.kernel_of(session.as_ref()).expect("some kernel can do it");
        assert_eq!(session.kernels()[chosen].name, best, "at {size}");
    }
}

/// With 64-bit pointers, what fits depends on the machine, and no size exceeds an index.
#[cfg(target_pointer_width = "32")]
mod narrow {
    use nimlanes::kernel::Core;

    use super::{GAMES, Machine, OPERATIONS, Selection};

    #[test]
    fn limits_past_the_address_space_are_refused_with_what_would_fit() {
        for game in GAMES {
            let refused = nimlanes::solve(game.name, 1 << 31).expect_err("past the address space").to_string();
            println!("{}: {refused}", game.name);
            assert_eq!(refused.lines().count(), 1, "{refused}");
            let hints = ["; at most ", " would fit", "more than a day"];
            assert!(hints.iter().any(|hint| refused.contains(hint)), "{refused}");
        }
    }

    /// A size that overflowed an index would make the prediction small again, by far more than the saving of a kernel
    /// that uses a period from some size on. Inputs made of Grundy values are left out, as these would be computed
    /// first.
    #[test]
    fn predicted_memory_grows_with_the_size_beyond_what_fits() {
        let selection = Selection::new(Machine::detect());
        for operation in OPERATIONS.iter().filter(|operation| operation.core() != Core::XorCount) {
            for workload in operation.workloads() {
                let mut before = vec![0.0; operation.kernels(selection.machine()).len()];
                for size in (10..63).map(|bits| 1 << bits) {
                    let Ok(session) = operation.session(&selection, workload.name, size) else { break };
                    for (index, (kernel, before)) in session.kernels().iter().zip(&mut before).enumerate() {
                        let (cost, name) = (session.cost(index, 1), kernel.name);
                        if cost.is_possible() {
                            assert!(cost.bytes >= *before / 4.0, "{name} at {size}: {cost:?} after {before} bytes");
                            *before = cost.bytes;
                        }
                    }
                }
            }
        }
    }
}
