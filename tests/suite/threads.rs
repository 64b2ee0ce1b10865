//! Kernels and searches where threads cannot be started, and where many take part.

use nimlanes::cores::{COMPLETE, OPERATIONS};
use nimlanes::games::{Solver, game};
use nimlanes::kernel::Run;
use nimlanes::kernel::selection::Selection;
use nimlanes::machine::Machine;

#[cfg(debug_assertions)]
#[test]
fn every_parallel_kernel_ends_where_a_thread_cannot_be_started_and_runs_again_where_it_can() {
    use nimlanes::kernel::session::KernelInfo;
    use nimlanes::kernel::{RunError, with_at_most_threads};

    let (selection, run) = (Selection::new(Machine::detect()), Run::new(4));
    for operation in OPERATIONS {
        let session = operation.session(&selection, operation.workloads()[0].name, 300).expect("a small input");
        let is_parallel_here = |info: &&KernelInfo| info.is_parallel() && info.obstacle.is_none();
        for kernel in session.kernels().iter().filter(is_parallel_here) {
            let name = kernel.name;
            let kernel = session.index(name).expect("it is listed");
            let mut started = 0;
            let answer = loop {
                match with_at_most_threads(started, || session.run(kernel, &run)) {
                    Ok(answer) => break answer,
                    Err(stop) => assert_eq!(stop, RunError::NoThread, "{name}, {started} threads"),
                }
                started += 1;
            };
            // Some kernels start new threads for each part of the input.
            assert!((1..9).contains(&started), "{name} ran with {started} more threads");
            assert!(answer.agrees(session.oracle()), "{name}");
        }
    }
}

#[cfg(debug_assertions)]
#[test]
fn positions_are_not_handed_on_if_the_search_cannot_have_a_thread() {
    use nimlanes::games::SolveError;
    use nimlanes::kernel::{RunError, with_at_most_threads};

    let (selection, run) = (Selection::new(Machine::detect()), Run::new(1));
    let take = |_| -> Result<(), ()> { panic!("there is no search") };
    let solver = Solver::new(&selection, &run);
    let game = game("stone-game").expect("a game");
    let ended = with_at_most_threads(0, || game.question(100).stream(&solver, take));
    assert_eq!(ended, Ok(Err(SolveError::Run(RunError::NoThread))));
}

#[test]
fn where_there_are_no_threads_kernels_on_several_are_refused_and_all_else_runs() {
    let selection = Selection::new(Machine::detect().without_threads());
    let refused = selection.clone().with_threads(2).expect_err("a thread too many").to_string();
    assert_eq!(refused, "this system has no threads but the one of the program; 2 were asked for");
    for operation in OPERATIONS {
        let session = operation.session(&selection, operation.workloads()[0].name, 300).expect("a small input");
        let kernels = session.kernels();
        assert!(kernels.iter().filter(|info| info.is_parallel()).all(|info| info.obstacle.is_some()));
        assert!(kernels.iter().any(|info| info.obstacle.is_none()), "{}", operation.name());
    }
    let (game, run) = (game("stone-game").expect("a game"), Run::new(1));
    let take = |_| -> Result<(), ()> { panic!("there is no search") };
    let ended = game.question(100).stream(&Solver::new(&selection, &run), take).expect("nothing is taken");
    assert_eq!(ended.expect_err("a thread too many").to_string(), refused);
    let solved = game.question(100).solve(&Solver::new(&selection, &run)).expect("a solution");
    assert_eq!(solved.answer, 173_895u32.into());
}

/// At limits that reach lanes and inner loops of a tier, and on more threads than there are segments for.
#[test]
fn kernels_of_segments_find_every_position_on_any_number_of_threads() {
    let selection = Selection::new(Machine::detect());
    for operations in [COMPLETE, OPERATIONS] {
        let occupancy = operations.iter().find(|operation| operation.name() == "occupancy").expect("it is listed");
        for limit in [150_000, 400_003, 3_000_000] {
            let session = occupancy.session(&selection, "proportionate", limit).expect("a small limit");
            let sequential = session.index("window_certificate").expect("it is listed");
            let want = session.run(sequential, &Run::new(1)).expect("not cancelled");
            for (index, kernel) in
                session.kernels().iter().enumerate().filter(|(_, kernel)| kernel.name.starts_with("charged"))
            {
                for threads in (1..5).filter(|threads| session.cost(index, *threads).is_possible()) {
                    let run = Run::new(threads);
                    let found = session.run(index, &run).expect("not cancelled");
                    assert!(found.agrees(&*want), "{}, {threads} threads, limit {limit}", kernel.name);
                    assert_eq!(run.done(), session.steps(), "{}, limit {limit}", kernel.name);
                }
            }
        }
    }
}
