//! Which kernel is selected, on described machines of every tier: whatever machine this is, the choices are the same.

use std::path::Path;
use std::time::Duration;

use nimlanes::cores::mex::octal::{MexOctal, Octal};
use nimlanes::cores::named::ByName;
use nimlanes::cores::{OPERATIONS, operation};
use nimlanes::games::{Solver, game};
use nimlanes::kernel::selection::{SelectError, Selection};
use nimlanes::kernel::{MAX_THREADS, Run, RunError, Yields, available};
use nimlanes::lab::duel::{DuelError, DuelOptions, Lineup};
use nimlanes::lab::verify::Inputs;
use nimlanes::machine::Machine;
use nimlanes::machine::isa::Tier;

const MUCH: u64 = 1 << 40;
const LITTLE: u64 = 1 << 30;

/// A machine with much memory.
fn machine(strongest: Tier, threads: usize) -> Machine {
    Machine::described(strongest, threads, MUCH)
}

/// The name of the kernel that is selected.
fn selected(selection: &Selection, operation: &str, workload: &str, size: u64) -> &'static str {
    let operation = nimlanes::cores::operation(operation).expect("it is listed");
    let session = operation.session(selection, workload, size).expect("a listed workload");
    let chosen = selection.kernel_of(session.as_ref()).expect("some kernel can do it");
    operation.kernels(selection.machine())[chosen].name
}

/// Kernels of other architectures are not in this build: there, the portable ones are left. One whose answers are observed is never
/// selected.
#[test]
fn every_tier_has_a_kernel_for_every_workload() {
    let machines = Tier::ALL.iter().flat_map(|tier| [1, 2, 16].map(|threads| (*tier, machine(*tier, threads))));
    for (tier, machine) in machines {
        let selection = Selection::new(machine);
        for operation in OPERATIONS {
            for workload in operation.workloads() {
                for size in [0, 1, 10, 100, workload.published] {
                    let name = selected(&selection, operation.name(), workload.name, size);
                    let kernels = operation.kernels(&machine);
                    let kernel = kernels.iter().find(|kernel| kernel.name == name).expect("it is listed");
                    assert!(tier.includes(kernel.tier) && kernel.is_exact(), "{} on {}", kernel.name, tier.name());
                }
            }
        }
    }
}

/// A kernel is entered only where this CPU has its tier, whatever the machine for which it was chosen.
#[test]
fn kernels_run_on_this_cpu_alone() {
    for tier in Tier::here() {
        let selection = Selection::new(machine(tier, 2));
        for operation in OPERATIONS {
            let session = operation.session(&selection, operation.workloads()[0].name, 70).expect("a small input");
            for (index, kernel) in session.kernels().iter().enumerate() {
                let run = Run::new(2);
                let ended = [session.run(index, &run).map(drop), session.spin(index, &run, 2)];
                let may = match kernel.tier {
                    _ if !session.cost(index, 2).is_possible() => Err(RunError::OutsideDomain),
                    lacked if !lacked.is_on_this_cpu() => Err(RunError::Tier(lacked.name())),
                    _ => Ok(()),
                };
                assert_eq!(ended, [may, may], "{} of {} for {}", kernel.name, operation.name(), tier.name());
            }
        }
    }
}

#[test]
fn threads_have_an_upper_limit() {
    let selection = Selection::new(machine(Tier::Avx512, 2));
    for threads in [MAX_THREADS + 1, 1 << 31, usize::MAX] {
        let error = selection.clone().with_threads(threads).expect_err("too many");
        assert_eq!(error, SelectError::TooManyThreads(threads));
        assert_eq!(Run::new(threads).threads(), MAX_THREADS);
        for operation in OPERATIONS {
            let (workload, size) = (operation.workloads()[0].name, operation.workloads()[0].published);
            let session = operation.session(&selection, workload, size).expect("a listed workload");
            for kernel in 0..session.kernels().len() {
                assert_eq!(session.cost(kernel, threads), session.cost(kernel, MAX_THREADS), "{}", operation.name());
            }
        }
    }
    assert_eq!(selection.clone().run().threads(), selection.threads());
}

/// Where an index has 64 bits, a table of the largest input would be far larger than any memory.
#[cfg(target_pointer_width = "64")]
#[test]
fn a_kernel_refuses_what_does_not_fit_in_memory() {
    let input = Octal::new(&"0.6".parse().expect("a game"), 1 << 48).expect("the largest limit");
    for tier in Tier::here() {
        for kernel in available::<MexOctal>(&Machine::described(tier, 2, LITTLE)) {
            let refused = kernel.run(&input, &Run::new(2));
            let is_refused = matches!(refused, Err(RunError::Memory { .. } | RunError::OutsideDomain));
            assert!(is_refused, "{}: {:?}", kernel.def().name, refused.err());
        }
    }
}

/// Names are unique, and say the tier; the first kernel and the best public algorithms need nothing.
#[test]
fn lists_of_kernels_keep_their_rules() {
    for operation in OPERATIONS {
        let kernels = operation.kernels(&machine(Tier::Portable, 1));
        assert!(kernels[0].is_plain() && kernels[0].compiled, "{}", operation.name());
        for name in operation.public() {
            let is_plain = kernels.iter().any(|kernel| kernel.name == *name && kernel.is_plain());
            assert!(is_plain, "{}: {name}", operation.name());
        }
        for kernel in &kernels {
            let namesakes = kernels.iter().filter(|other| other.name == kernel.name).count();
            assert_eq!(namesakes, 1, "{}: {}", operation.name(), kernel.name);
            let is_listed = |tier: &&Tier| kernel.features.contains(&tier.name());
            assert!(
                kernel.tier == Tier::Portable || is_listed(&&kernel.tier),
                "{} has its tier as a feature",
                kernel.name
            );
            // A kernel that builds on a lower tier lists the feature of that tier, too.
            let others = Tier::ALL.iter().filter(is_listed).all(|tier| kernel.tier.includes(*tier));
            assert!(others, "{} lists the feature of a tier that its own does not include", kernel.name);
            let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(kernel.source());
            assert!(source.is_file(), "{}: {}", kernel.name, source.display());
        }
    }
}

#[test]
fn a_machine_without_memory_refuses_and_says_what_it_needs() {
    let machines = Tier::ALL.iter().map(|tier| Machine::described(*tier, 2, 1));
    for (operation, machine) in OPERATIONS.iter().flat_map(|it| machines.clone().map(move |machine| (it, machine))) {
        let workload = operation.workloads()[0];
        let selection = Selection::new(machine);
        // Preparing the input may also need memory.
        let refusal = match operation.session(&selection, workload.name, workload.published) {
            Ok(session) => selection.kernel_of(session.as_ref()).expect_err("nothing fits").to_string(),
            Err(error) => error.to_string(),
        };
        let (_, needs) = refusal.split_once(" need").unwrap_or_else(|| panic!("{}: {refusal}", operation.name()));
        assert!(needs.contains(" here and 1.000 B are free"), "{}: {refusal}", operation.name());
    }
}

/// A named kernel that cannot process the input is refused with the reason.
#[test]
fn a_refusal_names_the_obstacle() {
    let refusal = |tier: Tier, operation: &str, kernel: &str, workload: &str| {
        let selection = Selection::new(machine(tier, 1));
        let session = nimlanes::cores::operation(operation).expect("it is listed").session(&selection, workload, 100);
        let selection = selection.with_kernel(operation, kernel).expect("it can run here");
        selection.kernel_of(session.expect("a listed workload").as_ref()).expect_err("it cannot do it").to_string()
    };
    assert_eq!(
        refusal(Tier::Portable, "mex_split", "closed_form", "three-parts"),
        "kernel mex_split=closed_form cannot be used: the input is outside its domain"
    );
    if cfg!(all(target_arch = "x86_64", feature = "parallel", feature = "avx512")) {
        assert_eq!(
            refusal(Tier::Avx512, "table_scan", "blocks_threads_avx512", "all-moves"),
            "kernel table_scan=blocks_threads_avx512 cannot be used: needs at least 2 threads"
        );
    }
}

#[test]
fn several_threads_need_the_feature() {
    let with = |threads| {
        Selection::new(machine(Tier::Portable, 16)).with_threads(threads).map(|selection| selection.threads())
    };
    let several = if cfg!(feature = "parallel") { Ok(3) } else { Err(SelectError::NotParallel(3)) };
    assert_eq!([0, 1, 3].map(with), [Err(SelectError::NoThreads), Ok(1), several]);
}

/// Cells of 16 bits hold the values of `mex_split` up to a limit. Above that, the kernel with such cells cannot process
/// the input, and the next best is selected.
#[test]
#[cfg(all(target_arch = "x86_64", feature = "avx2", feature = "avx512"))]
fn narrow_cells_are_selected_where_they_hold_the_values() {
    for (size, best) in [(130_000, "near_sum_avx512"), (131_000, "near_sum_avx2"), (200_000, "near_sum_avx2")] {
        let at = |tier| selected(&Selection::new(machine(tier, 2)), "mex_split", "three-parts", size);
        assert_eq!([at(Tier::Avx512), at(Tier::Avx2)], [best, "near_sum_avx2"], "at {size}");
    }
}

/// The same for NEON, where the plain kernel comes next.
#[test]
#[cfg(all(target_arch = "aarch64", feature = "neon", feature = "wide"))]
fn neon_kernels_are_selected() {
    let cases = [
        ("mex_split", "three-parts", 130_000, "near_sum_neon"),
        ("mex_split", "three-parts", 131_000, "near_sum"),
        ("mex_subtraction", "squares", 100_000, "byte_lanes_neon"),
        ("mex_zeros", "squares", 1_000_000, "shifted_rows_neon"),
        ("xor_partitions", "scatterstone", 500, "walsh_lanes_neon"),
    ];
    let selection = Selection::new(machine(Tier::Neon, 1));
    for (operation, workload, size, best) in cases {
        assert_eq!(selected(&selection, operation, workload, size), best, "at {size}");
    }
}

/// Starting threads takes time: small inputs use one thread, larger ones several. In between, where both take about the same, the choice
/// is not tested.
#[test]
#[cfg(all(target_arch = "x86_64", feature = "avx512", feature = "parallel"))]
fn threads_are_used_where_they_pay() {
    let table_scan = [(100, false), (1000, false), (3000, true), (10_000, true), (20_000, true)];
    let squares = [(10_000, false), (100_000, false), (150_000, true), (200_000, true), (10_000_000, true)];
    let few_moves = [(200_000, false), (1_000_000, false)];
    let cases = [
        ("table_scan", "all-moves", &table_scan[..], &[Tier::Avx2, Tier::Avx512][..]),
        ("mex_subtraction", "squares", &squares, &[Tier::Avx512]),
        ("mex_subtraction", "cubes", &few_moves, &[Tier::Avx512]),
        ("mex_subtraction", "fibonacci", &few_moves, &[Tier::Avx512]),
    ];
    for (name, workload, sizes, tiers) in cases {
        for (tier, &(size, several)) in tiers.iter().flat_map(|tier| sizes.iter().map(move |size| (*tier, size))) {
            let is_parallel = |threads| {
                let selection = Selection::new(machine(tier, threads));
                let kernel = selected(&selection, name, workload, size);
                let kernels = operation(name).expect("it is listed").kernels(selection.machine());
                kernels.iter().find(|info| info.name == kernel).expect("it is listed").is_parallel()
            };
            let at = format!("{workload} at {size} on {}", tier.name());
            assert_eq!([1, 2].map(is_parallel), [false, several], "{at}");
        }
    }
}

#[test]
fn where_there_are_no_threads_kernels_on_several_are_refused_and_all_else_runs() {
    for tier in Tier::ALL.iter().copied() {
        let selection = Selection::new(machine(tier, 16).without_threads());
        for operation in OPERATIONS {
            let session = operation.session(&selection, operation.workloads()[0].name, 300).expect("a small input");
            let kernels = session.kernels();
            assert!(kernels.iter().filter(|info| info.is_parallel()).all(|info| info.obstacle.is_some()));
            assert!(kernels.iter().any(|info| info.obstacle.is_none()), "{}", operation.name());
        }
    }
    let selection = Selection::new(Machine::detect().without_threads());
    let refused = selection.clone().with_threads(2).expect_err("a thread too many").to_string();
    assert_eq!(refused, "this system has no threads but the one of the program; 2 were asked for");
    let (game, run) = (game("stone-game").expect("a game"), Run::new(1));
    let take = |_| -> Result<(), ()> { panic!("there is no search") };
    let ended = game.question(100).stream(&Solver::new(&selection, &run), take).expect("nothing is taken");
    assert_eq!(ended.expect_err("a thread too many").to_string(), refused);
    let solved = game.question(100).solve(&Solver::new(&selection, &run)).expect("a solution");
    assert_eq!(solved.answer, 173_895u32.into());
}

#[test]
fn the_time_limit_of_a_duel_does_not_apply_to_kernels_that_are_always_included() {
    let selection = Selection::new(machine(Tier::Avx512, 1));
    let session = operation("table_scan").expect("it is listed").session(&selection, "all-moves", 50).expect("small");
    let always_included = vec!["byte_table_pruned".to_owned(), "bit_rows".to_owned()];
    let (time_limit, budget) = (Duration::ZERO, Duration::ZERO);
    let options = DuelOptions { kernels: Vec::new(), baseline: None, threads: 1, budget, time_limit, always_included };
    let lineup = Lineup::new(session.as_ref(), &options).expect("two kernels");
    assert_eq!(lineup.names(), options.always_included);
    let here = session.kernels().iter().filter(|kernel| kernel.obstacle.is_none()).count();
    assert_eq!(lineup.skipped.len(), here - 2);
    let none = Lineup::new(session.as_ref(), &DuelOptions { always_included: Vec::new(), ..options });
    assert_eq!(none, Err(DuelError::NoBaseline(Duration::ZERO)));
}

#[test]
fn inputs_that_take_long_to_prepare_are_not_verified() {
    let triples = operation("xor_triples").expect("it is listed");
    let inputs = |longest| {
        let selection = Selection::new(machine(Tier::Portable, 1)).within(longest);
        format!("{:?}", Inputs::new(triples, &triples.workloads()[0], Yields::Tally, &selection, 0, 10_000))
    };
    assert!(inputs(Duration::MAX).ends_with("known: [29, 500, 1000, 10000] }"), "{}", inputs(Duration::MAX));
    // A value would have to take less than half a nanosecond.
    assert!(!inputs(Duration::from_micros(5)).contains("10000"));
}
