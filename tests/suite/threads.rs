//! Kernels and searches where threads cannot be started.

use nimlanes::cores::OPERATIONS;
use nimlanes::games::{SolveError, Solver, game};
use nimlanes::kernel::faults::with_at_most;
use nimlanes::kernel::selection::Selection;
use nimlanes::kernel::session::KernelInfo;
use nimlanes::kernel::{Run, RunError};
use nimlanes::machine::Machine;

#[test]
fn every_parallel_kernel_ends_where_a_thread_cannot_be_started_and_runs_again_where_it_can() {
    let (selection, run) = (Selection::new(Machine::detect()), Run::new(4));
    for operation in OPERATIONS {
        let session = operation.session(&selection, operation.workloads()[0].name, 300).expect("a small input");
        let is_parallel_here = |info: &&KernelInfo| info.is_parallel() && info.obstacle.is_none();
        for kernel in session.kernels().iter().filter(is_parallel_here) {
            let name = kernel.name;
            let kernel = session.index(name).expect("it is listed");
            let mut started = 0;
            let answer = loop {
                match with_at_most(started, || session.run(kernel, &run)) {
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

#[test]
fn positions_are_not_handed_on_if_the_search_cannot_have_a_thread() {
    let (selection, run) = (Selection::new(Machine::detect()), Run::new(1));
    let take = |_| -> Result<(), ()> { panic!("there is no search") };
    let solver = Solver::new(&selection, &run);
    let game = game("stone-game").expect("a game");
    let ended = with_at_most(0, || game.question(100).stream(&solver, take));
    assert_eq!(ended, Ok(Err(SolveError::Run(RunError::NoThread))));
}
